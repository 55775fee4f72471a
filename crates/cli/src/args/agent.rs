//! Commands that become an agent, and those that talk to the one on this machine. They are handed to
//! the binary as data.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use clap::{Args, Subcommand};
use hostler_api::task::OutputStream;
use hostler_model::{Bytes, Name, Span, Timestamp};
use hostler_trust::JoinTicket;

use super::{AgentInstallArgs, AgentUninstallArgs, LogArgs, labels_of};

/// Run the agent, make this machine a node, or talk to its agent
#[derive(Args, Clone, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  hostler agent join TICKET --server https://control:7443
  hostler agent
  hostler agent up --standalone /etc/hostler/workloads
  hostler agent ls
  hostler agent logs web -f"
)]
pub struct AgentArgs {
    #[command(subcommand)]
    pub command: Option<AgentCommand>,
    #[command(flatten)]
    pub run: AgentRunArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AgentCommand {
    /// Run the agent of a machine that has joined
    #[command(
        after_help = "Examples:\n  hostler agent run\n  hostler agent run --data-dir /var/lib/hostler/node"
    )]
    Run(AgentRunArgs),
    Up(AgentUpArgs),
    Join(AgentJoinArgs),
    Install(AgentInstallArgs),
    Uninstall(AgentUninstallArgs),
    #[command(flatten)]
    Local(LocalCommand),
}

/// What the agent on this machine is asked over its local socket.
#[derive(Clone, Debug, Subcommand)]
pub enum LocalCommand {
    /// Show how the agent on this machine is
    #[command(
        after_help = "Examples:\n  hostler agent status\n  hostler agent status -o json --data-dir /var/lib/hostler/node"
    )]
    Status(AgentDataDir),
    /// List the workloads on this machine
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler agent ls\n  hostler agent ls -o wide\n  hostler agent ls -o json"
    )]
    Ls(AgentDataDir),
    /// Show a workload on this machine, what it is and how it stands
    #[command(after_help = "Examples:\n  hostler agent show web\n  hostler agent show web -o json")]
    Show(AgentWorkload),
    /// Start workloads
    #[command(
        after_help = "Examples:\n  hostler agent start web\n  hostler agent start web api\n\nA scheduled workload runs at once, and again when its time comes. Exits with 4 when one\nran and failed at once."
    )]
    Start(AgentWorkloads),
    /// Stop workloads; they stay stopped until they are started or changed
    #[command(
        after_help = "Examples:\n  hostler agent stop web\n  hostler agent stop web api\n\nExits with 9 when one does not end in its time; it goes on stopping."
    )]
    Stop(AgentWorkloads),
    /// Restart workloads
    #[command(
        after_help = "Examples:\n  hostler agent restart web\n  hostler agent restart web api"
    )]
    Restart(AgentWorkloads),
    Logs(AgentLogsArgs),
    /// List the ended runs of a workload, newest first
    #[command(
        after_help = "Examples:\n  hostler agent history backup\n  hostler agent history backup -o wide"
    )]
    History(AgentWorkload),
    Exec(AgentExecArgs),
    /// Read the workload files again and apply what changed
    #[command(
        after_help = "Examples:\n  hostler agent reload\n\nOnly what changed is touched. When a file is wrong, nothing is applied, every mistake is\nprinted, and what ran before runs on; exits with 2."
    )]
    Reload(AgentDataDir),
    Shutdown(AgentShutdownArgs),
    /// Print metrics in the form that Prometheus reads
    #[command(after_help = "Examples:\n  hostler agent metrics")]
    Metrics(AgentDataDir),
    Next(AgentNextArgs),
    Validate(AgentValidateArgs),
}

/// Where an agent keeps its things.
#[derive(Args, Clone, Debug, Default)]
pub struct AgentDataDir {
    /// Where the agent keeps its certificate, its ledger and its runs
    #[arg(long, value_name = "DIR", env = "HOSTLER_AGENT_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
}

#[derive(Args, Clone, Debug, Default)]
pub struct AgentRunArgs {
    #[command(flatten)]
    pub place: AgentDataDir,
    #[command(flatten)]
    pub http: AgentHttpArgs,
    #[command(flatten)]
    pub edge: AgentEdgeArgs,
    #[command(flatten)]
    pub containers: AgentContainerArgs,
    /// Collector for traces (OTLP over gRPC), such as http://127.0.0.1:4317
    #[arg(long, value_name = "URL", env = "HOSTLER_OTLP", hide_env_values = true)]
    pub otlp: Option<String>,
    #[command(flatten)]
    pub log: LogArgs,
}

/// Run an agent that needs no server
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent up --standalone /etc/hostler/workloads
  hostler agent up --standalone ./workloads --data-dir ./.hostler --on-stop stop
  hostler agent up --standalone ./workloads --http --http-token-file ./token

It goes on in the foreground until it is interrupted. SIGHUP and `hostler agent reload` read the
files again. Files with mistakes are refused as a whole: at the first start with exit code 2,
later while what ran before runs on.")]
pub struct AgentUpArgs {
    /// Directory with workload files, the only source of what runs
    #[arg(long, value_name = "DIR")]
    pub standalone: PathBuf,
    /// Working directory of workloads in Master Control's form; the directory's parent when absent
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// What becomes of workloads when the agent stops: they go on, or stop too
    #[arg(long, value_name = "POLICY", value_parser = ["leave", "stop"], default_value = "leave")]
    pub on_stop: String,
    #[command(flatten)]
    pub run: AgentRunArgs,
}

/// What a machine at the edge is spared.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct AgentEdgeArgs {
    /// The most that agent and shims should write to disk in a day, such as 200MiB; when it is used up
    /// they warn, and write what can wait later
    #[arg(long, value_name = "SIZE", env = "HOSTLER_AGENT_WRITE_BUDGET", hide_env_values = true)]
    pub write_budget: Option<Bytes>,
    /// How much fetched content (images, files of tasks) is kept for the next time; 4GiB when absent
    #[arg(long, value_name = "SIZE", env = "HOSTLER_AGENT_CONTENT_CACHE", hide_env_values = true)]
    pub content_cache: Option<Bytes>,
    /// The link to the server is paid for by what it carries: send less, and compressed
    #[arg(
        long,
        env = "HOSTLER_AGENT_METERED",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub metered: bool,
}

/// What the machine's container engine may be used for.
#[derive(Args, Clone, Debug, Default)]
pub struct AgentContainerArgs {
    /// Socket of the container engine; /var/run/docker.sock when absent
    #[arg(long, value_name = "SOCKET", env = "HOSTLER_AGENT_ENGINE", hide_env_values = true)]
    pub engine: Option<PathBuf>,
    /// Directory that containers may mount, and what is below it; repeat it, or separate them by `:`
    #[arg(
        long = "allow-mount",
        value_name = "DIR",
        env = "HOSTLER_AGENT_ALLOW_MOUNT",
        hide_env_values = true,
        value_delimiter = ':'
    )]
    pub allow_mounts: Vec<PathBuf>,
    /// Run privileged containers too; they can do everything that root can
    #[arg(
        long,
        env = "HOSTLER_AGENT_ALLOW_PRIVILEGED",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub allow_privileged: bool,
    /// How long versions of images that Hostler keeps stay here when there are newer ones and nothing uses
    /// them; 7d when absent
    #[arg(
        long,
        value_name = "TIME",
        env = "HOSTLER_AGENT_IMAGE_RETENTION",
        hide_env_values = true
    )]
    pub image_retention: Option<Span>,
}

#[derive(Args, Clone, Debug, Default)]
pub struct AgentHttpArgs {
    /// Serve a local HTTP API, at 127.0.0.1:9100 when no address is given
    #[arg(
        long,
        value_name = "IP:PORT",
        env = "HOSTLER_AGENT_HTTP",
        hide_env_values = true,
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:9100"
    )]
    pub http: Option<SocketAddr>,
    /// File with the token that its clients must show; HOSTLER_AGENT_HTTP_TOKEN holds the token itself
    #[arg(
        long,
        value_name = "FILE",
        env = "HOSTLER_AGENT_HTTP_TOKEN_FILE",
        hide_env_values = true
    )]
    pub http_token_file: Option<PathBuf>,
}

/// Make this machine a node
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent join TICKET --server https://control:7443
  hostler agent join - --server https://control:7443 --name web-1 < ticket

`hostler node token create` makes the ticket and prints the whole command.")]
pub struct AgentJoinArgs {
    /// Ticket from `hostler node token create`; `-` reads it from stdin
    #[arg(value_name = "TICKET")]
    pub ticket: String,
    /// Server to join, such as https://control:7443
    #[arg(long, value_name = "URL")]
    pub server: String,
    /// Name of the node; the ticket's, or the machine's own when absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    #[command(flatten)]
    pub place: AgentDataDir,
    /// Join as a new node although this machine has joined before, or ran workloads without a server
    #[arg(long)]
    pub force: bool,
}

impl AgentJoinArgs {
    /// The ticket, read from stdin where `-` was given.
    pub fn read_ticket(&self) -> anyhow::Result<JoinTicket> {
        let text = if self.ticket == "-" {
            std::io::read_to_string(std::io::stdin()).context("read the ticket from stdin")?
        } else {
            self.ticket.clone()
        };
        Ok(text.trim().parse()?)
    }
}

#[derive(Args, Clone, Debug)]
pub struct AgentWorkload {
    /// Name of the workload
    #[arg(value_name = "WORKLOAD")]
    pub name: String,
    #[command(flatten)]
    pub place: AgentDataDir,
}

#[derive(Args, Clone, Debug)]
pub struct AgentWorkloads {
    /// Names of the workloads
    #[arg(value_name = "WORKLOAD", required = true)]
    pub names: Vec<String>,
    #[command(flatten)]
    pub place: AgentDataDir,
}

/// Print a workload's output, that of its runs one after the other
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent logs web
  hostler agent logs web -f --tail 20
  hostler agent logs web --since 1h --grep 'timeout|refused' -t
  hostler agent logs web --since 2026-01-31T12:00:00Z --until 2026-01-31T13:00:00Z -o jsonl

What the workload wrote to stdout comes on stdout, what it wrote to stderr on stderr.")]
pub struct AgentLogsArgs {
    #[command(flatten)]
    pub workload: AgentWorkload,
    /// Go on with what comes, and into the next runs
    #[arg(short, long)]
    pub follow: bool,
    /// The last so many lines
    #[arg(short = 'n', long, visible_alias = "lines", value_name = "N")]
    pub tail: Option<usize>,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Only lines in which this regular expression is found
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Only lines in which it is not found
    #[arg(long, requires = "grep")]
    pub invert: bool,
    /// Only structured lines of this level or graver
    #[arg(long, value_name = "LEVEL", value_parser = ["trace", "debug", "info", "warn", "error", "fatal"])]
    pub level: Option<String>,
    /// Only this stream
    #[arg(long, value_name = "STREAM", value_parser = labels_of!(OutputStream))]
    pub stream: Option<OutputStream>,
    /// Begin lines with their time
    #[arg(short, long)]
    pub timestamps: bool,
}

/// A moment, or how long ago it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    At(Timestamp),
    Ago(Span),
}

impl When {
    pub fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            When::At(moment) => moment,
            When::Ago(span) => now.minus(span.duration()),
        }
    }
}

impl FromStr for When {
    type Err = String;
    fn from_str(text: &str) -> Result<When, String> {
        let ago = || text.parse().map(When::Ago);
        text.parse().map(When::At).or_else(|_| ago()).map_err(|_| {
            format!("`{text}` is no time; write 2026-01-31T12:00:00Z, or how long ago, such as 10m")
        })
    }
}

/// Run a command beside a workload: its user, directory, environment and limits
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent exec web -- ps
  hostler agent exec db --timeout 1m -- psql -c 'select 1'

Exits with the command's code, or 128 + signal. Ctrl-C ends the command.")]
pub struct AgentExecArgs {
    #[command(flatten)]
    pub workload: AgentWorkload,
    /// Kill the command when it takes longer
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Program and arguments, run as they stand, without a shell
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required = true)]
    pub command: Vec<String>,
}

/// Stop the agent
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent shutdown
  hostler agent shutdown --runs stop --timeout 2m
  hostler agent shutdown --no-wait

Workloads go on unless the agent was started with --on-stop stop, or this says otherwise. The next
start finds those that go on. Of those that were stopped with it, `forever` and `times` run again
and schedules wait for their next time; what runs `once` stays stopped until it is started, unless
its restart policy tries failures again.

Waits until the agent's process has ended, and with it what was to be stopped; exits with 9 when
--timeout is over before, while the agent goes on stopping.")]
pub struct AgentShutdownArgs {
    #[command(flatten)]
    pub place: AgentDataDir,
    /// What becomes of workloads: they go on, or stop too
    #[arg(long, value_name = "POLICY", value_parser = ["leave", "stop"])]
    pub runs: Option<String>,
    /// Do not wait until everything has stopped
    #[arg(long, conflicts_with = "timeout")]
    pub no_wait: bool,
    /// Wait no longer than this
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

/// Show when a scheduled workload will run
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent next backup
  hostler agent next backup -n 30 -o json")]
pub struct AgentNextArgs {
    #[command(flatten)]
    pub workload: AgentWorkload,
    /// How many times
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub count: usize,
}

/// Check workload files, without an agent
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler agent validate /etc/hostler/workloads

Prints every mistake with its place and exits with 2 when there are any.")]
pub struct AgentValidateArgs {
    /// Directory with workload files
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}
