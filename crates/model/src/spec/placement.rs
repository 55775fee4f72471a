//! Where a workload may run, and where it would rather run.

use serde::{Deserialize, Serialize};

use super::Problems;
use super::constraint::Constraint;
use crate::name::label_problem;
use crate::{Labels, Name};

/// Where a workload may run.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields, default)]
pub struct PlacementRules {
    /// Only on the node of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    /// Only on nodes that carry all of these labels.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub selector: Labels,
    /// Only on nodes for which all of these are true, such as `kernel >= 6.1` or `label.zone in (a, b)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// Rather on nodes for which these are true; the more the better.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<Constraint>,
    /// Only where something with one of these tags is placed already (in the same project).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<String>,
    /// Never where something with one of these tags is placed already (in the same project).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// How to choose among the nodes that fit; what the server is configured for when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// With the strategy `spread`: evenly over the values of this label instead of over nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// With the strategy `location`: the place to be near to, from the large to the small, such as
    /// `eu/berlin/rack3`. Nodes say where they are with the label `location`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// On every node that fits, also on those that come later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub every: bool,
    /// On this many nodes; one when absent.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

crate::labels! {
    /// How to choose among the nodes that fit.
    #[derive(Default)]
    pub enum Strategy ("strategy") {
        /// The node with the largest share of free cores.
        #[default]
        MostFree = "most-free",
        /// The fullest node that still has room, so that others stay empty.
        BinPack = "bin-pack",
        /// The node with the fewest workloads of the same project and name stem, then the fewest at all.
        Spread = "spread",
        /// One after the other.
        RoundRobin = "round-robin",
        /// The node whose processors are least busy by its own measurement.
        LeastLoaded = "least-loaded",
        /// The node nearest to the place that `near` names, then the one with the largest share of free
        /// cores.
        Location = "location",
    }
}

/// The label with which a node says where it is.
pub const LOCATION_LABEL: &str = "location";

impl PlacementRules {
    pub(super) fn look(&self, say: &mut Problems<'_>) {
        for (key, value) in &self.selector {
            if let Some(problem) = label_problem(key, value) {
                say.at("/placement/selector", problem);
            }
        }
        if self.count == Some(0) {
            say.at("/placement/count", "at least one node; stop the workload to have it on none");
        }
        if self.count.is_some() && self.every {
            say.at("/placement/count", "either `every` or `count`, not both");
        }
        if self.node.is_some() && (self.every || self.count.is_some_and(|count| count > 1)) {
            say.at("/placement/node", "one node was named; `every` and `count` mean several");
        }
        if self.over.is_some() && self.strategy.is_some_and(|s| s != Strategy::Spread) {
            say.at("/placement/over", "`over` belongs to the strategy `spread`");
        }
        if let Some(near) = &self.near {
            if near.split('/').any(str::is_empty) {
                say.at(
                    "/placement/near",
                    "a place is made of words with `/` between, as in `eu/berlin`",
                );
            } else if let Some(problem) = label_problem(LOCATION_LABEL, near) {
                say.at("/placement/near", problem);
            }
            if self.over.is_some() || self.strategy.is_some_and(|s| s != Strategy::Location) {
                say.at("/placement/near", "`near` belongs to the strategy `location`");
            }
        } else if self.strategy == Some(Strategy::Location) {
            say.at("/placement/near", "the strategy `location` needs a place to be near to");
        }
        for (at, tags) in
            [("/placement/together", &self.together), ("/placement/apart", &self.apart)]
        {
            if tags.iter().any(|tag| !super::is_tag(tag)) {
                say.at(at, "a tag has 1 to 128 printable characters");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkloadSpec;

    #[test]
    fn a_place_is_a_path_and_belongs_to_its_strategy() {
        let problems = |rules: PlacementRules| {
            let spec = WorkloadSpec { placement: rules, ..WorkloadSpec::command(["true"]) };
            spec.problems("").into_iter().map(|problem| problem.pointer).collect::<Vec<String>>()
        };
        let near = |place: &str| PlacementRules {
            near: Some(place.to_owned()),
            ..PlacementRules::default()
        };
        for good in ["eu", "eu/berlin/rack3", "DE.1/a_b"] {
            assert_eq!(problems(near(good)), [""; 0], "{good}");
        }
        for bad in ["", "/eu", "eu/", "eu//berlin", "eu/ berlin", &"x".repeat(64)] {
            assert_eq!(problems(near(bad)), ["/placement/near"], "{bad}");
        }
        let with = |strategy| PlacementRules { strategy: Some(strategy), ..near("eu") };
        assert_eq!(problems(with(Strategy::Location)), [""; 0]);
        assert_eq!(problems(with(Strategy::BinPack)), ["/placement/near"]);
        let over = PlacementRules { over: Some("zone".to_owned()), ..near("eu") };
        assert_eq!(problems(over), ["/placement/near"]);
        let nowhere = PlacementRules { near: None, ..with(Strategy::Location) };
        assert_eq!(problems(nowhere), ["/placement/near"]);
    }
}
