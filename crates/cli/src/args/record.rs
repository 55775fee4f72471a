//! Operations, events.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use hostler_model::suggest::nearest;
use hostler_model::{
    CustomName, EventName, EventPattern, ObjectKind, OperationState, ParseCustomNameError, Span,
};

use super::{ListArgs, When, labels_of};

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
    pub list: ListArgs,
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
        after_help = "Examples:\n  hostler event ls\n  hostler event ls --kind task.failed -p lab\n  hostler event ls --kind 'lock.*'\n  hostler event ls --kind custom.deploy --since 1d\n  hostler event ls --object workload/web --since 2026-01-31T12:00:00Z --until 1h\n  hostler event ls --cause execution/0192f3c4-0000-7000-8000-000000000000\n  hostler event ls --filter 'payload.exitCode > 1 and object.name startsWith \"web\"'"
    )]
    Ls(EventListArgs),
    /// Print events as they happen
    #[command(
        after_help = "Examples:\n  hostler event watch\n  hostler event watch --object task -o jsonl\n  hostler event watch --kind custom.deploy"
    )]
    #[command(visible_alias = "tail")]
    Watch(EventFilterArgs),
    /// Print events as JSON lines, oldest first and without a gap
    #[command(
        after_help = "Examples:\n  hostler event export > events.jsonl\n  hostler event export --since 1d -p lab\n  hostler event export --after 41772 >> events.jsonl\n\nEach line has a `sequence`; `--after` the last one goes on where an export ended. What is printed is every\nevent from there on that one may see and the filters take, up to `--until` or now. When some of what was\nasked for is not kept any more, nothing is printed, and the message says from where there is everything."
    )]
    Export(EventExportArgs),
    /// Tell of an event of one's own
    #[command(
        after_help = "Examples:\n  hostler event emit deploy --message '3.2 is out'\n  hostler event emit custom.deploy.started --payload '{\"version\":\"3.2\"}'\n  make report | hostler event emit report --payload-file -\n\nIts kind is custom.NAME: `event ls`, `event watch` and the filters and hooks take it like any other. What runs\nwith an identity may tell of events as well."
    )]
    Emit(EventEmitArgs),
}

#[derive(Args, Clone, Debug, Default)]
pub struct EventFilterArgs {
    /// Only events of this kind, such as task.failed or custom.deploy; `lock.*` is all of a noun
    #[arg(long, value_name = "KIND", value_parser = str::parse::<EventPattern>)]
    pub kind: Option<EventPattern>,
    /// Only events about this kind of object, or about one of them by its name or id: `node`, `workload/web`
    #[arg(long, value_name = "KIND[/NAME]")]
    pub object: Option<EventObject>,
    /// Only events about the object with this id
    #[arg(long, value_name = "ID", requires = "object")]
    pub id: Option<String>,
    /// Only what was caused by this: the id of a request, execution/ID, task/ID, hook/ID/NUMBER; or hook/ID/ for all of it
    #[arg(long, value_name = "CAUSE")]
    pub cause: Option<String>,
    /// Only events of which this holds; `hostler hook add --help` shows what can be said
    #[arg(long, value_name = "EXPRESSION")]
    pub filter: Option<String>,
}

/// A kind of object, or one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventObject {
    pub kind: ObjectKind,
    /// Its name or id.
    pub name: Option<String>,
}

impl FromStr for EventObject {
    type Err = String;
    fn from_str(text: &str) -> Result<EventObject, String> {
        let (kind, name) = match text.split_once('/') {
            Some((_, "")) => return Err("a name or an id comes after the `/`".to_owned()),
            Some((kind, name)) => (kind, Some(name.to_owned())),
            None => (text, None),
        };
        let kind = kind.parse::<ObjectKind>().map_err(|_| {
            let known = ObjectKind::ALL.iter().map(|kind| kind.label());
            match nearest(kind, known.clone()) {
                Some(meant) => format!("`{kind}` is no kind of object; did you mean `{meant}`?"),
                None => {
                    let known: Vec<&str> = known.collect();
                    format!("`{kind}` is no kind of object; there are {}", known.join(", "))
                }
            }
        })?;
        Ok(EventObject { kind, name })
    }
}

#[derive(Args, Clone, Debug, Default)]
pub struct EventListArgs {
    #[command(flatten)]
    pub filter: EventFilterArgs,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

#[derive(Args, Clone, Debug, Default)]
pub struct EventExportArgs {
    #[command(flatten)]
    pub filter: EventFilterArgs,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m; from the oldest that is kept when absent
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Only events after this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "since")]
    pub after: Option<u64>,
}

#[derive(Args, Clone, Debug)]
pub struct EventEmitArgs {
    /// What it is called: words of letters, digits, `_` and `-` with dots between them; `custom.` before it may be left out
    #[arg(value_name = "NAME", value_parser = custom_name)]
    pub name: CustomName,
    /// One sentence for people, up to 1000 characters
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub message: String,
    /// Anything for programs, as JSON, up to 16 KiB
    #[arg(long, value_name = "JSON", conflicts_with = "payload_file")]
    pub payload: Option<String>,
    /// The same from a file; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub payload_file: Option<PathBuf>,
}

fn custom_name(text: &str) -> Result<CustomName, ParseCustomNameError> {
    match text.parse::<EventName>() {
        Ok(EventName::Custom(name)) => Ok(name),
        _ => text.parse(),
    }
}
