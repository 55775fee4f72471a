//! The machine that this agent is on, looked after for servers: what it has and does, and what is changed about it.
//!
//! Everything goes through `hostler_host`, which runs programs from their arguments and plans a change before it makes
//! it. Looking is done while somebody waits for it, a few at once, and ends with whoever asked. A deed is a job of an
//! operation (`jobs`): it is begun once, goes on when the session breaks off, and its outcome is kept until it was
//! asked for. One is done at a time, so that two package managers do not meet.

mod deed;
mod jobs;
mod look;

use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Clock, Tasks};
use hostler_host::{Host, HostError};
use hostler_model::Code;
use hostler_model::host::HostAsk;
use tokio::sync::Semaphore;

use crate::backup::Backups;
use crate::status::Status;
use jobs::Jobs;

/// How many look at the machine at once.
const LOOKS: usize = 4;
/// How long looking may take.
const LOOK_TIME: Duration = Duration::from_secs(40);

/// How long a question about a deed waits for its end.
const MOMENT: Duration = Duration::from_secs(4);

/// Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Machine {
    inner: Arc<Inner>,
}

struct Inner {
    host: Host,
    clock: Clock,
    status: Arc<Status>,
    looks: Semaphore,
    jobs: Jobs,
    backups: Backups,
}

/// Why a question is not answered.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub code: Code,
    pub detail: String,
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Refusal {
        let code = match &error {
            HostError::Invalid { .. } | HostError::Pattern { .. } => Code::Invalid,
            HostError::Stopping => Code::Unavailable,
            _ => Code::Conflict,
        };
        Refusal { code, detail: hostler_base::chain(&error).to_string() }
    }
}

impl Machine {
    /// What it has begun is counted by the tasks, and ends with them.
    pub fn new(
        host: Host,
        clock: Clock,
        status: Arc<Status>,
        tasks: Tasks,
        backups: Backups,
    ) -> Machine {
        let jobs = Jobs::new(host.clone(), tasks, MOMENT);
        let looks = Semaphore::new(LOOKS);
        Machine { inner: Arc::new(Inner { host, clock, status, looks, jobs, backups }) }
    }

    /// The answer as a document.
    pub async fn answer(&self, ask: HostAsk) -> Result<Vec<u8>, Refusal> {
        match ask {
            HostAsk::Do { job, deed } => Ok(document(&self.inner.jobs.ask(job, deed).await)),
            HostAsk::Backup { job, spec } => {
                let problems = HostAsk::Backup { job, spec: spec.clone() }.problems();
                refuse(&problems)?;
                Ok(document(&self.inner.backups.keep(job, spec).await))
            }
            HostAsk::Restore { job, order } => {
                let problems = HostAsk::Restore { job, order: order.clone() }.problems();
                refuse(&problems)?;
                Ok(document(&self.inner.backups.put_back(job, order).await))
            }
            HostAsk::Forget { job } => {
                self.inner.jobs.forget(job);
                self.inner.backups.forget(job);
                Ok(document(&()))
            }
            ask => {
                let looked = async {
                    let turn = self.inner.looks.acquire().await;
                    let _turn = turn.map_err(|_| HostError::Stopping)?;
                    self.look(ask).await
                };
                let late = |_| Refusal {
                    code: Code::Unavailable,
                    detail: format!(
                        "the machine takes longer than {} s to answer; ask for less at once",
                        LOOK_TIME.as_secs()
                    ),
                };
                self.inner.clock.timeout(LOOK_TIME, looked).await.map_err(late)?
            }
        }
    }

    async fn look(&self, ask: HostAsk) -> Result<Vec<u8>, Refusal> {
        let host = &self.inner.host;
        Ok(match ask {
            HostAsk::Vitals => document(&self.vitals().await?),
            HostAsk::Packages { query } => document(&look::packages(host, query).await?),
            HostAsk::Services { query } => document(&look::services(host, query).await?),
            HostAsk::Logs { query } => document(&look::logs(host, query).await?),
            HostAsk::Processes { query } => document(&look::processes(host, query).await?),
            HostAsk::Disks { query } => document(&look::disks(host, query).await?),
            HostAsk::Users { query } => document(&look::users(host, query).await?),
            HostAsk::Check { deed } => {
                document(&deed::outcome(deed::plan(host, &deed).await?.outcome()))
            }
            HostAsk::Do { .. }
            | HostAsk::Backup { .. }
            | HostAsk::Restore { .. }
            | HostAsk::Forget { .. } => document(&()),
        })
    }
}

fn refuse(problems: &[hostler_model::Diagnostic]) -> Result<(), Refusal> {
    match problems.first() {
        None => Ok(()),
        Some(problem) => {
            let detail = format!("{}: {}", problem.pointer, problem.detail);
            Err(Refusal { code: Code::Invalid, detail })
        }
    }
}

fn document(answer: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("an answer is made of what JSON has")
}
