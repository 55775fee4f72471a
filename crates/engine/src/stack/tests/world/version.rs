//! Templates of the play.

use std::collections::BTreeSet;

use hostler_model::StackDefinitionId;
use hostler_model::stack::{DeletionPolicy, StackHook};
use proptest::prelude::*;

use super::super::super::{Goal, Wanted};

/// How many names there are. The last two are of a kind that is nothing outside.
pub(super) const NAMES: usize = 7;

#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: usize,
    /// What can be changed, and what cannot.
    pub value: u8,
    pub fixed: u8,
    pub requires: Vec<usize>,
    pub policy: DeletionPolicy,
    pub hook: Option<StackHook>,
}

#[derive(Clone, Debug)]
pub(super) struct Version {
    pub parts: Vec<Part>,
}

pub(super) fn name_of(name: usize) -> String {
    format!("r{name}")
}

pub(super) fn is_local(name: &str) -> bool {
    matches!(name, "r5" | "r6")
}

impl Version {
    pub fn of(lines: &[(usize, u8, &[usize])]) -> Version {
        let part = |(name, fixed, requires): &(usize, u8, &[usize])| Part {
            name: *name,
            value: 0,
            fixed: *fixed,
            requires: requires.to_vec(),
            policy: DeletionPolicy::Delete,
            hook: None,
        };
        Version { parts: lines.iter().map(part).collect() }
    }

    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| name_of(part.name) == name)
    }

    pub fn goal(&self, definition: Option<StackDefinitionId>) -> Goal {
        let wanted = self.parts.iter().map(|part| Wanted {
            name: name_of(part.name),
            kind: "T".to_owned(),
            requires: part.requires.iter().copied().map(name_of).collect(),
            deletion_policy: part.policy,
            is_checkable: part.name != 0,
            is_external: false,
        });
        let hooks = self
            .parts
            .iter()
            .filter_map(|part| Some((name_of(part.name), BTreeSet::from([part.hook?]))));
        Goal { definition, wanted: wanted.collect(), hooks: hooks.collect() }
    }
}

/// Some of the names in any order, each requiring some of those before it.
pub(super) fn version() -> impl Strategy<Value = Version> {
    let names = Just((0..NAMES).collect::<Vec<_>>()).prop_shuffle();
    let policy = prop_oneof![
        6 => Just(DeletionPolicy::Delete),
        1 => Just(DeletionPolicy::Retain),
        1 => Just(DeletionPolicy::Snapshot),
    ];
    let hook = proptest::option::weighted(0.1, proptest::sample::select(StackHook::ALL.to_vec()));
    let part = (0_u8..3, 0_u8..2, any::<u8>(), policy, hook);
    let parts = proptest::collection::vec(proptest::option::weighted(0.7, part), NAMES);
    (names, parts).prop_map(|(names, parts)| {
        let mut found: Vec<Part> = Vec::new();
        for (name, part) in names.into_iter().zip(parts) {
            let Some((value, fixed, edges, policy, hook)) = part else { continue };
            let before = found.iter().enumerate();
            let requires = before.filter(|(i, _)| edges >> i & 1 == 1).map(|(_, part)| part.name);
            let requires = requires.collect();
            found.push(Part { name, value, fixed, requires, policy, hook });
        }
        found.sort_by_key(|part| part.name);
        Version { parts: found }
    })
}

pub(super) fn versions() -> impl Strategy<Value = Vec<Version>> {
    proptest::collection::vec(version(), 1..5)
}
