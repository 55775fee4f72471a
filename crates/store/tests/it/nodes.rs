//! Nodes, their leases, join tokens and certificates.

use hostler_model::*;
use hostler_store::{Attach, ConflictReason, Error, LeaseRenewal, NodeFilter, Update};

use crate::world::*;

crate::conformance!(
    a_node_is_what_was_written,
    a_node_update_leaves_lease_and_desired_generation_alone,
    the_name_of_a_removed_node_is_free,
    nodes_are_listed_by_name_with_selector_and_state,
    all_present_nodes_are_found,
    bumps_at_the_same_time_give_different_generations,
    a_raise_never_lowers,
    an_older_session_is_fenced,
    attaching_at_the_same_time_leaves_the_newest_epoch,
    only_held_leases_are_renewed,
    many_leases_are_renewed_at_once,
    a_join_token_is_used_once,
    join_tokens_can_be_revoked_and_expire,
    certificates_are_revoked_together,
    nodes_are_known_by_the_authority_of_their_certificates,
);

async fn a_node_is_what_was_written(world: World) {
    let mut node = node("n1");
    node.facts = Some(Facts {
        hostname: "n1.example".to_owned(),
        cores: Cores::from_millis(64_000),
        memory: Bytes::mib(1 << 19),
        ..Facts::default()
    });
    node.cordon = Some(Cordon { reason: "disk".to_owned(), time: at(3), is_draining: true });
    world.tx("test", |tx| Box::pin(tx.node_insert(&node))).await.unwrap();
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.node_get(node.id).await.unwrap(), Some(node.clone()));
    assert_eq!(reader.node_by_name(&node.name).await.unwrap(), Some(node.clone()));
    let twin = self::node("n1");
    let error: Error = world.tx("test", |tx| Box::pin(tx.node_insert(&twin))).await.unwrap_err();
    assert!(
        matches!(&error, Error::Conflict { reason: ConflictReason::NameTaken, object, .. } if object == "node"),
        "{error:?}"
    );
}

fn lease(node: NodeId, server: ServerId, epoch: u64) -> NodeLease {
    NodeLease {
        node_id: node,
        server_id: server,
        session_epoch: Generation::from_u64(epoch),
        applied_generation: Generation::ZERO,
        time_seen: at(10),
        metrics: None,
    }
}

async fn attach(world: &World, lease: &NodeLease) -> Attach {
    world.tx("test", |tx| Box::pin(tx.node_lease_attach(lease))).await.unwrap()
}

async fn a_node_update_leaves_lease_and_desired_generation_alone(world: World) {
    let before = world.node("n1").await;
    let server = server_id();
    assert_eq!(attach(&world, &lease(before.id, server, 1)).await, Attach::Attached);
    let bumped = world.tx("test", |tx| Box::pin(tx.node_desired_bump(before.id, 5))).await;
    assert_eq!(bumped.unwrap(), Some(Generation::from_u64(5)));
    let changed = Node {
        state: NodeState::Online,
        labels: labels(&[("zone", "b"), ("gpu", "yes")]),
        agent_version: "0.2.0".to_owned(),
        time_state: at(4),
        ..before.clone()
    };
    let update = world.tx("test", |tx| Box::pin(tx.node_update(&changed, Generation::FIRST))).await;
    assert_eq!(update.unwrap(), Update::Updated);
    let stored = world.read().await.unwrap().node_get(before.id).await.unwrap();
    let expected = Node {
        generation: Generation::from_u64(2),
        desired_generation: Generation::from_u64(5),
        lease: Some(lease(before.id, server, 1)),
        ..changed.clone()
    };
    assert_eq!(stored, Some(expected));
    let stale = world.tx("test", |tx| Box::pin(tx.node_update(&changed, Generation::FIRST))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: Generation::from_u64(2) });
    let ghost = node("ghost");
    let missing = world.tx("test", |tx| Box::pin(tx.node_update(&ghost, Generation::FIRST))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
}

async fn the_name_of_a_removed_node_is_free(world: World) {
    for round in 0..3 {
        let mut node = world.node("n1").await;
        let found = world.read().await.unwrap().node_by_name(&node.name).await.unwrap();
        assert_eq!(found.map(|n| n.id), Some(node.id), "round {round}");
        node.state = NodeState::Removed;
        let update =
            world.tx("test", |tx| Box::pin(tx.node_update(&node, Generation::FIRST))).await;
        assert!(update.unwrap().is_updated());
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.node_by_name(&name("n1")).await.unwrap(), None);
    let filter = NodeFilter { state: Some(NodeState::Removed), ..NodeFilter::default() };
    let first = reader.node_list(&filter, None, limit(2)).await.unwrap();
    let rest = reader.node_list(&filter, first.next.as_deref(), limit(2)).await.unwrap();
    assert_eq!((first.items.len(), rest.items.len(), rest.next), (2, 1, None));
    let present = reader.node_list(&NodeFilter::default(), None, limit(9)).await.unwrap();
    assert!(present.items.is_empty());
}

async fn nodes_are_listed_by_name_with_selector_and_state(world: World) {
    for i in (0..20).rev() {
        let node = Node {
            labels: labels(&[("odd", if i % 2 == 1 { "yes" } else { "no" })]),
            state: if i < 10 { NodeState::Online } else { NodeState::Stale },
            ..node(&format!("n{i:02}"))
        };
        world.tx("test", |tx| Box::pin(tx.node_insert(&node))).await.unwrap();
    }
    let mut reader = world.read().await.unwrap();
    for (filter, expected) in [
        (NodeFilter::default(), (0..20).collect::<Vec<_>>()),
        (
            NodeFilter { state: None, selector: labels(&[("odd", "yes")]) },
            (0..20).filter(|i| i % 2 == 1).collect(),
        ),
        (
            NodeFilter { state: Some(NodeState::Stale), selector: labels(&[("odd", "yes")]) },
            (10..20).filter(|i| i % 2 == 1).collect(),
        ),
        (NodeFilter { state: None, selector: labels(&[("odd", "maybe")]) }, vec![]),
    ] {
        for size in [1, 3, 5, 100] {
            let mut seen = Vec::new();
            let mut after: Option<String> = None;
            loop {
                let page = reader.node_list(&filter, after.as_deref(), limit(size)).await.unwrap();
                assert!(page.items.len() <= size as usize);
                assert!(page.next.is_none() || page.items.len() == size as usize);
                seen.extend(page.items.iter().map(|n| n.name.to_string()));
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            let names: Vec<_> = expected.iter().map(|i| format!("n{i:02}")).collect();
            assert_eq!(seen, names, "{filter:?} by {size}");
        }
    }
}

async fn all_present_nodes_are_found(world: World) {
    let nodes: Vec<Node> = (0..1003).map(|i| node(&format!("n{i:04}"))).collect();
    let nodes_ref = &nodes;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                for node in nodes_ref {
                    tx.node_insert(node).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
        .unwrap();
    let found = world.read().await.unwrap().node_list_all_present().await.unwrap();
    assert!(found == nodes);
}

async fn bumps_at_the_same_time_give_different_generations(world: World) {
    let node = world.node("n1").await;
    let store = world.store.clone();
    let mut given = together(20, move |_| {
        let store = store.clone();
        async move { store.tx("bump", |tx| Box::pin(tx.node_desired_bump(node.id, 3))).await }
    })
    .await
    .into_iter()
    .map(|result: Result<Option<Generation>>| result.unwrap().unwrap().get())
    .collect::<Vec<_>>();
    given.sort_unstable();
    assert_eq!(given, (1..=20).map(|i| i * 3).collect::<Vec<u64>>());
    let nobody = NodeId::from_uuid(next_uuid());
    let none = world.tx("test", |tx| Box::pin(tx.node_desired_bump(nobody, 1))).await;
    assert_eq!(none.unwrap(), None);
}

async fn a_raise_never_lowers(world: World) {
    let node = world.node("n1").await;
    for (to, expected) in [(7, 7), (3, 7), (9, 9)] {
        world
            .tx("test", |tx| Box::pin(tx.node_desired_raise(node.id, Generation::from_u64(to))))
            .await
            .unwrap();
        let stored = world.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
        assert_eq!(stored.desired_generation.get(), expected);
    }
}

async fn an_older_session_is_fenced(world: World) {
    let node = world.node("n1").await;
    let (a, b) = (server_id(), server_id());
    assert_eq!(attach(&world, &lease(node.id, a, 5)).await, Attach::Attached);
    let fenced = Attach::Fenced { epoch: Generation::from_u64(5) };
    assert_eq!(attach(&world, &lease(node.id, b, 5)).await, fenced);
    assert_eq!(attach(&world, &lease(node.id, b, 4)).await, fenced);
    assert_eq!(attach(&world, &lease(node.id, b, 6)).await, Attach::Attached);
    let stored = world.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
    assert_eq!(stored.lease, Some(lease(node.id, b, 6)));
    let release = async |server, epoch: u64| {
        world
            .tx("test", |tx| {
                Box::pin(tx.node_lease_release(node.id, server, Generation::from_u64(epoch)))
            })
            .await
            .unwrap()
    };
    assert!(!release(a, 5).await);
    assert!(release(b, 6).await);
    assert!(!release(b, 6).await);
    let fenced = Attach::Fenced { epoch: Generation::from_u64(6) };
    assert_eq!(attach(&world, &lease(node.id, a, 6)).await, fenced);
    assert_eq!(attach(&world, &lease(node.id, a, 7)).await, Attach::Attached);
}

async fn attaching_at_the_same_time_leaves_the_newest_epoch(world: World) {
    let node = world.node("n1").await;
    let store = world.store.clone();
    together(20, move |i| {
        let store = store.clone();
        let lease = lease(node.id, server_id(), i as u64 + 1);
        async move {
            let _ = store.tx("attach", |tx| Box::pin(tx.node_lease_attach(&lease))).await.unwrap();
        }
    })
    .await;
    let stored = world.read().await.unwrap().node_get(node.id).await.unwrap().unwrap();
    assert_eq!(stored.lease.unwrap().session_epoch.get(), 20);
}

fn renewal(node: NodeId, epoch: u64, applied: u64) -> LeaseRenewal {
    LeaseRenewal {
        node_id: node,
        session_epoch: Generation::from_u64(epoch),
        applied_generation: Generation::from_u64(applied),
        metrics: None,
        usage: None,
    }
}

async fn only_held_leases_are_renewed(world: World) {
    let (a, b) = (server_id(), server_id());
    let [held, newer, foreign, released, unknown] = [
        world.node("held").await,
        world.node("newer").await,
        world.node("foreign").await,
        world.node("released").await,
        node("unknown"),
    ];
    for lease in [
        lease(held.id, a, 2),
        lease(newer.id, a, 3),
        lease(foreign.id, b, 2),
        lease(released.id, a, 2),
    ] {
        assert_eq!(attach(&world, &lease).await, Attach::Attached);
    }
    let let_go = world
        .tx("test", |tx| Box::pin(tx.node_lease_release(released.id, a, Generation::from_u64(2))))
        .await;
    assert!(let_go.unwrap());
    let metrics = NodeMetrics { load_1m: f64::NAN, cpu_ratio: 0.5, ..NodeMetrics::default() };
    let beats = [
        LeaseRenewal { metrics: Some(metrics), ..renewal(held.id, 2, 4) },
        renewal(newer.id, 2, 4),
        renewal(foreign.id, 2, 4),
        renewal(released.id, 2, 4),
        renewal(unknown.id, 2, 4),
    ];
    let renew = async |now, beats: &[LeaseRenewal]| {
        world.tx("test", |tx| Box::pin(tx.node_lease_renew_batch(a, now, beats))).await.unwrap()
    };
    assert_eq!(renew(at(20), &beats).await, [held.id]);
    assert_eq!(renew(at(30), &[renewal(held.id, 2, 3)]).await, [held.id]);
    assert_eq!(renew(at(40), &[]).await, []);
    let stored = world.read().await.unwrap().node_get(held.id).await.unwrap().unwrap();
    let lease = stored.lease.unwrap();
    assert_eq!((lease.time_seen, lease.applied_generation.get()), (at(30), 4));
    let metrics = lease.metrics.unwrap();
    assert_eq!((metrics.load_1m, metrics.cpu_ratio), (0.0, 0.5));
}

async fn many_leases_are_renewed_at_once(world: World) {
    let server = server_id();
    let nodes: Vec<Node> = (0..250).map(|i| node(&format!("n{i:03}"))).collect();
    let nodes_ref = &nodes;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                for node in nodes_ref {
                    tx.node_insert(node).await?;
                    let _ = tx.node_lease_attach(&lease(node.id, server, 1)).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
        .unwrap();
    let beats: Vec<_> = nodes.iter().map(|n| renewal(n.id, 1, 1)).collect();
    let mut renewed = world
        .tx("test", |tx| Box::pin(tx.node_lease_renew_batch(server, at(60), &beats)))
        .await
        .unwrap();
    renewed.sort();
    assert_eq!(renewed, nodes.iter().map(|n| n.id).collect::<Vec<_>>());
    let all = world.read().await.unwrap().node_list_all_present().await.unwrap();
    assert!(all.iter().all(|n| n.lease.as_ref().is_some_and(|l| l.time_seen == at(60))));
}

fn join_token(salt: u8) -> JoinToken {
    JoinToken {
        id: JoinTokenId::from_uuid(next_uuid()),
        secret_hash: vec![salt; 32],
        node_name: (salt == 1).then(|| name("n1")),
        labels: labels(&[("zone", "a")]),
        created_by: PrincipalId::from_uuid(next_uuid()),
        time_created: at(0),
        time_expires: at(100),
        time_used: None,
        used_by: None,
        time_revoked: None,
    }
}

async fn a_join_token_is_used_once(world: World) {
    let token = join_token(1);
    world.tx("test", |tx| Box::pin(tx.join_token_insert(&token))).await.unwrap();
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.join_token_get(token.id).await.unwrap(), Some(token.clone()));
    assert_eq!(reader.join_token_by_hash(&[1; 32]).await.unwrap(), Some(token.clone()));
    let (store, id) = (world.store.clone(), token.id);
    let outcomes: Vec<(NodeId, Result<bool>)> = together(20, move |_| {
        let store = store.clone();
        let node = NodeId::from_uuid(next_uuid());
        async move {
            let won =
                store.tx("consume", |tx| Box::pin(tx.join_token_consume(id, node, at(50)))).await;
            (node, won)
        }
    })
    .await;
    let winners: Vec<NodeId> =
        outcomes.into_iter().filter_map(|(node, won)| won.unwrap().then_some(node)).collect();
    assert_eq!(winners.len(), 1);
    let stored = reader.join_token_get(token.id).await.unwrap().unwrap();
    assert_eq!((stored.used_by, stored.time_used), (Some(winners[0]), Some(at(50))));
}

async fn join_tokens_can_be_revoked_and_expire(world: World) {
    let tokens = [join_token(1), join_token(2), join_token(3)];
    for token in &tokens {
        world.tx("test", |tx| Box::pin(tx.join_token_insert(token))).await.unwrap();
    }
    let node = NodeId::from_uuid(next_uuid());
    let consume = async |token: &JoinToken, now| {
        world.tx("test", |tx| Box::pin(tx.join_token_consume(token.id, node, now))).await.unwrap()
    };
    let revoke = async |token: &JoinToken| {
        world.tx("test", |tx| Box::pin(tx.join_token_revoke(token.id, at(1)))).await.unwrap()
    };
    assert!(revoke(&tokens[0]).await);
    assert!(!revoke(&tokens[0]).await);
    assert!(!consume(&tokens[0], at(2)).await);
    assert!(!consume(&tokens[1], at(100)).await);
    assert!(consume(&tokens[1], at(99)).await);
    assert!(!revoke(&tokens[1]).await);
    let mut reader = world.read().await.unwrap();
    let page = reader.join_token_list(None, limit(2)).await.unwrap();
    let ids: Vec<_> = page.items.iter().map(|t| t.id).collect();
    assert_eq!(ids, [tokens[2].id, tokens[1].id]);
    let rest = reader.join_token_list(page.next.as_deref(), limit(2)).await.unwrap();
    assert_eq!(rest.items.len(), 1);
    assert_eq!(rest.next, None);
}

async fn certificates_are_revoked_together(world: World) {
    let (n1, n2) = (world.node("n1").await, world.node("n2").await);
    for (serial, node) in [("0a", n1.id), ("0b", n1.id), ("0c", n2.id)] {
        let certificate = NodeCertificate {
            serial: serial.to_owned(),
            node_id: node,
            authority: (serial != "0a").then(|| "sha256:1".to_owned()),
            time_created: at(0),
            time_expires: at(1000),
            time_presented: None,
            time_revoked: None,
        };
        world.tx("test", |tx| Box::pin(tx.node_certificate_insert(&certificate))).await.unwrap();
        let stored = world.read().await.unwrap().node_certificate_get(serial).await.unwrap();
        assert_eq!(stored, Some(certificate));
    }
    for expected in [2, 0] {
        let revoked =
            world.tx("test", |tx| Box::pin(tx.node_certificates_revoke(n1.id, at(5)))).await;
        assert_eq!(revoked.unwrap(), expected);
    }
    let mut reader = world.read().await.unwrap();
    let mut revoked =
        async |serial| reader.node_certificate_get(serial).await.unwrap().unwrap().time_revoked;
    assert_eq!(revoked("0a").await, Some(at(5)));
    assert_eq!(revoked("0c").await, None);
    assert_eq!(reader.node_certificate_get("ff").await.unwrap(), None);
}

async fn nodes_are_known_by_the_authority_of_their_certificates(world: World) {
    let names = ["away", "done", "fresh", "late", "seen"];
    let mut nodes = Vec::new();
    for name in names {
        nodes.push(world.node(name).await.id);
    }
    let issue_at = async |serial: &str, node: NodeId, authority: Option<&str>, begin, end: i64| {
        let certificate = NodeCertificate {
            serial: serial.to_owned(),
            node_id: node,
            authority: authority.map(str::to_owned),
            time_created: at(begin),
            time_expires: at(end),
            time_presented: None,
            time_revoked: None,
        };
        world.tx("test", |tx| Box::pin(tx.node_certificate_insert(&certificate))).await.unwrap();
    };
    let issue = async |serial: &str, node: NodeId, authority: Option<&str>, end: i64| {
        issue_at(serial, node, authority, 0, end).await;
    };
    let present = async |serial: &str, time: i64| {
        let done =
            world.tx("test", |tx| Box::pin(tx.node_certificate_presented(serial, at(time)))).await;
        done.unwrap();
    };
    let waiting = async |now: i64| {
        let mut reader = world.read().await.unwrap();
        let found = reader.nodes_of_other_authorities("new", at(now)).await.unwrap();
        found.into_iter().map(|(_, name)| name.to_string()).collect::<Vec<_>>()
    };
    issue("a1", nodes[0], None, 100).await;
    issue("b1", nodes[1], Some("old"), 100).await;
    issue("b2", nodes[1], Some("new"), 200).await;
    issue("c1", nodes[2], Some("new"), 200).await;
    issue("d1", nodes[3], Some("old"), 10).await;
    issue("e1", nodes[4], Some("old"), 100).await;
    issue("e2", nodes[4], Some("new"), 200).await;
    present("e2", 5).await;
    assert_eq!(waiting(6).await, ["away", "done", "late"]);
    present("b2", 7).await;
    present("b2", 9).await;
    assert_eq!(waiting(50).await, ["away"]);
    issue_at("b3", nodes[1], Some("old"), 8, 90).await;
    assert_eq!(waiting(50).await, ["away", "done"], "it got another one after that");
    assert_eq!(waiting(100).await, [""; 0]);
    let stored = world.read().await.unwrap().node_certificate_get("b2").await.unwrap().unwrap();
    assert_eq!(stored.time_presented, Some(at(7)));
    assert_eq!(stored.authority.as_deref(), Some("new"));
}
