//! Projects, users, tokens.

use clap::{Args, Subcommand};
use hostler_api::user::GlobalRole;
use hostler_model::{Bytes, Cores, Name, Network, Role, RoleName, Span};

use super::{Limit, ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum ProjectCommand {
    /// Create a project
    #[command(
        after_help = "Examples:\n  hostler project create lab --description 'the lab'\n  hostler project create lab --weight 2 --quota-cores 64 --quota-gpus 8"
    )]
    Create(ProjectCreateArgs),
    /// List the projects you have a role in
    #[command(visible_alias = "list", after_help = "Examples:\n  hostler project ls")]
    Ls(ListArgs),
    /// Show a project in full
    #[command(after_help = "Examples:\n  hostler project get lab")]
    #[command(visible_alias = "show")]
    Get(ProjectRef),
    /// Change a project: its description, its weight, its quotas
    #[command(
        visible_alias = "set",
        after_help = "Examples:\n  hostler project edit lab --description 'the big lab'\n  hostler project edit lab --weight 3 --quota-memory 512GiB --quota-gpus none"
    )]
    Edit(ProjectEditArgs),
    /// Remove projects that hold nothing any more
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler project rm lab")]
    Rm(ProjectRefs),
    /// Show what a project holds of what it may hold
    #[command(
        after_help = "Examples:\n  hostler project quota lab\n  hostler project quota -o json\n\nAn admin sets quotas with `hostler project edit`."
    )]
    Quota {
        /// Name or id of the project; the one you work in when absent
        #[arg(value_name = "PROJECT")]
        name: Option<String>,
    },
    /// List who holds a role in a project
    #[command(after_help = "Examples:\n  hostler project members lab")]
    Members(MembersArgs),
    /// Give a user or a group a role in a project
    #[command(
        after_help = "Examples:\n  hostler project grant lab ada operator\n  hostler project grant lab group:ops deployer"
    )]
    Grant {
        /// Name or id of the project
        #[arg(value_name = "PROJECT")]
        in_project: String,
        /// Name or id of the user, or group: and the name of a group
        #[arg(value_name = "USER")]
        user: String,
        /// viewer, user, operator or admin, each including those before it; or a role of your own
        #[arg(value_name = "ROLE")]
        role: RoleName,
    },
    /// Take a user's or a group's role in a project away
    #[command(
        after_help = "Examples:\n  hostler project revoke lab ada\n  hostler project revoke lab group:ops"
    )]
    Revoke {
        /// Name or id of the project
        #[arg(value_name = "PROJECT")]
        in_project: String,
        /// Name or id of the user, or group: and the name of a group
        #[arg(value_name = "USER")]
        user: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct ProjectCreateArgs {
    /// Name of the project
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
    #[command(flatten)]
    pub share: ShareArgs,
}

/// How much of the fleet a project gets, and how much it may hold at once.
#[derive(Args, Clone, Debug, Default)]
pub struct ShareArgs {
    /// Its part of the fleet when others want it too, against 1 for most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub weight: Option<u32>,
    /// Cores that its tasks and workloads may hold at once, or none for no limit
    #[arg(long, value_name = "N|none")]
    pub quota_cores: Option<Limit<Cores>>,
    /// Memory, in the same way
    #[arg(long, value_name = "SIZE|none")]
    pub quota_memory: Option<Limit<Bytes>>,
    /// GPUs, in the same way
    #[arg(long, value_name = "N|none")]
    pub quota_gpus: Option<Limit<u32>>,
    /// Tasks that may wait or run at once, or none for no limit
    #[arg(long, value_name = "N|none")]
    pub quota_tasks: Option<Limit<u64>>,
    /// Workloads that may be applied, or none for no limit
    #[arg(long, value_name = "N|none")]
    pub quota_workloads: Option<Limit<u64>>,
    /// Secrets, in the same way
    #[arg(long, value_name = "N|none")]
    pub quota_secrets: Option<Limit<u64>>,
    /// What its files and outputs may take as blobs, or none for no limit
    #[arg(long, value_name = "SIZE|none")]
    pub quota_blobs: Option<Limit<Bytes>>,
    /// What nodes may keep of the output of its runs, or none for no limit
    #[arg(long, value_name = "SIZE|none")]
    pub quota_logs: Option<Limit<Bytes>>,
    /// What the keys and values of its state may take, or none for no limit
    #[arg(long, value_name = "SIZE|none")]
    pub quota_state: Option<Limit<Bytes>>,
    /// Stacks that may be there at once, or none for no limit
    #[arg(long, value_name = "N|none")]
    pub quota_stacks: Option<Limit<u64>>,
}

#[derive(Args, Clone, Debug)]
pub struct ProjectRef {
    /// Name or id of the project
    #[arg(value_name = "PROJECT")]
    pub name: String,
}

#[derive(Args, Clone, Debug)]
pub struct ProjectRefs {
    /// Names or ids of projects
    #[arg(value_name = "PROJECT", required = true)]
    pub names: Vec<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(
    clap::ArgGroup::new("what")
        .required(true)
        .multiple(true)
        .args(["description", "weight", "quota_cores", "quota_memory", "quota_gpus", "quota_tasks"])
        .args(["quota_workloads", "quota_secrets", "quota_blobs", "quota_logs", "quota_state"])
        .arg("quota_stacks")
))]
pub struct ProjectEditArgs {
    #[command(flatten)]
    pub project: ProjectRef,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    #[command(flatten)]
    pub share: ShareArgs,
}

#[derive(Args, Clone, Debug)]
pub struct MembersArgs {
    /// Name or id of the project; the one you work in when absent
    #[arg(value_name = "PROJECT")]
    pub name: Option<String>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Clone, Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user or a service account
    #[command(
        after_help = "Examples:\n  hostler user create ada\n  hostler user create ada --role operator --password-stdin < password\n  hostler user create ci --service"
    )]
    Create(UserCreateArgs),
    /// Invite somebody: makes a link with which they make an account of their own
    #[command(
        after_help = "Examples:\n  hostler user invite --role user\n  hostler user invite --role operator --only-project lab --name ada --email ada@example.org\n  hostler user invite --role viewer --ttl 1h -q\n\nThe link works once. It is opened in a browser, or given to `hostler login --invitation`. Nothing is\nsent anywhere: hand it over yourself. Nobody invites to a role that they do not hold."
    )]
    Invite(super::UserInviteArgs),
    /// Make a link with which a user sets a new password
    #[command(
        after_help = "Examples:\n  hostler user reset ada\n  hostler user reset ada --ttl 15m\n\nThe link works once. The old password goes on until the link is used; then every session ends. A\nsecond factor stays; `hostler user totp-reset` takes it off."
    )]
    Reset(super::UserResetArgs),
    /// Take the second factor off users who lost their device and their recovery codes
    #[command(after_help = "Examples:\n  hostler user totp-reset ada")]
    TotpReset(UserRefs),
    /// Who users are at the identity provider
    #[command(subcommand)]
    Identity(super::UserIdentityCommand),
    /// List users and service accounts
    #[command(visible_alias = "list", after_help = "Examples:\n  hostler user ls")]
    Ls(ListArgs),
    /// Show a user in full
    #[command(after_help = "Examples:\n  hostler user get ada")]
    #[command(visible_alias = "show")]
    Get {
        /// Name or id of the user
        #[arg(value_name = "USER")]
        user: String,
    },
    /// Let users do nothing until they are enabled again
    #[command(after_help = "Examples:\n  hostler user disable ada")]
    Disable(UserRefs),
    /// Let disabled users in again
    #[command(after_help = "Examples:\n  hostler user enable ada")]
    Enable(UserRefs),
    /// Change your own password, or as admin somebody's
    #[command(
        after_help = "Examples:\n  hostler user passwd\n  hostler user passwd ada --password-stdin < password"
    )]
    Passwd(UserPasswdArgs),
    /// Set a user's or a group's role on the whole installation
    #[command(
        after_help = "Examples:\n  hostler user role ada operator\n  hostler user role ada none\n  hostler user role group:ops viewer"
    )]
    Role {
        /// Name or id of the user, or group: and the name of a group
        #[arg(value_name = "USER")]
        user: String,
        /// viewer, user, operator or admin, each including those before it; or a role of your own;
        /// `none` takes it away
        #[arg(value_name = "ROLE")]
        role: GlobalRole,
    },
    /// Remove users with their tokens, sessions and roles
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler user rm ada")]
    Rm(UserRefs),
}

/// How a password comes in: asked for, or from stdin. Never as a flag, where others can see it.
#[derive(Args, Clone, Debug, Default)]
pub struct PasswordArgs {
    /// Read the password from stdin instead of asking
    #[arg(long)]
    pub password_stdin: bool,
}

#[derive(Args, Clone, Debug)]
pub struct UserCreateArgs {
    /// Name of the user
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// A program that uses tokens only, without a password
    #[arg(long, conflicts_with = "password_stdin")]
    pub service: bool,
    /// Role on the whole installation
    #[arg(long, value_name = "ROLE")]
    pub role: Option<RoleName>,
    #[command(flatten)]
    pub password: PasswordArgs,
}

#[derive(Args, Clone, Debug)]
pub struct UserPasswdArgs {
    /// Name or id of the user; yourself when absent
    #[arg(value_name = "USER")]
    pub user: Option<String>,
    /// Read the password from stdin instead of asking; for your own, the present one on the first
    /// line and the new one on the second
    #[arg(long)]
    pub password_stdin: bool,
}

#[derive(Args, Clone, Debug)]
pub struct UserRefs {
    /// Names or ids of users
    #[arg(value_name = "USER", required = true)]
    pub users: Vec<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token; prints its secret, this once
    #[command(
        after_help = "Examples:\n  hostler token create laptop --role user\n  hostler token create deploy --user ci --role user --only-project lab --ttl 30d\n  hostler token create robot --only-project lab,field --can task.submit,task.read --from 10.0.0.0/8\n  HOSTLER_TOKEN=$(hostler token create tmp --role viewer --ttl 1h) some-tool"
    )]
    Create(TokenCreateArgs),
    /// List tokens
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler token ls\n  hostler token ls -o wide"
    )]
    Ls(ListArgs),
    /// Revoke tokens at once
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler token rm 0192f3c4-0000-7000-8000-000000000000"
    )]
    Rm {
        /// Ids of tokens
        #[arg(value_name = "ID", required = true)]
        tokens: Vec<String>,
    },
}

#[derive(Args, Clone, Debug)]
pub struct TokenCreateArgs {
    /// Name of the token
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// The token can never do more than this role; may be left out with --can
    #[arg(long, value_name = "ROLE", value_parser = labels_of!(Role), required_unless_present = "can")]
    pub role: Option<Role>,
    /// For whom; yourself when absent
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// The token works in these projects only
    #[arg(long, value_name = "PROJECT,..", value_delimiter = ',')]
    pub only_project: Vec<String>,
    /// The token is for these permissions only, such as task.submit, or task.* for all of tasks
    #[arg(long, value_name = "PERMISSION,..", value_delimiter = ',')]
    pub can: Vec<String>,
    /// The token works from these addresses only, such as 10.0.0.0/8
    #[arg(long, value_name = "RANGE,..", value_delimiter = ',')]
    pub from: Vec<Network>,
    /// How long it is valid; 90d when absent
    #[arg(long, value_name = "DURATION")]
    pub ttl: Option<Span>,
}
