//! A request as it is asked for, and the answer as it is given back.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use url::Url;

use crate::Error;

/// Redirects that are followed at most.
pub(crate) const REDIRECTS_MAX: u8 = 3;

/// Something to ask of somebody out there.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) redirects: u8,
    pub(crate) total: Option<Duration>,
    pub(crate) answer_max: Option<usize>,
}

impl Request {
    pub fn new(method: Method, url: &str) -> Result<Request, Error> {
        Ok(Request {
            method,
            url: checked(Url::parse(url).map_err(|_| Error::Url("it is not a URL"))?)?,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            redirects: REDIRECTS_MAX,
            total: None,
            answer_max: None,
        })
    }

    pub fn get(url: &str) -> Result<Request, Error> {
        Request::new(Method::GET, url)
    }

    pub fn post(url: &str) -> Result<Request, Error> {
        Request::new(Method::POST, url)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Request {
        self.headers.insert(name, value);
        self
    }

    /// A header that nobody sees in a log, such as a token.
    pub fn secret_header(mut self, name: HeaderName, value: &str) -> Result<Request, Error> {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| Error::Url("its credential has characters that no header can have"))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(self)
    }

    pub fn bearer(self, token: &str) -> Result<Request, Error> {
        self.secret_header(AUTHORIZATION, &format!("Bearer {token}"))
    }

    #[must_use]
    pub fn body(mut self, content_type: HeaderValue, body: impl Into<Bytes>) -> Request {
        self.headers.insert(CONTENT_TYPE, content_type);
        self.body = body.into();
        self
    }

    /// Follows fewer redirects than usual; 0 for none: the redirect itself is the answer.
    #[must_use]
    pub fn redirects(mut self, at_most: u8) -> Request {
        self.redirects = at_most.min(REDIRECTS_MAX);
        self
    }

    /// Another limit on the whole exchange.
    #[must_use]
    pub fn time_max(mut self, total: Duration) -> Request {
        self.total = Some(total);
        self
    }

    /// Another limit on the size of the answer.
    #[must_use]
    pub fn answer_max(mut self, bytes: usize) -> Request {
        self.answer_max = Some(bytes);
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} {})", self.method, self.url.origin().ascii_serialization())
    }
}

/// What came back.
#[derive(Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({}, {} bytes)", self.status, self.body.len())
    }
}

/// A URL that can be called at all.
pub(crate) fn checked(url: Url) -> Result<Url, Error> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::Url("it begins with neither `https://` nor `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::Url("it contains a credential; give that separately"));
    }
    if url.host().is_none() || url.port_or_known_default() == Some(0) {
        return Err(Error::Url("it names no host and port"));
    }
    Ok(url)
}
