use super::*;
use crate::{PrincipalKind, Role, TokenId, TokenLimits, WebSessionId};

fn http(json: serde_json::Value) -> Action {
    serde_json::from_value(serde_json::json!({ "http": json })).unwrap()
}

#[test]
fn actions_are_read_as_people_write_them() {
    let cases = [
        (
            serde_json::json!({"workload": {"name": "web", "verb": "restart"}}),
            "restart workload web",
        ),
        (serde_json::json!({"workflow": {"name": "nightly"}}), "workflow nightly"),
        (serde_json::json!({"task": {"spec": {"command": ["pg_dump", "-Fc"]}}}), "pg_dump -Fc"),
        (
            serde_json::json!({"operation": {"nodeDrain": {"node": "n1", "reason": "patches"}}}),
            "drain node n1",
        ),
        (
            serde_json::json!({"http": {"url": "https://ci.example/run?token=x"}}),
            "POST https://ci.example",
        ),
    ];
    for (json, summary) in cases {
        let action: Action = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(action.summary(), summary);
        assert_eq!(action.problems(""), [], "{json}");
        let written = serde_json::to_value(&action).unwrap();
        assert_eq!(serde_json::from_value::<Action>(written).unwrap(), action);
    }
    assert!(serde_json::from_str::<Action>(r#"{"workload":{"name":"web","verb":"rm"}}"#).is_err());
}

#[test]
fn mistakes_of_a_call_are_found() {
    let wrong = http(serde_json::json!({
        "method": "GET",
        "url": "ftp://example",
        "body": "x",
        "timeout": "10m",
        "headers": {
            "Authorization": "Bearer x", "Host": "a", "Hostler-Fire": "a", "a b": "x", "ok": "\u{1}",
        },
    }));
    let found = wrong.problems("/target");
    let places: Vec<&str> = found.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(
        places,
        [
            "/target/http/url",
            "/target/http/body",
            "/target/http/timeout",
            "/target/http/headers",
            "/target/http/headers",
            "/target/http/headers",
            "/target/http/headers",
            "/target/http/headers",
        ]
    );
}

#[test]
fn what_is_not_for_everybody_is_hidden() {
    let mut call = http(serde_json::json!({
        "url": "https://a/b?token=c", "body": "d", "headers": {"X-Key": "k"},
    }));
    call.hide();
    assert_eq!(call.problems("").len(), 3, "and is not written back");
    let Action::Http(call) = call else { panic!("still a call") };
    assert_eq!(call.headers["X-Key"], crate::HIDDEN);
    assert_eq!((call.url.as_str(), call.body.as_str()), ("https://a/(hidden)", crate::HIDDEN));
}

#[test]
fn a_mandate_is_no_more_than_its_credential() {
    let uuid = |n| uuid::Uuid::from_u128(n);
    let (here, there) = (ProjectId::from_uuid(uuid(1)), ProjectId::from_uuid(uuid(2)));
    let caller = |credential| Caller {
        principal_id: PrincipalId::from_uuid(uuid(3)),
        name: "ada".parse().unwrap(),
        kind: PrincipalKind::User,
        grants: Vec::new(),
        credential,
    };
    let session = Credential::WebSession(WebSessionId::from_uuid(uuid(4)));
    assert_eq!(Mandate::of(&caller(session), here).can, None);
    let token = |limits| Credential::Token { id: TokenId::from_uuid(uuid(5)), limits };
    let can = |limits, project| Mandate::of(&caller(token(limits)), project).can.unwrap();
    let user = TokenLimits::role(Role::User);
    assert!(can(user.clone(), here).has(Permission::TaskSubmit));
    assert!(!can(user.clone(), here).has(Permission::NodeDrain));
    let only_here = TokenLimits { projects: Some(vec![here]), ..TokenLimits::role(Role::Admin) };
    assert!(can(only_here.clone(), here).has(Permission::TaskSubmit));
    assert!(!can(only_here.clone(), here).has(Permission::NodeDrain), "not beside its project");
    assert!(!can(only_here, there).has(Permission::TaskSubmit));
    let reads: PermissionSet = [Permission::TaskRead].into_iter().collect();
    let reader = TokenLimits { can: Some(reads), ..user };
    assert!(!can(reader, here).has(Permission::TaskSubmit));
}
