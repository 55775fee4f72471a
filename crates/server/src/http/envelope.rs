//! What surrounds every request: its id, its headers, its metrics, and the net under it.
//!
//! The id is the caller's own `X-Request-Id` when that is a plain word, otherwise a new one; it is in
//! the answer, in the log and in audit entries. Every request is part of a trace: the caller's, if it sent a
//! `traceparent`, otherwise a new one, which goes on with what follows from the request. A panic in a handler ends that request with a problem
//! and nothing else. Security headers are set here and nowhere else, so no answer can lack them.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::FutureExt;
use hostler_api::REQUEST_ID_HEADER;
use hostler_base::{Clock, Ids};
use hostler_model::TraceContext;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use tracing::{Instrument, Span, debug, error, info_span};

use super::{error, in_url};
use crate::metrics::HttpMetrics;

/// Follows a request through the layers.
#[derive(Clone, Debug)]
pub(crate) struct Trace(Arc<Followed>);

#[derive(Debug)]
struct Followed {
    request_id: String,
    context: Option<TraceContext>,
    endpoint: OnceLock<&'static str>,
}

impl Trace {
    fn new(request_id: String, context: Option<TraceContext>) -> Trace {
        Trace(Arc::new(Followed { request_id, context, endpoint: OnceLock::new() }))
    }

    /// The trace of a request; an empty one outside the envelope.
    pub(crate) fn of(extensions: &Extensions) -> Trace {
        match extensions.get::<Trace>() {
            Some(trace) => trace.clone(),
            None => Trace::new(String::new(), None),
        }
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.0.request_id
    }

    /// The trace, with the request as the cause of what comes next.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        self.0.context
    }

    pub(crate) fn name_endpoint(&self, name: &'static str) {
        let _ = self.0.endpoint.set(name);
    }

    fn endpoint(&self) -> &'static str {
        self.0.endpoint.get().copied().unwrap_or("none")
    }
}

/// What the envelope needs.
#[derive(Clone)]
pub struct Envelope {
    pub clock: Clock,
    pub ids: Ids,
    pub metrics: HttpMetrics,
}

/// The outermost layer of the router.
pub(crate) async fn envelope(
    State(envelope): State<Envelope>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = envelope.clock.instant();
    let request_id = request_id(&envelope.ids, request.headers());
    let method = request.method().clone();
    let is_api = request.uri().path().starts_with("/api/");
    let path = match in_url::found(request.uri()) {
        None => request.uri().path(),
        Some(_) => "[secret]",
    };
    let span = info_span!("request", request_id, %method, path);
    let context = trace_context(&envelope.ids, request.headers(), &span);
    let trace = Trace::new(request_id, context);
    request.extensions_mut().insert(trace.clone());
    let mut response =
        match AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await {
            Ok(response) => response,
            Err(panic) => {
                let panic = panic_text(panic.as_ref());
                error!(parent: &span, endpoint = trace.endpoint(), panic, "handler panicked");
                error::answer(&error::panicked(), trace.request_id())
            }
        };
    protect(response.headers_mut(), is_api);
    if let Ok(value) = HeaderValue::from_str(trace.request_id()) {
        response.headers_mut().insert(HeaderName::from_static(REQUEST_ID_HEADER), value);
    }
    let took: Duration = envelope.clock.instant().saturating_sub(began);
    let status = response.status();
    envelope.metrics.record(trace.endpoint(), &method, status, took);
    if let Some(error::Refused(code)) = response.extensions().get::<error::Refused>() {
        envelope.metrics.refused(*code);
    }
    debug!(
        parent: &span,
        endpoint = trace.endpoint(),
        status = status.as_u16(),
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "request answered"
    );
    response
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&'static str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "(no message)",
    }
}

/// The caller's trace or a new one, as it goes on from this request. Where nobody records spans there is an id
/// all the same, so that what follows can be told apart.
fn trace_context(ids: &Ids, headers: &HeaderMap, span: &Span) -> Option<TraceContext> {
    let text = headers.get("traceparent").and_then(|value| value.to_str().ok());
    let parent: Option<TraceContext> = text.and_then(|text| text.parse().ok());
    if let Some(parent) = &parent {
        hostler_base::log::continue_trace(span, parent);
    }
    hostler_base::log::trace_of(span).or(parent).or_else(|| {
        let (trace, part) = (ids.fresh::<uuid::Uuid>(), ids.fresh::<uuid::Uuid>());
        let (_, part) = part.as_u64_pair();
        TraceContext::new(trace.into_bytes(), part.to_be_bytes())
    })
}

fn request_id(ids: &Ids, headers: &HeaderMap) -> String {
    let is_plain = |text: &&str| {
        (1..=128).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
    };
    headers
        .get(REQUEST_ID_HEADER)
        .and_then(|value| value.to_str().ok())
        .filter(is_plain)
        .map_or_else(|| ids.fresh::<uuid::Uuid>().to_string(), str::to_owned)
}

/// Pages may load what we serve and nothing else; data may load nothing at all.
const PAGE_POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

fn protect(headers: &mut HeaderMap, is_api: bool) {
    let policy = if is_api { DATA_POLICY } else { PAGE_POLICY };
    let fixed = [
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_api {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    } else {
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
}
