//! Workloads that somebody applied by name, to be kept as their specs say on one node or many.

use hostler_model::{
    Desired, Exit, Health, Labels, ModeKind, Name, NodeState, OutputStream, Phase, PlacementId,
    Role, RunCause, RunId, RunStateKind, Span, Timestamp, UsageSample, WorkloadId, WorkloadSpec,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "workloads"
    /// List workloads by name; with `watch=true`, stream changes.
    WorkloadList = "workload_list" GET "/api/v1/projects/{project}/workloads", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: ProjectPath, query: WorkloadListQuery, reply: Listing<WorkloadView>, errors: [NotFound, CursorGone], stream: Watch;
    /// Show a workload, with how it stands on every node.
    WorkloadGet = "workload_get" GET "/api/v1/projects/{project}/workloads/{workload}", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: WorkloadPath, reply: WorkloadView, errors: [NotFound];
    /// Apply a spec: makes the workload, or changes the one that `If-Match` names.
    WorkloadApply = "workload_apply" PUT "/api/v1/projects/{project}/workloads/{workload}", Access::Project(Role::User), WorkloadApply, 200,
        path: WorkloadPath, body: WorkloadSpec, reply: WorkloadView, errors: [NotFound, AlreadyExists, Conflict, QuotaExceeded, ApprovalRequired], if_match: IfPresent;
    /// Remove a workload: it is stopped everywhere, and its records go when nothing is left of it.
    WorkloadRemove = "workload_remove" DELETE "/api/v1/projects/{project}/workloads/{workload}", Access::Project(Role::User), WorkloadRemove, 202,
        path: WorkloadPath, reply: WorkloadView, errors: [NotFound, Conflict, ApprovalRequired];
    /// Let a workload run (again).
    WorkloadStart = "workload_start" POST "/api/v1/projects/{project}/workloads/{workload}/start", Access::Project(Role::User), WorkloadStart, 200,
        path: WorkloadPath, reply: WorkloadView, errors: [NotFound, Conflict, KeyReused];
    /// Stop a workload everywhere and keep it stopped.
    WorkloadStop = "workload_stop" POST "/api/v1/projects/{project}/workloads/{workload}/stop", Access::Project(Role::User), WorkloadStop, 200,
        path: WorkloadPath, reply: WorkloadView, errors: [NotFound, Conflict, KeyReused];
    /// Put new runs in place of those that are there.
    WorkloadRestart = "workload_restart" POST "/api/v1/projects/{project}/workloads/{workload}/restart", Access::Project(Role::User), WorkloadRestart, 200,
        path: WorkloadPath, reply: WorkloadView, errors: [NotFound, Conflict, KeyReused];
    /// List the runs of a workload on all nodes, newest first.
    WorkloadRunList = "workload_run_list" GET "/api/v1/projects/{project}/workloads/{workload}/runs", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: WorkloadPath, query: PageQuery, reply: Listing<WorkloadRunView>, errors: [NotFound];
    /// List where a workload is and how it stands there.
    WorkloadPlacementList = "workload_placement_list" GET "/api/v1/projects/{project}/workloads/{workload}/placements", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: WorkloadPath, reply: Listing<PlacementView>, errors: [NotFound];
    /// Read a workload's output from its nodes; with `follow`, from one run into the next.
    WorkloadLogs = "workload_logs" GET "/api/v1/projects/{project}/workloads/{workload}/logs", Access::Project(Role::Viewer), WorkloadOutput, 200,
        path: WorkloadPath, query: WorkloadLogsQuery, reply: WorkloadLogLine, errors: [NotFound, Conflict, NodeUnreachable], stream: Lines;
    /// Run a command beside a workload's live run, as its user, in its directory and environment.
    WorkloadExec = "workload_exec" POST "/api/v1/projects/{project}/workloads/{workload}/exec", Access::Project(Role::User), WorkloadExec, 200,
        path: WorkloadPath, body: WorkloadExecBody, reply: ExecLine, errors: [NotFound, Conflict, NodeUnreachable, KeyReused], stream: Lines;
    /// Say why a workload is where it is and stands as it stands: every reason, for every node.
    WorkloadExplain = "workload_explain" GET "/api/v1/projects/{project}/workloads/{workload}/explain", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: WorkloadPath, reply: WorkloadExplanation, errors: [NotFound];
    /// Say when a scheduled workload will run.
    WorkloadNext = "workload_next" GET "/api/v1/projects/{project}/workloads/{workload}/next", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: WorkloadPath, query: WorkloadNextQuery, reply: Listing<FireView>, errors: [NotFound, Conflict];
    /// Show what a workload has used over time on one of its nodes.
    WorkloadUsage = "workload_usage" GET "/api/v1/projects/{project}/workloads/{workload}/usage", Access::Project(Role::Viewer), WorkloadRead, 200,
        path: WorkloadPath, query: WorkloadUsageQuery, reply: Listing<UsageSample>, errors: [NotFound, Conflict, NodeUnreachable];
    /// Show what a node has used over time.
    NodeUsage = "node_usage" GET "/api/v1/nodes/{node}/usage", Access::Global(Role::Viewer), NodeRead, 200,
        path: crate::node::NodePath, query: NodeUsageQuery, reply: Listing<UsageSample>, errors: [NotFound, Conflict, NodeUnreachable];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the workload; to apply one, its name.
    pub workload: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct WorkloadListQuery {
    /// Only workloads of this mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ModeKind>,
    /// Only workloads that carry this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only workloads that stand so; pages may be shorter than asked for, and even empty before the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<WorkloadPhase>,
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

crate::paged!(WorkloadListQuery);

hostler_model::labels! {
    /// How a workload stands, over all its nodes.
    pub enum WorkloadPhase ("workload phase") {
        /// It is on no node yet.
        Pending = "pending",
        /// Another workload has to be there first.
        Waiting = "waiting",
        Starting = "starting",
        /// It runs wherever it should; of a schedule, wherever its time has come.
        Running = "running",
        /// It runs, but not on every node where it should.
        PartlyRunning = "partly-running",
        /// It ended and will be started again.
        Backoff = "backoff",
        /// It will run when its next time comes.
        Idle = "idle",
        Stopping = "stopping",
        Stopped = "stopped",
        Completed = "completed",
        /// On some node it will not be started again by itself.
        Failed = "failed",
        /// It is being removed.
        Removing = "removing",
        /// Its nodes are offline.
        Unknown = "unknown",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadView {
    pub id: WorkloadId,
    pub name: Name,
    pub project: Name,
    pub spec: WorkloadSpec,
    /// What its user wants.
    pub desired: Desired,
    /// Grows when what runs is to be replaced.
    pub revision: u64,
    pub generation: u64,
    pub status: WorkloadStatus,
    /// Where it is, by node.
    pub placements: Vec<PlacementView>,
    pub created_by: String,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadStatus {
    pub phase: WorkloadPhase,
    /// Nodes on which it does what it should.
    pub ready: u32,
    /// Nodes on which it should.
    pub wanted: u32,
    /// Of all that have said something: unhealthy when one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Runs that were made because one had ended, since it was last changed or started by hand.
    pub restarts: u64,
    /// Why, where that needs words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it will be started next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
}

/// How a workload stands on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementView {
    pub id: PlacementId,
    pub node: Name,
    pub node_state: NodeState,
    pub desired: Desired,
    /// As the node last said; absent before it has said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Of the newest run that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Runs since it was last changed or started by hand.
    pub runs: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Scheduled times that were left out, ever.
    pub missed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What should be looked at although it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_exit: Option<Exit>,
    /// When the newest run that lives began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The revision that the node stands under.
    pub revision: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRunView {
    pub id: RunId,
    pub node: Name,
    /// The how-manieth run on its node.
    pub number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<RunCause>,
    /// The time it was scheduled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire: Option<Timestamp>,
    pub state: RunStateKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadLogsQuery {
    /// Only from this node (name or id).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Only of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Go on with what comes, from one run into the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
    /// The last so many lines of each node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<u32>,
    /// Lines that began at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Lines that began before this time, or at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Lines in which this regular expression is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep: Option<String>,
    /// Only this stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<OutputStream>,
    /// Begin after the lines that carried these cursors: the newest of each node, joined by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// One line of the answer to `workload_logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum WorkloadLogLine {
    /// A line of output, base64, as it was written; `node` is there when there are several.
    Data {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Name>,
        stream: OutputStream,
        time: Timestamp,
        data: String,
        cursor: String,
    },
    /// A run begins or has ended here.
    Mark {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Name>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time: Option<Timestamp>,
        detail: String,
        cursor: String,
    },
    /// Output that is not there: rotated away, lost to a full disk, or its node is away.
    Gap {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Name>,
        detail: String,
    },
    /// The stream ends here; `complete` says whether everything there is was sent.
    End { complete: bool },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadExecBody {
    /// Program and arguments, run as they stand; looked up in the workload's PATH.
    #[schemars(length(min = 1, max = 4096))]
    pub command: Vec<String>,
    /// Name or id of the node; needed when the workload runs on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What the command reads, base64; nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// The command is killed when it takes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
}

/// One line of the answer to `workload_exec`. The last is `exit` or `broken`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum ExecLine {
    /// Some bytes of output, base64.
    Data { stream: OutputStream, time: Timestamp, data: String },
    /// Output that could not be kept up with.
    Gap { detail: String },
    /// How the command ended.
    Exit {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        is_timed_out: bool,
    },
    /// It cannot be known how the command ended: the connection to its node was lost.
    Broken { detail: String },
}

/// Why a workload is where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadExplanation {
    pub phase: WorkloadPhase,
    /// One sentence.
    pub summary: String,
    pub nodes: Vec<WorkloadNodeExplanation>,
    /// What would help.
    pub hints: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadNodeExplanation {
    pub node: Name,
    pub labels: Labels,
    /// How it stands there, when it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// Whether it could be there.
    pub is_fitting: bool,
    /// What speaks against it.
    pub reasons: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadNextQuery {
    /// How many times to show (1 to 1000, default 10).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Only on this node (name or id); over all its nodes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// A time at which a schedule starts its workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FireView {
    /// When the schedule says; names the run.
    pub time: Timestamp,
    /// When the run begins: the same, put off by the node's share of the jitter. Absent while it is on no
    /// node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// Where, by name.
    #[serde(default)]
    pub nodes: Vec<Name>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadUsageQuery {
    /// Name or id of the node; needed when the workload is on several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// From this time on; everything there is when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeUsageQuery {
    /// From this time on; everything there is when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}
