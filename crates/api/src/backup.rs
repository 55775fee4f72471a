//! Backups of the whole control plane.

use hostler_model::{Digest, Role, Span, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing};

crate::endpoints! { "backups"
    /// Take a copy of everything the control plane knows, as it is at this moment.
    BackupCreate = "backup_create" POST "/api/v1/backups", Access::Global(Role::Admin), BackupCreate, 200,
        body: BackupCreateBody, errors: [Conflict], stream: Raw;
    /// List the backups that servers made by themselves, or tried to, newest first.
    BackupList = "backup_list" GET "/api/v1/backups", Access::Global(Role::Operator), BackupRead, 200,
        reply: Listing<BackupView>;
    /// Show how often servers make backups, and when the next is due.
    BackupScheduleShow = "backup_schedule_show" GET "/api/v1/backup-schedule", Access::Global(Role::Operator), BackupRead, 200,
        reply: BackupScheduleView;
    /// Have this server make a backup now, as if it were due.
    BackupScheduleRun = "backup_schedule_run" POST "/api/v1/backup-schedule/run", Access::Global(Role::Admin), BackupCreate, 202,
        reply: BackupScheduleView, errors: [Conflict];
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct BackupCreateBody {
    /// How it is sealed; absent when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<BackupSeal>,
    /// Leave out images, and files that tasks left.
    pub without_content: bool,
}

/// A lock and the key that it was made with: for this one backup only. What they were made of, a passphrase
/// or a key file, stays with who asks.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupSeal {
    /// The lock, as it stands in the head of the file.
    pub lock: serde_json::Value,
    /// 32 bytes in base64.
    #[schemars(length(max = 64))]
    pub key: String,
}

impl std::fmt::Debug for BackupCreateBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackupCreateBody")
            .field("is_sealed", &self.seal.is_some())
            .field("without_content", &self.without_content)
            .finish()
    }
}

/// How a backup stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackupStanding {
    /// It was read back after it was written.
    Verified,
    /// It is in the directory, and nobody has read it back.
    Unverified,
    Failed,
    UnderWay,
    /// Its server does not have it any more, or it is on another server.
    Elsewhere,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupView {
    pub name: String,
    /// The server that made it; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub standing: BackupStanding,
    pub size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Why there is none, or why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_sealed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_master_key: Option<bool>,
    pub time_created: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupScheduleView {
    /// Of the server that was asked; absent when it makes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    pub every: Span,
    pub keep: u32,
    pub is_sealed: bool,
    pub has_master_key: bool,
    pub has_content: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_last_good: Option<Timestamp>,
    /// Why the last attempt failed, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_next: Option<Timestamp>,
    pub is_overdue: bool,
}
