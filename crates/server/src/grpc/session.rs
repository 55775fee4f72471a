//! The session of one agent: a loop between its stream and the application.
//!
//! Everything here can be cut off at any point: what was sent and not acknowledged is sent again in
//! the next session, to this server or another.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_base::shutdown::{OnError, Tasks};
use hostler_control::{
    Attach, Attached, Control, HelloFacts, Holdings, NodeAsk, NodeLink, OutputReceiver, ReportAck,
};
use hostler_model::{
    Code, Error, Facts, Generation, ImageNews, NodeId, NodeMetrics, Report, RunId, WorkloadUsage,
};
use hostler_proto::v1::{self, agent_message::Body as In, server_message::Body as Out};
use hostler_proto::{
    PROTOCOL, assignment_to_message, log_shares_to_message, parse_report, parse_status,
    parse_watcher_report, watcher_orders_to_message,
};
use hostler_trust::PeerCertificate;
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use super::streams::Streams;

/// Messages to the agent that wait to be sent; beyond it the session waits for the agent.
const OUTBOUND: usize = 64;
const HELLO_TIME: Duration = Duration::from_secs(10);
/// An agent that says nothing for so long, and misses so many heartbeats, is gone.
const SILENCE_MAX: Duration = Duration::from_secs(30);
const SILENT_BEATS: u32 = 3;
/// Runs that a node can say it holds.
const HOLDINGS_MAX: usize = 200_000;
/// How often a session looks whether servers came or went.
const ADDRESSES_EVERY: Duration = Duration::from_secs(10);

pub(super) struct AgentLinkService {
    control: Control,
    tasks: Tasks,
}

impl AgentLinkService {
    pub(super) fn new(control: Control, tasks: Tasks) -> AgentLinkService {
        AgentLinkService { control, tasks }
    }
}

#[tonic::async_trait]
impl v1::agent_link_server::AgentLink for AgentLinkService {
    type SessionStream = ReceiverStream<Result<v1::ServerMessage, Status>>;

    async fn session(
        &self,
        request: Request<Streaming<v1::AgentMessage>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let certificate = super::peer(&request)?;
        let node_id = super::node_of(&certificate)?;
        let inbound = request.into_inner();
        let (replies, stream) = mpsc::channel(1);
        let (control, tasks) = (self.control.clone(), self.tasks.clone());
        self.tasks.spawn("agent_session", OnError::Log, async move {
            serve(control, tasks, node_id, certificate, inbound, replies).await;
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }

    async fn resolve_image(
        &self,
        request: Request<v1::ResolveImageRequest>,
    ) -> Result<Response<v1::ResolveImageReply>, Status> {
        let certificate = super::peer(&request)?;
        let node_id = super::node_of(&certificate)?;
        let admitted = super::admit(&self.control, node_id, &certificate).await;
        admitted.map_err(|error| Status::permission_denied(error.detail))?;
        let reference = request.into_inner().reference;
        let reference = reference.parse().map_err(|e: hostler_model::ParseImageRefError| {
            Status::invalid_argument(e.to_string())
        })?;
        let found = self.control.image_resolve(&reference).await;
        let found = found.map_err(|error| {
            tracing::warn!(%error, "an image cannot be looked up");
            Status::unavailable("the server cannot look it up now")
        })?;
        let stored = found.map(|image| serde_json::to_string(&image.stored()));
        let image_json = stored.transpose().map_err(|e| Status::internal(e.to_string()))?;
        Ok(Response::new(v1::ResolveImageReply { image_json: image_json.unwrap_or_default() }))
    }
}

/// What others in this process hold of a session.
struct SessionLink {
    wake: Notify,
    wake_watch: Notify,
    streams: Streams,
    closed: CancellationToken,
    reason: Mutex<Option<(String, bool)>>,
}

impl NodeLink for SessionLink {
    fn wake(&self) {
        self.wake.notify_one();
    }

    fn wake_watch(&self) {
        self.wake_watch.notify_one();
    }

    fn open(&self, ask: NodeAsk) -> BoxFuture<'_, Result<OutputReceiver, Error>> {
        Box::pin(self.streams.open(ask))
    }

    fn close(&self, reason: &str, may_return: bool) {
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((reason.to_owned(), may_return));
        self.closed.cancel();
    }
}

async fn serve(
    control: Control,
    tasks: Tasks,
    node_id: NodeId,
    certificate: PeerCertificate,
    mut inbound: Streaming<v1::AgentMessage>,
    replies: mpsc::Sender<Result<v1::ServerMessage, Status>>,
) {
    let (outbound, mut queue) = mpsc::channel::<v1::ServerMessage>(OUTBOUND);
    // The agent's stream is fed from one queue, so that streams and the session itself share it.
    let feeder = tasks.spawn("agent_session_feed", OnError::Log, async move {
        while let Some(message) = queue.recv().await {
            if replies.send(Ok(message)).await.is_err() {
                return;
            }
        }
    });
    let hello = match tokio::time::timeout(HELLO_TIME, inbound.message()).await {
        Ok(Ok(Some(v1::AgentMessage { body: Some(In::Hello(hello)) }))) => hello,
        _ => {
            return refuse(&outbound, Code::Malformed, "the first message must be a hello", true)
                .await;
        }
    };
    if hello.protocol != PROTOCOL {
        let detail = format!(
            "this server speaks protocol {PROTOCOL}, the agent {}; upgrade the older one",
            hello.protocol
        );
        return refuse(&outbound, Code::Conflict, &detail, false).await;
    }
    let authorities_known = hello.authorities_mark;
    let watched = hello.watches.then(|| Generation::from_u64(hello.watchers_generation));
    let facts = HelloFacts {
        agent_version: hello.agent_version,
        session_epoch: Generation::from_u64(hello.session_epoch),
        applied_generation: Generation::from_u64(hello.applied_generation),
        facts: (!hello.facts_unchanged)
            .then(|| serde_json::from_str(&hello.facts_json).unwrap_or_default()),
        heartbeat_wish: (hello.heartbeat_wish_ms > 0)
            .then(|| Duration::from_millis(hello.heartbeat_wish_ms.into())),
        can_tell_holdings: hello.tells_holdings,
    };
    let attached = match control.node_attach(node_id, &certificate.serial, &facts).await {
        Ok(Attach::Attached(attached)) => attached,
        Ok(Attach::Refused { code, detail, may_return }) => {
            super::note_unknown(&certificate, code, &detail);
            return refuse(&outbound, code, &detail, may_return).await;
        }
        Err(error) => return refuse(&outbound, error.code, &error.detail, true).await,
    };
    let link = Arc::new(SessionLink {
        wake: Notify::new(),
        wake_watch: Notify::new(),
        streams: Streams::new(outbound.clone(), tasks.clone()),
        closed: CancellationToken::new(),
        reason: Mutex::default(),
    });
    control.node_link(&attached, Arc::clone(&link) as Arc<dyn NodeLink>);
    tracing::info!(node = %attached.node_name, epoch = attached.session_epoch.get(), "agent session opened");
    let session = Session {
        control: control.clone(),
        applied: facts.applied_generation,
        sent: facts.applied_generation,
        watched,
        attached: attached.clone(),
        link: Arc::clone(&link),
        outbound: outbound.clone(),
        looked: control.clock().instant(),
        authorities_known,
        told: v1::Welcome::default(),
        holdings: Holdings::default(),
        heard: control.clock().instant(),
    };
    let why = session.run(inbound, tasks.token()).await;
    control.node_unlink(&attached);
    link.streams.close();
    tracing::info!(node = %attached.node_name, epoch = attached.session_epoch.get(), why, "agent session closed");
    drop((link, outbound));
    feeder.abort();
}

struct Session {
    control: Control,
    attached: Attached,
    link: Arc<SessionLink>,
    outbound: mpsc::Sender<v1::ServerMessage>,
    /// What the agent has said that it holds durably.
    applied: Generation,
    /// What it was sent.
    sent: Generation,
    /// Which watchers it was sent last; none where it knows nothing of watchers.
    watched: Option<Generation>,
    /// When the addresses of servers were last looked at.
    looked: Duration,
    /// The mark of the authorities that the agent trusted when it came.
    authorities_known: String,
    /// What the agent was last told of servers and authorities.
    told: v1::Welcome,
    /// What the agent has said so far of what it holds.
    holdings: Holdings,
    /// When the agent last said anything.
    heard: Duration,
}

impl Session {
    /// Runs until either side ends it; says why.
    async fn run(
        mut self,
        mut inbound: Streaming<v1::AgentMessage>,
        stopping: CancellationToken,
    ) -> &'static str {
        self.told = self.welcome();
        if !self.send(Out::Welcome(self.told.clone())).await {
            return "the agent went away";
        }
        self.link.wake.notify_one();
        if let Some(held) = self.watched {
            // Where the database is away now, its reconciler finds out later what the agent has.
            let _away = self.control.node_watches(self.attached.node_id, held).await;
            self.link.wake_watch.notify_one();
        }
        let link = Arc::clone(&self.link);
        let mut pause = self.pause();
        let mut authorities = self.control.authorities_watch();
        loop {
            tokio::select! {
                message = inbound.message() => match message {
                    Ok(Some(message)) => {
                        self.heard = self.control.clock().instant();
                        if let Err(why) = self.take(message).await {
                            return why;
                        }
                    }
                    Ok(None) => return "the agent closed it",
                    Err(_) => return "the connection broke",
                },
                () = link.wake.notified() => {
                    if let Err(why) = self.push().await {
                        return why;
                    }
                }
                () = link.wake_watch.notified() => self.push_watchers().await,
                Ok(()) = authorities.changed() => self.tell_changes().await,
                () = &mut pause => {
                    if self.is_silent() {
                        return "the agent is silent";
                    }
                    pause = self.pause();
                }
                () = link.closed.cancelled() => {
                    let reason = link.reason.lock().unwrap_or_else(PoisonError::into_inner).take();
                    let (detail, may_return) = reason.unwrap_or_default();
                    refuse(&self.outbound, Code::Conflict, &detail, may_return).await;
                    return "it was closed here";
                }
                () = stopping.cancelled() => {
                    self.send(Out::Goodbye(v1::Goodbye {})).await;
                    self.drained().await;
                    return "the server stops";
                }
            }
        }
    }

    /// The time to the next look at how long the agent has been quiet.
    fn pause(&self) -> BoxFuture<'static, ()> {
        let usual = self.control.heartbeat();
        let is_seldom = self.attached.heartbeat > usual;
        Box::pin(self.control.clock().sleep(if is_seldom { usual } else { SILENCE_MAX }))
    }

    /// Whether the agent has missed so many heartbeats that its connection must be dead. While it keeps
    /// to what it was allowed, that is vouched for.
    fn is_silent(&self) -> bool {
        let quiet = self.control.clock().instant().saturating_sub(self.heard);
        if self.attached.heartbeat > self.control.heartbeat() {
            self.control.node_vouch(&self.attached, self.applied, quiet);
        }
        quiet > SILENCE_MAX.max(self.attached.heartbeat * SILENT_BEATS)
    }

    fn welcome(&self) -> v1::Welcome {
        let beat = self.attached.heartbeat.as_millis();
        let authorities = self.control.authorities();
        let is_new = authorities.mark() != self.authorities_known;
        v1::Welcome {
            server_id: self.control.server_id().to_string(),
            heartbeat_interval_ms: u32::try_from(beat).unwrap_or(5000),
            node_name: self.attached.node_name.to_string(),
            agent_addresses: self.attached.agent_addresses.clone(),
            keeps_facts: true,
            authorities_pem: if is_new { authorities.trusted().pem() } else { String::new() },
            should_renew: self.control.node_should_renew(self.attached.authority.as_deref()),
            asks_holdings: self.attached.is_asked,
        }
    }

    /// An agent must know where else to go before this server is gone, and whom to trust.
    async fn tell_addresses(&mut self) {
        let now = self.control.clock().instant();
        if now.saturating_sub(self.looked) < ADDRESSES_EVERY {
            return;
        }
        self.looked = now;
        // A database that is away now is asked again at a later heartbeat.
        if let Ok(addresses) = self.control.agent_addresses().await {
            self.attached.agent_addresses = addresses;
        }
        self.tell_changes().await;
    }

    async fn tell_changes(&mut self) {
        let welcome = self.welcome();
        if welcome != self.told {
            self.told = welcome.clone();
            self.send(Out::Welcome(welcome)).await;
        }
    }

    /// Sends what the node does not know yet.
    async fn push(&mut self) -> Result<(), &'static str> {
        loop {
            let batch = match self.control.node_desired(self.attached.node_id, self.sent).await {
                Ok(Some(batch)) => batch,
                Ok(None) => return Ok(()),
                Err(error) => {
                    // The reconciler wakes the session again while the node is behind.
                    tracing::warn!(node = %self.attached.node_name, %error, "desired state could not be read");
                    return Ok(());
                }
            };
            let desired = v1::Desired {
                from_generation: batch.from.get(),
                to_generation: batch.to.get(),
                placements: batch.assignments.iter().map(assignment_to_message).collect(),
                log_shares: Some(log_shares_to_message(&batch.log_shares)),
            };
            if !self.send(Out::Desired(desired)).await {
                return Err("the agent went away");
            }
            self.sent = batch.to;
            if !batch.is_full {
                return Ok(());
            }
        }
    }

    /// Sends what the node is to look at, where that is not what it was sent last.
    async fn push_watchers(&mut self) {
        let Some(sent) = self.watched else { return };
        match self.control.node_watcher_orders(self.attached.node_id, sent).await {
            Ok(Some((generation, orders))) => {
                let orders = watcher_orders_to_message(generation, &orders);
                if self.send(Out::WatcherOrders(orders)).await {
                    self.watched = Some(generation);
                }
            }
            Ok(None) => {}
            Err(error) => {
                // The reconciler wakes the session again while the node is behind.
                tracing::warn!(node = %self.attached.node_name, %error, "watchers could not be read");
            }
        }
    }

    async fn take(&mut self, message: v1::AgentMessage) -> Result<(), &'static str> {
        match message.body {
            Some(In::Heartbeat(heartbeat)) => {
                self.applied = self.applied.max(Generation::from_u64(heartbeat.applied_generation));
                let metrics: Option<NodeMetrics> =
                    serde_json::from_str(&heartbeat.metrics_json).ok();
                let usage: Option<Vec<WorkloadUsage>> =
                    serde_json::from_str(&heartbeat.usage_json).ok();
                self.control.node_heartbeat(&self.attached, self.applied, metrics, usage);
                let ack = v1::HeartbeatAck { applied_generation: self.applied.get() };
                self.send(Out::HeartbeatAck(ack)).await;
                self.tell_addresses().await;
            }
            Some(In::Applied(applied)) => {
                self.applied = self.applied.max(Generation::from_u64(applied.generation));
                self.control.node_heartbeat(&self.attached, self.applied, None, None);
            }
            Some(In::Reports(reports)) => self.report(reports).await?,
            Some(In::Holdings(holdings)) => self.take_holdings(holdings).await?,
            Some(In::StatusReports(reports)) => self.take_statuses(reports).await?,
            Some(In::FactsChanged(changed)) => self.take_facts(&changed.facts_json).await?,
            Some(In::ImageNews(news)) => self.take_image_news(&news.news_json).await?,
            Some(In::WatcherReport(report)) => self.take_watcher_report(&report).await?,
            Some(In::StreamData(data)) => self.link.streams.arrive(data.stream_id, data.frames),
            Some(In::StreamEnd(end)) => self.link.streams.end(end),
            Some(In::RenewRequest(request)) => {
                let reply =
                    match self.control.node_renew(self.attached.node_id, &request.csr_pem).await {
                        Ok(certificate_pem) => {
                            v1::RenewReply { certificate_pem, error: String::new() }
                        }
                        Err(error) => {
                            v1::RenewReply { certificate_pem: String::new(), error: error.detail }
                        }
                    };
                self.send(Out::RenewReply(reply)).await;
            }
            Some(In::Leaving(v1::Leaving {})) => {
                self.control.node_change_session(&self.attached);
                self.link.streams.refuse_more();
                self.send(Out::Goodbye(v1::Goodbye {})).await;
            }
            Some(In::Hello(_)) => {
                refuse(&self.outbound, Code::Malformed, "a second hello", true).await;
                return Err("the agent said hello twice");
            }
            // A message of a newer agent; it knows that it may be ignored.
            None => {}
        }
        Ok(())
    }

    async fn report(&mut self, reports: v1::Reports) -> Result<(), &'static str> {
        let parsed = self.parse_reports(reports.reports);
        match self.control.node_report(self.attached.node_id, &parsed).await {
            Ok(acks) => {
                super::note_foreign(acks.iter().filter(|ack| ack.is_unknown).count());
                self.acknowledge(&acks).await;
                Ok(())
            }
            Err(error) => Err(self.not_stored(&error).await),
        }
    }

    fn parse_reports(&self, reports: Vec<v1::Report>) -> Vec<Report> {
        let mut parsed = Vec::with_capacity(reports.len());
        for report in reports {
            match parse_report(report) {
                Ok(report) => parsed.push(report),
                Err(error) => {
                    tracing::warn!(node = %self.attached.node_name, %error, "unreadable report")
                }
            }
        }
        parsed
    }

    async fn acknowledge(&self, acks: &[ReportAck]) {
        let acks = acks
            .iter()
            .map(|ack| v1::ReportAck {
                run_id: ack.run_id.to_string(),
                generation: ack.generation.get(),
                unknown: ack.is_unknown,
            })
            .collect();
        self.send(Out::ReportAcks(v1::ReportAcks { acks })).await;
    }

    /// Nothing is unusual about runs that are unknown here after a restore.
    async fn take_holdings(&mut self, told: v1::Holdings) -> Result<(), &'static str> {
        if !self.attached.is_asked {
            return Ok(());
        }
        let reports = self.parse_reports(told.reports);
        self.holdings.runs.extend(told.run_ids.iter().filter_map(|id| id.parse::<RunId>().ok()));
        self.holdings.reports.extend(reports);
        if self.holdings.runs.len().max(self.holdings.reports.len()) > HOLDINGS_MAX {
            refuse(&self.outbound, Code::Malformed, "no node holds so much", true).await;
            return Err("the agent says that it holds too much");
        }
        if told.more {
            return Ok(());
        }
        let holdings = std::mem::take(&mut self.holdings);
        match self.control.node_holdings(&self.attached, &holdings).await {
            Ok(acks) => {
                self.attached.is_asked = false;
                self.told.asks_holdings = false;
                self.acknowledge(&acks).await;
                self.link.wake.notify_one();
                Ok(())
            }
            Err(error) => Err(self.not_stored(&error).await),
        }
    }

    async fn take_statuses(&mut self, reports: v1::StatusReports) -> Result<(), &'static str> {
        let mut parsed = Vec::with_capacity(reports.reports.len());
        for report in reports.reports {
            match parse_status(report) {
                Ok(report) => parsed.push(report),
                Err(error) => {
                    tracing::warn!(node = %self.attached.node_name, %error, "unreadable status")
                }
            }
        }
        match self.control.node_status(self.attached.node_id, &parsed).await {
            Ok(acks) => {
                super::note_foreign(acks.iter().filter(|ack| ack.is_unknown).count());
                let acks = acks
                    .iter()
                    .map(|ack| v1::StatusAck {
                        placement_id: ack.placement_id.to_string(),
                        generation: ack.generation.get(),
                        unknown: ack.is_unknown,
                    })
                    .collect();
                self.send(Out::StatusAcks(v1::StatusAcks { acks })).await;
                Ok(())
            }
            Err(error) => Err(self.not_stored(&error).await),
        }
    }

    async fn take_image_news(&self, told: &[String]) -> Result<(), &'static str> {
        let mut news: Vec<ImageNews> = Vec::with_capacity(told.len());
        for text in told {
            match serde_json::from_str(text) {
                Ok(one) => news.push(one),
                Err(error) => {
                    tracing::warn!(node = %self.attached.node_name, %error, "unreadable news of an image")
                }
            }
        }
        match self.control.node_image_news(self.attached.node_id, &news).await {
            Ok(ids) => {
                let ids = ids.iter().map(ToString::to_string).collect();
                self.send(Out::ImageNewsAcks(v1::ImageNewsAcks { ids })).await;
                Ok(())
            }
            Err(error) => Err(self.not_stored(&error).await),
        }
    }

    async fn take_watcher_report(&self, told: &v1::WatcherReport) -> Result<(), &'static str> {
        let (report, problems) = parse_watcher_report(told);
        for problem in problems {
            tracing::warn!(node = %self.attached.node_name, problem, "unreadable news of a watcher");
        }
        match self.control.node_watcher_report(self.attached.node_id, &report).await {
            Ok(foreign) => {
                super::note_foreign(foreign);
                self.send(Out::WatcherAck(v1::WatcherAck { number: told.number })).await;
                Ok(())
            }
            Err(error) => Err(self.not_stored(&error).await),
        }
    }

    /// What is not stored is told again with the next hello.
    async fn take_facts(&self, text: &str) -> Result<(), &'static str> {
        let facts: Facts = match serde_json::from_str(text) {
            Ok(facts) => facts,
            Err(error) => {
                tracing::warn!(node = %self.attached.node_name, %error, "unreadable facts");
                return Ok(());
            }
        };
        match self.control.node_facts(&self.attached, &facts).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.not_stored(&error).await),
        }
    }

    /// Nothing was acknowledged: the agent keeps what it has to say and says it again.
    async fn not_stored(&self, error: &Error) -> &'static str {
        tracing::warn!(node = %self.attached.node_name, %error, "reports could not be stored");
        refuse(&self.outbound, error.code, "reports cannot be stored now", true).await;
        "reports could not be stored"
    }

    async fn send(&self, body: Out) -> bool {
        self.outbound.send(v1::ServerMessage { body: Some(body) }).await.is_ok()
    }

    /// Gives the last messages a moment to leave.
    async fn drained(&self) {
        let all = self.outbound.reserve_many(OUTBOUND);
        let _left = tokio::time::timeout(Duration::from_millis(500), all).await;
    }
}

async fn refuse(
    outbound: &mpsc::Sender<v1::ServerMessage>,
    code: Code,
    detail: &str,
    may_return: bool,
) {
    let refusal =
        v1::Refusal { code: code.label().to_owned(), detail: detail.to_owned(), retry: may_return };
    // An agent that is gone needs no answer.
    let _gone = outbound.send(v1::ServerMessage { body: Some(Out::Refusal(refusal)) }).await;
    let _left =
        tokio::time::timeout(Duration::from_millis(500), outbound.reserve_many(OUTBOUND)).await;
}
