//! Spans to an OpenTelemetry collector.

use std::time::{Duration, SystemTime};

use hostler_model::{Timestamp, TraceContext};
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState, Tracer,
    TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use super::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryConfig {
    /// Address of the collector's OTLP/gRPC port, such as `http://127.0.0.1:4317`.
    pub endpoint: String,
    /// What this process is called there: `hostler-server` or `hostler-agent`.
    pub service: String,
    /// Name of the server or node.
    pub instance: String,
}

const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The running exporter; dropping it sends what is left, for at most two seconds.
#[derive(Debug)]
pub struct Telemetry {
    provider: SdkTracerProvider,
}

impl Telemetry {
    /// Does not connect: the collector may be away now and come later.
    pub fn start(config: &TelemetryConfig) -> Result<Telemetry, Error> {
        if !config.endpoint.starts_with("http://") {
            return Err(Error::Endpoint { endpoint: config.endpoint.chars().take(256).collect() });
        }
        let exporter = SpanExporter::builder()
            .with_tonic()
            .with_endpoint(config.endpoint.as_str())
            .with_timeout(EXPORT_TIMEOUT)
            .build()
            .map_err(Error::Exporter)?;
        let resource = Resource::builder()
            .with_service_name(config.service.clone())
            .with_attribute(KeyValue::new("service.instance.id", config.instance.clone()))
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource)
            .with_batch_exporter(exporter)
            .build();
        opentelemetry::global::set_tracer_provider(provider.clone());
        Ok(Telemetry { provider })
    }

    /// The layer that turns our spans into traces. Others' spans stay out: those of the exporter
    /// itself would never end.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + 'static + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let ours = Targets::new().with_target("hostler", tracing::Level::DEBUG);
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("hostler"))
            .with_filter(ours)
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        // A collector that is away is no reason to hold up the end of the process.
        let _ = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT);
    }
}

/// Makes a span part of a trace that began elsewhere; without an exporter that changes nothing.
pub fn continue_trace(span: &Span, parent: &TraceContext) {
    let _no_exporter = span.set_parent(remote(parent));
}

/// The trace that a span is part of, and the span as the cause of what comes next; nothing where no spans
/// are recorded.
pub fn trace_of(span: &Span) -> Option<TraceContext> {
    let context = span.context();
    let span = context.span();
    let known = span.span_context();
    TraceContext::new(known.trace_id().to_bytes(), known.span_id().to_bytes())
}

/// Adds a span that is over to a trace: what was measured elsewhere, or began before anybody knew that it
/// would be worth telling. Without an exporter nothing happens.
pub fn record_span(
    parent: &TraceContext,
    name: &'static str,
    from: Timestamp,
    to: Timestamp,
    attributes: Vec<(&'static str, String)>,
) {
    let tracer = opentelemetry::global::tracer("hostler");
    let attributes = attributes.into_iter().map(|(key, value)| KeyValue::new(key, value));
    let mut span = tracer
        .span_builder(name)
        .with_start_time(system_time(from))
        .with_attributes(attributes)
        .start_with_context(&tracer, &remote(parent));
    span.end_with_timestamp(system_time(to.max(from)));
}

fn remote(parent: &TraceContext) -> Context {
    let flags = if parent.is_sampled() { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace, span) = (TraceId::from_bytes(parent.trace()), SpanId::from_bytes(parent.span()));
    let parent = SpanContext::new(trace, span, flags, true, TraceState::default());
    Context::new().with_remote_span_context(parent)
}

fn system_time(time: Timestamp) -> SystemTime {
    let micros = u64::try_from(time.micros()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    use tracing_subscriber::layer::SubscriberExt;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn spans_reach_the_collector_when_the_guard_goes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let collector = tokio::task::spawn_blocking(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let mut preface = [0; 24];
            connection.read_exact(&mut preface).unwrap();
            preface
        });
        let telemetry = Telemetry::start(&TelemetryConfig {
            endpoint: format!("http://{address}"),
            service: "hostler-test".to_owned(),
            instance: "one".to_owned(),
        })
        .unwrap();
        let subscriber = tracing_subscriber::registry().with(telemetry.layer());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info_span!("pass", reconciler = "thing_tend").in_scope(|| {});
        });
        tokio::task::spawn_blocking(move || drop(telemetry)).await.unwrap();
        assert_eq!(&collector.await.unwrap(), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_callers_trace_goes_on() {
        let telemetry = Telemetry::start(&TelemetryConfig {
            endpoint: "http://127.0.0.1:1".to_owned(),
            service: "hostler-test".to_owned(),
            instance: "one".to_owned(),
        })
        .unwrap();
        let subscriber = tracing_subscriber::registry().with(telemetry.layer());
        tracing::subscriber::with_default(subscriber, || {
            let theirs: TraceContext =
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().unwrap();
            let span = tracing::info_span!("request");
            continue_trace(&span, &theirs);
            let ours = trace_of(&span).unwrap();
            assert_eq!(ours.trace_id(), theirs.trace_id());
            assert_ne!(ours.span(), theirs.span(), "a part of its own");
            let alone = tracing::info_span!("request");
            assert_ne!(trace_of(&alone).unwrap().trace_id(), theirs.trace_id());
        });
        assert_eq!(trace_of(&tracing::info_span!("request")), None, "nobody records");
        tokio::task::spawn_blocking(move || drop(telemetry)).await.unwrap();
    }
}
