//! Audit entries and anchors as they leave the house: the same in the API, in exports and in what sinks
//! are sent, with everything that is needed to follow the chain without a server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Actor, AuditAnchor, AuditEntry, Digest, NewAuditEntry, ObjectRef, ProjectId, Timestamp,
};

/// An audit entry with its place in the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditView")]
pub struct AuditRecord {
    pub sequence: u64,
    pub time: Timestamp,
    pub actor: Actor,
    pub action: String,
    pub object: ObjectRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub request_id: String,
    pub source: String,
    pub detail: serde_json::Value,
    /// BLAKE3 of the object's state before the change; absent when it is new, or nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_before: Option<Digest>,
    /// BLAKE3 of the object's state after the change; absent when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_after: Option<Digest>,
    /// Hex of the hash of the entry before; all zeros for the first.
    pub hash_previous: String,
    /// Hex.
    pub hash: String,
}

/// A signed anchor of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditAnchorView")]
pub struct AuditAnchorRecord {
    /// Number of the entry that was the newest.
    pub sequence: u64,
    /// Hex of its hash.
    pub hash: String,
    pub time: Timestamp,
    /// Fingerprint of the authority that signed.
    pub authority: String,
    /// Hex; ECDSA P-256 with SHA-256.
    pub signature: String,
}

impl From<AuditEntry> for AuditRecord {
    fn from(whole: AuditEntry) -> AuditRecord {
        let entry = whole.entry;
        AuditRecord {
            sequence: whole.sequence,
            time: entry.time,
            actor: entry.actor,
            action: entry.action,
            object: entry.object,
            project: entry.project_id,
            request_id: entry.request_id,
            source: entry.source,
            detail: entry.detail,
            digest_before: entry.digest_before,
            digest_after: entry.digest_after,
            hash_previous: hex(&whole.hash_previous),
            hash: hex(&whole.hash),
        }
    }
}

impl AuditRecord {
    /// The entry again; `None` when a hash is no hex.
    pub fn entry(self) -> Option<AuditEntry> {
        Some(AuditEntry {
            sequence: self.sequence,
            hash_previous: bytes(&self.hash_previous)?,
            hash: bytes(&self.hash)?,
            entry: NewAuditEntry {
                time: self.time,
                actor: self.actor,
                action: self.action,
                object: self.object,
                project_id: self.project,
                request_id: self.request_id,
                source: self.source,
                detail: self.detail,
                digest_before: self.digest_before,
                digest_after: self.digest_after,
            },
        })
    }
}

impl From<AuditAnchor> for AuditAnchorRecord {
    fn from(anchor: AuditAnchor) -> AuditAnchorRecord {
        AuditAnchorRecord {
            sequence: anchor.sequence,
            hash: hex(&anchor.hash),
            time: anchor.time,
            authority: anchor.authority,
            signature: hex(&anchor.signature),
        }
    }
}

impl AuditAnchorRecord {
    /// The anchor again; `None` when something in it is no hex.
    pub fn anchor(self) -> Option<AuditAnchor> {
        Some(AuditAnchor {
            sequence: self.sequence,
            hash: bytes(&self.hash)?,
            time: self.time,
            authority: self.authority,
            signature: bytes(&self.signature)?,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActorKind, AuditChain, ObjectKind};

    #[test]
    fn a_record_is_the_entry_even_after_a_journey() {
        let state = serde_json::json!({ "é": [1.5, 2e300, -0.0, null] });
        let entry = NewAuditEntry {
            time: Timestamp::from_micros(1_700_000_000_000_001),
            actor: Actor { kind: ActorKind::User, name: "ada\n\u{1b}[31m".to_owned() },
            action: "node.cordon".to_owned(),
            object: ObjectRef::new(ObjectKind::Node, "n1", "web"),
            project_id: None,
            request_id: "r".to_owned(),
            source: "::1".to_owned(),
            detail: state.clone(),
            digest_before: None,
            digest_after: None,
        }
        .with_states(None, Some(&state));
        let before = AuditChain::default();
        let hash = AuditChain::link(&before.hash, &entry, 1);
        let whole = AuditEntry { sequence: 1, entry, hash_previous: before.hash.clone(), hash };
        let line = serde_json::to_string(&AuditRecord::from(whole.clone())).unwrap();
        assert!(!line.contains(['\n', '\u{1b}']), "{line}");
        let back: AuditRecord = serde_json::from_str(&line).unwrap();
        let back = back.entry().unwrap();
        assert_eq!(back, whole);
        AuditChain::default().follow(&back).unwrap();
        let mut broken: AuditRecord = serde_json::from_str(&line).unwrap();
        broken.hash = "zz".to_owned();
        assert!(broken.entry().is_none());
    }

    #[test]
    fn an_anchor_travels() {
        let anchor = AuditAnchor {
            sequence: 9,
            hash: vec![0xab; 32],
            time: Timestamp::EPOCH,
            authority: "sha256:1".to_owned(),
            signature: vec![0, 255],
        };
        let line = serde_json::to_string(&AuditAnchorRecord::from(anchor.clone())).unwrap();
        let back: AuditAnchorRecord = serde_json::from_str(&line).unwrap();
        assert_eq!(back.anchor(), Some(anchor));
    }
}
