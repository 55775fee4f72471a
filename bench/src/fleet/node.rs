//! One simulated node: a session as an agent keeps it, with runs that only exist in its reports.
//!
//! It accepts everything at once, reports each run as running, and as exited with code 0 when that was
//! acknowledged. It keeps no ledger and renews no certificate: it does not live long enough.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use hostler_base::{Clock, chain};
use hostler_model::{
    Bytes, Cores, Desired, DiskFact, Exit, ExitReason, Facts, Generation, NodeMetrics, NumaFact,
    PlacementId, Report, ReportState, RunId,
};
use hostler_proto::v1::agent_link_client::AgentLinkClient;
use hostler_proto::v1::{self, agent_message::Body as Out, server_message::Body as In};
use hostler_proto::{PROTOCOL, parse_assignment, report_to_message};
use hostler_trust::certificate::Identity;
use hostler_trust::{AuthorityCertificate, tls};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint, Uri};

const QUEUED: usize = 16;
const METRICS_EVERY: u32 = 2;
const PID: u32 = 4711;

pub struct SimulatedNode {
    pub name: String,
    pub address: String,
    pub authority: AuthorityCertificate,
    pub identity: Identity,
    pub clock: Clock,
    /// Heartbeats of all nodes together.
    pub beats: Arc<AtomicU64>,
}

impl SimulatedNode {
    /// Keeps one session until it ends, which it should not.
    pub async fn run(self) {
        if let Err(error) = Box::pin(self.session()).await {
            crate::say(&format!("{}: {}", self.name, chain(error.as_ref())));
        }
    }

    async fn session(&self) -> anyhow::Result<()> {
        let mut link = self.dial().await?;
        let (outbound, queue) = mpsc::channel(QUEUED);
        let mut talk = Talk {
            clock: self.clock.clone(),
            outbound,
            applied: Generation::from_u64(0),
            runs: HashMap::new(),
        };
        let hello = v1::Hello {
            protocol: PROTOCOL,
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            boot_id: format!("boot of {}", self.name),
            session_epoch: 1,
            applied_generation: 0,
            facts_json: serde_json::to_string(&facts(&self.name))?,
            ..v1::Hello::default()
        };
        talk.send(Out::Hello(hello)).await?;
        let mut inbound = link.session(ReceiverStream::new(queue)).await?.into_inner();
        let Some(In::Welcome(welcome)) = inbound.message().await?.and_then(|m| m.body) else {
            bail!("the server does not say welcome");
        };
        let beat = Duration::from_millis(welcome.heartbeat_interval_ms.into());
        let mut beats = tokio::time::interval(beat);
        let mut count = 0;
        loop {
            tokio::select! {
                message = inbound.message() => {
                    talk.take(message?.context("the server closed the session")?).await?;
                }
                _ = beats.tick() => {
                    count += 1;
                    self.beats.fetch_add(1, Ordering::Relaxed);
                    talk.beat(count % METRICS_EVERY == 0).await?;
                }
            }
        }
    }

    async fn dial(&self) -> anyhow::Result<AgentLinkClient<Channel>> {
        let mut config = tls::client(&self.authority, Some(&self.identity))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let target = self.address.clone();
        let connect = tower::service_fn(move |_: Uri| {
            let (connector, target) = (connector.clone(), target.clone());
            async move {
                let tcp = TcpStream::connect(&target).await?;
                tcp.set_nodelay(true)?;
                let name = ServerName::try_from("hostler").map_err(std::io::Error::other)?;
                Ok::<_, std::io::Error>(TokioIo::new(connector.connect(name, tcp).await?))
            }
        });
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address))?
            .http2_keep_alive_interval(Duration::from_secs(10))
            .keep_alive_while_idle(true)
            .initial_stream_window_size(1024 * 1024)
            .initial_connection_window_size(1024 * 1024);
        Ok(AgentLinkClient::new(endpoint.connect_with_connector(connect).await?))
    }
}

/// The state of the conversation.
struct Talk {
    clock: Clock,
    outbound: mpsc::Sender<v1::AgentMessage>,
    applied: Generation,
    /// Runs that were reported as running and not yet as exited.
    runs: HashMap<RunId, PlacementId>,
}

impl Talk {
    async fn send(&self, body: Out) -> anyhow::Result<()> {
        let message = v1::AgentMessage { body: Some(body) };
        self.outbound.send(message).await.context("the session is over")
    }

    async fn beat(&self, has_metrics: bool) -> anyhow::Result<()> {
        let metrics = NodeMetrics {
            load_1m: 0.5,
            cpu_ratio: 0.1,
            memory_used: Bytes::mib(4096),
            ..NodeMetrics::default()
        };
        let metrics_json =
            if has_metrics { serde_json::to_string(&metrics)? } else { String::new() };
        let applied_generation = self.applied.get();
        self.send(Out::Heartbeat(v1::Heartbeat {
            applied_generation,
            metrics_json,
            usage_json: String::new(),
        }))
        .await
    }

    async fn take(&mut self, message: v1::ServerMessage) -> anyhow::Result<()> {
        match message.body {
            Some(In::Desired(desired)) => self.accept(desired).await,
            Some(In::ReportAcks(acks)) => self.acknowledged(acks).await,
            Some(In::Refusal(refusal)) => bail!("refused: {}", refusal.detail),
            Some(In::Goodbye(_)) => bail!("the server goes away"),
            _ => Ok(()),
        }
    }

    async fn accept(&mut self, desired: v1::Desired) -> anyhow::Result<()> {
        self.applied = self.applied.max(Generation::from_u64(desired.to_generation));
        self.send(Out::Applied(v1::Applied { generation: self.applied.get() })).await?;
        let since = self.clock.now();
        let mut reports = Vec::new();
        for placement in desired.placements {
            let assignment = parse_assignment(placement)?;
            if let (Desired::Run, Some(run_id)) = (assignment.desired, assignment.run_id) {
                let placement_id = assignment.placement_id;
                self.runs.insert(run_id, placement_id);
                let state = ReportState::Running { pid: PID, since };
                let generation = Generation::from_u64(1);
                reports.push(Report { run_id, placement_id, generation, state, origin: None });
            }
        }
        self.report(&reports).await
    }

    /// What was acknowledged as running now exits.
    async fn acknowledged(&mut self, acks: v1::ReportAcks) -> anyhow::Result<()> {
        let now = self.clock.now();
        let mut reports = Vec::new();
        for ack in acks.acks {
            let run_id: RunId = ack.run_id.parse()?;
            if let Some(placement_id) = self.runs.remove(&run_id) {
                let exit = Exit {
                    reason: ExitReason::Exited,
                    code: Some(0),
                    signal: None,
                    message: None,
                    time: now,
                };
                let state = ReportState::Exited { started: Some(now), pid: Some(PID), exit };
                let generation = Generation::from_u64(2);
                reports.push(Report { run_id, placement_id, generation, state, origin: None });
            }
        }
        self.report(&reports).await
    }

    async fn report(&self, reports: &[Report]) -> anyhow::Result<()> {
        if reports.is_empty() {
            return Ok(());
        }
        let reports = reports.iter().map(report_to_message).collect();
        self.send(Out::Reports(v1::Reports { reports })).await
    }
}

/// A machine of ordinary size.
fn facts(name: &str) -> Facts {
    let numa = (0..2).map(|index| NumaFact {
        index,
        cpus: format!("{}-{}", index * 8, index * 8 + 7),
        memory: Bytes::mib(32 * 1024),
    });
    let disks = ["/", "/var", "/srv"].map(|mount| DiskFact {
        mount: mount.to_owned(),
        device: "/dev/nvme0n1".to_owned(),
        filesystem: "ext4".to_owned(),
        size: Bytes::mib(1024 * 1024),
        available: Bytes::mib(512 * 1024),
    });
    Facts {
        hostname: name.to_owned(),
        os: "Debian GNU/Linux 13 (trixie)".to_owned(),
        kernel: "6.12.0".to_owned(),
        architecture: "x86_64".to_owned(),
        boot_id: format!("boot of {name}"),
        machine_id: name.to_owned(),
        cores: Cores::from_millis(16_000),
        cpu_model: "simulated".to_owned(),
        memory: Bytes::mib(64 * 1024),
        numa: numa.collect(),
        disks: disks.into(),
        addresses: vec!["192.0.2.1".to_owned(), "2001:db8::1".to_owned()],
        cgroup: "v2".to_owned(),
        is_root: true,
        ..Facts::default()
    }
}
