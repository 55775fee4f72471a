//! The step of doing something to a node's machine. The node does it, as a job of its own: asking begins it, asking
//! again tells how it stands. So a server that dies loses nothing, and a node that was away for a while tells the
//! outcome when it is back.

use hostler_model::host::{HostAsk, HostChange, HostDeed, HostOutcome};
use hostler_model::{
    Error, EventKind, JobState, Node, NodeDeedPayload, NodeId, ObjectKind, ObjectRef, Operation,
    Timestamp,
};
use serde_json::{Value, json};

use super::image::is_passing;
use super::{Ended, StepOutcome};
use crate::{Control, Stateless};

impl Control {
    pub(super) async fn step_deed(
        &self,
        operation: &Operation,
        id: NodeId,
        deed: &HostDeed,
        until: Timestamp,
    ) -> Result<StepOutcome, Error> {
        let Some(node) = self.present(id).await? else {
            return Ok(StepOutcome::Failed("the node was removed meanwhile".into()));
        };
        let ask = HostAsk::Do { job: operation.id, deed: deed.clone() };
        let why = match self.host_job::<HostOutcome>(id, ask).await {
            Ok(JobState::Done { content: Some(outcome) }) => {
                return Ok(StepOutcome::Ended(Box::new(
                    self.deed_done(operation, &node, deed, outcome),
                )));
            }
            Ok(JobState::Done { content: None }) => {
                "the node says that it is done, but not what came of it".to_owned()
            }
            Ok(JobState::Going { .. } | JobState::Unknown) if self.now() >= until => {
                self.host_forget(id, operation.id).await;
                "it takes too long; what has begun on the node goes on".to_owned()
            }
            Ok(JobState::Going { words }) => return Ok(StepOutcome::Wait(words)),
            Ok(JobState::Unknown) => return Ok(StepOutcome::Wait("it begins".into())),
            Ok(JobState::Failed { why }) => why,
            Err(error) if is_passing(&error) && self.now() < until => {
                return Ok(StepOutcome::Wait("the node cannot be reached now".into()));
            }
            Err(error) if is_passing(&error) => {
                "the node went away and did not tell how it ended; look there".to_owned()
            }
            Err(error) => error.detail,
        };
        Ok(StepOutcome::Ended(Box::new(self.deed_failed(operation, &node, deed, why))))
    }

    fn deed_done(
        &self,
        operation: &Operation,
        node: &Node,
        deed: &HostDeed,
        outcome: HostOutcome,
    ) -> Ended {
        let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
        let actor = operation.created_by.clone();
        let message = format!("{}: {}", deed.words(), outcome.message);
        let event =
            self.event(EventKind::NodeAdministered, None, &object, actor, message).with_payload(
                NodeDeedPayload { changed: Some(outcome.changed), ..deed_payload(operation, deed) },
            );
        let detail = json!({
            "operation": operation.id,
            "deed": deed,
            "changed": outcome.changed,
            "by": operation.created_by.name,
        });
        let audit = self
            .audit_system("node.administered", &object, None, detail)
            .with_states(Some(&state(&outcome, Side::Before)), Some(&state(&outcome, Side::After)));
        Ended {
            is_well: true,
            message: outcome.message.clone(),
            result: serde_json::to_value(outcome).ok(),
            event,
            audit,
        }
    }

    fn deed_failed(
        &self,
        operation: &Operation,
        node: &Node,
        deed: &HostDeed,
        why: String,
    ) -> Ended {
        let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
        let actor = operation.created_by.clone();
        let message = format!("{}: {why}", deed.words());
        let event = self
            .event(EventKind::NodeAdministerFailed, None, &object, actor, message)
            .with_payload(NodeDeedPayload {
                reason: Some(why.clone()),
                ..deed_payload(operation, deed)
            });
        let detail = json!({
            "operation": operation.id,
            "deed": deed,
            "why": why,
            "by": operation.created_by.name,
        });
        let audit = self.audit_system(Stateless::NodeAdministerFailed, &object, None, detail);
        Ended { is_well: false, message: why, result: None, event, audit }
    }
}

/// What it was, without what it was done with.
fn deed_payload(operation: &Operation, deed: &HostDeed) -> NodeDeedPayload {
    let written = serde_json::to_value(deed).unwrap_or_default();
    NodeDeedPayload {
        operation: Some(operation.id),
        deed: written["do"].as_str().map(str::to_owned),
        ..NodeDeedPayload::default()
    }
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// What the machine was, or is, as far as the deed is about it.
fn state(outcome: &HostOutcome, side: Side) -> Value {
    let one = |change: &HostChange| {
        let told = match side {
            Side::Before => &change.before,
            Side::After => &change.after,
        };
        (change.what.clone(), json!(told))
    };
    Value::Object(outcome.changes.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_made_of_what_is_different() {
        let change = |what: &str, before: Option<&str>, after: Option<&str>| HostChange {
            what: what.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let outcome = HostOutcome {
            changed: true,
            changes: vec![change("a", None, Some("1")), change("b", Some("2"), None)],
            ..HostOutcome::default()
        };
        assert_eq!(state(&outcome, Side::Before), json!({ "a": null, "b": "2" }));
        assert_eq!(state(&outcome, Side::After), json!({ "a": "1", "b": null }));
    }
}
