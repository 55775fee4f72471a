//! A node read again: its machine is looked at anew, and everything that it should run is told to it
//! again, whatever it believes to know already.
//!
//! The node is asked first, over any server; while it cannot be reached nothing changes. What it runs
//! is not touched: what it is told again is what it was told before.

use std::time::Duration;

use hostler_model::{Code, Error, EventKind, Facts, Node, NodePayload, ObjectKind, ObjectRef};
use serde_json::json;

use super::project::settled;
use crate::{Control, Cx, NodeAsk, OutputItem, OutputReceiver, audit_state};

/// How long a machine may take to look at itself.
const LOOK_TIME: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq)]
pub struct NodeReloaded {
    pub node: Node,
    /// The names of facts that were found to be different.
    pub facts_changed: Vec<String>,
    /// How much it was told again.
    pub placements: u64,
}

impl Control {
    pub async fn node_reload(&self, cx: &Cx, name_or_id: &str) -> Result<NodeReloaded, Error> {
        let found = self.node_find(name_or_id).await?;
        super::node::require_present(&found)?;
        let told = self.node_open(found.id, NodeAsk::Facts).await?;
        let facts = self.clock.timeout(LOOK_TIME, facts(told)).await.map_err(|late| {
            Error::new(Code::NodeUnreachable, "the node takes too long to answer", "ask again")
                .with_retry_after(5)
                .with_source(late)
        })??;
        let object = ObjectRef::new(ObjectKind::Node, found.id, &found.name);
        let (id, facts, object) = (found.id, &facts, &object);
        let reloaded = self
            .store
            .tx("node_reload", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let before = tx.node_get(id).await?;
                    let before = before.ok_or_else(|| Error::not_found("node", id))?;
                    super::node::require_present(&before)?;
                    let known = before.facts.clone().unwrap_or_default();
                    let facts_changed = facts.differences(&known);
                    let node = Node {
                        facts: Some(facts.clone()),
                        generation: before.generation.next(),
                        time_modified: self.now(),
                        ..before.clone()
                    };
                    let update = tx.node_update(&node, before.generation).await?;
                    settled(update, "node", &node.name)?;
                    let placements = self.tell_again(tx, id).await?;
                    let detail = json!({ "factsChanged": facts_changed, "placements": placements });
                    let event = self.event(
                        EventKind::NodeReloaded,
                        None,
                        object,
                        cx.actor(),
                        words(&facts_changed),
                    );
                    let event = event.with_payload(NodePayload::from(&node));
                    let audit = self.audit(cx, "node.reload", object, None, detail).with_states(
                        Some(&audit_state::node(&before)),
                        Some(&audit_state::node(&node)),
                    );
                    let mut events = self.gpu_events(&before, facts, &cx.actor());
                    events.push(event);
                    tx.journal_append(&events, &[audit]).await?;
                    let node = tx.node_get(id).await?;
                    let node = node.ok_or_else(|| Error::not_found("node", id))?;
                    Ok::<_, Error>(NodeReloaded { node, facts_changed, placements })
                })
            })
            .await?;
        self.wakers.placement.wake();
        self.wakers.service_place.wake();
        self.links.wake(id);
        self.feed.ring();
        Ok(reloaded)
    }
}

fn words(facts_changed: &[String]) -> String {
    match facts_changed {
        [] => "read again; the machine is as it was".to_owned(),
        names => format!("read again; the machine has changed: {}", names.join(", ")),
    }
}

async fn facts(mut told: OutputReceiver) -> Result<Facts, Error> {
    while let Some(item) = told.recv().await {
        match item? {
            OutputItem::Data { bytes, .. } => {
                return serde_json::from_slice(&bytes).map_err(Error::internal);
            }
            item if item.is_last() => break,
            _ => {}
        }
    }
    Err(Error::new(
        Code::NodeUnreachable,
        "the node went away before it answered",
        "ask again in a moment",
    )
    .with_retry_after(1))
}
