//! Locks through the services: who gets them, who waits, when they end, and what is told of it.

use std::time::Duration;

use hostler_base::clock::ManualClock;
use hostler_base::reconcile::Reconciler as _;
use hostler_control::{Cx, EventQuery, LockAnswer, LockAsk, LockWatch, LockWatchReport};
use hostler_model::{
    Code, Error, EventKind, LOCK_WAITERS_MAX, Limit, LockEnd, LockHoldId, LockHolder, LockName,
    LockOutcome, Role, Span, Timestamp,
};
use hostler_testkit::{World, caller_cx};
use uuid::Uuid;

const SECOND: Duration = Duration::from_secs(1);

pub fn hold_id(n: u128) -> LockHoldId {
    LockHoldId::from_uuid(Uuid::from_u128(n))
}

pub fn ask(n: u128) -> LockAsk {
    LockAsk {
        id: hold_id(n),
        slots: 1,
        ttl: Span::from_secs(30),
        wait: Some(Span::from_millis(0)),
        holder: LockHolder { host: format!("host-{n}"), ..LockHolder::default() },
    }
}

fn deploy() -> LockName {
    "deploy".parse().unwrap()
}

struct Scene {
    world: World,
    bob: Cx,
}

impl Scene {
    async fn new() -> Scene {
        let world = World::new(1).await;
        let ids = hostler_base::ids::Ids::seeded(77);
        Scene { bob: caller_cx(&ids, "bob", Role::User), world }
    }

    async fn ask(&self, ask: LockAsk) -> Result<LockAnswer, Error> {
        self.world.control.lock_acquire(&self.world.cx, &self.world.project, &deploy(), ask).await
    }

    async fn outcome(&self, n: u128) -> LockOutcome {
        self.ask(ask(n)).await.unwrap().outcome
    }

    async fn release(&self, n: u128) -> Result<(), Error> {
        let World { control, cx, project, .. } = &self.world;
        control.lock_release(cx, project, &deploy(), hold_id(n)).await
    }

    async fn renew(&self, n: u128) -> Result<(), Error> {
        let World { control, cx, project, .. } = &self.world;
        control.lock_renew(cx, project, &deploy(), hold_id(n), None).await.map(drop)
    }

    async fn holders(&self) -> Vec<LockHoldId> {
        let World { control, project, .. } = &self.world;
        let shown = control.lock_get(project, &deploy()).await.unwrap();
        shown.holders.iter().map(|hold| hold.id).collect()
    }

    async fn events(&self, kind: EventKind) -> Vec<String> {
        let query = EventQuery { kind: Some(kind.into()), ..EventQuery::default() };
        let World { control, cx, .. } = &self.world;
        let page = control.event_list(cx, &query, None, Limit::DEFAULT).await.unwrap();
        page.items.into_iter().map(|event| event.event.message).collect()
    }
}

async fn look(watch: &mut LockWatch) -> LockWatchReport {
    let pass = watch.reconcile().await;
    assert_eq!(pass.error, None);
    pass.report
}

#[tokio::test]
async fn a_lock_goes_from_hand_to_hand_with_growing_tokens() {
    let scene = Scene::new().await;
    let first = scene.ask(ask(1)).await.unwrap();
    assert_eq!(first.outcome, LockOutcome::Held);
    let second = scene.ask(ask(2)).await.unwrap();
    assert_eq!((second.outcome, second.before), (LockOutcome::Waiting, Some(0)));
    assert_eq!(second.holders[0].holder.host, "host-1", "one is told who is in the way");
    let third = scene.ask(ask(3)).await.unwrap();
    assert_eq!(third.before, Some(1));
    let trying = scene.ask(LockAsk { wait: None, ..ask(4) }).await.unwrap();
    assert_eq!((trying.outcome, trying.hold), (LockOutcome::Busy, None));

    scene.release(1).await.unwrap();
    scene.release(1).await.expect("a repeat after a lost answer is no mistake");
    assert_eq!(scene.holders().await, [hold_id(2)]);
    let again = scene.ask(ask(2)).await.unwrap();
    let token = |answer: &LockAnswer| answer.hold.as_ref().unwrap().token.unwrap();
    assert!(token(&again) > token(&first));
    scene.release(3).await.expect("who waits can leave");
    scene.release(2).await.unwrap();
    assert_eq!(scene.holders().await, []);
    let World { control, project, .. } = &scene.world;
    let shown = control.lock_get(project, &deploy()).await.unwrap();
    let past: Vec<_> = shown.lock.past.iter().map(|past| (past.id, past.end)).collect();
    assert_eq!(past, [(hold_id(2), LockEnd::Released), (hold_id(1), LockEnd::Released)]);
    assert_eq!(control.lock_counts().granted, 2);
}

#[tokio::test]
async fn who_waits_is_woken_at_once_by_a_release_on_the_same_server() {
    let scene = Scene::new().await;
    scene.ask(ask(1)).await.unwrap();
    let waiting = scene.ask(LockAsk { wait: Some(Span::from_secs(30)), ..ask(2) });
    let release = async {
        scene.world.clock.wait_for_sleepers(1).await;
        scene.release(1).await.unwrap();
    };
    // The clock stands still: nothing but the release can have woken it.
    let (answer, ()) = tokio::join!(waiting, release);
    assert_eq!(answer.unwrap().outcome, LockOutcome::Held);
}

#[tokio::test]
async fn who_waits_is_woken_by_the_next_look_when_another_server_released() {
    let scene = Scene::new().await;
    let other = scene.world.another_server().await;
    let mut watch = scene.world.control.lock_watch();
    scene.ask(ask(1)).await.unwrap();
    let waiting = scene.ask(LockAsk { wait: Some(Span::from_secs(30)), ..ask(2) });
    let release = async {
        scene.world.clock.wait_for_sleepers(1).await;
        let World { cx, project, .. } = &scene.world;
        other.lock_release(cx, project, &deploy(), hold_id(1)).await.unwrap();
        look(&mut watch).await;
    };
    let (answer, ()) = tokio::join!(waiting, release);
    assert_eq!(answer.unwrap().outcome, LockOutcome::Held);
}

#[tokio::test]
async fn waiting_ends_with_its_time_and_keeps_its_place() {
    let scene = Scene::new().await;
    scene.ask(ask(1)).await.unwrap();
    let waiting = scene.ask(LockAsk { wait: Some(Span::from_secs(30)), ..ask(2) });
    let passing = async {
        scene.world.clock.wait_for_sleepers(1).await;
        scene.world.advance(SECOND * 30);
    };
    let (answer, ()) = tokio::join!(waiting, passing);
    assert_eq!(answer.unwrap().outcome, LockOutcome::Waiting);
    assert_eq!(scene.outcome(3).await, LockOutcome::Waiting);
    let again = scene.ask(ask(2)).await.unwrap();
    assert_eq!(again.before, Some(0), "it kept its place");
}

#[tokio::test]
async fn who_withdraws_is_not_put_back_by_a_request_that_still_waits() {
    let scene = Scene::new().await;
    let mut watch = scene.world.control.lock_watch();
    scene.ask(ask(1)).await.unwrap();
    let waiting = scene.ask(LockAsk { wait: Some(Span::from_secs(30)), ..ask(2) });
    let withdraw = async {
        scene.world.clock.wait_for_sleepers(1).await;
        scene.release(2).await.unwrap();
        look(&mut watch).await;
    };
    let (answer, ()) = tokio::join!(waiting, withdraw);
    assert_eq!(answer.unwrap_err().code, Code::Conflict);
    scene.release(1).await.unwrap();
    assert_eq!(scene.holders().await, []);
}

/// Looks every quarter of a second until a hold ends; how long that took.
async fn until_expired(world: &World, watch: &mut LockWatch) -> Duration {
    let start = world.clock.clock().instant();
    for _ in 0..2000 {
        world.advance(Duration::from_millis(250));
        if look(watch).await.expired > 0 {
            return world.clock.clock().instant() - start;
        }
    }
    panic!("it never ended");
}

#[tokio::test]
async fn a_holder_that_dies_frees_its_lock_at_its_ttl_whatever_the_wall_clock_does() {
    let jumps = [0, 86_400, -86_400, 365 * 86_400];
    for jump in jumps {
        let scene = Scene::new().await;
        let mut watch = scene.world.control.lock_watch();
        scene.ask(ask(1)).await.unwrap();
        scene.ask(ask(2)).await.unwrap();
        look(&mut watch).await;
        let wall = scene.world.now().micros() + jump * 1_000_000;
        scene.world.clock.set_wall(Timestamp::from_micros(wall));
        let after = until_expired(&scene.world, &mut watch).await;
        assert_eq!(after, SECOND * 30, "a jump of {jump}s");
        assert_eq!(scene.holders().await, [hold_id(2)]);
        let told = scene.events(EventKind::LockExpired).await;
        assert_eq!(told, ["admin on host-1 was silent for 30s; admin holds it now"]);
        let late = scene.renew(1).await.unwrap_err();
        assert_eq!(late.code, Code::Conflict);
        assert!(late.detail.contains("was not renewed in time"), "{late}");
        assert_eq!(scene.release(1).await.unwrap_err().code, Code::Conflict);
        assert_eq!(scene.ask(ask(1)).await.unwrap_err().code, Code::Conflict);
    }
}

#[tokio::test]
async fn who_renews_in_time_keeps_it_while_wall_clocks_jump() {
    let scene = Scene::new().await;
    let mut watch = scene.world.control.lock_watch();
    scene.ask(ask(1)).await.unwrap();
    for round in 0..40_i64 {
        for _ in 0..29 {
            scene.world.advance(SECOND);
            assert_eq!(look(&mut watch).await.expired, 0, "round {round}");
        }
        let jump = if round % 2 == 0 { 7200 } else { -9000 };
        let wall = scene.world.now().micros() + jump * 1_000_000;
        scene.world.clock.set_wall(Timestamp::from_micros(wall));
        scene.renew(1).await.unwrap();
    }
    assert_eq!(scene.holders().await, [hold_id(1)]);
}

#[tokio::test]
async fn servers_whose_clocks_differ_end_it_once_and_none_too_early() {
    let scene = Scene::new().await;
    let clock = ManualClock::new(Timestamp::from_micros(1_000_000));
    clock.advance(SECOND * 5000);
    let other = scene.world.another_server_at(&clock).await;
    let mut watches = [scene.world.control.lock_watch(), other.lock_watch()];
    let World { cx, project, .. } = &scene.world;
    other.lock_acquire(cx, project, &deploy(), ask(1)).await.unwrap();
    let mut ended = Vec::new();
    for quarter in 0..200_u32 {
        for (server, watch) in watches.iter_mut().enumerate() {
            let report = look(watch).await;
            ended.extend((report.expired > 0).then_some((quarter, server)));
        }
        if quarter == 60 {
            scene.renew(1).await.unwrap();
        }
        clock.advance(SECOND / 4);
        scene.world.advance(SECOND / 4);
    }
    // Renewed in quarter 60, first seen so in quarter 61, gone 30 seconds after that; and only once.
    assert_eq!(ended, [(181, 0)]);
    assert_eq!(scene.holders().await, []);
}

#[tokio::test]
async fn a_server_that_just_started_counts_from_when_it_first_looked() {
    let mut scene = Scene::new().await;
    let mut watch = scene.world.control.lock_watch();
    scene.ask(ask(1)).await.unwrap();
    look(&mut watch).await;
    scene.world.advance(SECOND * 4);
    look(&mut watch).await;
    drop(watch);
    scene.world.advance(SECOND * 3600);
    scene.world.restart_server().await;
    let mut watch = scene.world.control.lock_watch();
    assert_eq!(look(&mut watch).await.expired, 0, "an hour of nobody watching says nothing");
    assert_eq!(until_expired(&scene.world, &mut watch).await, SECOND * 30);
}

#[tokio::test]
async fn who_waits_and_does_not_ask_any_more_loses_its_place() {
    let scene = Scene::new().await;
    let mut watch = scene.world.control.lock_watch();
    for n in 1..=3 {
        scene.ask(ask(n)).await.unwrap();
    }
    look(&mut watch).await;
    let mut lost = 0;
    for second in 1..=61 {
        scene.world.advance(SECOND);
        scene.renew(1).await.unwrap();
        if second % 20 == 0 {
            scene.ask(ask(3)).await.unwrap();
        }
        lost += look(&mut watch).await.places_lost;
    }
    assert_eq!(lost, 1);
    scene.release(1).await.unwrap();
    assert_eq!(scene.holders().await, [hold_id(3)]);
    assert_eq!(scene.outcome(2).await, LockOutcome::Waiting, "it begins at the end");
}

#[tokio::test]
async fn what_is_asked_for_is_checked() {
    let scene = Scene::new().await;
    let with =
        |ttl: Span, slots: u32, wait: Span| LockAsk { ttl, slots, wait: Some(wait), ..ask(1) };
    let (ok, year) = (Span::from_secs(30), Span::from_secs(365 * 86_400));
    for (bad, place, words) in [
        (with(Span::from_millis(0), 1, ok), "/ttl", "a TTL of 0s cannot be: take 1s to 1d"),
        (with(Span::from_millis(999), 1, ok), "/ttl", "take 1s to 1d"),
        (with(year, 1, ok), "/ttl", "a TTL of 365d cannot be"),
        (with(ok, 0, ok), "/slots", "1 to 1000 slots"),
        (with(ok, 1001, ok), "/slots", "1 to 1000 slots"),
        (with(ok, 1, Span::from_secs(31)), "/wait", "ask again with the same id"),
        (
            LockAsk {
                holder: LockHolder { why: "a\u{7}".into(), ..LockHolder::default() },
                ..ask(1)
            },
            "/holder/why",
            "control character",
        ),
    ] {
        let error = scene.ask(bad).await.unwrap_err();
        assert_eq!(error.code, Code::Invalid);
        assert_eq!(error.errors[0].pointer, place);
        assert!(error.errors[0].detail.contains(words), "{error}");
    }
    assert!(scene.world.control.lock_get(&scene.world.project, &deploy()).await.is_err());
}

#[tokio::test]
async fn what_one_does_not_hold_one_does_not_renew_or_release() {
    let scene = Scene::new().await;
    scene.ask(ask(1)).await.unwrap();
    scene.ask(ask(2)).await.unwrap();
    let World { control, project, .. } = &scene.world;
    let bob = &scene.bob;
    let stolen = control.lock_release(bob, project, &deploy(), hold_id(1)).await.unwrap_err();
    assert_eq!(stolen.code, Code::NotFound);
    let stolen = control.lock_renew(bob, project, &deploy(), hold_id(1), None).await.unwrap_err();
    assert_eq!(stolen.code, Code::NotFound);
    let stolen = control.lock_acquire(bob, project, &deploy(), ask(1)).await.unwrap_err();
    assert_eq!(stolen.code, Code::Conflict);
    let other: LockName = "other".parse().unwrap();
    let error = control.lock_acquire(&scene.world.cx, project, &other, ask(1)).await.unwrap_err();
    assert_eq!(error.code, Code::Conflict, "an id is for one lock");
    let waits = scene.renew(2).await.unwrap_err();
    assert!(waits.detail.contains("waits and holds nothing yet"), "{waits}");
    assert_eq!(scene.renew(9).await.unwrap_err().code, Code::NotFound);
    assert_eq!(scene.release(9).await.unwrap_err().code, Code::NotFound);
    let slots = scene.ask(LockAsk { slots: 2, ..ask(5) }).await.unwrap_err();
    assert!(slots.detail.contains("has 1 slots as long as it is in use"), "{slots}");
    assert_eq!(scene.holders().await, [hold_id(1)]);
}

/// Who may use locks in one project gets nowhere with that in another.
#[tokio::test]
async fn a_hold_is_found_in_its_own_project_only() {
    let scene = Scene::new().await;
    let World { control, cx, project, .. } = &scene.world;
    let change = hostler_control::ProjectChange::default();
    let other = control.project_create(cx, "other".parse().unwrap(), change).await.unwrap();
    scene.ask(ask(1)).await.unwrap();
    control.lock_acquire(cx, &other, &deploy(), ask(2)).await.unwrap();
    for (project, n) in [(&other, 1), (project, 2)] {
        let id = hold_id(n);
        let renewed = control.lock_renew(cx, project, &deploy(), id, None).await;
        assert_eq!(renewed.unwrap_err().code, Code::NotFound);
        let released = control.lock_release(cx, project, &deploy(), id).await;
        assert_eq!(released.unwrap_err().code, Code::NotFound);
        let asked = control.lock_acquire(cx, project, &deploy(), ask(n)).await;
        assert_eq!(asked.unwrap_err().code, Code::Conflict);
        let forced = control.lock_force_release(cx, project, &deploy(), Some(id), "x").await;
        assert_eq!(forced.unwrap_err().code, Code::Conflict);
    }
    assert_eq!(scene.holders().await, [hold_id(1)]);
}

#[tokio::test]
async fn a_semaphore_has_as_many_holders_as_slots() {
    let scene = Scene::new().await;
    for n in 1..=4 {
        let outcome = scene.ask(LockAsk { slots: 3, ..ask(n) }).await.unwrap().outcome;
        assert_eq!(outcome == LockOutcome::Held, n <= 3);
    }
    scene.release(2).await.unwrap();
    assert_eq!(scene.holders().await, [hold_id(1), hold_id(3), hold_id(4)]);
}

#[tokio::test]
async fn taking_a_lock_away_is_loud_and_audited() {
    let scene = Scene::new().await;
    let World { control, cx, project, .. } = &scene.world;
    let nobody = control.lock_force_release(cx, project, &deploy(), None, "stuck").await;
    assert_eq!(nobody.unwrap_err().code, Code::NotFound);
    scene.ask(ask(1)).await.unwrap();
    scene.ask(ask(2)).await.unwrap();
    let wordless = control.lock_force_release(cx, project, &deploy(), None, "").await;
    assert_eq!(wordless.unwrap_err().code, Code::Invalid);
    let wrong = control.lock_force_release(cx, project, &deploy(), Some(hold_id(2)), "x").await;
    assert_eq!(wrong.unwrap_err().code, Code::Conflict, "who waits holds nothing");
    let left =
        control.lock_force_release(cx, project, &deploy(), None, "host-1 is dead").await.unwrap();
    assert_eq!(left.holders[0].id, hold_id(2));
    assert_eq!(left.lock.past[0].forced.as_ref().unwrap().reason, "host-1 is dead");
    let told = scene.events(EventKind::LockForced).await;
    assert_eq!(told, ["taken away from admin: host-1 is dead"]);
    let lost = scene.renew(1).await.unwrap_err();
    assert!(lost.detail.contains("taken away by admin"), "{lost}");
    let mut keyed = cx.clone();
    keyed.request.idempotency =
        Some(hostler_control::Idempotency { key: "once".into(), request_hash: [1; 32] });
    scene.ask(ask(3)).await.unwrap();
    for _ in 0..2 {
        let left = control.lock_force_release(&keyed, project, &deploy(), None, "again").await;
        assert_eq!(left.unwrap().holders[0].id, hold_id(3), "a repeat spares who came next");
    }
    let query = hostler_control::AuditQuery::default();
    let trail = control.audit_list(cx, &query, None, Limit::DEFAULT).await.unwrap();
    let entry = trail.items.iter().find(|e| e.entry.action == "lock.force").unwrap();
    assert!(entry.entry.digest_before.is_some() && entry.entry.digest_after.is_some());
    assert_ne!(entry.entry.digest_before, entry.entry.digest_after);
}

#[tokio::test]
async fn a_queue_is_bounded_and_says_so() {
    let scene = Scene::new().await;
    scene.ask(ask(1)).await.unwrap();
    for n in 0..u128::from(LOCK_WAITERS_MAX) {
        assert_eq!(scene.outcome(10 + n).await, LockOutcome::Waiting);
    }
    let full = scene.ask(ask(5)).await.unwrap_err();
    assert_eq!(full.code, Code::QuotaExceeded);
    assert!(full.detail.contains("1000 wait for lock `deploy` already"), "{full}");
    assert_eq!(scene.outcome(10).await, LockOutcome::Waiting, "who has a place keeps it");
    scene.release(1).await.unwrap();
    assert_eq!(scene.holders().await, [hold_id(10)]);
    assert_eq!(scene.outcome(5).await, LockOutcome::Waiting);
}

#[tokio::test]
async fn tokens_go_on_when_a_lock_was_forgotten() {
    let scene = Scene::new().await;
    let token = async |n| {
        let answer = scene.ask(ask(n)).await.unwrap();
        scene.release(n).await.unwrap();
        answer.hold.unwrap().token.unwrap()
    };
    let (first, second) = (token(1).await, token(2).await);
    assert_eq!((first, second), (1, 2));
    scene.world.advance(SECOND * 90_000);
    let store = &scene.world.store;
    let before = scene.world.now().minus(SECOND * 86_400);
    let gone: Result<u64, hostler_store::Error> =
        store.tx("test", |tx| Box::pin(tx.lock_delete_idle(before, 10))).await;
    assert_eq!(gone.unwrap(), 1);
    assert_eq!(token(3).await, 3);
}

/// A server that dies after its commit and before its answer leaves nothing that nobody knows.
#[tokio::test]
async fn an_answer_that_was_lost_is_found_by_asking_again() {
    let mut scene = Scene::new().await;
    let lost = scene.ask(ask(1)).await.unwrap();
    scene.world.restart_server().await;
    let found = scene.ask(ask(1)).await.unwrap();
    let token = |answer: &LockAnswer| answer.hold.as_ref().unwrap().token;
    assert_eq!((found.outcome, token(&found)), (LockOutcome::Held, token(&lost)));
    scene.release(1).await.unwrap();
    scene.world.restart_server().await;
    scene.release(1).await.unwrap();
    assert_eq!(
        scene.ask(ask(1)).await.unwrap_err().code,
        Code::Conflict,
        "a late repeat of asking"
    );
}
