//! Approvals: what is shown, what is sent, and the exit code of what needs one.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

const ID: &str = "0192f3c4-0000-7000-8000-000000000007";

/// What the server was sent: what consents, and the body.
type Sent = Arc<Mutex<Vec<(Option<String>, Value)>>>;

fn approval(state: &str) -> Value {
    json!({
        "id": ID, "project": "default", "verb": "workload.apply", "name": "web", "state": state,
        "requestedBy": "ada", "digest": "07".repeat(32),
        "what": { "name": "web", "spec": { "command": ["serve", "--port", "80"] } },
        "needs": [{ "policy": "eyes", "approvals": 2, "agreed": 1, "by": ["group:ops"] }],
        "decisions": [{ "by": "olga", "isApproval": true, "reason": "change 4711", "time": "2026-01-31T11:00:00Z" }],
        "isDecidable": state == "waiting", "generation": 2,
        "timeCreated": "2026-01-31T10:00:00Z", "timeExpires": "2026-02-01T10:00:00Z",
    })
}

fn policy() -> Value {
    json!({
        "id": ID, "name": "eyes", "project": "default", "createdBy": "ada", "generation": 3,
        "rule": { "verbs": ["task.submit"], "exempt": ["role:operator"] },
        "timeCreated": "2026-01-31T10:00:00Z", "timeModified": "2026-01-31T10:00:00Z",
    })
}

fn consents(headers: &HeaderMap) -> Option<String> {
    ["hostler-approval", "hostler-break-glass"].iter().find_map(|name| {
        let value = headers.get(*name)?;
        Some(format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
    })
}

async fn world() -> (World, Sent) {
    let sent = Sent::default();
    let one = format!("/api/v1/approvals/{ID}");
    let policies = "/api/v1/projects/default/approval-policies";
    let router = axum::Router::new()
        .route(
            "/api/v1/approvals",
            get(|| async { Json(json!({ "items": [approval("waiting")] })) }),
        )
        .route(&one, get(|| async { Json(approval("waiting")) }))
        .route(
            &format!("{one}/approve"),
            post(|State(sent): State<Sent>, body: Bytes| async move {
                sent.lock().unwrap().push((None, serde_json::from_slice(&body).unwrap()));
                Json(approval("approved"))
            }),
        )
        .route(&format!("{one}/deny"), post(|| async { Json(approval("denied")) }))
        .route(&format!("{one}/withdraw"), post(|| async { Json(approval("withdrawn")) }))
        .route(
            &format!("{policies}/eyes"),
            get(|| async { Json(policy()) }).put(
                |State(sent): State<Sent>, headers: HeaderMap, body: Bytes| async move {
                    let seen = headers.get("if-match").map(|v| v.to_str().unwrap().to_owned());
                    sent.lock().unwrap().push((seen, serde_json::from_slice(&body).unwrap()));
                    Json(policy())
                },
            )
            .delete(|| async { StatusCode::NO_CONTENT }),
        )
        .route(
            "/api/v1/projects/default/secrets/db/value",
            get(|State(sent): State<Sent>, headers: HeaderMap| async move {
                let Some(consent) = consents(&headers) else {
                    return refusal(Code::ApprovalRequired, "secret.value needs an approval");
                };
                sent.lock().unwrap().push((Some(consent), Value::Null));
                let value = json!({ "environment": "default", "name": "db", "version": 3, "value": "aHVudGVyMg==" });
                Json(value).into_response()
            }),
        )
        .with_state(sent.clone());
    (World::new(router).await, sent)
}

#[tokio::test]
async fn a_request_is_listed_shown_and_decided() {
    let (world, sent) = world().await;
    let listed = world.hostler(&["approval", "ls", "--to-decide"]).await;
    assert_eq!(listed.code, 0, "{}", listed.err);
    let text = listed.text();
    assert!(text.contains("workload.apply") && text.contains("1/2"), "{text}");
    assert!(world.requests().iter().any(|line| line.contains("toDecide=true")));

    let shown = world.hostler(&["approval", "show", ID]).await;
    let text = shown.text();
    for words in ["group:ops", "change 4711", "--port", &"07".repeat(32), "1 of 2 agreed"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(shown.err.contains(&format!("hostler approval approve {ID}")), "{}", shown.err);

    let digest = "07".repeat(32);
    let words = ["approval", "approve", ID, "--digest", &digest, "--reason", "fine"];
    let approved = world.hostler(&words).await;
    assert_eq!(approved.code, 0, "{}", approved.err);
    let (_, body) = sent.lock().unwrap().pop().unwrap();
    assert_eq!(body, json!({ "reason": "fine", "digest": digest }));
    assert!(
        hostler_cli::parse_from(["hostler", "approval", "deny", ID]).is_err(),
        "a reason is needed"
    );
    assert_eq!(world.hostler(&["approval", "deny", ID, "--reason", "no"]).await.code, 0);
    assert_eq!(world.hostler(&["approval", "withdraw", ID]).await.code, 0);
}

#[tokio::test]
async fn a_policy_is_made_by_one_command() {
    let (world, sent) = world().await;
    let words = [
        "approval",
        "policy",
        "set",
        "eyes",
        "--verb",
        "task.submit",
        "--exempt",
        "role:operator",
        "--gpus-above",
        "4",
        "--node-label",
        "env=prod",
        "--approvals",
        "2",
    ];
    let set = world.hostler(&words).await;
    assert_eq!(set.code, 0, "{}", set.err);
    let (seen, body) = sent.lock().unwrap().pop().unwrap();
    assert_eq!(seen.as_deref(), Some("\"3\""), "it is changed as it was seen");
    let rule = json!({
        "verbs": ["task.submit"], "when": { "nodeLabels": { "env": "prod" }, "gpusAbove": 4 },
        "exempt": ["role:operator"], "approvals": 2, "requestTtl": "1d", "approvalTtl": "1h",
    });
    assert_eq!(body, rule);
    let unknown = ["hostler", "approval", "policy", "set", "x", "--verb", "moon.land"];
    assert!(hostler_cli::parse_from(unknown).is_err());
    assert_eq!(world.hostler(&["approval", "policy", "rm", "eyes", "--yes"]).await.code, 0);
}

#[tokio::test]
async fn what_needs_an_approval_ends_with_seven_and_is_repeated_with_its_id() {
    let (world, sent) = world().await;
    assert_eq!(world.hostler(&["secret", "get", "db"]).await.code, 7);
    let done = world.hostler(&["secret", "get", "db", "--approval", ID]).await;
    assert_eq!((done.code, done.text().as_str()), (0, "hunter2"), "{}", done.err);
    let broken = world.hostler(&["secret", "get", "db", "--break-glass", "it brennt: ä"]).await;
    assert_eq!(broken.code, 0, "{}", broken.err);
    let consents: Vec<_> =
        sent.lock().unwrap().iter().map(|(consent, _)| consent.clone()).collect();
    let expected =
        [format!("hostler-approval: {ID}"), "hostler-break-glass: it brennt: ä".to_owned()];
    assert_eq!(consents, expected.map(Some));
    let both = ["hostler", "secret", "get", "db", "--approval", ID, "--break-glass", "now"];
    assert!(hostler_cli::parse_from(both).is_err());
}
