//! Timelines: many sources, each in an order of its own, merged into one list, a page at a time.
//!
//! Every source is read newest first by its own key, such as the number of an event. Where a page ends, the place in
//! each source is kept, so that whatever the clocks of machines say, every row is on exactly one page.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hostler_model::{NodeId, TimelineEntry, TimelineSource, Timestamp};
use serde::{Deserialize, Serialize};

/// Nodes and times that are looked at for one object.
pub const STAYS_MAX: usize = 16;

/// How far each source was read. A source that is not named was not begun with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Places(pub BTreeMap<TimelineSource, Place>);

/// How far one source was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// Goes on before the row with this key.
    Before(String),
    /// There is nothing more.
    End,
}

impl Places {
    /// The key to go on before; `None` from the newest on, and `Err` where there is nothing more.
    pub fn before(&self, source: TimelineSource) -> Result<Option<&str>, AtEnd> {
        match self.0.get(&source) {
            None => Ok(None),
            Some(Place::Before(key)) => Ok(Some(key)),
            Some(Place::End) => Err(AtEnd),
        }
    }
}

/// A source has nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtEnd;

/// A row of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its place in the source.
    pub key: String,
    pub time: Timestamp,
    /// Absent where another source tells the same.
    pub entry: Option<TimelineEntry>,
}

/// What was read of a source, newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub source: TimelineSource,
    pub rows: Vec<Row>,
    /// Whether there is nothing after them.
    pub is_all: bool,
}

/// A page of a timeline, and how far every source is read then; `None` when that is the end.
pub fn merge(
    parts: Vec<Part>,
    mut places: Places,
    limit: usize,
) -> (Vec<TimelineEntry>, Option<Places>) {
    let mut heads: Vec<_> = parts
        .into_iter()
        .map(|part| (part.source, part.is_all, part.rows.into_iter().peekable()))
        .collect();
    let mut entries = Vec::new();
    while entries.len() < limit {
        let mut newest = None;
        let mut is_known = true;
        for (at, (source, is_all, rows)) in heads.iter_mut().enumerate() {
            match rows.peek() {
                Some(row) => newest = newest.max(Some((row.time, Reverse(*source), Reverse(at)))),
                // What it has next may be newer than anything else.
                None => is_known &= *is_all,
            }
        }
        let Some((.., Reverse(at))) = newest.filter(|_| is_known) else { break };
        let (source, _, rows) = &mut heads[at];
        let Some(row) = rows.next() else { break };
        places.0.insert(*source, Place::Before(row.key));
        entries.extend(row.entry);
    }
    let mut is_end = true;
    for (source, is_all, mut rows) in heads {
        match rows.peek().is_none() && is_all {
            true => drop(places.0.insert(source, Place::End)),
            false => is_end = false,
        }
    }
    (entries, (!is_end).then_some(places))
}

/// What several questions to one source found, each newest first, as one: every row once, and none that is older than
/// what is known of all. `is_all` of a question says whether there is nothing after what it found.
pub fn union<T, K: Ord + Copy>(
    found: Vec<(Vec<T>, bool)>,
    key: impl Fn(&T) -> K,
) -> (Vec<T>, bool) {
    let horizon = found
        .iter()
        .filter(|(_, is_all)| !is_all)
        .filter_map(|(items, _)| items.last().map(&key))
        .max();
    let is_all = horizon.is_none() && found.iter().all(|(_, is_all)| *is_all);
    let mut items: Vec<T> = found.into_iter().flat_map(|(items, _)| items).collect();
    items.retain(|item| horizon.is_none_or(|horizon| key(item) >= horizon));
    items.sort_by_key(|item| Reverse(key(item)));
    items.dedup_by_key(|item| key(item));
    (items, is_all)
}

/// A time on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    pub node: NodeId,
    pub from: Timestamp,
    /// Absent while it lasts.
    pub until: Option<Timestamp>,
}

/// Times on nodes, those of one node that overlap as one; the newest of them.
pub fn stays(mut given: Vec<Stay>) -> Vec<Stay> {
    given.sort_by_key(|stay| (stay.node, stay.from));
    let mut united: Vec<Stay> = Vec::new();
    for stay in given {
        match united.last_mut() {
            Some(last)
                if last.node == stay.node && last.until.is_none_or(|until| stay.from <= until) =>
            {
                last.until = last.until.zip(stay.until).map(|(a, b)| a.max(b));
            }
            _ => united.push(stay),
        }
    }
    united.sort_by_key(|stay| Reverse((stay.until.is_none(), stay.until, stay.from)));
    united.truncate(STAYS_MAX);
    united
}

#[cfg(test)]
mod tests;
