//! How people come in, over HTTP: links, second factors, sessions, and ten thousand wrong passwords.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::Body;
use futures::StreamExt;
use hostler_control::ControlConfig;
use hostler_model::Role;
use hostler_server::http::{Peer, Rate, Rates};
use hostler_testkit::Authenticator;
use hostler_trust::{Link, TokenKind};
use http::{Method, Request};
use serde_json::{Value, json};

use crate::world::{Reply, World, request};

const PASSWORD: &str = "correct horse battery staple";

/// No budget of an address is in the way.
fn open_rates() -> Rates {
    Rates { login_source: Rate::new(1e9, 1e9), ..Rates::default() }
}

async fn public(world: &World, path: &str, body: Value) -> Reply {
    world.send(request(Method::POST, path, None, Some(body))).await
}

async fn login(world: &World, name: &str, more: Value) -> Reply {
    let mut body = json!({ "name": name, "password": PASSWORD, "kind": "token" });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    public(world, "/api/v1/login", body).await
}

async fn person(world: &World, name: &str, role: &str) {
    let body = json!({ "name": name, "kind": "user", "password": PASSWORD, "role": role });
    let made = world.post("/api/v1/users", body).await;
    assert_eq!(made.status, 201, "{}", made.json());
}

fn link(reply: &Reply, kind: TokenKind) -> Link {
    let text = reply.json()["link"].as_str().unwrap().to_owned();
    assert!(text.starts_with("https://server.example:7443/#"), "{text}");
    Link::parse(&text, kind).unwrap()
}

#[tokio::test]
async fn somebody_is_invited_comes_in_and_is_shown_nothing_more() {
    let world = World::new().await;
    world.project("lab").await;
    let body = json!({ "role": "user", "name": "ada", "email": "ada@example.org" });
    let made = world.post("/api/v1/projects/lab/invitations", body).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let invitation = link(&made, TokenKind::Invitation);
    assert_eq!(invitation.authority, world.control.authority().fingerprint());
    let secret = invitation.token.expose();
    let offer = public(&world, "/api/v1/accept/show", json!({ "invitation": secret })).await;
    assert_eq!(offer.json()["project"], "lab");
    assert_eq!(offer.json()["name"], "ada");

    let body = json!({ "invitation": secret, "password": PASSWORD, "kind": "cookie" });
    let reply = public(&world, "/api/v1/accept", body.clone()).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    assert!(reply.header("set-cookie").starts_with("hostler_session=hst_ses_"));
    let again = public(&world, "/api/v1/accept", body).await;
    assert_eq!(again.code(), "unauthenticated");
    let listed = world.get("/api/v1/invitations").await.json();
    assert_eq!(listed["items"][0]["state"], "used");
    assert_eq!(listed["items"][0]["usedBy"], "ada");
    let own = world.get("/api/v1/projects/lab/invitations").await.json();
    assert_eq!(own["items"].as_array().unwrap().len(), 1);
    for sink in ["/api/v1/events?limit=1000", "/api/v1/audit?limit=1000", "/api/v1/invitations"] {
        let text = String::from_utf8(world.get(sink).await.bytes).unwrap();
        assert!(!text.contains("hst_inv_"), "{sink} has a secret: {text}");
        assert!(!text.contains(PASSWORD), "{sink} has a password");
    }
    let in_query = format!("/api/v1/accept?invitation={secret}");
    let body = json!({ "invitation": "x", "password": PASSWORD, "kind": "token" });
    assert_eq!(public(&world, &in_query, body).await.code(), "malformed");
}

#[tokio::test]
async fn an_admin_of_a_project_invites_to_it_and_to_nothing_else() {
    let world = World::new().await;
    world.project("lab").await;
    world.project("other").await;
    let token = world.account("head", None, Some(("lab", "admin"))).await;
    let post = async |path: &str| {
        world.call_as(&token, Method::POST, path, Some(json!({ "role": "viewer" }))).await
    };
    assert_eq!(post("/api/v1/invitations").await.code(), "forbidden");
    assert_eq!(post("/api/v1/projects/other/invitations").await.code(), "not-found");
    let made = post("/api/v1/projects/lab/invitations").await;
    assert_eq!(made.status, 201);
    let id = made.json()["invitation"]["id"].as_str().unwrap().to_owned();
    let global = world.post("/api/v1/invitations", json!({ "role": "admin" })).await.json();
    let foreign = global["invitation"]["id"].as_str().unwrap().to_owned();
    let path = |id: &str| format!("/api/v1/projects/lab/invitations/{id}");
    let gone = world.call_as(&token, Method::DELETE, &path(&foreign), None).await;
    assert_eq!(gone.code(), "not-found");
    let gone = world.call_as(&token, Method::DELETE, &path(&id), None).await;
    assert_eq!(gone.status, 204);
    let secret = link(&made, TokenKind::Invitation).token.expose().to_owned();
    let body = json!({ "invitation": secret, "name": "x", "password": PASSWORD, "kind": "token" });
    assert_eq!(public(&world, "/api/v1/accept", body).await.code(), "unauthenticated");
}

#[tokio::test]
async fn a_link_sets_a_new_password() {
    let world = World::new().await;
    person(&world, "ada", "user").await;
    let made = world.post("/api/v1/users/ada/password-reset", json!({ "ttl": "10m" })).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let reset = link(&made, TokenKind::Reset);
    let new = "another horse, another battery";
    let body = json!({ "reset": reset.token.expose(), "password": new });
    let used = public(&world, "/api/v1/password-reset", body.clone()).await;
    assert_eq!((used.status.as_u16(), &used.json()["user"]), (200, &json!("ada")));
    assert_eq!(public(&world, "/api/v1/password-reset", body).await.code(), "unauthenticated");
    assert_eq!(login(&world, "ada", json!({})).await.code(), "unauthenticated");
    assert_eq!(login(&world, "ada", json!({ "password": new })).await.status, 200);
    world.account("robot", None, None).await;
    let none = world.post("/api/v1/users/robot/password-reset", json!({})).await;
    assert_eq!(none.code(), "conflict");
}

fn code_of(enrolled: &Value, ahead: i64) -> String {
    let device = Authenticator::new(enrolled["secret"].as_str().unwrap());
    device.code(hostler_base::Clock::system().now(), ahead)
}

#[tokio::test]
async fn a_missing_code_is_told_apart_and_a_role_can_ask_for_one() {
    let config =
        ControlConfig { second_factor_from: Some(Role::Admin), ..ControlConfig::default() };
    let world = World::configured(open_rates(), config).await;
    person(&world, "ada", "admin").await;
    let token = login(&world, "ada", json!({})).await.json()["token"].as_str().unwrap().to_owned();
    let as_ada = async |method: Method, path: &str, body: Option<Value>| {
        world.call_as(&token, method, path, body).await
    };
    let who = as_ada(Method::GET, "/api/v1/whoami", None).await.json();
    assert_eq!((&who["secondFactor"], who.get("role")), (&json!("required"), None));
    for path in ["/api/v1/users", "/api/v1/nodes", "/api/v1/projects/default/tasks"] {
        let refused = as_ada(Method::GET, path, None).await;
        assert_eq!(
            (refused.status.as_u16(), refused.code().as_str()),
            (401, "second-factor-required")
        );
    }
    let projects = as_ada(Method::GET, "/api/v1/projects", None).await.json();
    assert_eq!(projects["items"], json!([]));

    let body = json!({ "password": PASSWORD });
    let enrolled = as_ada(Method::POST, "/api/v1/whoami/totp", Some(body)).await;
    assert_eq!(enrolled.status, 201, "{}", enrolled.json());
    let enrolled = enrolled.json();
    let body = json!({ "code": code_of(&enrolled, 0) });
    let confirmed = as_ada(Method::POST, "/api/v1/whoami/totp/confirm", Some(body)).await;
    assert_eq!(confirmed.json()["recoveryCodes"].as_array().unwrap().len(), 10);
    assert_eq!(as_ada(Method::GET, "/api/v1/users", None).await.status, 200);

    let needed = login(&world, "ada", json!({})).await;
    assert_eq!((needed.status.as_u16(), needed.code().as_str()), (401, "second-factor-required"));
    let wrong = login(&world, "ada", json!({ "code": "123" })).await;
    assert_eq!(wrong.code(), "unauthenticated");
    let right = login(&world, "ada", json!({ "code": code_of(&enrolled, 1) })).await;
    assert_eq!(right.status, 200, "{}", right.json());
    let shown = as_ada(Method::GET, "/api/v1/whoami/totp", None).await.json();
    assert_eq!((&shown["state"], &shown["recoveryCodesLeft"]), (&json!("on"), &json!(10)));
    let reset = world.call(Method::DELETE, "/api/v1/users/ada/totp", None).await;
    assert_eq!(reset.status, 204);
    let text = String::from_utf8(world.get("/api/v1/audit?limit=1000").await.bytes).unwrap();
    assert!(!text.contains(enrolled["secret"].as_str().unwrap()));
}

struct Browser {
    cookie: String,
    csrf: String,
}

async fn browse(world: &World, name: &str) -> Browser {
    let reply = login(world, name, json!({ "kind": "cookie" })).await;
    let cookie = reply.header("set-cookie").split(';').next().unwrap().to_owned();
    Browser { cookie, csrf: reply.json()["csrfToken"].as_str().unwrap().to_owned() }
}

impl Browser {
    fn request(&self, method: Method, path: &str, body: Option<Value>) -> Request<Body> {
        let mut request = request(method, path, None, body);
        let headers = request.headers_mut();
        headers.insert("cookie", self.cookie.parse().unwrap());
        headers.insert("sec-fetch-site", "same-origin".parse().unwrap());
        headers.insert("x-hostler-csrf", self.csrf.parse().unwrap());
        request
    }
}

#[tokio::test]
async fn a_session_is_never_one_that_somebody_chose_before() {
    let world = World::new().await;
    person(&world, "ada", "user").await;
    let planted = browse(&world, "ada").await;
    let body = json!({ "name": "ada", "password": PASSWORD, "kind": "cookie" });
    let mut fixed = request(Method::POST, "/api/v1/login", None, Some(body));
    fixed.headers_mut().insert("cookie", planted.cookie.parse().unwrap());
    let reply = world.send(fixed).await;
    assert_eq!(reply.status, 200);
    let given = reply.header("set-cookie").split(';').next().unwrap().to_owned();
    assert_ne!(given, planted.cookie);
    let csrf = reply.json()["csrfToken"].as_str().unwrap().to_owned();
    let own = Browser { cookie: given.clone(), csrf };

    let body = json!({ "current": PASSWORD, "new": "another horse, another battery" });
    let path = "/api/v1/whoami/password";
    let changed = world.send(own.request(Method::POST, path, Some(body))).await;
    assert_eq!(changed.status, 204);
    let rekeyed = changed.header("set-cookie");
    for flag in ["HttpOnly", "Secure", "SameSite=Strict", "hostler_session=hst_ses_"] {
        assert!(rekeyed.contains(flag), "{flag} is not in {rekeyed}");
    }
    let fresh =
        Browser { cookie: rekeyed.split(';').next().unwrap().to_owned(), csrf: String::new() };
    for (browser, status) in [(&planted, 401), (&own, 401), (&fresh, 200)] {
        let reply = world.send(browser.request(Method::GET, "/api/v1/whoami", None)).await;
        assert_eq!(reply.status, status);
    }
}

#[tokio::test]
async fn sessions_of_others_are_the_admins_business() {
    let world = World::new().await;
    person(&world, "ada", "user").await;
    let ada = browse(&world, "ada").await;
    let listed = world.get("/api/v1/users/ada/sessions").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let id = listed["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/users/ada/sessions/{id}");
    let own = world.send(ada.request(Method::DELETE, &path, None)).await;
    assert_eq!(own.code(), "forbidden");
    assert_eq!(world.call(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(world.call(Method::DELETE, &path, None).await.code(), "not-found");
    let gone = world.send(ada.request(Method::GET, "/api/v1/whoami", None)).await;
    assert_eq!(gone.code(), "unauthenticated");
    browse(&world, "ada").await;
    login(&world, "ada", json!({})).await;
    let ended = world.call(Method::DELETE, "/api/v1/users/ada/sessions", None).await;
    assert_eq!(ended.json(), json!({ "browsers": 1, "commandLines": 1 }));
}

fn wrong_from(address: &str, name: &str) -> Request<Body> {
    let body = json!({ "name": name, "password": "wrong", "kind": "token" });
    let mut request = request(Method::POST, "/api/v1/login", None, Some(body));
    let address: SocketAddr = format!("{address}:1").parse().unwrap();
    request.extensions_mut().insert(Peer(address));
    request
}

/// One address tries ten thousand names at once. It waits; nobody else does. The first wait is so long that it
/// does not pass during the test, however slow the machine is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_wrong_passwords_starve_nobody() {
    let mut config = ControlConfig::default();
    let source = &mut config.login_rules.source;
    source.first = source.cap;
    let free = usize::try_from(source.free).unwrap();
    let world = World::configured(open_rates(), config).await;
    person(&world, "ada", "user").await;
    let attack = async {
        let attempts = futures::stream::iter(0..10_000).map(|n| {
            let request = wrong_from("192.0.2.1", &format!("guess-{n}"));
            async { world.send(request).await.code() }
        });
        attempts.buffer_unordered(200).collect::<Vec<String>>().await
    };
    let others = async {
        let mut slowest = Duration::ZERO;
        for n in 0..40 {
            let begun = Instant::now();
            assert_eq!(world.get("/api/v1/whoami").await.status, 200);
            if n % 10 == 0 {
                let mut right = wrong_from(&format!("10.0.0.{n}"), "ada");
                *right.body_mut() = Body::from(
                    json!({ "name": "ada", "password": PASSWORD, "kind": "token" }).to_string(),
                );
                let reply = world.send(right).await;
                assert_eq!(reply.status, 200, "{}", reply.json());
            }
            slowest = slowest.max(begun.elapsed());
        }
        slowest
    };
    let (outcomes, slowest) = tokio::join!(attack, others);
    assert!(slowest < Duration::from_secs(10), "somebody else waited {slowest:?}");
    let count = |code: &str| outcomes.iter().filter(|outcome| *outcome == code).count();
    assert_eq!(outcomes.len(), 10_000);
    let mut looked_at = count("unauthenticated");
    assert!((1..=free).contains(&looked_at), "{looked_at} were looked at");
    assert_eq!(count("rate-limited") + count("unavailable") + looked_at, 10_000);

    // Where hashing is slow, the flood found no place more often than it was looked at.
    let refused = loop {
        let reply = world.send(wrong_from("192.0.2.1", &format!("more-{looked_at}"))).await;
        match reply.code().as_str() {
            "unauthenticated" => looked_at += 1,
            _ => break reply,
        }
    };
    assert_eq!((refused.code().as_str(), looked_at), ("rate-limited", free));
    assert!((1..=300).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
    let events = world.get("/api/v1/events?kind=login.throttled").await.json();
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "{events}");
    let metrics = String::from_utf8(world.get("/metrics").await.bytes).unwrap();
    assert!(metrics.contains("hostler_logins_total{outcome=\"waiting\"}"), "{metrics}");
}
