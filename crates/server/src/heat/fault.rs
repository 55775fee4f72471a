//! The one place where an error becomes an answer of these doors.
//!
//! The shape is Heat's: programs show `error.message` and look at `error.type`. Every refusal is an error of ours first, so it
//! is logged and counted like those of the API. Enough of Keystone is here as well: its errors have another shape.

use axum::body::Body;
use axum::response::Response;
use hostler_control::StackRefusal;
use hostler_model::{Code, Error};
use hostler_template::diagnostic::Fault as Mistake;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::here::Here;
use crate::http::error;

/// Whose shape an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Heat,
    Identity,
}

/// Why a request is not served.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    /// As Heat calls it.
    kind: &'static str,
    message: String,
    error: Box<Error>,
}

/// What is said in general of answers with a status.
const EXPLANATIONS: &[(u16, &str, &str)] = &[
    (
        400,
        "Bad Request",
        "The server could not comply with the request since it is either malformed or otherwise incorrect.",
    ),
    (401, "Unauthorized", "The request needs a token of this installation."),
    (403, "Forbidden", "Access was denied to this resource."),
    (404, "Not Found", "The resource could not be found."),
    (405, "Method Not Allowed", "There is something here, but not with this method."),
    (409, "Conflict", "There was a conflict when trying to complete your request."),
    (413, "Request Entity Too Large", "The body of the request is larger than it may be."),
    (415, "Unsupported Media Type", "The body of the request is not declared as JSON."),
    (429, "Too Many Requests", "There were too many requests in a short time."),
    (503, "Service Unavailable", "The server cannot answer now; try again."),
    (
        500,
        "Internal Server Error",
        "The server has either erred or is incapable of performing the requested operation.",
    ),
];

impl Fault {
    /// A request that cannot be read.
    pub(super) fn bad(message: impl Into<String>) -> Fault {
        let message = message.into();
        let error = Error::new(Code::Malformed, message.clone(), "see Heat's API for the request");
        Fault {
            status: StatusCode::BAD_REQUEST,
            kind: "HTTPBadRequest",
            message,
            error: error.into(),
        }
    }

    /// A request that says what cannot be.
    pub(super) fn invalid(message: impl Into<String>) -> Fault {
        Fault { kind: "StackValidationFailed", ..Fault::bad(message) }
    }

    pub(super) fn missing(what: &str, name: &str) -> Fault {
        let message = format!("The {what} ({name}) could not be found.");
        Fault {
            status: StatusCode::NOT_FOUND,
            kind: "EntityNotFound",
            error: Error::not_found(what, name).into(),
            message,
        }
    }

    /// What the engine of Heat says of it, that is, not of its path.
    pub(super) fn absent(message: impl Into<String>) -> Fault {
        Fault { kind: "NotFound", ..Fault::nothing(message) }
    }

    /// Nothing that has a name.
    pub(super) fn nothing(message: impl Into<String>) -> Fault {
        Fault { kind: "HTTPNotFound", message: message.into(), ..Fault::missing("object", "") }
    }

    pub(super) fn unauthorised(message: impl Into<String>) -> Fault {
        Error::unauthenticated(message.into()).into()
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Fault {
        Error::forbidden(message.into()).into()
    }

    /// A project that does not exist for the caller is not told from one that does not exist.
    pub(super) fn foreign(self) -> Fault {
        match self.error.code {
            Code::NotFound => Fault::forbidden("You are not authorized to complete this action."),
            _ => self,
        }
    }

    /// As Heat tells of a template that is only looked at: what does not hold is a bad request.
    pub(super) fn of_look(mut self) -> Fault {
        if self.kind == "StackValidationFailed" {
            self.kind = "HTTPBadRequest";
        }
        self
    }

    pub(super) fn is_missing(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    pub(super) fn answer(&self, room: Room, here: &Here, request_id: &str) -> Response {
        error::log(&self.error, request_id);
        let code = self.status.as_u16();
        let known = EXPLANATIONS.iter().find(|(status, ..)| *status == code);
        let (title, explanation) = known.map_or_else(
            || (self.status.canonical_reason().unwrap_or_default(), self.message.as_str()),
            |(_, title, explanation)| (*title, *explanation),
        );
        let message = &self.message;
        let body = match room {
            Room::Heat => json!({
                "code": code,
                "title": title,
                "explanation": explanation,
                "error": { "type": self.kind, "traceback": Value::Null, "message": message },
            }),
            Room::Identity => {
                json!({ "error": { "code": code, "title": title, "message": message } })
            }
        };
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() = self.status;
        response.extensions_mut().insert(error::Refused(self.error.code));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.error.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let challenge = format!("Keystone uri=\"{}\"", here.identity());
        if self.status == StatusCode::UNAUTHORIZED
            && let Ok(challenge) = HeaderValue::from_str(&challenge)
        {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// Heat knows fewer statuses than the API does.
fn status(kind: &str, code: Code) -> StatusCode {
    match code {
        Code::Malformed | Code::Invalid | Code::QuotaExceeded => StatusCode::BAD_REQUEST,
        Code::Conflict if kind == "NotSupported" => StatusCode::BAD_REQUEST,
        Code::AlreadyExists | Code::Conflict | Code::Stale | Code::KeyReused => {
            StatusCode::CONFLICT
        }
        Code::SecondFactorRequired => StatusCode::UNAUTHORIZED,
        // Conflicts are what programs try again by themselves, and this needs people.
        Code::ApprovalRequired => StatusCode::FORBIDDEN,
        other => error::status(other),
    }
}

/// The words that programs compare; behind them, where there is more than one mistake, all the others.
fn whole(refusal: &StackRefusal) -> String {
    let mut text = refusal.message.clone();
    let errors = refusal.wrong.iter().filter(|one| one.fault != Mistake::Warning);
    for other in errors.skip(1) {
        text.push('\n');
        text.push_str(&other.api_message());
    }
    if refusal.error.code == Code::ApprovalRequired {
        text.push_str(". Send the same request again when others have agreed: `hostler approval ls --mine` says how it stands.");
    }
    text
}

impl From<StackRefusal> for Fault {
    fn from(refusal: StackRefusal) -> Fault {
        let message = whole(&refusal);
        let code = refusal.error.code;
        let kind = match code {
            Code::Unauthenticated | Code::SecondFactorRequired => "HTTPUnauthorized",
            Code::MethodNotAllowed => "HTTPMethodNotAllowed",
            Code::UnsupportedMediaType => "HTTPUnsupportedMediaType",
            Code::RateLimited => "HTTPTooManyRequests",
            _ => refusal.kind,
        };
        Fault { status: status(kind, code), kind, message, error: refusal.error }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        StackRefusal::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_that_heat_has() {
        for (error, expected) in [
            (Error::invalid(Vec::new()), 400),
            (Error::conflict("a", "b"), 409),
            (Error::already_exists("stack", "a"), 409),
            (Error::not_found("stack", "a"), 404),
            (Error::forbidden("a"), 403),
            (Error::unauthenticated("a"), 401),
            (Error::internal("a"), 500),
            (Error::new(Code::ApprovalRequired, "a", "b"), 403),
        ] {
            assert_eq!(Fault::from(error).status.as_u16(), expected);
        }
        assert_eq!(status("NotSupported", Code::Conflict), StatusCode::BAD_REQUEST);
        assert_eq!(status("ActionInProgress", Code::Conflict), StatusCode::CONFLICT);
    }
}
