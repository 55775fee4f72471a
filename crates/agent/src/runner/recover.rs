//! Finding again what an agent before this one left: from the directories of runs alone.

use std::io;

use hostler_model::{Exit, PlacementId, RunId};

use super::attend::Reply;
use super::settle::{self, Settled};
use super::{Ended, Entered, HELLO, Runner, Started, blocking};

/// A run that was on disk when the runner began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    pub run_id: RunId,
    /// Whose it is, as far as it says.
    pub placement_id: Option<PlacementId>,
    pub state: RecoveredState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveredState {
    /// It runs; the runner is connected to its shim again.
    Live(Started),
    /// It ended while nobody looked. [`hostler_model::ExitReason::Vanished`] when its shim died with
    /// it or the node rebooted; what was left of it has been killed.
    Exited { exit: Exit, started: Option<Started> },
    /// It was prepared, in this boot, and certainly never executed: it may be started.
    NeverStarted,
}

impl Runner {
    /// Everything on disk that this runner is not attending to yet, attending to what lives. To be
    /// called once after [`Runner::start`], before anything is started.
    pub async fn recover(&self) -> io::Result<Vec<Recovered>> {
        let shared = self.shared();
        let runs = shared.runs.clone();
        let found = blocking(move || settle::list(&runs)).await?;
        let mut recovered = Vec::with_capacity(found.len());
        for run_id in found {
            match self.recover_one(run_id).await {
                Ok(state) => {
                    let placement_id = settle::placement_of(&shared.runs, run_id);
                    let found = state.map(|state| Recovered { run_id, placement_id, state });
                    recovered.extend(found);
                }
                Err(error) => tracing::error!(run = %run_id, %error, "run cannot be examined"),
            }
        }
        shared.sweep_secrets().await;
        Ok(recovered)
    }

    /// The same for one run; `None` when it lives and is attended to already.
    pub async fn recover_one(&self, run_id: RunId) -> io::Result<Option<RecoveredState>> {
        let shared = self.shared();
        let Some(Entered { attendant, answer }) = shared.enter(run_id, None) else {
            let ended = shared.live().get(&run_id).and_then(|h| h.ended.clone());
            return Ok(
                ended.map(|Ended { exit, started }| RecoveredState::Exited { exit, started })
            );
        };
        match shared.settle(run_id).await {
            Ok(Settled::Live(stream)) => {
                shared.tasks.spawn(attendant.resume(stream));
                let path = self.run_dir(run_id);
                match blocking(move || settle::renew_limits(&path)).await {
                    Ok(reservation) => shared.pool.claim(run_id, &reservation),
                    Err(error) => {
                        tracing::warn!(run = %run_id, %error, "limits cannot be renewed");
                    }
                }
            }
            Ok(Settled::Stuck { started }) => {
                shared.tasks.spawn(attendant.search());
                let state = started.map(RecoveredState::Live);
                return state.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into());
            }
            Ok(Settled::Ended { exit, started }) => {
                let to_keep = shared.to_keep(run_id, &exit).await;
                if let Some(started) = started.clone().filter(|_| !to_keep.is_empty()) {
                    shared.tasks.spawn(attendant.conclude(exit, Some(started.clone())));
                    return Ok(Some(RecoveredState::Live(started)));
                }
                return Ok(Some(RecoveredState::Exited { exit, started }));
            }
            Ok(Settled::NeverStarted) => return Ok(Some(RecoveredState::NeverStarted)),
            Err(e) => return Err(e),
        }
        let Ok(answer) = tokio::time::timeout(HELLO, answer).await else {
            let started = shared.started(run_id).await?;
            let state = started.map(RecoveredState::Live);
            return state.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into());
        };
        Ok(match answer {
            Ok(Reply::Running(started)) => Some(RecoveredState::Live(started)),
            Ok(Reply::Ended { exit, started }) => Some(RecoveredState::Exited { exit, started }),
            Ok(Reply::NotStarted(_)) => Some(RecoveredState::NeverStarted),
            Err(_) => None,
        })
    }

    /// Every run that has a directory, oldest first, and whose it is as far as it says.
    pub async fn kept_runs(&self) -> io::Result<Vec<(RunId, Option<PlacementId>)>> {
        let runs = self.shared().runs.clone();
        blocking(move || {
            let found = settle::list(&runs)?;
            let whose = found.into_iter().map(|run| (run, settle::placement_of(&runs, run)));
            Ok(whose.collect())
        })
        .await
    }
}
