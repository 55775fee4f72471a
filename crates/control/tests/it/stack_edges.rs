//! Where stacks meet what is there already: objects that nobody knows of, what was broken off, and what lies below.

use std::time::Duration;

use hostler_control::{StackEdit, StatePlace};
use hostler_model::SecretRef;
use hostler_model::stack::{StackDriftKind, StackName};
use hostler_trust::SecretBytes;
use serde_json::{Value, json};

use crate::stack_bed::Bed;
use crate::stack_rig::{Rig, form, giving, lines, output_of};

fn entry(key: &str, value: &str) -> Value {
    let properties = json!({ "namespace": "app", "key": key, "value": value });
    json!({ "type": "Hostler::StateEntry", "properties": properties })
}

fn file(path: &str, content: &str) -> Value {
    let properties = json!({ "node": "m1", "path": path, "content": content });
    json!({ "type": "Hostler::Host::File", "properties": properties })
}

async fn is_there(bed: &Bed, key: &str) -> bool {
    let place = StatePlace { namespace: "app".parse().unwrap(), key: key.parse().unwrap() };
    bed.control().state_get(&bed.world.project, &place).await.is_ok()
}

/// An update is overtaken by one that goes back, at any moment: also while what it replaced is being removed, whose name is
/// wanted again.
#[tokio::test]
async fn a_name_that_is_given_up_can_be_had_again() {
    for mut bed in Box::pin(Bed::both(31, 0)).await {
        for moment in 0..14 {
            let name = format!("s{moment}");
            let with =
                |key: &str| json!({ "it": entry(key, "x"), "f": file(&format!("/{key}"), "x") });
            let (a, b) = ("a", "b");
            let how = bed.create(&name, with(a)).await;
            assert!(how.starts_with("CREATE_COMPLETE"), "{how}");
            bed.ask(&name, with(b)).await;
            for _ in 0..moment {
                bed.hand.advance().await.unwrap();
                bed.world.advance(Duration::from_millis(60));
            }
            let how = bed.update(&name, with(a)).await;
            assert!(how.starts_with("UPDATE_COMPLETE"), "after {moment} passes: {how}");
            assert!(is_there(&bed, a).await && !is_there(&bed, b).await, "after {moment} passes");
            assert_eq!(bed.machine.paths(), ["/a"], "after {moment} passes");
            bed.delete(&name).await;
            assert!(!is_there(&bed, a).await && bed.machine.count() == 0);
        }
    }
}

/// A machine is at something that nobody wants any more; what it makes of it does not stay.
#[tokio::test]
async fn what_a_machine_was_at_does_not_stay() {
    for mut bed in Box::pin(Bed::both(32, 0)).await {
        bed.machine.be_slow(true);
        bed.begin("s", json!({ "f": file("/a", "x") })).await.unwrap();
        for _ in 0..4 {
            Box::pin(bed.round()).await;
        }
        assert_eq!(bed.machine.count(), 1, "it was done, and nobody has been told of its end");
        bed.ask("s", json!({ "g": file("/b", "x") })).await;
        Box::pin(bed.round()).await;
        bed.machine.be_slow(false);
        let how = bed.ended("s").await;
        assert!(how.starts_with("UPDATE_COMPLETE"), "{how}");
        assert_eq!(bed.machine.paths(), ["/b"]);
        bed.delete("s").await;
        assert_eq!(bed.machine.count(), 0);
    }
}

/// What is called as only a stack calls things, and is in no row, was left behind.
#[tokio::test]
async fn what_nobody_knows_of_is_extra() {
    for mut bed in Box::pin(Bed::both(33, 0)).await {
        let secret = json!({ "type": "Hostler::Secret", "properties": { "generate": 16 } });
        bed.create("web", json!({ "it": secret, "e": entry("k", "x") })).await;
        let (cx, project) = (bed.world.cx.clone(), bed.world.project.clone());
        let detect =
            async |bed: &Bed| bed.control().stack_drift_detect(&cx, &project, "web").await.unwrap();
        assert!(!detect(&bed).await.drift.is_drifted());
        for name in [
            "default/web-it-0123456789ab",
            "default/web-it-is-mine",
            "default/other-it-0123456789ab",
        ] {
            let at: SecretRef = name.parse().unwrap();
            let value = SecretBytes::new("left");
            bed.control().secret_set(&cx, &project, &at, &value, false).await.unwrap();
        }
        let found = detect(&bed).await;
        let extra: Vec<_> =
            found.items.iter().filter(|one| one.drift == StackDriftKind::Extra).collect();
        assert_eq!(extra.len(), 1, "{extra:?}");
        assert_eq!(extra[0].physical.as_deref(), Some("default/web-it-0123456789ab"));
        assert_eq!((&*extra[0].kind, found.drift.changed), ("Hostler::Secret", 1));
    }
}

/// Stacks below use others, too.
#[tokio::test]
async fn what_lies_below_uses_other_stacks() {
    Rig::on_both("edges_below", async |mut it| {
        let (cx, project) = (it.cx(), it.project());
        let gives = |resources| giving(resources, json!({ "word": { "value": "w" } }));
        it.create("net", gives(json!({}))).await;
        let group = |stack: &str| {
            json!({ "g": { "type": "OS::Heat::ResourceGroup", "properties": {
                "count": 2, "resource_def": output_of(stack, "word"),
            } } })
        };
        let stack = it.create("web", gives(group("net"))).await;
        assert_eq!(stack.standing.heat(), "CREATE_COMPLETE", "{}", stack.standing.reason);
        let deps = it.control().stack_deps(&cx, &project, "web").await.unwrap();
        assert_eq!((deps.uses.len(), deps.uses[0].stack.as_str()), (1, "net"), "{deps:?}");
        let deps = it.control().stack_deps(&cx, &project, "net").await.unwrap();
        assert_eq!(deps.used_by.len(), 1, "the group counts once: {deps:?}");
        let graph = it.control().stack_deps_graph(&cx, &project).await.unwrap();
        let name = |text: &str| -> StackName { text.parse().unwrap() };
        assert_eq!(graph.order, [vec![name("net")], vec![name("web")]]);
        let refused = it.control().stack_delete(&cx, &project, "net").await.unwrap_err();
        assert_eq!(refused.message, "Stack net is used by web.");
        // A circle through what lies below is one, too.
        let edit = StackEdit {
            form: gives(json!({ "back": output_of("web", "word") })),
            ..StackEdit::default()
        };
        let refused = it.control().stack_update(&cx, &project, "net", edit).await.unwrap_err();
        assert!(refused.message.contains("web"), "{}", refused.message);

        let stack = it.update("web", gives(json!({}))).await;
        assert_eq!(stack.standing.heat(), "UPDATE_COMPLETE", "{}", stack.standing.reason);
        let deps = it.control().stack_deps(&cx, &project, "web").await.unwrap();
        assert!(deps.uses.is_empty(), "{deps:?}");
        it.control().stack_delete(&cx, &project, "net").await.unwrap();
    })
    .await;
}

/// A plan says of a group that is changed in batches what becomes of all of its members, and in how many batches.
#[tokio::test]
async fn a_plan_shows_every_batch_of_a_group() {
    let mut it = Rig::new().await;
    let group = |word: &str| {
        let member = json!({ "type": "OS::Heat::TestResource", "properties": { "value": word } });
        let mut group = json!({
            "type": "OS::Heat::ResourceGroup",
            "properties": { "count": 5, "resource_def": member },
        });
        group["update_policy"] = json!({ "rolling_update": { "max_batch_size": 2 } });
        form(json!({ "g": group }))
    };
    it.create("web", group("one")).await;
    let plan = it.plan("web", group("two")).await;
    let all = ["update g", "update g/0", "update g/1", "update g/2", "update g/3", "update g/4"];
    assert_eq!(lines(&plan), all);
    let told = &plan.changes.resources.iter().find(|one| one.name == "g").unwrap().reason;
    assert!(told.contains("changed in 3 batches of at most 2"), "{told}");
    it.apply(&plan).await.unwrap();
    let (cx, project) = (it.cx(), it.project());
    for name in ["0", "1", "2", "3", "4"] {
        let rows = it.control().stack_resources(&cx, &project, "web", 1).await.unwrap();
        let row = rows.iter().find(|row| row.row.name == name).unwrap();
        assert_eq!(row.attributes["output"], "two", "{name}");
    }
}
