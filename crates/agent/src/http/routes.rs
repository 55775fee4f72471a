//! Which path is which verb, and how its answer looks over HTTP.

use bytes::Bytes;
use hostler_trust::SecretString;
use hostler_trust::secret::constant_time_eq;
use http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use serde_json::{Map, Value, json};

use super::SLOW;
use crate::door::Door;
use crate::door::master_control::{brief, changes, full, message, object};
use crate::door::view::{Done, Refusal, RefusalCode};
use crate::local::lines;

const BODY_MAX: usize = 64 * 1024;
const LINES: usize = 50;
const LINES_MAX: usize = 10_000;

/// What can be asked for, and by which method.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Route {
    Health,
    List,
    Status(String),
    Start(String),
    Stop(String),
    Restart(String),
    Reload,
    Logs(String),
    Metrics,
}

impl Route {
    fn of(path: &str) -> Option<Route> {
        let words: Vec<&str> = path.trim_matches('/').split('/').collect();
        let route = match words.as_slice() {
            ["metrics"] => Route::Metrics,
            ["api", "health"] => Route::Health,
            ["api", "list"] => Route::List,
            ["api", "reload"] => Route::Reload,
            ["api", "status", name] => Route::Status((*name).to_owned()),
            ["api", "start", name] => Route::Start((*name).to_owned()),
            ["api", "stop", name] => Route::Stop((*name).to_owned()),
            ["api", "restart", name] => Route::Restart((*name).to_owned()),
            ["api", "logs", name] => Route::Logs((*name).to_owned()),
            _ => return None,
        };
        Some(route)
    }

    fn method(&self) -> Method {
        match self {
            Route::Health | Route::List | Route::Status(_) | Route::Logs(_) | Route::Metrics => {
                Method::GET
            }
            Route::Start(_) | Route::Stop(_) | Route::Restart(_) | Route::Reload => Method::POST,
        }
    }
}

pub(super) type Answer = Response<Full<Bytes>>;

pub(super) struct Routes {
    door: Door,
    token: SecretString,
}

impl Routes {
    pub fn new(door: Door, token: SecretString) -> Routes {
        Routes { door, token }
    }

    pub fn door(&self) -> &Door {
        &self.door
    }

    pub async fn answer(&self, request: Request<Incoming>) -> Answer {
        let route = Route::of(request.uri().path());
        if route != Some(Route::Health) && !self.is_allowed(request.headers()) {
            let mut answer = problem(StatusCode::UNAUTHORIZED, "a bearer token is needed");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        let Some(route) = route else {
            return problem(StatusCode::NOT_FOUND, "there is nothing at this path");
        };
        if request.method() != route.method() {
            let allowed = route.method();
            let detail = format!("use {allowed} here");
            let mut answer = problem(StatusCode::METHOD_NOT_ALLOWED, &detail);
            if let Ok(allowed) = HeaderValue::from_str(allowed.as_str()) {
                answer.headers_mut().insert(ALLOW, allowed);
            }
            return answer;
        }
        let query = request.uri().query().unwrap_or_default().to_owned();
        let body = Limited::new(request.into_body(), BODY_MAX).collect();
        match self.door.clock().timeout(SLOW, body).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => {
                let detail = format!("a request has at most {BODY_MAX} bytes");
                return problem(StatusCode::PAYLOAD_TOO_LARGE, &detail);
            }
            Err(_) => return problem(StatusCode::REQUEST_TIMEOUT, "the request came too slowly"),
        }
        match self.perform(route, &query).await {
            Ok(answer) => answer,
            Err(refusal) => refused(&refusal),
        }
    }

    fn is_allowed(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        let expected = self.token.expose().as_bytes();
        let is_bearer = sent.len() > 7 && sent[..7].eq_ignore_ascii_case(b"bearer ");
        is_bearer && constant_time_eq(sent[7..].trim_ascii(), expected)
    }

    async fn perform(&self, route: Route, query: &str) -> Result<Answer, Refusal> {
        let door = &self.door;
        Ok(match route {
            Route::Health => {
                let version = env!("CARGO_PKG_VERSION");
                as_json(StatusCode::OK, &json!({ "status": "ok", "version": version }))
            }
            Route::List => {
                let services = door.services().await;
                let workloads: Vec<Map<String, Value>> =
                    services.iter().map(|one| full_of(brief(one), full(one))).collect();
                as_json(StatusCode::OK, &json!({ "workloads": workloads }))
            }
            Route::Status(name) => {
                let service = door.service(&name).await?;
                as_json(StatusCode::OK, &Value::Object(full(&service)))
            }
            Route::Start(name) => said(&door.start(&name).await?),
            Route::Stop(name) => said(&door.stop(&name).await?),
            Route::Restart(name) => said(&door.restart(&name).await?),
            Route::Reload => {
                let reloaded = door.reload().await?;
                let answer = json!({ "success": true, "changes": changes(&reloaded) });
                as_json(StatusCode::OK, &answer)
            }
            Route::Logs(name) => {
                let count = wanted_lines(query)?;
                let lines = lines(door, &name, count).await?;
                as_json(StatusCode::OK, &json!({ "name": name, "lines": lines }))
            }
            Route::Metrics => {
                let text = "text/plain; version=0.0.4; charset=utf-8";
                with_type(StatusCode::OK, text, door.metrics().await.into())
            }
        })
    }
}

/// What a list says of a workload comes first.
fn full_of(mut brief: Map<String, Value>, full: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in full {
        brief.entry(key).or_insert(value);
    }
    brief
}

/// What an address asks for: by which method, and for how many lines, where that can be read.
pub(crate) fn reading(path: &str, query: &str) -> Option<(Method, Option<usize>)> {
    Some((Route::of(path)?.method(), wanted_lines(query).ok()))
}

fn wanted_lines(query: &str) -> Result<usize, Refusal> {
    let given = query.split('&').find_map(|pair| pair.strip_prefix("lines="));
    let Some(given) = given else { return Ok(LINES) };
    let count = given.parse().ok().filter(|count| (1..=LINES_MAX).contains(count));
    count.ok_or_else(|| {
        let detail = format!("`lines` is a number from 1 to {LINES_MAX}");
        Refusal::new(RefusalCode::Malformed, detail)
    })
}

fn said(done: &Done) -> Answer {
    let (is_success, message) = message(done);
    as_json(StatusCode::OK, &json!({ "success": is_success, "message": message }))
}

fn refused(refusal: &Refusal) -> Answer {
    let status = match refusal.code {
        RefusalCode::NotFound => StatusCode::NOT_FOUND,
        RefusalCode::Malformed => StatusCode::BAD_REQUEST,
        RefusalCode::Invalid | RefusalCode::Conflict => StatusCode::CONFLICT,
        RefusalCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut fields = problem_fields(&refusal.detail);
    if !refusal.mistakes.is_empty() {
        fields.insert("mistakes".to_owned(), json!(refusal.mistakes));
    }
    as_json(status, &Value::Object(fields))
}

fn problem(status: StatusCode, detail: &str) -> Answer {
    as_json(status, &Value::Object(problem_fields(detail)))
}

/// `detail` for clients of Master Control, `error` as elsewhere here.
fn problem_fields(detail: &str) -> Map<String, Value> {
    object(json!({ "success": false, "error": detail, "detail": detail, "message": detail }))
}

fn as_json(status: StatusCode, body: &Value) -> Answer {
    with_type(status, "application/json", body.to_string().into())
}

fn with_type(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_verbs() {
        assert_eq!(Route::of("/api/health"), Some(Route::Health));
        assert_eq!(Route::of("/api/status/web"), Some(Route::Status("web".to_owned())));
        assert_eq!(Route::of("/api/reload/").map(|route| route.method()), Some(Method::POST));
        for nothing in ["/", "/api", "/api/status", "/api/status/a/b", "/api/shutdown"] {
            assert_eq!(Route::of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn line_counts_are_bounded() {
        assert_eq!(wanted_lines("").unwrap(), 50);
        assert_eq!(wanted_lines("x=1&lines=7").unwrap(), 7);
        for wrong in ["lines=0", "lines=10001", "lines=many"] {
            assert!(wanted_lines(wrong).is_err(), "{wrong}");
        }
    }
}
