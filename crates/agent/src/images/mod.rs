//! Images that the installation keeps, on this node: brought here when a run needs one or somebody asks for
//! it, and taken from here.
//!
//! What the node has is what its engine has; nothing else is written down. A version that was brought here
//! has a name in the engine that says which it is, with the digest of its content (`names`). The name is
//! given last, after the content was checked and the engine has taken it in whole. So whatever is killed in
//! between, the name is either there and true, or absent and the image is brought again, of which the chunks
//! that have come already are still here.
//!
//! One version is brought once at a time: runs that need the same wait for the same (`load`). What is given
//! to the installation is a job that belongs to an operation (`take`); what a job left in the engine when
//! the agent died is removed by the next one.

mod load;
mod names;
mod resolve;
mod take;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_model::{Digest, EngineAsk, NodeImage, OperationId, RunId};
use tokio::sync::watch;
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
    /// What runs wait for, in words.
    waiting: Mutex<HashMap<RunId, String>>,
}

impl Images {
    /// What it has begun ends with the token, and is counted by the tracker.
    pub fn new(
        data_dir: &Path,
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
            waiting: Mutex::default(),
        };
        Images { inner: Arc::new(inner) }
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
        for name in names {
            self.inner.engine.remove_image(&name, false).await?;
        }
        Ok(())
    }

    /// Says what a run waits for, until what comes back is dropped.
    pub fn waiting(&self, run: RunId) -> Waiting {
        Waiting { images: self.clone(), run }
    }

    /// What a run waits for, in words.
    pub fn readiness(&self, run: RunId) -> Option<String> {
        locked(&self.inner.waiting).get(&run).cloned()
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

/// See [`Images::waiting`].
pub(crate) struct Waiting {
    images: Images,
    run: RunId,
}

impl Waiting {
    pub fn say(&self, words: String) {
        locked(&self.images.inner.waiting).insert(self.run, words);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        locked(&self.images.inner.waiting).remove(&self.run);
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
