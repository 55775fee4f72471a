//! The agent's one connection: dialled outward, to one server at a time, over mutual TLS.
//!
//! This module decides whom to dial and when; `talk` is the conversation itself. Addresses are tried
//! in turn, at a growing and jittered interval. A server that says goodbye, or a certificate that was
//! just renewed, leads to a new connection at once; a server that says that trying again is of no use
//! is still tried, slowly, because an operator may put right what was wrong.
//!
//! A session has a number larger than any before it, durable before it is used. If the ledger was
//! lost, the seconds since 1970 stand in for the number, so it still grows.
//!
//! Nothing is lost with a connection: what the server wants is in its rows, what it must know is in
//! the ledger, and both sides say where they stand when the next session begins.

mod facts;
mod link;
mod manner;
mod news;
mod renewal;
mod reports;
mod stream;
mod talk;
mod watching;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Backoff, Clock, Tasks};
use hostler_model::{Facts, Timestamp};

use crate::facts::Looker;
use crate::identity::Identity;
use crate::machine::Machine;
use crate::metrics::Sampler;
use crate::runner::Runner;
use crate::status::Status;
use crate::supervisor::Supervisor;
use crate::watch::Watching;
use crate::writes::Tally;
pub(crate) use link::channel;
pub(crate) use manner::Manner;

const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(15);
/// A session this long counts as healthy.
const HEALTHY_AFTER: Duration = Duration::from_secs(30);
/// How long to wait after a refusal that says that trying again does not help.
const REFUSED_WAIT: Duration = Duration::from_secs(60);

/// How an attempt or a session ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The agent is stopping.
    Stopping,
    /// The server goes away in good order.
    Goodbye,
    /// There is a newer certificate to connect with.
    Renewed,
    /// The server sent changes that do not follow on what this node has.
    Gap,
    Refused {
        code: String,
        detail: String,
        is_final: bool,
    },
    /// No connection came about, or it broke.
    Lost(String),
}

/// Everything a session works with; lives longer than any one of them.
pub(crate) struct Session {
    pub clock: Clock,
    pub tasks: Tasks,
    pub data_dir: PathBuf,
    pub identity: Identity,
    /// Instead of what servers say, when not empty.
    pub addresses: Vec<String>,
    pub supervisor: Supervisor,
    pub runner: Runner,
    pub status: Arc<Status>,
    pub sampler: Sampler,
    pub boot_id: String,
    pub manner: Manner,
    pub tally: Arc<Tally>,
    pub looker: Looker,
    pub machine: Machine,
    pub watching: Watching,
    facts: Option<(Duration, Facts)>,
    /// The facts as the server of this session knows them.
    facts_said: Option<Facts>,
    /// The facts that a server has and keeps.
    facts_told: Option<Facts>,
    time_renewal: Timestamp,
}

/// What [`Session::new`] is made from.
pub(crate) struct Parts {
    pub clock: Clock,
    pub tasks: Tasks,
    pub data_dir: PathBuf,
    pub identity: Identity,
    pub addresses: Vec<String>,
    pub supervisor: Supervisor,
    pub runner: Runner,
    pub status: Arc<Status>,
    pub boot_id: String,
    pub looker: Looker,
    pub machine: Machine,
    pub watching: Watching,
    pub tally: Arc<Tally>,
}

impl Session {
    pub fn new(parts: Parts) -> Session {
        Session {
            time_renewal: parts.identity.time_renewal(rand::random()),
            sampler: Sampler::new(parts.data_dir.clone()),
            facts: None,
            facts_said: None,
            facts_told: None,
            manner: Manner::of(parts.looker.is_metered),
            looker: parts.looker,
            machine: parts.machine,
            watching: parts.watching,
            tally: parts.tally,
            clock: parts.clock,
            tasks: parts.tasks,
            data_dir: parts.data_dir,
            identity: parts.identity,
            addresses: parts.addresses,
            supervisor: parts.supervisor,
            runner: parts.runner,
            status: parts.status,
            boot_id: parts.boot_id,
        }
    }

    /// Keeps a session until the agent stops.
    pub async fn run(mut self) {
        let token = self.tasks.token();
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX, HEALTHY_AFTER);
        let mut turn = 0usize;
        while !token.is_cancelled() {
            let addresses = self.addresses();
            let Some(address) = addresses.get(turn % addresses.len().max(1)).cloned() else {
                tracing::error!(
                    "no server address is known, join again or give one in the configuration"
                );
                return token.cancelled().await;
            };
            self.check_certificate();
            let begun = self.clock.instant();
            let end = self.attempt(&address).await;
            let lasted = self.clock.instant().saturating_sub(begun);
            backoff.healthy_for(lasted);
            if matches!(end, End::Stopping) {
                return;
            }
            if !matches!(end, End::Renewed | End::Gap) {
                turn = turn.wrapping_add(1);
            }
            let delay = self.after(&end, &address, lasted, &mut backoff);
            let wait = self.clock.sleep(delay);
            token.run_until_cancelled(wait).await;
        }
    }

    fn addresses(&self) -> Vec<String> {
        if self.addresses.is_empty() {
            self.identity.node.servers.clone()
        } else {
            self.addresses.clone()
        }
    }

    /// Says what happened and how long to wait before the next attempt.
    fn after(&self, end: &End, address: &str, lasted: Duration, backoff: &mut Backoff) -> Duration {
        let problem = match end {
            End::Stopping => "the agent is stopping".to_owned(),
            End::Goodbye => "the server went away in good order".to_owned(),
            End::Renewed => "the certificate was renewed".to_owned(),
            End::Gap => "changes did not follow on one another".to_owned(),
            End::Refused { code, detail, .. } => format!("{detail} ({code})"),
            End::Lost(problem) => problem.clone(),
        };
        self.status.set_disconnected(problem.clone(), self.clock.now());
        let is_brief = lasted < Duration::from_secs(1);
        match end {
            End::Refused { is_final: true, .. } => {
                tracing::error!(server = address, problem, "server refuses this node");
                REFUSED_WAIT.mul_f64(0.8 + 0.4 * rand::random::<f64>())
            }
            End::Stopping | End::Goodbye | End::Renewed | End::Gap if !is_brief => {
                tracing::info!(server = address, problem, "session ended, connecting again");
                Duration::ZERO
            }
            _ => {
                let failures = backoff.failures();
                let delay = backoff.next_delay();
                if failures.is_power_of_two() || failures == 0 {
                    tracing::warn!(server = address, problem, failures, "no session, trying again");
                } else {
                    tracing::debug!(server = address, problem, failures, "no session");
                }
                delay
            }
        }
    }

    fn check_certificate(&self) {
        let expires = self.identity.certificate.time_expires;
        if self.clock.now() > expires {
            tracing::error!(
                %expires,
                "certificate of this node has expired, join again with `hostler agent join --force`"
            );
        }
    }
}
