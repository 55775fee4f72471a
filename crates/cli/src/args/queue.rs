//! Arrays, the queue, and what was used.

use clap::{Args, Subcommand};
use hostler_model::{Span, TaskStateKind};

use super::grammar::day;
use super::{ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum ArrayCommand {
    /// List arrays, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler task array ls\n  hostler task array ls -o wide"
    )]
    Ls(ListArgs),
    /// Show an array in full, with how many of its tasks are in each state
    #[command(
        visible_alias = "show",
        after_help = "Examples:\n  hostler task array get sweep\n  hostler task array get sweep -o jsonpath='{.counts}'"
    )]
    Get(ArrayRef),
    /// List the tasks of an array
    #[command(
        after_help = "Examples:\n  hostler task array tasks sweep\n  hostler task array tasks sweep --state failed -o name"
    )]
    Tasks(ArrayTasksArgs),
    /// Print the output of an array's tasks, one after the other by index
    #[command(
        after_help = "Examples:\n  hostler task array logs sweep\n  hostler task array logs sweep --state failed --tail 5\n\nA line on stderr says whose output follows. Tasks that have not begun are left out."
    )]
    Logs(ArrayLogsArgs),
    /// Stop arrays: what waits ends at once, what runs is asked to stop
    #[command(
        after_help = "Examples:\n  hostler task array kill sweep\n  hostler task array kill sweep --grace 1s"
    )]
    Kill(ArrayKillArgs),
    /// Wait until all tasks of arrays have ended, with a progress bar on a terminal
    #[command(
        after_help = "Examples:\n  hostler task array wait sweep\n  hostler task array wait sweep --timeout 1h\n\nExits with 0 when all completed, 4 when one did not, 9 when the time is over; the work goes on."
    )]
    Wait(ArrayWaitArgs),
}

#[derive(Args, Clone, Debug)]
pub struct ArrayRef {
    /// Name or id of the array
    #[arg(value_name = "ARRAY")]
    pub array: String,
}

#[derive(Args, Clone, Debug)]
pub struct ArrayTasksArgs {
    #[command(flatten)]
    pub array: ArrayRef,
    /// Only tasks in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(TaskStateKind))]
    pub state: Option<TaskStateKind>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Args, Clone, Debug)]
pub struct ArrayLogsArgs {
    #[command(flatten)]
    pub array: ArrayRef,
    /// Only of tasks in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(TaskStateKind))]
    pub state: Option<TaskStateKind>,
    /// The last so many lines of each
    #[arg(short = 'n', long, value_name = "N")]
    pub tail: Option<u32>,
}

#[derive(Args, Clone, Debug)]
pub struct ArrayKillArgs {
    /// Names or ids of arrays
    #[arg(value_name = "ARRAY", required = true)]
    pub arrays: Vec<String>,
    /// How long to wait between the stop signal and SIGKILL; the tasks' own when absent
    #[arg(long, value_name = "DURATION")]
    pub grace: Option<Span>,
}

#[derive(Args, Clone, Debug)]
pub struct ArrayWaitArgs {
    /// Names or ids of arrays
    #[arg(value_name = "ARRAY", required = true)]
    pub arrays: Vec<String>,
    /// Wait no longer than this
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

/// Report what tasks used: core-hours, GPU-hours, memory and waits
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler account
  hostler account --from 2026-01-01 --to 2026-01-31
  hostler account -p lab -o json

By project and user, for what was reserved while tasks ran; a task counts on the day it ended (UTC).
With -p only that project, otherwise all that you may see.")]
pub struct AccountArgs {
    /// First day, such as 2026-01-01; thirty days before the last when absent
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub from: Option<String>,
    /// Last day; today when absent
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub to: Option<String>,
}
