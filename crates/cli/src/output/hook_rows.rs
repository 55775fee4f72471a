//! What event hooks and their deliveries show of themselves in a table.

use hostler_api::hook::{DeliveryView, HookView};
use hostler_model::{DeliveryState, Timestamp};

use super::{Cell, Column, Show, column, moment, wide};

impl Show for HookView {
    const KIND: &'static str = "hook";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("ENABLED"),
        column("ON"),
        wide("FILTER"),
        column("ACTION"),
        column("OPEN"),
        column("DEAD"),
        column("OWNER"),
        wide("MODIFIED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let on: Vec<String> = self.spec.on.iter().map(ToString::to_string).collect();
        let count = |state| self.deliveries.get(state).copied().unwrap_or_default();
        let open: u64 = DeliveryState::OPEN.iter().map(count).sum();
        let dead = count(&DeliveryState::Dead);
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            if self.is_enabled { Cell::new("yes") } else { Cell::new("no").dim() },
            Cell::new(on.join(",")),
            Some(self.spec.filter.clone()).filter(|text| !text.is_empty()).into(),
            Cell::new(&self.summary),
            Cell::new(open),
            if dead > 0 { Cell::new(dead).bad() } else { Cell::new(dead) },
            Cell::new(&self.owner),
            Cell::new(moment(self.time_modified, now, is_wide)),
        ]
    }
}

impl Show for DeliveryView {
    const KIND: &'static str = "delivery";
    const COLUMNS: &'static [Column] = &[
        column("EVENT"),
        column("STATE"),
        column("KIND"),
        column("OBJECT"),
        column("FAILED"),
        column("STATUS"),
        column("NOTE"),
        column("CREATED"),
        wide("ENDED"),
    ];
    fn id(&self) -> String {
        self.id.clone()
    }
    fn name(&self) -> String {
        self.sequence.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let text = |at: &str| self.event.pointer(at).and_then(|value| value.as_str());
        let state = Cell::new(self.state);
        vec![
            Cell::new(self.sequence),
            match self.state {
                DeliveryState::Done => state.good(),
                DeliveryState::Dead => state.bad(),
                DeliveryState::Queued => state.dim(),
                _ => state,
            },
            Cell::new(text("/kind").unwrap_or_default()),
            Cell::new(format!(
                "{}/{}",
                text("/object/kind").unwrap_or_default(),
                text("/object/name").unwrap_or_default()
            )),
            Cell::new(self.attempts),
            self.status.map(|status| status.to_string()).into(),
            Some(self.note.clone()).filter(|text| !text.is_empty()).into(),
            Cell::new(moment(self.time_created, now, is_wide)),
            self.time_ended.map(|time| moment(time, now, is_wide)).into(),
        ]
    }
}
