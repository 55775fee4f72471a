//! What a task is, by flags. Those that belong together share a heading in the help; a heading goes on
//! until the next, so flags without one come first.

use std::path::PathBuf;

use clap::Args;
use hostler_model::{
    After, Bytes, Constraint, ContainerNetwork, Cores, GpuRequest, Mount, Name, NumaRequest,
    PullPolicy, RetryOn, Span, StopSignal, Strategy, Target, Timestamp,
};

use super::grammar::{after, gpus, moment, mount, numa};
use super::labels_of;
use super::{FileArgs, SecretUseArgs};

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
    /// Working directory on the node, or in the container
    #[arg(long, value_name = "DIR")]
    pub workdir: Option<String>,
    /// Login name on the node, or in the container, to run as
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// Stop the task when it runs longer, such as 90s or 2h
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Signal that asks it to stop
    #[arg(long, value_name = "SIGNAL", value_parser = labels_of!(StopSignal), ignore_case = true)]
    pub stop_signal: Option<StopSignal>,
    /// How long to wait between the stop signal and SIGKILL
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
    /// Word to find it by, and for --together and --apart of others
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Program and arguments, run as they stand, without a shell
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        required_unless_present_any = ["file", "image"]
    )]
    pub command: Vec<String>,
    #[command(flatten)]
    pub resources: ResourceArgs,
    #[command(flatten)]
    pub placement: PlacementArgs,
    #[command(flatten)]
    pub queue: QueueRuleArgs,
    #[command(flatten)]
    pub container: ContainerArgs,
    #[command(flatten)]
    pub files: FileArgs,
    #[command(flatten)]
    pub secrets: SecretUseArgs,
}

/// What it reserves and what it may use.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Resources")]
pub struct ResourceArgs {
    /// Cores to reserve, such as 2 or 0.5
    #[arg(long, value_name = "N")]
    pub cores: Option<Cores>,
    /// Whole cores of its own, which nothing else uses meanwhile
    #[arg(long)]
    pub exclusive: bool,
    /// Memory to reserve, such as 512MiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Space to reserve on the disk of the agent's data
    #[arg(long, value_name = "SIZE")]
    pub disk: Option<Bytes>,
    /// GPUs: COUNT[:SHARE] and what they must be, such as 2, 1:0.5, 2,model=A100,memory=40GiB or
    /// ids=0,1
    #[arg(long, value_name = "GPUS", value_parser = gpus)]
    pub gpus: Option<GpuRequest>,
    /// Cores and memory of one NUMA node: its number, or `any`
    #[arg(long, value_name = "N|any", value_parser = numa)]
    pub numa: Option<NumaRequest>,
    /// Processor time that it may use at most, in cores
    #[arg(long, value_name = "N")]
    pub cpu_limit: Option<Cores>,
    /// Memory above which it is killed
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Bytes>,
}

/// Where it may run, and where it would rather run.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Placement")]
pub struct PlacementArgs {
    /// Only on this node
    #[arg(long, value_name = "NODE")]
    pub node: Option<Name>,
    /// A node, one of its NUMA nodes, some of its GPUs: NODE, NODE:NUMA or NODE[:NUMA]::GPU,GPU
    #[arg(long, value_name = "TARGET", conflicts_with = "node")]
    pub target: Option<Target>,
    /// Only on nodes with these labels
    #[arg(short = 'l', long, value_name = "KEY=VALUE,..", value_delimiter = ',')]
    pub selector: Vec<String>,
    /// Only on nodes for which this is true, such as 'kernel >= 6.1' or 'label.zone in (a, b)'
    #[arg(long = "constraint", value_name = "CONDITION")]
    pub constraints: Vec<Constraint>,
    /// Rather on nodes for which this is true; the more of these the better
    #[arg(long, value_name = "CONDITION")]
    pub prefer: Vec<Constraint>,
    /// Only where something with this tag is
    #[arg(long, value_name = "TAG")]
    pub together: Vec<String>,
    /// Never where something with this tag is
    #[arg(long, value_name = "TAG")]
    pub apart: Vec<String>,
    /// How to choose among the nodes that fit
    #[arg(long, value_name = "STRATEGY", value_parser = labels_of!(Strategy))]
    pub strategy: Option<Strategy>,
    /// Spread evenly over the values of this label instead of over nodes
    #[arg(long, value_name = "LABEL")]
    pub over: Option<String>,
    /// On the nodes nearest to this place, such as eu/berlin/rack3; nodes say where they are with the
    /// label `location`
    #[arg(long, value_name = "PLACE", conflicts_with = "over")]
    pub near: Option<String>,
}

/// How it waits for its turn, and what happens after a failure.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Queue")]
pub struct QueueRuleArgs {
    /// Higher goes first; -1000 to 1000, 0 when absent
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-1000..=1000)
    )]
    pub priority: Option<i32>,
    /// Wait until a task, or all tasks of an array, ended so: ok (when absent), any or fail
    #[arg(long, value_name = "TASK[:ok|any|fail]", value_parser = after)]
    pub after: Vec<After>,
    /// Not before this much time has passed
    #[arg(long, value_name = "DURATION", conflicts_with = "start_at")]
    pub delay: Option<Span>,
    /// Not before this time, such as 2026-01-31T22:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub start_at: Option<Timestamp>,
    /// Give it up when it has not begun this long after it could have
    #[arg(long, value_name = "DURATION", visible_alias = "give-up", alias = "deadline")]
    pub start_within: Option<Span>,
    /// Try again this often when it did not succeed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1000))]
    pub retries: Option<u32>,
    /// After which ends; failed, timed-out and lost when absent
    #[arg(
        long,
        value_name = "END,..",
        value_delimiter = ',',
        requires = "retries",
        value_parser = labels_of!(RetryOn)
    )]
    pub retry_on: Vec<RetryOn>,
    /// Wait before the first retry, doubled each time; 1s when absent
    #[arg(long, value_name = "DURATION", requires = "retries")]
    pub retry_delay: Option<Span>,
    /// It may be stopped, and put back into the queue, for one of higher priority
    #[arg(long)]
    pub preemptible: bool,
}

/// The container it runs in.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Container")]
pub struct ContainerArgs {
    /// Run in a container of this image, such as debian:12; without a command, the image's own
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// When to fetch the image
    #[arg(long, value_name = "WHEN", value_parser = labels_of!(PullPolicy))]
    pub pull: Option<PullPolicy>,
    /// Program to use instead of the image's entry point; '' for none
    #[arg(long, value_name = "PROGRAM")]
    pub entrypoint: Option<String>,
    /// Show it a directory or file of the node; only what the node's agent allows
    #[arg(long = "mount", value_name = "SOURCE:TARGET[:ro]", value_parser = mount)]
    pub mounts: Vec<Mount>,
    /// What network it sees
    #[arg(long, value_name = "NETWORK", value_parser = labels_of!(ContainerNetwork))]
    pub network: Option<ContainerNetwork>,
    /// Everything the node may; only where the node's agent allows it
    #[arg(long)]
    pub privileged: bool,
}
