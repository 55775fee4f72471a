//! What is wrong with a graph, all of it at once, and the order it can run in.

use std::collections::{BTreeMap, BTreeSet};

use super::{Place, Workflow};
use crate::suggest::nearest;

/// One mistake in a workflow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{place}: {detail}")]
pub struct Problem {
    pub place: Place,
    pub detail: String,
}

impl Workflow {
    /// Every mistake of the graph: names used twice, dependencies that are not there, cycles.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
        for step in &self.steps {
            if let Some(earlier) = first.get(step.name.as_str()) {
                found.push(Problem {
                    place: step.place.clone(),
                    detail: format!(
                        "two tasks of `{}` are called `{}` (the other one: {earlier}); give one of them another name",
                        self.name, step.name
                    ),
                });
            } else {
                first.insert(&step.name, &step.place);
            }
        }
        for step in &self.steps {
            let named =
                step.depends_on.iter().map(|name| ("depends on", name)).chain(
                    step.after_failure_of.iter().map(|name| ("waits for a failure of", name)),
                );
            for (how, name) in named.filter(|(_, name)| !first.contains_key(name.as_str())) {
                let meant = nearest(name, first.keys().copied())
                    .map(|meant| format!("did you mean `{meant}`?"))
                    .unwrap_or_else(|| format!("`{}` has no task of that name", self.name));
                found.push(Problem {
                    place: step.place.clone(),
                    detail: format!("`{}` {how} `{name}`, which is not there; {meant}", step.name),
                });
            }
        }
        if let Err(cycle) = order(self) {
            let place = self.step(&cycle[0]).map(|step| step.place.clone()).unwrap_or_default();
            found.push(Problem {
                place,
                detail: format!(
                    "these tasks wait for each other: {}; one of them has to go first",
                    cycle.join(" → ")
                ),
            });
        }
        found
    }
}

/// Steps in an order in which each comes after what it waits for, those of the definition first where there
/// is a choice; or one cycle, its first name again at its end. Names that are not there are passed over.
pub fn order(workflow: &Workflow) -> Result<Vec<usize>, Vec<String>> {
    let position: BTreeMap<&str, usize> =
        workflow.steps.iter().enumerate().rev().map(|(i, step)| (step.name.as_str(), i)).collect();
    let waits_for: Vec<Vec<usize>> = workflow
        .steps
        .iter()
        .map(|step| {
            let names = step.depends_on.iter().chain(&step.after_failure_of);
            names.filter_map(|name| position.get(name.as_str()).copied()).collect()
        })
        .collect();
    let mut left: Vec<usize> =
        waits_for.iter().map(|w| w.iter().collect::<BTreeSet<_>>().len()).collect();
    let mut others: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); workflow.steps.len()];
    for (i, waits) in waits_for.iter().enumerate() {
        for &j in waits {
            others[j].insert(i);
        }
    }
    let mut ready: BTreeSet<usize> = (0..left.len()).filter(|&i| left[i] == 0).collect();
    let mut sorted = Vec::with_capacity(left.len());
    while let Some(i) = ready.pop_first() {
        sorted.push(i);
        for &j in &others[i] {
            left[j] -= 1;
            if left[j] == 0 {
                ready.insert(j);
            }
        }
    }
    if sorted.len() == left.len() {
        return Ok(sorted);
    }
    Err(cycle(workflow, &waits_for, &left))
}

/// Walks back from a step that never became ready until one comes again.
fn cycle(workflow: &Workflow, waits_for: &[Vec<usize>], left: &[usize]) -> Vec<String> {
    let mut at = left.iter().position(|&n| n > 0).expect("somebody was not ready");
    let mut seen = Vec::new();
    while !seen.contains(&at) {
        seen.push(at);
        at = *waits_for[at]
            .iter()
            .find(|&&j| left[j] > 0)
            .expect("what is never ready waits for what is never ready");
    }
    let begin = seen.iter().position(|&i| i == at).expect("it was seen");
    seen[begin..].iter().chain([&at]).map(|&i| workflow.steps[i].name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::*;

    fn workflow(edges: &[(&str, &[&str])]) -> Workflow {
        let steps = edges
            .iter()
            .enumerate()
            .map(|(i, (name, on))| Step {
                name: (*name).into(),
                depends_on: on.iter().map(|s| (*s).into()).collect(),
                place: Place { file: "w.sloth".into(), line: u32::try_from(i).unwrap() + 1 },
                ..Step::default()
            })
            .collect();
        Workflow { name: "w".into(), steps, ..Workflow::default() }
    }

    #[test]
    fn steps_come_after_what_they_wait_for_and_otherwise_as_defined() {
        let graph = workflow(&[("c", &["a", "b"]), ("a", &[]), ("b", &["a"]), ("d", &[])]);
        assert_eq!(order(&graph).unwrap(), [1, 2, 0, 3]);
        assert_eq!(graph.problems(), []);
    }

    #[test]
    fn every_mistake_is_found_at_once() {
        let graph = workflow(&[
            ("build", &["fetsh"]),
            ("fetch", &[]),
            ("fetch", &[]),
            ("x", &["y"]),
            ("y", &["z"]),
            ("z", &["x"]),
        ]);
        let problems: Vec<_> = graph.problems().iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "w.sloth:3: two tasks of `w` are called `fetch` (the other one: w.sloth:2); give one of them another name",
                "w.sloth:1: `build` depends on `fetsh`, which is not there; did you mean `fetch`?",
                "w.sloth:4: these tasks wait for each other: x → y → z → x; one of them has to go first",
            ]
        );
    }

    #[test]
    fn who_waits_for_itself_is_a_cycle() {
        assert_eq!(order(&workflow(&[("a", &["a"])])).unwrap_err(), ["a", "a"]);
    }
}
