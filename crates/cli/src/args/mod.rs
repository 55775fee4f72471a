//! The command line as types: every noun, verb, flag and word of help. Nothing here does anything.

mod access;
mod agent;
mod approval;
mod audit;
mod authority;
mod backup;
mod few;
mod files;
mod grammar;
mod hook;
mod host;
mod image;
mod import;
mod install;
mod lock;
mod machine;
mod module;
mod node;
mod node_backup;
mod people;
mod queue;
mod record;
mod role;
mod schedule;
mod secret;
mod session;
mod spec;
mod stack;
mod stack_part;
mod stack_plugin;
mod state;
mod system;
mod task;
mod timeline;
mod watcher;
mod workflow;
mod workload;

pub use access::{
    MembersArgs, PasswordArgs, ProjectCommand, ProjectCreateArgs, ProjectEditArgs, ProjectRef,
    ProjectRefs, ShareArgs, TokenCommand, TokenCreateArgs, UserCommand, UserCreateArgs,
    UserPasswdArgs, UserRefs,
};
pub use agent::{
    AgentArgs, AgentCommand, AgentContainerArgs, AgentDataDir, AgentExecArgs, AgentHttpArgs,
    AgentJoinArgs, AgentLogsArgs, AgentNextArgs, AgentRunArgs, AgentShutdownArgs, AgentUpArgs,
    AgentValidateArgs, AgentWorkload, AgentWorkloads, LocalCommand, When,
};
pub use approval::{
    ApprovalApproveArgs, ApprovalCommand, ApprovalDenyArgs, ApprovalListArgs,
    ApprovalPolicyCommand, ApprovalPolicySetArgs, PolicyPlace,
};
pub use audit::{
    AuditAnchorsArgs, AuditCommand, AuditExportArgs, AuditListArgs, AuditSearchArgs,
    AuditVerifyArgs,
};
pub use authority::CaCommand;
pub use backup::{
    BackupCommand, BackupCreateArgs, BackupKeyArgs, BackupListArgs, BackupRestoreArgs,
    BackupScheduleArgs, BackupStoreArgs, BackupVerifyArgs,
};
pub use few::few;
pub use files::{BlobCommand, FileArgs, LocalInput, TaskDownloadArgs, outputs_as_kept};
pub use grammar::Limit;
pub use hook::{HookAddArgs, HookArgs, HookCommand, HookPlace};
pub use host::{
    LogArgs, ServerArgs, ServerCommand, ServerMigrateArgs, ServerOptions, ServerRekeyArgs,
    ServerRunArgs, UpArgs,
};
pub use image::{
    ContainerCommand, ContainerCommitArgs, ContainerExportArgs, ImageArg, ImageCommand,
    ImageExportArgs, ImageListArgs, ImagePushArgs, ImageRemoveArgs, ImageSyncArgs,
};
pub use import::{
    ImportCommand, ImportComposeArgs, ImportCrontabArgs, ImportFilesArgs, ImportProcfileArgs,
};
pub use install::{
    AgentInstallArgs, AgentUninstallArgs, InstallOptions, ServerInstallArgs, ServerUninstallArgs,
};
pub use lock::{
    LockAcquireArgs, LockArg, LockCommand, LockForceArgs, LockHoldArg, LockLeadArgs, LockListArgs,
    LockRunArgs, LockTryArgs, LockWishArgs, OnLost,
};
pub use machine::{
    ChoiceArgs, DeedArgs, MachineUserAddArgs, MachineUserArgs, MachineUserGroupsArgs,
    MachineUserKeyArgs, MachineUserRemoveArgs, NodeDiskArgs, NodeHealthArgs, NodeLogsArgs,
    NodePackagesCommand, NodeProcessesCommand, NodeServicesCommand, NodeUsersCommand, NodesArgs,
    OnArgs, PackagesInstallArgs, PackagesListArgs, PackagesRemoveArgs, PackagesSearchArgs,
    PackagesUpgradeArgs, ProcessKillArgs, ProcessesListArgs, ServiceDeedArgs, ServiceStatusArgs,
    ServicesListArgs, UsersListArgs,
};
pub use module::{ModuleCommand, ModuleListArgs, ModulePushArgs, ModuleShowArgs};
pub use node::{
    CordonArgs, DrainArgs, JoinTokenCommand, JoinTokenCreateArgs, LabelArgs, NodeCommand,
    NodeListArgs, NodeRef, NodeRefs, NodeUsageArgs,
};
pub use node_backup::{
    NodeBackupArg, NodeBackupCommand, NodeBackupCreateArgs, NodeBackupFilesArgs,
    NodeBackupListArgs, NodeBackupRefs, NodeBackupRestoreArgs, NodeBackupVerifyArgs,
};
pub use people::{
    InvitationCommand, InvitationRefs, InvitationScope, SessionCommand, SessionListArgs,
    SessionRemoveArgs, TotpCommand, TotpConfirmArgs, TotpDisableArgs, TotpEnrolArgs,
    UserIdentityCommand, UserInviteArgs, UserResetArgs,
};
pub use queue::{
    AccountArgs, ArrayCommand, ArrayKillArgs, ArrayLogsArgs, ArrayRef, ArrayTasksArgs,
    ArrayWaitArgs,
};
pub use record::{
    EventCommand, EventEmitArgs, EventExportArgs, EventFilterArgs, EventListArgs, EventObject,
    OperationCommand, OperationListArgs, OperationWaitArgs,
};
pub use role::{
    AuthAskArgs, AuthCommand, GroupCommand, GroupCreateArgs, GroupMembersArgs, RoleCommand,
    RoleCreateArgs, RoleEditArgs,
};
pub use schedule::{
    CordonTargetArgs, DrainTargetArgs, HttpTargetArgs, ScheduleAddArgs, ScheduleCommand,
    ScheduleHistoryArgs, ScheduleNextArgs, SchedulePauseArgs, ScheduleRef, ScheduleRefs,
    TargetCommand, WorkflowTargetArgs, WorkloadTargetArgs,
};
pub use secret::{
    SecretArg, SecretCommand, SecretLinkArgs, SecretListArgs, SecretRotateArgs, SecretSetArgs,
    SecretUseArgs, SecretValueArgs,
};
pub use session::{ContextCommand, LoginArgs};
pub use spec::{ContainerArgs, PlacementArgs, QueueRuleArgs, ResourceArgs, SpecArgs};
pub use stack::{
    StackAdoptArgs, StackApplyArgs, StackAskArgs, StackCancelArgs, StackCommand, StackEventsArgs,
    StackGivenArgs, StackGraphArgs, StackHistoryArgs, StackImportArgs, StackListArgs,
    StackMarkArgs, StackOptionArgs, StackOutputsArgs, StackPlanArgs, StackRef, StackRemoveArgs,
    StackResourceRef, StackResourcesArgs, StackSignalArgs, StackTypeArgs, StackValidateArgs,
    StackWaitArgs, StackWhyArgs,
};
pub use stack_part::{
    StackDepsCommand, StackDriftCommand, StackFixArgs, StackHookCommand, StackLockAcquireArgs,
    StackLockCommand, StackRevisionCommand, StackRevisionRef, StackRevisionRestoreArgs,
    StackSnapshotCommand, StackSnapshotCreateArgs, StackSnapshotRef, StackSnapshotRestoreArgs,
};
pub use stack_plugin::{
    StackPluginCommand, StackPluginPushArgs, StackPluginRef, StackPluginTestArgs,
};
pub use state::{StateAt, StateCommand, StateEntryArgs, StateSetArgs, TimeLeft};
pub use system::{
    CompletionArgs, DebugCommand, DoctorArgs, ExplainArgs, HelpArgs, MetricsArgs, ShellName,
};
pub use task::{
    LogsArgs, RunArgs, SubmitArgs, TaskCommand, TaskKillArgs, TaskListArgs, TaskRef, TaskRefs,
    TaskRemoveArgs, TaskRetryArgs, TaskWatchArgs, WaitArgs,
};
pub use timeline::TimelineArgs;
pub use watcher::{WatcherAddArgs, WatcherCommand, WatcherRef, WatcherRefs};
pub use workflow::{
    GraphFormat, WorkflowCommand, WorkflowExecutionsArgs, WorkflowFileArgs, WorkflowFmtArgs,
    WorkflowGraphArgs, WorkflowListArgs, WorkflowLogsArgs, WorkflowPushArgs, WorkflowResumeArgs,
    WorkflowRunArgs, WorkflowValidateArgs, files_as_workflows,
};
pub use workload::{
    PatienceArgs, WorkloadApplyArgs, WorkloadCommand, WorkloadExecArgs, WorkloadHistoryArgs,
    WorkloadListArgs, WorkloadLogsArgs, WorkloadNextArgs, WorkloadRef, WorkloadRefs,
    WorkloadUsageArgs, WorkloadValidateArgs, WorkloadWatchArgs,
};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hostler_api::PageQuery;
use hostler_model::Limit as PageLimit;

use crate::output::Format;

/// Makes a parser that offers the labels of an enum made with `labels!`.
macro_rules! labels_of {
    ($t:ty) => {
        clap::builder::TypedValueParser::map(
            clap::builder::PossibleValuesParser::new(<$t>::ALL.iter().map(|value| value.label())),
            |text| text.parse::<$t>().expect("only known labels get through"),
        )
    };
}
pub(crate) use labels_of;

/// Tends hosts: one binary is the control plane, the agent on every machine, and this command line.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "hostler",
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "\
Examples:
  hostler up                              a control plane and a node on this machine
  hostler run -- sh -c 'echo hi; exit 3'  run a task; its output and exit code are yours
  hostler task ls                         what runs and what ran
  hostler explain TASK                    why a task is where it is
  hostler doctor                          what is wrong with the setup

Data goes to stdout, talk to stderr. Exit codes: 0 success, 1 failure, 2 usage, 3 not found,
4 ended unhealthy, 5 conflict, 6 denied, 8 unreachable, 9 timed out while waiting, 12 lock lost;
`run` passes on the task's own code, or 128 + signal."
)]
pub struct Cli {
    #[command(flatten)]
    pub globals: Globals,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// How to print: table, wide, json, jsonl, yaml, name, jsonpath=EXPRESSION or template=TEMPLATE
    #[arg(
        short,
        long,
        global = true,
        value_name = "FORMAT",
        env = "HOSTLER_OUTPUT",
        hide_env_values = true
    )]
    pub output: Option<Format>,
    /// Context to use instead of the current one
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "HOSTLER_CONTEXT",
        hide_env_values = true
    )]
    pub context: Option<String>,
    /// Project to work in
    #[arg(
        short,
        long,
        global = true,
        value_name = "NAME",
        env = "HOSTLER_PROJECT",
        hide_env_values = true
    )]
    pub project: Option<String>,
    /// Server to talk to, such as https://host:7443
    #[arg(long, global = true, value_name = "URL", env = "HOSTLER_ADDR", hide_env_values = true)]
    pub address: Option<String>,
    /// File with the certificate of the authority to trust
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "HOSTLER_CACERT",
        hide_env_values = true
    )]
    pub cacert: Option<PathBuf>,
    /// File with the token to use; HOSTLER_TOKEN holds the token itself
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "HOSTLER_TOKEN_FILE",
        hide_env_values = true
    )]
    pub token_file: Option<PathBuf>,
    /// Print ids only, and no talk
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Answer yes to every question
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Never ask; fail where an answer would be needed
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Do what needs an approval, with this one
    #[arg(long, global = true, value_name = "ID")]
    pub approval: Option<hostler_model::ApprovalId>,
    /// Do what needs an approval without one, for this reason; everybody is told
    #[arg(long, global = true, value_name = "REASON", conflicts_with = "approval")]
    pub break_glass: Option<String>,
    /// No colours; NO_COLOR does the same
    #[arg(long, global = true)]
    pub no_color: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    Up(Box<UpArgs>),
    Server(Box<ServerArgs>),
    Agent(Box<AgentArgs>),

    Run(Box<RunArgs>),
    Logs(LogsArgs),
    Wait(WaitArgs),
    Explain(ExplainArgs),
    /// Tasks: commands that run once, on a node that has room
    #[command(subcommand)]
    Task(TaskCommand),
    /// Show the queue: what waits in each project, what it holds, and whose turn is next
    #[command(
        after_help = "Examples:\n  hostler queue\n  hostler queue -p lab\n  hostler queue -o json\n\nWhose turn it is comes first. With -p only that project, otherwise all that you may see. What is\nheld stands before its quota, where there is one; `hostler task explain TASK` says why one waits."
    )]
    Queue,
    Account(AccountArgs),
    /// Workloads: what is kept on nodes as its file says, for ever, so often, or by the clock
    #[command(subcommand)]
    Workload(WorkloadCommand),
    /// Workflows: files that say which tasks depend on which, carried out here or on nodes
    #[command(subcommand)]
    Workflow(WorkflowCommand),
    /// Stacks: templates whose objects are made, changed and taken down together
    #[command(subcommand)]
    Stack(StackCommand),
    /// Schedules: what servers do by the clock
    #[command(subcommand)]
    Schedule(ScheduleCommand),
    /// Watchers: what nodes look at again and again, and tell of as events
    #[command(subcommand)]
    Watcher(WatcherCommand),
    /// Nodes: the machines
    #[command(subcommand)]
    Node(NodeCommand),
    /// Images that Hostler keeps for its nodes, and those that nodes have
    #[command(subcommand)]
    Image(ImageCommand),
    /// Containers of nodes
    #[command(subcommand)]
    Container(ContainerCommand),
    /// Content of a project: files that tasks find, and files that they left
    #[command(subcommand)]
    Blob(BlobCommand),
    /// Secrets: values that workloads are given when they start
    #[command(subcommand)]
    Secret(SecretCommand),
    /// Locks: who may go on, when several want the same
    #[command(subcommand)]
    Lock(LockCommand),
    /// State: small values that programs share, by key
    #[command(subcommand)]
    State(StateCommand),
    /// Operations: long changes that can be watched and cancelled
    #[command(subcommand)]
    Operation(OperationCommand),
    /// Events: what happened
    #[command(subcommand)]
    Event(EventCommand),
    Timeline(TimelineArgs),
    /// Event hooks: what is done whenever something happens
    #[command(subcommand)]
    Hook(HookCommand),

    /// Turn what other supervisors are told into workloads, and say what will not carry over
    #[command(subcommand)]
    Import(ImportCommand),

    /// Projects: the scopes that tasks and roles belong to
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Users and service accounts
    #[command(subcommand)]
    User(UserCommand),
    /// Groups: named sets of users that roles can be given to
    #[command(subcommand)]
    Group(GroupCommand),
    /// Roles: what somebody may do
    #[command(subcommand)]
    Role(RoleCommand),
    /// Invitations, by which people come to have an account
    #[command(subcommand)]
    Invitation(InvitationCommand),
    /// API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Who may do what, and why; and your second factor
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Approvals: what others have to agree to first
    #[command(subcommand)]
    Approval(ApprovalCommand),
    /// The audit trail: who changed what
    #[command(subcommand)]
    Audit(AuditCommand),
    /// The certificate authority that servers and nodes are of
    #[command(subcommand)]
    Ca(CaCommand),
    /// Backups of the whole control plane
    #[command(subcommand)]
    Backup(BackupCommand),

    Login(LoginArgs),
    /// Give the token back and forget it
    #[command(after_help = "Examples:\n  hostler logout\n  hostler logout --context staging")]
    Logout,
    /// Show who you are and what you may do
    #[command(after_help = "Examples:\n  hostler whoami\n  hostler whoami -o json")]
    Whoami,
    /// Sessions: browsers that are logged in
    #[command(subcommand)]
    Session(SessionCommand),
    /// Contexts: the servers this machine knows
    #[command(subcommand)]
    Context(ContextCommand),

    Doctor(DoctorArgs),
    Metrics(MetricsArgs),
    /// Look inside a server
    #[command(subcommand)]
    Debug(DebugCommand),
    /// Show the versions of this program and of the server
    #[command(after_help = "Examples:\n  hostler version\n  hostler version -o json")]
    Version,
    Completion(CompletionArgs),
    Help(HelpArgs),
}

/// How much of a list is wanted.
#[derive(Args, Clone, Debug, Default)]
pub struct LimitArgs {
    /// At most this many; all when absent
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// How much of a list, and what of it.
#[derive(Args, Clone, Debug, Default)]
pub struct ListArgs {
    /// At most this many; all when absent
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only those of which this expression holds, over the fields that -o json shows: 'name startsWith "web"'
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
}

impl ListArgs {
    /// Parameters of a list that takes nothing else.
    pub fn page(&self) -> PageQuery {
        PageQuery { limit: Some(PageLimit::MAX), filter: self.filter.clone(), cursor: None }
    }
}
