//! Content by its digest, from servers and to them.
//!
//! [`Blobs::fetch`] brings a blob onto this machine as a file of its own: the server says which chunks it
//! has, those that are kept here are taken (`cache`), the others are fetched, and nothing is handed out
//! whose digest is not right. [`Blobs::put`] is the way back: content is cut as it is read, and only what
//! the server lacks is sent.
//!
//! Both go over a connection of their own (`reach`), so that content never stands in the way of the
//! session, to the server that the session talks with. Whatever breaks off is tried again for
//! [`PATIENCE`]; then it is [`BlobError::Away`], and whoever wanted it decides. Nothing is lost then:
//! chunks that have come are kept, and chunks that were put are there.
//!
//! A crash leaves files below `blobs/files`, which the next agent deletes, and the cache, which is worth
//! something only because every chunk in it is checked when it is read.

mod cache;
mod fetch;
mod put;
mod reach;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hostler_model::{Bytes, Digest, OperationId, RunId};
use tokio::sync::{OnceCell, Semaphore};

pub use put::PutAs;

use crate::writes::{Tally, What};
use cache::Cache;
use reach::Reach;

/// How long a server may be away before a transfer is given up for now.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// How many blobs travel at once.
const TRANSFERS_MAX: usize = 4;
const DIR: &str = "blobs";
const FILES: &str = "files";

#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("no server can be reached for its content: {0}")]
    Away(String),
    #[error("an agent without a server has nowhere to get content from, or to put it")]
    Alone,
    /// Trying again would not help.
    #[error("the server says: {0}")]
    Refused(String),
    #[error("what the server sent is not the content {0}")]
    Wrong(Digest),
    #[error("the content cannot be written below {}", path.display())]
    Disk {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the content cannot be read")]
    Read(#[source] std::io::Error),
}

impl BlobError {
    /// Whether trying again later can help.
    pub fn is_passing(&self) -> bool {
        match self {
            BlobError::Away(_) => true,
            BlobError::Disk { source, .. } => hostler_base::fs::is_disk_full(source),
            BlobError::Alone | BlobError::Refused(_) | BlobError::Wrong(_) | BlobError::Read(_) => {
                false
            }
        }
    }
}

/// A blob that is needed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub digest: Digest,
    pub whose: Whose,
}

/// Why a blob may be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Everybody,
    /// The run names it.
    Run(RunId),
    /// It is of the backup that this operation puts back. What it consists of is not kept here.
    Restore(OperationId),
}

/// How far a transfer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub bytes: u64,
    /// Zero as long as it is not known.
    pub total: u64,
    /// What went over the wire of it, packed, when it is put.
    pub sent: u64,
}

/// A whole blob, checked, in a file that goes with this handle.
#[derive(Debug)]
pub struct BlobFile {
    path: PathBuf,
    pub size: u64,
    pub digest: Digest,
}

impl BlobFile {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for BlobFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The way to content. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Blobs {
    shared: Arc<Shared>,
}

struct Shared {
    dir: PathBuf,
    cache_max: Bytes,
    reach: Reach,
    transfers: Semaphore,
    cache: OnceCell<Arc<Mutex<Cache>>>,
    files: AtomicU64,
    tally: OnceLock<Arc<Tally>>,
}

impl Blobs {
    /// Keeps what has come below the data directory, up to so much.
    pub fn new(data_dir: &Path, cache_max: Bytes) -> Blobs {
        Blobs {
            shared: Arc::new(Shared {
                dir: data_dir.join(DIR),
                cache_max,
                reach: Reach::default(),
                transfers: Semaphore::new(TRANSFERS_MAX),
                cache: OnceCell::new(),
                files: AtomicU64::new(0),
                tally: OnceLock::new(),
            }),
        }
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.shared.reach
    }

    pub(crate) fn count_into(&self, tally: Arc<Tally>) {
        // Whoever comes second counts into the first one's.
        let _ = self.shared.tally.set(tally);
    }

    fn count(&self, bytes: u64) {
        if let Some(tally) = self.shared.tally.get() {
            tally.count(What::Content, bytes);
        }
    }

    /// Whether it is worth writing what may never be read.
    fn may_cache(&self) -> bool {
        self.shared.tally.get().is_none_or(|tally| !tally.is_saving())
    }

    /// Makes the directories, deletes what a crash left, and finds what is kept; once.
    async fn cache(&self) -> Result<Arc<Mutex<Cache>>, BlobError> {
        let opened = self.shared.cache.get_or_try_init(|| async {
            let (dir, max) = (self.shared.dir.clone(), self.shared.cache_max.get());
            let opening = move || {
                let files = dir.join(FILES);
                match std::fs::remove_dir_all(&files) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
                    _ => {}
                }
                make_private(&files)?;
                Cache::open(&dir, max)
            };
            let opened = blocking(opening).await.map_err(|source| self.disk(source))?;
            Ok(Arc::new(Mutex::new(opened)))
        });
        opened.await.cloned()
    }

    fn disk(&self, source: std::io::Error) -> BlobError {
        BlobError::Disk { path: self.shared.dir.clone(), source }
    }

    /// A file without a name, for something that is on its way.
    pub(crate) async fn scratch(&self) -> Result<std::fs::File, BlobError> {
        self.cache().await?;
        let number = self.shared.files.fetch_add(1, Ordering::Relaxed);
        let path = self.shared.dir.join(FILES).join(format!("scratch-{number}"));
        let make = move || {
            let mut options = std::fs::OpenOptions::new();
            let file = options.read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        };
        blocking(make).await.map_err(|source| self.disk(source))
    }

    fn fresh_file(&self, digest: Digest) -> PathBuf {
        let number = self.shared.files.fetch_add(1, Ordering::Relaxed);
        self.shared.dir.join(FILES).join(format!("{}-{number}", digest.short()))
    }
}

fn locked(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(std::io::Error::other(e)),
    }
}
