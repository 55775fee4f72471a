//! Invitations, resets, sessions, and the second factor on the command line.

use axum::Json;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use hostler_base::Clock;
use hostler_model::Code;
use hostler_trust::{Link, SecretToken, TokenKind};
use serde_json::{Value, json};

use crate::world::{World, refusal};

fn invitation(project: Option<&str>) -> Value {
    let mut view = json!({
        "id": uuid::Uuid::from_u128(7), "role": "operator", "email": "ada@example.org", "state": "unused",
        "createdBy": "boss", "timeCreated": "2026-01-31T12:00:00Z", "timeExpires": "2026-02-03T12:00:00Z",
    });
    if let Some(project) = project {
        view["project"] = project.into();
        view["name"] = "ada".into();
    }
    view
}

#[tokio::test]
async fn a_link_is_data_and_what_it_is_for_is_talk() {
    let made = |project: Option<&'static str>| {
        move |Json(body): Json<Value>| async move {
            assert_eq!(body["role"], "operator");
            let view = json!({ "invitation": invitation(project), "link": "https://control:7443/#invitation=hst_inv_x.ab" });
            (axum::http::StatusCode::CREATED, Json(view))
        }
    };
    let reset = || async {
        let view = json!({ "user": "ada", "link": "https://control:7443/#reset=hst_reset_x.ab", "timeExpires": "2026-01-31T13:00:00Z" });
        (axum::http::StatusCode::CREATED, Json(view))
    };
    let gone = || async { axum::http::StatusCode::NO_CONTENT };
    let listed = || async { Json(json!({ "items": [invitation(None), invitation(Some("lab"))] })) };
    let router = axum::Router::new()
        .route("/api/v1/invitations", post(made(None)).get(listed))
        .route("/api/v1/projects/lab/invitations", post(made(Some("lab"))))
        .route("/api/v1/invitations/{id}", delete(gone))
        .route("/api/v1/projects/lab/invitations/{id}", delete(gone))
        .route("/api/v1/users/ada/password-reset", post(reset));
    let world = World::new(router).await;
    let ran = world.hostler(&["user", "invite", "--role", "operator"]).await;
    assert_eq!(ran.text(), "https://control:7443/#invitation=hst_inv_x.ab\n");
    assert_eq!(
        ran.err,
        "somebody is invited to be operator on the whole installation; this link works once and expires in 3d:\n"
    );
    let words = ["user", "invite", "--role", "operator", "--only-project", "lab", "--name", "ada"];
    let ran = world.hostler(&words).await;
    assert_eq!(
        ran.err,
        "ada is invited to be operator in project lab; this link works once and expires in 3d:\n"
    );
    let ran = world.hostler(&[&words[..], &["-o", "jsonpath={.invitation.id}"]].concat()).await;
    assert_eq!(ran.text(), format!("{}\n", uuid::Uuid::from_u128(7)));
    let ran = world.hostler(&["invitation", "ls"]).await;
    insta::assert_snapshot!("invitations", ran.text());
    let ran = world.hostler(&["invitation", "rm", "invitation/a", "b"]).await;
    assert_eq!(ran.err, "invitation a revoked\ninvitation b revoked\n");
    let ran = world.hostler(&["invitation", "rm", "a", "--only-project", "lab"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = world.hostler(&["user", "reset", "user/ada"]).await;
    assert_eq!(ran.text(), "https://control:7443/#reset=hst_reset_x.ab\n");
    assert_eq!(ran.err, "with this link ada sets a new password, once; it expires in 1h:\n");
    assert!(world.requests().contains(&"DELETE /api/v1/projects/lab/invitations/a".to_owned()));
}

fn doors() -> axum::Router {
    let whoami = || async {
        Json(
            json!({ "id": uuid::Uuid::from_u128(9), "name": "ada", "kind": "user", "projects": [], "secondFactor": "required" }),
        )
    };
    let granted = || {
        Json(
            json!({ "name": "ada", "token": "hst_pat_new", "timeExpires": "2026-04-01T00:00:00Z" }),
        )
    };
    let show = |Json(body): Json<Value>| async move {
        assert!(body["invitation"].as_str().unwrap().starts_with("hst_inv_"));
        Json(
            json!({ "role": "user", "project": "lab", "name": "ada", "createdBy": "boss", "timeExpires": "2026-04-01T00:00:00Z" }),
        )
    };
    let accept = move |Json(body): Json<Value>| async move {
        assert_eq!((&body["name"], &body["password"]), (&json!("ada"), &json!("correct horse")));
        (axum::http::StatusCode::CREATED, granted())
    };
    let reset = |Json(body): Json<Value>| async move {
        assert_eq!(body["password"], "correct horse");
        Json(json!({ "user": "ada" }))
    };
    let login = move |Json(body): Json<Value>| async move {
        match body["code"].as_str() {
            None => refusal(Code::SecondFactorRequired, "a code is needed too"),
            Some("123456") => granted().into_response(),
            Some(_) => refusal(Code::Unauthenticated, "the code is wrong"),
        }
    };
    axum::Router::new()
        .route("/livez", get(|| async { Json(json!({ "status": "ok", "checks": {} })) }))
        .route("/api/v1/whoami", get(whoami))
        .route("/api/v1/accept/show", post(show))
        .route("/api/v1/accept", post(accept))
        .route("/api/v1/password-reset", post(reset))
        .route("/api/v1/login", post(login))
}

/// Nothing is known yet, and the time is the real one, which certificates need.
async fn stranger() -> World {
    let mut world = World::unknown(doors()).await;
    world.environment.clock = Clock::system();
    world
}

fn link(world: &World, kind: TokenKind, fingerprint: &str) -> String {
    let link = Link {
        address: world.fake.address.clone(),
        token: SecretToken::generate(kind),
        authority: fingerprint.parse().unwrap(),
    };
    link.encode().expose().to_owned()
}

#[tokio::test]
async fn an_invitation_says_whom_to_trust_and_logs_in() {
    let world = stranger().await;
    let foreign = link(&world, TokenKind::Invitation, &"ab".repeat(32));
    let words = |link: &str| ["login", "--password-stdin", "--invitation", link].map(str::to_owned);
    let run = async |link: &str| {
        let words = words(link);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        world.hostler_with(&words, "correct horse\n").await
    };
    let ran = run(&foreign).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("as the link says"), "{}", ran.err);
    assert_eq!(world.requests(), ["GET /livez"], "nothing secret was sent");
    let ran = run(&link(&world, TokenKind::Reset, &world.fake.fingerprint)).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = run(&link(&world, TokenKind::Invitation, &world.fake.fingerprint)).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.err,
        "boss invites you to be user in project lab\nlogged in to https://SERVER as ada; the current context is local\n"
    );
    for request in world.requests() {
        assert!(!request.contains("hst_inv"), "a secret in an address: {request}");
    }
    let ran = world.hostler(&["whoami"]).await;
    assert!(
        ran.text().contains("required, and missing: `hostler auth totp enrol`"),
        "{}",
        ran.text()
    );
}

#[tokio::test]
async fn a_reset_sets_the_password_and_logs_in_with_a_code() {
    let world = stranger().await;
    let link = link(&world, TokenKind::Reset, &world.fake.fingerprint);
    let words = ["login", "--password-stdin", "--reset", &link];
    let ran = world.hostler_with(&words, "correct horse\n123456\n").await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.starts_with("the password of ada is set, and its sessions have ended\n"));
}

#[tokio::test]
async fn a_login_asks_for_the_code_where_one_is_needed() {
    let world = stranger().await;
    let (address, fingerprint) = (world.fake.address.clone(), world.fake.fingerprint.clone());
    let words =
        ["login", &address, "--fingerprint", &fingerprint, "--name", "ada", "--password-stdin"];
    let ran = world.hostler_with(&words, "correct horse\n").await;
    assert_eq!(ran.code, 6);
    assert!(ran.err.contains("second-factor-required"), "{}", ran.err);
    let ran = world.hostler_with(&words, "correct horse\n000000\n").await;
    assert_eq!(ran.code, 6);
    assert!(ran.err.contains("the code is wrong"), "{}", ran.err);
    let ran = world.hostler_with(&words, "correct horse\n123456\n").await;
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[tokio::test]
async fn the_second_factor_is_enrolled_confirmed_and_switched_off() {
    let enrol = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "password": "correct horse" }));
        let view = json!({ "secret": "ABCD", "uri": "otpauth://totp/Hostler:ada?secret=ABCD" });
        (axum::http::StatusCode::CREATED, Json(view))
    };
    let confirm = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "code": "123456" }));
        Json(json!({ "recoveryCodes": ["AAAA-BBBB", "CCCC-DDDD"] }))
    };
    let disable = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "password": "correct horse", "code": "654321" }));
        axum::http::StatusCode::NO_CONTENT
    };
    let show = || async {
        Json(
            json!({ "state": "on", "recoveryCodesLeft": 7, "timeConfirmed": "2026-01-31T11:00:00Z" }),
        )
    };
    let router = axum::Router::new()
        .route("/api/v1/whoami/totp", post(enrol).get(show))
        .route("/api/v1/whoami/totp/confirm", post(confirm))
        .route("/api/v1/whoami/totp/disable", post(disable))
        .route("/api/v1/users/ada/totp", delete(|| async { axum::http::StatusCode::NO_CONTENT }));
    let world = World::new(router).await;
    let words = ["auth", "totp", "enrol", "--password-stdin"];
    let ran = world.hostler_with(&words, "correct horse\n").await;
    assert_eq!(ran.text(), "ABCD\notpauth://totp/Hostler:ada?secret=ABCD\n");
    assert!(ran.err.contains("hostler auth totp confirm CODE"), "{}", ran.err);
    let ran = world.hostler_at_terminal(&words, "correct horse\n123456\n").await;
    assert!(ran.text().ends_with("AAAA-BBBB\nCCCC-DDDD\n"), "{}", ran.text());
    let ran = world.hostler(&["auth", "totp", "confirm"]).await;
    assert_eq!(ran.code, 2);
    let ran = world.hostler(&["auth", "totp", "confirm", "123456", "-o", "json"]).await;
    assert_eq!(serde_json::from_slice::<Value>(&ran.out).unwrap()["recoveryCodes"][1], "CCCC-DDDD");
    let words = ["auth", "totp", "disable", "654321", "--password-stdin"];
    let ran = world.hostler_with(&words, "correct horse\n").await;
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "your logins need the password only from now on\n")
    );
    let ran = world.hostler(&["auth", "totp", "show"]).await;
    insta::assert_snapshot!("second_factor", ran.text());
    let ran = world.hostler(&["user", "totp-reset", "ada", "--yes"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "user ada has no second factor any more\n"));
}

#[tokio::test]
async fn sessions_are_listed_and_ended() {
    let session = json!({
        "id": uuid::Uuid::from_u128(3), "userAgent": "Firefox", "isCurrent": true, "timeCreated": "2026-01-31T11:00:00Z",
        "timeLastUsed": "2026-01-31T11:59:00Z", "timeExpires": "2026-01-31T23:00:00Z",
    });
    let listed = move || async move { Json(json!({ "items": [session] })) };
    let ended = || async { Json(json!({ "browsers": 2, "commandLines": 1 })) };
    let gone = || async { axum::http::StatusCode::NO_CONTENT };
    let router = axum::Router::new()
        .route("/api/v1/sessions", get(listed.clone()).delete(ended))
        .route("/api/v1/sessions/{id}", delete(gone))
        .route("/api/v1/users/ada/sessions", get(listed).delete(ended))
        .route("/api/v1/users/ada/sessions/{id}", delete(gone));
    let world = World::new(router).await;
    let ran = world.hostler(&["session", "ls"]).await;
    insta::assert_snapshot!("sessions", ran.text());
    assert_eq!(world.hostler(&["session", "ls", "--user", "ada"]).await.text(), ran.text());
    let ran = world.hostler(&["session", "rm", "x", "y"]).await;
    assert_eq!(ran.err, "session x ended\nsession y ended\n");
    let ran = world.hostler(&["session", "rm", "--all", "--user", "ada"]).await;
    assert_eq!(ran.err, "sessions ended: 2 of browsers, 1 of command lines\n");
    let ran = world.hostler(&["session", "rm", "--all", "-o", "json"]).await;
    assert_eq!(serde_json::from_slice::<Value>(&ran.out).unwrap()["commandLines"], 1);
    assert!(world.requests().contains(&"DELETE /api/v1/users/ada/sessions".to_owned()));
    assert!(world.requests().contains(&"DELETE /api/v1/sessions/y".to_owned()));
}
