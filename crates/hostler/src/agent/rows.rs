//! What the agent's views show of themselves in tables and descriptions.

use hostler_agent::OnStop;
use hostler_agent::door::view::{FireView, PastView, WorkloadDetail, WorkloadView};
use hostler_agent::local::LocalStatus;
use hostler_cli::output::{Cell, Column, Description, Show, column, moment, wide};
use hostler_model::{Exit, Phase, Timestamp};
use serde::Serialize;

fn when(time: Option<Timestamp>, now: Timestamp, is_wide: bool) -> Cell {
    time.map(|time| moment(time, now, is_wide)).into()
}

fn phase(phase: Phase) -> Cell {
    let cell = Cell::new(phase);
    match phase {
        Phase::Running | Phase::Completed | Phase::Idle => cell.good(),
        Phase::Waiting | Phase::Starting | Phase::Stopping | Phase::Backoff => cell.warning(),
        Phase::Failed => cell.bad(),
        Phase::Stopped | Phase::Removed => cell.dim(),
    }
}

#[derive(Serialize)]
#[serde(transparent)]
pub struct WorkloadRow(pub WorkloadView);

impl Show for WorkloadRow {
    const KIND: &'static str = "workload";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("MODE"),
        column("PHASE"),
        column("PID"),
        column("RUNS"),
        column("STARTED"),
        column("NEXT"),
        wide("HEALTH"),
        wide("FAILURES"),
        wide("MISSED"),
        wide("TAGS"),
        wide("RUN"),
        column("STATUS"),
    ];
    fn id(&self) -> String {
        self.0.name.to_string()
    }
    fn name(&self) -> String {
        self.0.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let WorkloadView { name, mode, status, run_id, pid, launched, time_started, tags, .. } =
            &self.0;
        let words = || status.reason.clone().or(status.last_exit.as_ref().map(Exit::to_string));
        vec![
            Cell::new(name),
            Cell::new(mode),
            phase(status.phase),
            (*pid).into(),
            Cell::new(launched),
            when(*time_started, now, is_wide),
            when(status.next, now, is_wide),
            status.health.into(),
            Cell::new(status.failures),
            Cell::new(status.missed),
            Cell::new(tags.join(",")),
            (*run_id).into(),
            Cell::new(words().unwrap_or_default()),
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
pub struct PastRow(pub PastView);

impl Show for PastRow {
    const KIND: &'static str = "run";
    const COLUMNS: &'static [Column] = &[
        column("NUMBER"),
        column("CAUSE"),
        wide("FIRE"),
        column("PID"),
        column("STARTED"),
        column("ENDED"),
        column("DURATION"),
        wide("RUN"),
        column("EXIT"),
    ];
    fn id(&self) -> String {
        self.0.run_id.to_string()
    }
    fn name(&self) -> String {
        self.0.run_id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let past = &self.0;
        let exit = Cell::new(&past.exit);
        vec![
            Cell::new(past.number),
            Cell::new(past.cause),
            when(past.fire, now, is_wide),
            past.pid.into(),
            when(past.time_started, now, is_wide),
            when(Some(past.time_ended), now, is_wide),
            past.duration.into(),
            Cell::new(past.run_id),
            if past.exit.is_success() { exit.good() } else { exit.bad() },
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
pub struct FireRow(pub FireView);

impl Show for FireRow {
    const KIND: &'static str = "fire";
    const COLUMNS: &'static [Column] = &[column("STARTS"), column("IN"), column("SCHEDULED")];
    fn id(&self) -> String {
        self.0.time.to_string()
    }
    fn name(&self) -> String {
        self.0.time.to_string()
    }
    fn cells(&self, now: Timestamp, _: bool) -> Vec<Cell> {
        let FireView { time, start } = self.0;
        vec![
            Cell::new(moment(start, now, true)),
            Cell::new(moment(start, now, false)),
            Cell::new(moment(time, now, true)),
        ]
    }
}

fn stopping(runs: OnStop) -> &'static str {
    match runs {
        OnStop::Leave => "what runs goes on",
        OnStop::Stop => "what runs is stopped too",
    }
}

/// How an agent is, for people.
pub fn describe_status(status: &LocalStatus, now: Timestamp) -> String {
    let counts = status.workloads;
    let workloads =
        format!("{} ({} running, {} failing)", counts.total, counts.running, counts.failed);
    let connection = match (&status.server, &status.directory) {
        (Some(server), _) => {
            format!("{} ({server})", status.address.as_deref().unwrap_or_default())
        }
        (None, Some(_)) => "none needed".to_owned(),
        (None, None) => format!(
            "not connected: {}",
            status.connection_problem.as_deref().unwrap_or("no attempt has ended yet")
        ),
    };
    let mut text = Description::default();
    text.section("")
        .pair("Node", format!("{} ({})", status.name, status.node_id))
        .pair("Agent", format!("{}, pid {}", status.agent_version, status.pid))
        .pair("Server", connection)
        .pair("Since", status.time_changed.map(|time| moment(time, now, false)))
        .pair("Directory", status.directory.as_ref().map(|path| path.display().to_string()))
        .pair("Stopping", status.stopping.map(stopping).map(str::to_owned))
        .pair("Workloads", workloads)
        .pair("Runs", status.runs_active.to_string())
        .pair("Generation", status.applied_generation.to_string())
        .pair(
            "Certificate",
            status.certificate_expires.map(|time| format!("expires {}", moment(time, now, false))),
        );
    text.pair("Written today", hostler_cli::output::written_today(&status.writes))
        .pair("Link", status.is_metered.then(|| "metered".to_owned()));
    let quarantined = status.ledger_quarantined.as_ref();
    text.section("Problems")
        .pair("Ledger", status.ledger_problem.clone())
        .pair("Damaged ledger", quarantined.map(|path| format!("was put aside as {path}")));
    if let Some(problem) = &status.directory_problem {
        text.pair("Workload files", problem.detail.clone());
        for mistake in &problem.mistakes {
            text.text(super::local::mistake_line(mistake));
        }
    }
    text.render()
}

/// A workload, for people.
pub fn describe_workload(detail: &WorkloadDetail, now: Timestamp) -> String {
    let WorkloadView { name, mode, status, pid, launched, time_started, time_ended, .. } =
        &detail.workload;
    let time = |time: Option<Timestamp>| time.map(|time| moment(time, now, false));
    let mut text = Description::default();
    text.section("")
        .pair("Name", name.to_string())
        .pair("Mode", mode.to_string())
        .pair("Phase", status.phase.to_string())
        .pair("Why", status.reason.clone())
        .pair("Health", status.health.map(|health| health.to_string()))
        .pair("Pid", pid.map(|pid| pid.to_string()))
        .pair("Runs", launched.to_string())
        .pair("Failures", status.failures.to_string())
        .pair("Missed", Some(status.missed).filter(|n| *n > 0).map(|n| n.to_string()))
        .pair("Started", time(*time_started))
        .pair("Ended", time(*time_ended))
        .pair("Next", time(status.next))
        .pair("Last exit", status.last_exit.as_ref().map(ToString::to_string))
        .pair("Version", detail.workload.version.clone())
        .pair("Tags", detail.workload.tags.join(", "));
    text.section("Runs");
    for past in &detail.history {
        let ended = moment(past.time_ended, now, false);
        text.text(format!("{}  {}  {ended}  {}", past.number, past.cause, past.exit));
    }
    text.section("Spec");
    for line in hostler_agent::door::spec_yaml(name, &detail.spec).lines() {
        text.text(line);
    }
    text.render()
}
