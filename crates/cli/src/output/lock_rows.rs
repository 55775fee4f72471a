//! Locks in lists.

use hostler_api::lock::{LockAcquired, LockDetailView, LockHoldView, LockView};
use hostler_model::{LockHolder, Timestamp};

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

/// `ada on web-1 (pid 7)`.
pub fn holder(by: &str, holder: &LockHolder) -> String {
    let mut text = by.to_owned();
    if !holder.host.is_empty() {
        text.push_str(&format!(" on {}", holder.host));
    }
    if let Some(pid) = holder.pid {
        text.push_str(&format!(" (pid {pid})"));
    }
    text
}

fn names(holders: &[LockHoldView]) -> String {
    holders.iter().map(|hold| holder(&hold.by, &hold.holder)).collect::<Vec<_>>().join(", ")
}

impl Show for LockView {
    const KIND: &'static str = "lock";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("HELD"),
        column("WAITING"),
        column("BY"),
        column("SINCE"),
        column("WHY"),
        wide("TOKEN"),
        wide("CHANGED"),
    ];
    fn id(&self) -> String {
        self.name.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let held = Cell::new(format!("{}/{}", self.held, self.slots));
        let first = self.holders.first();
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            if self.held == self.slots { held.good() } else { held },
            Cell::new(self.waiting),
            Cell::new(names(&self.holders)),
            when(first.and_then(|hold| hold.time_granted), now, is_wide),
            Cell::new(first.map(|hold| hold.holder.why.clone()).unwrap_or_default()),
            Cell::new(self.token),
            when(Some(self.time_modified), now, is_wide),
        ]
    }
}

impl Show for LockDetailView {
    const KIND: &'static str = LockView::KIND;
    const COLUMNS: &'static [Column] = LockView::COLUMNS;
    fn id(&self) -> String {
        self.lock.id()
    }
    fn name(&self) -> String {
        self.lock.name()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        self.lock.cells(now, is_wide)
    }
}

impl Show for LockAcquired {
    const KIND: &'static str = "lock";
    const COLUMNS: &'static [Column] =
        &[column("LOCK"), column("OUTCOME"), column("HOLD"), column("TOKEN"), column("TTL")];
    fn id(&self) -> String {
        self.hold.as_ref().map(|hold| hold.id.to_string()).unwrap_or_default()
    }
    fn name(&self) -> String {
        self.lock.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let hold = self.hold.as_ref();
        vec![
            Cell::new(&self.lock),
            Cell::new(self.outcome),
            hold.map(|hold| hold.id).into(),
            hold.and_then(|hold| hold.token).into(),
            hold.map(|hold| hold.ttl).into(),
        ]
    }
}

impl Show for LockHoldView {
    const KIND: &'static str = "hold";
    const COLUMNS: &'static [Column] =
        &[column("ID"), column("TOKEN"), column("BY"), column("TTL"), column("RENEWED")];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            self.token.into(),
            Cell::new(holder(&self.by, &self.holder)),
            Cell::new(self.ttl),
            when(Some(self.time_renewed), now, is_wide),
        ]
    }
}
