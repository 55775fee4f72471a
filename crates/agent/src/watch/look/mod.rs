//! Looks: what is so on the machine, one kind of watcher in each file.

mod command;
mod figure;
mod files;
mod log;
mod net;
mod process;
mod unit;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hostler_base::Clock;
use hostler_engine::watch::Seen;
use hostler_host::Host;
use hostler_model::{Watch, watch_pattern};
use regex::bytes::Regex;

pub(super) use log::Cursor;

/// How long a look may take that is not about a command.
const LIMIT: Duration = Duration::from_secs(40);
/// What a command gets beyond its own limit, to be ended.
const BEYOND: Duration = Duration::from_secs(20);

/// What a look saw.
#[derive(Debug)]
pub(super) struct Looked {
    /// Nothing where it is not clear yet, or why it cannot be looked.
    pub seen: Result<Option<Seen>, String>,
    /// Where a log is read on.
    pub cursor: Option<Cursor>,
}

impl Looked {
    pub fn problem(text: impl Into<String>) -> Looked {
        Looked { seen: Err(text.into()), cursor: None }
    }
}

impl From<Result<Seen, String>> for Looked {
    fn from(seen: Result<Seen, String>) -> Looked {
        Looked { seen: seen.map(Some), cursor: None }
    }
}

/// What looks for one watcher, and what it knows from one look to the next that is worth nothing tomorrow.
pub(super) struct Eyes {
    watch: Watch,
    host: Host,
    pattern: Result<Option<Regex>, String>,
    /// Of a file that is read to see whether it was changed: what it looked like then.
    hashed: Arc<Mutex<Option<files::Hashed>>>,
    /// What the processors had done.
    busy: Mutex<Option<(u64, u64)>>,
    /// A thread looks, and may hang on a file system that does not answer.
    is_away: Arc<AtomicBool>,
}

impl Eyes {
    pub fn new(watch: &Watch, host: Host) -> Eyes {
        let text = match watch {
            Watch::Process(it) => it.command.as_str(),
            Watch::Command(it) => it.pattern.as_str(),
            Watch::Log(it) => it.pattern.as_str(),
            _ => "",
        };
        let pattern = match text {
            "" => Ok(None),
            text => watch_pattern(text).map(Some).map_err(|error| error.to_string()),
        };
        Eyes {
            watch: watch.clone(),
            host,
            pattern,
            hashed: Arc::default(),
            busy: Mutex::default(),
            is_away: Arc::default(),
        }
    }

    /// Whether it waits for others.
    pub fn is_slow(&self) -> bool {
        match &self.watch {
            Watch::Port(_) | Watch::Command(_) | Watch::Service(_) | Watch::Certificate(_) => true,
            Watch::Log(it) => it.path.is_empty(),
            _ => false,
        }
    }

    pub fn limit(&self) -> Duration {
        match &self.watch {
            Watch::Command(it) => it.time_limit.duration() + BEYOND,
            _ => LIMIT,
        }
    }

    /// Looks once.
    pub async fn look(&self, clock: &Clock, cursor: Option<Cursor>) -> Looked {
        let pattern = match &self.pattern {
            Ok(pattern) => pattern.clone(),
            Err(problem) => return Looked::problem(problem.clone()),
        };
        match &self.watch {
            Watch::File(it) => {
                let (it, hashed) = (it.clone(), Arc::clone(&self.hashed));
                let look = move || {
                    let mut hashed = hashed.lock().unwrap_or_else(PoisonError::into_inner);
                    files::file(&it, &mut hashed)
                };
                self.apart(look).await.into()
            }
            Watch::Directory(it) => {
                let it = it.clone();
                self.apart(move || files::entries(&it)).await.into()
            }
            Watch::Process(it) => {
                let it = it.clone();
                self.apart(move || process::count(&it, pattern.as_ref())).await.into()
            }
            Watch::Port(it) => net::port(clock, it).await.into(),
            Watch::Command(it) => command::run(clock, it, pattern).await.into(),
            Watch::Log(it) => {
                let Some(pattern) = pattern else { return Looked::problem("it has no pattern") };
                if it.path.is_empty() {
                    return log::journal(&self.host, clock, &it.unit, cursor, &pattern).await;
                }
                let (path, folder) = (it.path.clone(), self.host.path(log::FOLDER));
                let folder = match folder {
                    Ok(folder) => folder,
                    Err(error) => return Looked::problem(error.to_string()),
                };
                let look = move || Ok(log::file(&folder, &path, cursor, &pattern));
                self.apart(look).await.unwrap_or_else(Looked::problem)
            }
            Watch::Cpu(_) => figure::cpu(clock, &self.busy).await.into(),
            Watch::Memory(_) => figure::memory().into(),
            Watch::Load(_) => figure::load().into(),
            Watch::Disk(it) => {
                let path = it.path.clone();
                self.apart(move || figure::disk(&path)).await.into()
            }
            Watch::Service(it) => {
                Looked { seen: unit::state(&self.host, &it.unit).await, cursor: None }
            }
            Watch::Certificate(it) if it.path.is_empty() => {
                net::certificate(clock, it).await.into()
            }
            Watch::Certificate(it) => {
                let path = it.path.clone();
                self.apart(move || files::certificate(&path)).await.into()
            }
        }
    }

    /// Looks in a thread of its own, unless the one before has not come back.
    async fn apart<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        if self.is_away.swap(true, Ordering::SeqCst) {
            return Err("the look before has not ended yet".to_owned());
        }
        let back = Back(Arc::clone(&self.is_away));
        let looking = tokio::task::spawn_blocking(move || {
            let _back = back;
            look()
        });
        looking.await.map_err(|_| "the look was broken off".to_owned())?
    }
}

/// The thread is back, however it ended.
struct Back(Arc<AtomicBool>);

impl Drop for Back {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Some bytes of a digest, as a mark.
fn mark(hash: &blake3::Hash) -> u64 {
    let bytes = hash.as_bytes();
    u64::from_le_bytes(std::array::from_fn(|at| bytes[at]))
}
