//! Decision tables of approvals.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::{Credential, Grant, PrincipalKind, Role, WebSessionId};

fn person(n: u128) -> PrincipalId {
    PrincipalId::from_uuid(Uuid::from_u128(n))
}

fn policy(n: u128) -> ApprovalPolicyId {
    ApprovalPolicyId::from_uuid(Uuid::from_u128(n))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn need(n: u128, approvals: u32) -> ApprovalNeed {
    ApprovalNeed {
        policy: policy(n),
        name: "eyes".parse().unwrap(),
        approvals,
        by: Vec::new(),
        approval_ttl: Span::from_secs(60),
    }
}

fn waiting(needs: Vec<ApprovalNeed>) -> Approval {
    Approval {
        id: ApprovalId::from_uuid(Uuid::from_u128(1)),
        project_id: None,
        verb: Permission::NodeDrain,
        name: "web".to_owned(),
        digest: approval_digest(Permission::NodeDrain, None, "web", &json!({})),
        what: json!({}),
        requested_by: person(1),
        tasks: Vec::new(),
        array_id: None,
        needs,
        decisions: Vec::new(),
        state: ApprovalState::Waiting,
        why: String::new(),
        generation: Generation::FIRST,
        time_created: at(0),
        time_expires: at(100),
        time_ended: None,
    }
}

fn says(n: u128, is_approval: bool, policies: &[u128], seconds: i64) -> ApprovalDecision {
    ApprovalDecision {
        by: person(n),
        name: "ada".parse().unwrap(),
        is_approval,
        reason: "because".to_owned(),
        policies: policies.iter().map(|n| policy(*n)).collect(),
        time: at(seconds),
    }
}

#[test]
fn one_other_person_is_enough_unless_two_are_asked_for() {
    let one = waiting(vec![need(7, 1)]).decided(says(2, true, &[7], 10)).unwrap();
    assert_eq!((one.state, one.time_expires), (ApprovalState::Approved, at(70)));
    let first = waiting(vec![need(7, 2)]).decided(says(2, true, &[7], 10)).unwrap();
    assert_eq!((first.state, first.time_expires), (ApprovalState::Waiting, at(100)));
    assert_eq!(first.decided(says(2, true, &[7], 11)), Err(ApprovalRefusal::Twice));
    let both = first.decided(says(3, true, &[7], 12)).unwrap();
    assert_eq!(both.state, ApprovalState::Approved);
}

#[test]
fn every_policy_has_to_be_met() {
    let both = waiting(vec![need(7, 1), need(8, 1)]);
    let half = both.decided(says(2, true, &[7], 10)).unwrap();
    assert_eq!(half.state, ApprovalState::Waiting);
    assert_eq!(half.decided(says(3, true, &[8], 11)).unwrap().state, ApprovalState::Approved);
    assert_eq!(both.decided(says(2, true, &[7, 8], 10)).unwrap().state, ApprovalState::Approved);
    assert_eq!(both.decided(says(2, true, &[], 10)), Err(ApprovalRefusal::NotAsked));
}

#[test]
fn who_asks_never_agrees_and_an_end_is_an_end() {
    let asked = waiting(vec![need(7, 1)]);
    assert_eq!(asked.decided(says(1, true, &[7], 10)), Err(ApprovalRefusal::Own));
    let denied = asked.decided(says(2, false, &[7], 10)).unwrap();
    assert_eq!(
        (denied.state, denied.why.as_str()),
        (ApprovalState::Denied, "denied by ada: because")
    );
    let late = asked.decided(says(2, true, &[7], 100));
    assert_eq!(late, Err(ApprovalRefusal::Settled(ApprovalState::Expired)));
    for state in ApprovalState::ALL.iter().copied().filter(|s| *s != ApprovalState::Waiting) {
        let over = asked.ended(state, "", at(5));
        let refused = Err(ApprovalRefusal::Settled(state));
        assert_eq!(over.decided(says(2, true, &[7], 10)), refused);
        assert_eq!(over.decided(says(2, false, &[7], 10)), refused);
    }
}

#[test]
fn a_digest_is_of_the_meaning_and_of_all_of_it() {
    let digest = |verb, name: &str, what| approval_digest(verb, None, name, &what);
    let first = digest(Permission::NodeDrain, "web", json!({ "a": 1, "b": { "x": 1, "y": 2 } }));
    let other = digest(Permission::NodeDrain, "web", json!({ "b": { "y": 2, "x": 1 }, "a": 1 }));
    assert_eq!(first, other);
    let different = [
        digest(Permission::NodeRemove, "web", json!({ "a": 1, "b": { "x": 1, "y": 2 } })),
        digest(Permission::NodeDrain, "we", json!({ "a": 1, "b": { "x": 1, "y": 2 } })),
        digest(Permission::NodeDrain, "web", json!({ "a": 1, "b": { "x": 1, "y": 3 } })),
        digest(Permission::NodeDrain, "web", json!({ "a": [1], "b": { "x": 1, "y": 2 } })),
    ];
    assert!(different.iter().all(|digest| *digest != first));
}

fn spec(text: &str) -> WorkloadSpec {
    serde_json::from_str(text).unwrap()
}

#[test]
fn conditions_narrow_a_policy() {
    let when =
        |value: serde_json::Value| -> ApprovalWhen { serde_json::from_value(value).unwrap() };
    let plain = spec(r#"{ "command": ["true"] }"#);
    let large = spec(
        r#"{ "command": ["true"], "tags": ["prod"], "runtime": "container",
             "container": { "image": "acme/web:1", "privileged": true },
             "resources": { "cores": 8, "gpus": 2 }, "placement": { "selector": { "zone": "b" } } }"#,
    );
    for (condition, of_plain, of_large) in [
        (json!({}), true, true),
        (json!({ "tags": ["prod", "live"] }), false, true),
        (json!({ "images": ["acme/"] }), false, true),
        (json!({ "images": ["other/"] }), false, false),
        (json!({ "privileged": true }), false, true),
        (json!({ "coresAbove": 4 }), false, true),
        (json!({ "coresAbove": 8 }), false, false),
        (json!({ "gpusAbove": 1 }), false, true),
        (json!({ "nodeLabels": { "zone": "b" } }), true, true),
        (json!({ "nodeLabels": { "zone": "a" } }), true, false),
        (json!({ "coresAbove": 4, "tags": ["live"] }), false, false),
    ] {
        let rule = when(condition.clone());
        assert_eq!(rule.matches(Some(&plain), None), of_plain, "{condition}");
        assert_eq!(rule.matches(Some(&large), None), of_large, "{condition}");
    }
    let labels = Labels::from([("zone".to_owned(), "b".to_owned())]);
    assert!(when(json!({ "nodeLabels": { "zone": "b" } })).matches(None, Some(&labels)));
    assert!(!when(json!({ "nodeLabels": { "zone": "a" } })).matches(None, Some(&labels)));
    assert!(!when(json!({ "tags": ["prod"] })).matches(None, Some(&labels)));
    assert!(when(json!({})).matches(None, None));
    assert!(!when(json!({ "nodeLabels": { "zone": "b" } })).matches(None, None));
}

#[test]
fn parties_are_read_back_and_mean_those_above_too() {
    let caller = |role: Role| Caller {
        principal_id: person(5),
        name: "ada".parse().unwrap(),
        kind: PrincipalKind::User,
        grants: vec![Grant::built_in(Scope::Global, role)],
        credential: Credential::WebSession(WebSessionId::from_uuid(Uuid::from_u128(1))),
    };
    let groups: Vec<Name> = vec!["ops".parse().unwrap()];
    for (text, is_meant) in [
        ("ada", true),
        ("grace", false),
        ("group:ops", true),
        ("group:dev", false),
        ("role:user", true),
        ("role:operator", true),
        ("role:admin", false),
        ("role:special", false),
    ] {
        let party: ApprovalParty = serde_json::from_value(text.into()).unwrap();
        assert_eq!(party.to_string(), text);
        assert_eq!(party.has(&caller(Role::Operator), &groups, Scope::Global), is_meant, "{text}");
    }
    assert!("team:ops".parse::<ApprovalParty>().is_err());
}

#[test]
fn a_rule_names_only_what_can_be_held_back() {
    let rule =
        |value: serde_json::Value| -> ApprovalRule { serde_json::from_value(value).unwrap() };
    assert_eq!(rule(json!({ "verbs": ["task.submit"] })).problems(""), []);
    let wrong = rule(json!({
        "verbs": ["task.read"], "approvals": 3, "requestTtl": "1s", "when": { "tags": [""] },
    }));
    let at: Vec<String> = wrong.problems("/rule").into_iter().map(|p| p.pointer).collect();
    assert_eq!(at, ["/rule/verbs/0", "/rule/approvals", "/rule/when/tags", "/rule/requestTtl"]);
    assert_eq!(rule(json!({ "verbs": [] })).problems("").len(), 1);
}
