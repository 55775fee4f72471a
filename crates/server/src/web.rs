//! The dashboard and the page that documents the API: files inside the binary.
//!
//! The dashboard is built from `web/` into `web/dist` and embedded. A binary that was built without
//! it serves a page that says how to build it. Paths of the dashboard's own router get its start
//! page; files whose name contains their hash are cached for ever; the start page never is. Nothing
//! here is secret and nothing needs a login: the data comes from the API.

use std::borrow::Cow;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method};
use rust_embed::RustEmbed;

use crate::http::{Trace, error};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dashboard;

const START_PAGE: &str = "index.html";
const NOT_BUILT: &str = include_str!("../static/not-built.html");
const DOCS: &[(&str, &str, &str)] = &[
    ("/docs", HTML, include_str!("../static/docs/index.html")),
    ("/docs/", HTML, include_str!("../static/docs/index.html")),
    ("/docs/docs.js", "text/javascript; charset=utf-8", include_str!("../static/docs/docs.js")),
    ("/docs/docs.css", "text/css; charset=utf-8", include_str!("../static/docs/docs.css")),
];
const HTML: &str = "text/html; charset=utf-8";
const REVALIDATE: &str = "no-cache";
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Answers every path that is not of the API.
pub(crate) async fn serve(request: Request) -> Response {
    let trace = Trace::of(request.extensions());
    let path = request.uri().path();
    let is_read = *request.method() == Method::GET || *request.method() == Method::HEAD;
    let is_api = path == "/api" || path.starts_with("/api/");
    if is_read && !is_api {
        trace.name_endpoint("dashboard");
        if let Some(response) = page(path, request.headers()) {
            return response;
        }
    }
    error::answer(&error::no_such_route(path), trace.request_id())
}

fn page(path: &str, headers: &HeaderMap) -> Option<Response> {
    if let Some((_, kind, text)) = DOCS.iter().find(|(known, ..)| *known == path) {
        let tag = blake3::hash(text.as_bytes()).to_hex();
        return Some(file(Cow::Borrowed(text.as_bytes()), kind, REVALIDATE, &tag, headers));
    }
    let name = path.strip_prefix('/').unwrap_or(path);
    if name.split('/').any(|part| part.is_empty() && !name.is_empty() || part == "..") {
        return None;
    }
    if let Some(found) = Dashboard::get(name).filter(|_| !name.is_empty()) {
        let caching = match name.starts_with("assets/") {
            true => FOREVER,
            false => REVALIDATE,
        };
        let kind = match found.metadata.mimetype() {
            "text/html" => HTML,
            other => other,
        };
        return Some(file(found.data, kind, caching, &hex(&found.metadata.sha256_hash()), headers));
    }
    let is_file = name.rsplit('/').next().is_some_and(|last| last.contains('.'));
    if is_file && name != START_PAGE {
        return None;
    }
    Some(match Dashboard::get(START_PAGE) {
        Some(start) => {
            file(start.data, HTML, REVALIDATE, &hex(&start.metadata.sha256_hash()), headers)
        }
        None => file(Cow::Borrowed(NOT_BUILT.as_bytes()), HTML, REVALIDATE, "not-built", headers),
    })
}

fn file(
    data: Cow<'static, [u8]>,
    kind: &str,
    caching: &'static str,
    tag: &str,
    headers: &HeaderMap,
) -> Response {
    let tag = format!("\"{}\"", tag.get(..32).unwrap_or(tag));
    let is_known =
        headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|known| {
            known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
        });
    let mut response = match is_known {
        true => error::not_modified(),
        false => Response::new(Body::from(data.into_owned())),
    };
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(kind) {
        headers.insert(CONTENT_TYPE, kind);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
