//! What a stack is to be, as far as its course has to know.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hostler_model::StackDefinitionId;
use hostler_model::stack::{DeletionPolicy, StackHook};

use super::graph::{self, Circle};

/// What a stack goes towards. Nothing is wanted of one that is to go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    pub definition: Option<StackDefinitionId>,
    /// Every resource that there is to be. What can be done at the same time is done in this order.
    pub wanted: Vec<Wanted>,
    /// Where resources stop, by their names; also of those that are to go.
    pub hooks: BTreeMap<String, BTreeSet<StackHook>>,
}

/// One resource of a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub name: String,
    /// Its type, as the template has it.
    pub kind: String,
    /// Names of what has to be there before it.
    pub requires: Vec<String>,
    pub deletion_policy: DeletionPolicy,
    /// Its type can look at the object and say whether it is well.
    pub is_checkable: bool,
    /// Its object is there, and somebody else looks after it: it is taken over and checked, and never changed.
    pub is_external: bool,
}

/// Why no course leads to a goal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalFault {
    #[error("there are two resources `{name}`")]
    Twice { name: String },
    #[error("`{name}` requires `{missing}`, which is not there")]
    Unknown { name: String, missing: String },
    #[error("resources require each other in a circle: {0}")]
    Circle(Circle),
}

impl Goal {
    /// What each requires, as positions.
    pub(super) fn resolve(&self) -> Result<Vec<Vec<usize>>, GoalFault> {
        let mut position = HashMap::with_capacity(self.wanted.len());
        for (i, wanted) in self.wanted.iter().enumerate() {
            if position.insert(wanted.name.as_str(), i).is_some() {
                return Err(GoalFault::Twice { name: wanted.name.clone() });
            }
        }
        let mut requires = Vec::with_capacity(self.wanted.len());
        for wanted in &self.wanted {
            let mut found = Vec::with_capacity(wanted.requires.len());
            for name in &wanted.requires {
                found.push(*position.get(name.as_str()).ok_or_else(|| GoalFault::Unknown {
                    name: wanted.name.clone(),
                    missing: name.clone(),
                })?);
            }
            found.sort_unstable();
            found.dedup();
            requires.push(found);
        }
        graph::order(&requires).map_err(|circle| {
            let path = circle.into_iter().map(|i| self.wanted[i].name.clone()).collect();
            GoalFault::Circle(Circle { path })
        })?;
        Ok(requires)
    }

    pub(super) fn has_hook(&self, name: &str, hook: StackHook) -> bool {
        self.hooks.get(name).is_some_and(|hooks| hooks.contains(&hook))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lines<'a> = &'a [(&'a str, &'a [&'a str])];

    fn goal(lines: Lines<'_>) -> Goal {
        let wanted = lines.iter().map(|(name, requires)| Wanted {
            name: (*name).to_owned(),
            requires: requires.iter().map(|s| (*s).to_owned()).collect(),
            ..Wanted::default()
        });
        Goal { wanted: wanted.collect(), ..Goal::default() }
    }

    #[test]
    fn what_leads_nowhere_is_said() {
        let cases: [(Lines<'_>, &str); 3] = [
            (&[("a", &[]), ("a", &[])], "there are two resources `a`"),
            (&[("a", &["b"])], "`a` requires `b`, which is not there"),
            (
                &[("a", &["b"]), ("b", &["a"])],
                "resources require each other in a circle: a -> b -> a",
            ),
        ];
        for (lines, text) in cases {
            assert_eq!(goal(lines).resolve().unwrap_err().to_string(), text);
        }
        assert_eq!(goal(&[("a", &["b", "b"]), ("b", &[])]).resolve(), Ok(vec![vec![1], vec![]]));
    }
}
