//! Timelines: everything that touched an object is in one list, in order, and nothing that is somebody else's.

use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_control::{
    Cx, NewCustomEvent, NewTask, ProjectChange, Timeline, TimelinePlaces, TimelineQuery,
};
use hostler_model::{
    Code, Error, Exit, ExitReason, Generation, Grant, Limit, Name, ObjectKind, Project, Report,
    ReportState, Role, Scope, TimelineEntry, TimelineSource, WorkloadSpec, task_correlation,
};
use hostler_testkit::World;
use serde_json::json;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn request(cx: &Cx, id: &str) -> Cx {
    let mut cx = cx.clone();
    id.clone_into(&mut cx.request.request_id);
    cx
}

async fn page(
    world: &World,
    cx: &Cx,
    project: Option<&Project>,
    object: (ObjectKind, &str),
    query: &TimelineQuery,
) -> Result<Timeline, Error> {
    let (places, limit) = (TimelinePlaces::default(), Limit::LARGEST);
    Box::pin(world.control.timeline(cx, project, object, query, places, limit)).await
}

async fn whole(world: &World, object: (ObjectKind, &str), size: u32) -> Vec<TimelineEntry> {
    let (mut entries, mut places) = (Vec::new(), TimelinePlaces::default());
    let query = TimelineQuery::default();
    loop {
        let limit = Limit::new(size).unwrap();
        let (cx, project) = (&world.cx, Some(&world.project));
        let page = Box::pin(world.control.timeline(cx, project, object, &query, places, limit));
        let page = page.await.unwrap();
        entries.extend(page.entries);
        match page.next {
            Some(next) => places = next,
            None => return entries,
        }
    }
}

fn words(entries: &[TimelineEntry]) -> Vec<&str> {
    entries.iter().rev().map(|entry| entry.what.as_str()).collect()
}

/// A schedule makes a task, which runs on a node that is cordoned meanwhile, tells of something, and is stopped.
async fn story() -> (World, String) {
    let world = World::new(71).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    let spec = serde_json::from_value(json!({
        "every": "1m", "target": { "task": { "name": "job", "spec": { "command": ["true"] } } },
    }));
    let (cx, project) = (request(&world.cx, "r-apply"), &world.project);
    let spec = spec.unwrap();
    let schedule = name("nightly");
    world
        .control
        .schedule_apply(&cx, project, &schedule, &spec, Some(Generation::ZERO))
        .await
        .unwrap();
    world.advance(Duration::from_secs(60));
    world.control.schedules_advance().await.unwrap();
    world.advance(Duration::from_secs(1));
    world.control.place_pending().await.unwrap();
    let tasks = world.control.schedule_history(project, "nightly", None, None, Limit::DEFAULT);
    let fire = tasks.await.unwrap().items.remove(0).fire;
    let id = fire.object.unwrap().id;
    let task = world.control.task_get(&world.cx, project, &id).await.unwrap();
    let run = task.run.unwrap();
    let report = |generation, state| Report {
        run_id: run.id,
        placement_id: run.placement_id,
        generation: Generation::from_u64(generation),
        state,
        origin: None,
    };
    let since = world.now();
    let running = report(1, ReportState::Running { pid: 7, since });
    world.control.node_report(run.node_id, &[running]).await.unwrap();
    world.advance(Duration::from_secs(1));
    let cordon = request(&world.cx, "r-cordon");
    world.control.node_cordon(&cordon, "n1", "broken fan".to_owned()).await.unwrap();
    world.advance(Duration::from_secs(1));
    let new = NewCustomEvent {
        name: "half-way".parse().unwrap(),
        message: String::new(),
        payload: None,
        cause: Some(task_correlation(task.workload.id)),
    };
    world.control.event_emit(&world.cx, project, new).await.unwrap();
    world.advance(Duration::from_secs(1));
    let exit = Exit {
        reason: ExitReason::Exited,
        code: Some(3),
        signal: None,
        message: None,
        time: world.now(),
    };
    let exited = ReportState::Exited { started: Some(since), pid: Some(7), exit };
    world.control.node_report(run.node_id, &[report(2, exited)]).await.unwrap();
    world.advance(Duration::from_secs(60 * 60));
    world.control.node_uncordon(&world.cx, "n1").await.unwrap();
    (world, id)
}

#[tokio::test]
async fn a_task_tells_what_made_it_where_it_was_and_how_it_ended() {
    let (world, id) = story().await;
    let entries = whole(&world, (ObjectKind::Task, &id), 1000).await;
    let told = [
        "fire.done",
        "task.created",
        "task.assigned",
        "task.started",
        "node.cordoned",
        "custom.half-way",
        "task.failed",
    ];
    assert_eq!(words(&entries), told, "{entries:#?}");
    let by_source = |source| entries.iter().filter(move |entry| entry.source == source);
    assert_eq!(by_source(TimelineSource::Node).count(), 1, "what came later was not while it ran");
    let fire = by_source(TimelineSource::Fire).next().unwrap();
    assert_eq!((fire.object.kind, fire.object.name.as_str()), (ObjectKind::Schedule, "nightly"));
    assert_eq!(entries[5].cause.as_deref(), Some(fire.id.as_str()), "it links to what caused it");
    for size in [1, 2, 3] {
        assert_eq!(whole(&world, (ObjectKind::Task, &id), size).await, entries, "pages of {size}");
    }
    let by_name = entries[5].object.name.clone();
    assert_eq!(whole(&world, (ObjectKind::Task, &by_name), 1000).await, entries);
}

#[tokio::test]
async fn a_schedule_has_its_times_and_what_they_caused() {
    let (world, id) = story().await;
    let entries = whole(&world, (ObjectKind::Schedule, "nightly"), 1000).await;
    let task = ["task.created", "task.assigned", "task.started", "task.failed"];
    assert_eq!(words(&entries)[..2], ["schedule.created", "fire.done"]);
    assert_eq!(words(&entries)[2..], task, "what it made is told of to its end");
    assert_eq!(entries[0].object.id, id);
    let query = TimelineQuery { sources: vec![TimelineSource::Event], ..TimelineQuery::default() };
    let object = (ObjectKind::Schedule, "nightly");
    let (cx, project) = (&world.cx, Some(&world.project));
    let only = page(&world, cx, project, object, &query).await.unwrap();
    let mut told = vec!["schedule.created", "schedule.fired"];
    told.extend(task);
    told.sort_unstable();
    let mut found = words(&only.entries);
    found.sort_unstable();
    assert_eq!(found, told, "without fires the events tell of them");

    let entry = entries.iter().find(|entry| entry.what == "fire.done").unwrap();
    let after = TimelineQuery { since: Some(entry.time), ..TimelineQuery::default() };
    let page_of = async |query| page(&world, cx, project, object, &query).await.unwrap().entries;
    let later = page_of(after).await;
    assert_eq!(words(&later)[..1], ["fire.done"]);
    assert_eq!(words(&later)[1..], task);
    let before = TimelineQuery { until: Some(entry.time), ..TimelineQuery::default() };
    assert_eq!(words(&page_of(before).await), ["schedule.created"]);
    assert_eq!(only.left_out, []);

    let gone = request(&world.cx, "r-remove");
    world.control.schedule_remove(&gone, &world.project, "nightly", None).await.unwrap();
    let past = whole(&world, object, 1000).await;
    assert_eq!(past[0].what, "schedule.removed", "what is gone is found by its name");
    let kept = whole(&world, (ObjectKind::Schedule, &past[0].object.id), 1000).await;
    assert_eq!(kept, past, "and by its id");
}

#[tokio::test]
async fn what_people_did_is_told_once() {
    let world = World::new(72).await;
    let ada = request(&world.cx, "r-1");
    let value = hostler_trust::SecretBytes::new(b"s3cret".to_vec());
    let reference = "key".parse().unwrap();
    let (control, project) = (&world.control, &world.project);
    control.secret_set(&ada, project, &reference, &value, false).await.unwrap();
    let reader = request(&world.cx, "r-2");
    world.advance(Duration::from_secs(1));
    control.secret_read(&reader, project, &reference).await.unwrap();
    let entries = whole(&world, (ObjectKind::Secret, "key"), 1000).await;
    assert_eq!(words(&entries), ["secret.created", "secret.read"]);
    assert_eq!(
        entries[1].source,
        TimelineSource::Event,
        "the entry of the first is not told again"
    );
    assert_eq!(entries[0].source, TimelineSource::Audit, "of reading no event tells");
    assert_eq!(entries[0].actor.as_ref().unwrap().name, "admin");
    let only = TimelineQuery { sources: vec![TimelineSource::Audit], ..TimelineQuery::default() };
    let object = (ObjectKind::Secret, "key");
    let only = page(&world, &world.cx, Some(project), object, &only).await.unwrap();
    assert_eq!(only.entries.len(), 2, "alone, it is whole");
}

#[tokio::test]
async fn nobody_sees_more_than_they_may() {
    let (world, id) = story().await;
    let quiet = ProjectChange { description: None, weight: None, quota: None };
    let other = world.control.project_create(&world.cx, name("other"), quiet).await.unwrap();
    let mut viewer = world.cx.clone();
    viewer.caller.principal_id = Ids::system().fresh();
    let scopes = [Scope::Project(world.project.id), Scope::Project(other.id)];
    viewer.caller.grants = scopes.map(|scope| Grant::built_in(scope, Role::Viewer)).to_vec();
    let all = TimelineQuery::default();
    let (task, project) = ((ObjectKind::Task, id.as_str()), Some(&world.project));
    let seen = page(&world, &viewer, project, task, &all).await.unwrap();
    assert!(!words(&seen.entries).contains(&"node.cordoned"));
    let left_out: Vec<_> = seen.left_out.iter().map(|(source, _)| *source).collect();
    assert_eq!(left_out, [TimelineSource::Node, TimelineSource::Audit]);

    for kind in [ObjectKind::Task, ObjectKind::Workload, ObjectKind::Schedule, ObjectKind::Hook] {
        for object in [id.as_str(), "nightly", "n1"] {
            let error = page(&world, &world.cx, Some(&other), (kind, object), &all).await;
            assert_eq!(error.unwrap_err().code, Code::NotFound, "{kind} {object}");
        }
    }
    let found = world.control.timeline_find(&viewer, &other, &id).await.unwrap();
    assert_eq!(found, [], "an id of another project");
    let node = (ObjectKind::Node, "n1");
    let error = page(&world, &viewer, None, node, &all).await.unwrap_err();
    assert_eq!(error.code, Code::Forbidden);
    let seen = page(&world, &world.cx, None, node, &all).await.unwrap();
    let told = words(&seen.entries);
    assert!(told.contains(&"node.joined") && told.contains(&"node.cordoned"), "{told:?}");
    assert!(!told.iter().any(|what| what.starts_with("task.")));
    let error = page(&world, &world.cx, project, node, &all).await.unwrap_err();
    assert_eq!(error.code, Code::NotFound, "nodes are of no project");
}

#[tokio::test]
async fn a_bare_name_may_be_several() {
    let world = World::new(73).await;
    let (control, cx, project) = (&world.control, &world.cx, &world.project);
    let spec = WorkloadSpec::command(["true"]);
    control
        .task_submit(cx, project, vec![NewTask { name: Some(name("web")), spec }])
        .await
        .unwrap();
    let value = hostler_trust::SecretBytes::new(b"s".to_vec());
    control.secret_set(cx, project, &"web".parse().unwrap(), &value, false).await.unwrap();
    let mut found = control.timeline_find(cx, project, "web").await.unwrap();
    let kinds: Vec<_> = found.iter().map(|object| object.kind).collect();
    assert_eq!(kinds, [ObjectKind::Task, ObjectKind::Secret]);
    let task = found.remove(0);
    assert_eq!(control.timeline_find(cx, project, &task.id).await.unwrap(), [task]);
    assert_eq!(control.timeline_find(cx, project, "webb").await.unwrap(), []);
}

#[tokio::test]
async fn a_strange_cursor_is_refused() {
    let (world, id) = story().await;
    for (source, key) in [
        (TimelineSource::Event, "x"),
        (TimelineSource::Fire, "1"),
        (TimelineSource::Delivery, "1/2"),
        (TimelineSource::Audit, "-1"),
    ] {
        let text = json!({ source.label(): { "before": key } }).to_string();
        let places = serde_json::from_str(&text).unwrap();
        let (query, task) = (TimelineQuery::default(), (ObjectKind::Task, id.as_str()));
        let (cx, project) = (&world.cx, Some(&world.project));
        let page = world.control.timeline(cx, project, task, &query, places, Limit::DEFAULT);
        assert_eq!(Box::pin(page).await.unwrap_err().code, Code::Malformed, "{source}");
    }
}
