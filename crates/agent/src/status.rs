//! What the agent knows about itself, for the local socket and for heartbeats. Written by whoever
//! learns something, read by anybody; nothing is decided by it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hostler_model::{Generation, Timestamp};

use crate::config::OnStop;

#[derive(Default)]
pub(crate) struct Status(Mutex<Known>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub connection: Connection,
    pub applied: Generation,
    pub ledger_problem: Option<String>,
    /// Where a damaged ledger was put aside, since this agent started.
    pub quarantined: Option<String>,
    pub certificate_expires: Option<Timestamp>,
    /// What is to become of runs when the agent stops, where somebody has said so since it started.
    pub on_stop: Option<OnStop>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    /// Id and address of the server that holds the session.
    pub server: Option<(String, String)>,
    pub time_changed: Option<Timestamp>,
    /// Why the last attempt failed or the last session ended.
    pub problem: Option<String>,
}

impl Status {
    pub fn known(&self) -> Known {
        self.lock().clone()
    }

    pub fn set_connected(&self, server: String, address: String, now: Timestamp) {
        self.lock().connection =
            Connection { server: Some((server, address)), time_changed: Some(now), problem: None };
    }

    pub fn set_disconnected(&self, problem: String, now: Timestamp) {
        let mut known = self.lock();
        if known.connection.server.take().is_some() || known.connection.time_changed.is_none() {
            known.connection.time_changed = Some(now);
        }
        known.connection.problem = Some(problem);
    }

    pub fn set_applied(&self, applied: Generation) {
        self.lock().applied = applied;
    }

    pub fn applied(&self) -> Generation {
        self.lock().applied
    }

    pub fn set_ledger_problem(&self, problem: Option<String>) {
        self.lock().ledger_problem = problem;
    }

    pub fn set_quarantined(&self, path: String) {
        self.lock().quarantined = Some(path);
    }

    pub fn set_certificate_expires(&self, time: Timestamp) {
        self.lock().certificate_expires = Some(time);
    }

    pub fn set_on_stop(&self, on_stop: OnStop) {
        self.lock().on_stop = Some(on_stop);
    }

    pub fn on_stop(&self) -> Option<OnStop> {
        self.lock().on_stop
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
