//! While runs go on, the tokens with which they prove themselves are replaced before they expire.

use std::sync::Arc;
use std::time::Duration;

use hostler_base::chain;
use hostler_model::{PlacementId, RunId};

use super::{Shared, blocking};
use crate::sys;

/// How often somebody looks whether any are due.
const LOOK: Duration = Duration::from_secs(20);

pub async fn keep(shared: Arc<Shared>) {
    loop {
        tokio::select! {
            biased;
            () = shared.cancel.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let secrets = shared.secrets.clone();
        let due = match blocking(move || secrets.vault.unproven(sys::now())).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "tokens of runs cannot be looked at");
                continue;
            }
        };
        for (run, placement) in due {
            tokio::select! {
                biased;
                () = shared.cancel.cancelled() => return,
                () = renew(&shared, run, placement) => {}
            }
        }
    }
}

/// What fails is tried again at the next look; a run that has ended meanwhile has no place for it.
async fn renew(shared: &Shared, run: RunId, placement: PlacementId) {
    let proof = match shared.secrets.renew(placement, run).await {
        Ok(proof) => proof,
        Err(why) => {
            tracing::info!(%run, why, "a run gets no new token now");
            return;
        }
    };
    let secrets = shared.secrets.clone();
    let prove = move || secrets.vault.prove(run, placement, &proof, sys::now());
    if let Err(error) = blocking(prove).await
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%run, error = %chain(&error), "a new token cannot be put into memory");
    }
}
