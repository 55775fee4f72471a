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
//! not enough. Where rules or grades let them pass by too many, needs with the same ones get a *circle*:
//! the nodes that match, those of each grade in an order of their own. A need that passes by too many even
//! so gets a ranking for itself. Both are made only once as many were passed by as making them looks at.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::{
    Bytes, Constraint, GpuShareSize, Labels, Name, NumaRequest, ProjectId, Resources, Span,
    Strategy, Timestamp,
};

use super::circle::{CircleKey, Circles};
use super::devices::{has_devices, is_particular};
use super::fleet::{Among, Bits, Fleet, improves};
use super::frontier::Frontier;
use super::grade::{Grade, Grades};
use super::hash::HashMap;
use super::order::{Cursor, Key, Order, Room};
use super::ranking::{Entry, Ranking};
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
    /// None where all nodes are the same to it.
    circle: Option<u32>,
    ranking: Option<Ranking>,
}

/// What was worth the most so far to somebody who looks for nodes.
struct Walk {
    id: u32,
    wanted: usize,
    best: Vec<(Worth, u32)>,
    looks: usize,
    dropped: Bits,
}

/// What comes before a strategy's order: its grade, then how many of the family are there.
type Worth = (Grade, u64);

impl Walk {
    fn passed_by(&self) -> usize {
        self.looks.saturating_sub(self.best.len())
    }

    /// Whether nothing that is worth no more than this can be better.
    fn is_done(&self, least: Worth) -> bool {
        self.best.len() == self.wanted && self.best.last().is_some_and(|(worst, _)| *worst <= least)
    }
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
    circles: Circles,
    need_ids: HashMap<NeedKey<'s>, u32>,
    group_ids: HashMap<GroupKey<'s>, u32>,
    full: Frontier,
    /// As `full`, where somebody's hold was in the way.
    kept: Frontier,
    is_refused: bool,
    /// How many nodes, and blocks of them, were looked at.
    pub looks: usize,
    turn: hold::Turn,
}

impl<'s> Needs<'s> {
    pub fn new(now: Timestamp) -> Needs<'s> {
        Needs {
            all: Vec::new(),
            rules: Vec::new(),
            rules_ids: HashMap::default(),
            grades: Grades::default(),
            circles: Circles::default(),
            need_ids: HashMap::default(),
            group_ids: HashMap::default(),
            full: Frontier::default(),
            kept: Frontier::default(),
            is_refused: false,
            looks: 0,
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
            let has_rules = !wanted.selector.is_empty() || !wanted.constraints.is_empty();
            let is_choosy = has_rules || shape.needs_engine || grades.is_some();
            let key = CircleKey { rules, grades, strategy };
            let circle = is_choosy.then(|| self.circles.id(key));
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
                circle,
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
        let mut found: Vec<(Worth, Key, u32)> = Vec::new();
        for tag in &rules.together {
            let nodes = self.walk(id, wanted, Some((*project, tag)), fleet);
            let now = fleet.now(self.get(id).strategy);
            let keys =
                nodes.into_iter().map(|at| (self.worth(id, at, fleet), now.keys[at as usize], at));
            found.extend(keys);
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
        match need.passed_by <= 4 * fleet.open.len() {
            true => self.walk(id, 1, None, fleet).first().copied(),
            false => self.top(id, fleet),
        }
    }

    /// Goes through one of the fleet's orders, or through the circle, until there are so many that none
    /// can be better; fewer where there are not enough.
    fn walk(
        &mut self,
        id: u32,
        wanted: usize,
        among: Among<'s>,
        fleet: &mut Fleet<'s>,
    ) -> Vec<u32> {
        let need = &mut self.all[id as usize];
        let strategy = need.strategy;
        let circle = need.circle.filter(|_| among.is_none());
        let mut dropped = std::mem::take(&mut need.dropped);
        let is_used_again = need.users > 1 && need.passed_by > 0 && !need.waits_for_tags();
        if is_used_again && dropped.is_unset() {
            dropped = Bits::new(fleet.nodes.len());
        }
        let mut walk = Walk { id, wanted, best: Vec::new(), looks: 0, dropped };
        let (grade, count) = self.least_worth(id, fleet);
        let parts = circle.and_then(|circle| Some((circle, self.circles.lend(circle)?)));
        if let Some((circle, mut parts)) = parts {
            for (grade, order) in &mut parts {
                if walk.is_done((*grade, count)) {
                    break;
                }
                fleet.bring_up_to_date(strategy, order);
                self.walk_through(order, &mut walk, (*grade, count), fleet);
            }
            self.circles.give_back(circle, parts);
        } else {
            let mut order = fleet.lend(strategy, among);
            self.walk_through(&mut order, &mut walk, (grade, count), fleet);
            fleet.give_back(strategy, among, order);
            if let Some(circle) = circle
                && self.circles.is_due(circle, walk.passed_by(), fleet.open.len())
            {
                self.draw(circle, id, fleet);
            }
        }
        self.looks += walk.looks;
        let need = &mut self.all[id as usize];
        need.passed_by += walk.passed_by();
        need.dropped = walk.dropped;
        walk.best.into_iter().map(|(_, at)| at).collect()
    }

    /// Goes through an order in which nothing is worth more than that.
    fn walk_through(
        &mut self,
        order: &mut Order,
        walk: &mut Walk,
        least: Worth,
        fleet: &Fleet<'s>,
    ) {
        let Need { strategy, asked, .. } = *self.get(walk.id);
        let now = fleet.now(strategy);
        let mut cursor = Cursor::default();
        while let Some(at) = order.next(&mut cursor, &asked, now) {
            let worth = self.worth(walk.id, at, fleet);
            let is_enough = walk.best.len() == walk.wanted;
            let is_better = walk.best.last().is_none_or(|(worst, _)| worth < *worst);
            if walk.dropped.has(at) || is_enough && !is_better {
                continue;
            }
            if !self.fits(walk.id, at, fleet) {
                walk.dropped.set(at);
                continue;
            }
            walk.best.truncate(walk.wanted - 1);
            let place = walk.best.partition_point(|(known, _)| *known <= worth);
            walk.best.insert(place, (worth, at));
            if walk.is_done(least) {
                break;
            }
        }
        walk.looks += cursor.looks;
    }

    /// Makes the circle of a need.
    fn draw(&mut self, circle: u32, id: u32, fleet: &mut Fleet<'s>) {
        self.looks += fleet.open.len();
        let mut parts: BTreeMap<Grade, Vec<u32>> = BTreeMap::new();
        for at in fleet.open.iter().copied() {
            if self.matches_rules(id, at, fleet) {
                parts.entry(self.grades.at(self.get(id).grades, at)).or_default().push(at);
            }
        }
        let strategy = self.get(id).strategy;
        let order = |(grade, places): (Grade, Vec<u32>)| (grade, fleet.order(strategy, &places));
        self.circles.give_back(circle, parts.into_iter().map(order).collect());
    }

    fn worth(&self, id: u32, at: u32, fleet: &Fleet<'s>) -> Worth {
        let need = self.get(id);
        let count = need.spread.map_or(0, |spread| fleet.spread_count(spread, at));
        (self.grades.at(need.grades, at), count)
    }

    /// No node is worth more than this.
    fn least_worth(&self, id: u32, fleet: &Fleet<'s>) -> Worth {
        let need = self.get(id);
        let count = need.spread.map_or(0, |spread| fleet.spread_least(spread));
        (self.grades.least(need.grades), count)
    }

    /// The best of a ranking of its own.
    fn top(&mut self, id: u32, fleet: &Fleet<'s>) -> Option<u32> {
        let known = self.all[id as usize].ranking.take();
        let mut ranking = known.unwrap_or_else(|| self.ranking(id, fleet));
        let Need { strategy, spread, .. } = *self.get(id);
        let is_improving = improves(strategy);
        if is_improving {
            let fresh: BTreeSet<u32> = fleet.touched[ranking.seen..].iter().copied().collect();
            ranking.seen = fleet.touched.len();
            fresh.into_iter().for_each(|at| ranking.enter(self.entry(id, at, fleet).1));
        }
        let look = |at| {
            self.looks += 1;
            self.fits(id, at, fleet).then(|| self.entry(id, at, fleet).1)
        };
        let count = |zone| spread.map_or(0, |spread| fleet.zone_count(spread, zone));
        let found = ranking.first(is_improving, look, count);
        self.all[id as usize].ranking = Some(ranking);
        found
    }

    fn ranking(&mut self, id: u32, fleet: &Fleet<'s>) -> Ranking {
        let mut entries: Vec<(u32, Entry)> = Vec::new();
        for at in fleet.open.iter().copied() {
            self.looks += 1;
            if !self.get(id).dropped.has(at) && self.fits(id, at, fleet) {
                entries.push(self.entry(id, at, fleet));
            }
        }
        Ranking::of(entries, fleet.touched.len())
    }

    /// The zone of a node, and how good it is within that.
    fn entry(&self, id: u32, at: u32, fleet: &Fleet<'s>) -> (u32, Entry) {
        let Need { strategy, spread, grades, .. } = *self.get(id);
        let (zone, key) = match spread {
            Some(spread) => fleet.spread_key(spread, at),
            None => (0, fleet.now(strategy).keys[at as usize]),
        };
        (zone, (self.grades.at(grades, at), key, at))
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
        let Need { shape, has_tags, .. } = *self.get(id);
        let is_apart = |node| rules::conflict(shape, node).is_none();
        self.matches_rules(id, at, fleet)
            && (!has_tags || rules::is_together(shape, fleet.node(at)) && is_apart(fleet.node(at)))
    }

    /// Whether the node is what is asked for, whatever is there.
    fn matches_rules(&mut self, id: u32, at: u32, fleet: &Fleet<'s>) -> bool {
        let Need { shape, rules, .. } = self.all[id as usize];
        let look = || rules::matches(shape, fleet.node(at));
        match shape.rules.node {
            None => self.rules[rules as usize].has(at, fleet.nodes.len(), look),
            Some(_) => look(),
        }
    }
}

fn intern<K: std::hash::Hash + Eq>(known: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
    *known.entry(key).or_insert(next)
}
