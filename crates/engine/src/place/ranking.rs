//! A ranking of nodes that one request has for itself.
//!
//! It is a heap whose entries are looked at again when they come up: under most strategies a node only
//! gets worse by being given something, so that an old entry is never too pessimistic. Under `bin-pack` it
//! gets better; there every node that was given something is entered anew.
//!
//! What is spread over zones has a heap for each, and a heap of the best of each. One more of a family
//! makes a whole zone worse, but changes nothing within it: so it changes one entry, and not those of all
//! nodes that are there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::grade::Grade;
use super::order::Key;

/// How good a node is within its zone.
pub(super) type Entry = (Grade, Key, u32);

/// The best of a zone: its grade, how many are in the zone, its key, its position, and the zone.
type Best = (Grade, u64, Key, u32, u32);

#[derive(Default)]
pub(super) struct Ranking {
    zones: Vec<BinaryHeap<Reverse<Entry>>>,
    /// Each zone with something in it once.
    best: BinaryHeap<Reverse<Best>>,
    /// How many of the fleet's decisions it has seen.
    pub seen: usize,
}

impl Ranking {
    /// Nodes with their zones.
    pub fn of(entries: Vec<(u32, Entry)>, seen: usize) -> Ranking {
        let mut zones: Vec<Vec<Reverse<Entry>>> = Vec::new();
        for (zone, entry) in entries {
            let zone = zone as usize;
            zones.resize_with(zones.len().max(zone + 1), Vec::new);
            zones[zone].push(Reverse(entry));
        }
        let zones: Vec<BinaryHeap<Reverse<Entry>>> = zones.into_iter().map(Into::into).collect();
        let first = |(zone, heap): (u32, &BinaryHeap<Reverse<Entry>>)| {
            heap.peek().map(|Reverse((grade, key, at))| Reverse((*grade, 0, *key, *at, zone)))
        };
        let best = (0u32..).zip(&zones).filter_map(first).collect();
        Ranking { zones, best, seen }
    }

    /// Enters a node anew, that became better; there are no zones where that happens.
    pub fn enter(&mut self, entry: Entry) {
        if let Some(heap) = self.zones.first_mut() {
            heap.push(Reverse(entry));
        }
    }

    /// The best node: `look` says how good one is now, if it fits, and `count` how many are in a zone. An
    /// entry that became better is in it anew.
    pub fn first(
        &mut self,
        is_improving: bool,
        mut look: impl FnMut(u32) -> Option<Entry>,
        count: impl Fn(u32) -> u64,
    ) -> Option<u32> {
        while let Some(mut best) = self.best.peek_mut() {
            let zone = best.0.4;
            let heap = &mut self.zones[zone as usize];
            let Some((grade, key, at)) = first_of(heap, is_improving, &mut look) else {
                PeekMut::pop(best);
                continue;
            };
            let now = (grade, count(zone), key, at, zone);
            if now == best.0 {
                return Some(at);
            }
            best.0 = now;
        }
        None
    }
}

/// The best of one heap, as it is now.
fn first_of(
    heap: &mut BinaryHeap<Reverse<Entry>>,
    is_improving: bool,
    look: &mut impl FnMut(u32) -> Option<Entry>,
) -> Option<Entry> {
    while let Some(mut top) = heap.peek_mut() {
        match look(top.0.2) {
            Some(now) if now == top.0 => return Some(now),
            Some(now) if !is_improving => top.0 = now,
            _ => drop(PeekMut::pop(top)),
        }
    }
    None
}
