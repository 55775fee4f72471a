//! Browsers: cookies, and requests that other sites make them send.

use axum::body::Body;
use hostler_server::http::{Rate, Rates};
use http::{Method, Request};
use serde_json::{Value, json};

use crate::world::{Reply, World, request};

struct Browser {
    cookie: String,
    csrf: String,
}

const PASSWORD: &str = "correct horse battery staple";

async fn set_up(world: &World) -> Browser {
    let code = world.control.setup_code_issue().await.unwrap().unwrap();
    let body =
        json!({ "code": code.expose(), "name": "ada", "password": PASSWORD, "kind": "cookie" });
    let reply = world.send(request(Method::POST, "/api/v1/setup", None, Some(body))).await;
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.bytes));
    browser(&reply)
}

fn browser(reply: &Reply) -> Browser {
    let cookie = reply.header("set-cookie");
    for flag in ["HttpOnly", "Secure", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(flag), "{flag} is not in {cookie}");
    }
    let view = reply.json();
    assert_eq!(view.get("token"), None);
    let csrf = view["csrfToken"].as_str().unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert!(!String::from_utf8_lossy(&reply.bytes).contains(cookie.split('=').nth(1).unwrap()));
    Browser { cookie, csrf }
}

impl Browser {
    fn request(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
        let body = (method != Method::GET).then(|| json!({ "name": "made" }));
        let mut request = request(method, path, None, body);
        request.headers_mut().insert("cookie", self.cookie.parse().unwrap());
        request.headers_mut().insert("host", "server.example".parse().unwrap());
        for (name, value) in headers {
            let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        request
    }
}

#[tokio::test]
async fn a_cookie_alone_changes_nothing() {
    let world = World::new().await;
    let browser = set_up(&world).await;
    let csrf = ("x-hostler-csrf", browser.csrf.as_str());
    let same = ("sec-fetch-site", "same-origin");
    let refused: &[&[(&str, &str)]] = &[
        &[],
        &[csrf],
        &[same],
        &[same, ("x-hostler-csrf", "wrong")],
        &[csrf, ("sec-fetch-site", "cross-site")],
        &[csrf, ("sec-fetch-site", "same-site")],
        &[csrf, ("origin", "https://evil.example")],
        &[csrf, ("origin", "null")],
        &[csrf, ("sec-fetch-site", "cross-site"), ("origin", "https://server.example")],
    ];
    for headers in refused {
        let reply = world.send(browser.request(Method::POST, "/api/v1/projects", headers)).await;
        assert_eq!(reply.code(), "forbidden", "{headers:?}");
    }
    assert_eq!(world.get("/api/v1/projects/made").await.status, 404);
    let allowed = [csrf, same];
    let reply = world.send(browser.request(Method::POST, "/api/v1/projects", &allowed)).await;
    assert_eq!(reply.status, 201);
    let old_browser = [csrf, ("origin", "https://server.example")];
    let reply = world.send(browser.request(Method::POST, "/api/v1/projects", &old_browser)).await;
    assert_eq!(reply.code(), "already-exists");
}

#[tokio::test]
async fn reading_works_with_the_cookie_and_not_from_other_sites() {
    let world = World::new().await;
    let browser = set_up(&world).await;
    let reply = world.send(browser.request(Method::GET, "/api/v1/whoami", &[])).await;
    assert_eq!(reply.json()["csrfToken"], browser.csrf.as_str());
    assert_eq!(reply.json()["role"], "admin");
    for site in ["cross-site", "same-site"] {
        let headers = [("sec-fetch-site", site)];
        let path = "/api/v1/events?watch=true";
        let reply = world.send(browser.request(Method::GET, path, &headers)).await;
        assert_eq!(reply.code(), "forbidden");
    }
    let both = browser.request(Method::GET, "/api/v1/whoami", &[("authorization", "Bearer x")]);
    assert_eq!(world.send(both).await.code(), "malformed");
}

#[tokio::test]
async fn logging_out_ends_the_session_and_takes_the_cookie_back() {
    let world = World::new().await;
    let browser = set_up(&world).await;
    let headers = [("x-hostler-csrf", browser.csrf.as_str()), ("sec-fetch-site", "same-origin")];
    let mut logout = browser.request(Method::POST, "/api/v1/logout", &headers);
    *logout.body_mut() = Body::empty();
    let reply = world.send(logout).await;
    assert_eq!(reply.status, 204);
    assert!(reply.header("set-cookie").starts_with("hostler_session=; "));
    assert!(reply.header("set-cookie").contains("Max-Age=0"));
    let reply = world.send(browser.request(Method::GET, "/api/v1/whoami", &[])).await;
    assert_eq!(reply.code(), "unauthenticated");
}

async fn login(world: &World, body: Value, site: Option<&str>) -> Reply {
    let mut request = request(Method::POST, "/api/v1/login", None, Some(body));
    if let Some(site) = site {
        request.headers_mut().insert("sec-fetch-site", site.parse().unwrap());
    }
    world.send(request).await
}

#[tokio::test]
async fn login_gives_what_was_asked_for() {
    let world = World::new().await;
    set_up(&world).await;
    let with = |kind: &str| json!({ "name": "ada", "password": PASSWORD, "kind": kind });
    browser(&login(&world, with("cookie"), Some("same-origin")).await);
    let reply = login(&world, with("token"), None).await;
    assert_eq!(reply.headers.get("set-cookie"), None);
    let token = reply.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(
        world.call_as(&token, Method::GET, "/api/v1/whoami", None).await.json()["name"],
        "ada"
    );
    assert_eq!(login(&world, with("cookie"), Some("cross-site")).await.code(), "forbidden");
    let wrong = json!({ "name": "ada", "password": "wrong", "kind": "token" });
    assert_eq!(login(&world, wrong, None).await.code(), "unauthenticated");
    let nobody = json!({ "name": "eve", "password": "wrong", "kind": "token" });
    assert_eq!(login(&world, nobody, None).await.code(), "unauthenticated");
}

#[tokio::test]
async fn guessing_passwords_is_slowed_down() {
    let world = World::new().await;
    set_up(&world).await;
    let with = |password: &str| json!({ "name": "ada", "password": password, "kind": "token" });
    for _ in 0..10 {
        assert_eq!(login(&world, with("wrong"), None).await.code(), "unauthenticated");
    }
    let reply = login(&world, with(PASSWORD), None).await;
    assert_eq!(reply.code(), "rate-limited");
    assert!(reply.header("retry-after").parse::<u64>().unwrap() >= 1);

    let rates = Rates { login_source: Rate::new(1.0, 0.01), ..Rates::default() };
    let world = World::with_rates(rates).await;
    let body = json!({ "name": "eve", "password": "x", "kind": "token" });
    assert_eq!(login(&world, body.clone(), None).await.code(), "unauthenticated");
    assert_eq!(login(&world, body, None).await.code(), "rate-limited");
}

#[tokio::test]
async fn a_principal_has_a_budget() {
    let rates = Rates { principal: Rate::new(3.0, 0.01), ..Rates::default() };
    let world = World::with_rates(rates).await;
    for _ in 0..3 {
        assert_eq!(world.get("/api/v1/whoami").await.status, 200);
    }
    assert_eq!(world.get("/api/v1/whoami").await.code(), "rate-limited");
}
