//! Operations, events.

use clap::{Args, Subcommand};
use hostler_model::{EventKind, ObjectKind, OperationState, Span};

use super::{LimitArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum OperationCommand {
    /// List operations, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler operation ls\n  hostler operation ls --state running"
    )]
    Ls(OperationListArgs),
    /// Show an operation in full
    #[command(
        after_help = "Examples:\n  hostler operation get 0192f3c4-0000-7000-8000-000000000000"
    )]
    #[command(visible_alias = "show")]
    Get {
        /// Id of the operation
        #[arg(value_name = "ID")]
        operation: String,
    },
    /// Wait until an operation has ended, showing its steps
    #[command(
        after_help = "Examples:\n  hostler operation wait 0192f3c4-0000-7000-8000-000000000000 --timeout 10m\n\nExits with 0 when it succeeded, 4 when it did not, 9 when the time is over."
    )]
    Wait(OperationWaitArgs),
    /// Ask for an operation to stop after its present step
    #[command(
        after_help = "Examples:\n  hostler operation cancel 0192f3c4-0000-7000-8000-000000000000"
    )]
    Cancel {
        /// Id of the operation
        #[arg(value_name = "ID")]
        operation: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct OperationListArgs {
    /// Only operations in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(OperationState))]
    pub state: Option<OperationState>,
    #[command(flatten)]
    pub limit: LimitArgs,
}

#[derive(Args, Clone, Debug)]
pub struct OperationWaitArgs {
    /// Id of the operation
    #[arg(value_name = "ID")]
    pub operation: String,
    /// Wait no longer than this
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum EventCommand {
    /// List events, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler event ls\n  hostler event ls --kind task.failed -p lab\n  hostler event ls --object node --limit 20"
    )]
    Ls(EventListArgs),
    /// Print events as they happen
    #[command(
        after_help = "Examples:\n  hostler event watch\n  hostler event watch --object task -o jsonl"
    )]
    Watch(EventFilterArgs),
}

#[derive(Args, Clone, Debug, Default)]
pub struct EventFilterArgs {
    /// Only events of this kind
    #[arg(long, value_name = "KIND", value_parser = labels_of!(EventKind), hide_possible_values = true)]
    pub kind: Option<EventKind>,
    /// Only events about this kind of object
    #[arg(long, value_name = "OBJECT", value_parser = labels_of!(ObjectKind))]
    pub object: Option<ObjectKind>,
    /// Only events about the object with this id
    #[arg(long, value_name = "ID", requires = "object")]
    pub id: Option<String>,
}

#[derive(Args, Clone, Debug, Default)]
pub struct EventListArgs {
    #[command(flatten)]
    pub filter: EventFilterArgs,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}
