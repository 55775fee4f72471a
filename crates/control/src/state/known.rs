//! What the writer knows of the rows that it wrote last, so that it need not read them again.
//!
//! Whatever changes an entry or a sum gives the head another revision. So as long as the head that a batch
//! finds, under its lock, is the one that the batch before left, what was written then still holds; where it
//! is another, another server was here, and everything is forgotten. Two things happen to rows without a
//! revision: those of what is gone are removed one day, so they are not remembered, and a project that is
//! deleted takes its rows along, but nobody changes anything in it afterwards.
//!
//! Values are not remembered, and only so many rows: of two halves, the older goes when the younger is full.

use std::collections::HashMap;

use hostler_engine::state::Written;
use hostler_model::{
    Actor, Name, ProjectId, StateAddress, StateBatch, StateRecord, StateSum, Timestamp,
};

/// Rows of each half.
const HALF: usize = 8192;
/// Projects and namespaces.
const PLACES_MAX: usize = 4096;

/// A row without what it is found by, and without its value.
#[derive(Clone, Debug)]
struct Kept {
    revision: u64,
    create_revision: u64,
    version: u64,
    size: u64,
    owner: Actor,
    time_created: Timestamp,
    time_modified: Timestamp,
    time_expires: Option<Timestamp>,
}

pub(super) type Place = (ProjectId, Option<Name>);

#[derive(Debug, Default)]
pub(super) struct Known {
    /// Of the head with which all of it holds; 0 is that nothing is known.
    revision: u64,
    young: HashMap<StateAddress, Kept>,
    old: HashMap<StateAddress, Kept>,
    sums: HashMap<Place, StateSum>,
}

impl Known {
    /// Nothing, where the head is not the one that this is known of.
    pub(super) fn at(&self, revision: u64) -> Option<&Known> {
        (self.revision == revision && revision > 0).then_some(self)
    }

    pub(super) fn row(&self, at: &StateAddress) -> Option<StateRecord> {
        let kept = self.young.get(at).or_else(|| self.old.get(at))?.clone();
        Some(StateRecord {
            at: at.clone(),
            is_gone: false,
            revision: kept.revision,
            create_revision: kept.create_revision,
            version: kept.version,
            size: kept.size,
            value: None,
            owner: kept.owner,
            time_created: kept.time_created,
            time_modified: kept.time_modified,
            time_expires: kept.time_expires,
        })
    }

    pub(super) fn sum(&self, place: &Place) -> Option<&StateSum> {
        self.sums.get(place)
    }

    /// What a batch that was committed found, at which revision, and what it wrote.
    pub(super) fn learn(
        &mut self,
        before: u64,
        sums: Vec<StateSum>,
        written: Written,
    ) -> Option<StateBatch> {
        if self.revision != before || self.sums.len() > PLACES_MAX {
            *self = Known::default();
        }
        self.revision = written.head.revision;
        for sum in sums.into_iter().chain(written.sums) {
            self.sums.insert((sum.project_id, sum.namespace.clone()), sum);
        }
        for row in written.rows {
            self.keep(row);
        }
        written.batch
    }

    fn keep(&mut self, row: StateRecord) {
        if row.is_gone {
            self.young.remove(&row.at);
            self.old.remove(&row.at);
            return;
        }
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        let kept = Kept {
            revision: row.revision,
            create_revision: row.create_revision,
            version: row.version,
            size: row.size,
            owner: row.owner,
            time_created: row.time_created,
            time_modified: row.time_modified,
            time_expires: row.time_expires,
        };
        self.young.insert(row.at, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{ActorKind, StateHead};

    fn address(key: usize) -> StateAddress {
        format!("{}/app/{key}", uuid::Uuid::from_u128(1)).parse().unwrap()
    }

    fn row(key: usize, revision: u64) -> StateRecord {
        StateRecord {
            at: address(key),
            is_gone: false,
            revision,
            create_revision: 1,
            version: revision,
            size: 1,
            value: Some(vec![1].into()),
            owner: Actor { kind: ActorKind::User, name: "ann".to_owned() },
            time_created: Timestamp::EPOCH,
            time_modified: Timestamp::EPOCH,
            time_expires: None,
        }
    }

    fn sum(bytes: u64) -> StateSum {
        StateSum { project_id: address(0).project_id, namespace: None, entries: 1, bytes }
    }

    fn written(revision: u64, rows: Vec<StateRecord>, sums: Vec<StateSum>) -> Written {
        Written { head: StateHead { revision, ..StateHead::default() }, rows, sums, batch: None }
    }

    #[test]
    fn what_was_written_is_known_until_another_server_writes() {
        let mut known = Known::default();
        assert!(known.at(0).is_none());
        known.learn(0, vec![sum(3)], written(5, vec![row(1, 4), row(2, 5)], vec![]));
        let at = known.at(5).unwrap();
        assert_eq!(at.row(&address(1)), Some(StateRecord { value: None, ..row(1, 4) }));
        assert_eq!(
            (at.row(&address(3)), at.sum(&(sum(3).project_id, None))),
            (None, Some(&sum(3)))
        );
        assert!(known.at(4).is_none() && known.at(6).is_none());

        known.learn(5, vec![sum(3)], written(6, vec![row(1, 6)], vec![sum(9)]));
        let at = known.at(6).unwrap();
        assert_eq!(at.row(&address(1)).unwrap().revision, 6);
        assert_eq!(at.row(&address(2)).unwrap().revision, 5);
        assert_eq!(at.sum(&(sum(3).project_id, None)), Some(&sum(9)));

        known.learn(8, vec![], written(9, vec![row(3, 9)], vec![]));
        let at = known.at(9).unwrap();
        assert_eq!((at.row(&address(1)), at.sum(&(sum(3).project_id, None))), (None, None));
        assert!(at.row(&address(3)).is_some());
    }

    #[test]
    fn what_is_gone_is_not_remembered_and_memory_is_bounded() {
        let mut known = Known::default();
        known.learn(0, vec![], written(1, vec![row(1, 1)], vec![]));
        known.learn(
            1,
            vec![],
            written(2, vec![StateRecord { is_gone: true, ..row(1, 2) }], vec![]),
        );
        assert_eq!(known.at(2).unwrap().row(&address(1)), None);
        for n in 0..5 {
            let rows = (n * HALF..(n + 1) * HALF).map(|key| row(key, 3)).collect();
            known.learn(known.revision, vec![], written(3, rows, vec![]));
            assert!(known.young.len() + known.old.len() <= 2 * HALF);
            let last = (n + 1) * HALF - 1;
            assert!(known.at(3).unwrap().row(&address(last)).is_some());
        }
        assert_eq!(known.at(3).unwrap().row(&address(0)), None);
    }
}
