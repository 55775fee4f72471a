use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::extract::Query;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, patch, post};
use futures::TryStreamExt;
use hostler_api::node::{
    JoinTokenCreate, JoinTokenCreateBody, JoinTokenList, JoinTokenState, JoinTokenView, NodePath,
    NodeUpdate, NodeUpdateBody,
};
use hostler_api::session::Logout;
use hostler_api::system::{Livez, Metrics, Version};
use hostler_api::{Listing, Nothing, PageQuery};
use hostler_client::{Client, ClientConfig, Error, RetryPolicy, probe};
use hostler_model::{Code, Generation, JoinTokenId, Timestamp};
use serde_json::json;

use crate::fake::{Fake, now};
use crate::{client, config, refusal};

const NONE: Nothing = Nothing {};

type Seen = Arc<Mutex<Vec<HeaderMap>>>;

fn remember(seen: &Seen, headers: &HeaderMap) -> usize {
    let mut seen = seen.lock().unwrap();
    seen.push(headers.clone());
    seen.len()
}

fn header(seen: &Seen, index: usize, name: &str) -> Option<String> {
    let seen = seen.lock().unwrap();
    Some(seen[index].get(name)?.to_str().unwrap().to_owned())
}

fn join_token(n: u128) -> JoinTokenView {
    JoinTokenView {
        id: JoinTokenId::from_uuid(uuid::Uuid::from_u128(n)),
        name: None,
        labels: hostler_model::Labels::new(),
        state: JoinTokenState::Unused,
        used_by: None,
        time_created: Timestamp::EPOCH,
        time_expires: Timestamp::EPOCH,
    }
}

#[tokio::test]
async fn a_post_is_repeated_with_the_same_key_until_the_server_is_back() {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let create = move |headers: HeaderMap| async move {
        if remember(&log, &headers) < 3 {
            return refusal(Code::Unavailable);
        }
        Json(json!({ "token": join_token(1), "ticket": "t", "command": "c" })).into_response()
    };
    let fake = Fake::start(axum::Router::new().route("/api/v1/join-tokens", post(create))).await;
    let client = client(&fake);
    let call = || async {
        let body = JoinTokenCreateBody::default();
        client.call::<JoinTokenCreate>(&NONE, &NONE, &body).await
    };
    assert_eq!(call().await.unwrap().ticket, "t");
    let key = |n| header(&seen, n, "idempotency-key").unwrap();
    assert_eq!(key(0), key(1));
    assert_eq!(key(1), key(2));
    assert_eq!(header(&seen, 0, "authorization").unwrap(), "Bearer hst_pat_x");
    call().await.unwrap();
    assert_ne!(key(2), key(3));
}

#[tokio::test]
async fn attempts_are_bounded() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let unavailable = move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        refusal(Code::Unavailable)
    };
    let fake = Fake::start(axum::Router::new().route("/livez", get(unavailable))).await;
    let error = client(&fake).call::<Livez>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert!(error.is(Code::Unavailable), "{error:?}");
    assert_eq!(tries.load(Ordering::SeqCst), RetryPolicy::default().attempts as usize);
}

#[tokio::test]
async fn refused_connections_are_tried_again() {
    let health = || async { Json(json!({ "status": "ok", "checks": {} })) };
    let router = axum::Router::new().route("/livez", get(health));
    let fake = Fake::start_refusing(router, 2).await;
    let health = client(&fake).call::<Livez>(&NONE, &NONE, &NONE).await.unwrap();
    assert_eq!(health.status, "ok");
    assert_eq!(fake.connections(), 3);
}

#[tokio::test]
async fn nobody_at_home_is_unreachable() {
    let fake = Fake::start(axum::Router::new()).await;
    let config = config(&fake);
    let client = Client::new(config).unwrap();
    drop(fake);
    let error = client.call::<Livez>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn problems_come_through_whole() {
    let fake = Fake::start(
        axum::Router::new().route("/version", get(|| async { refusal(Code::Invalid) })),
    )
    .await;
    let error = client(&fake).call::<Version>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Invalid));
    assert_eq!(error.to_string(), "it is invalid");
    assert_eq!(error.hint(), "do something");
    assert_eq!(error.request_id(), Some("r-1"));
    assert_eq!(error.diagnostics()[0].pointer, "/name");
}

#[tokio::test]
async fn answers_that_are_not_ours_are_said_to_be() {
    let page = || async { (axum::http::StatusCode::BAD_GATEWAY, "<html>proxy</html>") };
    let other = || async { Json(json!({ "some": "thing" })) };
    let router = axum::Router::new().route("/version", get(page)).route("/livez", get(other));
    let fake = Fake::start(router).await;
    let client = client(&fake);
    let error = client.call::<Version>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert!(matches!(error, Error::Unexpected { .. }), "{error:?}");
    let error = client.call::<Livez>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert!(matches!(error, Error::Unexpected { .. }), "{error:?}");
}

#[tokio::test]
async fn changes_name_the_generation_and_are_not_repeated_blindly() {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let change = move |headers: HeaderMap| async move {
        remember(&log, &headers);
        refusal(Code::Stale)
    };
    let fake = Fake::start(axum::Router::new().route("/api/v1/nodes/a%20b", patch(change))).await;
    let path = NodePath { node: "a b".to_owned() };
    let body = NodeUpdateBody { labels: hostler_model::Labels::new() };
    let error = client(&fake)
        .call_if_match::<NodeUpdate>(&path, &NONE, &body, Generation::from_u64(7))
        .await
        .unwrap_err();
    assert!(error.is(Code::Stale), "{error:?}");
    assert_eq!(header(&seen, 0, "if-match").unwrap(), "\"7\"");
    assert_eq!(header(&seen, 0, "idempotency-key"), None);
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn empty_and_text_replies_are_read() {
    let router = axum::Router::new()
        .route("/api/v1/logout", post(|| async { axum::http::StatusCode::NO_CONTENT }))
        .route("/metrics", get(|| async { "hostler_up 1\n" }));
    let fake = Fake::start(router).await;
    let client = client(&fake);
    client.call::<Logout>(&NONE, &NONE, &NONE).await.unwrap();
    let text = client.call::<Metrics>(&NONE, &NONE, &NONE).await.unwrap();
    assert_eq!(text, "hostler_up 1\n");
}

#[tokio::test]
async fn a_server_of_another_authority_is_not_spoken_to() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let anything = move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
        Response::new(axum::body::Body::empty())
    };
    let fake = Fake::start(axum::Router::new().fallback(any(anything))).await;
    let other = Fake::start(axum::Router::new()).await;
    let client = Client::new(ClientConfig::new(&fake.address, &other.ca_pem)).unwrap();
    let error = client.call::<Livez>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert!(matches!(error, Error::Untrusted { .. }), "{error:?}");
    assert_eq!((fake.connections(), asked.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_call_ends_with_its_deadline() {
    let silent = || async {
        std::future::pending::<()>().await;
        Response::new(axum::body::Body::empty())
    };
    let fake = Fake::start(axum::Router::new().route("/livez", get(silent))).await;
    let client = client(&fake).with_timeout(Duration::from_millis(200));
    let error = client.call::<Livez>(&NONE, &NONE, &NONE).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}

async fn token_page(Query(query): Query<PageQuery>) -> Json<Listing<JoinTokenView>> {
    let begin: u128 = query.cursor.map_or(0, |c| c.parse().unwrap());
    let end = (begin + u128::from(query.limit.unwrap_or(2).min(2))).min(5);
    Json(Listing {
        items: (begin..end).map(join_token).collect(),
        next_cursor: (end < 5).then(|| end.to_string()),
        watch_cursor: Some(format!("w{begin}")),
    })
}

#[tokio::test]
async fn all_pages_are_walked_up_to_the_limit() {
    let fake = Fake::start(axum::Router::new().route("/api/v1/join-tokens", get(token_page))).await;
    let client = client(&fake);
    let query = PageQuery::default();
    for (limit, expected) in [(None, 5), (Some(3), 3), (Some(4), 4), (Some(99), 5)] {
        let pages = client.pages::<JoinTokenList, _>(&NONE, &query, limit).unwrap();
        let items: Vec<JoinTokenView> = pages.try_collect().await.unwrap();
        assert_eq!(items.len(), expected, "{limit:?}");
        assert!(items.iter().zip(0..).all(|(item, n)| *item == join_token(n)));
    }
    let all = client.list_all::<JoinTokenList, _>(&NONE, &query).await.unwrap();
    assert_eq!((all.items.len(), all.watch_cursor.as_deref()), (5, Some("w0")));
}

#[tokio::test]
async fn first_contact_shows_the_authority_and_sends_no_secret() {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let anything = move |headers: HeaderMap| async move {
        remember(&log, &headers);
        Response::new(axum::body::Body::empty())
    };
    let fake = Fake::start(axum::Router::new().fallback(any(anything))).await;
    let bare = fake.address.strip_prefix("https://").unwrap();
    let presented = probe(bare, now(), Duration::from_secs(5)).await.unwrap();
    assert_eq!(presented.fingerprint.to_string(), fake.fingerprint);
    assert_eq!((presented.ca_pem, presented.address), (fake.ca_pem.clone(), fake.address.clone()));
    assert_eq!(header(&seen, 0, "authorization"), None);
}
