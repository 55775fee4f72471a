//! The snapshot that placement decides over, read in the transaction that writes what was decided.
//!
//! Only what somebody needs to know is read: counts of tags and families when a rule asks for them,
//! what is held when something has waited long or is urgent.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use hostler_engine::place::{
    ArrayRoom, Ask, Gang, Held, Holding, NodeOffer, ProjectShare, Scene, Settings, Shape, family,
    hindrance,
};
use hostler_model::{
    ArrayId, Desired, Error, Hindrance, Name, NodeId, ProjectId, Reservation, Strategy, Timestamp,
    Workload, WorkloadId, WorkloadSpec,
};
use hostler_store::{Conn, PassedOver, QueueCursor};

/// Shapes that are known already, so that equal tasks share one.
#[derive(Default)]
struct Shapes(HashMap<(ProjectId, usize), KnownShapes>);

/// What was made of one spec, by family. The spec is kept, so that its address stays its own.
struct KnownShapes {
    _spec: Arc<WorkloadSpec>,
    by_family: HashMap<String, Arc<Shape>>,
}

impl Shapes {
    fn of(&mut self, task: &Workload, array: Option<&Name>) -> Arc<Shape> {
        let name = array.unwrap_or(&task.name);
        let key = (task.project_id, Arc::as_ptr(&task.spec).addr());
        let known = self
            .0
            .entry(key)
            .or_insert_with(|| KnownShapes { _spec: task.spec.clone(), by_family: HashMap::new() });
        if let Some(shape) = known.by_family.get(family(name)) {
            return shape.clone();
        }
        let shape = Arc::new(Shape::of(task.project_id, name, &task.spec));
        known.by_family.insert(family(name).to_owned(), shape.clone());
        shape
    }
}

/// What arrays have to do with placement.
#[derive(Default)]
struct Arrays {
    known: BTreeMap<ArrayId, ArrayFacts>,
}

struct ArrayFacts {
    name: Name,
    gang_size: Option<u32>,
    room: ArrayRoom,
}

impl Arrays {
    /// Learns of the arrays of these tasks.
    async fn learn(&mut self, read: &mut Conn, tasks: &[Workload]) -> Result<(), Error> {
        let ids: BTreeSet<ArrayId> = tasks
            .iter()
            .filter_map(|task| task.seat.map(|seat| seat.array))
            .filter(|id| !self.known.contains_key(id))
            .collect();
        if ids.is_empty() {
            return Ok(());
        }
        let ids: Vec<ArrayId> = ids.into_iter().collect();
        let arrays = read.task_array_get_batch(&ids).await?;
        let limited: Vec<ArrayId> = arrays
            .iter()
            .filter(|standing| standing.array.range.at_once.is_some())
            .map(|standing| standing.array.id)
            .collect();
        let running: BTreeMap<ArrayId, u64> =
            read.task_array_running(&limited).await?.into_iter().collect();
        for standing in arrays {
            let array = standing.array;
            let size = u32::try_from(array.range.len()).unwrap_or(u32::MAX);
            let placed = running.get(&array.id).copied().unwrap_or_default();
            let facts = ArrayFacts {
                name: array.name,
                gang_size: array.is_gang.then_some(size),
                room: ArrayRoom {
                    at_once: array.range.at_once,
                    placed: u32::try_from(placed).unwrap_or(u32::MAX),
                },
            };
            self.known.insert(array.id, facts);
        }
        Ok(())
    }

    fn of(&self, task: &Workload) -> Option<&ArrayFacts> {
        self.known.get(&task.seat?.array)
    }

    /// The gang that a task belongs to, and how many it takes.
    fn gang(&self, task: &Workload) -> Option<(ArrayId, u32)> {
        Some((task.seat?.array, self.of(task)?.gang_size?))
    }

    fn ask(&self, task: &Workload, shapes: &mut Shapes) -> Ask {
        let array = self.of(task);
        let gang = self.gang(task).zip(task.seat).map(|((id, size), seat)| Gang {
            id,
            rank: seat.index,
            size,
        });
        Ask {
            workload_id: task.id,
            shape: shapes.of(task, array.map(|array| &array.name)),
            time_ready: task.time_ready.unwrap_or(task.time_created),
            array: task.seat.map(|seat| seat.array),
            gang,
        }
    }

    fn rooms(&self) -> BTreeMap<ArrayId, ArrayRoom> {
        self.known.iter().map(|(id, facts)| (*id, facts.room)).collect()
    }
}

/// About so many tasks are in memory at a time.
const PART: usize = 4096;
/// At least so many of each project.
const LOOK_MIN: u32 = 16;

/// Places in the queues of projects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Places(BTreeMap<ProjectId, QueueCursor>);

impl Places {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A scene that is filled from the queue, part by part.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    arrays: Arrays,
    shapes: Shapes,
    /// How far each project's queue was read; those that are read to their end are left out.
    lines: Vec<(ProjectId, Option<QueueCursor>)>,
    /// Gangs that were taken whole: what else comes of them was looked at.
    gangs: BTreeSet<ArrayId>,
    /// What cannot be placed in this pass, because one that is alike could not.
    passed_over: BTreeMap<ProjectId, PassedOver>,
    has_words: bool,
    has_held: bool,
    /// The lowest priority that is placed, once it was asked for.
    lowest: Option<Option<i32>>,
}

impl Stage {
    /// The fleet, with nothing in the queue yet.
    pub(crate) async fn open(
        read: &mut Conn,
        now: Timestamp,
        settings: &Settings,
    ) -> Result<Stage, Error> {
        let projects = read.workload_queue_projects().await?;
        Ok(Stage {
            scene: Scene {
                now,
                queue: Vec::new(),
                nodes: offers(read).await?,
                projects: shares(read).await?,
                arrays: BTreeMap::new(),
                held: Vec::new(),
                kept: Vec::new(),
                settings: settings.clone(),
            },
            arrays: Arrays::default(),
            shapes: Shapes::default(),
            lines: projects.into_iter().map(|project| (project, None)).collect(),
            gangs: BTreeSet::new(),
            passed_over: BTreeMap::new(),
            has_words: false,
            has_held: false,
            lowest: None,
        })
    }

    /// The next tasks of every project's queue, at most so many of each, gangs whole; empty when there
    /// are no more.
    pub(crate) async fn next(
        &mut self,
        read: &mut Conn,
        most: u32,
    ) -> Result<Vec<Workload>, Error> {
        let mut tasks = Vec::new();
        let now = self.scene.now;
        let look = u32::try_from(PART / self.lines.len().max(1)).unwrap_or(most);
        let look = look.clamp(LOOK_MIN.min(most), most);
        while tasks.is_empty() && !self.lines.is_empty() {
            for (project, cursor) in std::mem::take(&mut self.lines) {
                let beside = self.passed_over.entry(project).or_default();
                let read = read.workload_queue_beside(project, now, cursor, beside, look).await?;
                if read.len() >= look as usize {
                    self.lines.push((project, read.last().map(QueueCursor::of)));
                }
                tasks.extend(read);
            }
            self.arrays.learn(read, &tasks).await?;
            self.make_gangs_whole(read, &mut tasks).await?;
            tasks.retain(|task| task.desired == Desired::Run);
        }
        Ok(tasks)
    }

    /// Goes on where an earlier pass stopped looking, unless it is there already.
    pub(crate) fn skip_to(&mut self, places: &Places) {
        let order = |cursor: &QueueCursor| (Reverse(cursor.priority), cursor.id);
        for (project, cursor) in &mut self.lines {
            let far = places
                .0
                .get(project)
                .filter(|far| cursor.as_ref().is_none_or(|cursor| order(cursor) < order(far)));
            *cursor = far.copied().or(*cursor);
        }
    }

    /// How far the queues were read that are not at their end.
    pub(crate) fn places(&self) -> Places {
        let lines = self.lines.iter();
        Places(lines.filter_map(|(project, cursor)| Some((*project, (*cursor)?))).collect())
    }

    /// Says which tasks were looked at in vain. What is alike is not looked at in this pass, unless it may
    /// follow others to where those go: the rest of an array that is full, and whatever asks for the same.
    pub(crate) fn pass_over<'t>(&mut self, left: impl Iterator<Item = &'t Workload>) {
        const MOST: usize = 256;
        for task in left.filter(|task| task.spec.placement.together.is_empty()) {
            let array = task.seat.map(|seat| seat.array);
            if array.is_some_and(|id| self.gangs.contains(&id)) {
                continue;
            }
            let known = self.passed_over.entry(task.project_id).or_default();
            let room = array.and_then(|id| self.scene.arrays.get(&id));
            match array.filter(|_| room.is_some_and(ArrayRoom::is_full)) {
                Some(array) if known.arrays.len() < MOST => drop(known.arrays.insert(array)),
                None if known.classes.len() < MOST => {
                    known.classes.insert(task.spec.queue_class());
                }
                _ => {}
            }
        }
    }

    /// What keeps a few kinds of these tasks waiting, of those that were in the queue.
    pub(crate) fn hindrances(&self, left: &HashMap<WorkloadId, Workload>) -> Vec<Hindrance> {
        const KINDS: usize = 4;
        let mut shapes: Vec<&Arc<Shape>> = Vec::new();
        for ask in self.scene.queue.iter().filter(|ask| left.contains_key(&ask.workload_id)) {
            if shapes.len() < KINDS && !shapes.iter().any(|known| Arc::ptr_eq(known, &ask.shape)) {
                shapes.push(&ask.shape);
            }
        }
        shapes.into_iter().map(|shape| hindrance(shape, &self.scene.nodes)).collect()
    }

    async fn make_gangs_whole(
        &mut self,
        read: &mut Conn,
        tasks: &mut Vec<Workload>,
    ) -> Result<(), Error> {
        let Stage { arrays, gangs, scene, .. } = self;
        tasks.retain(|task| arrays.gang(task).is_none_or(|(id, _)| !gangs.contains(&id)));
        let mut found: BTreeMap<ArrayId, (u32, u32)> = BTreeMap::new();
        for (id, size) in tasks.iter().filter_map(|task| arrays.gang(task)) {
            found.entry(id).or_insert((0, size)).0 += 1;
        }
        for (id, (count, size)) in found {
            gangs.insert(id);
            if count < size {
                tasks.retain(|task| task.seat.is_none_or(|seat| seat.array != id));
                tasks.extend(read.workload_queue_of_array(id, scene.now).await?);
            }
        }
        Ok(())
    }

    /// Puts tasks into the scene's queue, and learns what has to be known for them.
    pub(crate) async fn enqueue(
        &mut self,
        read: &mut Conn,
        tasks: &[Workload],
    ) -> Result<(), Error> {
        self.arrays.learn(read, tasks).await?;
        self.shapes = Shapes::default();
        let Stage { scene, arrays, shapes, .. } = self;
        scene.queue = tasks.iter().map(|task| arrays.ask(task, shapes)).collect();
        for (id, room) in arrays.rooms() {
            scene.arrays.entry(id).or_insert(room);
        }
        if !self.has_words && scene.queue.iter().any(|ask| needs_counts(ask, &scene.settings)) {
            count_words(read, &mut scene.nodes).await?;
            self.has_words = true;
        }
        if !self.has_held && self.is_pressing(read).await? {
            self.scene.held = held(read).await?;
            self.has_held = true;
        }
        Ok(())
    }

    /// Whether somebody has to know what is held: what waited long is kept a place free, and what is more
    /// urgent than something that is placed may take its room.
    async fn is_pressing(&mut self, read: &mut Conn) -> Result<bool, Error> {
        let Scene { queue, settings, now, .. } = &self.scene;
        let hold_after = settings.hold_after.duration();
        if queue.iter().any(|ask| now.since(ask.time_ready) >= hold_after) {
            return Ok(true);
        }
        let highest = queue.iter().map(|ask| ask.shape.priority).max();
        let Some(highest) = highest.filter(|_| settings.is_preempting) else { return Ok(false) };
        let lowest = match self.lowest {
            Some(known) => known,
            None => *self.lowest.insert(read.workload_lowest_placed().await?),
        };
        Ok(lowest.is_some_and(|lowest| lowest < highest))
    }
}

fn needs_counts(ask: &Ask, settings: &Settings) -> bool {
    let rules = &ask.shape.rules;
    let strategy = rules.strategy.unwrap_or(settings.strategy);
    !rules.together.is_empty()
        || !rules.apart.is_empty()
        || rules.over.is_some()
        || strategy == Strategy::Spread
}

/// Every node that is not removed, with what is used of it.
pub(crate) async fn offers(read: &mut Conn) -> Result<Vec<NodeOffer>, Error> {
    let nodes = read.node_list_all_present().await?;
    let mut offers: Vec<NodeOffer> = nodes.iter().map(NodeOffer::of).collect();
    let mut at: HashMap<NodeId, usize> = HashMap::new();
    for (index, offer) in offers.iter().enumerate() {
        at.insert(offer.id, index);
    }
    for usage in read.placement_usage().await? {
        let Some(offer) = at.get(&usage.node_id).map(|index| &mut offers[*index]) else { continue };
        offer.take(&Reservation {
            cores: usage.cores,
            memory: usage.memory,
            disk: usage.disk,
            ..Reservation::default()
        });
        offer.runs = usage.placements;
        offer.last_given = usage.time_given;
    }
    for hold in read.placement_particular().await? {
        if let Some(index) = at.get(&hold.node_id) {
            let offer = &mut offers[*index];
            offer.take(&hold.reservation);
            offer.last_given = offer.last_given.max(hold.time_given);
        }
    }
    for (node, reservation) in read.placement_lasting().await? {
        if let Some(index) = at.get(&node) {
            offers[*index].lasting.push(reservation);
        }
    }
    Ok(offers)
}

/// What every project may hold, and holds.
async fn shares(read: &mut Conn) -> Result<BTreeMap<ProjectId, ProjectShare>, Error> {
    let projects = read.project_list_all().await?;
    let mut shares: BTreeMap<ProjectId, ProjectShare> = projects
        .into_iter()
        .map(|project| {
            let share = ProjectShare {
                weight: project.weight,
                quota: project.quota,
                held: Holding::default(),
            };
            (project.id, share)
        })
        .collect();
    for usage in read.placement_usage_by_project().await? {
        let share = shares.entry(usage.project_id).or_default();
        share.held.cores += usage.cores;
        share.held.memory += usage.memory.get();
    }
    for hold in read.placement_particular().await? {
        let share = shares.entry(hold.project_id).or_default();
        share.held.gpus += Holding::of(&hold.reservation).gpus;
    }
    Ok(shares)
}

async fn count_words(read: &mut Conn, nodes: &mut [NodeOffer]) -> Result<(), Error> {
    let mut at: HashMap<NodeId, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        at.insert(node.id, index);
    }
    for placed in read.placement_words().await? {
        let Some(index) = at.get(&placed.node_id) else { continue };
        let node = &mut nodes[*index];
        for tag in &placed.spec.tags {
            *node.tags.entry(placed.project_id).or_default().entry(tag.clone()).or_default() += 1;
        }
        let families = node.families.entry(placed.project_id).or_default();
        *families.entry(family(&placed.family).to_owned()).or_default() += 1;
    }
    Ok(())
}

/// Tasks that hold something, with what they would give back.
async fn held(read: &mut Conn) -> Result<Vec<Held>, Error> {
    let held = read.placement_held().await?.into_iter().map(|held| {
        let started = held.time_started.unwrap_or(held.placement.time_created);
        Held {
            workload_id: held.placement.workload_id,
            node_id: held.placement.node_id,
            priority: held.spec.queue.priority,
            is_preemptible: held.spec.queue.preemptible,
            is_leaving: matches!(held.placement.desired, Desired::Stop | Desired::Remove),
            time_started: started,
            ends_by: held.spec.timeout.map(|timeout| started.plus(timeout.duration())),
            reservation: held.placement.reservation,
        }
    });
    Ok(held.collect())
}

/// Tasks by their ids, for what was decided about them.
pub(crate) fn by_id(tasks: Vec<Workload>) -> HashMap<WorkloadId, Workload> {
    tasks.into_iter().map(|task| (task.id, task)).collect()
}
