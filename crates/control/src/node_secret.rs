//! Secrets for nodes: when a run starts, and only those that its workload names.
//!
//! A node is believed nothing but who it is. It names a placement; that has to be one of its own that is
//! to run; which secrets there are to give is what the workload's spec in the database says, from the
//! workload's own project. What is given is in the audit trail before it leaves.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use hostler_model::{
    Desired, Envelope, Error, NodeId, PlacementId, Project, ProjectId, RunId, Secret, SecretRef,
    WorkloadId, WorkloadSpec,
};
use hostler_store::Conn;
use hostler_trust::SecretBytes;
use serde_json::json;

use crate::node_session::node_actor;
use crate::service::{secret_envelope, secret_object};
use crate::vault::Fetched;
use crate::{Control, RequestMeta, Stateless};

/// A secret for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredSecret {
    /// As the workload names it.
    pub reference: SecretRef,
    pub version: u32,
    pub value: SecretBytes,
}

/// Whose secrets are asked for.
struct Asker {
    project_id: ProjectId,
    workload_id: WorkloadId,
    secrets: BTreeSet<SecretRef>,
}

impl Control {
    /// Everything that the workload of this placement names. `run` is for the record.
    pub async fn node_secrets(
        &self,
        node_id: NodeId,
        placement: PlacementId,
        run: Option<RunId>,
    ) -> Result<Vec<DeliveredSecret>, Error> {
        let mut read = self.store.read().await?;
        let asker = asker(&mut read, node_id, placement).await?;
        let node = read.node_get(node_id).await?;
        let node = node.ok_or_else(|| Error::forbidden("there is no such node"))?;
        let project = read.project_get(asker.project_id).await?;
        let project = &project.ok_or_else(|| Error::forbidden("there is no such project"))?;
        let mut needed = Vec::with_capacity(asker.secrets.len());
        for reference in asker.secrets {
            let found = read.secret_find(asker.project_id, &reference).await?;
            let secret = found.ok_or_else(|| Error::not_found("secret", &reference))?;
            let sealed = match &secret.link {
                None => Some(secret_envelope(&mut read, &secret, &reference).await?),
                Some(_) => None,
            };
            needed.push(Needed { reference, secret, sealed });
        }
        drop(read);
        let mut asked = Vec::with_capacity(needed.len());
        for one in &needed {
            asked.push(self.secret_had(project, one));
        }
        let had = try_join_all(asked).await?;
        let request = RequestMeta {
            request_id: String::new(),
            trace: None,
            source: String::new(),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        };
        let (mut delivered, mut audits) = (Vec::new(), Vec::new());
        for (Needed { reference, secret, .. }, Fetched { version, value }) in
            needed.into_iter().zip(had)
        {
            let mut detail = json!({
                "version": version, "workload": asker.workload_id, "placement": placement, "run": run,
            });
            if let Some(link) = &secret.link {
                detail["link"] = json!(link);
            }
            let (actor, object) = (node_actor(&node.name), secret_object(&secret));
            let project = Some(asker.project_id);
            let action = Stateless::SecretDeliver;
            audits.push(self.audit_by(actor, &request, action, &object, project, detail));
            delivered.push(DeliveredSecret { reference, version, value });
        }
        let audits = &audits;
        self.store
            .tx("secret_deliver", |tx| {
                Box::pin(async move {
                    tx.journal_append(&[], audits).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.secret_tally.delivered(delivered.len());
        Ok(delivered)
    }

    /// The value of a secret, for this server's own use.
    pub(crate) async fn secret_value(
        &self,
        project: &Project,
        reference: &SecretRef,
    ) -> Result<(Secret, Fetched), Error> {
        let mut read = self.store.read().await?;
        let found = read.secret_find(project.id, reference).await?;
        let secret = found.ok_or_else(|| Error::not_found("secret", reference))?;
        let sealed = match &secret.link {
            None => Some(secret_envelope(&mut read, &secret, reference).await?),
            Some(_) => None,
        };
        drop(read);
        let needed = Needed { reference: reference.clone(), secret, sealed };
        let fetched = self.secret_had(project, &needed).await?;
        Ok((needed.secret, fetched))
    }

    /// A value, out of its envelope or out of the vault that the secret leads to.
    async fn secret_had(&self, project: &Project, needed: &Needed) -> Result<Fetched, Error> {
        let Needed { reference, secret, sealed } = needed;
        match (sealed, &secret.link) {
            (Some((version, envelope)), _) => {
                let value = self.secret_open(secret, *version, envelope).await?;
                Ok(Fetched { value, version: *version })
            }
            (None, Some(link)) => self.secret_follow(project, secret, link, reference).await,
            (None, None) => Err(Error::not_found("secret", reference)),
        }
    }
}

/// A secret that a run needs; what is sealed of it, unless it is linked.
struct Needed {
    reference: SecretRef,
    secret: Secret,
    sealed: Option<(u32, Envelope)>,
}

/// A node asks only for what it is to run.
async fn asker(read: &mut Conn, node_id: NodeId, placement: PlacementId) -> Result<Asker, Error> {
    let refused = || Error::forbidden("this node has no such placement to run");
    let found = read.placement_get(placement).await?;
    let placement = found
        .filter(|found| found.node_id == node_id && !found.is_released)
        .filter(|found| matches!(found.desired, Desired::Run | Desired::Pause))
        .ok_or_else(refused)?;
    let workload_id = placement.workload_id;
    let of = |spec: &WorkloadSpec| spec.secrets.iter().map(|given| given.secret.clone()).collect();
    let secrets = match read.workload_get(workload_id).await? {
        Some(task) => of(&task.spec),
        None => of(&read.service_get(workload_id).await?.ok_or_else(refused)?.spec),
    };
    Ok(Asker { project_id: placement.project_id, workload_id, secrets })
}
