//! What belongs to stacks: drift, snapshots, locks, dependencies, revisions, hooks.

use clap::{Args, Subcommand};
use hostler_model::stack::StackHook;
use hostler_model::{LockHoldId, Span};

use super::stack::{StackRef, StackWaitArgs, StackWhyArgs};
use super::{GraphFormat, ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum StackDriftCommand {
    /// Look at what every object of a stack really is, and say what is not as the stack has it
    #[command(
        after_help = "Examples:\n  hostler stack drift detect web\n  hostler stack drift detect web -o json\n\nExits with 10 when something differs, and with 0 when nothing does."
    )]
    Detect(StackRef),
    /// Show what was found when somebody looked last
    #[command(
        after_help = "Examples:\n  hostler stack drift show web\n  hostler stack drift show web -o yaml\n\nExits with 10 when something differed."
    )]
    Show(StackRef),
    Fix(StackFixArgs),
}

/// Put right what differs, and nothing else
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack drift fix web\n  hostler stack drift fix web --yes\n\nLooks first, shows what would be done, and asks unless --yes is given."
)]
pub struct StackFixArgs {
    #[command(flatten)]
    pub which: StackRef,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum StackSnapshotCommand {
    Create(StackSnapshotCreateArgs),
    /// List the snapshots of a stack
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler stack snapshot ls web\n  hostler stack snapshot ls web -o json"
    )]
    Ls {
        #[command(flatten)]
        which: StackRef,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a snapshot: the resources and outputs of then
    #[command(
        after_help = "Examples:\n  hostler stack snapshot show web 0192f3c4-0000-7000-8000-000000000000 -o json"
    )]
    Show(StackSnapshotRef),
    /// Say what is different now from what a snapshot has
    #[command(
        after_help = "Examples:\n  hostler stack snapshot compare web 0192f3c4-0000-7000-8000-000000000000\n\nExits with 10 when something differs."
    )]
    Compare(StackSnapshotRef),
    Restore(StackSnapshotRestoreArgs),
    /// Remove snapshots of a stack
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler stack snapshot rm web 0192f3c4-0000-7000-8000-000000000000"
    )]
    Rm {
        #[command(flatten)]
        which: StackRef,
        /// Names or ids of snapshots
        #[arg(value_name = "SNAPSHOT", required = true)]
        snapshots: Vec<String>,
    },
}

/// Keep the objects of a stack as they are now
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack snapshot create web --name before-upgrade\n  hostler stack snapshot create web -q"
)]
pub struct StackSnapshotCreateArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// What to call it
    #[arg(long, value_name = "NAME", default_value = "")]
    pub name: String,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

#[derive(Args, Clone, Debug)]
pub struct StackSnapshotRef {
    #[command(flatten)]
    pub which: StackRef,
    /// Name or id of the snapshot
    #[arg(value_name = "SNAPSHOT")]
    pub snapshot: String,
}

/// Make a stack again what it was when a snapshot was taken
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack snapshot restore web before-upgrade\n  hostler stack snapshot restore web before-upgrade --yes --detach"
)]
pub struct StackSnapshotRestoreArgs {
    #[command(flatten)]
    pub snapshot: StackSnapshotRef,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum StackLockCommand {
    Acquire(StackLockAcquireArgs),
    /// Say who holds the lock of a stack, and why
    #[command(
        after_help = "Examples:\n  hostler stack lock status web\n  hostler stack lock status web -o json"
    )]
    Status(StackRef),
    /// Release the lock of a stack
    #[command(
        after_help = "Examples:\n  hostler stack lock release web\n  hostler stack lock release web \"$hold\"\n\nExits with 12 when the lock had been lost before."
    )]
    Release {
        #[command(flatten)]
        which: StackRef,
        /// Id of the hold, as `stack lock acquire` printed it; your own when absent
        #[arg(value_name = "HOLD")]
        hold: Option<LockHoldId>,
    },
    /// Take the lock of a stack away from who holds it
    #[command(
        after_help = "Examples:\n  hostler stack lock force-release web --reason 'ada is on holiday'\n\nNeeds the permission stack.unlock (role operator); there is an event and an audit entry."
    )]
    ForceRelease {
        #[command(flatten)]
        which: StackRef,
        /// Why; everybody can read it
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// Keep others from changing a stack, until it is released or its time is over
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hold=$(hostler stack lock acquire web --why 'release 42' -q)\n  hostler stack lock acquire web --ttl 1h --wait 30s -o json\n\nWho holds it changes the stack as usual. The hold ends when its TTL is over; `hostler lock renew\nstack/web HOLD` makes it longer. Exits with 9 when it was not to be had within --wait."
)]
pub struct StackLockAcquireArgs {
    #[command(flatten)]
    pub which: StackRef,
    /// How long it is held without being renewed: 1s to 1d
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    pub ttl: Span,
    /// What it is for; others are told
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub why: String,
    /// How long to wait for it; not at all when absent
    #[arg(long, value_name = "DURATION")]
    pub wait: Option<Span>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum StackDepsCommand {
    /// Show whose outputs a stack uses, and who uses its own
    #[command(
        after_help = "Examples:\n  hostler stack deps show web\n  hostler stack deps show web -o json"
    )]
    Show(StackRef),
    /// Draw which stacks of the project use which
    #[command(
        after_help = "Examples:\n  hostler stack deps graph\n  hostler stack deps graph --format svg > stacks.svg"
    )]
    Graph {
        /// How it is drawn
        #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
        format: GraphFormat,
    },
    /// Say which outputs are used that are not there, and which stacks need one another
    #[command(
        after_help = "Examples:\n  hostler stack deps check\n  hostler stack deps check -o json\n\nExits with 4 when something is not as it should be."
    )]
    Check,
    /// List the stacks of the project, each after those whose outputs it uses
    #[command(
        after_help = "Examples:\n  hostler stack deps order\n  hostler stack deps order -q | tac | xargs -n1 hostler stack rm --yes"
    )]
    Order,
}

#[derive(Clone, Debug, Subcommand)]
pub enum StackRevisionCommand {
    /// Show a revision: the template, the environment and the parameters of then
    #[command(
        after_help = "Examples:\n  hostler stack revision show web 3\n  hostler stack revision show web v3 -o json"
    )]
    Show(StackRevisionRef),
    /// Say what is different between two revisions, or between one and now
    #[command(
        after_help = "Examples:\n  hostler stack revision compare web 3 5\n  hostler stack revision compare web 3\n\nExits with 10 when something differs."
    )]
    Compare {
        #[command(flatten)]
        which: StackRevisionRef,
        /// Number of another revision; the newest when absent
        #[arg(value_name = "OTHER", value_parser = number)]
        other: Option<u32>,
    },
    Restore(StackRevisionRestoreArgs),
}

#[derive(Args, Clone, Debug)]
pub struct StackRevisionRef {
    #[command(flatten)]
    pub which: StackRef,
    /// Number of the revision, such as 3 or v3
    #[arg(value_name = "REVISION", value_parser = number)]
    pub revision: u32,
}

/// Make a stack again what it was in a revision
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler stack revision restore web 3\n  hostler stack revision restore web 3 --yes\n\nShows what would be done and asks, unless --yes is given. What comes of it is a new revision."
)]
pub struct StackRevisionRestoreArgs {
    #[command(flatten)]
    pub revision: StackRevisionRef,
    #[command(flatten)]
    pub why: StackWhyArgs,
    #[command(flatten)]
    pub wait: StackWaitArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum StackHookCommand {
    /// List the resources of a stack, and of stacks below it, that wait at a hook
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler stack hook ls web\n  hostler stack hook ls web -o json"
    )]
    Ls {
        #[command(flatten)]
        which: StackRef,
    },
    /// Let a resource go on that waits at a hook
    #[command(
        after_help = "Examples:\n  hostler stack hook clear web server\n  hostler stack hook clear web server --hook pre-create"
    )]
    Clear {
        #[command(flatten)]
        which: super::StackResourceRef,
        /// Only at this hook; at every one where it waits when absent
        #[arg(long, value_name = "HOOK", value_parser = labels_of!(StackHook))]
        hook: Option<StackHook>,
    },
}

/// `3` and `v3` are the same.
fn number(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix('v').unwrap_or(text);
    let number = digits.parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is no revision; write its number, such as 3 or v3"))
}
