//! Schedules: what they do, in whose name, what they leave out, and what is told of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_base::reconcile::Reconciler;
use hostler_control::{
    Applied, Control, ControlConfig, Cx, EventQuery, FireDetails, Idempotency, ScheduleCallReport,
    ScheduleDetail,
};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::schedule::{Fire, FireCause, FireState, ScheduleSpec};
use hostler_model::{
    ApprovalRule, Code, Credential, Error, EventKind, Generation, Grant, Limit, Name, ObjectKind,
    Permission, Principal, PrincipalKind, Role, Scope, TaskStateKind, Timestamp, TokenLimits,
};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::World;
use serde_json::{Value, json};

fn spec(document: Value) -> ScheduleSpec {
    serde_json::from_value(document).unwrap()
}

fn task_each(minutes: u32) -> Value {
    json!({ "every": format!("{minutes}m"), "target": { "task": { "spec": { "command": ["true"] } } } })
}

fn with(mut document: Value, more: Value) -> ScheduleSpec {
    for (key, value) in more.as_object().unwrap() {
        document[key] = value.clone();
    }
    spec(document)
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

async fn add(world: &World, cx: &Cx, text: &str, spec: &ScheduleSpec) -> ScheduleDetail {
    let (detail, applied) = world
        .control
        .schedule_apply(cx, &world.project, &name(text), spec, Some(Generation::ZERO))
        .await
        .unwrap();
    assert_eq!(applied, Applied::Created);
    detail
}

async fn history(world: &World, text: &str) -> Vec<Fire> {
    details(world, text).await.into_iter().map(|one| one.fire).collect()
}

async fn details(world: &World, text: &str) -> Vec<FireDetails> {
    let page = world.control.schedule_history(&world.project, text, None, None, Limit::LARGEST);
    page.await.unwrap().items
}

async fn pass(control: &Control) {
    control.schedules_advance().await.unwrap();
}

/// Time passes, and then somebody looks.
async fn after(world: &World, seconds: u64) {
    world.advance(Duration::from_secs(seconds));
    pass(&world.control).await;
}

async fn events(world: &World, kind: EventKind) -> Vec<String> {
    let query = EventQuery { kind: Some(kind.into()), ..Default::default() };
    let page = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    page.items.into_iter().map(|event| event.event.message).collect()
}

/// Somebody with a role in the project, in the database too.
async fn person(world: &World, text: &str, role: Role) -> Cx {
    let mut cx = world.cx.clone();
    cx.caller.principal_id = Ids::system().fresh();
    cx.caller.name = name(text);
    let scope = Scope::Project(world.project.id);
    cx.caller.grants = vec![Grant::built_in(scope, role)];
    let principal = &Principal {
        id: cx.caller.principal_id,
        name: cx.caller.name.clone(),
        kind: PrincipalKind::User,
        password_hash: None,
        is_disabled: false,
        generation: Generation::FIRST,
        time_created: world.now(),
        time_modified: world.now(),
    };
    let stored: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(async move {
                tx.principal_insert(principal).await?;
                tx.role_binding_set(principal.id, scope, role).await
            })
        })
        .await;
    stored.unwrap();
    cx
}

async fn bind(world: &World, cx: &Cx, role: Role) {
    let (id, scope) = (cx.caller.principal_id, Scope::Project(world.project.id));
    let stored: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| Box::pin(async move { tx.role_binding_set(id, scope, role).await }))
        .await;
    stored.unwrap();
}

#[tokio::test]
async fn a_schedule_does_its_task_again_and_again() {
    let world = World::new(1).await;
    let made = add(&world, &world.cx, "tick", &spec(task_each(10))).await;
    let first = made.schedule.time_next.unwrap();
    assert_eq!(first.micros() % 600_000_000, 0, "round times");
    pass(&world.control).await;
    assert_eq!(history(&world, "tick").await, [], "not before its time");
    world.advance(first.since(world.now()));
    after(&world, 3).await;
    let [fire] = &details(&world, "tick").await[..] else { panic!("one fire") };
    assert_eq!((fire.fire.time, fire.fire.state), (first, FireState::Done));
    assert_eq!((fire.fire.cause, fire.fire.lateness().millis()), (FireCause::Planned, 3000));
    let standing = fire.standing.as_ref().unwrap();
    assert_eq!((standing.is_over, standing.state.as_str()), (false, "pending"));
    let object = fire.fire.object.clone().unwrap();
    let task = world.control.task_get(&world.cx, &world.project, &object.id).await.unwrap();
    assert_eq!(task.created_by, "admin");
    assert!(task.workload.name.as_str().starts_with("true-"));
    let told = events(&world, EventKind::ScheduleFired).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("3s late"), "{told:?}");
    pass(&world.control).await;
    assert_eq!(history(&world, "tick").await.len(), 1, "once");
    let shown = world.control.schedule_get(&world.cx, &world.project, "tick").await.unwrap();
    assert_eq!(shown.last.unwrap().fire.time, first);
    assert_eq!(shown.schedule.generation, Generation::FIRST, "nobody changed it");
    let counts = world.control.schedule_counts().await.unwrap();
    assert_eq!((counts.schedules, counts.fires[0]), (1, (FireState::Done, 1)));
}

#[tokio::test]
async fn what_still_runs_is_left_replaced_or_waited_for() {
    let world = World::new(2).await;
    let past = u64::try_from(world.now().micros() % 600_000_000).unwrap();
    world.advance(Duration::from_micros(600_000_000 - past));
    for overlap in ["allow", "forbid", "replace", "queue"] {
        add(&world, &world.cx, overlap, &with(task_each(10), json!({ "overlap": overlap }))).await;
    }
    for _ in 0..3 {
        after(&world, 600).await;
    }
    let states = async |text: &str| -> Vec<(FireState, FireCause)> {
        history(&world, text).await.iter().map(|fire| (fire.state, fire.cause)).collect()
    };
    let (done, missed) =
        ((FireState::Done, FireCause::Planned), (FireState::Missed, FireCause::Overlap));
    assert_eq!(states("allow").await, [done; 3]);
    assert_eq!(states("forbid").await, [missed, missed, done]);
    assert_eq!(states("replace").await, [done; 3]);
    assert_eq!(states("queue").await, [missed, done]);
    let replaced = details(&world, "replace").await;
    let over: Vec<bool> =
        replaced.iter().map(|one| one.standing.as_ref().unwrap().is_over).collect();
    assert_eq!(over, [false, true, true], "the old ones were stopped");
    let first = details(&world, "queue").await.pop().unwrap().fire.object.unwrap();
    world.control.task_kill(&world.cx, &world.project, &first.id, None).await.unwrap();
    after(&world, 3).await;
    let queued = history(&world, "queue").await;
    assert_eq!(queued.len(), 3);
    assert_eq!((queued[1].state, queued[1].cause), (FireState::Done, FireCause::CaughtUp));
    assert!(queued[1].lateness().millis() > 600_000, "it says how long it waited");
}

#[tokio::test]
async fn what_was_missed_is_told_and_made_up_for_as_it_says() {
    let world = World::new(3).await;
    for (text, catch_up) in [("no", "none"), ("last", "one"), ("each", "all")] {
        let more = json!({ "overlap": "allow", "catchUp": catch_up });
        add(&world, &world.cx, text, &with(task_each(10), more)).await;
    }
    after(&world, 3600 + 300).await;
    let told = async |text: &str| -> Vec<(FireState, u32)> {
        history(&world, text).await.iter().map(|fire| (fire.state, fire.count)).collect()
    };
    let no = told("no").await;
    assert_eq!(no.len(), 1);
    assert_eq!(no[0].0, FireState::Missed, "none of them is made up for");
    let all = no[0].1;
    assert!((6..=7).contains(&all));
    assert_eq!(told("last").await, [(FireState::Done, 1), (FireState::Missed, all - 1)]);
    let each = told("each").await;
    assert_eq!(each, vec![(FireState::Done, 1); all as usize]);
    let missed = events(&world, EventKind::ScheduleMissed).await;
    assert_eq!(missed.len(), 2);
    assert!(missed[0].contains("no server was there"), "{missed:?}");
    let row = history(&world, "no").await.pop().unwrap();
    assert_eq!(
        (row.cause, row.time_last.since(row.time).as_secs()),
        (FireCause::Outage, u64::from(all - 1) * 600)
    );
}

#[tokio::test]
async fn a_clock_that_goes_back_does_nothing_twice() {
    let world = World::new(4).await;
    add(&world, &world.cx, "tick", &with(task_each(10), json!({ "overlap": "allow" }))).await;
    after(&world, 1200).await;
    let before = history(&world, "tick").await;
    world.clock.set_wall(world.now().minus(Duration::from_secs(900)));
    for _ in 0..3 {
        after(&world, 290).await;
    }
    assert_eq!(history(&world, "tick").await, before);
    after(&world, 700).await;
    let times: Vec<Timestamp> =
        history(&world, "tick").await.iter().map(|fire| fire.time).collect();
    let mut once = times.clone();
    once.dedup();
    assert_eq!(times, once);
    assert!(times.len() > before.len(), "and it goes on");
}

#[tokio::test]
async fn who_lost_the_right_gets_nothing_done() {
    let world = World::new(5).await;
    let ada = person(&world, "ada", Role::User).await;
    add(&world, &ada, "tick", &with(task_each(10), json!({ "overlap": "allow" }))).await;
    after(&world, 600).await;
    bind(&world, &ada, Role::Viewer).await;
    after(&world, 600).await;
    let [lost, had] = &history(&world, "tick").await[..] else { panic!("two fires") };
    assert_eq!((had.state, lost.state), (FireState::Done, FireState::Failed));
    assert!(lost.message.contains("ada may not do this any more"), "{}", lost.message);
    assert!(lost.message.contains("task.submit"), "{}", lost.message);
    assert_eq!(events(&world, EventKind::ScheduleFailed).await.len(), 1);
    bind(&world, &ada, Role::User).await;
    after(&world, 600).await;
    assert_eq!(history(&world, "tick").await[0].state, FireState::Done, "it goes on by itself");
}

#[tokio::test]
async fn nobody_leaves_behind_what_they_may_not_do() {
    let world = World::new(6).await;
    let (user, operator) =
        (person(&world, "ada", Role::User).await, person(&world, "bob", Role::Operator).await);
    let call = spec(json!({ "every": "1h", "target": { "http": { "url": "https://a.example" } } }));
    let drain = spec(json!({
        "every": "1h",
        "target": { "operation": { "nodeDrain": { "node": "n1", "reason": "patches" } } },
    }));
    let try_as = async |cx: &Cx, spec: &ScheduleSpec| {
        let (project, at) = (&world.project, name("x"));
        world.control.schedule_apply(cx, project, &at, spec, None).await.map(|(one, _)| one)
    };
    assert_eq!(try_as(&user, &call).await.unwrap_err().code, Code::Forbidden);
    assert_eq!(try_as(&operator, &drain).await.unwrap_err().code, Code::Forbidden);
    let mut token = user.clone();
    let can = [Permission::ScheduleWrite, Permission::TaskRead].into_iter().collect();
    let limits = TokenLimits { can: Some(can), ..TokenLimits::role(Role::Admin) };
    token.caller.credential = Credential::Token { id: Ids::system().fresh(), limits };
    assert_eq!(try_as(&token, &spec(task_each(10))).await.unwrap_err().code, Code::Forbidden);
    // Whoever changes it is who it is done as.
    try_as(&user, &spec(task_each(10))).await.unwrap();
    let changed = try_as(&operator, &call).await.unwrap();
    assert_eq!(
        (changed.owner.as_str(), changed.schedule.generation),
        ("bob", Generation::FIRST.next())
    );
    let refused = world.control.schedule_run(&user, &world.project, "x").await.unwrap_err();
    assert_eq!(refused.code, Code::Forbidden, "it is not ada's any more");
}

#[tokio::test]
async fn a_token_gives_its_schedule_no_more_than_it_had() {
    let world = World::new(7).await;
    let mut token = world.cx.clone();
    let can = [Permission::ScheduleWrite, Permission::TaskSubmit].into_iter().collect();
    let limits = TokenLimits { can: Some(can), ..TokenLimits::role(Role::Admin) };
    token.caller.credential = Credential::Token { id: Ids::system().fresh(), limits };
    add(&world, &token, "tick", &with(task_each(10), json!({ "overlap": "replace" }))).await;
    after(&world, 600).await;
    after(&world, 600).await;
    let [second, first] = &history(&world, "tick").await[..] else { panic!("two fires") };
    assert_eq!(first.state, FireState::Done);
    assert_eq!(second.state, FireState::Failed, "the token could not stop tasks");
    assert!(second.message.contains("task.kill"), "{}", second.message);
}

#[tokio::test]
async fn approvals_hold_schedules_back_like_everybody() {
    let world = World::new(8).await;
    let ada = person(&world, "ada", Role::User).await;
    let rule: ApprovalRule = serde_json::from_value(json!({ "verbs": ["task.submit"] })).unwrap();
    let (eyes, project) = (name("eyes"), Some(&world.project));
    let zero = Generation::ZERO;
    world.control.approval_policy_set(&world.cx, project, &eyes, rule, zero).await.unwrap();
    for text in ["one", "two"] {
        add(&world, &ada, text, &spec(task_each(10))).await;
    }
    after(&world, 600).await;
    for text in ["one", "two"] {
        let one = details(&world, text).await.pop().unwrap();
        assert_eq!(one.fire.state, FireState::Done);
        assert_eq!(one.standing.unwrap().state, TaskStateKind::PendingApproval.to_string());
    }
}

#[tokio::test]
async fn pausing_and_resuming_are_remembered_and_nothing_is_made_up_for() {
    let world = World::new(9).await;
    let (cx, project) = (&world.cx, &world.project);
    add(&world, cx, "tick", &with(task_each(10), json!({ "overlap": "allow" }))).await;
    let paused = world.control.schedule_pause(cx, project, "tick", "patches").await.unwrap();
    let pause = paused.schedule.pause.unwrap();
    assert_eq!((pause.by.as_str(), pause.reason.as_str()), ("admin", "patches"));
    assert_eq!(world.control.schedule_next(project, "tick", 3).await.unwrap(), []);
    let again = world.control.schedule_pause(cx, project, "tick", "others").await.unwrap();
    assert_eq!(again.schedule.pause.unwrap().reason, "patches", "the first reason stays");
    after(&world, 3600).await;
    assert_eq!(history(&world, "tick").await, []);
    let resumed = world.control.schedule_resume(cx, project, "tick").await.unwrap();
    assert!(resumed.schedule.time_next.unwrap() > world.now());
    after(&world, 600).await;
    let fires = history(&world, "tick").await;
    assert_eq!(fires.len(), 1, "nothing is made up for: {fires:?}");
    assert_eq!(world.control.schedule_next(project, "tick", 3).await.unwrap().len(), 3);
    assert_eq!(events(&world, EventKind::SchedulePaused).await, ["patches"]);
}

#[tokio::test]
async fn somebody_can_have_it_done_now_and_once() {
    let world = World::new(10).await;
    let mut cx = world.cx.clone();
    add(&world, &cx, "tick", &spec(task_each(10))).await;
    cx.request.idempotency = Some(Idempotency { key: "k".to_owned(), request_hash: [1; 32] });
    let ran = world.control.schedule_run(&cx, &world.project, "tick").await.unwrap();
    assert_eq!((ran.fire.state, ran.fire.cause), (FireState::Done, FireCause::Manual));
    assert_eq!(ran.fire.asked_by.as_deref(), Some("admin"));
    world.advance(Duration::from_secs(1));
    let again = world.control.schedule_run(&cx, &world.project, "tick").await.unwrap();
    assert_eq!(again.fire, ran.fire, "a repeat is the same");
    assert_eq!(history(&world, "tick").await.len(), 1);
    cx.request.idempotency = None;
    let error = world.control.schedule_run(&cx, &world.project, "tikc").await.unwrap_err();
    assert!(error.hint.contains("tick"), "{}", error.hint);
}

#[tokio::test]
async fn a_change_of_the_target_keeps_the_times_and_one_of_the_times_begins_anew() {
    let world = World::new(11).await;
    let (cx, project, at) = (&world.cx, &world.project, name("tick"));
    let made = add(&world, cx, "tick", &spec(task_each(10))).await;
    let apply = async |spec: &ScheduleSpec, expected| {
        world.control.schedule_apply(cx, project, &at, spec, expected).await
    };
    let same = apply(&spec(task_each(10)), Some(Generation::ZERO)).await.unwrap();
    assert_eq!(same.1, Applied::Unchanged);
    let other =
        with(task_each(10), json!({ "target": { "task": { "spec": { "command": ["false"] } } } }));
    let refused = apply(&other, Some(Generation::ZERO)).await.unwrap_err();
    assert_eq!(refused.code, Code::AlreadyExists);
    let (changed, applied) = apply(&other, Some(Generation::FIRST)).await.unwrap();
    assert_eq!(applied, Applied::Changed);
    assert_eq!(changed.schedule.time_next, made.schedule.time_next);
    let stale = apply(&spec(task_each(10)), Some(Generation::FIRST)).await.unwrap_err();
    assert_eq!(stale.code, Code::Stale);
    let (changed, _) = apply(&spec(task_each(7)), None).await.unwrap();
    assert_eq!(changed.schedule.time_next.unwrap().micros() % 420_000_000, 0);
    world.control.schedule_remove(cx, project, "tick", None).await.unwrap();
    let gone = world.control.schedule_get(cx, project, "tick").await.unwrap_err();
    assert_eq!(gone.code, Code::NotFound);
}

#[tokio::test]
async fn mistakes_are_all_told_before_anything_is_kept() {
    let world = World::new(12).await;
    let wrong = spec(json!({
        "cron": "0 25 * * *",
        "timezone": "Berlin",
        "ends": "2020-01-01T00:00:00Z",
        "target": { "http": { "url": "ftp://x" } },
    }));
    let error: Error = world
        .control
        .schedule_apply(&world.cx, &world.project, &name("x"), &wrong, None)
        .await
        .unwrap_err();
    let places: Vec<&str> = error.errors.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(places, ["/cron", "/timezone", "/target/http/url", "/ends"]);
    assert!(error.errors[0].detail.contains("\n    ^^"), "{}", error.errors[0].detail);
    let past = spec(json!({ "at": "2020-01-01T00:00:00Z", "target": task_each(1)["target"] }));
    let at = name("x");
    let apply = world.control.schedule_apply(&world.cx, &world.project, &at, &past, None);
    assert!(apply.await.unwrap_err().errors[0].detail.contains("has passed"));
    let preview = world.control.schedule_preview(&wrong, 3).unwrap_err();
    assert_eq!(preview.errors.len(), 2, "the target is not looked at");
}

#[tokio::test]
async fn what_is_not_there_or_never_called_is_refused_at_once() {
    let world = World::new(15).await;
    world.join("n1").await;
    for (target, place, words) in [
        (json!({ "http": { "url": "http://10.0.0.1/x" } }), "/target/http/url", "10.0.0.1"),
        (json!({ "http": { "url": "http://127.0.0.1:1/x" } }), "/target/http/url", "127.0.0.1"),
        (
            json!({ "workflow": { "name": "nightly" } }),
            "/target/workflow/name",
            "there is no workflow `nightly`; push it first",
        ),
        (
            json!({ "workflow": { "name": "nightly", "version": 3 } }),
            "/target/workflow/version",
            "there is no workflow `nightly@3`",
        ),
        (
            json!({ "workload": { "name": "web", "verb": "start" } }),
            "/target/workload/name",
            "there is no workload `web`; apply it first",
        ),
        (
            json!({ "operation": { "nodeCordon": { "node": "n2", "reason": "x" } } }),
            "/target/operation/nodeCordon/node",
            "there is no node `n2`",
        ),
        (
            json!({ "operation": { "nodeBackup": { "node": "n1", "paths": ["etc"] } } }),
            "/target/operation/nodeBackup/paths/0",
            "begins with `/`",
        ),
    ] {
        let asked = spec(json!({ "every": "1h", "target": target }));
        let at = name("x");
        let apply = world.control.schedule_apply(&world.cx, &world.project, &at, &asked, None);
        let refused = apply.await.unwrap_err();
        assert_eq!(refused.code, Code::Invalid, "{refused:?}");
        assert_eq!(refused.errors[0].pointer, place, "{refused:?}");
        assert!(refused.detail.contains(words), "{refused:?}");
    }
    let found = json!({ "operation": { "nodeCordon": { "node": "n1", "reason": "x" } } });
    add(&world, &world.cx, "x", &spec(json!({ "every": "1h", "target": found }))).await;
}

/// Answers every call with the status, and keeps what it was asked.
fn listen(status: u16) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = Vec::new();
            let mut piece = [0; 4096];
            while let Ok(count) = stream.read(&mut piece) {
                text.extend_from_slice(&piece[..count]);
                let said = String::from_utf8_lossy(&text);
                if count == 0 || said.contains("\r\n\r\n{\"a\":1}") {
                    break;
                }
            }
            kept.lock().unwrap().push(String::from_utf8_lossy(&text).into_owned());
            let answer =
                format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, asked)
}

async fn calling(address: &str) -> World {
    let policy = Policy { allow: vec![address.parse().unwrap()], ..Policy::default() };
    let egress = Egress::new(Options { policy, ..Options::default() });
    let config = ControlConfig { egress, ..ControlConfig::default() };
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    World::configured(store, 13, config).await
}

fn call(address: &str) -> Value {
    json!({
        "every": "10m",
        "target": { "http": { "url": format!("http://{address}/hook?x=1"), "body": "{\"a\":1}" } },
    })
}

/// Makes every call that waits; says too when another server's is left behind, if nobody ends it.
async fn make_calls(world: &World) -> (ScheduleCallReport, Option<Timestamp>) {
    let mut calls = world.control.schedule_calls_reconciler();
    let mut all = ScheduleCallReport::default();
    loop {
        let pass = calls.reconcile().await;
        assert_eq!(pass.error, None);
        let report = pass.report;
        all.begun += report.begun;
        all.made += report.made;
        all.failed += report.failed;
        all.uncertain += report.uncertain;
        if report.under_way == 0 && report.made == 0 && report.begun == 0 {
            return (all, pass.due);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_made_with_its_key_and_signed() {
    let (address, asked) = listen(202);
    let world = calling(&address).await;
    let value = hostler_trust::SecretBytes::new(b"key".to_vec());
    let reference = "hook-key".parse().unwrap();
    world.control.secret_set(&world.cx, &world.project, &reference, &value, false).await.unwrap();
    let mut document = call(&address);
    document["target"]["http"]["sign"] = json!("hook-key");
    document["target"]["http"]["headers"] = json!({ "X-Team": "ops" });
    add(&world, &world.cx, "hook", &spec(document)).await;
    after(&world, 600).await;
    assert_eq!(history(&world, "hook").await[0].state, FireState::Begun);
    make_calls(&world).await;
    let fire = history(&world, "hook").await.pop().unwrap();
    assert_eq!((fire.state, fire.status), (FireState::Done, Some(202)), "{}", fire.message);
    let said = asked.lock().unwrap().clone();
    assert_eq!(said.len(), 1);
    let lower = said[0].to_lowercase();
    assert!(said[0].starts_with("POST /hook?x=1 HTTP/1.1"), "{said:?}");
    assert!(lower.contains("x-team: ops"));
    assert!(lower.contains(&format!("idempotency-key: {}", fire.key())));
    let signed = hostler_trust::webhook::signature(
        b"key",
        world.now().micros().div_euclid(1_000_000),
        b"{\"a\":1}",
    );
    assert!(lower.contains(&format!("hostler-signature: {signed}")), "{lower}");
    make_calls(&world).await;
    assert_eq!(asked.lock().unwrap().len(), 1, "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_is_answered_with_is_kept() {
    let (address, _) = listen(500);
    let mut world = calling(&address).await;
    add(&world, &world.cx, "hook", &spec(call(&address))).await;
    after(&world, 600).await;
    let (report, _) = make_calls(&world).await;
    assert_eq!((report.made, report.failed), (1, 1));
    let fire = history(&world, "hook").await.pop().unwrap();
    assert_eq!((fire.state, fire.status), (FireState::Failed, Some(500)));
    // The servers are told since that this address is not to be called.
    world.restart_configured(ControlConfig::default()).await;
    after(&world, 600).await;
    let (report, _) = make_calls(&world).await;
    assert_eq!((report.made, report.failed), (1, 1));
    let refused = history(&world, "hook").await.remove(0);
    assert!(refused.message.contains("egress.allow"), "{}", refused.message);
}

/// A server takes a call and dies: another asks what became of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_dead_server_is_made_again_or_uncertain() {
    let (address, asked) = listen(200);
    let world = calling(&address).await;
    let mut once = call(&address);
    once["delivery"] = json!("at-most-once");
    add(&world, &world.cx, "once", &spec(once)).await;
    add(&world, &world.cx, "again", &spec(call(&address))).await;
    after(&world, 600).await;
    let left = {
        let mut read = world.store.read().await.unwrap();
        read.schedule_fires_left(true, world.now(), 9).await.unwrap()
    };
    let (dead, lease) = (Ids::system().fresh(), world.now().plus(Duration::from_secs(45)));
    let taken: Result<Vec<_>, hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            let left = &left;
            Box::pin(async move { tx.schedule_fire_take_batch(left, dead, lease).await })
        })
        .await;
    assert_eq!(taken.unwrap().len(), 2);
    let (report, due) = make_calls(&world).await;
    assert_eq!((report.made, due), (0, Some(lease)), "it is another's for now");
    world.advance(Duration::from_secs(46));
    let (report, _) = make_calls(&world).await;
    assert_eq!((report.made, report.uncertain), (1, 1));
    assert_eq!(history(&world, "once").await[0].state, FireState::Uncertain);
    assert_eq!(history(&world, "again").await[0].state, FireState::Done);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn other_targets_are_done_the_same_way() {
    let world = World::new(14).await;
    world.join("n1").await.connect(&world.control).await;
    let (cx, project) = (&world.cx, &world.project);
    let web = serde_json::from_value(json!({ "command": ["serve"], "mode": "forever" })).unwrap();
    world.control.workload_apply(cx, project, &name("web"), &web, None).await.unwrap();
    let targets = [
        (
            "restart",
            json!({ "workload": { "name": "web", "verb": "restart" } }),
            ObjectKind::Workload,
        ),
        (
            "drain",
            json!({ "operation": { "nodeDrain": { "node": "n1", "reason": "x" } } }),
            ObjectKind::Operation,
        ),
        (
            "keep",
            json!({ "operation": { "nodeBackup": { "node": "n1", "paths": ["/etc"], "label": "nightly", "keep": 2 } } }),
            ObjectKind::Operation,
        ),
        ("open", json!({ "operation": { "nodeUncordon": { "node": "n1" } } }), ObjectKind::Node),
    ];
    for (text, target, _) in &targets {
        add(&world, cx, text, &spec(json!({ "every": "10m", "target": target }))).await;
    }
    world.control.workload_apply(cx, project, &name("old"), &web, None).await.unwrap();
    let absent = json!({ "workload": { "name": "old", "verb": "restart" } });
    add(&world, cx, "absent", &spec(json!({ "every": "10m", "target": absent }))).await;
    world.control.workload_remove(cx, project, "old", None).await.unwrap();
    after(&world, 600).await;
    for (text, _, kind) in targets {
        let fire = history(&world, text).await.pop().unwrap();
        assert_eq!(fire.state, FireState::Done, "{text}: {}", fire.message);
        assert_eq!(fire.object.unwrap().kind, kind);
    }
    let fire = history(&world, "absent").await.pop().unwrap();
    assert_eq!(fire.state, FireState::Failed);
    assert!(fire.message.contains("workload `old` is being removed"), "{}", fire.message);
    let web = world.control.workload_get(cx, project, "web").await.unwrap();
    assert_eq!(web.service.revision, Generation::FIRST.next(), "it was restarted once");
}
