//! Stacks and what belongs to them in lists.

use hostler_api::stack::{StackEventView, StackOutputView, StackView};
use hostler_api::stack_check::{StackChecklistView, StackDependenciesView};
use hostler_api::stack_plan::{StackDriftView, StackPlanView};
use hostler_api::stack_plugin::StackPluginView;
use hostler_api::stack_point::{StackComparisonView, StackRevisionView, StackSnapshotView};
use hostler_api::stack_resource::{StackHookView, StackResourceView};
use hostler_api::stack_type::{StackEditionView, StackTypeDetailView, StackTypeView};
use hostler_model::Timestamp;
use hostler_model::stack::{
    StackChangeKind, StackCheckLine, StackCheckResult, StackDriftItem, StackDriftKind, StackName,
    StackStanding, StackStatus,
};
use serde::Serialize;
use serde_json::Value;

use super::rows::when;
use super::{Cell, Column, Show, column, moment, wide};

/// As much of a value as a line has room for.
const SHOWN_MAX: usize = 60;

/// A text as it is, anything else as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value in one short line.
pub fn short(value: &Value) -> String {
    let text: String = super::one_line(&plain(value));
    match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn toned(cell: Cell, status: StackStatus) -> Cell {
    match status {
        StackStatus::InProgress => cell.warning(),
        StackStatus::Complete => cell.good(),
        StackStatus::Failed => cell.bad(),
    }
}

/// `update complete`.
pub fn standing(standing: &StackStanding) -> String {
    match standing.status {
        StackStatus::InProgress => format!("{} under way", standing.action),
        status => format!("{} {status}", standing.action),
    }
}

impl Show for StackView {
    const KIND: &'static str = "stack";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("STATUS"),
        column("REVISION"),
        column("BEGUN"),
        wide("CREATED"),
        wide("TAGS"),
        wide("PARENT"),
        column("REASON"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let status = self.standing.status;
        // What went well needs no words.
        let reason = Some(&self.standing.reason).filter(|_| status != StackStatus::Complete);
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            toned(Cell::new(standing(&self.standing)), status),
            Some(self.revision).filter(|number| *number > 0).map(|n| format!("v{n}")).into(),
            Cell::new(moment(self.time_begun, now, is_wide)),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(self.options.tags.join(",")),
            self.parent.into(),
            reason.into(),
        ]
    }
}

impl Show for StackEventView {
    const KIND: &'static str = "event";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("TIME"),
        column("RESOURCE"),
        column("ACTION"),
        column("STATUS"),
        wide("TYPE"),
        wide("PHYSICAL"),
        column("REASON"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, _: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(moment(self.time, now, true)),
            self.resource.as_ref().into(),
            Cell::new(&self.action),
            toned(Cell::new(self.status), self.status),
            Cell::new(&self.kind),
            self.physical.as_ref().into(),
            Cell::new(&self.reason),
        ]
    }
}

impl Show for StackOutputView {
    const KIND: &'static str = "output";
    const COLUMNS: &'static [Column] = &[column("NAME"), column("VALUE"), wide("DESCRIPTION")];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.name),
            match &self.error {
                Some(error) => Cell::new(format!("({error})")).bad(),
                None => Cell::new(short(&self.value)),
            },
            Cell::new(&self.description),
        ]
    }
}

impl Show for StackResourceView {
    const KIND: &'static str = "resource";
    const COLUMNS: &'static [Column] = &[
        wide("STACK"),
        column("NAME"),
        column("TYPE"),
        column("STATUS"),
        column("PHYSICAL"),
        wide("NEEDED BY"),
        column("CHANGED"),
        column("REASON"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let reason = match self.hook {
            Some(hook) => Some(format!("waits at the hook {hook}")),
            None => Some(self.reason.clone()).filter(|_| self.status != StackStatus::Complete),
        };
        vec![
            Cell::new(&self.stack),
            Cell::new(&self.name),
            Cell::new(&self.kind),
            toned(Cell::new(format!("{} {}", self.action, self.status)), self.status),
            self.physical.as_ref().into(),
            Cell::new(self.required_by.join(",")),
            Cell::new(moment(self.time_modified, now, is_wide)),
            reason.into(),
        ]
    }
}

impl Show for StackPlanView {
    const KIND: &'static str = "stack-plan";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("STACK"),
        column("ACTION"),
        column("CHANGES"),
        column("CREATED"),
        column("EXPIRES"),
        column("USED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let same = self.changes.count(StackChangeKind::Unchanged);
        vec![
            Cell::new(self.id),
            Cell::new(&self.stack),
            Cell::new(self.changes.action),
            Cell::new(self.changes.resources.len() - same),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(moment(self.time_expires, now, is_wide)),
            when(self.time_used, now, is_wide),
        ]
    }
}

impl Show for StackRevisionView {
    const KIND: &'static str = "revision";
    const COLUMNS: &'static [Column] = &[
        column("REVISION"),
        column("ACTION"),
        column("RESOURCES"),
        column("BY"),
        column("CREATED"),
        column("REASON"),
    ];
    fn id(&self) -> String {
        format!("v{}", self.number)
    }
    fn name(&self) -> String {
        self.id()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id()),
            Cell::new(self.action),
            Cell::new(self.count),
            Cell::new(&self.created_by.name),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(&self.reason),
        ]
    }
}

impl Show for StackSnapshotView {
    const KIND: &'static str = "snapshot";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("NAME"),
        column("STATUS"),
        column("BY"),
        column("CREATED"),
        wide("REASON"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        if self.name.is_empty() { self.id() } else { self.name.clone() }
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            toned(Cell::new(self.status), self.status),
            Cell::new(&self.created_by.name),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(&self.reason),
        ]
    }
}

impl Show for StackHookView {
    const KIND: &'static str = "hook";
    const COLUMNS: &'static [Column] = &[column("STACK"), column("RESOURCE"), column("HOOK")];
    fn id(&self) -> String {
        format!("{}/{}", self.resource, self.hook)
    }
    fn name(&self) -> String {
        self.id()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(&self.stack), Cell::new(&self.resource), Cell::new(self.hook).warning()]
    }
}

impl Show for StackTypeView {
    const KIND: &'static str = "type";
    const COLUMNS: &'static [Column] = &[column("NAME"), wide("SAME AS"), column("DESCRIPTION")];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(&self.name), self.of.as_ref().into(), Cell::new(&self.description)]
    }
}

impl Show for StackTypeDetailView {
    const KIND: &'static str = StackTypeView::KIND;
    const COLUMNS: &'static [Column] = StackTypeView::COLUMNS;
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(&self.name), self.of.as_ref().into(), Cell::new(&self.description)]
    }
}

impl Show for StackEditionView {
    const KIND: &'static str = "edition";
    const COLUMNS: &'static [Column] =
        &[column("VERSION"), column("ALIAS"), wide("KEY"), column("FUNCTIONS"), wide("CONDITIONS")];
    fn id(&self) -> String {
        self.version.clone()
    }
    fn name(&self) -> String {
        format!("{}.{}", self.key, self.version)
    }
    fn cells(&self, _: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.version),
            self.alias.as_ref().into(),
            Cell::new(&self.key),
            match is_wide {
                true => Cell::new(self.functions.join(",")),
                false => Cell::new(self.functions.len()),
            },
            Cell::new(self.conditions.join(",")),
        ]
    }
}

/// `group/0/server`: where a resource lies below the top.
pub fn lies(path: &[String], name: &str) -> String {
    path.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("/")
}

impl Show for StackDriftItem {
    const KIND: &'static str = "difference";
    const COLUMNS: &'static [Column] = &[
        column("RESOURCE"),
        column("DRIFT"),
        column("TYPE"),
        wide("PHYSICAL"),
        column("DIFFERS"),
        column("MESSAGE"),
    ];
    fn id(&self) -> String {
        lies(&self.path, &self.name)
    }
    fn name(&self) -> String {
        self.id()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let drift = Cell::new(self.drift);
        let names: Vec<&str> = self.properties.iter().map(|one| one.name.as_str()).collect();
        vec![
            Cell::new(self.id()),
            match self.drift {
                StackDriftKind::InSync => drift.good(),
                StackDriftKind::Unknown => drift.dim(),
                _ => drift.bad(),
            },
            Cell::new(&self.kind),
            self.physical.as_ref().into(),
            Cell::new(names.join(",")),
            Cell::new(&self.message),
        ]
    }
}

impl Show for StackDriftView {
    const KIND: &'static str = "drift";
    const COLUMNS: &'static [Column] = &[
        column("LOOKED"),
        column("CHANGED"),
        column("MISSING"),
        column("UNKNOWN"),
        column("TIME"),
    ];
    fn id(&self) -> String {
        if self.is_drifted { "drifted" } else { "in-sync" }.to_owned()
    }
    fn name(&self) -> String {
        self.id()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.looked),
            Cell::new(self.changed),
            Cell::new(self.missing),
            Cell::new(self.unknown),
            Cell::new(moment(self.time, now, is_wide)),
        ]
    }
}

impl Show for StackComparisonView {
    const KIND: &'static str = "comparison";
    const COLUMNS: &'static [Column] =
        &[column("FROM"), column("TO"), column("RESOURCES"), column("OUTPUTS")];
    fn id(&self) -> String {
        format!("{}..{}", self.from, self.to)
    }
    fn name(&self) -> String {
        self.id()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![
            Cell::new(&self.from),
            Cell::new(&self.to),
            Cell::new(self.resources.len()),
            Cell::new(self.outputs.len()),
        ]
    }
}

fn result(result: StackCheckResult) -> Cell {
    let cell = Cell::new(result);
    match result {
        StackCheckResult::Passed => cell.good(),
        StackCheckResult::Failed => cell.bad(),
        StackCheckResult::Skipped => cell.dim(),
    }
}

impl Show for StackCheckLine {
    const KIND: &'static str = "check";
    const COLUMNS: &'static [Column] = &[column("CHECK"), column("RESULT"), column("MESSAGE")];
    fn id(&self) -> String {
        self.check.to_string()
    }
    fn name(&self) -> String {
        self.id()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(self.check), result(self.result), Cell::new(&self.message)]
    }
}

/// A line of the checklist of one of several stacks.
#[derive(Clone, Debug, Serialize)]
pub struct StackCheckRow {
    pub stack: Option<StackName>,
    #[serde(flatten)]
    pub line: StackCheckLine,
}

impl StackCheckRow {
    pub fn all_of(list: &StackChecklistView) -> impl Iterator<Item = StackCheckRow> {
        let stack = list.stack.clone();
        list.lines
            .iter()
            .map(move |line| StackCheckRow { stack: stack.clone(), line: line.clone() })
    }
}

impl Show for StackCheckRow {
    const KIND: &'static str = "check";
    const COLUMNS: &'static [Column] =
        &[column("STACK"), column("CHECK"), column("RESULT"), column("MESSAGE")];
    fn id(&self) -> String {
        self.line.id()
    }
    fn name(&self) -> String {
        self.line.id()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let mut cells = vec![self.stack.as_ref().into()];
        cells.extend(self.line.cells(now, is_wide));
        cells
    }
}

impl Show for StackDependenciesView {
    const KIND: &'static str = "stack";
    const COLUMNS: &'static [Column] = &[column("STACK"), column("USES"), column("USED BY")];
    fn id(&self) -> String {
        self.stack.to_string()
    }
    fn name(&self) -> String {
        self.stack.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let names = |uses: &[hostler_api::stack_check::StackUseView]| {
            uses.iter().map(|one| one.stack.to_string()).collect::<Vec<_>>().join(", ")
        };
        vec![Cell::new(&self.stack), Cell::new(names(&self.uses)), Cell::new(names(&self.used_by))]
    }
}
impl Show for StackPluginView {
    const KIND: &'static str = "stack-plugin";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("VERSION"),
        column("KIND"),
        column("TYPES"),
        column("BY"),
        column("PUSHED"),
        wide("FILE"),
        wide("NODE"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let types: Vec<&str> = self.types.keys().map(String::as_str).collect();
        let node = self.place.placement.node.as_ref().map(ToString::to_string);
        vec![
            Cell::new(&self.name),
            Cell::new(self.version),
            Cell::new(self.kind),
            Cell::new(types.join(", ")),
            Cell::new(&self.created_by),
            when(Some(self.time_created), now, is_wide),
            Cell::new(&self.file),
            Cell::new(node.unwrap_or_default()),
        ]
    }
}
