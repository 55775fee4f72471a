//! What is read by those who measure: usage of services, certificates, names, ends, the chain as it grows.

use std::collections::BTreeMap;

use hostler_model::*;
use hostler_store::AuditFollow;

use crate::world::*;

crate::conformance!(
    usage_is_what_was_last_told,
    certificates_last_as_long_as_the_newest,
    services_are_known_by_their_names,
    ends_are_counted_from_a_time_on,
    a_task_keeps_its_trace_and_its_node_is_told,
    the_chain_is_followed_as_it_grows,
    a_chain_that_was_written_anew_is_noticed,
);

async fn usage_is_what_was_last_told(world: World) {
    let (a, b) = (NodeId::from_uuid(next_uuid()), NodeId::from_uuid(next_uuid()));
    let usage = |cpu| WorkloadUsage {
        placement: PlacementId::from_uuid(uuid::Uuid::from_u128(1)),
        cpu,
        memory: Bytes::mib(3),
    };
    let put = async |seconds, told: &[(NodeId, Vec<WorkloadUsage>)]| {
        let put = world.tx("t", |tx| Box::pin(tx.node_usage_put_batch(at(seconds), told))).await;
        let put: Result<()> = put;
        put.unwrap();
    };
    put(10, &[]).await;
    put(10, &[(a, vec![usage(0.5)]), (b, Vec::new())]).await;
    put(20, &[(a, vec![usage(1.5), usage(2.0)])]).await;
    let since = async |seconds| world.read().await.unwrap().node_usage_since(at(seconds)).await;
    let all = BTreeMap::from([(a, vec![usage(1.5), usage(2.0)]), (b, Vec::new())]);
    assert_eq!(since(10).await.unwrap(), all);
    assert_eq!(since(11).await.unwrap().keys().collect::<Vec<_>>(), [&a]);
    let gone = world.tx("t", |tx| Box::pin(tx.node_usage_delete_before(at(20)))).await;
    let gone: Result<u64> = gone;
    assert_eq!(gone.unwrap(), 1);
    assert_eq!(since(0).await.unwrap().len(), 1);
}

async fn certificates_last_as_long_as_the_newest(world: World) {
    let (a, b) = (world.node("a").await, world.node("b").await);
    let certificate = |node: &Node, seconds, is_revoked: bool| NodeCertificate {
        serial: next_uuid().to_string(),
        node_id: node.id,
        authority: None,
        time_created: at(0),
        time_expires: at(seconds),
        time_presented: None,
        time_revoked: is_revoked.then_some(at(1)),
    };
    let all = [
        certificate(&a, 100, false),
        certificate(&a, 300, false),
        certificate(&a, 500, true),
        certificate(&b, 900, true),
    ];
    for one in &all {
        let put = world.tx("t", |tx| Box::pin(tx.node_certificate_insert(one))).await;
        let put: Result<()> = put;
        put.unwrap();
    }
    let ends = world.read().await.unwrap().node_certificate_ends().await.unwrap();
    assert_eq!(ends, BTreeMap::from([(a.id, at(300))]));
}

async fn services_are_known_by_their_names(world: World) {
    let (beta, alpha) = (world.project("beta").await, world.project("alpha").await);
    let second = world.service(&beta, "a").await;
    let first = world.service(&alpha, "z").await;
    world.workload(&alpha, "a-task").await;
    let names = world.read().await.unwrap().service_names_all().await.unwrap();
    let found: Vec<_> =
        names.iter().map(|one| (one.id, one.project_name.as_str(), one.name.as_str())).collect();
    assert_eq!(found, [(first.id, "alpha", "z"), (second.id, "beta", "a")]);
    assert_eq!(names[0].desired, Desired::Run);
}

async fn ends_are_counted_from_a_time_on(world: World) {
    let project = world.project("alpha").await;
    for (n, ended) in [(1, Some(at(10))), (2, Some(at(20))), (3, None)] {
        let task = Workload { time_ended: ended, ..workload(project.id, &format!("t{n}")) };
        let put = world.tx("t", |tx| Box::pin(tx.workload_insert(&task))).await;
        let put: Result<()> = put;
        put.unwrap();
    }
    let mut read = world.read().await.unwrap();
    for (since, count) in [(0, 2), (10, 2), (11, 1), (21, 0)] {
        assert_eq!(read.workload_count_ended_since(at(since)).await.unwrap(), count, "{since}");
    }
}

async fn a_task_keeps_its_trace_and_its_node_is_told(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let trace: TraceContext =
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().unwrap();
    let task = Workload { trace: Some(trace), ..workload(project.id, "traced") };
    let (placement, _) = placement(&task, node.id, 1);
    let (task_ref, placement_ref) = (&task, &placement);
    let put = world
        .tx("t", |tx| {
            Box::pin(async move {
                tx.workload_insert(task_ref).await?;
                tx.placement_insert_batch(std::slice::from_ref(placement_ref)).await
            })
        })
        .await;
    let put: Result<()> = put;
    put.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workload_get(task.id).await.unwrap().unwrap(), task);
    let fed = read.placement_feed(node.id, Generation::ZERO, 10).await.unwrap();
    assert_eq!(fed.iter().map(|entry| entry.trace).collect::<Vec<_>>(), [Some(trace)]);
}

async fn append(world: &World, count: usize) {
    let entries: Vec<NewAuditEntry> = (0..count).map(|n| audit(&format!("task.a{n}"))).collect();
    let put = world.tx("append", |tx| Box::pin(tx.journal_append(&[], &entries))).await;
    let put: Result<_> = put;
    put.unwrap();
}

async fn the_chain_is_followed_as_it_grows(world: World) {
    let mut chain = AuditChain::default();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.audit_follow(&mut chain, None).await.unwrap(), AuditFollow::End);
    append(&world, 3).await;
    assert_eq!(read.audit_follow(&mut chain, None).await.unwrap(), AuditFollow::End);
    assert_eq!(chain.count, 3);
    append(&world, 2).await;
    assert_eq!(read.audit_follow(&mut chain, None).await.unwrap(), AuditFollow::End);
    assert_eq!(chain.count, 5);
    let mut again = AuditChain::default();
    assert_eq!(read.audit_follow(&mut again, Some(&chain)).await.unwrap(), AuditFollow::End);
    assert_eq!(again, chain);
}

async fn a_chain_that_was_written_anew_is_noticed(world: World) {
    append(&world, 4).await;
    let mut read = world.read().await.unwrap();
    let mut chain = AuditChain::default();
    assert_eq!(read.audit_follow(&mut chain, None).await.unwrap(), AuditFollow::End);
    let other = AuditChain { hash: vec![7; 32], ..chain.clone() };
    let longer = AuditChain { count: 9, ..chain };
    for seen in [other, longer] {
        let followed = read.audit_follow(&mut AuditChain::default(), Some(&seen)).await.unwrap();
        assert!(matches!(followed, AuditFollow::Broken(_)), "{followed:?}");
    }
}
