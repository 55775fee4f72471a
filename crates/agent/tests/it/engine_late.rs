//! A container engine that begins to answer after the agent has told what its machine has, as at boot.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;

use hostler_model::Facts;
use hostler_proto::v1::agent_message;

use crate::fake::{Agent, Data, FakeServer, Installation, agent_config, soon};

/// Answers one question in the way of an engine.
fn answer_once(engine: &UnixListener) {
    let (mut asker, _) = engine.accept().unwrap();
    let mut question = [0; 1024];
    let length = asker.read(&mut question).unwrap();
    assert!(question[..length].starts_with(b"GET /version "));
    asker.write_all(b"HTTP/1.0 200 OK\r\n\r\n{\"Version\":\"27.1.1\"}").unwrap();
}

#[tokio::test]
async fn an_engine_that_comes_later_is_noticed() {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    let mut config = agent_config(data.path());
    let socket = data.path().join("engine.sock");
    config.containers.socket = socket.clone();
    let agent = Agent::start_with(config);
    let mut session = server.session().await;
    let told: Facts = serde_json::from_str(&session.hello.facts_json).unwrap();
    assert_eq!(told.container_engine, None);

    let engine = UnixListener::bind(&socket).unwrap();
    let answering = std::thread::spawn(move || answer_once(&engine));
    let news = soon("the engine is told", async {
        loop {
            if let agent_message::Body::FactsChanged(changed) = session.next().await {
                return serde_json::from_str::<Facts>(&changed.facts_json).unwrap();
            }
        }
    })
    .await;
    assert_eq!(news.container_engine.as_deref(), Some("docker 27.1.1"));
    answering.join().unwrap();
    agent.stop().await.unwrap();
}
