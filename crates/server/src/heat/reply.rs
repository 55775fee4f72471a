//! What a handler gives back.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

/// An answer that is no fault.
#[derive(Debug)]
pub(super) struct Reply {
    status: StatusCode,
    content: Content,
    headers: Vec<(HeaderName, String)>,
}

#[derive(Debug)]
enum Content {
    Nothing,
    Json(Value),
    Xml(String),
}

impl Reply {
    fn of(status: StatusCode, body: Value) -> Reply {
        Reply { status, content: Content::Json(body), headers: Vec::new() }
    }

    pub(super) fn ok(body: Value) -> Reply {
        Reply::of(StatusCode::OK, body)
    }

    pub(super) fn created(body: Value) -> Reply {
        Reply::of(StatusCode::CREATED, body)
    }

    /// There are several, and this is which.
    pub(super) fn choices(body: Value) -> Reply {
        Reply::of(StatusCode::MULTIPLE_CHOICES, body)
    }

    /// It was begun.
    pub(super) fn accepted() -> Reply {
        let body = json!({
            "message": "The request is accepted for processing.<br /><br />\n\n\n",
            "code": "202 Accepted",
            "title": "Accepted",
        });
        Reply::of(StatusCode::ACCEPTED, body)
    }

    pub(super) fn nothing() -> Reply {
        Reply { status: StatusCode::NO_CONTENT, content: Content::Nothing, headers: Vec::new() }
    }

    /// What is asked for is called by its whole name there; the same request is made there.
    pub(super) fn found(location: String) -> Reply {
        let body = json!({
            "message": "The resource was found; its address is in the header Location.",
            "code": "302 Found",
            "title": "Found",
        });
        Reply::of(StatusCode::FOUND, body).with(LOCATION, location)
    }

    /// A refusal for programs that read XML.
    pub(super) fn xml_refusal(text: String) -> Reply {
        Reply { status: StatusCode::BAD_REQUEST, content: Content::Xml(text), headers: Vec::new() }
    }

    #[must_use]
    pub(super) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn into_response(self) -> Response {
        let (body, kind) = match self.content {
            Content::Nothing => (Body::empty(), None),
            Content::Json(value) => (Body::from(value.to_string()), Some("application/json")),
            Content::Xml(text) => (Body::from(text), Some("application/xml")),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if let Some(kind) = kind {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(name, value);
            }
        }
        response
    }
}
