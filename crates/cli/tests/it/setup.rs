use std::os::unix::fs::PermissionsExt;

use axum::Json;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use hostler_base::Clock;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::fake::Fake;
use crate::world::{World, refusal};

fn router() -> axum::Router {
    let whoami = |headers: HeaderMap| async move {
        match headers.get("authorization").and_then(|value| value.to_str().ok()) {
            Some("Bearer hst_pat_new" | "Bearer hst_pat_stored") => {
                axum::response::IntoResponse::into_response(Json(json!({
                    "id": uuid::Uuid::from_u128(9), "name": "ada", "kind": "user", "role": "admin",
                    "projects": [{ "project": uuid::Uuid::from_u128(1), "role": "viewer" }],
                })))
            }
            _ => refusal(Code::Unauthenticated, "nobody is logged in"),
        }
    };
    let login = |Json(body): Json<Value>| async move {
        let is_right = body["password"] == "correct horse" && body["kind"] == "token";
        let view = json!({ "name": body["name"], "token": "hst_pat_new", "timeExpires": "2026-04-01T00:00:00Z" });
        if is_right {
            axum::response::IntoResponse::into_response(Json(view))
        } else {
            refusal(Code::Unauthenticated, "the name or the password is wrong")
        }
    };
    let health = || async { Json(json!({ "status": "ok", "checks": {} })) };
    axum::Router::new()
        .route("/livez", get(health))
        .route("/readyz", get(health))
        .route("/version", get(|| async { Json(json!({ "version": "0.1.0", "apiVersion": "v1", "serverId": uuid::Uuid::from_u128(7), "needsSetup": false })) }))
        .route("/api/v1/whoami", get(whoami))
        .route("/api/v1/login", post(login))
        .route("/api/v1/setup", post(login))
        .route("/api/v1/logout", post(|| async { axum::http::StatusCode::NO_CONTENT }))
        .route("/api/v1/diagnosis", get(|| async { Json(json!({ "worst": "critical", "findings": [
            { "check": "database", "severity": "ok", "what": "SQLite, 1.0MiB" },
            { "check": "nodes", "severity": "critical", "what": "none of 2 nodes is online",
              "why": "nothing can run", "evidence": ["web-1: away for 2h"], "next": "hostler node ls" },
        ] })) }))
}

/// Nothing is known yet, and the time is the real one, which certificates need.
async fn stranger() -> World {
    let mut world = World::unknown(router()).await;
    world.environment.clock = Clock::system();
    world
}

fn masked(world: &World, text: &str) -> String {
    text.replace(&world.fake.fingerprint, "sha256:SHOWN")
        .replace(&world.fake.address, "https://SERVER")
}

#[tokio::test]
async fn a_login_pins_the_authority_before_anything_secret_is_sent() {
    let world = stranger().await;
    let address = world.fake.address.clone();
    let words = ["login", &address, "--name", "ada", "--password-stdin"];
    let ran = world.hostler_with(&words, "correct horse\n").await;
    assert_eq!(ran.code, 6);
    insta::assert_snapshot!(masked(&world, &ran.err));
    assert_eq!(world.requests(), ["GET /livez"]);

    let wrong = format!("sha256:{}", "0".repeat(64));
    let ran = world
        .hostler_with(&[&words[..], &["--fingerprint", &wrong]].concat(), "correct horse\n")
        .await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert_eq!(world.requests(), ["GET /livez", "GET /livez"]);

    let right = world.fake.fingerprint.clone();
    let ran =
        world.hostler_with(&[&words[..], &["--fingerprint", &right]].concat(), "wrong\n").await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(!world.environment.config_file.exists());
    let ran = world
        .hostler_with(&[&words[..], &["--fingerprint", &right]].concat(), "correct horse\n")
        .await;
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "logged in to https://SERVER as ada; the current context is local\n")
    );

    for file in [&world.environment.config_file, &world.environment.credentials_file] {
        assert!(file.starts_with(world.home.path()));
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let config = std::fs::read_to_string(&world.environment.config_file).unwrap();
    assert!(!config.contains("hst_pat"), "{config}");
    let ran = world.hostler(&["whoami", "-o", "name"]).await;
    assert_eq!((ran.code, ran.text().as_str()), (0, "user/ada\n"), "{}", ran.err);

    let ran = world.hostler_with(&words, "correct horse\n").await;
    assert_eq!(ran.code, 0, "a pinned authority needs no fingerprint: {}", ran.err);
    let ran = world.hostler(&["logout"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "logged out of https://SERVER\n"));
    let ran = world.hostler(&["whoami"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
}

#[tokio::test]
async fn a_person_decides_whom_to_trust() {
    let world = stranger().await;
    let address = world.fake.address.clone();
    let words = ["login", &address, "--name", "ada", "--password-stdin", "--yes"];
    let ran = world.hostler_at_terminal(&words, "n\ncorrect horse\n").await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains(&world.fake.fingerprint), "{}", ran.err);
    assert_eq!(world.requests(), ["GET /livez"]);
    let ran = world.hostler_at_terminal(&words, "y\ncorrect horse\n").await;
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[tokio::test]
async fn the_first_admin_is_made_with_the_code() {
    let world = stranger().await;
    let (address, fingerprint) = (world.fake.address.clone(), world.fake.fingerprint.clone());
    let words = [
        "login",
        &address,
        "--fingerprint",
        &fingerprint,
        "--setup",
        "CODE",
        "--name",
        "ada",
        "--password-stdin",
    ];
    let ran =
        world.hostler_with(&[&words[..], &["--context", "mine"]].concat(), "correct horse\n").await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(world.requests().contains(&"POST /api/v1/setup".to_owned()));
    let ran = world
        .hostler(&[
            "context",
            "ls",
            "-o",
            "jsonpath={.items[0].name} {.items[0].isCurrent} {.items[0].hasToken}",
        ])
        .await;
    assert_eq!(ran.text(), "mine true true\n");
}

#[tokio::test]
async fn a_changed_authority_is_refused() {
    let mut world = stranger().await;
    let address = world.fake.address.clone();
    let other = Fake::start(axum::Router::new()).await;
    let secrets = hostler_cli::config::Secrets { token: None, ca_pem: other.ca_pem.clone() };
    hostler_cli::config::save_context(&world.environment, "local", &address, None, &secrets, true)
        .unwrap();
    let ran = world.hostler(&["login", "--name", "ada", "--password-stdin"]).await;
    assert_eq!(ran.code, 6);
    assert!(ran.err.contains("has changed from"), "{}", ran.err);
    let ran = world.hostler(&["whoami"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(
        ran.err.starts_with("error: the server at https://SERVER did not prove"),
        "{}",
        ran.err
    );
    world.environment.clock = Clock::system();
    let ran = world.hostler(&["doctor"]).await;
    assert_eq!(ran.code, 1);
    assert!(ran.text().contains("it presents sha256:"), "{}", ran.text());
}

#[tokio::test]
async fn credentials_go_only_where_they_belong() {
    let world = World::new(router()).await;
    let stranger = World::new(router()).await;
    let address = stranger.fake.address.clone();
    let ca = world.home.path().join("ca.pem");
    std::fs::write(&ca, &stranger.fake.ca_pem).unwrap();
    let ca = ca.to_str().unwrap();
    let ran = world.hostler(&["whoami", "--address", &address, "--cacert", ca]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert_eq!(stranger.seen.lock().unwrap()[0].authorization, None);

    let token = world.home.path().join("token");
    std::fs::write(&token, "hst_pat_new\n").unwrap();
    let token = token.to_str().unwrap();
    let ran = world
        .hostler(&["whoami", "--address", &address, "--cacert", ca, "--token-file", token])
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let own = world.fake.address.replace("https://", "");
    let ran = world.hostler(&["whoami", "--address", &own]).await;
    assert_eq!(ran.code, 0, "the context of that address is found: {}", ran.err);
}

#[tokio::test]
async fn values_show_where_they_come_from() {
    let mut world = World::new(router()).await;
    world.environment.token = Some(hostler_trust::SecretString::new("hst_pat_new"));
    let ran = world.hostler(&["context", "show", "-p", "lab"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    insta::assert_snapshot!(masked(&world, &ran.text()));
    world.hostler(&["context", "use", "local", "-p", "lab"]).await;
    let ran = world
        .hostler(&["context", "show", "-o", "jsonpath={.project.value} {.project.source}"])
        .await;
    assert_eq!(ran.text(), "lab context `local`\n");
    let ran = world.hostler(&["context", "rm", "local"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "context local forgotten\n"));
    assert_eq!(world.hostler(&["context", "rm", "local"]).await.code, 3);
    assert_eq!(world.hostler(&["context", "use", "local"]).await.code, 3);
}

#[tokio::test]
async fn saving_a_context_again_keeps_its_token() {
    let world = World::new(router()).await;
    world.save("local", None);
    assert_eq!(world.hostler(&["whoami"]).await.code, 0);
}

#[tokio::test]
async fn the_doctor_finds_what_is_wrong_first() {
    let mut world = World::new(router()).await;
    world.environment.clock = Clock::system();
    let ran = world.hostler(&["doctor"]).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    let text = masked(&world, &ran.text()).replace(world.home.path().to_str().unwrap(), "HOME");
    insta::assert_snapshot!(text.replace("1s apart", "0s apart"));
    let ran = world.hostler(&["doctor", "-o", "jsonpath={.items[*].severity}"]).await;
    assert_eq!(ran.text(), "ok ok ok ok ok ok ok ok critical\n");
    std::fs::write(&world.environment.config_file, "nonsense").unwrap();
    let ran = world.hostler(&["doctor", "-o", "jsonpath={.items[*].severity}"]).await;
    assert_eq!((ran.code, ran.text().as_str()), (1, "critical\n"));
}

#[tokio::test]
async fn versions_are_told_with_or_without_a_server() {
    let world = World::new(router()).await;
    let ran = world.hostler(&["version"]).await;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!((ran.code, ran.text()), (0, format!("hostler {version}\nserver  0.1.0 (API v1)\n")));
    let alone = World::unknown(router()).await;
    let ran = alone.hostler(&["version"]).await;
    assert_eq!(
        (ran.code, ran.text(), ran.err.as_str()),
        (0, format!("hostler {version}\n"), "server  no server is known here\n")
    );
}
