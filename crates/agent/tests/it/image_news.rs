//! Images that leave a node by themselves: the agent tells a server, whatever is killed in between. The
//! engine is one of a few lines, so that it can refuse, and die in the middle of an answer.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hostler_agent::AgentConfig;
use hostler_agent::container::ContainerConfig;
use hostler_agent::local::{self, Answer, Question};
use hostler_base::Clock;
use hostler_model::ImageNews;
use hostler_proto::v1::{self, agent_message, server_message};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio_util::task::TaskTracker;

use crate::fake::{Agent, Data, FakeServer, FakeSession, Installation, agent_config};
use crate::support::until;

/// What the engine does when it is asked to remove an image.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Removes,
    Refuses,
    /// Removes it and never says so.
    FallsSilent,
}

#[derive(Clone)]
struct FakeEngine {
    socket: PathBuf,
    images: Arc<Mutex<BTreeMap<String, Manner>>>,
}

impl FakeEngine {
    fn start(data: &Path, images: &[(String, Manner)]) -> FakeEngine {
        let socket = data.join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let images = Arc::new(Mutex::new(images.iter().cloned().collect()));
        let engine = FakeEngine { socket, images };
        let (serving, tasks) = (engine.clone(), TaskTracker::new());
        tasks.clone().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let engine = serving.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let (engine, method) = (engine.clone(), request.method().clone());
                    let path = request.uri().path().to_owned();
                    async move { Ok::<_, Infallible>(engine.answer(&method, &path).await) }
                });
                tasks.spawn(async move {
                    let _ =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        engine
    }

    async fn answer(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        let path = path.trim_start_matches('/');
        let path = match path.split_once('/') {
            Some((version, rest)) if version.starts_with("v1.") => rest,
            _ => path,
        };
        let (status, body) = match (method, path) {
            (&Method::GET, "version") => (StatusCode::OK, json!({ "Version": "1.0" })),
            (&Method::GET, "containers/json") => (StatusCode::OK, json!([])),
            (&Method::GET, "images/json") => (StatusCode::OK, self.listed()),
            (&Method::DELETE, path) => self.remove(path).await,
            _ => (StatusCode::NOT_FOUND, json!({ "message": "no such thing" })),
        };
        let mut response = Response::new(Full::from(body.to_string()));
        *response.status_mut() = status;
        let kind = "application/json".parse().unwrap();
        response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
        response
    }

    fn listed(&self) -> Value {
        let images = self.images.lock().unwrap();
        let rows = images.keys().map(|called| {
            json!({
                "Id": format!("sha256:{called}"), "ParentId": "", "RepoTags": [called],
                "RepoDigests": [], "Created": 1, "Size": 1, "SharedSize": -1, "Labels": {},
                "Containers": -1,
            })
        });
        rows.collect()
    }

    async fn remove(&self, path: &str) -> (StatusCode, Value) {
        let called = {
            let images = self.images.lock().unwrap();
            let name = path.replace("%2F", "/").replace("%3A", ":");
            images.keys().find(|called| name.ends_with(*called)).cloned()
        };
        let Some(called) = called else {
            return (StatusCode::NOT_FOUND, json!({ "message": "no such image" }));
        };
        let manner = self.images.lock().unwrap()[&called];
        if manner == Manner::Refuses {
            let body = json!({ "message": "read-only file system" });
            return (StatusCode::INTERNAL_SERVER_ERROR, body);
        }
        self.images.lock().unwrap().remove(&called);
        if manner == Manner::FallsSilent {
            std::future::pending::<()>().await;
        }
        (StatusCode::OK, json!([{ "Untagged": called }]))
    }

    fn has(&self, called: &str) -> bool {
        self.images.lock().unwrap().contains_key(called)
    }
}

fn called(version: u32) -> String {
    format!("hostler.local/train:v{version}.{}", "a".repeat(64))
}

/// A node whose agent brought these, of which no server keeps any.
struct Node {
    data: Data,
    engine: FakeEngine,
    server: FakeServer,
    _installation: Installation,
}

impl Node {
    async fn new(images: &[(u32, Manner)]) -> Node {
        let data = Data::new();
        let installation = Installation::new();
        let server = FakeServer::start(&installation).await;
        installation.join(data.path(), std::slice::from_ref(&server.address));
        let images: Vec<_> = images.iter().map(|(version, it)| (called(*version), *it)).collect();
        let used: BTreeMap<_, _> =
            images.iter().map(|(called, _)| (called, "2026-01-01T00:00:00Z")).collect();
        let text = json!({ "used": used }).to_string();
        std::fs::write(data.path().join("images.json"), text).unwrap();
        let engine = FakeEngine::start(data.path(), &images);
        Node { data, engine, server, _installation: installation }
    }

    fn agent(&self) -> Agent {
        let socket = self.engine.socket.clone();
        let image_retention = Duration::from_secs(2);
        let containers = ContainerConfig { socket, image_retention, ..Default::default() };
        Agent::start_with(AgentConfig { containers, ..agent_config(self.data.path()) })
    }

    fn file(&self) -> PathBuf {
        self.data.path().join("image-news.json")
    }
}

async fn told(session: &mut FakeSession, count: usize) -> Vec<ImageNews> {
    let mut all: Vec<ImageNews> = Vec::new();
    while all.len() < count {
        if let agent_message::Body::ImageNews(news) = session.next().await {
            all.extend(news.news_json.iter().map(|text| serde_json::from_str(text).unwrap()));
        }
    }
    all.sort_by_key(|one| one.version);
    all
}

async fn take(session: &FakeSession, news: &[ImageNews]) {
    let ids = news.iter().map(|one| one.id.to_string()).collect();
    session.say(server_message::Body::ImageNewsAcks(v1::ImageNewsAcks { ids })).await;
}

#[tokio::test]
async fn an_image_that_left_is_told_until_a_server_has_it() {
    let mut node = Node::new(&[(1, Manner::Removes), (2, Manner::Refuses)]).await;
    let agent = node.agent();
    let mut session = node.server.session().await;
    let first = told(&mut session, 2).await;
    let versions: Vec<_> =
        first.iter().map(|one| (one.version, one.problem.as_deref().unwrap_or("-"))).collect();
    let refused = "the container engine refuses: read-only file system";
    assert_eq!(versions, [(1, "-"), (2, refused)]);
    assert_eq!(first[0].why, "it is not kept any more");
    assert!(!node.engine.has(&called(1)) && node.engine.has(&called(2)));
    let answers = local::ask(&agent.data, &Question::Metrics, &Clock::system()).await.unwrap();
    let Answer::Metrics(text) = answers.only().await.unwrap() else { panic!("no metrics") };
    for line in ["{outcome=\"removed\"} 1", "{outcome=\"failed\"} 1"] {
        assert!(text.contains(&format!("hostler_agent_images_tidied_total{line}")), "{text}");
    }
    agent.kill();

    let _agent = node.agent();
    let mut session = node.server.session().await;
    assert_eq!(told(&mut session, 2).await, first, "nobody has answered");
    take(&session, &first).await;
    until("what was taken is crossed off", || {
        let text = std::fs::read_to_string(node.file()).unwrap_or_default();
        text.contains("\"untold\":[]") && text.contains("read-only")
    })
    .await;
    node.engine.images.lock().unwrap().insert(called(2), Manner::Removes);
    let last = told(&mut session, 1).await;
    assert_eq!((last.len(), last[0].version, &last[0].problem), (1, 2, &None));
    take(&session, &last).await;
    until("there is nothing to remember", || !node.file().exists()).await;
}

#[tokio::test]
async fn an_image_that_left_while_the_agent_died_is_told_by_the_next() {
    let mut node = Node::new(&[(1, Manner::FallsSilent)]).await;
    let agent = node.agent();
    let session = node.server.session().await;
    until("the image is gone", || !node.engine.has(&called(1))).await;
    agent.kill();
    drop(session);
    let _agent = node.agent();
    let mut session = node.server.session().await;
    let news = told(&mut session, 1).await;
    assert_eq!((news[0].version, &news[0].problem), (1, &None));
    take(&session, &news).await;
    until("there is nothing to remember", || !node.file().exists()).await;
}
