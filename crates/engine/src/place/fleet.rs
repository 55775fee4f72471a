//! The nodes during a pass: what is free of each as plain numbers, in the orders that strategies want.
//!
//! Nodes are addressed by their position; they are sorted by name, so the lower position wins a tie.
//! Only open nodes are in the orders. An order is made when the first request asks for it and kept up
//! to date with every decision: the best node is then a few steps away, however many there are.

use hostler_model::{NodeId, ProjectId, Reservation, Strategy};

use super::families::Families;
use super::grade::{Grade, grade};
use super::hash::{ByWord, HashMap};
use super::hold::HoldState;
use super::offer::{Counts, NodeOffer, count_one};
use super::order::{Block, Key, Moved, Order, Reach, Room};
use super::{Kept, Settings, Shape};

pub(super) struct Fleet<'s> {
    pub nodes: &'s mut [NodeOffer],
    pub free: Vec<Room>,
    /// Positions of the nodes that take work.
    pub open: Vec<u32>,
    is_open: Bits,
    ranks: Vec<Rank>,
    /// Thousandths of cores given to each node in this pass.
    given: Vec<u64>,
    /// Every node that was given something, in order.
    pub touched: Vec<u32>,
    sequence: i64,
    families: Families,
    /// Open nodes by the tags of what is there; made when somebody has to know.
    tagged: Option<ByWord<Tagged>>,
    /// What open nodes can offer when nothing runs there; made when somebody has to know.
    whole: Option<Reach>,
    holds: HashMap<u32, HoldState<'s>>,
    is_held: Bits,
}

/// How good every node is for a strategy, and the open ones in that order.
struct Rank {
    strategy: Strategy,
    keys: Vec<Key>,
    order: Order,
}

/// Open nodes where something with one tag is.
#[derive(Default)]
struct Tagged {
    places: Vec<u32>,
    /// In the orders that somebody asked for.
    orders: Vec<(Strategy, Order)>,
}

/// Which open nodes: all, or those where something of a project with a tag is.
pub(super) type Among<'a> = Option<(ProjectId, &'a str)>;

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
            free: nodes.iter().map(Room::free).collect(),
            given: vec![0; nodes.len()],
            open,
            is_open,
            nodes,
            ranks: Vec::new(),
            touched: Vec::new(),
            sequence,
            families: Families::default(),
            tagged: None,
            whole: None,
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
        if kept.is_empty() {
            return;
        }
        let at: HashMap<NodeId, u32> = self.nodes.iter().map(|node| node.id).zip(0u32..).collect();
        for Kept { node_id, shape, expected, leaving } in kept {
            if let Some(at) = at.get(node_id) {
                let leaving = leaving.iter().collect();
                self.hold(*at, HoldState { shape, expected: *expected, leaving });
            }
        }
    }

    /// Where the node of a name is.
    pub fn named(&self, name: &hostler_model::Name) -> Option<u32> {
        let at = self.nodes.binary_search_by(|node| node.name.cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// Makes sure that there is an order for the strategy.
    pub fn order(&mut self, strategy: Strategy, among: Among<'_>) {
        let strategy = ordered_as(strategy);
        if !self.ranks.iter().any(|rank| rank.strategy == strategy) {
            let everywhere = 0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
            let keys: Vec<Key> = everywhere.map(|at| self.key(strategy, at)).collect();
            let order = Order::of(&keys, &self.open, &self.free);
            self.ranks.push(Rank { strategy, keys, order });
        }
        let Some((project, tag)) = among else { return };
        let Fleet { nodes, open, free, ranks, tagged, .. } = self;
        let tagged = tagged.get_or_insert_with(|| by_tag(nodes, open));
        let words = tagged.get_mut(&project);
        let Some(tagged) = words.and_then(|words| words.get_mut(tag)) else { return };
        let rank = ranks.iter().find(|rank| rank.strategy == strategy);
        if let Some(rank) = rank.filter(|_| tagged.order(strategy).is_none()) {
            let order = Order::of(&rank.keys, &tagged.places, free);
            tagged.orders.push((strategy, order));
        }
    }

    /// Open nodes, best first; of an order that was made before.
    pub fn blocks(&self, strategy: Strategy, among: Among<'_>) -> &[Block] {
        let strategy = ordered_as(strategy);
        let order = match among {
            None => {
                self.ranks.iter().find(|rank| rank.strategy == strategy).map(|rank| &rank.order)
            }
            Some((project, tag)) => {
                let words = self.tagged.as_ref().and_then(|tagged| tagged.get(&project));
                words.and_then(|words| words.get(tag)?.order(strategy))
            }
        };
        order.map_or(&[], Order::blocks)
    }

    /// How good a node is for a strategy; `spread` has counts of its own.
    pub fn key(&self, strategy: Strategy, at: u32) -> Key {
        let node = self.node(at);
        match strategy {
            Strategy::MostFree | Strategy::Location => key(used_share(node), node.runs),
            Strategy::Spread => key(0, node.runs),
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
        self.families.id(shape, self.nodes, &self.open)
    }

    pub fn spread_key(&self, id: u32, at: u32) -> Key {
        key(self.families.count(id, at), self.node(at).runs)
    }

    /// How many of a family are where a node is.
    pub fn spread_count(&self, id: u32, at: u32) -> u64 {
        self.families.count(id, at)
    }

    /// The fewest of a family that are anywhere.
    pub fn spread_least(&self, id: u32) -> u64 {
        self.families.least(id)
    }

    /// Open nodes that have so much when nothing runs there.
    pub fn roomy(&mut self, asked: &Room) -> Vec<u32> {
        let (nodes, open) = (&*self.nodes, &self.open);
        let room = |at: &u32| Room::whole(&nodes[*at as usize]);
        let whole = self.whole.get_or_insert_with(|| Reach::of(open.iter().map(room).collect()));
        whole.covering(asked).map(|index| open[index]).collect()
    }

    /// Gives a node away.
    pub fn take(&mut self, at: u32, reservation: &Reservation, shape: &Shape) {
        shape.tags.iter().for_each(|tag| self.tag(at, shape.project, tag));
        let here = at as usize;
        let node = &mut self.nodes[here];
        node.take(reservation);
        self.sequence = self.sequence.saturating_add(1);
        node.last_given = hostler_model::Timestamp::from_micros(self.sequence);
        if self.families.add(shape, at) {
            count_one(&mut node.families, shape.project, &shape.family);
        }
        let before = std::mem::replace(&mut self.free[here], Room::free(node));
        self.given[here] += u64::from(reservation.cores.millis());
        self.touched.push(at);
        for i in 0..self.ranks.len() {
            let to = self.key(self.ranks[i].strategy, at);
            let Fleet { ranks, tagged, nodes, free, .. } = self;
            let rank = &mut ranks[i];
            let from = std::mem::replace(&mut rank.keys[here], to);
            let moved = Moved { at, from, to, before };
            rank.order.follow(&moved, free);
            if let Some(tagged) = tagged {
                follow_tags(tagged, &nodes[here].tags, rank.strategy, &moved, free);
            }
        }
    }

    /// Counts something with a tag on a node.
    fn tag(&mut self, at: u32, project: ProjectId, tag: &str) {
        let Fleet { nodes, ranks, tagged, free, .. } = self;
        let node = &mut nodes[at as usize];
        count_one(&mut node.tags, project, tag);
        let Some(tagged) = tagged.as_mut().filter(|_| node.tagged(project, tag) == 1) else {
            return;
        };
        let words = tagged.entry(project).or_default();
        let known = words.entry(tag.to_owned()).or_default();
        known.places.push(at);
        for (strategy, order) in &mut known.orders {
            if let Some(rank) = ranks.iter().find(|rank| rank.strategy == *strategy) {
                order.insert((rank.keys[at as usize], at), free);
            }
        }
    }
}

impl Tagged {
    fn order(&self, strategy: Strategy) -> Option<&Order> {
        self.orders.iter().find(|(known, _)| *known == strategy).map(|(_, order)| order)
    }
}

/// Puts a node to its new place in the orders that it is in because of what is tagged there.
fn follow_tags(
    tagged: &mut ByWord<Tagged>,
    here: &Counts,
    strategy: Strategy,
    moved: &Moved,
    free: &[Room],
) {
    for (project, words) in here {
        let Some(known) = tagged.get_mut(project) else { continue };
        for (word, _) in words.iter().filter(|(_, count)| **count > 0) {
            let orders = known.get_mut(word).into_iter().flat_map(|tagged| &mut tagged.orders);
            let wanted = orders.filter(|(ordered, _)| *ordered == strategy);
            wanted.for_each(|(_, order)| order.follow(moved, free));
        }
    }
}

/// The strategy whose order serves another one too.
fn ordered_as(strategy: Strategy) -> Strategy {
    match strategy {
        Strategy::Location => Strategy::MostFree,
        other => other,
    }
}

fn by_tag(nodes: &[NodeOffer], open: &[u32]) -> ByWord<Tagged> {
    let mut tagged: ByWord<Tagged> = HashMap::default();
    for at in open {
        for (project, words) in &nodes[*at as usize].tags {
            let known = tagged.entry(*project).or_default();
            for (word, _) in words.iter().filter(|(_, count)| **count > 0) {
                known.entry(word.clone()).or_default().places.push(*at);
            }
        }
    }
    tagged
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
pub(crate) fn standing(node: &NodeOffer, shape: &Shape, settings: &Settings) -> (Grade, Key) {
    let strategy = shape.strategy(settings);
    let key = match strategy {
        Strategy::MostFree | Strategy::Spread | Strategy::Location => {
            key(used_share(node), node.runs)
        }
        Strategy::BinPack => key(FULL - used_share(node).max(memory_share(node)), 0),
        Strategy::RoundRobin => turn(node),
        Strategy::LeastLoaded => key(ratio(node.observed.cpu.into(), 1000), node.runs),
    };
    (grade(&shape.rules, strategy, node), key)
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
