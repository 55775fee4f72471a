//! A node that is read again: asked what it is, and told again what it should run.

use std::sync::Arc;

use futures::future::BoxFuture;
use hostler_control::{
    Attach, EventQuery, HelloFacts, NewTask, NodeAsk, NodeLink, OutputItem, OutputReceiver,
};
use hostler_model::{
    Bytes, Code, Cores, Error, EventKind, Facts, Generation, OutputStream, WorkloadSpec,
};
use hostler_testkit::World;
use tokio::sync::mpsc;

/// An agent that answers with what its machine is now.
struct Machine(Facts);

impl NodeLink for Machine {
    fn wake(&self) {}

    fn open(&self, ask: NodeAsk) -> BoxFuture<'_, Result<OutputReceiver, Error>> {
        assert_eq!(ask, NodeAsk::Facts);
        let item = OutputItem::Data {
            stream: OutputStream::Stdout,
            time: hostler_model::Timestamp::from_micros(0),
            bytes: serde_json::to_vec(&self.0).unwrap(),
            cursor: String::new(),
        };
        Box::pin(async move {
            let (items, reader) = mpsc::channel(2);
            items.send(Ok(item)).await.unwrap();
            items.send(Ok(OutputItem::End { complete: true })).await.unwrap();
            Ok(reader)
        })
    }

    fn close(&self, _: &str, _: bool) {}
}

fn machine(memory: u64) -> Facts {
    Facts { cores: Cores::from_millis(4000), memory: Bytes::mib(memory), ..Facts::default() }
}

#[tokio::test]
async fn a_node_is_reloaded_where_it_can_be_reached() {
    let world = World::new(41).await;
    let agent = world.join("n1").await;
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(1),
        applied_generation: Generation::ZERO,
        facts: Some(machine(512)),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    let attached = world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap();
    let Attach::Attached(attached) = attached else { panic!("{attached:?}") };
    let reload = async || world.control.node_reload(&world.cx, "n1").await;
    assert_eq!(reload().await.unwrap_err().code, Code::NodeUnreachable);
    let unknown = world.control.node_reload(&world.cx, "n2").await.unwrap_err();
    assert_eq!(unknown.code, Code::NotFound);

    let task = NewTask { name: None, spec: WorkloadSpec::command(["true"]) };
    world.control.task_submit(&world.cx, &world.project, vec![task]).await.unwrap();
    world.control.place_pending().await.unwrap();
    let told = async |after| world.control.node_desired(agent.node_id, after).await.unwrap();
    let first = told(Generation::ZERO).await.unwrap();
    assert!(told(first.to).await.is_none());

    world.control.node_link(&attached, Arc::new(Machine(machine(512))));
    let same = reload().await.unwrap();
    assert_eq!((same.facts_changed.as_slice(), same.placements), (&[][..], 1));
    let again = told(first.to).await.unwrap();
    assert_eq!(again.to, same.node.desired_generation);
    let known = |batch: &hostler_control::DesiredBatch| {
        batch.assignments.iter().map(|a| (a.placement_id, a.run_id, a.revision)).collect::<Vec<_>>()
    };
    assert_eq!(known(&again), known(&first));

    world.control.node_link(&attached, Arc::new(Machine(machine(1024))));
    let changed = reload().await.unwrap();
    assert_eq!(changed.facts_changed, ["memory"]);
    let node = world.control.node_get(&world.cx, "n1").await.unwrap();
    assert_eq!(node.facts, Some(machine(1024)));
    let query = EventQuery { kind: Some(EventKind::NodeReloaded.into()), ..EventQuery::default() };
    let events = world
        .control
        .event_list(&world.cx, &query, None, hostler_model::Limit::DEFAULT)
        .await
        .unwrap();
    let said: Vec<_> = events.items.iter().map(|event| event.event.message.as_str()).collect();
    assert!(said.contains(&"read again; the machine has changed: memory"), "{said:?}");
    assert_eq!(said.len(), 2);
}
