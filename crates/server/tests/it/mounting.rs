//! Mounting, over a toy contract: the start-up check, panics, deadlines.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hostler_api::{Access, Described, Nothing, Visitor};
use hostler_base::{Clock, Ids, ManualClock};
use hostler_model::{
    Caller, Code, Credential, Error, Generation, Grant, Need, PrincipalId, PrincipalKind, Project,
    ProjectId, Quota, Role, Scope, Timestamp, TokenId, TokenLimits,
};
use hostler_server::http::{
    Answer, Call, Envelope, Gate, Limits, MountError, PublicCall, Rates, Routes, enclose,
};
use hostler_server::metrics::Metrics;
use hostler_trust::SecretString;
use http::{Method, Response};
use http_body_util::BodyExt;
use tower::ServiceExt;
use uuid::Uuid;

use crate::world::request;

mod toy {
    use super::*;

    #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub struct Said {
        pub text: String,
    }

    hostler_api::endpoints! { "toys"
        /// Say something.
        Hello = "hello" GET "/api/toy", Access::Public, Nobody, 200, reply: Said;
        /// Fail in the worst way.
        Panics = "panics" GET "/api/toy/panics", Access::LoggedIn, Own, 200, reply: Said;
        /// Never answer.
        Hangs = "hangs" POST "/api/toy/hangs", Access::Global(Role::Operator), NodeCordon, 204;
    }
}

#[derive(Clone)]
struct Toy {
    limits: Arc<Limits>,
    clock: Clock,
}

impl Gate for Toy {
    async fn caller_by_token(&self, secret: &SecretString) -> Result<Caller, Error> {
        let principal_id = PrincipalId::from_uuid(Uuid::from_u128(1));
        let role = secret.expose().parse().map_err(|_| Error::unauthenticated("who?"))?;
        Ok(Caller {
            principal_id,
            name: "toy".parse().unwrap(),
            kind: PrincipalKind::Service,
            grants: vec![Grant::built_in(Scope::Global, role)],
            credential: Credential::Token {
                id: TokenId::from_uuid(Uuid::from_u128(2)),
                limits: TokenLimits::role(Role::Admin),
            },
        })
    }
    async fn caller_by_session(&self, _: &SecretString) -> Result<Caller, Error> {
        Err(Error::unauthenticated("no sessions here"))
    }
    fn csrf_token(&self, _: &SecretString) -> String {
        String::new()
    }
    fn authorise(&self, caller: &Caller, need: Need) -> Result<(), Error> {
        if caller.may(need) { Ok(()) } else { Err(Error::forbidden("no")) }
    }
    fn check_proven(&self, _: &Caller) -> Result<(), Error> {
        Ok(())
    }
    async fn project_resolve(&self, _: &str) -> Result<Project, Error> {
        Ok(Project {
            id: ProjectId::from_uuid(Uuid::from_u128(3)),
            name: "toys".parse().unwrap(),
            description: String::new(),
            quota: Quota::default(),
            weight: 1,
            generation: Generation::FIRST,
            time_created: Timestamp::EPOCH,
            time_modified: Timestamp::EPOCH,
        })
    }
    fn limits(&self) -> &Limits {
        &self.limits
    }
    fn clock(&self) -> &Clock {
        &self.clock
    }
    async fn stopping(&self) {
        std::future::pending().await
    }
}

type Result<T, E = Error> = std::result::Result<T, E>;

async fn hello(_: Toy, _: PublicCall<toy::Hello>) -> Result<Answer<toy::Said>> {
    Ok(Answer::new(toy::Said { text: "hello".into() }))
}

async fn panics(_: Toy, _: Call<toy::Panics>) -> Result<Answer<toy::Said>> {
    panic!("as declared")
}

async fn hangs(_: Toy, _: Call<toy::Hangs>) -> Result<Answer<Nothing>> {
    std::future::pending().await
}

fn contract() -> Vec<Described> {
    let mut seen: Vec<Described> = Vec::new();
    toy::visit(&mut seen as &mut dyn Visitor);
    seen
}

fn toy(clock: Clock) -> Routes<Toy> {
    Routes::new(Toy { limits: Arc::new(Limits::new(Rates::default(), &clock)), clock })
}

fn router(clock: Clock) -> Router {
    let routes = toy(clock.clone())
        .on_public(toy::Hello, hello)
        .on(toy::Panics, panics)
        .on(toy::Hangs, hangs);
    let envelope = Envelope { clock, ids: Ids::seeded(1), metrics: Metrics::new("0").http() };
    enclose(routes.finish(&contract()).unwrap(), envelope)
}

async fn body(response: Response<axum::body::Body>) -> serde_json::Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

#[test]
fn a_contract_is_served_whole_or_not_at_all() {
    let clock = Clock::system();
    let missing = toy(clock.clone()).on_public(toy::Hello, hello).on(toy::Panics, panics);
    assert!(matches!(missing.finish(&contract()), Err(MountError::Missing("hangs"))));
    let twice = toy(clock.clone()).on_public(toy::Hello, hello).on_public(toy::Hello, hello);
    assert!(matches!(twice.finish(&contract()), Err(MountError::Twice("hello"))));
    let unknown = toy(clock.clone()).on_public(toy::Hello, hello);
    assert!(matches!(unknown.finish(&[]), Err(MountError::Unknown("hello"))));
    let open = toy(clock).on_public(toy::Panics, |_, _| async { Err(Error::forbidden("never")) });
    assert!(matches!(open.finish(&contract()), Err(MountError::Kind("panics"))));
}

#[tokio::test]
async fn a_panic_ends_one_request_only() {
    let router = router(Clock::system());
    let sent = request(Method::GET, "/api/toy/panics", Some("viewer"), None);
    let reply = router.clone().oneshot(sent).await.unwrap();
    assert_eq!(reply.status(), 500);
    let id = reply.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(reply.headers()["x-content-type-options"], "nosniff");
    let problem = body(reply).await;
    assert_eq!(problem["code"], Code::Internal.label());
    assert_eq!(problem["requestId"], id.as_str());
    assert!(!problem.to_string().contains("as declared"));
    let reply = router.oneshot(request(Method::GET, "/api/toy", None, None)).await.unwrap();
    assert_eq!(body(reply).await["text"], "hello");
}

#[tokio::test]
async fn a_handler_that_hangs_is_given_up() {
    let manual = ManualClock::new(Timestamp::EPOCH);
    let router = router(manual.clock());
    let sent = request(Method::POST, "/api/toy/hangs", Some("admin"), None);
    let mut answer = std::pin::pin!(router.oneshot(sent));
    assert!(futures::poll!(answer.as_mut()).is_pending());
    manual.advance(Duration::from_secs(71));
    let reply = answer.await.unwrap();
    assert_eq!(reply.status(), 503);
    assert_eq!(body(reply).await["code"], "unavailable");
}

#[tokio::test]
async fn refusal_comes_before_the_body_is_read() {
    let router = router(Clock::system());
    let endless =
        || axum::body::Body::from_stream(futures::stream::pending::<std::io::Result<Vec<u8>>>());
    for (token, status) in [(None, 401), (Some("viewer"), 403)] {
        let mut sent = request(Method::POST, "/api/toy/hangs", token, None);
        *sent.body_mut() = endless();
        let reply =
            tokio::time::timeout(Duration::from_secs(10), router.clone().oneshot(sent)).await;
        assert_eq!(reply.unwrap().unwrap().status(), status);
    }
}
