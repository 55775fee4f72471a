//! Backups of paths of nodes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{BackupStore, NodeBackupState};

use super::{LimitArgs, ListArgs, OnArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum NodeBackupCommand {
    Create(NodeBackupCreateArgs),
    /// List backups, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler node backup ls\n  hostler node backup ls --node web-1 --state complete\n  hostler node backup ls --label nightly -o json"
    )]
    Ls(NodeBackupListArgs),
    /// Show a backup: what it has, what is missing in it, whether it was verified
    #[command(
        visible_alias = "get",
        after_help = "Examples:\n  hostler node backup show nightly\n  hostler node backup show 0190c0de-0000-7000-8000-000000000000 -o json"
    )]
    Show(NodeBackupArg),
    /// List what is in a backup
    #[command(
        after_help = "Examples:\n  hostler node backup files nightly\n  hostler node backup files nightly --path /etc/ssh -o json"
    )]
    Files(NodeBackupFilesArgs),
    /// Read a backup through: whether everything is there and right
    #[command(
        after_help = "Examples:\n  hostler node backup verify nightly\n  hostler node backup verify nightly --no-wait\n\nWhat is found damaged is sent again by the next backup that has it. The exit code is 4 where\nsomething is."
    )]
    Verify(NodeBackupVerifyArgs),
    Restore(NodeBackupRestoreArgs),
    /// Remove backups
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler node backup rm nightly\n  hostler node backup rm 0190c0de-0000-7000-8000-000000000000 --yes"
    )]
    Rm(NodeBackupRefs),
}

/// Keep what is on paths of machines
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler node backup create web-1 /etc /srv
  hostler node backup create -l role=web /etc --label nightly --keep 7
  hostler node backup create db-1 /var/lib/data --exclude '*.tmp' --exclude /var/lib/data/cache
  hostler node backup create web-1 /home --store s3 --no-wait

What begins with `/` is a path, anything else the name of a node. What is there already, from whatever
node, is not sent again. The exit code is 4 where something could not be read.")]
pub struct NodeBackupCreateArgs {
    /// Names or ids of nodes, and absolute paths
    #[arg(value_name = "NODE|PATH", required = true)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub on: OnArgs,
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
    #[arg(long, value_name = "NAME", default_value = "")]
    pub label: String,
    /// Keep so many of each node with this name, and remove older ones once this is complete
    #[arg(long, value_name = "N", requires = "label")]
    pub keep: Option<u32>,
    /// Do not wait until it is complete; prints the backups
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Args, Clone, Debug)]
pub struct NodeBackupListArgs {
    /// Only of this node
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Only in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(NodeBackupState))]
    pub state: Option<NodeBackupState>,
    /// Only with this name
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Args, Clone, Debug)]
pub struct NodeBackupArg {
    /// Id of the backup, or its name: the newest of that name
    #[arg(value_name = "BACKUP")]
    pub backup: String,
}

#[derive(Args, Clone, Debug)]
pub struct NodeBackupRefs {
    /// Ids of backups, or names: the newest of that name
    #[arg(value_name = "BACKUP", required = true)]
    pub backups: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct NodeBackupFilesArgs {
    #[command(flatten)]
    pub backup: NodeBackupArg,
    /// Only this path and what is below it
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    #[command(flatten)]
    pub limit: LimitArgs,
}

#[derive(Args, Clone, Debug)]
pub struct NodeBackupVerifyArgs {
    #[command(flatten)]
    pub backup: NodeBackupArg,
    /// Do not wait until it is done; prints the operation
    #[arg(long)]
    pub no_wait: bool,
}

/// Put a backup back
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler node backup restore nightly
  hostler node backup restore nightly --path /etc/ssh --to /tmp/before
  hostler node backup restore nightly --in-place --check
  hostler node backup restore nightly --in-place --overwrite --yes
  hostler node backup restore nightly --node web-2 --to /srv/web-1

Into a fresh directory below the agent's own, which is printed, unless another place is named. Every
byte is compared with its digest before it takes its place. With --check the exit code is 10 where
something would be different; it is 4 where something could not be put back.")]
pub struct NodeBackupRestoreArgs {
    #[command(flatten)]
    pub backup: NodeBackupArg,
    /// On this node instead of the one that it is of
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    /// Below this directory, which is made if need be
    #[arg(long, value_name = "DIR", conflicts_with = "in_place")]
    pub to: Option<PathBuf>,
    /// Where it came from
    #[arg(long)]
    pub in_place: bool,
    /// Only this path and what is below it; can be given again
    #[arg(long, value_name = "PATH")]
    pub path: Vec<String>,
    /// Put files in the place of those that are there; else these are left alone
    #[arg(long)]
    pub overwrite: bool,
    /// Only show what would be different; exit code 10 where something would
    #[arg(long)]
    pub check: bool,
    /// Do not wait until it is done; prints the operation
    #[arg(long, conflicts_with = "check")]
    pub no_wait: bool,
}
