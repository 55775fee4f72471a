//! Events of one's own, lists and exports: what is told is told once, loops through hooks end, and nothing is left out
//! in silence.

use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_base::reconcile::Reconciler as _;
use hostler_control::{Control, Cx, EventQuery, Idempotency, NewCustomEvent};
use hostler_model::{
    CUSTOM_MESSAGE_MAX, CUSTOM_PAYLOAD_MAX, Code, CustomPayload, Error, Event, EventKind,
    EventName, Generation, Grant, Limit, ObjectKind, Role, Scope, WorkloadId, task_correlation,
};
use hostler_testkit::World;
use serde_json::{Value, json};

fn told(name: &str, payload: Option<Value>) -> NewCustomEvent {
    NewCustomEvent {
        name: name.parse().unwrap(),
        message: format!("{name} happened"),
        payload,
        cause: None,
    }
}

fn keyed(cx: &Cx, key: &str, request: &str) -> Cx {
    let mut cx = cx.clone();
    cx.request.idempotency = Some(Idempotency { key: key.to_owned(), request_hash: [1; 32] });
    request.clone_into(&mut cx.request.request_id);
    cx
}

async fn emit(world: &World, cx: &Cx, new: NewCustomEvent) -> Result<Event, Error> {
    world.control.event_emit(cx, &world.project, new).await
}

async fn listed(world: &World, query: EventQuery) -> Vec<Event> {
    world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap().items
}

fn of_kind(text: &str) -> EventQuery {
    EventQuery { kind: Some(text.parse().unwrap()), ..EventQuery::default() }
}

#[tokio::test]
async fn what_is_told_is_an_event_like_others() {
    let world = World::new(61).await;
    let mut follower = world.control.event_follow(&world.cx, of_kind("custom.deploy.done"), 0);
    let first = keyed(&world.cx, "k1", "request-1");
    let payload = json!({ "version": "3.2", "hosts": [1, 2] });
    let event = emit(&world, &first, told("deploy.done", Some(payload.clone()))).await.unwrap();
    assert_eq!(event.event.name(), "custom.deploy.done".parse::<EventName>().unwrap());
    assert_eq!(event.event.object.kind, ObjectKind::Custom);
    assert_eq!(event.event.correlation.as_deref(), Some("request-1"));
    assert_eq!(event.event.payload, Some(CustomPayload(payload).into()));
    assert_eq!(event.event.actor.name, "admin");

    let again = keyed(&world.cx, "k1", "request-2");
    let repeated = emit(&world, &again, told("deploy.done", None)).await.unwrap();
    assert_eq!(repeated, event, "the same request finds what it did");
    let mut other = keyed(&world.cx, "k1", "request-3");
    other.request.idempotency.as_mut().unwrap().request_hash = [2; 32];
    let error = emit(&world, &other, told("deploy.done", None)).await.unwrap_err();
    assert_eq!(error.code, Code::KeyReused);
    emit(&world, &world.cx, told("deploy", None)).await.unwrap();

    assert_eq!(listed(&world, of_kind("custom.deploy.done")).await, std::slice::from_ref(&event));
    assert_eq!(listed(&world, of_kind("custom.*")).await.len(), 2);
    assert_eq!(follower.next(Duration::ZERO).await.unwrap(), std::slice::from_ref(&event));
    let cause = Some("request-1".to_owned());
    let caused = listed(&world, EventQuery { cause, ..EventQuery::default() }).await;
    assert_eq!(caused, [event]);
}

#[tokio::test]
async fn what_is_too_large_is_refused_with_every_mistake() {
    let world = World::new(62).await;
    let head = world.control.event_head().await.unwrap();
    let mut large = told("big", Some(json!("x".repeat(CUSTOM_PAYLOAD_MAX))));
    large.message = "ü".repeat(CUSTOM_MESSAGE_MAX + 1);
    let error = emit(&world, &world.cx, large).await.unwrap_err();
    assert_eq!(error.code, Code::Invalid);
    let places: Vec<&str> = error.errors.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(places, ["/message", "/payload"]);
    assert_eq!(world.control.event_head().await.unwrap(), head);
    let mut just = told("big", Some(json!("x".repeat(CUSTOM_PAYLOAD_MAX - 2))));
    just.message = "ü".repeat(CUSTOM_MESSAGE_MAX);
    emit(&world, &world.cx, just).await.unwrap();
}

/// Deliveries are made and done until nothing moves.
async fn settle(control: &Control) {
    let mut dispatch = control.hook_dispatch_reconciler();
    let mut deliver = control.hook_deliver_reconciler();
    for _ in 0..20 {
        dispatch.reconcile().await;
        deliver.reconcile().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_loop_through_tasks_and_what_they_tell_ends() {
    let world = World::new(63).await;
    let spec = serde_json::from_value(json!({
        "on": ["custom.*"],
        "action": { "task": { "spec": { "command": ["tell"] } } },
    }));
    let (name, spec) = ("echo".parse().unwrap(), spec.unwrap());
    let project = Some(&world.project);
    let set = world.control.event_hook_set(&world.cx, project, &name, spec, Generation::ZERO);
    Box::pin(set).await.unwrap();
    emit(&world, &world.cx, told("first", None)).await.unwrap();
    let mut known: Vec<WorkloadId> = Vec::new();
    for _ in 0..8 {
        settle(&world.control).await;
        let made = listed(&world, of_kind("task.created")).await;
        let made = made.iter().map(|event| event.event.object.id.parse().unwrap());
        let fresh: Vec<WorkloadId> = made.filter(|id| !known.contains(id)).collect();
        // What is called the same is delivered one after the other, and these tasks never end.
        for id in &fresh {
            let new = told(&format!("ping-{id}"), None);
            let cause = Some(task_correlation(*id));
            emit(&world, &world.cx, NewCustomEvent { cause, ..new }).await.unwrap();
        }
        known.extend(fresh);
    }
    assert_eq!(known.len(), 4, "once, and three times over");
    assert_eq!(listed(&world, of_kind("hook.loop-cut")).await.len(), 1);
    let told = listed(&world, of_kind("custom.*")).await;
    assert_eq!(told.len(), 5, "what was told is there, only nothing follows from the last");
}

#[tokio::test]
async fn an_export_has_everything_or_says_what_is_gone() {
    let world = World::new(64).await;
    for n in 0..12 {
        world.advance(Duration::from_secs(60));
        let name = if n % 3 == 0 { "third" } else { "other" };
        emit(&world, &world.cx, told(name, Some(json!({ "n": n })))).await.unwrap();
    }
    let control = &world.control;
    let export = async |query: &EventQuery, size: u32| {
        let (mut numbers, mut after) = (Vec::new(), None);
        loop {
            let limit = Limit::new(size).unwrap();
            let page = control.event_export(&world.cx, query, after, limit).await?;
            numbers.extend(page.items.into_iter().map(|event| event.sequence));
            match page.next {
                Some(next) => after = Some(next.parse().unwrap()),
                None => return Ok::<_, Error>(numbers),
            }
        }
    };
    let head = control.event_head().await.unwrap();
    let all: Vec<u64> = (1..=head).collect();
    let whole = EventQuery::default();
    for size in [1, 5, 1000] {
        assert_eq!(export(&whole, size).await.unwrap(), all);
    }
    let filter = hostler_model::filter::Filter::read("payload.n > 8", &hostler_model::EVENT_FIELDS);
    let late = EventQuery { filter: Some(filter.unwrap()), ..of_kind("custom.other") };
    assert_eq!(export(&late, 1).await.unwrap(), [head - 1, head]);

    let (cut, later) = (world.now(), 120);
    let before = cut.minus(Duration::from_secs(later));
    let gone = world.store.tx("compact", |tx| Box::pin(tx.event_compact(before, 0))).await;
    assert!(gone.unwrap() > 0);
    let kept = control.event_kept_since().await.unwrap();
    assert_eq!(kept, Some(before));
    let since = |time| EventQuery { since: time, ..EventQuery::default() };
    assert_eq!(export(&whole, 2).await.unwrap(), [head - 2, head - 1, head], "what is kept");
    assert_eq!(export(&since(kept), 2).await.unwrap().len(), 3);
    let error = export(&since(Some(before.minus(Duration::from_secs(1)))), 2).await.unwrap_err();
    assert_eq!(error.code, Code::CursorGone);
    assert!(error.hint.contains(&before.to_string()), "{error:?}");
    let error = control.event_export(&world.cx, &whole, Some(1), Limit::DEFAULT).await;
    assert_eq!(error.unwrap_err().code, Code::CursorGone);
}

#[tokio::test]
async fn nobody_exports_what_they_may_not_see() {
    let world = World::new(65).await;
    emit(&world, &world.cx, told("here", None)).await.unwrap();
    let mut cx = world.cx.clone();
    cx.caller.principal_id = Ids::system().fresh();
    cx.caller.grants = vec![];
    let page = async |cx: &Cx| {
        let query = EventQuery::default();
        world.control.event_export(cx, &query, None, Limit::LARGEST).await.unwrap().items
    };
    let (id, mut viewer) = (world.project.id, cx.clone());
    viewer.caller.grants = vec![Grant::built_in(Scope::Project(id), Role::Viewer)];
    assert_eq!(page(&cx).await, []);
    let seen = page(&viewer).await;
    assert!(seen.iter().all(|event| event.event.project_id == Some(id)), "{seen:?}");
    assert!(seen.iter().any(|event| event.event.kind == EventKind::Custom));
}
