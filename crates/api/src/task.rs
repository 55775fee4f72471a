//! Tasks: workloads with mode once.

use std::collections::BTreeMap;

use hostler_model::{
    ArrayId, ArrayRange, Bytes, Cores, Exit, Labels, Name, NodeId, Quota, Readiness, Role, RunId,
    RunStateKind, TaskStateKind, Timestamp, WorkloadId, WorkloadSpec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::node::GpuHeldView;
use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "tasks"
    /// List tasks, newest first; with `watch=true`, stream changes.
    TaskList = "task_list" GET "/api/v1/projects/{project}/tasks", Access::Project(Role::Viewer), TaskRead, 200,
        path: ProjectPath, query: TaskListQuery, reply: Listing<TaskView>, errors: [NotFound, CursorGone], stream: Watch;
    /// Submit a task.
    TaskSubmit = "task_submit" POST "/api/v1/projects/{project}/tasks", Access::Project(Role::User), TaskSubmit, 201,
        path: ProjectPath, body: TaskSubmitBody, reply: TaskView, errors: [NotFound, AlreadyExists, Conflict, KeyReused, QuotaExceeded];
    /// Submit many tasks at once: all of them or none.
    TaskSubmitBatch = "task_submit_batch" POST "/api/v1/projects/{project}/task-batches", Access::Project(Role::User), TaskSubmit, 201,
        path: ProjectPath, body: TaskBatchBody, reply: TaskBatchView, errors: [NotFound, AlreadyExists, Conflict, KeyReused, QuotaExceeded];
    /// Show a task; with `wait`, answer when it has ended or the time is over.
    TaskGet = "task_get" GET "/api/v1/projects/{project}/tasks/{task}", Access::Project(Role::Viewer), TaskRead, 200,
        path: TaskPath, query: TaskGetQuery, reply: TaskView, errors: [NotFound];
    /// Stop a task: its stop signal, then after the grace period SIGKILL.
    TaskKill = "task_kill" POST "/api/v1/projects/{project}/tasks/{task}/kill", Access::Project(Role::User), TaskKill, 200,
        path: TaskPath, body: TaskKillBody, reply: TaskView, errors: [NotFound, KeyReused];
    /// Freeze a task: it keeps what it holds but gets no processor time.
    TaskPause = "task_pause" POST "/api/v1/projects/{project}/tasks/{task}/pause", Access::Project(Role::User), TaskPause, 200,
        path: TaskPath, reply: TaskView, errors: [NotFound, Conflict, KeyReused];
    /// Let a frozen task go on.
    TaskResume = "task_resume" POST "/api/v1/projects/{project}/tasks/{task}/resume", Access::Project(Role::User), TaskPause, 200,
        path: TaskPath, reply: TaskView, errors: [NotFound, Conflict, KeyReused];
    /// Put a task that failed, was stopped or lost back into the queue.
    TaskRetry = "task_retry" POST "/api/v1/projects/{project}/tasks/{task}/retry", Access::Project(Role::User), TaskRetry, 200,
        path: TaskPath, reply: TaskView, errors: [NotFound, Conflict, KeyReused];
    /// List task arrays, newest first.
    ArrayList = "array_list" GET "/api/v1/projects/{project}/task-arrays", Access::Project(Role::Viewer), TaskRead, 200,
        path: ProjectPath, query: ArrayListQuery, reply: Listing<ArrayView>, errors: [NotFound, CursorGone];
    /// Submit a task array, or with `spec.queue.nodes` a gang: many tasks with one spec.
    ArraySubmit = "array_submit" POST "/api/v1/projects/{project}/task-arrays", Access::Project(Role::User), TaskSubmit, 201,
        path: ProjectPath, body: ArraySubmitBody, reply: ArrayView, errors: [NotFound, AlreadyExists, Conflict, KeyReused, QuotaExceeded];
    /// Show a task array with how many of its tasks are in each state.
    ArrayGet = "array_get" GET "/api/v1/projects/{project}/task-arrays/{array}", Access::Project(Role::Viewer), TaskRead, 200,
        path: ArrayPath, reply: ArrayView, errors: [NotFound];
    /// Stop a task array: what waits ends at once, what runs is asked to stop.
    ArrayKill = "array_kill" POST "/api/v1/projects/{project}/task-arrays/{array}/kill", Access::Project(Role::User), TaskKill, 200,
        path: ArrayPath, body: TaskKillBody, reply: ArrayView, errors: [NotFound, KeyReused];
    /// Show the queue: what waits, by project, and what is reserved.
    QueueShow = "queue_show" GET "/api/v1/queue", Access::LoggedIn, TaskRead, 200,
        reply: QueueView, errors: [];
    /// What tasks used: core-hours, GPU-hours and waits, by project and user.
    AccountReport = "account_report" GET "/api/v1/accounts", Access::LoggedIn, AccountRead, 200,
        query: AccountQuery, reply: Listing<AccountView>, errors: [NotFound, Invalid];
    /// Remove a task that has ended from the records.
    TaskRemove = "task_remove" DELETE "/api/v1/projects/{project}/tasks/{task}", Access::Project(Role::User), TaskRemove, 204,
        path: TaskPath, errors: [NotFound, Conflict];
    /// Read a task's output, from the node it ran on; with `follow`, until it ends.
    TaskLogs = "task_logs" GET "/api/v1/projects/{project}/tasks/{task}/logs", Access::Project(Role::Viewer), TaskOutput, 200,
        path: TaskPath, query: LogsQuery, reply: LogLine, errors: [NotFound, Conflict, NodeUnreachable], stream: Lines;
    /// Say why a task is where it is: every reason, for every node.
    TaskExplain = "task_explain" GET "/api/v1/projects/{project}/tasks/{task}/explain", Access::Project(Role::Viewer), TaskRead, 200,
        path: TaskPath, reply: Explanation, errors: [NotFound];
    /// List the runs of a task, newest first.
    RunList = "run_list" GET "/api/v1/projects/{project}/tasks/{task}/runs", Access::Project(Role::Viewer), TaskRead, 200,
        path: TaskPath, reply: Listing<RunView>, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the task.
    pub task: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct TaskListQuery {
    /// Only tasks in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskStateKind>,
    /// Only tasks of this array (name or id).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Stream changes instead of listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<bool>,
}

crate::paged!(TaskListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaskGetQuery {
    /// Wait at most this long (up to 60s) for the task to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<hostler_model::Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSubmitBody {
    /// Unique in the project; made from the command when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub spec: WorkloadSpec,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskBatchBody {
    #[schemars(length(min = 1, max = 1000))]
    pub tasks: Vec<TaskSubmitBody>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskBatchView {
    /// The tasks that were made, in the order they were given.
    pub tasks: Vec<TaskRef>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRef {
    pub id: WorkloadId,
    pub name: Name,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaskKillBody {
    /// Overrides the task's own grace period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<hostler_model::Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    pub id: WorkloadId,
    pub name: Name,
    pub project: Name,
    pub spec: WorkloadSpec,
    /// Its place in an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySeat>,
    /// How often it was given to a node.
    pub attempts: u32,
    /// From when on it may be placed; absent while it waits for other tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ready: Option<Timestamp>,
    pub status: TaskStatus,
    /// Id of the trace that it was submitted in (W3C Trace Context), 32 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    pub created_by: String,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArraySeat {
    pub array: ArrayId,
    pub index: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the array.
    pub array: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArrayListQuery {
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

crate::paged!(ArrayListQuery);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySubmitBody {
    /// Unique in the project; made from the command when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub spec: WorkloadSpec,
    /// Which indexes, and with `%` how many at once: `1-10000%50`. Absent for a gang.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<ArrayRange>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArrayView {
    pub id: ArrayId,
    pub name: Name,
    pub project: Name,
    pub spec: WorkloadSpec,
    pub range: ArrayRange,
    /// All at the same time on as many nodes, or none.
    pub is_gang: bool,
    /// True once somebody asked for it to stop.
    pub is_stopping: bool,
    pub size: u64,
    /// Tasks that have not ended.
    pub unsettled: u64,
    /// Tasks that ended otherwise than well.
    pub unsuccessful: u64,
    /// How many tasks are in each state.
    pub counts: BTreeMap<String, u64>,
    pub created_by: String,
    pub generation: u64,
    pub time_created: Timestamp,
}

/// What waits and what is held, over all projects the caller may see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueView {
    pub projects: Vec<QueueProject>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueProject {
    pub project: Name,
    pub weight: u32,
    pub quota: Quota,
    /// How many tasks are in each state that has not ended.
    pub counts: BTreeMap<String, u64>,
    /// What its tasks and workloads hold now.
    pub cores: f64,
    pub memory: Bytes,
    pub gpus: f64,
    /// Workloads that are applied.
    #[serde(default)]
    pub workloads: u64,
    #[serde(default)]
    pub secrets: u64,
    /// What its blobs take, by their sizes.
    #[serde(default)]
    pub blobs: Bytes,
    /// What nodes keep of the output of its runs, as they last said; counted where there is a quota.
    #[serde(default)]
    pub logs: Bytes,
    /// Keys and values of its state.
    #[serde(default)]
    pub state: Bytes,
    /// Stacks, without those that are resources of others.
    #[serde(default)]
    pub stacks: u64,
    /// The first that wait for room, in the order in which they are looked at.
    pub next: Vec<QueueEntry>,
}

/// A task that waits for room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueEntry {
    pub id: WorkloadId,
    pub name: Name,
    /// In its project, from 1 on.
    pub position: u64,
    pub priority: i32,
    /// Since when nothing but room keeps it waiting.
    pub time_ready: Timestamp,
    /// The first thing that keeps it waiting, or where it goes; `explain` says all.
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccountQuery {
    /// Only this project (name or id).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// First day, as 2026-11-01; thirty days ago when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Last day; today when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountView {
    pub project: String,
    pub user: String,
    pub tasks: u64,
    pub core_hours: f64,
    pub gpu_hours: f64,
    pub memory_gib_hours: f64,
    /// Mean time between being ready and being started, in seconds.
    pub wait_seconds_mean: f64,
    pub run_hours: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    pub state: TaskStateKind,
    /// The state in words, with the reason where there is one.
    pub message: String,
    /// True once somebody asked for it to stop.
    pub is_stopping: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    pub id: RunId,
    pub attempt: u32,
    pub node_id: NodeId,
    pub state: RunStateKind,
    /// What it was given of its node.
    pub given: GivenView,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

/// What a run was given of its node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GivenView {
    pub cores: Cores,
    pub memory: Bytes,
    #[serde(default, skip_serializing_if = "Bytes::is_zero")]
    pub disk: Bytes,
    /// Processors of its own, in Linux list form.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpus: String,
    /// The NUMA node it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuHeldView>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogsQuery {
    /// Go on until the task ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
    /// Only this stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<OutputStream>,
    /// Begin this many lines before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<u32>,
    /// Begin after the line that carried this cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

pub use hostler_model::OutputStream;

/// One line of the answer to `task_logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LogLine {
    /// Some bytes of output, base64.
    Data { stream: OutputStream, time: Timestamp, data: String, cursor: String },
    /// Output that is no longer there: rotated away, or lost to a full disk.
    Gap { detail: String },
    /// The stream ends here; `complete` says whether the run is over and everything was sent.
    End { complete: bool },
}

/// Why a task is where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    pub state: TaskStateKind,
    /// One sentence.
    pub summary: String,
    /// For a task that waits: every node with every reason against it.
    pub nodes: Vec<NodeExplanation>,
    /// What would help.
    pub hints: Vec<String>,
    /// What the node that it was given to does for it now: inputs or an image on their way, or outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Readiness>,
    /// Id of the trace that it was submitted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeExplanation {
    pub node: Name,
    pub is_fitting: bool,
    pub reasons: Vec<String>,
    pub labels: Labels,
}
