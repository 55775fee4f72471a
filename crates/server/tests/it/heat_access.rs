//! Who may call what of Heat's doors: every route with every kind of caller, and how callers present themselves.

use std::collections::BTreeSet;

use base64::Engine as _;
use hostler_api::{Access, fits};
use hostler_server::heat::{HeatRoute, heat_routes, signal_routes};
use http::Method;
use serde_json::json;

use crate::access::{Outcome, callers, expected};
use crate::heat::{Heat, fault};
use crate::world::{Reply, World, request};

/// A path with nothing behind it that is there, but the project.
fn path_of(route: &HeatRoute) -> String {
    let part = |part: &str| match part {
        "{project}" => "one".to_owned(),
        part if part.starts_with('{') => "none-such".to_owned(),
        part => part.to_owned(),
    };
    route.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn outcome(reply: &Reply) -> Outcome {
    let text = String::from_utf8_lossy(&reply.bytes);
    match reply.status.as_u16() {
        401 => Outcome::Unauthenticated,
        403 if text.contains("You are not authorized to complete this action.") => Outcome::Hidden,
        403 => Outcome::Forbidden,
        _ => Outcome::Allowed,
    }
}

#[test]
fn no_route_is_without_a_rule() {
    let open: BTreeSet<&str> = heat_routes()
        .iter()
        .chain(&signal_routes())
        .filter(|route| route.access == Access::Public)
        .map(|route| route.name)
        .collect();
    assert_eq!(
        open,
        BTreeSet::from([
            "heat_versions",
            "identity_login",
            "identity_version",
            "identity_versions",
            "signal",
            "signal_other",
            "signal_versions",
            "signal_wait",
        ]),
        "what anybody may call is named here"
    );
    for route in heat_routes().iter().chain(&signal_routes()) {
        assert!(fits(route.access, route.permission), "{route:?}");
        let is_own = route.access == Access::LoggedIn;
        assert!(!is_own || route.path.starts_with("/identity/"), "{route:?}");
        let has_project = route.path.contains("{project}");
        assert_eq!(has_project, route.permission.is_some(), "{route:?}");
    }
}

#[tokio::test]
async fn every_route_asks_for_exactly_what_it_declares() {
    let heat = Heat::new().await;
    heat.world.project("two").await;
    let callers = callers(&heat.world).await;
    let mut wrong = Vec::new();
    let all = heat_routes().into_iter().map(|route| (&heat.heat, route));
    for (router, route) in
        all.chain(signal_routes().into_iter().map(|route| (&heat.signals, route)))
    {
        if route.name == "signal" || route.name == "signal_wait" {
            continue;
        }
        for caller in &callers {
            let mut request = request(route.method.clone(), &path_of(&route), None, None);
            if let Some(token) = &caller.token {
                request.headers_mut().insert("x-auth-token", token.parse().unwrap());
            }
            if route.method != Method::GET {
                request.headers_mut().insert("content-type", "application/json".parse().unwrap());
                *request.body_mut() = "{".into();
            }
            let reply = World::send_to(router, request).await;
            let (is, should) = (outcome(&reply), expected(route.access, caller));
            if is != should {
                let status = reply.status;
                wrong.push(format!(
                    "{} {} by {}: {is:?} ({status}), not {should:?}",
                    route.method, route.path, caller.label
                ));
            }
            assert!(reply.status.as_u16() < 500, "{} {}", route.method, route.path);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_project_of_others_is_like_one_that_does_not_exist() {
    let heat = Heat::new().await;
    heat.world.project("two").await;
    let foreign = heat.ask(Some(&heat.owner), Method::GET, "/v1/two/stacks", None).await;
    let unknown = heat.ask(Some(&heat.owner), Method::GET, "/v1/six/stacks", None).await;
    assert_eq!(fault(&foreign), fault(&unknown));
    assert_eq!(fault(&foreign).0, 403);
}

#[tokio::test]
async fn a_token_is_presented_in_any_of_the_ways_that_programs_have() {
    let heat = Heat::new().await;
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("anybody:{}", heat.owner));
    let ways = [
        ("x-auth-token", heat.owner.clone()),
        ("x-auth-key", heat.owner.clone()),
        ("authorization", format!("Bearer {}", heat.owner)),
        ("authorization", format!("Basic {basic}")),
    ];
    for (name, value) in &ways {
        let mut request = request(Method::GET, "/v1/one/stacks", None, None);
        request.headers_mut().insert(*name, value.parse().unwrap());
        assert_eq!(World::send_to(&heat.heat, request).await.status, 200, "{name}");
    }
    let mut both = request(Method::GET, "/v1/one/stacks", None, None);
    for (name, value) in [&ways[0], &ways[2]] {
        both.headers_mut().insert(*name, value.parse().unwrap());
    }
    assert_eq!(World::send_to(&heat.heat, both).await.status, 400);
    for token in ["notused", "hst_pat_wrong"] {
        let reply = heat.ask(Some(token), Method::GET, "/v1/one/stacks", None).await;
        let (code, kind, _) = fault(&reply);
        assert_eq!((code, kind.as_str()), (401, "HTTPUnauthorized"));
        assert_eq!(
            reply.header("www-authenticate"),
            "Keystone uri=\"http://heat.test:8004/identity/v3\""
        );
    }
    let path = format!("/v1/one/stacks?token={}", heat.owner);
    let told = heat.ask(None, Method::GET, &path, None).await;
    assert_eq!(told.status, 400, "no secret is taken from an address");
    assert!(String::from_utf8_lossy(&told.bytes).contains("not a secret any more"));
}

#[tokio::test]
async fn paths_and_methods_that_there_are_not() {
    let heat = Heat::new().await;
    for path in ["/", "/versions"] {
        let reply = heat.ask(None, Method::GET, path, None).await;
        assert_eq!(reply.status, 300);
        assert_eq!(reply.json()["versions"][0]["links"][0]["href"], "http://heat.test:8004/v1/");
    }
    let reply = heat.ask(Some(&heat.owner), Method::PUT, "/v1/one/stacks", Some(json!({}))).await;
    assert_eq!((fault(&reply).0, reply.header("allow")), (405, "GET,HEAD,POST"));
    let reply = heat.ask(None, Method::OPTIONS, "/v1/one/stacks", None).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.len()), (204, 0));
    let reply = heat.ask(None, Method::GET, "/nothing", None).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("content-type")),
        (404, "text/plain; charset=utf-8")
    );
    let reply = heat.ask(Some(&heat.owner), Method::HEAD, "/v1/one/stacks", None).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.len()), (200, 0));
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    let mut forwarded = request(Method::GET, "/versions", None, None);
    for (name, value) in [("x-forwarded-proto", "https"), ("x-forwarded-host", "cloud.example")] {
        forwarded.headers_mut().insert(name, value.parse().unwrap());
    }
    let told = World::send_to(&heat.heat, forwarded).await.json();
    assert_eq!(told["versions"][0]["links"][0]["href"], "https://cloud.example/v1/");
}
