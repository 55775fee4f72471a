//! Stacks over time: compared, restored, exported, abandoned, adopted, and looked over.

use std::time::Duration;

use hostler_control::{StackAdopt, StackForm, StackIntent, StackSubject};
use hostler_model::stack::{
    StackChangeKind, StackCheckKind, StackCheckResult, StackOptions, StackPoint,
};
use hostler_model::{Code, EventKind, Limit, Role};
use serde_json::{Value, json};

use crate::stack_rig::{Rig, form, giving, inside, lines, outside, random, refused, with};

#[tokio::test]
async fn any_two_points_are_compared_and_any_is_gone_back_to() {
    Rig::on_both("history", async |mut it| {
        let (cx, project) = (it.cx(), it.project());
        let of = |resources: Value| {
            giving(resources, json!({ "word": { "value": { "get_param": "word" } } }))
        };
        let secret = json!({ "list_join": ["", ["x", { "get_param": "secret" }]] });
        it.create("web", of(json!({ "a": inside(json!("1")), "b": inside(secret.clone()) }))).await;
        let made = it.control().stack_snapshot_create(&cx, &project, "web", "first").await.unwrap();
        it.settle().await;
        let next = json!({ "a": inside(json!("2")), "b": inside(secret), "c": inside(json!("3")) });
        it.update("web", with(with(of(next), "word", "two"), "secret", "whisper")).await;

        let (from, to) = (StackPoint::Revision(1), StackPoint::Now);
        let found = it.control().stack_compare(&cx, &project, "web", from, to).await.unwrap();
        let kind = |name: &str| found.resources.iter().find(|it| it.name == name).unwrap().change;
        assert_eq!(kind("a"), StackChangeKind::Update);
        assert_eq!(kind("b"), StackChangeKind::Update);
        assert_eq!(kind("c"), StackChangeKind::Create);
        let text = format!("{found:?}");
        assert!(!text.contains("hush") && !text.contains("whisper"), "{text}");
        let names: Vec<&str> = found.parameters.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["secret", "word"]);
        assert_eq!(found.outputs[0].after, Some(json!("two")));
        let (from, to) = (StackPoint::Snapshot(made.id), StackPoint::Revision(1));
        let same = it.control().stack_compare(&cx, &project, "web", from, to).await.unwrap();
        assert!(same.resources.iter().all(|one| one.change == StackChangeKind::Unchanged));
        let none = it.control().stack_compare(&cx, &project, "web", to, StackPoint::Revision(9));
        assert_eq!(refused(none.await).0, Code::NotFound);

        let point = StackPoint::Revision(1);
        let plan = it
            .planned(StackIntent::Restore { stack: "web".to_owned(), point, reason: String::new() })
            .await
            .unwrap();
        assert_eq!(lines(&plan), ["delete c", "update a", "update b"]);
        it.apply(&plan).await.unwrap();
        assert_eq!(it.stack("web").await.standing.heat(), "RESTORE_COMPLETE");
        let (from, to) = (StackPoint::Revision(1), StackPoint::Revision(3));
        let back = it.control().stack_compare(&cx, &project, "web", from, to).await.unwrap();
        assert!(
            back.resources.iter().all(|one| one.change == StackChangeKind::Unchanged),
            "{back:?}"
        );
        it.update("web", of(json!({}))).await;
        let point = StackPoint::Snapshot(made.id);
        it.control().stack_restore(&cx, &project, "web", point, "").await.unwrap();
        it.settle().await;
        assert_eq!(it.resources("web").await.len(), 2);
        let now = it.control().stack_restore(&cx, &project, "web", StackPoint::Now, "").await;
        assert_eq!(refused(now).0, Code::Invalid);
        let revisions = it.control().stack_revisions(&cx, &project, "web", None, Limit::LARGEST);
        let revisions = revisions.await.unwrap().items;
        assert_eq!(revisions[0].created_by.name, "admin");
        assert_eq!(revisions[2].reason, "restored from v1");
        assert_eq!(revisions[3].reason, "Stack UPDATE completed successfully");
    })
    .await;
}

#[tokio::test]
async fn what_was_abandoned_is_adopted_with_its_objects() {
    Rig::on_both("abandon", async |mut it| {
        let (cx, project) = (it.cx(), it.project());
        let nested = json!({ "type": "OS::Heat::ResourceGroup", "properties": {
            "count": 2, "resource_def": random(6),
        } });
        let wanted = giving(
            json!({ "o": outside(json!("x")), "r": random(10), "g": nested }),
            json!({ "r": { "value": { "get_attr": ["r", "value"] } } }),
        );
        let stack = it.create("web", with(wanted, "word", "two")).await;
        let exported = it.control().stack_export(&cx, &project, "web").await.unwrap();
        assert_eq!(exported["resources"]["o"]["resource_id"], json!(it.physical("web", "o").await));
        assert_eq!(exported["environment"]["parameters"]["word"], json!("two"));
        assert_eq!(exported["resources"]["g"]["resources"].as_object().unwrap().len(), 2);
        let (objects, word) =
            (it.outside.objects(), it.control().stack_outputs(&cx, &project, "web").await.unwrap());
        let document = it.control().stack_abandon(&cx, &project, "web").await.unwrap();
        assert_eq!(document, exported);
        it.settle().await;
        assert!(it.stack(&stack.id.to_string()).await.is_deleted());
        assert_eq!(
            refused(it.control().stack_abandon(&cx, &project, "web").await).0,
            Code::NotFound
        );
        assert_eq!(it.outside.objects(), objects, "nothing was taken away");
        assert_eq!(it.told(EventKind::StackRemoved).await.len(), 1);

        let ask = StackAdopt {
            name: "again".parse().unwrap(),
            document: json!(document.to_string()),
            form: StackForm::default(),
            options: StackOptions::default(),
            reason: "the lab moves".to_owned(),
        };
        it.control().stack_adopt(&cx, &project, ask).await.unwrap();
        it.settle().await;
        assert_eq!(it.stack("again").await.standing.heat(), "ADOPT_COMPLETE");
        assert_eq!(it.outside.objects(), objects, "and nothing was made");
        let outputs = it.control().stack_outputs(&cx, &project, "again").await.unwrap();
        assert_eq!(outputs, word);
        assert_eq!(it.resources("again").await.len(), 5);
    })
    .await;
}

#[tokio::test]
async fn a_stack_is_looked_over_line_by_line() {
    let mut it = Rig::new().await;
    let (cx, project) = (it.cx(), it.project());
    it.create("web", form(json!({ "o": outside(json!("x")) }))).await;
    let of = StackSubject::Stack("web".to_owned());
    let list = it.control().stack_checklist(&cx, &project, &of).await.unwrap();
    let kinds: Vec<StackCheckKind> = list.lines.iter().map(|line| line.check).collect();
    assert_eq!(kinds, StackCheckKind::ALL);
    assert!(list.is_passed(), "{list:?}");
    it.outside.lose(&it.physical("web", "o").await);
    let list = it.control().stack_checklist(&cx, &project, &of).await.unwrap();
    let failed = |list: &hostler_control::StackChecklist| -> Vec<(StackCheckKind, String)> {
        let lines = list.lines.iter().filter(|line| line.result == StackCheckResult::Failed);
        lines.map(|line| (line.check, line.message.clone())).collect()
    };
    let missing = (StackCheckKind::Existence, "1 objects are missing: o".to_owned());
    assert_eq!(failed(&list), [missing]);

    let bad = StackSubject::Form {
        name: Some("new".parse().unwrap()),
        form: form(json!({ "a": { "type": "OS::Heat::Nope" }, "b": { "type": "Nope" } })),
    };
    let list = it.control().stack_checklist(&cx, &project, &bad).await.unwrap();
    assert_eq!(failed(&list)[0].0, StackCheckKind::Syntax);
    let viewer = it.somebody("eve", Role::Viewer);
    let list = it.control().stack_checklist(&viewer, &project, &of).await.unwrap();
    assert!(failed(&list).iter().any(|one| one.0 == StackCheckKind::Permissions), "{list:?}");
    it.world.advance(Duration::from_secs(1));
    let all = it.control().stack_checklist_all(&cx, &project).await.unwrap();
    assert_eq!(all.len(), 1);
}
