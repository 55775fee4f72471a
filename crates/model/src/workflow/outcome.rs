//! How steps and executions end.

use serde::{Deserialize, Serialize};

/// How one try of a step ended, as told from where it ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StepResult {
    pub end: StepEnd,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What steps that depend on it are given.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub output: serde_json::Value,
    /// What was given out with `export`.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub exported: serde_json::Value,
    /// False when it found nothing to do; unknown when it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

impl StepResult {
    pub fn new(end: StepEnd, message: impl Into<String>) -> StepResult {
        StepResult {
            end,
            message: message.into(),
            output: serde_json::Value::Null,
            exported: serde_json::Value::Null,
            changed: None,
        }
    }
}

crate::labels! {
    /// How a try of a step ended.
    pub enum StepEnd ("end of a step") {
        Succeeded = "succeeded",
        Failed = "failed",
        /// It took longer than it may.
        TimedOut = "timed-out",
        /// Its condition did not hold.
        Skipped = "skipped",
        /// A condition says that the whole execution has to end.
        Aborted = "aborted",
        /// Somebody, or a failure elsewhere, stopped it.
        Cancelled = "cancelled",
        /// It had begun when whoever watched it was lost, and nobody knows how far it came.
        Uncertain = "uncertain",
    }
}

impl StepEnd {
    /// Worth another try.
    pub const fn is_retried(self) -> bool {
        matches!(self, StepEnd::Failed | StepEnd::TimedOut)
    }
    pub const fn is_failure(self) -> bool {
        matches!(self, StepEnd::Failed | StepEnd::TimedOut | StepEnd::Aborted | StepEnd::Uncertain)
    }
}

crate::labels! {
    /// Why a step did not run.
    pub enum SkipReason ("reason of a skipped step") {
        /// Its own condition did not hold.
        Condition = "condition",
        /// Something it depends on did not succeed.
        Dependency = "dependency",
        /// Nothing failed that it is there for.
        NoFailure = "no-failure",
        /// The execution ended before its turn.
        Ended = "ended",
        /// It was not asked for.
        NotSelected = "not-selected",
    }
}

impl SkipReason {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            SkipReason::Condition => "its condition does not hold",
            SkipReason::Dependency => "something it depends on did not succeed",
            SkipReason::NoFailure => "nothing failed that it is there for",
            SkipReason::Ended => "the execution ended before its turn",
            SkipReason::NotSelected => "it was not asked for",
        }
    }
}

crate::labels! {
    /// How an execution ended.
    pub enum ExecutionOutcome ("outcome of an execution") {
        Succeeded = "succeeded",
        Failed = "failed",
        TimedOut = "timed-out",
        Cancelled = "cancelled",
    }
}
