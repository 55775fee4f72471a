//! State in lists.

use hostler_api::state::{StateChangeView, StateEncoding, StateEntryView, StateNamespaceView};
use hostler_model::Timestamp;

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

/// As much of a value as a line has room for.
const SHOWN_MAX: usize = 40;

fn value(value: Option<&String>, encoding: Option<StateEncoding>) -> Cell {
    let Some(value) = value else { return Cell::new("-").dim() };
    if encoding == Some(StateEncoding::Base64) {
        return Cell::new("(bytes)").dim();
    }
    let shown: String = value.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect();
    match value.chars().nth(SHOWN_MAX) {
        Some(_) => Cell::new(format!("{shown}...")),
        None => Cell::new(shown),
    }
}

impl Show for StateEntryView {
    const KIND: &'static str = "state-entry";
    const COLUMNS: &'static [Column] = &[
        column("KEY"),
        column("VALUE"),
        column("BYTES"),
        column("REVISION"),
        wide("VERSION"),
        column("BY"),
        column("CHANGED"),
        column("EXPIRES"),
        wide("CREATED"),
    ];
    fn id(&self) -> String {
        self.key.to_string()
    }
    fn name(&self) -> String {
        self.key.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.key),
            value(self.value.as_ref(), self.encoding),
            Cell::new(self.size),
            Cell::new(self.revision),
            Cell::new(self.version),
            Cell::new(&self.owner.name),
            when(Some(self.time_modified), now, is_wide),
            when(self.time_expires, now, is_wide),
            when(Some(self.time_created), now, is_wide),
        ]
    }
}

impl Show for StateChangeView {
    const KIND: &'static str = "state-change";
    const COLUMNS: &'static [Column] = &[
        column("REVISION"),
        column("CHANGE"),
        column("KEY"),
        column("VALUE"),
        wide("VERSION"),
        column("BY"),
        column("WHEN"),
        wide("EXPIRES"),
    ];
    fn id(&self) -> String {
        self.revision.to_string()
    }
    fn name(&self) -> String {
        self.key.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let kind = Cell::new(self.kind);
        vec![
            Cell::new(self.revision),
            if self.kind.is_end() { kind.dim() } else { kind },
            Cell::new(&self.key),
            value(self.value.as_ref(), self.encoding),
            Cell::new(self.version),
            Cell::new(&self.owner.name),
            when(Some(self.time), now, is_wide),
            when(self.time_expires, now, is_wide),
        ]
    }
}

impl Show for StateNamespaceView {
    const KIND: &'static str = "state-namespace";
    const COLUMNS: &'static [Column] = &[column("NAME"), column("ENTRIES"), column("BYTES")];
    fn id(&self) -> String {
        self.name.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(&self.name), Cell::new(self.entries), Cell::new(self.bytes)]
    }
}
