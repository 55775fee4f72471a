//! Placement: which waiting workload goes to which node.
//!
//! `place` decides a whole batch over one snapshot, oldest first. A node *fits* when nothing speaks
//! against it; among those that fit, the one with the most free cores (as a share of its capacity) is
//! taken, then the one with the fewest runs, then the first by name, so that the same snapshot always
//! gives the same answer. What a decision takes is taken from the snapshot before the next is made.
//!
//! Invariants (property-tested): a node's capacity is never exceeded; a workload is left waiting only
//! if every node has a reason against it at that point; a decision names only nodes of the snapshot.

use hostler_model::{
    Bytes, Cores, Labels, Name, NodeId, NodeState, PlacementRules, Resources, WorkloadId,
};

/// A node as placement sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeOffer {
    pub id: NodeId,
    pub name: Name,
    pub labels: Labels,
    pub state: NodeState,
    /// Why nothing new goes there.
    pub cordon: Option<String>,
    pub capacity: Resources,
    pub used: Resources,
    pub runs: u64,
}

/// A workload that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub workload_id: WorkloadId,
    pub resources: Resources,
    pub rules: PlacementRules,
}

/// Something that speaks against a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    NotNamed { asked: Name },
    Label { key: String, asked: String, found: Option<String> },
    NotOnline { state: NodeState },
    Cordoned { reason: String },
    Cores { asked: Cores, free: Cores, capacity: Cores },
    Memory { asked: Bytes, free: Bytes, capacity: Bytes },
}

impl Reason {
    /// Whether waiting can help; otherwise the request or the node has to change.
    pub fn is_passing(&self) -> bool {
        match self {
            Reason::NotNamed { .. } | Reason::Label { .. } => false,
            Reason::NotOnline { state } => *state != NodeState::Removed,
            Reason::Cordoned { .. } => true,
            Reason::Cores { asked, capacity, .. } => asked <= capacity,
            Reason::Memory { asked, capacity, .. } => asked <= capacity,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::NotNamed { asked } => write!(f, "it asks for node `{asked}`"),
            Reason::Label { key, asked, found: Some(found) } => {
                write!(f, "label {key} is `{found}`, it asks for `{asked}`")
            }
            Reason::Label { key, asked, found: None } => {
                write!(f, "label {key} is missing, it asks for `{asked}`")
            }
            Reason::NotOnline { state } => write!(f, "the node is {state}"),
            Reason::Cordoned { reason } => write!(f, "the node is cordoned: {reason}"),
            Reason::Cores { asked, free, capacity } if asked > capacity => {
                write!(f, "asks for {asked} cores, the node has {capacity} in all ({free} free)")
            }
            Reason::Cores { asked, free, capacity } => {
                write!(f, "asks for {asked} cores, {free} of {capacity} are free")
            }
            Reason::Memory { asked, free, capacity } if asked > capacity => {
                write!(
                    f,
                    "asks for {asked} of memory, the node has {capacity} in all ({free} free)"
                )
            }
            Reason::Memory { asked, free, capacity } => {
                write!(f, "asks for {asked} of memory, {free} of {capacity} are free")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub workload_id: WorkloadId,
    pub node_id: NodeId,
}

/// Decides for as many of `asks` as fit; takes what it gives from `nodes`.
pub fn place(asks: &[Ask], nodes: &mut [NodeOffer]) -> Vec<Decision> {
    let mut decisions = Vec::new();
    let mut hopeless: Vec<&Ask> = Vec::new();
    for ask in asks {
        // Capacity only shrinks during a batch, so an equal request that found no node finds none now.
        if hopeless.iter().any(|h| h.resources == ask.resources && h.rules == ask.rules) {
            continue;
        }
        match nodes
            .iter_mut()
            .filter(|node| fits(ask, node))
            .min_by(|a, b| preference(a).cmp(&preference(b)))
        {
            Some(node) => {
                node.used.cores = node.used.cores.saturating_add(ask.resources.cores);
                node.used.memory = node.used.memory.saturating_add(ask.resources.memory);
                node.runs += 1;
                decisions.push(Decision { workload_id: ask.workload_id, node_id: node.id });
            }
            None => hopeless.push(ask),
        }
    }
    decisions
}

/// Whether anything that asks for cores can still be placed at all.
pub fn has_room(nodes: &[NodeOffer]) -> bool {
    let is_open = |node: &&NodeOffer| node.state == NodeState::Online && node.cordon.is_none();
    nodes.iter().filter(is_open).any(|node| free(node).cores > Cores::ZERO)
}

/// Everything that speaks against a node; empty means that it fits.
pub fn reasons(ask: &Ask, node: &NodeOffer) -> Vec<Reason> {
    let mut found = Vec::new();
    if let Some(asked) = &ask.rules.node
        && *asked != node.name
    {
        found.push(Reason::NotNamed { asked: asked.clone() });
    }
    for (key, asked) in &ask.rules.selector {
        let value = node.labels.get(key);
        if value != Some(asked) {
            found.push(Reason::Label {
                key: key.clone(),
                asked: asked.clone(),
                found: value.cloned(),
            });
        }
    }
    if node.state != NodeState::Online {
        found.push(Reason::NotOnline { state: node.state });
    }
    if let Some(reason) = &node.cordon {
        found.push(Reason::Cordoned { reason: reason.clone() });
    }
    let free = free(node);
    if ask.resources.cores > free.cores {
        found.push(Reason::Cores {
            asked: ask.resources.cores,
            free: free.cores,
            capacity: node.capacity.cores,
        });
    }
    if ask.resources.memory > free.memory {
        found.push(Reason::Memory {
            asked: ask.resources.memory,
            free: free.memory,
            capacity: node.capacity.memory,
        });
    }
    found
}

pub(crate) fn fits(ask: &Ask, node: &NodeOffer) -> bool {
    let free = free(node);
    node.state == NodeState::Online
        && node.cordon.is_none()
        && ask.resources.cores <= free.cores
        && ask.resources.memory <= free.memory
        && ask.rules.node.as_ref().is_none_or(|asked| *asked == node.name)
        && hostler_model::selector_matches(&ask.rules.selector, &node.labels)
}

fn free(node: &NodeOffer) -> Resources {
    Resources {
        cores: node.capacity.cores.saturating_sub(node.used.cores),
        memory: node.capacity.memory.saturating_sub(node.used.memory),
    }
}

/// Smaller is better.
fn preference(node: &NodeOffer) -> (u64, u64, &Name) {
    (used_per_mille(node), node.runs, &node.name)
}

/// How much of a node's cores is given away.
pub(crate) fn used_per_mille(node: &NodeOffer) -> u64 {
    (u64::from(node.used.cores.millis()) * 1000)
        .checked_div(u64::from(node.capacity.cores.millis()))
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn node(n: u128, cores: u32) -> NodeOffer {
        NodeOffer {
            id: NodeId::from_uuid(Uuid::from_u128(n)),
            name: format!("n{n}").parse().unwrap(),
            labels: Labels::from([("zone".to_owned(), format!("z{}", n % 2))]),
            state: NodeState::Online,
            cordon: None,
            capacity: Resources { cores: Cores::from_millis(cores), memory: Bytes::mib(1024) },
            used: Resources { cores: Cores::ZERO, memory: Bytes::ZERO },
            runs: 0,
        }
    }

    fn ask(n: u128, cores: u32) -> Ask {
        Ask {
            workload_id: WorkloadId::from_uuid(Uuid::from_u128(n)),
            resources: Resources { cores: Cores::from_millis(cores), memory: Bytes::ZERO },
            rules: PlacementRules::default(),
        }
    }

    #[test]
    fn work_is_spread_by_free_share() {
        let mut nodes = vec![node(1, 4000), node(2, 2000)];
        let asks: Vec<Ask> = (10..16).map(|n| ask(n, 1000)).collect();
        let given = place(&asks, &mut nodes);
        let on = |n: u128| {
            given.iter().filter(|d| d.node_id == NodeId::from_uuid(Uuid::from_u128(n))).count()
        };
        assert_eq!((on(1), on(2)), (4, 2));
    }

    #[test]
    fn every_reason_is_given() {
        let mut offer = node(1, 1000);
        offer.state = NodeState::Stale;
        offer.cordon = Some("disk swap".into());
        let mut wish = ask(10, 2000);
        wish.rules.node = Some("other".parse().unwrap());
        wish.rules.selector.insert("gpu".into(), "yes".into());
        wish.resources.memory = Bytes::mib(2048);
        let text: Vec<String> = reasons(&wish, &offer).iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        it asks for node `other`
        label gpu is missing, it asks for `yes`
        the node is stale
        the node is cordoned: disk swap
        asks for 2 cores, the node has 1 in all (1 free)
        asks for 2GiB of memory, the node has 1GiB in all (1GiB free)
        ");
    }

    proptest! {
        #[test]
        fn capacity_holds_and_nothing_waits_without_reason(
            capacities in prop::collection::vec(0u32..4000, 1..6),
            wishes in prop::collection::vec((0u32..3000, 0u64..2048, prop::option::of(0u128..6), prop::bool::ANY), 0..40),
            cordoned in prop::collection::vec(prop::bool::ANY, 6),
        ) {
            let mut nodes: Vec<NodeOffer> = capacities.iter().enumerate().map(|(i, c)| {
                let mut n = node(i as u128, *c);
                if cordoned[i] { n.cordon = Some("x".into()); }
                n
            }).collect();
            let asks: Vec<Ask> = wishes.iter().enumerate().map(|(i, (cores, memory, wanted, zone))| {
                let mut a = ask(100 + i as u128, *cores);
                a.resources.memory = Bytes::mib(*memory);
                a.rules.node = wanted.map(|n| format!("n{n}").parse().unwrap());
                if *zone { a.rules.selector.insert("zone".into(), "z1".into()); }
                a
            }).collect();
            let decisions = place(&asks, &mut nodes);
            for n in &nodes {
                prop_assert!(n.used.cores <= n.capacity.cores && n.used.memory <= n.capacity.memory);
            }
            for d in &decisions {
                let n = nodes.iter().find(|n| n.id == d.node_id).unwrap();
                prop_assert!(n.cordon.is_none());
            }
            // The snapshot after the batch has less room than any moment before, so whoever waits must
            // still have a reason against every node.
            for a in asks.iter().filter(|a| !decisions.iter().any(|d| d.workload_id == a.workload_id)) {
                for n in &nodes {
                    prop_assert!(!reasons(a, n).is_empty());
                }
            }
        }

        #[test]
        fn fitting_and_having_no_reason_are_the_same(cores in 0u32..3000, capacity in 0u32..3000, cordon in prop::bool::ANY) {
            let mut n = node(1, capacity);
            if cordon { n.cordon = Some("x".into()); }
            let a = ask(2, cores);
            prop_assert_eq!(fits(&a, &n), reasons(&a, &n).is_empty());
        }
    }
}
