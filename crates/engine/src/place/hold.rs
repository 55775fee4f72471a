//! Room that is kept for what has waited long, and small work that may use it meanwhile.
//!
//! Nobody knows how long a run takes, so an exact promise cannot be made. The rule instead: at each
//! priority, the oldest tasks of each project that have waited longer than the settings say *hold* a
//! node: the one they fit on now, or else the one where they are nearest to fitting, if they would fit
//! there once everything that ends has ended. Projects choose in the order of their turn, and never
//! hold more than half of the nodes together. Others of the same or a lower priority may use a held
//! node only
//!
//! - if they ask for at least as much of everything: then it is their turn that decides, not their
//!   size, and fair share stays what it is; or
//! - if there is enough of everything that they take for the holder too, and what the holder misses
//!   stays the same; or
//! - if they are stopped by their own timeout before the holder can start at the latest, which is known
//!   when enough of what runs there has a timeout.
//!
//! So what the holder misses at its nearest node never grows through smaller work and shrinks with
//! every run that ends there: it is placed after a bounded number of ends, whatever small work arrives.
//! Choosing anew at every pass keeps no state, and loses no ground, because the choice is by what is
//! missing. A project that holds more than others still waits for its turn.
//!
//! A task that pushed others away holds its node too, until they are gone: what still fits beside it
//! then may use the rest.

use hostler_model::{Reservation, Resources, Timestamp, WorkloadId};

use super::devices::{
    asked_cores, free_cpus, free_cpus_in, is_eligible, is_named, is_particular, own_cpus, reserve,
    share,
};
use super::offer::NodeOffer;
use super::{Held, Shape};

/// A node that is kept for a task.
pub(super) struct HoldState<'s> {
    pub shape: &'s Shape,
    /// When the task can start at the latest, where that is known.
    pub expected: Option<Timestamp>,
    /// What gives way to it; nothing where it waits for ends that come by themselves.
    pub leaving: Vec<&'s Reservation>,
}

/// So fine that a byte of a terabyte counts.
const NUMA_PARTS: u64 = 1 << 44;

/// What a task misses on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    cores: u64,
    memory: u64,
    disk: u64,
    own_cores: u64,
    numa: u64,
    gpus: u64,
}

impl Missing {
    pub fn of(asked: &Resources, node: &NodeOffer) -> Missing {
        let free = node.free();
        let number = |count: usize| count as u64;
        let mut missing = Missing {
            cores: asked_cores(asked).saturating_sub(free.cores).millis().into(),
            memory: asked.memory.saturating_sub(free.memory).get(),
            disk: asked.disk.saturating_sub(free.disk).get(),
            ..Missing::default()
        };
        if !is_particular(asked) {
            return missing;
        }
        match asked.numa {
            Some(_) => missing.numa = missing_in_numa(asked, node),
            None => missing.own_cores = number(own_cpus(asked).saturating_sub(free_cpus(node))),
        }
        let eligible = node.gpus.iter().filter(|gpu| is_eligible(&asked.gpus, gpu)).count();
        missing.gpus = u64::from(asked.gpus.count).saturating_sub(number(eligible));
        missing
    }

    /// How far that is, as a sum of shares of what the node has.
    pub fn distance(self, node: &NodeOffer) -> u64 {
        let share = |missing: u64, all: u64| {
            let millionths = u128::from(missing) * 1_000_000 / u128::from(all.max(1));
            u64::try_from(millionths).unwrap_or(u64::MAX)
        };
        let parts = [
            share(self.cores, node.capacity.cores.millis().into()),
            share(self.memory, node.capacity.memory.get()),
            share(self.disk, node.capacity.disk.get()),
            share(self.own_cores, node.cpus.len() as u64),
            share(self.numa, NUMA_PARTS),
            share(self.gpus, node.gpus.len() as u64),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// The least that is missing in one NUMA node, in parts of it.
fn missing_in_numa(asked: &Resources, node: &NodeOffer) -> u64 {
    let part = |wanted: u64, free: u64, all: u64| {
        let parts = u128::from(wanted.saturating_sub(free)) * u128::from(NUMA_PARTS)
            / u128::from(all.max(1));
        u64::try_from(parts).unwrap_or(u64::MAX)
    };
    let named =
        node.numa.iter().filter(|numa| asked.numa.is_some_and(|wanted| is_named(wanted, numa)));
    let sums = named.map(|numa| {
        let (all, free) = (numa.capacity().millis().into(), numa.free_cores().millis().into());
        let cores = part(asked_cores(asked).millis().into(), free, all);
        let memory = part(asked.memory.get(), numa.free_memory().get(), numa.memory.get());
        let own =
            part(own_cpus(asked) as u64, free_cpus_in(node, numa) as u64, numa.cpus.len() as u64);
        cores.saturating_add(memory).saturating_add(own)
    });
    sums.min().unwrap_or(u64::MAX)
}

/// Whose turn it is, and when.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub now: Timestamp,
    pub priority: i32,
}

/// Whether something may go to a node that is held for another; it fits there otherwise.
pub(super) fn admits(hold: &HoldState<'_>, asked: &Shape, node: &NodeOffer, turn: Turn) -> bool {
    if turn.priority > hold.shape.priority {
        return true;
    }
    let ends = asked.timeout.map(|timeout| turn.now.plus(timeout.duration()));
    if ends.zip(hold.expected).is_some_and(|(ends, expected)| ends <= expected) {
        return true;
    }
    if is_not_less(asked, hold) {
        return true;
    }
    let (holder, asked) = (&hold.shape.resources, &asked.resources);
    if !hold.leaving.is_empty() {
        return fits_beside(hold, asked, node);
    }
    if !leaves_enough(holder, asked, node) {
        return false;
    }
    if !is_particular(holder) && !is_particular(asked) {
        return true;
    }
    let Some(reservation) = reserve(asked, node) else { return false };
    let mut after = node.sketch(holder);
    after.take(&reservation);
    Missing::of(holder, &after) == Missing::of(holder, node)
}

/// Whether it asks for at least as much of everything as the holder does, so that the turn decides.
pub(super) fn is_not_less(asked: &Shape, hold: &HoldState<'_>) -> bool {
    let (asked, holder) = (&asked.resources, &hold.shape.resources);
    let gpus =
        |resources: &Resources| u64::from(resources.gpus.count) * u64::from(share(&resources.gpus));
    hold.leaving.is_empty()
        && asked_cores(asked) >= asked_cores(holder)
        && own_cpus(asked) >= own_cpus(holder)
        && asked.memory >= holder.memory
        && asked.disk >= holder.disk
        && gpus(asked) >= gpus(holder)
}

/// Whether the holder finds its room beside it, when those that give way are gone.
fn fits_beside(hold: &HoldState<'_>, asked: &Resources, node: &NodeOffer) -> bool {
    let Some(reservation) = reserve(asked, node) else { return false };
    let mut after = node.sketch(&hold.shape.resources);
    after.take(&reservation);
    hold.leaving.iter().for_each(|leaving| after.outlive(leaving));
    reserve(&hold.shape.resources, &after).is_some()
}

/// Whether there is enough for the holder of every amount that it takes something of.
fn leaves_enough(holder: &Resources, asked: &Resources, node: &NodeOffer) -> bool {
    let free = node.free();
    let is_left = |taken: u64, wanted: u64, free: u64| {
        taken == 0 || wanted == 0 || wanted.saturating_add(taken) <= free
    };
    let cores = |resources| u64::from(asked_cores(resources).millis());
    is_left(cores(asked), cores(holder), free.cores.millis().into())
        && is_left(asked.memory.get(), holder.memory.get(), free.memory.get())
        && is_left(asked.disk.get(), holder.disk.get(), free.disk.get())
}

/// Whether the node has room for it once everything that ends has ended.
pub(super) fn could_fit(asked: &Resources, node: &NodeOffer) -> bool {
    let has = node.capacity;
    let is_possible =
        asked_cores(asked) <= has.cores && asked.memory <= has.memory && asked.disk <= has.disk;
    is_possible && reserve(asked, &node.emptied(asked)).is_some()
}

/// When enough of what runs there has been ended by its timeout.
pub(super) fn expected<'h>(
    asked: &Resources,
    node: &NodeOffer,
    held: impl Iterator<Item = &'h Held>,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut ends: Vec<(Timestamp, WorkloadId, &Reservation)> = held
        .filter_map(|held| Some((held.ends_by?, held.workload_id, &held.reservation)))
        .collect();
    ends.sort_by_key(|(time, id, _)| (*time, *id));
    let mut later = node.sketch(asked);
    for (time, _, reservation) in ends {
        later.outlive(reservation);
        if reserve(asked, &later).is_some() {
            return Some(time.max(now));
        }
    }
    None
}
