//! Content and what tasks left, as rows.

use hostler_api::blob::{BlobView, OutputView};
use hostler_model::{Bytes, Timestamp};

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

impl Show for BlobView {
    const KIND: &'static str = "blob";
    const COLUMNS: &'static [Column] = &[
        column("DIGEST"),
        column("SIZE"),
        column("KIND"),
        column("LABEL"),
        column("BY"),
        column("CREATED"),
        wide("USED"),
        wide("CHUNKS"),
    ];
    fn id(&self) -> String {
        self.digest.to_string()
    }
    fn name(&self) -> String {
        self.digest.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.digest),
            Cell::new(Bytes::new(self.size)),
            Cell::new(self.kind),
            Cell::new(&self.label),
            self.created_by.as_ref().into(),
            when(Some(self.time_created), now, is_wide),
            when(Some(self.time_used), now, is_wide),
            Cell::new(self.chunks),
        ]
    }
}

impl Show for OutputView {
    const KIND: &'static str = "output";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("SIZE"),
        column("KIND"),
        column("CREATED"),
        column("PROBLEM"),
        wide("DIGEST"),
        wide("RUN"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let kind = if self.is_archive { "archive" } else { "file" };
        vec![
            Cell::new(&self.name),
            self.digest.map(|_| Bytes::new(self.size)).into(),
            self.digest.map(|_| kind).into(),
            when(Some(self.time_created), now, is_wide),
            self.problem.as_ref().into(),
            self.digest.into(),
            Cell::new(self.run),
        ]
    }
}
