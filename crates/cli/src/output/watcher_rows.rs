//! What watchers show of themselves in a table.

use hostler_api::watcher::{WatcherNodeView, WatcherState, WatcherView};
use hostler_model::Timestamp;

use super::{Cell, Column, Show, column, moment, wide};

impl Show for WatcherView {
    const KIND: &'static str = "watcher";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("WATCHES"),
        column("STATE"),
        column("NODES"),
        column("FIRING"),
        column("TROUBLE"),
        wide("INTERVAL"),
        wide("OWNER"),
        wide("CREATED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = match (self.is_enabled, &self.hindrance) {
            (false, _) => Cell::new("disabled").warning(),
            (true, Some(_)) => Cell::new("refused").bad(),
            (true, None) => Cell::new("enabled").good(),
        };
        let counted = |count: u64| match count {
            0 => Cell::new(0),
            count => Cell::new(count).bad(),
        };
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(&self.summary),
            state,
            Cell::new(self.looking),
            counted(self.firing),
            counted(self.trouble),
            Cell::new(self.spec.interval()),
            Cell::new(&self.owner),
            Cell::new(moment(self.time_created, now, is_wide)),
        ]
    }
}

impl Show for WatcherNodeView {
    const KIND: &'static str = "node";
    const COLUMNS: &'static [Column] =
        &[column("NODE"), column("STATE"), column("SEEN"), column("TOLD"), column("LOST")];
    fn id(&self) -> String {
        self.node.to_string()
    }
    fn name(&self) -> String {
        self.node.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = Cell::new(self.state);
        let state = match self.state {
            WatcherState::Looking => state.good(),
            WatcherState::Firing | WatcherState::Trouble => state.bad(),
            WatcherState::Off | WatcherState::Pending => state.dim(),
        };
        let seen = self.trouble.clone().unwrap_or_else(|| self.seen.clone());
        vec![
            Cell::new(&self.node),
            state,
            Some(seen).filter(|seen| !seen.is_empty()).into(),
            self.time_told.map(|told| moment(told, now, is_wide)).into(),
            Cell::new(self.lost),
        ]
    }
}
