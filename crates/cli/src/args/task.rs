//! Tasks.

use clap::{Args, Subcommand};
use hostler_api::task::OutputStream;
use hostler_model::{ArrayRange, Span, TaskStateKind};

use super::{ArrayCommand, ListArgs, SpecArgs, TaskDownloadArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum TaskCommand {
    Submit(Box<SubmitArgs>),
    /// List tasks, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler task ls\n  hostler task ls --state running -o wide\n  hostler task ls --array sweep --state failed\n  hostler task ls -o jsonpath='{.items[*].name}'"
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
        after_help = "Examples:\n  hostler task kill build\n  hostler task kill build --grace 1s\n  hostler task kill array/sweep\n  hostler task kill --all --yes"
    )]
    Kill(TaskKillArgs),
    /// Freeze tasks: they keep what they hold but get no processor time; those that wait are held back
    #[command(after_help = "Examples:\n  hostler task pause simulate")]
    Pause(TaskRefs),
    /// Let frozen tasks go on
    #[command(after_help = "Examples:\n  hostler task resume simulate")]
    Resume(TaskRefs),
    Retry(TaskRetryArgs),
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
    /// List what the runs of a task left, newest run first
    #[command(
        after_help = "Examples:\n  hostler task outputs train\n  hostler task outputs train -o wide"
    )]
    Outputs(TaskRef),
    Download(TaskDownloadArgs),
    /// Arrays: many tasks with one spec, told apart by their index; and gangs
    #[command(subcommand)]
    Array(ArrayCommand),
}

#[derive(Args, Clone, Debug)]
pub struct TaskRef {
    /// Name or id of the task
    #[arg(value_name = "TASK")]
    pub task: String,
}

#[derive(Args, Clone, Debug)]
pub struct TaskRefs {
    /// Names or ids of tasks
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,
}

/// Put tasks that failed, were stopped or lost back into the queue
#[derive(Args, Clone, Debug)]
#[command(
    group(clap::ArgGroup::new("which").required(true)),
    after_help = "\
Examples:
  hostler task retry build
  hostler task retry --array sweep

Works as often as you like, whatever `--retries` said. What a task did before stays in its runs."
)]
pub struct TaskRetryArgs {
    /// Names or ids of tasks
    #[arg(value_name = "TASK", group = "which")]
    pub tasks: Vec<String>,
    /// Every task of this array that ended otherwise than well
    #[arg(long, value_name = "ARRAY", group = "which")]
    pub array: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct TaskListArgs {
    /// Only tasks of this array
    #[arg(long, value_name = "ARRAY")]
    pub array: Option<String>,
    /// Only tasks in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(TaskStateKind))]
    pub state: Option<TaskStateKind>,
    #[command(flatten)]
    pub list: ListArgs,
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
    /// Names or ids of tasks; arrays as array/NAME
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

/// Submit a task, an array of tasks or a gang, and go on; prints its name
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler task submit -- make -j4
  hostler task submit --name build --cores 4 --memory 8GiB -l disk=ssd -- make -j4
  hostler task submit --gpus 2,model=A100 --image team/train:3 -- python train.py
  hostler task submit --target box1:0::0,1 -- ./simulate
  hostler task submit --after build --retries 3 --priority 10 -- ./publish
  hostler task submit --array 1-10000%50 --wait -- sh -c './step $HOSTLER_ARRAY_INDEX'
  hostler task submit --nodes 4 --gpus 8 -- ./train-together
  hostler task submit --input train.csv --keep 'model-*.bin' -- ./train train.csv
  hostler task submit -f task.yaml --wait

A file holds `name` and `spec`, with `range` for an array, or `tasks` with a list of these,
submitted all or none. Every task of an array knows its own index, every run of a gang its rank and
the others: `hostler help tasks` tells more.")]
pub struct SubmitArgs {
    /// Wait until it has ended; exits with 4 unless it, or every task of the array, completed
    #[arg(long)]
    pub wait: bool,
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Submit one task for each of these indexes, such as 1-100, 0-99:5 or 1,4,7-9; with %50 behind
    /// them, at most fifty at once
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, help_heading = "Many at once")]
    pub array: Option<ArrayRange>,
    /// Run on this many nodes at once, or not at all
    #[arg(
        long,
        value_name = "N",
        help_heading = "Many at once",
        conflicts_with = "array",
        value_parser = clap::value_parser!(u32).range(1..=1024)
    )]
    pub nodes: Option<u32>,
}

/// Run a task, or the workflows of a file
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler run -- sh -c 'echo hi; exit 3'
  hostler run --node web-1 -- uptime
  hostler run --cores 2 --timeout 1h -e SEED=7 -- ./simulate
  hostler run --gpus 1 --image pytorch/pytorch:latest -- python -c 'import torch'
  hostler run -f task.yaml
  hostler run release.sloth --set image.tag=v2

A file that ends with .sloth, .lua or .luau is a workflow: see `hostler workflow run --help`.
Exits with the task's code, or 128 + signal. Ctrl-C leaves the task running and says how
to go on; with --cancel-on-interrupt it stops the task.")]
pub struct RunArgs {
    /// Submit it and go on; prints its name
    #[arg(short, long)]
    pub detach: bool,
    /// Ctrl-C stops the task
    #[arg(long, conflicts_with = "detach")]
    pub cancel_on_interrupt: bool,
    #[command(flatten)]
    pub spec: SpecArgs,
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
  hostler wait array/sweep
  hostler wait operation/0192f3c4-0000-7000-8000-000000000000

Exits with 0 when all completed, 4 when one did not, 9 when the time is over; the work goes on.")]
pub struct WaitArgs {
    /// Names or ids of tasks; arrays as array/NAME, operations as operation/ID
    #[arg(value_name = "TASK", required = true)]
    pub tasks: Vec<String>,
    /// Wait no longer than this
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}
