//! GPUs that fail or work again, as their node tells.
//!
//! A node tells of its machine when it connects, when it is asked to look anew, and at once when a
//! device is in trouble. Whichever comes first is what counts: what is compared is always what the
//! database knew with what the node says now, so each change is an event exactly once.

use std::collections::BTreeMap;

use hostler_model::{
    Actor, Error, EventKind, Facts, GpuFact, NewEvent, Node, NodeGpuPayload, NodeState, ObjectKind,
    ObjectRef,
};

use crate::node_session::node_actor;
use crate::{Attached, Control};

impl Control {
    /// The machine of a connected node has changed. What an older session says is not heard.
    pub async fn node_facts(&self, attached: &Attached, facts: &Facts) -> Result<(), Error> {
        let (id, epoch, now) = (attached.node_id, attached.session_epoch, self.now());
        let is_news = self
            .store
            .tx("node_facts", |tx| {
                Box::pin(async move {
                    let Some(mut node) = tx.node_get(id).await? else { return Ok(false) };
                    let is_current =
                        node.lease.as_ref().is_some_and(|lease| lease.session_epoch == epoch);
                    if !is_current || node.state == NodeState::Removed {
                        return Ok(false);
                    }
                    if node.facts.as_ref() == Some(facts) {
                        return Ok(false);
                    }
                    let events = self.gpu_events(&node, facts, &node_actor(&node.name));
                    let expected = node.generation;
                    node.facts = Some(facts.clone());
                    node.generation = expected.next();
                    node.time_modified = now;
                    tx.node_update(&node, expected).await?.required("node", &node.name)?;
                    tx.journal_append(&events, &[]).await?;
                    Ok::<_, Error>(true)
                })
            })
            .await?;
        if is_news {
            self.wakers.placement.wake();
            self.wakers.service_place.wake();
        }
        Ok(())
    }

    /// What is to be told of its GPUs when a node's facts become these.
    pub(crate) fn gpu_events(&self, node: &Node, facts: &Facts, actor: &Actor) -> Vec<NewEvent> {
        let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
        let known = node.facts.as_ref().map_or(&[][..], |facts| &facts.gpus);
        let told = changes(known, &facts.gpus).into_iter();
        let event = |(kind, words, gpu): (EventKind, String, &GpuFact)| {
            self.event(kind, None, &object, actor.clone(), words).with_payload(NodeGpuPayload {
                index: Some(gpu.index),
                model: Some(gpu.model.clone()),
                trouble: gpu.trouble.clone(),
            })
        };
        told.map(event).collect()
    }
}

fn changes<'a>(before: &[GpuFact], after: &'a [GpuFact]) -> Vec<(EventKind, String, &'a GpuFact)> {
    let before: BTreeMap<u32, &GpuFact> = before.iter().map(|gpu| (gpu.index, gpu)).collect();
    let mut found = Vec::new();
    for gpu in after {
        let known = before.get(&gpu.index).and_then(|gpu| gpu.trouble.as_ref());
        let name = format!("GPU {} ({})", gpu.index, gpu.model);
        match &gpu.trouble {
            Some(trouble) if known != Some(trouble) => {
                let words = format!("{name} is out of service: {trouble}");
                found.push((EventKind::NodeGpuTrouble, words, gpu));
            }
            None if known.is_some() => {
                found.push((EventKind::NodeGpuWell, format!("{name} is in service again"), gpu));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_once() {
        let gpu = |index, trouble: Option<&str>| GpuFact {
            index,
            model: "A100".to_owned(),
            trouble: trouble.map(str::to_owned),
            ..GpuFact::default()
        };
        let told = |before: &[GpuFact], after: &[GpuFact]| -> Vec<String> {
            let each = changes(before, after).into_iter();
            each.map(|(kind, words, _)| format!("{kind}: {words}")).collect()
        };
        let (well, ill) = ([gpu(0, None), gpu(1, None)], [gpu(0, None), gpu(1, Some("Xid 79"))]);
        let trouble = "node.gpu-trouble: GPU 1 (A100) is out of service: Xid 79";
        assert_eq!(told(&well, &ill), [trouble]);
        assert_eq!(told(&[], &ill), [trouble], "known to be ill from the beginning");
        assert_eq!(told(&ill, &well), ["node.gpu-well: GPU 1 (A100) is in service again"]);
        assert!(told(&ill, &ill).is_empty() && told(&[], &well).is_empty());
        assert!(told(&ill, &[gpu(0, None)]).is_empty(), "one that was taken out is no news");
    }
}
