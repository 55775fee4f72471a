//! A server without a network: the application on a private database, and its router.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use futures::StreamExt;
use hostler_base::shutdown::{Phase, Shutdown};
use hostler_base::{Clock, Ids};
use hostler_control::{Boot, Control, ControlConfig};
use hostler_server::http::{App, AppParts, Rates, router};
use hostler_server::metrics::Metrics;
use hostler_store::{OpenOptions, Store};
use hostler_trust::MasterKey;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub struct World {
    pub app: App,
    pub control: Control,
    pub router: Router,
    pub admin: String,
    pub stopping: CancellationToken,
    /// What serves state.
    _shutdown: Shutdown,
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&self.bytes)))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The code of a problem, after checking its shape.
    pub fn code(&self) -> String {
        let problem = self.json();
        assert_eq!(self.header("content-type"), "application/problem+json", "{problem}");
        assert_eq!(problem["status"], self.status.as_u16(), "{problem}");
        assert_eq!(problem["requestId"], self.header("x-request-id"), "{problem}");
        for field in ["type", "title", "detail", "hint"] {
            assert!(problem[field].as_str().is_some_and(|t| !t.is_empty()), "{field} in {problem}");
        }
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl World {
    pub async fn new() -> World {
        World::with_rates(Rates::default()).await
    }

    pub async fn with_rates(rates: Rates) -> World {
        World::configured(rates, ControlConfig::default()).await
    }

    pub async fn configured(rates: Rates, config: ControlConfig) -> World {
        let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
        store.migrate().await.unwrap();
        let boot = Boot {
            store,
            clock: Clock::system(),
            ids: Ids::system(),
            config,
            master_key: MasterKey::generate().into(),
            server_name: "test".into(),
        };
        let control = boot.run().await.unwrap();
        let admin = control.local_token_issue().await.unwrap().expose().to_owned();
        let stopping = CancellationToken::new();
        let shutdown = Shutdown::new(Clock::system());
        control.state_start(&shutdown.tasks(Phase::Reconcilers));
        let app = App::new(AppParts {
            control: control.clone(),
            ids: Ids::system(),
            metrics: Metrics::new("0.0.0"),
            rates,
            streams_max: 4,
            version: "0.0.0".into(),
            api_address: "server.example:7443".into(),
            stopping: stopping.clone(),
        });
        let router = router(app.clone()).unwrap();
        World { app, control, router, admin, stopping, _shutdown: shutdown }
    }

    pub async fn send(&self, request: Request<Body>) -> Reply {
        World::send_to(&self.router, request).await
    }

    pub async fn send_to(router: &Router, request: Request<Body>) -> Reply {
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Reply { status: parts.status, headers: parts.headers, bytes }
    }

    /// A request of the admin.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let admin = self.admin.clone();
        self.call_as(&admin, method, path, body).await
    }

    pub async fn call_as(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Reply {
        self.send(request(method, path, Some(token), body)).await
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Makes a service account and a token for it.
    pub async fn account(
        &self,
        name: &str,
        global: Option<&str>,
        project: Option<(&str, &str)>,
    ) -> String {
        let mut user = json!({ "name": name, "kind": "service" });
        if let Some(role) = global {
            user["role"] = role.into();
        }
        assert_eq!(self.post("/api/v1/users", user).await.status, 201);
        if let Some((project, role)) = project {
            let path = format!("/api/v1/projects/{project}/members/{name}");
            let set = self.call(Method::PUT, &path, Some(json!({ "role": role }))).await;
            assert_eq!(set.status, 200, "{}", String::from_utf8_lossy(&set.bytes));
        }
        self.token(json!({ "name": "t", "user": name, "role": "admin" })).await
    }

    pub async fn token(&self, body: Value) -> String {
        let made = self.post("/api/v1/tokens", body).await;
        assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.bytes));
        made.json()["secret"].as_str().unwrap().to_owned()
    }

    pub async fn project(&self, name: &str) {
        assert_eq!(self.post("/api/v1/projects", json!({ "name": name })).await.status, 201);
    }

    /// Opens a stream of server-sent events.
    pub async fn open(&self, token: &str, path: &str) -> Sse {
        let response = self
            .router
            .clone()
            .oneshot(request(Method::GET, path, Some(token), None))
            .await
            .unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Sse { body: response.into_body().into_data_stream(), text: String::new() }
    }
}

pub fn request(
    method: Method,
    path: &str,
    token: Option<&str>,
    body: Option<Value>,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    match body {
        Some(body) => request
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap(),
        None => request.body(Body::empty()).unwrap(),
    }
}

pub struct Sse {
    body: axum::body::BodyDataStream,
    text: String,
}

impl Sse {
    /// The next message; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        const PATIENCE: Duration = Duration::from_secs(20);
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let frame = frame.to_owned();
                self.text = rest.to_owned();
                let line = |name: &str| {
                    frame.lines().find_map(|l| l.strip_prefix(name)).map(str::to_owned)
                };
                let Some(data) = line("data: ") else { continue };
                let message: Value = serde_json::from_str(&data).unwrap();
                assert_eq!(line("id: ").unwrap(), message["cursor"].as_str().unwrap());
                assert_eq!(line("event: ").unwrap(), message["type"].as_str().unwrap());
                return Some(message);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.body.next()).await.expect("a message");
            self.text.push_str(std::str::from_utf8(&chunk?.unwrap()).unwrap());
        }
    }
}
