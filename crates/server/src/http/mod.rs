//! The HTTP API: every endpoint of `hostler_api` with its handler.
//!
//! A request passes, from the outside in: the connection (`listen`: TLS, limits), the envelope
//! (`envelope`: request id, headers, metrics, panics; `unread`: what is left of bodies), the router
//! (`mount`), and admission (`admit`: who is it (`gate`), may they, what do they say (`decode`, `strict`)). Handlers, one file per noun, only call
//! the application and turn records into views (`view`). Whatever goes wrong anywhere becomes an
//! answer in `error`, the one place that knows status codes.
//!
//! Nothing is kept here between requests but budgets and counters; a crash loses nothing.

mod app;

pub(crate) mod admit;
mod answer;
mod array;
pub(crate) mod decode;
mod envelope;
pub(crate) mod error;
pub(crate) mod gate;
pub(crate) mod in_url;
pub(crate) mod limit;
mod module;
pub(crate) mod mount;
pub(crate) mod strict;

mod beginning;
mod listen;
mod stall;
mod unread;

mod exec;
mod gather;
mod logs;
mod page;
mod standing;
mod state_body;
mod state_stream;
mod state_watch;
mod view;
mod watch;
mod watcher;
mod workload_logs;
mod workload_view;

mod access;
mod approval;
mod audit;
mod authority;
mod backup;
mod blob;
mod group;
mod hook;
mod host;
mod identity;
mod image;
mod invitation;
mod lock;
mod node;
mod node_backup;
mod oidc;
mod operation;
mod project;
mod record;
mod role;
mod schedule;
mod second_factor;
mod secret;
mod session;
mod stack;
mod stack_check;
mod stack_lock;
mod stack_plan;
mod stack_plugin;
mod stack_point;
mod stack_resource;
mod stack_type;
mod stack_watch;
mod state;
mod system;
mod task;
mod timeline;
mod token;
mod user;
mod workflow;
mod workload;

#[doc(hidden)]
pub mod fuzz;

pub use admit::Peer;
pub use answer::Answer;
pub use app::{App, AppParts};
pub use envelope::Envelope;
pub(crate) use envelope::Trace;
pub use gate::{Gate, Presented};
pub use limit::{Limits, Rate, Rates};
pub use listen::{ConnectionLimits, serve_http};
pub use mount::{Call, MountError, PublicCall, Routes};
pub use system::metrics_router;

use axum::Router;
use axum::middleware::from_fn_with_state;
use hostler_api as api;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

/// The whole HTTP side of a server; fails when an endpoint of the contract has no handler.
pub fn router(app: App) -> Result<Router, MountError> {
    let envelope = app.envelope();
    let routes = routes(app.clone()).finish(&api::all())?;
    let trust = app.clone();
    let guarded = routes.fallback(crate::web::serve).layer(from_fn_with_state(app, in_url::refuse));
    Ok(surround(guarded, envelope).layer(from_fn_with_state(trust, authority::tell)))
}

/// Puts pages, compression, the reading of unread bodies and the envelope around the routes of an API.
pub fn enclose(api: Router, envelope: Envelope) -> Router {
    surround(api.fallback(crate::web::serve), envelope)
}

pub(crate) fn surround(all: Router, envelope: Envelope) -> Router {
    let worth_it = DefaultPredicate::new()
        .and(NotForContentType::const_new("application/x-ndjson"))
        .and(NotForContentType::const_new("application/octet-stream"));
    all.layer(CompressionLayer::new().compress_when(worth_it))
        .layer(from_fn_with_state(envelope.clock.clone(), unread::discard))
        .layer(from_fn_with_state(envelope, envelope::envelope))
}

fn routes(app: App) -> Routes<App> {
    Routes::new(app)
        .on_public(api::system::Livez, system::livez)
        .on_public(api::system::Readyz, system::readyz)
        .on_public(api::system::Version, system::version)
        .on_public(api::system::OpenApi, system::openapi)
        .on(api::system::Metrics, system::metrics)
        .on(api::system::MetricsNodes, system::metrics_nodes)
        .on(api::system::MetricsWorkloads, system::metrics_workloads)
        .on(api::system::MetricsHistory, system::metrics_history)
        .on(api::system::ServerList, system::servers)
        .on(api::system::ReconcilerList, system::reconcilers)
        .on(api::system::Diagnose, system::diagnose)
        .on_public(api::authority::AuthorityTrusted, authority::trusted)
        .on(api::authority::AuthorityShow, authority::show)
        .on(api::authority::AuthorityRotate, authority::rotate)
        .on(api::authority::AuthorityAbort, authority::abort)
        .on(api::authority::AuthorityFinish, authority::finish)
        .on_public(api::identity::OpenIdConfiguration, identity::discovery)
        .on_public(api::identity::Jwks, identity::jwks)
        .on_public(api::session::Setup, session::setup)
        .on_public(api::session::Login, session::login)
        .on(api::session::Logout, session::logout)
        .on(api::session::Whoami, session::whoami)
        .on(api::session::PasswordChange, session::password_change)
        .on(api::session::WebSessionList, session::list)
        .on(api::session::WebSessionEnd, session::end)
        .on(api::session::WebSessionEndOthers, session::end_others)
        .on(api::session::UserSessionList, session::list_of)
        .on(api::session::UserSessionEnd, session::end_of)
        .on(api::session::UserSessionEndAll, session::end_all_of)
        .on_public(api::oidc::OidcShow, oidc::show)
        .on_public(api::oidc::OidcBegin, oidc::begin)
        .on_public(api::oidc::OidcFinish, oidc::finish)
        .on(api::oidc::UserIdentityList, oidc::list)
        .on(api::oidc::UserIdentityAdd, oidc::add)
        .on(api::oidc::UserIdentityRemove, oidc::remove)
        .on(api::second_factor::TotpShow, second_factor::show)
        .on(api::second_factor::TotpEnrol, second_factor::enrol)
        .on(api::second_factor::TotpConfirm, second_factor::confirm)
        .on(api::second_factor::TotpDisable, second_factor::disable)
        .on(api::second_factor::TotpReset, second_factor::reset)
        .on(api::invitation::InvitationList, invitation::list)
        .on(api::invitation::InvitationCreate, invitation::create)
        .on(api::invitation::InvitationRevoke, invitation::revoke)
        .on(api::invitation::ProjectInvitationList, invitation::project_list)
        .on(api::invitation::ProjectInvitationCreate, invitation::project_create)
        .on(api::invitation::ProjectInvitationRevoke, invitation::project_revoke)
        .on_public(api::invitation::InvitationShow, invitation::show)
        .on_public(api::invitation::InvitationAccept, invitation::accept)
        .on(api::invitation::PasswordResetIssue, invitation::reset_issue)
        .on_public(api::invitation::PasswordResetUse, invitation::reset_use)
        .on(api::user::UserList, user::list)
        .on(api::user::UserCreate, user::create)
        .on(api::user::UserGet, user::get)
        .on(api::user::UserUpdate, user::update)
        .on(api::user::UserRemove, user::remove)
        .on(api::user::MemberList, user::members)
        .on(api::user::MemberSet, user::member_set)
        .on(api::user::MemberRemove, user::member_remove)
        .on(api::role::RoleList, role::list)
        .on(api::role::RoleCreate, role::create)
        .on(api::role::RoleGet, role::get)
        .on(api::role::RoleHolders, role::holders)
        .on(api::role::RoleUpdate, role::update)
        .on(api::role::RoleRemove, role::remove)
        .on(api::group::GroupList, group::list)
        .on(api::group::GroupCreate, group::create)
        .on(api::group::GroupGet, group::get)
        .on(api::group::GroupUpdate, group::update)
        .on(api::group::GroupMemberAdd, group::add)
        .on(api::group::GroupMemberRemove, group::take)
        .on(api::group::GroupRemove, group::remove)
        .on(api::access::AccessCheck, access::check)
        .on(api::access::AccessExplain, access::explain)
        .on(api::approval::ApprovalList, approval::list)
        .on(api::approval::ApprovalGet, approval::get)
        .on(api::approval::ApprovalApprove, approval::approve)
        .on(api::approval::ApprovalDeny, approval::deny)
        .on(api::approval::ApprovalWithdraw, approval::withdraw)
        .on(api::approval::ApprovalPolicyList, approval::policies)
        .on(api::approval::ApprovalPolicyGet, approval::policy)
        .on(api::approval::ApprovalPolicySet, approval::policy_set)
        .on(api::approval::ApprovalPolicyRemove, approval::policy_remove)
        .on(api::approval::ProjectApprovalPolicyList, approval::project_policies)
        .on(api::approval::ProjectApprovalPolicyGet, approval::project_policy)
        .on(api::approval::ProjectApprovalPolicySet, approval::project_policy_set)
        .on(api::approval::ProjectApprovalPolicyRemove, approval::project_policy_remove)
        .on(api::hook::HookList, hook::list)
        .on(api::hook::HookGet, hook::get)
        .on(api::hook::HookSet, hook::set)
        .on(api::hook::HookEnable, hook::enable)
        .on(api::hook::HookDisable, hook::disable)
        .on(api::hook::HookTest, hook::test)
        .on(api::hook::HookDeliveryList, hook::deliveries)
        .on(api::hook::HookReplay, hook::replay)
        .on(api::hook::HookDiscard, hook::discard)
        .on(api::hook::HookRemove, hook::remove)
        .on(api::hook::ProjectHookList, hook::project_list)
        .on(api::hook::ProjectHookGet, hook::project_get)
        .on(api::hook::ProjectHookSet, hook::project_set)
        .on(api::hook::ProjectHookEnable, hook::project_enable)
        .on(api::hook::ProjectHookDisable, hook::project_disable)
        .on(api::hook::ProjectHookTest, hook::project_test)
        .on(api::hook::ProjectHookDeliveryList, hook::project_deliveries)
        .on(api::hook::ProjectHookReplay, hook::project_replay)
        .on(api::hook::ProjectHookDiscard, hook::project_discard)
        .on(api::hook::ProjectHookRemove, hook::project_remove)
        .on(api::token::TokenList, token::list)
        .on(api::token::TokenCreate, token::create)
        .on(api::token::TokenGet, token::get)
        .on(api::token::TokenRevoke, token::revoke)
        .on(api::project::ProjectList, project::list)
        .on(api::project::ProjectCreate, project::create)
        .on(api::project::ProjectGet, project::get)
        .on(api::project::ProjectUpdate, project::update)
        .on(api::project::ProjectRemove, project::remove)
        .on(api::node::NodeList, node::list)
        .on(api::node::NodeGet, node::get)
        .on(api::node::NodeUpdate, node::update)
        .on(api::node::NodeCordon, node::cordon)
        .on(api::node::NodeUncordon, node::uncordon)
        .on(api::node::NodeHeldList, node::held)
        .on(api::node::NodeReload, node::reload)
        .on(api::node::NodeDrain, node::drain)
        .on(api::node::NodeRemove, node::remove)
        .on(api::node::NodeWorkloadList, node::workloads)
        .on(api::host::NodeHealth, host::health)
        .on(api::host::NodePackages, host::packages)
        .on(api::host::NodeServices, host::services)
        .on(api::host::NodeLogs, host::logs)
        .on(api::host::NodeProcesses, host::processes)
        .on(api::host::NodeDisks, host::disks)
        .on(api::host::NodeUsers, host::users)
        .on(api::host::NodeDeedCheck, host::check)
        .on(api::host::NodeDeed, host::deed)
        .on(api::node_backup::NodeBackupCreate, node_backup::create)
        .on(api::node_backup::NodeBackupList, node_backup::list)
        .on(api::node_backup::NodeBackupGet, node_backup::get)
        .on(api::node_backup::NodeBackupFiles, node_backup::files)
        .on(api::node_backup::NodeBackupVerify, node_backup::verify)
        .on(api::node_backup::NodeBackupRestore, node_backup::restore)
        .on(api::node_backup::NodeBackupRemove, node_backup::remove)
        .on(api::node::JoinTokenList, node::token_list)
        .on(api::node::JoinTokenCreate, node::token_create)
        .on(api::node::JoinTokenRevoke, node::token_revoke)
        .on_public(api::node::Join, node::join)
        .on(api::task::TaskList, task::list)
        .on(api::task::TaskSubmit, task::submit)
        .on(api::task::TaskSubmitBatch, task::submit_batch)
        .on(api::task::TaskGet, task::get)
        .on(api::task::TaskKill, task::kill)
        .on(api::task::TaskPause, task::pause)
        .on(api::task::TaskResume, task::resume)
        .on(api::task::TaskRetry, task::retry)
        .on(api::task::ArrayList, array::list)
        .on(api::task::ArraySubmit, array::submit)
        .on(api::task::ArrayGet, array::get)
        .on(api::task::ArrayKill, array::kill)
        .on(api::task::QueueShow, array::queue)
        .on(api::task::AccountReport, array::accounts)
        .on(api::task::TaskRemove, task::remove)
        .on(api::task::TaskLogs, task::logs)
        .on(api::task::TaskExplain, task::explain)
        .on(api::task::RunList, task::runs)
        .on(api::workload::WorkloadList, workload::list)
        .on(api::workload::WorkloadGet, workload::get)
        .on(api::workload::WorkloadApply, workload::apply)
        .on(api::workload::WorkloadRemove, workload::remove)
        .on(api::workload::WorkloadStart, workload::start)
        .on(api::workload::WorkloadStop, workload::stop)
        .on(api::workload::WorkloadRestart, workload::restart)
        .on(api::workload::WorkloadRunList, workload::runs)
        .on(api::workload::WorkloadPlacementList, workload::placements)
        .on(api::workload::WorkloadLogs, workload::logs)
        .on(api::workload::WorkloadExec, workload::run_command)
        .on(api::workload::WorkloadExplain, workload::explain)
        .on(api::workload::WorkloadNext, workload::next)
        .on(api::workload::WorkloadUsage, workload::usage)
        .on(api::workload::NodeUsage, workload::node_usage)
        .on(api::image::ImageList, image::list)
        .on(api::image::ImageGet, image::get)
        .on(api::image::ImagePush, image::push)
        .on(api::image::ImageContent, image::content)
        .on(api::image::ImageNodes, image::nodes)
        .on(api::image::ImageRemove, image::remove)
        .on(api::image::ImageTake, image::take)
        .on(api::image::ImageSync, image::sync)
        .on(api::image::NodeImageList, image::on_node)
        .on(api::image::NodeImageRemove, image::remove_on_node)
        .on(api::image::NodeContainerList, image::containers)
        .on(api::image::NodeContainerRemove, image::container_remove)
        .on(api::image::NodeContainerFiles, image::container_files)
        .on(api::backup::BackupCreate, backup::create)
        .on(api::backup::BackupList, backup::list)
        .on(api::backup::BackupScheduleShow, backup::schedule)
        .on(api::backup::BackupScheduleRun, backup::run)
        .on(api::blob::BlobList, blob::list)
        .on(api::blob::ChunksMissing, blob::missing)
        .on(api::blob::ChunkPut, blob::put)
        .on(api::blob::BlobCommit, blob::commit)
        .on(api::blob::BlobGet, blob::get)
        .on(api::blob::BlobContent, blob::content)
        .on(api::blob::BlobRemove, blob::remove)
        .on(api::blob::SharedChunksMissing, blob::shared_missing)
        .on(api::blob::SharedChunkPut, blob::shared_put)
        .on(api::blob::TaskOutputList, blob::outputs)
        .on(api::workflow::WorkflowList, workflow::list)
        .on(api::workflow::WorkflowPush, workflow::push)
        .on(api::workflow::WorkflowGet, workflow::get)
        .on(api::workflow::WorkflowSource, workflow::source)
        .on(api::workflow::WorkflowVersionList, workflow::versions)
        .on(api::workflow::WorkflowRemove, workflow::remove)
        .on(api::workflow::WorkflowRun, workflow::run)
        .on(api::workflow::ExecutionList, workflow::executions)
        .on(api::workflow::ExecutionGet, workflow::execution_get)
        .on(api::workflow::ExecutionOutput, workflow::output)
        .on(api::workflow::ExecutionCancel, workflow::cancel)
        .on(api::workflow::ExecutionRetry, workflow::retry)
        .on(api::schedule::ScheduleList, schedule::list)
        .on(api::schedule::ScheduleGet, schedule::get)
        .on(api::schedule::ScheduleApply, schedule::apply)
        .on(api::schedule::ScheduleRemove, schedule::remove)
        .on(api::schedule::SchedulePause, schedule::pause)
        .on(api::schedule::ScheduleResume, schedule::resume)
        .on(api::schedule::ScheduleRun, schedule::run)
        .on(api::schedule::ScheduleNext, schedule::next)
        .on(api::schedule::ScheduleHistory, schedule::history)
        .on(api::schedule::SchedulePreview, schedule::preview)
        .on(api::watcher::WatcherList, watcher::list)
        .on(api::watcher::WatcherGet, watcher::get)
        .on(api::watcher::WatcherApply, watcher::apply)
        .on(api::watcher::WatcherRemove, watcher::remove)
        .on(api::watcher::WatcherEnable, watcher::enable)
        .on(api::watcher::WatcherDisable, watcher::disable)
        .on(api::module::ModuleList, module::list)
        .on(api::module::ModulePush, module::push)
        .on(api::module::ModuleGet, module::get)
        .on(api::module::ModuleSource, module::source)
        .on(api::module::ModuleVersionList, module::versions)
        .on(api::module::ModuleRemove, module::remove)
        .on(api::stack_plugin::StackPluginList, stack_plugin::list)
        .on(api::stack_plugin::StackPluginPush, stack_plugin::push)
        .on(api::stack_plugin::StackPluginGet, stack_plugin::get)
        .on(api::stack_plugin::StackPluginVersionList, stack_plugin::versions)
        .on(api::stack_plugin::StackPluginRemove, stack_plugin::remove)
        .on(api::stack::StackList, stack::list)
        .on(api::stack::StackCreate, stack::create)
        .on(api::stack::StackGet, stack::get)
        .on(api::stack::StackUpdate, stack::update)
        .on(api::stack::StackPatch, stack::patch)
        .on(api::stack::StackRemove, stack::remove)
        .on(api::stack::StackSuspend, stack::suspend)
        .on(api::stack::StackResume, stack::resume)
        .on(api::stack::StackCheck, stack::check)
        .on(api::stack::StackCancel, stack::cancel)
        .on(api::stack::StackOutputList, stack::outputs)
        .on(api::stack::StackEventList, stack::events)
        .on(api::stack::StackDefinitionGet, stack::definition)
        .on(api::stack_resource::StackResourceList, stack_resource::list)
        .on(api::stack_resource::StackResourceGet, stack_resource::get)
        .on(api::stack_resource::StackGraph, stack_resource::graph)
        .on(api::stack_resource::StackSignal, stack_resource::signal)
        .on(api::stack_resource::StackMark, stack_resource::mark)
        .on(api::stack_resource::StackHookList, stack_resource::hooks)
        .on(api::stack_resource::StackHookClear, stack_resource::hook_clear)
        .on(api::stack_plan::StackPlanList, stack_plan::list)
        .on(api::stack_plan::StackPlanCreate, stack_plan::create)
        .on(api::stack_plan::StackPlanGet, stack_plan::get)
        .on(api::stack_plan::StackPlanRemove, stack_plan::remove)
        .on(api::stack_plan::StackPlanApply, stack_plan::apply)
        .on(api::stack_plan::StackDriftDetect, stack_plan::drift_detect)
        .on(api::stack_plan::StackDriftGet, stack_plan::drift_get)
        .on(api::stack_point::StackRevisionList, stack_point::revisions)
        .on(api::stack_point::StackRevisionGet, stack_point::revision_get)
        .on(api::stack_point::StackSnapshotList, stack_point::snapshots)
        .on(api::stack_point::StackSnapshotCreate, stack_point::snapshot_create)
        .on(api::stack_point::StackSnapshotGet, stack_point::snapshot_get)
        .on(api::stack_point::StackSnapshotRemove, stack_point::snapshot_remove)
        .on(api::stack_point::StackCompare, stack_point::compare)
        .on(api::stack_point::StackRestore, stack_point::restore)
        .on(api::stack_point::StackExport, stack_point::export)
        .on(api::stack_point::StackAbandon, stack_point::abandon)
        .on(api::stack_point::StackAdopt, stack_point::adopt)
        .on(api::stack_lock::StackLockGet, stack_lock::get)
        .on(api::stack_lock::StackLockAcquire, stack_lock::acquire)
        .on(api::stack_lock::StackLockRenew, stack_lock::renew)
        .on(api::stack_lock::StackLockRelease, stack_lock::release)
        .on(api::stack_lock::StackLockForceRelease, stack_lock::force_release)
        .on(api::stack_check::StackTemplateCheck, stack_check::template)
        .on(api::stack_check::StackFormCheck, stack_check::form_checklist)
        .on(api::stack_check::StackChecklistAll, stack_check::checklists)
        .on(api::stack_check::StackChecklist, stack_check::stack_checklist)
        .on(api::stack_check::StackDependencies, stack_check::stack_dependencies)
        .on(api::stack_check::StackDependencyGraph, stack_check::dependency_graph)
        .on(api::stack_check::StackDependencyCheck, stack_check::dependency_check)
        .on(api::stack_check::StackDependencyOrder, stack_check::dependency_order)
        .on(api::stack_type::StackTypeList, stack_type::list)
        .on(api::stack_type::StackTypeGet, stack_type::get)
        .on(api::stack_type::StackEditionList, stack_type::editions)
        .on(api::secret::SecretList, secret::list)
        .on(api::secret::SecretGet, secret::get)
        .on(api::secret::SecretSet, secret::set)
        .on(api::secret::SecretGenerate, secret::generate)
        .on(api::secret::SecretLinkSet, secret::link)
        .on(api::secret::VaultList, secret::vaults)
        .on(api::secret::SecretRead, secret::read)
        .on(api::secret::SecretVersionList, secret::versions)
        .on(api::secret::SecretVersionDestroy, secret::destroy)
        .on(api::secret::SecretRemove, secret::remove)
        .on(api::secret::SecretRewrap, secret::rewrap)
        .on(api::lock::LockList, lock::list)
        .on(api::lock::LockGet, lock::get)
        .on(api::lock::LockAcquire, lock::acquire)
        .on(api::lock::LockRenew, lock::renew)
        .on(api::lock::LockRelease, lock::release)
        .on(api::lock::LockForceRelease, lock::force_release)
        .on(api::state::StateNamespaceList, state::namespaces)
        .on(api::state::StateNamespaceClear, state::clear)
        .on(api::state::StateList, state::list)
        .on(api::state::StateGet, state::get)
        .on(api::state::StateDelete, state::delete)
        .on(api::state::StateValueGet, state::value)
        .on(api::state::StatePut, state::put)
        .on(api::state::StateHistory, state::history)
        .on(api::state::StateCommit, state::commit)
        .on(api::state::StateStream, state_stream::open)
        .on(api::operation::OperationList, operation::list)
        .on(api::operation::OperationGet, operation::get)
        .on(api::operation::OperationCancel, operation::cancel)
        .on(api::record::EventList, record::events)
        .on(api::record::EventExport, record::export)
        .on(api::record::EventEmit, record::emit)
        .on(api::timeline::TimelineFind, timeline::find)
        .on(api::timeline::ProjectTimeline, timeline::of_project)
        .on(api::timeline::TimelineGet, timeline::of_all)
        .on(api::record::AuditList, audit::list)
        .on(api::record::AuditExport, audit::export)
        .on(api::record::AuditVerify, audit::verify)
        .on(api::record::AuditAnchorList, audit::anchors)
        .on(api::record::AuditAnchorCreate, audit::anchor)
        .on(api::record::AuditSinkList, audit::sinks)
}
