//! How many of a family are where, for the strategy `spread`: on each node, or in each zone that a label
//! makes.
//!
//! Only what is there is counted: a family that is nowhere yet costs nothing for each node, and as many
//! families as there are tasks stay affordable.

use std::collections::BTreeMap;

use super::Shape;
use super::fleet::Bits;
use super::hash::{ByWord, HashMap};
use super::offer::NodeOffer;

#[derive(Default)]
pub(super) struct Families {
    zones: Vec<Zones>,
    spreads: Vec<SpreadCount>,
    ids: ByWord<Vec<u32>>,
    /// Where families were before the pass; made when somebody has to know.
    placed: Option<ByWord<Vec<(u32, u32)>>>,
}

/// The zones that a label makes of the nodes; without one every node is a zone of its own.
struct Zones {
    over: Option<String>,
    zone_of: Vec<u32>,
    is_open: Bits,
    /// How many of them have an open node.
    open: usize,
}

struct SpreadCount {
    zones: usize,
    /// By zone; those without any are left out.
    counts: HashMap<u32, u32>,
    /// How many open zones have so many.
    levels: BTreeMap<u32, usize>,
}

impl Families {
    /// The counter for a family that is to be spread.
    pub fn id(&mut self, shape: &Shape, nodes: &[NodeOffer], open: &[u32]) -> u32 {
        let over = &shape.rules.over;
        let families = self.ids.entry(shape.project).or_default();
        let ids = families.entry(shape.family.clone()).or_default();
        let is_same = |id: &&u32| self.zones[self.spreads[**id as usize].zones].over == *over;
        if let Some(id) = ids.iter().find(is_same) {
            return *id;
        }
        let id = u32::try_from(self.spreads.len()).unwrap_or(u32::MAX);
        ids.push(id);
        let known = self.zones.iter().position(|zones| zones.over == *over);
        let zones = known.unwrap_or(self.zones.len());
        if known.is_none() {
            self.zones.push(Zones::of(over.clone(), nodes, open));
        }
        let mut spread = SpreadCount { zones, counts: HashMap::default(), levels: BTreeMap::new() };
        let placed = self.placed.get_or_insert_with(|| placed(nodes));
        let here = placed.get(&shape.project).and_then(|words| words.get(&shape.family));
        for (at, count) in here.into_iter().flatten() {
            spread.add(&self.zones[zones], *at, *count);
        }
        self.spreads.push(spread);
        id
    }

    /// How many of it are in the zone of a node.
    pub fn count(&self, id: u32, at: u32) -> u64 {
        let spread = &self.spreads[id as usize];
        let zone = self.zones[spread.zones].zone_of[at as usize];
        spread.counts.get(&zone).copied().unwrap_or(0).into()
    }

    /// The zone of a node; none where every node is one.
    pub fn zone(&self, id: u32, at: u32) -> Option<u32> {
        let zones = &self.zones[self.spreads[id as usize].zones];
        zones.over.is_some().then(|| zones.zone_of[at as usize])
    }

    /// How many of it are in a zone; none where every node is one.
    pub fn zone_count(&self, id: u32, zone: u32) -> u64 {
        let spread = &self.spreads[id as usize];
        match self.zones[spread.zones].over {
            Some(_) => spread.counts.get(&zone).copied().unwrap_or(0).into(),
            None => 0,
        }
    }

    /// The fewest of it that are in any zone with an open node.
    pub fn least(&self, id: u32) -> u64 {
        let spread = &self.spreads[id as usize];
        let counted: usize = spread.levels.values().sum();
        match spread.levels.first_key_value() {
            Some((least, _)) if counted >= self.zones[spread.zones].open => (*least).into(),
            _ => 0,
        }
    }

    /// Counts one more; says whether anybody counts its family.
    pub fn add(&mut self, shape: &Shape, at: u32) -> bool {
        let families = self.ids.get(&shape.project);
        let Some(ids) = families.and_then(|families| families.get(&shape.family)) else {
            return false;
        };
        for id in ids {
            let spread = &mut self.spreads[*id as usize];
            spread.add(&self.zones[spread.zones], at, 1);
        }
        true
    }
}

impl SpreadCount {
    fn add(&mut self, zones: &Zones, at: u32, more: u32) {
        let zone = zones.zone_of[at as usize];
        let count = self.counts.entry(zone).or_default();
        let before = *count;
        *count = before.saturating_add(more);
        if !zones.is_open.has(zone) {
            return;
        }
        if let Some(zones) = self.levels.get_mut(&before) {
            *zones -= 1;
            if *zones == 0 {
                self.levels.remove(&before);
            }
        }
        *self.levels.entry(*count).or_default() += 1;
    }
}

impl Zones {
    fn of(over: Option<String>, nodes: &[NodeOffer], open: &[u32]) -> Zones {
        let mut known: HashMap<Option<&String>, u32> = HashMap::default();
        let zone_of: Vec<u32> = (0u32..)
            .zip(nodes)
            .map(|(at, node)| match &over {
                None => at,
                Some(key) => {
                    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                    *known.entry(node.labels.get(key)).or_insert(next)
                }
            })
            .collect();
        let mut zones = Zones { over, zone_of, is_open: Bits::new(nodes.len()), open: 0 };
        for at in open {
            let zone = zones.zone_of[*at as usize];
            zones.open += usize::from(!zones.is_open.has(zone));
            zones.is_open.set(zone);
        }
        zones
    }
}

fn placed(nodes: &[NodeOffer]) -> ByWord<Vec<(u32, u32)>> {
    let mut placed: ByWord<Vec<(u32, u32)>> = HashMap::default();
    for (at, node) in (0u32..).zip(nodes) {
        for (project, words) in &node.families {
            let known = placed.entry(*project).or_default();
            for (word, count) in words.iter().filter(|(_, count)| **count > 0) {
                known.entry(word.clone()).or_default().push((at, *count));
            }
        }
    }
    placed
}
