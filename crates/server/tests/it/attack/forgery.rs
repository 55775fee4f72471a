//! Credentials that somebody made up, planted, or lets a browser send.

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hostler_api::{Access, IfMatch};
use hostler_trust::{SecretToken, TokenKind};
use http::{Method, Request};
use serde_json::{Value, json};

use super::{counted, goes_on, problems, refusals};
use crate::world::{World, request};

const PASSWORD: &str = "correct horse battery staple";
const WHOAMI: &str = "/api/v1/whoami";

fn jwt(header: &Value, claims: &Value, signature: &[u8]) -> String {
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let (header, claims) = (header.to_string(), claims.to_string());
    format!("{}.{}.{}", part(header.as_bytes()), part(claims.as_bytes()), part(signature))
}

/// Without a signature, with one that anybody can make, and with keys that the token itself names.
#[tokio::test]
async fn forged_jwts_are_unknown_tokens() {
    let world = World::new().await;
    let claims = json!({
        "iss": "hostler", "sub": "admin", "aud": "hostler", "role": "admin", "exp": 99_999_999_999_u64,
    });
    let signature = [7; 32];
    let public = world.control.authority().certificate_pem();
    let mut forged = vec![
        jwt(&json!({ "alg": "none", "typ": "JWT" }), &claims, b""),
        jwt(&json!({ "alg": "None" }), &claims, b""),
        jwt(&json!({ "alg": "nOnE" }), &claims, &signature),
        jwt(&json!({ "alg": "" }), &claims, b""),
        jwt(&json!({ "alg": "HS256" }), &claims, &signature),
        jwt(&json!({ "alg": "HS256", "kid": "../../../../dev/null" }), &claims, &signature),
        jwt(&json!({ "alg": "HS256", "kid": "' OR 1=1 --" }), &claims, &signature),
        jwt(&json!({ "alg": "ES256", "jku": "https://evil.example/keys" }), &claims, &signature),
        jwt(&json!({ "alg": "ES256", "x5u": "https://evil.example/chain" }), &claims, &[0; 64]),
        jwt(&json!({ "alg": "ES256", "jwk": { "kty": "oct", "k": "AAAA" } }), &claims, &[0; 64]),
        jwt(&json!({ "alg": "ES256" }), &claims, &[0; 64]),
        jwt(&json!({ "alg": "HS256", "x5c": [public] }), &claims, &signature),
        jwt(&json!({ "alg": "none", "pad": "x".repeat(15_000) }), &claims, b""),
        jwt(&json!([1, 2]), &json!("claims"), b""),
        "..".to_owned(),
        "e30.e30.".to_owned(),
        ".e30.e30".to_owned(),
    ];
    forged.extend(forged.clone().iter().map(|token| format!("hst_pat_{token}")));
    for token in &forged {
        let reply = world.call_as(token, Method::GET, WHOAMI, None).await;
        assert_eq!(reply.code(), "unauthenticated", "{token}");
        assert!(reply.header("www-authenticate").starts_with("Bearer"), "{token}");
        let mut as_cookie = request(Method::GET, WHOAMI, None, None);
        let cookie = format!("hostler_session={token}").parse().unwrap();
        as_cookie.headers_mut().insert("cookie", cookie);
        assert_eq!(world.send(as_cookie).await.code(), "unauthenticated", "{token}");
    }
    assert!(refusals(&world, "whoami").await >= 2 * forged.len() as u64);
    let as_tokens =
        forged.iter().filter(|token| hostler_trust::jwt::looks_like(token)).count() as u64;
    let noted = counted(&world, "hostler_identity_tokens_total{outcome=\"refused\"}").await;
    assert!(as_tokens > 10 && noted == as_tokens, "{noted} of {as_tokens} are counted");
    goes_on(&world).await;
}

#[tokio::test]
async fn a_token_of_another_kind_is_no_credential() {
    let world = World::new().await;
    let setup = world.control.setup_code_issue().await.unwrap().unwrap();
    let joining = world.post("/api/v1/join-tokens", json!({})).await.json();
    let joining = joining["ticket"].as_str().unwrap().split('.').next().unwrap().to_owned();
    let mut others = vec![setup.expose().to_owned(), joining];
    others
        .extend(TokenKind::ALL.iter().map(|kind| SecretToken::generate(*kind).expose().to_owned()));
    let before = problems(&world, "unauthenticated").await;
    for token in &others {
        let reply = world.call_as(token, Method::GET, WHOAMI, None).await;
        assert_eq!(reply.code(), "unauthenticated");
        let body = json!({ "token": token, "name": "evil", "csr": "x" });
        let joined = world.send(request(Method::POST, "/api/v1/join", None, Some(body))).await;
        assert!(joined.status.is_client_error());
    }
    let nodes = world.get("/api/v1/nodes").await.json();
    assert_eq!(nodes["items"], json!([]));
    let count = others.len() as u64;
    assert!(problems(&world, "unauthenticated").await >= before + count);
    assert_eq!(refusals(&world, "whoami").await, count);
    assert_eq!(refusals(&world, "join").await, count);
    let events = world.get("/api/v1/events?kind=join.refused").await.json();
    assert!(!events["items"].as_array().unwrap().is_empty(), "{events}");
    goes_on(&world).await;
}

/// Somebody who is set up, in a browser.
async fn browse(world: &World, planted: Option<&str>) -> (String, String) {
    let body = json!({ "name": "ada", "password": PASSWORD, "kind": "cookie" });
    let mut login = request(Method::POST, "/api/v1/login", None, Some(body));
    if let Some(planted) = planted {
        let cookie = format!("hostler_session={planted}").parse().unwrap();
        login.headers_mut().insert("cookie", cookie);
    }
    let reply = world.send(login).await;
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.bytes));
    let cookie = reply.header("set-cookie").split(';').next().unwrap().to_owned();
    (cookie, reply.json()["csrfToken"].as_str().unwrap().to_owned())
}

async fn person(world: &World) {
    let body = json!({ "name": "ada", "kind": "user", "password": PASSWORD, "role": "admin" });
    assert_eq!(world.post("/api/v1/users", body).await.status, 201);
}

/// Session fixation: a session that somebody chose for another does not become theirs.
#[tokio::test]
async fn a_planted_session_is_not_taken_over_by_a_login() {
    let world = World::new().await;
    person(&world).await;
    let planted = SecretToken::generate(TokenKind::Session).expose().to_owned();
    let (cookie, _) = browse(&world, Some(&planted)).await;
    assert!(!cookie.contains(&planted), "a login makes a session of its own");
    for (session, status) in [(format!("hostler_session={planted}"), 401), (cookie, 200)] {
        let mut asks = request(Method::GET, WHOAMI, None, None);
        asks.headers_mut().insert("cookie", session.parse().unwrap());
        assert_eq!(world.send(asks).await.status, status);
    }
    let sessions = world.get("/api/v1/users/ada/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "{sessions}");
    assert!(refusals(&world, "whoami").await >= 1);
    goes_on(&world).await;
}

/// Every endpoint that changes something, with the cookie of an admin and nothing else, as a form or a
/// script of another site would send it.
#[tokio::test]
async fn no_endpoint_is_open_to_csrf() {
    let world = World::new().await;
    person(&world).await;
    let (cookie, csrf) = browse(&world, None).await;
    let forms = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];
    let entries = "/api/v1/audit?limit=1";
    let before = world.get(entries).await.json()["items"][0]["sequence"].clone();
    let mut tried = 0;
    for endpoint in hostler_api::all() {
        if endpoint.method == Method::GET || endpoint.access == Access::Public {
            continue;
        }
        let parts = endpoint.path.split('/');
        let parts = parts.map(|part| if part.starts_with('{') { "default" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        let sites: [&[(&str, &str)]; 5] = [
            &[],
            &[("origin", "https://evil.example")],
            &[("origin", "null"), ("x-hostler-csrf", csrf.as_str())],
            &[("sec-fetch-site", "cross-site"), ("x-hostler-csrf", csrf.as_str())],
            &[("sec-fetch-site", "same-origin")],
        ];
        for (headers, kind) in sites.iter().zip(forms.iter().cycle()) {
            let mut request = Request::builder()
                .method(endpoint.method.clone())
                .uri(&path)
                .header("host", "server.example")
                .header("cookie", &cookie)
                .header("content-type", *kind);
            for (name, value) in *headers {
                request = request.header(*name, *value);
            }
            if endpoint.if_match == IfMatch::Always {
                request = request.header("if-match", "\"1\"");
            }
            let reply = world.send(request.body(Body::from("{}")).unwrap()).await;
            assert_eq!(reply.code(), "forbidden", "{} {headers:?}", endpoint.name);
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
    assert_eq!(world.get(entries).await.json()["items"][0]["sequence"], before, "nothing changed");
    assert!(refusals(&world, "project_create").await >= 5);
    goes_on(&world).await;
}

#[tokio::test]
async fn no_get_changes_anything() {
    let world = World::new().await;
    let task = json!({ "name": "one", "spec": { "command": ["true"] } });
    assert_eq!(world.post("/api/v1/projects/default/tasks", task).await.status, 201);
    let latest = async || {
        let entries = world.get("/api/v1/audit?limit=1").await.json();
        let events = world.get("/api/v1/events?limit=1000").await.json();
        let count = events["items"].as_array().unwrap().len();
        (entries["items"][0]["sequence"].clone(), count)
    };
    let before = latest().await;
    for endpoint in hostler_api::all().iter().filter(|endpoint| endpoint.method == Method::GET) {
        let named = |part: &str| match part {
            "{project}" => "default".to_owned(),
            "{task}" => "one".to_owned(),
            part if part.starts_with('{') => "none-such".to_owned(),
            part => part.to_owned(),
        };
        let path = endpoint.path.split('/').map(named).collect::<Vec<_>>().join("/");
        let reply = world.get(&path).await;
        assert_ne!(reply.status, 500, "{path}");
        for method in [Method::OPTIONS, Method::TRACE] {
            let other = world.call(method, &path, None).await;
            assert!(other.status.is_client_error(), "{path}");
        }
    }
    assert_eq!(latest().await, before);
    assert!(problems(&world, "method-not-allowed").await > 50, "other methods are counted");
    goes_on(&world).await;
}

/// Cursors that nobody was given, at every list: the key of a page, or a mistake of who asks.
#[tokio::test]
async fn made_up_cursors_are_pages_or_mistakes() {
    let world = World::new().await;
    let task = json!({ "name": "one", "spec": { "command": ["true"] } });
    assert_eq!(world.post("/api/v1/projects/default/tasks", task).await.status, 201);
    let long = "x".repeat(10_000);
    let keys = ["", "a\0b", "'; DROP TABLE project; --", "~", "a/b/c", "1.2", "a:-1", "-1", &long];
    let mut lists = 0;
    for endpoint in hostler_api::all().iter().filter(|endpoint| endpoint.method == Method::GET) {
        let path = endpoint.path.replace("{project}", "default");
        if path.contains('{') || !path.starts_with("/api/v1/") {
            continue;
        }
        let (mut is_list, mut is_checked) = (false, false);
        for key in keys {
            let cursor = format!("p.{}", URL_SAFE_NO_PAD.encode(key));
            let reply = world.get(&format!("{path}?cursor={cursor}")).await;
            assert_ne!(reply.status, 500, "{path} {key}");
            is_list |= reply.status == 200;
            is_checked |= key.contains('\0') && reply.status == 400;
        }
        assert!(is_checked || !is_list, "{path} takes a key that a database does not take");
        lists += u64::from(is_list);
    }
    assert!(lists > 10, "{lists}");
    goes_on(&world).await;
}

/// Out of the pages that are part of the binary, in every spelling.
#[tokio::test]
async fn path_traversal_out_of_the_pages_leads_nowhere() {
    let world = World::new().await;
    let start = world.get("/").await.bytes;
    let before = problems(&world, "").await;
    let mut refused = 0;
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/%252e%252e%252fetc%252fpasswd",
        "/..%5c..%5cetc%5cpasswd",
        "/..%c0%af..%c0%afetc%c0%afpasswd",
        "/assets/..%00/etc/passwd",
        "/docs/../../etc/passwd",
        "/docs/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/etc/passwd%00.js",
        "/proc/self/environ",
        "/.git/config",
    ] {
        let reply = world.get(path).await;
        let text = String::from_utf8_lossy(&reply.bytes);
        assert!(!text.contains("root:"), "{path}");
        let is_start = reply.status == 200 && reply.bytes == start;
        assert!(is_start || reply.status.is_client_error(), "{path}: {}", reply.status);
        refused += u64::from(!is_start);
    }
    // Where the start page is shown, as for any address of the dashboard, nothing was refused.
    assert_eq!(problems(&world, "").await, before + refused);
    goes_on(&world).await;
}

/// Into another object through the address: whatever is in a name stays one name.
#[tokio::test]
async fn path_traversal_in_names_reaches_no_other_object() {
    let world = World::new().await;
    world.project("mine").await;
    world.project("theirs").await;
    let token = world.account("eve", None, Some(("mine", "admin"))).await;
    let secret = json!({ "name": "hidden", "spec": { "command": ["true"] } });
    assert_eq!(world.post("/api/v1/projects/theirs/tasks", secret).await.status, 201);
    let (before, mut tried) = (problems(&world, "").await, 0);
    for up in ["..", "%2e%2e", "%252e%252e", ".%2e", "..%00", "..;", "..%5c", "%c0%ae%c0%ae"] {
        for slash in ["/", "%2f", "%252f", "%5c", "//"] {
            let path = format!(
                "/api/v1/projects/mine/tasks/{up}{slash}{up}{slash}theirs{slash}tasks{slash}hidden"
            );
            let reply = world.call_as(&token, Method::GET, &path, None).await;
            assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
            let direct = format!("/api/v1/projects/mine{slash}{up}{slash}theirs/tasks/hidden");
            let reply = world.call_as(&token, Method::GET, &direct, None).await;
            assert!(reply.status.is_client_error(), "{direct}: {}", reply.status);
            tried += 2;
        }
    }
    assert_eq!(problems(&world, "").await, before + tried);
    goes_on(&world).await;
}
