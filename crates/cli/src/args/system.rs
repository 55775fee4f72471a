//! Everything about the program itself.

use clap::{Args, Subcommand};

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
