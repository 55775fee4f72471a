//! Requests and their answers, and where a redirect may lead.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use url::{Host, Url};

use crate::door::{Route, at};
use crate::request::checked;
use crate::{Answer, Egress, Error, Request};

/// What the head of an answer may take.
const HEAD_MAX: usize = 64 << 10;

impl Egress {
    /// Sends a request and reads the whole answer. Any status is an answer.
    pub async fn send(&self, request: Request) -> Result<Answer, Error> {
        let after = request.total.unwrap_or(self.limits().total);
        let whose = origin(&request.url);
        let sent = tokio::time::timeout(after, self.follow(request)).await;
        self.counted(sent.unwrap_or(Err(Error::Timeout { at: whose, after })))
    }

    async fn follow(&self, request: Request) -> Result<Answer, Error> {
        let answer_max = request.answer_max.unwrap_or(self.limits().answer_max);
        let mut hop = Hop {
            method: request.method,
            url: request.url,
            headers: request.headers,
            body: request.body,
        };
        let mut route = self.route_of(&hop.url).await?;
        let mut left = request.redirects;
        loop {
            let answer = self.exchange(&hop, &route, answer_max).await?;
            let location = answer.headers.get(LOCATION);
            let Some(location) = location.filter(|_| is_redirect(answer.status)) else {
                return Ok(answer);
            };
            if left == 0 {
                return match request.redirects {
                    0 => Ok(answer),
                    _ => Err(Error::Redirect { at: route.at(), problem: "too often" }),
                };
            }
            left -= 1;
            hop = hop.next(&route, answer.status, location)?;
            let next = self.route_of(&hop.url).await?;
            if next.side != route.side {
                let problem = "between the public network and what is inside";
                return Err(Error::Redirect { at: route.at(), problem });
            }
            route = next;
        }
    }

    async fn route_of(&self, url: &Url) -> Result<Route, Error> {
        let (host, port) = url
            .host()
            .zip(url.port_or_known_default())
            .ok_or(Error::Url("it names no host and port"))?;
        self.route(host.to_owned(), port).await
    }

    async fn exchange(&self, hop: &Hop, route: &Route, max: usize) -> Result<Answer, Error> {
        let stream = self.connect(route).await?;
        match hop.url.scheme() {
            "https" => {
                let stream = self.secure(route, stream).await?;
                talk(hop, route, TokioIo::new(stream), max).await
            }
            _ => talk(hop, route, TokioIo::new(stream), max).await,
        }
    }
}

/// One request on its way.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
}

impl Hop {
    fn next(self, route: &Route, status: StatusCode, to: &HeaderValue) -> Result<Hop, Error> {
        let wrong = |problem| Error::Redirect { at: route.at(), problem };
        let url = to
            .to_str()
            .ok()
            .and_then(|location| self.url.join(location).ok())
            .and_then(|url| checked(url).ok())
            .ok_or_else(|| wrong("to what is not an address for HTTP"))?;
        if self.url.scheme() == "https" && url.scheme() != "https" {
            return Err(wrong("from `https` to `http`"));
        }
        let is_rewritten = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        let mut next = Hop { url, ..self };
        if is_rewritten {
            next.method = Method::GET;
            next.body = Bytes::new();
            next.headers.remove(CONTENT_TYPE);
        }
        let is_same_origin = origin(&next.url) == origin_of(route, self.url.scheme());
        if !is_same_origin {
            if !next.body.is_empty() {
                return Err(wrong("a request with content to another host"));
            }
            next.headers = strangers(&next.headers);
        }
        Ok(next)
    }
}

/// The headers that another origin may see.
fn strangers(headers: &HeaderMap) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for name in [ACCEPT, USER_AGENT] {
        if let Some(value) = headers.get(&name) {
            kept.insert(name, value.clone());
        }
    }
    kept
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn origin(url: &Url) -> String {
    let host: Option<Host<&str>> = url.host();
    let place = host.map(|host| at(&host, url.port_or_known_default().unwrap_or_default()));
    format!("{}://{}", url.scheme(), place.unwrap_or_default())
}

fn origin_of(route: &Route, scheme: &str) -> String {
    format!("{scheme}://{}", route.at())
}

async fn talk<S>(hop: &Hop, route: &Route, io: TokioIo<S>, max: usize) -> Result<Answer, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broke = |source| Error::Http { at: route.at(), source };
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(HEAD_MAX)
        .handshake(io)
        .await
        .map_err(broke)?;
    let request = assemble(hop)?;
    let exchange = async {
        let answer = sender.send_request(request).await.map_err(broke)?;
        let (head, mut body) = answer.into_parts();
        let too_large = || Error::TooLarge { at: route.at(), max };
        let announced =
            head.headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
        if hop.method != Method::HEAD && announced.is_some_and(|length: usize| length > max) {
            return Err(too_large());
        }
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            if let Ok(part) = frame.map_err(broke)?.into_data() {
                if part.len() > max - bytes.len() {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&part);
            }
        }
        Ok(Answer { status: head.status, headers: head.headers, body: bytes.freeze() })
    };
    let (mut exchange, mut connection) = (pin!(exchange), pin!(connection));
    let mut is_closed = false;
    loop {
        tokio::select! {
            answer = &mut exchange => return answer,
            _ = &mut connection, if !is_closed => is_closed = true,
        }
    }
}

fn assemble(hop: &Hop) -> Result<http::Request<Full<Bytes>>, Error> {
    let unusable = Error::Url("it cannot be put into a request");
    let target = match hop.url.query() {
        Some(query) => format!("{}?{query}", hop.url.path()),
        None => hop.url.path().to_owned(),
    };
    let host = match (hop.url.host_str(), hop.url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    let mut request = http::Request::builder()
        .method(&hop.method)
        .uri(target)
        .body(Full::new(hop.body.clone()))
        .map_err(|_| Error::Url("it cannot be put into a request"))?;
    let headers = request.headers_mut();
    headers.extend(hop.headers.clone());
    headers.remove(TRANSFER_ENCODING);
    headers.remove(CONTENT_LENGTH);
    headers.insert(HOST, HeaderValue::try_from(host).map_err(|_| unusable)?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if !headers.contains_key(USER_AGENT) {
        headers.insert(USER_AGENT, HeaderValue::from_static("hostler"));
    }
    Ok(request)
}
