//! What a node is worth to a request before its strategy looks at how full it is: preferences that it
//! does not meet, then how far it is from the place that was asked for.
//!
//! A place is a path from the large to the small, as in `eu/berlin/rack3`; a node says where it is with
//! the label `location`. What is asked for counts part by part from the beginning: a node within
//! `eu/berlin` is at no distance from `eu/berlin`, one in `eu/paris` is one step away, and one that says
//! nothing is as far away as there are steps.

use hostler_model::{Constraint, LOCATION_LABEL, PlacementRules, Strategy};

use super::hash::HashMap;
use super::offer::NodeOffer;
use super::rules;

/// The smaller the better.
pub(super) type Grade = u32;

/// What nodes are compared by.
#[derive(PartialEq, Eq, Hash)]
struct GradeKey<'s> {
    prefer: &'s [Constraint],
    near: Option<&'s str>,
}

#[derive(Default)]
pub(super) struct Grades<'s> {
    all: Vec<Graded>,
    ids: HashMap<GradeKey<'s>, u32>,
}

/// What every node is worth to some requests.
struct Graded {
    each: Vec<Grade>,
    /// Of an open node.
    least: Grade,
}

impl<'s> Grades<'s> {
    /// None where all nodes are worth the same.
    pub fn of(
        &mut self,
        asked: &'s PlacementRules,
        strategy: Strategy,
        nodes: &[NodeOffer],
        open: &[u32],
    ) -> Option<u32> {
        let near = asked.near.as_deref().filter(|_| strategy == Strategy::Location);
        let key = GradeKey { prefer: &asked.prefer, near };
        if key.prefer.is_empty() && near.is_none() {
            return None;
        }
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            let each: Vec<Grade> = nodes.iter().map(|node| grade(asked, strategy, node)).collect();
            let least = open.iter().map(|at| each[*at as usize]).min().unwrap_or_default();
            self.all.push(Graded { each, least });
        }
        Some(id)
    }

    pub fn at(&self, id: Option<u32>, at: u32) -> Grade {
        id.map_or(0, |id| self.all[id as usize].each[at as usize])
    }

    pub fn least(&self, id: Option<u32>) -> Grade {
        id.map_or(0, |id| self.all[id as usize].least)
    }
}

/// What a node is worth to whoever asks for this.
pub(super) fn grade(asked: &PlacementRules, strategy: Strategy, node: &NodeOffer) -> Grade {
    const MOST: u32 = u16::MAX as u32;
    let all = u32::try_from(asked.prefer.len()).unwrap_or(u32::MAX);
    let unmet = all.saturating_sub(rules::preferences(asked, node));
    let near = asked.near.as_deref().filter(|_| strategy == Strategy::Location);
    let steps = near.map_or(0, |near| steps_away(near, node));
    unmet.min(MOST) << 16 | steps.min(MOST)
}

/// How many parts of a place, from its end, a node is not in.
fn steps_away(near: &str, node: &NodeOffer) -> u32 {
    let here = node.labels.get(LOCATION_LABEL).map_or("", String::as_str);
    let shared = near.split('/').zip(here.split('/')).take_while(|(asked, has)| asked == has);
    let steps = near.split('/').count() - shared.count();
    u32::try_from(steps).unwrap_or(u32::MAX)
}
