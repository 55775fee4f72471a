//! Images that the installation keeps, on this node: brought here when a run needs one or somebody asks for
//! it, and taken from here.
//!
//! What the node has is what its engine has; which of it this agent brought is noted beside it (`notes`), so
//! that what nobody needs any more can go (`tidy`), of which servers are told (`news`), and what others
//! brought stays. A version that was brought here has a name in the engine that says which it is, with the
//! digest of its content (`names`). The name is given last, after the content was checked and the engine has
//! taken it in whole. So whatever is killed in between, the name is either there and true, or absent and the
//! image is brought again, of which the chunks that have come already are still here.
//!
//! One version is brought once at a time: runs that need the same wait for the same (`load`). What is given
//! to the installation is a job that belongs to an operation (`take`); what a job left in the engine when
//! the agent died is removed by the next one.

mod load;
mod names;
mod news;
mod notes;
mod resolve;
mod take;
mod tidy;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::Ids;
use hostler_model::{Digest, EngineAsk, NodeImage, OperationId};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::blobs::Blobs;
use crate::container::{Engine, EngineError};

pub(crate) use load::{LoadFailure, LoadState};
pub(crate) use names::engine_name;
pub(crate) use resolve::Unresolved;

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Images {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    mark: names::Mark,
    blobs: Blobs,
    tasks: TaskTracker,
    cancel: CancellationToken,
    loads: Mutex<HashMap<Digest, load::Load>>,
    takes: Mutex<HashMap<OperationId, take::Take>>,
    notes: notes::Notes,
    news: news::News,
    /// How long a version stays that is not the newest and that nobody uses.
    keep_for: Duration,
    /// How many are about to use a version.
    pins: Mutex<HashMap<String, usize>>,
    /// Held while a version is removed, and to pin one.
    gate: tokio::sync::Mutex<()>,
    untidy: Notify,
}

impl Images {
    /// What it has begun ends with the token, and is counted by the tracker.
    pub fn new(
        data_dir: &Path,
        keep_for: Duration,
        engine: Engine,
        blobs: Blobs,
        tasks: TaskTracker,
        cancel: CancellationToken,
    ) -> Images {
        let inner = Inner {
            mark: names::Mark::of(data_dir),
            engine,
            blobs,
            tasks,
            cancel,
            loads: Mutex::default(),
            takes: Mutex::default(),
            notes: notes::Notes::new(data_dir, keep_for),
            news: news::News::new(data_dir, Ids::system()),
            keep_for,
            pins: Mutex::default(),
            gate: tokio::sync::Mutex::default(),
            untidy: Notify::new(),
        };
        Images { inner: Arc::new(inner) }
    }

    /// What is to be told of versions that left this node by themselves.
    pub fn news(&self) -> &news::News {
        &self.inner.news
    }

    /// Everything the engine has.
    pub async fn list(&self) -> Result<Vec<NodeImage>, EngineError> {
        let found = self.inner.engine.images().await?;
        let shown = found.into_iter().map(|row| {
            let (kept, names): (Vec<_>, Vec<_>) =
                row.names.into_iter().partition(|name| names::stored(name).is_some());
            let kept = kept.iter().filter_map(|name| names::stored(name));
            NodeImage {
                id: row.id,
                names,
                kept: kept.map(|(name, version, _)| names::reference(&name, version)).collect(),
                size: hostler_model::Bytes::new(row.size),
                time_created: row.time_created,
            }
        });
        Ok(shown.collect())
    }

    /// Removes an image from the engine: by a name of the engine's, or as workloads call it.
    pub async fn remove(&self, image: &str) -> Result<(), EngineError> {
        let Some(reference) = hostler_model::ImageRef::of_spec(image) else {
            return self.inner.engine.remove_image(image, false).await;
        };
        let reference = reference.map_err(|e| EngineError::Invalid(e.to_string()))?;
        let names = self.local_names(&reference).await?;
        if names.is_empty() {
            return Err(EngineError::NotFound(format!("image {image} is not on this node")));
        }
        for name in &names {
            self.inner.engine.remove_image(name, false).await?;
        }
        self.inner.news.let_be(&names.iter().collect::<Vec<_>>()).await;
        self.inner.notes.forget(&names).await;
        Ok(())
    }

    /// Answers what is asked about jobs.
    pub async fn job(&self, ask: EngineAsk) -> Option<hostler_model::JobState> {
        match ask {
            EngineAsk::Load { job, image } => Some(self.load_job(job, &image).await),
            EngineAsk::Take { job, grant, source } => Some(self.take_job(job, grant, source)),
            _ => None,
        }
    }

    /// Runs until it is done or the agent goes.
    fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let cancel = self.inner.cancel.clone();
        self.inner.tasks.spawn(async move {
            cancel.run_until_cancelled_owned(work).await;
        });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much of something is there, in whole percent.
fn percent(done: u64, total: u64) -> u64 {
    done.saturating_mul(100).checked_div(total).unwrap_or(0).min(100)
}

/// Whoever does the work is gone.
fn is_abandoned<T>(receiver: &watch::Receiver<T>) -> bool {
    receiver.has_changed().is_err()
}
