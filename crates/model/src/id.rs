//! Typed identifiers. Every kind is listed once, in alphabetical order.
//!
//! Ids are UUIDv7 made by whoever creates the object (never by the database), so that a repeated
//! insert finds the first one. This crate has no clock and no randomness: callers pass a `Uuid` in.

use uuid::Uuid;

/// Error of parsing an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a {kind} id (a UUID such as 0192f3c4-0000-7000-8000-000000000000)")]
pub struct ParseIdError {
    pub kind: &'static str,
    pub given: String,
}

/// What every typed id can do, for code that makes ids of any kind.
pub trait TypedId: Copy {
    fn from_uuid(uuid: Uuid) -> Self;
}

impl TypedId for Uuid {
    fn from_uuid(uuid: Uuid) -> Uuid {
        uuid
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident = $kind:literal,)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(#[schemars(with = "String", extend("format" = "uuid"))] Uuid);

        impl $name {
            pub const KIND: &'static str = $kind;
            pub const fn from_uuid(uuid: Uuid) -> Self { Self(uuid) }
            pub const fn uuid(self) -> Uuid { self.0 }
        }
        impl TypedId for $name {
            fn from_uuid(uuid: Uuid) -> Self { Self(uuid) }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { self.0.fmt(f) }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{}:{}", $kind, self.0) }
        }
        impl std::str::FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self).map_err(|_| ParseIdError { kind: $kind, given: text.chars().take(64).collect() })
            }
        }
    )+};
}

ids! {
    ApprovalId = "approval",
    ApprovalPolicyId = "approval policy",
    ArrayId = "task array",
    AuditEntryId = "audit entry",
    BackupId = "backup",
    EventId = "event",
    ExecutionId = "execution",
    GroupId = "group",
    HookId = "hook",
    ImageId = "image",
    InstallationId = "installation",
    InvitationId = "invitation",
    JoinTokenId = "join token",
    LockHoldId = "hold",
    LockId = "lock",
    ModuleId = "module",
    NodeBackupId = "node backup",
    NodeId = "node",
    OperationId = "operation",
    PlacementId = "placement",
    PrincipalId = "principal",
    ProjectId = "project",
    RoleId = "role",
    RunId = "run",
    ScheduleId = "schedule",
    SecretId = "secret",
    ServerId = "server",
    SoftwareConfigId = "software config",
    SoftwareDeploymentId = "software deployment",
    StackDefinitionId = "stack definition",
    StackEventId = "stack event",
    StackId = "stack",
    StackPlanId = "stack plan",
    StackPluginId = "stack plugin",
    StackResourceId = "stack resource",
    StackSnapshotId = "stack snapshot",
    TokenId = "token",
    WatcherId = "watcher",
    WebSessionId = "web session",
    WorkflowId = "workflow",
    WorkloadId = "workload",
}
