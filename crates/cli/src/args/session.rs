//! Getting in, and the servers this machine knows.

use clap::{Args, Subcommand};
use hostler_trust::Fingerprint;

/// Log in to a server and make it the current context
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler login https://control:7443
  hostler login https://control:7443 --name ada --fingerprint sha256:.. --password-stdin < password
  hostler login https://127.0.0.1:7443 --setup CODE --name admin
  hostler login https://control:7443 --oidc
  hostler login --invitation 'https://control:7443/#invitation=..' --name ada
  hostler login --reset 'https://control:7443/#reset=..'

The first contact shows the fingerprint of the server's authority; compare it with the one
the server printed at its start. Afterwards only servers of that authority are spoken to.
The links of --invitation and --reset carry that fingerprint with them. Where a second factor is on,
its code is asked for; with --password-stdin it stands on the second line.
--context gives the context a name; the host's otherwise.")]
pub struct LoginArgs {
    /// Address of the server; the current context's when absent
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Name to log in with
    #[arg(long, value_name = "USER")]
    pub name: Option<String>,
    /// Fingerprint that the server's authority must have
    #[arg(long, value_name = "SHA256")]
    pub fingerprint: Option<Fingerprint>,
    /// Create the first admin with the code that the first start printed
    #[arg(long, value_name = "CODE", conflicts_with = "token_stdin")]
    pub setup: Option<String>,
    /// Make an account with an invitation: its link
    #[arg(long, value_name = "LINK", conflicts_with_all = ["setup", "token_stdin", "url"])]
    pub invitation: Option<String>,
    /// Set a new password with the link that an admin made
    #[arg(long, value_name = "LINK", conflicts_with_all = ["setup", "token_stdin", "url", "invitation"])]
    pub reset: Option<String>,
    /// Log in at the identity provider, with a browser
    #[arg(long, conflicts_with_all = ["setup", "token_stdin", "invitation", "reset", "name", "password_stdin"])]
    pub oidc: bool,
    /// Read the password from stdin instead of asking
    #[arg(long)]
    pub password_stdin: bool,
    /// Keep a token read from stdin instead of logging in with a password
    #[arg(long, conflicts_with_all = ["password_stdin", "name"])]
    pub token_stdin: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ContextCommand {
    /// List contexts
    #[command(visible_alias = "list", after_help = "Examples:\n  hostler context ls")]
    Ls,
    /// Make a context the current one
    #[command(
        after_help = "Examples:\n  hostler context use staging\n  hostler context use staging --project lab"
    )]
    Use {
        /// Name of the context
        #[arg(value_name = "CONTEXT")]
        name: String,
    },
    /// Show what the next command would use, and where each value comes from
    #[command(
        after_help = "Examples:\n  hostler context show\n  hostler context show --context staging"
    )]
    Show,
    /// Forget contexts with their tokens
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler context rm staging")]
    Rm {
        /// Names of contexts
        #[arg(value_name = "CONTEXT", required = true)]
        names: Vec<String>,
    },
}
