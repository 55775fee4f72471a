//! Locks.

use clap::{Args, Subcommand, ValueEnum};
use hostler_model::{LOCK_SLOTS_MAX, LockHoldId, LockName, Span};

use super::ListArgs;

#[derive(Clone, Debug, Subcommand)]
pub enum LockCommand {
    /// List locks that somebody holds or waits for
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler lock ls\n  hostler lock ls --all -o wide"
    )]
    Ls(LockListArgs),
    /// Show a lock: who holds it and why, who waits, and who held it before
    #[command(
        visible_alias = "describe",
        after_help = "Examples:\n  hostler lock show deploy\n  hostler lock show deploy -o json"
    )]
    Show(LockArg),
    Run(LockRunArgs),
    Lead(LockLeadArgs),
    Acquire(LockAcquireArgs),
    Try(LockTryArgs),
    /// Say that a holder is still there; its TTL counts from now on
    #[command(
        after_help = "Examples:\n  hostler lock renew deploy \"$hold\"\n  hostler lock renew deploy \"$hold\" --ttl 10m\n\nExits with 12 when the lock was lost: stop what relied on it."
    )]
    Renew {
        #[command(flatten)]
        hold: LockHoldArg,
        /// Another TTL from now on
        #[arg(long, value_name = "DURATION")]
        ttl: Option<Span>,
    },
    /// Release a lock, or give a place in its queue back
    #[command(
        after_help = "Examples:\n  hostler lock release deploy \"$hold\"\n\nReleasing twice is no mistake. Exits with 12 when the lock had been lost before."
    )]
    Release(LockHoldArg),
    /// Take a lock away from who holds it; who waits longest is next
    #[command(
        after_help = "Examples:\n  hostler lock force-release deploy --reason 'web-1 burnt down'\n  hostler lock force-release pool --hold 0192f3c4-0000-7000-8000-000000000000 --reason stuck\n\nWho held it is not stopped by this, only told so when it renews. Needs the permission lock.force\n(role operator); there is an event and an audit entry. A holder that died needs none of this: its\nlock is free when its TTL is over."
    )]
    ForceRelease(LockForceArgs),
}

#[derive(Args, Clone, Debug)]
pub struct LockArg {
    /// Name of the lock
    #[arg(value_name = "LOCK")]
    pub lock: LockName,
}

#[derive(Args, Clone, Debug)]
pub struct LockHoldArg {
    /// Name of the lock
    #[arg(value_name = "LOCK")]
    pub lock: LockName,
    /// Id of the hold, as `lock acquire` printed it
    #[arg(value_name = "HOLD")]
    pub hold: LockHoldId,
}

#[derive(Args, Clone, Debug)]
pub struct LockListArgs {
    /// Also locks that nobody uses, as long as they are remembered
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub list: ListArgs,
}

/// What is wanted of a lock.
#[derive(Args, Clone, Debug)]
pub struct LockWishArgs {
    /// How many may hold it at once; all who use it at the same time say the same
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(LOCK_SLOTS_MAX))
    )]
    pub slots: u32,
    /// How long a holder may be silent before the lock is free again: 1s to 1d
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub ttl: Span,
    /// What it is for; `hostler lock show` tells it to others
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub why: String,
}

/// What becomes of a command whose lock was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnLost {
    /// It is stopped, and killed before the TTL is over
    Stop,
    /// It goes on, without the lock
    Continue,
}

/// Run a command while a lock is held
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler lock run deploy -- ./deploy.sh
  hostler lock run db/migrate --wait 10m --why 'release 42' -- make migrate
  hostler lock run gpu-pool --slots 4 -- python train.py

The lock is renewed while the command runs, and released when it ends. The command finds the fencing
token in HOSTLER_LOCK_TOKEN: a number that only grows, which whatever is protected can compare. Signals
are passed on, and so is the exit code (128 + signal). Exits with 9 when the lock was not to be had
within --wait; nothing was run then. Exits with 12 when the lock was lost: when nothing was heard of the
server for two thirds of the TTL the command is asked to stop, and at nine tenths it is killed.")]
pub struct LockRunArgs {
    #[command(flatten)]
    pub lock: LockArg,
    #[command(flatten)]
    pub wish: LockWishArgs,
    /// How long to wait for the lock; as long as it takes when absent
    #[arg(long, value_name = "DURATION")]
    pub wait: Option<Span>,
    /// What becomes of the command when the lock is lost
    #[arg(long, value_enum, default_value = "stop")]
    pub on_lost: OnLost,
    /// The command, after `--`
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required = true)]
    pub command: Vec<String>,
}

/// Run a command while this is the leader; stop it when it is not, and try again
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler lock lead scheduler -- ./scheduler
  hostler lock lead primary --ttl 10s -- ./serve --primary

Start it on several machines: one of them runs the command, the others wait in their order. When the
leader dies, the next begins after its TTL; when it ends in good order, at once. The command finds the
fencing token, which is larger for every leader, in HOSTLER_LOCK_TOKEN. Leadership that is lost stops
the command, and this waits for its turn again. A command that ends by itself ends this too, with its
exit code: let a supervisor start it anew if it should be.")]
pub struct LockLeadArgs {
    #[command(flatten)]
    pub lock: LockArg,
    /// How long a leader may be silent before another takes its place: 1s to 1d
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub ttl: Span,
    /// What it is for; `hostler lock show` tells it to others
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub why: String,
    /// The command, after `--`
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required = true)]
    pub command: Vec<String>,
}

/// Acquire a lock, and wait for it
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hold=$(hostler lock acquire deploy --ttl 10m -q)
  hostler lock acquire deploy --wait 30s -o json

Prints the id of the hold, with which it is renewed and released, and the fencing token. Nothing renews
it: it ends when its TTL is over, unless `hostler lock renew` is called before. `hostler lock run` does
all of that. Exits with 9 when the lock was not to be had within --wait.")]
pub struct LockAcquireArgs {
    #[command(flatten)]
    pub lock: LockArg,
    #[command(flatten)]
    pub wish: LockWishArgs,
    /// How long to wait for the lock; as long as it takes when absent
    #[arg(long, value_name = "DURATION")]
    pub wait: Option<Span>,
}

/// Acquire a lock if it is free now
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hold=$(hostler lock try deploy -q) || echo busy
  hostler lock try deploy --ttl 5m -o json

Exits with 5 when somebody else holds it, and says who.")]
pub struct LockTryArgs {
    #[command(flatten)]
    pub lock: LockArg,
    #[command(flatten)]
    pub wish: LockWishArgs,
}

#[derive(Args, Clone, Debug)]
pub struct LockForceArgs {
    #[command(flatten)]
    pub lock: LockArg,
    /// Why; everybody can read it
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Only from this holder; from all when absent
    #[arg(long, value_name = "ID")]
    pub hold: Option<LockHoldId>,
}
