//! The directory as the place where wishes come from: read at the start, on SIGHUP and when somebody
//! asks for it.
//!
//! Reloads are one after the other. While files are wrong, what they say of themselves is kept for
//! whoever asks how the agent is.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostler_manifest::{Report, Set};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::plan::Step;
use super::{Plan, Standalone};
use crate::door::view::{Refusal, RefusalCode, Reloaded};
use crate::supervisor::{Supervisor, SupervisorGone, Taken};

pub(crate) struct DirectorySource {
    config: Standalone,
    supervisor: Supervisor,
    plan: tokio::sync::Mutex<Plan>,
    problem: Mutex<Option<Refusal>>,
}

impl DirectorySource {
    pub fn new(config: Standalone, plan: Plan, supervisor: Supervisor) -> DirectorySource {
        DirectorySource {
            config,
            supervisor,
            plan: tokio::sync::Mutex::new(plan),
            problem: Mutex::default(),
        }
    }

    pub fn config(&self) -> &Standalone {
        &self.config
    }

    /// Why the files are not what runs.
    pub fn problem(&self) -> Option<Refusal> {
        self.lock_problem().clone()
    }

    /// Applies what was read when the agent started, then reads again on every signal.
    pub async fn follow(
        &self,
        first: Result<Set, Report>,
        mut hangups: Hangups,
        ready: impl FnOnce(),
    ) {
        let applied = self.apply(first).await;
        self.tell(&applied);
        ready();
        while hangups.0.recv().await.is_some() {
            tracing::info!("SIGHUP received, workload files are read again");
            // What is wrong is in the log, and in the status.
            let _ = self.reload().await;
        }
    }

    /// Reads the files again. Everything is applied, or nothing.
    pub async fn reload(&self) -> Result<Reloaded, Refusal> {
        let config = self.config.clone();
        let read = tokio::task::spawn_blocking(move || config.load()).await;
        let read = read.map_err(|error| Refusal::internal(&error))?;
        let applied = self.apply(read).await;
        self.tell(&applied);
        applied
    }

    async fn apply(&self, read: Result<Set, Report>) -> Result<Reloaded, Refusal> {
        let set = match read {
            Ok(set) => set,
            Err(report) => {
                let refusal = Refusal::mistakes(&report);
                *self.lock_problem() = Some(refusal.clone());
                return Err(refusal);
            }
        };
        let mut plan = self.plan.lock().await;
        let Step { wishes, changes, plan: next } = plan.towards(&set);
        let gone = |error: SupervisorGone| Refusal::internal(&error);
        let mut answers = Vec::with_capacity(wishes.len());
        for wish in wishes {
            answers.push(self.supervisor.wish(wish).await.map_err(gone)?);
        }
        *plan = next;
        for answer in answers {
            match answer.await.map_err(|_| gone(SupervisorGone))? {
                Taken::Durable(_) => {}
                Taken::Gap => {
                    let detail = "the ledger and the directory disagree; restart the agent";
                    return Err(Refusal::new(RefusalCode::Internal, detail));
                }
            }
        }
        *self.lock_problem() = None;
        Ok(changes)
    }

    /// Tells the log how applying went.
    fn tell(&self, applied: &Result<Reloaded, Refusal>) {
        let directory = self.config.directory().display();
        match applied {
            Ok(changes) => tracing::info!(
                %directory,
                added = changes.added.len(),
                removed = changes.removed.len(),
                changed = changes.changed.len(),
                unchanged = changes.unchanged.len(),
                "workload files applied"
            ),
            Err(refusal) => {
                for mistake in &refusal.mistakes {
                    tracing::error!(
                        file = mistake.file,
                        line = mistake.line,
                        column = mistake.column,
                        detail = mistake.detail,
                        hint = mistake.hint,
                        "mistake in a workload file"
                    );
                }
                tracing::error!(
                    %directory,
                    error = refusal.detail,
                    "workload files were not applied, what ran before runs on"
                );
            }
        }
    }

    fn lock_problem(&self) -> MutexGuard<'_, Option<Refusal>> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// SIGHUPs since this was made; the signal does not end the process any more.
pub(crate) struct Hangups(Signal);

impl Hangups {
    pub fn listen() -> io::Result<Hangups> {
        signal(SignalKind::hangup()).map(Hangups)
    }
}
