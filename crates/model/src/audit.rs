//! Audit entries: who changed what, hash-chained so that a later change of the record shows.
//!
//! Entry `n` stores `hash(n) = H(hash(n-1), content(n))` ([`AuditChain`]). The chain's head is one row
//! that is written in the same transaction as the change it records. Who can write to the database
//! could compute the whole chain anew, so from time to time its newest hash is signed with the
//! authority's key: an [`AuditAnchor`], which is kept elsewhere too.
//!
//! Where a change leaves an object behind, its entry has digests of the object's state before and
//! after it: who has either state can show that it is the one that was meant, and nobody learns it
//! from the digest who does not.

use serde::{Deserialize, Serialize};

use crate::{Actor, Digest, ObjectRef, ProjectId, Timestamp};

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
    /// Of the object before the change; absent when it is new, or the change is none of an object.
    pub digest_before: Option<Digest>,
    /// Of the object after the change; absent when it is gone.
    pub digest_after: Option<Digest>,
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
    /// How many signed anchors fit the chain.
    #[serde(default)]
    pub anchors: u64,
}

/// The chain as it was at one moment, signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditAnchor {
    /// Number of the newest entry.
    pub sequence: u64,
    /// Its hash.
    pub hash: Vec<u8>,
    pub time: Timestamp,
    /// Fingerprint of the authority that signed.
    pub authority: String,
    pub signature: Vec<u8>,
}

impl AuditAnchor {
    /// What it is signed for; a signature for something else is none for an anchor.
    pub const PURPOSE: &'static str = "audit anchor";

    /// The bytes that are signed.
    pub fn statement(sequence: u64, hash: &[u8], time: Timestamp) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(&sequence.to_be_bytes());
        bytes.extend_from_slice(&time.micros().to_be_bytes());
        bytes.extend_from_slice(hash);
        bytes
    }

    /// The bytes that this one's signature is of.
    pub fn signed(&self) -> Vec<u8> {
        AuditAnchor::statement(self.sequence, &self.hash, self.time)
    }
}

/// How far a sink has been told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSinkState {
    pub name: String,
    /// Every entry up to this one was delivered.
    pub sequence: u64,
    /// Every anchor up to this entry was delivered.
    pub anchor_sequence: u64,
    /// Why the last delivery failed.
    pub problem: Option<String>,
    pub time_modified: Timestamp,
}

/// A chain that is followed from some entry on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditChain {
    /// Number of the last entry that was followed.
    pub count: u64,
    /// Its hash.
    pub hash: Vec<u8>,
}

impl Default for AuditChain {
    /// Before the first entry.
    fn default() -> AuditChain {
        AuditChain { count: 0, hash: vec![0; 32] }
    }
}

impl AuditChain {
    /// The hash of an entry that follows one with the hash `previous`.
    pub fn link(previous: &[u8], entry: &NewAuditEntry, sequence: u64) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(previous);
        hasher.update(&entry.canonical_bytes(sequence));
        hasher.finalize().as_bytes().to_vec()
    }

    /// The chain before `entry`, as that says.
    pub fn before(entry: &AuditEntry) -> AuditChain {
        AuditChain { count: entry.sequence.saturating_sub(1), hash: entry.hash_previous.clone() }
    }

    /// Follows one entry, or says what is wrong with it.
    pub fn follow(&mut self, entry: &AuditEntry) -> Result<(), String> {
        let expected = self.count.saturating_add(1);
        if entry.sequence != expected {
            return Err(format!(
                "entry {expected} is missing; the next one there is {}",
                entry.sequence
            ));
        }
        if entry.hash_previous != self.hash {
            return Err("it does not continue the entry before it".to_owned());
        }
        if AuditChain::link(&self.hash, &entry.entry, entry.sequence) != entry.hash {
            return Err("its content does not match its hash".to_owned());
        }
        self.count = expected;
        self.hash.clone_from(&entry.hash);
        Ok(())
    }
}

impl NewAuditEntry {
    /// With digests of the object's states. Never put into a state what must not be guessed.
    #[must_use]
    pub fn with_states(
        mut self,
        before: Option<&serde_json::Value>,
        after: Option<&serde_json::Value>,
    ) -> NewAuditEntry {
        let digest = |state: &serde_json::Value| {
            Digest::from_bytes(*blake3::hash(state.to_string().as_bytes()).as_bytes())
        };
        self.digest_before = before.map(digest);
        self.digest_after = after.map(digest);
        self
    }

    /// The bytes that are hashed: every field, each preceded by its length, in a fixed order. Digests
    /// come last and only where there is one: entries from before there were any keep their hashes.
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
        if self.digest_before.is_some() || self.digest_after.is_some() {
            for digest in [self.digest_before, self.digest_after] {
                put(digest.as_ref().map_or(&[][..], |digest| digest.bytes()));
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActorKind, ObjectKind};

    fn entry() -> NewAuditEntry {
        NewAuditEntry {
            time: Timestamp::from_micros(1_700_000_000_123_456),
            actor: Actor { kind: ActorKind::User, name: "ada".to_owned() },
            action: "node.cordon".to_owned(),
            object: ObjectRef::new(ObjectKind::Node, "n1", "web"),
            project_id: None,
            request_id: "r".to_owned(),
            source: "10.0.0.1".to_owned(),
            detail: serde_json::json!({ "b": 1, "a": 2 }),
            digest_before: None,
            digest_after: None,
        }
    }

    fn chained(count: u64) -> Vec<AuditEntry> {
        let mut chain = AuditChain::default();
        (1..=count)
            .map(|sequence| {
                let entry = entry();
                let hash = AuditChain::link(&chain.hash, &entry, sequence);
                let whole = AuditEntry { sequence, entry, hash_previous: chain.hash.clone(), hash };
                chain.follow(&whole).unwrap();
                whole
            })
            .collect()
    }

    #[test]
    fn hashes_of_released_versions_stay_as_they_are() {
        let hash = AuditChain::link(&[0; 32], &entry(), 1);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "8a6d59fef054fd64b2de60d5c1ef5e017397da783a1323a8d181717c90541ec1");
    }

    #[test]
    fn every_field_is_in_the_hash() {
        let state = serde_json::json!({ "x": 1 });
        let changed = [
            entry().with_states(Some(&state), None),
            entry().with_states(None, Some(&state)),
            NewAuditEntry { time: Timestamp::EPOCH, ..entry() },
            NewAuditEntry { action: "node.cordo".to_owned(), ..entry() },
            NewAuditEntry { request_id: "r1".to_owned(), source: "0.0.0.1".to_owned(), ..entry() },
            NewAuditEntry { detail: serde_json::json!({ "a": 2, "b": 1 }), ..entry() },
        ];
        let mut hashes: Vec<_> =
            changed.iter().chain([&entry()]).map(|e| AuditChain::link(&[0; 32], e, 1)).collect();
        hashes.push(AuditChain::link(&[0; 32], &entry(), 2));
        hashes.push(AuditChain::link(&[1; 32], &entry(), 1));
        let count = hashes.len();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn a_chain_can_be_followed_from_anywhere_and_breaks_where_it_was_touched() {
        let entries = chained(5);
        let mut chain = AuditChain::before(&entries[2]);
        assert!(entries[2..].iter().all(|entry| chain.follow(entry).is_ok()));
        assert_eq!((chain.count, &chain.hash), (5, &entries[4].hash));
        let mut touched = entries.clone();
        touched[1].entry.actor.name = "eve".to_owned();
        let mut chain = AuditChain::default();
        chain.follow(&touched[0]).unwrap();
        assert!(chain.follow(&touched[1]).unwrap_err().contains("does not match its hash"));
        assert!(chain.follow(&entries[2]).unwrap_err().contains("entry 2 is missing"));
        let mut relinked = entries[1].clone();
        relinked.hash_previous = vec![7; 32];
        assert!(chain.follow(&relinked).unwrap_err().contains("does not continue"));
    }

    #[test]
    fn a_state_has_one_digest() {
        let state = |n| serde_json::json!({ "n": n });
        let first = entry().with_states(None, Some(&state(1)));
        let second = entry().with_states(Some(&state(1)), Some(&state(2)));
        assert_eq!(first.digest_after, second.digest_before);
        assert_ne!(second.digest_before, second.digest_after);
        assert_eq!(first.digest_before, None);
    }
}
