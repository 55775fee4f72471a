//! The door: everything that somebody on this machine can ask of its agent, as typed verbs. The local
//! socket in both its spellings and the HTTP API are translations of these and add nothing.
//!
//! The board is looked at, the supervisor is told; nothing is decided here. Wishes for one workload are
//! one after the other from the look at how it stands until the supervisor has taken them, so of two
//! who start it at once one finds that it runs already. A verb answers when it has come to something,
//! or after a time that follows from the workload's own spec; what was asked for happens all the same,
//! for it was written down before.

pub(crate) mod command;
pub(crate) mod exec;
mod logs;
pub(crate) mod master_control;
mod metrics;
pub mod view;

pub use hostler_manifest::to_yaml as spec_yaml;
pub use logs::LogAsk;
pub(crate) use logs::{runs_of, service_of};

use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Clock, Shutdown};
use hostler_engine::schedule::{Timetable, node_salt, workload_salt};
use hostler_model::{Mode, Name, NodeId, Phase};
use tokio::sync::watch;

use crate::config::OnStop;
use crate::local::{LocalStatus, WorkloadCounts};
use crate::runner::Runner;
use crate::standalone::DirectorySource;
use crate::status::Status;
use crate::supervisor::{ServiceView, Supervisor};
use crate::writes::Tally;
use crate::zone;
use view::{FireView, PastView, Refusal, RefusalCode, Reloaded, WorkloadDetail, WorkloadView};

/// How long a question waits for an agent that has just started to look around.
const READY: Duration = Duration::from_secs(10);
const FIRES_MAX: usize = 1000;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct Door {
    parts: Arc<Parts>,
    turns: Arc<command::Turns>,
}

pub(crate) struct Parts {
    pub node_id: NodeId,
    pub node: Name,
    pub clock: Clock,
    pub shutdown: Shutdown,
    pub status: Arc<Status>,
    pub supervisor: Supervisor,
    pub runner: Runner,
    pub directory: Option<Arc<DirectorySource>>,
    /// True once the board shows what the ledger, and the directory, say.
    pub ready: watch::Receiver<bool>,
    pub tally: Arc<Tally>,
    pub is_metered: bool,
}

impl Door {
    pub fn new(parts: Parts) -> Door {
        Door { parts: Arc::new(parts), turns: Arc::default() }
    }

    pub fn clock(&self) -> &Clock {
        &self.parts.clock
    }

    /// Resolves when what is shown is what there is. Later when the disk is full: then it is shown too.
    async fn ready(&self) {
        let mut ready = self.parts.ready.clone();
        let is_ready = ready.wait_for(|is_ready| *is_ready);
        let _ = self.parts.clock.timeout(READY, is_ready).await;
    }

    pub fn status(&self) -> LocalStatus {
        let parts = &self.parts;
        let known = parts.status.known();
        let (server, address) = known.connection.server.unzip();
        let services = parts.supervisor.board().services();
        let count = |phases: &[Phase]| {
            services.iter().filter(|one| phases.contains(&one.status.phase)).count()
        };
        LocalStatus {
            node_id: parts.node_id,
            name: parts.node.clone(),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            is_connected: server.is_some(),
            server,
            address,
            time_changed: known.connection.time_changed,
            connection_problem: known.connection.problem,
            applied_generation: known.applied,
            runs_active: parts.runner.live().len(),
            stopping: known.on_stop.filter(|_| parts.shutdown.is_requested()),
            workloads: WorkloadCounts {
                total: services.len(),
                running: count(&[Phase::Running]),
                failed: count(&[Phase::Failed, Phase::Backoff]),
            },
            ledger_problem: known.ledger_problem,
            ledger_quarantined: known.quarantined,
            certificate_expires: known.certificate_expires,
            writes: parts.tally.metrics(),
            is_metered: parts.is_metered,
            directory: parts.directory.as_ref().map(|d| d.config().directory().to_owned()),
            directory_problem: parts.directory.as_ref().and_then(|d| d.problem()),
        }
    }

    /// Every workload, by name.
    pub(crate) async fn services(&self) -> Vec<Arc<ServiceView>> {
        self.ready().await;
        self.parts.supervisor.board().services()
    }

    pub async fn list(&self) -> Vec<WorkloadView> {
        self.services().await.iter().map(|one| WorkloadView::of(one)).collect()
    }

    pub async fn show(&self, name: &str) -> Result<WorkloadDetail, Refusal> {
        let service = self.service(name).await?;
        Ok(WorkloadDetail {
            workload: WorkloadView::of(&service),
            spec: service.assignment.spec.clone(),
            history: view::history(&service),
        })
    }

    pub async fn history(&self, name: &str) -> Result<Vec<PastView>, Refusal> {
        Ok(view::history(&*self.service(name).await?))
    }

    /// When a scheduled workload will run.
    pub async fn next(&self, name: &str, count: usize) -> Result<Vec<FireView>, Refusal> {
        let service = self.service(name).await?;
        let Mode::Schedule(schedule) = &service.assignment.spec.mode else {
            let detail = format!("'{name}' has no schedule: its mode is {}", service.mode());
            return Err(Refusal::new(RefusalCode::Conflict, detail));
        };
        let salt = workload_salt(node_salt(self.parts.node_id), service.assignment.workload_id);
        let timetable = Timetable::new(schedule, salt, &zone::local())
            .map_err(|error| Refusal::internal(&error))?;
        let fires = timetable.preview(self.parts.clock.now(), count.min(FIRES_MAX));
        Ok(fires.into_iter().map(|fire| FireView { time: fire.time, start: fire.start }).collect())
    }

    /// Reads the workload files again.
    pub async fn reload(&self) -> Result<Reloaded, Refusal> {
        self.ready().await;
        match &self.parts.directory {
            Some(directory) => directory.reload().await,
            None => Err(Refusal::new(
                RefusalCode::Conflict,
                "this agent has no workload files, it is told by its server; `hostler node reload` has it told again, `hostler workload apply` changes what it is told",
            )),
        }
    }

    /// Asks the agent to stop; `runs` says what becomes of what runs, where that is not what the agent
    /// was started with.
    pub fn shutdown(&self, runs: Option<OnStop>) {
        if let Some(runs) = runs {
            self.parts.status.set_on_stop(runs);
        }
        self.parts.shutdown.request("asked to on the local socket");
    }

    /// The workload of this name, also of the name that it had for Master Control.
    pub(crate) async fn service(&self, name: &str) -> Result<Arc<ServiceView>, Refusal> {
        self.ready().await;
        self.find(name).ok_or_else(|| Refusal::unknown(name))
    }

    fn find(&self, name: &str) -> Option<Arc<ServiceView>> {
        let board = self.parts.supervisor.board();
        let by_name = name.parse::<Name>().ok().and_then(|name| board.find(&name));
        by_name.or_else(|| {
            let tag = format!("{}{name}", master_control::NAME_TAG);
            let services = board.services();
            services.into_iter().find(|one| one.assignment.spec.tags.contains(&tag))
        })
    }
}

impl ServiceView {
    fn mode(&self) -> hostler_model::ModeKind {
        self.assignment.spec.mode.kind()
    }
}
