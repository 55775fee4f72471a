//! The machines of nodes: looked at and looked after, one or many at once.

use clap::{Args, Subcommand};
use hostler_model::host::{ProcessOrder, ProcessSignal};

use super::agent::When;
use super::labels_of;

/// Which nodes are meant beside those that are named.
#[derive(Args, Clone, Debug, Default)]
pub struct ChoiceArgs {
    /// Nodes with these labels
    #[arg(short = 'l', long, value_name = "KEY=VALUE,..")]
    pub selector: Option<String>,
    /// All nodes
    #[arg(long)]
    pub all: bool,
    /// How many nodes are asked at the same time
    #[arg(long, value_name = "NUMBER", default_value = "32", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub together: u16,
}

/// Nodes by name, by label, or all of them.
#[derive(Args, Clone, Debug, Default)]
pub struct NodesArgs {
    /// Names or ids of nodes
    #[arg(value_name = "NODE")]
    pub nodes: Vec<String>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
}

/// The same where something else is named first.
#[derive(Args, Clone, Debug, Default)]
pub struct OnArgs {
    /// Names or ids of nodes
    #[arg(long = "on", value_name = "NODE,..", value_delimiter = ',')]
    pub nodes: Vec<String>,
    #[command(flatten)]
    pub choice: ChoiceArgs,
}

/// What is changed, and where.
#[derive(Args, Clone, Debug, Default)]
pub struct DeedArgs {
    #[command(flatten)]
    pub on: OnArgs,
    /// Only show what would change; exit code 10 where something would
    #[arg(long)]
    pub check: bool,
    /// Do not wait until it is done; prints the operations
    #[arg(long, conflicts_with = "check")]
    pub no_wait: bool,
}

/// Measure machines and judge them
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler node health web-1
  hostler node health --all
  hostler node health -l role=web -o json

Looks at load, memory, swap, disks, inodes, failed services, the clock, temperatures, the agent's
certificate and whether a restart is wanted. The exit code is 4 where something is critical.")]
pub struct NodeHealthArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NodePackagesCommand {
    /// List installed packages, or those that can be upgraded
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler node packages ls web-1 --filter ssl\n  hostler node packages ls --all --upgradable"
    )]
    Ls(PackagesListArgs),
    /// Search for packages, installed or not
    #[command(after_help = "Examples:\n  hostler node packages search nginx --on web-1")]
    Search(PackagesSearchArgs),
    /// Have packages
    #[command(
        after_help = "Examples:\n  hostler node packages install nginx curl --on web-1,web-2\n  hostler node packages install nginx -l role=web --check"
    )]
    Install(PackagesInstallArgs),
    /// Have packages no longer
    #[command(
        visible_alias = "rm",
        after_help = "Examples:\n  hostler node packages remove telnet --all --check\n  hostler node packages remove telnet --all --yes"
    )]
    Remove(PackagesRemoveArgs),
    /// Bring packages up to date: those that are named, or all
    #[command(
        after_help = "Examples:\n  hostler node packages upgrade --on web-1 --check\n  hostler node packages upgrade openssl --all"
    )]
    Upgrade(PackagesUpgradeArgs),
    /// Fetch the lists of packages anew
    #[command(after_help = "Examples:\n  hostler node packages refresh --all")]
    Refresh(DeedArgs),
}

#[derive(Args, Clone, Debug)]
pub struct PackagesListArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
    /// Only those that a newer version is known of
    #[arg(long)]
    pub upgradable: bool,
    /// Part of the name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct PackagesSearchArgs {
    /// Part of a name or of a description
    #[arg(value_name = "TEXT")]
    pub text: String,
    #[command(flatten)]
    pub on: OnArgs,
}

#[derive(Args, Clone, Debug)]
pub struct PackagesInstallArgs {
    /// Names of packages
    #[arg(value_name = "PACKAGE", required = true)]
    pub packages: Vec<String>,
    /// Fetch the lists of packages anew before
    #[arg(long)]
    pub refresh: bool,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Args, Clone, Debug)]
pub struct PackagesRemoveArgs {
    /// Names of packages
    #[arg(value_name = "PACKAGE", required = true)]
    pub packages: Vec<String>,
    /// Take files of the configuration too
    #[arg(long)]
    pub purge: bool,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Args, Clone, Debug)]
pub struct PackagesUpgradeArgs {
    /// Names of packages; all when there are none
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NodeServicesCommand {
    /// List services
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler node services ls web-1\n  hostler node services ls --all --state failed"
    )]
    Ls(ServicesListArgs),
    /// Show what the service manager says about a service
    #[command(after_help = "Examples:\n  hostler node services status nginx --on web-1")]
    Status(ServiceStatusArgs),
    /// Start a service where it does not run
    #[command(after_help = "Examples:\n  hostler node services start nginx -l role=web")]
    Start(ServiceDeedArgs),
    /// Stop a service where it runs
    #[command(after_help = "Examples:\n  hostler node services stop nginx --on web-1")]
    Stop(ServiceDeedArgs),
    /// Stop a service and start it again
    #[command(after_help = "Examples:\n  hostler node services restart nginx -l role=web")]
    Restart(ServiceDeedArgs),
    /// Make a service read its configuration again
    #[command(after_help = "Examples:\n  hostler node services reload nginx -l role=web")]
    Reload(ServiceDeedArgs),
    /// Have a service started at boot
    #[command(after_help = "Examples:\n  hostler node services enable nginx --all --check")]
    Enable(ServiceDeedArgs),
    /// Have a service started at boot no longer
    #[command(after_help = "Examples:\n  hostler node services disable nginx --on web-1")]
    Disable(ServiceDeedArgs),
}

#[derive(Args, Clone, Debug)]
pub struct ServicesListArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
    /// Only those in this state, such as running or failed
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Part of the name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct ServiceStatusArgs {
    /// Name of the service
    #[arg(value_name = "SERVICE")]
    pub service: String,
    #[command(flatten)]
    pub on: OnArgs,
}

#[derive(Args, Clone, Debug)]
pub struct ServiceDeedArgs {
    /// Name of the service
    #[arg(value_name = "SERVICE")]
    pub service: String,
    #[command(flatten)]
    pub deed: DeedArgs,
}

/// Read what machines wrote down: the journal, or files below /var/log
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler node logs web-1
  hostler node logs --all --service sshd --since 1h --grep 'Failed password'
  hostler node logs web-1 --file /var/log/nginx/error.log -n 20
  hostler node logs web-1 --kernel --priority 4

What tasks and workloads print is read with `hostler logs` and `hostler workload logs`.")]
pub struct NodeLogsArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
    /// Only what this service wrote
    #[arg(long, value_name = "SERVICE", conflicts_with_all = ["file", "kernel"])]
    pub service: Option<String>,
    /// A file below /var/log
    #[arg(long, value_name = "FILE", conflicts_with = "kernel")]
    pub file: Option<String>,
    /// The kernel's messages
    #[arg(long)]
    pub kernel: bool,
    /// So many of the last lines
    #[arg(short = 'n', long, value_name = "NUMBER", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub lines: u32,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// This priority and worse: 0 (emergency) to 7 (debug)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(0..=7))]
    pub priority: Option<u8>,
    /// Only lines that match this regular expression
    #[arg(long, value_name = "PATTERN")]
    pub grep: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NodeProcessesCommand {
    /// List processes
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler node processes ls web-1\n  hostler node processes ls --all --sort memory -n 5\n  hostler node processes ls web-1 --filter postgres"
    )]
    Ls(ProcessesListArgs),
    /// Send a signal to a process
    #[command(
        after_help = "Examples:\n  hostler node processes kill web-1 4711\n  hostler node processes kill web-1 4711 --signal hup --name nginx\n\nThe process is looked at first, and the signal reaches it only if it is still the same one then."
    )]
    Kill(ProcessKillArgs),
}

#[derive(Args, Clone, Debug)]
pub struct ProcessesListArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
    /// What comes first
    #[arg(long, value_name = "ORDER", default_value = "cpu", value_parser = labels_of!(ProcessOrder))]
    pub sort: ProcessOrder,
    /// Part of the name or of the command line
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Only those of this user
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// At most this many of each node
    #[arg(short = 'n', long, value_name = "NUMBER", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
}

#[derive(Args, Clone, Debug)]
pub struct ProcessKillArgs {
    /// Name or id of the node
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Number of the process
    #[arg(value_name = "PID")]
    pub pid: u32,
    /// Which signal
    #[arg(long, value_name = "SIGNAL", default_value = "term", value_parser = labels_of!(ProcessSignal))]
    pub signal: ProcessSignal,
    /// Only if it has this name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Only show what would be done
    #[arg(long)]
    pub check: bool,
}

/// Show file systems, and what fills them
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler node disk web-1
  hostler node disk --all
  hostler node disk web-1 --largest /var -n 10")]
pub struct NodeDiskArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
    /// The largest files and directories below this one
    #[arg(long, value_name = "DIRECTORY")]
    pub largest: Option<String>,
    /// At most this many of the largest
    #[arg(short = 'n', long, value_name = "NUMBER", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
}

#[derive(Clone, Debug, Subcommand)]
pub enum NodeUsersCommand {
    /// List users
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler node users ls web-1\n  hostler node users ls --all --filter deploy\n  hostler node users ls web-1 --system"
    )]
    Ls(UsersListArgs),
    /// Have a user, with what is told; what is not told is left alone
    #[command(
        after_help = "Examples:\n  hostler node users add deploy --on web-1 --shell /bin/bash --groups www-data\n  hostler node users add metrics --system --all --check"
    )]
    Add(MachineUserAddArgs),
    /// Have a user no longer
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler node users rm deploy --all --check\n  hostler node users rm deploy --all --home --yes"
    )]
    Rm(MachineUserRemoveArgs),
    /// Let nobody in with a user's password; keys still do
    #[command(after_help = "Examples:\n  hostler node users lock deploy --all")]
    Lock(MachineUserArgs),
    /// Let a user's password in again
    #[command(after_help = "Examples:\n  hostler node users unlock deploy --all")]
    Unlock(MachineUserArgs),
    /// Have a user in groups, beside its primary one
    #[command(
        after_help = "Examples:\n  hostler node users groups deploy www-data,docker --on web-1\n  hostler node users groups deploy www-data --exact --all"
    )]
    Groups(MachineUserGroupsArgs),
    /// Let a public key in as a user
    #[command(
        after_help = "Examples:\n  hostler node users key-add deploy ~/.ssh/id_ed25519.pub -l role=web"
    )]
    KeyAdd(MachineUserKeyArgs),
    /// Let a public key in no longer
    #[command(after_help = "Examples:\n  hostler node users key-rm deploy old.pub --all")]
    KeyRm(MachineUserKeyArgs),
}

#[derive(Args, Clone, Debug)]
pub struct UsersListArgs {
    #[command(flatten)]
    pub nodes: NodesArgs,
    /// The machine's own users too, such as daemon
    #[arg(long)]
    pub system: bool,
    /// Part of the name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct MachineUserArgs {
    /// Name of the user
    #[arg(value_name = "USER")]
    pub user: String,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Args, Clone, Debug)]
pub struct MachineUserAddArgs {
    /// Name of the user
    #[arg(value_name = "USER")]
    pub user: String,
    /// Its number
    #[arg(long, value_name = "NUMBER")]
    pub uid: Option<u32>,
    /// Its primary group
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Groups beside the primary one
    #[arg(long, value_name = "GROUP,..", value_delimiter = ',')]
    pub groups: Vec<String>,
    /// Its home
    #[arg(long, value_name = "DIRECTORY")]
    pub home: Option<String>,
    /// Its shell
    #[arg(long, value_name = "PROGRAM")]
    pub shell: Option<String>,
    /// Whose it is
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
    /// One of the machine's own, with a low number and no home
    #[arg(long)]
    pub system: bool,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Args, Clone, Debug)]
pub struct MachineUserRemoveArgs {
    /// Name of the user
    #[arg(value_name = "USER")]
    pub user: String,
    /// Take its home too
    #[arg(long)]
    pub home: bool,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Args, Clone, Debug)]
pub struct MachineUserGroupsArgs {
    /// Name of the user
    #[arg(value_name = "USER")]
    pub user: String,
    /// Groups
    #[arg(value_name = "GROUP,..", value_delimiter = ',', required = true)]
    pub groups: Vec<String>,
    /// In no others
    #[arg(long)]
    pub exact: bool,
    #[command(flatten)]
    pub deed: DeedArgs,
}

#[derive(Args, Clone, Debug)]
pub struct MachineUserKeyArgs {
    /// Name of the user
    #[arg(value_name = "USER")]
    pub user: String,
    /// A file with the public key
    #[arg(value_name = "FILE")]
    pub key: std::path::PathBuf,
    #[command(flatten)]
    pub deed: DeedArgs,
}
