//! Backups of paths of nodes.

use hostler_model::{
    Actor, BackupStore, BackupVerdict, Bytes, Digest, Name, NodeBackupId, NodeBackupOutcome,
    NodeBackupSpec, NodeBackupState, NodeId, OperationId, RestoreTo, Role, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::node::NodePath;
use crate::operation::OperationView;
use crate::{Access, Listing};

crate::endpoints! { "node-backups"
    /// Keep what is on paths of a node's machine, with an operation.
    NodeBackupCreate = "node_backup_create" POST "/api/v1/nodes/{node}/backups", Access::Global(Role::Admin), NodeBackup, 202,
        path: NodePath, body: NodeBackupCreateBody, reply: NodeBackupView, errors: [NotFound, Conflict, NodeUnreachable, KeyReused, ApprovalRequired];
    /// List backups of nodes, newest first.
    NodeBackupList = "node_backup_list" GET "/api/v1/node-backups", Access::Global(Role::Admin), NodeBackup, 200,
        query: NodeBackupListQuery, reply: Listing<NodeBackupView>, errors: [NotFound];
    /// Show a backup of a node.
    NodeBackupGet = "node_backup_get" GET "/api/v1/node-backups/{backup}", Access::Global(Role::Admin), NodeBackup, 200,
        path: NodeBackupPath, reply: NodeBackupView, errors: [NotFound];
    /// List what is in a backup of a node, as it was met.
    NodeBackupFiles = "node_backup_files" GET "/api/v1/node-backups/{backup}/files", Access::Global(Role::Admin), NodeBackup, 200,
        path: NodeBackupPath, query: NodeBackupFilesQuery, reply: Listing<BackupFileView>, errors: [NotFound, Conflict];
    /// Read a backup of a node through, with an operation: whether everything is there and right.
    NodeBackupVerify = "node_backup_verify" POST "/api/v1/node-backups/{backup}/verify", Access::Global(Role::Admin), NodeBackup, 202,
        path: NodeBackupPath, reply: OperationView, errors: [NotFound, Conflict, KeyReused, ApprovalRequired];
    /// Put a backup back, on its node or on another one; needs node.backup too. What came of it is the result of the operation's step: `RestoreOutcome`.
    NodeBackupRestore = "node_backup_restore" POST "/api/v1/node-backups/{backup}/restore", Access::Global(Role::Admin), NodeAdminister, 202,
        path: NodeBackupPath, body: NodeBackupRestoreBody, reply: OperationView, errors: [NotFound, Conflict, NodeUnreachable, KeyReused, ApprovalRequired];
    /// Remove a backup of a node; content that no other backup has goes in time.
    NodeBackupRemove = "node_backup_remove" DELETE "/api/v1/node-backups/{backup}", Access::Global(Role::Admin), NodeBackup, 204,
        path: NodeBackupPath, errors: [NotFound, Conflict, Stale];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeBackupPath {
    /// Id of the backup, or its name: then the newest of this name is meant.
    pub backup: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct NodeBackupCreateBody {
    /// Absolute paths of files and directories, with everything below them.
    pub paths: Vec<String>,
    /// Names that are left out, with `*` and `?`; with a `/` in it, a pattern of the whole path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Also what lies on other file systems below the paths.
    pub cross_filesystems: bool,
    /// Where it is kept: `server`, or a store that the configuration of the servers names.
    pub store: BackupStore,
    /// A name for it; several backups can have the same.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Keep so many backups of this node with this name, and remove older ones once this is complete.
    #[schemars(range(min = 1, max = 10000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeBackupListQuery {
    /// Only of this node: its name, or its id, also when it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Only in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<NodeBackupState>,
    /// Only with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(NodeBackupListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeBackupFilesQuery {
    /// Only this path and what is below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodeBackupRestoreBody {
    /// Where it is put back; the node that it is of when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Where on the machine: a fresh directory, below a directory, or where it came from.
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBackupView {
    pub id: NodeBackupId,
    pub node_id: NodeId,
    /// As the node was called then.
    pub node: Name,
    /// What people call it; may be empty.
    pub label: String,
    pub store: BackupStore,
    pub spec: NodeBackupSpec,
    pub state: NodeBackupState,
    /// What made it, or makes it.
    pub operation: OperationId,
    /// Once it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<NodeBackupOutcome>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What came of reading it through last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<BackupVerdict>,
    pub created_by: Actor,
    pub generation: u64,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

/// What something in a backup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackupFileKind {
    Directory,
    File,
    /// Another name of a file that comes before.
    Same,
    Link,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupFileView {
    /// With the `/` in front; what is no text is shown as well as it can be.
    pub path: String,
    pub kind: BackupFileKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Of a link, or of another name: what it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// In octal digits.
    pub mode: String,
    pub uid: u32,
    pub gid: u32,
    pub time_modified: Timestamp,
}
