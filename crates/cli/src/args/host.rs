//! Commands that become a server, or a server and an agent. They are handed to the binary as data.
//!
//! Every option is optional here: what it means when absent is known to whoever carries it out. A flag
//! wins over the environment, which wins over the file given with `--config`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_base::log::LogFormat;
use hostler_model::Name;

use super::{AgentContainerArgs, ServerInstallArgs, ServerUninstallArgs, labels_of};

/// Start a control plane and a node on this machine
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler up
  hostler up --data-dir ./.hostler --listen 127.0.0.1:7443
  hostler up --name lab --agent-listen 0.0.0.0:7444

The first start prints a code with which the first admin is made. It goes on in the
foreground until it is interrupted; tasks that run then go on and are found again.")]
pub struct UpArgs {
    #[command(flatten)]
    pub options: ServerOptions,
    #[command(flatten)]
    pub containers: AgentContainerArgs,
    /// Do not print how to open the dashboard
    #[arg(long)]
    pub no_browser_hint: bool,
}

/// Run the control plane, prepare its database, or list its servers
#[derive(Args, Clone, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  hostler server
  hostler server run --database postgres://hostler@db/hostler --listen 0.0.0.0:7443
  hostler server migrate --config /etc/hostler/hostler.toml
  hostler server ls"
)]
pub struct ServerArgs {
    #[command(subcommand)]
    pub command: Option<ServerCommand>,
    #[command(flatten)]
    pub run: ServerRunArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ServerCommand {
    /// Run a server in the foreground
    #[command(
        after_help = "Examples:\n  hostler server run\n  hostler server run --config /etc/hostler/hostler.toml"
    )]
    Run(ServerRunArgs),
    /// Bring the database to the form this version needs, then end
    #[command(
        after_help = "Examples:\n  hostler server migrate\n  hostler server migrate --database postgres://hostler@db/hostler"
    )]
    Migrate(ServerMigrateArgs),
    Rekey(ServerRekeyArgs),
    Install(ServerInstallArgs),
    Uninstall(ServerUninstallArgs),
    /// List the servers of the control plane
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler server ls\n  hostler server ls -o wide"
    )]
    Ls,
}

#[derive(Args, Clone, Debug, Default)]
pub struct ServerRunArgs {
    #[command(flatten)]
    pub options: ServerOptions,
}

#[derive(Args, Clone, Debug, Default)]
pub struct ServerMigrateArgs {
    #[command(flatten)]
    pub options: ServerOptions,
}

/// Replace the master key in its file with a new one; the old one goes to a file beside it
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler server rekey
  hostler server rekey --config /etc/hostler/hostler.toml

Nothing in the database is touched. Afterwards:
  1. copy both files to every other server, and keep a copy elsewhere
  2. restart every server: from then on new values are sealed with the new key
  3. hostler secret rewrap: the rest is sealed with it too
  4. remove the file with the former keys, when rewrap says that nothing is left")]
pub struct ServerRekeyArgs {
    #[command(flatten)]
    pub options: ServerOptions,
}

/// What a server can be told on the command line; everything else is in its file or environment.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerOptions {
    /// TOML file with settings; docs/reference/config.md lists them
    #[arg(long, value_name = "FILE", env = "HOSTLER_SERVER_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Where everything is kept
    #[arg(long, value_name = "DIR", env = "HOSTLER_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
    /// PostgreSQL or CockroachDB to use instead of the database in the data directory
    #[arg(long, value_name = "URL", env = "HOSTLER_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// Where the API and the dashboard listen
    #[arg(long, value_name = "IP:PORT", env = "HOSTLER_LISTEN", hide_env_values = true)]
    pub listen: Option<SocketAddr>,
    /// Where agents connect
    #[arg(long, value_name = "IP:PORT", env = "HOSTLER_AGENT_LISTEN", hide_env_values = true)]
    pub agent_listen: Option<SocketAddr>,
    /// Host names and addresses under which others reach this server
    #[arg(
        long,
        value_name = "HOST",
        env = "HOSTLER_ADVERTISE",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub advertise: Vec<String>,
    /// Name of this server, and of its node with `up`; the machine's own name when absent
    #[arg(long, value_name = "NAME", env = "HOSTLER_NAME", hide_env_values = true)]
    pub name: Option<Name>,
    /// File with the master key that opens what is sealed in the database
    #[arg(long, value_name = "FILE", env = "HOSTLER_MASTER_KEY_FILE", hide_env_values = true)]
    pub master_key_file: Option<PathBuf>,
    /// Where metrics are served without login, besides the API
    #[arg(long, value_name = "IP:PORT", env = "HOSTLER_METRICS_LISTEN", hide_env_values = true)]
    pub metrics_listen: Option<SocketAddr>,
    /// Collector for traces (OTLP over gRPC), such as http://127.0.0.1:4317
    #[arg(long, value_name = "URL", env = "HOSTLER_OTLP", hide_env_values = true)]
    pub otlp: Option<String>,
    #[command(flatten)]
    pub log: LogArgs,
}

#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct LogArgs {
    /// What to log, such as `info` or `info,hostler_agent=debug`
    #[arg(long, value_name = "FILTER", env = "HOSTLER_LOG", hide_env_values = true)]
    pub log: Option<String>,
    /// How log lines look
    #[arg(long, value_name = "FORMAT", env = "HOSTLER_LOG_FORMAT", hide_env_values = true, value_parser = labels_of!(LogFormat))]
    pub log_format: Option<LogFormat>,
}
