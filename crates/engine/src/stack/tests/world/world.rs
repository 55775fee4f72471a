//! What is outside: objects, and what was ever done to them.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::stack::{DeedKind, DeletionPolicy, StackResource};
use hostler_model::{StackResourceId, Timestamp};

use super::super::super::{Failure, Outcome};
use super::super::at;
use super::version::{Part, name_of};

/// An object: what can be changed, and what cannot.
pub(super) type Body = (u8, u8);

#[derive(Debug, Default)]
pub(super) struct World {
    pub objects: BTreeMap<StackResourceId, Body>,
    /// How every deed ended, by its key.
    ends: BTreeMap<String, Outcome>,
    waits: BTreeMap<String, u8>,
    /// The newest deed that was ever carried out for a row: older ones come too late.
    newest: BTreeMap<StackResourceId, u32>,
    /// Which deeds were begun for an object in a traversal: there must be one of each kind at most.
    begun: BTreeMap<(StackResourceId, DeedKind, u64), u32>,
    /// Objects that stayed when their resources went: whatever becomes of them is nobody's.
    pub left: BTreeSet<StackResourceId>,
    snapshots: BTreeSet<StackResourceId>,
    /// Whatever is made or changed under this name fails.
    pub failing: Option<usize>,
}

impl World {
    /// A deed was written.
    pub fn note(&mut self, row: &StackResource, kind: DeedKind) {
        let traversal = row.deed.as_ref().unwrap().traversal.get();
        let was = self.begun.insert((row.id, kind, traversal), row.deeds);
        assert!(was.is_none_or(|number| number == row.deeds), "{} {kind} is begun twice", row.name);
    }

    /// Carries a deed out, as often as somebody asks: what it does is done once.
    pub fn perform(
        &mut self,
        row: &StackResource,
        kind: DeedKind,
        part: Option<&Part>,
        now: Timestamp,
        luck: u8,
    ) -> Outcome {
        let key = row.deed_key();
        if let Some(end) = self.ends.get(&key) {
            return end.clone();
        }
        let newest = self.newest.entry(row.id).or_default();
        if row.deeds < *newest || self.left.contains(&row.id) {
            return Outcome::Gone;
        }
        *newest = row.deeds;
        let is_fresh = !self.waits.contains_key(&key);
        let waits = self.waits.entry(key.clone()).or_insert(luck % 3);
        if *waits > 0 {
            *waits -= 1;
            let is_idle = luck % 2 == 1;
            let until = (!is_idle).then(|| now.plus(at(5).since(at(0))));
            if is_fresh && luck.is_multiple_of(4) {
                self.apply(row, kind, part);
            }
            return Outcome::Waiting { until, is_idle };
        }
        let is_failing = self.failing.is_some_and(|name| name_of(name) == row.name)
            && matches!(kind, DeedKind::Create | DeedKind::Update);
        let end = if luck >= 230 || is_failing {
            if luck.is_multiple_of(2) {
                self.apply(row, kind, part);
            }
            Outcome::Failed(Failure::new("Error", "bad luck"))
        } else {
            self.apply(row, kind, part)
        };
        self.ends.insert(key, end.clone());
        end
    }

    fn apply(&mut self, row: &StackResource, kind: DeedKind, part: Option<&Part>) -> Outcome {
        match kind {
            DeedKind::Create | DeedKind::Adopt => {
                let part = part.unwrap();
                self.objects.insert(row.id, (part.value, part.fixed));
            }
            DeedKind::Update => {
                let part = part.unwrap();
                let Some(object) = self.objects.get_mut(&row.id) else { return Outcome::Gone };
                assert_eq!(object.1, part.fixed, "it would have to be replaced");
                object.0 = part.value;
            }
            DeedKind::Delete => {
                if row.deletion_policy == DeletionPolicy::Snapshot
                    && self.objects.contains_key(&row.id)
                    && row.physical.is_some()
                    && row.definition.is_some()
                {
                    assert!(self.snapshots.contains(&row.id), "it was to be kept in another form");
                }
                if self.objects.remove(&row.id).is_none() {
                    return Outcome::Gone;
                }
            }
            DeedKind::Snapshot => {
                self.snapshots.insert(row.id);
            }
            DeedKind::Suspend | DeedKind::Resume | DeedKind::Check => {
                if !self.objects.contains_key(&row.id) {
                    return Outcome::Gone;
                }
            }
        }
        Outcome::Done
    }
}
