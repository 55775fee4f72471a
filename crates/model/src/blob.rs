//! Blobs: content that is known by its digest, in chunks that are known by theirs.
//!
//! A blob is any number of bytes, named by the BLAKE3 digest of all of them. It is kept and sent as a
//! list of chunks whose ends depend on the content, so that two blobs that are alike share most of
//! theirs. Chunks and blobs belong to a *scope*: a project, or everybody. Nothing is shared between
//! scopes, so that nobody learns from a chunk that is "already there" what another project has.
//!
//! Content never changes under its digest. What can be absent is a blob, never part of it: a blob is
//! entered when all its chunks are there, and chunks go only when no blob has them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{BackupStore, PrincipalId, ProjectId, RunId, Timestamp};

/// Chunks are never smaller (except the last one of a blob), and never larger.
pub const CHUNK_MIN: usize = 64 << 10;
pub const CHUNK_MAX: usize = 1 << 20;

/// The BLAKE3 digest of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Error of parsing a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a digest: use 64 hexadecimal digits in lower case")]
pub struct ParseDigestError {
    given: String,
}

impl Digest {
    pub const fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    /// `None` unless there are 32 of them.
    pub fn from_slice(bytes: &[u8]) -> Option<Digest> {
        bytes.try_into().ok().map(Digest)
    }

    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Enough of it for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        f.pad(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "digest:{}", self.short())
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let read = || {
            let mut bytes = [0; 32];
            let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
            if pairs.len() != bytes.len() {
                return None;
            }
            for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
                *byte = digit(*high)? << 4 | digit(*low)?;
            }
            Some(Digest(bytes))
        };
        read().ok_or_else(|| ParseDigestError { given: text.chars().take(80).collect() })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
    }
}

/// Whose a blob is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlobScope {
    /// Of no project: every project may use it, every node may fetch it, operators make it.
    Shared,
    Project(ProjectId),
    /// Of machines: made by nodes that are asked for a backup, fetched by nodes that are to put one back, and
    /// by nobody else. It is sealed where it is kept.
    Backup(BackupStore),
}

impl BlobScope {
    pub const fn project(self) -> Option<ProjectId> {
        match self {
            BlobScope::Shared | BlobScope::Backup(_) => None,
            BlobScope::Project(id) => Some(id),
        }
    }
}

crate::labels! {
    /// What a blob is there for.
    pub enum BlobKind ("blob kind") {
        /// Somebody uploaded it, to be put before tasks.
        File = "file",
        /// A container image.
        Image = "image",
        /// A task left it.
        Output = "output",
        /// What was on a machine.
        Backup = "backup",
    }
}

/// One part of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChunkRef {
    pub digest: Digest,
    /// Of the plain bytes.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub size: u32,
}

/// What some bytes are: their digest, and their chunks in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub digest: Digest,
    pub size: u64,
    pub chunks: Vec<ChunkRef>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub scope: BlobScope,
    pub digest: Digest,
    pub size: u64,
    pub kind: BlobKind,
    /// What people call it, such as the name of the file it was.
    pub label: String,
    pub chunk_count: u32,
    /// Absent when a node made it.
    pub created_by: Option<PrincipalId>,
    pub time_created: Timestamp,
    /// When it was last asked for.
    pub time_used: Timestamp,
}

/// What a run left behind, or why it could not be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutput {
    pub run_id: RunId,
    /// Unique in the run.
    pub name: String,
    pub kept: KeptOutput,
    pub time: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptOutput {
    File {
        digest: Digest,
        size: u64,
    },
    /// A directory, as a tar archive.
    Archive {
        digest: Digest,
        size: u64,
    },
    /// In words.
    Nothing(String),
}

impl KeptOutput {
    pub const fn digest(&self) -> Option<Digest> {
        match self {
            KeptOutput::File { digest, .. } | KeptOutput::Archive { digest, .. } => Some(*digest),
            KeptOutput::Nothing(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_as_they_are_written() {
        let digest =
            Digest::from_bytes(std::array::from_fn(|i| u8::try_from(i * 7 % 256).unwrap()));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let text = "a".repeat(64);
        assert!(text.parse::<Digest>().is_ok());
        for bad in ["", "ab", &"A".repeat(64), &"a".repeat(63), &"a".repeat(66), &"g".repeat(64)] {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
