//! Workloads beside each other: dependencies that could never be met are weakened or left out, and
//! said.
//!
//! A condition that cannot come true (healthy without a health check, completed for what runs for
//! ever) becomes `started`; a dependency on something that is not in the plan goes, and so does the one
//! that closes a circle.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::{DependencyCondition, Mode, Name, WorkloadSpec};

use crate::plan::RemarkKind;

/// `tell` hears the index of the workload and what was done to it.
pub fn relate(
    workloads: &mut [(Name, WorkloadSpec)],
    mut tell: impl FnMut(usize, RemarkKind, String),
) {
    let known: BTreeMap<Name, (bool, bool)> = workloads
        .iter()
        .map(|(name, spec)| (name.clone(), (!spec.health.is_empty(), spec.mode == Mode::Forever)))
        .collect();
    for (index, (name, spec)) in workloads.iter_mut().enumerate() {
        spec.depends.retain_mut(|depend| match known.get(&depend.workload) {
            Some(_) if depend.workload == *name => false,
            None => {
                let other = &depend.workload;
                tell(index, RemarkKind::Lost, format!("`{other}` is not in the plan"));
                false
            }
            Some((has_health, is_forever)) => {
                let why = match depend.condition {
                    DependencyCondition::Healthy if !has_health => "has no health check here",
                    DependencyCondition::Completed if *is_forever => "never ends",
                    _ => return true,
                };
                let other = &depend.workload;
                depend.condition = DependencyCondition::Started;
                let detail = format!("`{other}` {why}; only its start is waited for");
                tell(index, RemarkKind::Changed, detail);
                true
            }
        });
    }
    while let Some((index, at)) = closing(workloads) {
        let depend = workloads[index].1.depends.remove(at);
        let other = &depend.workload;
        let detail = format!("waiting for `{other}` would go in a circle; it is left out");
        tell(index, RemarkKind::Lost, detail);
    }
}

/// A dependency that closes a circle: of which workload, and which of its dependencies.
fn closing(workloads: &[(Name, WorkloadSpec)]) -> Option<(usize, usize)> {
    let index: BTreeMap<&Name, usize> =
        workloads.iter().enumerate().map(|(i, (name, _))| (name, i)).collect();
    let mut done = BTreeSet::new();
    for start in 0..workloads.len() {
        let mut path = vec![(start, 0)];
        while let Some((current, next)) = path.last_mut() {
            let (current, at) = (*current, *next);
            let depends = &workloads[current].1.depends;
            if done.contains(&current) || at == depends.len() {
                done.insert(current);
                path.pop();
                continue;
            }
            *next += 1;
            let other = index[&depends[at].workload];
            if path.iter().any(|(on_path, _)| *on_path == other) {
                return Some((current, at));
            }
            path.push((other, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Dependency;

    fn workload(name: &str, on: &[(&str, DependencyCondition)]) -> (Name, WorkloadSpec) {
        let mut spec = WorkloadSpec::command(["true"]);
        spec.mode = Mode::Forever;
        for (other, condition) in on {
            spec.depends
                .push(Dependency { workload: other.parse().unwrap(), condition: *condition });
        }
        (name.parse().unwrap(), spec)
    }

    #[test]
    fn what_could_never_be_met_is_weakened_or_left_out() {
        use DependencyCondition::{Completed, Healthy, Started};
        let mut workloads = vec![
            workload("a", &[("b", Healthy), ("gone", Started), ("a", Started)]),
            workload("b", &[("c", Completed)]),
            workload("c", &[("a", Started)]),
        ];
        let mut told = Vec::new();
        relate(&mut workloads, |index, kind, detail| told.push(format!("{index} {kind} {detail}")));
        assert_eq!(
            told,
            [
                "0 changed `b` has no health check here; only its start is waited for",
                "0 lost `gone` is not in the plan",
                "1 changed `c` never ends; only its start is waited for",
                "2 lost waiting for `a` would go in a circle; it is left out",
            ]
        );
        let left: Vec<usize> = workloads.iter().map(|(_, spec)| spec.depends.len()).collect();
        assert_eq!(left, [1, 1, 0]);
    }
}
