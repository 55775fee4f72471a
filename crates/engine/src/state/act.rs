//! One operation on one entry.

use std::sync::Arc;

use hostler_model::{
    Actor, STATE_VALUE_MAX, StateAct, StateAddress, StateChangeKind, StateList, StateOp,
    StateRecord, StateResult, StateTtl, StateValue, Timestamp,
};

use super::Book;

/// Why a transaction is not performed. Nothing of it has happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the value of `{key}` is not a whole number")]
    NotANumber { place: Place, key: String },
    #[error("`{key}` would leave the range of 64 bits")]
    Overflow { place: Place, key: String },
    #[error("the value of `{key}` is not a list, which is a JSON array")]
    NotAList { place: Place, key: String },
    #[error("the list `{key}` would have more than 1 MiB")]
    TooLarge { place: Place, key: String },
    #[error("the project may have {limit} bytes of state and has {has}; this is {more} more")]
    Quota { limit: u64, has: u64, more: u64 },
    #[error("the project is gone")]
    ProjectGone,
}

/// Which operation of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub is_then: bool,
    pub index: usize,
}

impl Refusal {
    pub(super) fn at(mut self, is_then: bool, index: usize) -> Refusal {
        if let Refusal::NotANumber { place, .. }
        | Refusal::Overflow { place, .. }
        | Refusal::NotAList { place, .. }
        | Refusal::TooLarge { place, .. } = &mut self
        {
            *place = Place { is_then, index };
        }
        self
    }

    /// The operation that is to blame, if one is.
    pub fn place(&self) -> Option<Place> {
        match self {
            Refusal::NotANumber { place, .. }
            | Refusal::Overflow { place, .. }
            | Refusal::NotAList { place, .. }
            | Refusal::TooLarge { place, .. } => Some(*place),
            Refusal::Quota { .. } | Refusal::ProjectGone => None,
        }
    }
}

/// A change of a transaction that is still under way.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    pub(super) kind: StateChangeKind,
    pub(super) record: StateRecord,
}

impl Book {
    pub(super) fn act(
        &self,
        op: &StateOp,
        by: &Actor,
        staged: &mut Vec<Staged>,
    ) -> Result<StateResult, Refusal> {
        let place = Place::default();
        let key = || op.at.key.to_string();
        let before = self.seen(&op.at, staged);
        let value = before.as_ref().and_then(|record| record.value.clone());
        match &op.act {
            StateAct::Get => Ok(StateResult { entry: before, ..StateResult::default() }),
            StateAct::Put { value, ttl } => {
                Ok(self.put(&op.at, before, value.clone(), *ttl, by, staged))
            }
            StateAct::Delete => {
                let end = self.staged_end(&op.at, StateChangeKind::Deleted);
                let end = end.filter(|_| before.is_some());
                let is_deleted = end.is_some();
                staged.extend(end.map(|mut end| {
                    end.record.owner = by.clone();
                    end
                }));
                Ok(StateResult { is_deleted, ..StateResult::default() })
            }
            StateAct::Touch { ttl } => {
                let Some(mut record) = before else { return Ok(StateResult::default()) };
                record.time_expires = self.expiry(*ttl, record.time_expires);
                self.advance(&mut record, by);
                let shown = without_value(&record);
                staged.push(Staged { kind: StateChangeKind::Touched, record });
                Ok(StateResult { entry: Some(shown), ..StateResult::default() })
            }
            StateAct::Increment { by: more, ttl } => {
                let not_a_number = || Refusal::NotANumber { place, key: key() };
                let has = match &value {
                    None => 0,
                    Some(value) => number(value).ok_or_else(not_a_number)?,
                };
                let overflow = || Refusal::Overflow { place, key: key() };
                let sum = has.checked_add(*more).ok_or_else(overflow)?;
                let value = Arc::from(sum.to_string().into_bytes());
                let result = self.put(&op.at, before, value, *ttl, by, staged);
                Ok(StateResult { number: Some(sum), ..result })
            }
            StateAct::Push { items, end, ttl } => {
                let mut list = list(value.as_ref(), key)?;
                list.push(items, *end);
                self.put_list(op, before, &list, *ttl, by, staged)
            }
            StateAct::Pop { count, end } => {
                let mut list = list(value.as_ref(), key)?;
                let items = list.pop(*count, *end);
                if items.is_empty() {
                    let length = before.as_ref().map(|_| 0);
                    let entry = before.as_ref().map(without_value);
                    return Ok(StateResult { entry, length, ..StateResult::default() });
                }
                let result = self.put_list(op, before, &list, StateTtl::Keep, by, staged)?;
                Ok(StateResult { items, ..result })
            }
            StateAct::Length => {
                let length = before.as_ref().map(|_| list(value.as_ref(), key)).transpose()?;
                let length = length.map(|list| list.len() as u64);
                let entry = before.as_ref().map(without_value);
                Ok(StateResult { entry, length, ..StateResult::default() })
            }
        }
    }

    /// The entry as this transaction sees it: what it did itself comes first.
    fn seen(&self, at: &StateAddress, staged: &[Staged]) -> Option<StateRecord> {
        match staged.iter().rev().find(|one| one.record.at == *at) {
            Some(one) => Some(one.record.clone()).filter(|record| !record.is_gone),
            None => self.live(at).cloned(),
        }
    }

    fn expiry(&self, ttl: StateTtl, before: Option<Timestamp>) -> Option<Timestamp> {
        match ttl {
            StateTtl::Keep => before,
            StateTtl::Never => None,
            StateTtl::After(length) => Some(self.now().plus(length.duration())),
        }
    }

    fn advance(&self, record: &mut StateRecord, by: &Actor) {
        record.revision = self.head.revision + 1;
        record.version += 1;
        record.owner = by.clone();
        record.time_modified = self.now();
    }

    fn put(
        &self,
        at: &StateAddress,
        before: Option<StateRecord>,
        value: StateValue,
        ttl: StateTtl,
        by: &Actor,
        staged: &mut Vec<Staged>,
    ) -> StateResult {
        let revision = self.head.revision + 1;
        let mut record = before.unwrap_or_else(|| StateRecord {
            at: at.clone(),
            is_gone: false,
            revision,
            create_revision: revision,
            version: 0,
            size: 0,
            value: None,
            owner: by.clone(),
            time_created: self.now(),
            time_modified: self.now(),
            time_expires: None,
        });
        self.advance(&mut record, by);
        record.time_expires = self.expiry(ttl, record.time_expires);
        record.size = value.len() as u64;
        record.value = Some(value);
        let shown = without_value(&record);
        staged.push(Staged { kind: StateChangeKind::Put, record });
        StateResult { entry: Some(shown), ..StateResult::default() }
    }

    fn put_list(
        &self,
        op: &StateOp,
        before: Option<StateRecord>,
        list: &StateList,
        ttl: StateTtl,
        by: &Actor,
        staged: &mut Vec<Staged>,
    ) -> Result<StateResult, Refusal> {
        let value = list.write();
        if value.len() > STATE_VALUE_MAX {
            return Err(Refusal::TooLarge { place: Place::default(), key: op.at.key.to_string() });
        }
        let result = self.put(&op.at, before, value.into(), ttl, by, staged);
        Ok(StateResult { length: Some(list.len() as u64), ..result })
    }

    /// The end of an entry that has a row.
    pub(super) fn staged_end(&self, at: &StateAddress, kind: StateChangeKind) -> Option<Staged> {
        let mut record = self.live(at)?.clone();
        record.is_gone = true;
        record.value = None;
        record.size = 0;
        record.time_expires = None;
        record.time_modified = self.now();
        Some(Staged { kind, record })
    }
}

fn without_value(record: &StateRecord) -> StateRecord {
    StateRecord { value: None, ..record.clone() }
}

fn list(value: Option<&StateValue>, key: impl Fn() -> String) -> Result<StateList, Refusal> {
    match value {
        None => Ok(StateList::default()),
        Some(value) => StateList::read(value)
            .map_err(|_| Refusal::NotAList { place: Place::default(), key: key() }),
    }
}

/// A whole number in decimal digits, and nothing else.
fn number(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
