//! Stacks.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::stack::StackName;
use hostler_model::{Span, StackPlanId};

use super::stack_part::{
    StackDepsCommand, StackDriftCommand, StackHookCommand, StackLockCommand, StackRevisionCommand,
    StackSnapshotCommand,
};
use super::stack_plugin::StackPluginCommand;
use super::{GraphFormat, LimitArgs, ListArgs};

#[derive(Clone, Debug, Subcommand)]
pub enum StackCommand {
    Plan(Box<StackPlanArgs>),
    Apply(Box<StackApplyArgs>),
    Ls(StackListArgs),
    /// Show a stack: how it stands, its parameters and its outputs
    #[command(
        visible_alias = "describe",
        after_help = "Examples:\n  hostler stack show web\n  hostler stack show web -o json"
    )]
    Show(StackRef),
    Events(StackEventsArgs),
    Outputs(StackOutputsArgs),
    Resources(StackResourcesArgs),
    /// Show one resource of a stack: what it is, what it was made with, and what it says of itself
    #[command(
        after_help = "Examples:\n  hostler stack resource web server\n  hostler stack resource web server -o json"
    )]
    Resource(StackResourceRef),
    Graph(StackGraphArgs),
    /// Look at every resource of a stack, and say which are not well
    #[command(
        after_help = "Examples:\n  hostler stack check web\n  hostler stack check web --detach\n\nExits with 4 when something is not well. What differs from the template is what `hostler stack drift`\ntells."
    )]
    Check(StackAskArgs),
    /// Drift: what was changed behind a stack's back
    #[command(subcommand)]
    Drift(StackDriftCommand),
    /// Snapshots: the objects of a stack as they were
    #[command(subcommand)]
    Snapshot(StackSnapshotCommand),
    /// Locks that keep others from changing a stack
    #[command(subcommand)]
    Lock(StackLockCommand),
    /// Dependencies between stacks: whose outputs they use
    #[command(subcommand)]
    Deps(StackDepsCommand),
    Validate(StackValidateArgs),
    /// List the revisions of a stack, newest first: what it was after each change, who asked for it, and why
    #[command(
        after_help = "Examples:\n  hostler stack history web\n  hostler stack history web --limit 5 -o json"
    )]
    History(StackHistoryArgs),
    /// Revisions: what a stack was after each change
    #[command(subcommand)]
    Revision(StackRevisionCommand),
    /// Print a stack as a document from which it can be made again elsewhere; the stack stays
    #[command(
        after_help = "Examples:\n  hostler stack export web > web.json\n  hostler stack export web -o yaml\n\nThe document has the template, the environment, files, parameters and what every resource is. Values\nthat are secret are in it: keep it as one."
    )]
    Export(StackRef),
    Import(StackImportArgs),
    Adopt(StackAdoptArgs),
    /// Forget a stack and leave its objects as they are; prints a document to adopt them with
    #[command(
        after_help = "Examples:\n  hostler stack abandon web > web.json\n  hostler stack abandon web --yes -o json | hostler stack adopt - --name web2\n\nNothing is removed but the stack. Without the document nobody can find its objects again."
    )]
    Abandon(StackRef),
    Rm(StackRemoveArgs),
    Cancel(StackCancelArgs),
    /// Suspend a stack: its resources pause, those that others need last
    #[command(
        after_help = "Examples:\n  hostler stack suspend web\n  hostler stack suspend web --detach"
    )]
    Suspend(StackAskArgs),
    /// Resume a stack that was suspended
    #[command(
        after_help = "Examples:\n  hostler stack resume web\n  hostler stack resume web --detach"
    )]
    Resume(StackAskArgs),
    Signal(StackSignalArgs),
    MarkUnhealthy(StackMarkArgs),
    /// Hooks: places at which resources wait until somebody lets them go on
    #[command(subcommand)]
    Hook(StackHookCommand),
    /// List the types of resources that templates can have
    #[command(
        after_help = "Examples:\n  hostler stack types\n  hostler stack types 'Hostler::*'\n  hostler stack types -o name"
    )]
    Types {
        /// Only names like this; `*` stands for anything
        #[arg(value_name = "PATTERN")]
        pattern: Option<String>,
    },
    Type(StackTypeArgs),
    /// Plugins: types of resources of one's own
    #[command(subcommand)]
    Plugin(StackPluginCommand),
    /// List the editions of the template language, or the functions of one
    #[command(
        after_help = "Examples:\n  hostler stack editions\n  hostler stack editions 2018-08-31"
    )]
    Editions {
        /// Version, or its other name
        #[arg(value_name = "VERSION")]
        version: Option<String>,
    },
}

#[derive(Args, Clone, Debug)]
pub struct StackRef {
    /// Name or id of the stack
    #[arg(value_name = "STACK")]
    pub stack: String,
}

#[derive(Args, Clone, Debug)]
pub struct StackResourceRef {
    /// Name or id of the stack
    #[arg(value_name = "STACK")]
    pub stack: String,
    /// Name of the resource in the template, or what it is in the world
    #[arg(value_name = "RESOURCE")]
    pub resource: String,
}

/// What comes besides a template.
#[derive(Args, Clone, Debug, Default)]
pub struct StackGivenArgs {
    /// Environment file (YAML or JSON): parameters, their defaults, and which type stands for which; later files win
    #[arg(short, long, value_name = "FILE")]
    pub environment: Vec<PathBuf>,
    /// A parameter; wins over environment files
    #[arg(short = 'P', long, value_name = "NAME=VALUE")]
    pub parameter: Vec<String>,
    /// A parameter from a file, as it is, `-` for stdin; for what is secret
    #[arg(long, value_name = "NAME=FILE")]
    pub parameter_file: Vec<String>,
    /// Have a resource wait at a hook until it is cleared: pre-create, post-update, ...
    #[arg(long, value_name = "HOOK=RESOURCE")]
    pub hook: Vec<String>,
}

/// How a change is made.
#[derive(Args, Clone, Debug, Default)]
pub struct StackOptionArgs {
    /// Undo the change when something of it fails
    #[arg(long, conflicts_with = "no_rollback")]
    pub rollback: bool,
    /// Leave what was done when something fails, also where undoing was chosen before
    #[arg(long)]
    pub no_rollback: bool,
    /// How long the change may take
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Tags of the stack; those of before stay when absent
    #[arg(long, value_name = "TAG,..", value_delimiter = ',')]
    pub tag: Option<Vec<String>>,
    /// Look at what the resources really are, and put right what was changed behind the stack's back
    #[arg(long)]
    pub converge: bool,
    /// How many resources are worked on at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub at_once: Option<u32>,
    /// How often drift is looked for by itself: 5m to 30d, or 0s for never
    #[arg(long, value_name = "DURATION")]
    pub drift_every: Option<Span>,
}

/// Show what would be done to make a stack as a template says, and keep it as a plan
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler stack plan web.yaml
  hostler stack plan web.yaml -e prod.yaml -P replicas=3
  plan=$(hostler stack plan web.yaml -q) || hostler stack apply --plan \"$plan\"

Nothing is done. Exits with 10 when there is something to do, and with 0 when there is nothing. The
plan has an id, with which `hostler stack apply --plan ID` does exactly that; it is refused when the
stack changed in between, and when it is too old. Secrets are not shown.

Files that the template names (`get_file`, templates as types, what environments register) are sent
along; they are looked for beside the file that names them.")]
pub struct StackPlanArgs {
    /// File with the template (YAML or JSON), `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the stack; that of the file, without its ending, when absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<StackName>,
    #[command(flatten)]
    pub given: StackGivenArgs,
    #[command(flatten)]
    pub options: StackOptionArgs,
    #[command(flatten)]
    pub why: StackWhyArgs,
}

/// Make a stack as a template says: create it, or change the one there is
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler stack apply web.yaml
  hostler stack apply web.yaml -e prod.yaml -P replicas=3 --yes
  hostler stack apply web.yaml --name web-prod --rollback --timeout 20m
  hostler stack apply web.yaml -m 'ticket 4711' --yes
  hostler stack apply --plan 0192f3c4-0000-7000-8000-000000000000

Shows what would be done and asks, unless --yes is given. Waits until it is done, and tells what fails
as it happens; Ctrl-C stops watching, and the stack goes on. Exits with 0 when everything is as wanted,
4 when something failed or was undone, 5 when the stack changed meanwhile, 9 when --wait was over.")]
pub struct StackApplyArgs {
    /// File with the template (YAML or JSON), `-` for stdin
    #[arg(value_name = "FILE", required_unless_present = "plan", conflicts_with = "plan")]
    pub file: Option<PathBuf>,
    /// Do exactly what a plan says
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["name", "environment", "parameter", "parameter_file", "hook", "rollback", "no_rollback", "timeout", "tag", "converge", "at_once", "drift_every", "message"]
    )]
    pub plan: Option<StackPlanId>,
    /// Name of the stack; that of the file, without its ending, when absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<StackName>,
    #[command(flatten)]
    pub given: StackGivenArgs,
    #[command(flatten)]
    pub options: StackOptionArgs,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

/// Why something is done.
#[derive(Args, Clone, Debug, Default)]
pub struct StackWhyArgs {
    /// Why: in the history of the stack, in events and in the audit trail
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
}

impl StackWhyArgs {
    pub fn text(&self) -> String {
        self.message.clone().unwrap_or_default()
    }
}

/// Whether to wait for the end.
#[derive(Args, Clone, Debug, Default)]
pub struct StackWaitArgs {
    /// Do not wait for the end
    #[arg(long)]
    pub detach: bool,
    /// How long to wait for the end; as long as it takes when absent
    #[arg(long, value_name = "DURATION", conflicts_with = "detach")]
    pub wait: Option<Span>,
}

/// A stack that something is to be done to, with an end.
#[derive(Args, Clone, Debug)]
pub struct StackAskArgs {
    #[command(flatten)]
    pub which: StackRef,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

/// List stacks, newest first
#[derive(Args, Clone, Debug)]
#[command(
    visible_alias = "list",
    after_help = "Examples:\n  hostler stack ls\n  hostler stack ls --status failed\n  hostler stack ls --tag prod --nested -o wide"
)]
pub struct StackListArgs {
    /// Only those that stand so: in-progress, complete or failed
    #[arg(long, value_name = "STATUS", value_parser = super::labels_of!(hostler_model::stack::StackStatus))]
    pub status: Option<hostler_model::stack::StackStatus>,
    /// Only those with this tag
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Also stacks that are resources of others
    #[arg(long)]
    pub nested: bool,
    /// Also those that are gone, as long as they are remembered
    #[arg(long)]
    pub deleted: bool,
    #[command(flatten)]
    pub list: ListArgs,
}

/// List what happened to a stack and its resources, oldest first
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack events web\n  hostler stack events web --follow\n  hostler stack events web --resource server --nested 2 -o json\n\nWith --follow what happened is printed, and then what happens, until Ctrl-C."
)]
pub struct StackEventsArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// Go on with what happens from now on
    #[arg(short, long)]
    pub follow: bool,
    /// Only of this resource
    #[arg(long, value_name = "RESOURCE")]
    pub resource: Option<String>,
    /// Also of stacks below, this many deep
    #[arg(long, value_name = "DEPTH", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=5))]
    pub nested: u32,
    #[command(flatten)]
    pub limit: LimitArgs,
}

/// Show what a stack gives, or one value of it
#[derive(Args, Clone, Debug)]
#[command(
    visible_alias = "output",
    after_help = "Examples:\n  hostler stack outputs web\n  hostler stack outputs web address\n  hostler stack outputs web -o json\n\nOne output by its name is printed as it is: a text without quotes, anything else as JSON. Exits\nwith 3 when there is none of that name."
)]
pub struct StackOutputsArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// Name of one output
    #[arg(value_name = "OUTPUT")]
    pub name: Option<String>,
}

/// List the resources of a stack, in the order of its template
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack resources web\n  hostler stack resources web --nested 2 -o wide"
)]
pub struct StackResourcesArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// Also those of stacks below, this many deep
    #[arg(long, value_name = "DEPTH", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=5))]
    pub nested: u32,
    /// Only those of which this expression holds, over the fields that -o json shows: 'name startsWith "web"'
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
}

/// Draw which resources of a stack need which
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack graph web\n  hostler stack graph web --format svg > web.svg\n  hostler stack graph web --format dot | dot -Tpng > web.png"
)]
pub struct StackGraphArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// How it is drawn
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
}

/// Say what is wrong with templates or stacks, without doing anything
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler stack validate web.yaml
  hostler stack validate web.yaml -e prod.yaml -P replicas=3
  hostler stack validate web
  hostler stack validate all -o json

A file is looked at as a template: every mistake is told with its line. A name is a stack: it is gone
through by a checklist of its template, what it needs, whether its objects are there, permissions, lock,
disk and network. `all`, or nothing, does so with every stack of the project. Exits with 2 when a file
has a mistake, and with 4 when something of a stack failed.")]
pub struct StackValidateArgs {
    /// Files with templates (`-` for stdin), names of stacks, or `all`
    #[arg(value_name = "FILE|STACK")]
    pub what: Vec<String>,
    #[command(flatten)]
    pub given: StackGivenArgs,
}

#[derive(Args, Clone, Debug)]
pub struct StackHistoryArgs {
    #[command(flatten)]
    pub which: StackRef,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Make a stack anew from what `hostler stack export` printed
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack import web.json\n  hostler stack import web.json --name web2\n\nNew objects are made, as the document says; `hostler stack adopt` takes over those that are there.\nTags, timeout and rollback are as the document has them, unless they are said here."
)]
pub struct StackImportArgs {
    /// File with the document, `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the new stack; that in the document when absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<StackName>,
    #[command(flatten)]
    pub options: StackOptionArgs,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

/// Take over objects that are there, as `hostler stack abandon` printed them
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack adopt web.json\n  hostler stack adopt web.json --name web2\n\nWhat the document names is taken over and not made; what the template has besides is made."
)]
pub struct StackAdoptArgs {
    /// File with the document, `-` for stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the new stack; that in the document when absent
    #[arg(long, value_name = "NAME")]
    pub name: Option<StackName>,
    #[command(flatten)]
    pub options: StackOptionArgs,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

/// Take stacks down, with all their objects
#[derive(Args, Clone, Debug)]
#[command(
    visible_alias = "delete",
    after_help = "Examples:\n  hostler stack rm web\n  hostler stack rm web queue --yes --detach -m 'moved to lab'\n\nResources go in the reverse order of what they need; those with the deletion policy `retain` stay.\nA stack whose outputs others use is refused without --force."
)]
pub struct StackRemoveArgs {
    /// Names or ids of stacks
    #[arg(value_name = "STACK", required = true)]
    pub stacks: Vec<String>,
    /// Also when other stacks use its outputs
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

/// Stop a change that is under way
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack cancel web\n  hostler stack cancel web --no-rollback\n\nAn update is undone; with --no-rollback what was done of it stays. What is being done to a resource at\nthe moment is finished first. A stack that is being created is left as far as it is with --no-rollback,\nor taken down with `hostler stack rm`."
)]
pub struct StackCancelArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// Leave what was done
    #[arg(long)]
    pub no_rollback: bool,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

/// Signal a resource: a wait condition, a scaling policy, a deployment
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack signal web scale-out\n  hostler stack signal web ready --data '{\"status\": \"SUCCESS\"}'\n  hostler stack signal web ready --data-file report.json"
)]
pub struct StackSignalArgs {
    #[command(flatten)]
    pub which: StackResourceRef,
    /// What to tell it, as JSON
    #[arg(long, value_name = "JSON", conflicts_with = "data_file")]
    pub data: Option<String>,
    /// The same from a file, `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub data_file: Option<PathBuf>,
}

/// Say that a resource is not well, so that the next update puts another one in its place
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack mark-unhealthy web server --reason 'disk is broken'\n  hostler stack mark-unhealthy web server --reset"
)]
pub struct StackMarkArgs {
    #[command(flatten)]
    pub which: StackResourceRef,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// Say that it is well again
    #[arg(long)]
    pub reset: bool,
}

/// Show what a type of resources takes and gives
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack type OS::Heat::WaitCondition\n  hostler stack type OS::Heat::WaitCondition --template > wait.yaml"
)]
pub struct StackTypeArgs {
    /// Name of the type
    #[arg(value_name = "TYPE")]
    pub name: String,
    /// Print a template with one resource of it, whose properties are parameters
    #[arg(long)]
    pub template: bool,
}
