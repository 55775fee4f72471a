//! Messages between agents and servers: bytes of gRPC, and the records that are made of them.

use hostler_model::{EngineAsk, Facts, NodeMetrics, RunId};
use hostler_proto::v1;
use hostler_proto::v1::agent_message::Body as Said;
use hostler_proto::v1::server_message::Body as Told;
use hostler_proto::{
    assignment_to_message, chunks_to_message, digests_to_message, output_to_message,
    parse_assignment, parse_chunks, parse_digest, parse_digests, parse_output, parse_placement,
    parse_report, parse_run, parse_status, report_to_message, status_to_message,
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
        Some(Said::StreamData(data)) => {
            data.frames.into_iter().for_each(fuzz::take_output);
        }
        _ => {}
    }
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
    let Some(Told::Desired(desired)) = message.body else { return };
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
    let _asked = serde_json::from_str::<EngineAsk>(text);
}
