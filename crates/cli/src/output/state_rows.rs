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
    let mut shown = String::new();
    for c in value.chars().take(SHOWN_MAX) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_as_it_is_on_one_line() {
        let shown = |text: &str| value(Some(&text.to_owned()), None).text().to_owned();
        assert_eq!(shown(r#"["a","b\c"]"#), r#"["a","b\c"]"#);
        assert_eq!(shown("a\n\u{1b}[31m"), r"a\n\u{1b}[31m");
        assert_eq!(shown(&"x".repeat(41)), format!("{}...", "x".repeat(40)));
    }
}
