//! Approvals: what waits for others to agree, deciding, and what needs it.

use clap::{Args, Subcommand};
use hostler_model::{
    ApprovalId, ApprovalParty, ApprovalState, Bytes, Digest, Name, Permission, Span,
};

use super::{ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum ApprovalCommand {
    /// List requests, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler approval ls --to-decide\n  hostler approval ls --mine\n  hostler approval ls --state waiting -o json"
    )]
    Ls(ApprovalListArgs),
    /// Show a request: what will be done, who can agree, who did
    #[command(
        visible_alias = "get",
        after_help = "Examples:\n  hostler approval show 0192f3c4-0000-7000-8000-000000000000"
    )]
    Show {
        /// Id of the request
        #[arg(value_name = "REQUEST")]
        request: ApprovalId,
    },
    /// Agree to what somebody else wants to do
    #[command(
        after_help = "Examples:\n  hostler approval approve 0192f3c4-0000-7000-8000-000000000000 --reason 'change 4711'\n\nTasks go on at once. Anything else is repeated by who asked, with --approval and the id. What is shown\nis what is agreed to: with --digest only if it is that."
    )]
    Approve(ApprovalApproveArgs),
    /// Do not agree; who asked is told why
    #[command(
        after_help = "Examples:\n  hostler approval deny 0192f3c4-0000-7000-8000-000000000000 --reason 'not on a Friday'"
    )]
    Deny(ApprovalDenyArgs),
    /// Take back a request of your own
    #[command(
        after_help = "Examples:\n  hostler approval withdraw 0192f3c4-0000-7000-8000-000000000000"
    )]
    Withdraw {
        /// Id of the request
        #[arg(value_name = "REQUEST")]
        request: ApprovalId,
    },
    /// Policies: what needs an approval
    #[command(subcommand)]
    Policy(ApprovalPolicyCommand),
}

#[derive(Args, Clone, Debug)]
pub struct ApprovalListArgs {
    /// Only those that you made
    #[arg(long)]
    pub mine: bool,
    /// Only those that you can decide on now
    #[arg(long, conflicts_with_all = ["mine", "state"])]
    pub to_decide: bool,
    /// Only those in this state
    #[arg(long, value_name = "STATE", value_parser = labels_of!(ApprovalState))]
    pub state: Option<ApprovalState>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Args, Clone, Debug)]
pub struct ApprovalApproveArgs {
    /// Id of the request
    #[arg(value_name = "REQUEST")]
    pub request: ApprovalId,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub reason: String,
    /// Agree only if this is the digest of what will be done
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<Digest>,
}

#[derive(Args, Clone, Debug)]
pub struct ApprovalDenyArgs {
    /// Id of the request
    #[arg(value_name = "REQUEST")]
    pub request: ApprovalId,
    /// Why not
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ApprovalPolicyCommand {
    /// List policies of the project, or with --global of the whole installation
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler approval policy ls\n  hostler approval policy ls --global"
    )]
    Ls {
        #[command(flatten)]
        place: PolicyPlace,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Show a policy
    #[command(
        visible_alias = "show",
        after_help = "Examples:\n  hostler approval policy get tasks-of-users -o yaml"
    )]
    Get {
        /// Name of the policy
        #[arg(value_name = "POLICY")]
        policy: String,
        #[command(flatten)]
        place: PolicyPlace,
    },
    /// Make or change a policy
    #[command(
        after_help = "Examples:\n  hostler approval policy set tasks-of-users --verb task.submit --exempt role:operator\n  hostler approval policy set big --verb task.submit --gpus-above 4 --by group:leads\n  hostler approval policy set prod --verb workload.apply,workload.remove --tag prod --approvals 2\n  hostler approval policy set drains --global --verb node.drain,node.remove --node-label env=prod\n\nWhat can be held back: task.submit, workflow.run, workload.apply, workload.remove, stack.apply,\nstack.remove, lock.force, node.drain, node.remove, node.administer, node.backup and secret.value. It counts from the next request on."
    )]
    Set(Box<ApprovalPolicySetArgs>),
    /// Remove policies; what waits already goes on waiting
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler approval policy rm tasks-of-users"
    )]
    Rm {
        /// Names of policies
        #[arg(value_name = "POLICY", required = true)]
        policies: Vec<String>,
        #[command(flatten)]
        place: PolicyPlace,
    },
}

/// Where a policy holds.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PolicyPlace {
    /// On the whole installation instead of in the project
    #[arg(long)]
    pub global: bool,
}

#[derive(Args, Clone, Debug)]
pub struct ApprovalPolicySetArgs {
    /// Name of the policy
    #[arg(value_name = "NAME")]
    pub name: Name,
    #[command(flatten)]
    pub place: PolicyPlace,
    /// What needs an approval, such as task.submit
    #[arg(
        long = "verb",
        value_name = "PERMISSION,..",
        value_delimiter = ',',
        required = true,
        value_parser = labels_of!(Permission),
        hide_possible_values = true
    )]
    pub verbs: Vec<Permission>,
    /// Who needs none: users, group:NAME, or role:NAME for that role and those above it
    #[arg(long, value_name = "WHO,..", value_delimiter = ',')]
    pub exempt: Vec<ApprovalParty>,
    /// Who may agree, of those with approval.decide; all of them when absent
    #[arg(long, value_name = "WHO,..", value_delimiter = ',')]
    pub by: Vec<ApprovalParty>,
    /// How many people have to agree: 1 or 2
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub approvals: u32,
    /// Only nodes with this label, and what could run on one
    #[arg(long = "node-label", value_name = "KEY=VALUE", value_parser = label)]
    pub node_labels: Vec<(String, String)>,
    /// Only what has one of these tags
    #[arg(long = "tag", value_name = "TAG,..", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Only containers of an image whose name begins so
    #[arg(long = "image", value_name = "PREFIX,..", value_delimiter = ',')]
    pub images: Vec<String>,
    /// Only privileged containers
    #[arg(long)]
    pub privileged: bool,
    /// Only what asks for more cores
    #[arg(long, value_name = "CORES")]
    pub cores_above: Option<f64>,
    /// Only what asks for more memory
    #[arg(long, value_name = "BYTES")]
    pub memory_above: Option<Bytes>,
    /// Only what asks for more GPUs
    #[arg(long, value_name = "N")]
    pub gpus_above: Option<u32>,
    /// How long a request waits
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub request_ttl: Span,
    /// How long an approval can be used
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub approval_ttl: Span,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE, such as env=prod")?;
    match hostler_model::label_problem(key, value) {
        Some(problem) => Err(problem),
        None => Ok((key.to_owned(), value.to_owned())),
    }
}
