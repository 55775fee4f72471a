//! The application: what Hostler does, without any transport.
//!
//! - [`Control`] is the handle that every transport holds. Its service methods (one file per noun in
//!   `service/`) authorise ownership, validate, and change rows in one named transaction that also
//!   writes events and audit entries; afterwards they wake the reconcilers concerned.
//! - `reconcile/` holds the loops that make the world match the rows; `operation/` the steps of long
//!   changes.
//! - `node_session` is what a server does for a connected agent, free of gRPC; `links` knows which
//!   agents are connected to this process.
//!
//! Endpoint-level access (which role may call what) is decided by [`Control::authorise`], asked by
//! every transport before anything else; rules about *whose* object it is are here, in the services.

mod action;
mod audit_entry;
mod audit_sink;
mod audit_state;
mod authorities;
pub mod backup;
mod bootstrap;
mod config;
mod control;
mod cx;
mod detail;
mod ends;
mod execution;
mod feed;
mod hook;
mod identity;
mod links;
mod lock_bells;
mod node_backup;
mod node_blob;
mod node_gpus;
mod node_holdings;
mod node_identity;
mod node_images;
mod node_report;
mod node_secret;
mod node_session;
mod oidc;
mod operation;
mod output;
mod password_work;
mod queue_tally;
mod reconcile;
mod schedule;
mod service;
mod stack;
mod state;
mod vault;
mod watch;

#[doc(hidden)]
pub mod fuzz;
#[doc(hidden)]
pub use stack::SignalPass;
pub use stack::bench as stack_bench;
pub use stack::plugin::stack_types_page;
pub use stack::{
    AlarmReport, OTHER_TYPE, STACK_LENGTH_BOUNDS, StackAlarms, StackCounts, StackLengths,
};

pub use action::{ActionFailure, ActionStanding, Order, Standings, standings};
pub use audit_entry::Stateless;
pub use audit_sink::{AuditSink, ParseSinkError, SinkAddress};
pub use authorities::AuthoritySet;
pub use bootstrap::{Boot, BootError, passphrase_salt};
pub use config::{
    ApprovalConfig, ApprovalWebhook, AuditConfig, BackupConfig, BlobLimits, ControlConfig,
    StackConfig, StateLimits,
};
pub use control::{Control, Parts};
pub use cx::{Consent, Cx, Idempotency, RequestMeta};
pub use detail::{
    AccountDetail, AccountQuery, Applied, ArrayDetail, AuditQuery, AuditSinkDetail, EventQuery,
    Explanation, FireDetail, ImageOnNode, ImagePresence, Joined, LoginGrant, LoginKind, NewArray,
    NewJoinToken, NewTask, NewToken, NewUser, NodeExplanation, NodeFilter, NodeHeld,
    NodeWorkloadDetail, NumaHeld, PlacementDetail, QueueDetail, QueuedTask, RunDetail, TaskDetail,
    TaskRun, TokenDetail, UserDetail, UserPatch, WorkloadDetail, WorkloadExplanation,
    WorkloadNodeExplanation, WorkloadQuery,
};
pub use feed::EventFollower;
pub use hostler_engine::figures::FleetSums;
pub use hostler_engine::timeline::Places as TimelinePlaces;
pub use hostler_lua::Bundle;
pub use identity::{IdentityConfig, IdentityCounts};
pub use links::{NodeLink, PeerLinks};
pub use lock_bells::LockCounts;
pub use node_backup::ObjectStoreConfig;
pub use node_blob::{NodeFetch, NodePut};
pub use node_holdings::Holdings;
pub use node_identity::{DeliveredIdentity, DeliveredToken};
pub use node_report::{ReportAck, StatusAck};
pub use node_secret::DeliveredSecret;
pub use node_session::{Attach, Attached, DesiredBatch, HelloFacts};
pub use oidc::OidcConfig;
pub use output::{ExecAsk, NodeAsk, OutputItem, OutputQuery, OutputReceiver};
pub use queue_tally::{QueueCounts, WAIT_CLASSES};
pub use reconcile::{
    ApprovalNotice, ApprovalNoticeReport, ArrayFillReport, AuditAnchorKeeper, AuditAnchorReport,
    AuditSinkFeed, AuditSinkReport, AuditWatch, AuditWatchReport, BackupKeeper, BackupReport,
    ExecutionReport, HookCounts, HookDeliver, HookDeliverReport, HookDispatch, HookDispatchReport,
    IdentityKeyKeeper, LeaseReport, LivenessReport, LockWatch, LockWatchReport, LogShareReport,
    OperationAdvance, OperationReport, PlacementReport, ServerRenew, ServerRenewReport,
    ServicePlaceReport, StackAdvance, StackDriftReport, StackDriftWatch, StackReport, StateCompact,
    StateCompactReport, StateExpiry, StateExpiryReport, StateTail, StateTailReport, Wakers,
};
pub use schedule::{
    LATENESS_BOUNDS, ScheduleCallReport, ScheduleCalls, ScheduleCounts, ScheduleReport,
};
pub(crate) use service::task::object as service_object;
pub use service::{
    AccessDetail, AccessGrant, ApprovalCounts, ApprovalDetail, ApprovalPolicyDetail, ApprovalQuery,
    AuthorityDetail, BackupFiles, BackupSchedule, BlobDetail, BlobReader, Enrolment,
    EventHookDetail, ExecutionDetail, ExecutionRetry, FireDetails, FleetNode, FleetPlacement,
    FleetService, FleetServices, FleetStanding, GroupChange, GroupDetail, HookTest,
    InvitationDetail, LockAnswer, LockAsk, LockDetail, ModuleDetail, ModulePushed, NewBlob,
    NewCustomEvent, NewExec, NewExecution, NewGroup, NewImage, NewInvitation, NewModule,
    NewNodeBackup, NewRole, NewSoftwareConfig, NewSoftwareDeployment, NewStackPlugin, NewWorkflow,
    NextFire, OidcBegun, ProjectChange, Pushed, Rekeyed, Rewrapped, RoleChange, RoleDetail,
    RoleHolder, ScheduleDetail, SecondFactorDetail, SecretCounts, SecretDetail, SecretValue,
    SessionsEnded, SoftwareDeploymentEdit, StackAdopt, StackAsk, StackChecked, StackChecklist,
    StackCommand, StackComparison, StackDefinitionDetail, StackDeps, StackDepsGraph, StackDetail,
    StackDriftDetail, StackEdit, StackEdition, StackEventQuery, StackFollower, StackForm,
    StackIntent, StackOutput, StackPlanDetail, StackPluginDetail, StackPluginSource, StackPreview,
    StackPreviewChanges, StackPreviewResource, StackQuery, StackRefusal, StackResourceDetail,
    StackSubject, StackType, StackUse, StatePlace, StatePrecondition, StepOutput, Timeline,
    TimelineQuery, WatcherDetail, WatcherNode, WorkflowDetail,
};
pub use state::{
    STATE_IN_FLIGHT_MAX, StateCounts, StateFollower, StatePort, StateReply, StateSeen,
};
pub use vault::{HashiCorpVault, VaultConfig, VaultDetail, VaultKind, VaultLogin, VaultProjects};
pub use watch::{WatcherCounts, WatcherOrdersReport};
