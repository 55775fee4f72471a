//! Nodes: the machines. A node belongs to no project; its agent speaks only for itself.

mod facts;
mod state;

pub use facts::{
    DiskFact, DiskHealthFact, Facts, GpuFact, GpuMetrics, NodeMetrics, NumaFact, TemperatureFact,
    WriteMetrics,
};
pub use state::{LivenessEvent, NodeState};

use crate::{Generation, JoinTokenId, Labels, Name, NodeId, PrincipalId, ServerId, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub id: NodeId,
    pub name: Name,
    pub labels: Labels,
    pub state: NodeState,
    /// Why nothing new is placed here; `None` means schedulable.
    pub cordon: Option<Cordon>,
    /// What the agent said about its machine when it last connected; `None` before the first time.
    pub facts: Option<Facts>,
    pub agent_version: String,
    /// Of this row; grows with every change to it.
    pub generation: Generation,
    /// Grows with every change to what should run here; the agent follows it.
    pub desired_generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    /// When the state last changed.
    pub time_state: Timestamp,
    pub lease: Option<NodeLease>,
}

impl Node {
    pub fn is_schedulable(&self) -> bool {
        self.state == NodeState::Online && self.cordon.is_none()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cordon {
    pub reason: String,
    pub time: Timestamp,
    /// True while a drain is moving work away or waiting for it to end.
    pub is_draining: bool,
}

/// Which server holds the node's session, and when it was last heard of. Renewed in batches.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeLease {
    pub node_id: NodeId,
    pub server_id: ServerId,
    /// Grows with every connection the agent makes; fences older connections on other servers.
    pub session_epoch: Generation,
    /// What the agent has durably accepted of `desired_generation`.
    pub applied_generation: Generation,
    pub time_seen: Timestamp,
    pub metrics: Option<NodeMetrics>,
}

/// A single-use right to become a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinToken {
    pub id: JoinTokenId,
    pub secret_hash: Vec<u8>,
    /// The only name that may join with it, when bound.
    pub node_name: Option<Name>,
    /// Labels the node gets.
    pub labels: Labels,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
    pub time_used: Option<Timestamp>,
    pub used_by: Option<NodeId>,
    pub time_revoked: Option<Timestamp>,
}

/// A certificate that was issued to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCertificate {
    /// Lowercase hex of the serial number.
    pub serial: String,
    pub node_id: NodeId,
    /// Fingerprint of the authority that issued it; absent where that was not written down yet.
    pub authority: Option<String>,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
    /// When the node first came with it.
    pub time_presented: Option<Timestamp>,
    pub time_revoked: Option<Timestamp>,
}
