//! What events say to programs: on a walk through the services every event has the payload of its kind and a cause where
//! something has one, and no value of a secret is in any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hostler_control::{
    GroupChange, NewGroup, NewInvitation, NewRole, NewTask, ProjectChange, RoleChange, StatePlace,
    StatePrecondition,
};
use hostler_model::{
    Cores, Event, EventKind, EventPayload, Generation, Limit, Mode, Name, NewEvent, Role, StateTtl,
    WorkloadSpec,
};
use hostler_store::EventFilter;
use hostler_testkit::{Random, SimAgent, Truth, World};
use hostler_trust::SecretBytes;
use serde_json::json;

const VALUE: &str = "swordfish-1f7c";

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

async fn all(world: &World) -> Vec<Event> {
    let mut read = world.store.read().await.unwrap();
    read.event_list(EventFilter::default(), 0, Limit::LARGEST).await.unwrap()
}

/// Every event has what its kind is declared to have, or a reason.
fn assert_payloads(events: &[Event]) {
    let without: BTreeSet<&str> = events
        .iter()
        .map(|event| &event.event)
        .filter(|event| event.payload.is_none() && event.kind.why_no_payload().is_none())
        .map(|event| event.kind.label())
        .collect();
    assert!(without.is_empty(), "without a payload: {without:?}");
    for event in events {
        let words = event.document().to_string();
        assert!(!words.contains(VALUE), "a secret is in {words}");
    }
}

fn of(events: &[Event], kind: EventKind) -> Vec<&NewEvent> {
    let found: Vec<&NewEvent> =
        events.iter().map(|event| &event.event).filter(|event| event.kind == kind).collect();
    assert!(!found.is_empty(), "no {kind} among them");
    found
}

fn said(event: &NewEvent) -> serde_json::Value {
    serde_json::to_value(event.payload.as_ref().unwrap()).unwrap()
}

#[tokio::test]
async fn what_people_set_is_told_to_programs_too() {
    let world = World::new(11).await;
    let _serving = world.serve_state(&world.control);
    let (control, cx, project) = (&world.control, &world.cx, &world.project);
    control.register("a:7443".into(), "a:7444".into(), "1.2.3").await.unwrap();

    let lab = control.project_create(cx, name("lab"), ProjectChange::default()).await.unwrap();
    let change = ProjectChange { weight: Some(3), ..ProjectChange::default() };
    let lab = control.project_update(cx, &lab, change, lab.generation).await.unwrap();
    control.project_remove(cx, &lab, lab.generation).await.unwrap();

    let new = NewRole {
        name: name("reader"),
        description: String::new(),
        permissions: vec!["task.read".into()],
    };
    let role = control.role_create(cx, new).await.unwrap();
    let change =
        RoleChange { permissions: Some(vec!["node.read".into()]), ..RoleChange::default() };
    let role = control.role_update(cx, "reader", change, role.generation).await.unwrap();
    control.role_remove(cx, "reader", role.generation).await.unwrap();

    let new =
        NewGroup { name: name("ops"), description: String::new(), members: vec!["admin".into()] };
    let group = control.group_create(cx, new).await.unwrap();
    control.group_member_remove(cx, "ops", "admin").await.unwrap();
    control.group_member_add(cx, "ops", "admin").await.unwrap();
    let expected = control.group_get(cx, "ops").await.unwrap().group.generation;
    let change = GroupChange { role: Some(Some(Role::Viewer.into())), ..GroupChange::default() };
    let group_id = group.group.id.to_string();
    let changed = control.group_update(cx, &group_id, change, expected).await.unwrap();
    control.group_remove(cx, "ops", changed.group.generation).await.unwrap();

    let new = NewInvitation { role: Role::Viewer, name: None, email: String::new(), ttl: None };
    let (invitation, _) = control.invitation_create(cx, None, new).await.unwrap();
    control.invitation_revoke(cx, None, invitation.invitation.id).await.unwrap();

    for value in [VALUE, "another"] {
        let (reference, value) = ("db".parse().unwrap(), SecretBytes::new(value));
        Box::pin(control.secret_set(cx, project, &reference, &value, false)).await.unwrap();
    }
    let reference = "db".parse().unwrap();
    control.secret_destroy(cx, project, &reference, 1).await.unwrap();
    control.secret_remove(cx, project, &reference).await.unwrap();

    let place = StatePlace { namespace: name("app"), key: "k".parse().unwrap() };
    let (value, none) = (b"v".as_slice().into(), StatePrecondition::None);
    control.state_put(cx, project, &place, value, StateTtl::Never, none).await.unwrap();
    control.state_clear(cx, project, &name("app")).await.unwrap();

    let (lock, ask) = ("deploy".parse().unwrap(), crate::locks::ask(1));
    control.lock_acquire(cx, project, &lock, ask).await.unwrap();
    control.lock_force_release(cx, project, &lock, None, "stuck").await.unwrap();

    let spec = serde_json::from_value(json!({
        "on": ["task.*"], "action": { "task": { "spec": { "command": ["true"] } } },
    }));
    let note = name("note");
    let hook = control.event_hook_set(cx, Some(project), &note, spec.unwrap(), Generation::ZERO);
    Box::pin(hook).await.unwrap();
    let hook = control.event_hook_enable(cx, Some(project), "note", false).await.unwrap().hook;
    control.event_hook_remove(cx, Some(project), "note", hook.generation).await.unwrap();

    let spec = serde_json::from_value(json!({ "watch": { "port": { "port": 443 } } })).unwrap();
    control.watcher_apply(cx, project, &name("web"), &spec, None).await.unwrap();
    control.watcher_enable(cx, project, "web", false).await.unwrap();
    control.watcher_remove(cx, project, "web").await.unwrap();

    let (mut web, at) = (WorkloadSpec::command(["serve"]), name("web"));
    web.mode = Mode::Forever;
    control.workload_apply(cx, project, &at, &web, None).await.unwrap();
    control.workload_stop(cx, project, "web").await.unwrap();
    control.unregister().await.unwrap();

    let events = all(&world).await;
    assert_payloads(&events);
    let fields = [
        (EventKind::ServerStarted, "version", json!("1.2.3")),
        (EventKind::ProjectChanged, "weight", json!(3)),
        (EventKind::RoleChanged, "removed", json!(["task.read"])),
        (EventKind::GroupCreated, "members", json!(["admin"])),
        (EventKind::InvitationCreated, "role", json!("viewer")),
        (EventKind::SecretCreated, "version", json!(1)),
        (EventKind::SecretRotated, "current", json!(2)),
        (EventKind::SecretDestroyed, "version", json!(1)),
        (EventKind::StateCleared, "entries", json!(1)),
        (EventKind::LockForced, "reason", json!("stuck")),
        (EventKind::LockForced, "tokens", json!([1])),
        (EventKind::HookCreated, "action", json!("task")),
        (EventKind::HookRemoved, "isEnabled", json!(false)),
        (EventKind::WatcherCreated, "watch", json!("port")),
    ];
    for (kind, field, expected) in fields {
        assert_eq!(said(of(&events, kind)[0])[field], expected, "{kind}: {field}");
    }
}

#[tokio::test]
async fn what_follows_from_a_time_of_a_schedule_is_told_under_it() {
    let world = World::new(12).await;
    let (control, cx, project) = (&world.control, &world.cx, &world.project);
    let mut agent = world.join("n1").await;
    let spec = serde_json::from_value(json!({
        "every": "1m",
        "target": { "task": { "spec": { "command": ["true"], "resources": { "cores": 0.1 } } } },
    }));
    control.schedule_apply(cx, project, &name("tick"), &spec.unwrap(), None).await.unwrap();
    control.schedule_pause(cx, project, "tick", "rest").await.unwrap();
    control.schedule_resume(cx, project, "tick").await.unwrap();
    world.advance(Duration::from_secs(61));
    control.schedules_advance().await.unwrap();
    live(&world, &mut agent).await;
    control.schedule_remove(cx, project, "tick", None).await.unwrap();

    let events = all(&world).await;
    assert_payloads(&events);
    let fired = of(&events, EventKind::ScheduleFired)[0];
    let cause = fired.correlation.clone().unwrap();
    assert!(cause.starts_with("fire/"), "{cause}");
    let Some(EventPayload::Schedule(payload)) = &fired.payload else { panic!("{fired:?}") };
    let made = payload.made.as_ref().unwrap();
    assert_eq!(payload.count, Some(1));
    assert_eq!(said(of(&events, EventKind::SchedulePaused)[0])["reason"], "rest");

    let about: Vec<&NewEvent> = events
        .iter()
        .map(|event| &event.event)
        .filter(|event| event.object.id == made.id)
        .collect();
    let kinds: BTreeMap<&str, Option<&str>> =
        about.iter().map(|event| (event.kind.label(), event.correlation.as_deref())).collect();
    assert!(kinds.contains_key("task.assigned") && kinds.contains_key("task.started"), "{kinds:?}");
    assert!(kinds.len() >= 4, "it has ended too: {kinds:?}");
    for (kind, found) in &kinds {
        assert_eq!(*found, Some(cause.as_str()), "{kind}");
    }
    let assigned = said(of(&events, EventKind::TaskAssigned)[0]);
    assert_eq!(assigned["node"], "n1");
    assert_eq!(assigned["run"], said(of(&events, EventKind::TaskStarted)[0])["run"]);
}

#[tokio::test]
async fn what_somebody_asks_for_meanwhile_has_a_cause_of_its_own() {
    let world = World::new(13).await;
    let (control, project) = (&world.control, &world.project);
    let (mut first, mut second) = (world.cx.clone(), world.cx.clone());
    first.request.request_id = "request-1".to_owned();
    second.request.request_id = "request-2".to_owned();
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(100);
    let new = NewTask { name: Some(name("one")), spec };
    control.task_submit(&first, project, vec![new]).await.unwrap();
    control.task_kill(&second, project, "one", None).await.unwrap();
    let events = all(&world).await;
    assert_payloads(&events);
    let cause = |kind| of(&events, kind)[0].correlation.as_deref();
    assert_eq!(cause(EventKind::TaskCreated), Some("request-1"));
    assert_eq!(cause(EventKind::TaskKilled), Some("request-2"));
}

/// Places what waits and lets it run to its end.
async fn live(world: &World, agent: &mut SimAgent) {
    let (mut random, mut truth) = (Random::new(1), Truth::default());
    for _ in 0..40 {
        world.control.place_pending().await.unwrap();
        let now = world.now();
        agent.start(now);
        agent.connect(&world.control).await;
        agent.heartbeat(&world.control);
        agent.pull(&world.control, &mut random).await;
        agent.act(now, &mut random, &mut truth);
        agent.run_programs(now, &mut random, &mut truth);
        agent.report(&world.control, &mut random).await;
        agent.disconnect();
        world.control.flush_leases().await.unwrap();
    }
}
