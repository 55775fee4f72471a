//! Roles, groups, and what the authoriser says.

use clap::{Args, Subcommand};
use hostler_model::Name;

use super::{ListArgs, TotpCommand};

#[derive(Clone, Debug, Subcommand)]
pub enum RoleCommand {
    /// List roles: the built-in ones and your own
    #[command(visible_alias = "list", after_help = "Examples:\n  hostler role ls")]
    Ls(ListArgs),
    /// Show what a role allows, and to admins who holds it
    #[command(
        visible_alias = "get",
        after_help = "Examples:\n  hostler role show operator\n  hostler role show deployer -o json"
    )]
    Show {
        /// Name of the role
        #[arg(value_name = "ROLE")]
        role: String,
    },
    /// Create a role: a named set of permissions, up to what you hold yourself
    #[command(
        after_help = "Examples:\n  hostler role create deployer --can 'workload.*,task.read'\n  hostler role create quiet-viewer --can task.read,workload.read,project.read --description 'no output'\n\nGive it like a built-in one: hostler project grant lab ada deployer"
    )]
    Create(RoleCreateArgs),
    /// Change what a role allows; it counts from the next request of everybody who holds it
    #[command(
        visible_alias = "set",
        after_help = "Examples:\n  hostler role edit deployer --add task.kill --remove workload.exec\n  hostler role edit deployer --can 'workload.*' --description 'puts things up'"
    )]
    Edit(RoleEditArgs),
    /// Remove roles that nobody holds
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler role rm deployer")]
    Rm {
        /// Names of roles
        #[arg(value_name = "ROLE", required = true)]
        roles: Vec<String>,
    },
}

#[derive(Args, Clone, Debug)]
pub struct RoleCreateArgs {
    /// Name of the role
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// What it allows, such as task.submit, or task.* for all of tasks
    #[arg(long, value_name = "PERMISSION,..", value_delimiter = ',', required = true)]
    pub can: Vec<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
}

#[derive(Args, Clone, Debug)]
#[command(group(
    clap::ArgGroup::new("what")
        .required(true)
        .multiple(true)
        .args(["can", "add", "remove", "description"])
))]
pub struct RoleEditArgs {
    /// Name of the role
    #[arg(value_name = "ROLE")]
    pub role: String,
    /// Everything that it allows from now on
    #[arg(long, value_name = "PERMISSION,..", value_delimiter = ',', conflicts_with_all = ["add", "remove"])]
    pub can: Vec<String>,
    /// What it allows besides
    #[arg(long, value_name = "PERMISSION,..", value_delimiter = ',')]
    pub add: Vec<String>,
    /// What it does not allow any more
    #[arg(long, value_name = "PERMISSION,..", value_delimiter = ',')]
    pub remove: Vec<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum GroupCommand {
    /// List groups
    #[command(visible_alias = "list", after_help = "Examples:\n  hostler group ls")]
    Ls(ListArgs),
    /// Show who is in a group, and the roles they hold through it
    #[command(visible_alias = "get", after_help = "Examples:\n  hostler group show ops")]
    Show {
        /// Name or id of the group
        #[arg(value_name = "GROUP")]
        group: String,
    },
    /// Create a group
    #[command(
        after_help = "Examples:\n  hostler group create ops\n  hostler group create ops ada grace --description 'those on call'\n\nGive it a role: hostler project grant lab group:ops operator, or everywhere with\nhostler user role group:ops operator"
    )]
    Create(GroupCreateArgs),
    /// Put users into a group; it counts from their next request
    #[command(after_help = "Examples:\n  hostler group add ops ada grace")]
    Add(GroupMembersArgs),
    /// Take users out of a group; it counts from their next request
    #[command(after_help = "Examples:\n  hostler group remove ops ada")]
    Remove(GroupMembersArgs),
    /// Remove groups with the roles bound to them; the users stay
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler group rm ops")]
    Rm {
        /// Names or ids of groups
        #[arg(value_name = "GROUP", required = true)]
        groups: Vec<String>,
    },
}

#[derive(Args, Clone, Debug)]
pub struct GroupCreateArgs {
    /// Name of the group
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// Names or ids of users who are in it from the start
    #[arg(value_name = "USER")]
    pub users: Vec<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
}

#[derive(Args, Clone, Debug)]
pub struct GroupMembersArgs {
    /// Name or id of the group
    #[arg(value_name = "GROUP")]
    pub group: String,
    /// Names or ids of users
    #[arg(value_name = "USER", required = true)]
    pub users: Vec<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum AuthCommand {
    /// Say whether you, or as admin somebody else, may do something
    #[command(
        after_help = "Examples:\n  hostler auth can-i task.submit\n  hostler auth can-i cordon node\n  hostler auth can-i task.kill -p lab --as ada\n  hostler auth can-i node.read -q && hostler node ls\n\nAsks about the project that you work in, or the one of -p. Exits with 0 for yes and 1 for no."
    )]
    CanI(AuthAskArgs),
    /// Say which role, group or limit of a token decides, and what would be needed
    #[command(
        after_help = "Examples:\n  hostler auth explain task.submit\n  hostler auth explain node.drain --as ada\n  hostler auth explain task.read --as token:0192f3c4-0000-7000-8000-000000000000 -p lab"
    )]
    Explain(AuthAskArgs),
    /// The second factor: a code of an authenticator besides the password
    #[command(subcommand)]
    Totp(TotpCommand),
}

#[derive(Args, Clone, Debug)]
pub struct AuthAskArgs {
    /// Permission such as task.submit, or the same as VERB OBJECT
    #[arg(value_name = "PERMISSION", required = true, num_args = 1..=2)]
    pub what: Vec<String>,
    /// Name or id of a user, or token: and the id of a token; yourself when absent
    #[arg(long = "as", value_name = "WHO")]
    pub who: Option<String>,
    /// Ask about the whole installation instead of one project
    #[arg(long)]
    pub global: bool,
}
