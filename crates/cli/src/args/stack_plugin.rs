//! Plugins of stacks: types of resources of one's own.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{Bytes, Name, SecretRef, Span};

use super::ListArgs;

#[derive(Clone, Debug, Subcommand)]
pub enum StackPluginCommand {
    Push(StackPluginPushArgs),
    /// List the plugins of the project, the newest version of each
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler stack plugin ls\n  hostler stack plugin ls -o json"
    )]
    Ls(ListArgs),
    /// Show a plugin: its types, what it is made of, and where it runs
    #[command(
        after_help = "Examples:\n  hostler stack plugin show lines\n  hostler stack plugin show lines --version 2 -o json\n\n`hostler stack type TYPE` shows the properties and attributes of a type."
    )]
    Show(StackPluginRef),
    /// List the versions of a plugin, newest first
    #[command(
        after_help = "Examples:\n  hostler stack plugin versions lines\n  hostler stack plugin versions lines -o json"
    )]
    Versions {
        /// Name of the plugin
        #[arg(value_name = "PLUGIN")]
        plugin: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Remove a plugin with all its versions, or one of them
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler stack plugin rm lines --version 1\n  hostler stack plugin rm lines\n\nRefused while a stack is made with it; nothing is removed then. Its numbers are never given again."
    )]
    Rm(StackPluginRef),
    Test(StackPluginTestArgs),
}

#[derive(Args, Clone, Debug)]
pub struct StackPluginRef {
    /// Name of the plugin
    #[arg(value_name = "PLUGIN")]
    pub plugin: String,
    /// Number of the version
    #[arg(long, value_name = "N")]
    pub version: Option<u32>,
}

/// Keep a plugin: a program that speaks lines of JSON, or a file of Lua that returns a table of types
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler stack plugin push lines.py
  hostler stack plugin push lines.lua --node web-1
  hostler stack plugin push dns.py --selector role=dns --timeout 5m --secret prod/dns-token

A node is asked at once which types it has; so one has to be there on which it can run. It gets a
new version, unless nothing changed. Stacks that are there keep the version that they were made
with until they are updated. What it does runs as tasks of the project, in the name of the stack.")]
pub struct StackPluginPushArgs {
    /// A program, or a file that ends with .lua or .luau
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What it is called, when it is not called like its file
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// Only on this node
    #[arg(long, value_name = "NODE")]
    pub node: Option<Name>,
    /// Only on nodes with this label
    #[arg(short = 'l', long, value_name = "KEY=VALUE")]
    pub selector: Vec<String>,
    /// As this login of the node
    #[arg(long, value_name = "LOGIN")]
    pub user: Option<String>,
    /// How long a call may take, such as 90s; 1m when nothing is said
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// How much memory a call may use, such as 256Mi
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// A secret that it may read
    #[arg(long, value_name = "[ENV/]NAME[:VERSION]")]
    pub secret: Vec<SecretRef>,
}

/// Try out everything that a plugin has to hold, on this machine and without a server
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler stack plugin test ./lines.py
  hostler stack plugin test lines.lua -o json
  hostler stack plugin test ./slow.py --timeout 2m

Takes every type through its life with the properties of its example, in an empty directory: made,
made again under the same key, looked at, changed, replaced, taken over, removed, removed again,
ended in the middle, and several at once. Exits with 1 when something does not hold.")]
pub struct StackPluginTestArgs {
    /// A program, or a file that ends with .lua or .luau
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How long a call may take
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub timeout: Span,
}
