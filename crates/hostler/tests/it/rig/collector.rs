//! A collector of traces, as OpenTelemetry's own is to those who send them: OTLP over gRPC, kept in memory.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use tonic::{Request, Response, Status};

/// A span as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What the process called itself: `hostler-server` or `hostler-agent`.
    pub service: String,
    pub name: String,
    pub trace: String,
    pub parent: String,
    pub attributes: BTreeMap<String, String>,
    /// Nanoseconds since 1970.
    pub from: u64,
    pub to: u64,
}

pub struct Collector {
    pub address: SocketAddr,
    seen: Kept,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Seen>>>);

impl Collector {
    pub fn start() -> Collector {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let seen = Kept::default();
        let service = TraceServiceServer::new(seen.clone());
        let address = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let incoming = tonic::transport::server::TcpIncoming::from(listener);
            let server = tonic::transport::Server::builder().add_service(service);
            #[expect(
                clippy::disallowed_methods,
                reason = "it ends with the runtime of this collector"
            )]
            tokio::spawn(server.serve_with_incoming(incoming));
            address
        });
        Collector { address, seen, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every span that came.
    pub fn all(&self) -> Vec<Seen> {
        self.seen.0.lock().unwrap().clone()
    }

    /// Every span of a trace, oldest first.
    pub fn trace(&self, id: &str) -> Vec<Seen> {
        let mut spans: Vec<Seen> = self.all().into_iter().filter(|span| span.trace == id).collect();
        spans.sort_by_key(|span| span.from);
        spans
    }
}

#[tonic::async_trait]
impl TraceService for Kept {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        for resource in request.into_inner().resource_spans {
            let about = words(resource.resource.map(|one| one.attributes).unwrap_or_default());
            let service = about.get("service.name").cloned().unwrap_or_default();
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                self.0.lock().unwrap().push(Seen {
                    service: service.clone(),
                    name: span.name,
                    trace: hex(&span.trace_id),
                    parent: hex(&span.parent_span_id),
                    attributes: words(span.attributes),
                    from: span.start_time_unix_nano,
                    to: span.end_time_unix_nano,
                });
            }
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn words(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let texts = attributes.into_iter().filter_map(|one| match one.value?.value? {
        any_value::Value::StringValue(text) => Some((one.key, text)),
        any_value::Value::IntValue(number) => Some((one.key, number.to_string())),
        _ => None,
    });
    texts.collect()
}
