//! Backups of nodes in lists.

use hostler_api::node_backup::{BackupFileKind, BackupFileView, NodeBackupView};
use hostler_model::{NodeBackupState, Timestamp};

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

impl Show for NodeBackupView {
    const KIND: &'static str = "backup";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("NODE"),
        column("NAME"),
        column("STATE"),
        column("FILES"),
        column("SIZE"),
        wide("SENT"),
        column("STORE"),
        column("VERIFIED"),
        column("AGE"),
        wide("PATHS"),
        wide("ERROR"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = Cell::new(self.state);
        let state = match self.state {
            NodeBackupState::Complete => state.good(),
            NodeBackupState::Failed => state.bad(),
            NodeBackupState::Waiting | NodeBackupState::Running => state,
        };
        let outcome = self.outcome.as_ref();
        let verified = match &self.verdict {
            None => Cell::new("-").dim(),
            Some(verdict) if verdict.problem.is_some() => Cell::new("damaged").bad(),
            Some(verdict) => when(Some(verdict.time), now, is_wide),
        };
        vec![
            Cell::new(self.id),
            Cell::new(&self.node),
            Cell::new(&self.label),
            state,
            Cell::from(outcome.map(|outcome| outcome.files)),
            Cell::from(outcome.map(|outcome| outcome.bytes)),
            Cell::from(outcome.map(|outcome| outcome.bytes_sent)),
            Cell::new(self.store),
            verified,
            when(Some(self.time_created), now, is_wide),
            Cell::new(self.spec.paths.join(" ")),
            Cell::new(self.error.as_deref().unwrap_or_default()),
        ]
    }
}

impl Show for BackupFileView {
    const KIND: &'static str = "file";
    const COLUMNS: &'static [Column] = &[
        column("MODE"),
        column("OWNER"),
        column("SIZE"),
        column("CHANGED"),
        column("PATH"),
        wide("DIGEST"),
    ];
    fn id(&self) -> String {
        self.path.clone()
    }
    fn name(&self) -> String {
        self.path.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let letter = match self.kind {
            BackupFileKind::Directory => 'd',
            BackupFileKind::File | BackupFileKind::Same => '-',
            BackupFileKind::Link => 'l',
        };
        let path = match (&self.target, self.kind) {
            (Some(target), BackupFileKind::Same) => format!("{} = {target}", self.path),
            (Some(target), _) => format!("{} -> {target}", self.path),
            (None, _) => self.path.clone(),
        };
        vec![
            Cell::new(format!("{letter}{}", self.mode)),
            Cell::new(format!("{}:{}", self.uid, self.gid)),
            Cell::from(self.size),
            when(Some(self.time_modified), now, is_wide),
            Cell::new(path),
            Cell::from(self.digest),
        ]
    }
}
