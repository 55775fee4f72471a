//! The agent's durable memory: `base::ledger` of `engine::supervise` records, folded into a state.
//!
//! The file is named after the node, so a machine that joins again as another node begins with an
//! empty one and never takes the old node's generations for its own.
//!
//! Writing never gives up. When there is no space, or the disk fails, the same records are tried again
//! at a growing interval until they are durable or the agent stops; nothing else is written in the
//! meantime and so nothing else happens. A person sees it in the log once a minute and in the local
//! status. A ledger with a bad frame was put aside by `base`; the agent goes on with what precedes it
//! and learns the rest again: from the server, which re-sends everything after the generation that the
//! agent still knows, or from the workload files, and from what runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_base::ledger::{self, Journal, Ledger, Recovery};
use hostler_base::{Backoff, Clock, Tasks, chain};
use hostler_engine::supervise::{AgentState, Record};
use hostler_model::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::status::Status;
use crate::writes::{self, Tally, What};

/// A smaller file is never rewritten.
const COMPACT_BYTES: u64 = 4 * 1024 * 1024;
/// How much larger than right after its last rewriting it may become.
const COMPACT_FACTOR: u64 = 4;
/// The same, while as little as possible is written.
const COMPACT_FACTOR_SAVING: u64 = 16;
const RETRY_MIN: Duration = Duration::from_millis(200);
const RETRY_MAX: Duration = Duration::from_secs(15);
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

/// The agent is stopping; what was being written may or may not be there.
#[derive(Debug)]
pub(crate) struct Stopped;

pub(crate) struct Opened {
    pub journal: Journal<Record>,
    pub state: AgentState,
    /// Where the ledger was put aside, when it was damaged.
    pub quarantined: Option<PathBuf>,
}

/// Opens the node's ledger and folds it.
pub(crate) fn open(
    data_dir: &Path,
    node: impl std::fmt::Display,
    now: Timestamp,
) -> Result<Opened, ledger::Error> {
    let opened = Journal::open(&data_dir.join(format!("ledger-{node}")), now)?;
    let mut state = AgentState::default();
    for record in &opened.records {
        state.apply(record);
    }
    let quarantined = match opened.recovery {
        Recovery::Clean | Recovery::TornTail { .. } => None,
        Recovery::Quarantined { kept_as, offset } => {
            tracing::error!(
                kept_as = %kept_as.display(),
                offset,
                applied = %state.applied,
                "ledger was damaged and put aside, the rest is learned again"
            );
            Some(kept_as)
        }
    };
    Ok(Opened { journal: opened.journal, state, quarantined })
}

/// Writes records until they are durable, and keeps the file small.
pub(crate) struct Writer {
    ledger: Ledger<Record>,
    /// Size right after the last rewriting.
    compacted: u64,
    /// Something is written that is not durable yet.
    has_jotted: bool,
    clock: Clock,
    token: CancellationToken,
    status: Arc<Status>,
    tally: Arc<Tally>,
    /// Size up to which the tally knows.
    counted: u64,
    /// No server is ever told anything.
    is_alone: bool,
}

impl Writer {
    /// `tasks` is of the phase that stops last; `token` says when to stop trying.
    pub fn start(
        journal: Journal<Record>,
        tasks: &Tasks,
        token: CancellationToken,
        clock: Clock,
        status: Arc<Status>,
        tally: Arc<Tally>,
    ) -> Writer {
        let ledger = Ledger::start(journal, tasks);
        Writer {
            compacted: 0,
            has_jotted: false,
            counted: ledger.size().bytes,
            is_alone: false,
            ledger,
            clock,
            token,
            status,
            tally,
        }
    }

    /// For an agent that no server is told of.
    pub fn alone(self, is_alone: bool) -> Writer {
        Writer { is_alone, ..self }
    }

    /// Returns when the records are durable, with all that were jotted before, however long that takes.
    /// When the day's write budget is used up, records that may wait are durable only later.
    pub async fn write(&mut self, records: Vec<Record>) -> Result<(), Stopped> {
        if self.is_worth_waiting(&records) && self.ledger.jot(records.clone()).await.is_ok() {
            return Ok(());
        }
        let mut backoff = Backoff::new(RETRY_MIN, RETRY_MAX, Duration::ZERO);
        let mut complained = None;
        loop {
            let outcome = match records.is_empty() {
                true if !self.has_jotted => return Ok(()),
                true => self.ledger.sync().await,
                false => self.ledger.append(records.clone()).await,
            };
            let error = match outcome {
                Ok(()) => break,
                Err(ledger::Error::Closed) => return Err(Stopped),
                Err(error) => error,
            };
            let now = self.clock.instant();
            if complained.is_none_or(|last| now - last >= COMPLAIN_EVERY) {
                complained = Some(now);
                let problem = chain(&error).to_string();
                tracing::warn!(
                    error = problem,
                    "ledger cannot be written, everything waits for it"
                );
                self.status.set_ledger_problem(Some(problem));
            }
            let wait = self.clock.sleep(backoff.next_delay());
            if self.token.run_until_cancelled(wait).await.is_none() {
                return Err(Stopped);
            }
        }
        if complained.is_some() {
            tracing::info!("ledger can be written again");
            self.status.set_ledger_problem(None);
        }
        self.has_jotted = false;
        let size = self.ledger.size().bytes;
        self.tally.count(What::Ledger, writes::blocks(self.counted, size));
        self.counted = size;
        Ok(())
    }

    fn is_worth_waiting(&self, records: &[Record]) -> bool {
        !self.has_jotted
            && !records.is_empty()
            && self.tally.is_saving()
            && writes::may_wait(records, self.is_alone)
    }

    /// Returns when the records are where the death of the agent does not reach them, though that of
    /// the machine does until the next `write`. Where they cannot be jotted they are written.
    pub async fn jot(&mut self, records: Vec<Record>) -> Result<(), Stopped> {
        match self.ledger.jot(records.clone()).await {
            Ok(()) => {
                self.has_jotted = true;
                Ok(())
            }
            Err(ledger::Error::Closed) => Err(Stopped),
            Err(_) => self.write(records).await,
        }
    }

    /// Rewrites the ledger when it has grown far beyond what the state needs.
    pub async fn compact_if_grown(&mut self, state: &AgentState) {
        let bytes = self.ledger.size().bytes;
        let factor = if self.tally.is_saving() { COMPACT_FACTOR_SAVING } else { COMPACT_FACTOR };
        if bytes <= COMPACT_BYTES
            || bytes <= self.compacted.max(COMPACT_BYTES / 4).saturating_mul(factor)
        {
            return;
        }
        match self.ledger.rewrite(state.compacted()).await {
            Ok(()) => {
                self.compacted = self.ledger.size().bytes;
                self.tally.count(What::Ledger, writes::blocks(0, self.compacted));
                self.counted = self.compacted;
                tracing::debug!(before = bytes, after = self.compacted, "ledger rewritten");
            }
            Err(ledger::Error::Closed) => {}
            Err(error) => {
                tracing::warn!(error = %chain(&error), bytes, "ledger could not be rewritten, it goes on growing");
                self.compacted = bytes / 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_base::{Phase, Shutdown};
    use hostler_model::{
        Assignment, Desired, Generation, NodeId, PlacementId, RunId, WorkloadId, WorkloadSpec,
    };
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn assignment(n: u128, padding: usize) -> Assignment {
        let id = Uuid::from_u128(n);
        Assignment {
            placement_id: PlacementId::from_uuid(id),
            run_id: Some(RunId::from_uuid(id)),
            desired: Desired::Run,
            generation: Generation::from_u64(1),
            workload_id: WorkloadId::from_uuid(id),
            workload_name: "w".parse().unwrap(),
            project_name: "default".parse().unwrap(),
            spec: WorkloadSpec::command(["true".to_owned(), "x".repeat(padding)]),
            grace: None,
            reservation: hostler_model::Reservation::default(),
            seat: None,
            trace: None,
            revision: Generation::FIRST,
        }
    }

    fn node() -> NodeId {
        NodeId::from_uuid(Uuid::from_u128(7))
    }

    #[test]
    fn a_rewritten_ledger_folds_to_the_same_state() {
        let mut state = AgentState::default();
        state.apply(&Record::Accepted {
            generation: Generation::from_u64(9),
            assignments: (0..50).map(|n| assignment(n, 1)).collect(),
        });
        let records = state.compacted();
        let mut again = AgentState::default();
        for record in &records {
            again.apply(record);
        }
        assert_eq!(again, state);
    }

    #[tokio::test]
    async fn a_grown_ledger_becomes_small_and_keeps_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::system();
        let shutdown = Shutdown::new(clock.clone());
        let tasks = shutdown.tasks(Phase::Store);
        let opened = open(folder.path(), node(), NOW).unwrap();
        let status = Arc::new(Status::default());
        let tally = Arc::new(Tally::open(folder.path(), None, clock.clone()));
        let mut writer = Writer::start(opened.journal, &tasks, tasks.token(), clock, status, tally);
        let mut state = opened.state;
        for n in 0..5 {
            let accepted = Record::Accepted {
                generation: Generation::from_u64(1),
                assignments: vec![assignment(n, 1 << 20)],
            };
            let forgotten =
                Record::Forgotten { placement: PlacementId::from_uuid(Uuid::from_u128(n)) };
            for record in [accepted, forgotten] {
                state.apply(&record);
                writer.write(vec![record]).await.unwrap();
            }
            writer.compact_if_grown(&state).await;
        }
        assert!(writer.ledger.size().bytes < COMPACT_BYTES);
        shutdown.run(Duration::from_secs(10)).await;
        let again = open(folder.path(), node(), NOW).unwrap();
        assert_eq!(again.state, state);
    }

    #[tokio::test]
    async fn a_used_up_budget_saves_syncs_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::system();
        let shutdown = Shutdown::new(clock.clone());
        let tasks = shutdown.tasks(Phase::Store);
        let opened = open(folder.path(), node(), NOW).unwrap();
        let status = Arc::new(Status::default());
        let budget = Some(hostler_model::Bytes::new(8192));
        let tally = Arc::new(Tally::open(folder.path(), budget, clock.clone()));
        let token = tasks.token();
        let mut writer = Writer::start(opened.journal, &tasks, token, clock, status, tally.clone());
        let accepted = |generation: u64| Record::Accepted {
            generation: Generation::from_u64(generation),
            assignments: vec![assignment(1, 1)],
        };
        let acknowledged = Record::Acknowledged {
            run: RunId::from_uuid(Uuid::from_u128(1)),
            generation: Generation::FIRST,
        };
        writer.write(vec![accepted(1)]).await.unwrap();
        writer.write(vec![acknowledged.clone()]).await.unwrap();
        assert_eq!(writer.ledger.size().commits, 2, "within the budget everything is synced");
        assert_eq!(tally.by_what()[0], (What::Ledger, 8192), "by the blocks that were touched");
        assert!(tally.is_saving());
        for _ in 0..10 {
            writer.write(vec![acknowledged.clone()]).await.unwrap();
        }
        assert_eq!(writer.ledger.size().commits, 2);
        let path = folder.path().join(format!("ledger-{}", node()));
        let written = std::fs::metadata(&path).unwrap().len();
        assert!(written > writer.ledger.size().bytes, "an agent that is killed now loses nothing");
        writer.write(vec![accepted(2)]).await.unwrap();
        assert_eq!(writer.ledger.size().commits, 3, "what cannot wait takes the others with it");
        assert_eq!(writer.ledger.size().records, 13);
        shutdown.run(Duration::from_secs(10)).await;
        let again = open(folder.path(), node(), NOW).unwrap();
        assert_eq!(again.state.applied, Generation::from_u64(2));
    }

    #[test]
    fn a_damaged_ledger_is_put_aside_and_another_nodes_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("ledger-{}", node()));
        let mut opened = open(folder.path(), node(), NOW).unwrap();
        for generation in 1..=3 {
            let record = Record::Accepted {
                generation: Generation::from_u64(generation),
                assignments: vec![],
            };
            opened.journal.append_batch(&[record]).unwrap();
        }
        drop(opened);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::write(&path, bytes).unwrap();
        let opened = open(folder.path(), node(), NOW).unwrap();
        assert!(opened.quarantined.unwrap().exists());
        assert!(opened.state.applied < Generation::from_u64(3));
        let other = open(folder.path(), NodeId::from_uuid(Uuid::from_u128(8)), NOW).unwrap();
        assert_eq!(other.state, AgentState::default());
    }
}
