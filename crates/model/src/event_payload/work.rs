//! What is to be done, and what those who do it share: schedules, hooks, executions, locks, state, stacks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms;
use crate::schedule::{Fire, FireCause, FireState, Schedule};
use crate::stack::{StackAction, StackStatus};
use crate::{
    Digest, EventHook, EventPattern, LockHold, LockHoldId, Name, ObjectRef, Operation,
    OperationState, Span, Timestamp,
};

/// Whatever somebody told, of any form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CustomPayload(pub serde_json::Value);

/// An execution of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionPayload {
    /// Its name.
    pub workflow: String,
    /// Which version of it.
    pub version: u32,
    /// How it ended, when it did: succeeded, failed, cancelled and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// A delivery of an event hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookPayload {
    /// Number of the event that was to be delivered.
    pub sequence: u64,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it was given up.
    pub reason: String,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationPayload {
    /// What it does.
    pub plan: String,
    /// How it stands now.
    pub state: OperationState,
}

/// A stack, and what is done with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackPayload {
    /// What is done, or was done last.
    pub action: StackAction,
    /// How far that is.
    pub status: StackStatus,
    /// How far that is, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why somebody asked for it, where they said so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Number of the change.
    pub traversal: u64,
    /// Its newest revision; 0 before there is one.
    #[serde(default)]
    pub revision: u32,
    /// Name of the resource, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

forms! {
    /// A task array.
    ArrayPayload {
        /// How many tasks it has.
        tasks: u64,
        /// How many of them had not begun when it was stopped.
        waited: u64,
    }

    /// What an execution does for its stack.
    ExecutionPhasePayload {
        /// Name of the workflow.
        workflow: String,
        /// Which version of it.
        version: u32,
        /// Name of the stack.
        stack: String,
        /// What is done: lock, validate, drift, snapshot, drift-after or rollback.
        phase: String,
        /// How it stands: running, held, succeeded, warned, failed and so on.
        standing: String,
    }

    /// A step of an execution.
    ExecutionStepPayload {
        /// Name of the workflow.
        workflow: String,
        /// Which version of it.
        version: u32,
        /// Name of the step; absent where it is about what is called before or after all of them.
        step: String,
        /// Which try it is, or was.
        attempt: u32,
    }

    /// An event hook, as it was made or changed.
    HookSetPayload {
        /// Which events it takes.
        on: Vec<EventPattern>,
        /// What it does: webhook, task, workflow and so on.
        action: String,
        /// Whether it hears events.
        is_enabled: bool,
    }

    /// A lock that somebody holds no more.
    LockPayload {
        /// Who held it.
        holders: Vec<String>,
        /// Ids of what was held.
        holds: Vec<LockHoldId>,
        /// The fencing tokens that are worth nothing now.
        tokens: Vec<u64>,
        /// On which machine the first of them was.
        host: String,
        /// Who holds it now.
        next: Vec<String>,
        /// Why it was taken away.
        reason: String,
    }

    /// A schedule, or one of its times.
    SchedulePayload {
        /// When it is: a cron line, an interval or a time.
        timing: String,
        /// What it is for: task, workflow, workload, operation or http.
        target: String,
        /// When it is next.
        time_next: Timestamp,
        /// Whether it is paused.
        is_paused: bool,
        /// Which time this is about.
        time: Timestamp,
        /// The last time of several that this stands for.
        time_last: Timestamp,
        /// How many times this stands for.
        count: u64,
        /// What became of the time.
        state: FireState,
        /// Why something was, or was not, done.
        cause: FireCause,
        /// How late it was begun.
        lateness: Span,
        /// What was made.
        made: ObjectRef,
        /// What an address answered.
        status: u16,
        /// What went wrong, or why it was paused.
        reason: String,
    }

    /// A namespace of state.
    StatePayload {
        /// Its name.
        namespace: Name,
        /// How many entries went.
        entries: u64,
        /// How large they were.
        bytes: u64,
    }

    /// A version of a workflow, of a module or of a plugin of stacks.
    VersionPayload {
        /// Its number; the newest, where all of them went.
        version: u32,
        /// Of the text of its files.
        bundle: Digest,
    }
}

impl From<&EventHook> for HookSetPayload {
    fn from(hook: &EventHook) -> HookSetPayload {
        HookSetPayload {
            on: Some(hook.spec.on.clone()),
            action: Some(hook.spec.action.label().to_owned()),
            is_enabled: Some(hook.is_enabled),
        }
    }
}

impl From<&Operation> for OperationPayload {
    fn from(operation: &Operation) -> OperationPayload {
        OperationPayload { plan: operation.plan.label().to_owned(), state: operation.state }
    }
}

impl LockPayload {
    /// Of those who hold a lock no more.
    pub fn of(gone: &[LockHold]) -> LockPayload {
        let host = gone.iter().map(|hold| &hold.holder.host).find(|host| !host.is_empty());
        LockPayload {
            holders: Some(gone.iter().map(|hold| hold.by.clone()).collect()),
            holds: Some(gone.iter().map(|hold| hold.id).collect()),
            tokens: Some(gone.iter().filter_map(|hold| hold.token).collect()),
            host: host.cloned(),
            ..LockPayload::default()
        }
    }
}

impl From<&Schedule> for SchedulePayload {
    fn from(schedule: &Schedule) -> SchedulePayload {
        SchedulePayload {
            timing: Some(schedule.spec.timing()),
            target: Some(schedule.spec.target.kind().to_string()),
            time_next: schedule.time_next,
            is_paused: Some(schedule.pause.is_some()),
            reason: schedule.pause.as_ref().map(|pause| pause.reason.clone()),
            ..SchedulePayload::default()
        }
    }
}

impl From<&Fire> for SchedulePayload {
    fn from(fire: &Fire) -> SchedulePayload {
        SchedulePayload {
            time: Some(fire.time),
            time_last: (fire.count > 1).then_some(fire.time_last),
            count: Some(u64::from(fire.count)),
            state: Some(fire.state),
            cause: Some(fire.cause),
            lateness: (fire.state != FireState::Missed).then(|| fire.lateness()),
            made: fire.object.clone(),
            status: fire.status,
            reason: (!fire.message.is_empty()).then(|| fire.message.clone()),
            ..SchedulePayload::default()
        }
    }
}
