//! Requests that are known not to fit, so that what wants at least as much is not looked for again.

use super::hash::HashMap;
use super::need::Need;

/// More than this is not remembered of a group: looking again is cheaper than comparing with them all.
const MOST: usize = 32;

/// Amounts that are known not to fit, by group and priority.
#[derive(Default)]
pub(super) struct Frontier(HashMap<(u32, i32), Vec<[u64; 5]>>);

impl Frontier {
    pub fn has(&self, priority: i32, need: &Need<'_>) -> bool {
        let wants = need.amounts();
        let is_more = |full: &[u64; 5]| full.iter().zip(wants).all(|(full, wants)| wants >= *full);
        self.0.get(&(need.group, priority)).is_some_and(|known| known.iter().any(is_more))
    }

    pub fn add(&mut self, priority: i32, need: &Need<'_>) {
        let amounts = need.amounts();
        let known = self.0.entry((need.group, priority)).or_default();
        known.retain(|other| !other.iter().zip(amounts).all(|(other, new)| *other >= new));
        if known.len() < MOST {
            known.push(amounts);
        }
    }
}
