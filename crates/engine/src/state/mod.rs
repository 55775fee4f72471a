//! State: what transactions do to entries. Rows, operations and the time in; answers and row changes out.
//!
//! A [`Book`] is opened with the rows that a batch of transactions is about. Each transaction is then
//! performed on it ([`Book::perform`]) and sees what those before it did; [`Book::close`] gives what has
//! to be written. Everything is decided here, so that a batch that the database sends back is simply
//! decided again.
//!
//! What always holds:
//!
//! 1. A transaction that changes something has a revision of its own, one after the last; all its
//!    changes share it. One that changes nothing, or is refused, uses none.
//! 2. The time of a batch is not before that of the batch before, whatever the clocks of servers say.
//! 3. An entry whose time has come is gone before the first transaction looks: opening the book makes
//!    a change of it. So whoever finds a key free finds in the log why.
//! 4. A change names the revision of the entry's change before. Rows of what is gone keep that number.
//! 5. Sums are those of the rows: each change moves them by the difference of the entry's weight. What
//!    makes a project larger than its quota is refused; what makes it smaller never is.

mod act;
mod retain;

pub use act::{Place, Refusal};
pub use retain::{LogMark, Retention, cut};

use std::collections::{BTreeMap, HashMap};

use hostler_model::{
    Actor, Name, ProjectId, StateAddress, StateAnswer, StateBatch, StateChange, StateChangeKind,
    StateCompare, StateCondition, StateHead, StateMark, StateRecord, StateSum, StateTxn, Timestamp,
};

use act::Staged;

/// What a book is opened with.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    pub head: StateHead,
    /// By the clock of this server.
    pub now: Timestamp,
    /// Of every entry that the transactions are about; those without a row are not there.
    pub rows: Vec<StateRecord>,
    /// Of the projects and namespaces concerned; without one, nothing is there.
    pub sums: Vec<StateSum>,
    /// How many bytes each project may have. A project that is not named here does not exist.
    pub quotas: HashMap<ProjectId, Option<u64>>,
}

/// What has to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub head: StateHead,
    /// One that is there and has no value here keeps the value that its row has.
    pub rows: Vec<StateRecord>,
    pub sums: Vec<StateSum>,
    /// Absent where nothing changed.
    pub batch: Option<StateBatch>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    entries: u64,
    bytes: u64,
    is_changed: bool,
}

impl Sum {
    fn moved(&mut self, entries: i64, bytes: i64) {
        self.entries = self.entries.saturating_add_signed(entries);
        self.bytes = self.bytes.saturating_add_signed(bytes);
        self.is_changed |= entries != 0 || bytes != 0;
    }
}

#[derive(Clone, Debug)]
struct Slot {
    record: StateRecord,
    is_changed: bool,
}

/// The rows of a batch while its transactions are performed.
#[derive(Debug)]
pub struct Book {
    head: StateHead,
    revision_before: u64,
    rows: HashMap<StateAddress, Slot>,
    sums: BTreeMap<(ProjectId, Option<Name>), Sum>,
    quotas: HashMap<ProjectId, Option<u64>>,
    changes: Vec<StateChange>,
}

impl Book {
    pub fn open(pages: Pages) -> Book {
        let Pages { mut head, now, rows, sums, quotas } = pages;
        head.time = head.time.max(now);
        let sums = sums.into_iter().map(|sum| {
            let StateSum { project_id, namespace, entries, bytes } = sum;
            ((project_id, namespace), Sum { entries, bytes, is_changed: false })
        });
        let mut book = Book {
            head,
            revision_before: head.revision,
            rows: HashMap::with_capacity(rows.len()),
            sums: sums.collect(),
            quotas,
            changes: Vec::new(),
        };
        for record in rows {
            let is_due = !record.is_gone && record.is_expired(head.time);
            let slot = Slot { record, is_changed: false };
            let at = slot.record.at.clone();
            let owner = slot.record.owner.clone();
            book.rows.insert(at.clone(), slot);
            if is_due {
                let gone = book.staged_end(&at, StateChangeKind::Expired);
                book.head.revision += 1;
                book.commit(gone.into_iter().collect(), &owner);
            }
        }
        book
    }

    /// The time of this batch.
    pub fn now(&self) -> Timestamp {
        self.head.time
    }

    /// Performs a transaction, as a whole or not at all.
    pub fn perform(&mut self, txn: &StateTxn, by: &Actor) -> Result<StateAnswer, Refusal> {
        let is_held = txn.compares.iter().all(|compare| self.holds(compare));
        let ops = if is_held { &txn.then } else { &txn.otherwise };
        let mut staged: Vec<Staged> = Vec::new();
        let mut results = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            let result = self.act(op, by, &mut staged);
            results.push(result.map_err(|why| why.at(is_held, index))?);
        }
        self.check_room(&staged)?;
        if !staged.is_empty() {
            self.head.revision += 1;
            self.commit(staged, by);
        }
        Ok(StateAnswer { is_held, revision: self.head.revision, results })
    }

    /// What has to be written for all that was performed.
    pub fn close(self) -> Written {
        let batch = (self.head.revision > self.revision_before).then_some(StateBatch {
            first: self.revision_before + 1,
            last: self.head.revision,
            time: self.head.time,
            changes: self.changes,
        });
        let rows = self.rows.into_values().filter(|slot| slot.is_changed);
        let sums = self.sums.into_iter().filter(|(_, sum)| sum.is_changed);
        Written {
            head: self.head,
            rows: rows.map(|slot| slot.record).collect(),
            sums: sums
                .map(|((project_id, namespace), sum)| StateSum {
                    project_id,
                    namespace,
                    entries: sum.entries,
                    bytes: sum.bytes,
                })
                .collect(),
            batch,
        }
    }
}

impl Book {
    /// The row of an entry that is there.
    fn live(&self, at: &StateAddress) -> Option<&StateRecord> {
        self.rows.get(at).map(|slot| &slot.record).filter(|record| !record.is_gone)
    }

    fn holds(&self, compare: &StateCompare) -> bool {
        let record = self.live(&compare.at);
        match &compare.condition {
            StateCondition::Present => record.is_some(),
            StateCondition::Absent => record.is_none(),
            StateCondition::Mark(mark, relation, number) => {
                let has = record.map_or(0, |record| match mark {
                    StateMark::Revision => record.revision,
                    StateMark::CreateRevision => record.create_revision,
                    StateMark::Version => record.version,
                });
                relation.holds(&has, number)
            }
            StateCondition::Value(relation, value) => record
                .and_then(|record| record.value.as_ref())
                .is_some_and(|has| relation.holds(&**has, &**value)),
        }
    }

    /// Whether each project may become as large as this makes it.
    fn check_room(&self, staged: &[Staged]) -> Result<(), Refusal> {
        let mut more: BTreeMap<ProjectId, i64> = BTreeMap::new();
        for one in staged {
            *more.entry(one.record.at.project_id).or_default() += self.difference(one).1;
        }
        for (project, more) in more {
            let Some(quota) = self.quotas.get(&project) else {
                return Err(Refusal::ProjectGone);
            };
            let has = self.sums.get(&(project, None)).map_or(0, |sum| sum.bytes);
            if let Some(limit) = *quota
                && more > 0
                && has.saturating_add_signed(more) > limit
            {
                return Err(Refusal::Quota { limit, has, more: more.unsigned_abs() });
            }
        }
        Ok(())
    }

    /// How many entries and bytes more there are with it.
    fn difference(&self, staged: &Staged) -> (i64, i64) {
        let before = self.live(&staged.record.at);
        let count = |is_there: bool| i64::from(is_there);
        let weight = |weight: u64| i64::try_from(weight).unwrap_or(i64::MAX);
        (
            count(!staged.record.is_gone) - count(before.is_some()),
            weight(staged.record.weight()) - before.map_or(0, |record| weight(record.weight())),
        )
    }

    /// Makes what was staged true; it has the newest revision.
    fn commit(&mut self, staged: Vec<Staged>, by: &Actor) {
        for mut one in staged {
            let (entries, bytes) = self.difference(&one);
            let at = one.record.at.clone();
            for namespace in [None, Some(at.namespace.clone())] {
                self.sums.entry((at.project_id, namespace)).or_default().moved(entries, bytes);
            }
            let previous = self.rows.get(&at).map_or(0, |slot| slot.record.revision);
            one.record.revision = self.head.revision;
            self.changes.push(StateChange {
                kind: one.kind,
                at: at.clone(),
                revision: self.head.revision,
                previous,
                create_revision: one.record.create_revision,
                version: one.record.version,
                value: one.record.value.clone().filter(|_| one.kind == StateChangeKind::Put),
                time_expires: one.record.time_expires,
                owner: by.clone(),
            });
            self.rows.insert(at, Slot { record: one.record, is_changed: true });
        }
    }
}

#[cfg(test)]
mod tests;
