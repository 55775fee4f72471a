//! When a schedule starts something on any of several nodes, whose time zones and shares of the jitter
//! differ.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hostler_model::Timestamp;

use super::{Fire, Timetable};

/// A fire that comes at the same moment by several timetables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    pub fire: Fire,
    /// Which of the timetables, in their order.
    pub of: Vec<usize>,
}

/// The first `count` starts after this by any of the timetables, in the order in which they come.
pub fn first_starts(timetables: &[Timetable], after: Timestamp, count: usize) -> Vec<Together> {
    let mut next: BinaryHeap<_> = timetables
        .iter()
        .enumerate()
        .filter_map(|(index, timetable)| Some(entry(timetable.next_start(after)?, index)))
        .collect();
    let mut found: Vec<Together> = Vec::new();
    while let Some(Reverse((start, time, index))) = next.pop() {
        let (fire, is_full) = (Fire { time, start }, found.len() == count);
        match found.last_mut() {
            Some(last) if last.fire == fire => last.of.push(index),
            _ if is_full => break,
            _ => found.push(Together { fire, of: vec![index] }),
        }
        next.extend(timetables[index].next(time).map(|fire| entry(fire, index)));
    }
    found
}

type Entry = Reverse<(Timestamp, Timestamp, usize)>;

fn entry(fire: Fire, index: usize) -> Entry {
    Reverse((fire.start, fire.time, index))
}
