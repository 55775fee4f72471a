//! The journal: events and audit entries, numbered in commit order.
//!
//! `journal_append` comes last in a transaction. It takes the one head row, which makes writers of
//! the journal wait for each other until they commit, and so a reader who has seen number `n` can
//! never later see a smaller one. Numbers have no gaps: those of a transaction that fails are given
//! out again.
//!
//! An event that does not say what caused it, and is written together with an audit entry, is caused by the
//! request of that entry. One about a task, an execution or an operation that nobody asked for follows from the
//! beginning of it, and has the cause of that: so everything that a request, a schedule or a hook set going is found
//! under it.
//!
//! Compaction removes old events and raises the *floor*, the number of the newest event that is gone.
//! A cursor below the floor has missed something. Audit entries are never removed.

use std::collections::{BTreeSet, HashMap};

use hostler_model::{
    Actor, Event, EventKind, EventPayload, Limit, NewAuditEntry, NewEvent, ObjectKind, ObjectRef,
    OperationId, Page, ProjectId, Timestamp,
};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

/// Events removed by one call of `event_compact` at most.
const COMPACT_MAX: u64 = 10_000;

/// How tasks, executions and operations begin.
const BEGINNINGS: [EventKind; 3] =
    [EventKind::TaskCreated, EventKind::ExecutionCreated, EventKind::OperationCreated];
/// What a workload does by itself after somebody asked for a change of it.
const AFTERMATHS: [EventKind; 3] =
    [EventKind::WorkloadPlaced, EventKind::WorkloadUnplaced, EventKind::WorkloadStarted];
/// Beginnings that are looked for at once.
const LOOKED_FOR: usize = 512;
/// The newest events of a workload in which the last change is looked for.
const CHANGE_WITHIN: u64 = 64;
/// Workloads whose last change is looked for at once.
const CHANGES_LOOKED_FOR: usize = 64;

macro_rules! columns {
    () => {
        "sequence, kind, project_id, object_kind, object_id, object_name, actor_kind, actor_name, message, payload, correlation, time_created"
    };
}

/// Which events to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventFilter<'a> {
    /// Only of these projects; `None` is all.
    pub visible: Option<&'a [ProjectId]>,
    /// With `visible`: also events that belong to no project.
    pub include_global: bool,
    /// Only of this project.
    pub project: Option<ProjectId>,
    /// Only of these kinds; empty is all.
    pub kinds: &'a [EventKind],
    /// Only about objects of these kinds; empty is all.
    pub object_kinds: &'a [ObjectKind],
    pub object_id: Option<&'a str>,
    /// Only about objects with these ids; empty is all.
    pub object_ids: &'a [String],
    /// Only about objects with this name.
    pub object_name: Option<&'a str>,
    /// Only what was caused by these; empty is all.
    pub causes: &'a [String],
    /// Only what was caused by something that begins so.
    pub cause_under: Option<&'a str>,
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
}

impl EventFilter<'_> {
    /// Whether an index leads to few events anyhow, so that their time need not be looked for first.
    fn is_narrow(&self) -> bool {
        let is_of_some = self.object_id.is_some() || !self.object_ids.is_empty();
        is_of_some || !self.causes.is_empty() || self.cause_under.is_some()
    }
}

fn decode(row: &Row) -> Result<Event, Error> {
    let mut columns = row.columns("event");
    let sequence = columns.number()?;
    let kind = columns.parse()?;
    Ok(Event {
        sequence,
        event: NewEvent {
            kind,
            project_id: columns.opt_parse()?,
            object: ObjectRef {
                kind: columns.parse()?,
                id: columns.text()?,
                name: columns.text()?,
            },
            actor: Actor { kind: columns.parse()?, name: columns.text()? },
            message: columns.text()?,
            payload: columns.opt_text()?.and_then(|text| EventPayload::read(kind, &text)),
            correlation: columns.opt_text()?,
            time: columns.time()?,
        },
    })
}

/// The request of the audit entry that an event is written with: the one in its place where there are as
/// many, or the one that all of them have.
fn requested<'a>(i: usize, events: &[NewEvent], audit: &'a [NewAuditEntry]) -> Option<&'a str> {
    let first = audit.first()?;
    let entry = match audit.len() == events.len() {
        true => audit.get(i)?,
        false => audit.iter().all(|one| one.request_id == first.request_id).then_some(first)?,
    };
    Some(entry.request_id.as_str()).filter(|id| !id.is_empty())
}

/// The workload that did by itself what an event tells of.
fn ensues<'a>(i: usize, events: &'a [NewEvent], audit: &[NewAuditEntry]) -> Option<&'a str> {
    let event = events.get(i)?;
    let is_open = event.correlation.is_none() && requested(i, events, audit).is_none();
    (is_open && AFTERMATHS.contains(&event.kind)).then_some(event.object.id.as_str())
}

/// The task, execution or operation that an event is about which nobody asked for.
fn follows<'a>(i: usize, events: &'a [NewEvent], audit: &[NewAuditEntry]) -> Option<&'a str> {
    let event = events.get(i)?;
    let is_of_one = matches!(
        event.object.kind,
        ObjectKind::Task | ObjectKind::Execution | ObjectKind::Operation
    );
    let is_open = event.correlation.is_none() && requested(i, events, audit).is_none();
    let is_later = !BEGINNINGS.contains(&event.kind);
    (is_of_one && is_open && is_later).then_some(event.object.id.as_str())
}

fn filtered(filter: EventFilter<'_>) -> Select {
    let mut select = Select::new(concat!("SELECT ", columns!(), " FROM event"))
        .and_some("project_id =", filter.project)
        .and_some("object_id =", filter.object_id)
        .and_some("object_name =", filter.object_name)
        .and_some("time_created >=", filter.since)
        .and_some("time_created <", filter.until);
    if !filter.object_ids.is_empty() {
        select = select.and_in("object_id", filter.object_ids.iter().map(String::as_str));
    }
    if !filter.causes.is_empty() {
        select = select.and_in("correlation", filter.causes.iter().map(String::as_str));
    }
    if let Some(under) = filter.cause_under {
        let end = format!("{under}{}", char::MAX);
        select = select.and_value("correlation >=", under).and_value("correlation <", end.as_str());
    }
    select = match filter.object_kinds {
        [] => select,
        [only] => select.and_value("object_kind =", only.label()),
        several => select.and_in("object_kind", several.iter().map(|kind| kind.label())),
    };
    select = match (filter.visible, filter.include_global) {
        (None, _) => select,
        (Some([only]), false) => select.and_value("project_id =", *only),
        // Hidden from the planner, so that it walks the numbers and stops at the limit instead of
        // sorting every event of many projects.
        (Some(many), include_global) => {
            let global = include_global.then(|| Value::from(""));
            let values = many.iter().map(|id| Value::from(*id)).chain(global);
            select.and_in("COALESCE(project_id, '')", values)
        }
    };
    if !filter.kinds.is_empty() {
        select = select.and_in("kind", filter.kinds.iter().map(|k| k.label()));
    }
    select
}

impl Conn {
    /// Events after number `after`, oldest first.
    pub async fn event_list(
        &mut self,
        filter: EventFilter<'_>,
        after: u64,
        limit: Limit,
    ) -> Result<Vec<Event>, Error> {
        let after = match filter.since.filter(|_| !filter.is_narrow()) {
            Some(since) => after.max(self.event_first_since(since).await?.saturating_sub(1)),
            None => after,
        };
        let (sql, params) = filtered(filter)
            .and_value("sequence >", after)
            .first("sequence", u64::from(limit.get()));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// The event with a number, if it is kept.
    pub async fn event_get(&mut self, sequence: u64) -> Result<Option<Event>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM event WHERE sequence = $1");
        let row = self.query_one(sql, params![sequence]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Events before number `before`, newest first; the page's key is the number to go on from.
    pub async fn event_list_recent(
        &mut self,
        filter: EventFilter<'_>,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<Event>, Error> {
        let first = match filter.since.filter(|_| !filter.is_narrow()) {
            Some(since) => Some(self.event_first_since(since).await?),
            None => None,
        };
        let (sql, params) = filtered(filter)
            .and_some("sequence >=", first)
            .and_some("sequence <", before)
            .page("sequence DESC", limit);
        let rows = self.query(sql, params).await?;
        let events = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(events, limit, |e| e.sequence.to_string()))
    }

    /// The number of the first event that is not before `since`, or of the one to come. Clocks of servers differ,
    /// so later events may be before it; earlier ones are not after it.
    pub async fn event_first_since(&mut self, since: Timestamp) -> Result<u64, Error> {
        let sql = "SELECT MIN(sequence) FROM event WHERE time_created >= $1";
        let found = match self.query_one(sql, params![since]).await? {
            Some(row) => row.columns("event").opt_int()?,
            None => None,
        };
        match found.map(u64::try_from) {
            Some(Ok(sequence)) => Ok(sequence),
            _ => Ok(self.event_bounds().await?.1 + 1),
        }
    }

    /// When the oldest event happened that is kept, if older ones are gone.
    pub async fn event_kept_since(&mut self) -> Result<Option<Timestamp>, Error> {
        let floor = self.event_bounds().await?.0;
        if floor == 0 {
            return Ok(None);
        }
        let sql = "SELECT time_created FROM event WHERE sequence > $1 ORDER BY sequence LIMIT 1";
        let row = self.query_one(sql, params![floor]).await?;
        row.map(|row| row.columns("event").time()).transpose()
    }

    /// The newest number that is gone (0 when none is), and the newest that was given.
    pub async fn event_bounds(&mut self) -> Result<(u64, u64), Error> {
        let row = self
            .query_one(
                "SELECT event_floor, event_sequence FROM journal_head WHERE id = 'journal'",
                Vec::new(),
            )
            .await?
            .ok_or_else(|| Error::corrupt("the head of the journal is missing"))?;
        let mut columns = row.columns("journal_head");
        Ok((columns.number()?, columns.number()?))
    }
}

impl Tx<'_> {
    /// Numbers and stores events and audit entries. Call it last in the transaction.
    pub async fn journal_append(
        &mut self,
        events: &[NewEvent],
        audit: &[NewAuditEntry],
    ) -> Result<(), Error> {
        if events.is_empty() && audit.is_empty() {
            return Ok(());
        }
        let begun = self.causes_of_beginnings(events, audit).await?;
        let changed = self.causes_of_changes(events, audit).await?;
        let row = self
            .query_one(
                "UPDATE journal_head SET event_sequence = event_sequence + $1, audit_sequence = audit_sequence + $2 WHERE id = 'journal' RETURNING event_sequence, audit_sequence, audit_hash",
                params![events.len() as u64, audit.len() as u64],
            )
            .await?
            .ok_or_else(|| Error::corrupt("the head of the journal is missing"))?;
        let mut columns = row.columns("journal_head");
        let event_first = columns.number()? - events.len() as u64 + 1;
        let audit_first = columns.number()? - audit.len() as u64 + 1;
        let hash = columns.blob()?;
        let rows = (event_first..)
            .zip(events)
            .enumerate()
            .map(|(i, (sequence, e))| {
                let cause = e.correlation.as_deref().or_else(|| requested(i, events, audit));
                let cause = cause.or_else(|| {
                    let beginning = follows(i, events, audit).and_then(|id| begun.get(id));
                    let change = || ensues(i, events, audit).and_then(|id| changed.get(id));
                    beginning.or_else(change).map(String::as_str)
                });
                params![
                    sequence,
                    e.kind.label(),
                    e.project_id,
                    e.object.kind.label(),
                    &e.object.id,
                    &e.object.name,
                    e.actor.kind.label(),
                    &e.actor.name,
                    &e.message,
                    Value::json_opt(e.payload.as_ref()),
                    cause,
                    e.time
                ]
            })
            .collect();
        self.insert_many(concat!("INSERT INTO event (", columns!(), ")"), rows).await?;
        if !audit.is_empty() {
            self.audit_append(audit_first, hash, audit).await?;
        }
        Ok(())
    }

    /// What caused the beginnings of what these events follow from, by id.
    async fn causes_of_beginnings(
        &mut self,
        events: &[NewEvent],
        audit: &[NewAuditEntry],
    ) -> Result<HashMap<String, String>, Error> {
        let ids: BTreeSet<&str> =
            (0..events.len()).filter_map(|i| follows(i, events, audit)).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let mut causes = HashMap::new();
        for part in ids.chunks(LOOKED_FOR) {
            // The kind is hidden from the planner: there are few events of an object, and many of a kind.
            let (sql, params) = Select::new("SELECT object_id, correlation FROM event")
                .and_in("object_id", part.iter().copied())
                .and_in("COALESCE(kind, '')", BEGINNINGS.map(EventKind::label))
                .unordered();
            for row in self.query(sql, params).await? {
                let mut columns = row.columns("event");
                let id = columns.text()?;
                causes.extend(columns.opt_text()?.map(|cause| (id, cause)));
            }
        }
        Ok(causes)
    }

    /// What caused the last change of workloads that go on by themselves, by id: the newest cause among their
    /// newest events.
    async fn causes_of_changes(
        &mut self,
        events: &[NewEvent],
        audit: &[NewAuditEntry],
    ) -> Result<HashMap<String, String>, Error> {
        let ids: BTreeSet<&str> =
            (0..events.len()).filter_map(|i| ensues(i, events, audit)).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let mut causes = HashMap::new();
        for part in ids.chunks(CHANGES_LOOKED_FOR) {
            let newest = (1..=part.len()).map(|n| {
                format!(
                    "SELECT object_id, correlation FROM (SELECT object_id, correlation, sequence FROM (SELECT object_id, correlation, sequence FROM event WHERE object_id = ${n} ORDER BY sequence DESC LIMIT {CHANGE_WITHIN}) AS newest WHERE correlation IS NOT NULL ORDER BY sequence DESC LIMIT 1) AS caused"
                )
            });
            let sql = newest.collect::<Vec<_>>().join(" UNION ALL ");
            let params = part.iter().map(|id| Value::from(*id)).collect();
            for row in self.query(sql, params).await? {
                let mut columns = row.columns("event");
                let id = columns.text()?;
                causes.extend(columns.opt_text()?.map(|cause| (id, cause)));
            }
        }
        Ok(causes)
    }

    /// The same of what an operation does: what nobody else caused has the cause of its beginning.
    pub async fn journal_append_of(
        &mut self,
        operation: OperationId,
        events: &[NewEvent],
        audit: &[NewAuditEntry],
    ) -> Result<(), Error> {
        let (sql, params) = Select::new("SELECT correlation FROM event")
            .and_value("object_id =", operation.to_string().as_str())
            .and_in("COALESCE(kind, '')", BEGINNINGS.map(EventKind::label))
            .unordered();
        let cause = match self.query_one(sql, params).await? {
            Some(row) => row.columns("event").opt_text()?,
            None => None,
        };
        let caused = |(i, event): (usize, &NewEvent)| NewEvent {
            correlation: match requested(i, events, audit) {
                Some(_) => event.correlation.clone(),
                None => event.correlation.clone().or_else(|| cause.clone()),
            },
            ..event.clone()
        };
        let caused: Vec<NewEvent> = events.iter().enumerate().map(caused).collect();
        self.journal_append(&caused, audit).await
    }

    /// Removes events older than `before`, but keeps the newest `keep_min`, and what hooks have not looked
    /// at; returns how many went. Call it again while that is not 0.
    pub async fn event_compact(&mut self, before: Timestamp, keep_min: u64) -> Result<u64, Error> {
        let (floor, head) = self.event_bounds().await?;
        let looked_at = self.hook_cursor_kept().await?.unwrap_or(head);
        let last = head.saturating_sub(keep_min).min(floor + COMPACT_MAX).min(looked_at);
        let first_kept = self
            .query_one(
                "SELECT sequence FROM event WHERE sequence > $1 AND sequence <= $2 AND time_created >= $3 ORDER BY sequence LIMIT 1",
                params![floor, last, before],
            )
            .await?
            .map(|row| row.columns("event").number())
            .transpose()?;
        let cut = first_kept.map_or(last, |n| n.saturating_sub(1));
        if cut <= floor {
            return Ok(0);
        }
        self.execute("UPDATE journal_head SET event_floor = $1 WHERE id = 'journal'", params![cut])
            .await?;
        self.execute("DELETE FROM event WHERE sequence <= $1", params![cut]).await
    }
}
