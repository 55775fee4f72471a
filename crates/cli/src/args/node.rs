//! Nodes and the tickets with which machines become nodes.

use clap::{Args, Subcommand};
use hostler_model::{Name, NodeState, Span};

use super::agent::When;
use super::machine::{
    NodeDiskArgs, NodeHealthArgs, NodeLogsArgs, NodePackagesCommand, NodeProcessesCommand,
    NodeServicesCommand, NodeUsersCommand,
};
use super::{ListArgs, NodeBackupCommand, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum NodeCommand {
    /// List nodes
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler node ls\n  hostler node ls -l disk=ssd -o wide\n  hostler node ls --state offline -o name\n  hostler node ls --resources"
    )]
    Ls(NodeListArgs),
    /// Show a node in full
    #[command(
        after_help = "Examples:\n  hostler node get web-1\n  hostler node get web-1 -o jsonpath='{.facts.kernel}'"
    )]
    Get(NodeRef),
    /// Tell about a node: its machine, its state, its events
    #[command(visible_alias = "show", after_help = "Examples:\n  hostler node describe web-1")]
    Describe(NodeRef),
    /// Set and remove labels
    #[command(
        after_help = "Examples:\n  hostler node label web-1 disk=ssd zone=b\n  hostler node label web-1 zone-"
    )]
    Label(LabelArgs),
    /// Place nothing new on a node; what runs there goes on
    #[command(after_help = "Examples:\n  hostler node cordon web-1 --reason 'new disk on monday'")]
    Cordon(CordonArgs),
    /// Let a node take work again
    #[command(after_help = "Examples:\n  hostler node uncordon web-1")]
    Uncordon(NodeRefs),
    /// Look at a node's machine anew, and tell the node again everything that it should run
    #[command(
        after_help = "Examples:\n  hostler node reload web-1\n  hostler node reload web-1 web-2 -o json\n\nWhat runs there is not touched. To be used when something about the machine was changed by hand: its\nmemory, disks, addresses, time zone, container engine or graphics processors."
    )]
    Reload(NodeRefs),
    /// Cordon a node and wait until it is empty
    #[command(
        after_help = "Examples:\n  hostler node drain web-1 --reason 'kernel update'\n  hostler node drain web-1 --deadline 30m --no-wait"
    )]
    Drain(DrainArgs),
    /// Take a node out: stop what runs there, revoke its certificates, forget it
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler node rm web-1\n  hostler node rm web-1 --yes"
    )]
    Rm(NodeRefs),
    Usage(NodeUsageArgs),
    Health(NodeHealthArgs),
    /// Packages of machines
    #[command(subcommand)]
    Packages(NodePackagesCommand),
    /// Services of machines
    #[command(subcommand)]
    Services(NodeServicesCommand),
    Logs(NodeLogsArgs),
    /// Processes of machines
    #[command(subcommand)]
    Processes(NodeProcessesCommand),
    Disk(NodeDiskArgs),
    /// Users of machines
    #[command(subcommand)]
    Users(NodeUsersCommand),
    /// Backups of paths of machines
    #[command(subcommand)]
    Backup(NodeBackupCommand),
    /// Print changes of nodes as they happen
    #[command(after_help = "Examples:\n  hostler node watch\n  hostler node watch -o jsonl")]
    Watch,
    /// Tickets with which machines become nodes
    #[command(subcommand)]
    Token(JoinTokenCommand),
}

#[derive(Args, Clone, Debug)]
pub struct NodeListArgs {
    /// Only nodes in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(NodeState))]
    pub state: Option<NodeState>,
    /// Only nodes with these labels
    #[arg(short = 'l', long, value_name = "KEY=VALUE,..")]
    pub selector: Option<String>,
    /// Show cores, memory, disk and GPUs: how much is in use, of how much
    #[arg(long)]
    pub resources: bool,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Args, Clone, Debug)]
pub struct NodeRef {
    /// Name or id of the node
    #[arg(value_name = "NODE")]
    pub node: String,
}

#[derive(Args, Clone, Debug)]
pub struct NodeRefs {
    /// Names or ids of nodes
    #[arg(value_name = "NODE", required = true)]
    pub nodes: Vec<String>,
}

/// Show what a node has used over time
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler node usage web-1
  hostler node usage web-1 --since 1d -o json

CPU is in cores, READ, WRITTEN, RECEIVED and SENT are bytes a second, all on average; MEMORY is the
most that was seen, DISK what the disk of the agent's data holds. A table puts neighbouring samples
together, documents have each of them.")]
pub struct NodeUsageArgs {
    #[command(flatten)]
    pub node: NodeRef,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN", default_value = "1h")]
    pub since: When,
}

#[derive(Args, Clone, Debug)]
pub struct LabelArgs {
    /// Name or id of the node
    #[arg(value_name = "NODE")]
    pub node: String,
    /// KEY=VALUE sets a label, KEY- removes it
    #[arg(value_name = "LABEL", required = true)]
    pub labels: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct CordonArgs {
    #[command(flatten)]
    pub nodes: NodeRefs,
    /// Why, for those who see it
    #[arg(long, value_name = "TEXT", default_value = "cordoned by hand")]
    pub reason: String,
}

#[derive(Args, Clone, Debug)]
pub struct DrainArgs {
    #[command(flatten)]
    pub node: NodeRef,
    /// Why, for those who see it
    #[arg(long, value_name = "TEXT", default_value = "drained by hand")]
    pub reason: String,
    /// After this long, stop what still runs; otherwise wait for as long as it takes
    #[arg(long, value_name = "DURATION")]
    pub deadline: Option<Span>,
    /// Do not wait until it is empty; prints the operation's id
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum JoinTokenCommand {
    /// Make a ticket for one machine; prints the command to run there
    #[command(
        after_help = "Examples:\n  hostler node token create\n  hostler node token create --name web-1 --label disk=ssd --ttl 1d\n  hostler node token create -o jsonpath='{.ticket}'"
    )]
    Create(JoinTokenCreateArgs),
    /// List tickets
    #[command(visible_alias = "list", after_help = "Examples:\n  hostler node token ls")]
    Ls(ListArgs),
    /// Revoke tickets that were not used
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler node token rm 0192f3c4-0000-7000-8000-000000000000"
    )]
    Rm {
        /// Ids of tickets
        #[arg(value_name = "ID", required = true)]
        tokens: Vec<String>,
    },
}

#[derive(Args, Clone, Debug)]
pub struct JoinTokenCreateArgs {
    /// The only name that can join with it
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// Label the node will have
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub labels: Vec<String>,
    /// How long it is valid; one hour when absent, at most 30d
    #[arg(long, value_name = "DURATION")]
    pub ttl: Option<Span>,
}
