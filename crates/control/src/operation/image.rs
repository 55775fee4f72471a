//! Steps of having an image on nodes, and of making one from what a node has.
//!
//! The nodes do the work, as jobs of their own; a step asks them how they stand, which begins what has not
//! begun. So a server that dies loses nothing, and an agent that dies begins again with what it has.

use futures::StreamExt;
use hostler_model::{
    BlobKind, Code, EngineAsk, Error, Image, ImageId, ImageSource, JobState, Name, Node, NodeId,
    NodeState, Operation,
};

use super::StepOutcome;
use crate::Control;
use crate::service::taken_id;

/// How many nodes are asked at the same time.
const TOGETHER: usize = 32;
/// The most nodes that are named in words.
const NAMED: usize = 5;

/// How it stands on one node.
enum Standing {
    Done,
    Going(String),
    Failed(String),
}

impl Control {
    pub(super) async fn step_load(
        &self,
        operation: &Operation,
        image: ImageId,
        nodes: &[NodeId],
    ) -> Result<StepOutcome, Error> {
        let Some(image) = self.store.read().await?.image_get(image).await? else {
            return Ok(StepOutcome::Failed("the image was removed meanwhile".into()));
        };
        let image = &image;
        let standings: Vec<(String, Standing)> = futures::stream::iter(nodes.iter().copied())
            .map(|node| self.load_on(operation, image, node))
            .buffered(TOGETHER)
            .collect()
            .await;
        Ok(outcome(image, &standings))
    }

    async fn load_on(
        &self,
        operation: &Operation,
        image: &Image,
        id: NodeId,
    ) -> (String, Standing) {
        let node = match self.present(id).await {
            Ok(Some(node)) => node,
            Ok(None) => return (id.to_string(), Standing::Failed("it was removed".into())),
            Err(error) => return (id.to_string(), Standing::Going(error.detail)),
        };
        let ask = EngineAsk::Load { job: operation.id, image: image.stored() };
        let standing = match self.engine_job(id, ask).await {
            Ok(JobState::Done { .. }) => Standing::Done,
            Ok(JobState::Going { words }) => Standing::Going(words),
            Ok(JobState::Unknown) => Standing::Going("it begins".into()),
            Ok(JobState::Failed { why }) => Standing::Failed(why),
            Err(error) if is_passing(&error) => Standing::Going("it cannot be reached now".into()),
            Err(error) => Standing::Failed(error.detail),
        };
        (node.name.to_string(), standing)
    }

    pub(super) async fn present(&self, id: NodeId) -> Result<Option<Node>, Error> {
        let node = self.store.read().await?.node_get(id).await?;
        Ok(node.filter(|node| node.state != NodeState::Removed))
    }

    pub(super) async fn step_take(
        &self,
        operation: &Operation,
        name: &Name,
        id: NodeId,
        source: &ImageSource,
    ) -> Result<StepOutcome, Error> {
        if let Some(image) = self.store.read().await?.image_get(taken_id(operation)).await? {
            return Ok(StepOutcome::Done(made(&image)));
        }
        let Some(node) = self.present(id).await? else {
            return Ok(StepOutcome::Failed("the node was removed meanwhile".into()));
        };
        let ask = |grant| EngineAsk::Take { job: operation.id, grant, source: source.clone() };
        let mut told = self.engine_job(id, ask(None)).await;
        if let Ok(JobState::Unknown) = told {
            let grant = self.blob_grant(id, BlobKind::Image).await?;
            told = self.engine_job(id, ask(Some(grant))).await;
        }
        Ok(match told {
            Ok(JobState::Done { content: Some(content) }) => {
                let origin = format!("{source} of node {}", node.name);
                let image = self.image_taken(operation, name, content, origin).await?;
                StepOutcome::Done(made(&image))
            }
            Ok(JobState::Done { content: None }) => {
                StepOutcome::Failed("the node says that it is done, but not what it sent".into())
            }
            Ok(JobState::Going { words }) => StepOutcome::Wait(format!("{}: {words}", node.name)),
            Ok(JobState::Unknown) => StepOutcome::Wait(format!("{}: it begins", node.name)),
            Ok(JobState::Failed { why }) => StepOutcome::Failed(format!("{}: {why}", node.name)),
            Err(error) if is_passing(&error) => {
                StepOutcome::Wait(format!("{} cannot be reached now", node.name))
            }
            Err(error) => StepOutcome::Failed(format!("{}: {}", node.name, error.detail)),
        })
    }
}

pub(super) fn is_passing(error: &Error) -> bool {
    matches!(error.code, Code::NodeUnreachable | Code::Unavailable | Code::Stale)
}

fn made(image: &Image) -> String {
    format!("version {} of {} is kept, {}", image.version, image.name, image.size)
}

/// Failures are told when nothing is left to wait for.
fn outcome(image: &Image, standings: &[(String, Standing)]) -> StepOutcome {
    let done = standings.iter().filter(|(_, standing)| matches!(standing, Standing::Done)).count();
    let has = format!("{done} of {} nodes have {}", standings.len(), image.reference());
    let words = |pick: fn(&Standing) -> Option<&String>| {
        let mut found: Vec<String> = standings
            .iter()
            .filter_map(|(node, standing)| Some(format!("{node}: {}", pick(standing)?)))
            .collect();
        let rest = found.len().saturating_sub(NAMED);
        found.truncate(NAMED);
        if rest > 0 {
            found.push(format!("and {rest} more"));
        }
        found.join("; ")
    };
    let going = words(|standing| match standing {
        Standing::Going(words) => Some(words),
        Standing::Done | Standing::Failed(_) => None,
    });
    let failed = words(|standing| match standing {
        Standing::Failed(why) => Some(why),
        Standing::Done | Standing::Going(_) => None,
    });
    match (going.is_empty(), failed.is_empty()) {
        (true, true) => StepOutcome::Done(has),
        (true, false) => StepOutcome::Failed(format!("{has}; {failed}")),
        (false, _) => StepOutcome::Wait(format!("{has}; {going}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Actor, ActorKind, Bytes, Digest, Timestamp};

    #[test]
    fn a_sync_ends_when_no_node_is_left_to_wait_for() {
        let image = Image {
            id: ImageId::from_uuid(uuid::Uuid::nil()),
            name: "train".parse().unwrap(),
            version: 3,
            digest: Digest::from_bytes([0; 32]),
            size: Bytes::mib(1),
            origin: String::new(),
            created_by: Actor { kind: ActorKind::System, name: "s".into() },
            time_created: Timestamp::EPOCH,
        };
        let node = |name: &str, standing| (name.to_owned(), standing);
        let going = || Standing::Going("40 %".into());
        let failed = || Standing::Failed("no room".into());
        let all = [node("a", Standing::Done), node("b", Standing::Done)];
        let has = "2 of 2 nodes have hostler://train:3".to_owned();
        assert_eq!(outcome(&image, &all), StepOutcome::Done(has));
        let some = [node("a", Standing::Done), node("b", going()), node("c", failed())];
        let words = "1 of 3 nodes have hostler://train:3; b: 40 %".to_owned();
        assert_eq!(outcome(&image, &some), StepOutcome::Wait(words));
        let bad = [node("a", Standing::Done), node("c", failed())];
        let words = "1 of 2 nodes have hostler://train:3; c: no room".to_owned();
        assert_eq!(outcome(&image, &bad), StepOutcome::Failed(words));
        let many: Vec<_> = (0..9).map(|n| node(&n.to_string(), going())).collect();
        let StepOutcome::Wait(words) = outcome(&image, &many) else { panic!() };
        assert!(words.ends_with("and 4 more"), "{words}");
    }
}
