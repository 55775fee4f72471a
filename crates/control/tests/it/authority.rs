//! One certificate authority takes the place of another.

use std::time::Duration;

use hostler_control::{Attach, Boot, BootError, Control, ControlConfig, HelloFacts};
use hostler_model::{AuthorityPhase, Code, EventKind, Facts, Generation, Limit, NodeId};
use hostler_testkit::World;
use hostler_trust::{Keyring, MasterKey, NodeKey, PeerCertificate};

/// Longer than servers have to hear of a new authority.
const SPREAD: Duration = Duration::from_secs(11);

async fn attach(control: &Control, node: NodeId, serial: &str, epoch: u64) -> Attach {
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(epoch),
        applied_generation: Generation::ZERO,
        facts: Some(Facts::default()),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    control.node_attach(node, serial, &hello).await.unwrap()
}

/// The serial number of a fresh certificate.
async fn renew(control: &Control, node: NodeId) -> String {
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let chain = control.node_renew(node, &csr).await.unwrap();
    PeerCertificate::from_pem(&chain).unwrap().serial
}

async fn waiting(world: &World) -> Vec<String> {
    let detail = world.control.authority_show(&world.cx).await.unwrap();
    detail.waiting.iter().map(|(_, name)| name.to_string()).collect()
}

#[tokio::test]
async fn an_authority_is_replaced_while_two_servers_and_a_node_go_on() {
    let world = World::new(51).await;
    let agent = world.join("n1").await;
    assert!(matches!(
        attach(&world.control, agent.node_id, agent.serial(), 1).await,
        Attach::Attached(_)
    ));
    let other = world.another_server().await;
    let old = world.control.authority().fingerprint();
    world.control.audit_anchor_create(&world.cx).await.unwrap();

    let begun = world.control.authority_rotate(&world.cx).await.unwrap();
    assert_eq!(begun.phase, AuthorityPhase::Spreading);
    assert_eq!(waiting(&world).await, ["n1"]);
    let new = begun.set.present.fingerprint();
    assert_ne!(old, new);
    assert_eq!(world.control.authority().fingerprint(), old, "not every server knows the new one");
    assert!(!world.control.node_should_renew(Some(&old.to_string())));
    let twice = world.control.authority_rotate(&world.cx).await.unwrap_err();
    assert_eq!(twice.code, Code::Conflict);
    let early = world.control.authority_finish(&world.cx, true).await.unwrap_err();
    assert_eq!(early.code, Code::Conflict);

    assert!(!other.authorities().trusted().has(new));
    assert!(other.authorities_reload().await.unwrap());
    assert!(!other.authorities_reload().await.unwrap());
    assert!(other.authorities().trusted().has(new) && other.authorities().trusted().has(old));

    world.advance(SPREAD);
    assert_eq!(other.authority().fingerprint(), new);
    assert!(other.node_should_renew(Some(&old.to_string())));
    assert!(!other.node_should_renew(Some(&new.to_string())));
    let refused = world.control.authority_finish(&world.cx, false).await.unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.detail.contains("n1"), "{}", refused.detail);

    // Whoever still has the old certificate gets in; a new one counts once the node came with it.
    assert!(matches!(attach(&other, agent.node_id, agent.serial(), 2).await, Attach::Attached(_)));
    let fresh = renew(&other, agent.node_id).await;
    assert_eq!(waiting(&world).await, ["n1"]);
    match attach(&world.control, agent.node_id, &fresh, 3).await {
        Attach::Attached(attached) => assert_eq!(attached.authority, Some(new.to_string())),
        Attach::Refused { detail, .. } => panic!("{detail}"),
    }
    assert_eq!(waiting(&world).await, [""; 0]);

    let done = world.control.authority_finish(&world.cx, false).await.unwrap();
    assert_eq!(done.phase, AuthorityPhase::Stable);
    assert_eq!(done.set.retired[0].fingerprint(), old);
    assert!(!world.control.authorities().trusted().has(old));
    assert!(other.authorities_reload().await.unwrap());
    match attach(&other, agent.node_id, agent.serial(), 4).await {
        Attach::Refused { code, detail, may_return } => {
            assert_eq!((code, may_return), (Code::Unauthenticated, false));
            assert!(detail.contains("was replaced") && detail.contains("join again"), "{detail}");
        }
        Attach::Attached(_) => panic!("a certificate of the old authority still counts"),
    }
    assert!(other.node_admit(agent.node_id, agent.serial()).await.is_err());
    other.node_admit(agent.node_id, &fresh).await.unwrap();

    // What the old one signed can still be held against it.
    world.control.audit_anchor_create(&world.cx).await.unwrap();
    let verdict = world.control.audit_verify(&world.cx).await.unwrap();
    assert!(verdict.is_intact, "{:?}", verdict.problem);
    assert_eq!(verdict.anchors, 2);
}

#[tokio::test]
async fn a_server_that_dies_in_any_phase_goes_on_where_it_was() {
    let mut world = World::new(52).await;
    let agent = world.join("n1").await;
    let old = world.control.authority().fingerprint();
    let new = world.control.authority_rotate(&world.cx).await.unwrap().set.present.fingerprint();
    let mut phases = Vec::new();
    for _ in 0..2 {
        let mark = world.control.authorities().mark().to_owned();
        world.restart_server().await;
        assert_eq!(world.control.authorities().mark(), mark);
        phases.push(world.control.authority_show(&world.cx).await.unwrap().phase);
        world.advance(SPREAD);
    }
    assert_eq!(phases, [AuthorityPhase::Spreading, AuthorityPhase::Renewing]);
    let fresh = renew(&world.control, agent.node_id).await;
    attach(&world.control, agent.node_id, &fresh, 1).await;

    let back = world.control.authority_abort(&world.cx).await.unwrap();
    assert_eq!(back.set.present.fingerprint(), old);
    assert_eq!(waiting(&world).await, ["n1"], "it has to come back to the old one");
    world.restart_server().await;
    assert_eq!(world.control.authority().fingerprint(), old);
    assert!(world.control.authorities().trusted().has(new));
    let again = renew(&world.control, agent.node_id).await;
    attach(&world.control, agent.node_id, &again, 2).await;
    world.control.authority_finish(&world.cx, false).await.unwrap();
    world.restart_server().await;
    let set = world.control.authorities();
    assert!(set.former.is_none() && set.trusted().has(old) && !set.trusted().has(new));
    for refused in [
        world.control.authority_abort(&world.cx).await,
        world.control.authority_finish(&world.cx, true).await,
    ] {
        assert_eq!(refused.unwrap_err().code, Code::Conflict);
    }
}

#[tokio::test]
async fn who_is_cut_off_is_named() {
    let world = World::new(53).await;
    world.join("n1").await;
    world.join("n2").await;
    world.control.authority_rotate(&world.cx).await.unwrap();
    world.advance(SPREAD);
    world.join("n3").await;
    assert_eq!(waiting(&world).await, ["n1", "n2"], "who joins now is of the new one");
    world.control.authority_finish(&world.cx, true).await.unwrap();
    let query = hostler_control::EventQuery {
        kind: Some(EventKind::AuthorityRotated.into()),
        ..hostler_control::EventQuery::default()
    };
    let events = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(events.items.len(), 1);
    let message = &events.items[0].event.message;
    assert!(message.contains("cut off: n1, n2"), "{message}");
    let query = hostler_control::AuditQuery {
        action: Some("authority.*".to_owned()),
        ..hostler_control::AuditQuery::default()
    };
    let audit = world.control.audit_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    let actions: Vec<&str> = audit.items.iter().map(|entry| entry.entry.action.as_str()).collect();
    assert_eq!(actions, ["authority.finish", "authority.rotate"]);
    for entry in &audit.items {
        assert!(entry.entry.digest_before.is_some() && entry.entry.digest_after.is_some());
        assert!(!entry.entry.detail.to_string().contains("PRIVATE"));
    }
}

#[tokio::test]
async fn servers_on_postgres_take_an_authority_over() {
    let Some(schema) = crate::postgres::Schema::create("authority") else { return };
    let world = World::on(schema.open().await, 54).await;
    let other = world.another_server().await;
    let begun = world.control.authority_rotate(&world.cx).await.unwrap();
    let (one, two) =
        tokio::join!(world.control.authority_abort(&world.cx), other.authority_abort(&world.cx));
    assert!(one.is_ok() && two.is_ok(), "each changes what the other left");
    assert!(other.authorities_reload().await.is_ok());
    world.control.authorities_reload().await.unwrap();
    assert_eq!(other.authorities().mark(), world.control.authorities().mark());
    assert_eq!(other.authority().fingerprint(), begun.set.present.fingerprint());
    world.advance(SPREAD);
    other.authority_finish(&world.cx, false).await.unwrap();
    assert!(world.control.authorities_reload().await.unwrap());
    assert_eq!(world.control.authorities().mark(), other.authorities().mark());
}

#[tokio::test]
async fn both_keys_are_sealed_anew_with_another_master_key() {
    let world = World::new(55).await;
    let (old, new) = (MasterKey::from_bytes([7; 32]), MasterKey::from_bytes([8; 32]));
    let boot = |master_key: Keyring| Boot {
        store: world.store.clone(),
        clock: world.clock.clock(),
        ids: hostler_base::ids::Ids::seeded(99),
        config: ControlConfig::default(),
        master_key,
        server_name: "again".into(),
    };
    world.control.authority_rotate(&world.cx).await.unwrap();
    let mark = world.control.authorities().mark().to_owned();
    let both = boot(Keyring::new(new.clone(), vec![old.clone()])).run().await.unwrap();
    let done = both.secret_rewrap(&world.cx).await.unwrap();
    assert_eq!((done.count, done.left), (3, vec![]), "two keys, and what a start is checked by");
    let alone = boot(new.into()).run().await.unwrap();
    assert_eq!(alone.authorities().mark(), mark);
    assert!(matches!(boot(old.into()).run().await, Err(BootError::WrongMasterKey(_))));
}
