//! Machines at the edge: what is written in a day is counted and bounded, and a link that is paid for
//! by what it carries has to carry little.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_agent::AgentConfig;
use hostler_agent::local::{self, Answer, Question};
use hostler_base::{Clock, ManualClock};
use hostler_model::{Bytes, ReportState};
use hostler_proto::parse_report;
use hostler_proto::v1::{self, agent_message, server_message};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

use crate::fake::{Agent, Data, FakeServer, FakeSession, Installation, agent_config, assignment};
use crate::support::{sh, until};

const MIB: u64 = 1 << 20;

/// A piece of wire to a server, and what has gone over it, both ways.
struct Wire {
    address: String,
    carried: Arc<AtomicU64>,
}

impl Wire {
    async fn to(server: &FakeServer) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let carried = Arc::new(AtomicU64::new(0));
        let (target, count) = (server.address.clone(), carried.clone());
        let tasks = TaskTracker::new();
        tasks.clone().spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&target).await.unwrap();
                let (near_in, near_out) = near.into_split();
                let (far_in, far_out) = far.into_split();
                tasks.spawn(carry(near_in, far_out, count.clone()));
                tasks.spawn(carry(far_in, near_out, count.clone()));
            }
        });
        Wire { address, carried }
    }

    fn carried(&self) -> u64 {
        self.carried.load(Ordering::SeqCst)
    }
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    count: Arc<AtomicU64>,
) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(length) = from.read(&mut bytes).await
        && length > 0
        && to.write_all(&bytes[..length]).await.is_ok()
    {
        count.fetch_add(length as u64, Ordering::SeqCst);
    }
}

/// As a server does that has the last word on how often nodes are heard of.
async fn welcome(session: &FakeSession) -> Duration {
    let wish = session.hello.heartbeat_wish_ms;
    let heartbeat_interval_ms = if wish == 0 { 5000 } else { wish };
    let welcome = v1::Welcome {
        server_id: "a-server".into(),
        heartbeat_interval_ms,
        node_name: "alpha".into(),
        agent_addresses: Vec::new(),
        keeps_facts: true,
        ..v1::Welcome::default()
    };
    session.say(server_message::Body::Welcome(welcome)).await;
    Duration::from_millis(heartbeat_interval_ms.into())
}

/// So many heartbeats have come; `None` when the session seems to be over.
async fn beaten(session: &FakeSession, count: u64) -> Option<()> {
    let come = async {
        while session.beats.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(3), come).await.ok()
}

/// What an agent that has nothing to do sends and is sent in an hour. Here an hour takes a second: on
/// a busy machine the clock may outrun the server's answers, so that the agent believes that there are
/// none and calls again. Such an hour is measured anew.
async fn bytes_in_an_hour(is_metered: bool) -> u64 {
    for _ in 0..5 {
        if let Some(carried) = bytes_in_an_undisturbed_hour(is_metered).await {
            return carried;
        }
    }
    panic!("no session lasts for an hour");
}

async fn bytes_in_an_undisturbed_hour(is_metered: bool) -> Option<u64> {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    let wire = Wire::to(&server).await;
    installation.join(data.path(), std::slice::from_ref(&wire.address));
    let manual = ManualClock::new(Clock::system().now());
    let config = AgentConfig { is_metered, ..agent_config(data.path()) };
    let agent = Agent::start_at(config, manual.clock());
    let session = server.greeted().await;
    let beat = welcome(&session).await;
    beaten(&session, 1).await?;
    let before = wire.carried();
    for count in 0..3600 / beat.as_secs() {
        manual.advance(beat);
        beaten(&session, count + 2).await?;
    }
    let carried = wire.carried() - before;
    agent.kill();
    Some(carried)
}

#[tokio::test]
async fn an_idle_hour_over_a_metered_link_costs_a_twelfth() {
    let free = bytes_in_an_hour(false).await;
    let metered = bytes_in_an_hour(true).await;
    println!("an idle hour: {free} bytes, metered {metered}");
    assert!(metered * 12 <= free, "{metered} of {free}");
}

#[tokio::test]
async fn what_happens_within_seconds_is_one_message_over_a_metered_link() {
    const RUNS: usize = 20;
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    let manual = ManualClock::new(Clock::system().now());
    let config = AgentConfig { is_metered: true, ..agent_config(data.path()) };
    let agent = Agent::start_at(config, manual.clock());
    let mut session = server.greeted().await;
    welcome(&session).await;
    let tasks: Vec<_> = (0..RUNS).map(|_| assignment(1, sh("true"))).collect();
    session.desire(0, 1, &tasks).await;
    let runs = data.path().join("runs");
    let has_ended = |run: &str| runs.join(run).join("exit.json").exists();
    let ids: Vec<String> = tasks.iter().map(|task| task.run_id.unwrap().to_string()).collect();
    until("all runs have ended", || ids.iter().all(|run| has_ended(run))).await;
    let (mut messages, mut told) = (0, std::collections::HashSet::new());
    while told.len() < RUNS {
        manual.advance(Duration::from_secs(1));
        let Ok(body) = tokio::time::timeout(Duration::from_millis(20), session.next()).await else {
            continue;
        };
        let agent_message::Body::Reports(reports) = body else { continue };
        messages += 1;
        for report in reports.reports {
            let report = parse_report(report).unwrap();
            if matches!(report.state, ReportState::Exited { .. }) {
                told.insert(report.run_id);
            }
        }
    }
    assert!(messages <= 3, "{messages} messages for {RUNS} runs that began and ended");
    agent.kill();
}

#[tokio::test]
async fn facts_that_are_as_they_were_are_not_told_twice_over_a_metered_link() {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    let config = AgentConfig { is_metered: true, ..agent_config(data.path()) };
    let _agent = Agent::start_with(config);
    let goodbye = server_message::Body::Goodbye(v1::Goodbye {});
    let first = server.greeted().await;
    assert!(first.hello.facts_json.contains("\"isMetered\":true") && !first.hello.facts_unchanged);
    welcome(&first).await;
    first.say(goodbye.clone()).await;
    let second = server.greeted().await;
    assert!(second.hello.facts_json.is_empty() && second.hello.facts_unchanged);
    let refusal = v1::Refusal { code: "stale".into(), detail: "not known".into(), retry: true };
    second.say(server_message::Body::Refusal(refusal)).await;
    let third = server.greeted().await;
    assert!(!third.hello.facts_unchanged, "a server that does not know them is told");
    assert!(third.hello.facts_json.contains("bootId"));
    welcome(&third).await;
    let what = Some(v1::stream_open::What::Facts(v1::FactsRequest {}));
    let open = v1::StreamOpen { stream_id: 1, window: 1 << 16, what };
    third.say(server_message::Body::StreamOpen(open)).await;
    third.say(goodbye).await;
    let fourth = server.greeted().await;
    assert!(!fourth.hello.facts_unchanged, "what was asked for in between is what a server has");
}

#[tokio::test]
async fn what_is_written_is_counted_and_outlives_the_agent() {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    let config = || AgentConfig { write_budget: Some(Bytes::mib(1)), ..agent_config(data.path()) };
    let agent = Agent::start_with(config());
    let session = server.session().await;
    let task = assignment(1, sh("head -c 3145728 /dev/zero; exec sleep 1000"));
    let stop = crate::fake::stopped(2, &task);
    session.desire(0, 1, std::slice::from_ref(&task)).await;
    let most = 3 * MIB - MIB / 8;
    let status =
        agent.status_that("the output to be counted", |s| s.writes.today.get() >= most).await;
    assert!(status.writes.today.get() < 3 * MIB + MIB / 8, "{}", status.writes.today);
    assert_eq!(status.writes.budget, Some(Bytes::mib(1)));
    let clock = Clock::system();
    let answers = local::ask(data.path(), &Question::Metrics, &clock).await.unwrap();
    let Answer::Metrics(text) = answers.only().await.unwrap() else { panic!("no metrics") };
    let metric = |name: &str| -> f64 {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
    };
    assert!((metric("hostler_agent_write_budget_bytes") - 1_048_576.0).abs() < 0.5);
    assert!(metric("hostler_agent_written_bytes{what=\"output\"}") > 2_900_000.0);
    assert!(metric("hostler_agent_written_bytes{what=\"ledger\"}") >= 4096.0);
    assert!(metric("hostler_agent_write_budget_ratio") > 2.8);
    agent.stop().await.unwrap();
    let agent = Agent::start_with(config());
    let mut session = server.session().await;
    let again = agent.status_that("the agent", |_| true).await;
    assert!(again.writes.today >= status.writes.today, "{} again", again.writes.today);
    session.desire(1, 2, &[stop]).await;
    let ended = session.exited(task.run_id.unwrap()).await;
    session.ack(&ended).await;
    agent.stop().await.unwrap();
}

#[tokio::test]
async fn what_a_shim_writes_while_there_is_no_agent_is_counted_by_the_next() {
    let data = Data::new();
    let installation = Installation::new();
    let mut server = FakeServer::start(&installation).await;
    installation.join(data.path(), std::slice::from_ref(&server.address));
    let agent = Agent::start(data.path());
    let mut session = server.session().await;
    let go = data.path().join("go");
    let script = format!(
        "until [ -e {} ]; do sleep 0.02; done; head -c 1048576 /dev/zero; exec sleep 1000",
        go.display()
    );
    let task = assignment(1, sh(&script));
    let run = task.run_id.unwrap();
    session.desire(0, 1, std::slice::from_ref(&task)).await;
    session.running(run).await;
    agent.kill();
    std::fs::write(&go, "").unwrap();
    let output = data.path().join("runs").join(run.to_string()).join("out.000001");
    let written = || std::fs::metadata(&output).map_or(0, |file| file.len());
    until("the output is written", || written() >= MIB).await;
    let agent = Agent::start(data.path());
    agent.status_that("the count", |status| status.writes.today.get() >= MIB).await;
    let mut session = server.session().await;
    session.desire(1, 2, &[crate::fake::stopped(2, &task)]).await;
    session.exited(run).await;
    agent.stop().await.unwrap();
}
