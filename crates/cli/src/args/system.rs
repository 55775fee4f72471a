//! Everything about the program itself.

use clap::{Args, Subcommand};

use super::When;

/// Say why a task is where it is, or what an error code means
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler explain build
  hostler explain node-unreachable
  hostler explain task/conflict        a task that is named like a code

Codes are explained without a server.")]
pub struct ExplainArgs {
    /// Name or id of a task, or an error code
    #[arg(value_name = "TASK|CODE")]
    pub what: String,
}

/// Find out what is wrong, from this machine to the server and the nodes, and what to do
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler doctor
  hostler doctor --fix
  hostler doctor --data-dir /var/lib/hostler     a server of this machine, also when it is down
  hostler doctor -o json

With --config, --data-dir or --database, and where /etc/hostler/hostler.toml is, the server's files and
its database are looked at too. Exits with 1 when something is critical, with 4 when there are
warnings, and with 0 otherwise.")]
pub struct DoctorArgs {
    /// Do what can be done without risk, after asking
    #[arg(long)]
    pub fix: bool,
    #[command(flatten)]
    pub store: super::BackupStoreArgs,
}

/// Show key figures of the installation over time: nodes, tasks, what is used, how fast the server answers
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler metrics
  hostler metrics --since 6h cpu.used cpu.total
  hostler metrics --since 1d -o json

A server remembers ten seconds for an hour, a minute for half a day, a quarter of an hour for a week,
and forgets all of it when it ends; /metrics is for Prometheus. api.* and queue.* are what the server
that answers saw itself.")]
pub struct MetricsArgs {
    /// Figures to show; all of them without any
    #[arg(value_name = "FIGURE", value_parser = super::labels_of!(hostler_model::Figure), hide_possible_values = true)]
    pub figures: Vec<hostler_model::Figure>,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN", default_value = "1h")]
    pub since: When,
}

#[derive(Clone, Debug, Subcommand)]
pub enum DebugCommand {
    /// Show what every reconciler of the server is doing and last did
    #[command(
        after_help = "Examples:\n  hostler debug reconcilers\n  hostler debug reconcilers -o wide"
    )]
    Reconcilers,
}

/// Explain a command or a topic
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler help                  everything at a glance
  hostler help task submit      a command
  hostler help output           a topic
  hostler help topics           which topics there are")]
pub struct HelpArgs {
    /// Words of a command, or a topic
    #[arg(value_name = "COMMAND|TOPIC")]
    pub words: Vec<String>,
}

/// Print a completion script for a shell; it asks the server for names
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler completion bash > ~/.local/share/bash-completion/completions/hostler
  hostler completion zsh > ~/.zfunc/_hostler
  hostler completion fish > ~/.config/fish/completions/hostler.fish")]
pub struct CompletionArgs {
    /// Shell to write for
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: ShellName,
}

/// Shells that can complete.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum ShellName {
    Bash,
    Zsh,
    Fish,
}
