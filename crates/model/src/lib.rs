//! The nouns of Hostler: ids, names, specs, records and states. Pure data and total functions:
//! no async, no clock, no randomness, no IO.
//!
//! Three kinds of types live in the project, converted only at the edges. *Specs* (what a user
//! writes) and *records* (what we store and reason about) are here; *views* and *messages* (what
//! crosses a wire) are in `api` and `proto`. Records carry no serialisation promise, except where a
//! part of them is stored as a JSON document.
//!
//! Reading order is the order of the modules below.

pub mod label;
pub mod suggest;

mod generation;
mod id;
mod name;
mod page;
mod quantity;
mod time;

mod error;

mod access;
mod approval;
mod audit;
mod audit_record;
mod authority;
mod blob;
mod event;
mod image;
mod invitation;
mod log_share;
mod login_tally;
mod node;
mod operation;
mod project;
mod readiness;
mod second_factor;
mod secret;
mod secret_link;
mod server;
mod spec;
mod usage;
mod user_identity;
pub mod workflow;
mod workload;

pub use access::{
    Actor, ActorKind, Caller, Credential, CustomRole, Grant, Group, Narrowing, Need, Network,
    ParseNetworkError, Permission, PermissionSet, Principal, PrincipalKind, Reach, Role,
    RoleBinding, RoleName, Scope, Subject, Token, TokenLimits, Unreadable, Verdict, WebSession,
    WorkloadIdentity,
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
pub use error::{Code, Diagnostic, Error};
pub use event::{Event, EventKind, NewEvent, ObjectKind, ObjectRef};
pub use generation::{Freshness, Generation};
pub use id::{
    ApprovalId, ApprovalPolicyId, ArrayId, AuditEntryId, EventId, ExecutionId, GroupId, ImageId,
    InvitationId, JoinTokenId, ModuleId, NodeId, OperationId, ParseIdError, PlacementId,
    PrincipalId, ProjectId, RoleId, RunId, SecretId, ServerId, TokenId, TypedId, WebSessionId,
    WorkflowId, WorkloadId,
};
pub use image::{
    EngineAsk, IMAGE_SCHEME, Image, ImageNews, ImagePick, ImageRef, ImageSource, JobState,
    NodeContainer, NodeImage, ParseImageRefError, StoredImage, TakenImage,
};
pub use invitation::{Invitation, InvitationState, PasswordReset};
pub use log_share::{LogGrant, LogShare, OutputKept};
pub use login_tally::{LoginOutcome, LoginTally, TallyKind};
pub use name::{Labels, Name, ParseNameError, label_problem, selector_matches};
pub use node::{
    Cordon, DiskFact, DiskHealthFact, Facts, GpuFact, GpuMetrics, JoinToken, LivenessEvent, Node,
    NodeCertificate, NodeLease, NodeMetrics, NodeState, NumaFact, TemperatureFact, WriteMetrics,
};
pub use operation::{
    Operation, OperationEvent, OperationOwner, OperationPlan, OperationState, Step, StepState,
};
pub use page::{Limit, Page};
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
pub use time::{ParseSpanError, Span, Timestamp};
pub use usage::UsageSample;
pub use user_identity::UserIdentity;
pub use workload::{
    Assignment, CpuSet, Desired, Exit, ExitReason, GangSeat, GpuHold, Health, IllegalTransition,
    Origin, OutputStream, Phase, Placement, PlacementStatus, Report, ReportState, Reservation, Run,
    RunCause, RunEvent, RunState, RunStateKind, Service, StatusReport, TaskArray, TaskEvent,
    TaskSeat, TaskState, TaskStateKind, Workload,
};
