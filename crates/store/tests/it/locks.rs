//! Locks: rows that say who holds and who waits, and tokens that no name gives twice.

use hostler_model::*;
use hostler_store::{LockFilter, Update};

use crate::workflows::somebody;
use crate::world::*;

crate::conformance!(
    a_lock_and_its_holds_are_what_was_written,
    a_change_says_which_generation_it_saw,
    a_renewal_is_for_who_holds_and_nobody_else,
    a_queue_is_in_the_order_of_arrival,
    locks_are_listed_by_name_and_by_use,
    a_server_sees_every_hold_in_pages,
    what_is_idle_goes_and_tokens_go_on,
    of_two_who_make_a_lock_one_comes_second,
    a_project_goes_with_its_locks,
);

pub fn lock(project: &Project, name: &str) -> Lock {
    let id = LockId::from_uuid(next_uuid());
    let fresh = Lock::fresh(id, project.id, name.parse().unwrap(), 0, at(1));
    Lock { generation: Generation::FIRST, ..fresh }
}

pub fn hold(lock: &Lock, place: u64, token: Option<u64>) -> LockHold {
    LockHold {
        id: LockHoldId::from_uuid(next_uuid()),
        lock_id: lock.id,
        principal_id: somebody(),
        by: "ada".into(),
        holder: LockHolder {
            host: "web-1".into(),
            pid: Some(7),
            command: "deploy now".into(),
            why: "ü".into(),
        },
        place,
        token,
        is_taken: token.is_some(),
        ttl: Span::from_millis(1500),
        generation: Generation::FIRST,
        time_asked: at(2),
        time_granted: token.map(|_| at(3)),
        time_renewed: at(4),
    }
}

pub async fn put(world: &World, lock: &Lock, holds: &[LockHold]) {
    let done: Result<bool> = world
        .tx("test", |tx| {
            Box::pin(async move {
                let is_new = tx.lock_insert(lock).await?;
                for hold in holds {
                    assert!(tx.lock_hold_insert(hold).await?);
                    assert!(!tx.lock_hold_insert(hold).await?, "an id is given once");
                }
                Ok(is_new)
            })
        })
        .await;
    assert!(done.unwrap());
}

async fn a_lock_and_its_holds_are_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let past = PastHold {
        id: LockHoldId::from_uuid(next_uuid()),
        principal_id: somebody(),
        by: "bob".into(),
        holder: LockHolder::default(),
        token: 6,
        time_granted: at(1),
        time_ended: at(2),
        end: LockEnd::Forced,
        forced: Some(LockForced { by: "ada".into(), reason: "stuck".into() }),
    };
    let kept = Lock {
        slots: 2,
        held: 1,
        waiting: 1,
        place_last: 9,
        token_last: 7,
        past: vec![past],
        ..lock(&project, "deploy/web")
    };
    let holds = [hold(&kept, 8, Some(7)), hold(&kept, 9, None)];
    put(&world, &kept, &holds).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.lock_get(project.id, &kept.name).await.unwrap(), Some(kept.clone()));
    assert_eq!(read.lock_get(project.id, &"deploy".parse().unwrap()).await.unwrap(), None);
    for hold in &holds {
        assert_eq!(read.lock_hold_get(hold.id).await.unwrap().as_ref(), Some(hold));
        let both = read.lock_by_hold(hold.id).await.unwrap();
        assert_eq!(both, Some((kept.clone(), hold.clone())));
    }
    let nobody = LockHoldId::from_uuid(next_uuid());
    assert_eq!(read.lock_by_hold(nobody).await.unwrap(), None);
    assert_eq!(read.lock_holders(&[kept.id]).await.unwrap(), [holds[0].clone()]);
    assert_eq!(read.lock_queue(kept.id, 5).await.unwrap(), [holds[1].clone()]);
}

async fn a_change_says_which_generation_it_saw(world: World) {
    let project = world.project("alpha").await;
    let kept = lock(&project, "deploy");
    let held = hold(&kept, 1, None);
    put(&world, &kept, std::slice::from_ref(&held)).await;
    let changed =
        &Lock { held: 1, token_last: 4, generation: kept.generation.next(), ..kept.clone() };
    let granted = &LockHold {
        token: Some(4),
        is_taken: true,
        time_granted: Some(at(9)),
        generation: held.generation.next(),
        ..held.clone()
    };
    let (kept, held) = (&kept, &held);
    let outcome: Result<[Update; 4]> = world
        .tx("test", |tx| {
            Box::pin(async move {
                Ok([
                    tx.lock_update(changed, kept.generation).await?,
                    tx.lock_hold_update(granted, held.generation).await?,
                    tx.lock_update(changed, kept.generation).await?,
                    tx.lock_hold_update(granted, held.generation).await?,
                ])
            })
        })
        .await;
    let current = kept.generation.next();
    let stale = Update::Stale { current };
    assert_eq!(outcome.unwrap(), [Update::Updated, Update::Updated, stale, stale]);
    let mut read = world.read().await.unwrap();
    let found = read.lock_by_hold(held.id).await.unwrap().unwrap();
    assert_eq!(found, (changed.clone(), granted.clone()));
}

async fn a_renewal_is_for_who_holds_and_nobody_else(world: World) {
    let project = world.project("alpha").await;
    let kept = lock(&project, "deploy");
    let mine = LockHold { is_taken: false, ..hold(&kept, 1, Some(1)) };
    let waiting = hold(&kept, 2, None);
    put(&world, &kept, &[mine.clone(), waiting.clone()]).await;
    let other: LockName = "other".parse().unwrap();
    let renew_of = async |name: &LockName, id, by, ttl| {
        let done: Result<Option<LockHold>> = world
            .tx("test", |tx| Box::pin(tx.lock_hold_renew(project.id, name, id, by, ttl, at(50))))
            .await;
        done.unwrap()
    };
    let renew = async |id, by, ttl| renew_of(&kept.name, id, by, ttl).await;
    assert_eq!(renew_of(&other, mine.id, mine.principal_id, None).await, None);
    let renewed = renew(mine.id, mine.principal_id, None).await.unwrap();
    let expected = LockHold {
        is_taken: true,
        generation: mine.generation.next(),
        time_renewed: at(50),
        ..mine.clone()
    };
    assert_eq!(renewed, expected);
    let longer = renew(mine.id, mine.principal_id, Some(Span::from_secs(60))).await.unwrap();
    assert_eq!(longer.ttl, Span::from_secs(60));
    let stranger = PrincipalId::from_uuid(next_uuid());
    assert_eq!(renew(mine.id, stranger, None).await, None);
    assert_eq!(renew(waiting.id, waiting.principal_id, None).await, None, "it only waits");
    let id = mine.id;
    let gone: Result<[bool; 2]> = world
        .tx("test", |tx| {
            Box::pin(
                async move { Ok([tx.lock_hold_delete(id).await?, tx.lock_hold_delete(id).await?]) },
            )
        })
        .await;
    assert_eq!(gone.unwrap(), [true, false]);
    assert_eq!(renew(mine.id, mine.principal_id, None).await, None, "it is over");
}

async fn a_queue_is_in_the_order_of_arrival(world: World) {
    let project = world.project("alpha").await;
    let kept = lock(&project, "deploy");
    let places = [5, 2, 9, 1];
    let holds: Vec<_> =
        places.iter().map(|place| hold(&kept, *place, (*place == 1).then_some(1))).collect();
    put(&world, &kept, &holds).await;
    let mut read = world.read().await.unwrap();
    let queue = read.lock_queue(kept.id, 2).await.unwrap();
    assert_eq!(queue.iter().map(|h| h.place).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(read.lock_waiting_before(kept.id, 9).await.unwrap(), 2);
    assert_eq!(read.lock_waiting_before(kept.id, 2).await.unwrap(), 0);
}

async fn locks_are_listed_by_name_and_by_use(world: World) {
    let project = world.project("alpha").await;
    let other = world.project("beta").await;
    for name in ["c", "a", "b/x", "B"] {
        let held = u32::from(name == "c");
        put(&world, &Lock { held, ..lock(&project, name) }, &[]).await;
    }
    put(&world, &lock(&other, "z"), &[]).await;
    let mut read = world.read().await.unwrap();
    let mut names = Vec::new();
    let mut after = None;
    loop {
        let page = read
            .lock_list(project.id, LockFilter::default(), after.as_deref(), limit(2))
            .await
            .unwrap();
        names.extend(page.items.iter().map(|lock| lock.name.to_string()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(names, ["B", "a", "b/x", "c"]);
    let used =
        read.lock_list(project.id, LockFilter { is_used: true }, None, limit(5)).await.unwrap();
    assert_eq!(used.items.len(), 1);
    assert_eq!(read.lock_count(project.id, 100).await.unwrap(), 4);
    assert_eq!(read.lock_count(project.id, 3).await.unwrap(), 3);
}

async fn a_server_sees_every_hold_in_pages(world: World) {
    let project = world.project("alpha").await;
    let kept = lock(&project, "deploy");
    let mut holds: Vec<_> = (1..=5).map(|n| hold(&kept, n, (n < 3).then_some(n))).collect();
    put(&world, &kept, &holds).await;
    holds.sort_by_key(|hold| hold.id.to_string());
    let mut read = world.read().await.unwrap();
    let mut seen = Vec::new();
    loop {
        let after = seen.last().map(|sighting: &LockSighting| sighting.id);
        let page = read.lock_sightings(after, limit(2)).await.unwrap();
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    let expected: Vec<_> = holds
        .iter()
        .map(|h| LockSighting::new(h.id, h.generation, h.is_held(), h.is_taken, h.ttl))
        .collect();
    assert_eq!(seen, expected);
}

async fn what_is_idle_goes_and_tokens_go_on(world: World) {
    let project = world.project("alpha").await;
    assert_eq!(world.read().await.unwrap().lock_floor().await.unwrap(), 0);
    for (name, token_last, held, modified) in
        [("old", 12, 0, 1), ("older", 3, 0, 0), ("held", 90, 1, 0), ("young", 80, 0, 10)]
    {
        let kept = Lock { token_last, held, time_modified: at(modified), ..lock(&project, name) };
        put(&world, &kept, &[]).await;
    }
    let forget = async |most| {
        let gone: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.lock_delete_idle(at(5), most))).await;
        gone.unwrap()
    };
    let floor = async || world.read().await.unwrap().lock_floor().await.unwrap();
    assert_eq!((forget(1).await, floor().await), (1, 3));
    assert_eq!((forget(10).await, floor().await), (1, 12));
    assert_eq!((forget(10).await, floor().await), (0, 12), "a floor never sinks");
    let left = world
        .read()
        .await
        .unwrap()
        .lock_list(project.id, LockFilter::default(), None, limit(9))
        .await;
    let names: Vec<_> = left.unwrap().items.into_iter().map(|l| l.name.to_string()).collect();
    assert_eq!(names, ["held", "young"]);
}

async fn of_two_who_make_a_lock_one_comes_second(world: World) {
    let project = world.project("alpha").await;
    let outcomes = together(6, |_| {
        let (store, made) = (world.store.clone(), lock(&project, "deploy"));
        async move {
            let done: Result<bool> = store.tx("test", |tx| Box::pin(tx.lock_insert(&made))).await;
            done.unwrap()
        }
    })
    .await;
    assert_eq!(outcomes.into_iter().filter(|is_new| *is_new).count(), 1);
}

async fn a_project_goes_with_its_locks(world: World) {
    let project = world.project("alpha").await;
    let kept = Lock { token_last: 33, held: 1, ..lock(&project, "deploy") };
    put(&world, &kept, &[hold(&kept, 1, Some(33))]).await;
    let gone: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.project_delete(project.id, project.generation))).await;
    assert!(gone.unwrap().is_updated());
    let mut read = world.read().await.unwrap();
    assert_eq!(read.lock_get(project.id, &kept.name).await.unwrap(), None);
    assert_eq!(read.lock_sightings(None, limit(5)).await.unwrap(), []);
    assert_eq!(read.lock_floor().await.unwrap(), 33);
}
