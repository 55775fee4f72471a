//! Audit entries: who changed what, hash-chained so that a later change of the record shows.
//!
//! Entry `n` stores `hash(n) = H(hash(n-1), content(n))`. The chain's head is one row that is written
//! in the same transaction as the change it records.

use serde::{Deserialize, Serialize};

use crate::{Actor, ObjectRef, ProjectId, Timestamp};

/// An entry before it is chained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAuditEntry {
    pub time: Timestamp,
    pub actor: Actor,
    /// What was done, as `noun.verb`: `task.create`, `node.cordon`.
    pub action: String,
    pub object: ObjectRef,
    pub project_id: Option<ProjectId>,
    pub request_id: String,
    /// Address the request came from, when there was one.
    pub source: String,
    /// What changed, never with secret values.
    pub detail: serde_json::Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub sequence: u64,
    pub entry: NewAuditEntry,
    /// Of the entry before; all zeros for the first.
    pub hash_previous: Vec<u8>,
    pub hash: Vec<u8>,
}

/// What `audit verify` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditVerdict {
    pub is_intact: bool,
    pub entries: u64,
    /// Number of the first entry that does not fit.
    pub first_bad: Option<u64>,
    /// What is wrong with it, in words.
    pub problem: Option<String>,
    /// Hex of the newest hash; note it elsewhere to detect a rewritten chain.
    pub head: String,
}

impl NewAuditEntry {
    /// The bytes that are hashed: every field, each preceded by its length, in a fixed order.
    pub fn canonical_bytes(&self, sequence: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        let mut put = |field: &[u8]| {
            bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
            bytes.extend_from_slice(field);
        };
        put(&sequence.to_be_bytes());
        put(&self.time.micros().to_be_bytes());
        put(self.actor.kind.label().as_bytes());
        put(self.actor.name.as_bytes());
        put(self.action.as_bytes());
        put(self.object.kind.label().as_bytes());
        put(self.object.id.as_bytes());
        put(self.object.name.as_bytes());
        put(self.project_id.map(|p| p.to_string()).unwrap_or_default().as_bytes());
        put(self.request_id.as_bytes());
        put(self.source.as_bytes());
        put(self.detail.to_string().as_bytes());
        bytes
    }
}
