//! Tells every sink of the audit entries it has not been told of.
//!
//! A lease per sink keeps servers from telling the same twice; the cursor, which only goes forward from
//! where it was read, keeps them from skipping anything. Sinks do not wait for each other, except that
//! one pass ends when its slowest delivery does, and a sink that fails is left alone for a growing while.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use hostler_base::backoff::Backoff;
use hostler_base::chain::chain;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{AuditSinkPayload, AuditSinkState, Error, EventKind, ObjectKind, ObjectRef};
use serde::Serialize;

use crate::Control;
use crate::audit_sink::{AuditSink, Parcel};

/// Deliveries to one sink in one pass.
const ROUNDS: usize = 20;
const ANCHORS: u64 = 100;
/// Longer than a delivery takes.
const LEASE: Duration = Duration::from_secs(30);
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(300);

/// The loop that tells sinks.
pub struct AuditSinkFeed {
    control: Control,
    waits: HashMap<String, Wait>,
}

/// A sink that failed, and until when it is left alone.
struct Wait {
    backoff: Backoff,
    until: Duration,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditSinkReport {
    /// Entries.
    pub delivered: u64,
    /// Sinks that are left alone for a while.
    pub failing: Vec<String>,
}

/// How one sink's turn went.
enum Turn {
    Told { entries: u64, is_full: bool },
    Failed,
}

impl AuditSinkFeed {
    pub(super) fn new(control: Control) -> AuditSinkFeed {
        AuditSinkFeed { control, waits: HashMap::new() }
    }

    async fn feed(&mut self) -> Pass<AuditSinkReport> {
        let control = self.control.clone();
        let now = control.clock.instant();
        let due: Vec<&AuditSink> = control
            .config
            .audit
            .sinks
            .iter()
            .filter(|sink| self.waits.get(&sink.name).is_none_or(|wait| wait.until <= now))
            .collect();
        let turns = join_all(due.iter().map(|sink| turn(&control, sink))).await;
        let mut report = AuditSinkReport::default();
        let (mut error, mut again) = (None, false);
        for (sink, turn) in due.into_iter().zip(turns) {
            match turn {
                Ok(Turn::Told { entries, is_full }) => {
                    report.delivered += entries;
                    again |= is_full;
                    self.waits.remove(&sink.name);
                }
                Ok(Turn::Failed) => self.wait(sink),
                Err(failed) => {
                    error.get_or_insert(failed);
                    self.wait(sink);
                }
            }
        }
        report.failing = self.waits.keys().cloned().collect();
        report.failing.sort();
        match error {
            Some(error) => Pass::failed(report, &error),
            None => Pass::done(report).again_if(again),
        }
    }

    fn wait(&mut self, sink: &AuditSink) {
        let now = self.control.clock.instant();
        let wait = self.waits.entry(sink.name.clone()).or_insert_with(|| Wait {
            backoff: Backoff::new(BACKOFF_MIN, BACKOFF_MAX, Duration::ZERO),
            until: now,
        });
        wait.until = now + wait.backoff.next_delay();
    }
}

async fn turn(control: &Control, sink: &AuditSink) -> Result<Turn, Error> {
    let Some(mut state) = held(control, sink).await? else {
        return Ok(Turn::Told { entries: 0, is_full: false });
    };
    let mut entries = 0;
    for _ in 0..ROUNDS {
        let (parcels, sequence, anchor_sequence) = pending(control, sink, &state).await?;
        if parcels.is_empty() {
            return Ok(Turn::Told { entries, is_full: false });
        }
        let egress = &control.config.egress;
        if let Err(error) = sink.deliver(egress, &control.server_name, &parcels).await {
            let problem = chain(&error).to_string();
            tracing::warn!(sink = sink.name, error = problem, "audit entries cannot be delivered");
            note_problem(control, sink, &problem).await?;
            return Ok(Turn::Failed);
        }
        entries += sequence - state.sequence;
        match advance(control, sink, &state, sequence, anchor_sequence).await? {
            Some(next) => state = next,
            None => return Ok(Turn::Told { entries, is_full: false }),
        }
    }
    Ok(Turn::Told { entries, is_full: true })
}

/// Where the sink stands, when there is something to tell it and no other server does.
async fn held(control: &Control, sink: &AuditSink) -> Result<Option<AuditSinkState>, Error> {
    let (known, head, anchored) = {
        let mut read = control.store.read().await?;
        let known = read.audit_sink_get(&sink.name).await?;
        let anchored = read.audit_anchor_last().await?.map_or(0, |anchor| anchor.sequence);
        (known, read.audit_head().await?.0, anchored)
    };
    if known.is_some_and(|state| state.sequence >= head && state.anchor_sequence >= anchored) {
        return Ok(None);
    }
    let now = control.now();
    let (name, fresh) = (format!("audit_sink/{}", sink.name), fresh(control, sink));
    let (name, fresh) = (&name, &fresh);
    control
        .store
        .tx("audit_sink_hold", |tx| {
            Box::pin(async move {
                let until = now.plus(LEASE);
                if !tx.lease_acquire(name, control.server_id, now, until).await? {
                    return Ok(None);
                }
                tx.audit_sink_insert(fresh).await?;
                Ok::<_, Error>(tx.audit_sink_get(&fresh.name).await?)
            })
        })
        .await
}

fn fresh(control: &Control, sink: &AuditSink) -> AuditSinkState {
    AuditSinkState {
        name: sink.name.clone(),
        sequence: 0,
        anchor_sequence: 0,
        problem: None,
        time_modified: control.now(),
    }
}

/// What comes next, and where the cursors are after it.
async fn pending(
    control: &Control,
    sink: &AuditSink,
    state: &AuditSinkState,
) -> Result<(Vec<Parcel>, u64, u64), Error> {
    let mut read = control.store.read().await?;
    let entries = read.audit_after(state.sequence, u64::from(sink.batch)).await?;
    let sequence = entries.last().map_or(state.sequence, |entry| entry.sequence);
    let anchors = read.audit_anchors_between(state.anchor_sequence, sequence, ANCHORS).await?;
    let anchor_sequence = anchors.last().map_or(state.anchor_sequence, |anchor| anchor.sequence);
    let parcels =
        entries.into_iter().map(Parcel::from).chain(anchors.into_iter().map(Parcel::from));
    Ok((parcels.collect(), sequence, anchor_sequence))
}

/// Moves the cursor; `None` when another server did meanwhile.
async fn advance(
    control: &Control,
    sink: &AuditSink,
    state: &AuditSinkState,
    sequence: u64,
    anchor_sequence: u64,
) -> Result<Option<AuditSinkState>, Error> {
    let now = control.now();
    let event = control.event(
        EventKind::AuditSinkWell,
        None,
        &ObjectRef::new(ObjectKind::AuditSink, &sink.name, &sink.name),
        control.system_actor(),
        format!("delivered up to entry {sequence}"),
    );
    let event = event.with_payload(AuditSinkPayload { sequence: Some(sequence), problem: None });
    let event = &event;
    let is_ours = control
        .store
        .tx("audit_sink_advance", |tx| {
            Box::pin(async move {
                if !tx.audit_sink_advance(state, sequence, anchor_sequence, now).await? {
                    return Ok(false);
                }
                if state.problem.is_some() {
                    tx.journal_append(std::slice::from_ref(event), &[]).await?;
                }
                Ok::<_, Error>(true)
            })
        })
        .await?;
    if state.problem.is_some() {
        control.feed.ring();
    }
    Ok(is_ours.then(|| AuditSinkState {
        name: state.name.clone(),
        sequence,
        anchor_sequence,
        problem: None,
        time_modified: now,
    }))
}

async fn note_problem(control: &Control, sink: &AuditSink, problem: &str) -> Result<(), Error> {
    let now = control.now();
    let event = control.event(
        EventKind::AuditSinkTrouble,
        None,
        &ObjectRef::new(ObjectKind::AuditSink, &sink.name, &sink.name),
        control.system_actor(),
        problem,
    );
    let event =
        event.with_payload(AuditSinkPayload { sequence: None, problem: Some(problem.to_owned()) });
    let event = &event;
    let is_new = control
        .store
        .tx("audit_sink_problem", |tx| {
            Box::pin(async move {
                let is_new = tx.audit_sink_problem(&sink.name, problem, now).await?;
                if is_new {
                    tx.journal_append(std::slice::from_ref(event), &[]).await?;
                }
                Ok::<_, Error>(is_new)
            })
        })
        .await?;
    if is_new {
        control.feed.ring();
    }
    Ok(())
}

impl Control {
    /// The loop that tells sinks.
    pub fn audit_sink_reconciler(&self) -> AuditSinkFeed {
        AuditSinkFeed::new(self.clone())
    }
}

impl Reconciler for AuditSinkFeed {
    const NAME: &'static str = "audit_sink";
    const DESCRIPTION: &'static str = "delivers audit entries to the sinks that want them";
    type Report = AuditSinkReport;

    async fn reconcile(&mut self) -> Pass<AuditSinkReport> {
        self.feed().await
    }
}
