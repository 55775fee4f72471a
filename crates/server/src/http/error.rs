//! The one place where an error becomes an HTTP answer.
//!
//! Every refusal, whether it comes from a service, from reading the request, from the router or from
//! a panic, is a `hostler_model::Error` first and an RFC 9457 problem afterwards. The table of status
//! codes is `hostler_api::openapi::status_of`, so what is documented is what is sent. The cause of an
//! error goes to the log under the request id, never to the caller.

use axum::body::Body;
use axum::response::Response;
use hostler_api::openapi::status_of;
use hostler_api::{PROBLEM_CONTENT_TYPE, Problem};
use hostler_base::chain;
use hostler_model::{Code, Error};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use tracing::{debug, error, warn};

/// Goes with an answer that is a problem, so that it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub Code);

/// The status of a code.
pub fn status(code: Code) -> StatusCode {
    StatusCode::from_u16(status_of(code)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The status an endpoint declares for its success.
pub(crate) fn success(declared: u16) -> StatusCode {
    StatusCode::from_u16(declared).unwrap_or(StatusCode::OK)
}

/// Says that the answer has no body to send.
pub(crate) fn is_bodiless(declared: u16) -> bool {
    success(declared) == StatusCode::NO_CONTENT
}

/// The caller has the newest content already.
pub(crate) fn not_modified() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// Turns an error into its answer, and logs what the caller does not get to see.
pub(crate) fn answer(error: &Error, request_id: &str) -> Response {
    log(error, request_id);
    let problem = Problem {
        kind: format!("/docs#error-{}", error.code),
        title: title(error.code),
        status: status_of(error.code),
        detail: error.detail.clone(),
        code: error.code,
        hint: error.hint.clone(),
        request_id: request_id.to_owned(),
        errors: error.errors.clone(),
    };
    let bytes = serde_json::to_vec(&problem).unwrap_or_default();
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status(error.code);
    response.extensions_mut().insert(Refused(error.code));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_CONTENT_TYPE));
    if let Some(seconds) = error.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if matches!(error.code, Code::Unauthenticated | Code::SecondFactorRequired) {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"hostler\""));
    }
    response
}

/// The cause of an error is for the log, under the id of the request.
pub(crate) fn log(error: &Error, request_id: &str) {
    match error.code {
        Code::Internal => error!(request_id, error = %chain(error), "request failed inside"),
        Code::Unavailable => warn!(request_id, error = %chain(error), "request not served"),
        _ => debug!(request_id, code = %error.code, error = %chain(error), "request refused"),
    }
}

fn title(code: Code) -> String {
    let mut words = code.label().replace('-', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

pub(crate) fn malformed(detail: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(Code::Malformed, detail, hint)
}

pub(crate) fn no_such_route(path: &str) -> Error {
    Error::new(
        Code::NoSuchRoute,
        format!("there is nothing at `{}`", shortened(path)),
        "see /docs for every path",
    )
}

pub(crate) fn method_not_allowed(method: &http::Method, allowed: &str) -> Error {
    Error::new(
        Code::MethodNotAllowed,
        format!("{method} is not possible here"),
        format!("use one of: {allowed}"),
    )
}

pub(crate) fn too_large(limit: usize) -> Error {
    Error::new(
        Code::TooLarge,
        format!("the body is larger than {} KiB", limit / 1024),
        "send less at once; many tasks go to the task-batches endpoint",
    )
}

pub(crate) fn rate_limited(wait: std::time::Duration) -> Error {
    let seconds = wait.as_secs().saturating_add(1);
    Error::new(
        Code::RateLimited,
        "too many requests in a short time",
        format!("wait {seconds} s and try again"),
    )
    .with_retry_after(seconds)
}

pub(crate) fn timed_out() -> Error {
    Error::new(
        Code::Unavailable,
        "the answer took too long and was given up",
        "try again; a repeated POST with the same Idempotency-Key has one effect",
    )
    .with_retry_after(2)
}

pub(crate) fn shutting_down() -> Error {
    Error::new(
        Code::Unavailable,
        "this server is shutting down",
        "try again; another server, or this one after its restart, will answer",
    )
    .with_retry_after(2)
}

pub(crate) fn panicked() -> Error {
    Error::new(
        Code::Internal,
        "something failed inside Hostler",
        "the server's log has the details under this request id",
    )
}

/// Text of a caller, cut to a length that is safe to repeat.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
