//! One session: the conversation with one server, from hello to its end.
//!
//! The loop here never waits for the supervisor: wishes and acknowledgements go through a task of their
//! own, in order, so that heartbeats go on while the ledger waits for space. When that task's queue is
//! full, nothing more is read from the server, which then feels it.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesOrdered;
use hostler_base::{OnError, Tasks, chain};
use hostler_model::{Generation, NodeMetrics, WorkloadSpec};
use hostler_proto::v1::{self, agent_message, server_message, stream_open};
use hostler_proto::{ConvertError, parse_assignment};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;

use super::news::Answers;
use super::renewal::{LEAVE_LOOK, Renewal};
use super::reports::Sent;
use super::stream::OpenStream;
use super::watching::WatchTalk;
use super::{End, Session, link};
use crate::output::Share;
use crate::supervisor::{Ack, StatusAck, Supervisor, Taken, Unreadable, Wishes};

/// How long a connection and a server's first word may take.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a message may wait to be sent before the connection counts as dead.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Heartbeats in a row that may go unanswered.
const SILENT_BEATS: u32 = 3;
const OUTBOUND_QUEUED: usize = 16;
const FORWARD_QUEUED: usize = 64;

/// A session that both sides have agreed on.
struct Opened {
    outbound: mpsc::Sender<v1::AgentMessage>,
    inbound: Streaming<v1::ServerMessage>,
    beat: Duration,
    is_asked: bool,
}

/// What the session passes on to the supervisor.
enum Forward {
    Wishes(Wishes),
    Acks(Vec<Ack>),
    StatusAcks(Vec<StatusAck>),
}

/// The state of one conversation.
pub(super) struct Talk {
    /// Where this server was reached.
    address: String,
    pub(super) outbound: mpsc::Sender<v1::AgentMessage>,
    forward: mpsc::Sender<Forward>,
    /// Cancelled when the supervisor finds a gap.
    gap: CancellationToken,
    pub(super) scope: Tasks,
    pub(super) streams: HashMap<u64, OpenStream>,
    pub(super) sent: Sent,
    image_answers: Answers,
    watching: WatchTalk,
    heard: Duration,
    measured: Option<Duration>,
    /// The server wants to know what is held here.
    is_asked: bool,
    /// When it was last said what workloads use.
    used: Option<Duration>,
    pub(super) renewal: Renewal,
}

pub(super) fn message(body: agent_message::Body) -> v1::AgentMessage {
    v1::AgentMessage { body: Some(body) }
}

impl Session {
    /// Dials, talks, and says how it ended.
    pub(super) async fn attempt(&mut self, address: &str) -> End {
        let token = self.tasks.token();
        let opened = match token.run_until_cancelled(Box::pin(self.open(address))).await {
            None => return End::Stopping,
            Some(Err(end)) => return end,
            Some(Ok(opened)) => opened,
        };
        let Opened { outbound, mut inbound, beat, is_asked } = opened;
        let scope = self.tasks.scope();
        let (forward, forwarded) = mpsc::channel(FORWARD_QUEUED);
        let mut talk = Talk {
            address: address.to_owned(),
            outbound: outbound.clone(),
            forward,
            gap: CancellationToken::new(),
            scope: scope.clone(),
            streams: HashMap::new(),
            sent: Sent::default(),
            image_answers: self.tell_of_images(&scope, outbound.clone()),
            watching: self.tell_of_watchers(&scope, outbound.clone()),
            heard: self.clock.instant(),
            measured: None,
            is_asked,
            used: None,
            renewal: Renewal::None,
        };
        scope.spawn_until_cancelled(
            "session forward",
            OnError::Log,
            pass_on(forwarded, self.supervisor.clone(), outbound, talk.gap.clone()),
        );
        let end = match self.converse(&mut talk, &mut inbound, beat).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        self.runner.blobs().reach().lost();
        scope.stop().await;
        drop(talk);
        if matches!(end, End::Stopping | End::Renewed) {
            let rest = async { while let Ok(Some(_)) = inbound.message().await {} };
            let _ = self.clock.timeout(CLOSE_TIMEOUT, rest).await;
        }
        end
    }

    async fn open(&mut self, address: &str) -> Result<Opened, End> {
        let facts = self.facts().await;
        let clock = self.clock.clone();
        let dial = link::dial(address, &self.identity, self.manner);
        let mut client = (clock.timeout(OPEN_TIMEOUT, dial).await)
            .map_err(|late| End::Lost(late.to_string()))?
            .map_err(|error| End::Lost(link::told(chain(&error).to_string())))?;
        let opening = self.supervisor.open_session().await.map_err(|_| End::Stopping)?;
        let (outbound, queue) = mpsc::channel(OUTBOUND_QUEUED);
        let hello = self.hello(opening, &facts);
        let is_told = !hello.facts_unchanged;
        let greet = async {
            // The queue is empty and its other end is held right here.
            let _ = outbound.send(message(agent_message::Body::Hello(hello))).await;
            let mut inbound = client.session(ReceiverStream::new(queue)).await?.into_inner();
            let first = inbound.message().await?;
            Ok::<_, tonic::Status>((inbound, first.and_then(|first| first.body)))
        };
        let (inbound, first) = match clock.timeout(OPEN_TIMEOUT, greet).await {
            Err(late) => return Err(End::Lost(late.to_string())),
            Ok(Err(status)) => {
                // A server of a release that cannot read what is compressed.
                self.manner.is_compressed &= status.code() != tonic::Code::Unimplemented;
                return Err(End::Lost(link::told(chain(&status).to_string())));
            }
            Ok(Ok(greeted)) => greeted,
        };
        let welcome = match first {
            Some(server_message::Body::Welcome(welcome)) => welcome,
            Some(server_message::Body::Refusal(refusal)) => {
                self.facts_told = None;
                return Err(refused(refusal));
            }
            Some(server_message::Body::Goodbye(_)) => return Err(End::Goodbye),
            _ => return Err(End::Lost("the server did not answer the greeting".into())),
        };
        self.facts_said = Some(facts.clone());
        if !welcome.keeps_facts {
            self.facts_told = None;
        } else if is_told {
            self.facts_told = Some(facts);
        }
        let beat = Duration::from_millis(welcome.heartbeat_interval_ms.into())
            .clamp(Duration::from_millis(50), Duration::from_secs(60));
        tracing::info!(
            server = welcome.server_id,
            address,
            epoch = %opening.epoch,
            applied = %opening.applied,
            "session opened"
        );
        let is_asked = welcome.asks_holdings;
        self.status.set_connected(welcome.server_id.clone(), address.to_owned(), self.clock.now());
        self.trust(&welcome).await;
        self.remember(welcome, address).await;
        self.runner.blobs().reach().found(address, &self.identity, self.manner);
        Ok(Opened { outbound, inbound, beat, is_asked })
    }

    /// Keeps what the server says of this node's name and of where servers are. The address that works
    /// stays among them, whatever it says.
    async fn remember(&mut self, welcome: v1::Welcome, address: &str) {
        let known = &self.identity.node;
        let name = welcome.node_name.parse().unwrap_or_else(|_| known.name.clone());
        let mut servers = welcome.agent_addresses;
        if !servers.iter().any(|server| server == address) {
            servers.insert(0, address.to_owned());
        }
        if name == known.name && servers == known.servers {
            return;
        }
        let (identity, data_dir) = (self.identity.clone(), self.data_dir.clone());
        let stored = self
            .tasks
            .run_blocking("identity", move || identity.with_node(&data_dir, name, servers))
            .await;
        match stored {
            Ok(Ok(identity)) => self.identity = identity,
            Ok(Err(error)) => {
                tracing::warn!(error = %chain(&error), "server addresses could not be stored");
            }
            Err(_) => {}
        }
    }

    async fn converse(
        &mut self,
        talk: &mut Talk,
        inbound: &mut Streaming<v1::ServerMessage>,
        beat: Duration,
    ) -> Result<std::convert::Infallible, End> {
        let token = self.tasks.token();
        let supervisor = self.supervisor.clone();
        let (forward, gap) = (talk.forward.clone(), talk.gap.clone());
        let mut devices = self.looker.devices.seen();
        let mut engine = self.engine_begins();
        let mut is_gathering = false;
        let mut gathered: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(std::future::ready(()));
        let mut next_beat: Pin<Box<dyn Future<Output = ()> + Send>> =
            Box::pin(self.clock.sleep(Duration::ZERO));
        self.tell_facts(talk).await?;
        if talk.is_asked {
            self.tell_holdings(talk).await?;
        }
        let clock = self.clock.clone();
        loop {
            let is_held_up = forward.capacity() == 0;
            tokio::select! {
                () = token.cancelled() => return Err(End::Stopping),
                () = gap.cancelled() => return Err(End::Gap),
                received = inbound.message(), if !is_held_up => {
                    talk.heard = self.clock.instant();
                    let body = match received {
                        Ok(Some(received)) => received.body,
                        Ok(None) => return Err(End::Lost("the server ended the session".into())),
                        Err(status) => return Err(End::Lost(chain(&status).to_string())),
                    };
                    let was_busy = !talk.sent.is_answered();
                    if let Some(body) = body {
                        self.hear(talk, body).await?;
                    }
                    if is_gathering && was_busy && talk.sent.is_answered() {
                        gathered = Box::pin(self.clock.sleep(self.gathers_for(&talk.sent)));
                    }
                }
                _ = forward.reserve(), if is_held_up => {
                    talk.heard = self.clock.instant();
                }
                () = supervisor.outbox().filled(), if !is_gathering => {
                    is_gathering = true;
                    gathered = Box::pin(self.clock.sleep(self.gathers_for(&talk.sent)));
                }
                () = &mut gathered, if is_gathering => {
                    is_gathering = false;
                    self.send_reports(talk).await?;
                }
                Ok(()) = devices.changed() => self.tell_facts(talk).await?,
                version = &mut engine => {
                    self.note_engine(version);
                    engine = self.engine_begins();
                    self.tell_facts(talk).await?;
                }
                () = clock.sleep(LEAVE_LOOK), if talk.renewal.is_leaving() => {
                    self.leave_if_renewed(talk).await?;
                }
                () = &mut next_beat => {
                    next_beat = Box::pin(self.clock.sleep(beat));
                    self.beat(talk, beat).await?;
                }
            }
        }
    }

    async fn hear(&mut self, talk: &mut Talk, body: server_message::Body) -> Result<(), End> {
        match body {
            server_message::Body::Desired(desired) => {
                self.take_shares(desired.log_shares.as_ref()).await?;
                let wishes = wishes(desired).map_err(|error| {
                    tracing::error!(error = %chain(&error), "server sent wishes that make no sense");
                    End::Lost(chain(&error).to_string())
                })?;
                self.forward(talk, Forward::Wishes(wishes)).await
            }
            server_message::Body::ReportAcks(acks) => {
                talk.sent.answer();
                let acks = acks.acks.into_iter().filter_map(|ack| {
                    Some(Ack {
                        run: ack.run_id.parse().ok()?,
                        generation: Generation::from_u64(ack.generation),
                        is_unknown: ack.unknown,
                    })
                });
                self.forward(talk, Forward::Acks(acks.collect())).await
            }
            server_message::Body::StatusAcks(acks) => {
                talk.sent.answer();
                let acks = acks.acks.into_iter().filter_map(|ack| {
                    let placement = ack.placement_id.parse().ok()?;
                    let generation = Generation::from_u64(ack.generation);
                    Some(StatusAck { placement, generation, is_unknown: ack.unknown })
                });
                self.forward(talk, Forward::StatusAcks(acks.collect())).await
            }
            server_message::Body::ImageNewsAcks(acks) => {
                talk.image_answers.hear(&acks);
                Ok(())
            }
            server_message::Body::StreamOpen(open) => {
                if let Some(stream_open::What::Facts(_)) = open.what {
                    // The server will have others than those of the hello.
                    self.facts_told = None;
                }
                self.open_stream(talk, open).await
            }
            server_message::Body::StreamCredit(credit) => {
                if let Some(stream) = talk.streams.get(&credit.stream_id) {
                    stream.credit.add(credit.bytes);
                }
                Ok(())
            }
            server_message::Body::StreamCancel(cancel) => {
                if let Some(stream) = talk.streams.remove(&cancel.stream_id) {
                    stream.task.abort();
                }
                Ok(())
            }
            server_message::Body::RenewReply(reply) => self.renewed(talk, reply).await,
            server_message::Body::Goodbye(_) => self.goodbye(talk),
            server_message::Body::Refusal(refusal) => Err(refused(refusal)),
            server_message::Body::Welcome(welcome) => {
                self.trust(&welcome).await;
                self.remember(welcome, &talk.address).await;
                Ok(())
            }
            server_message::Body::WatcherOrders(orders) => {
                talk.watching.orders(orders).await;
                Ok(())
            }
            server_message::Body::WatcherAck(ack) => {
                talk.watching.acknowledged(ack).await;
                Ok(())
            }
            server_message::Body::HeartbeatAck(_) => Ok(()),
        }
    }

    /// Puts what projects may keep of their output here into force, before anything of them is started. What
    /// a server of an older release leaves out stays as it is.
    async fn take_shares(&self, told: Option<&v1::LogShares>) -> Result<(), End> {
        let Some(told) = told else { return Ok(()) };
        let shares = told.shares.iter().map(|share| {
            Some(Share {
                project: share.project_name.parse().ok()?,
                bytes: share.bytes,
                generation: Generation::from_u64(share.generation),
            })
        });
        let Some(shares) = shares.collect::<Option<Vec<_>>>() else {
            return Err(End::Lost("the server sent shares that make no sense".into()));
        };
        self.runner.accounts().set(shares).await.map_err(|error| {
            End::Lost(format!("what projects may keep here could not be written: {error}"))
        })
    }

    /// There is room: nothing is read from the server while there is none.
    async fn forward(&self, talk: &Talk, what: Forward) -> Result<(), End> {
        talk.forward
            .send(what)
            .await
            .map_err(|_| if talk.gap.is_cancelled() { End::Gap } else { End::Stopping })
    }

    pub(super) async fn send(&self, talk: &Talk, body: agent_message::Body) -> Result<(), End> {
        let sent = self.clock.timeout(SEND_TIMEOUT, talk.outbound.send(message(body))).await;
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Lost("the connection is gone".into())),
            Err(late) => Err(End::Lost(format!("the server does not take what is sent: {late}"))),
        }
    }

    async fn beat(&mut self, talk: &mut Talk, beat: Duration) -> Result<(), End> {
        let now = self.clock.instant();
        if now.saturating_sub(talk.heard) > beat * SILENT_BEATS {
            return Err(End::Lost("the server does not answer heartbeats".into()));
        }
        let mut metrics_json = String::new();
        let is_due =
            talk.measured.is_none_or(|last| now.saturating_sub(last) >= self.manner.metrics_every);
        if self.runner.accounts().has_news() || is_due {
            talk.measured = Some(now);
            let metrics = NodeMetrics {
                time: Some(self.clock.now()),
                writes: Some(self.tally.metrics()),
                gap_lines: self.tally.lost_lines(),
                gpus: self.looker.devices.metrics(now),
                outputs: self.runner.accounts().kept(),
                ..self.sampler.sample(self.runner.live().len())
            };
            metrics_json = serde_json::to_string(&metrics).unwrap_or_default();
        }
        let heartbeat = v1::Heartbeat {
            applied_generation: self.status.applied().get(),
            metrics_json,
            usage_json: self.usage_if_due(talk, now),
        };
        // A full queue means that much else is on its way; the next one will do.
        let _ = talk.outbound.try_send(message(agent_message::Body::Heartbeat(heartbeat)));
        self.renew_if_due(talk).await?;
        self.leave_if_renewed(talk).await
    }
}

impl Session {
    /// What every workload uses, where that is to be told now.
    fn usage_if_due(&self, talk: &mut Talk, now: Duration) -> String {
        let Some(every) = self.manner.usage_every else { return String::new() };
        if talk.used.is_some_and(|last| now.saturating_sub(last) < every) {
            return String::new();
        }
        let used = self.supervisor.book().newest(self.clock.now());
        if used.is_empty() && talk.used.is_none() {
            return String::new();
        }
        talk.used = Some(now);
        serde_json::to_string(&used).unwrap_or_default()
    }
}

fn refused(refusal: v1::Refusal) -> End {
    End::Refused { code: refusal.code, detail: refusal.detail, is_final: !refusal.retry }
}

/// Gives the supervisor what the server sent, in order, and says what became durable.
async fn pass_on(
    mut forwarded: mpsc::Receiver<Forward>,
    supervisor: Supervisor,
    outbound: mpsc::Sender<v1::AgentMessage>,
    gap: CancellationToken,
) {
    let mut answers: FuturesOrdered<oneshot::Receiver<Taken>> = FuturesOrdered::new();
    loop {
        tokio::select! {
            next = forwarded.recv() => {
                let given = match next {
                    Some(Forward::Wishes(wishes)) => {
                        supervisor.wish(wishes).await.map(|answer| answers.push_back(answer))
                    }
                    Some(Forward::Acks(acks)) => supervisor.acknowledge(acks).await,
                    Some(Forward::StatusAcks(acks)) => supervisor.acknowledge_statuses(acks).await,
                    None => return,
                };
                if given.is_err() {
                    return;
                }
            }
            Some(taken) = answers.next() => match taken {
                Ok(Taken::Durable(generation)) => {
                    let applied = v1::Applied { generation: generation.get() };
                    let body = agent_message::Body::Applied(applied);
                    if outbound.send(message(body)).await.is_err() {
                        return;
                    }
                }
                Ok(Taken::Gap) => return gap.cancel(),
                Err(_) => return,
            },
        }
    }
}

/// Reads what the server wants. A spec that this release cannot read does not keep the others from
/// being carried out: its run will fail with a message that says so.
fn wishes(desired: v1::Desired) -> Result<Wishes, ConvertError> {
    let mut wishes = Wishes {
        from: Generation::from_u64(desired.from_generation),
        to: Generation::from_u64(desired.to_generation),
        assignments: Vec::with_capacity(desired.placements.len()),
        unreadable: Vec::new(),
    };
    for placement in desired.placements {
        let spec = serde_json::from_str::<WorkloadSpec>(&placement.spec_json);
        match spec {
            Ok(_) => wishes.assignments.push(parse_assignment(placement)?),
            Err(problem) => {
                let stand_in = WorkloadSpec::command(["hostler-spec-of-a-newer-release"]);
                let spec_json = serde_json::to_string(&stand_in).unwrap_or_default();
                let assignment = parse_assignment(v1::DesiredPlacement { spec_json, ..placement })?;
                wishes.unreadable.push(Unreadable { assignment, problem: problem.to_string() });
            }
        }
    }
    Ok(wishes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn placement(spec_json: &str) -> v1::DesiredPlacement {
        let id = Uuid::from_u128(1).to_string();
        v1::DesiredPlacement {
            placement_id: id.clone(),
            run_id: id.clone(),
            desired: "run".into(),
            desired_generation: 1,
            workload_id: id,
            workload_name: "w".into(),
            project_name: "default".into(),
            spec_json: spec_json.into(),
            grace_ms: None,
            revision: 1,
            ..v1::DesiredPlacement::default()
        }
    }

    #[test]
    fn one_unreadable_spec_does_not_spoil_the_rest() {
        let desired = v1::Desired {
            from_generation: 0,
            to_generation: 2,
            placements: vec![
                placement(r#"{"command":["true"]}"#),
                placement(r#"{"command":["true"],"warp":9}"#),
            ],
            log_shares: None,
        };
        let wishes = wishes(desired).unwrap();
        assert_eq!(wishes.assignments.len(), 1);
        assert!(wishes.unreadable[0].problem.contains("warp"));
    }

    #[test]
    fn a_placement_without_ids_makes_no_sense() {
        let bad = v1::DesiredPlacement { run_id: "x".into(), ..placement("{}") };
        let desired = v1::Desired {
            from_generation: 0,
            to_generation: 1,
            placements: vec![bad],
            log_shares: None,
        };
        assert!(wishes(desired).is_err());
    }
}
