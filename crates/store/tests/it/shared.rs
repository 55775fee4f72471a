//! What servers share: operations, registrations, leases, settings, idempotency keys.

use hostler_model::*;
use hostler_store::{Claim, OperationFilter, Update};

use crate::world::*;

crate::conformance!(
    an_operation_is_what_was_written,
    an_operation_is_claimed_by_one_server,
    an_expired_lease_is_adopted_and_fences_the_old_owner,
    a_request_to_cancel_is_never_lost,
    operations_are_listed_newest_first,
    servers_register_and_go,
    a_lease_has_one_holder,
    settings_are_kept,
    an_idempotency_key_finds_what_it_made,
    a_key_claimed_at_the_same_time_is_fresh_once,
);

async fn an_operation_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    for operation in [operation(None), operation(Some(project.id))] {
        world.tx("test", |tx| Box::pin(tx.operation_insert(&operation))).await.unwrap();
        let stored = world.read().await.unwrap().operation_get(operation.id).await.unwrap();
        assert_eq!(stored, Some(operation));
    }
}

async fn claim(
    world: &World,
    server: ServerId,
    now: i64,
    until: i64,
    limit: u32,
) -> Vec<Operation> {
    world
        .tx("claim", |tx| Box::pin(tx.operation_claim(server, at(now), at(until), limit)))
        .await
        .unwrap()
}

async fn an_operation_is_claimed_by_one_server(world: World) {
    let mut expected = Vec::new();
    for _ in 0..6 {
        expected.push(world.operation().await.id);
    }
    let again = world.clone();
    let mut claims = together(10, move |_| {
        let world = again.clone();
        async move { claim(&world, server_id(), 1, 10, 4).await }
    })
    .await
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    claims.sort_by_key(|o| o.id);
    assert_eq!(claims.iter().map(|o| o.id).collect::<Vec<_>>(), expected);
    for operation in claims {
        assert_eq!(operation.state, OperationState::Running);
        let owner = operation.owner.unwrap();
        assert_eq!((owner.adoption, owner.time_lease), (Generation::FIRST, at(10)));
    }
    assert_eq!(claim(&world, server_id(), 9, 20, 10).await, vec![]);
}

async fn an_expired_lease_is_adopted_and_fences_the_old_owner(world: World) {
    world.operation().await;
    let (a, b) = (server_id(), server_id());
    let save = async |operation: &Operation, adoption| {
        world.tx("save", |tx| Box::pin(tx.operation_save(operation, adoption))).await.unwrap()
    };
    let mut old = claim(&world, a, 1, 10, 1).await.remove(0);
    old.owner.as_mut().unwrap().time_lease = at(20);
    old.steps[0].state = StepState::Succeeded;
    assert_eq!(save(&old, Generation::FIRST).await, Update::Updated);
    assert_eq!(claim(&world, b, 15, 30, 1).await, vec![]);
    let mut new = claim(&world, b, 20, 30, 1).await.remove(0);
    assert_eq!(new.steps, old.steps);
    assert_eq!(new.owner.unwrap().adoption, Generation::from_u64(2));
    assert!(matches!(save(&old, Generation::FIRST).await, Update::Stale { .. }));
    new.state = OperationState::Succeeded;
    new.owner = None;
    new.time_ended = Some(at(25));
    assert_eq!(save(&new, Generation::from_u64(2)).await, Update::Updated);
    assert!(matches!(save(&new, Generation::from_u64(2)).await, Update::Stale { .. }));
    assert_eq!(claim(&world, a, 1000, 2000, 1).await, vec![]);
    let stored = world.read().await.unwrap().operation_get(new.id).await.unwrap().unwrap();
    assert_eq!((stored.state, stored.owner, stored.time_ended), (new.state, None, Some(at(25))));
    let ghost = operation(None);
    assert_eq!(save(&ghost, Generation::FIRST).await, Update::Missing);
}

async fn a_request_to_cancel_is_never_lost(world: World) {
    let operation = world.operation().await;
    let mut claimed = claim(&world, server_id(), 1, 10, 1).await.remove(0);
    let cancel = async |id| {
        world.tx("cancel", |tx| Box::pin(tx.operation_cancel_request(id, at(2)))).await.unwrap()
    };
    assert_eq!(cancel(operation.id).await, Update::Updated);
    let save = async |operation: &Operation| {
        world
            .tx("save", |tx| Box::pin(tx.operation_save(operation, Generation::FIRST)))
            .await
            .unwrap()
    };
    assert!(!claimed.is_cancel_requested);
    assert_eq!(save(&claimed).await, Update::Updated);
    let stored = world.read().await.unwrap().operation_get(operation.id).await.unwrap();
    assert!(stored.unwrap().is_cancel_requested);
    claimed.state = OperationState::Cancelled;
    assert_eq!(save(&claimed).await, Update::Updated);
    assert!(matches!(cancel(operation.id).await, Update::Stale { .. }));
    assert_eq!(cancel(OperationId::from_uuid(next_uuid())).await, Update::Missing);
}

async fn operations_are_listed_newest_first(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let mut ids = Vec::new();
    for project in [None, Some(alpha.id), Some(beta.id), Some(alpha.id)] {
        let operation = operation(project);
        world.tx("test", |tx| Box::pin(tx.operation_insert(&operation))).await.unwrap();
        ids.push(operation.id);
    }
    claim(&world, server_id(), 1, 10, 2).await;
    let mut reader = world.read().await.unwrap();
    let mut list = async |filter| {
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = reader.operation_list(filter, after.as_deref(), limit(1)).await.unwrap();
            seen.extend(page.items.iter().map(|o| o.id));
            match page.next {
                Some(next) => after = Some(next),
                None => return seen,
            }
        }
    };
    let all = OperationFilter::default();
    assert_eq!(list(all).await, [ids[3], ids[2], ids[1], ids[0]]);
    let only = OperationFilter { projects: Some(&[alpha.id]), ..all };
    assert_eq!(list(only).await, [ids[3], ids[1]]);
    let pending = OperationFilter { state: Some(OperationState::Pending), ..all };
    assert_eq!(list(pending).await, [ids[3], ids[2]]);
}

async fn servers_register_and_go(world: World) {
    let server = ServerRegistration {
        id: server_id(),
        name: "s1".to_owned(),
        version: "0.1.0".to_owned(),
        api_address: "10.0.0.1:443".to_owned(),
        agent_address: "10.0.0.1:7443".to_owned(),
        time_started: at(0),
        time_seen: at(0),
    };
    let other = ServerRegistration { id: server_id(), time_seen: at(50), ..server.clone() };
    for server in [&server, &other, &server] {
        world.tx("test", |tx| Box::pin(tx.server_register(server))).await.unwrap();
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.server_list().await.unwrap(), [server.clone(), other.clone()]);
    assert_eq!(reader.server_get(other.id).await.unwrap(), Some(other.clone()));
    let renewed = world.tx("test", |tx| Box::pin(tx.server_renew(server.id, at(40)))).await;
    assert!(renewed.unwrap());
    let stale = world.tx("test", |tx| Box::pin(tx.server_remove_stale(at(45)))).await.unwrap();
    assert_eq!(stale, [ServerRegistration { time_seen: at(40), ..server.clone() }]);
    let renewed = world.tx("test", |tx| Box::pin(tx.server_renew(server.id, at(60)))).await;
    assert!(!renewed.unwrap());
    for expected in [true, false] {
        let removed = world.tx("test", |tx| Box::pin(tx.server_remove(other.id))).await;
        assert_eq!(removed.unwrap(), expected);
    }
    assert_eq!(reader.server_list().await.unwrap(), vec![]);
}

async fn a_lease_has_one_holder(world: World) {
    let again = world.clone();
    let outcomes: Vec<(ServerId, Result<bool>)> = together(16, move |_| {
        let (world, server) = (again.clone(), server_id());
        async move {
            let won = world
                .tx("lease", |tx| Box::pin(tx.lease_acquire("compact", server, at(0), at(10))))
                .await;
            (server, won)
        }
    })
    .await;
    let holders: Vec<ServerId> =
        outcomes.into_iter().filter_map(|(server, won)| won.unwrap().then_some(server)).collect();
    assert_eq!(holders.len(), 1);
    let (holder, other) = (holders[0], server_id());
    let acquire = async |server, now, until| {
        world
            .tx("lease", |tx| Box::pin(tx.lease_acquire("compact", server, at(now), at(until))))
            .await
            .unwrap()
    };
    assert!(acquire(holder, 5, 15).await);
    assert!(!acquire(other, 12, 22).await);
    assert!(acquire(other, 15, 25).await);
    assert!(!acquire(holder, 16, 26).await);
    let release = async |server| {
        world.tx("lease", |tx| Box::pin(tx.lease_release("compact", server))).await.unwrap()
    };
    assert!(!release(holder).await);
    assert!(release(other).await);
    assert!(acquire(holder, 17, 27).await);
}

async fn settings_are_kept(world: World) {
    let get = async || world.read().await.unwrap().setting_get("key").await.unwrap();
    assert_eq!(get().await, None);
    for (bytes, expected) in [(&[0, 1, 255][..], true), (&[9][..], false)] {
        let inserted = world.tx("test", |tx| Box::pin(tx.setting_insert("key", bytes))).await;
        assert_eq!(inserted.unwrap(), expected);
        assert_eq!(get().await, Some(vec![0, 1, 255]));
    }
    world.tx("test", |tx| Box::pin(tx.setting_replace("key", &[]))).await.unwrap();
    assert_eq!(get().await, Some(vec![]));
    for expected in [true, false] {
        let gone = world.tx("test", |tx| Box::pin(tx.setting_delete("key"))).await;
        assert_eq!(gone.unwrap(), expected);
    }
    world.tx("test", |tx| Box::pin(tx.setting_replace("key", &[3]))).await.unwrap();
    assert_eq!(get().await, Some(vec![3]));
}

async fn an_idempotency_key_finds_what_it_made(world: World) {
    let (ada, bob) = (PrincipalId::from_uuid(next_uuid()), PrincipalId::from_uuid(next_uuid()));
    let object = |id: &str| ObjectRef::new(ObjectKind::Task, id, "job");
    let claim = async |principal, hash: &[u8], id: &str, now| {
        let object = object(id);
        world
            .tx("claim", |tx| {
                Box::pin(tx.idempotency_claim(principal, "k1", hash, &object, at(now)))
            })
            .await
            .unwrap()
    };
    assert_eq!(claim(ada, b"h", "t1", 0).await, Claim::Fresh);
    assert_eq!(claim(ada, b"h", "t2", 1).await, Claim::Replay(object("t1")));
    assert_eq!(claim(ada, b"other", "t3", 1).await, Claim::Mismatch);
    assert_eq!(claim(bob, b"other", "t4", 5).await, Claim::Fresh);
    let gone = world.tx("test", |tx| Box::pin(tx.idempotency_delete_before(at(5)))).await;
    assert_eq!(gone.unwrap(), 1);
    assert_eq!(claim(ada, b"other", "t5", 6).await, Claim::Fresh);
    assert_eq!(claim(bob, b"other", "t6", 6).await, Claim::Replay(object("t4")));
}

async fn a_key_claimed_at_the_same_time_is_fresh_once(world: World) {
    let ada = PrincipalId::from_uuid(next_uuid());
    let again = world.clone();
    let claims: Vec<Claim> = together(12, move |i| {
        let world = again.clone();
        async move {
            let object = ObjectRef::new(ObjectKind::Task, i, "job");
            world
                .tx("claim", |tx| Box::pin(tx.idempotency_claim(ada, "k1", b"h", &object, at(0))))
                .await
                .unwrap()
        }
    })
    .await;
    assert_eq!(claims.iter().filter(|c| **c == Claim::Fresh).count(), 1);
    let replays: Vec<_> = claims
        .iter()
        .filter_map(|c| match c {
            Claim::Replay(object) => Some(object),
            Claim::Fresh | Claim::Mismatch => None,
        })
        .collect();
    assert_eq!(replays.len(), 11);
    assert!(replays.iter().all(|o| *o == replays[0]));
}
