//! Removing what is left of runs that are over.

use std::io;
use std::time::Duration;

use hostler_model::RunId;

use super::{ForgetError, Runner, blocking, settle};
use crate::wire::Command;

impl Runner {
    /// Removes everything of a run that is over. To be called when its exit is recorded elsewhere.
    pub async fn forget(&self, run_id: RunId) -> Result<(), ForgetError> {
        self.forget_all(&[run_id]).await.pop().map_or(Ok(()), Err)
    }

    /// The same for several runs, in one go; what went wrong.
    pub async fn forget_all(&self, runs: &[RunId]) -> Vec<ForgetError> {
        let mut failed = Vec::new();
        let mut gone = Vec::with_capacity(runs.len());
        for run_id in runs {
            match self.part_from(*run_id).await {
                Ok(()) => {
                    self.shared().waits.over(*run_id);
                    gone.push(*run_id);
                }
                Err(e) => failed.push(e),
            }
        }
        let shared = self.shared().clone();
        let first = gone.first().copied();
        let remove = move || {
            let remove = |run_id: RunId| match settle::remove(
                &shared.runs.join(run_id.to_string()),
                &shared.spares,
            ) {
                Ok(()) => None,
                Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
                    Some(ForgetError::Running(run_id))
                }
                Err(source) => Some(ForgetError::Io { run_id, source }),
            };
            Ok(gone.into_iter().filter_map(remove).collect::<Vec<_>>())
        };
        match (first, blocking(remove).await) {
            (_, Ok(more)) => failed.extend(more),
            (Some(run_id), Err(source)) => failed.push(ForgetError::Io { run_id, source }),
            (None, Err(_)) => {}
        }
        failed
    }

    /// Waits until nobody attends to a run that is over.
    async fn part_from(&self, run_id: RunId) -> Result<(), ForgetError> {
        let attended = match self.shared().live().get(&run_id) {
            Some(handle) if handle.ended.is_none() => return Err(ForgetError::Running(run_id)),
            Some(handle) => Some((handle.commands.clone(), handle.output.clone())),
            None => None,
        };
        if let Some((commands, mut output)) = attended {
            let _ = commands.send(Command::Recorded.into()).await;
            let gone = async { while output.changed().await.is_ok() {} };
            let _ = tokio::time::timeout(Duration::from_secs(5), gone).await;
        }
        Ok(())
    }
}
