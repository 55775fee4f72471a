//! Commands that make a server or an agent a service of this machine, and undo that. They are handed
//! to the binary as data.

use std::path::PathBuf;

use clap::Args;

use super::AgentDataDir;

/// How a service is installed, whatever it is.
#[derive(Args, Clone, Debug, Default)]
pub struct InstallOptions {
    /// Start it at once, or restart it where it runs
    #[arg(long, conflicts_with_all = ["print", "root"])]
    pub start: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub print: bool,
    /// Replace units that somebody has changed
    #[arg(long)]
    pub force: bool,
    /// Install below another root directory, such as that of an image; systemd is not asked
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Program that the unit starts; this one when absent
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
}

/// Make the agent a service that systemd starts and watches
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler agent install --start
  hostler agent install --standalone /etc/hostler/workloads --start
  hostler agent install --standalone /etc/hostler/workloads --print

Stopping or restarting the service leaves every workload alone. Needs root and systemd. Units that
are there with other content are shown and left as they are; --force replaces them.")]
pub struct AgentInstallArgs {
    /// Take workloads from this directory, and from no server
    #[arg(long, value_name = "DIR")]
    pub standalone: Option<PathBuf>,
    /// Run the agent, and so every workload, as this user instead of root
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    #[command(flatten)]
    pub place: AgentDataDir,
    #[command(flatten)]
    pub options: InstallOptions,
}

/// Remove the agent's service
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler agent uninstall
  hostler agent uninstall --stop-workloads --purge

Workloads go on unless --stop-workloads is given. Data stays unless --purge is given.")]
pub struct AgentUninstallArgs {
    /// Stop every workload first, each in its own way
    #[arg(long)]
    pub stop_workloads: bool,
    /// Remove the data directory: identity, ledger, output
    #[arg(long, requires = "stop_workloads")]
    pub purge: bool,
    #[command(flatten)]
    pub place: AgentDataDir,
}

/// Make the server a service that systemd starts and watches
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler server install --start
  hostler server install --print

It runs as a user of its own, hostler-server, which is made where it is missing, with its data in
/var/lib/hostler/server and its settings in /etc/hostler/hostler.toml. Needs root and systemd.")]
pub struct ServerInstallArgs {
    #[command(flatten)]
    pub options: InstallOptions,
}

/// Remove the server's service; its data stays
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:\n  hostler server uninstall")]
pub struct ServerUninstallArgs {}
