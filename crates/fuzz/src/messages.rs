//! Messages between agents and servers: bytes of gRPC, and the records that are made of them.

use hostler_engine::vitals::{Asked, Thresholds, judge};
use hostler_model::host::{HostAsk, HostVitals};
use hostler_model::{EngineAsk, Facts, NodeMetrics, RunId, WorkloadUsage};
use hostler_proto::v1;
use hostler_proto::v1::agent_message::Body as Said;
use hostler_proto::v1::server_message::Body as Told;
use hostler_proto::{
    assignment_to_message, chunks_to_message, digests_to_message, output_to_message,
    parse_assignment, parse_chunks, parse_digest, parse_digests, parse_output, parse_placement,
    parse_report, parse_run, parse_status, parse_watcher_orders, parse_watcher_report,
    report_to_message, status_to_message, watcher_orders_to_message, watcher_report_to_message,
};
use hostler_server::grpc::fuzz;
use prost::Message;

use crate::text;

/// What a node says.
pub fn agent_message(bytes: &[u8]) {
    let Ok(message) = v1::AgentMessage::decode(bytes) else { return };
    match message.body {
        Some(Said::Reports(all)) => all.reports.into_iter().for_each(report),
        Some(Said::StatusReports(all)) => all.reports.into_iter().for_each(status),
        Some(Said::Hello(hello)) => facts(hello.facts_json.as_bytes()),
        Some(Said::FactsChanged(news)) => facts(news.facts_json.as_bytes()),
        Some(Said::Heartbeat(beat)) => facts(beat.metrics_json.as_bytes()),
        Some(Said::WatcherReport(told)) => watchers(&told),
        Some(Said::StreamData(data)) => {
            data.frames.into_iter().for_each(fuzz::take_output);
        }
        _ => {}
    }
}

fn watchers(message: &v1::WatcherReport) {
    let (report, _) = parse_watcher_report(message);
    for news in &report.news {
        let told = news.told.clone().sane();
        assert!(told.words.chars().count() <= 501 && told.subject.chars().count() <= 501);
        assert_eq!(told.clone().sane().condition, told.condition);
    }
    let written = watcher_report_to_message(message.number, &report);
    let (again, problems) = parse_watcher_report(&written);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(again.news.len(), report.news.len());
}

fn report(message: v1::Report) {
    let Ok(report) = parse_report(message) else { return };
    let written = report_to_message(&report);
    let again = parse_report(written.clone()).expect("a report that was written");
    assert_eq!(report_to_message(&again), written);
}

fn status(message: v1::StatusReport) {
    let Ok(status) = parse_status(message) else { return };
    let written = status_to_message(&status);
    assert_eq!(written.placement_id, status.placement_id.to_string());
}

/// What a server tells a node to run.
pub fn server_message(bytes: &[u8]) {
    let Ok(message) = v1::ServerMessage::decode(bytes) else { return };
    let desired = match message.body {
        Some(Told::Desired(desired)) => desired,
        Some(Told::WatcherOrders(orders)) => {
            let (generation, orders, _) = parse_watcher_orders(&orders);
            let written = watcher_orders_to_message(generation, &orders);
            let (_, again, unreadable) = parse_watcher_orders(&written);
            return assert!(again.len() == orders.len() && unreadable.is_empty());
        }
        _ => return,
    };
    for placement in desired.placements {
        let Ok(assignment) = parse_assignment(placement) else { continue };
        let written = assignment_to_message(&assignment);
        let again = parse_assignment(written).expect("an assignment that was written");
        assert_eq!(again.placement_id, assignment.placement_id);
        assert_eq!(again.generation, assignment.generation);
    }
}

/// What a node says about content and secrets. The first byte says which message it is.
pub fn blob_message(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 5 {
        0 => {
            let Ok(asked) = v1::MissingChunksRequest::decode(bytes) else { return };
            if let Ok(digests) = parse_digests(&asked.digests) {
                assert_eq!(digests_to_message(&digests), asked.digests);
            }
        }
        1 => {
            let Ok(put) = v1::PutBlobRequest::decode(bytes) else { return };
            let _digest = parse_digest(&put.digest);
            if let Ok(chunks) = parse_chunks(&put.chunks) {
                assert_eq!(chunks_to_message(&chunks), put.chunks);
            }
        }
        2 => {
            let Ok(put) = v1::PutOutputsRequest::decode(bytes) else { return };
            let Ok(run) = parse_run(&put.run_id) else { return };
            put.outputs.into_iter().for_each(|entry| output(run, entry));
        }
        3 => {
            let Ok(put) = v1::PutChunkRequest::decode(bytes) else { return };
            if let Ok(digest) = parse_digest(&put.digest) {
                let _plain = hostler_blob::unpack(&put.packed, digest);
            }
        }
        _ => {
            let Ok(asked) = v1::FetchSecretsRequest::decode(bytes) else { return };
            let _placement = parse_placement(&asked.placement_id);
            let _run = parse_run(&asked.run_id);
        }
    }
}

fn output(run: Option<RunId>, entry: v1::OutputEntry) {
    let Some(run) = run else { return };
    let Ok(output) = parse_output(run, entry) else { return };
    let written = output_to_message(&output);
    let again = parse_output(run, written.clone()).expect("an output that was written");
    assert_eq!(output_to_message(&again), written);
}

/// What a server asks another to pass on.
pub fn peer_message(bytes: &[u8]) {
    if let Ok(request) = v1::RelayRequest::decode(bytes) {
        let _makes_sense = fuzz::is_relay(request);
    }
}

/// What a node says about its machine, as JSON.
pub fn facts(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(facts) = serde_json::from_str::<Facts>(text) {
        serde_json::to_string(&facts).expect("facts can be stored");
    }
    if let Ok(metrics) = serde_json::from_str::<NodeMetrics>(text) {
        serde_json::to_string(&metrics).expect("metrics can be stored");
    }
    if let Ok(told) = serde_json::from_str::<Vec<WorkloadUsage>>(text) {
        let sane = WorkloadUsage::sane(told);
        assert!(sane.len() <= WorkloadUsage::MOST);
        serde_json::to_string(&sane).expect("usage can be stored");
    }
    let _asked = serde_json::from_str::<EngineAsk>(text);
    if let Ok(vitals) = serde_json::from_str::<HostVitals>(text) {
        let asked = Asked { from: vitals.time, to: vitals.time };
        let _judged = judge(vitals, asked, &Thresholds::default());
    }
}

/// What servers ask of machines, and what machines tell line by line.
pub fn machine(bytes: &[u8]) {
    hostler_host::fuzz::lines(bytes);
    let Some(text) = text(bytes) else { return };
    if let Ok(ask) = serde_json::from_str::<HostAsk>(text) {
        let _mistakes = ask.problems();
        let printed = serde_json::to_string(&ask).expect("a question can be sent");
        assert_eq!(serde_json::from_str::<HostAsk>(&printed).ok(), Some(ask));
    }
}
