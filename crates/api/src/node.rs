//! Nodes, and how machines become nodes.

use hostler_model::{
    Bytes, Cores, Facts, JoinTokenId, Labels, Name, NodeId, NodeMetrics, NodeState, Role, Span,
    Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::OperationView;
use crate::workload::PlacementView;
use crate::{Access, Listing, PageQuery};

crate::endpoints! { "nodes"
    /// List nodes by name; with `watch=true`, stream changes.
    NodeList = "node_list" GET "/api/v1/nodes", Access::Global(Role::Viewer), NodeRead, 200,
        query: NodeListQuery, reply: Listing<NodeView>, errors: [CursorGone], stream: Watch;
    /// Show a node.
    NodeGet = "node_get" GET "/api/v1/nodes/{node}", Access::Global(Role::Viewer), NodeRead, 200, path: NodePath, reply: NodeView, errors: [NotFound];
    /// Change a node's labels.
    NodeUpdate = "node_update" PATCH "/api/v1/nodes/{node}", Access::Global(Role::Operator), NodeUpdate, 200,
        path: NodePath, body: NodeUpdateBody, reply: NodeView, errors: [NotFound], if_match: Always;
    /// Place nothing new on a node; what runs there goes on.
    NodeCordon = "node_cordon" POST "/api/v1/nodes/{node}/cordon", Access::Global(Role::Operator), NodeCordon, 200,
        path: NodePath, body: NodeCordonBody, reply: NodeView, errors: [NotFound, KeyReused];
    /// Let a node take work again.
    NodeUncordon = "node_uncordon" POST "/api/v1/nodes/{node}/uncordon", Access::Global(Role::Operator), NodeCordon, 200,
        path: NodePath, reply: NodeView, errors: [NotFound, KeyReused];
    /// Look at a node's machine anew, and tell the node again everything that it should run.
    NodeReload = "node_reload" POST "/api/v1/nodes/{node}/reload", Access::Global(Role::Operator), NodeReload, 200,
        path: NodePath, reply: NodeReloadView, errors: [NotFound, Conflict, NodeUnreachable, KeyReused];
    /// Cordon a node and wait until it is empty; after the deadline, stop what still runs.
    NodeDrain = "node_drain" POST "/api/v1/nodes/{node}/drain", Access::Global(Role::Operator), NodeDrain, 202,
        path: NodePath, body: NodeDrainBody, reply: OperationView, errors: [NotFound, Conflict, KeyReused, ApprovalRequired];
    /// Take a node out: stop what runs there, revoke its certificates, forget it.
    NodeRemove = "node_remove" DELETE "/api/v1/nodes/{node}", Access::Global(Role::Admin), NodeRemove, 202,
        path: NodePath, reply: OperationView, errors: [NotFound, Conflict, ApprovalRequired], if_match: Always;
    /// List the workloads of every project that are on a node, and how they stand there.
    NodeWorkloadList = "node_workload_list" GET "/api/v1/nodes/{node}/workloads", Access::Global(Role::Viewer), NodeRead, 200,
        path: NodePath, reply: Listing<NodeWorkloadView>, errors: [NotFound];
    /// What is reserved of every node, by name.
    NodeHeldList = "node_held_list" GET "/api/v1/node-holdings", Access::Global(Role::Viewer), NodeRead, 200,
        reply: Listing<NodeHeldView>;
    /// List join tokens.
    JoinTokenList = "join_token_list" GET "/api/v1/join-tokens", Access::Global(Role::Operator), JoinTokenRead, 200,
        query: PageQuery, reply: Listing<JoinTokenView>;
    /// Create a token with which one machine can join.
    JoinTokenCreate = "join_token_create" POST "/api/v1/join-tokens", Access::Global(Role::Operator), JoinTokenCreate, 201,
        body: JoinTokenCreateBody, reply: JoinTokenCreatedView, errors: [Conflict, KeyReused];
    /// Revoke a join token that was not used.
    JoinTokenRevoke = "join_token_revoke" DELETE "/api/v1/join-tokens/{token}", Access::Global(Role::Operator), JoinTokenRevoke, 204,
        path: JoinTokenPath, errors: [NotFound];
    /// Become a node: a join token and a certificate request in, a certificate out.
    Join = "join" POST "/api/v1/join", Access::Public, Nobody, 201,
        body: JoinBody, reply: JoinView, errors: [Unauthenticated, Conflict, RateLimited];
}

/// What is reserved of a node for tasks and workloads, whatever they really use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeHeldView {
    pub id: NodeId,
    pub node: Name,
    /// How many tasks and workloads hold something of it.
    pub placements: u64,
    pub cores: Cores,
    pub memory: Bytes,
    pub disk: Bytes,
    /// Processors that are somebody's own, in Linux list form.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cpus: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numa: Vec<NumaHeldView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuHeldView>,
}

/// What is bound to a NUMA node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NumaHeldView {
    pub index: u32,
    pub cores: Cores,
    pub memory: Bytes,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuHeldView {
    pub index: u32,
    /// How much of it; 1 is all.
    pub share: f64,
}

/// A workload on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeWorkloadView {
    pub project: Name,
    /// By name.
    pub workload: Name,
    pub placement: PlacementView,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodePath {
    /// Name or id of the node.
    pub node: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeListQuery {
    /// Only nodes in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<NodeState>,
    /// Only nodes that carry these labels, as `key=value,key=value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
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

crate::paged!(NodeListQuery);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeUpdateBody {
    /// The node's labels from now on; those not named are removed.
    pub labels: Labels,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeCordonBody {
    #[schemars(length(min = 1, max = 500))]
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDrainBody {
    #[schemars(length(min = 1, max = 500))]
    pub reason: String,
    /// After this long, stop what still runs; without it, wait for as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeView {
    pub id: NodeId,
    pub name: Name,
    pub labels: Labels,
    pub state: NodeState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cordon: Option<CordonView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<NodeMetrics>,
    pub agent_version: String,
    pub generation: u64,
    /// What the node should have reached, and what its agent has accepted.
    pub desired_generation: u64,
    pub applied_generation: u64,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_seen: Option<Timestamp>,
    pub time_state: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeReloadView {
    pub node: NodeView,
    /// What was found to be different, by the names of the facts.
    pub facts_changed: Vec<String>,
    /// How many tasks and workloads the node is told of again. It has taken all of them in when its
    /// `appliedGeneration` has reached the `desiredGeneration` here.
    pub placements: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CordonView {
    pub reason: String,
    pub is_draining: bool,
    pub time: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinTokenPath {
    /// Id of the join token.
    pub token: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JoinTokenCreateBody {
    /// Bind the token to this node name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Labels the node will have.
    pub labels: Labels,
    /// How long it is valid; one hour when absent, at most 30 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinTokenView {
    pub id: JoinTokenId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub labels: Labels,
    /// `unused`, `used`, `expired` or `revoked`.
    pub state: JoinTokenState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_by: Option<NodeId>,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
}

hostler_model::labels! {
    pub enum JoinTokenState ("join token state") {
        Unused = "unused",
        Used = "used",
        Expired = "expired",
        Revoked = "revoked",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinTokenCreatedView {
    pub token: JoinTokenView,
    /// Shown this once: the secret together with the authority's fingerprint.
    pub ticket: String,
    /// The command to run on the machine.
    pub command: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinBody {
    pub token: String,
    pub name: Name,
    /// Certificate signing request, PEM.
    pub csr: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinView {
    pub node_id: NodeId,
    /// The node's certificate, PEM.
    pub certificate: String,
    /// The authority's certificate, PEM.
    pub authority: String,
    /// Where agents connect, `host:port`.
    pub agent_addresses: Vec<String>,
    pub time_expires: Timestamp,
}
