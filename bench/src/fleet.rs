//! What a server weighs with a hundred nodes, and what their heartbeats cost the database.
//!
//! The nodes are simulated here, everything else is real: each joins with a ticket of its own, gets a
//! certificate, and keeps a session over mutual TLS (see `node`).

mod node;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _};
use hostler_api::Nothing;
use hostler_api::node::{Join, JoinBody};
use hostler_api::system::Metrics;
use hostler_base::{Clock, OnError, Phase, Shutdown};
use hostler_client::{Client, ClientConfig};
use hostler_trust::{AuthorityCertificate, JoinTicket, NodeKey};

use crate::figures::{Section, mb};
use crate::proc::{self, memory};
use crate::rig::Rig;
use crate::throughput::{body, submit_batches, verify, wait_all};
use node::SimulatedNode;

const NODES: usize = 100;
const TASKS: usize = 1000;
const IDLE: Duration = Duration::from_secs(60);
/// 80 MB of a million bytes.
const SERVER_MAX_KIB: u64 = 80_000_000 / 1024;

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let rig = Rig::new(binary).await?;
    let pid = rig.server_pid();
    let alone = memory(pid)?;
    let clock = Clock::system();
    let shutdown = Shutdown::new(clock.clone());
    let stranger = Client::new(ClientConfig::new(&rig.url, &rig.ca_pem))?;
    let sent = Arc::new(AtomicU64::new(0));
    let nodes: Vec<SimulatedNode> = futures::stream::iter(0..NODES)
        .map(|number| join(&rig, &stranger, number, &clock, &sent))
        .buffer_unordered(8)
        .try_collect()
        .await?;
    let tasks = shutdown.tasks(Phase::Sessions);
    for node in nodes {
        tasks.spawn_until_cancelled("simulated node", OnError::Log, node.run());
    }
    rig.wait_online(NODES).await?;
    let connected = memory(pid)?;

    let begun = tokio::time::Instant::now();
    let last = submit_batches(&rig.client, TASKS, &body(&["true"])).await?;
    wait_all(&rig.client, last).await?;
    let rate = TASKS as f64 / begun.elapsed().as_secs_f64();
    verify(&rig.client, TASKS).await?;

    let before = (counters(&rig).await?, proc::cpu_seconds(pid));
    let sent_before = sent.load(Ordering::Relaxed);
    tokio::time::sleep(IDLE).await;
    let sent = sent.load(Ordering::Relaxed) - sent_before;
    let after = (counters(&rig).await?, proc::cpu_seconds(pid));
    let end = memory(pid)?;
    rig.wait_online(NODES).await?;
    shutdown.run(Duration::from_secs(5)).await;

    let seconds = IDLE.as_secs_f64();
    let commits = (after.0.commits - before.0.commits) / seconds;
    let beats = sent as f64 / seconds;
    let mut section = Section::new(
        "Server with a hundred nodes",
        format!(
            "{NODES} simulated nodes, each with a certificate and a session of its own; {TASKS} tasks placed on them and reported as run; then {seconds:.0} s of heartbeats and nothing else.",
        ),
    );
    section.note("server alone: RSS", mb(alone.rss));
    section.note("with all nodes connected: RSS", mb(connected.rss));
    let target = "at most 80 MB";
    let is_met = end.rss <= SERVER_MAX_KIB;
    section.judge("after the tasks and the heartbeats: RSS", mb(end.rss), target, is_met);
    section.note("of that, backed by no file", mb(end.anonymous));
    section.note("the most it ever was: RSS", mb(end.peak));
    section.note("tasks placed, reported and completed", format!("{rate:.0} /s"));
    section.note("heartbeats", format!("{beats:.0} /s"));
    section.judge(
        "commits while only heartbeats arrive",
        format!("{commits:.2} /s"),
        "fewer than a tenth of the heartbeats",
        commits < beats / 10.0,
    );
    for (name, count) in after.0.since(&before.0) {
        section.note(
            format!("transactions `{name}` in that time"),
            format!("{:.2} /s", count / seconds),
        );
    }
    let load = (after.1 - before.1) / seconds * 100.0;
    section.note("processor while only heartbeats arrive", format!("{load:.1} % of a core"));
    Ok(section)
}

async fn join(
    rig: &Rig,
    stranger: &Client,
    number: usize,
    clock: &Clock,
    beats: &Arc<AtomicU64>,
) -> anyhow::Result<SimulatedNode> {
    let ticket: JoinTicket = rig.ticket().await?.parse()?;
    let key = NodeKey::generate()?;
    let body = JoinBody {
        token: ticket.token.expose().to_owned(),
        name: format!("node-{number:03}").parse()?,
        csr: key.csr_pem()?,
    };
    let joined = stranger.call::<Join>(&Nothing {}, &Nothing {}, &body).await?;
    Ok(SimulatedNode {
        name: body.name.to_string(),
        address: joined.agent_addresses.first().context("no address for agents")?.clone(),
        authority: AuthorityCertificate::from_pem(&joined.authority)?,
        identity: key.identity(joined.certificate),
        clock: clock.clone(),
        beats: Arc::clone(beats),
    })
}

/// What the server says of its store.
struct Counters {
    commits: f64,
    transactions: Vec<(String, f64)>,
}

impl Counters {
    fn since(&self, before: &Counters) -> Vec<(String, f64)> {
        let old = |name: &str| before.transactions.iter().find(|(n, _)| n == name).map(|t| t.1);
        let grown = self
            .transactions
            .iter()
            .map(|(name, count)| (name.clone(), count - old(name).unwrap_or_default()));
        grown.filter(|(_, count)| *count > 0.0).collect()
    }
}

async fn counters(rig: &Rig) -> anyhow::Result<Counters> {
    let text = rig.client.call::<Metrics>(&Nothing {}, &Nothing {}, &Nothing {}).await?;
    let values = |name: &str| -> Vec<(String, f64)> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name));
        lines
            .filter_map(|rest| {
                let (labels, value) = rest.rsplit_once(' ')?;
                let label = labels.split('"').nth(1).unwrap_or_default();
                Some((label.to_owned(), value.parse().ok()?))
            })
            .collect()
    };
    let commits = values("hostler_store_commits_total");
    Ok(Counters {
        commits: commits.first().context("the metrics say nothing of commits")?.1,
        transactions: values("hostler_store_attempts_total"),
    })
}
