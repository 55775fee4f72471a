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

mod generation;
mod id;
mod name;
mod page;
mod quantity;
mod time;

mod error;

mod access;
mod audit;
mod audit_record;
mod blob;
mod event;
mod image;
mod invitation;
mod login_tally;
mod node;
mod operation;
mod project;
mod readiness;
mod second_factor;
mod secret;
mod server;
mod spec;
mod usage;
mod workload;

pub use access::{
    Actor, ActorKind, Caller, Credential, CustomRole, Grant, Group, Narrowing, Need, Network,
    ParseNetworkError, Permission, PermissionSet, Principal, PrincipalKind, Reach, Role,
    RoleBinding, RoleName, Scope, Subject, Token, TokenLimits, Unreadable, Verdict, WebSession,
};
pub use audit::{AuditAnchor, AuditChain, AuditEntry, AuditSinkState, AuditVerdict, NewAuditEntry};
pub use audit_record::{AuditAnchorRecord, AuditRecord};
pub use blob::{
    Blob, BlobKind, BlobScope, CHUNK_MAX, CHUNK_MIN, ChunkRef, Content, Digest, KeptOutput,
    ParseDigestError, RunOutput,
};
pub use error::{Code, Diagnostic, Error};
pub use event::{Event, EventKind, NewEvent, ObjectKind, ObjectRef};
pub use generation::{Freshness, Generation};
pub use id::{
    ArrayId, AuditEntryId, EventId, GroupId, ImageId, InvitationId, JoinTokenId, NodeId,
    OperationId, ParseIdError, PlacementId, PrincipalId, ProjectId, RoleId, RunId, SecretId,
    ServerId, TokenId, TypedId, WebSessionId, WorkloadId,
};
pub use image::{
    EngineAsk, IMAGE_SCHEME, Image, ImageNews, ImagePick, ImageRef, ImageSource, JobState,
    NodeContainer, NodeImage, ParseImageRefError, StoredImage, TakenImage,
};
pub use invitation::{Invitation, InvitationState, PasswordReset};
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
pub use project::{DEFAULT_PROJECT, Project, Quota};
pub use quantity::{Bytes, Cores};
pub use readiness::Readiness;
pub use second_factor::{SecondFactor, SecondFactorState};
pub use secret::{
    DEFAULT_ENVIRONMENT, Envelope, KeyId, ParseKeyIdError, ParseSecretRefError, SECRET_MAX, Secret,
    SecretRef, SecretSource, SecretVersion, default_environment,
};
pub use server::ServerRegistration;
pub use spec::{
    After, AfterCondition, ArrayRange, Attribute, CatchUp, Check, Constraint, Container,
    ContainerNetwork, Cron, CronError, CronField, Dependency, DependencyCondition, GpuRequest,
    GpuShareSize, HIDDEN, HealthCheck, Hook, Hooks, HttpCheck, Input, LOCATION_LABEL, Limits,
    LogPolicy, Mode, ModeKind, Mount, NumaRequest, OnUnhealthy, Output, OutputWhen, Overlap,
    PlacementRules, PullPolicy, PythonEntry, QueueRules, Resources, RestartOn, RestartPolicy,
    RetryOn, RetryPolicy, Runtime, Schedule, SecretUse, StopPolicy, StopSignal, Strategy, Target,
    TcpCheck, WorkloadSpec, ZoneError, compare_versions, image_problem, inner_path_problem,
    secret_file_problem,
};
pub use time::{ParseSpanError, Span, Timestamp};
pub use usage::UsageSample;
pub use workload::{
    Assignment, CpuSet, Desired, Exit, ExitReason, GangSeat, GpuHold, Health, IllegalTransition,
    Origin, OutputStream, Phase, Placement, PlacementStatus, Report, ReportState, Reservation, Run,
    RunCause, RunEvent, RunState, RunStateKind, Service, StatusReport, TaskArray, TaskEvent,
    TaskSeat, TaskState, TaskStateKind, Workload,
};
