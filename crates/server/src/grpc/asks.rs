//! What is asked of nodes, as messages and back: to the agent over its session, and to the server that
//! holds the session.

use hostler_control::{ExecAsk, NodeAsk, OutputItem, OutputQuery};
use hostler_model::{Code, Error, NodeId, OutputStream, Span, Timestamp};
use hostler_proto::v1::{self, relay_chunk::Body, stream_open::What};
use tonic::Status;

const STDOUT: u32 = 1;
const STDERR: u32 = 2;
const GAP: u32 = 3;
const MARK: u32 = 4;

pub(super) fn what(ask: NodeAsk) -> What {
    match ask {
        NodeAsk::Run { run, query } => {
            What::Output(v1::OutputRequest { run_id: run.to_string(), ..output(query) })
        }
        NodeAsk::Placement { placement, run, query } => What::Output(v1::OutputRequest {
            run_id: run.map(|run| run.to_string()).unwrap_or_default(),
            placement_id: placement.to_string(),
            ..output(query)
        }),
        NodeAsk::Exec(exec) => What::Exec(v1::ExecRequest {
            placement_id: exec.placement.to_string(),
            argv: exec.argv,
            stdin: exec.stdin,
            timeout_ms: exec.timeout.map(Span::millis),
        }),
        NodeAsk::Usage { placement, since } => What::Usage(v1::UsageRequest {
            placement_id: placement.map(|id| id.to_string()).unwrap_or_default(),
            since_micros: since.map_or(0, Timestamp::micros),
        }),
        NodeAsk::Facts => What::Facts(v1::FactsRequest {}),
        NodeAsk::Engine(ask) => What::Engine(v1::EngineRequest {
            ask_json: serde_json::to_string(&ask).expect("a question has string keys only"),
        }),
        NodeAsk::Host(ask) => What::Host(v1::HostRequest {
            ask_json: serde_json::to_string(&ask).expect("a question has string keys only"),
        }),
    }
}

fn output(query: OutputQuery) -> v1::OutputRequest {
    v1::OutputRequest {
        run_id: String::new(),
        follow: query.follow,
        stream: query.stream.map(|stream| stream.label().to_owned()).unwrap_or_default(),
        tail_lines: query.tail,
        cursor: query.cursor.unwrap_or_default(),
        placement_id: String::new(),
        since_micros: query.since.map(Timestamp::micros),
        until_micros: query.until.map(Timestamp::micros),
        grep: query.grep.unwrap_or_default(),
    }
}

pub(super) fn relay(node: NodeId, ask: NodeAsk) -> v1::RelayRequest {
    let mut request = v1::RelayRequest { node_id: node.to_string(), ..v1::RelayRequest::default() };
    match what(ask) {
        What::Output(output) => request.output = Some(output),
        What::Exec(exec) => request.exec = Some(exec),
        What::Usage(usage) => request.usage = Some(usage),
        What::Facts(facts) => request.facts = Some(facts),
        What::Engine(engine) => request.engine = Some(engine),
        What::Host(host) => request.host = Some(host),
    }
    request
}

pub(super) fn parse_relay(request: v1::RelayRequest) -> Result<(NodeId, NodeAsk), Status> {
    let node = parse(&request.node_id)?;
    let v1::RelayRequest { output, exec, usage, facts, engine, host, .. } = request;
    let ask = match (output, exec, usage, facts, engine, host) {
        (Some(output), None, None, None, None, None) => parse_output(output)?,
        (None, Some(exec), None, None, None, None) => NodeAsk::Exec(ExecAsk {
            placement: parse(&exec.placement_id)?,
            argv: exec.argv,
            stdin: exec.stdin,
            timeout: exec.timeout_ms.map(Span::from_millis),
        }),
        (None, None, Some(usage), None, None, None) => NodeAsk::Usage {
            placement: parse_some(&usage.placement_id)?,
            since: (usage.since_micros != 0).then(|| Timestamp::from_micros(usage.since_micros)),
        },
        (None, None, None, Some(v1::FactsRequest {}), None, None) => NodeAsk::Facts,
        (None, None, None, None, Some(engine), None) => {
            NodeAsk::Engine(document(&engine.ask_json)?)
        }
        (None, None, None, None, None, Some(host)) => NodeAsk::Host(document(&host.ask_json)?),
        _ => return Err(Status::invalid_argument("not one thing is asked for")),
    };
    Ok((node, ask))
}

fn document<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Status> {
    serde_json::from_str(text).map_err(|error| Status::invalid_argument(error.to_string()))
}

fn parse_output(request: v1::OutputRequest) -> Result<NodeAsk, Status> {
    let query = OutputQuery {
        follow: request.follow,
        stream: parse_some::<OutputStream>(&request.stream)?,
        tail: request.tail_lines,
        cursor: Some(request.cursor).filter(|cursor| !cursor.is_empty()),
        since: request.since_micros.map(Timestamp::from_micros),
        until: request.until_micros.map(Timestamp::from_micros),
        grep: Some(request.grep).filter(|grep| !grep.is_empty()),
    };
    Ok(match parse_some(&request.placement_id)? {
        Some(placement) => {
            NodeAsk::Placement { placement, run: parse_some(&request.run_id)?, query }
        }
        None => NodeAsk::Run { run: parse(&request.run_id)?, query },
    })
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Status> {
    text.parse().map_err(|error: T::Err| Status::invalid_argument(error.to_string()))
}

fn parse_some<T: std::str::FromStr<Err: std::fmt::Display>>(
    text: &str,
) -> Result<Option<T>, Status> {
    if text.is_empty() { Ok(None) } else { parse(text).map(Some) }
}

/// What came from a node.
pub(super) fn item(frame: v1::OutputFrame) -> OutputItem {
    let words = |data: &[u8]| String::from_utf8_lossy(data).into_owned();
    let time = Timestamp::from_micros(frame.time_micros);
    let stream = match frame.kind {
        STDOUT => OutputStream::Stdout,
        STDERR => OutputStream::Stderr,
        MARK => {
            return OutputItem::Mark {
                time: (frame.time_micros != 0).then_some(time),
                words: words(&frame.data),
                cursor: frame.cursor,
            };
        }
        _ => return OutputItem::Gap(words(&frame.data)),
    };
    OutputItem::Data { stream, time, bytes: frame.data, cursor: frame.cursor }
}

/// How a stream from a node ended.
pub(super) fn ended(end: &v1::StreamEnd) -> Result<OutputItem, Error> {
    if !end.error_code.is_empty() {
        let code = end.error_code.parse().unwrap_or(Code::NodeUnreachable);
        let hint = match code {
            Code::Conflict => "`hostler workload get` shows how it stands",
            _ => "look at the node with `hostler node get`",
        };
        return Err(Error::new(code, end.error_detail.clone(), hint));
    }
    if end.timed_out || end.exit_code.is_some() || end.exit_signal.is_some() {
        return Ok(OutputItem::Exit {
            code: end.exit_code,
            signal: end.exit_signal,
            is_timed_out: end.timed_out,
        });
    }
    Ok(OutputItem::End { complete: end.complete })
}

/// For the server that asked.
pub(super) fn chunk(item: Result<OutputItem, Error>) -> v1::RelayChunk {
    let frame = |kind, time_micros, data, cursor| {
        Body::Data(v1::StreamData {
            stream_id: 0,
            frames: vec![v1::OutputFrame { kind, time_micros, data, cursor }],
        })
    };
    let body = match item {
        Ok(OutputItem::Data { stream, time, bytes, cursor }) => {
            let kind = match stream {
                OutputStream::Stdout => STDOUT,
                OutputStream::Stderr => STDERR,
            };
            frame(kind, time.micros(), bytes, cursor)
        }
        Ok(OutputItem::Mark { time, words, cursor }) => {
            frame(MARK, time.map_or(0, Timestamp::micros), words.into_bytes(), cursor)
        }
        Ok(OutputItem::Gap(words)) => frame(GAP, 0, words.into_bytes(), String::new()),
        Ok(OutputItem::End { complete }) => {
            Body::End(v1::StreamEnd { complete, ..v1::StreamEnd::default() })
        }
        Ok(OutputItem::Exit { code, signal, is_timed_out }) => Body::End(v1::StreamEnd {
            exit_code: code,
            exit_signal: signal,
            timed_out: is_timed_out,
            complete: true,
            ..v1::StreamEnd::default()
        }),
        Err(error) => Body::End(v1::StreamEnd {
            error_code: error.code.label().to_owned(),
            error_detail: error.detail,
            ..v1::StreamEnd::default()
        }),
    };
    v1::RelayChunk { body: Some(body) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn asks() -> Vec<NodeAsk> {
        let query = OutputQuery {
            follow: true,
            stream: Some(OutputStream::Stderr),
            tail: Some(5),
            cursor: Some("c".into()),
            since: Some(Timestamp::from_micros(5)),
            until: Some(Timestamp::from_micros(-5)),
            grep: Some("a|b".into()),
        };
        let placement = hostler_model::PlacementId::from_uuid(Uuid::from_u128(1));
        let run = hostler_model::RunId::from_uuid(Uuid::from_u128(2));
        let plain = OutputQuery::default();
        vec![
            NodeAsk::Run { run, query: plain.clone() },
            NodeAsk::Run { run, query: query.clone() },
            NodeAsk::Placement { placement, run: None, query: plain },
            NodeAsk::Placement { placement, run: Some(run), query },
            NodeAsk::Exec(ExecAsk {
                placement,
                argv: vec!["a".into(), String::new()],
                stdin: vec![0, 255],
                timeout: Some(Span::from_millis(7)),
            }),
            NodeAsk::Usage { placement: None, since: None },
            NodeAsk::Facts,
            NodeAsk::Engine(hostler_model::EngineAsk::Images),
            NodeAsk::Host(hostler_model::host::HostAsk::Vitals),
            NodeAsk::Usage { placement: Some(placement), since: Some(Timestamp::from_micros(9)) },
        ]
    }

    #[test]
    fn questions_are_passed_on_unchanged() {
        let node = NodeId::from_uuid(Uuid::from_u128(3));
        for ask in asks() {
            let (to, passed) = parse_relay(relay(node, ask.clone())).unwrap();
            assert_eq!((to, passed), (node, ask));
        }
        assert!(parse_relay(v1::RelayRequest::default()).is_err());
    }

    #[test]
    fn answers_are_passed_on_unchanged() {
        let time = Timestamp::from_micros(7);
        let items = [
            OutputItem::Data {
                stream: OutputStream::Stderr,
                time,
                bytes: vec![1],
                cursor: "c".into(),
            },
            OutputItem::Mark { time: Some(time), words: "run 2 began".into(), cursor: "d".into() },
            OutputItem::Mark { time: None, words: "run 2 began".into(), cursor: "d".into() },
            OutputItem::Gap("5 bytes".into()),
            OutputItem::End { complete: true },
            OutputItem::End { complete: false },
            OutputItem::Exit { code: Some(0), signal: None, is_timed_out: false },
            OutputItem::Exit { code: None, signal: Some(9), is_timed_out: true },
        ];
        for sent in items {
            let got = match chunk(Ok(sent.clone())).body.unwrap() {
                Body::Data(data) => item(data.frames.into_iter().next().unwrap()),
                Body::End(end) => ended(&end).unwrap(),
            };
            assert_eq!(got, sent);
        }
        let Some(Body::End(end)) = chunk(Err(Error::conflict("no", "x"))).body else {
            panic!("an error ends the stream");
        };
        assert_eq!(ended(&end).unwrap_err().code, Code::Conflict);
    }
}
