//! The audit record.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::ObjectKind;

use super::agent::When;
use super::labels_of;

#[derive(Clone, Debug, Subcommand)]
pub enum AuditCommand {
    /// List audit entries, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler audit ls\n  hostler audit ls --actor ada --action node.cordon -o wide"
    )]
    Ls(AuditListArgs),
    /// Search audit entries, newest first
    #[command(
        after_help = "Examples:\n  hostler audit search --object web --since 7d\n  hostler audit search 'out of memory' --kind task -p lab\n  hostler audit search --action 'secret.*' --since 1d\n  hostler audit search --actor ada --source 10.0.0.7 --since 2026-01-31T12:00:00Z --until 1h -o json"
    )]
    Search(AuditSearchArgs),
    /// Print audit entries as JSON lines, oldest first, with everything to verify them elsewhere
    #[command(
        after_help = "Examples:\n  hostler audit export > audit.jsonl\n  hostler audit export --since 1d >> audit.jsonl\n\nSigned anchors of the chain come last. `hostler audit verify --file` follows the chain without a server."
    )]
    Export(AuditExportArgs),
    /// Recompute the whole chain of audit entries, and hold signed anchors against it
    #[command(
        after_help = "Examples:\n  hostler audit verify\n  hostler audit verify --anchor anchors.jsonl\n  hostler audit verify --file audit.jsonl --cacert authority.pem\n\nAnchors that were kept elsewhere show a chain that was written anew as a whole. Exits with 4 when\nsomething does not fit."
    )]
    Verify(AuditVerifyArgs),
    /// List signed anchors of the chain, newest first
    #[command(
        after_help = "Examples:\n  hostler audit anchors\n  hostler audit anchors -o jsonl > anchors.jsonl"
    )]
    Anchors(AuditAnchorsArgs),
    /// Sign the chain as it is now
    #[command(after_help = "Examples:\n  hostler audit anchor -o jsonl >> anchors.jsonl")]
    Anchor,
    /// List the sinks that entries are delivered to, and how far each has been told
    #[command(after_help = "Examples:\n  hostler audit sinks")]
    Sinks,
}

#[derive(Args, Clone, Debug)]
pub struct AuditListArgs {
    /// Only entries of this actor
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// Only this action, such as task.create, or all that begin so: `task.` or `task.*`
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only those of which this expression holds, over the fields that -o json shows: 'action startsWith "secret"'
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

#[derive(Args, Clone, Debug)]
pub struct AuditSearchArgs {
    /// Text in names, action, request id, address or detail, whatever the case
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// Only entries of this actor
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// Only this action, such as task.create, or all that begin so: `task.` or `task.*`
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only about this kind of object
    #[arg(long, value_name = "KIND", value_parser = labels_of!(ObjectKind))]
    pub kind: Option<ObjectKind>,
    /// Only about the object with this id or name
    #[arg(long, value_name = "OBJECT")]
    pub object: Option<String>,
    /// Only of requests from this address
    #[arg(long, value_name = "ADDRESS")]
    pub source: Option<String>,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Only those of which this expression holds, over the fields that -o json shows: 'action startsWith "secret"'
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}

#[derive(Args, Clone, Debug)]
pub struct AuditExportArgs {
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Only entries after this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "since")]
    pub after: Option<u64>,
}

#[derive(Args, Clone, Debug)]
pub struct AuditVerifyArgs {
    /// File with anchors that were kept elsewhere, as `audit anchors -o jsonl` printed them
    #[arg(long, value_name = "FILE")]
    pub anchor: Option<PathBuf>,
    /// Follow the chain in this file, as `audit export` printed it, without a server
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct AuditAnchorsArgs {
    /// Only those of which this expression holds, over the fields that -o json shows: 'action startsWith "secret"'
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}
