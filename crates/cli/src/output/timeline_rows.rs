//! Timelines in lists.

use hostler_model::{ObjectRef, TimelineEntry, Timestamp};
use serde::Serialize;

use super::time::moment;
use super::{Cell, Column, Show, column, wide};

/// A row of a timeline; what it is about is shown where it is something else than the timeline's object.
#[derive(Debug, Serialize)]
pub struct TimelineRow {
    #[serde(flatten)]
    pub entry: TimelineEntry,
    #[serde(skip)]
    is_other: bool,
}

impl TimelineRow {
    pub fn new(entry: TimelineEntry, object: &ObjectRef) -> TimelineRow {
        let is_other = entry.object != *object;
        TimelineRow { entry, is_other }
    }
}

impl Show for TimelineRow {
    const KIND: &'static str = "entry";
    const COLUMNS: &'static [Column] = &[
        column("TIME"),
        column("SOURCE"),
        column("WHAT"),
        column("OBJECT"),
        column("BY"),
        column("MESSAGE"),
        wide("CAUSE"),
        wide("ID"),
    ];
    fn id(&self) -> String {
        self.entry.id.clone()
    }
    fn name(&self) -> String {
        self.entry.id.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let TimelineEntry { object, .. } = &self.entry;
        let other = self.is_other.then(|| format!("{}/{}", object.kind, object.name));
        vec![
            Cell::new(moment(self.entry.time, now, is_wide)),
            Cell::new(self.entry.source),
            Cell::new(&self.entry.what),
            Cell::from(other),
            Cell::from(self.entry.actor.as_ref().map(|actor| &actor.name)),
            Cell::new(&self.entry.message),
            Cell::from(self.entry.cause.as_ref()),
            Cell::new(&self.entry.id),
        ]
    }
}
