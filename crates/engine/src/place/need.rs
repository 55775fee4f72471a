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
//! Only `together` gets easier with time; of needs with it nothing is remembered.
//!
//! Most needs walk the fleet's shared order from its best node, past whole blocks of nodes that have
//! not enough. One that has to pass by too many gets a ranking of its own. A ranking is a
//! heap whose entries are looked at again when they come up: under most strategies a node only gets
//! worse by being given something, so that an old entry is never too pessimistic. Under `bin-pack` it
//! gets better; there every node that was given something is entered anew.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};

use hostler_model::{
    Bytes, Constraint, GpuShareSize, Labels, Name, NumaRequest, ProjectId, Resources, Span,
    Strategy, Timestamp,
};

use super::devices::{has_devices, is_particular};
use super::fleet::{Among, Bits, Fleet, improves};
use super::frontier::Frontier;
use super::grade::{Grade, Grades};
use super::hash::HashMap;
use super::order::{Key, Room};
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
    grades: Option<u32>,
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
    /// What nodes are worth to it, where that is not the same for all.
    grades: Option<u32>,
    pub asked: Room,
    is_particular: bool,
    has_tags: bool,
    /// How many asks have it.
    pub users: u32,
    is_full: bool,
    /// So many at once were looked for in vain.
    too_many: usize,
    /// Whether somebody's hold ever was in the way.
    was_refused: bool,
    dropped: Bits,
    passed_by: usize,
    ranking: Option<Ranking>,
}

type Entry = (Grade, Key, u32);

struct Ranking {
    heap: BinaryHeap<Reverse<Entry>>,
    /// How many of the fleet's decisions it has seen.
    seen: usize,
}

impl Need<'_> {
    pub fn amounts(&self) -> [u64; 5] {
        let Room { cores, gpus, memory, disk } = self.asked;
        let timeout = self.shape.timeout.map_or(u64::MAX, Span::millis);
        [cores.into(), memory, disk, gpus.into(), timeout]
    }

    fn waits_for_tags(&self) -> bool {
        !self.shape.rules.together.is_empty()
    }
}

pub(super) struct Needs<'s> {
    all: Vec<Need<'s>>,
    rules: Vec<RuleSet>,
    rules_ids: HashMap<RulesKey<'s>, u32>,
    grades: Grades<'s>,
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
            grades: Grades::default(),
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
        let grades = self.grades.of(wanted, strategy, fleet.nodes, &fleet.open);
        let id = intern(
            &mut self.need_ids,
            NeedKey { rules, resources, timeout, grades, strategy, spread },
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
                grades,
                asked: Room::asked(resources),
                is_particular: is_particular(resources),
                has_tags,
                users: 0,
                is_full: false,
                too_many: usize::MAX,
                was_refused: false,
                dropped: Bits::default(),
                passed_by: 0,
                ranking: None,
            });
        }
        id
    }

    /// The best nodes for so many of a need, each on another; all or none.
    pub fn find(&mut self, id: u32, wanted: usize, fleet: &mut Fleet<'s>) -> Option<Vec<u32>> {
        let need = self.get(id);
        if need.waits_for_tags() {
            return self.find_beside(id, wanted, fleet);
        }
        if need.is_full
            || wanted >= need.too_many
            || self.full.has(0, need)
            || self.kept.has(0, need)
                && !fleet.holds().any(|hold| hold::is_not_less(need.shape, hold))
        {
            return None;
        }
        self.is_refused = false;
        let found = match wanted {
            1 => self.look(id, fleet).into_iter().collect(),
            _ => self.walk(id, wanted, None, fleet),
        };
        let need = &mut self.all[id as usize];
        need.was_refused |= self.is_refused;
        if found.len() == wanted {
            return Some(found);
        }
        need.too_many = need.too_many.min(wanted);
        if found.is_empty() {
            need.is_full = true;
            let known = if need.was_refused { &mut self.kept } else { &mut self.full };
            known.add(0, need);
        }
        None
    }

    /// As `find`, where something has to be there already: the best beside each of those.
    fn find_beside(&mut self, id: u32, wanted: usize, fleet: &mut Fleet<'s>) -> Option<Vec<u32>> {
        let Shape { project, rules, .. } = self.get(id).shape;
        let mut found: Vec<Entry> = Vec::new();
        for tag in &rules.together {
            let nodes = self.walk(id, wanted, Some((*project, tag)), fleet);
            found.extend(nodes.into_iter().map(|at| self.entry(id, at, fleet)));
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(wanted);
        (found.len() == wanted).then(|| found.into_iter().map(|(_, _, at)| at).collect())
    }

    fn look(&mut self, id: u32, fleet: &mut Fleet<'s>) -> Option<u32> {
        let need = self.get(id);
        if let Some(name) = &need.shape.rules.node {
            let at = fleet.named(name)?;
            return (fleet.is_open(at) && self.fits(id, at, fleet)).then_some(at);
        }
        if need.passed_by <= 4 * fleet.open.len() {
            return self.walk(id, 1, None, fleet).first().copied();
        }
        if need.users < 2 {
            return self.best(id, fleet, fleet.open.iter().copied());
        }
        self.top(id, fleet)
    }

    /// Goes through one of the fleet's orders until there are so many that none can be better; fewer
    /// where there are not enough.
    fn walk(
        &mut self,
        id: u32,
        wanted: usize,
        among: Among<'s>,
        fleet: &mut Fleet<'s>,
    ) -> Vec<u32> {
        let need = &mut self.all[id as usize];
        let mut dropped = std::mem::take(&mut need.dropped);
        let is_used_again = need.users > 1 && need.passed_by > 0 && !need.waits_for_tags();
        if is_used_again && dropped.is_unset() {
            dropped = Bits::new(fleet.nodes.len());
        }
        let (strategy, asked) = (need.strategy, need.asked);
        fleet.order(strategy, among);
        let least = self.least_worth(id, fleet);
        let mut looks = 0;
        let mut best: Vec<((Grade, u64), u32)> = Vec::new();
        'walk: for block in fleet.blocks(strategy, among) {
            if !block.covers(&asked) {
                looks += 1;
                continue;
            }
            for at in block.positions() {
                looks += 1;
                let worth = self.worth(id, at, fleet);
                let is_enough = best.len() == wanted;
                let is_better = best.last().is_none_or(|(worst, _)| worth < *worst);
                if dropped.has(at) || is_enough && !is_better {
                    continue;
                }
                if !self.fits(id, at, fleet) {
                    dropped.set(at);
                    continue;
                }
                best.truncate(wanted - 1);
                let place = best.partition_point(|(known, _)| *known <= worth);
                best.insert(place, (worth, at));
                if best.len() == wanted && best.last().is_some_and(|(worst, _)| *worst == least) {
                    break 'walk;
                }
            }
        }
        let need = &mut self.all[id as usize];
        need.dropped = dropped;
        need.passed_by += looks - best.len().min(looks);
        best.into_iter().map(|(_, at)| at).collect()
    }

    /// What comes before the fleet's order for a need: its grades, then how many of its family are there.
    fn worth(&self, id: u32, at: u32, fleet: &Fleet<'s>) -> (Grade, u64) {
        let need = self.get(id);
        let count = need.spread.map_or(0, |spread| fleet.spread_count(spread, at));
        (self.grades.at(need.grades, at), count)
    }

    /// No node is worth more than this.
    fn least_worth(&self, id: u32, fleet: &Fleet<'s>) -> (Grade, u64) {
        let need = self.get(id);
        let count = need.spread.map_or(0, |spread| fleet.spread_least(spread));
        (self.grades.least(need.grades), count)
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

    pub fn entry(&self, id: u32, at: u32, fleet: &Fleet<'s>) -> Entry {
        let need = self.get(id);
        let key = match need.spread {
            Some(spread) => fleet.spread_key(spread, at),
            None => fleet.key(need.strategy, at),
        };
        (self.grades.at(need.grades, at), key, at)
    }

    /// Whether the node takes one of a need now.
    pub fn fits(&mut self, id: u32, at: u32, fleet: &Fleet<'s>) -> bool {
        let need = &self.all[id as usize];
        if !fleet.free[at as usize].covers(&need.asked) || !self.matches(id, at, fleet) {
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
