//! A home directory, a server, and a way to say a command.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use hostler_base::{Clock, ManualClock};
use hostler_cli::config::{self, Secrets};
use hostler_cli::{Environment, Invocation, Streams};
use hostler_model::Code;
use hostler_trust::SecretString;

use crate::fake::Fake;

pub struct World {
    pub home: tempfile::TempDir,
    pub environment: Environment,
    pub fake: Fake,
    pub seen: Arc<Mutex<Vec<Seen>>>,
}

/// A request that reached the server.
#[derive(Clone, Debug)]
pub struct Seen {
    pub what: String,
    pub authorization: Option<String>,
    pub if_match: Option<String>,
}

#[derive(Debug)]
pub struct Ran {
    pub code: u8,
    pub out: Vec<u8>,
    pub err: String,
}

impl Ran {
    pub fn text(&self) -> String {
        String::from_utf8(self.out.clone()).unwrap()
    }
}

/// What is printed must not depend on when the test runs.
pub fn fixed_clock() -> Clock {
    ManualClock::new("2026-01-31T12:00:00Z".parse().unwrap()).clock()
}

impl World {
    /// Logged in to a server with these routes.
    pub async fn new(router: Router) -> World {
        let world = World::unknown(router).await;
        world.save("local", Some("hst_pat_stored"));
        world
    }

    /// Nothing is known yet.
    pub async fn unknown(router: Router) -> World {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let remember = move |request: Request, next: Next| {
            let header = |name: &str| Some(request.headers().get(name)?.to_str().ok()?.to_owned());
            log.lock().unwrap().push(Seen {
                what: format!("{} {}", request.method(), request.uri().path_and_query().unwrap()),
                authorization: header("authorization"),
                if_match: header("if-match"),
            });
            async move { next.run(request).await }
        };
        let fake = Fake::start(router.layer(middleware::from_fn(remember))).await;
        let home = tempfile::tempdir().unwrap();
        let root = home.path().as_os_str().to_owned();
        let lookup = |key: &str| (key == "HOME").then(|| root.clone());
        let environment =
            Environment { clock: fixed_clock(), ..Environment::from_lookup(lookup).unwrap() };
        World { home, environment, fake, seen }
    }

    pub fn save(&self, name: &str, token: Option<&str>) {
        let secrets =
            Secrets { token: token.map(SecretString::new), ca_pem: self.fake.ca_pem.clone() };
        config::save_context(&self.environment, name, &self.fake.address, None, &secrets, true)
            .unwrap();
    }

    pub async fn hostler(&self, words: &[&str]) -> Ran {
        self.hostler_with(words, "").await
    }

    /// With something on stdin.
    pub async fn hostler_with(&self, words: &[&str], input: &str) -> Ran {
        self.hostler_in(words, input, false).await
    }

    /// With somebody who answers.
    pub async fn hostler_at_terminal(&self, words: &[&str], answers: &str) -> Ran {
        self.hostler_in(words, answers, true).await
    }

    async fn hostler_in(&self, words: &[&str], input: &str, is_input_terminal: bool) -> Ran {
        let words = std::iter::once("hostler").chain(words.iter().copied());
        let Invocation::Client(command) = hostler_cli::parse_from(words).unwrap() else {
            panic!("not a command of the client");
        };
        let (out, err) = (Shared::default(), Shared::default());
        let streams = Streams {
            input: RefCell::new(Box::new(std::io::Cursor::new(input.to_owned().into_bytes()))),
            out: RefCell::new(Box::new(out.clone())),
            err: RefCell::new(Box::new(err.clone())),
            is_input_terminal,
            is_out_terminal: false,
            is_err_terminal: false,
        };
        let code = Box::pin(hostler_cli::run_in(*command, self.environment.clone(), streams)).await;
        let err =
            String::from_utf8_lossy(&err.0.borrow()).replace(&self.fake.address, "https://SERVER");
        let out = out.0.borrow().clone();
        Ran { code, out, err }
    }

    pub fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|seen| seen.what.clone()).collect()
    }
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn refusal(code: Code, detail: &str) -> Response {
    let problem = hostler_api::Problem {
        kind: "about:blank".to_owned(),
        title: code.label().to_owned(),
        status: hostler_api::openapi::status_of(code),
        detail: detail.to_owned(),
        code,
        hint: "do something about it".to_owned(),
        request_id: "req-1".to_owned(),
        errors: match code {
            Code::Invalid => vec![
                hostler_model::Diagnostic::new("/spec/command", "the command is empty"),
                hostler_model::Diagnostic::new("", "and so is the rest"),
            ],
            _ => Vec::new(),
        },
    };
    Response::builder()
        .status(problem.status)
        .header("content-type", hostler_api::PROBLEM_CONTENT_TYPE)
        .body(serde_json::to_vec(&problem).unwrap().into())
        .unwrap()
}

/// One of the views that the tests show.
pub fn task(n: u128, name: &str, status: serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "id": uuid::Uuid::from_u128(n),
        "name": name,
        "project": "default",
        "spec": {
            "command": ["sh", "-c", "echo hi"],
            "env": { "A": "1" },
            "resources": { "cores": 0.5, "memory": 1_048_576 },
            "placement": { "selector": { "disk": "ssd" } },
        },
        "attempts": 1,
        "status": status,
        "createdBy": "ada",
        "generation": 3,
        "timeCreated": "2026-01-31T11:55:00.000000Z",
        "timeModified": "2026-01-31T11:56:00.000000Z",
    })
}

pub fn exited(code: Option<i32>, signal: Option<i32>) -> serde_json::Value {
    let (state, reason) = match (code, signal) {
        (Some(0), _) => ("completed", "exited"),
        (None, None) => ("failed", "start-failed"),
        _ => ("failed", "exited"),
    };
    serde_json::json!({
        "state": state,
        "message": format!("{state} somehow"),
        "isStopping": false,
        "node": "web-1",
        "run": uuid::Uuid::from_u128(77),
        "exit": { "reason": reason, "code": code, "signal": signal, "time": "2026-01-31T11:58:00Z" },
        "timeStarted": "2026-01-31T11:57:00Z",
        "timeEnded": "2026-01-31T11:58:00Z",
    })
}

pub fn unsettled(state: &str) -> serde_json::Value {
    serde_json::json!({ "state": state, "message": format!("it is {state}"), "isStopping": false })
}
