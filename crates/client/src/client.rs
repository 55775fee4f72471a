//! `Client`: one server address, one credential, any number of calls.
//!
//! Cheap to clone; connections are shared. The overall timeout covers a call with all its retries.
//! Redirects are not followed and system proxies are not used: a credential goes to the address that
//! was named and nowhere else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hostler_api::authority::AUTHORITIES_HEADER;
use hostler_api::{
    APPROVAL_HEADER, BREAK_GLASS_HEADER, Endpoint, IDEMPOTENCY_KEY, Problem, Stream,
};
use hostler_model::{ApprovalId, Generation};
use hostler_trust::{AuthorityBundle, SecretString};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue, IF_MATCH, RETRY_AFTER,
};
use reqwest::{Response, StatusCode, Url};
use tokio::time::Instant;
use tracing::debug;

use crate::request::Parts;
use crate::retry::{self, Reached};
use crate::stream::{ResumePolicy, Trouble};
use crate::{Error, RetryPolicy};

/// What a client needs to know.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// `https://host:7443`.
    pub address: String,
    /// The pinned authority, PEM; two while one takes the other's place.
    pub ca_pem: String,
    pub token: Option<SecretString>,
    /// For a call with all its retries; streams are not bounded.
    pub timeout: Duration,
    pub user_agent: String,
    pub retry: RetryPolicy,
    pub resume: ResumePolicy,
}

impl ClientConfig {
    pub fn new(address: impl Into<String>, ca_pem: impl Into<String>) -> ClientConfig {
        ClientConfig {
            address: address.into(),
            ca_pem: ca_pem.into(),
            token: None,
            timeout: Duration::from_secs(30),
            user_agent: concat!("hostler/", env!("CARGO_PKG_VERSION")).to_owned(),
            retry: RetryPolicy::default(),
            resume: ResumePolicy::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    timeout: Duration,
    consent: Option<(&'static str, HeaderValue)>,
}

/// Why a change may be made that needs an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Others agreed to it.
    Approval(ApprovalId),
    /// There is no time to ask, for this reason.
    BreakGlass(String),
}

#[derive(Debug)]
struct Shared {
    address: String,
    http: reqwest::Client,
    /// For streams, which have connections of their own.
    tls: rustls::ClientConfig,
    user_agent: String,
    authorization: Option<HeaderValue>,
    retry: RetryPolicy,
    resume: ResumePolicy,
    /// The mark of what is pinned.
    authorities: String,
    has_other_authorities: AtomicBool,
}

/// A reply with what came beside it.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    pub reply: T,
    /// The server's clock, as its `Date` header says it.
    pub date: Option<String>,
}

impl Client {
    pub fn new(config: ClientConfig) -> Result<Client, Error> {
        let trusted =
            AuthorityBundle::from_pem(&config.ca_pem).map_err(|e| Error::Setup(e.into()))?;
        let tls =
            hostler_trust::tls::client_of(&trusted, None).map_err(|e| Error::Setup(e.into()))?;
        let address = normal_address(&config.address)?;
        let authorization = config
            .token
            .map(|token| {
                let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                    .map_err(|_| {
                        Error::Setup("the token contains characters that no token has".into())
                    })?;
                value.set_sensitive(true);
                Ok::<_, Error>(value)
            })
            .transpose()?;
        let http = http_client(tls.clone(), &config.user_agent)?;
        Ok(Client {
            shared: Arc::new(Shared {
                address,
                http,
                tls,
                user_agent: config.user_agent,
                authorization,
                retry: config.retry,
                resume: config.resume,
                authorities: trusted.mark(),
                has_other_authorities: AtomicBool::new(false),
            }),
            timeout: config.timeout,
            consent: None,
        })
    }

    pub fn address(&self) -> &str {
        &self.shared.address
    }

    /// Whether the server said that it trusts other authorities than are pinned.
    pub fn has_other_authorities(&self) -> bool {
        self.shared.has_other_authorities.load(Ordering::Relaxed)
    }

    /// The same client with another time limit for calls.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Client {
        Client { timeout, ..self.clone() }
    }

    /// The same client, whose calls say why they may do what needs an approval.
    pub fn with_consent(&self, consent: &Consent) -> Result<Client, Error> {
        let (name, text) = match consent {
            Consent::Approval(id) => (APPROVAL_HEADER, id.to_string()),
            Consent::BreakGlass(reason) => (BREAK_GLASS_HEADER, reason.clone()),
        };
        let value = HeaderValue::from_bytes(text.as_bytes())
            .map_err(|_| Error::Setup("a reason is one line of text".into()))?;
        Ok(Client { consent: Some((name, value)), ..self.clone() })
    }

    pub async fn call<E: Endpoint>(
        &self,
        path: &E::Path,
        query: &E::Query,
        body: &E::Body,
    ) -> Result<E::Reply, Error> {
        self.perform::<E>(Parts::of::<E>(path, query, body)?, None).await.map(|answer| answer.reply)
    }

    /// Sends bytes as they are.
    pub async fn call_raw<E: Endpoint>(
        &self,
        path: &E::Path,
        query: &E::Query,
        body: Bytes,
    ) -> Result<E::Reply, Error> {
        let parts = Parts::raw::<E>(path, query, body)?;
        self.perform::<E>(parts, None).await.map(|answer| answer.reply)
    }

    /// A change that only holds for the generation that was looked at.
    pub async fn call_if_match<E: Endpoint>(
        &self,
        path: &E::Path,
        query: &E::Query,
        body: &E::Body,
        generation: Generation,
    ) -> Result<E::Reply, Error> {
        self.perform::<E>(Parts::of::<E>(path, query, body)?, Some(generation))
            .await
            .map(|answer| answer.reply)
    }

    /// A call whose headers matter too.
    pub async fn call_for_answer<E: Endpoint>(
        &self,
        path: &E::Path,
        query: &E::Query,
        body: &E::Body,
    ) -> Result<Answer<E::Reply>, Error> {
        self.perform::<E>(Parts::of::<E>(path, query, body)?, None).await
    }

    pub(crate) async fn perform<E: Endpoint>(
        &self,
        parts: Parts,
        if_match: Option<Generation>,
    ) -> Result<Answer<E::Reply>, Error> {
        let deadline = Instant::now() + self.timeout;
        let key = uuid::Uuid::new_v4().to_string();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let once = self.attempt::<E>(&parts, if_match, &key);
            let Ok(outcome) = tokio::time::timeout_at(deadline, once).await else {
                return Err(Error::Timeout {
                    address: self.shared.address.clone(),
                    after: self.timeout,
                });
            };
            let failed = match outcome {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let delay = retry::is_worth_repeating(&E::METHOD, failed.reached, &failed.error)
                .then(|| self.shared.retry.delay(attempt, failed.retry_after, retry::random()))
                .flatten()
                .filter(|delay| Instant::now() + *delay < deadline);
            let Some(delay) = delay else {
                return Err(failed.error);
            };
            debug!(endpoint = E::NAME, attempt, error = %failed.error, "call is repeated");
            tokio::time::sleep(delay).await;
        }
    }

    async fn attempt<E: Endpoint>(
        &self,
        parts: &Parts,
        if_match: Option<Generation>,
        key: &str,
    ) -> Result<Answer<E::Reply>, Failed> {
        let response = self.send::<E>(parts, if_match, key, "application/json").await?;
        let date =
            response.headers().get(DATE).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let bytes = response.bytes().await.map_err(|error| self.lost(Reached::Sent, error))?;
        Ok(Answer { reply: self.decode::<E>(&bytes).map_err(Failed::final_answer)?, date })
    }

    /// Sends a request; an answer that is no success becomes an error.
    pub(crate) async fn send<E: Endpoint>(
        &self,
        parts: &Parts,
        if_match: Option<Generation>,
        key: &str,
        accept: &'static str,
    ) -> Result<Response, Failed> {
        let mut request = self.request::<E>(&self.shared.http, parts, accept);
        if E::METHOD == http::Method::POST {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(generation) = if_match {
            request = request.header(IF_MATCH, format!("\"{generation}\""));
        }
        if let Some(body) = &parts.body {
            let kind = match E::RAW_BODY {
                Some(_) => "application/octet-stream",
                None => "application/json",
            };
            request = request.header(CONTENT_TYPE, kind).body(body.clone());
        }
        self.sent(request).await
    }

    /// Sends a request whose body goes on while it is answered, over a connection of its own. That speaks
    /// HTTP/1.1: with one request there is nothing to share out, and frames, windows and the tasks that keep
    /// them cost about as much as what is done.
    pub(crate) async fn send_stream<E: Endpoint>(
        &self,
        parts: &Parts,
        body: reqwest::Body,
    ) -> Result<Response, Failed> {
        const LINES: &str = "application/x-ndjson";
        let http = one_stream_client(self.shared.tls.clone(), &self.shared.user_agent)
            .map_err(|error| Failed { error, reached: Reached::Nothing, retry_after: None })?;
        let request = self.request::<E>(&http, parts, LINES);
        self.sent(request.header(CONTENT_TYPE, LINES).body(body)).await
    }

    fn request<E: Endpoint>(
        &self,
        http: &reqwest::Client,
        parts: &Parts,
        accept: &'static str,
    ) -> reqwest::RequestBuilder {
        let url = format!("{}{}", self.shared.address, parts.path);
        let mut request = http.request(E::METHOD, url).query(&parts.query).header(ACCEPT, accept);
        if let Some(authorization) = &self.shared.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some((name, value)) = &self.consent {
            request = request.header(*name, value);
        }
        request
    }

    async fn sent(&self, request: reqwest::RequestBuilder) -> Result<Response, Failed> {
        let response = request.send().await.map_err(|error| {
            let reached = if error.is_connect() { Reached::Nothing } else { Reached::Sent };
            self.lost(reached, error)
        })?;
        let told = response.headers().get(AUTHORITIES_HEADER).and_then(|told| told.to_str().ok());
        if told.is_some_and(|told| told != self.shared.authorities) {
            self.shared.has_other_authorities.store(true, Ordering::Relaxed);
        }
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.refusal(response).await)
        }
    }

    async fn refusal(&self, response: Response) -> Failed {
        let status = response.status();
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let bytes = match response.bytes().await {
            Ok(bytes) => bytes,
            Err(error) => return self.lost(Reached::Sent, error),
        };
        Failed { error: self.problem(status, &bytes), reached: Reached::Answer, retry_after }
    }

    fn problem(&self, status: StatusCode, bytes: &[u8]) -> Error {
        match serde_json::from_slice::<Problem>(bytes) {
            Ok(problem) => Error::Problem(Box::new(problem)),
            Err(error) => Error::Unexpected {
                address: self.shared.address.clone(),
                detail: format!("status {status} without a problem document"),
                source: Some(error.into()),
            },
        }
    }

    fn decode<E: Endpoint>(&self, bytes: &[u8]) -> Result<E::Reply, Error> {
        let read = match E::STREAM {
            Stream::Metrics => serde_json::from_value(String::from_utf8_lossy(bytes).into()),
            _ if bytes.is_empty() => serde_json::from_slice(b"{}"),
            Stream::None | Stream::Watch | Stream::Lines | Stream::Raw | Stream::Duplex => {
                serde_json::from_slice(bytes)
            }
        };
        read.map_err(|error| Error::Unexpected {
            address: self.shared.address.clone(),
            detail: format!("the reply of {} has another shape", E::NAME),
            source: Some(error.into()),
        })
    }

    pub(crate) fn lost(&self, reached: Reached, error: reqwest::Error) -> Failed {
        Failed {
            error: Error::from_transport(&self.shared.address, error),
            reached,
            retry_after: None,
        }
    }

    pub(crate) fn trouble(&self) -> Trouble {
        Trouble::new(self.shared.retry, self.shared.resume)
    }
}

/// A try that failed, with what decides about another.
#[derive(Debug)]
pub(crate) struct Failed {
    pub error: Error,
    pub reached: Reached,
    pub retry_after: Option<Duration>,
}

impl Failed {
    fn final_answer(error: Error) -> Failed {
        Failed { error, reached: Reached::Answer, retry_after: None }
    }
}

/// `https://host:port` without a path; a bare `host:port` is taken as https.
pub(crate) fn normal_address(given: &str) -> Result<String, Error> {
    let bad = || Error::Address { address: given.to_owned() };
    let with_scheme =
        if given.contains("://") { given.to_owned() } else { format!("https://{given}") };
    let url = Url::parse(with_scheme.trim()).map_err(|_| bad())?;
    let is_plain = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if url.scheme() != "https" || !is_plain || url.host_str().is_none() {
        return Err(bad());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

pub(crate) fn http_client(
    mut tls: rustls::ClientConfig,
    user_agent: &str,
) -> Result<reqwest::Client, Error> {
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    builder(tls, user_agent)
        .http2_keep_alive_interval(Duration::from_secs(15))
        .http2_keep_alive_timeout(Duration::from_secs(20))
        .build()
        .map_err(|error| Error::Setup(error.into()))
}

fn one_stream_client(
    mut tls: rustls::ClientConfig,
    user_agent: &str,
) -> Result<reqwest::Client, Error> {
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    builder(tls, user_agent).http1_only().build().map_err(|error| Error::Setup(error.into()))
}

fn builder(tls: rustls::ClientConfig, user_agent: &str) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(user_agent)
        .connect_timeout(Duration::from_secs(5))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .https_only(true)
        .tcp_keepalive(Duration::from_secs(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let cases = [
            ("host:7443", "https://host:7443"),
            ("https://host:7443/", "https://host:7443"),
            ("https://[::1]:7443", "https://[::1]:7443"),
            ("HTTPS://Host", "https://host"),
        ];
        for (given, expected) in cases {
            assert_eq!(normal_address(given).unwrap(), expected);
        }
        for bad in
            ["", "http://host", "https://", "https://u:p@host", "https://host/x", "https://host?x"]
        {
            assert!(normal_address(bad).is_err(), "{bad}");
        }
    }
}
