//! What holds for the whole of an execution.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Span;

/// How a workflow is carried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct WorkflowConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// How many steps run at once at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
    /// The first failure ends the execution.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fail_fast: bool,
    #[serde(skip_serializing_if = "OnFailure::is_stop")]
    pub on_failure: OnFailure,
    /// For every step that does not say its own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Steps that run in one place have a directory that was made for the execution, where `workdir` names none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_workdir: bool,
    /// The directory of the workflow is removed when it has succeeded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clean_workdir: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub require_lock: bool,
    /// How long the lock of the stack is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_timeout: Option<Span>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub create_snapshot: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub validate_before: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub detect_drift: bool,
}

impl WorkflowConfig {
    pub fn is_default(&self) -> bool {
        *self == WorkflowConfig::default()
    }
}

crate::labels! {
    /// What happens when an execution has failed.
    #[derive(Default)]
    pub enum OnFailure ("reaction to a failure") {
        /// Nothing more.
        #[default]
        Stop = "stop",
        /// Steps that succeeded and can be undone are, the last first.
        Compensate = "compensate",
        /// Steps are undone as with `compensate`, and then the stack becomes as it was before the first step.
        Rollback = "rollback",
    }
}

impl OnFailure {
    pub fn is_stop(&self) -> bool {
        *self == OnFailure::Stop
    }
}
