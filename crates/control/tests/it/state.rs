//! State on servers: what transactions come to, who hears of it, what expires, and what is kept.

use std::time::Duration;

use futures::future::join_all;
use hostler_base::reconcile::Reconciler as _;
use hostler_base::shutdown::Shutdown;
use hostler_control::{
    Control, ControlConfig, Cx, Idempotency, ProjectChange, StateFollower, StateLimits, StatePlace,
    StatePrecondition,
};
use hostler_model::{
    Bytes, Code, Error, EventKind, Limit, Page, Project, Quota, Span, StateAct, StateAnswer,
    StateChangeKind, StateCondition, StateOp, StateRecord, StateTtl, StateTxn,
};
use hostler_store::{AuditFilter, EventFilter, OpenOptions, Store};
use hostler_testkit::World;

use crate::postgres::Schema;

fn place(key: &str) -> StatePlace {
    let (namespace, key) = key.split_once(':').unwrap_or(("app", key));
    StatePlace { namespace: namespace.parse().unwrap(), key: key.parse().unwrap() }
}

/// One server on one project.
struct Desk<'a> {
    control: &'a Control,
    cx: &'a Cx,
    project: &'a Project,
}

impl<'a> Desk<'a> {
    fn of(world: &'a World) -> Desk<'a> {
        Desk { control: &world.control, cx: &world.cx, project: &world.project }
    }

    async fn put(&self, key: &str, value: &str) -> StateRecord {
        self.put_with(key, value, StateTtl::Never, StatePrecondition::None).await.unwrap()
    }

    async fn put_for(&self, key: &str, value: &str, seconds: u64) -> StateRecord {
        let ttl = StateTtl::After(Span::from_secs(seconds));
        self.put_with(key, value, ttl, StatePrecondition::None).await.unwrap()
    }

    async fn put_with(
        &self,
        key: &str,
        value: &str,
        ttl: StateTtl,
        precondition: StatePrecondition,
    ) -> Result<StateRecord, Error> {
        let value = value.as_bytes().into();
        let place = place(key);
        self.control.state_put(self.cx, self.project, &place, value, ttl, precondition).await
    }

    async fn get(&self, key: &str) -> Option<String> {
        match self.control.state_get(self.project, &place(key)).await {
            Ok(entry) => Some(String::from_utf8(entry.value.unwrap().to_vec()).unwrap()),
            Err(error) => {
                assert_eq!(error.code, Code::NotFound);
                None
            }
        }
    }

    async fn delete(&self, key: &str) -> Result<u64, Error> {
        let none = StatePrecondition::None;
        self.control.state_delete(self.cx, self.project, &place(key), none).await
    }

    fn op(&self, key: &str, act: StateAct) -> StateOp {
        StateOp { at: place(key).of(self.project), act }
    }

    async fn run(&self, txn: StateTxn) -> Result<StateAnswer, Error> {
        self.control.state_commit(self.cx, txn).await
    }

    async fn add(&self, key: &str, by: i64) -> Result<i64, Error> {
        let op = self.op(key, StateAct::Increment { by, ttl: StateTtl::Keep });
        Ok(self.run(StateTxn::one(op)).await?.results[0].number.unwrap())
    }

    async fn keys(&self, prefix: &str) -> Vec<String> {
        let namespace = place("x").namespace;
        let listed =
            self.control.state_list(self.project, &namespace, prefix, false, None, Limit::LARGEST);
        listed.await.unwrap().0.items.into_iter().map(|entry| entry.at.key.to_string()).collect()
    }

    async fn watch(&self, prefix: &str, after: Option<u64>) -> Result<StateFollower, Error> {
        let namespace = place("x").namespace;
        self.control.state_follow(self.project, namespace, prefix.to_owned(), after).await
    }

    async fn history(&self, key: &str) -> Vec<(StateChangeKind, Option<String>)> {
        let page: Page<_> = self
            .control
            .state_history(self.project, &place(key), None, Limit::LARGEST)
            .await
            .unwrap();
        let text = |value: hostler_model::StateValue| String::from_utf8(value.to_vec()).unwrap();
        page.items.into_iter().map(|seen| (seen.change.kind, seen.change.value.map(text))).collect()
    }
}

/// What is seen without waiting.
async fn seen(watch: &mut StateFollower) -> Vec<(String, StateChangeKind, u64)> {
    let seen = watch.next(Duration::ZERO).await.unwrap();
    seen.into_iter()
        .map(|seen| (seen.change.at.key.to_string(), seen.change.kind, seen.change.revision))
        .collect()
}

async fn expire(control: &Control) -> (usize, Option<hostler_model::Timestamp>) {
    let pass = control.state_expiry_reconciler().reconcile().await;
    assert_eq!(pass.error, None);
    (pass.report.due, pass.due)
}

#[tokio::test]
async fn entries_are_put_swapped_and_deleted() {
    let world = World::new(91).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    let first = desk.put("a", "one").await;
    assert_eq!((first.revision, first.version), (1, 1));
    assert_eq!(first.owner.name, "admin");
    assert_eq!(desk.get("a").await.as_deref(), Some("one"));
    let swap = |revision| StatePrecondition::Revision(revision);
    let swapped = desk.put_with("a", "two", StateTtl::Never, swap(1)).await.unwrap();
    let lost = desk.put_with("a", "three", StateTtl::Never, swap(1)).await.unwrap_err();
    assert_eq!(lost.code, Code::Stale);
    assert!(lost.detail.contains(&format!("revision is now {}", swapped.revision)), "{lost:?}");
    let taken = desk.put_with("a", "four", StateTtl::Never, StatePrecondition::Absent).await;
    assert_eq!(taken.unwrap_err().code, Code::AlreadyExists);
    desk.put_with("b", "new", StateTtl::Never, StatePrecondition::Absent).await.unwrap();
    let none = desk.put_with("c", "x", StateTtl::Never, swap(7)).await.unwrap_err();
    assert_eq!(none.code, Code::NotFound);
    assert_eq!(desk.keys("").await, ["a", "b"]);
    desk.delete("a").await.unwrap();
    assert_eq!(desk.delete("a").await.unwrap_err().code, Code::NotFound);
    assert_eq!(desk.get("a").await, None);
    let mut read = world.store.read().await.unwrap();
    let events = read.event_list(EventFilter::default(), 0, Limit::LARGEST).await.unwrap();
    assert!(
        events.iter().all(|event| !event.event.kind.label().starts_with("state")),
        "entries are not what the journal is for"
    );
}

#[tokio::test]
async fn what_comes_together_shares_a_commit_and_nothing_is_lost() {
    let world = World::new(92).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    let numbers = join_all((0..300).map(|_| desk.add("n", 1))).await;
    let mut numbers: Vec<i64> = numbers.into_iter().map(Result::unwrap).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=300), "each saw the one before");
    let counts = world.control.state_counts();
    assert_eq!((counts.transactions, counts.changes, counts.revision), (300, 300, 300));
    assert!(counts.batches < 100, "{counts:?}");
}

#[tokio::test]
async fn a_bad_request_is_told_and_hurts_nobody_else() {
    let world = World::new(93).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    desk.put("word", "abc").await;
    let (bad, good) = tokio::join!(desk.add("word", 1), desk.add("n", 1));
    let bad = bad.unwrap_err();
    assert_eq!((bad.code, bad.errors[0].pointer.as_str()), (Code::Conflict, "/then/0"));
    assert_eq!(good.unwrap(), 1);
    let large = "x".repeat((1 << 20) + 1);
    let refused = desk.put_with("x", &large, StateTtl::Never, StatePrecondition::None);
    assert_eq!(refused.await.unwrap_err().code, Code::Invalid);
    let ttl = StateTtl::After(Span::from_millis(0));
    let never = desk.put_with("x", "x", ttl, StatePrecondition::None).await.unwrap_err();
    assert!(never.detail.contains("ten years"), "{never:?}");
}

#[tokio::test]
async fn a_request_with_a_key_is_carried_out_once() {
    let world = World::new(94).await;
    let _serving = world.serve_state(&world.control);
    let mut cx = world.cx.clone();
    cx.request.idempotency = Some(Idempotency { key: "k".to_owned(), request_hash: [1; 32] });
    let desk = Desk { cx: &cx, ..Desk::of(&world) };
    assert_eq!(desk.add("n", 1).await.unwrap(), 1);
    let again = desk.add("n", 1).await.unwrap_err();
    assert_eq!(again.code, Code::Conflict);
    assert!(again.detail.contains("carried out before, at revision 1"), "{again:?}");
    let mut other = cx.clone();
    other.request.idempotency = Some(Idempotency { key: "k".to_owned(), request_hash: [2; 32] });
    let reused = Desk { cx: &other, ..Desk::of(&world) }.add("n", 1).await.unwrap_err();
    assert_eq!(reused.code, Code::KeyReused);
    assert_eq!(desk.get("n").await.as_deref(), Some("1"));

    let mut failing = cx.clone();
    failing.request.idempotency = Some(Idempotency { key: "f".to_owned(), request_hash: [3; 32] });
    desk.control
        .state_put(
            &world.cx,
            &world.project,
            &place("w"),
            b"w"[..].into(),
            StateTtl::Never,
            StatePrecondition::None,
        )
        .await
        .unwrap();
    let desk = Desk { cx: &failing, ..Desk::of(&world) };
    assert_eq!(desk.add("w", 1).await.unwrap_err().code, Code::Conflict);
    Desk::of(&world).put("w", "1").await;
    assert_eq!(desk.add("w", 1).await.unwrap(), 2, "what was refused can be repeated");
}

#[tokio::test]
async fn entries_expire_at_their_time_and_are_ended_promptly() {
    let world = World::new(95).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    world.control.state_expiry_reconciler().reconcile().await;
    desk.put_for("late", "x", 60).await;
    assert!(!desk.put_for("a", "x", 10).await.is_expired(world.now()));
    let (due, next) = expire(&world.control).await;
    assert_eq!((due, next), (0, Some(world.now().plus(Duration::from_secs(10)))));
    let mut watch = desk.watch("", None).await.unwrap();
    world.advance(Duration::from_millis(9_999));
    assert!(desk.get("a").await.is_some());
    world.advance(Duration::from_millis(1));
    assert_eq!(desk.get("a").await, None, "from this moment");
    assert_eq!(desk.keys("").await, ["late"]);
    let absent = StateTxn::one_if(
        StateCondition::Absent,
        desk.op("won", StateAct::Put { value: b"y"[..].into(), ttl: StateTtl::Never }),
    );
    assert!(desk.run(absent).await.unwrap().is_held);
    assert_eq!(expire(&world.control).await.0, 1);
    let told = seen(&mut watch).await;
    assert_eq!(
        told,
        [
            ("won".to_owned(), StateChangeKind::Put, 3),
            ("a".to_owned(), StateChangeKind::Expired, 4)
        ]
    );
    assert_eq!(expire(&world.control).await.0, 0);
    assert_eq!(desk.history("a").await.len(), 2);
}

#[tokio::test]
async fn an_earlier_end_wakes_who_ends() {
    let world = World::new(96).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    expire(&world.control).await;
    let waker = &world.control.wakers().state_expiry;
    desk.put("plain", "x").await;
    assert!(!waker.take_pending());
    desk.put_for("a", "x", 100).await;
    assert!(waker.take_pending());
    desk.put_for("b", "x", 200).await;
    assert!(!waker.take_pending(), "somebody sleeps until the first anyway");
    desk.put_for("c", "x", 50).await;
    assert!(waker.take_pending());
    expire(&world.control).await;
    desk.put_for("d", "x", 60).await;
    assert!(!waker.take_pending());
}

#[tokio::test]
async fn a_clock_that_goes_back_revives_nothing() {
    let world = World::new(97).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    desk.put_for("a", "x", 10).await;
    let before = world.now();
    world.advance(Duration::from_secs(20));
    desk.put("b", "y").await;
    assert_eq!(desk.get("a").await, None);
    world.clock.set_wall(before);
    assert_eq!(desk.get("a").await, None, "the newest batch says how late it is");
    assert_eq!(desk.keys("").await, ["b"]);
    let made = desk.put_for("c", "z", 10).await;
    assert_eq!(made.time_expires, Some(before.plus(Duration::from_secs(30))));
}

#[tokio::test]
async fn a_watch_tells_every_change_from_its_revision_on() {
    let world = World::new(98).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    desk.put("cfg/a", "1").await;
    desk.put("cfg/a", "2").await;
    desk.put("other", "x").await;
    desk.put("prod:cfg/a", "elsewhere").await;
    desk.delete("cfg/a").await.unwrap();
    let put = |n: u64| ("cfg/a".to_owned(), StateChangeKind::Put, n);
    let all = vec![put(1), put(2), ("cfg/a".to_owned(), StateChangeKind::Deleted, 5)];
    let mut watch = desk.watch("cfg/", Some(0)).await.unwrap();
    assert_eq!(seen(&mut watch).await, all);
    assert_eq!(watch.cursor(), 5);
    let mut late = desk.watch("cfg/", Some(1)).await.unwrap();
    assert_eq!(seen(&mut late).await, all[1..]);

    let mut live = desk.watch("cfg/", None).await.unwrap();
    let waiting = live.next(Duration::from_secs(3600));
    let changed = async {
        desk.put("other", "y").await;
        desk.put("cfg/b", "3").await
    };
    let (told, made) = tokio::join!(waiting, changed);
    let told = told.unwrap();
    assert_eq!((told.len(), told[0].change.revision), (1, made.revision));
    assert_eq!(told[0].change.value.as_deref(), Some(&b"3"[..]));
    let ahead = desk.watch("", Some(99)).await.err().unwrap();
    assert_eq!(ahead.code, Code::CursorGone);
}

#[tokio::test]
async fn a_watcher_far_behind_reads_the_log_and_one_behind_that_is_told() {
    let config = ControlConfig {
        state: StateLimits { log_retention: Duration::from_secs(3600), log_max: Bytes::mib(64) },
        ..ControlConfig::default()
    };
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let world = World::configured(store, 99, config).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    let mut slow = desk.watch("", Some(0)).await.unwrap();
    let large = "x".repeat(1 << 20);
    for n in 0..40 {
        desk.put(&format!("k{n}"), &large).await;
    }
    let mut keys = Vec::new();
    loop {
        let told = seen(&mut slow).await;
        if told.is_empty() {
            break;
        }
        keys.extend(told.into_iter().map(|(_, _, revision)| revision));
    }
    assert!(keys.into_iter().eq(1..=40), "every one, in order, though memory holds only some");

    let mut lost = desk.watch("", Some(5)).await.unwrap();
    world.advance(Duration::from_secs(3601));
    desk.put("new", "x").await;
    let pass = world.control.state_compact_reconciler().reconcile().await;
    assert_eq!((pass.error, pass.report.batches), (None, 40));
    let told = lost.next(Duration::ZERO).await.unwrap_err();
    assert_eq!(told.code, Code::CursorGone);
    assert!(told.detail.contains("those before 41 are no longer kept"), "{told:?}");
    assert_eq!(seen(&mut slow).await.len(), 1, "who is up to date goes on");
    let again = desk.watch("", Some(40)).await.unwrap().next(Duration::ZERO).await.unwrap();
    assert_eq!(again.len(), 1);
}

#[tokio::test]
async fn a_history_is_walked_back_as_far_as_it_is_kept() {
    let world = World::new(100).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    use StateChangeKind::*;
    for value in ["1", "2"] {
        desk.put("a", value).await;
    }
    let ttl = StateTtl::After(Span::from_secs(5));
    desk.run(StateTxn::one(desk.op("a", StateAct::Touch { ttl }))).await.unwrap();
    desk.put("b", "noise").await;
    desk.delete("a").await.unwrap();
    desk.put("a", "3").await;
    let text = |text: &str| Some(text.to_owned());
    let all =
        [(Put, text("3")), (Deleted, None), (Touched, None), (Put, text("2")), (Put, text("1"))];
    assert_eq!(desk.history("a").await, all);
    let (control, two) = (&world.control, Limit::new(2).unwrap());
    let page = control.state_history(&world.project, &place("a"), None, two).await.unwrap();
    let before = page.next.as_deref().map(|next| next.parse().unwrap());
    let rest = control.state_history(&world.project, &place("a"), before, Limit::LARGEST).await;
    assert_eq!(rest.unwrap().items.len(), 3);
    let other = control.state_history(&world.project, &place("b"), before, Limit::LARGEST).await;
    assert_eq!(other.unwrap_err().code, Code::Invalid);
    let none = control.state_history(&world.project, &place("zz"), None, two).await;
    assert_eq!(none.unwrap_err().code, Code::NotFound);

    world.advance(Duration::from_hours(25));
    desk.put("a", "4").await;
    desk.delete("b").await.unwrap();
    control.state_compact_reconciler().reconcile().await;
    assert_eq!(desk.history("a").await, [(Put, text("4"))], "the rest is not kept");
    let gone = control.state_history(&world.project, &place("a"), before, two).await.unwrap_err();
    assert_eq!(gone.code, Code::CursorGone);
    assert_eq!(desk.history("b").await, [(Deleted, None)]);
    world.advance(Duration::from_hours(25));
    let pass = control.state_compact_reconciler().reconcile().await;
    assert_eq!((pass.report.batches, pass.report.entries), (2, 1), "and nothing is left of `b`");
    assert_eq!(desk.get("a").await.as_deref(), Some("4"));
    let none = control.state_history(&world.project, &place("b"), None, two).await;
    assert_eq!(none.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn a_namespace_is_emptied_and_that_is_recorded() {
    let world = World::new(101).await;
    let _serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    let keys: Vec<String> = (0..1203).map(|n| format!("k{n}")).collect();
    join_all(keys.iter().map(|key| desk.put(key, "v"))).await;
    desk.put("prod:k1", "stays").await;
    let (control, cx, app) = (&world.control, &world.cx, place("x").namespace);
    let sums = control.state_namespaces(&world.project, None, Limit::DEFAULT).await.unwrap().items;
    assert_eq!(sums[0].entries, 1203);
    assert_eq!(control.state_clear(cx, &world.project, &app).await.unwrap(), 1203);
    assert_eq!(desk.keys("").await, Vec::<String>::new());
    assert_eq!(desk.get("prod:k1").await.as_deref(), Some("stays"));
    let again = control.state_clear(cx, &world.project, &app).await.unwrap_err();
    assert_eq!(again.code, Code::NotFound);
    let mut read = world.store.read().await.unwrap();
    let events = read.event_list(EventFilter::default(), 0, Limit::LARGEST).await.unwrap();
    let cleared: Vec<_> =
        events.iter().filter(|event| event.event.kind == EventKind::StateCleared).collect();
    assert_eq!(cleared.len(), 1);
    assert!(cleared[0].event.message.contains("1203 entries"), "{cleared:?}");
    let audits = read.audit_list(AuditFilter::default(), None, Limit::LARGEST).await.unwrap();
    let entry = audits.items.iter().find(|entry| entry.entry.action == "state.clear").unwrap();
    assert!(entry.entry.digest_before.is_some() && entry.entry.digest_after.is_none());
}

#[tokio::test]
async fn a_quota_holds_to_the_byte_and_is_shown() {
    let world = World::new(102).await;
    let _serving = world.serve_state(&world.control);
    let quota = Quota { state: Some(Bytes::new(10)), ..Quota::default() };
    let change = ProjectChange { quota: Some(quota), ..ProjectChange::default() };
    let lab =
        world.control.project_create(&world.cx, "lab".parse().unwrap(), change).await.unwrap();
    let desk = Desk { project: &lab, ..Desk::of(&world) };
    desk.put("a", "1234").await;
    let none = StatePrecondition::None;
    let error = desk.put_with("b", "12345", StateTtl::Never, none).await.unwrap_err();
    assert_eq!(error.code, Code::QuotaExceeded);
    assert!(error.detail.contains("of state"), "{error:?}");
    assert!(error.hint.contains("hostler project quota"), "{error:?}");
    desk.put("b", "1234").await;
    let shown = world.control.queue_show(&world.cx).await.unwrap();
    let line = shown.into_iter().find(|line| line.project.id == lab.id).unwrap();
    assert_eq!(line.usage.state, Bytes::new(10));
    let in_use = world.control.project_remove(&world.cx, &lab, lab.generation).await.unwrap_err();
    assert_eq!(in_use.code, Code::Conflict);
    desk.delete("a").await.unwrap();
    desk.delete("b").await.unwrap();
    world.control.project_remove(&world.cx, &lab, lab.generation).await.unwrap();
    let gone = desk.put_with("a", "1", StateTtl::Never, none).await.unwrap_err();
    assert_eq!(gone.code, Code::NotFound);
}

#[tokio::test]
async fn a_server_that_stops_finishes_what_it_took_and_takes_no_more() {
    let world = World::new(103).await;
    let serving = world.serve_state(&world.control);
    let desk = Desk::of(&world);
    let many = join_all((0..50).map(|_| desk.add("n", 1)));
    let (done, _) = tokio::join!(many, serving.run(Duration::from_secs(10)));
    let done = done.into_iter().filter(Result::is_ok).count();
    let refused = desk.add("n", 1).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert_eq!(desk.get("n").await.unwrap_or("0".to_owned()), done.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_servers_share_one_truth_and_tell_each_other() {
    let Some(schema) = Schema::create("state") else { return };
    let world = World::on(schema.open().await, 104).await;
    let quota = Quota { state: Some(Bytes::new(4000)), ..Quota::default() };
    let change = ProjectChange { quota: Some(quota), ..ProjectChange::default() };
    let lab =
        world.control.project_create(&world.cx, "lab".parse().unwrap(), change).await.unwrap();
    let other = world.another_server().await;
    let serving: Vec<Shutdown> =
        [&world.control, &other].into_iter().map(|control| world.serve_state(control)).collect();
    let desks =
        [&world.control, &other].map(|control| Desk { control, cx: &world.cx, project: &lab });
    let mut watches = Vec::new();
    for desk in &desks {
        desk.control.state_feed_reconciler().reconcile().await;
        watches.push(desk.watch("", Some(0)).await.unwrap());
    }
    let numbers = join_all((0..100).map(|n| desks[n % 2].add("n", 1))).await;
    let mut numbers: Vec<i64> = numbers.into_iter().map(Result::unwrap).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=100));

    let value = "x".repeat(95);
    let put = |n: usize| {
        let (desk, value) = (&desks[n % 2], &value);
        let key = format!("key{n:02}");
        async move { desk.put_with(&key, value, StateTtl::Never, StatePrecondition::None).await }
    };
    let puts = join_all((0..60).map(put)).await;
    let fit = puts.iter().filter(|put| put.is_ok()).count();
    assert_eq!(fit, 39, "4000 bytes are 4 of `n` and 39 of 100 each");
    assert!(
        puts.iter().filter_map(|put| put.as_ref().err()).all(|e| e.code == Code::QuotaExceeded)
    );

    for (desk, watch) in desks.iter().zip(&mut watches) {
        desk.control.state_feed_reconciler().reconcile().await;
        let mut revisions = Vec::new();
        while revisions.len() < 139 {
            let told = seen(watch).await;
            assert!(!told.is_empty(), "{} were told", revisions.len());
            revisions.extend(told.into_iter().map(|(_, _, revision)| revision));
        }
        assert!(revisions.into_iter().eq(1..=139), "all of both, once, in order");
    }
    drop(serving);
}
