//! Our own types: each goes through the same life, as objects that really are there, on both databases.

use futures::future::BoxFuture;
use hostler_control::{
    Bundle, ExecutionDetail, NewGroup, NewWorkflow, StackCommand, StatePlace, StatePrecondition,
};
use hostler_model::schedule::ScheduleSpec;
use hostler_model::stack::StackOptions;
use hostler_model::{
    Desired, EventHookSpec, Limit, Role, Runtime, SecretRef, StateTtl, TaskStateKind, WorkloadSpec,
};
use hostler_trust::SecretBytes;
use serde_json::{Value, json};

use crate::stack_bed::Bed;

type Meddle = for<'a> fn(&'a Bed, &'a str) -> BoxFuture<'a, ()>;

/// What is done with a type.
struct Case {
    kind: &'static str,
    first: Value,
    /// Changed where it is.
    other: Value,
    /// Another object takes its place.
    replaced: Option<Value>,
    /// Somebody changes it behind the stack's back; the physical id is given.
    meddle: Option<Meddle>,
    /// Others cannot have the same.
    is_named: bool,
}

fn of(kind: &str, properties: &Value) -> Value {
    json!({ "it": { "type": kind, "properties": properties } })
}

/// Make, leave alone, change, put right, replace, check, keep others out, remove.
async fn life(bed: &mut Bed, case: &Case) {
    let Case { kind, first, other, .. } = case;
    let complete = |how: String, what: &str| {
        assert!(how.starts_with(&format!("{what}_COMPLETE")), "{kind}: {how}");
    };
    complete(bed.create("s", of(kind, first)).await, "CREATE");
    let physical = bed.physical("s", "it").await;
    assert!(!physical.is_empty(), "{kind}");

    complete(bed.update("s", of(kind, first)).await, "UPDATE");
    assert_eq!(bed.times("s", "it UPDATE_").await, 0, "{kind}: {:?}", bed.told("s").await);
    assert_eq!(bed.physical("s", "it").await, physical, "{kind}");

    complete(bed.command("s", StackCommand::Check).await, "CHECK");

    if first != other {
        complete(bed.update("s", of(kind, other)).await, "UPDATE");
        assert_eq!(bed.physical("s", "it").await, physical, "{kind}: it was changed in place");
        assert_eq!(bed.times("s", "it UPDATE_COMPLETE").await, 1, "{kind}");
    }
    if let Some(meddle) = case.meddle {
        let before = bed.times("s", "it UPDATE_COMPLETE").await;
        meddle(bed, &physical).await;
        complete(bed.update("s", of(kind, other)).await, "UPDATE");
        let after = bed.times("s", "it UPDATE_COMPLETE").await;
        assert_eq!(after, before + 1, "{kind}: it was put right");
        complete(bed.update("s", of(kind, other)).await, "UPDATE");
        assert_eq!(bed.times("s", "it UPDATE_COMPLETE").await, after, "{kind}: and is now");
    }
    if case.is_named {
        let how = bed.create("thief", of(kind, other)).await;
        assert!(how.starts_with("CREATE_FAILED") && how.contains("is there already"), "{how}");
        bed.delete("thief").await;
        complete(bed.command("s", StackCommand::Check).await, "CHECK");
    }
    if let Some(replaced) = &case.replaced {
        complete(bed.update("s", of(kind, replaced)).await, "UPDATE");
        assert_ne!(bed.physical("s", "it").await, physical, "{kind}: another one took its place");
        assert_eq!(bed.times("s", "it DELETE_COMPLETE").await, 1, "{kind}");
    }
    bed.delete("s").await;

    // Whoever made it dies before that is written down: it is not made again.
    bed.begin("again", of(kind, first)).await.unwrap();
    bed.crash().await;
    bed.step().await;
    for _ in 0..2 {
        bed.crash().await;
    }
    let how = bed.ended("again").await;
    assert!(how.starts_with("CREATE_COMPLETE"), "{kind}: {how}");
    complete(bed.command("again", StackCommand::Check).await, "CHECK");
    bed.delete("again").await;
}

async fn lives(seed: u64, nodes: usize, cases: Vec<Case>) {
    for mut bed in Box::pin(Bed::both(seed, nodes)).await {
        for case in &cases {
            Box::pin(life(&mut bed, case)).await;
        }
    }
}

fn named(kind: &'static str, first: Value, other: Value) -> Case {
    let mut replaced = other.clone();
    replaced["name"] = json!("another-name");
    Case { kind, first, other, replaced: Some(replaced), meddle: None, is_named: true }
}

#[tokio::test]
async fn what_projects_keep() {
    let secret = |name: &str, value: &str| json!({ "name": name, "value": value });
    let entry = |key: &str, value: Value| json!({ "namespace": "app", "key": key, "value": value });
    lives(
        1,
        0,
        vec![
            Case {
                meddle: Some(|bed, at| {
                    Box::pin(async move {
                        let (cx, project) = (&bed.world.cx, &bed.world.project);
                        let at: SecretRef = at.parse().unwrap();
                        let value = SecretBytes::new("stolen");
                        bed.control().secret_set(cx, project, &at, &value, true).await.unwrap();
                    })
                }),
                ..named("Hostler::Secret", secret("db", "one"), secret("db", "two"))
            },
            Case {
                kind: "Hostler::StateEntry",
                first: entry("a", json!("1")),
                other: entry("a", json!({ "deep": [1, 2] })),
                replaced: Some(entry("b", json!("1"))),
                meddle: Some(|bed, _| {
                    Box::pin(async move {
                        let (cx, project) = (&bed.world.cx, &bed.world.project);
                        let namespace = "app".parse().unwrap();
                        let place = StatePlace { namespace, key: "a".parse().unwrap() };
                        let (value, only) = (b"other"[..].into(), StatePrecondition::None);
                        let put = bed.control().state_put(
                            cx,
                            project,
                            &place,
                            value,
                            StateTtl::Never,
                            only,
                        );
                        put.await.unwrap();
                    })
                }),
                is_named: true,
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn a_secret_can_be_made_by_chance_and_be_used_by_name() {
    for mut bed in Box::pin(Bed::both(2, 0)).await {
        let resources = json!({
            "key": { "type": "Hostler::Secret", "properties": { "generate": 32 } },
            "name": { "type": "OS::Heat::Value", "properties": { "value": { "get_attr": ["key", "name"] } } },
        });
        let how = bed.create("s", resources).await;
        assert!(how.starts_with("CREATE_COMPLETE"), "{how}");
        let name = bed.attribute("s", "name", "value").await;
        let at: SecretRef = name.as_str().unwrap().parse().unwrap();
        let (cx, project) = (bed.world.cx.clone(), bed.world.project.clone());
        let value = bed.control().secret_read(&cx, &project, &at).await.unwrap();
        assert!(value.value.len() >= 32);
        let both = json!({ "it": { "type": "Hostler::Secret", "properties": { "generate": 32, "value": "x" } } });
        let refused = bed.begin("no", both).await.unwrap_err();
        assert!(refused.message.contains("not both"), "{}", refused.message);
    }
}

#[tokio::test]
async fn what_waits_for_something() {
    let task = || json!({ "task": { "spec": { "command": ["true"] } } });
    let schedule = |cron: &str| json!({ "name": "nightly", "cron": cron, "target": task() });
    let hook = |on: &str| json!({ "name": "tell", "on": [on], "action": task() });
    let watcher = |above: f64| json!({ "name": "busy", "watch": { "load": { "above": above } } });
    lives(
        3,
        0,
        vec![
            Case {
                meddle: Some(|bed, at| {
                    Box::pin(async move {
                        let (cx, project) = (&bed.world.cx, &bed.world.project);
                        let known = bed.control().schedule_get(cx, project, at).await.unwrap();
                        let spec = ScheduleSpec {
                            cron: Some("0 0 1 1 *".into()),
                            ..known.schedule.spec.clone()
                        };
                        let name = &known.schedule.name;
                        bed.control().schedule_apply(cx, project, name, &spec, None).await.unwrap();
                    })
                }),
                ..named("Hostler::Schedule", schedule("0 3 * * *"), schedule("0 4 * * *"))
            },
            Case {
                meddle: Some(|bed, at| {
                    Box::pin(async move {
                        let (cx, project) = (&bed.world.cx, Some(&bed.world.project));
                        let known =
                            bed.control().event_hook_get(cx, project, at).await.unwrap().hook;
                        let spec = EventHookSpec { at_once: 3, ..known.spec.clone() };
                        let expected = known.generation;
                        let name = &known.name;
                        bed.control()
                            .event_hook_set(cx, project, name, spec, expected)
                            .await
                            .unwrap();
                    })
                }),
                ..named("Hostler::Hook", hook("task.failed"), hook("task.lost"))
            },
            Case {
                meddle: Some(|bed, at| {
                    Box::pin(async move {
                        let (cx, project) = (&bed.world.cx, &bed.world.project);
                        bed.control().watcher_enable(cx, project, at, false).await.unwrap();
                    })
                }),
                ..named("Hostler::Watcher", watcher(4.0), watcher(8.5))
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn who_may_do_what() {
    for mut bed in Box::pin(Bed::both(4, 0)).await {
        let cx = bed.world.cx.clone();
        for name in ["crew", "guests"] {
            let new = NewGroup {
                name: name.parse().unwrap(),
                description: String::new(),
                members: vec![],
            };
            bed.control().group_create(&cx, new).await.unwrap();
        }
        let described = |name: &str, text: &str| json!({ "name": name, "description": text });
        let with = |mut value: Value, name: &str, other: Value| {
            value[name] = other;
            value
        };
        let role = |permissions: Value| with(described("reader", ""), "permissions", permissions);
        let binding = |subject: &str, role: &str| json!({ "subject": subject, "role": role });
        let account =
            |name: &str, is_disabled: bool| json!({ "name": name, "disabled": is_disabled });
        let phrase = "a long enough phrase 17";
        let cases = vec![
            Case {
                meddle: None,
                ..named(
                    "Hostler::Project",
                    described("away", "a"),
                    with(described("away", "b"), "quota", json!({ "tasks": 7 })),
                )
            },
            Case {
                meddle: Some(|bed, at| {
                    Box::pin(async move {
                        let cx = &bed.world.cx;
                        bed.control().group_member_add(cx, at, "admin").await.unwrap();
                    })
                }),
                ..named("Hostler::Group", described("team", "a"), described("team", "b"))
            },
            named(
                "Hostler::Role",
                role(json!(["task.read"])),
                role(json!(["task.*", "stack.read"])),
            ),
            Case {
                kind: "Hostler::RoleBinding",
                first: binding("group:crew", "viewer"),
                other: binding("group:crew", "user"),
                replaced: Some(binding("group:guests", "viewer")),
                meddle: Some(|bed, _| {
                    Box::pin(async move {
                        let (cx, project) = (&bed.world.cx, &bed.world.project);
                        let role = Role::Admin.label().parse().unwrap();
                        bed.control().member_set(cx, project, "group:crew", role).await.unwrap();
                    })
                }),
                is_named: true,
            },
            Case {
                meddle: None,
                ..named(
                    "Hostler::User",
                    with(account("ann", false), "password", json!(phrase)),
                    with(account("ann", true), "password", json!(phrase)),
                )
            },
            named("Hostler::ServiceAccount", account("robot", false), account("robot", true)),
        ];
        for case in &cases {
            Box::pin(life(&mut bed, case)).await;
        }
    }
}

const NOTHING: &str = "workflow.define(\"calm\", { tasks = { { name = \"t\" } } })";

#[tokio::test]
async fn workflows_and_executions() {
    for mut bed in Box::pin(Bed::both(5, 0)).await {
        let workflow = |text: &str| json!({ "name": "calm", "source": text });
        let later = format!("-- changed\n{NOTHING}");
        let case = Case {
            kind: "Hostler::Workflow",
            first: workflow(NOTHING),
            other: workflow(&later),
            replaced: None,
            meddle: None,
            is_named: true,
        };
        Box::pin(life(&mut bed, &case)).await;
        let how = bed
            .create(
                "wrong",
                of("Hostler::Workflow", &json!({ "name": "other", "source": NOTHING })),
            )
            .await;
        assert!(how.contains("and not `other` alone"), "{how}");
        bed.delete("wrong").await;
        let (cx, project) = (bed.world.cx.clone(), bed.world.project.clone());
        let left = bed.control().workflow_list(&project, None, Limit::LARGEST).await.unwrap();
        assert_eq!(left.items.len(), 0, "what was wrong is not kept");

        let bundle =
            Bundle { name: "calm.sloth".into(), text: NOTHING.into(), files: Default::default() };
        let new = NewWorkflow { bundle, values: Value::Null, is_strict: false };
        bed.control().workflow_push(&cx, &project, new).await.unwrap();
        let execution = |trigger: u32| json!({ "workflow": "calm", "triggers": trigger });
        let case = Case {
            kind: "Hostler::Execution",
            first: execution(1),
            other: execution(1),
            replaced: Some(execution(2)),
            meddle: None,
            is_named: false,
        };
        Box::pin(life(&mut bed, &case)).await;
        let all: Vec<ExecutionDetail> = bed
            .control()
            .execution_list(&project, None, None, None, Limit::LARGEST)
            .await
            .unwrap()
            .items;
        assert_eq!(all.len(), 3, "one, the one in its place, and one in spite of crashes");
    }
}

#[tokio::test]
async fn workloads_run_until_they_are_removed() {
    for mut bed in Box::pin(Bed::both(6, 1)).await {
        let spec = |tag: &str| json!({ "name": "web", "command": ["serve"], "tags": [tag], "placement": { "node": "n1" } });
        let case = Case {
            meddle: Some(|bed, at| {
                Box::pin(async move {
                    let (cx, project) = (&bed.world.cx, &bed.world.project);
                    let known = bed.control().workload_get(cx, project, at).await.unwrap().service;
                    let spec = WorkloadSpec { command: vec!["mine".into()], ..known.spec.clone() };
                    let name = &known.name;
                    bed.control().workload_apply(cx, project, name, &spec, None).await.unwrap();
                })
            }),
            ..named("Hostler::Workload", spec("a"), spec("b"))
        };
        Box::pin(life(&mut bed, &case)).await;

        // A suspended stack stops it, and a resumed one starts it again.
        bed.create("s", of("Hostler::Workload", &spec("a"))).await;
        assert_eq!(bed.attribute("s", "it", "phase").await, json!("running"));
        let how = bed.command("s", StackCommand::Suspend).await;
        assert!(how.starts_with("SUSPEND_COMPLETE"), "{how}");
        let at = bed.physical("s", "it").await;
        let (cx, project) = (bed.world.cx.clone(), bed.world.project.clone());
        let known = bed.control().workload_get(&cx, &project, &at).await.unwrap();
        assert_eq!(known.service.desired, Desired::Stop);
        let how = bed.command("s", StackCommand::Resume).await;
        assert!(how.starts_with("RESUME_COMPLETE"), "{how}");
        bed.delete("s").await;

        // In a container, where no node has an engine: it is there, and nothing runs.
        let container =
            json!({ "name": "box", "command": ["serve"], "container": { "image": "alpine" } });
        bed.begin("c", of("Hostler::Container", &container)).await.unwrap();
        for _ in 0..3 {
            bed.round().await;
        }
        let known = bed.control().workload_get(&cx, &project, "box").await.unwrap();
        assert_eq!(known.service.spec.runtime, Runtime::Container);
        bed.delete("c").await;
        assert!(bed.control().workload_get(&cx, &project, "box").await.is_err());
    }
}

#[tokio::test]
async fn a_task_is_done_once_and_stands_as_it_ended() {
    for mut bed in Box::pin(Bed::both(7, 1)).await {
        let (cx, project) = (bed.world.cx.clone(), bed.world.project.clone());
        let mut ends = std::collections::BTreeSet::new();
        for number in 0..8 {
            let name = format!("s{number}");
            let task = json!({ "name": "job", "command": ["true"], "placement": { "node": "n1" } });
            bed.begin(&name, of("Hostler::Task", &task)).await.unwrap();
            bed.crash().await;
            let how = bed.ended(&name).await;
            let id = bed.physical(&name, "it").await;
            let task = bed.control().task_get(&cx, &project, &id).await.unwrap().workload;
            let is_well = task.state.kind() == TaskStateKind::Completed;
            assert!(task.name.as_str().starts_with("job-"));
            assert_eq!(how.starts_with("CREATE_COMPLETE"), is_well, "{how} {:?}", task.state);
            ends.insert(is_well);
            let all = bed.control().task_list(&cx, &project, &[], None, None, Limit::LARGEST);
            assert_eq!(all.await.unwrap().items.len(), 1, "once");
            bed.delete(&name).await;
            assert!(bed.control().task_get(&cx, &project, &id).await.is_err());
        }
        assert_eq!(ends.len(), 2, "some end well and some do not");
    }
}

#[tokio::test]
async fn what_is_so_on_machines() {
    for mut bed in Box::pin(Bed::both(8, 0)).await {
        let on = |mut declaration: Value| {
            declaration["node"] = json!("m1");
            declaration
        };
        let case = |kind: &'static str, first: Value, other: Value, replaced: Value| Case {
            kind,
            first: on(first),
            other: on(other),
            replaced: Some(on(replaced)),
            meddle: Some(|bed, _| {
                bed.machine.meddle();
                Box::pin(async {})
            }),
            is_named: false,
        };
        let file =
            |path: &str, content: &str| json!({ "path": path, "content": content, "mode": "0600" });
        let directory = |path: &str, mode: &str| json!({ "path": path, "mode": mode });
        let cron =
            |name: &str, at: &str| json!({ "name": name, "schedule": at, "command": "true" });
        let command = |name: &str, check: &str| json!({ "command": [name], "check": [check] });
        let cases = [
            case(
                "Hostler::Host::File",
                file("/etc/a", "x"),
                file("/etc/a", "y"),
                file("/etc/b", "y"),
            ),
            case("Hostler::File", file("/etc/a", "x"), file("/etc/a", "y"), file("/etc/b", "y")),
            case(
                "Hostler::Host::Directory",
                directory("/srv", "0755"),
                directory("/srv", "0700"),
                directory("/opt", "0700"),
            ),
            case(
                "Hostler::Host::Service",
                json!({ "name": "web", "running": true }),
                json!({ "name": "web", "running": false }),
                json!({ "name": "db", "running": true }),
            ),
            case(
                "Hostler::Host::User",
                json!({ "username": "ann", "shell": "/bin/sh" }),
                json!({ "username": "ann", "shell": "/bin/bash" }),
                json!({ "username": "bob" }),
            ),
            case(
                "Hostler::Host::Group",
                json!({ "name": "crew", "gid": 900 }),
                json!({ "name": "crew", "gid": 901 }),
                json!({ "name": "team" }),
            ),
            case(
                "Hostler::Host::Sysctl",
                json!({ "key": "vm.swappiness", "value": "10" }),
                json!({ "key": "vm.swappiness", "value": "20" }),
                json!({ "key": "vm.other", "value": "1" }),
            ),
            case(
                "Hostler::Host::Cron",
                cron("c", "@daily"),
                cron("c", "@hourly"),
                cron("d", "@daily"),
            ),
            Case {
                replaced: None,
                ..case(
                    "Hostler::Host::Command",
                    command("make", "one"),
                    command("make", "two"),
                    json!({}),
                )
            },
            Case {
                meddle: None,
                ..case(
                    "Hostler::Host::Package",
                    json!({ "packages": ["curl"] }),
                    json!({ "packages": ["curl"] }),
                    json!({ "packages": ["wget"] }),
                )
            },
        ];
        for case in &cases {
            Box::pin(life(&mut bed, case)).await;
            assert_eq!(bed.machine.count(), 0, "{}: nothing is left", case.kind);
        }

        // What somebody threw away is made again; what two resources say goes with the last of them.
        let wanted = of("Hostler::Host::File", &on(file("/etc/a", "x")));
        bed.create("s", wanted.clone()).await;
        bed.machine.clear();
        let how = bed.command("s", StackCommand::Check).await;
        assert!(how.starts_with("CHECK_FAILED"), "{how}");
        let how = bed.update("s", wanted.clone()).await;
        assert!(how.starts_with("UPDATE_COMPLETE"), "{how}");
        assert_eq!(bed.machine.count(), 1);
        bed.create("t", wanted).await;
        bed.delete("s").await;
        assert_eq!(bed.machine.count(), 1, "the other says so still");
        bed.delete("t").await;
        assert_eq!(bed.machine.count(), 0);
    }
}

#[tokio::test]
async fn a_backup_is_made_once_and_forgotten_with_its_resource() {
    for mut bed in Box::pin(Bed::both(9, 0)).await {
        let backup = |trigger: u32| json!({ "node": "m1", "paths": ["/srv"], "triggers": trigger });
        let case = Case {
            kind: "Hostler::NodeBackup",
            first: backup(1),
            other: backup(1),
            replaced: Some(backup(2)),
            meddle: None,
            is_named: false,
        };
        Box::pin(life(&mut bed, &case)).await;
        let cx = bed.world.cx.clone();
        let left = bed
            .control()
            .node_backup_list(&cx, None, Default::default(), None, Limit::LARGEST)
            .await;
        assert_eq!(left.unwrap().items.len(), 0);
    }
}

#[tokio::test]
async fn a_stack_does_nothing_that_its_owner_may_not() {
    for mut bed in Box::pin(Bed::both(10, 0)).await {
        let owner = user(&bed).await;
        let project = bed.world.project.clone();
        let cases = [
            ("Hostler::Project", json!({ "name": "mine" })),
            ("Hostler::Host::File", json!({ "node": "m1", "path": "/etc/a", "content": "x" })),
            ("Hostler::ServiceAccount", json!({ "name": "robot" })),
            ("Hostler::RoleBinding", json!({ "subject": "group:admins", "role": "admin" })),
        ];
        for (number, (kind, properties)) in cases.into_iter().enumerate() {
            let name = format!("s{number}");
            let ask = hostler_control::StackAsk {
                name: name.parse().unwrap(),
                form: crate::stack_bed::form(of(kind, &properties)),
                options: StackOptions::default(),
                left: None,
                reason: String::new(),
            };
            bed.control().stack_create(&owner, &project, ask).await.unwrap();
            let how = bed.ended(&name).await;
            assert!(how.starts_with("CREATE_FAILED"), "{kind}: {how}");
            assert!(how.contains("Forbidden"), "{kind}: {how}");
        }
        assert_eq!(bed.machine.count(), 0);
    }
}

/// Somebody with the role `user` in the project and nothing else.
async fn user(bed: &Bed) -> hostler_control::Cx {
    use hostler_model::{Grant, Scope};
    let (cx, project) = (&bed.world.cx, &bed.world.project);
    let new = hostler_control::NewUser {
        name: "owner".parse().unwrap(),
        kind: hostler_model::PrincipalKind::User,
        password: Some(hostler_trust::SecretString::new("a long enough phrase 17")),
        role: None,
    };
    let made = bed.control().user_create(cx, new).await.unwrap().principal;
    let role = Role::User.label().parse().unwrap();
    bed.control().member_set(cx, project, "owner", role).await.unwrap();
    let mut owner = cx.clone();
    owner.caller.principal_id = made.id;
    owner.caller.name = made.name;
    owner.caller.grants = vec![Grant::built_in(Scope::Project(project.id), Role::User)];
    owner
}

/// Types that no test here can carry through, each with why.
const APART: [(&str, &str); 3] = [
    ("Hostler::Image", "needs a node with a container engine"),
    ("Hostler::Alarm", "`stack_scaling` has it"),
    ("Hostler::StackOutput", "its own tests have it"),
];

#[test]
fn every_type_is_carried_through() {
    let own = include_str!("stack_types.rs");
    let page = hostler_control::stack_types_page();
    let types = page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|it| it.starts_with("Hostler::"));
    let left: Vec<&str> = types
        .filter(|name| !own.contains(&format!("\"{name}\"")))
        .filter(|name| APART.iter().all(|(apart, _)| apart != name))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
