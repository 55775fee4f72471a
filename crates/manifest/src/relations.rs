//! Workloads beside each other: names that occur twice, and dependencies that cannot be met.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::{DependencyCondition, Mode, Name, WorkloadSpec};

use crate::loader::{Batch, Found};
use crate::mistake::{MOST, Mistake, Place};
use crate::ours::Written;
use hostler_model::suggest::nearest;

pub(crate) fn check(batch: &mut Batch, known: &BTreeSet<Name>, is_open: bool) {
    let mut more = Vec::new();
    let by_name = names(batch, &mut more);
    let view = View { batch, by_name, known, is_open };
    for found in &batch.found {
        if more.len() < MOST {
            view.look(found, &mut more);
        }
    }
    view.circles(&mut more);
    batch.mistakes.extend(more);
}

/// The first workload of each name; later ones are mistakes.
fn names<'a>(batch: &'a Batch, more: &mut Vec<Mistake>) -> BTreeMap<&'a Name, &'a Found> {
    let mut first: BTreeMap<&Name, &Found> = BTreeMap::new();
    for found in &batch.found {
        let Some(name) = &found.written.name else {
            continue;
        };
        match first.get(name) {
            None => drop(first.insert(name, found)),
            Some(other) => {
                let place = other.written.name_place;
                let file = &batch.texts[other.text].file;
                let detail = format!(
                    "`{name}` is the name of two workloads; the first is at {file}:{}:{}",
                    place.line, place.column
                );
                more.push(say(
                    batch,
                    found,
                    found.written.name_place,
                    detail,
                    "rename or remove one of them",
                ));
            }
        }
    }
    first
}

fn say(
    batch: &Batch,
    found: &Found,
    place: Place,
    detail: impl Into<String>,
    hint: impl Into<String>,
) -> Mistake {
    let mut notes = batch.texts[found.text].notes();
    notes.at(place, detail, hint);
    notes.found.remove(0)
}

struct View<'a> {
    batch: &'a Batch,
    by_name: BTreeMap<&'a Name, &'a Found>,
    known: &'a BTreeSet<Name>,
    is_open: bool,
}

impl View<'_> {
    fn look(&self, found: &Found, more: &mut Vec<Mistake>) {
        let written = &found.written;
        let Some(spec) = &written.spec else {
            return;
        };
        for (i, dependency) in spec.depends.iter().enumerate() {
            let other = &dependency.workload;
            let place = dependency_place(found, i);
            let mut tell = |detail: String, hint: String| {
                more.push(say(self.batch, found, place, detail, hint))
            };
            if written.name.as_ref() == Some(other) {
                tell(format!("`{other}` depends on itself"), "remove this dependency".to_owned());
                continue;
            }
            match self.by_name.get(other).map(|found| &found.written) {
                Some(Written { spec: Some(spec), is_right: true, .. }) => {
                    if let Some((detail, hint)) = impossible(other, spec, dependency.condition) {
                        tell(detail, hint.to_owned());
                    }
                }
                Some(_) => {}
                None if self.is_open || self.known.contains(other) => {}
                None if self.batch.lost.contains(other.as_str()) => {}
                None => {
                    let names = self.by_name.keys().copied().chain(self.known);
                    let hint = match nearest(other.as_str(), names.map(Name::as_str)) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => "name a workload that is in these files".to_owned(),
                    };
                    tell(format!("there is no workload `{other}`"), hint);
                }
            }
        }
    }

    /// Each circle of dependencies once, spelled out from its first name in the alphabet.
    fn circles(&self, more: &mut Vec<Mistake>) {
        let mut done: BTreeSet<&Name> = BTreeSet::new();
        let mut told: BTreeSet<Vec<&Name>> = BTreeSet::new();
        for start in self.by_name.keys().copied() {
            let mut path: Vec<(&Name, usize)> = vec![(start, 0)];
            while let Some((name, next)) = path.last_mut() {
                let name = *name;
                let Some(other) = self.depends(name).nth(*next).filter(|_| !done.contains(name))
                else {
                    done.insert(name);
                    path.pop();
                    continue;
                };
                *next += 1;
                match path.iter().position(|(on_path, _)| *on_path == other) {
                    Some(at) => {
                        let mut circle: Vec<&Name> = path[at..].iter().map(|(n, _)| *n).collect();
                        let least = (0..circle.len()).min_by_key(|i| circle[*i]).unwrap_or(0);
                        circle.rotate_left(least);
                        if circle.len() > 1 && told.insert(circle.clone()) {
                            more.extend(self.circle(&circle));
                        }
                    }
                    None if done.contains(other) => {}
                    None => path.push((other, 0)),
                }
            }
        }
    }

    fn depends<'b>(&'b self, name: &Name) -> impl Iterator<Item = &'b Name> {
        let spec = self.by_name.get(name).and_then(|found| found.written.spec.as_ref());
        let others = spec.into_iter().flat_map(|spec| &spec.depends).map(|d| &d.workload);
        others.filter(|other| self.by_name.contains_key(other))
    }

    fn circle(&self, circle: &[&Name]) -> Option<Mistake> {
        let found = *self.by_name.get(circle.first()?)?;
        let next = circle.get(1)?;
        let spec = found.written.spec.as_ref()?;
        let at = spec.depends.iter().position(|dependency| dependency.workload == **next)?;
        let mut words: Vec<&str> = circle.iter().map(|name| name.as_str()).collect();
        words.push(words[0]);
        let detail = format!("dependencies go in a circle: {}", words.join(" -> "));
        let hint = "none of them could ever start; remove one of these dependencies";
        Some(say(self.batch, found, dependency_place(found, at), detail, hint))
    }
}

fn dependency_place(found: &Found, at: usize) -> Place {
    let node = &found.written.node;
    node.place_of(&node.steps(&format!("/depends/{at}/workload")))
}

/// Why the condition can never hold, and what to do.
fn impossible(
    name: &Name,
    spec: &WorkloadSpec,
    condition: DependencyCondition,
) -> Option<(String, &'static str)> {
    match condition {
        DependencyCondition::Healthy if spec.health.is_empty() => Some((
            format!("`{name}` has no health checks, so it is never `healthy`"),
            "give it `health`, or use the condition `started`",
        )),
        DependencyCondition::Completed if spec.mode == Mode::Forever => Some((
            format!("`{name}` runs forever, so it is never `completed`"),
            "use the condition `started` or `healthy`",
        )),
        _ => None,
    }
}
