//! The nouns of Hostler: ids, names, specs, records and states. Pure data and total functions:
//! no async, no clock, no randomness, no IO.
//!
//! Three kinds of types live in the project, converted only at the edges. *Specs* (what a user
//! writes) and *records* (what we store and reason about) are here; *views* and *messages* (what
//! crosses a wire) are in `api` and `proto`. Records carry no serialisation promise, except where a
//! part of them is stored as a JSON document.
//!
//! Reading order is the order of the modules below.

pub mod filter;
pub mod label;
pub mod suggest;

mod generation;
mod hindrance;
mod id;
mod name;
mod page;
mod pattern;
mod quantity;
mod time;
mod trace;

mod error;

mod access;
mod action;
mod approval;
mod audit;
mod audit_record;
mod authority;
pub mod backup;
mod blob;
mod doctor;
mod event;
mod event_hook;
mod event_name;
mod event_payload;
mod figure;
pub mod host;
mod image;
mod invitation;
mod lock;
mod log_share;
mod login_tally;
mod node;
pub mod node_backup;
mod operation;
mod project;
mod readiness;
pub mod schedule;
mod second_factor;
mod secret;
mod secret_link;
mod server;
mod spec;
pub mod stack;
mod state;
mod timeline;
mod usage;
mod user_identity;
mod watcher;
pub mod workflow;
mod workload;

pub use access::{
    Actor, ActorKind, Caller, Credential, CustomRole, Grant, Group, Narrowing, Need, Network,
    ParseNetworkError, Permission, PermissionSet, Principal, PrincipalKind, Reach, Role,
    RoleBinding, RoleName, Scope, Subject, Token, TokenLimits, Unreadable, Verdict, WebSession,
    WorkloadIdentity,
};
pub use action::{
    Action, ActionKind, ActionOutcome, HttpAction, HttpMethod, Mandate, NodeBackupAction,
    OperationAction, TaskAction, WorkflowAction, WorkloadAction, WorkloadVerb,
};
pub use approval::{
    Approval, ApprovalDecision, ApprovalNeed, ApprovalParty, ApprovalPolicy, ApprovalRefusal,
    ApprovalRule, ApprovalState, ApprovalWhen, GATED, approval_digest,
};
pub use audit::{AuditAnchor, AuditChain, AuditEntry, AuditSinkState, AuditVerdict, NewAuditEntry};
pub use audit_record::{AuditAnchorRecord, AuditRecord};
pub use authority::AuthorityPhase;
pub use blob::{
    Blob, BlobKind, BlobScope, CHUNK_MAX, CHUNK_MIN, ChunkRef, Content, Digest, KeptOutput,
    ParseDigestError, RunOutput,
};
pub use doctor::{Finding, Fix, Severity};
pub use error::{Code, Diagnostic, Error};
pub use event::{
    EVENT_FIELDS, Event, EventKind, NewEvent, ObjectKind, ObjectRef, execution_correlation,
    stack_correlation, task_correlation, workload_correlation,
};
pub use event_hook::{
    DeliveryState, EventHook, EventHookSpec, EventPattern, HookAction, HookDelivery, HookLine,
    HookRetry, LuaAction, OnDead, ParseEventPatternError, WebhookAction, WebhookFormat,
    hook_correlation, read_event_filter,
};
pub use event_name::{
    CUSTOM_MESSAGE_MAX, CUSTOM_PAYLOAD_MAX, CustomName, EventName, ParseCustomNameError,
    ParseEventNameError,
};
pub use event_payload::{
    ApprovalPayload, ApprovalPolicyPayload, ArrayPayload, AuditAnchorPayload, AuditSinkPayload,
    AuthorityPayload, BackupPayload, CustomPayload, EventPayload, ExecutionPayload,
    ExecutionPhasePayload, ExecutionStepPayload, GroupPayload, HookPayload, HookSetPayload,
    IdentityPayload, ImagePayload, InvitationPayload, JoinPayload, LockPayload, LoginPayload,
    NodeBackupPayload, NodeDeedPayload, NodeGpuPayload, NodeImagePayload, NodePayload,
    OperationPayload, ProjectPayload, RolePayload, RunPayload, SchedulePayload, SecretPayload,
    ServerPayload, StackPayload, StatePayload, TokenPayload, UserPayload, VersionPayload,
    WatcherPayload, WatcherSetPayload,
};
pub use figure::{Figure, FigureSample, FigureUnit};
pub use generation::{Freshness, Generation};
pub use hindrance::Hindrance;
pub use id::{
    ApprovalId, ApprovalPolicyId, ArrayId, AuditEntryId, BackupId, EventId, ExecutionId, GroupId,
    HookId, ImageId, InstallationId, InvitationId, JoinTokenId, LockHoldId, LockId, ModuleId,
    NodeBackupId, NodeId, OperationId, ParseIdError, PlacementId, PrincipalId, ProjectId, RoleId,
    RunId, ScheduleId, SecretId, ServerId, SoftwareConfigId, SoftwareDeploymentId,
    StackDefinitionId, StackEventId, StackId, StackPlanId, StackPluginId, StackResourceId,
    StackSnapshotId, TokenId, TypedId, WatcherId, WebSessionId, WorkflowId, WorkloadId,
};
pub use image::{
    EngineAsk, IMAGE_SCHEME, Image, ImageNews, ImagePick, ImageRef, ImageSource, JobState,
    NodeContainer, NodeImage, ParseImageRefError, StoredImage, TakenImage,
};
pub use invitation::{Invitation, InvitationState, PasswordReset};
pub use lock::{
    LOCK_PAST_MAX, LOCK_SLOTS_MAX, LOCK_TTL, LOCK_TTL_DEFAULT, LOCK_WAIT_MAX, LOCK_WAITER_TTL,
    LOCK_WAITERS_MAX, LOCKS_MAX, Lock, LockEnd, LockForced, LockHold, LockHolder, LockName,
    LockOutcome, LockSighting, ParseLockNameError, PastHold,
};
pub use log_share::{LogGrant, LogShare, OutputKept};
pub use login_tally::{LoginOutcome, LoginTally, TallyKind};
pub use name::{Labels, Name, ParseNameError, label_problem, selector_matches};
pub use node::{
    Cordon, DiskFact, DiskHealthFact, Facts, GpuFact, GpuMetrics, JoinToken, LivenessEvent, Node,
    NodeCertificate, NodeLease, NodeMetrics, NodeState, NumaFact, TemperatureFact, WriteMetrics,
};
pub use node_backup::{
    BackupStore, BackupVerdict, BackupVolume, NodeBackup, NodeBackupEvent, NodeBackupOutcome,
    NodeBackupSpec, NodeBackupState, RestoreOrder, RestoreOutcome, RestoreSpec, RestoreTo,
};
pub use operation::{
    Operation, OperationEvent, OperationOwner, OperationPlan, OperationState, Step, StepState,
};
pub use page::{Limit, Page};
pub use pattern::pattern_mistake;
pub use project::{DEFAULT_PROJECT, Project, ProjectUsage, Quota};
pub use quantity::{Bytes, Cores};
pub use readiness::Readiness;
pub use second_factor::{SecondFactor, SecondFactorState};
pub use secret::{
    DEFAULT_ENVIRONMENT, Envelope, KeyId, ParseKeyIdError, ParseSecretRefError, SECRET_MAX, Secret,
    SecretRef, SecretSource, SecretVersion, default_environment,
};
pub use secret_link::{
    ParseVaultPathError, ParseVaultPrefixError, SecretLink, VaultPath, VaultPrefix,
};
pub use server::ServerRegistration;
pub use spec::{
    After, AfterCondition, ArrayRange, Attribute, AudienceToken, CatchUp, Check, Constraint,
    Container, ContainerNetwork, Cron, CronError, CronField, Dependency, DependencyCondition,
    GpuRequest, GpuShareSize, HIDDEN, HOSTLER_AUDIENCE, HealthCheck, Hook, Hooks, HttpCheck,
    Identity, Input, LOCATION_LABEL, Limits, LogPolicy, Mode, ModeKind, Mount, NumaRequest,
    OnUnhealthy, Output, OutputWhen, Overlap, PlacementRules, PullPolicy, PythonEntry, QueueRules,
    Resources, RestartOn, RestartPolicy, RetryOn, RetryPolicy, Runtime, Schedule, SecretUse,
    StopPolicy, StopSignal, Strategy, TOKEN_FILE, Target, TcpCheck, WorkloadSpec, ZoneError,
    compare_versions, image_problem, inner_path_problem, secret_file_problem,
};
pub use state::{
    DEFAULT_NAMESPACE, NotAList, ParseStateKeyError, STATE_KEY_MAX, STATE_OPS_MAX, STATE_TTL_MAX,
    STATE_TXN_BYTES_MAX, STATE_VALUE_MAX, StateAct, StateAddress, StateAnswer, StateBatch,
    StateChange, StateChangeKind, StateCompare, StateCondition, StateEnd, StateHead, StateKey,
    StateList, StateMark, StateOp, StateRecord, StateRelation, StateResult, StateSum, StateTtl,
    StateTxn, StateValue, default_namespace,
};
pub use time::{ParseSpanError, Span, Timestamp};
pub use timeline::{TimelineEntry, TimelineSource};
pub use trace::{NotTraceparent, TraceContext};
pub use usage::{UsageSample, WorkloadUsage};
pub use user_identity::UserIdentity;
pub use watcher::{
    CertificateWatch, CommandWatch, DirectoryWatch, DiskWatch, FileWatch, LogWatch, NodeWatch,
    PortWatch, ProcessWatch, ServiceWatch, Threshold, WATCHED_ENTRIES_MAX, WATCHERS_MAX,
    WATCHERS_PER_NODE, Watch, WatchCondition, Watcher, WatcherNews, WatcherOn, WatcherOrder,
    WatcherReport, WatcherSpec, WatcherStanding, WatcherTold, WatcherWord, watch_pattern,
};
pub use workload::{
    Assignment, CpuSet, Desired, Exit, ExitReason, GangSeat, GpuHold, Health, IllegalTransition,
    Origin, OutputStream, Phase, Placement, PlacementStatus, Report, ReportState, Reservation, Run,
    RunCause, RunEvent, RunState, RunStateKind, Service, StatusReport, TaskArray, TaskEvent,
    TaskSeat, TaskState, TaskStateKind, Workload,
};
