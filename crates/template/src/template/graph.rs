//! What depends on what.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::load::{Loaded, LoadedResource};
use crate::diagnostic::{Diagnostic, Fault};
use crate::function::{Expr, Scope};
use crate::place::{Path, Place};

/// A resource needs another one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    pub from: String,
    pub on: String,
    /// Where it says so.
    pub at: Path,
    pub place: Option<Place>,
}

/// The resources of a template with what they need.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Name and type, in the order of the template.
    nodes: Vec<(String, String)>,
    /// By the resource that needs something.
    edges: BTreeMap<String, Vec<Dependency>>,
}

impl Graph {
    /// What is needed explicitly, and what is referred to in properties and metadata. External resources need
    /// nothing. References to what does not exist are no dependencies.
    pub fn of(loaded: &Loaded, scope: Option<&dyn Scope>, section: &str) -> Graph {
        let mut graph = Graph::default();
        for resource in &loaded.resources {
            graph.nodes.push((resource.name.clone(), resource.type_name.clone()));
            let mut needs = match &resource.external_id {
                None => needs_of(resource, scope, section),
                Some(_) => Vec::new(),
            };
            needs.retain(|one| loaded.resource(&one.on).is_some());
            let mut seen = BTreeSet::new();
            needs.retain(|one| seen.insert(one.on.clone()));
            graph.edges.insert(resource.name.clone(), needs);
        }
        graph
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|(name, _)| name.as_str())
    }

    /// What a resource needs first: each once, with the first place that says so.
    pub fn dependencies(&self, name: &str) -> &[Dependency] {
        self.edges.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Which resources need this one first.
    pub fn dependents(&self, name: &str) -> Vec<&str> {
        let needs = |from: &&str| self.dependencies(from).iter().any(|one| one.on == name);
        self.names().filter(needs).collect()
    }

    /// An order in which every resource comes after what it needs; those in a circle, and those that need
    /// them, are not in it.
    pub fn order(&self) -> Vec<&str> {
        self.order_without(&BTreeSet::new())
    }

    fn order_without(&self, gone: &BTreeSet<&str>) -> Vec<&str> {
        let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
        let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let is_there = |name: &str| !gone.contains(name);
        for name in self.names().filter(|name| is_there(name)) {
            let needs = self.dependencies(name).iter().filter(|one| is_there(&one.on));
            let needs: Vec<&str> = needs.map(|one| one.on.as_str()).collect();
            missing.insert(name, needs.len());
            for on in needs {
                dependents.entry(on).or_default().push(name);
            }
        }
        let is_free = |name: &&str| missing.get(name) == Some(&0);
        let mut ready: VecDeque<&str> = self.names().filter(is_free).collect();
        let mut order = Vec::new();
        while let Some(name) = ready.pop_front() {
            order.push(name);
            for dependent in dependents.get(name).into_iter().flatten() {
                if let Some(left) = missing.get_mut(dependent) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push_back(dependent);
                    }
                }
            }
        }
        order
    }

    /// Circles, each as the dependencies that make it. No resource is in two of them.
    pub fn circles(&self) -> Vec<Vec<&Dependency>> {
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        let mut circles = Vec::new();
        loop {
            gone.extend(self.order_without(&gone));
            let Some(start) = self.names().find(|name| !gone.contains(name)) else {
                return circles;
            };
            let mut way: Vec<&Dependency> = Vec::new();
            let mut here = start;
            let circle = loop {
                if let Some(at) = way.iter().position(|one| one.from == here) {
                    break way.split_off(at);
                }
                let mut needs = self.dependencies(here).iter();
                match needs.find(|one| !gone.contains(one.on.as_str())) {
                    Some(next) => {
                        way.push(next);
                        here = &next.on;
                    }
                    None => break Vec::new(),
                }
            };
            gone.insert(here);
            gone.extend(circle.iter().map(|one| one.from.as_str()));
            circles.extend((!circle.is_empty()).then_some(circle));
        }
    }

    /// What is wrong, for every circle.
    pub fn problems(&self) -> Vec<Diagnostic> {
        self.circles().iter().map(|circle| self.problem(circle)).collect()
    }

    fn problem(&self, circle: &[&Dependency]) -> Diagnostic {
        let shown = |name: &str| {
            let kind = self.nodes.iter().find(|(known, _)| known == name).map(|(_, kind)| kind);
            format!("{} \"{name}\"", class(kind.map_or("", String::as_str)))
        };
        let pairs: Vec<String> = circle
            .iter()
            .map(|one| format!("{}: {{{}}}", shown(&one.from), shown(&one.on)))
            .collect();
        let way: Vec<String> = circle
            .iter()
            .map(|one| format!("`{}` needs `{}` ({})", one.from, one.on, one.at))
            .collect();
        let first = circle.first();
        let path = first.map(|one| one.at.clone()).unwrap_or_default();
        let message = format!("Circular Dependency Found: {{{}}}", pairs.join(", "));
        Diagnostic::new(Fault::CircularDependency, &path, message)
            .at(first.and_then(|one| one.place))
            .hint(way.join(", "))
    }
}

/// What resources of a type are called in messages about circles.
fn class(type_name: &str) -> &str {
    match type_name {
        "OS::Heat::None" => "NoneResource",
        "OS::Heat::Stack" => "RemoteStack",
        "OS::Heat::HARestarter" => "Restarter",
        "OS::Heat::WaitCondition" => "HeatWaitCondition",
        "OS::Heat::WaitConditionHandle" => "HeatWaitConditionHandle",
        "OS::Heat::AutoScalingGroup" => "AutoScalingResourceGroup",
        "OS::Heat::ScalingPolicy" => "AutoScalingPolicy",
        name if name.ends_with(".yaml") || name.ends_with(".template") => "TemplateResource",
        name => name.rsplit("::").next().unwrap_or(name),
    }
}

fn needs_of(
    resource: &LoadedResource,
    scope: Option<&dyn Scope>,
    section: &str,
) -> Vec<Dependency> {
    let from = &resource.name;
    let path = Path::of([section, from]);
    let explicit = resource.depends_on.iter().map(|(on, place)| Dependency {
        from: from.clone(),
        on: on.clone(),
        at: path.key(if section == "resources" { "depends_on" } else { "DependsOn" }),
        place: *place,
    });
    let implicit = [&resource.properties, &resource.metadata].into_iter();
    let implicit = implicit.flat_map(|expr| needed_by(from, expr, scope));
    explicit.chain(implicit).collect()
}

fn needed_by(from: &str, expr: &Expr, scope: Option<&dyn Scope>) -> Vec<Dependency> {
    let found = match scope {
        Some(scope) => expr.references_in(scope),
        None => expr.references(),
    };
    let all = found.resources.into_iter().chain(found.attributes).chain(found.either);
    let dependency = |one: crate::function::Reference| Dependency {
        from: from.to_owned(),
        at: one.at.key(one.function),
        place: one.place,
        on: one.name,
    };
    all.map(dependency).collect()
}
