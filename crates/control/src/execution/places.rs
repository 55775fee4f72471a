//! Where steps run: what their delegation means for the nodes that there are.

use std::collections::BTreeMap;

use hostler_lua::Bundle;
use hostler_model::suggest::nearest;
use hostler_model::workflow::{Delegation, Execution, PickStrategy, Step, Targets};
use hostler_model::{LOCATION_LABEL, Name, Node, NodeState, PlacementRules, Strategy};
use serde_json::{Value as Json, json};

/// One place: where the task may be put, and the node that was named, if one was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    pub rules: PlacementRules,
    pub node: Option<Name>,
}

impl Site {
    /// Wherever there is room.
    pub fn anywhere() -> Site {
        Site { rules: PlacementRules::default(), node: None }
    }

    pub fn on(name: Name) -> Site {
        let rules = PlacementRules { node: Some(name.clone()), ..PlacementRules::default() };
        Site { rules, node: Some(name) }
    }
}

/// What holds for a step: what it says itself, what its workflow says, what the execution was asked for with.
pub(super) fn delegation(execution: &Execution, step: &Step) -> Option<Delegation> {
    let said = step.delegate.clone().or_else(|| execution.graph.delegate.clone());
    said.or_else(|| {
        let names = &execution.options.delegate_to;
        (!names.is_empty())
            .then(|| Delegation { targets: Targets::Nodes(names.clone()), ..Delegation::default() })
    })
}

/// The places a delegation means, or why there is none.
pub(super) fn sites(delegation: &Delegation, nodes: &[Node]) -> Result<Vec<Site>, String> {
    let found = match &delegation.targets {
        Targets::Any | Targets::Function => {
            let rules = ruled(delegation.strategy, &BTreeMap::new());
            Ok(vec![Site { rules, node: None }])
        }
        Targets::Nodes(names) => named(names, nodes),
        Targets::Labels(labels) => match matching(labels, nodes).is_empty() {
            true => Err(format!("no node that can be reached has {}", words(labels))),
            false => Ok(vec![Site { rules: ruled(delegation.strategy, labels), node: None }]),
        },
        Targets::All(labels) => {
            let all = matching(labels, nodes);
            match all.is_empty() {
                true => Err(format!("no node that can be reached has {}", words(labels))),
                false => Ok(all.into_iter().map(|node| Site::on(node.name.clone())).collect()),
            }
        }
    };
    match found {
        Err(_) if delegation.fallback => Ok(vec![Site::anywhere()]),
        found => found,
    }
}

fn named(names: &[String], nodes: &[Node]) -> Result<Vec<Site>, String> {
    if names.is_empty() {
        return Err("`delegate_to` names no node; is a value missing?".to_owned());
    }
    let one = |given: &String| {
        // Files for Sloth Runner may give an address; the port means nothing here.
        let name = given.split(':').next().unwrap_or(given);
        let Some(node) = nodes.iter().find(|node| node.name.as_str() == name) else {
            let known = nodes.iter().map(|node| node.name.as_str());
            return Err(match nearest(name, known) {
                Some(meant) => format!("there is no node `{name}`; did you mean `{meant}`?"),
                None => format!("there is no node `{name}`; `hostler node ls` lists them"),
            });
        };
        match node.state {
            NodeState::Online => Ok(Site::on(node.name.clone())),
            state => Err(format!(
                "the node `{name}` cannot be reached: it is {state} since {}",
                node.time_state
            )),
        }
    };
    names.iter().map(one).collect()
}

fn matching<'n>(labels: &BTreeMap<String, String>, nodes: &'n [Node]) -> Vec<&'n Node> {
    nodes
        .iter()
        .filter(|node| node.state == NodeState::Online)
        .filter(|node| labels.iter().all(|(key, value)| node.labels.get(key) == Some(value)))
        .collect()
}

fn words(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return "any labels".to_owned();
    }
    let pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("the labels {}", pairs.join(", "))
}

fn ruled(strategy: PickStrategy, labels: &BTreeMap<String, String>) -> PlacementRules {
    let mut selector = labels.clone();
    let near = match strategy {
        PickStrategy::Location => selector.remove(LOCATION_LABEL),
        PickStrategy::LeastLoaded | PickStrategy::RoundRobin | PickStrategy::Random => None,
    };
    let strategy = match (strategy, &near) {
        (PickStrategy::Location, Some(_)) => Strategy::Location,
        (PickStrategy::LeastLoaded | PickStrategy::Location, _) => Strategy::LeastLoaded,
        (PickStrategy::RoundRobin, _) => Strategy::RoundRobin,
        (PickStrategy::Random, _) => Strategy::Spread,
    };
    PlacementRules { selector, near, strategy: Some(strategy), ..PlacementRules::default() }
}

/// What `delegate_to` is told of the nodes where it is a function.
pub(super) fn told(nodes: &[Node]) -> Json {
    let one = |node: &Node| {
        json!({
            "name": node.name,
            "labels": node.labels,
            "tags": node.labels,
            "status": if node.state == NodeState::Online { "active" } else { "inactive" },
            "state": node.state,
            "cordoned": node.cordon.is_some(),
            "facts": node.facts,
        })
    };
    Json::Array(nodes.iter().map(one).collect())
}

/// Asks the function; in a thread of its own, because it computes.
pub(super) async fn picked(
    bundle: Bundle,
    execution: &Execution,
    step: &str,
    nodes: &[Node],
) -> Result<Delegation, String> {
    let given = super::spec::given(execution);
    let (workflow, step, nodes) = (execution.workflow.clone(), step.to_owned(), told(nodes));
    let asking = move || hostler_lua::pick(bundle, &given, &workflow, &step, &nodes);
    tokio::task::spawn_blocking(asking).await.map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use hostler_model::{Generation, NodeId, Timestamp};

    use super::*;

    fn node(name: &str, state: NodeState, labels: &[(&str, &str)]) -> Node {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Node {
            id: NodeId::from_uuid(uuid::Uuid::nil()),
            name: name.parse().unwrap(),
            labels: labels.iter().map(own).collect(),
            state,
            cordon: None,
            facts: None,
            agent_version: String::new(),
            generation: Generation::FIRST,
            desired_generation: Generation::ZERO,
            time_created: Timestamp::default(),
            time_modified: Timestamp::default(),
            time_state: Timestamp::default(),
            lease: None,
        }
    }

    fn to(targets: Targets, fallback: bool) -> Delegation {
        Delegation { targets, fallback, ..Delegation::default() }
    }

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_name_is_a_node_that_can_be_reached() {
        let nodes = [
            node("web-01", NodeState::Online, &[("zone", "eu")]),
            node("web-02", NodeState::Offline, &[("zone", "eu")]),
        ];
        let names =
            |names: &[&str]| Targets::Nodes(names.iter().map(|name| (*name).to_owned()).collect());
        let both = sites(&to(names(&["web-01", "web-01:50051"]), false), &nodes).unwrap();
        assert_eq!(both.len(), 2);
        assert_eq!(both[0].node.as_ref().unwrap().as_str(), "web-01");
        let error = sites(&to(names(&["web-02"]), false), &nodes).unwrap_err();
        assert!(error.contains("cannot be reached"), "{error}");
        let error = sites(&to(names(&["web-03"]), false), &nodes).unwrap_err();
        assert!(error.contains("did you mean `web-0"), "{error}");
        assert_eq!(sites(&to(names(&["web-02"]), true), &nodes).unwrap(), [Site::anywhere()]);
        assert!(sites(&to(names(&[]), false), &nodes).is_err());
    }

    #[test]
    fn labels_mean_one_or_every_node_that_has_them() {
        let nodes = [
            node("a", NodeState::Online, &[("zone", "eu"), ("gpu", "true")]),
            node("b", NodeState::Online, &[("zone", "eu")]),
            node("c", NodeState::Offline, &[("zone", "eu")]),
        ];
        let eu = labels(&[("zone", "eu")]);
        let one = sites(&to(Targets::Labels(eu.clone()), false), &nodes).unwrap();
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].rules.selector, eu);
        assert_eq!(sites(&to(Targets::All(eu), false), &nodes).unwrap().len(), 2);
        let us = Targets::Labels(labels(&[("zone", "us")]));
        let error = sites(&to(us.clone(), false), &nodes).unwrap_err();
        assert!(error.contains("zone=us"), "{error}");
        assert_eq!(sites(&to(us, true), &nodes).unwrap(), [Site::anywhere()]);
    }

    #[test]
    fn strategies_are_those_of_placement() {
        let location = Delegation {
            targets: Targets::Labels(labels(&[(LOCATION_LABEL, "eu")])),
            strategy: PickStrategy::Location,
            fallback: false,
        };
        let nodes = [node("a", NodeState::Online, &[(LOCATION_LABEL, "eu")])];
        let found = sites(&location, &nodes).unwrap();
        assert_eq!(found[0].rules.near.as_deref(), Some("eu"));
        assert_eq!(found[0].rules.strategy, Some(Strategy::Location));
        assert!(found[0].rules.selector.is_empty());
    }
}
