//! What tasks, runs, arrays, the queue and the accounts show of themselves in a table.

use std::time::Duration;

use hostler_api::task::{AccountView, ArrayView, QueueEntry, QueueProject, RunView, TaskView};
use hostler_model::{Name, RunStateKind, TaskStateKind, Timestamp};
use serde::Serialize;

use super::rows::when;
use super::{Cell, Column, Show, column, moment, span, wide};
use crate::command::{Tally, count};

pub(crate) fn task_state(state: TaskStateKind) -> Cell {
    let cell = Cell::new(state);
    match state {
        TaskStateKind::PendingApproval
        | TaskStateKind::Pending
        | TaskStateKind::Assigning
        | TaskStateKind::Paused => cell.warning(),
        TaskStateKind::Running | TaskStateKind::Completed => cell.good(),
        TaskStateKind::Failed | TaskStateKind::KilledOom | TaskStateKind::Lost => cell.bad(),
        TaskStateKind::Killed | TaskStateKind::Stopped | TaskStateKind::Rejected => cell.dim(),
    }
}

fn state_of(task: &TaskView) -> Cell {
    let status = &task.status;
    match (status.is_stopping, status.state.is_settled()) {
        (true, false) => Cell::new(format!("{},stopping", status.state)).warning(),
        _ => task_state(status.state),
    }
}

impl Show for TaskView {
    const KIND: &'static str = "task";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("STATE"),
        column("NODE"),
        wide("INDEX"),
        wide("ATTEMPTS"),
        column("CREATED"),
        wide("STARTED"),
        wide("ENDED"),
        wide("BY"),
        wide("CORES"),
        wide("MEMORY"),
        wide("COMMAND"),
        column("STATUS"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let status = &self.status;
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            state_of(self),
            status.node.as_ref().into(),
            self.array.map(|seat| seat.index).into(),
            Cell::new(self.attempts),
            Cell::new(moment(self.time_created, now, is_wide)),
            when(status.time_started, now, is_wide),
            when(status.time_ended, now, is_wide),
            Cell::new(&self.created_by),
            Cell::new(self.spec.resources.cores),
            Cell::new(self.spec.resources.memory),
            Cell::new(self.spec.command.join(" ")),
            Cell::new(&status.message),
        ]
    }
}

impl Show for RunView {
    const KIND: &'static str = "run";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("ATTEMPT"),
        column("STATE"),
        wide("NODE"),
        column("PID"),
        column("STARTED"),
        column("ENDED"),
        column("EXIT"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = Cell::new(self.state);
        vec![
            Cell::new(self.id),
            Cell::new(self.attempt),
            match self.state {
                RunStateKind::Assigned | RunStateKind::Paused => state.warning(),
                RunStateKind::Running => state.good(),
                RunStateKind::Exited => state,
                RunStateKind::Lost => state.bad(),
            },
            Cell::new(self.node_id),
            self.pid.into(),
            when(self.time_started, now, is_wide),
            when(self.time_ended, now, is_wide),
            self.exit.as_ref().into(),
        ]
    }
}

/// A task among those of its array.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct ArrayTask(pub TaskView);

impl Show for ArrayTask {
    const KIND: &'static str = TaskView::KIND;
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("INDEX"),
        column("NAME"),
        column("STATE"),
        column("NODE"),
        column("ATTEMPTS"),
        column("STARTED"),
        column("ENDED"),
        column("STATUS"),
    ];
    fn id(&self) -> String {
        self.0.id()
    }
    fn name(&self) -> String {
        Show::name(&self.0)
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let (task, status) = (&self.0, &self.0.status);
        vec![
            Cell::new(task.id),
            task.array.map(|seat| seat.index).into(),
            Cell::new(&task.name),
            state_of(task),
            status.node.as_ref().into(),
            Cell::new(task.attempts),
            when(status.time_started, now, is_wide),
            when(status.time_ended, now, is_wide),
            Cell::new(&status.message),
        ]
    }
}

impl Show for ArrayView {
    const KIND: &'static str = "task-array";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("STATE"),
        column("RANGE"),
        column("SIZE"),
        column("COMPLETED"),
        column("FAILED"),
        wide("KILLED"),
        column("RUNNING"),
        wide("PAUSED"),
        column("WAITING"),
        column("CREATED"),
        column("BY"),
        wide("COMMAND"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let tally = Tally::of(self);
        let state = match (self.unsettled, self.unsuccessful) {
            (0, 0) => Cell::new("completed").good(),
            (0, _) if tally.failed == 0 => Cell::new("killed").dim(),
            (0, _) => Cell::new("failed").bad(),
            _ if self.is_stopping => Cell::new("stopping").warning(),
            _ if tally.running > 0 => Cell::new("running").good(),
            _ if tally.paused > 0 => Cell::new("paused").warning(),
            _ => Cell::new("waiting").warning(),
        };
        let range = match self.is_gang {
            true => "gang".to_owned(),
            false => self.range.to_string(),
        };
        let failed = Cell::new(tally.failed);
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            state,
            Cell::new(range),
            Cell::new(self.size),
            Cell::new(tally.completed),
            if tally.failed > 0 { failed.bad() } else { failed },
            Cell::new(tally.killed),
            Cell::new(tally.running),
            Cell::new(tally.paused),
            Cell::new(tally.waiting),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(&self.created_by),
            Cell::new(self.spec.command.join(" ")),
        ]
    }
}

/// What is held, of what may be.
fn held(held: impl ToString, most: Option<impl ToString>) -> Cell {
    match most {
        Some(most) => Cell::new(format!("{} of {}", held.to_string(), most.to_string())),
        None => Cell::new(held.to_string()),
    }
}

impl Show for QueueProject {
    const KIND: &'static str = "project";
    const COLUMNS: &'static [Column] = &[
        column("PROJECT"),
        column("WEIGHT"),
        column("WAITING"),
        column("RUNNING"),
        column("PAUSED"),
        wide("TASKS"),
        column("CORES"),
        column("MEMORY"),
        column("GPUS"),
    ];
    fn id(&self) -> String {
        self.project.to_string()
    }
    fn name(&self) -> String {
        self.project.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let sum = |states: &[TaskStateKind]| count(&self.counts, states);
        let all = self.counts.values().sum::<u64>();
        vec![
            Cell::new(&self.project),
            Cell::new(self.weight),
            Cell::new(sum(TaskStateKind::WAITING)),
            Cell::new(sum(&[TaskStateKind::Assigning, TaskStateKind::Running])),
            Cell::new(sum(&[TaskStateKind::Paused])),
            held(all, self.quota.tasks),
            held(amount(self.cores), self.quota.cores),
            held(self.memory, self.quota.memory),
            held(amount(self.gpus), self.quota.gpus),
        ]
    }
}

/// A task that waits, and where.
#[derive(Clone, Debug, Serialize)]
pub struct QueueLine<'a> {
    pub project: &'a Name,
    #[serde(flatten)]
    pub entry: &'a QueueEntry,
}

impl Show for QueueLine<'_> {
    const KIND: &'static str = TaskView::KIND;
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("PROJECT"),
        column("NEXT"),
        column("TASK"),
        column("PRIORITY"),
        column("READY"),
        column("WHY IT WAITS"),
    ];
    fn id(&self) -> String {
        self.entry.id.to_string()
    }
    fn name(&self) -> String {
        self.entry.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let entry = self.entry;
        vec![
            Cell::new(entry.id),
            Cell::new(self.project),
            Cell::new(entry.position),
            Cell::new(&entry.name),
            Cell::new(entry.priority),
            Cell::new(moment(entry.time_ready, now, is_wide)),
            Cell::new(&entry.reason),
        ]
    }
}

/// At most three decimals, and no more than are needed.
fn amount(number: f64) -> String {
    ((number * 1000.0).round() / 1000.0).to_string()
}

impl Show for AccountView {
    const KIND: &'static str = "account";
    const COLUMNS: &'static [Column] = &[
        column("PROJECT"),
        column("USER"),
        column("TASKS"),
        column("CORE-HOURS"),
        column("GPU-HOURS"),
        column("GIB-HOURS"),
        column("RUN-HOURS"),
        column("WAIT"),
    ];
    fn id(&self) -> String {
        Show::name(self)
    }
    fn name(&self) -> String {
        format!("{}/{}", self.project, self.user)
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let hours = |hours: f64| Cell::new(format!("{hours:.2}"));
        let wait = Duration::try_from_secs_f64(self.wait_seconds_mean).unwrap_or_default();
        vec![
            Cell::new(&self.project),
            Cell::new(&self.user),
            Cell::new(self.tasks),
            hours(self.core_hours),
            hours(self.gpu_hours),
            hours(self.memory_gib_hours),
            hours(self.run_hours),
            Cell::new(span(wait)),
        ]
    }
}
