//! Lower work that gives way to higher.
//!
//! Only what agreed to it (`preemptible`) and has strictly lower priority gives way, and only where the
//! higher task fits afterwards. On each node the lowest priority goes first, then the youngest, and
//! whoever turns out not to be needed stays. Among nodes the one with the fewest victims is taken, then
//! the one whose highest victim is lowest.
//!
//! What is on its way out already counts as room to come: the task that it gives way to finds its node
//! again at the next pass, without victims, until the room is there.

use std::cmp::Reverse;

use hostler_model::{Reservation, WorkloadId};

use super::offer::NodeOffer;
use super::{Held, Shape, reserve};

/// How a node can be made to fit.
pub(super) struct Way<'s> {
    pub at: u32,
    pub victims: Vec<WorkloadId>,
    /// What will be gone: the victims, and those that were leaving before.
    pub leaving: Vec<&'s Reservation>,
    highest: i32,
}

impl Way<'_> {
    pub fn cost(&self) -> (usize, i32, u32) {
        (self.victims.len(), self.highest, self.at)
    }
}

/// Who has to go for the task to fit; nobody where it fits as soon as those who leave have left.
pub(super) fn way<'s>(
    shape: &Shape,
    at: u32,
    node: &NodeOffer,
    held: &[&'s Held],
) -> Option<Way<'s>> {
    let mut lower: Vec<&'s Held> = held
        .iter()
        .copied()
        .filter(|held| held.is_preemptible && held.priority < shape.priority)
        .collect();
    if !is_enough(shape, node, &lower) {
        return None;
    }
    lower.sort_by_key(|held| {
        (Reverse(held.is_leaving), held.priority, Reverse(held.time_started), held.workload_id)
    });
    let mut gone: Vec<&'s Held> = Vec::new();
    for held in lower {
        if fits_without(shape, node, &gone) {
            break;
        }
        gone.push(held);
    }
    if !fits_without(shape, node, &gone) {
        return None;
    }
    for at in (0..gone.len()).rev().filter(|at| !gone[*at].is_leaving).collect::<Vec<usize>>() {
        let spared = gone.remove(at);
        if !fits_without(shape, node, &gone) {
            gone.insert(at, spared);
        }
    }
    let victims: Vec<&'s Held> =
        gone.iter().copied().filter(|held| !held.is_leaving).rev().collect();
    Some(Way {
        at,
        highest: victims.iter().map(|held| held.priority).max().unwrap_or(i32::MIN),
        victims: victims.iter().map(|held| held.workload_id).collect(),
        leaving: gone.iter().map(|held| &held.reservation).collect(),
    })
}

/// Whether it fits when these are gone, and with them what they were measured to use.
fn fits_without(shape: &Shape, node: &NodeOffer, gone: &[&Held]) -> bool {
    let mut after = node.sketch(&shape.resources);
    gone.iter().for_each(|held| after.outlive(&held.reservation));
    reserve(&shape.resources, &after).is_some()
}

/// Whether the amounts suffice when all of them are gone; what they measure may go with them.
fn is_enough(shape: &Shape, node: &NodeOffer, lower: &[&Held]) -> bool {
    let (asked, has) = (&shape.resources, node.capacity);
    let sum = |of: fn(&Held) -> u64| lower.iter().map(|held| of(held)).fold(0, u64::saturating_add);
    let cores = u64::from(node.used.cores.millis())
        .saturating_sub(sum(|held| held.reservation.cores.millis().into()));
    let memory = node.used.memory.get().saturating_sub(sum(|held| held.reservation.memory.get()));
    let disk = node.used.disk.get().saturating_sub(sum(|held| held.reservation.disk.get()));
    cores.saturating_add(asked.cores.millis().into()) <= has.cores.millis().into()
        && memory.saturating_add(asked.memory.get()) <= has.memory.get()
        && disk.saturating_add(asked.disk.get()) <= has.disk.get()
}
