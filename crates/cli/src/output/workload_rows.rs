//! What workloads, their runs and their times show of themselves in a table.

use hostler_api::workload::{FireView, WorkloadPhase, WorkloadRunView, WorkloadView};
use hostler_model::{Health, Name, RunStateKind, Timestamp};

use super::{Cell, Column, Show, age, column, moment, span, wide};

fn phase(phase: WorkloadPhase) -> Cell {
    let cell = Cell::new(phase);
    match phase {
        WorkloadPhase::Running | WorkloadPhase::Completed | WorkloadPhase::Idle => cell.good(),
        WorkloadPhase::Pending
        | WorkloadPhase::Waiting
        | WorkloadPhase::Starting
        | WorkloadPhase::PartlyRunning
        | WorkloadPhase::Stopping
        | WorkloadPhase::Removing => cell.warning(),
        WorkloadPhase::Backoff | WorkloadPhase::Failed | WorkloadPhase::Unknown => cell.bad(),
        WorkloadPhase::Stopped => cell.dim(),
    }
}

impl Show for WorkloadView {
    const KIND: &'static str = "workload";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("MODE"),
        column("PHASE"),
        column("READY"),
        column("HEALTH"),
        column("RESTARTS"),
        column("NEXT"),
        wide("REVISION"),
        column("CHANGED"),
        wide("BY"),
        wide("TAGS"),
        wide("COMMAND"),
        column("NODES"),
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
        let nodes: Vec<Name> = self.placements.iter().map(|p| p.node.clone()).collect();
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(self.spec.mode.kind()),
            phase(status.phase),
            Cell::new(format!("{}/{}", status.ready, status.wanted)),
            match status.health {
                Some(health @ Health::Healthy) => Cell::new(health).good(),
                Some(health @ Health::Unhealthy) => Cell::new(health).bad(),
                None => None::<Health>.into(),
            },
            Cell::new(status.restarts),
            status.next.map(|time| moment(time, now, is_wide)).into(),
            Cell::new(self.revision),
            Cell::new(moment(self.time_modified, now, is_wide)),
            Cell::new(&self.created_by),
            Cell::new(self.spec.tags.join(",")),
            Cell::new(self.spec.argv().join(" ")),
            Cell::new(some_of(&nodes, is_wide)),
            status.reason.as_ref().into(),
        ]
    }
}

impl Show for WorkloadRunView {
    const KIND: &'static str = "run";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NODE"),
        column("NUMBER"),
        column("CAUSE"),
        wide("FIRE"),
        column("STATE"),
        column("PID"),
        column("STARTED"),
        column("TOOK"),
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
        let took = self.time_started.zip(self.time_ended);
        vec![
            Cell::new(self.id),
            Cell::new(&self.node),
            Cell::new(self.number),
            self.cause.into(),
            self.fire.map(|time| moment(time, now, true)).into(),
            match self.state {
                RunStateKind::Assigned | RunStateKind::Paused => state.warning(),
                RunStateKind::Running => state.good(),
                RunStateKind::Exited => state,
                RunStateKind::Lost => state.bad(),
            },
            self.pid.into(),
            self.time_started.map(|time| moment(time, now, is_wide)).into(),
            took.map(|(from, to)| span(to.since(from))).into(),
            self.exit.as_ref().into(),
        ]
    }
}

impl Show for FireView {
    const KIND: &'static str = "fire";
    const COLUMNS: &'static [Column] =
        &[column("STARTS"), column("IN"), column("SCHEDULED"), column("NODES")];
    fn id(&self) -> String {
        self.time.to_string()
    }
    fn name(&self) -> String {
        self.time.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            self.start.map(|start| moment(start, now, true)).into(),
            Cell::new(age(self.start.unwrap_or(self.time), now)),
            Cell::new(moment(self.time, now, true)),
            Cell::new(some_of(&self.nodes, is_wide)),
        ]
    }
}

/// Names, but no more than a table has room for.
fn some_of(nodes: &[Name], is_wide: bool) -> String {
    let names: Vec<&str> = nodes.iter().map(Name::as_str).collect();
    match names.as_slice() {
        [first, second, third, rest @ ..] if !rest.is_empty() && !is_wide => {
            format!("{first},{second},{third} and {} more", rest.len())
        }
        all => all.join(","),
    }
}
