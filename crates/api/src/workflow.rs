//! Workflows that the server keeps, and their executions.

use std::collections::BTreeMap;

use hostler_model::stack::StackName;
use hostler_model::workflow::{
    CareKind, CareStanding, ExecutionOptions, ModuleRef, Standing, Workflow,
};
use hostler_model::{
    ApprovalId, Digest, ExecutionId, LockHoldId, Role, StackSnapshotId, Timestamp, WorkloadId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Access, Listing, ProjectPath};

/// The largest file, with what it imports.
pub const BUNDLE_MAX: usize = 4 << 20;

crate::endpoints! { "workflows"
    /// List workflows by name, the newest version of each.
    WorkflowList = "workflow_list" GET "/api/v1/projects/{project}/workflows", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ProjectPath, query: WorkflowListQuery, reply: Listing<WorkflowView>, errors: [NotFound];
    /// Keep a file: every workflow that it defines gets a new version, unless nothing changed.
    WorkflowPush = "workflow_push" POST "/api/v1/projects/{project}/workflows", Access::Project(Role::User), WorkflowPush, 200,
        path: ProjectPath, body: WorkflowPushBody, reply: WorkflowPushed, errors: [NotFound, Invalid, QuotaExceeded, TooLarge, KeyReused];
    /// Show a workflow: its newest version, or another one.
    WorkflowGet = "workflow_get" GET "/api/v1/projects/{project}/workflows/{workflow}", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: WorkflowPath, query: WorkflowQuery, reply: WorkflowView, errors: [NotFound];
    /// Read the text of a workflow's file and of what it imports.
    WorkflowSource = "workflow_source" GET "/api/v1/projects/{project}/workflows/{workflow}/source", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: WorkflowPath, query: WorkflowQuery, reply: WorkflowBundle, errors: [NotFound];
    /// List the versions of a workflow, newest first.
    WorkflowVersionList = "workflow_version_list" GET "/api/v1/projects/{project}/workflows/{workflow}/versions", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: WorkflowPath, query: WorkflowListQuery, reply: Listing<WorkflowView>, errors: [NotFound];
    /// Remove a workflow with all its versions. Executions go on.
    WorkflowRemove = "workflow_remove" DELETE "/api/v1/projects/{project}/workflows/{workflow}", Access::Project(Role::Operator), WorkflowRemove, 204,
        path: WorkflowPath, errors: [NotFound];
    /// Carry a workflow out.
    WorkflowRun = "workflow_run" POST "/api/v1/projects/{project}/workflows/{workflow}/executions", Access::Project(Role::User), WorkflowRun, 201,
        path: WorkflowPath, body: WorkflowRunBody, reply: ExecutionView,
        errors: [NotFound, Invalid, Conflict, QuotaExceeded, ApprovalRequired, KeyReused];
    /// List executions, newest first.
    ExecutionList = "execution_list" GET "/api/v1/projects/{project}/executions", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ProjectPath, query: ExecutionListQuery, reply: Listing<ExecutionView>, errors: [NotFound];
    /// Show an execution with its steps.
    ExecutionGet = "execution_get" GET "/api/v1/projects/{project}/executions/{execution}", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ExecutionPath, reply: ExecutionView, errors: [NotFound];
    /// Show what a step gave to others, for every node that it ran on.
    ExecutionOutput = "execution_output" GET "/api/v1/projects/{project}/executions/{execution}/output", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ExecutionPath, query: ExecutionOutputQuery, reply: Listing<StepOutputView>, errors: [NotFound];
    /// End an execution: nothing begins any more, and what runs is stopped.
    ExecutionCancel = "execution_cancel" POST "/api/v1/projects/{project}/executions/{execution}/cancel", Access::Project(Role::User), WorkflowCancel, 200,
        path: ExecutionPath, reply: ExecutionView, errors: [NotFound, Conflict, Stale];
    /// Have an execution that is over go on: what did not succeed is done again.
    ExecutionRetry = "execution_retry" POST "/api/v1/projects/{project}/executions/{execution}/retry", Access::Project(Role::User), WorkflowCancel, 200,
        path: ExecutionPath, body: ExecutionRetryBody, reply: ExecutionView, errors: [NotFound, Invalid, Conflict, Stale];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the workflow.
    pub workflow: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionPath {
    /// Name or id of the project.
    pub project: String,
    pub execution: ExecutionId,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowListQuery {
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(WorkflowListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowQuery {
    /// Number of the version; the newest when absent.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecutionListQuery {
    /// Only of this workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Only those that are not over, or only those that are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<bool>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(ExecutionListQuery);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecutionOutputQuery {
    /// Name of the step.
    pub step: String,
}

/// The text of a file and of what it imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowBundle {
    /// Name of the file, for messages.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    pub text: String,
    /// Others, by their name relative to the first. What is below `NAME@VERSION//` is of a module that the project
    /// keeps; it is never given when something is pushed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowPushBody {
    pub bundle: WorkflowBundle,
    /// What the file sees as `values` while it is looked at: an object. Every execution has its own.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub values: Json,
    /// What is only warned of otherwise is a mistake.
    #[serde(default)]
    pub strict: bool,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowPushed {
    pub workflows: Vec<WorkflowView>,
    /// What is odd, with where it is.
    pub warnings: Vec<String>,
}

/// One version of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowView {
    pub name: String,
    pub version: u32,
    /// Of the text.
    pub bundle: Digest,
    pub file: String,
    /// Modules of the project that are part of it, as they were when it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleRef>,
    pub created_by: String,
    pub time_created: Timestamp,
    /// The graph, as it was when the file was kept, with the values of then.
    pub graph: Workflow,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkflowRunBody {
    /// Number of the version; the newest when absent.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// What the file sees as `values`: an object.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub values: Json,
    pub options: ExecutionOptions,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecutionRetryBody {
    /// From this step on: it, and everything that depends on it, is done again even where it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Do again what was under way when its node was lost, although it may have been done.
    pub uncertain: bool,
}

/// An execution of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionView {
    pub id: ExecutionId,
    pub workflow: String,
    pub version: u32,
    /// `preparing`, `beginning`, `running`, `settling`, `finishing` or `ended`.
    pub state: String,
    /// `succeeded`, `failed`, `timed-out` or `cancelled`, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub is_cancel_requested: bool,
    pub created_by: String,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
    pub options: ExecutionOptions,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub values: Json,
    /// What is done for its stack, where something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<ExecutionStackView>,
    /// In the order of the definition; empty in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ExecutionStepView>,
    /// What steps gave out with `export`, by name.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub outputs: Json,
}

/// What an execution does for the stack that it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionStackView {
    pub name: StackName,
    /// In their order.
    pub phases: Vec<ExecutionPhaseView>,
    /// The snapshot that was taken before the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<StackSnapshotId>,
    /// The hold of its lock, while it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<LockHoldId>,
    /// Why the execution ended although nobody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// One thing that an execution does for its stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionPhaseView {
    /// `lock`, `validate`, `drift`, `snapshot`, `drift-after` or `rollback`.
    pub phase: CareKind,
    /// `waiting`, `running`, `held`, `succeeded`, `warned`, `failed`, `skipped`, `released` or `lost`.
    pub status: String,
    pub standing: CareStanding,
    /// What it found, or what it waits for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// A step of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionStepView {
    pub name: String,
    /// `waiting`, `running`, `resting`, `succeeded`, `failed`, `skipped`...
    pub status: String,
    pub standing: Standing,
    pub tries: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    pub depends_on: Vec<String>,
    /// Tasks that carried it out, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<StepTaskView>,
    /// Files that it left for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undone: bool,
    /// What it waits for, or waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

/// A task that an execution submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepTaskView {
    pub id: WorkloadId,
    /// `try` or `undo`.
    pub kind: String,
    /// Which try, from 1.
    #[serde(rename = "try")]
    pub number: u32,
    /// The node that was asked for, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// How it ended; absent while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// What a step gave to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepOutputView {
    /// Where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub end: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub output: Json,
}
