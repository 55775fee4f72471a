//! Drift of stacks: what was changed in the world is found, told of and put right, and nothing else is touched.

use std::task::Poll;
use std::time::Duration;

use hostler_control::{StackDriftDetail, StackIntent};
use hostler_model::EventKind;
use hostler_model::Span;
use hostler_model::stack::{StackDriftKind, StackOptions};
use serde_json::json;

use crate::stack_rig::{Rig, form, giving, inside, lines, output_of, outside};

async fn detect(it: &Rig, name: &str) -> StackDriftDetail {
    it.control().stack_drift_detect(&it.cx(), &it.project(), name).await.unwrap()
}

fn kind(found: &StackDriftDetail, name: &str) -> StackDriftKind {
    found.items.iter().find(|item| item.name == name).unwrap().drift
}

fn fix(name: &str) -> StackIntent {
    StackIntent::Fix { stack: name.to_owned(), reason: String::new() }
}

#[tokio::test]
async fn what_was_changed_behind_the_stack_is_found_and_put_right() {
    Rig::on_both("drift", async |mut it| {
        let resources = json!({
            "lost": outside(json!("a")),
            "meddled": outside(json!("b")),
            "stopped": outside(json!("c")),
            "well": outside(json!("d")),
            "inner": inside(json!({ "get_resource": "lost" })),
        });
        it.create("web", form(resources)).await;
        let (cx, project) = (it.cx(), it.project());
        assert!(it.control().stack_drift_get(&cx, &project, "web").await.unwrap().is_none());
        let found = detect(&it, "web").await;
        assert!(!found.drift.is_drifted() && found.is_current, "{found:?}");
        assert_eq!((found.drift.looked, found.drift.unknown), (5, 0));
        assert_eq!(it.told(EventKind::StackDrifted).await, Vec::<String>::new());

        it.outside.lose(&it.physical("web", "lost").await);
        it.outside.meddle(&it.physical("web", "meddled").await, "value", "z");
        it.outside.meddle(&it.physical("web", "stopped").await, "state", "ill");
        let found = detect(&it, "web").await;
        for (name, drift) in [
            ("lost", StackDriftKind::Missing),
            ("meddled", StackDriftKind::Configuration),
            ("stopped", StackDriftKind::State),
            ("well", StackDriftKind::InSync),
            ("inner", StackDriftKind::Dependency),
        ] {
            assert_eq!(kind(&found, name), drift, "{name}");
        }
        assert_eq!((found.drift.changed, found.drift.missing), (3, 1));
        let meddled = found.items.iter().find(|item| item.name == "meddled").unwrap();
        let value = &meddled.properties[0];
        assert_eq!(
            (value.before.clone(), value.after.clone()),
            (Some(json!("b")), Some(json!("z")))
        );
        let kept = it.control().stack_drift_get(&cx, &project, "web").await.unwrap().unwrap();
        assert_eq!(kept.items, found.items);
        detect(&it, "web").await;
        let told = it.told(EventKind::StackDrifted).await;
        assert_eq!(told.len(), 1, "the same is told once: {told:?}");
        assert!(told[0].contains("lost (missing)"), "{told:?}");

        let plan = it.planned(fix("web")).await.unwrap();
        let wanted = ["replace lost", "update inner?", "update meddled", "update stopped"];
        assert_eq!(lines(&plan), wanted);
        let well = it.physical("web", "well").await;
        it.apply(&plan).await.unwrap();
        assert_eq!(it.stack("web").await.standing.heat(), "UPDATE_COMPLETE");
        let found = detect(&it, "web").await;
        assert!(!found.drift.is_drifted(), "{found:?}");
        assert_eq!(it.physical("web", "well").await, well);
        let again = it.planned(fix("web")).await.unwrap();
        assert!(again.changes.is_empty());
        assert_eq!(it.outside.objects().len(), 4, "what was lost was made again, once");
    })
    .await;
}

#[tokio::test]
async fn an_ordinary_update_does_not_look() {
    let mut it = Rig::new().await;
    let resources = json!({ "a": outside(json!("x")) });
    it.create("web", form(resources.clone())).await;
    it.outside.meddle(&it.physical("web", "a").await, "value", "z");
    assert!(it.plan("web", form(resources.clone())).await.changes.is_empty());
    it.update("web", form(resources)).await;
    assert_eq!(kind(&detect(&it, "web").await, "a"), StackDriftKind::Configuration);
}

#[tokio::test]
async fn who_does_not_answer_is_not_waited_for() {
    let mut it = Rig::new().await;
    it.create("web", form(json!({ "a": outside(json!("x")) }))).await;
    it.outside.fall_silent(true);
    let (cx, project) = (it.cx(), it.project());
    let mut look = Box::pin(it.control().stack_drift_detect(&cx, &project, "web"));
    let found = loop {
        if let Poll::Ready(found) = futures::poll!(look.as_mut()) {
            break found.unwrap();
        }
        it.world.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    };
    assert_eq!((kind(&found, "a"), found.drift.unknown), (StackDriftKind::Unknown, 1));
    assert!(found.items[0].message.contains("10 seconds"), "{found:?}");
    assert!(!found.drift.is_drifted());
}

#[tokio::test]
async fn drift_is_looked_for_as_often_as_was_chosen() {
    let mut it = Rig::new().await;
    let every = Some(Span::from_secs(600));
    let options = StackOptions { drift_every: every, ..StackOptions::default() };
    let wanted = form(json!({ "a": outside(json!("x")) }));
    it.ask_with("web", wanted.clone(), options).await.unwrap();
    it.settle().await;
    it.create("other", wanted).await;
    let mut watch = it.control().stack_drift_reconciler();
    let pass = watch.look().await.unwrap();
    assert_eq!((pass.report.chosen, pass.report.looked_at), (1, 1));
    it.outside.lose(&it.physical("web", "a").await);
    assert_eq!(watch.look().await.unwrap().report.looked_at, 0, "it is too early");
    it.world.advance(Duration::from_secs(601));
    let mut another = it.control().stack_drift_reconciler();
    let (one, two) = tokio::join!(watch.look(), another.look());
    let looked = one.unwrap().report.looked_at + two.unwrap().report.looked_at;
    assert_eq!(looked, 1, "only one keeps it");
    let told = it.told(EventKind::StackDrifted).await;
    assert_eq!(told.len(), 1, "{told:?}");
    let too_often =
        StackOptions { drift_every: Some(Span::from_secs(1)), ..StackOptions::default() };
    assert!(it.ask_with("third", form(json!({})), too_often).await.is_err());
}

#[tokio::test]
async fn what_another_stack_gives_is_a_dependency() {
    let mut it = Rig::new().await;
    let base = |word: &str| giving(json!({}), json!({ "word": { "value": word } }));
    it.create("base", base("one")).await;
    let user = form(json!({
        "given": output_of("base", "word"),
        "a": inside(json!({ "get_attr": ["given", "value"] })),
    }));
    it.create("user", user.clone()).await;
    assert_eq!(it.resources("user").await[1].attributes["output"], json!("one"));
    assert!(!detect(&it, "user").await.drift.is_drifted());
    it.update("base", base("two")).await;
    assert_eq!(kind(&detect(&it, "user").await, "given"), StackDriftKind::Dependency);
    // Every update looks at it, without being told to.
    let plan = it.plan("user", user).await;
    assert_eq!(lines(&plan), ["update a", "update given"]);
    it.apply(&plan).await.unwrap();
    assert_eq!(it.resources("user").await[1].attributes["output"], json!("two"));
}
