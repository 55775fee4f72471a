//! Requests: who is believed, how long is waited, how much is taken.
//!
//! A request goes where the step says, by way of the proxies in its environment. Names of hosts are always checked
//! against the authorities of the machine. Every request is on a connection of its own: steps make few of them,
//! and nothing outlives the step.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, NoProxy, Proxy, Response};
use rustls::{ClientConfig, RootCertStore};

use crate::modules::{Acting, acting};

/// How long a request may take if nothing else is said.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a download may take if nothing else is said.
pub(super) const LONG_TIMEOUT: Duration = Duration::from_secs(3600);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest answer that is taken into memory.
const LARGEST: usize = 64 << 20;

/// What is asked.
pub(super) struct Request {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Option<Vec<u8>>,
    pub timeout: Duration,
}

/// What was answered.
pub(super) struct Reply {
    pub status: u16,
    pub reason: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn new(method: &str, url: &str) -> Request {
        Request {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            timeout: TIMEOUT,
        }
    }

    /// Whether it only looks.
    pub fn is_harmless(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }

    /// Sends it; the body of the answer is still to come.
    pub async fn begin(self) -> Result<Response, String> {
        let told = |error: reqwest::Error| told(&self.method, &self.url, &error);
        let method = Method::from_bytes(self.method.as_bytes())
            .map_err(|_| format!("there is no method `{}`", self.method))?;
        let mut request = client(&acting(), self.timeout)?
            .request(method, &self.url)
            .headers(headers(&self.headers)?);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        request.send().await.map_err(told)
    }

    /// Sends it, and takes the whole answer.
    pub async fn send(self) -> Result<Reply, String> {
        let (method, url) = (self.method.clone(), self.url.clone());
        let response = self.begin().await?;
        let status = response.status();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (canonical(name.as_str()), value.as_bytes().to_vec()))
            .collect();
        let mut body = Vec::new();
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| told(&method, &url, &error))?;
            if body.len() + piece.len() > LARGEST {
                return Err(format!(
                    "{url} answers with more than 64 MiB; use net.download to put it into a file"
                ));
            }
            body.extend_from_slice(&piece);
        }
        let reason = status.canonical_reason().unwrap_or_default();
        Ok(Reply {
            status: status.as_u16(),
            reason: format!("{} {reason}", status.as_u16()).trim_end().to_owned(),
            headers,
            body,
        })
    }
}

/// Why a request failed, down to the cause.
pub(super) fn told(method: &str, url: &str, error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("{method} {url}: no answer in time; give it a longer `timeout`");
    }
    let mut text = format!("{method} {url}: ");
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    text.push_str(&cause.to_string());
    text
}

fn headers(given: &[(String, Vec<u8>)]) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, value) in given {
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}` cannot be the name of a header"))?;
        let value = HeaderValue::from_bytes(value)
            .map_err(|_| format!("the header `{name}` cannot have that value"))?;
        map.append(header, value);
    }
    Ok(map)
}

/// `Content-Type`, as people write it.
fn canonical(name: &str) -> String {
    let capital = |part: &str| match part.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => String::new(),
    };
    name.split('-').map(capital).collect::<Vec<_>>().join("-")
}

/// A client for one step: its proxies, the authorities of the machine.
pub(in crate::modules) fn client(step: &Acting, timeout: Duration) -> Result<Client, String> {
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls()?.as_ref().clone())
        .user_agent(concat!("hostler/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT.min(timeout))
        .timeout(timeout)
        .redirect(reqwest::redirect::Policy::limited(10))
        .no_proxy();
    let variable = |name: &str| {
        let value = step.env(name).or_else(|| step.env(&name.to_uppercase()));
        value.filter(|value| !value.is_empty())
    };
    let except = variable("no_proxy").and_then(|list| NoProxy::from_string(&list));
    for (name, make) in [
        ("https_proxy", Proxy::https as fn(String) -> reqwest::Result<Proxy>),
        ("http_proxy", Proxy::http),
        ("all_proxy", Proxy::all),
    ] {
        if let Some(url) = variable(name) {
            let proxy = make(url).map_err(|error| format!("{name} cannot be used: {error}"))?;
            builder = builder.proxy(proxy.no_proxy(except.clone()));
        }
    }
    builder.build().map_err(|error| format!("requests cannot be made here: {error}"))
}

/// Believes the authorities of the machine, which are read once.
pub(super) fn roots() -> Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let read = || {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    };
    Arc::clone(ROOTS.get_or_init(read))
}

/// How requests are covered.
pub(in crate::modules) fn tls() -> Result<Arc<ClientConfig>, String> {
    static TLS: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let make = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots())
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    };
    TLS.get_or_init(make).clone()
}
