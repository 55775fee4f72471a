//! Requests by kind, and the best node for each.
//!
//! Asks that want the same are one *need*. Static rules are compared with a node once for each set of
//! rules. During a pass room only becomes less, so
//!
//! - a node that does not fit a need never will again, and is dropped for it;
//! - a need that fits nowhere is full for the rest of the pass, and with it every need of the same
//!   kind that wants at least as much of everything (unless a hold was in the way that lets larger
//!   ones pass).
//!
//! Only `together` gets easier with time; needs with it are looked up through the tags instead.
//!
//! Most needs walk the fleet's shared order from its best node. One that has to pass by too many gets
//! a ranking of its own, as do those that are spread, whose order nobody shares. A ranking is a
//! heap whose entries are looked at again when they come up: under most strategies a node only gets
//! worse by being given something, so that an old entry is never too pessimistic. Under `bin-pack` it
//! gets better; there every node that was given something is entered anew.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};

use hostler_model::{
    Bytes, Constraint, GpuShareSize, Labels, Name, NumaRequest, PlacementRules, ProjectId,
    Resources, Span, Strategy, Timestamp,
};

use super::devices::{asked_cores, has_devices, is_particular};
use super::fleet::{Bits, Fleet, Key, improves};
use super::hash::HashMap;
use super::{Settings, Shape, hold, rules};

#[derive(PartialEq, Eq, Hash)]
struct RulesKey<'s> {
    node: Option<&'s Name>,
    selector: &'s Labels,
    constraints: &'s [Constraint],
    together: &'s [String],
    apart: &'s [String],
    needs_engine: bool,
    /// Where tags matter, which belong to a project.
    project: Option<ProjectId>,
}

#[derive(PartialEq, Eq, Hash)]
struct NeedKey<'s> {
    rules: u32,
    resources: &'s Resources,
    timeout: Option<Span>,
    prefer: Option<u32>,
    strategy: Strategy,
    spread: Option<u32>,
}

/// What has to be equal for one need to be more than another.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey<'s> {
    rules: u32,
    exclusive: bool,
    numa: Option<NumaRequest>,
    gpus: (GpuShareSize, &'s [u32], Option<&'s str>, Bytes),
}

/// Static rules, and which nodes they were compared with.
struct RuleSet {
    known: Bits,
    good: Bits,
}

impl RuleSet {
    fn has(&mut self, at: u32, nodes: usize, look: impl FnOnce() -> bool) -> bool {
        if self.known.is_unset() {
            (self.known, self.good) = (Bits::new(nodes), Bits::new(nodes));
        }
        if !self.known.has(at) {
            self.known.set(at);
            if look() {
                self.good.set(at);
            }
        }
        self.good.has(at)
    }
}

pub(super) struct Need<'s> {
    pub shape: &'s Shape,
    rules: u32,
    pub group: u32,
    strategy: Strategy,
    spread: Option<u32>,
    /// The preferences it has, if any.
    prefer: Option<u32>,
    cores: u32,
    memory: u64,
    disk: u64,
    is_particular: bool,
    has_tags: bool,
    /// How many asks have it.
    pub users: u32,
    is_full: bool,
    dropped: Bits,
    passed_by: usize,
    ranking: Option<Ranking>,
}

type Entry = (u32, Key, u32);

struct Ranking {
    heap: BinaryHeap<Reverse<Entry>>,
    /// How many of the fleet's decisions it has seen.
    seen: usize,
}

/// Amounts that are known not to fit, by group.
#[derive(Default)]
pub(super) struct Frontier(HashMap<(u32, i32), Vec<[u64; 5]>>);

impl Frontier {
    pub fn has(&self, group: u32, priority: i32, need: &Need<'_>) -> bool {
        let wants = need.amounts();
        let is_more = |full: &[u64; 5]| full.iter().zip(wants).all(|(full, wants)| wants >= *full);
        self.0.get(&(group, priority)).is_some_and(|known| known.iter().any(is_more))
    }

    pub fn add(&mut self, group: u32, priority: i32, need: &Need<'_>) {
        let amounts = need.amounts();
        let known = self.0.entry((group, priority)).or_default();
        known.retain(|other| !other.iter().zip(amounts).all(|(other, new)| *other >= new));
        known.push(amounts);
    }
}

impl Need<'_> {
    fn amounts(&self) -> [u64; 5] {
        let gpus = self.shape.resources.gpus.count.into();
        let timeout = self.shape.timeout.map_or(u64::MAX, Span::millis);
        [self.cores.into(), self.memory, self.disk, gpus, timeout]
    }

    fn waits_for_tags(&self) -> bool {
        !self.shape.rules.together.is_empty()
    }
}

pub(super) struct Needs<'s> {
    all: Vec<Need<'s>>,
    rules: Vec<RuleSet>,
    rules_ids: HashMap<RulesKey<'s>, u32>,
    /// How many of some preferences are not met by each node.
    unmet: Vec<Vec<u32>>,
    unmet_ids: HashMap<&'s [Constraint], u32>,
    need_ids: HashMap<NeedKey<'s>, u32>,
    group_ids: HashMap<GroupKey<'s>, u32>,
    full: Frontier,
    /// As `full`, where somebody's hold was in the way.
    kept: Frontier,
    is_refused: bool,
    turn: hold::Turn,
}

impl<'s> Needs<'s> {
    pub fn new(now: Timestamp) -> Needs<'s> {
        Needs {
            all: Vec::new(),
            rules: Vec::new(),
            rules_ids: HashMap::default(),
            unmet: Vec::new(),
            unmet_ids: HashMap::default(),
            need_ids: HashMap::default(),
            group_ids: HashMap::default(),
            full: Frontier::default(),
            kept: Frontier::default(),
            is_refused: false,
            turn: hold::Turn { now, priority: i32::MAX },
        }
    }

    pub fn get(&self, id: u32) -> &Need<'s> {
        &self.all[id as usize]
    }

    /// What is looked for next has this priority.
    pub fn look_for(&mut self, priority: i32) {
        self.turn.priority = priority;
    }

    pub fn used_by(&mut self, id: u32, asks: u32) {
        self.all[id as usize].users += asks;
    }

    pub fn of(&mut self, shape: &'s Shape, settings: &Settings, fleet: &mut Fleet<'s>) -> u32 {
        let wanted = &shape.rules;
        let has_tags = !wanted.together.is_empty() || !wanted.apart.is_empty();
        let key = RulesKey {
            node: wanted.node.as_ref(),
            selector: &wanted.selector,
            constraints: &wanted.constraints,
            together: &wanted.together,
            apart: &wanted.apart,
            needs_engine: shape.needs_engine,
            project: has_tags.then_some(shape.project),
        };
        let rules = intern(&mut self.rules_ids, key);
        if rules as usize == self.rules.len() {
            self.rules.push(RuleSet { known: Bits::default(), good: Bits::default() });
        }
        let strategy = shape.strategy(settings);
        let spread = (strategy == Strategy::Spread).then(|| fleet.spread_id(shape));
        let resources = &shape.resources;
        let timeout = shape.timeout;
        let prefer = (!wanted.prefer.is_empty()).then(|| self.preferences(wanted, fleet));
        let id = intern(
            &mut self.need_ids,
            NeedKey { rules, resources, timeout, prefer, strategy, spread },
        );
        if id as usize == self.all.len() {
            let gpus = &resources.gpus;
            let gpus = (gpus.share, gpus.ids.as_slice(), gpus.model.as_deref(), gpus.memory);
            let (exclusive, numa) = (resources.exclusive, resources.numa);
            let group = intern(&mut self.group_ids, GroupKey { rules, exclusive, numa, gpus });
            self.all.push(Need {
                shape,
                rules,
                group,
                strategy,
                spread,
                prefer,
                cores: asked_cores(resources).millis(),
                memory: resources.memory.get(),
                disk: resources.disk.get(),
                is_particular: is_particular(resources),
                has_tags,
                users: 0,
                is_full: false,
                dropped: Bits::default(),
                passed_by: 0,
                ranking: None,
            });
        }
        id
    }

    fn preferences(&mut self, wanted: &'s PlacementRules, fleet: &Fleet<'s>) -> u32 {
        let id = intern(&mut self.unmet_ids, wanted.prefer.as_slice());
        if id as usize == self.unmet.len() {
            let all = u32::try_from(wanted.prefer.len()).unwrap_or(u32::MAX);
            let unmet = |node| all.saturating_sub(rules::preferences(wanted, node));
            self.unmet.push(fleet.nodes.iter().map(unmet).collect());
        }
        id
    }

    /// The best node for one of a need.
    pub fn find(&mut self, id: u32, fleet: &mut Fleet<'s>) -> Option<u32> {
        let need = &self.all[id as usize];
        if need.waits_for_tags() {
            return self.best(id, fleet, fleet.tagged(need.shape));
        }
        let group = need.group;
        if need.is_full
            || self.full.has(group, 0, need)
            || self.kept.has(group, 0, need)
                && !fleet.holds().any(|hold| hold::is_not_less(need.shape, hold))
        {
            return None;
        }
        self.is_refused = false;
        let found = self.look(id, fleet);
        if found.is_none() {
            let need = &mut self.all[id as usize];
            need.is_full = true;
            let known = if self.is_refused { &mut self.kept } else { &mut self.full };
            known.add(group, 0, need);
        }
        found
    }

    fn look(&mut self, id: u32, fleet: &mut Fleet<'s>) -> Option<u32> {
        let need = &mut self.all[id as usize];
        if let Some(name) = &need.shape.rules.node {
            let at = fleet.named(name)?;
            return (fleet.is_open(at) && self.fits(id, at, fleet)).then_some(at);
        }
        if need.spread.is_none() && need.passed_by <= 4 * fleet.open.len() {
            return self.walk(id, fleet);
        }
        if need.users < 2 {
            return self.best(id, fleet, fleet.open.iter().copied());
        }
        self.top(id, fleet)
    }

    /// Goes through the fleet's own order, until a node meets every preference.
    fn walk(&mut self, id: u32, fleet: &mut Fleet<'s>) -> Option<u32> {
        let need = &mut self.all[id as usize];
        let mut dropped = std::mem::take(&mut need.dropped);
        if need.users > 1 && need.passed_by > 0 && dropped.is_unset() {
            dropped = Bits::new(fleet.nodes.len());
        }
        let (strategy, prefer) = (need.strategy, need.prefer);
        fleet.order(strategy);
        let mut passed_by = 0;
        let mut best: Option<(u32, u32)> = None;
        for at in fleet.ordered(strategy) {
            if !dropped.has(at) {
                let unmet = self.unmet(prefer, at);
                if best.is_none_or(|(least, _)| unmet < least) {
                    if self.fits(id, at, fleet) {
                        best = Some((unmet, at));
                    } else {
                        dropped.set(at);
                    }
                }
            }
            if best.is_some_and(|(unmet, _)| unmet == 0) {
                break;
            }
            passed_by += 1;
        }
        let need = &mut self.all[id as usize];
        need.dropped = dropped;
        need.passed_by += passed_by;
        best.map(|(_, at)| at)
    }

    /// How many of some preferences a node does not meet.
    fn unmet(&self, prefer: Option<u32>, at: u32) -> u32 {
        prefer.map_or(0, |prefer| self.unmet[prefer as usize][at as usize])
    }

    /// The best of a ranking of its own.
    fn top(&mut self, id: u32, fleet: &Fleet<'s>) -> Option<u32> {
        let need = &mut self.all[id as usize];
        let dropped = std::mem::take(&mut need.dropped);
        let is_improving = improves(need.strategy);
        let mut ranking = match need.ranking.take() {
            Some(ranking) => ranking,
            None => {
                let open = fleet.open.iter().copied().filter(|at| !dropped.has(*at));
                let entries = open.filter(|at| self.fits(id, *at, fleet)).collect::<Vec<u32>>();
                let entries = entries.into_iter().map(|at| Reverse(self.entry(id, at, fleet)));
                Ranking { heap: entries.collect(), seen: fleet.touched.len() }
            }
        };
        if is_improving {
            let fresh: BTreeSet<u32> = fleet.touched[ranking.seen..].iter().copied().collect();
            ranking.seen = fleet.touched.len();
            ranking.heap.extend(fresh.into_iter().map(|at| Reverse(self.entry(id, at, fleet))));
        }
        let mut found = None;
        while let Some(mut top) = ranking.heap.peek_mut() {
            let Reverse((_, _, at)) = *top;
            if !self.fits(id, at, fleet) {
                PeekMut::pop(top);
                continue;
            }
            let now = self.entry(id, at, fleet);
            if now == top.0 {
                found = Some(at);
                break;
            }
            if is_improving {
                PeekMut::pop(top);
            } else {
                *top = Reverse(now);
            }
        }
        let need = &mut self.all[id as usize];
        need.ranking = Some(ranking);
        need.dropped = dropped;
        found
    }

    /// The best of these, by looking at all.
    fn best(
        &mut self,
        id: u32,
        fleet: &Fleet<'s>,
        candidates: impl Iterator<Item = u32>,
    ) -> Option<u32> {
        let mut best: Option<Entry> = None;
        for at in candidates {
            if self.fits(id, at, fleet) {
                let entry = self.entry(id, at, fleet);
                best = Some(best.map_or(entry, |best| best.min(entry)));
            }
        }
        best.map(|(_, _, at)| at)
    }

    /// The best nodes for several of a need at once, each on another; all or none.
    pub fn find_many(&mut self, id: u32, wanted: usize, fleet: &Fleet<'s>) -> Option<Vec<u32>> {
        let fitting: Vec<u32> =
            fleet.open.iter().copied().filter(|at| self.fits(id, *at, fleet)).collect();
        let mut entries: Vec<Entry> =
            fitting.into_iter().map(|at| self.entry(id, at, fleet)).collect();
        entries.sort_unstable();
        (entries.len() >= wanted).then(|| entries[..wanted].iter().map(|(_, _, at)| *at).collect())
    }

    pub fn entry(&self, id: u32, at: u32, fleet: &Fleet<'s>) -> Entry {
        let need = self.get(id);
        let unmet = self.unmet(need.prefer, at);
        let key = match need.spread {
            Some(spread) => fleet.spread_key(spread, at),
            None => fleet.key(need.strategy, at),
        };
        (unmet, key, at)
    }

    /// Whether the node takes one of a need now.
    pub fn fits(&mut self, id: u32, at: u32, fleet: &Fleet<'s>) -> bool {
        let need = &self.all[id as usize];
        let free = fleet.free[at as usize];
        if need.cores > free.cores || need.memory > free.memory || need.disk > free.disk {
            return false;
        }
        if !self.matches(id, at, fleet) {
            return false;
        }
        let (need, node) = (&self.all[id as usize], fleet.node(at));
        if need.is_particular && !has_devices(&need.shape.resources, node) {
            return false;
        }
        let hold = fleet.hold_on(at);
        let is_admitted = hold.is_none_or(|hold| hold::admits(hold, need.shape, node, self.turn));
        self.is_refused |= !is_admitted;
        is_admitted
    }

    /// Whether the node is what is asked for, however full it is.
    pub fn matches(&mut self, id: u32, at: u32, fleet: &Fleet<'s>) -> bool {
        let need = &self.all[id as usize];
        let (shape, node) = (need.shape, fleet.node(at));
        let set = &mut self.rules[need.rules as usize];
        let is_good = shape.rules.node.is_none()
            && set.has(at, fleet.nodes.len(), || rules::matches(shape, node))
            || shape.rules.node.is_some() && rules::matches(shape, node);
        is_good
            && (!need.has_tags
                || rules::is_together(shape, node) && rules::conflict(shape, node).is_none())
    }
}

fn intern<K: std::hash::Hash + Eq>(known: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
    *known.entry(key).or_insert(next)
}
