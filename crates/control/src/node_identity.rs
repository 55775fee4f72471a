//! Tokens for what runs on nodes: when a run starts, and again while it goes on.
//!
//! As with secrets, a node is believed nothing but who it is. It names a placement, which has to be one of
//! its own, and a run of it that has not ended; whether there is a token to give, and for whom, is what the
//! workload's spec in the database says. The first one of a run is in the audit trail before it leaves; those
//! that take its place are not, as they say nothing new.
//!
//! The agent makes the runs of services and reports them afterwards, so a first token is given for a run
//! that nobody has heard of yet; the next ones are not.

use std::fmt;
use std::time::Duration;

use hostler_model::{
    Desired, Error, HOSTLER_AUDIENCE, Identity, Name, NodeId, ObjectKind, ObjectRef, Placement,
    PlacementId, PrincipalId, RunId, RunState, Runtime, TOKEN_FILE,
};
use hostler_store::Conn;
use hostler_trust::SecretString;
use serde_json::json;

use crate::identity::{Claims, LIFETIME, seconds};
use crate::node_session::node_actor;
use crate::{Control, RequestMeta, Stateless};

/// What a run proves itself with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredIdentity {
    pub tokens: Vec<DeliveredToken>,
    /// `https://host:port` of the API.
    pub address: String,
    /// The authority of the API's certificate.
    pub authority_pem: String,
    pub lifetime: Duration,
}

/// A token, and the file that it belongs into.
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveredToken {
    pub file: String,
    pub token: SecretString,
}

impl fmt::Debug for DeliveredToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveredToken({})", self.file)
    }
}

/// A placement with what the identity of its runs comes from.
pub(crate) struct Placed {
    pub placement: Placement,
    pub kind: ObjectKind,
    pub name: Name,
    pub created_by: PrincipalId,
    pub identity: Option<Identity>,
    pub runtime: Runtime,
}

impl Placed {
    pub(crate) async fn find(read: &mut Conn, id: PlacementId) -> Result<Option<Placed>, Error> {
        let Some(placement) = read.placement_get(id).await? else { return Ok(None) };
        let workload = placement.workload_id;
        if let Some(task) = read.workload_get(workload).await? {
            let (name, created_by) = (task.name, task.created_by);
            let identity = task.spec.identity.clone();
            let (kind, runtime) = (ObjectKind::Task, task.spec.runtime);
            return Ok(Some(Placed { placement, kind, name, created_by, identity, runtime }));
        }
        let service = read.service_get(workload).await?;
        Ok(service.map(|service| Placed {
            placement,
            kind: ObjectKind::Workload,
            name: service.name,
            created_by: service.created_by,
            runtime: service.spec.runtime,
            identity: service.spec.identity,
        }))
    }

    /// Whether a run of it goes on; `None` when nobody has heard of the run.
    pub(crate) async fn has_live(
        &self,
        read: &mut Conn,
        run: RunId,
    ) -> Result<Option<bool>, Error> {
        if self.placement.is_released || self.placement.run_id.is_some_and(|own| own != run) {
            return Ok(Some(false));
        }
        let Some(found) = read.run_get(run).await? else {
            return Ok(self.placement.run_id.is_some().then_some(false));
        };
        let is_live = match found.state {
            RunState::Assigned | RunState::Running { .. } | RunState::Paused { .. } => true,
            RunState::Exited { .. } | RunState::Lost { .. } => false,
        };
        Ok(Some(is_live && found.placement_id == self.placement.id))
    }

    pub(crate) fn subject(&self, project: &Name) -> String {
        format!("project:{project}:{}:{}", self.kind, self.name)
    }
}

impl Control {
    /// What a run of this placement proves itself with; `None` where its workload asks for nothing.
    pub async fn node_identity(
        &self,
        node_id: NodeId,
        placement: PlacementId,
        run: Option<RunId>,
        is_renewal: bool,
    ) -> Result<Option<DeliveredIdentity>, Error> {
        let refused = || Error::forbidden("this node has no such run");
        let mut read = self.store.read().await?;
        let placed = Placed::find(&mut read, placement).await?;
        let placed = placed
            .filter(|placed| placed.placement.node_id == node_id)
            .filter(|placed| is_renewal || is_to_run(&placed.placement))
            .ok_or_else(refused)?;
        let Some(identity) = &placed.identity else { return Ok(None) };
        let run = run.ok_or_else(refused)?;
        if !placed.has_live(&mut read, run).await?.unwrap_or(!is_renewal) {
            return Err(refused());
        }
        let node = read.node_get(node_id).await?.ok_or_else(refused)?;
        let project = read.project_get(placed.placement.project_id).await?.ok_or_else(refused)?;
        drop(read);
        let (issuer, signer) = self.identity_signer().await?;
        let issued = self.now();
        let own = [(HOSTLER_AUDIENCE, TOKEN_FILE)];
        let others = identity.tokens.iter().map(|t| (t.audience.as_str(), t.file.as_str()));
        let mut tokens = Vec::new();
        for (audience, file) in own.into_iter().chain(others) {
            let claims = Claims {
                iss: issuer.clone(),
                sub: placed.subject(&project.name),
                aud: audience.to_owned(),
                exp: seconds(issued.plus(LIFETIME)),
                nbf: seconds(issued),
                iat: seconds(issued),
                jti: hostler_trust::keyring::random_text(16).expose().to_owned(),
                project: project.name.to_string(),
                workload: placed.name.to_string(),
                node: node.name.to_string(),
                placement,
                run,
            };
            let token = SecretString::new(signer.sign(&claims).map_err(Error::internal)?);
            tokens.push(DeliveredToken { file: file.to_owned(), token });
        }
        if !is_renewal {
            let audiences: Vec<&str> =
                identity.tokens.iter().map(|t| t.audience.as_str()).collect();
            let detail = json!({
                "run": run, "placement": placement, "role": identity.role, "audiences": audiences,
            });
            self.identity_issued(&placed, node_actor(&node.name), detail).await?;
        }
        self.identity_tally.issued(tokens.len());
        Ok(Some(DeliveredIdentity {
            tokens,
            address: format!("https://{}", self.config.identity.api_address),
            authority_pem: self.authorities().trusted().pem(),
            lifetime: LIFETIME,
        }))
    }

    async fn identity_issued(
        &self,
        placed: &Placed,
        actor: hostler_model::Actor,
        detail: serde_json::Value,
    ) -> Result<(), Error> {
        let request = RequestMeta {
            request_id: String::new(),
            trace: None,
            source: String::new(),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        };
        let object = ObjectRef::new(placed.kind, placed.placement.workload_id, &placed.name);
        let project = Some(placed.placement.project_id);
        let action = Stateless::IdentityIssue;
        let audit = self.audit_by(actor, &request, action, &object, project, detail);
        let audit = &[audit];
        self.store
            .tx("identity_issue", |tx| {
                Box::pin(async move { Ok::<_, Error>(tx.journal_append(&[], audit).await?) })
            })
            .await
    }
}

fn is_to_run(placement: &Placement) -> bool {
    !placement.is_released && matches!(placement.desired, Desired::Run | Desired::Pause)
}
