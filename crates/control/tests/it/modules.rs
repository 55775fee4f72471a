//! Modules that projects keep: what asks for them gets them pinned, and never those of others.

use std::collections::BTreeMap;

use hostler_control::{
    Bundle, EventQuery, ModulePushed, NewExecution, NewModule, NewWorkflow, ProjectChange,
    WorkflowDetail,
};
use hostler_model::{Code, Error, EventKind, Limit, Project};
use hostler_testkit::World;

fn bundle(name: &str, text: &str) -> Bundle {
    Bundle { name: name.into(), text: text.into(), files: BTreeMap::new() }
}

async fn keep(world: &World, project: &Project, name: &str, text: &str) -> ModulePushed {
    try_keep(world, project, name, bundle(&format!("{name}.lua"), text)).await.unwrap()
}

async fn try_keep(
    world: &World,
    project: &Project,
    name: &str,
    bundle: Bundle,
) -> Result<ModulePushed, Error> {
    let new = NewModule { name: name.into(), bundle, is_strict: false };
    world.control.module_push(&world.cx, project, new).await
}

async fn push(world: &World, project: &Project, text: &str) -> Result<WorkflowDetail, Error> {
    let new = NewWorkflow {
        bundle: bundle("w.sloth", text),
        values: serde_json::Value::Null,
        is_strict: false,
    };
    let pushed = world.control.workflow_push(&world.cx, project, new).await?;
    Ok(pushed.workflows.into_iter().next().unwrap())
}

/// A workflow whose step is called like what an expression gives.
fn flow(expression: &str) -> String {
    format!("workflow.define('w'):tasks({{ task({expression}):command('true') }})")
}

fn modules(found: &WorkflowDetail) -> Vec<String> {
    found.version.modules.iter().map(ToString::to_string).collect()
}

fn step(found: &WorkflowDetail) -> &str {
    &found.version.graph.steps[0].name
}

#[tokio::test]
async fn a_workflow_keeps_the_versions_that_it_was_pushed_with() {
    let world = World::new(1).await;
    let project = &world.project;
    assert_eq!(keep(&world, project, "note", "return 'note1'").await.module.version.version, 1);
    let again = keep(&world, project, "note", "return 'note1'").await;
    assert_eq!(again.module.version.version, 1, "nothing changed");
    let web = keep(&world, project, "web", "return 'web1-' .. require('note')").await;
    assert_eq!(web.module.version.modules[0].to_string(), "note@1");
    keep(&world, project, "note", "return 'note2'").await;

    let text = flow("require('web') .. '-' .. require('note')");
    let first = push(&world, project, &text).await.unwrap();
    assert_eq!((step(&first), first.version.version), ("web1-note1-note2", 1));
    assert_eq!(modules(&first), ["note@1", "note@2", "web@1"]);
    assert_eq!(push(&world, project, &text).await.unwrap().version.version, 1, "nothing changed");

    keep(&world, project, "web", "return 'web2-' .. require('note@1')").await;
    let new = NewExecution { version: Some(1), ..NewExecution::default() };
    let begun = world.control.workflow_run(&world.cx, project, "w", new.clone()).await.unwrap();
    assert_eq!(begun.execution.graph.steps[0].name, "web1-note1-note2");
    let second = push(&world, project, &text).await.unwrap();
    assert_eq!((step(&second), second.version.version), ("web2-note1-note2", 2));

    for name in ["web", "note"] {
        world.control.module_remove(&world.cx, project, name).await.unwrap();
    }
    let begun = world.control.workflow_run(&world.cx, project, "w", new).await.unwrap();
    assert_eq!(begun.execution.graph.steps[0].name, "web1-note1-note2", "it has its own copy");
    let told = push(&world, project, &text).await.unwrap_err().to_string();
    assert!(told.contains("there is no module `web`"), "{told}");
    let source = world.control.workflow_source(project, "w", Some(1)).await.unwrap();
    assert_eq!(source.files["web@1//note@1//note.lua"], "return 'note1'");
}

#[tokio::test]
async fn what_others_keep_is_not_found() {
    let world = World::new(2).await;
    let name = "theirs".parse().unwrap();
    let change = ProjectChange { description: None, quota: None, weight: None };
    let theirs = world.control.project_create(&world.cx, name, change).await.unwrap();
    keep(&world, &theirs, "web", "return 'web'").await;
    let told = push(&world, &world.project, &flow("require('web')")).await.unwrap_err();
    assert_eq!(told.code, Code::Invalid);
    assert!(told.errors[0].detail.contains("there is no module `web`"), "{told:?}");
    let got = world.control.module_get(&world.project, "web", None).await.unwrap_err();
    assert_eq!(got.code, Code::NotFound);
    assert_eq!(step(&push(&world, &theirs, &flow("require('web')")).await.unwrap()), "web");
}

#[tokio::test]
async fn a_version_is_found_by_its_number_and_a_wrong_one_is_told() {
    let world = World::new(3).await;
    let project = &world.project;
    for n in 1..=3 {
        keep(&world, project, "web", &format!("return 'web{n}'")).await;
    }
    let found = push(&world, project, &flow("require('web@2') .. require('web')")).await.unwrap();
    assert_eq!(step(&found), "web2web3");
    let told = push(&world, project, &flow("require('web@4')")).await.unwrap_err();
    assert!(told.errors[0].detail.contains("version 4"), "{told:?}");
    let told = world.control.module_get(project, "web", Some(4)).await.unwrap_err();
    assert_eq!((told.code, told.hint.as_str()), (Code::NotFound, "its newest version is 3"));
    let told = world.control.module_get(project, "wep", None).await.unwrap_err();
    assert_eq!(told.hint.as_str(), "did you mean `web`?");
    let all = world.control.module_versions(project, "web", None, Limit::LARGEST).await.unwrap();
    assert_eq!(all.items.len(), 3);
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_with_everything_that_is_wrong() {
    let world = World::new(4).await;
    let project = &world.project;
    for (name, given, code, part) in [
        ("a/b", bundle("a.lua", "return 1"), Code::Invalid, "letters, digits"),
        ("web", bundle("a/b.lua", "return 1"), Code::Invalid, "without `/`"),
        ("web", bundle("web.lua", "return {"), Code::Invalid, "web.lua:1"),
        ("exec", bundle("exec.lua", "return 1"), Code::Invalid, "--name"),
        ("web", bundle("web.lua", &"-".repeat(5 << 20)), Code::TooLarge, ""),
        (
            "web",
            Bundle {
                files: BTreeMap::from([("note@1//".to_owned(), "note.lua".to_owned())]),
                ..bundle("web.lua", "return 1")
            },
            Code::Invalid,
            "no `//`",
        ),
    ] {
        let told = try_keep(&world, project, name, given).await.unwrap_err();
        assert_eq!(told.code, code, "{told:?}");
        let details: String = told.errors.iter().map(|one| one.detail.as_str()).collect();
        assert!(details.contains(part), "{part}: {told:?}");
    }
    let half = format!("--{}\nreturn 1", "-".repeat(3 << 20));
    for name in ["a", "b"] {
        keep(&world, project, name, &half).await;
    }
    let told = push(&world, project, &flow("require('a') .. require('b')")).await.unwrap_err();
    assert_eq!(told.code, Code::TooLarge, "{told:?}");

    let mut text = "return 'deep'".to_owned();
    let mut refused = None;
    for n in 0..12 {
        let name = format!("m{n}");
        let new = bundle("m.lua", &text);
        match try_keep(&world, project, &name, new).await {
            Ok(_) => text = format!("return require('{name}')"),
            Err(error) => {
                refused = Some((n, error.errors[0].detail.clone()));
                break;
            }
        }
    }
    let (n, told) = refused.unwrap();
    assert!(n == 8 && told.contains("at most 8 deep"), "{n}: {told}");
}

#[tokio::test]
async fn each_push_and_removal_is_told_once() {
    let world = World::new(5).await;
    let project = &world.project;
    for text in ["return 1", "return 1", "return 2"] {
        keep(&world, project, "web", text).await;
    }
    let odd = keep(&world, project, "odd", "local x = 1").await;
    assert!(odd.warnings[0].contains("returns nothing"), "{odd:?}");
    world.control.module_remove(&world.cx, project, "web").await.unwrap();
    let gone = world.control.module_remove(&world.cx, project, "web").await.unwrap_err();
    assert_eq!(gone.code, Code::NotFound);
    for (kind, count) in [(EventKind::ModulePushed, 3), (EventKind::ModuleRemoved, 1)] {
        let query = EventQuery { kind: Some(kind.into()), ..Default::default() };
        let told = world.control.event_list(&world.cx, &query, None, Limit::LARGEST).await;
        assert_eq!(told.unwrap().items.len(), count, "{kind:?}");
    }
    assert_eq!(keep(&world, project, "web", "return 3").await.module.version.version, 3);
    let record = world.control.audit_export(&world.cx, None, None, Limit::LARGEST).await.unwrap();
    let told = record.items.iter().map(|entry| &entry.entry).filter(|one| one.object.name == "web");
    let told: Vec<_> = told
        .map(|one| (one.action.as_str(), one.digest_before.is_some(), one.digest_after.is_some()))
        .collect();
    let expected = [
        ("module.push", false, true),
        ("module.push", true, true),
        ("module.remove", true, false),
        ("module.push", false, true),
    ];
    assert_eq!(told, expected);
}
