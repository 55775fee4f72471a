//! Bringing a version of an image to this node: once at a time, for everybody who waits.
//!
//! When nobody waits any more (no run, and no operation that asks about it), it is given up; what has come
//! stays for whoever wants it next.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_base::image_tar;
use hostler_model::{Digest, JobState, OperationId, StoredImage};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::io::ReaderStream;

use super::{Images, engine_name, is_abandoned, locked, percent};
use crate::blobs::{BlobError, Wanted, Whose};
use crate::container::EngineError;
use crate::sys;

/// What is read of a file at once.
const PIECE: usize = 256 << 10;
/// How many ended ones are remembered.
const REMEMBERED: usize = 64;
/// News for those who keep them come in steps of so many percent.
const STEP: u64 = 10;
/// An operation that has not asked for so long will not ask any more.
const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_secs(5);

/// How far a version is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoadState {
    Fetching { bytes: u64, total: u64 },
    Loading,
    Here,
    Failed(LoadFailure),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LoadFailure {
    /// It may be tried again.
    Later(String),
    Never(String),
}

impl LoadFailure {
    pub fn why(&self) -> &str {
        match self {
            LoadFailure::Later(why) | LoadFailure::Never(why) => why,
        }
    }
}

impl LoadState {
    const fn has_ended(&self) -> bool {
        matches!(self, LoadState::Here | LoadState::Failed(_))
    }

    /// In words, in steps of so many percent.
    fn words(&self, image: &StoredImage, step: u64) -> String {
        match self {
            LoadState::Fetching { bytes, total } => {
                let percent = percent(*bytes, *total) / step * step;
                format!("image {image} is being fetched, {percent} % of {}", image.size)
            }
            LoadState::Loading => format!("image {image} is being taken in by the engine"),
            LoadState::Here => format!("image {image} is here"),
            LoadState::Failed(failure) => failure.why().to_owned(),
        }
    }
}

pub(super) struct Load {
    state: watch::Receiver<LoadState>,
    /// Who asked for it, when it is the work of an operation.
    job: Option<OperationId>,
    asked: Arc<Asked>,
}

/// When somebody last asked about it.
struct Asked(Mutex<Instant>);

impl Asked {
    fn now() -> Asked {
        Asked(Mutex::new(Instant::now()))
    }

    fn again(&self) {
        *locked(&self.0) = Instant::now();
    }

    /// Comes back when nobody asks any more and nobody but the list of loads looks at its state.
    async fn is_over(&self, state: &watch::Sender<LoadState>) {
        while state.receiver_count() > 1 || locked(&self.0).elapsed() < PATIENCE {
            tokio::time::sleep(GLANCE).await;
        }
    }
}

impl Load {
    fn goes_on(&self) -> bool {
        !self.state.borrow().has_ended() && !is_abandoned(&self.state)
    }
}

impl Images {
    /// Has a version here; what comes back tells how far it is.
    pub fn load(&self, image: &StoredImage) -> watch::Receiver<LoadState> {
        self.load_for(image, None)
    }

    fn load_for(
        &self,
        image: &StoredImage,
        job: Option<OperationId>,
    ) -> watch::Receiver<LoadState> {
        let mut loads = locked(&self.inner.loads);
        if let Some(load) = loads.get(&image.digest).filter(|load| load.goes_on()) {
            load.asked.again();
            return load.state.clone();
        }
        if loads.len() >= REMEMBERED {
            loads.retain(|_, load| load.goes_on());
        }
        let begun = LoadState::Fetching { bytes: 0, total: image.size.get() };
        let (sender, state) = watch::channel(begun);
        let asked = Arc::new(Asked::now());
        loads.insert(image.digest, Load { state: state.clone(), job, asked: asked.clone() });
        let (images, image) = (self.clone(), image.clone());
        self.begin(async move {
            let brought = tokio::select! {
                brought = images.bring(&image, &sender) => brought,
                () = asked.is_over(&sender) => {
                    tracing::info!(%image, "image not waited for any more");
                    return;
                }
            };
            let ended = match brought {
                Ok(()) => LoadState::Here,
                Err(failure) => {
                    tracing::warn!(%image, why = failure.why(), "image not brought here");
                    LoadState::Failed(failure)
                }
            };
            sender.send_replace(ended);
        });
        state
    }

    /// Whether a version with this content is on its way.
    pub(super) fn is_coming(&self, digest: Digest) -> bool {
        locked(&self.inner.loads).get(&digest).is_some_and(Load::goes_on)
    }

    async fn bring(
        &self,
        image: &StoredImage,
        state: &watch::Sender<LoadState>,
    ) -> Result<(), LoadFailure> {
        let name = engine_name(image);
        if self.inner.engine.image(&name).await.map_err(of_engine)?.is_some() {
            return Ok(());
        }
        let wanted = Wanted { digest: image.digest, whose: Whose::Everybody };
        let progress = |so_far: crate::blobs::Progress| {
            let (bytes, total) = (so_far.bytes, so_far.total);
            state.send_replace(LoadState::Fetching { bytes, total });
        };
        let file =
            self.inner.blobs.fetch(wanted, progress).await.map_err(|e| of_blob(image, &e))?;
        state.send_replace(LoadState::Loading);
        nameless(file.path().to_owned(), image).await?;
        self.inner.notes.brought(&name, sys::now()).await.map_err(|e| broken(image, &e))?;
        let content = tokio::fs::File::open(file.path()).await.map_err(|e| broken(image, &e))?;
        let content = ReaderStream::with_capacity(content, PIECE);
        let taken = self.inner.engine.import_image(content, None, Some(&name)).await;
        let taken = taken.map_err(of_engine)?;
        tracing::info!(%image, id = %taken.image_id, bytes = taken.bytes, "image brought here");
        Ok(())
    }

    /// For an operation, which asks until it is done. A failure is told to the same operation for as long
    /// as it asks; another one has it tried again.
    pub(super) async fn load_job(&self, job: OperationId, image: &StoredImage) -> JobState {
        let known = {
            let loads = locked(&self.inner.loads);
            let known = loads.get(&image.digest);
            known.filter(|load| load.goes_on() || load.job == Some(job)).map(|load| {
                load.asked.again();
                let state = load.state.borrow().clone();
                (state, is_abandoned(&load.state))
            })
        };
        let state = match known {
            Some((LoadState::Failed(LoadFailure::Never(why)), _)) => {
                return JobState::Failed { why };
            }
            Some((state, false)) if !state.has_ended() => state,
            _ => match self.inner.engine.image(&engine_name(image)).await {
                Ok(Some(_)) => LoadState::Here,
                Ok(None) => self.load_for(image, Some(job)).borrow().clone(),
                Err(e) if self.inner.engine.is_installed() => {
                    return JobState::Going { words: e.to_string() };
                }
                Err(e) => return JobState::Failed { why: e.to_string() },
            },
        };
        match state {
            LoadState::Here => JobState::Done { content: None },
            state => JobState::Going { words: state.words(image, STEP) },
        }
    }
}

/// Takes away the names that came with it: what a name means on this node is not for the file to say.
async fn nameless(path: PathBuf, image: &StoredImage) -> Result<(), LoadFailure> {
    let forget = move || {
        let mut file = std::fs::File::options().read(true).write(true).open(path)?;
        image_tar::forget_names(&mut file)
    };
    match tokio::task::spawn_blocking(forget).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(image_tar::ImageTarError::Io(e))) => Err(broken(image, &e)),
        Ok(Err(e)) => Err(LoadFailure::Never(format!("{image} cannot be used: {e}"))),
        Err(e) => Err(broken(image, &e)),
    }
}

fn of_engine(error: EngineError) -> LoadFailure {
    match error {
        EngineError::Away { .. } | EngineError::TimedOut(_) => {
            LoadFailure::Later(error.to_string())
        }
        e => LoadFailure::Never(e.to_string()),
    }
}

fn of_blob(image: &StoredImage, error: &BlobError) -> LoadFailure {
    let why = format!("{image} cannot be fetched: {}", hostler_base::chain(error));
    match error.is_passing() {
        true => LoadFailure::Later(why),
        false => LoadFailure::Never(why),
    }
}

fn broken(image: &StoredImage, error: &dyn std::error::Error) -> LoadFailure {
    LoadFailure::Later(format!("{image} cannot be kept on this node: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_nobody_waits_for_is_given_up() {
        let (sender, listed) = watch::channel(LoadState::Loading);
        let is_over = async |asked: &Asked| {
            let over = asked.is_over(&sender);
            tokio::time::timeout(Duration::from_millis(50), over).await.is_ok()
        };
        let long_ago = Instant::now().checked_sub(PATIENCE).unwrap();
        let asked = Asked(Mutex::new(long_ago));
        let run = listed.clone();
        assert!(!is_over(&asked).await, "a run waits for it");
        drop(run);
        assert!(is_over(&asked).await);
        asked.again();
        assert!(!is_over(&asked).await, "an operation asked");
        assert!(!is_over(&Asked::now()).await);
    }
}
