//! State: small values that programs share.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{Name, Span, StateKey};

use super::{LimitArgs, ListArgs};

#[derive(Clone, Debug, Subcommand)]
pub enum StateCommand {
    /// Print a value
    #[command(
        after_help = "Examples:\n  hostler state get leader\n  hostler state get config/db -n app > db.conf\n  hostler state get leader -o json\n\nThe value is printed as it is, without a newline of its own. With -o json everything about the entry;\na value that is not text is in base64 then. Exits with 3 when there is none."
    )]
    Get(StateEntryArgs),
    Set(StateSetArgs),
    /// Delete entries
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler state rm leader\n  hostler state rm config/db config/cache -n app\n  hostler state rm leader --if-revision 812\n\nExits with 3 when there is none, and with 5 when the revision is another."
    )]
    Rm {
        #[command(flatten)]
        at: StateAt,
        /// Their keys
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<StateKey>,
        /// Only if the revision is this
        #[arg(long, value_name = "REVISION")]
        if_revision: Option<u64>,
    },
    /// List entries by key
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler state ls\n  hostler state ls config/ -n app\n  hostler state ls config/ --values -o json"
    )]
    Ls {
        #[command(flatten)]
        at: StateAt,
        /// Only keys that begin with this
        #[arg(value_name = "PREFIX")]
        prefix: Option<String>,
        /// With their values
        #[arg(long)]
        values: bool,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Add to a number and print what it comes to
    #[command(
        after_help = "Examples:\n  hostler state incr builds\n  hostler state incr stock/apples -- -3\n  hostler state incr hits --ttl 1h\n\nWhat is not there counts as 0. A value that is not a whole number is refused, with 5."
    )]
    Incr {
        #[command(flatten)]
        entry: StateEntryArgs,
        /// How much; 1 when absent
        #[arg(value_name = "BY", allow_negative_numbers = true, default_value_t = 1)]
        by: i64,
        /// After this long it is gone; otherwise its time stays as it is
        #[arg(long, value_name = "DURATION")]
        ttl: Option<Span>,
    },
    /// Add items to a list and print how many it has
    #[command(
        after_help = "Examples:\n  hostler state push queue build-12 build-13\n  hostler state push queue urgent --front\n  hostler state push builds '{\"id\": 7}' --json\n\nA list is a value that is a JSON array. Items are text, or JSON with --json."
    )]
    Push {
        #[command(flatten)]
        entry: StateEntryArgs,
        /// What is added, in this order
        #[arg(value_name = "ITEM", required = true)]
        items: Vec<String>,
        /// At the front instead of the back
        #[arg(long)]
        front: bool,
        /// Items are JSON
        #[arg(long)]
        json: bool,
        /// After this long the list is gone; otherwise its time stays as it is
        #[arg(long, value_name = "DURATION")]
        ttl: Option<Span>,
    },
    /// Take items from a list and print them, one a line
    #[command(
        after_help = "Examples:\n  hostler state pop queue --front        the oldest, where others push\n  hostler state pop queue --count 10\n  hostler state pop builds -o json\n\nText is printed as it is, everything else as JSON. Exits with 3 when there is nothing to take."
    )]
    Pop {
        #[command(flatten)]
        entry: StateEntryArgs,
        /// From the front instead of the back
        #[arg(long)]
        front: bool,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        count: u32,
    },
    /// Print how many items a list has
    #[command(after_help = "Examples:\n  hostler state len queue")]
    Len(StateEntryArgs),
    /// Print how long an entry has left, or give it another time
    #[command(
        after_help = "Examples:\n  hostler state ttl leader\n  hostler state ttl leader 30s\n  hostler state ttl leader never\n\nPrints `never` for an entry that stays. Exits with 3 when there is none."
    )]
    Ttl {
        #[command(flatten)]
        entry: StateEntryArgs,
        /// A duration from now, or never
        #[arg(value_name = "DURATION|never", value_parser = time_left)]
        ttl: Option<TimeLeft>,
    },
    /// List the changes of an entry, newest first
    #[command(
        after_help = "Examples:\n  hostler state history leader\n  hostler state history leader --limit 5 -o json\n\nAs far as changes are kept: a day, or less when there are very many. Entries that are gone have a\nhistory too."
    )]
    History {
        #[command(flatten)]
        entry: StateEntryArgs,
        #[command(flatten)]
        limit: LimitArgs,
    },
    /// Print every change of entries as it is made
    #[command(
        after_help = "Examples:\n  hostler state watch\n  hostler state watch config/ -n app -o json\n  hostler state watch config/ --from 812    also what happened since that revision"
    )]
    Watch {
        #[command(flatten)]
        at: StateAt,
        /// Only keys that begin with this
        #[arg(value_name = "PREFIX")]
        prefix: Option<String>,
        /// Begin after this revision instead of now
        #[arg(long, value_name = "REVISION")]
        from: Option<u64>,
    },
    /// Carry out a transaction: all of it or nothing
    #[command(
        after_help = "Examples:\n  hostler state txn move.json\n  echo '{\"compare\": [{\"if\": \"absent\", \"key\": \"leader\"}],\n         \"then\": [{\"op\": \"put\", \"key\": \"leader\", \"value\": \"a\", \"ttl\": \"30s\"}],\n         \"else\": [{\"op\": \"get\", \"key\": \"leader\"}]}' | hostler state txn -\n\nPrints what it came to, as JSON. Exits with 5 when a condition did not hold and `else` was done."
    )]
    Txn {
        /// File with the transaction, as JSON; `-` for stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List namespaces that hold something
    #[command(
        after_help = "Examples:\n  hostler state namespaces\n  hostler state namespaces -o json"
    )]
    Namespaces(ListArgs),
    /// Delete everything in a namespace
    #[command(
        after_help = "Examples:\n  hostler state clear scratch --yes\n\nNeeds the role operator in the project."
    )]
    Clear {
        /// Which one
        #[arg(value_name = "NAMESPACE")]
        namespace: Name,
    },
}

/// How long an entry has from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLeft {
    After(Span),
    Never,
}

fn time_left(text: &str) -> Result<TimeLeft, String> {
    match text {
        "never" => Ok(TimeLeft::Never),
        text => text.parse().map(TimeLeft::After).map_err(|e| format!("{e}, or never")),
    }
}

/// Where entries are.
#[derive(Args, Clone, Debug)]
pub struct StateAt {
    /// Namespace of the keys
    #[arg(short, long, value_name = "NAME", default_value = hostler_model::DEFAULT_NAMESPACE)]
    pub namespace: Name,
}

#[derive(Args, Clone, Debug)]
pub struct StateEntryArgs {
    #[command(flatten)]
    pub at: StateAt,
    /// Its key
    #[arg(value_name = "KEY")]
    pub key: StateKey,
}

/// Give an entry a value
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler state set leader web-1
  hostler state set leader web-1 --ttl 30s --if-absent
  hostler state set config/db -n app --file db.conf
  date | hostler state set last-run -
  hostler state set leader web-2 --if-revision 812   compare and swap

A value has at most 1 MiB of any bytes; it is kept as it is. Everybody who may read the project's state
can read it: what nobody is to see is a secret. Exits with 5 when the entry is there already, or has
another revision.")]
pub struct StateSetArgs {
    #[command(flatten)]
    pub entry: StateEntryArgs,
    /// The value; `-` to read it from stdin
    #[arg(value_name = "VALUE", allow_hyphen_values = true, required_unless_present = "file")]
    pub value: Option<String>,
    /// File that holds the value, as it is; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with = "value")]
    pub file: Option<PathBuf>,
    /// After this long it is gone
    #[arg(long, value_name = "DURATION")]
    pub ttl: Option<Span>,
    /// Only if there is none yet
    #[arg(long, conflicts_with = "if_revision")]
    pub if_absent: bool,
    /// Only if the revision is this
    #[arg(long, value_name = "REVISION")]
    pub if_revision: Option<u64>,
}
