//! What the runner does about secrets: a run has them before it starts, and nothing is left of them when it
//! is over.

use std::sync::Arc;

use hostler_model::{Exit, ExitReason, Mode, PlacementId, RunId};

use super::attend::{Attendant, Unbegun};
use super::files::owner_of;
use super::{ExecError, Runner, Shared, StartError, blocking};
use crate::rundir::Request;
use crate::secrets::{Forms, Given, Reader, Unfetched};
use crate::sys;
use crate::wire::Command;

const WHAT: &str = "its secrets";

/// What has to be there before a run starts.
pub struct Entrusting {
    given: Given,
    placement: PlacementId,
    mode: Mode,
    reader: Reader,
}

impl Entrusting {
    /// `None` when nothing has to.
    pub fn of(request: &Request, mode: &Mode) -> Option<Entrusting> {
        let given = request.secrets.clone()?;
        let owner = owner_of(request.user.as_deref(), request.group.as_deref());
        let reader = match (request.container.is_some(), owner) {
            (true, _) => Reader::Container,
            (false, Some((uid, gid))) => Reader::User(uid, gid),
            (false, None) => Reader::Agent,
        };
        Some(Entrusting { given, placement: request.placement_id?, mode: mode.clone(), reader })
    }
}

impl Attendant {
    /// Has the secrets in their places. A stop that comes meanwhile is obeyed at once.
    pub(super) async fn entrust(&mut self, entrusting: Entrusting) -> Result<(), Unbegun> {
        let (shared, run_id) = (self.shared(), self.run_id());
        let mut entrusted = std::pin::pin!(shared.entrust(run_id, entrusting));
        loop {
            tokio::select! {
                () = shared.cancel.cancelled() => return Err(StartError::ShuttingDown.into()),
                asked = self.asked() => {
                    if matches!(asked.map(|asked| asked.command), Some(Command::Stop { .. })) {
                        return Err(over(ExitReason::Stopped, "stopped before it ran".to_owned()));
                    }
                }
                entrusted = &mut entrusted => return entrusted,
            }
        }
    }
}

fn over(reason: ExitReason, message: String) -> Unbegun {
    let message = Some(message);
    Unbegun::Over(Exit { reason, code: None, signal: None, message, time: sys::now() })
}

impl Shared {
    async fn entrust(&self, run_id: RunId, entrusting: Entrusting) -> Result<(), Unbegun> {
        let Entrusting { given, placement, mode, reader } = entrusting;
        if given.dir.is_none() {
            let why =
                "this node has no memory file system for its secrets; mount a tmpfs at /dev/shm";
            return Err(over(ExitReason::StartFailed, why.to_owned()));
        }
        self.waits.say(run_id, WHAT, "are being fetched", sys::now());
        let fetched = self.secrets.fetch(placement, run_id, &given, &mode).await;
        let (values, proof) = fetched.map_err(|unfetched| match unfetched {
            Unfetched::Later(why) => StartError::Lacking(why).into(),
            Unfetched::Never(why) => over(ExitReason::StartFailed, why),
        })?;
        let secrets = self.secrets.clone();
        let write = move || {
            secrets.vault.write(run_id, &given.uses, &values, reader)?;
            match &proof {
                Some(proof) => secrets.vault.prove(run_id, placement, proof, sys::now()),
                None => Ok(()),
            }
        };
        blocking(write).await.map_err(|e| {
            StartError::Lacking(format!("its secrets cannot be put into memory: {e}")).into()
        })
    }

    /// Nothing of them is left.
    pub(super) async fn take_back(&self, run_id: RunId) {
        let secrets = self.secrets.clone();
        let _ = blocking(move || {
            secrets.vault.remove(run_id);
            Ok(())
        })
        .await;
    }

    /// Removes what an agent before this one left.
    pub(super) async fn sweep_secrets(&self) {
        let (secrets, runs) = (self.secrets.clone(), self.runs.clone());
        if let Err(error) = blocking(move || secrets.vault.sweep(&runs)).await {
            tracing::warn!(%error, "secrets of runs that are over cannot be removed from memory");
        }
    }
}

impl Runner {
    /// What is to be taken out of what is printed beside a run, if anything is.
    pub(crate) async fn forms(&self, run_id: RunId) -> Result<Option<Arc<Forms>>, ExecError> {
        let secrets = self.shared().secrets.clone();
        blocking(move || secrets.vault.forms(run_id)).await.map_err(ExecError::Io)
    }

    /// The placement is not here any more: what was remembered for it is not needed.
    pub(crate) fn forget_secrets(&self, placement: PlacementId) {
        self.shared().secrets.forget(placement);
    }
}
