//! One pass: asks in their order, one decision after the other.
//!
//! Everything a decision takes is taken before the next is made. Nothing is given back during a pass,
//! which is what lets parked lanes stay parked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hostler_model::{ArrayId, GangSeat, NodeId, Reservation, Timestamp, WorkloadId};

use super::ask::{ArrayRoom, Holding, Kept};
use super::fleet::Fleet;
use super::frontier::Frontier;
use super::hash::HashMap;
use super::hold::{HoldState, Missing, could_fit, expected};
use super::need::{Need, Needs};
use super::order::{Reach, Room};
use super::preempt::{self, Way};
use super::queue::{Queue, Shares, Turn, Unit};
use super::{Ask, Decision, Held, Hold, Plan, Preemption, Scene, Settings, Shape, reserve};

pub(super) struct Pass<'s> {
    queue: Queue<'s>,
    needs: Needs<'s>,
    fleet: Fleet<'s>,
    shares: Shares,
    arrays: &'s mut BTreeMap<ArrayId, ArrayRoom>,
    held: &'s [Held],
    /// By node; made when somebody has to know.
    held_on: Option<HashMap<NodeId, Vec<u32>>>,
    lowest_preemptible: Option<i32>,
    /// Whether anything gives way already.
    is_leaving: bool,
    /// What nodes can offer when what can give way has; made when somebody has to know.
    movable: Option<Reach>,
    unmovable: Frontier,
    hopeless: Frontier,
    settings: &'s Settings,
    now: Timestamp,
    preemptions: u32,
    /// For whom others give way in this pass.
    has_room_to_come: BTreeSet<WorkloadId>,
    kept_before: &'s [Kept],
    kept: Vec<Kept>,
    plan: Plan,
}

/// What is placed together.
enum Members<'s> {
    One(&'s Ask),
    Gang(Vec<&'s Ask>),
}

impl<'s> std::ops::Deref for Members<'s> {
    type Target = [&'s Ask];

    fn deref(&self) -> &[&'s Ask] {
        match self {
            Members::One(ask) => std::slice::from_ref(ask),
            Members::Gang(asks) => asks,
        }
    }
}

enum Served {
    /// The next of its lane can be looked at.
    Done,
    /// Nothing of its lane can be placed.
    Stuck,
}

/// Decides for as many of those that wait as fit; takes what it gives from the scene, and leaves its
/// nodes sorted by name.
pub fn place(scene: &mut Scene) -> Plan {
    let Scene { now, queue, nodes, projects, arrays, held, kept, settings } = scene;
    let mut shares = Shares::new(projects, nodes);
    let mut needs = Needs::new(*now);
    let mut fleet = Fleet::of(nodes);
    fleet.keep(kept);
    let queue = Queue::of(queue, &mut shares, arrays, settings, &mut needs, &mut fleet);
    let preemptible = held.iter().filter(|held| held.is_preemptible).map(|held| held.priority);
    let mut pass = Pass {
        queue,
        needs,
        fleet,
        shares,
        arrays,
        lowest_preemptible: preemptible.min().filter(|_| settings.is_preempting),
        is_leaving: held.iter().any(|held| held.is_leaving),
        held,
        held_on: None,
        movable: None,
        unmovable: Frontier::default(),
        hopeless: Frontier::default(),
        settings,
        now: *now,
        preemptions: 0,
        has_room_to_come: BTreeSet::new(),
        kept_before: kept,
        kept: Vec::new(),
        plan: Plan::default(),
    };
    pass.run();
    let Pass { mut plan, shares, kept: kept_now, needs, .. } = pass;
    plan.looks = needs.looks;
    projects.extend(shares.all);
    kept.extend(kept_now);
    for Preemption { victim, .. } in &plan.preempt {
        held.iter_mut()
            .filter(|held| held.workload_id == *victim)
            .for_each(|held| held.is_leaving = true);
    }
    plan
}

impl<'s> Pass<'s> {
    fn run(&mut self) {
        while let Some(turn) = self.queue.next(&self.shares) {
            match turn {
                Turn::Begin(projects) => projects.iter().for_each(|lanes| self.keep_room(lanes)),
                Turn::Serve(lane) => match self.serve(lane) {
                    Served::Done => self.queue.advance(lane, &self.shares),
                    Served::Stuck => self.queue.park(lane, &self.shares),
                },
            }
        }
    }

    /// Places the head of a lane, or makes room for it.
    fn serve(&mut self, lane: u32) -> Served {
        let Some((need, members)) = self.head(lane) else { return Served::Done };
        if !self.is_admitted(lane, &members) {
            return Served::Stuck;
        }
        match self.find(need, &members) {
            Some(nodes) => {
                self.give(lane, &members, &nodes);
                Served::Done
            }
            None if self.make_room(need, &members) => Served::Done,
            None => Served::Stuck,
        }
    }

    /// The head of a lane; none when it is a gang that is not complete.
    fn head(&self, lane: u32) -> Option<(u32, Members<'s>)> {
        let lane = &self.queue.lanes[lane as usize];
        let asks = self.queue.asks;
        let members = match lane.head()?.1 {
            Unit::One(index) => Members::One(&asks[index as usize]),
            Unit::Gang(gang) => {
                let members = &self.queue.gangs[gang as usize];
                Members::Gang(members.iter().map(|index| &asks[*index as usize]).collect())
            }
        };
        let size = members.first()?.gang.map_or(1, |gang| gang.size as usize);
        (members.len() == size).then_some((lane.need, members))
    }

    /// Whether nothing but room can keep the head of a lane waiting.
    fn is_admitted(&self, lane: u32, members: &[&'s Ask]) -> bool {
        let lane = &self.queue.lanes[lane as usize];
        let room = lane.array.and_then(|id| self.arrays.get(&id));
        let each = members.first().map(|ask| ask.shape.weight()).unwrap_or_default();
        let is_array_full = room.is_some_and(ArrayRoom::is_full);
        !is_array_full && self.shares.get(lane.project).admits(each.times(members.len() as u64))
    }

    fn find(&mut self, need: u32, members: &[&'s Ask]) -> Option<Vec<u32>> {
        self.needs.look_for(members.first()?.shape.priority);
        self.needs.find(need, members.len(), &mut self.fleet)
    }

    fn give(&mut self, lane: u32, members: &[&'s Ask], nodes: &[u32]) {
        let gang = members.first().and_then(|ask| ask.gang).map(|_| self.gang_seat(nodes));
        for ((ask, at), rank) in members.iter().zip(nodes).zip(0u32..) {
            let shape: &'s Shape = &ask.shape;
            let reservation = reserve(&shape.resources, self.fleet.node(*at));
            let mut reservation = reservation.expect("a node that fits has what is asked for");
            self.fleet.take(*at, &reservation, shape);
            let Self { queue, shares, .. } = self;
            shares.give(queue.lanes[lane as usize].project, Holding::of(&reservation));
            queue.wake(shape, shares);
            if let Some(room) = ask.array.and_then(|id| self.arrays.get_mut(&id)) {
                room.placed = room.placed.saturating_add(1);
            }
            reservation.gang = gang.clone().map(|seat| GangSeat { rank, ..seat });
            let (workload_id, node_id) = (ask.workload_id, self.fleet.node(*at).id);
            self.plan.placed.push(Decision { workload_id, node_id, reservation });
        }
    }

    fn gang_seat(&self, nodes: &[u32]) -> GangSeat {
        GangSeat {
            rank: 0,
            size: u32::try_from(nodes.len()).unwrap_or(u32::MAX),
            nodes: nodes.iter().map(|at| self.fleet.node(*at).name.to_string()).collect(),
            addresses: nodes.iter().map(|at| self.fleet.node(*at).address.clone()).collect(),
        }
    }

    /// Keeps nodes for the oldest of a project at one priority; `lanes` are by age.
    fn keep_room(&mut self, lanes: &[u32]) {
        let mut kept: Option<usize> = None;
        for lane in lanes {
            let most = self.fleet.open.len().div_ceil(2);
            if kept.is_some_and(|kept| kept >= self.settings.holds as usize)
                || self.fleet.holds().len() >= most
            {
                return;
            }
            let Some((need, members)) = self.head(*lane) else { continue };
            let Some(first) = members.first() else { continue };
            if self.now.since(first.time_ready) < self.settings.hold_after.duration() {
                return;
            }
            let kept_for = kept.get_or_insert_with(|| self.kept_like(&first.shape));
            if *kept_for >= self.settings.holds as usize || !self.is_admitted(*lane, &members) {
                continue;
            }
            let found = self.find(need, &members);
            if found.is_none() && self.make_room(need, &members) {
                continue;
            }
            if let Some(nodes) = found.or_else(|| self.nearest(need, members.len())) {
                let unkept = nodes.into_iter().filter(|at| self.fleet.hold_on(*at).is_none());
                for at in unkept.collect::<Vec<u32>>() {
                    self.hold(first, at, Vec::new());
                }
                *kept_for += 1;
            }
        }
    }

    /// How many nodes earlier passes keep for the same project and priority.
    fn kept_like(&self, shape: &Shape) -> usize {
        let is_like = |kept: &&Kept| {
            kept.shape.project == shape.project && kept.shape.priority == shape.priority
        };
        self.kept_before.iter().filter(is_like).count()
    }

    /// Where so many are nearest to fitting, among the nodes that are kept for nobody.
    fn nearest(&mut self, need: u32, wanted: usize) -> Option<Vec<u32>> {
        let Need { shape, asked, .. } = *self.needs.get(need);
        let is_one = wanted == 1;
        if is_one && self.hopeless.has(0, self.needs.get(need)) {
            return None;
        }
        let mut near: Vec<(u64, u32)> = Vec::new();
        for at in self.fleet.roomy(&asked) {
            self.needs.looks += 1;
            if self.fleet.hold_on(at).is_none() && self.needs.matches(need, at, &self.fleet) {
                let node = self.fleet.node(at);
                near.push((Missing::of(&shape.resources, node).distance(node), at));
            }
        }
        near.sort_unstable();
        let could =
            near.into_iter().filter(|(_, at)| could_fit(&shape.resources, self.fleet.node(*at)));
        let nodes: Vec<u32> = could.map(|(_, at)| at).take(wanted).collect();
        if nodes.len() < wanted && is_one {
            self.hopeless.add(0, self.needs.get(need));
        }
        (nodes.len() == wanted).then_some(nodes)
    }

    fn hold(&mut self, ask: &'s Ask, at: u32, leaving: Vec<&'s Reservation>) {
        let shape: &'s Shape = &ask.shape;
        let held = self.held_on(at);
        let node = self.fleet.node(at);
        let expected = match leaving.is_empty() {
            true => expected(&shape.resources, node, held.into_iter(), self.now),
            false => None,
        };
        let node_id = node.id;
        self.plan.holds.push(Hold { node_id, workload_id: ask.workload_id, expected });
        let given_up = leaving.iter().map(|leaving| (*leaving).clone()).collect();
        self.kept.push(Kept {
            node_id,
            shape: Arc::clone(&ask.shape),
            expected,
            leaving: given_up,
        });
        self.fleet.hold(at, HoldState { shape, expected, leaving });
    }

    fn held_on(&mut self, at: u32) -> Vec<&'s Held> {
        let index = self.held_on.get_or_insert_with(|| {
            let mut index: HashMap<NodeId, Vec<u32>> = HashMap::default();
            for (held, i) in self.held.iter().zip(0u32..) {
                index.entry(held.node_id).or_default().push(i);
            }
            index
        });
        let here = index.get(&self.fleet.node(at).id);
        here.into_iter().flatten().map(|i| &self.held[*i as usize]).collect()
    }

    /// Open nodes that have so much when everything that can give way has.
    fn movable(&mut self, asked: &Room) -> Vec<u32> {
        let Pass { movable, held, fleet, .. } = self;
        let movable = movable.get_or_insert_with(|| {
            let at: HashMap<NodeId, u32> =
                fleet.nodes.iter().map(|node| node.id).zip(0u32..).collect();
            let mut rooms: Vec<Room> = fleet.free.clone();
            for held in held.iter().filter(|held| held.is_preemptible) {
                let Some(at) = at.get(&held.node_id) else { continue };
                rooms[*at as usize].give_back(&held.reservation, fleet.node(*at));
            }
            Reach::of(fleet.open.iter().map(|at| rooms[*at as usize]).collect())
        });
        movable.covering(asked).map(|index| fleet.open[index]).collect()
    }

    /// Whether looking further cannot find anything better than these.
    fn is_enough(&self, ways: &[Way<'s>], wanted: usize) -> bool {
        let least = if self.is_leaving { 0 } else { 1 };
        let is_best = |way: &&Way<'s>| {
            let (victims, highest, _) = way.cost();
            victims == 0 || victims <= least && Some(highest) == self.lowest_preemptible
        };
        ways.iter().filter(is_best).count() >= wanted
    }

    /// Finds lower work that can give way, and keeps its nodes until it has.
    fn make_room(&mut self, need: u32, members: &[&'s Ask]) -> bool {
        let Some(first) = members.first() else { return false };
        if self.has_room_to_come.contains(&first.workload_id) {
            return true;
        }
        let shape: &'s Shape = &first.shape;
        let has_lower = self.lowest_preemptible.is_some_and(|lowest| lowest < shape.priority);
        if !has_lower
            || self.preemptions >= self.settings.preemptions
            || self.unmovable.has(shape.priority, self.needs.get(need))
        {
            return false;
        }
        let asked = self.needs.get(need).asked;
        let mut ways: Vec<Way<'s>> = Vec::new();
        for at in self.movable(&asked) {
            self.needs.looks += 1;
            if self.fleet.hold_on(at).is_none() && self.needs.matches(need, at, &self.fleet) {
                let held = self.held_on(at);
                ways.extend(preempt::way(shape, at, self.fleet.node(at), &held));
            }
            if self.is_enough(&ways, members.len()) {
                break;
            }
        }
        ways.sort_unstable_by_key(Way::cost);
        ways.truncate(members.len());
        if ways.len() < members.len() {
            if members.len() == 1 {
                self.unmovable.add(shape.priority, self.needs.get(need));
            }
            return false;
        }
        self.preemptions += 1;
        self.has_room_to_come.insert(first.workload_id);
        for way in ways {
            self.hold(first, way.at, way.leaving);
            let node_id = self.fleet.node(way.at).id;
            let told = |victim: WorkloadId| Preemption { victim, node_id, by: first.workload_id };
            self.plan.preempt.extend(way.victims.into_iter().map(told));
        }
        true
    }
}
