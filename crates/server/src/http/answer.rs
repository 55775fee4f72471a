//! What a handler gives back, and how it becomes a response.

use axum::body::Body;
use axum::response::Response;
use hostler_api::{Endpoint, Stream};
use hostler_model::{Code, Error, Generation};
use http::header::{CONTENT_TYPE, ETAG, LOCATION, SET_COOKIE};
use http::{HeaderName, HeaderValue};
use serde::Serialize;

use super::error::{is_bodiless, status, success};

/// The answer of a handler: the reply, and what goes into headers.
pub struct Answer<R> {
    content: Content<R>,
    headers: Vec<(HeaderName, String)>,
    is_ready: bool,
}

enum Content<R> {
    Reply(R),
    Stream(&'static str, Body),
}

impl<R> Answer<R> {
    pub fn new(reply: R) -> Answer<R> {
        Answer { content: Content::Reply(reply), headers: Vec::new(), is_ready: true }
    }

    /// Something other than one JSON document.
    pub fn stream(content_type: &'static str, body: Body) -> Answer<R> {
        Answer { content: Content::Stream(content_type, body), headers: Vec::new(), is_ready: true }
    }

    /// A reply that says why the service cannot work now.
    pub fn not_ready(reply: R) -> Answer<R> {
        Answer { is_ready: false, ..Answer::new(reply) }
    }

    /// Which state of the object the reply shows, for `If-Match`.
    #[must_use]
    pub fn with_generation(self, generation: Generation) -> Answer<R> {
        self.with(ETAG, format!("\"{generation}\""))
    }

    /// Where the object, or the operation that goes on, can be found.
    #[must_use]
    pub fn with_location(self, path: String) -> Answer<R> {
        self.with(LOCATION, path)
    }

    #[must_use]
    pub fn with_cookie(self, cookie: String) -> Answer<R> {
        self.with(SET_COOKIE, cookie)
    }

    #[must_use]
    pub fn with_header(self, name: HeaderName, value: impl std::fmt::Display) -> Answer<R> {
        self.with(name, value.to_string())
    }

    fn with(mut self, name: HeaderName, value: String) -> Answer<R> {
        self.headers.push((name, value));
        self
    }
}

impl<R: Serialize> Answer<R> {
    pub(crate) fn into_response<E: Endpoint<Reply = R>>(self) -> Result<Response, Error> {
        let mut response = match self.content {
            Content::Stream(content_type, body) => typed(content_type, body),
            Content::Reply(_) if is_bodiless(E::STATUS) => Response::new(Body::empty()),
            Content::Reply(reply) if E::STREAM == Stream::Metrics => {
                match serde_json::to_value(&reply) {
                    Ok(serde_json::Value::String(text)) => typed(OPEN_METRICS, Body::from(text)),
                    Ok(other) => typed(OPEN_METRICS, Body::from(other.to_string())),
                    Err(error) => return Err(Error::internal(error)),
                }
            }
            Content::Reply(reply) => {
                let bytes = serde_json::to_vec(&reply).map_err(Error::internal)?;
                typed("application/json", Body::from(bytes))
            }
        };
        *response.status_mut() = match self.is_ready {
            true => success(E::STATUS),
            false => status(Code::Unavailable),
        };
        for (name, value) in self.headers {
            let value = HeaderValue::from_str(&value).map_err(Error::internal)?;
            response.headers_mut().append(name, value);
        }
        Ok(response)
    }
}

/// What the encoder of metrics writes; Prometheus refuses it under any other name, because it has types that the older
/// format has not.
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) fn typed(content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
