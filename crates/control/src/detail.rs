//! What services take and return: records with the names that go with them.

use std::collections::BTreeMap;

use hostler_engine::place::Holding;
use hostler_model::filter::Filter;
use hostler_model::{
    ArrayRange, Bytes, Cores, CpuSet, Desired, EventKind, EventPattern, GpuHold, Labels, ModeKind,
    Name, Network, NodeId, NodeState, ObjectKind, Placement, Principal, PrincipalKind, Project,
    ProjectId, ProjectUsage, Readiness, Reservation, Role, RoleName, Run, Service, Span,
    TaskStateKind, Timestamp, Token, TraceContext, Workload, WorkloadId, WorkloadSpec,
};
use hostler_store::{ArrayStanding, EventFilter, Used};
use hostler_trust::SecretString;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginKind {
    /// A browser session.
    Cookie,
    /// An API token.
    Token,
}

/// A successful login; the secret is shown once.
#[derive(Debug)]
pub struct LoginGrant {
    pub principal: Principal,
    pub kind: LoginKind,
    pub secret: SecretString,
    pub time_expires: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UserDetail {
    pub principal: Principal,
    /// On the whole installation, by a binding of its own.
    pub role: Option<RoleName>,
}

#[derive(Debug)]
pub struct NewUser {
    pub name: Name,
    pub kind: PrincipalKind,
    pub password: Option<SecretString>,
    pub role: Option<RoleName>,
}

#[derive(Debug, Default)]
pub struct UserPatch {
    pub is_disabled: Option<bool>,
    pub password: Option<SecretString>,
    /// `Some(None)` takes the role away.
    pub role: Option<Option<RoleName>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TokenDetail {
    pub token: Token,
    pub user: String,
    /// Names of the projects it is tied to; the id of one that is gone.
    pub projects: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub struct NewToken {
    pub name: Name,
    /// Name or id; the caller when absent.
    pub user: Option<String>,
    /// May be absent where `can` says what it is for.
    pub role: Option<Role>,
    /// Names or ids.
    pub projects: Option<Vec<String>>,
    /// As people write permissions.
    pub can: Option<Vec<String>>,
    pub sources: Option<Vec<Network>>,
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, Default)]
pub struct NodeFilter {
    pub state: Option<NodeState>,
    pub selector: Labels,
}

#[derive(Clone, Debug)]
pub struct NewJoinToken {
    pub name: Option<Name>,
    pub labels: Labels,
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug)]
pub struct Joined {
    pub node_id: NodeId,
    pub certificate: String,
    pub authority: String,
    pub agent_addresses: Vec<String>,
    pub time_expires: Timestamp,
}

#[derive(Clone, Debug)]
pub struct NewTask {
    pub name: Option<Name>,
    pub spec: WorkloadSpec,
}

#[derive(Clone, Debug)]
pub struct NewArray {
    pub name: Option<Name>,
    pub spec: WorkloadSpec,
    /// Absent for a gang, whose size the spec says.
    pub range: Option<ArrayRange>,
}

/// A task array with how many of its tasks are in each state.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDetail {
    pub standing: ArrayStanding,
    pub counts: BTreeMap<String, u64>,
    pub project: Name,
    pub created_by: String,
}

/// What waits in a project.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueDetail {
    pub project: Project,
    /// Everything that is placed for it.
    pub held: Holding,
    /// How many tasks are in each state that is not an end.
    pub counts: BTreeMap<String, u64>,
    /// What it has besides.
    pub usage: ProjectUsage,
    /// The first that may be placed, in the order in which they are looked at.
    pub next: Vec<QueuedTask>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueuedTask {
    pub id: WorkloadId,
    pub name: Name,
    /// In its project, from 1 on.
    pub position: u64,
    pub priority: i32,
    /// Since when nothing but room keeps it waiting.
    pub time_ready: Timestamp,
    /// The first thing that keeps it waiting, or where it goes.
    pub reason: String,
}

#[derive(Clone, Debug, Default)]
pub struct AccountQuery {
    /// Name or id.
    pub project: Option<String>,
    /// First and last day, as 2026-11-01.
    pub from: Option<String>,
    pub to: Option<String>,
}

/// What somebody used in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountDetail {
    pub project: String,
    pub user: String,
    pub used: Used,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TaskDetail {
    pub workload: Workload,
    pub project: Name,
    pub created_by: String,
    pub node: Option<Name>,
    pub run: Option<Run>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub state: TaskStateKind,
    pub summary: String,
    pub nodes: Vec<NodeExplanation>,
    pub hints: Vec<String>,
    /// What it waits for on its node.
    pub readiness: Option<Readiness>,
    /// The trace that it was submitted in.
    pub trace: Option<TraceContext>,
}

/// Whether a version of an image is on a node.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageOnNode {
    pub node: Name,
    pub presence: ImagePresence,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ImagePresence {
    Here,
    Absent,
    /// Why the node has not said.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodeExplanation {
    pub node: Name,
    pub labels: Labels,
    pub reasons: Vec<String>,
}

/// A service with where it is. It is being removed when `service.desired` is `Remove`.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadDetail {
    pub service: Service,
    pub project: Name,
    pub created_by: String,
    /// Those that are not released, by the name of their node.
    pub placements: Vec<PlacementDetail>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlacementDetail {
    pub placement: Placement,
    pub node: Name,
    /// What the status says holds only while the node is heard of.
    pub node_state: NodeState,
    /// The newest run that lives, as far as it was reported.
    pub run: Option<Run>,
}

/// A workload on a node, by the names of both project and workload.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeWorkloadDetail {
    pub project: Name,
    pub workload: Name,
    pub placement: PlacementDetail,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunDetail {
    pub run: Run,
    pub node: Option<Name>,
}

/// A time at which a scheduled workload is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireDetail {
    /// When the schedule says.
    pub time: Timestamp,
    /// When the run begins there: the same, put off by jitter. Absent while it is on no node.
    pub start: Option<Timestamp>,
    /// Where, by name.
    pub nodes: Vec<Name>,
}

/// What applying a spec did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Created,
    Changed,
    /// It was like this already.
    Unchanged,
}

#[derive(Clone, Debug, Default)]
pub struct WorkloadQuery {
    pub mode: Option<ModeKind>,
    pub tag: Option<String>,
    pub desired: Option<Desired>,
}

/// Why a service is where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadExplanation {
    pub summary: String,
    pub nodes: Vec<WorkloadNodeExplanation>,
    pub hints: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadNodeExplanation {
    pub node: Name,
    pub labels: Labels,
    /// How it stands there, when it is there.
    pub standing: Option<String>,
    /// What speaks against it; empty where it is there or would fit.
    pub reasons: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct EventQuery {
    pub project: Option<ProjectId>,
    pub kind: Option<EventPattern>,
    pub object: Option<ObjectKind>,
    pub id: Option<String>,
    /// Of the object.
    pub name: Option<String>,
    /// What caused it; all that begin so where it ends with a `/`.
    pub cause: Option<String>,
    /// Not before this time...
    pub since: Option<Timestamp>,
    /// ...and before this one.
    pub until: Option<Timestamp>,
    /// Only those of which this holds.
    pub filter: Option<Filter>,
    /// Follow the workloads of the project and all nodes, whoever asks: for those who tell how the
    /// former stand, which follows from the latter too.
    pub with_nodes: bool,
}

/// What an [`EventQuery`] says of kinds and ids, as the store asks for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventTerms {
    kinds: Vec<EventKind>,
    /// Those of one's own are about an object with their name.
    id: Option<String>,
}

impl EventQuery {
    pub(crate) fn terms(&self) -> EventTerms {
        let id = match &self.kind {
            Some(EventPattern::Custom(name)) => Some(name.to_string()),
            _ => None,
        };
        EventTerms { kinds: self.kind.as_ref().map(EventPattern::kinds).unwrap_or_default(), id }
    }

    pub(crate) fn wanted<'a>(
        &'a self,
        terms: &'a EventTerms,
        visible: Option<&'a [ProjectId]>,
    ) -> EventFilter<'a> {
        EventFilter {
            visible,
            include_global: visible.is_none(),
            project: self.project,
            kinds: &terms.kinds,
            object_kinds: self.object.as_slice(),
            object_id: self.id.as_deref(),
            object_ids: terms.id.as_slice(),
            object_name: self.name.as_deref(),
            causes: match self.cause.as_deref().is_some_and(is_beginning) {
                true => &[],
                false => self.cause.as_slice(),
            },
            cause_under: self.cause.as_deref().filter(|cause| is_beginning(cause)),
            since: self.since,
            until: self.until,
        }
    }
}

/// Whether all causes are meant that begin so.
fn is_beginning(cause: &str) -> bool {
    cause.ends_with('/')
}

#[derive(Clone, Debug, Default)]
pub struct AuditQuery {
    pub actor: Option<String>,
    pub action: Option<String>,
    pub object_kind: Option<ObjectKind>,
    /// Id or name of the object.
    pub object: Option<String>,
    pub project: Option<ProjectId>,
    pub source: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub text: Option<String>,
}

/// A sink of audit entries, and how far it has been told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSinkDetail {
    pub name: String,
    /// Where it is, without what may be secret.
    pub to: String,
    pub sequence: u64,
    /// Entries it has not been told of.
    pub lag: u64,
    pub problem: Option<String>,
    /// When it was last told, or failed; `None` before the first time.
    pub time_modified: Option<Timestamp>,
}

/// What is reserved of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeHeld {
    pub id: NodeId,
    pub name: Name,
    pub placements: u64,
    pub cores: Cores,
    pub memory: Bytes,
    pub disk: Bytes,
    /// Processors that are somebody's own.
    pub cpus: CpuSet,
    pub numa: Vec<NumaHeld>,
    pub gpus: Vec<GpuHold>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaHeld {
    pub index: u32,
    pub cores: Cores,
    pub memory: Bytes,
}

/// A run of a task, and what it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRun {
    pub run: Run,
    pub reservation: Reservation,
}
