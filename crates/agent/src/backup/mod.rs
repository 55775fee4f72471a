//! Backups of paths of this machine, and what is put back of them.
//!
//! A backup is read by a walk (`walk`, `read`) that goes from one open directory to the next and follows no link.
//! It gives entries, which are gathered in a file, and bytes, which are sent while they are read, volume by volume
//! (`send`): cut where the content says so, and only what the server lacks. A restore (`restore`) reads the list,
//! fetches the volumes that it needs one after the other, and puts every file beside its place, checked, before it
//! takes the place (`place`). Both are jobs of operations (`jobs`): an agent that dies forgets its jobs, the operation
//! asks the next one, and that begins again with what is there: content that was sent is not sent again, and files
//! that are back are found to be so.

mod jobs;
mod pattern;
mod place;
mod read;
mod restore;
mod send;
mod walk;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hostler_base::{Clock, Tasks, chain};
use hostler_model::{
    Bytes, JobState, NodeBackupOutcome, NodeBackupSpec, OperationId, RestoreOrder, RestoreOutcome,
};

use tokio_util::sync::CancellationToken;

use crate::blobs::{BlobError, Blobs};
use jobs::Jobs;

/// Where fresh directories are, below the agent's own.
const RESTORES: &str = "restores";
/// How long a job waits before it begins again, when no server could be reached.
const AGAIN: Duration = Duration::from_secs(5);

/// Why a job ended without having done what it was to do.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("{0}")]
    Refused(String),
    #[error("it was given up")]
    Stopped,
}

impl Failure {
    fn is_passing(&self) -> bool {
        matches!(self, Failure::Blob(error) if error.is_passing())
    }
}

/// How far a job is, and whether it is wanted still.
#[derive(Default)]
struct Progress {
    words: Mutex<String>,
    files: AtomicU64,
    bytes: AtomicU64,
    sent: AtomicU64,
    over: CancellationToken,
}

impl Progress {
    fn say(&self, words: impl Into<String>) {
        *self.words.lock().unwrap_or_else(PoisonError::into_inner) = words.into();
    }

    fn begin(&self, words: &str) {
        for counter in [&self.files, &self.bytes, &self.sent] {
            counter.store(0, Ordering::Relaxed);
        }
        self.say(words);
    }

    fn stop(&self) {
        self.over.cancel();
    }

    fn is_stopped(&self) -> bool {
        self.over.is_cancelled()
    }

    async fn stopped(&self) {
        self.over.cancelled().await;
    }

    fn add(&self, files: u64, bytes: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Such as `reading: 12 files, 3.0 MiB, 1.0 MiB sent`.
    fn told(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (files, bytes) =
            (self.files.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        if files == 0 {
            return words;
        }
        let sent = self.sent.load(Ordering::Relaxed);
        let told = format!("{words}: {files} files, {}", Bytes::new(bytes));
        match sent {
            0 => told,
            sent => format!("{told}, {} sent", Bytes::new(sent)),
        }
    }
}

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Backups {
    inner: Arc<Inner>,
}

struct Inner {
    blobs: Blobs,
    clock: Clock,
    restores: PathBuf,
    tasks: Tasks,
    /// One job at a time, so that a machine is not read twice at once.
    turn: tokio::sync::Mutex<()>,
    copies: Jobs<NodeBackupOutcome>,
    restored: Jobs<RestoreOutcome>,
}

impl Backups {
    pub fn new(blobs: Blobs, clock: Clock, data_dir: &Path, tasks: Tasks) -> Backups {
        let inner = Inner {
            blobs,
            clock,
            restores: data_dir.join(RESTORES),
            tasks,
            turn: tokio::sync::Mutex::default(),
            copies: Jobs::default(),
            restored: Jobs::default(),
        };
        Backups { inner: Arc::new(inner) }
    }

    /// How a backup stands; begun only with a spec.
    pub async fn keep(
        &self,
        id: OperationId,
        spec: Option<NodeBackupSpec>,
    ) -> JobState<NodeBackupOutcome> {
        let inner = self.inner.clone();
        let begin = spec.map(|spec| {
            move |progress: Arc<Progress>| async move {
                inner.carry_out(&progress, || send::keep(&inner.blobs, id, &spec, &progress)).await
            }
        });
        self.inner.copies.ask(&self.inner.tasks, id, begin).await
    }

    /// How a restore stands; begun only with an order.
    pub async fn put_back(
        &self,
        id: OperationId,
        order: Option<Box<RestoreOrder>>,
    ) -> JobState<RestoreOutcome> {
        let inner = self.inner.clone();
        let begin = order.map(|order| {
            let order = Arc::new(*order);
            move |progress: Arc<Progress>| async move {
                let fresh = inner.restores.join(id.to_string());
                let again =
                    || restore::put_back(&inner.blobs, id, order.clone(), fresh.clone(), &progress);
                let ended = inner.carry_out(&progress, again).await;
                restore::forget_notes(&fresh);
                ended
            }
        });
        self.inner.restored.ask(&self.inner.tasks, id, begin).await
    }

    /// Nobody waits for it any more.
    pub fn forget(&self, id: OperationId) {
        self.inner.copies.forget(id);
        self.inner.restored.forget(id);
    }
}

impl Inner {
    /// Does something when its turn has come, again and again for as long as only the server is away.
    async fn carry_out<T, F>(&self, progress: &Progress, job: impl Fn() -> F) -> JobState<T>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        progress.say("it waits for what is read or put back before it");
        let _turn = self.turn.lock().await;
        loop {
            if progress.is_stopped() {
                return JobState::Failed { why: Failure::Stopped.to_string() };
            }
            match job().await {
                Ok(outcome) => return JobState::Done { content: Some(outcome) },
                Err(failure) if failure.is_passing() && !progress.is_stopped() => {
                    let why = chain(&failure).to_string();
                    tracing::info!(%why, "backup job begins again");
                    progress.say(format!("it begins again in a moment: {why}"));
                    self.clock.sleep(AGAIN).await;
                }
                Err(failure) => {
                    let why = chain(&failure).to_string();
                    tracing::warn!(%why, "backup job failed");
                    return JobState::Failed { why };
                }
            }
        }
    }
}

/// Puts back below a directory what a list names, with these bytes; for the fuzz targets.
pub(crate) fn put_back(
    dir: &Path,
    into: &Path,
    list: &[u8],
    content: &[u8],
) -> std::io::Result<u64> {
    use hostler_blob::digest_of;
    use hostler_model::{BackupVolume, RestoreSpec, RestoreTo};

    let (list_file, bytes_file) = (dir.join("work-list"), dir.join("work-bytes"));
    std::fs::write(&list_file, list)?;
    std::fs::write(&bytes_file, content)?;
    let of = |bytes: &[u8]| BackupVolume { digest: digest_of(bytes), size: bytes.len() as u64 };
    let to = RestoreTo::Directory { path: into.display().to_string() };
    let order = RestoreOrder {
        backup: hostler_model::NodeBackupId::from_uuid(uuid::Uuid::nil()),
        manifest: of(list),
        volumes: vec![of(content)],
        spec: RestoreSpec { to, paths: Vec::new(), overwrite: true, check: false },
    };
    let job = OperationId::from_uuid(uuid::Uuid::nil());
    let open = || std::fs::File::open(&list_file).map_err(|e| Failure::Refused(e.to_string()));
    let fetch = |_: &BackupVolume| Ok::<_, BlobError>(restore::Volume::File(bytes_file.clone()));
    let fresh = dir.join("work-fresh");
    let done = restore::restore(&order, job, fresh, &Progress::default(), open, fetch);
    done.map(|outcome| outcome.bytes.get()).map_err(std::io::Error::other)
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(Failure::Refused(error.to_string())),
    }
}
