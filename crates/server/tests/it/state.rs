//! State over HTTP: entries, transactions, watches, and the stream.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::StreamExt;
use http::{Method, Request};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::world::{Reply, World};

const STATE: &str = "/api/v1/projects/default/state";
const TXN: &str = "/api/v1/projects/default/state-transactions";
const STREAM: &str = "/api/v1/projects/default/state-stream";

async fn put_as(world: &World, token: &str, query: &str, bytes: &[u8]) -> Reply {
    let request = Request::builder()
        .method(Method::PUT)
        .uri(format!("{STATE}/app/value?{query}"))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/octet-stream")
        .body(Body::from(bytes.to_vec()))
        .unwrap();
    world.send(request).await
}

async fn put(world: &World, query: &str, bytes: &[u8]) -> Reply {
    put_as(world, &world.admin, query, bytes).await
}

/// Both ends of an open stream.
struct Stream {
    lines: Option<mpsc::Sender<Bytes>>,
    body: BodyDataStream,
    text: String,
}

impl Stream {
    async fn open(world: &World, token: &str) -> Stream {
        let (lines, waiting) = mpsc::channel(8);
        let incoming =
            futures::stream::unfold(waiting, |mut waiting: mpsc::Receiver<Bytes>| async {
                let bytes = waiting.recv().await?;
                Some((Ok::<_, Infallible>(bytes), waiting))
            });
        let request = Request::builder()
            .method(Method::POST)
            .uri(STREAM)
            .header("authorization", format!("Bearer {token}"))
            .body(Body::from_stream(incoming))
            .unwrap();
        let response = world.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        Stream {
            lines: Some(lines),
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    async fn send(&self, text: impl Into<String>) {
        let text: String = text.into();
        self.lines.as_ref().unwrap().send(text.into()).await.unwrap();
    }

    async fn ask(&self, ask: Value) {
        self.send(format!("{ask}\n")).await;
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let line = serde_json::from_str(line).unwrap();
                self.text = rest.to_owned();
                return Some(line);
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.body.next());
            let chunk = chunk.await.expect("a line")?.unwrap();
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn call(&mut self, ask: Value) -> Value {
        self.ask(ask).await;
        self.next().await.unwrap()
    }
}

#[tokio::test]
async fn any_bytes_go_in_and_come_out() {
    let world = World::new().await;
    let bytes = b"\0\xff any \r\n bytes";
    let made = put(&world, "key=a%2Fb%3F", bytes).await;
    assert_eq!(made.status, 200, "{}", made.json());
    assert_eq!((&made.json()["revision"], &made.json()["size"]), (&json!(1), &json!(15)));
    assert_eq!(made.json()["value"], Value::Null);
    let raw = world.get(&format!("{STATE}/app/value?key=a%2Fb%3F")).await;
    assert_eq!(raw.bytes, bytes);
    assert_eq!(raw.header("hostler-state-revision"), "1");
    assert_eq!(raw.header("hostler-state-version"), "1");
    assert_eq!(raw.header("hostler-state-expires"), "");
    let shown = world.get(&format!("{STATE}/app/entry?key=a%2Fb%3F")).await.json();
    assert_eq!((&shown["key"], &shown["encoding"]), (&json!("a/b?"), &json!("base64")));
    put(&world, "key=text&ttl=1h", "grüße".as_bytes()).await;
    let shown = world.get(&format!("{STATE}/app/entry?key=text")).await.json();
    assert_eq!((&shown["value"], &shown["encoding"]), (&json!("grüße"), &Value::Null));
    assert!(shown["timeExpires"].is_string());
    let list = world.get(&format!("{STATE}/app?values=true&prefix=a/")).await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(list["watchCursor"], "2");
    let empty = put(&world, "key=empty", b"").await;
    assert_eq!(empty.status, 200);
    assert_eq!(world.get(&format!("{STATE}/app/value?key=empty")).await.bytes, b"");
    let spaces = world.get(STATE).await.json();
    assert_eq!(spaces["items"][0]["name"], "app");
    assert_eq!(spaces["items"][0]["entries"], 3);
}

#[tokio::test]
async fn what_cannot_be_is_told() {
    let world = World::new().await;
    assert_eq!(put(&world, "key=a", b"1").await.status, 200);
    for (query, code) in [
        ("key=a&ifAbsent=true", "already-exists"),
        ("key=a&ifRevision=99", "stale"),
        ("key=b&ifRevision=99", "not-found"),
        ("key=a&ifRevision=1&ifAbsent=true", "invalid"),
        ("key=a&ttl=0s", "invalid"),
        ("key=a&ttl=4000d", "invalid"),
        ("key=a&ttl=soon", "malformed"),
        ("key=", "malformed"),
        ("", "malformed"),
        ("key=a%00b", "malformed"),
        ("key=a%0Ab", "malformed"),
        ("key=a&color=red", "malformed"),
    ] {
        let reply = put(&world, query, b"x").await;
        assert_eq!(reply.code(), code, "{query}: {}", reply.json());
    }
    let long = "k".repeat(513);
    assert_eq!(put(&world, &format!("key={long}"), b"x").await.code(), "malformed");
    assert_eq!(put(&world, "key=large", &vec![0; 1 << 20]).await.status, 200);
    assert_eq!(put(&world, "key=large", &vec![0; (1 << 20) + 1]).await.code(), "too-large");
    let path = format!("{STATE}/Bad_Name/entry?key=a");
    assert_eq!(world.get(&path).await.code(), "malformed");
    assert_eq!(world.get(&format!("{STATE}/app/entry?key=zz")).await.code(), "not-found");
    let gone = world.get(&format!("{STATE}/app?watch=true&cursor=99999")).await;
    assert_eq!(gone.code(), "cursor-gone");
    let path = format!("{STATE}/app/entry?key=a&ifRevision=7");
    assert_eq!(world.call(Method::DELETE, &path, None).await.code(), "stale");
    let path = format!("{STATE}/app/entry?key=a&ifRevision=1");
    assert_eq!(world.call(Method::DELETE, &path, None).await.status, 200);
}

#[tokio::test]
async fn a_transaction_is_all_or_nothing_and_says_where_it_is_wrong() {
    let world = World::new().await;
    let take = |owner: &str| {
        json!({
            "compare": [{ "if": "absent", "namespace": "app", "key": "leader" }],
            "then": [{ "op": "put", "namespace": "app", "key": "leader", "value": owner, "ttl": "30s" },
                     { "op": "increment", "key": "terms" }],
            "else": [{ "op": "get", "namespace": "app", "key": "leader" }],
        })
    };
    let won = world.post(TXN, take("a")).await;
    assert_eq!(won.status, 200, "{}", won.json());
    let won = won.json();
    assert_eq!((&won["held"], &won["results"][1]["number"]), (&json!(true), &json!(1)));
    let lost = world.post(TXN, take("b")).await.json();
    assert_eq!(
        (&lost["held"], &lost["results"][0]["entry"]["value"]),
        (&json!(false), &json!("a"))
    );
    let lists = json!({ "then": [
        { "op": "push", "key": "l", "items": [1.50, { "b": 1, "a": [] }, "x"] },
        { "op": "push", "key": "m", "items": [0], "end": "front" },
        { "op": "length", "key": "l" },
    ] });
    let done = world.post(TXN, lists).await;
    assert_eq!(done.status, 200, "{}", done.json());
    assert_eq!(done.json()["results"][2]["length"], 3);
    let popped = json!({ "then": [{ "op": "pop", "key": "l", "count": 2, "end": "front" }] });
    let popped = world.post(TXN, popped).await.json();
    assert_eq!(popped["results"][0]["items"], json!([1.5, { "b": 1, "a": [] }]));

    let wrong = json!({ "then": [
        { "op": "get", "key": "a", "value": "x" },
        { "op": "put", "key": "a" },
        { "op": "put", "key": "a", "value": "!", "encoding": "base64" },
        { "op": "touch", "key": "a", "ttl": "1s", "never": true },
    ], "compare": [{ "if": "version", "key": "a" }] });
    let refused = world.post(TXN, wrong).await;
    assert_eq!(refused.code(), "invalid");
    let errors = refused.json();
    let pointers: Vec<&str> = errors["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(
        pointers,
        ["/then/0/value", "/then/1/value", "/then/2/value", "/then/3/ttl", "/compare/0/number"]
    );
    let word = json!({ "then": [{ "op": "increment", "namespace": "app", "key": "leader" }] });
    let refused = world.post(TXN, word).await;
    assert_eq!(refused.code(), "conflict");
    assert_eq!(refused.json()["errors"][0]["pointer"], "/then/0");
    let many: Vec<Value> = (0..129).map(|n| json!({ "op": "get", "key": n.to_string() })).collect();
    assert_eq!(world.post(TXN, json!({ "then": many })).await.code(), "invalid");
    let unknown = json!({ "then": [{ "op": "frob", "key": "a" }] });
    assert_eq!(world.post(TXN, unknown).await.code(), "invalid");
}

#[tokio::test]
async fn changes_are_watched_and_looked_up() {
    let world = World::new().await;
    put(&world, "key=cfg/a", b"1").await;
    let mut watch =
        world.open(&world.admin, &format!("{STATE}/app?watch=true&prefix=cfg/&cursor=0")).await;
    let first = watch.next().await.unwrap();
    assert_eq!((&first["type"], &first["object"]["kind"]), (&json!("ADDED"), &json!("put")));
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    put(&world, "key=other", b"x").await;
    put(&world, "key=cfg/a", b"2").await;
    let second = watch.next().await.unwrap();
    assert_eq!((&second["type"], &second["object"]["value"]), (&json!("MODIFIED"), &json!("2")));
    assert_eq!((&second["cursor"], &second["object"]["previous"]), (&json!("3"), &json!(1)));
    let both = json!({ "then": [
        { "op": "delete", "namespace": "app", "key": "cfg/a" },
        { "op": "put", "namespace": "app", "key": "cfg/b", "value": "3" },
    ] });
    world.post(TXN, both).await;
    let (gone, made) = (watch.next().await.unwrap(), watch.next().await.unwrap());
    assert_eq!((&gone["type"], &gone["cursor"]), (&json!("DELETED"), &json!("3")));
    assert_eq!((&made["type"], &made["cursor"]), (&json!("ADDED"), &json!("4")));
    let history = world.get(&format!("{STATE}/app/history?key=cfg/a&limit=2")).await.json();
    let kinds: Vec<&Value> =
        history["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect();
    assert_eq!(kinds, [&json!("deleted"), &json!("put")]);
    let next = history["nextCursor"].as_str().unwrap();
    let path = format!("{STATE}/app/history?key=cfg/a&cursor={next}");
    assert_eq!(world.get(&path).await.json()["items"][0]["value"], "1");

    let cleared = world.call(Method::DELETE, &format!("{STATE}/app"), None).await;
    assert_eq!(cleared.json()["entries"], 2);
    assert_eq!(watch.next().await.unwrap()["object"]["kind"], "deleted");
}

#[tokio::test]
async fn a_stream_answers_by_number_and_goes_on_after_a_refusal() {
    let world = World::new().await;
    let mut stream = Stream::open(&world, &world.admin).await;
    let put = |id: u64, key: &str, value: &str| json!({ "id": id, "do": { "op": "put", "key": key, "value": value } });
    let first = stream.call(put(7, "a", "1")).await;
    assert_eq!((&first["id"], &first["answer"]["held"]), (&json!(7), &json!(true)));
    assert_eq!(first["answer"]["results"][0]["revision"], 1);
    let got = stream.call(json!({ "id": 8, "do": { "op": "get", "key": "a" } })).await;
    assert_eq!(got["answer"]["results"][0]["entry"]["value"], "1");
    let none = stream.call(json!({ "id": 8, "do": { "op": "get", "key": "zz" } })).await;
    assert_eq!(none["answer"]["results"][0]["revision"], 0);
    let swap = |id: u64, revision: u64| {
        let mut ask = put(id, "a", "2");
        ask["ifRevision"] = json!(revision);
        ask
    };
    assert_eq!(stream.call(swap(9, 1)).await["answer"]["held"], true);
    assert_eq!(stream.call(swap(10, 1)).await["answer"]["held"], false);
    assert_eq!(stream.call(swap(11, 0)).await["answer"]["held"], false);

    let wrong = stream.call(json!({ "id": 12, "do": { "op": "put", "key": "a" } })).await;
    assert_eq!((&wrong["id"], &wrong["problem"]["code"]), (&json!(12), &json!("invalid")));
    let wrong = stream.call(json!({ "id": 13 })).await;
    assert_eq!(wrong["problem"]["code"], "invalid");
    stream.call(put(14, "w", "word")).await;
    let wrong = stream.call(json!({ "id": 15, "do": { "op": "increment", "key": "w" } })).await;
    assert_eq!(wrong["problem"]["code"], "conflict");

    let mut all = String::new();
    for n in 0..600 {
        all += &format!("{}\n", json!({ "id": 100 + n, "do": { "op": "increment", "key": "n" } }));
    }
    let (head, tail) = all.split_at(all.len() / 2 + 3);
    stream.send(head).await;
    stream.send(tail).await;
    let mut ids: Vec<u64> = Vec::new();
    for _ in 0..600 {
        ids.push(stream.next().await.unwrap()["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert!(ids.into_iter().eq(100..700), "more than may be under way, and each once");
    let last = json!({ "id": 1, "txn": { "then": [{ "op": "get", "key": "n" }] } });
    stream.send(last.to_string()).await;
    stream.lines = None;
    let last = stream.next().await.unwrap();
    assert_eq!(last["answer"]["results"][0]["entry"]["value"], "600");
    assert_eq!(stream.next().await, None, "nothing more is asked, and all is answered");
}

#[tokio::test]
async fn one_bad_request_is_answered_under_its_number_and_ends_nothing() {
    let world = World::new().await;
    let mut stream = Stream::open(&world, &world.admin).await;
    let put = |id: u64| json!({ "id": id, "do": { "op": "put", "key": "a", "value": "1" } });
    for (bad, id, words) in [
        (r#"{"id":3,"do":{"op":"incr"}}"#, 3, "unknown variant `incr`"),
        (r#"{"id":4,"do":{"op":"get","key":5}}"#, 4, "expected a string"),
        (r#"{"id":5,"what":2}"#, 5, "unknown field `what`"),
        (r#"{"do":{"op":"get","key":"a"}}"#, 0, "missing field `id`"),
        ("[]", 0, "invalid length"),
        (r#""x""#, 0, "invalid type"),
    ] {
        stream.send(format!("{bad}\n{}\n", put(9))).await;
        let mut both = [stream.next().await.unwrap(), stream.next().await.unwrap()];
        both.sort_by_key(|line| line["id"].as_u64().unwrap());
        let [refused, done] = both;
        assert_eq!((&refused["id"], &done["id"]), (&json!(id), &json!(9)), "{bad}");
        assert_eq!(done["problem"], Value::Null, "{bad}");
        assert_eq!(refused["problem"]["code"], "malformed", "{bad}");
        let (detail, hint) = (&refused["problem"]["detail"], &refused["problem"]["hint"]);
        assert!(detail.as_str().unwrap().contains(words), "{bad}: {detail}");
        assert!(hint.as_str().unwrap().contains("\"op\": \"get\""), "{hint}");
    }
}

#[tokio::test]
async fn a_line_that_is_no_json_ends_the_stream() {
    let world = World::new().await;
    for bad in ["{nonsense}\n", "{\"id\": 1\n", "id: 1\n"] {
        let mut stream = Stream::open(&world, &world.admin).await;
        let put = json!({ "id": 5, "do": { "op": "put", "key": "a", "value": "1" } });
        stream.send(format!("{put}\n\n{bad}{put}\n")).await;
        let mut answers = Vec::new();
        while let Some(line) = stream.next().await {
            answers.push((line["id"].as_u64().unwrap(), line["problem"]["code"].clone()));
        }
        answers.sort_by_key(|(id, _)| *id);
        assert_eq!(answers, [(0, json!("malformed")), (5, Value::Null)], "{bad}");
    }
}

#[tokio::test]
async fn who_may_only_read_only_reads() {
    let world = World::new().await;
    put(&world, "key=a", b"1").await;
    let viewer = world.account("vera", None, Some(("default", "viewer"))).await;
    let user = world.account("ulf", None, Some(("default", "user"))).await;
    let entry = format!("{STATE}/app/entry?key=a");
    assert_eq!(world.call_as(&viewer, Method::GET, &entry, None).await.status, 200);
    assert_eq!(put_as(&world, &viewer, "key=a", b"2").await.code(), "forbidden");
    assert_eq!(put_as(&world, &user, "key=a", b"2").await.status, 200);
    let clear = format!("{STATE}/app");
    assert_eq!(world.call_as(&user, Method::DELETE, &clear, None).await.code(), "forbidden");
    let mut stream = Stream::open(&world, &viewer).await;
    let get = json!({ "id": 1, "do": { "op": "get", "namespace": "app", "key": "a" } });
    assert_eq!(stream.call(get).await["answer"]["results"][0]["entry"]["value"], "2");
    let put = json!({ "id": 2, "do": { "op": "put", "key": "a", "value": "x" } });
    assert_eq!(stream.call(put).await["problem"]["code"], "forbidden");
    let pop = json!({ "id": 3, "txn": { "else": [{ "op": "pop", "key": "a" }] } });
    assert_eq!(stream.call(pop).await["problem"]["code"], "forbidden");
}

#[tokio::test]
async fn a_revoked_token_ends_its_stream() {
    let world = World::new().await;
    let token = world.account("ada", Some("user"), None).await;
    let mut stream = Stream::open(&world, &token).await;
    let get = json!({ "id": 1, "do": { "op": "get", "key": "a" } });
    assert_eq!(stream.call(get).await["id"], 1);
    assert_eq!(world.call_as(&token, Method::POST, "/api/v1/logout", None).await.status, 204);
    assert_eq!(stream.next().await, None);
}
