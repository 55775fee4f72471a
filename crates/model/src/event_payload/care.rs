//! The control plane itself: servers, secrets, the audit trail, authorities, backups.

use super::forms;
use crate::{Digest, Name, Secret, SecretLink};

forms! {
    /// An anchor of the audit chain.
    AuditAnchorPayload {
        /// Number of the entry.
        sequence: u64,
        /// Its hash, in hex.
        hash: String,
    }

    /// A sink of audit entries.
    AuditSinkPayload {
        /// Every entry up to this one was delivered.
        sequence: u64,
        /// Why the last delivery failed.
        problem: String,
    }

    /// A certificate authority, and another in its place.
    AuthorityPayload {
        /// Fingerprint of the one that is present now.
        present: String,
        /// Fingerprint of the one that is not present any more.
        former: String,
    }

    /// A backup of the control plane.
    BackupPayload {
        /// The server that made it; its directory has the file.
        server: String,
        /// How many rows it has.
        rows: u64,
        /// How large the file is.
        size: u64,
        /// Of all tables together.
        digest: Digest,
        /// Whether a key is needed to read it.
        is_sealed: bool,
        /// Whether it has what is kept as content.
        has_content: bool,
        /// The version that made it, of one that was restored.
        product: String,
        /// Why there is none.
        problem: String,
    }

    /// Keys that the tokens of what runs are signed with.
    IdentityPayload {
        /// Id of the key that is new.
        key: String,
        /// How many former keys are forgotten.
        forgotten: u64,
    }

    /// A secret, without its value.
    SecretPayload {
        /// The environment that it is in.
        environment: Name,
        /// The version that this is about.
        version: u32,
        /// What is meant when no version is named; 0 when there is none.
        current: u32,
        /// Where the value is, of one that is linked.
        link: SecretLink,
        /// How many keys were sealed anew.
        count: u64,
        /// Id of the master key that they are sealed with.
        key: String,
        /// Why it could not be opened.
        problem: String,
    }

    /// A server.
    ServerPayload {
        /// Which version runs.
        version: String,
        /// Where its API is.
        api_address: String,
    }
}

impl From<&Secret> for SecretPayload {
    fn from(secret: &Secret) -> SecretPayload {
        SecretPayload {
            environment: Some(secret.environment.clone()),
            current: Some(secret.version_current),
            link: secret.link.clone(),
            ..SecretPayload::default()
        }
    }
}
