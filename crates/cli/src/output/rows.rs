//! What every view shows of itself in a table.

use hostler_api::node::{JoinTokenState, JoinTokenView, NodeView};
use hostler_api::operation::OperationView;
use hostler_api::project::ProjectView;
use hostler_api::record::{AuditAnchorView, AuditSinkView, AuditView, EventView};
use hostler_api::system::{ReconcilerView, ServerView};
use hostler_api::token::TokenView;
use hostler_api::user::{MemberView, UserView};
use hostler_model::{Labels, NodeState, OperationState, Quota, StepState, Timestamp};

use super::{Cell, Column, Show, column, counted, moment, wide};

pub(crate) fn labels(labels: &Labels) -> String {
    labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",")
}

pub(super) fn when(time: Option<Timestamp>, now: Timestamp, is_wide: bool) -> Cell {
    time.map(|time| moment(time, now, is_wide)).into()
}

fn joined<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

pub(crate) fn node_state(node: &NodeView) -> Cell {
    let cordon = match &node.cordon {
        Some(cordon) if cordon.is_draining => ",draining",
        Some(_) => ",cordoned",
        None => "",
    };
    let cell = Cell::new(format!("{}{cordon}", node.state));
    match node.state {
        NodeState::Online if cordon.is_empty() => cell.good(),
        NodeState::Online | NodeState::Joined | NodeState::Stale => cell.warning(),
        NodeState::Offline => cell.bad(),
        NodeState::Removed => cell.dim(),
    }
}

impl Show for NodeView {
    const KIND: &'static str = "node";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("STATE"),
        column("CORES"),
        column("MEMORY"),
        column("LOAD"),
        column("RUNS"),
        column("SEEN"),
        wide("AGENT"),
        wide("SYSTEM"),
        wide("ADDRESSES"),
        wide("APPLIED"),
        column("LABELS"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let (facts, metrics) = (self.facts.as_ref(), self.metrics.as_ref());
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            node_state(self),
            facts.map(|f| f.cores).into(),
            facts.map(|f| f.memory).into(),
            metrics.map(|m| format!("{:.2}", m.load_1m)).into(),
            metrics.map(|m| m.runs_active).into(),
            when(self.time_seen, now, is_wide),
            Cell::new(&self.agent_version),
            facts.map(|f| &f.os).into(),
            facts.map(|f| f.addresses.join(",")).into(),
            Cell::new(format!("{}/{}", self.applied_generation, self.desired_generation)),
            Cell::new(labels(&self.labels)),
        ]
    }
}

impl Show for JoinTokenView {
    const KIND: &'static str = "join-token";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("STATE"),
        column("NAME"),
        column("CREATED"),
        column("EXPIRES"),
        wide("USED BY"),
        column("LABELS"),
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
            match self.state {
                JoinTokenState::Unused => state.good(),
                JoinTokenState::Used | JoinTokenState::Expired | JoinTokenState::Revoked => {
                    state.dim()
                }
            },
            self.name.as_ref().into(),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(moment(self.time_expires, now, is_wide)),
            self.used_by.into(),
            Cell::new(labels(&self.labels)),
        ]
    }
}

impl Show for OperationView {
    const KIND: &'static str = "operation";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("KIND"),
        column("STATE"),
        column("STEPS"),
        column("CREATED"),
        wide("ENDED"),
        column("BY"),
        column("STATUS"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.id.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let state = Cell::new(self.state);
        let done = self.steps.iter().filter(|step| step.state == StepState::Succeeded).count();
        let at = self
            .steps
            .iter()
            .find(|step| matches!(step.state, StepState::Running | StepState::Failed));
        let status = match (&self.error, at) {
            (Some(error), _) => error.clone(),
            (None, Some(step)) => format!("{}: {}", step.name, step.message),
            (None, None) => String::new(),
        };
        vec![
            Cell::new(self.id),
            Cell::new(self.plan.label()),
            match self.state {
                OperationState::Pending | OperationState::Running => state.warning(),
                OperationState::Succeeded => state.good(),
                OperationState::Failed => state.bad(),
                OperationState::Cancelled => state.dim(),
            },
            Cell::new(format!("{done}/{}", self.steps.len())),
            Cell::new(moment(self.time_created, now, is_wide)),
            when(self.time_ended, now, is_wide),
            Cell::new(&self.created_by.name),
            Cell::new(status),
        ]
    }
}

impl Show for EventView {
    const KIND: &'static str = "event";
    const COLUMNS: &'static [Column] = &[
        wide("NUMBER"),
        column("TIME"),
        column("KIND"),
        wide("PROJECT"),
        column("OBJECT"),
        column("BY"),
        column("MESSAGE"),
    ];
    fn id(&self) -> String {
        self.sequence.to_string()
    }
    fn name(&self) -> String {
        self.sequence.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.sequence),
            Cell::new(moment(self.time, now, is_wide)),
            Cell::new(&self.kind),
            self.project_name.as_ref().into(),
            Cell::new(format!("{}/{}", self.object.kind, self.object.name)),
            Cell::new(&self.actor.name),
            Cell::new(&self.message),
        ]
    }
}

impl Show for AuditView {
    const KIND: &'static str = "audit-entry";
    const COLUMNS: &'static [Column] = &[
        column("NUMBER"),
        column("TIME"),
        column("ACTOR"),
        column("ACTION"),
        column("OBJECT"),
        wide("FROM"),
        wide("REQUEST"),
        wide("HASH"),
        column("DETAIL"),
    ];
    fn id(&self) -> String {
        self.sequence.to_string()
    }
    fn name(&self) -> String {
        self.sequence.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.sequence),
            Cell::new(moment(self.time, now, is_wide)),
            Cell::new(format!("{}/{}", self.actor.kind, self.actor.name)),
            Cell::new(&self.action),
            Cell::new(format!("{}/{}", self.object.kind, self.object.name)),
            Cell::new(&self.source),
            Cell::new(&self.request_id),
            Cell::new(self.hash.chars().take(16).collect::<String>()),
            Cell::new(&self.detail),
        ]
    }
}

impl Show for AuditAnchorView {
    const KIND: &'static str = "audit-anchor";
    const COLUMNS: &'static [Column] =
        &[column("NUMBER"), column("TIME"), column("HASH"), wide("AUTHORITY"), wide("SIGNATURE")];
    fn id(&self) -> String {
        self.sequence.to_string()
    }
    fn name(&self) -> String {
        self.sequence.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.sequence),
            Cell::new(moment(self.time, now, is_wide)),
            Cell::new(&self.hash),
            Cell::new(&self.authority),
            Cell::new(&self.signature),
        ]
    }
}

impl Show for AuditSinkView {
    const KIND: &'static str = "audit-sink";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("TO"),
        column("TOLD"),
        column("WAITING"),
        column("LAST"),
        column("PROBLEM"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let last = self.time_modified.map(|time| moment(time, now, is_wide)).unwrap_or_default();
        vec![
            Cell::new(&self.name),
            Cell::new(&self.to),
            Cell::new(self.sequence),
            Cell::new(self.lag),
            Cell::new(last),
            Cell::new(self.problem.as_deref().unwrap_or_default()).bad(),
        ]
    }
}

fn quota(quota: &Quota) -> String {
    let parts = [
        quota.cores.map(|cores| format!("{cores} cores")),
        quota.memory.map(|memory| memory.to_string()),
        quota.gpus.map(|gpus| format!("{gpus} GPUs")),
        quota.tasks.map(|tasks| counted(tasks, "task")),
        quota.workloads.map(|workloads| counted(workloads, "workload")),
        quota.secrets.map(|secrets| counted(secrets, "secret")),
        quota.blobs.map(|blobs| format!("{blobs} of blobs")),
        quota.stacks.map(|stacks| counted(stacks, "stack")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl Show for ProjectView {
    const KIND: &'static str = "project";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("WEIGHT"),
        column("QUOTA"),
        column("CREATED"),
        column("DESCRIPTION"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(self.weight),
            Cell::new(quota(&self.quota)),
            Cell::new(moment(self.time_created, now, is_wide)),
            Cell::new(&self.description),
        ]
    }
}

impl Show for MemberView {
    const KIND: &'static str = "member";
    const COLUMNS: &'static [Column] = &[wide("ID"), column("USER"), column("ROLE")];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.user.to_string()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        vec![Cell::new(&self.id), Cell::new(&self.user), Cell::new(&self.role)]
    }
}

impl Show for UserView {
    const KIND: &'static str = "user";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("KIND"),
        column("ROLE"),
        column("STATE"),
        column("CREATED"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(self.kind),
            self.role.as_ref().into(),
            if self.is_disabled {
                Cell::new("disabled").bad()
            } else {
                Cell::new("enabled").good()
            },
            Cell::new(moment(self.time_created, now, is_wide)),
        ]
    }
}

impl Show for TokenView {
    const KIND: &'static str = "token";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("NAME"),
        column("USER"),
        column("ROLE"),
        column("PROJECT"),
        wide("CAN"),
        wide("FROM"),
        column("STATE"),
        wide("CREATED"),
        column("USED"),
        column("EXPIRES"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.to_string()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let is_expired = self.time_expires.is_some_and(|time| time <= now);
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(&self.user),
            Cell::new(self.role),
            match (&self.projects, &self.project) {
                (Some(several), _) => Cell::new(several.join(",")),
                (None, one) => one.as_ref().into(),
            },
            self.can.map(|can| can.words()).into(),
            self.from.as_ref().map(|ranges| joined(ranges)).into(),
            match (self.is_revoked, is_expired) {
                (true, _) => Cell::new("revoked").dim(),
                (false, true) => Cell::new("expired").dim(),
                (false, false) => Cell::new("live").good(),
            },
            Cell::new(moment(self.time_created, now, is_wide)),
            when(self.time_last_used, now, is_wide),
            when(self.time_expires, now, is_wide),
        ]
    }
}

impl Show for ServerView {
    const KIND: &'static str = "server";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("VERSION"),
        column("API"),
        column("AGENTS"),
        column("STARTED"),
        column("SEEN"),
        column("CURRENT"),
    ];
    fn id(&self) -> String {
        self.id.to_string()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(&self.version),
            Cell::new(&self.api_address),
            Cell::new(&self.agent_address),
            Cell::new(moment(self.time_started, now, is_wide)),
            Cell::new(moment(self.time_seen, now, is_wide)),
            self.is_current.then_some("*").into(),
        ]
    }
}

impl Show for ReconcilerView {
    const KIND: &'static str = "reconciler";
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("STATE"),
        column("PERIOD"),
        column("PASSES"),
        column("ERRORS"),
        column("PANICS"),
        column("LAST"),
        column("TOOK"),
        wide("DESCRIPTION"),
        wide("REPORT"),
        column("ERROR"),
    ];
    fn id(&self) -> String {
        self.name.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let count = |n: u64| if n == 0 { Cell::new(n) } else { Cell::new(n).bad() };
        vec![
            Cell::new(&self.name),
            if self.is_running { Cell::new("running").good() } else { Cell::new("idle") },
            Cell::new(format!("{}s", self.period_seconds)),
            Cell::new(self.passes),
            count(self.errors),
            count(self.panics),
            when(self.time_last_started, now, is_wide),
            Cell::new(format!("{:.1}ms", self.seconds_last * 1000.0)),
            Cell::new(&self.description),
            Cell::new(&self.report),
            self.error_last.as_ref().into(),
        ]
    }
}
