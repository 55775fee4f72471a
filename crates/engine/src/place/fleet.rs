//! The nodes during a pass: what is free of each as plain numbers, in the orders that strategies want.
//!
//! Nodes are addressed by their position; they are sorted by name, so the lower position wins a tie.
//! Only open nodes are in the orders. An order is made when the first request asks for it and kept up
//! to date with every decision: the best node is then a few steps away, however many there are.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hostler_model::{ProjectId, Reservation, Strategy};

use super::hash::HashMap;
use super::hold::HoldState;
use super::offer::{NodeOffer, count, count_one};
use super::{Kept, Settings, Shape};

/// The smaller the better: a measure in the upper bits, how much runs there in the lower.
pub(super) type Key = u64;

pub(super) struct Fleet<'s> {
    pub nodes: &'s mut [NodeOffer],
    pub free: Vec<Free>,
    /// Positions of the nodes that take work.
    pub open: Vec<u32>,
    is_open: Bits,
    orders: Vec<Order>,
    /// Thousandths of cores given to each node in this pass.
    given: Vec<u64>,
    /// Every node that was given something, in order.
    pub touched: Vec<u32>,
    sequence: i64,
    spreads: Vec<SpreadCount>,
    spread_ids: HashMap<ProjectId, HashMap<String, Vec<u32>>>,
    holds: HashMap<u32, HoldState<'s>>,
    is_held: Bits,
}

#[derive(Clone, Copy)]
pub(super) struct Free {
    pub cores: u32,
    pub memory: u64,
    pub disk: u64,
}

struct Order {
    strategy: Strategy,
    keys: Vec<Key>,
    sorted: BTreeSet<(Key, u32)>,
}

/// How many of a family are where: on each node, or in each zone that a label makes.
struct SpreadCount {
    over: Option<String>,
    zone_of: Vec<u32>,
    counts: Vec<u64>,
}

impl<'s> Fleet<'s> {
    pub fn of(nodes: &'s mut [NodeOffer]) -> Fleet<'s> {
        nodes.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        let mut is_open = Bits::new(nodes.len());
        let is_held = Bits::new(nodes.len());
        let open: Vec<u32> = (0u32..)
            .zip(nodes.iter())
            .filter(|(_, node)| node.is_open())
            .map(|(at, _)| at)
            .collect();
        open.iter().for_each(|at| is_open.set(*at));
        let sequence = nodes.iter().map(|node| node.last_given.micros()).max().unwrap_or(0);
        Fleet {
            free: nodes.iter().map(free).collect(),
            given: vec![0; nodes.len()],
            open,
            is_open,
            nodes,
            orders: Vec::new(),
            touched: Vec::new(),
            sequence,
            spreads: Vec::new(),
            spread_ids: HashMap::default(),
            holds: HashMap::default(),
            is_held,
        }
    }

    pub fn node(&self, at: u32) -> &NodeOffer {
        &self.nodes[at as usize]
    }

    pub fn is_open(&self, at: u32) -> bool {
        self.is_open.has(at)
    }

    /// Who a node is kept for.
    pub fn hold_on(&self, at: u32) -> Option<&HoldState<'s>> {
        if self.is_held.has(at) { self.holds.get(&at) } else { None }
    }

    pub fn holds(&self) -> impl ExactSizeIterator<Item = &HoldState<'s>> {
        self.holds.values()
    }

    pub fn hold(&mut self, at: u32, hold: HoldState<'s>) {
        self.is_held.set(at);
        self.holds.insert(at, hold);
    }

    /// Takes over what was kept before.
    pub fn keep(&mut self, kept: &'s [Kept]) {
        for Kept { node_id, shape, expected, leaving } in kept {
            let at = self.nodes.iter().position(|node| node.id == *node_id);
            if let Some(at) = at.and_then(|at| u32::try_from(at).ok()) {
                self.hold(
                    at,
                    HoldState { shape, expected: *expected, leaving: leaving.iter().collect() },
                );
            }
        }
    }

    /// Where the node of a name is.
    pub fn named(&self, name: &hostler_model::Name) -> Option<u32> {
        let at = self.nodes.binary_search_by(|node| node.name.cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// Makes sure that there is an order for the strategy.
    pub fn order(&mut self, strategy: Strategy) {
        if !self.orders.iter().any(|order| order.strategy == strategy) {
            self.add_order(strategy);
        }
    }

    /// Open nodes, best first; of an order that was made before.
    pub fn ordered(&self, strategy: Strategy) -> impl Iterator<Item = u32> {
        let order = self.orders.iter().find(|order| order.strategy == strategy);
        order.into_iter().flat_map(|order| order.sorted.iter().map(|(_, at)| *at))
    }

    fn add_order(&mut self, strategy: Strategy) {
        let everywhere = 0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let keys: Vec<Key> = everywhere.map(|at| self.key(strategy, at)).collect();
        let sorted = self.open.iter().map(|at| (keys[*at as usize], *at)).collect();
        self.orders.push(Order { strategy, keys, sorted });
    }

    /// How good a node is for a strategy; `spread` has counts of its own.
    pub fn key(&self, strategy: Strategy, at: u32) -> Key {
        let node = self.node(at);
        match strategy {
            Strategy::MostFree | Strategy::Spread => key(used_share(node), node.runs),
            Strategy::BinPack => key(FULL - used_share(node).max(memory_share(node)), 0),
            Strategy::RoundRobin => turn(node),
            Strategy::LeastLoaded => {
                let cores = u64::from(node.capacity.cores.millis());
                let busy = u64::from(node.observed.cpu) * cores / 1000;
                key(ratio(busy + self.given[at as usize], cores), node.runs)
            }
        }
    }

    /// The counter for a family that is to be spread.
    pub fn spread_id(&mut self, shape: &Shape) -> u32 {
        let over = &shape.rules.over;
        let families = self.spread_ids.entry(shape.project).or_default();
        let ids = families.entry(shape.family.clone()).or_default();
        if let Some(id) = ids.iter().find(|id| self.spreads[**id as usize].over == *over) {
            return *id;
        }
        let id = u32::try_from(self.spreads.len()).unwrap_or(u32::MAX);
        ids.push(id);
        let zone_of = zones(self.nodes, over.as_deref());
        let mut counts = vec![0; self.nodes.len().max(1)];
        for (node, zone) in self.nodes.iter().zip(&zone_of) {
            counts[*zone as usize] +=
                u64::from(count(&node.families, shape.project, &shape.family));
        }
        self.spreads.push(SpreadCount { over: over.clone(), zone_of, counts });
        id
    }

    pub fn spread_key(&self, id: u32, at: u32) -> Key {
        let spread = &self.spreads[id as usize];
        let zone = spread.zone_of[at as usize];
        key(spread.counts[zone as usize], self.node(at).runs)
    }

    /// Open nodes where something is that a shape wants to be together with.
    pub fn tagged(&self, shape: &Shape) -> impl Iterator<Item = u32> {
        self.open.iter().copied().filter(|at| super::rules::is_together(shape, self.node(*at)))
    }

    /// Gives a node away.
    pub fn take(&mut self, at: u32, reservation: &Reservation, shape: &Shape) {
        let here = at as usize;
        let node = &mut self.nodes[here];
        node.take(reservation);
        self.sequence = self.sequence.saturating_add(1);
        node.last_given = hostler_model::Timestamp::from_micros(self.sequence);
        for tag in &shape.tags {
            count_one(&mut node.tags, shape.project, tag);
        }
        let families = self.spread_ids.get(&shape.project);
        if let Some(ids) = families.and_then(|families| families.get(&shape.family)) {
            count_one(&mut node.families, shape.project, &shape.family);
            for id in ids {
                let spread = &mut self.spreads[*id as usize];
                spread.counts[spread.zone_of[here] as usize] += 1;
            }
        }
        self.free[here] = free(&self.nodes[here]);
        self.given[here] += u64::from(reservation.cores.millis());
        self.touched.push(at);
        for i in 0..self.orders.len() {
            let key = self.key(self.orders[i].strategy, at);
            let order = &mut self.orders[i];
            let old = std::mem::replace(&mut order.keys[here], key);
            if old != key {
                order.sorted.remove(&(old, at));
                order.sorted.insert((key, at));
            }
        }
    }
}

fn free(node: &NodeOffer) -> Free {
    let free = node.free();
    Free { cores: free.cores.millis(), memory: free.memory.get(), disk: free.disk.get() }
}

/// Numbers the values of a label; without one every node is a zone of its own.
fn zones(nodes: &[NodeOffer], over: Option<&str>) -> Vec<u32> {
    let mut known: HashMap<Option<&String>, u32> = HashMap::default();
    (0u32..)
        .zip(nodes)
        .map(|(at, node)| match over {
            None => at,
            Some(key) => {
                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                *known.entry(node.labels.get(key)).or_insert(next)
            }
        })
        .collect()
}

fn key(measure: u64, runs: u64) -> Key {
    measure.min(FULL) << 31 | runs.min(u64::from(u32::MAX >> 1))
}

/// When it was last given something, as a number that compares.
fn turn(node: &NodeOffer) -> Key {
    node.last_given.micros().cast_unsigned() ^ (1 << 63)
}

/// More than any fraction below or at one.
const FULL: u64 = (1 << 33) - 1;

/// A fraction as a number that compares; nothing of nothing is full.
fn ratio(part: u64, whole: u64) -> u64 {
    let parts = u128::from(part) << 32;
    parts
        .checked_div(whole.into())
        .map_or(FULL, |ratio| u64::try_from(ratio).unwrap_or(FULL).min(FULL))
}

fn used_share(node: &NodeOffer) -> u64 {
    ratio(node.used.cores.millis().into(), node.capacity.cores.millis().into())
}

fn memory_share(node: &NodeOffer) -> u64 {
    if node.capacity.memory.is_zero() {
        0
    } else {
        ratio(node.used.memory.get(), node.capacity.memory.get())
    }
}

/// Strategies under which a node looks better once it was given something.
pub(super) fn improves(strategy: Strategy) -> bool {
    strategy == Strategy::BinPack
}

/// How good a node is for something that is placed by itself; the smaller the better.
pub(crate) fn standing(
    node: &NodeOffer,
    shape: &Shape,
    settings: &Settings,
) -> (Reverse<u32>, u64) {
    let key = match shape.strategy(settings) {
        Strategy::MostFree | Strategy::Spread => key(used_share(node), node.runs),
        Strategy::BinPack => key(FULL - used_share(node).max(memory_share(node)), 0),
        Strategy::RoundRobin => turn(node),
        Strategy::LeastLoaded => key(ratio(node.observed.cpu.into(), 1000), node.runs),
    };
    (Reverse(super::rules::preferences(&shape.rules, node)), key)
}

/// A set of positions.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }
    /// Whether nothing was ever put into it, not even its size.
    pub fn is_unset(&self) -> bool {
        self.0.is_empty()
    }
    pub fn has(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
    pub fn set(&mut self, at: u32) {
        if let Some(word) = self.0.get_mut(at as usize / 64) {
            *word |= 1 << (at % 64);
        }
    }
}
