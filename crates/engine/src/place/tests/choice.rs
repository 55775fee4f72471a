//! Which of the nodes that fit is taken, in fleets of more than one block of nodes. The judge looks at
//! every node for every decision.

use std::collections::BTreeMap;

use hostler_model::Strategy;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::*;

fn at(place: &str, mut node: NodeOffer) -> NodeOffer {
    if !place.is_empty() {
        node.labels.insert("location".to_owned(), place.to_owned());
    }
    node
}

fn near(place: &str, millis: u32) -> Shape {
    let mut shape = shape(cores(millis));
    shape.rules.near = Some(place.to_owned());
    shape
}

#[test]
fn the_nearest_place_is_taken_then_the_freest_node_of_it() {
    let fleet = || {
        vec![
            at("eu/berlin/rack3", node(1, 2)),
            at("eu/berlin/rack4", node(2, 4)),
            at("eu/paris/rack3", node(3, 8)),
            at("us/austin", node(4, 8)),
            at("", node(5, 8)),
            at("eu/berlin", node(6, 2)),
        ]
    };
    let go = |place: &str, count: u128| -> Vec<u128> {
        let queue = (10..10 + count).map(|n| ask(n, near(place, 1000))).collect();
        where_to(&place_all(fleet(), queue)).into_iter().map(|(_, node)| node).collect()
    };
    assert_eq!(go("eu/berlin/rack3", 3), [1, 1, 2], "the rack, then the rest of the city");
    assert_eq!(go("eu/berlin", 4), [1, 2, 6, 2], "everything within it is equally near");
    assert_eq!(go("eu/rome/rack1", 2), [1, 2], "all of eu is nearer than the rest");
    assert_eq!(go("eu/ber", 1), [1], "parts are compared whole");
    assert_eq!(go("asia", 5), [1, 2, 3, 4, 5], "nowhere near: as if nothing was said");
}

#[test]
fn whoever_asks_is_told_how_near_it_is() {
    let told = |nodes: Vec<NodeOffer>| {
        let scene = scene(nodes, vec![ask(10, near("eu/berlin", 100))]);
        explain(scene, task(10), |_| None).unwrap().summary()
    };
    let there = told(vec![at("eu/paris", node(1, 4)), at("us", node(2, 4))]);
    assert_eq!(
        there,
        "it goes to node `n1` in a moment, at `eu/paris`, as near to `eu/berlin` as there is room"
    );
    assert!(told(vec![node(1, 4)]).contains("does not say where it is"));
}

#[test]
fn preferences_come_before_the_place() {
    let mut shape = near("eu/berlin", 100);
    shape.rules.prefer = vec!["node != n1".parse().unwrap()];
    let nodes = vec![at("eu/berlin", node(1, 4)), at("us", node(2, 4)), at("eu", node(3, 4))];
    assert_eq!(where_to(&place_all(nodes, vec![ask(10, shape)])), [(10, 3)]);
}

fn place_all(nodes: Vec<NodeOffer>, queue: Vec<Ask>) -> Plan {
    place(&mut scene(nodes, queue))
}

fn share(part: u64, whole: u64) -> u64 {
    let share = (u128::from(part) << 32).checked_div(whole.into());
    share.map_or(u64::MAX, |share| u64::try_from(share).unwrap())
}

/// How many parts at the beginning of two places are the same, counted from the end of the first.
fn steps(near: &str, here: &str) -> usize {
    let (near, here): (Vec<&str>, Vec<&str>) =
        (near.split('/').collect(), here.split('/').collect());
    let differ = (0..near.len()).find(|i| near.get(*i) != here.get(*i));
    differ.map_or(0, |from| near.len() - from)
}

struct Judge {
    nodes: Vec<NodeOffer>,
    families: BTreeMap<(String, String), u64>,
}

impl Judge {
    fn zone(shape: &Shape, node: &NodeOffer) -> String {
        match &shape.rules.over {
            None => node.name.to_string(),
            Some(label) => format!("in {:?}", node.labels.get(label)),
        }
    }

    fn best(&self, shape: &Shape) -> Option<NodeId> {
        let measure = |node: &NodeOffer| {
            let used = share(node.used.cores.millis().into(), node.capacity.cores.millis().into());
            let memory = share(node.used.memory.get(), node.capacity.memory.get());
            match shape.strategy(&Settings::default()) {
                Strategy::BinPack => (u64::MAX - used.max(memory), 0),
                Strategy::Spread => {
                    let zone = (shape.family.clone(), Judge::zone(shape, node));
                    (self.families.get(&zone).copied().unwrap_or_default(), node.runs)
                }
                _ => (used, node.runs),
            }
        };
        let rank = |node: &&NodeOffer| {
            let unmet = shape.rules.prefer.iter().filter(|c| !rules::holds(c, node)).count();
            let here = node.labels.get("location").map_or("", String::as_str);
            let steps = shape.rules.near.as_deref().map_or(0, |near| steps(near, here));
            (unmet, steps, measure(node), node.name.clone())
        };
        let fitting = self.nodes.iter().filter(|node| fits(shape, node));
        fitting.min_by_key(rank).map(|node| node.id)
    }

    fn take(&mut self, shape: &Shape, decision: &Decision) {
        let node = self.nodes.iter_mut().find(|node| node.id == decision.node_id).unwrap();
        node.take(&decision.reservation);
        for tag in &shape.tags {
            *node.tags.entry(shape.project).or_default().entry(tag.clone()).or_default() += 1;
        }
        let zones = [node.name.to_string(), format!("in {:?}", node.labels.get("zone"))];
        for zone in zones {
            *self.families.entry((shape.family.clone(), zone)).or_default() += 1;
        }
    }
}

fn any_fleet() -> impl proptest::strategy::Strategy<Value = Vec<NodeOffer>> {
    let one =
        (1u32..9, 0u32..8, prop::sample::select(vec!["", "eu", "eu/a", "eu/b/1", "us"]), 0u8..9);
    prop::collection::vec(one, 1..300).prop_map(|nodes| {
        (1u128..)
            .zip(nodes)
            .map(|(n, (cores, used, place, kind))| {
                let mut node = at(place, node(n, cores));
                if kind == 0 {
                    node.cordon = Some("disk".to_owned());
                }
                let cores = Cores::from_millis(used.min(cores) * 1000);
                node.take(&Reservation { cores, ..Reservation::default() });
                node
            })
            .collect()
    })
}

fn any_wish() -> impl proptest::strategy::Strategy<Value = Shape> {
    (1u32..5, 0u64..5, 0u8..9, "[xy]", 0u8..4).prop_map(|(cores, memory, kind, family, tags)| {
        let mut shape = shape(self::cores(cores * 1000));
        shape.resources.memory = Bytes::mib(memory * 900);
        shape.family = family;
        match kind {
            0 | 1 => shape.rules.strategy = Some(Strategy::BinPack),
            2 => shape.rules.strategy = Some(Strategy::Spread),
            3 => shape.rules.over = Some("zone".to_owned()),
            4 => shape.rules.near = Some("eu/b/1".to_owned()),
            5 => shape.rules.near = Some("us/x".to_owned()),
            6 => shape.rules.prefer = vec!["label.zone = z1".parse().unwrap()],
            _ => {}
        }
        match tags {
            0 => shape.tags = vec!["t".to_owned()],
            1 => shape.rules.together = vec!["t".to_owned()],
            2 => shape.rules.apart = vec!["t".to_owned()],
            _ => {}
        }
        shape
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_decision_is_the_best_of_all_nodes(
        nodes in any_fleet(),
        wishes in prop::collection::vec((any_wish(), 1u128..20), 1..8),
    ) {
        let shapes = wishes.iter().flat_map(|(shape, times)| (0..*times).map(move |_| shape));
        let queue: Vec<Ask> = (1000..).zip(shapes).map(|(n, shape)| ask(n, shape.clone())).collect();
        let plan = place_all(nodes.clone(), queue.clone());
        let mut judge = Judge { nodes, families: BTreeMap::new() };
        for decision in &plan.placed {
            let asked = queue.iter().find(|ask| ask.workload_id == decision.workload_id).unwrap();
            prop_assert_eq!(judge.best(&asked.shape), Some(decision.node_id), "{:?}", asked.shape);
            judge.take(&asked.shape, decision);
        }
        let left = queue.iter().filter(|ask| !plan.placed.iter().any(|d| d.workload_id == ask.workload_id));
        for ask in left {
            prop_assert_eq!(judge.best(&ask.shape), None);
        }
    }
}
