//! Transactions: what is asked of entries, and what is answered.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::{STATE_VALUE_MAX, StateAddress, StateRecord, StateValue};
use crate::{Diagnostic, Span};

/// Conditions and operations of one transaction at most.
pub const STATE_OPS_MAX: usize = 128;
/// Bytes of all values of one transaction at most.
pub const STATE_TXN_BYTES_MAX: usize = 4 << 20;
/// The longest time that an entry can be given: ten years.
pub const STATE_TTL_MAX: Span = Span::from_secs(10 * 366 * 86_400);

crate::labels! {
    /// An end of a list.
    pub enum StateEnd ("end of a list") {
        Front = "front",
        Back = "back",
    }
}

crate::labels! {
    /// How a number or a value has to stand to another.
    pub enum StateRelation ("relation") {
        Equal = "equal",
        NotEqual = "not-equal",
        Less = "less",
        Greater = "greater",
    }
}

impl StateRelation {
    pub fn holds<T: Ord + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            StateRelation::Equal => left == right,
            StateRelation::NotEqual => left != right,
            StateRelation::Less => left < right,
            StateRelation::Greater => left > right,
        }
    }
}

crate::labels! {
    /// A number of an entry that can be compared; each is 0 where there is no entry.
    pub enum StateMark ("number of an entry") {
        /// Of its last change.
        Revision = "revision",
        /// Of the change that made it.
        CreateRevision = "create-revision",
        /// How often it was changed.
        Version = "version",
    }
}

/// What has to be true of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateCondition {
    Present,
    Absent,
    Mark(StateMark, StateRelation, u64),
    /// By bytes; not true of an entry that is not there.
    Value(StateRelation, StateValue),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCompare {
    pub at: StateAddress,
    pub condition: StateCondition,
}

/// What becomes of the time at which an entry is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTtl {
    /// It stays as it is; a new entry has none.
    Keep,
    /// It has none.
    Never,
    After(Span),
}

/// What is done with one entry.
#[derive(Clone, Debug)]
pub enum StateAct {
    Get,
    Put {
        value: StateValue,
        ttl: StateTtl,
    },
    Delete,
    /// Gives an entry that is there another time to go.
    Touch {
        ttl: StateTtl,
    },
    /// Adds to a whole number in decimal digits; what is not there counts as 0.
    Increment {
        by: i64,
        ttl: StateTtl,
    },
    /// Adds to a list; what is not there counts as an empty one.
    Push {
        items: Vec<Box<RawValue>>,
        end: StateEnd,
        ttl: StateTtl,
    },
    /// Takes from a list.
    Pop {
        count: u32,
        end: StateEnd,
    },
    Length,
}

impl StateAct {
    /// Whether it may change the entry.
    pub const fn is_write(&self) -> bool {
        !matches!(self, StateAct::Get | StateAct::Length)
    }

    /// Whether the present value has to be known.
    pub const fn needs_value(&self) -> bool {
        !matches!(self, StateAct::Put { .. } | StateAct::Delete | StateAct::Touch { .. })
    }

    fn ttl(&self) -> Option<StateTtl> {
        match self {
            StateAct::Put { ttl, .. }
            | StateAct::Touch { ttl }
            | StateAct::Increment { ttl, .. }
            | StateAct::Push { ttl, .. } => Some(*ttl),
            StateAct::Get | StateAct::Delete | StateAct::Pop { .. } | StateAct::Length => None,
        }
    }

    /// Bytes that it brings.
    fn size(&self) -> usize {
        match self {
            StateAct::Put { value, .. } => value.len(),
            StateAct::Push { items, .. } => items.iter().map(|item| item.get().len() + 1).sum(),
            _ => 0,
        }
    }

    fn problem(&self) -> Option<String> {
        if self.size() > STATE_VALUE_MAX {
            return Some("a value has at most 1 MiB; keep what is larger as a blob".to_owned());
        }
        match self {
            StateAct::Pop { count: 0, .. } => Some("at least one item is taken".to_owned()),
            StateAct::Push { items, .. } if items.is_empty() => {
                Some("at least one item is added".to_owned())
            }
            StateAct::Touch { ttl: StateTtl::Keep } => {
                Some("say which time the entry is given, or that it has none".to_owned())
            }
            _ => match self.ttl() {
                Some(StateTtl::After(ttl)) if ttl.is_zero() || ttl > STATE_TTL_MAX => {
                    Some("an entry is given from 1 ms to ten years".to_owned())
                }
                _ => None,
            },
        }
    }
}

#[derive(Clone, Debug)]
pub struct StateOp {
    pub at: StateAddress,
    pub act: StateAct,
}

/// All or nothing: where every condition holds `then` is done, else `otherwise`.
#[derive(Clone, Debug, Default)]
pub struct StateTxn {
    pub compares: Vec<StateCompare>,
    pub then: Vec<StateOp>,
    pub otherwise: Vec<StateOp>,
}

impl StateTxn {
    /// One operation, whatever is there.
    pub fn one(op: StateOp) -> StateTxn {
        StateTxn { compares: Vec::new(), then: vec![op], otherwise: Vec::new() }
    }

    /// One operation, where this is true of its entry.
    pub fn one_if(condition: StateCondition, op: StateOp) -> StateTxn {
        let compares = vec![StateCompare { at: op.at.clone(), condition }];
        StateTxn { compares, then: vec![op], otherwise: Vec::new() }
    }

    fn ops(&self) -> impl Iterator<Item = &StateOp> {
        self.then.iter().chain(&self.otherwise)
    }

    /// Every entry that it is about, with repetitions.
    pub fn addresses(&self) -> impl Iterator<Item = &StateAddress> {
        self.compares.iter().map(|compare| &compare.at).chain(self.ops().map(|op| &op.at))
    }

    /// Entries whose present value has to be known, with repetitions.
    pub fn values_needed(&self) -> impl Iterator<Item = &StateAddress> {
        let compared = self
            .compares
            .iter()
            .filter(|compare| matches!(compare.condition, StateCondition::Value(..)))
            .map(|compare| &compare.at);
        compared.chain(self.ops().filter(|op| op.act.needs_value()).map(|op| &op.at))
    }

    /// Bytes of values that it brings.
    pub fn size(&self) -> usize {
        self.ops().map(|op| op.act.size()).sum()
    }

    pub fn is_write(&self) -> bool {
        self.ops().any(|op| op.act.is_write())
    }

    /// Everything that is wrong with it, whatever the entries are.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let count = self.compares.len() + self.then.len() + self.otherwise.len();
        if count > STATE_OPS_MAX {
            let text = format!(
                "a transaction has at most {STATE_OPS_MAX} conditions and operations, not {count}"
            );
            problems.push(Diagnostic::new("", text));
        }
        if self.size() > STATE_TXN_BYTES_MAX {
            problems.push(Diagnostic::new("", "the values of a transaction have at most 4 MiB"));
        }
        for (field, ops) in [("then", &self.then), ("else", &self.otherwise)] {
            let mut written = HashSet::new();
            for (index, op) in ops.iter().enumerate() {
                let pointer = format!("/{field}/{index}");
                if let Some(problem) = op.act.problem() {
                    problems.push(Diagnostic::new(&pointer, problem));
                }
                if op.act.is_write() && !written.insert(&op.at) {
                    let text = format!("`{}` is written twice in one transaction", op.at.key);
                    problems.push(Diagnostic::new(pointer, text));
                }
            }
        }
        problems
    }
}

/// What one operation came to.
#[derive(Clone, Debug, Default)]
pub struct StateResult {
    /// The entry after it; absent where there is none. It has its value where that was asked for.
    pub entry: Option<StateRecord>,
    /// Whether it took an entry away.
    pub is_deleted: bool,
    /// What an increment came to.
    pub number: Option<i64>,
    /// Of a list, after it.
    pub length: Option<u64>,
    /// What was taken from a list.
    pub items: Vec<Box<RawValue>>,
}

/// What a transaction came to.
#[derive(Clone, Debug)]
pub struct StateAnswer {
    /// Whether every condition held.
    pub is_held: bool,
    /// Of this transaction, or the newest before it where it changed nothing.
    pub revision: u64,
    /// One for every operation of the branch that was taken.
    pub results: Vec<StateResult>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProjectId;

    fn at(key: &str) -> StateAddress {
        StateAddress {
            project_id: ProjectId::from_uuid(uuid::Uuid::from_u128(1)),
            namespace: "app".parse().unwrap(),
            key: key.parse().unwrap(),
        }
    }

    fn put(key: &str, size: usize, ttl: StateTtl) -> StateOp {
        StateOp { at: at(key), act: StateAct::Put { value: vec![0; size].into(), ttl } }
    }

    fn pointers(txn: &StateTxn) -> Vec<(String, String)> {
        txn.problems().into_iter().map(|d| (d.pointer, d.detail)).collect()
    }

    #[test]
    fn limits_are_told_with_their_places() {
        let keep = StateTtl::Keep;
        assert!(StateTxn::one(put("a", 1 << 20, keep)).problems().is_empty());
        let large = pointers(&StateTxn::one(put("a", (1 << 20) + 1, keep)));
        assert_eq!(large[0].0, "/then/0");
        assert!(large[0].1.contains("1 MiB"));
        for span in [Span::from_millis(0), Span::from_millis(STATE_TTL_MAX.millis() + 1)] {
            let found = pointers(&StateTxn::one(put("a", 1, StateTtl::After(span))));
            assert!(found[0].1.contains("ten years"), "{found:?}");
        }
        let many = StateTxn {
            then: (0..129).map(|n| put(&n.to_string(), 1, keep)).collect(),
            ..StateTxn::default()
        };
        assert!(pointers(&many)[0].1.contains("at most 128"));
        let heavy = StateTxn {
            then: (0..5).map(|n| put(&n.to_string(), 1 << 20, keep)).collect(),
            ..StateTxn::default()
        };
        assert!(pointers(&heavy)[0].1.contains("4 MiB"));
    }

    #[test]
    fn a_key_is_written_once_in_a_branch() {
        let keep = StateTtl::Keep;
        let get = StateOp { at: at("a"), act: StateAct::Get };
        let fine = StateTxn {
            then: vec![put("a", 1, keep), get, put("b", 1, keep)],
            otherwise: vec![put("a", 1, keep)],
            ..StateTxn::default()
        };
        assert!(fine.problems().is_empty());
        let twice =
            StateTxn { then: vec![put("a", 1, keep), put("a", 1, keep)], ..StateTxn::default() };
        assert_eq!(pointers(&twice)[0].0, "/then/1");
    }

    #[test]
    fn operations_without_sense_are_refused() {
        for act in [
            StateAct::Pop { count: 0, end: StateEnd::Back },
            StateAct::Push { items: Vec::new(), end: StateEnd::Back, ttl: StateTtl::Keep },
            StateAct::Touch { ttl: StateTtl::Keep },
        ] {
            assert_eq!(StateTxn::one(StateOp { at: at("a"), act }).problems().len(), 1);
        }
    }
}
