//! From what is held and what the files say to wishes: pure.
//!
//! Generations count the wishes that this agent has made of itself. A workload that is new, or whose
//! run has to be replaced, gets the generation as its revision, so that revisions of one name only
//! grow, also when it was removed and comes back. Words about a workload (tags, version, where a fleet
//! would place it) change without a restart.

use std::collections::BTreeMap;

use hostler_engine::supervise::AgentState;
use hostler_manifest::{Item, Set, Source, diff};
use hostler_model::{
    Assignment, Desired, Generation, Name, PlacementId, PlacementRules, Reservation, WorkloadId,
    WorkloadSpec,
};

use super::node::derived;
use crate::door::view::{Changed, ChangedField, Reloaded};
use crate::supervisor::Wishes;

/// How many assignments one wish carries, so that no record of the ledger becomes too large.
const PER_WISH: usize = 16;
const PROJECT: &str = "default";

/// What was wished for so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    applied: Generation,
    held: BTreeMap<Name, Assignment>,
}

/// What is to be wished for, and where that leads.
pub(crate) struct Step {
    pub wishes: Vec<Wishes>,
    pub changes: Reloaded,
    pub plan: Plan,
}

impl Plan {
    /// What a ledger says.
    pub fn of(state: &AgentState) -> Plan {
        let services = state.held.values().map(|held| &held.assignment);
        let held = services
            .filter(|one| one.run_id.is_none() && one.desired != Desired::Remove)
            .map(|one| (one.workload_name.clone(), one.clone()));
        Plan { applied: state.applied, held: held.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// What has to happen so that everything is as the set says.
    pub fn towards(&self, set: &Set) -> Step {
        let difference = diff(&self.as_set(), set);
        let mut plan = self.clone();
        let mut assignments = Vec::new();
        let mut changes = Reloaded {
            added: difference.added,
            removed: difference.removed,
            changed: Vec::new(),
            unchanged: difference.unchanged,
        };
        for name in &changes.removed {
            if let Some(old) = plan.held.remove(name) {
                assignments.push(Assignment { desired: Desired::Remove, ..old });
            }
        }
        for name in &changes.added {
            let spec = set.workloads[name].spec.clone();
            assignments.push(assignment(name, spec));
        }
        for (name, fields) in difference.changed {
            let (old, spec) = (&self.held[&name], &set.workloads[&name].spec);
            let is_replaced = what_runs(&old.spec) != what_runs(spec);
            let revision = if is_replaced { Generation::ZERO } else { old.revision };
            assignments.push(Assignment { spec: spec.clone(), revision, ..old.clone() });
            let fields = fields.into_iter().map(|field| ChangedField {
                path: field.path,
                old: field.old,
                new: field.new,
            });
            changes.changed.push(Changed { name, is_replaced, fields: fields.collect() });
        }
        let wishes = plan.number(assignments);
        Step { wishes, changes, plan }
    }

    /// Gives every assignment its generation, and those without a revision theirs.
    fn number(&mut self, assignments: Vec<Assignment>) -> Vec<Wishes> {
        let mut wishes = Vec::new();
        for some in assignments.chunks(PER_WISH) {
            let (from, to) = (self.applied, self.applied.next());
            let numbered: Vec<Assignment> = some
                .iter()
                .map(|one| Assignment {
                    generation: to,
                    revision: if one.revision == Generation::ZERO { to } else { one.revision },
                    ..one.clone()
                })
                .collect();
            for one in numbered.iter().filter(|one| one.desired != Desired::Remove) {
                self.held.insert(one.workload_name.clone(), one.clone());
            }
            self.applied = to;
            wishes.push(Wishes { from, to, assignments: numbered, unreadable: Vec::new() });
        }
        wishes
    }

    fn as_set(&self) -> Set {
        let item = |one: &Assignment| Item {
            spec: one.spec.clone(),
            source: Source { file: String::new(), line: 0 },
        };
        let workloads = self.held.iter().map(|(name, one)| (name.clone(), item(one)));
        Set { workloads: workloads.collect() }
    }
}

fn assignment(name: &Name, spec: WorkloadSpec) -> Assignment {
    Assignment {
        placement_id: PlacementId::from_uuid(derived(&["standalone", PROJECT, name.as_str()])),
        run_id: None,
        desired: Desired::Run,
        generation: Generation::ZERO,
        workload_id: WorkloadId::from_uuid(derived(&["workload", PROJECT, name.as_str()])),
        workload_name: name.clone(),
        project_name: PROJECT.parse().expect("a word of lowercase letters is a name"),
        spec,
        grace: None,
        reservation: Reservation::default(),
        seat: None,
        trace: None,
        revision: Generation::ZERO,
    }
}

/// A spec without the words that change nothing about what runs.
fn what_runs(spec: &WorkloadSpec) -> WorkloadSpec {
    WorkloadSpec {
        placement: PlacementRules::default(),
        tags: Vec::new(),
        version: None,
        ..spec.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_engine::supervise::Record;

    fn set(text: &str) -> Set {
        hostler_manifest::load_str("f", text).unwrap_or_else(|report| panic!("{report}"))
    }

    fn names(names: &[Name]) -> Vec<&str> {
        names.iter().map(Name::as_str).collect()
    }

    /// Takes a step as an agent would, from a ledger to a ledger.
    fn take(state: &mut AgentState, text: &str) -> Step {
        let step = Plan::of(state).towards(&set(text));
        for wish in &step.wishes {
            assert_eq!(wish.from, state.applied);
            state.apply(&Record::Accepted {
                generation: wish.to,
                assignments: wish.assignments.clone(),
            });
        }
        assert_eq!(Plan::of(state), step.plan);
        step
    }

    #[test]
    fn only_the_difference_is_wished_for() {
        let mut state = AgentState::default();
        let first =
            take(&mut state, "workloads: [{name: a, command: [x]}, {name: b, command: [x]}]");
        assert_eq!(names(&first.changes.added), ["a", "b"]);
        let second =
            take(&mut state, "workloads: [{name: a, command: [x]}, {name: c, command: [x]}]");
        assert_eq!(names(&second.changes.removed), ["b"]);
        assert_eq!(names(&second.changes.added), ["c"]);
        assert_eq!(names(&second.changes.unchanged), ["a"]);
        let wished: Vec<_> = second.wishes.iter().flat_map(|wish| &wish.assignments).collect();
        assert!(wished.iter().all(|one| one.workload_name.as_str() != "a"));
        let third =
            take(&mut state, "workloads: [{name: a, command: [x]}, {name: c, command: [x]}]");
        assert!(third.wishes.is_empty());
    }

    #[test]
    fn revisions_grow_when_what_runs_changes_and_stay_when_words_do() {
        let mut state = AgentState::default();
        let revision = |state: &AgentState| Plan::of(state).held.values().next().unwrap().revision;
        take(&mut state, "{name: a, command: [x]}");
        let first = revision(&state);
        let words = take(&mut state, "{name: a, command: [x], tags: [blue], version: '2'}");
        assert!(!words.changes.changed[0].is_replaced && revision(&state) == first);
        let other = take(&mut state, "{name: a, command: [y], tags: [blue], version: '2'}");
        assert!(other.changes.changed[0].is_replaced && revision(&state) > first);
        assert_eq!(other.changes.changed[0].fields[0].path, "command[0]");
    }

    #[test]
    fn what_comes_back_is_newer_than_what_was_removed() {
        let mut state = AgentState::default();
        take(&mut state, "{name: a, command: [x]}");
        let id = *state.held.keys().next().unwrap();
        take(&mut state, "");
        assert_eq!(state.held[&id].assignment.desired, Desired::Remove);
        let before = state.held[&id].assignment.clone();
        take(&mut state, "{name: a, command: [x]}");
        let after = &state.held[&id].assignment;
        assert!(after.generation > before.generation && after.revision > before.revision);
        assert_eq!(after.desired, Desired::Run);
    }

    #[test]
    fn many_workloads_are_wished_for_in_pieces() {
        let list: Vec<String> =
            (0..100).map(|n| format!("- {{name: w{n}, command: [x]}}")).collect();
        let mut state = AgentState::default();
        let step = take(&mut state, &format!("workloads:\n{}\n", list.join("\n")));
        assert!(step.wishes.len() > 4);
        assert_eq!(state.held.len(), 100);
    }
}
