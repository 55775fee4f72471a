//! What steps of workflows share: who may ask, what state, locks and events answer, and that nothing is done twice.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use hostler_base::shutdown::Shutdown;
use hostler_control::{
    Bundle, Control, Cx, EventQuery, NewExecution, NewTask, NewWorkflow, StatePlace,
};
use hostler_lua::modules::services::codec;
use hostler_lua::modules::services::wire::{Ask, Reply};
use hostler_lua::modules::services::{Change, Changed};
use hostler_model::{
    Code, Error, EventKind, Limit, NodeId, PlacementId, Role, Run, RunId, Scope, Span, WorkloadSpec,
};
use hostler_testkit::{SimAgent, World};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::postgres::Schema;

const TEXT: &str = r#"
    workflow.define("shared"):tasks({
        task("one"):command("true"):build(),
        task("two"):command("true"):build(),
    })
"#;

/// A workflow whose two steps run on a node.
struct Stage {
    world: World,
    node: SimAgent,
    runs: [Run; 2],
    _serving: Shutdown,
}

async fn runs(world: &World, cx: &Cx) -> [Run; 2] {
    let control = &world.control;
    let bundle = Bundle { name: "shared.sloth".into(), text: TEXT.into(), files: BTreeMap::new() };
    let new = NewWorkflow { bundle, values: Json::Null, is_strict: true };
    control.workflow_push(&world.cx, &world.project, new).await.unwrap();
    let new = NewExecution::default();
    let begun = control.workflow_run(cx, &world.project, "shared", new).await.unwrap();
    control.advance_executions().await.unwrap();
    control.place_pending().await.unwrap();
    let found = control.execution_get(&world.project, begun.execution.id).await.unwrap();
    let each = found.jobs.iter().map(|job| async {
        let id = job.workload_id.to_string();
        control.task_get(&world.cx, &world.project, &id).await.unwrap().run.unwrap()
    });
    join_all(each).await.try_into().unwrap()
}

impl Stage {
    async fn new(world: World) -> Stage {
        let mut node = world.join("n1").await;
        node.connect(&world.control).await;
        let _serving = world.serve_state(&world.control);
        let runs = Box::pin(runs(&world, &world.cx)).await;
        Stage { world, node, runs, _serving }
    }

    async fn said(&self, run: &Run, ask: &Ask) -> Result<Reply, Error> {
        said(&self.world.control, run.node_id, run.placement_id, run.id, ask).await
    }

    async fn ask(&self, step: usize, ask: Ask) -> Reply {
        self.said(&self.runs[step], &ask).await.unwrap()
    }

    async fn change(&self, key: &str, change: Change) -> Changed {
        let ask = changed(key, change);
        match self.ask(0, ask).await {
            Reply::Changed(changed) => changed,
            other => panic!("{other:?}"),
        }
    }

    async fn get(&self, key: &str) -> Option<Json> {
        match self.ask(1, Ask::StateGet { key: key.into() }).await {
            Reply::Entry(entry) => entry.map(|entry| entry.value),
            other => panic!("{other:?}"),
        }
    }
}

async fn said(
    control: &Control,
    node: NodeId,
    placement: PlacementId,
    run: RunId,
    ask: &Ask,
) -> Result<Reply, Error> {
    let said = serde_json::to_vec(ask).unwrap();
    let reply = Box::pin(control.node_step(node, placement, run, &said)).await?;
    Ok(serde_json::from_slice(&reply).unwrap())
}

fn fresh() -> String {
    Uuid::new_v4().to_string()
}

fn changed(key: &str, change: Change) -> Ask {
    Ask::StateChange { id: fresh(), key: key.into(), change }
}

fn set(value: Json) -> Change {
    Change::Set { value, ttl: None }
}

fn refusal(reply: Reply) -> String {
    match reply {
        Reply::Refused(why) => why,
        other => panic!("it is not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_step_keeps_and_reads_the_state_of_its_project() {
    let stage = Stage::new(World::new(301).await).await;
    for (key, value) in [
        ("text", json!("web-1")),
        ("digits", json!("5")),
        ("table", json!({ "a": [1, "x"] })),
        ("flag", json!(false)),
        ("bytes", codec::of_bytes(&[0, 255, 7])),
    ] {
        assert!(stage.change(key, set(value.clone())).await.is_applied);
        assert_eq!(stage.get(key).await, Some(value), "{key}");
    }
    assert_eq!(stage.get("none").await, None);
    // As everybody sees it.
    let place =
        |key: &str| StatePlace { namespace: "default".parse().unwrap(), key: key.parse().unwrap() };
    let seen = stage.world.control.state_get(&stage.world.project, &place("text")).await.unwrap();
    assert_eq!(seen.value.as_deref(), Some(b"web-1".as_slice()));
    assert!(seen.owner.name.starts_with("project:default:task:shared-"), "{:?}", seen.owner);
    let seen = stage.world.control.state_get(&stage.world.project, &place("bytes")).await.unwrap();
    assert_eq!(seen.value.as_deref(), Some([0, 255, 7].as_slice()));

    for (change, after) in [
        (Change::Add(2.0), json!(2)),
        (Change::Add(0.5), json!(2.5)),
        (Change::Swap { old: Some(json!(2.5)), new: json!([1]) }, json!([1])),
        (Change::Push(json!({ "id": 2 })), json!([1, { "id": 2 }])),
        (Change::Pop, json!({ "id": 2 })),
        (set(json!("a")), json!("a")),
        (Change::Append("b".into()), json!("ab")),
    ] {
        let changed = stage.change("n", change.clone()).await;
        assert!(changed.is_applied, "{change:?}");
        assert_eq!(changed.after, Some(after), "{change:?}");
    }
    let lost = Change::Swap { old: None, new: json!(1) };
    assert!(!stage.change("n", lost).await.is_applied);
    let misfit = stage.ask(0, changed("n", Change::Add(1.0))).await;
    assert!(refusal(misfit).contains("not a number"));
    assert!(stage.change("n", Change::Delete).await.is_applied);
    assert!(!stage.change("n", Change::Delete).await.is_applied);

    let ttl = Some(Span::from_secs(60));
    stage.change("gone", Change::Set { value: json!(1), ttl }).await;
    stage.change("gone", Change::Add(1.0)).await;
    stage.world.advance(Duration::from_secs(61));
    assert_eq!(stage.get("gone").await, None, "counting does not prolong");
    let odd = stage.ask(0, changed("a\nb", set(json!(1)))).await;
    assert!(refusal(odd).contains("is not a key"));
}

#[tokio::test]
async fn lists_come_in_pages_and_what_matches_is_forgotten() {
    let stage = Stage::new(World::new(302).await).await;
    join_all((0..120).map(|n| {
        let (stage, key) = (&stage, format!("a/{n:03}"));
        async move { stage.change(&key, set(json!(n))).await }
    }))
    .await;
    stage.change("b", set(json!(1))).await;
    let (mut after, mut found, mut pages) = (None, Vec::new(), 0);
    loop {
        let ask = Ask::StateList { prefix: "a/".into(), after, with_values: true };
        let Reply::Entries { entries, next } = stage.ask(1, ask).await else { panic!("no list") };
        found.extend(entries.into_iter().map(|(key, entry)| (key, entry.value)));
        pages += 1;
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert!(pages > 1);
    let expected: Vec<_> = (0..120).map(|n| (format!("a/{n:03}"), json!(n))).collect();
    assert_eq!(found, expected);
    let keys = found.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let forget = Ask::StateForget { keys };
    assert_eq!(stage.ask(0, forget.clone()).await, Reply::Forgotten(120));
    assert_eq!(stage.ask(0, forget).await, Reply::Forgotten(0));
    assert_eq!(stage.get("b").await, Some(json!(1)));
}

async fn a_lost_answer_costs_nothing(world: World) {
    let stage = Stage::new(world).await;
    stage.change("list", set(json!([1, 2, 3]))).await;
    for (key, change, after) in [
        ("n", Change::Add(1.0), json!(1)),
        ("half", Change::Add(0.5), json!(0.5)),
        ("text", Change::Append("x".into()), json!("x")),
        ("queue", Change::Push(json!("a")), json!(["a"])),
        ("list", Change::Pop, json!(3)),
        ("leader", Change::Swap { old: None, new: json!("me") }, json!("me")),
    ] {
        let ask = changed(key, change);
        let first = stage.ask(0, ask.clone()).await;
        for _ in 0..2 {
            let Reply::Changed(again) = stage.ask(0, ask.clone()).await else { panic!("{ask:?}") };
            assert_eq!((again.is_applied, again.after), (true, Some(after.clone())), "{ask:?}");
        }
        let Reply::Changed(first) = first else { panic!("{first:?}") };
        assert_eq!(first.after, Some(after), "{ask:?}");
    }
    for (key, value) in [
        ("n", json!(1)),
        ("half", json!(0.5)),
        ("text", json!("x")),
        ("queue", json!(["a"])),
        ("list", json!([1, 2])),
    ] {
        assert_eq!(stage.get(key).await, Some(value), "{key} was changed once");
    }
    let delete = changed("n", Change::Delete);
    for _ in 0..2 {
        let Reply::Changed(gone) = stage.ask(0, delete.clone()).await else { panic!("no answer") };
        assert!(gone.is_applied, "it was there when it was asked for");
    }
    // An id of another step is another change, and one id is no two changes.
    let Ask::StateChange { id, .. } = delete else { panic!("it is one") };
    let other = Ask::StateChange { id: id.clone(), key: "n".into(), change: Change::Add(1.0) };
    assert!(matches!(stage.ask(1, other.clone()).await, Reply::Changed(_)));
    assert!(matches!(stage.ask(0, other).await, Reply::Refused(_)));

    let emit = Ask::EventEmit {
        id: fresh(),
        name: "deploy.done".into(),
        message: "well".into(),
        data: json!({ "version": "1.2" }),
    };
    let first = stage.ask(0, emit.clone()).await;
    assert_eq!(stage.ask(0, emit).await, first);
    let query =
        EventQuery { kind: Some("custom.deploy.done".parse().unwrap()), ..EventQuery::default() };
    let (control, cx) = (&stage.world.control, &stage.world.cx);
    let events = control.event_list(cx, &query, None, Limit::LARGEST).await.unwrap().items;
    assert_eq!(events.len(), 1, "it is told once");
    assert_eq!(events[0].event.kind, EventKind::Custom);
    assert_eq!(events[0].event.message, "well");
}

#[tokio::test]
async fn a_lost_answer_costs_nothing_on_sqlite() {
    Box::pin(a_lost_answer_costs_nothing(World::new(303).await)).await;
}

#[tokio::test]
async fn a_lost_answer_costs_nothing_on_postgres() {
    let Some(schema) = Schema::create("steps") else { return };
    Box::pin(a_lost_answer_costs_nothing(World::on(schema.open().await, 303).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_counts_at_the_same_time_is_counted() {
    let stage = Stage::new(World::new(304).await).await;
    let each = join_all((0..40).map(|n| {
        let (stage, by) = (&stage, if n % 2 == 0 { 1.0 } else { 0.5 });
        async move {
            let key = if n % 2 == 0 { "whole" } else { "halves" };
            stage.change(key, Change::Add(by)).await
        }
    }))
    .await;
    assert!(each.iter().all(|changed| changed.is_applied));
    assert_eq!(stage.get("whole").await, Some(json!(20)));
    assert_eq!(stage.get("halves").await, Some(json!(10)));
}

#[tokio::test]
async fn a_lock_has_one_holder_a_queue_and_numbers_that_grow() {
    let stage = Stage::new(World::new(305).await).await;
    let holds = [fresh(), fresh(), fresh()];
    let take = |hold: &String, wait: Option<u64>| Ask::LockTake {
        name: "deploy".into(),
        hold: hold.clone(),
        who: "process 7 on n1".into(),
        ttl: Span::from_secs(30),
        wait: wait.map(Span::from_secs),
    };
    let release = |hold: &String| Ask::LockRelease { name: "deploy".into(), hold: hold.clone() };
    let renew = |hold: &String| Ask::LockRenew { name: "deploy".into(), hold: hold.clone() };
    let Reply::Held(first) = stage.ask(0, take(&holds[0], None)).await else { panic!("not held") };
    assert_eq!(stage.ask(0, take(&holds[0], None)).await, Reply::Held(first), "the same hold");
    let Reply::Busy { who, .. } = stage.ask(1, take(&holds[1], None)).await else {
        panic!("it is held")
    };
    assert!(who.contains("process 7 on n1") && who.contains("project:default:task:"), "{who}");
    // Who waits keeps a place, and has it before who comes later.
    assert!(matches!(stage.ask(1, take(&holds[1], Some(0))).await, Reply::Busy { .. }));
    assert_eq!(stage.ask(0, renew(&holds[0])).await, Reply::Done(true));
    assert_eq!(stage.ask(0, release(&holds[0])).await, Reply::Done(true));
    assert!(matches!(stage.ask(0, take(&holds[2], None)).await, Reply::Busy { .. }));
    let Reply::Held(second) = stage.ask(1, take(&holds[1], Some(0))).await else {
        panic!("it is next")
    };
    assert!(second > first);
    assert_eq!(stage.ask(0, renew(&holds[0])).await, Reply::Done(false), "it is not held any more");
    assert_eq!(stage.ask(1, release(&holds[1])).await, Reply::Done(true));
    let odd = Ask::LockRenew { name: "deploy".into(), hold: "mine".into() };
    assert!(refusal(stage.ask(0, odd).await).contains("no id of a hold"));
    let odd = Ask::LockRenew { name: "a b".into(), hold: fresh() };
    refusal(stage.ask(0, odd).await);
}

#[tokio::test]
async fn a_node_speaks_for_its_own_runs_while_they_go_on_and_for_steps_only() {
    let mut stage = Stage::new(World::new(306).await).await;
    let ask = Ask::StateGet { key: "k".into() };
    let control = stage.world.control.clone();
    let [one, two] = stage.runs.clone();
    let other = stage.world.join("n2").await;
    let code = async |node: NodeId, placement: PlacementId, run: RunId| {
        said(&control, node, placement, run, &ask).await.map(drop).map_err(|error| error.code)
    };
    let forbidden = Err(Code::Forbidden);
    assert_eq!(code(one.node_id, one.placement_id, one.id).await, Ok(()));
    assert_eq!(code(other.node_id, one.placement_id, one.id).await, forbidden, "another node");
    assert_eq!(code(one.node_id, one.placement_id, two.id).await, forbidden, "another run");
    let made_up = RunId::from_uuid(Uuid::from_u128(5));
    assert_eq!(code(one.node_id, one.placement_id, made_up).await, forbidden, "no run");
    let nowhere = PlacementId::from_uuid(Uuid::from_u128(6));
    assert_eq!(code(one.node_id, nowhere, one.id).await, forbidden, "no placement");

    let plain = vec![NewTask {
        name: Some("plain".parse().unwrap()),
        spec: WorkloadSpec::command(["true"]),
    }];
    control.task_submit(&stage.world.cx, &stage.world.project, plain).await.unwrap();
    control.place_pending().await.unwrap();
    let plain = control.task_get(&stage.world.cx, &stage.world.project, "plain").await.unwrap();
    let run = plain.run.unwrap();
    assert_eq!(code(run.node_id, run.placement_id, run.id).await, forbidden, "a task is no step");

    crate::identity::end(&stage.world, &one).await;
    assert_eq!(code(one.node_id, one.placement_id, one.id).await, forbidden, "it is over");
    assert_eq!(code(two.node_id, two.placement_id, two.id).await, Ok(()));
    stage.node.disconnect();
}

#[tokio::test]
async fn a_step_may_what_its_owner_may_now_and_no_more() {
    let stage = Stage::new(World::new(307).await).await;
    let get = Ask::StateGet { key: "k".into() };
    let put = changed("k", set(json!(1)));
    assert!(matches!(stage.ask(0, put.clone()).await, Reply::Changed(_)));
    let owner = stage.world.cx.caller.principal_id;
    let demoted: Result<(), hostler_store::Error> = stage
        .world
        .store
        .tx("demote", |tx| {
            Box::pin(async move { tx.role_binding_set(owner, Scope::Global, Role::Viewer).await })
        })
        .await;
    demoted.unwrap();
    assert!(matches!(stage.ask(0, get.clone()).await, Reply::Entry(Some(_))));
    let take = Ask::LockTake {
        name: "l".into(),
        hold: fresh(),
        who: String::new(),
        ttl: Span::from_secs(30),
        wait: None,
    };
    let emit =
        Ask::EventEmit { id: fresh(), name: "a".into(), message: String::new(), data: Json::Null };
    for (ask, permission) in [(put, "state.write"), (take, "lock.use"), (emit, "event.emit")] {
        let why = refusal(stage.ask(0, ask).await);
        assert!(why.contains(permission), "{why}");
    }
    let gone: Result<(), hostler_store::Error> = stage
        .world
        .store
        .tx("disable", |tx| {
            Box::pin(async move {
                let mut principal = tx.principal_get(owner).await?.unwrap();
                let before = principal.generation;
                principal.is_disabled = true;
                principal.generation = before.next();
                tx.principal_update(&principal, before).await.map(drop)
            })
        })
        .await;
    gone.unwrap();
    let refused = stage.said(&stage.runs[0], &get).await.unwrap_err();
    assert_eq!(refused.code, Code::Unauthenticated, "{refused:?}");
}

#[tokio::test]
async fn what_is_not_understood_or_too_large_is_refused_in_words() {
    let stage = Stage::new(World::new(308).await).await;
    let run = &stage.runs[0];
    let control = &stage.world.control;
    for said in [b"".to_vec(), b"{}".to_vec(), b"{\"ask\":\"all\"}".to_vec(), vec![b' '; 3 << 20]] {
        let reply = control.node_step(run.node_id, run.placement_id, run.id, &said).await.unwrap();
        refusal(serde_json::from_slice(&reply).unwrap());
    }
    let large = changed("k", set(json!("x".repeat((1 << 20) + 1))));
    let why = refusal(stage.ask(0, large).await);
    assert!(why.contains("1"), "{why}");
}
