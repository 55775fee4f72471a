use serde_json::json;

use super::*;
use crate::ProjectId;

fn spec(json: serde_json::Value) -> EventHookSpec {
    serde_json::from_value(json).unwrap()
}

fn project() -> Scope {
    Scope::Project(ProjectId::from_uuid(uuid::Uuid::from_u128(1)))
}

fn places(spec: &EventHookSpec, scope: Scope) -> Vec<String> {
    spec.problems(scope, "").into_iter().map(|problem| problem.pointer).collect()
}

#[test]
fn patterns_take_kinds_nouns_and_everything() {
    for (pattern, takes, not) in [
        ("*", EventKind::NodeOffline, None),
        ("task.*", EventKind::TaskFailed, Some(EventKind::ArrayCreated)),
        ("custom.*", EventKind::Custom, Some(EventKind::TaskFailed)),
        ("task.failed", EventKind::TaskFailed, Some(EventKind::TaskCompleted)),
        ("approval.*", EventKind::ApprovalDenied, Some(EventKind::ApprovalPolicyCreated)),
    ] {
        let read: EventPattern = pattern.parse().unwrap();
        assert_eq!(read.to_string(), pattern);
        assert!(read.takes(&takes.into()), "{pattern}");
        assert!(not.is_none_or(|not| !read.takes(&not.into())), "{pattern}");
    }
}

#[test]
fn a_kind_of_ones_own_is_taken_by_its_name_its_space_and_everything() {
    let told: EventName = "custom.deploy.started".parse().unwrap();
    for (pattern, is_taken) in [
        ("*", true),
        ("custom.*", true),
        ("custom.deploy.started", true),
        ("custom.deploy", false),
        ("task.*", false),
    ] {
        let read: EventPattern = pattern.parse().unwrap();
        assert_eq!(read.to_string(), pattern);
        assert_eq!(read.takes(&told), is_taken, "{pattern}");
    }
    for wrong in ["custom", "custom.", "custom.a b", "custom.deploy.*"] {
        assert!(wrong.parse::<EventPattern>().is_err(), "{wrong}");
    }
}

#[test]
fn a_wrong_pattern_says_what_is_meant() {
    for (given, meant) in [
        ("task.faild", "did you mean `task.failed`?"),
        ("tsak.*", "did you mean `task.*`?"),
        ("colour", "events.md"),
        ("task", "did you mean `task.*`?"),
        ("custom", "did you mean `custom.*`?"),
        ("", "events.md"),
    ] {
        let wrong = given.parse::<EventPattern>().unwrap_err().to_string();
        assert!(wrong.contains(meant), "{given}: {wrong}");
    }
}

#[test]
fn a_filter_may_only_name_what_its_events_can_have() {
    let mistake = |on: &[&str], filter: &str| {
        let mut spec = spec(json!({
            "on": on, "action": { "webhook": { "url": "https://ops.example/in" } },
        }));
        filter.clone_into(&mut spec.filter);
        spec.problems(project(), "").into_iter().map(|problem| problem.detail).collect::<String>()
    };
    let wrong = mistake(&["task.failed"], "payload.exitcode == 1");
    assert!(wrong.contains("did you mean `payload.exitCode`?"), "{wrong}");
    let wrong = mistake(&["task.*", "node.offline"], "payload.outcome == \"failed\"");
    assert!(wrong.contains("below `payload` there are exitCode, labels, node"), "{wrong}");
    for (on, filter) in [
        (&["task.failed", "node.*"][..], "payload.exitCode == 1 or payload.state == \"offline\""),
        (&["node.*"], "payload.labels.zone == \"a\""),
        (&["*"], "payload.exitcode == 1"),
        (&["task.failed", "custom.deploy"], "payload.exitcode == 1"),
        (&["custom.*"], "payload.anything.at.all"),
    ] {
        assert_eq!(mistake(on, filter), "", "{on:?} {filter}");
    }
}

#[test]
fn a_small_spec_has_the_usual_rest() {
    let json = json!({
        "on": ["task.failed"],
        "action": { "webhook": { "url": "https://ops.example/in" } },
    });
    let spec = spec(json.clone());
    assert_eq!(places(&spec, project()), Vec::<String>::new());
    assert_eq!((spec.at_once, spec.loop_depth, spec.retry.attempts), (20, 3, 10));
    assert_eq!(spec.time_limit(), Span::from_secs(10));
    assert_eq!(serde_json::to_value(&spec).unwrap(), json, "what is usual is not written");
}

#[test]
fn every_mistake_is_found() {
    let wrong = spec(json!({
        "on": [],
        "filter": "knid == 1",
        "action": { "webhook": {
            "url": "ftp://x", "urlSecret": "hook-url", "format": "email", "template": "x",
            "headers": { "Authorization": "x" },
        } },
        "project": "other",
        "atOnce": 0,
        "retry": { "attempts": 0, "min": "2s", "max": "1s", "giveUpAfter": "90d" },
        "timeLimit": "1h",
        "loopDepth": 99,
    }));
    assert_eq!(
        places(&wrong, project()),
        [
            "/on",
            "/filter",
            "/atOnce",
            "/retry/attempts",
            "/retry/min",
            "/retry/giveUpAfter",
            "/timeLimit",
            "/loopDepth",
            "/project",
            "/action/webhook/url",
            "/action/webhook/template",
            "/action/webhook/to",
            "/action/webhook/url",
            "/action/webhook/headers",
        ]
    );
    let lua = spec(json!({
        "on": ["*"], "action": { "lua": { "file": "", "text": "" } },
    }));
    assert_eq!(places(&lua, Scope::Global), ["/project", "/action/lua/text", "/action/lua/file"]);
}

#[test]
fn what_not_everybody_may_see_is_hidden() {
    let mut spec = spec(json!({
        "on": ["*"],
        "action": { "webhook": { "url": "https://a.example/x?key=1", "headers": { "X-Key": "k" } } },
    }));
    spec.action.hide();
    assert!(serde_json::to_string(&spec).unwrap().contains(crate::HIDDEN));
    assert_eq!(spec.action.summary(), "event to https://a.example");
}
