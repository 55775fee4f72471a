//! Whose turn it is: priority, then fair share between projects, then age.
//!
//! What waits is sorted by age once and dealt into *lanes*: asks of one need, project, priority and
//! (where that limits them) array. A lane is served from its head; when its head cannot be placed,
//! none of the lane can, and it is parked as a whole. So a pass costs as many steps as it makes
//! decisions and has lanes, not as many as tasks wait.
//!
//! Among the projects with something to place at a priority, the one whose dominant share is smallest
//! goes first: the largest of its parts of all cores, all memory and all GPUs, divided by its weight.
//! Shares only grow during a pass, so a share that was noted too low is noticed when it comes up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hostler_model::{ArrayId, ProjectId};

use super::ask::{ArrayRoom, Holding, ProjectShare};
use super::fleet::Fleet;
use super::hash::HashMap;
use super::need::Needs;
use super::{Ask, NodeOffer, Settings, Shape};

/// One thing to place: a task, or a gang of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    One(u32),
    Gang(u32),
}

pub(super) struct Lane {
    pub need: u32,
    pub project: u32,
    pub level: u32,
    pub array: Option<ArrayId>,
    /// With each, its place by age.
    units: Vec<(u32, Unit)>,
    next: usize,
    is_parked: bool,
}

impl Lane {
    pub fn head(&self) -> Option<(u32, Unit)> {
        self.units.get(self.next).copied()
    }
}

#[derive(PartialEq, Eq, Hash)]
struct LaneKey {
    need: u32,
    project: u32,
    level: u32,
    array: Option<ArrayId>,
    gang_size: u32,
}

/// Everything of one priority.
struct Level {
    projects: BTreeMap<u32, Waiting>,
    /// Share, age of the oldest head, project; each project at most once.
    turns: BinaryHeap<Reverse<(u64, u32, u32)>>,
    is_begun: bool,
}

/// A project's lanes by the age of their heads.
#[derive(Default)]
struct Waiting {
    lanes: BinaryHeap<Reverse<(u32, u32)>>,
    has_turn: bool,
}

pub(super) struct Queue<'s> {
    pub asks: &'s [Ask],
    pub lanes: Vec<Lane>,
    /// Members by rank.
    pub gangs: Vec<Vec<u32>>,
    levels: Vec<Level>,
    at: usize,
    /// Lanes that wait for a tag of their project, by that tag.
    tag_lanes: HashMap<ProjectId, HashMap<&'s str, Vec<u32>>>,
}

impl<'s> Queue<'s> {
    pub fn of(
        asks: &'s [Ask],
        shares: &mut Shares,
        arrays: &BTreeMap<ArrayId, ArrayRoom>,
        settings: &Settings,
        needs: &mut Needs<'s>,
        fleet: &mut Fleet<'s>,
    ) -> Queue<'s> {
        let mut priorities: Vec<i32> = asks.iter().map(|ask| ask.shape.priority).collect();
        priorities.sort_unstable_by_key(|priority| Reverse(*priority));
        priorities.dedup();
        let mut queue = Queue {
            asks,
            lanes: Vec::new(),
            gangs: Vec::new(),
            levels: priorities.iter().map(|_| Level::new()).collect(),
            at: 0,
            tag_lanes: HashMap::default(),
        };
        let mut known: HashMap<*const Shape, (u32, u32, u32)> = HashMap::default();
        let mut lanes: HashMap<LaneKey, u32> = HashMap::default();
        let mut gangs: HashMap<ArrayId, u32> = HashMap::default();
        for (age, index) in (0u32..).zip(by_age(asks)) {
            let ask = &asks[index as usize];
            let shape: &'s Shape = &ask.shape;
            let (need, project, level) =
                *known.entry(std::ptr::from_ref(shape)).or_insert_with(|| {
                    let place = |priority: &i32| shape.priority.cmp(priority);
                    let level = priorities.binary_search_by(place).unwrap_or_default();
                    let level = u32::try_from(level).unwrap_or(u32::MAX);
                    (needs.of(shape, settings, fleet), shares.of(shape.project), level)
                });
            needs.used_by(need, 1);
            let (unit, gang_size) = match ask.gang {
                None => (Unit::One(index), 0),
                Some(gang) => {
                    if let Some(known) = gangs.get(&gang.id) {
                        queue.gangs[*known as usize].push(index);
                        continue;
                    }
                    let id = u32::try_from(queue.gangs.len()).unwrap_or(u32::MAX);
                    gangs.insert(gang.id, id);
                    queue.gangs.push(vec![index]);
                    (Unit::Gang(id), gang.size)
                }
            };
            let array =
                ask.array.filter(|id| arrays.get(id).is_some_and(|room| room.at_once.is_some()));
            let key = LaneKey { need, project, level, array, gang_size };
            let lane = *lanes.entry(key).or_insert_with(|| {
                let id = u32::try_from(queue.lanes.len()).unwrap_or(u32::MAX);
                let (units, next, is_parked) = (Vec::new(), 0, false);
                queue.lanes.push(Lane { need, project, level, array, units, next, is_parked });
                for tag in &shape.rules.together {
                    let words = queue.tag_lanes.entry(shape.project).or_default();
                    words.entry(tag.as_str()).or_default().push(id);
                }
                id
            });
            queue.lanes[lane as usize].units.push((age, unit));
        }
        for members in &mut queue.gangs {
            members.sort_by_key(|index| asks[*index as usize].gang.map(|gang| gang.rank));
        }
        for lane in 0..queue.lanes.len() {
            queue.enter(u32::try_from(lane).unwrap_or(u32::MAX), shares);
        }
        queue
    }

    /// Puts a lane at its place, if there is something left of it, and gives its project a turn.
    pub fn enter(&mut self, lane: u32, shares: &Shares) {
        let Lane { project, level, .. } = self.lanes[lane as usize];
        let level = &mut self.levels[level as usize];
        if let Some((age, _)) = self.lanes[lane as usize].head() {
            level.projects.entry(project).or_default().lanes.push(Reverse((age, lane)));
        }
        level.give_turn(project, shares);
    }

    /// The next lane to serve, taken from its place; and whether its priority is only now begun.
    pub fn next(&mut self, shares: &Shares) -> Option<Turn> {
        loop {
            let level = self.levels.get_mut(self.at)?;
            if !std::mem::replace(&mut level.is_begun, true) {
                return Some(Turn::Begin(level.heads(shares)));
            }
            match level.next(shares) {
                Some(lane) => return Some(Turn::Serve(lane)),
                None => self.at += 1,
            }
        }
    }

    /// The head of a lane is done.
    pub fn advance(&mut self, lane: u32, shares: &Shares) {
        self.lanes[lane as usize].next += 1;
        self.enter(lane, shares);
    }

    /// Nothing of a lane can be placed.
    pub fn park(&mut self, lane: u32, shares: &Shares) {
        let lane = &mut self.lanes[lane as usize];
        lane.is_parked = true;
        self.levels[lane.level as usize].give_turn(lane.project, shares);
    }

    /// Something with tags was placed: what waited for one of them is looked at again.
    pub fn wake(&mut self, shape: &Shape, shares: &Shares) {
        let Some(words) = self.tag_lanes.get(&shape.project) else { return };
        let awaited: Vec<u32> = shape
            .tags
            .iter()
            .filter_map(|tag| words.get(tag.as_str()))
            .flatten()
            .copied()
            .collect();
        for id in awaited {
            let lane = &mut self.lanes[id as usize];
            if std::mem::replace(&mut lane.is_parked, false) {
                self.at = self.at.min(lane.level as usize);
                self.enter(id, shares);
            }
        }
    }
}

pub(super) enum Turn {
    /// A priority is begun; these are its lanes, each project's by age, in the order of the projects.
    Begin(Vec<Vec<u32>>),
    Serve(u32),
}

impl Level {
    fn new() -> Level {
        Level { projects: BTreeMap::new(), turns: BinaryHeap::new(), is_begun: false }
    }

    fn heads(&self, shares: &Shares) -> Vec<Vec<u32>> {
        let mut projects: Vec<(u64, Vec<(u32, u32)>)> = self
            .projects
            .iter()
            .map(|(project, waiting)| {
                let mut lanes: Vec<(u32, u32)> =
                    waiting.lanes.iter().map(|Reverse(head)| *head).collect();
                lanes.sort_unstable();
                (shares.share(*project), lanes)
            })
            .collect();
        projects.sort_unstable();
        projects
            .into_iter()
            .map(|(_, lanes)| lanes.into_iter().map(|(_, lane)| lane).collect())
            .collect()
    }

    fn give_turn(&mut self, project: u32, shares: &Shares) {
        let Some(waiting) = self.projects.get_mut(&project) else { return };
        if let Some(Reverse((age, _))) = waiting.lanes.peek()
            && !std::mem::replace(&mut waiting.has_turn, true)
        {
            self.turns.push(Reverse((shares.share(project), *age, project)));
        }
    }

    fn next(&mut self, shares: &Shares) -> Option<u32> {
        loop {
            let Reverse((share, age, project)) = self.turns.pop()?;
            let Some(waiting) = self.projects.get_mut(&project) else { continue };
            waiting.has_turn = false;
            let oldest = waiting.lanes.peek().map(|Reverse((age, _))| *age);
            if oldest == Some(age) && shares.share(project) == share {
                return waiting.lanes.pop().map(|Reverse((_, lane))| lane);
            }
            self.give_turn(project, shares);
        }
    }
}

/// Positions of the asks, oldest first.
fn by_age(asks: &[Ask]) -> Vec<u32> {
    let mut order: Vec<u32> = (0u32..).take(asks.len()).collect();
    order.sort_by_key(|index| {
        let ask = &asks[*index as usize];
        (ask.time_ready, ask.workload_id)
    });
    order
}

/// What projects hold of the whole.
pub(super) struct Shares {
    ids: HashMap<ProjectId, u32>,
    pub all: Vec<(ProjectId, ProjectShare)>,
    total: Holding,
}

impl Shares {
    pub fn new(projects: &BTreeMap<ProjectId, ProjectShare>, nodes: &[NodeOffer]) -> Shares {
        let total = nodes.iter().fold(Holding::default(), |sum, node| {
            sum.plus(Holding {
                cores: node.capacity.cores.millis().into(),
                memory: node.capacity.memory.get(),
                gpus: node.gpus.len() as u64 * 1000,
            })
        });
        let all: Vec<_> = projects.iter().map(|(id, share)| (*id, share.clone())).collect();
        let ids = all.iter().map(|(id, _)| *id).zip(0u32..).collect();
        Shares { ids, all, total }
    }

    /// Everything there is.
    pub fn total(&self) -> Holding {
        self.total
    }

    pub fn of(&mut self, project: ProjectId) -> u32 {
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry(project).or_insert(next);
        if id == next {
            self.all.push((project, ProjectShare::default()));
        }
        id
    }

    pub fn get(&self, project: u32) -> &ProjectShare {
        &self.all[project as usize].1
    }

    pub fn give(&mut self, project: u32, more: Holding) {
        let held = &mut self.all[project as usize].1.held;
        *held = held.plus(more);
    }

    /// The dominant share, as a number that compares.
    pub fn share(&self, project: u32) -> u64 {
        dominant_share(self.get(project), self.total).to_bits()
    }
}

/// The largest part that a project holds of anything, by its weight; 0 when it holds nothing.
pub(super) fn dominant_share(project: &ProjectShare, total: Holding) -> f64 {
    let part = |held: u64, all: u64| if all == 0 { 0.0 } else { held as f64 / all as f64 };
    let held = project.held;
    let parts = [
        part(held.cores, total.cores),
        part(held.memory, total.memory),
        part(held.gpus, total.gpus),
    ];
    parts.into_iter().fold(0.0, f64::max) / f64::from(project.weight.max(1))
}
