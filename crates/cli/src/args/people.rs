//! How people come in and prove who they are: invitations, resets, sessions, the second factor.

use clap::{Args, Subcommand};
use hostler_model::{Name, Role, Span};

use super::{ListArgs, PasswordArgs, labels_of};

#[derive(Args, Clone, Debug)]
pub struct UserInviteArgs {
    /// Role that the new account will have
    #[arg(long, value_name = "ROLE", value_parser = labels_of!(Role))]
    pub role: Role,
    /// In this project only; on the whole installation when absent
    #[arg(long, value_name = "PROJECT")]
    pub only_project: Option<String>,
    /// The only name that can be taken
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// Whom it is meant for, as a note; nothing is sent there
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub email: String,
    /// How long it is valid; 3d when absent
    #[arg(long, value_name = "DURATION")]
    pub ttl: Option<Span>,
}

#[derive(Args, Clone, Debug)]
pub struct UserResetArgs {
    /// Name or id of the user
    #[arg(value_name = "USER")]
    pub user: String,
    /// How long the link is valid; 1h when absent
    #[arg(long, value_name = "DURATION")]
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum UserIdentityCommand {
    /// List the identities that log in as a user
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler user identity ls ada\n  hostler user identity ls ada -o json"
    )]
    Ls {
        /// Name or id of the user
        #[arg(value_name = "USER")]
        user: String,
    },
    /// Let an identity at the provider log in as a user
    #[command(
        after_help = "Examples:\n  hostler user identity add ada 00u1x7\n\nThe subject is what the provider calls the person for ever: its claim `sub`. Who tries to log in\nwithout being linked is told it."
    )]
    Add {
        /// Name or id of the user
        #[arg(value_name = "USER")]
        user: String,
        /// What the provider calls the person
        #[arg(value_name = "SUBJECT")]
        subject: String,
    },
    /// Let an identity not log in as a user any more; sessions go on until they are ended
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler user identity rm ada 00u1x7\n\n`hostler session rm --all --user ada` ends the sessions."
    )]
    Rm {
        /// Name or id of the user
        #[arg(value_name = "USER")]
        user: String,
        /// What the provider calls the person
        #[arg(value_name = "SUBJECT")]
        subject: String,
        /// The provider, where several have the same subject
        #[arg(long, value_name = "URL")]
        issuer: Option<String>,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub enum InvitationCommand {
    /// List invitations, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler invitation ls\n  hostler invitation ls --only-project lab"
    )]
    Ls {
        #[command(flatten)]
        scope: InvitationScope,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Revoke invitations that were not used
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler invitation rm 0192f3c4-0000-7000-8000-000000000000"
    )]
    Rm(InvitationRefs),
}

/// Which invitations; admins of a project see those of their project.
#[derive(Args, Clone, Debug)]
pub struct InvitationScope {
    /// Those to this project; all of them when absent
    #[arg(long, value_name = "PROJECT")]
    pub only_project: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct InvitationRefs {
    /// Ids of invitations
    #[arg(value_name = "ID", required = true)]
    pub invitations: Vec<String>,
    #[command(flatten)]
    pub scope: InvitationScope,
}

#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// List browsers that are logged in as you, or as somebody else
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler session ls\n  hostler session ls --user ada"
    )]
    Ls(SessionListArgs),
    /// End sessions
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler session rm 0192f3c4-0000-7000-8000-000000000000\n  hostler session rm --all\n  hostler session rm --all --user ada\n\n--all also revokes the tokens that `hostler login` made elsewhere. Your own session here goes on."
    )]
    Rm(SessionRemoveArgs),
}

#[derive(Args, Clone, Debug)]
pub struct SessionListArgs {
    /// Whose; yours when absent
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["sessions", "all"])))]
pub struct SessionRemoveArgs {
    /// Ids of sessions
    #[arg(value_name = "ID")]
    pub sessions: Vec<String>,
    /// All of them, and command lines that logged in
    #[arg(long)]
    pub all: bool,
    /// Whose; yours when absent
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum TotpCommand {
    /// Show whether you have a second factor
    #[command(after_help = "Examples:\n  hostler auth totp show")]
    Show,
    /// Make a secret for your authenticator, and confirm it with a code
    #[command(
        visible_alias = "enroll",
        after_help = "Examples:\n  hostler auth totp enrol\n  hostler auth totp enrol --password-stdin < password\n\nType the secret into an authenticator, or open the otpauth link with one. Where nobody can be asked\nfor the code, give it to `hostler auth totp confirm`."
    )]
    Enrol(TotpEnrolArgs),
    /// Confirm the secret with a code of it; prints ten recovery codes, this once
    #[command(after_help = "Examples:\n  hostler auth totp confirm 123456")]
    Confirm(TotpConfirmArgs),
    /// Switch the second factor off; needs the password and a code
    #[command(
        after_help = "Examples:\n  hostler auth totp disable\n  hostler auth totp disable 123456 --password-stdin < password"
    )]
    Disable(TotpDisableArgs),
}

#[derive(Args, Clone, Debug)]
pub struct TotpEnrolArgs {
    #[command(flatten)]
    pub password: PasswordArgs,
}

#[derive(Args, Clone, Debug)]
pub struct TotpConfirmArgs {
    /// Six digits of the authenticator; asked for when absent
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub struct TotpDisableArgs {
    /// Six digits of the authenticator, or a recovery code; asked for when absent
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    #[command(flatten)]
    pub password: PasswordArgs,
}
