//! What the door shows: the views that cross the local socket, for this binary's command line and for
//! anybody who reads JSON.

use hostler_model::{
    Exit, ModeKind, Name, Origin, Phase, PlacementId, PlacementStatus, RunCause, RunId, Span,
    Timestamp, WorkloadSpec,
};
use serde::{Deserialize, Serialize};

use crate::output::Stream;
use crate::supervisor::ServiceView;

/// A workload as it stands on this node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadView {
    pub name: Name,
    pub project: Name,
    pub placement_id: PlacementId,
    pub mode: ModeKind,
    pub status: PlacementStatus,
    /// Of the newest run that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Runs made, ever.
    pub launched: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl WorkloadView {
    pub(crate) fn of(service: &ServiceView) -> WorkloadView {
        let spec = &service.assignment.spec;
        WorkloadView {
            name: service.name().clone(),
            project: service.assignment.project_name.clone(),
            placement_id: service.assignment.placement_id,
            mode: spec.mode.kind(),
            status: service.status.clone(),
            run_id: service.live.map(|live| live.run),
            pid: service.live.and_then(|live| live.pid),
            launched: service.launched,
            time_started: service.last_started(),
            time_ended: service.last_exit().map(|exit| exit.time),
            tags: spec.tags.clone(),
            version: spec.version.clone(),
        }
    }
}

/// A workload with what it is and what became of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDetail {
    #[serde(flatten)]
    pub workload: WorkloadView,
    pub spec: WorkloadSpec,
    /// Newest first.
    pub history: Vec<PastView>,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastView {
    pub run_id: RunId,
    /// The how-manieth it was, from 1 on.
    pub number: u64,
    pub cause: RunCause,
    /// The time it was scheduled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
    pub time_ended: Timestamp,
    /// How long it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    pub exit: Exit,
}

/// The ended runs of a service, newest first.
pub(crate) fn history(service: &ServiceView) -> Vec<PastView> {
    let past = service.history.iter().rev();
    past.map(|past| {
        let Origin { number, cause, fire, .. } = past.origin;
        let duration = past.started.map(|started| past.exit.time.since(started));
        PastView {
            run_id: past.run,
            number,
            cause,
            fire,
            pid: past.pid,
            time_started: past.started,
            time_ended: past.exit.time,
            duration: duration
                .map(|lasted| Span::from_millis(u64::try_from(lasted.as_millis()).unwrap_or(0))),
            exit: past.exit.clone(),
        }
    })
    .collect()
}

hostler_model::labels! {
    /// What became of a wish to start, stop or restart.
    pub enum Outcome ("outcome") {
        Started = "started",
        Stopped = "stopped",
        Restarted = "restarted",
        /// There was nothing to start.
        AlreadyRunning = "already-running",
        /// There was nothing to stop.
        NotRunning = "not-running",
        /// It will run as soon as what it depends on is there.
        Waiting = "waiting",
        /// It ran, and has ended badly already.
        Failed = "failed",
        /// That takes longer than anybody wants to wait here.
        UnderWay = "under-way",
    }
}

/// What a wish to start, stop or restart came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    pub name: Name,
    pub outcome: Outcome,
    /// The same in words.
    pub message: String,
    pub phase: Phase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// What a reload has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reloaded {
    pub added: Vec<Name>,
    pub removed: Vec<Name>,
    pub changed: Vec<Changed>,
    pub unchanged: Vec<Name>,
}

/// A workload that is written differently now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    pub name: Name,
    /// What runs is replaced; false when only words about it have changed.
    pub is_replaced: bool,
    pub fields: Vec<ChangedField>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedField {
    /// As people write it: `command[1]`, `limits.memory`.
    pub path: String,
    /// Absent: was not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<serde_json::Value>,
    /// Absent: is not set any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<serde_json::Value>,
}

/// What was written, or what happened, in the output of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum LogRecord {
    /// A line, without its end. Bytes that are no UTF-8 are replaced.
    Line { time: Timestamp, stream: Stream, text: String },
    /// Output is missing here.
    Gap {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    },
    /// A run began or ended.
    Mark {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time: Option<Timestamp>,
        text: String,
    },
}

/// A time at which a scheduled workload will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FireView {
    /// When the schedule says; names the run.
    pub time: Timestamp,
    /// When the run begins: the same, put off by this node's share of the jitter.
    pub start: Timestamp,
}

/// How a command that was run beside a workload ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    pub is_timed_out: bool,
}

/// What is wrong in a workload file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MistakeView {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub detail: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

hostler_model::labels! {
    /// Why something was refused.
    pub enum RefusalCode ("refusal code") {
        NotFound = "not-found",
        Malformed = "malformed",
        /// A workload file is wrong.
        Invalid = "invalid",
        /// It is in the wrong state for this.
        Conflict = "conflict",
        Internal = "internal",
    }
}

/// Why something was refused, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub code: RefusalCode,
    pub detail: String,
    /// Every one, where files are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<MistakeView>,
}

impl Refusal {
    pub(crate) fn new(code: RefusalCode, detail: impl Into<String>) -> Refusal {
        Refusal { code, detail: detail.into(), mistakes: Vec::new() }
    }

    pub(crate) fn unknown(name: &str) -> Refusal {
        Refusal::new(RefusalCode::NotFound, format!("Unknown workload: {name}"))
    }

    pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> Refusal {
        Refusal::new(RefusalCode::Internal, hostler_base::chain(error).to_string())
    }

    pub(crate) fn mistakes(report: &hostler_manifest::Report) -> Refusal {
        let each = report.mistakes.iter().map(|mistake| MistakeView {
            file: mistake.file.clone(),
            line: mistake.line,
            column: mistake.column,
            detail: mistake.detail.clone(),
            hint: mistake.hint.clone(),
        });
        let summary = report.summary();
        Refusal {
            mistakes: each.collect(),
            ..Refusal::new(
                RefusalCode::Invalid,
                format!("{summary}; nothing was changed, what ran before runs on"),
            )
        }
    }
}
