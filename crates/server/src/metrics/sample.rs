//! What a scrape reads from elsewhere.

use std::time::Duration;

use hostler_control::QueueCounts;
use hostler_model::{
    Desired, LoginOutcome, NodeBackupState, NodeState, Phase, TaskStateKind, Timestamp,
};

/// What one named transaction has cost so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionSample {
    pub name: &'static str,
    pub attempts: u64,
    pub retries: u64,
    pub conflicts: u64,
}

/// What a scrape reads from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub transactions: Vec<TransactionSample>,
    pub commits: u64,
    pub nodes: Vec<(NodeState, u64)>,
    pub node_backups: Vec<(NodeBackupState, u64)>,
    pub tasks: Vec<(TaskStateKind, u64)>,
    /// By the label of the state.
    pub executions: Vec<(String, u64)>,
    pub workloads: Vec<(Desired, u64)>,
    pub placements: Vec<(Phase, u64)>,
    pub sessions: u64,
    pub events_head: u64,
    /// Removed from their nodes, and not to be removed.
    pub images_tidied: (u64, u64),
    pub logins: Vec<(LoginOutcome, u64)>,
    pub secrets: hostler_control::SecretCounts,
    pub locks: hostler_control::LockCounts,
    pub state: hostler_control::StateCounts,
    pub approvals: hostler_control::ApprovalCounts,
    pub schedules: hostler_control::ScheduleCounts,
    pub stacks: hostler_control::StackCounts,
    pub watchers: hostler_control::WatcherCounts,
    /// How tries ended here, how many deliveries are in each state, and how long the oldest waits.
    pub hooks: (hostler_control::HookCounts, (hostler_store::DeliveryCounts, Duration)),
    pub identities: hostler_control::IdentityCounts,
    /// Every configured sink of audit entries, with how many it has not been told of.
    pub audit_sinks: Vec<(String, u64)>,
    /// When the newest whole backup was begun, and whether one is overdue.
    pub backup: (Option<Timestamp>, bool),
    pub egress: hostler_egress::Counts,
    /// Seconds until the authority expires, and nodes that have to renew before another is dropped.
    pub authority: (u64, u64),
    /// When the authority, and this server's certificate, expire.
    pub authority_ends: Option<Timestamp>,
    pub server_ends: Option<Timestamp>,
    pub queue: QueueCounts,
    /// Once the whole chain was followed.
    pub is_audit_chain_ok: Option<bool>,
}
