//! Workflows, modules and executions in lists.

use hostler_api::module::ModuleView;
use hostler_api::workflow::{ExecutionView, WorkflowView};
use hostler_model::Timestamp;
use hostler_model::workflow::ModuleRef;

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

impl Show for WorkflowView {
    const KIND: &'static str = "workflow";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("VERSION"),
        column("STEPS"),
        column("FILE"),
        column("BY"),
        column("PUSHED"),
        wide("MODULES"),
        wide("DESCRIPTION"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.name),
            Cell::new(self.version),
            Cell::new(self.graph.steps.len()),
            Cell::new(&self.file),
            Cell::new(&self.created_by),
            when(Some(self.time_created), now, is_wide),
            Cell::new(listed(&self.modules)),
            Cell::new(&self.graph.description),
        ]
    }
}

fn listed(modules: &[ModuleRef]) -> String {
    modules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Show for ModuleView {
    const KIND: &'static str = "module";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("VERSION"),
        column("FILE"),
        column("BY"),
        column("PUSHED"),
        wide("MODULES"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.name),
            Cell::new(self.version),
            Cell::new(&self.file),
            Cell::new(&self.created_by),
            when(Some(self.time_created), now, is_wide),
            Cell::new(listed(&self.modules)),
        ]
    }
}

impl Show for ExecutionView {
    const KIND: &'static str = "execution";
    const COLUMNS: &'static [Column] = &[
        column("EXECUTION"),
        column("WORKFLOW"),
        column("VERSION"),
        column("STATUS"),
        column("BY"),
        column("STARTED"),
        column("ENDED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let status = match self.outcome.as_deref() {
            Some("succeeded") => Cell::new("succeeded").good(),
            Some(outcome) => Cell::new(outcome).bad(),
            None => Cell::new(&self.state),
        };
        vec![
            Cell::new(self.id),
            Cell::new(&self.workflow),
            Cell::new(self.version),
            status,
            Cell::new(&self.created_by),
            when(Some(self.time_created), now, is_wide),
            when(self.time_ended, now, is_wide),
        ]
    }
}
