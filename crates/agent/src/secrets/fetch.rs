//! Getting the values of secrets from the server, and remembering them for when there is none.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_model::{Mode, PlacementId, RunId, SecretUse};
use hostler_proto::v1::{self, secret_link_client::SecretLinkClient};
use hostler_trust::SecretBytes;
use tonic::{Code, Status};

use super::proof::Proof;
use super::vault::{Given, Vault};
use crate::blobs::{BlobError, Blobs};

/// How long a server may take, with the connection to it.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// The same, where what is remembered will do.
const ANSWER_TIME_BRIEF: Duration = Duration::from_secs(3);

/// A hundred values of the largest size, and what is said of them.
const MESSAGE_MAX: usize = 8 << 20;

/// Why a run has not got its secrets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfetched {
    /// It waits.
    Later(String),
    Never(String),
}

type Values = BTreeMap<String, SecretBytes>;

/// The way to secrets, and where they are.
pub(crate) struct Secrets {
    pub vault: Vault,
    blobs: Blobs,
    /// Of services, what was given last.
    kept: Mutex<HashMap<PlacementId, Values>>,
}

impl Secrets {
    pub fn new(data_dir: &Path, blobs: Blobs) -> Secrets {
        Secrets { vault: Vault::new(data_dir), blobs, kept: Mutex::default() }
    }

    /// What the run needs: from the server, and where none can be reached, as it was the last time; tokens
    /// come later then.
    pub async fn fetch(
        &self,
        placement: PlacementId,
        run: RunId,
        given: &Given,
        mode: &Mode,
    ) -> Result<(Values, Option<Proof>), Unfetched> {
        let uses = given.uses.as_slice();
        let kept = match uses.is_empty() && *mode != Mode::Once {
            true => Some(Values::new()),
            false => self.lock().get(&placement).filter(|kept| has_all(kept, uses)).cloned(),
        };
        let patience = if kept.is_some() { ANSWER_TIME_BRIEF } else { ANSWER_TIME };
        let asked = tokio::time::timeout(patience, self.ask(placement, run, false)).await;
        let away = match asked {
            Ok(Ok((values, proof))) => {
                if !has_all(&values, uses) {
                    let why = "the server does not name the same secrets as this node knows of it";
                    return Err(Unfetched::Later(why.to_owned()));
                }
                if given.has_identity && proof.is_none() {
                    let why = "the server does not know yet that it has an identity, or is too old";
                    return Err(Unfetched::Later(why.to_owned()));
                }
                if *mode != Mode::Once {
                    self.lock().insert(placement, values.clone());
                }
                return Ok((values, proof));
            }
            Ok(Err(Refused::Never(why))) => {
                self.forget(placement);
                return Err(Unfetched::Never(why));
            }
            Ok(Err(Refused::Later(why))) => why,
            Err(_) => "no server can be reached".to_owned(),
        };
        match kept {
            Some(values) => {
                tracing::info!(%run, why = away, "secrets are taken as they were the last time");
                Ok((values, given.has_identity.then(Proof::later)))
            }
            None => Err(Unfetched::Later(format!("its secrets cannot be had: {away}"))),
        }
    }

    /// Tokens in the place of those that the run has; or why there are none now.
    pub async fn renew(&self, placement: PlacementId, run: RunId) -> Result<Proof, String> {
        let asked = tokio::time::timeout(ANSWER_TIME, self.ask(placement, run, true)).await;
        match asked {
            Ok(Ok((_, Some(proof)))) => Ok(proof),
            Ok(Ok((_, None))) => Err("its workload has no identity any more".to_owned()),
            Ok(Err(Refused::Later(why) | Refused::Never(why))) => Err(why),
            Err(_) => Err("no server can be reached".to_owned()),
        }
    }

    async fn ask(
        &self,
        placement: PlacementId,
        run: RunId,
        only_identity: bool,
    ) -> Result<(Values, Option<Proof>), Refused> {
        let channel = self.blobs.reach().channel().await.map_err(|e| match e {
            BlobError::Alone => Refused::Never(
                "an agent without a server has no secrets and no tokens; use variables or files of the node"
                    .to_owned(),
            ),
            e => Refused::Later(e.to_string()),
        })?;
        let request = v1::FetchSecretsRequest {
            placement_id: placement.to_string(),
            run_id: run.to_string(),
            only_identity,
        };
        let mut client = SecretLinkClient::new(channel).max_decoding_message_size(MESSAGE_MAX);
        let reply = client.fetch_secrets(request).await;
        let reply = reply.map_err(|status| refused(&status))?.into_inner();
        let each =
            reply.secrets.into_iter().map(|given| (given.reference, SecretBytes::new(given.value)));
        let proof = reply.identity.map(Proof::of).transpose().map_err(Refused::Never)?;
        Ok((each.collect(), proof))
    }

    /// The placement is not here any more, or was refused.
    pub fn forget(&self, placement: PlacementId) {
        self.lock().remove(&placement);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PlacementId, Values>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Refused {
    Later(String),
    Never(String),
}

/// A secret that is gone does not come back by waiting. Everything else may: also that the server does not
/// know (yet, or any more) that the node is to run this.
fn refused(status: &Status) -> Refused {
    let why = status.message().to_owned();
    match status.code() {
        Code::NotFound | Code::FailedPrecondition | Code::InvalidArgument => Refused::Never(why),
        Code::Unimplemented => Refused::Later("the server is too old to give secrets".to_owned()),
        _ => Refused::Later(why),
    }
}

fn has_all(values: &Values, uses: &[SecretUse]) -> bool {
    uses.iter().all(|given| values.contains_key(&given.secret.to_string()))
}
