//! Schedules: when, and what.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::schedule::{Delivery, FireState};
use hostler_model::{BackupStore, CatchUp, HttpMethod, Name, Overlap, SecretRef, Span};

use super::{ListArgs, SpecArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum ScheduleCommand {
    Add(Box<ScheduleAddArgs>),
    /// List schedules by name
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler schedule ls\n  hostler schedule ls -o wide\n  hostler schedule ls -o jsonpath='{.items[*].name}'"
    )]
    Ls(ListArgs),
    /// Show a schedule: when it comes, what it does, in whose name, and what became of its last time
    #[command(
        visible_aliases = ["get", "describe"],
        after_help = "Examples:\n  hostler schedule show nightly\n  hostler schedule show nightly -o yaml"
    )]
    Show(ScheduleRef),
    /// Remove schedules with their history; what they made goes on
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler schedule rm nightly\n  hostler schedule rm nightly weekly"
    )]
    Rm(ScheduleRefs),
    /// Keep schedules from doing anything until they are resumed
    #[command(
        after_help = "Examples:\n  hostler schedule pause nightly --reason 'the disk is full'\n\nWhat would have come meanwhile is not made up for."
    )]
    Pause(SchedulePauseArgs),
    /// Let paused schedules go on from now
    #[command(after_help = "Examples:\n  hostler schedule resume nightly")]
    Resume(ScheduleRefs),
    /// Do now what a schedule is for, in its owner's name
    #[command(
        after_help = "Examples:\n  hostler schedule run nightly\n  hostler schedule run nightly -o json\n\nIts times stay as they are. It is done whatever still goes on of what came before, and also while\nthe schedule is paused."
    )]
    Run(ScheduleRef),
    /// Show when a schedule comes next, and where clocks are changed
    #[command(
        after_help = "Examples:\n  hostler schedule next nightly\n  hostler schedule next nightly -n 30"
    )]
    Next(ScheduleNextArgs),
    /// List what became of the times of a schedule, newest first, also of those that were missed
    #[command(
        after_help = "Examples:\n  hostler schedule history nightly\n  hostler schedule history nightly --state missed\n  hostler schedule history nightly --limit 20 -o json"
    )]
    History(ScheduleHistoryArgs),
}

#[derive(Args, Clone, Debug)]
pub struct ScheduleRef {
    /// Name or id of the schedule
    #[arg(value_name = "SCHEDULE")]
    pub schedule: String,
}

#[derive(Args, Clone, Debug)]
pub struct ScheduleRefs {
    /// Names or ids of schedules
    #[arg(value_name = "SCHEDULE", required = true)]
    pub schedules: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct SchedulePauseArgs {
    #[command(flatten)]
    pub which: ScheduleRefs,
    /// Why, for whoever finds it paused
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Args, Clone, Debug)]
pub struct ScheduleNextArgs {
    #[command(flatten)]
    pub which: ScheduleRef,
    /// How many times to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub count: u32,
}

#[derive(Args, Clone, Debug)]
pub struct ScheduleHistoryArgs {
    #[command(flatten)]
    pub which: ScheduleRef,
    /// Only those in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(FireState))]
    pub state: Option<FireState>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Make a schedule: when, and what is done then
#[derive(Args, Clone, Debug)]
#[command(
    subcommand_value_name = "TARGET",
    subcommand_help_heading = "Targets",
    group(clap::ArgGroup::new("when").args(["cron", "every", "at", "file"]).required(true)),
    after_help = "\
Examples:
  hostler schedule add nightly --cron '0 3 * * *' --zone Europe/Berlin task -- pg_dump -Fc shop
  hostler schedule add tidy --every 10m --jitter 1m --overlap skip task --image alpine -- ./tidy
  hostler schedule add cut-over --at 2026-12-01T03:00 --zone Europe/Berlin workflow release
  hostler schedule add refresh --cron @daily restart web
  hostler schedule add patches --cron '0 22 * * SAT' drain node-1 --reason patches --deadline 1h
  hostler schedule add ping --every 5m http https://ci.example/run --body '{}' --sign hook-key
  hostler schedule add nightly -f nightly.yaml --replace

Expressions of cron have five fields (minute hour day month weekday), or six with seconds first,
and are read in the zone. Intervals count from round times of UTC, or from --starts. It is done in
your name, with the rights that you have at that time."
)]
pub struct ScheduleAddArgs {
    /// Name of the schedule
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// By the clock, such as '0 3 * * *' or @daily
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: Option<String>,
    /// Again and again, such as 10m
    #[arg(long, value_name = "DURATION")]
    pub every: Option<Span>,
    /// Once, such as 2026-12-01T03:00 in the zone, or 2026-12-01T03:00:00Z
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// YAML or JSON file with the schedule; `-` is stdin
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Time zone in which times are read, such as Europe/Berlin [default: UTC]
    #[arg(long, visible_alias = "tz", value_name = "ZONE")]
    pub zone: Option<String>,
    /// Put each time off by up to this, differently each time
    #[arg(long, value_name = "DURATION")]
    pub jitter: Option<Span>,
    /// When what was begun before still goes on: forbid (or skip), allow, replace or queue [default: forbid]
    #[arg(long, value_name = "POLICY", value_parser = overlap)]
    pub overlap: Option<Overlap>,
    /// Of times that passed while no server was there: none, one (or last) or all [default: one]
    #[arg(long, value_name = "POLICY", value_parser = catch_up)]
    pub catch_up: Option<CatchUp>,
    /// How far back catching up looks [default: 1d]
    #[arg(long, value_name = "DURATION")]
    pub catch_up_window: Option<Span>,
    /// How many times at most are caught up with [default: 100]
    #[arg(long, value_name = "N")]
    pub catch_up_limit: Option<u32>,
    /// Nothing before this time
    #[arg(long, value_name = "TIME")]
    pub starts: Option<String>,
    /// Nothing after this time
    #[arg(long, value_name = "TIME")]
    pub ends: Option<String>,
    /// Of calls: what is done when nobody knows whether one was made [default: at-least-once]
    #[arg(long, value_name = "DELIVERY", value_parser = labels_of!(Delivery))]
    pub delivery: Option<Delivery>,
    /// What it is for, in words
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Change the schedule if there is one of this name
    #[arg(long)]
    pub replace: bool,
    /// Show when it would come, and make nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(subcommand)]
    pub target: Option<TargetCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum TargetCommand {
    /// Submit a task, as `hostler task submit` does
    #[command(
        after_help = "Examples:\n  hostler schedule add nightly --cron '0 3 * * *' task -- pg_dump -Fc shop"
    )]
    Task(Box<SpecArgs>),
    /// Carry out a workflow that the server keeps
    #[command(
        after_help = "Examples:\n  hostler schedule add weekly --cron @weekly workflow release --set env=prod"
    )]
    Workflow(WorkflowTargetArgs),
    /// Start a workload
    #[command(
        after_help = "Examples:\n  hostler schedule add mornings --cron '0 7 * * MON-FRI' start web"
    )]
    Start(WorkloadTargetArgs),
    /// Stop a workload
    #[command(
        after_help = "Examples:\n  hostler schedule add evenings --cron '0 19 * * MON-FRI' stop web"
    )]
    Stop(WorkloadTargetArgs),
    /// Restart a workload
    #[command(after_help = "Examples:\n  hostler schedule add refresh --cron @daily restart web")]
    Restart(WorkloadTargetArgs),
    /// Move everything away from a node
    #[command(
        after_help = "Examples:\n  hostler schedule add patches --cron '0 22 * * SAT' drain node-1 --reason patches --deadline 1h"
    )]
    Drain(DrainTargetArgs),
    /// Keep new work from a node
    #[command(
        after_help = "Examples:\n  hostler schedule add closing --cron '0 21 * * SAT' cordon node-1 --reason patches"
    )]
    Cordon(CordonTargetArgs),
    /// Let new work come to a node again
    #[command(
        after_help = "Examples:\n  hostler schedule add opening --cron '0 6 * * SUN' uncordon node-1"
    )]
    Uncordon {
        /// Name of the node
        #[arg(value_name = "NODE")]
        node: Name,
    },
    /// Bring an image to nodes
    #[command(
        after_help = "Examples:\n  hostler schedule add images --cron @daily image-sync web --node node-1"
    )]
    ImageSync {
        /// Name of the image, such as web or web:3
        #[arg(value_name = "IMAGE")]
        image: String,
        /// To this node; to all that have an engine when absent
        #[arg(long = "node", value_name = "NODE")]
        nodes: Vec<String>,
    },
    /// Keep what is on paths of a node
    #[command(
        after_help = "Examples:\n  hostler schedule add etc --cron @daily backup web-1 /etc /srv --label nightly --keep 7"
    )]
    Backup(BackupTargetArgs),
    /// Call an address outside
    #[command(
        after_help = "Examples:\n  hostler schedule add ping --every 5m http https://ci.example/run --body '{}' --sign hook-key"
    )]
    Http(HttpTargetArgs),
}

#[derive(Args, Clone, Debug)]
pub struct BackupTargetArgs {
    /// Name of the node
    #[arg(value_name = "NODE")]
    pub node: Name,
    /// Absolute paths of files and directories
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<String>,
    /// Leave out names, with `*` and `?`; with a `/` in it, whole paths; can be given again
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Also what lies on other file systems below the paths
    #[arg(long)]
    pub cross_filesystems: bool,
    /// Where it is kept: `server`, or a store of the servers' configuration
    #[arg(long, value_name = "STORE", default_value = "server")]
    pub store: BackupStore,
    /// A name; several backups can have the same
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub label: String,
    /// Keep so many of the node with this name
    #[arg(long, value_name = "N", requires = "label")]
    pub keep: Option<u32>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkflowTargetArgs {
    /// Name of the workflow
    #[arg(value_name = "WORKFLOW")]
    pub workflow: String,
    /// The version; the newest at that time when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub version: Option<u32>,
    /// YAML, JSON or TOML file with what the workflow sees as `values`; later files win
    #[arg(short = 'V', long, value_name = "FILE")]
    pub values: Vec<PathBuf>,
    /// One of the values, such as image.tag=v2; wins over files
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run on this node what does not say where it runs
    #[arg(short, long, value_name = "NODE")]
    pub delegate_to: Vec<String>,
    /// Secret that its tasks can ask for: NAME or ENVIRONMENT/NAME
    #[arg(long, value_name = "SECRET")]
    pub secret: Vec<SecretRef>,
}

#[derive(Args, Clone, Debug)]
pub struct WorkloadTargetArgs {
    /// Name of the workload
    #[arg(value_name = "WORKLOAD")]
    pub workload: Name,
}

#[derive(Args, Clone, Debug)]
pub struct DrainTargetArgs {
    #[command(flatten)]
    pub node: CordonTargetArgs,
    /// Stop what still runs after this long
    #[arg(long, value_name = "DURATION")]
    pub deadline: Option<Span>,
}

#[derive(Args, Clone, Debug)]
pub struct CordonTargetArgs {
    /// Name of the node
    #[arg(value_name = "NODE")]
    pub node: Name,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Args, Clone, Debug)]
pub struct HttpTargetArgs {
    /// The address
    #[arg(value_name = "URL")]
    pub url: String,
    /// The method
    #[arg(short = 'X', long, value_name = "METHOD", default_value = "POST", ignore_case = true, value_parser = labels_of!(HttpMethod))]
    pub method: HttpMethod,
    /// A header, as NAME: VALUE
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub header: Vec<String>,
    /// What is sent; JSON unless a header says otherwise
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub body: String,
    /// Secret that is sent as bearer token
    #[arg(long, value_name = "SECRET")]
    pub bearer: Option<SecretRef>,
    /// Secret that the call is signed with
    #[arg(long, value_name = "SECRET")]
    pub sign: Option<SecretRef>,
    /// How long the call may take
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub timeout: Span,
}

/// The word for it, or the one that other schedulers have.
fn overlap(text: &str) -> Result<Overlap, String> {
    match text {
        "skip" => Ok(Overlap::Forbid),
        other => {
            other.parse().map_err(|error: hostler_model::label::UnknownLabel| error.to_string())
        }
    }
}

fn catch_up(text: &str) -> Result<CatchUp, String> {
    match text {
        "last" => Ok(CatchUp::One),
        other => {
            other.parse().map_err(|error: hostler_model::label::UnknownLabel| error.to_string())
        }
    }
}
