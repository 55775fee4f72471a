//! Traces: a collector that is away costs nothing.

use std::time::{Duration, Instant};

use hostler_base::log::{self, Error, Telemetry, TelemetryConfig};

fn config(endpoint: &str) -> TelemetryConfig {
    TelemetryConfig {
        endpoint: endpoint.to_owned(),
        service: "hostler-test".to_owned(),
        instance: "one".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_absent_collector_holds_up_neither_start_nor_end() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let started = Instant::now();
    let telemetry = Telemetry::start(&config(&format!("http://{address}"))).unwrap();
    drop(telemetry);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn mistakes_in_the_configuration_are_named() {
    for endpoint in ["collector:4317", "https://collector:4317", ""] {
        let refused = Telemetry::start(&config(endpoint));
        assert!(matches!(refused, Err(Error::Endpoint { .. })), "{endpoint}");
    }
    assert!(log::filter("info,hostler_agent=debug").is_ok());
    assert!(matches!(log::filter("=what=is=this"), Err(Error::Filter { .. })));
}
