//! Requests in numbers.

use std::sync::Arc;
use std::time::Duration;

use hostler_model::Code;
use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::catalogue::{HTTP_DURATION, HTTP_REFUSED, HTTP_REQUESTS};
use super::latency::Latency;
use super::numbers::{add, durations};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    endpoint: &'static str,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabel {
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndpointLabel {
    endpoint: &'static str,
}

/// Counts requests; cheap to clone.
#[derive(Clone)]
pub struct HttpMetrics {
    requests: Family<RequestLabels, Counter>,
    duration: Family<EndpointLabel, Histogram>,
    refused: Family<CodeLabel, Counter>,
    latency: Arc<Latency>,
}

impl HttpMetrics {
    pub(super) fn new(registry: &mut Registry) -> HttpMetrics {
        let refused: Family<CodeLabel, Counter> = add(registry, HTTP_REFUSED, Family::default());
        for code in Code::ALL {
            refused.get_or_create(&CodeLabel { code: code.label() }).inc_by(0);
        }
        HttpMetrics {
            requests: add(registry, HTTP_REQUESTS, Family::default()),
            duration: add(
                registry,
                HTTP_DURATION,
                Family::new_with_constructor(durations as fn() -> Histogram),
            ),
            refused,
            latency: Arc::default(),
        }
    }

    pub(super) fn latency(&self) -> &Latency {
        &self.latency
    }

    /// Counts what was answered with a problem.
    pub(crate) fn refused(&self, code: Code) {
        self.refused.get_or_create(&CodeLabel { code: code.label() }).inc();
    }

    pub(crate) fn record(
        &self,
        endpoint: &'static str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let labels =
            RequestLabels { endpoint, method: method_label(method), status: status_class(status) };
        self.requests.get_or_create(&labels).inc();
        self.latency.record(endpoint, status, took);
        self.duration.get_or_create(&EndpointLabel { endpoint }).observe(took.as_secs_f64());
    }
}

fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}
