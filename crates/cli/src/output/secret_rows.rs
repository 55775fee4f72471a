//! Secrets in lists.

use hostler_api::secret::{SecretVersionView, SecretView, VaultView};
use hostler_model::Timestamp;

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

impl Show for SecretView {
    const KIND: &'static str = "secret";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("ENVIRONMENT"),
        column("NAME"),
        column("VERSION"),
        column("BY"),
        column("CHANGED"),
        wide("CREATED"),
        wide("SOURCE"),
        wide("LINK"),
    ];
    fn id(&self) -> String {
        self.reference.clone()
    }
    fn name(&self) -> String {
        self.reference.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(&self.environment),
            Cell::new(&self.name),
            self.version.into(),
            Cell::new(&self.created_by),
            when(Some(self.time_modified), now, is_wide),
            when(Some(self.time_created), now, is_wide),
            Cell::new(self.source),
            self.link.as_ref().into(),
        ]
    }
}

impl Show for SecretVersionView {
    const KIND: &'static str = "version";
    const COLUMNS: &'static [Column] = &[
        column("VERSION"),
        column("STATE"),
        column("BYTES"),
        column("BY"),
        column("CREATED"),
        column("DESTROYED"),
    ];
    fn id(&self) -> String {
        self.version.to_string()
    }
    fn name(&self) -> String {
        self.version.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = match (self.is_destroyed, self.is_current) {
            (true, _) => Cell::new("destroyed").dim(),
            (false, true) => Cell::new("current").good(),
            (false, false) => Cell::new("kept"),
        };
        vec![
            Cell::new(self.version),
            state,
            Cell::new(self.size),
            Cell::new(&self.created_by.name),
            when(Some(self.time_created), now, is_wide),
            when(self.time_destroyed, now, is_wide),
        ]
    }
}

impl Show for VaultView {
    const KIND: &'static str = "vault";
    const COLUMNS: &'static [Column] = &[column("NAME"), column("KIND"), column("PREFIX")];
    fn id(&self) -> String {
        self.name.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(&self.name), Cell::new(&self.kind), Cell::new(&self.prefix)]
    }
}
