//! Something of a node's machine is made to be as it is declared, in one call that is made again until it is over.
//!
//! It is what an operation does for a deed of a person (`operation/host.rs`), for somebody who keeps account of deeds and keys
//! already: the node is asked under the name of the deed, begins it once, and tells how it stands. What is declared may hold
//! contents of files and passwords, so it is written down nowhere here: entries and events say what was done to what, and with
//! which digest.

use hostler_model::host::{HostAsk, HostChange, HostDeed, HostOutcome};
use hostler_model::{
    Error, EventKind, JobState, Node, ObjectKind, ObjectRef, OperationId, Permission,
};
use serde_json::{Value, json};

use super::approval_gate::Pass;
use super::node::{deed, require_present};
use super::node_host::require_online;
use crate::{Control, Cx, Stateless};

impl Control {
    /// How the deed of that name stands; asking begins it.
    pub(crate) async fn host_primitive(
        &self,
        cx: &Cx,
        node: &str,
        job: OperationId,
        wanted: HostDeed,
    ) -> Result<JobState<HostOutcome>, Error> {
        let problems = wanted.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let node = self.node_find(node).await?;
        require_present(&node)?;
        require_online(&node)?;
        let digest = digest_of(&wanted)?;
        let what = json!({ "node": node.id, "deed": wanted.words(), "digest": digest });
        let gated = deed(Permission::NodeAdminister, &node, what);
        let pass = self.approval_pass(cx, &gated).await?;
        let words = wanted.words();
        let state = self.host_job(node.id, HostAsk::Do { job, deed: wanted }).await?;
        if let JobState::Done { .. } | JobState::Failed { .. } = &state {
            self.host_primitive_told(cx, &node, &words, &digest, &pass, &state).await?;
        }
        Ok(state)
    }

    /// Says what was done, once for each key.
    async fn host_primitive_told(
        &self,
        cx: &Cx,
        node: &Node,
        words: &str,
        digest: &str,
        pass: &Pass,
        state: &JobState<HostOutcome>,
    ) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
        let detail = json!({ "deed": words, "digest": digest, "by": cx.caller.name });
        let (event, entry) = match state {
            JobState::Done { content } => {
                let outcome = content.clone().unwrap_or_default();
                let message = format!("{words}: {}", outcome.message);
                let states = |side| Some(sides(&outcome, side));
                let (before, after) = (states(Side::Before), states(Side::After));
                let entry = self
                    .audit(cx, "node.administered", &object, None, detail)
                    .with_states(before.as_ref(), after.as_ref());
                (self.event(EventKind::NodeAdministered, None, &object, cx.actor(), message), entry)
            }
            JobState::Failed { why } => {
                let message = format!("{words}: {why}");
                let kind = EventKind::NodeAdministerFailed;
                let entry = self.audit(cx, Stateless::NodeAdministerFailed, &object, None, detail);
                (self.event(kind, None, &object, cx.actor(), message), entry)
            }
            JobState::Unknown | JobState::Going { .. } => return Ok(()),
        };
        let (object, event, entry) = (&object, &event, &entry);
        self.store
            .tx("host_primitive", |tx| {
                Box::pin(async move {
                    if self.claim(tx, cx, object).await?.is_some() {
                        return Ok(());
                    }
                    self.approval_use(tx, cx, pass).await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(entry))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.feed.ring();
        Ok(())
    }
}

fn digest_of(deed: &HostDeed) -> Result<String, Error> {
    let text = serde_json::to_vec(deed).map_err(Error::internal)?;
    Ok(blake3::hash(&text).to_hex().to_string())
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

fn sides(outcome: &HostOutcome, side: Side) -> Value {
    let one = |change: &HostChange| {
        let told = match side {
            Side::Before => &change.before,
            Side::After => &change.after,
        };
        (change.what.clone(), json!(told))
    };
    Value::Object(outcome.changes.iter().map(one).collect())
}
