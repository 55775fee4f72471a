//! The board: how every service on this node stands, for whoever wants to look. The owner writes it
//! after each change; nothing is decided by it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_engine::supervise::{AgentState, Held, HeldRun, Local, Past, Volatile};
use hostler_model::{Assignment, Exit, Name, PlacementId, PlacementStatus, RunId, Timestamp};
use tokio::sync::watch;

/// A service as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServiceView {
    pub assignment: Assignment,
    pub status: PlacementStatus,
    /// The newest run that lives.
    pub live: Option<LiveRun>,
    /// Others that live, oldest first: only a schedule may have them.
    pub others: Vec<LiveRun>,
    /// Runs made, ever.
    pub launched: u64,
    /// Ended runs, oldest first.
    pub history: Vec<Past>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveRun {
    pub run: RunId,
    /// The how-manieth it is.
    pub number: u64,
    pub pid: Option<u32>,
    pub since: Option<Timestamp>,
}

impl LiveRun {
    fn of(run: RunId, held: &HeldRun) -> LiveRun {
        let (pid, since) = match &held.local {
            Local::Running { pid, since } | Local::Paused { pid, since } => {
                (Some(*pid), Some(*since))
            }
            _ => (None, None),
        };
        LiveRun { run, number: held.origin.map_or(0, |origin| origin.number), pid, since }
    }
}

impl ServiceView {
    pub(super) fn of(state: &AgentState, held: &Held, volatile: &Volatile) -> Option<ServiceView> {
        let service = held.service.as_ref()?;
        let mut others: Vec<LiveRun> =
            state.live(held).map(|(run, held)| LiveRun::of(run, held)).collect();
        let live = others.pop();
        Some(ServiceView {
            assignment: held.assignment.clone(),
            status: state.status(held, volatile)?,
            live,
            others,
            launched: service.launched,
            history: service.history.iter().cloned().collect(),
        })
    }

    pub fn name(&self) -> &Name {
        &self.assignment.workload_name
    }

    /// When its newest run began.
    pub fn last_started(&self) -> Option<Timestamp> {
        let past = || self.history.iter().rev().find_map(|past| past.started);
        self.live.and_then(|live| live.since).or_else(past)
    }

    pub fn last_exit(&self) -> Option<&Exit> {
        self.history.last().map(|past| &past.exit)
    }
}

#[derive(Default)]
pub(crate) struct Board {
    services: Mutex<BTreeMap<PlacementId, Arc<ServiceView>>>,
    changes: watch::Sender<u64>,
}

impl Board {
    /// All of them, by name.
    pub fn services(&self) -> Vec<Arc<ServiceView>> {
        let mut services: Vec<_> = self.lock().values().cloned().collect();
        services.sort_by(|a, b| a.name().cmp(b.name()));
        services
    }

    /// The one of this name; of several projects' the first.
    pub fn find(&self, name: &Name) -> Option<Arc<ServiceView>> {
        self.lock().values().find(|service| service.name() == name).cloned()
    }

    /// Grows with every change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn put(&self, placement: PlacementId, view: Option<ServiceView>) {
        let mut services = self.lock();
        match view {
            Some(view) => services.insert(placement, Arc::new(view)),
            None => services.remove(&placement),
        };
        drop(services);
        self.changes.send_modify(|number| *number += 1);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PlacementId, Arc<ServiceView>>> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
