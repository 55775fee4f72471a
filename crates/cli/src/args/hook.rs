//! Event hooks: what is done whenever something happens.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{DeliveryState, EventPattern, Name, OnDead, SecretRef, Span, WebhookFormat};

use super::{ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum HookCommand {
    /// Make or change a hook
    #[command(
        after_help = "Examples:\n  hostler hook add tell-ops --on task.failed --webhook https://ops.example/in --sign hook-key\n  hostler hook add slack --on 'task.*' --filter 'payload.exitCode > 1' --webhook-secret slack-url --format slack\n  hostler hook add mail --on node.offline --global --acts-in default --webhook https://mail.example/send --format email --to ops@example.com\n  hostler hook add tidy --on task.failed --lua tidy.lua\n  hostler hook add rebuild --on workflow.pushed --workflow build\n  hostler hook add note --on 'workload.*' -- sh -c 'echo \"$EVENT_KIND\" >> /var/log/notes'\n  hostler hook add from-file --file hook.yaml\n\nA hook acts in your name, with the rights that you have when it acts. It hears of nothing that happened before.\nFilters: comparisons (== != < <= > >=), in, =~, startsWith, endsWith, contains, has(), and, or, not, over\nkind, object.kind, object.name, actor.name, message, payload.… and the rest of what `event ls -o json` shows."
    )]
    Add(Box<HookAddArgs>),
    /// List hooks of the project, or with --global of the whole installation
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler hook ls\n  hostler hook ls --global -o json"
    )]
    Ls {
        #[command(flatten)]
        place: HookPlace,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a hook and how its deliveries stand
    #[command(visible_alias = "get", after_help = "Examples:\n  hostler hook show tell-ops")]
    Show(HookArgs),
    /// Remove hooks, with what they had not delivered
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler hook rm tell-ops")]
    Rm {
        /// Names of hooks
        #[arg(value_name = "HOOK", required = true)]
        hooks: Vec<String>,
        #[command(flatten)]
        place: HookPlace,
    },
    /// Let a hook hear events again, from now on
    #[command(after_help = "Examples:\n  hostler hook enable tell-ops")]
    Enable(HookArgs),
    /// Keep a hook from hearing events; what it has not delivered waits
    #[command(after_help = "Examples:\n  hostler hook disable tell-ops")]
    Disable(HookArgs),
    /// Deliver one event now, and show what happened
    #[command(
        after_help = "Examples:\n  hostler hook test tell-ops --event 4711\n\n`hostler event ls` shows the numbers. Whether the hook would have taken the event by itself is told too.\nExits with 4 when it could not be delivered."
    )]
    Test {
        #[command(flatten)]
        hook: HookArgs,
        /// Number of the event
        #[arg(long, value_name = "SEQUENCE")]
        event: u64,
    },
    /// List what a hook delivered, or is about to, newest first
    #[command(
        after_help = "Examples:\n  hostler hook log tell-ops\n  hostler hook log tell-ops --state ready -o wide"
    )]
    Log {
        #[command(flatten)]
        hook: HookArgs,
        /// Only those in this state
        #[arg(long, value_name = "STATE", value_parser = labels_of!(DeliveryState))]
        state: Option<DeliveryState>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// List what a hook gave up, or discard it
    #[command(
        after_help = "Examples:\n  hostler hook dead tell-ops\n  hostler hook dead tell-ops --discard 4711\n  hostler hook dead tell-ops --discard-all\n\nDead letters are kept for 30 days."
    )]
    Dead {
        #[command(flatten)]
        hook: HookArgs,
        /// Forget the one of this event
        #[arg(long, value_name = "SEQUENCE", conflicts_with = "discard_all")]
        discard: Option<u64>,
        /// Forget all of them
        #[arg(long)]
        discard_all: bool,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Deliver again what a hook gave up
    #[command(
        after_help = "Examples:\n  hostler hook replay tell-ops --event 4711\n  hostler hook replay tell-ops --all"
    )]
    Replay {
        #[command(flatten)]
        hook: HookArgs,
        /// The one of this event
        #[arg(
            long,
            value_name = "SEQUENCE",
            required_unless_present = "all",
            conflicts_with = "all"
        )]
        event: Option<u64>,
        /// All of them, the oldest first
        #[arg(long)]
        all: bool,
    },
}

/// Where a hook is.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct HookPlace {
    /// Of the whole installation instead of the project
    #[arg(long)]
    pub global: bool,
}

#[derive(Args, Clone, Debug)]
pub struct HookArgs {
    /// Name of the hook
    #[arg(value_name = "HOOK")]
    pub hook: String,
    #[command(flatten)]
    pub place: HookPlace,
}

#[derive(Args, Clone, Debug)]
pub struct HookAddArgs {
    /// Name of the hook
    #[arg(value_name = "NAME")]
    pub name: Name,
    #[command(flatten)]
    pub place: HookPlace,
    /// File that says all of it, in YAML or JSON; - for standard input
    #[arg(
        short,
        long,
        value_name = "FILE",
        conflicts_with_all = ["on", "filter", "webhook", "webhook_secret", "lua", "workflow", "command"]
    )]
    pub file: Option<PathBuf>,
    /// Which events: kinds such as task.failed, all of a noun as task.*, or *
    #[arg(long, value_name = "EVENTS,..", value_delimiter = ',', required_unless_present = "file")]
    pub on: Vec<EventPattern>,
    /// Only those of which this holds
    #[arg(long, value_name = "EXPRESSION", default_value = "", hide_default_value = true)]
    pub filter: String,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
    /// Tell this address
    #[arg(long, value_name = "URL", group = "action")]
    pub webhook: Option<String>,
    /// Tell the address that this secret has
    #[arg(long, value_name = "SECRET", group = "action")]
    pub webhook_secret: Option<SecretRef>,
    /// Call on_event(event) of this Lua file, on a node
    #[arg(long, value_name = "FILE", group = "action")]
    pub lua: Option<PathBuf>,
    /// Carry out this workflow, with the event as the value `event`
    #[arg(long, value_name = "WORKFLOW", group = "action")]
    pub workflow: Option<String>,
    /// Submit a task that runs this, with the event in EVENT
    #[arg(last = true, value_name = "COMMAND", group = "action")]
    pub command: Vec<String>,
    /// What a webhook is sent
    #[arg(long, value_name = "FORMAT", value_parser = labels_of!(WebhookFormat))]
    pub format: Option<WebhookFormat>,
    /// File with what a webhook is sent, with {{ object.name }} and the like filled in
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub template: Option<PathBuf>,
    /// For the format email: to whom
    #[arg(long, value_name = "ADDRESS,..", value_delimiter = ',')]
    pub to: Vec<String>,
    /// A header of a webhook
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// A secret that a webhook is sent as bearer token
    #[arg(long, value_name = "SECRET")]
    pub bearer: Option<SecretRef>,
    /// A secret that a webhook is signed with
    #[arg(long, value_name = "SECRET")]
    pub sign: Option<SecretRef>,
    /// With --global: the project where it acts, and whose secrets it uses
    #[arg(long, value_name = "PROJECT", requires = "global")]
    pub acts_in: Option<Name>,
    /// Nodes on which a Lua file or a workflow runs
    #[arg(long = "on-node", value_name = "NODE,..", value_delimiter = ',')]
    pub nodes: Vec<String>,
    /// Deliveries at the same time
    #[arg(long, value_name = "N")]
    pub at_once: Option<u32>,
    /// Tries of a delivery in all
    #[arg(long, value_name = "N")]
    pub attempts: Option<u32>,
    /// Give up what was not delivered for so long
    #[arg(long, value_name = "DURATION")]
    pub give_up_after: Option<Span>,
    /// How long one try may take
    #[arg(long, value_name = "DURATION")]
    pub time_limit: Option<Span>,
    /// What becomes of later events about an object after one that was given up
    #[arg(long, value_name = "ANSWER", value_parser = labels_of!(OnDead))]
    pub on_dead: Option<OnDead>,
    /// How many times over it may answer to what it caused itself
    #[arg(long, value_name = "N")]
    pub loop_depth: Option<u32>,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE, such as X-Team=ops")?;
    Ok((name.to_owned(), value.to_owned()))
}
