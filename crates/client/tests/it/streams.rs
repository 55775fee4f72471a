use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use futures::StreamExt;
use hostler_api::record::{EventList, EventListQuery};
use hostler_api::task::{LogLine, LogsQuery, OutputStream, TaskPath};
use hostler_api::workload::{
    ExecLine, WorkloadExecBody, WorkloadLogLine, WorkloadLogsQuery, WorkloadPath,
};
use hostler_api::{Nothing, WatchKind, WatchMessage};
use hostler_client::{Client, Error, ResumePolicy, decode_data};
use hostler_model::{Code, Timestamp};
use serde_json::Value;

use crate::fake::Fake;
use crate::{client, config, refusal};

/// A body that breaks off.
fn broken() -> Response {
    let cut = futures::stream::once(async { Err::<String, _>(std::io::Error::other("cut")) });
    Response::new(Body::from_stream(cut))
}

fn whole(pieces: Vec<String>) -> Response {
    pieces.concat().into_response()
}

fn message(n: u32, kind: WatchKind) -> String {
    let message = WatchMessage { kind, cursor: n.to_string(), object: Some(n), id: None };
    let data = serde_json::to_string(&message).unwrap();
    format!("event: {kind}\nid: {n}\ndata: {data}\n\n")
}

type Queries = Arc<Mutex<Vec<Value>>>;

/// Answers each connection with the next of `answers`.
async fn scripted(path: &str, answers: Vec<fn() -> Response>) -> (Fake, Queries) {
    let queries = Queries::default();
    let log = Arc::clone(&queries);
    let handler = move |Query(query): Query<Value>| async move {
        let mut log = log.lock().unwrap();
        log.push(query);
        answers.get(log.len() - 1).map_or_else(|| refusal(Code::Internal), |answer| answer())
    };
    let fake = Fake::start(axum::Router::new().route(path, get(handler))).await;
    (fake, queries)
}

async fn watch_all(client: &Client) -> (Vec<u32>, Error) {
    let query = EventListQuery {
        cursor: Some("0".to_owned()),
        limit: Some(5),
        ..EventListQuery::default()
    };
    let mut stream = client.watch::<EventList, u32>(&Nothing {}, &query, &Nothing {}).unwrap();
    let mut seen = Vec::new();
    loop {
        match stream.next().await {
            Some(Ok(message)) => seen.extend(message.object),
            Some(Err(error)) => {
                assert!(stream.next().await.is_none());
                return (seen, error);
            }
            None => panic!("a watch stream ends with an error only"),
        }
    }
}

#[tokio::test]
async fn a_watch_resumes_where_it_broke_off_until_its_cursor_is_gone() {
    let answers: Vec<fn() -> Response> = vec![
        || {
            let cut_off = message(3, WatchKind::Added)[..30].to_owned();
            whole(vec![message(1, WatchKind::Added), message(2, WatchKind::Added), cut_off])
        },
        broken,
        || refusal(Code::Unavailable),
        || whole(vec![": hello\n\n".to_owned(), message(3, WatchKind::Modified)]),
        || whole(vec![message(4, WatchKind::Bookmark)]),
        || refusal(Code::CursorGone),
    ];
    let (fake, queries) = scripted("/api/v1/events", answers).await;
    let (seen, error) = watch_all(&client(&fake)).await;
    assert_eq!(seen, [1, 2, 3, 4]);
    assert!(error.is(Code::CursorGone), "{error:?}");
    let queries = queries.lock().unwrap();
    let cursors: Vec<_> = queries.iter().map(|q| q["cursor"].as_str().unwrap()).collect();
    assert_eq!(cursors, ["0", "2", "2", "2", "3", "4"]);
    assert!(queries.iter().all(|q| q["watch"] == "true" && q["limit"] == Value::Null));
}

#[tokio::test]
async fn a_problem_inside_the_stream_ends_it() {
    let answers: Vec<fn() -> Response> = vec![|| {
        let problem = serde_json::to_string(&crate::problem(Code::Forbidden)).unwrap();
        whole(vec![message(1, WatchKind::Added), format!("event: ERROR\ndata: {problem}\n\n")])
    }];
    let (fake, _) = scripted("/api/v1/events", answers).await;
    let (seen, error) = watch_all(&client(&fake)).await;
    assert_eq!(seen, [1]);
    assert!(error.is(Code::Forbidden), "{error:?}");
}

#[tokio::test]
async fn a_watch_gives_up_after_its_time() {
    let answers: Vec<fn() -> Response> = vec![|| whole(vec![message(1, WatchKind::Added)])];
    let (fake, _) = scripted("/api/v1/events", answers).await;
    let mut config = config(&fake);
    config.resume =
        ResumePolicy { give_up_after: std::time::Duration::from_millis(50), ..config.resume };
    let mut stream = Client::new(config)
        .unwrap()
        .watch::<EventList, u32>(&Nothing {}, &EventListQuery::default(), &Nothing {})
        .unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap().object, Some(1));
    drop(fake);
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

fn data(n: u8) -> String {
    let line = LogLine::Data {
        stream: OutputStream::Stdout,
        time: Timestamp::EPOCH,
        data: base64::engine::general_purpose::STANDARD.encode([n, 0xff]),
        cursor: format!("c{n}"),
    };
    serde_json::to_string(&line).unwrap() + "\n"
}

fn end(complete: bool) -> String {
    serde_json::to_string(&LogLine::End { complete }).unwrap() + "\n"
}

async fn read_all(client: &Client, query: LogsQuery) -> (Vec<Vec<u8>>, Option<bool>) {
    let path = TaskPath { project: "default".to_owned(), task: "t".to_owned() };
    let mut stream = client.logs(&path, &query).unwrap();
    let (mut bytes, mut ended) = (Vec::new(), None);
    while let Some(line) = stream.next().await {
        match line.unwrap() {
            LogLine::Data { data, .. } => bytes.push(decode_data(&data).unwrap()),
            LogLine::Gap { .. } => bytes.push(Vec::new()),
            LogLine::End { complete } => ended = Some(complete),
        }
    }
    (bytes, ended)
}

#[tokio::test]
async fn output_comes_once_over_broken_connections_and_false_ends() {
    let answers: Vec<fn() -> Response> = vec![
        || whole(vec![data(1), data(2), data(3)[..20].to_owned()]),
        broken,
        || refusal(Code::NodeUnreachable),
        || whole(vec![data(3), "\n".to_owned(), end(false)]),
        || whole(vec![data(4), end(true)]),
    ];
    let (fake, queries) = scripted("/api/v1/projects/default/tasks/t/logs", answers).await;
    let query = LogsQuery { follow: Some(true), tail: Some(9), ..LogsQuery::default() };
    let (bytes, ended) = read_all(&client(&fake), query).await;
    assert_eq!(bytes, [[1, 0xff], [2, 0xff], [3, 0xff], [4, 0xff]]);
    assert_eq!(ended, Some(true));
    let queries = queries.lock().unwrap();
    let text = |q: &Value, key: &str| q[key].as_str().map(str::to_owned);
    let cursors: Vec<_> = queries.iter().map(|q| text(q, "cursor")).collect();
    let expected =
        [None, Some("c2"), Some("c2"), Some("c2"), Some("c3")].map(|c| c.map(str::to_owned));
    assert_eq!(cursors, expected);
    assert_eq!(text(&queries[0], "tail").as_deref(), Some("9"));
    assert_eq!(text(&queries[4], "tail"), None);
}

#[tokio::test]
async fn without_follow_an_incomplete_end_is_the_end() {
    let answers: Vec<fn() -> Response> = vec![|| whole(vec![data(1), end(false)])];
    let (fake, queries) = scripted("/api/v1/projects/default/tasks/t/logs", answers).await;
    let (bytes, ended) = read_all(&client(&fake), LogsQuery::default()).await;
    assert_eq!((bytes.len(), ended), (1, Some(false)));
    assert_eq!(queries.lock().unwrap().len(), 1);
}

fn spoken(node: &str, cursor: &str) -> String {
    let line = WorkloadLogLine::Data {
        node: Some(node.parse().unwrap()),
        stream: OutputStream::Stdout,
        time: Timestamp::EPOCH,
        data: base64::engine::general_purpose::STANDARD.encode(cursor),
        cursor: format!("{node}={cursor}"),
    };
    format!("{}\n", serde_json::to_string(&line).unwrap())
}

const WEB: &str = "/api/v1/projects/default/workloads/web";

fn web() -> WorkloadPath {
    WorkloadPath { project: "default".to_owned(), workload: "web".to_owned() }
}

#[tokio::test]
async fn output_of_several_nodes_goes_on_behind_the_last_line_of_each() {
    let answers: Vec<fn() -> Response> = vec![
        || whole(vec![spoken("a", "1"), spoken("b", "7"), spoken("a", "2")]),
        || whole(vec![spoken("b", "8"), "{\"type\":\"end\",\"complete\":false}\n".to_owned()]),
        || whole(vec!["{\"type\":\"end\",\"complete\":true}\n".to_owned()]),
    ];
    let (fake, queries) = scripted(&format!("{WEB}/logs"), answers).await;
    let query =
        WorkloadLogsQuery { follow: Some(true), tail: Some(5), ..WorkloadLogsQuery::default() };
    let lines: Vec<_> = client(&fake).workload_logs(&web(), &query).unwrap().collect().await;
    let lines: Vec<WorkloadLogLine> = lines.into_iter().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines.last(), Some(&WorkloadLogLine::End { complete: true }));
    let queries = queries.lock().unwrap();
    let cursors: Vec<&Value> = queries.iter().map(|query| &query["cursor"]).collect();
    assert_eq!(cursors, [&Value::Null, &"b=7,a=2".into(), &"a=2,b=8".into()]);
    assert!(queries.iter().all(|query| query["tail"] == "5"));
}

#[tokio::test]
async fn a_command_is_never_run_again_by_itself() {
    let asked = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&asked);
    let handler = move || async move {
        *counted.lock().unwrap() += 1;
        whole(vec![
            "{\"type\":\"data\",\"stream\":\"stdout\",\"time\":\"2026-01-31T12:00:00Z\",\"data\":\"aGk=\"}\n"
                .to_owned(),
        ])
    };
    let router = axum::Router::new().route(&format!("{WEB}/exec"), axum::routing::post(handler));
    let fake = Fake::start(router).await;
    let body =
        WorkloadExecBody { command: vec!["a".to_owned()], node: None, stdin: None, timeout: None };
    let lines: Vec<_> = client(&fake).exec(&web(), &body).await.unwrap().collect().await;
    assert!(matches!(lines[0], Ok(ExecLine::Data { .. })));
    assert!(matches!(lines[1], Err(Error::Unreachable { .. })), "{:?}", lines[1]);
    assert_eq!((lines.len(), *asked.lock().unwrap()), (2, 1));
}
