//! The nodes during a pass: what is free of each as plain numbers, in the orders that strategies want.
//!
//! Nodes are addressed by their position; they are sorted by name, so the lower position wins a tie.
//! Only open nodes are in the orders. An order is made when the first request asks for it, of all open
//! nodes or of those where something with a tag is. How good a node is for the strategies that are asked
//! for is worked out with every decision; an order takes note of it when it is walked through.

use hostler_model::{NodeId, ProjectId, Reservation, Strategy};

use super::families::Families;
use super::grade::{Grade, grade};
use super::hash::{ByWord, HashMap};
use super::hold::HoldState;
use super::offer::{NodeOffer, count_one};
use super::order::{Key, Move, Now, Order, Reach, Room};
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
    /// What became better by being given something, under the strategy where that is so.
    moves: Vec<Move>,
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
            moves: Vec::new(),
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

    /// Open nodes in the order of a strategy, for as long as somebody walks through it.
    pub fn lend(&mut self, strategy: Strategy, among: Among<'_>) -> Order {
        self.rank(strategy);
        self.gather(strategy, among);
        let mut order = self.slot(strategy, among).map(std::mem::take).unwrap_or_default();
        self.bring_up_to_date(strategy, &mut order);
        order
    }

    pub fn give_back(&mut self, strategy: Strategy, among: Among<'_>, order: Order) {
        if let Some(slot) = self.slot(strategy, among) {
            *slot = order;
        }
    }

    /// These nodes in an order of their own.
    pub fn order(&mut self, strategy: Strategy, places: &[u32]) -> Order {
        self.rank(strategy);
        Order::of(places, self.moves.len(), self.now(strategy))
    }

    pub fn bring_up_to_date(&self, strategy: Strategy, order: &mut Order) {
        if improves(strategy) {
            order.follow(&self.moves, &self.free);
        }
    }

    /// How good all nodes are for a strategy, and what is free of them.
    pub fn now(&self, strategy: Strategy) -> Now<'_> {
        let strategy = ordered_as(strategy);
        let rank = self.ranks.iter().find(|rank| rank.strategy == strategy);
        Now { keys: rank.map_or(&[], |rank| &rank.keys), free: &self.free }
    }

    /// Makes sure that it is known how good nodes are for a strategy.
    fn rank(&mut self, strategy: Strategy) {
        let strategy = ordered_as(strategy);
        if self.ranks.iter().any(|rank| rank.strategy == strategy) {
            return;
        }
        let everywhere = 0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let keys: Vec<Key> = everywhere.map(|at| self.key(strategy, at)).collect();
        let now = Now { keys: &keys, free: &self.free };
        let order = Order::of(&self.open, self.moves.len(), now);
        self.ranks.push(Rank { strategy, keys, order });
    }

    /// Makes sure that nodes with a tag are in an order.
    fn gather(&mut self, strategy: Strategy, among: Among<'_>) {
        let Some((project, tag)) = among else { return };
        let (strategy, followed) = (ordered_as(strategy), self.moves.len());
        let Fleet { nodes, open, free, ranks, tagged, .. } = self;
        let tagged = tagged.get_or_insert_with(|| by_tag(nodes, open));
        let words = tagged.get_mut(&project);
        let Some(tagged) = words.and_then(|words| words.get_mut(tag)) else { return };
        let rank = ranks.iter().find(|rank| rank.strategy == strategy);
        if let Some(rank) = rank.filter(|_| tagged.order(strategy).is_none()) {
            let now = Now { keys: &rank.keys, free };
            tagged.orders.push((strategy, Order::of(&tagged.places, followed, now)));
        }
    }

    fn slot(&mut self, strategy: Strategy, among: Among<'_>) -> Option<&mut Order> {
        let strategy = ordered_as(strategy);
        match among {
            None => {
                let rank = self.ranks.iter_mut().find(|rank| rank.strategy == strategy);
                rank.map(|rank| &mut rank.order)
            }
            Some((project, tag)) => {
                let words = self.tagged.as_mut().and_then(|tagged| tagged.get_mut(&project));
                words.and_then(|words| words.get_mut(tag)?.order(strategy))
            }
        }
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

    /// The zone of a node, and how good it is within that.
    pub fn spread_key(&self, id: u32, at: u32) -> (u32, Key) {
        let runs = self.node(at).runs;
        match self.families.zone(id, at) {
            Some(zone) => (zone, key(0, runs)),
            None => (0, key(self.families.count(id, at), runs)),
        }
    }

    /// How many of a family are in a zone; without zones it is a matter of each node.
    pub fn zone_count(&self, id: u32, zone: u32) -> u64 {
        self.families.zone_count(id, zone)
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
        self.free[here] = Room::free(node);
        self.given[here] += u64::from(reservation.cores.millis());
        self.touched.push(at);
        for i in 0..self.ranks.len() {
            let strategy = self.ranks[i].strategy;
            let to = self.key(strategy, at);
            let from = std::mem::replace(&mut self.ranks[i].keys[here], to);
            if improves(strategy) {
                self.moves.push(Move { at, from, to });
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
    fn order(&mut self, strategy: Strategy) -> Option<&mut Order> {
        self.orders.iter_mut().find(|(known, _)| *known == strategy).map(|(_, order)| order)
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
    if whole == 0 {
        return FULL;
    }
    match u32::try_from(part) {
        Ok(part) => ((u64::from(part) << 32) / whole).min(FULL),
        Err(_) => {
            u64::try_from((u128::from(part) << 32) / u128::from(whole)).unwrap_or(FULL).min(FULL)
        }
    }
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
