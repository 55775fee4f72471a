//! Workloads.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_api::workload::WorkloadPhase;
use hostler_model::{ModeKind, OutputStream, RunId, Span};

use super::agent::When;
use super::{ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum WorkloadCommand {
    /// List workloads by name
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler workload ls\n  hostler workload ls --phase failed -o wide\n  hostler workload ls --mode schedule --tag nightly -o name"
    )]
    Ls(WorkloadListArgs),
    /// Show a workload in full
    #[command(
        after_help = "Examples:\n  hostler workload get web\n  hostler workload get web -o jsonpath='{.status.phase}'"
    )]
    Get(WorkloadRef),
    /// Tell about a workload: what it is, how it stands on every node and why, its runs and events
    #[command(visible_alias = "show", after_help = "Examples:\n  hostler workload describe web")]
    Describe(WorkloadRef),
    Apply(WorkloadApplyArgs),
    /// Check workload files without a server: every mistake, with its line
    #[command(
        after_help = "Examples:\n  hostler workload validate web.yaml\n  hostler workload validate ./workloads -o json\n\nExits with 2 when something is wrong. `hostler workload apply --dry-run` also compares with the server."
    )]
    Validate(WorkloadValidateArgs),
    /// Let workloads run (again)
    #[command(
        after_help = "Examples:\n  hostler workload start web\n  hostler workload start web queue --wait"
    )]
    Start(WorkloadRefs),
    /// Stop workloads everywhere and keep them stopped
    #[command(
        after_help = "Examples:\n  hostler workload stop web\n  hostler workload stop web --wait --timeout 1m"
    )]
    Stop(WorkloadRefs),
    /// Put new runs in place of those that are there
    #[command(after_help = "Examples:\n  hostler workload restart web --wait")]
    Restart(WorkloadRefs),
    Logs(WorkloadLogsArgs),
    Exec(WorkloadExecArgs),
    /// List the runs of a workload on all nodes, newest first
    #[command(
        visible_alias = "runs",
        after_help = "Examples:\n  hostler workload history web\n  hostler workload history web --limit 5 -o wide"
    )]
    History(WorkloadHistoryArgs),
    /// Say why a workload is where it is: every reason, for every node
    #[command(after_help = "Examples:\n  hostler workload explain web")]
    Explain(WorkloadRef),
    /// Show when a scheduled workload will run
    #[command(
        after_help = "Examples:\n  hostler workload next backup\n  hostler workload next backup --count 3 --node web-1 -o json\n\nStarts are as each node will make them: by its own time zone where the schedule says `local`,\nand put off by its share of the jitter."
    )]
    Next(WorkloadNextArgs),
    Usage(WorkloadUsageArgs),
    /// Print changes of workloads as they happen
    #[command(
        after_help = "Examples:\n  hostler workload watch\n  hostler workload watch web -o jsonl"
    )]
    Watch(WorkloadWatchArgs),
    /// Remove workloads: they are stopped everywhere, then forgotten
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler workload rm web\n  hostler workload rm web queue --wait"
    )]
    Rm(WorkloadRefs),
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadRef {
    /// Name or id of the workload
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadRefs {
    /// Names or ids of workloads
    #[arg(value_name = "WORKLOAD", required = true)]
    pub workloads: Vec<String>,
    #[command(flatten)]
    pub wait: PatienceArgs,
}

#[derive(Args, Clone, Debug, Default)]
pub struct PatienceArgs {
    /// Wait until it has come about; exits with 4 when it failed
    #[arg(long)]
    pub wait: bool,
    /// With --wait, no longer than this; exits with 9 then
    #[arg(long, value_name = "DURATION", requires = "wait")]
    pub timeout: Option<Span>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadListArgs {
    /// Only workloads of this mode
    #[arg(long, value_name = "MODE", value_parser = labels_of!(ModeKind))]
    pub mode: Option<ModeKind>,
    /// Only workloads that carry this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Only workloads that stand so
    #[arg(long, value_name = "PHASE", value_parser = labels_of!(WorkloadPhase))]
    pub phase: Option<WorkloadPhase>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Make workloads be as their files say
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workload apply -f web.yaml
  hostler workload apply -f ./workloads --dry-run
  hostler workload apply -f web.yaml --wait --timeout 2m
  hostler import procfile Procfile | hostler workload apply -f -

Files are read as a whole: when one of them is wrong, nothing is applied. What changes is shown as
`+ new` and `~ name: field old -> new`; what is not in the files stays as it is. --dry-run exits
with 10 when there are changes. --wait exits with 0 when all run and are healthy, wait for their
time or have completed, with 4 when one failed, and with 9 when the time is over.")]
pub struct WorkloadApplyArgs {
    /// YAML or JSON file, folder of such files, or `-` for stdin
    #[arg(short, long = "file", value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// Only show what would change
    #[arg(long, conflicts_with = "wait")]
    pub dry_run: bool,
    #[command(flatten)]
    pub wait: PatienceArgs,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadValidateArgs {
    /// YAML or JSON files, folders of such files, or `-` for stdin
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
}

/// Print a workload's output from all its nodes
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workload logs web
  hostler workload logs -f --tail 20 web
  hostler workload logs web --node web-1 --since 1h --grep 'timeout|refused' -t
  hostler workload logs web --since 2026-01-31T12:00:00Z --until 2026-01-31T13:00:00Z -o jsonl

Without --tail, --since, --until and --grep it is the output of the newest run on every node;
-f goes on from one run into the next. What the workload wrote to stdout comes on stdout, what
it wrote to stderr on stderr; lines begin with their node when there are several.")]
pub struct WorkloadLogsArgs {
    /// Name or id of the workload
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Go on with what comes, and into the next runs
    #[arg(short, long)]
    pub follow: bool,
    /// The last so many lines of each node
    #[arg(short = 'n', long, value_name = "N")]
    pub tail: Option<u32>,
    /// Only from this node
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Only of this run
    #[arg(long, value_name = "RUN")]
    pub run: Option<RunId>,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Only lines in which this regular expression is found
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Only this stream
    #[arg(long, value_name = "STREAM", value_parser = labels_of!(OutputStream))]
    pub stream: Option<OutputStream>,
    /// Begin lines with their time
    #[arg(short, long)]
    pub timestamps: bool,
}

/// Run a command beside a workload: its user, directory, environment and limits
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workload exec web -- ps
  hostler workload exec web --node web-1 --timeout 1m -- sh -c 'ls /proc/self/fd'
  echo 'select 1' | hostler workload exec db -i -- psql

Exits with the command's code, or 128 + signal. Ctrl-C ends the command. It is recorded in the
audit trail.")]
pub struct WorkloadExecArgs {
    /// Name or id of the workload
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// On this node; needed when the workload is on several
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Give it what stdin has here, read to its end first
    #[arg(short = 'i', long)]
    pub stdin: bool,
    /// Kill the command when it takes longer
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Program and arguments, run as they stand, without a shell
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required = true)]
    pub command: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadHistoryArgs {
    #[command(flatten)]
    pub workload: WorkloadRef,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadNextArgs {
    #[command(flatten)]
    pub workload: WorkloadRef,
    /// How many times to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub count: u32,
    /// Only on this node
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
}

/// Show what a workload has used over time
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workload usage web
  hostler workload usage web --node web-1 --since 1d
  hostler workload usage web -o jsonl

CPU is in cores, READ and WRITTEN are bytes a second, all on average; MEMORY and PIDS are the most
that was seen. A table puts neighbouring samples together, documents have each of them. Nodes keep
samples in memory alone: fine ones for hours, coarser ones for days, none from before their agent
began. What goes over the network is measured for whole nodes: `hostler node usage`.")]
pub struct WorkloadUsageArgs {
    #[command(flatten)]
    pub workload: WorkloadRef,
    /// On this node; needed when the workload is on several
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN", default_value = "1h")]
    pub since: When,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadWatchArgs {
    /// Only this workload
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<String>,
}
