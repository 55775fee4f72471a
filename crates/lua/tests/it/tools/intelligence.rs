//! A model behind an endpoint that is not real.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{World, block_on};

/// What an endpoint was asked: the head and the body.
type Asked = Rc<RefCell<Vec<(String, Json)>>>;

async fn serve(mut stream: TcpStream, status: &str, answer: &str, asked: &Asked) {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).await.expect("a request");
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            bytes.drain(..end + 4);
            break (head, length);
        }
    };
    while bytes.len() < length {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).await.expect("a body");
        bytes.extend_from_slice(&buffer[..read]);
    }
    asked.borrow_mut().push((head, serde_json::from_slice(&bytes).expect("a document")));
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
    stream.write_all(reply.as_bytes()).await.expect("an answer");
}

/// Runs a body with an endpoint that answers this.
fn with_model(status: &str, answer: &str, body: &str) -> (Result<Vec<String>, String>, Asked) {
    let asked: Asked = Rc::default();
    let mut world = World::new();
    let result = block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        world.set("HOSTLER_AI_URL", &format!("http://127.0.0.1:{port}/v1"));
        world.set("HOSTLER_AI_KEY", "k\"ey");
        world.set("HOSTLER_AI_MODEL", "small");
        let serving = async {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                serve(stream, status, answer, &asked).await;
            }
        };
        tokio::select! {
            result = world.step(body) => result,
            () = serving => unreachable!("it serves for ever"),
        }
    });
    (result, asked)
}

fn message(content: &str) -> String {
    json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string()
}

#[test]
fn a_model_is_asked_and_answers() {
    let (result, asked) = with_model(
        "200 OK",
        &message("hi \"there\""),
        "assert(ai.ask('say \"hi\"\\n\\\\ please', { system = 'be short', temperature = 0 }) == 'hi \"there\"')\n\
         assert(ai.chat({ { role = 'user', content = 'x' } }, { model = 'big' }))",
    );
    result.unwrap();
    let asked = asked.borrow();
    let (head, body) = &asked[0];
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    assert!(head.contains("Authorization: Bearer k\"ey"), "{head}");
    assert_eq!(
        *body,
        json!({
            "model": "small", "temperature": 0,
            "messages": [
                { "role": "system", "content": "be short" },
                { "role": "user", "content": "say \"hi\"\n\\ please" },
            ],
        })
    );
    assert_eq!(asked[1].1["model"], "big");
}

#[test]
fn advice_that_does_not_fit_is_an_error() {
    let good = json!({
        "optimized_command": "make -j4", "confidence_score": 0.8, "expected_speedup": 2,
        "rationale": "cores", "optimizations": [{ "type": "parallel", "description": "d", "impact": "high" }],
    });
    let body = "local ok, r = ai.optimize_command('make')\n\
                assert(ok and r.original_command == 'make' and r.optimized_command == 'make -j4', r)\n\
                assert(r.optimizations[1].type == 'parallel')";
    let fenced = format!("```json\n{good}\n```");
    for content in [good.to_string(), fenced] {
        with_model("200 OK", &message(&content), body).0.unwrap();
    }
    for (field, value, expected) in [
        ("confidence_score", json!(7), "`confidence_score` is not from 0 to 1"),
        ("optimized_command", json!(null), "`optimized_command` is not a text"),
        ("optimizations", json!([{}]), "`type` is not a text"),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        let body = "local ok, why = ai.optimize_command('make') assert(ok == nil) error(why)";
        let error = with_model("200 OK", &message(&bad.to_string()), body).0.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let (result, asked) = with_model(
        "200 OK",
        &message(
            r#"{"failure_probability":0.5,"confidence":1,"risk_factors":["a"],"recommendations":[]}"#,
        ),
        "ai.record_execution{ command = 'make', success = false, error_message = 'full disk' }\n\
         assert(ai.predict_failure('build', 'make').failure_probability == 0.5)",
    );
    result.unwrap();
    assert!(asked.borrow()[0].1["messages"][1]["content"].to_string().contains("full disk"));
}

#[test]
fn an_endpoint_that_refuses_or_is_not_there_is_told() {
    let body = "local r, why = ai.ask('x') assert(r == nil) error(why)";
    let (result, _) = with_model("401 Unauthorized", r#"{"error":{"message":"bad key"}}"#, body);
    assert!(result.unwrap_err().contains("the endpoint refused: bad key"));
    let (result, _) = with_model("200 OK", "<html>", body);
    assert!(result.unwrap_err().contains("no JSON: <html>"));
    let world = World::new();
    assert!(world.run(body).unwrap_err().contains("set HOSTLER_AI_URL"));
}

#[test]
fn the_history_outlives_a_step() {
    let mut world = World::new();
    world.run("ai.record_execution{ task_name = 'b', command = 'make', success = true, execution_time = 3 }").unwrap();
    world.check = true;
    world.run("ai.record_execution{ command = 'make', success = true }").unwrap();
    world.check = false;
    world
        .run(
            "assert(ai.get_task_stats('make').total_executions == 1)\n\
             assert(ai.get_task_history('b')[1].timestamp > 0)\n\
             assert(ai.analyze_performance('make').p95_time == 3)\n\
             local ok, why = ai.configure{ optimization_level = 11 }\n\
             assert(ok == false and why:find('1 to 10'))\n\
             local ok, why = ai.configure{ speed = 1 }\n\
             assert(ok == false and why:find('no setting `speed`'))",
        )
        .unwrap();
}
