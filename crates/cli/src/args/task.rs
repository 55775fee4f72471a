//! Tasks.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_api::task::OutputStream;
use hostler_model::{Bytes, Cores, Name, Span, StopSignal, TaskStateKind};

use super::{LimitArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum TaskCommand {
    Submit(Box<SubmitArgs>),
    /// List tasks, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler task ls\n  hostler task ls --state running -o wide\n  hostler task ls -o jsonpath='{.items[*].name}'"
    )]
    Ls(TaskListArgs),
    /// Show a task in full
    #[command(
        after_help = "Examples:\n  hostler task get build\n  hostler task get build -o jsonpath='{.status.state}'"
    )]
    Get(TaskRef),
    /// Tell about a task: what it is, where it is and why, its runs and events
    #[command(visible_alias = "show", after_help = "Examples:\n  hostler task describe build")]
    Describe(TaskRef),
    Logs(LogsArgs),
    Wait(WaitArgs),
    /// Stop tasks: their stop signal, then after the grace period SIGKILL
    #[command(
        after_help = "Examples:\n  hostler task kill build\n  hostler task kill build --grace 1s\n  hostler task kill --all --yes"
    )]
    Kill(TaskKillArgs),
    /// Remove tasks that have ended from the records
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler task rm build\n  hostler task rm --all --state failed"
    )]
    Rm(TaskRemoveArgs),
    /// Say why a task is where it is: every reason, for every node
    #[command(after_help = "Examples:\n  hostler task explain build")]
    Explain(TaskRef),
    /// Print changes of tasks as they happen
    #[command(after_help = "Examples:\n  hostler task watch\n  hostler task watch build -o jsonl")]
    Watch(TaskWatchArgs),
    /// List the runs of a task, newest first
    #[command(after_help = "Examples:\n  hostler task runs build")]
    Runs(TaskRef),
}

#[derive(Args, Clone, Debug)]
pub struct TaskRef {
    /// Name or id of the task
    #[arg(value_name = "TASK")]
    pub task: String,
}

#[derive(Args, Clone, Debug)]
pub struct TaskListArgs {
    /// Only tasks in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(TaskStateKind))]
    pub state: Option<TaskStateKind>,
    #[command(flatten)]
    pub limit: LimitArgs,
}

#[derive(Args, Clone, Debug)]
pub struct TaskWatchArgs {
    /// Only this task
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(clap::ArgGroup::new("which").required(true)))]
pub struct TaskKillArgs {
    /// Names or ids of tasks
    #[arg(value_name = "TASK", group = "which")]
    pub tasks: Vec<String>,
    /// Every task of the project that has not ended
    #[arg(long, group = "which")]
    pub all: bool,
    /// How long to wait between the stop signal and SIGKILL; the task's own when absent
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
}

#[derive(Args, Clone, Debug)]
#[command(group(clap::ArgGroup::new("which").required(true)))]
pub struct TaskRemoveArgs {
    /// Names or ids of tasks
    #[arg(value_name = "TASK", group = "which")]
    pub tasks: Vec<String>,
    /// Every task of the project that has ended
    #[arg(long, group = "which")]
    pub all: bool,
    /// With --all, only those in this state
    #[arg(long, value_name = "STATE", requires = "all", value_parser = labels_of!(TaskStateKind))]
    pub state: Option<TaskStateKind>,
}

/// What a task is, by flags, by a file, or both; flags win.
#[derive(Args, Clone, Debug, Default)]
pub struct SpecArgs {
    /// Name of the task; made from the command when absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// YAML or JSON file with `name` and `spec`; `-` is stdin
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Environment variable; without `=` its value is taken from here
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub env: Vec<String>,
    /// File with a KEY=VALUE on each line
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
    /// Working directory on the node
    #[arg(long, value_name = "DIR")]
    pub workdir: Option<String>,
    /// Login name on the node to run as
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// Stop the task when it runs longer, such as 90s or 2h
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Cores to reserve, such as 2 or 0.5
    #[arg(long, value_name = "N")]
    pub cores: Option<Cores>,
    /// Memory to reserve, such as 512MiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Only on this node
    #[arg(long, value_name = "NODE")]
    pub node: Option<Name>,
    /// Only on nodes with these labels
    #[arg(short = 'l', long, value_name = "KEY=VALUE,..", value_delimiter = ',')]
    pub selector: Vec<String>,
    /// Signal that asks it to stop
    #[arg(long, value_name = "SIGNAL", value_parser = labels_of!(StopSignal), ignore_case = true)]
    pub stop_signal: Option<StopSignal>,
    /// How long to wait between the stop signal and SIGKILL
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
    /// Program and arguments, run as they stand, without a shell
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required_unless_present = "file")]
    pub command: Vec<String>,
}

/// Submit a task and go on; prints its name
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler task submit -- make -j4
  hostler task submit --name build --cores 4 --memory 8GiB -l disk=ssd -- make -j4
  hostler task submit -f task.yaml --wait

A file holds `name` and `spec`, or `tasks` with a list of these, submitted all or none.")]
pub struct SubmitArgs {
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Wait until it has ended; exits with 4 unless it completed
    #[arg(long)]
    pub wait: bool,
}

/// Run a task: its output, its exit code
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler run -- sh -c 'echo hi; exit 3'
  hostler run --node web-1 -- uptime
  hostler run --cores 2 --timeout 1h -e SEED=7 -- ./simulate
  hostler run -f task.yaml

Exits with the task's code, or 128 + signal. Ctrl-C leaves the task running and says how
to go on; with --cancel-on-interrupt it stops the task.")]
pub struct RunArgs {
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Submit it and go on; prints its name
    #[arg(short, long)]
    pub detach: bool,
    /// Ctrl-C stops the task
    #[arg(long, conflicts_with = "detach")]
    pub cancel_on_interrupt: bool,
}

/// Print a task's output
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler logs build
  hostler logs -f build
  hostler logs --tail 20 --stream stderr build
  hostler logs build -o jsonl

What the task wrote to stdout comes on stdout, what it wrote to stderr on stderr.")]
pub struct LogsArgs {
    /// Name or id of the task
    #[arg(value_name = "TASK")]
    pub task: String,
    /// Go on until the task ends
    #[arg(short, long)]
    pub follow: bool,
    /// Begin this many lines before the end
    #[arg(long, value_name = "N")]
    pub tail: Option<u32>,
    /// Only this stream
    #[arg(long, value_name = "STREAM", value_parser = labels_of!(OutputStream))]
    pub stream: Option<OutputStream>,
}

/// Wait until tasks have ended
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler wait build
  hostler wait build test --timeout 10m
  hostler wait operation/0192f3c4-0000-7000-8000-000000000000

Exits with 0 when all completed, 4 when one did not, 9 when the time is over; the work goes on.")]
pub struct WaitArgs {
    /// Names or ids of tasks; operations as operation/ID
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,
    /// Wait no longer than this
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}
