//! Backups of machines: what was on paths of a node at one time, kept as content.
//!
//! A backup is a list of entries, one for each file, directory and link, and the bytes of the files, one after
//! the other. The bytes are cut into *volumes*, blobs of bounded size, so that nothing about a backup has to be
//! in memory at once; the list is a blob too. Content is cut where it says so itself, and what is there already
//! is not sent again: not by the next backup, and not by another node that has the same files.
//!
//! ```text
//!   waiting --begun--> running --told--> complete
//!      '------ gave up ---'------------> failed
//! ```
//!
//! Its operation owns it until it is complete or failed, and has a deadline.

mod entry;
mod list;

pub use entry::{BackupEntry, BackupPath, EntryKind, Extent, LinkTarget, PathError};
pub use list::{EXTENTS_MAX, EntryList, LINE_MAX, ListError};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    Actor, Bytes, Diagnostic, Digest, Generation, Name, NodeBackupId, NodeId, OperationId,
    Timestamp,
};

/// The most paths, and the most patterns, of one backup or one restore.
pub const BACKUP_PATHS_MAX: usize = 100;
/// The most of what could not be kept that is told by name.
pub const BACKUP_TROUBLES_MAX: usize = 100;
/// How large a volume is, but the last one.
pub const BACKUP_VOLUME: u64 = 256 << 20;
const PATH_MAX: usize = 4095;
const LABEL_MAX: usize = 100;
const STORE_LEN: usize = 16;
const SERVER: &str = "server";

crate::labels! {
    pub enum NodeBackupState ("state of a backup of a node") {
        /// Its turn has not come.
        Waiting = "waiting",
        /// The node reads and sends.
        Running = "running",
        /// Everything that could be read is kept.
        Complete = "complete",
        /// It was given up; what was sent goes by itself.
        Failed = "failed",
    }
}

crate::labels! {
    pub enum NodeBackupEvent ("event of a backup of a node") {
        Begun = "begun",
        /// The node told what it kept.
        Told = "told",
        GaveUp = "gave-up",
    }
}

impl NodeBackupState {
    pub const SETTLED: &'static [NodeBackupState] =
        &[NodeBackupState::Complete, NodeBackupState::Failed];

    pub fn is_settled(self) -> bool {
        Self::SETTLED.contains(&self)
    }

    /// The next state; `None` where the event changes nothing or is not allowed.
    pub const fn apply(self, event: NodeBackupEvent) -> Option<NodeBackupState> {
        use NodeBackupEvent as E;
        use NodeBackupState as S;
        match (self, event) {
            (S::Waiting, E::Begun) => Some(S::Running),
            (S::Running, E::Told) => Some(S::Complete),
            (S::Waiting | S::Running, E::GaveUp) => Some(S::Failed),
            (S::Waiting, E::Told) | (S::Running, E::Begun) | (S::Complete | S::Failed, _) => None,
        }
    }
}

/// Where backups are kept: `server`, or a name that the configuration of the servers has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackupStore {
    bytes: [u8; STORE_LEN],
    length: u8,
}

/// Error of parsing the name of a place for backups.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` cannot be the name of a place for backups: 1 to 16 small letters, digits and dashes"
)]
pub struct ParseStoreError {
    given: String,
}

impl BackupStore {
    /// In the database of the servers.
    pub fn server() -> BackupStore {
        SERVER.parse().expect("it is a name")
    }

    pub fn is_server(&self) -> bool {
        self.as_str() == SERVER
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).expect("it is ASCII")
    }
}

impl Default for BackupStore {
    fn default() -> BackupStore {
        BackupStore::server()
    }
}

impl FromStr for BackupStore {
    type Err = ParseStoreError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = (1..=STORE_LEN).contains(&text.len())
            && text.chars().all(is_letter)
            && !text.starts_with('-');
        if !is_name {
            return Err(ParseStoreError { given: text.chars().take(64).collect() });
        }
        let mut bytes = [0; STORE_LEN];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        let length = u8::try_from(text.len()).expect("it was measured");
        Ok(BackupStore { bytes, length })
    }
}

impl fmt::Display for BackupStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for BackupStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store:{}", self.as_str())
    }
}

impl Serialize for BackupStore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for BackupStore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for BackupStore {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BackupStore".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,15}$" })
    }
}

/// What is to be kept of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeBackupSpec {
    /// Absolute paths of files and directories, with everything below them.
    pub paths: Vec<String>,
    /// Names that are left out, with `*` and `?`; with a `/` in it, a pattern of the whole path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Also what lies on other file systems below the paths.
    #[serde(default)]
    pub cross_filesystems: bool,
}

impl NodeBackupSpec {
    /// Every mistake that can be seen without the machine.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        check_paths("/paths", &self.paths, 1, &mut problems);
        if self.exclude.len() > BACKUP_PATHS_MAX {
            let detail = format!("at most {BACKUP_PATHS_MAX} patterns");
            problems.push(Diagnostic::new("/exclude", detail));
        }
        for (index, pattern) in self.exclude.iter().enumerate() {
            if pattern.is_empty() || pattern.len() > PATH_MAX || pattern.contains('\0') {
                let detail = "a pattern is not empty, and has no NUL";
                problems.push(Diagnostic::new(format!("/exclude/{index}"), detail));
            }
        }
        problems
    }
}

fn check_paths(pointer: &str, paths: &[String], least: usize, problems: &mut Vec<Diagnostic>) {
    if !(least..=BACKUP_PATHS_MAX).contains(&paths.len()) {
        let detail = format!("{least} to {BACKUP_PATHS_MAX} of them");
        problems.push(Diagnostic::new(pointer, detail));
    }
    for (index, path) in paths.iter().enumerate() {
        if let Some(detail) = path_problem(path) {
            problems.push(Diagnostic::new(format!("{pointer}/{index}"), detail));
        }
    }
}

fn path_problem(path: &str) -> Option<&'static str> {
    if !path.starts_with('/') || path.contains('\0') || path.len() > PATH_MAX {
        return Some("a path of the machine begins with `/`");
    }
    path.split('/').any(|part| part == "..").then_some("a path is written without `..`")
}

/// A path of a machine as paths in a backup are: without the `/` in front, and with nothing that means nothing.
pub fn path_within(path: &str) -> Vec<u8> {
    let names: Vec<&str> =
        path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    names.join("/").into_bytes()
}

/// What a name of a backup may be; in words if it cannot.
pub fn backup_label_problem(label: &str) -> Option<String> {
    (label.len() > LABEL_MAX || label.contains(char::is_control))
        .then(|| format!("a name has at most {LABEL_MAX} bytes on one line"))
}

/// One part of the bytes of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BackupVolume {
    pub digest: Digest,
    pub size: u64,
}

/// Something that could not be kept or put back, or not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BackupTrouble {
    pub path: String,
    pub why: String,
}

/// What a node kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBackupOutcome {
    /// Of the list of entries.
    pub manifest: BackupVolume,
    pub volumes: Vec<BackupVolume>,
    pub files: u64,
    pub directories: u64,
    pub links: u64,
    /// Of the files, without holes.
    pub bytes: Bytes,
    /// Sent, packed; the rest was there already.
    pub bytes_sent: Bytes,
    /// Changed while they were read; kept as they were read.
    pub changed: u64,
    /// Gone before they could be read.
    pub vanished: u64,
    /// Could not be read.
    pub unreadable: u64,
    /// Neither files, directories nor links.
    pub special: u64,
    /// The first of what is not as it should be, by name.
    pub troubles: Vec<BackupTrouble>,
}

impl NodeBackupOutcome {
    /// The list and the volumes, each once.
    pub fn blobs(&self) -> Vec<BackupVolume> {
        let mut all = vec![self.manifest];
        for volume in &self.volumes {
            if !all.iter().any(|known| known.digest == volume.digest) {
                all.push(*volume);
            }
        }
        all
    }

    /// In words: `12 files, 3 MiB, of which 1 MiB was new`.
    pub fn words(&self) -> String {
        let mut words =
            format!("{} files, {}; {} were sent", self.files, self.bytes, self.bytes_sent);
        for (count, what) in [
            (self.unreadable, "could not be read"),
            (self.changed, "changed meanwhile"),
            (self.vanished, "vanished meanwhile"),
        ] {
            if count > 0 {
                words.push_str(&format!("; {count} {what}"));
            }
        }
        words
    }
}

/// What came of reading a backup through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupVerdict {
    pub time: Timestamp,
    /// Absent when everything is there and right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeBackup {
    pub id: NodeBackupId,
    pub node_id: NodeId,
    /// As the node was called then.
    pub node_name: Name,
    /// What people call it; may be empty.
    pub label: String,
    pub store: BackupStore,
    pub spec: NodeBackupSpec,
    pub state: NodeBackupState,
    pub operation_id: OperationId,
    /// Once it is complete.
    pub outcome: Option<NodeBackupOutcome>,
    /// Why it failed.
    pub error: Option<String>,
    pub verdict: Option<BackupVerdict>,
    pub created_by: Actor,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_ended: Option<Timestamp>,
}

impl NodeBackup {
    /// What it is called: its name, or its id.
    pub fn called(&self) -> String {
        match self.label.is_empty() {
            true => self.id.to_string(),
            false => self.label.clone(),
        }
    }
}

/// Where what is put back goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "where", rename_all = "kebab-case")]
pub enum RestoreTo {
    /// A new directory in the agent's own, which it names.
    Fresh,
    /// Below this directory, which is made if need be.
    Directory { path: String },
    /// Where it came from.
    InPlace,
}

/// How a backup is put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreSpec {
    pub to: RestoreTo,
    /// Only these paths and what is below them; everything when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Put files in the place of those that are there; else these are left alone.
    #[serde(default)]
    pub overwrite: bool,
    /// Only say what would be different.
    #[serde(default)]
    pub check: bool,
}

impl RestoreSpec {
    /// Every mistake that can be seen without the machine.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        check_paths("/paths", &self.paths, 0, &mut problems);
        if let RestoreTo::Directory { path } = &self.to
            && let Some(detail) = path_problem(path)
        {
            problems.push(Diagnostic::new("/to/path", detail));
        }
        if self.check && self.to == RestoreTo::Fresh {
            let detail = "a fresh directory is empty; there is nothing to compare with";
            problems.push(Diagnostic::new("/check", detail));
        }
        problems
    }
}

/// What a node is told of a backup that it is to put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreOrder {
    pub backup: NodeBackupId,
    pub manifest: BackupVolume,
    pub volumes: Vec<BackupVolume>,
    pub spec: RestoreSpec,
}

/// What a node put back, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreOutcome {
    /// Below which everything is.
    pub directory: String,
    pub files: u64,
    pub directories: u64,
    pub links: u64,
    pub bytes: Bytes,
    /// Were there already and left alone, or are as they should be.
    pub kept: u64,
    /// Could not be put back, or not as they were.
    pub failed: u64,
    /// The first of those, by name.
    pub troubles: Vec<BackupTrouble>,
    /// With a check: the first that would be different.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<BackupTrouble>,
    /// With a check: how many would be different.
    #[serde(default)]
    pub changed: u64,
}

impl RestoreOutcome {
    pub fn words(&self, is_check: bool) -> String {
        let mut words = match is_check {
            true => format!("{} would be different below {}", self.changed, self.directory),
            false => {
                format!("{} files, {} are back below {}", self.files, self.bytes, self.directory)
            }
        };
        if self.kept > 0 {
            let what = if is_check { "are the same" } else { "were there already" };
            words.push_str(&format!("; {} {what}", self.kept));
        }
        if self.failed > 0 {
            words.push_str(&format!("; {} failed", self.failed));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_backups_never_change() {
        for state in NodeBackupState::ALL {
            let moves = NodeBackupEvent::ALL.iter().any(|event| state.apply(*event).is_some());
            assert_eq!(moves, !state.is_settled(), "{state}");
        }
    }

    #[test]
    fn places_have_short_names() {
        for good in ["server", "s3", "a-b", "0123456789abcdef"] {
            assert_eq!(good.parse::<BackupStore>().unwrap().to_string(), good);
        }
        for bad in ["", "-a", "A", "0123456789abcdefg", "a b", "ä", "a:b"] {
            assert!(bad.parse::<BackupStore>().is_err(), "{bad}");
        }
        assert!(BackupStore::default().is_server());
    }

    #[test]
    fn mistakes_are_found_before_a_node_is_asked() {
        let spec = |paths: &[&str], exclude: &[&str]| NodeBackupSpec {
            paths: paths.iter().map(ToString::to_string).collect(),
            exclude: exclude.iter().map(ToString::to_string).collect(),
            cross_filesystems: false,
        };
        assert_eq!(spec(&["/etc", "/srv/a b"], &["*.tmp", "/srv/cache/*"]).problems(), []);
        for bad in [
            spec(&[], &[]),
            spec(&["etc"], &[]),
            spec(&["/a/../b"], &[]),
            spec(&["/a\0"], &[]),
            spec(&["/a"], &[""]),
        ] {
            assert_eq!(bad.problems().len(), 1, "{bad:?}");
        }
        let to = |path: &str| RestoreSpec {
            to: RestoreTo::Directory { path: path.into() },
            paths: Vec::new(),
            overwrite: false,
            check: false,
        };
        assert_eq!(to("/tmp/x").problems(), []);
        assert_eq!(to("tmp").problems().len(), 1);
        assert_eq!(to("/tmp/../etc").problems().len(), 1);
        let fresh = RestoreSpec { to: RestoreTo::Fresh, check: true, ..to("/") };
        assert_eq!(fresh.problems().len(), 1);
        assert_eq!(path_within("//etc/./ssl/"), b"etc/ssl");
        assert_eq!(path_within("/"), b"");
    }

    #[test]
    fn every_blob_is_named_once() {
        let volume = |n: u8| BackupVolume { digest: Digest::from_bytes([n; 32]), size: 1 };
        let outcome = NodeBackupOutcome {
            manifest: volume(1),
            volumes: vec![volume(2), volume(3), volume(2), volume(1)],
            files: 1,
            directories: 0,
            links: 0,
            bytes: Bytes::new(5),
            bytes_sent: Bytes::new(0),
            changed: 0,
            vanished: 2,
            unreadable: 1,
            special: 0,
            troubles: Vec::new(),
        };
        assert_eq!(outcome.blobs(), [volume(1), volume(2), volume(3)]);
        assert!(outcome.words().ends_with("1 could not be read; 2 vanished meanwhile"));
    }
}
