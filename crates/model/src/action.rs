//! Actions: something that the control plane does later, on behalf of somebody.
//!
//! Schedules and hooks keep an [`Action`] and a [`Mandate`]. The action says what is done, in the words of
//! the call that somebody would make: each of them needs the permission of that call ([`Action::permission`])
//! and meets the same approvals, quotas and checks. The mandate says in whose name. It gives nothing: what
//! its principal may do is looked up whenever something is done, and what the credential could not do that
//! it was given with, it cannot do either.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::node_backup::BackupStore;
use crate::workflow::ExecutionOptions;
use crate::{
    Caller, Credential, Diagnostic, ImageSource, Name, Need, ObjectRef, Permission, PermissionSet,
    PrincipalId, ProjectId, SecretRef, Span, WorkloadSpec,
};

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Submit a task.
    Task(Box<TaskAction>),
    /// Carry out a workflow that the project keeps.
    Workflow(WorkflowAction),
    /// Start, stop or restart a workload.
    Workload(WorkloadAction),
    /// Begin an operation.
    Operation(OperationAction),
    /// Call an address outside.
    Http(Box<HttpAction>),
}

/// A task to be submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TaskAction {
    /// What the names of the tasks begin with; the program when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub spec: WorkloadSpec,
}

/// A workflow to be carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WorkflowAction {
    pub name: String,
    /// The newest at that time when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub values: serde_json::Value,
    #[serde(default, skip_serializing_if = "is_default")]
    pub options: ExecutionOptions,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Something done to a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WorkloadAction {
    pub name: Name,
    pub verb: WorkloadVerb,
}

crate::labels! {
    /// What can be done to a workload by itself.
    pub enum WorkloadVerb ("verb of a workload") {
        Start = "start",
        Stop = "stop",
        Restart = "restart",
    }
}

/// Something done to nodes and images of the whole installation. Removing a node is not here: it names the
/// generation that somebody saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum OperationAction {
    /// Keep new work from a node and wait until it is empty; after `deadline` what still runs is stopped.
    NodeDrain {
        node: Name,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Span>,
    },
    /// Keep new work from a node.
    NodeCordon { node: Name, reason: String },
    /// Let new work come to a node again.
    NodeUncordon { node: Name },
    /// Bring an image to these nodes, or to all that are online and have an engine.
    ImageSync {
        image: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<String>,
    },
    /// Make a version of an image from what a node has.
    ImageTake { image: Name, node: Name, source: ImageSource },
    /// Keep what is on paths of a node's machine.
    NodeBackup(Box<NodeBackupAction>),
}

/// A backup of paths of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodeBackupAction {
    pub node: Name,
    /// Absolute paths of files and directories, with everything below them.
    pub paths: Vec<String>,
    /// Names that are left out, with `*` and `?`; with a `/` in it, a pattern of the whole path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Also what lies on other file systems below the paths.
    #[serde(default)]
    pub cross_filesystems: bool,
    /// Where it is kept: `server`, or a store that the configuration of the servers names.
    #[serde(default)]
    pub store: BackupStore,
    /// A name for it; several backups can have the same.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Keep so many backups of this node with this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<u32>,
}

/// A call of an address outside. What is answered with a status from 200 to 299 has succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpAction {
    #[serde(default, skip_serializing_if = "HttpMethod::is_post")]
    pub method: HttpMethod,
    #[schemars(length(max = 2048))]
    pub url: String,
    /// Without credentials: those are secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// `application/json` unless a header says otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 262_144))]
    pub body: String,
    /// A secret that is sent as bearer token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer: Option<SecretRef>,
    /// A secret that the call is signed with: HMAC-SHA-256 of time and body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<SecretRef>,
    /// How long the whole call may take; 30 s when absent.
    #[serde(default = "half_a_minute")]
    pub timeout: Span,
}

const fn half_a_minute() -> Span {
    Span::from_secs(30)
}

crate::labels! {
    #[derive(Default)]
    pub enum HttpMethod ("HTTP method") {
        Delete = "DELETE",
        Get = "GET",
        Head = "HEAD",
        Patch = "PATCH",
        #[default]
        Post = "POST",
        Put = "PUT",
    }
}

impl HttpMethod {
    const fn is_post(&self) -> bool {
        matches!(self, HttpMethod::Post)
    }
}

crate::labels! {
    /// An action without what belongs to it.
    pub enum ActionKind ("kind of action") {
        Task = "task",
        Workflow = "workflow",
        Workload = "workload",
        Operation = "operation",
        Http = "http",
    }
}

/// In whose name something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mandate {
    pub principal: PrincipalId,
    /// What the credential allowed that it was given with; everything when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can: Option<PermissionSet>,
}

/// What came of an action that succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionOutcome {
    /// What was made, or what it was done to.
    pub object: Option<ObjectRef>,
    /// What a call was answered with.
    pub status: Option<u16>,
}

const BODY_MAX: usize = 256 << 10;
const URL_MAX: usize = 2048;
const HEADERS_MAX: usize = 50;
const TIMEOUT_MAX: Span = Span::from_secs(300);
const SUMMARY_MAX: usize = 80;

/// Headers that are ours, or that the call itself has.
const RESERVED: [&str; 8] = [
    "connection",
    "content-length",
    "host",
    "idempotency-key",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Mandate {
    /// To act as this caller could in a project.
    pub fn of(caller: &Caller, project: ProjectId) -> Mandate {
        let can = match &caller.credential {
            Credential::WebSession(_) => None,
            Credential::Token { .. } | Credential::Workload(_) => {
                let mut all = Permission::ALL.iter().copied();
                Some(all.by_ref().filter(|p| caller.credential.carries(*p, project)).collect())
            }
        };
        Mandate { principal: caller.principal_id, can }
    }
}

impl Credential {
    /// Whether it takes nothing away from a permission that is needed in, or beside, a project.
    fn carries(&self, permission: Permission, project: ProjectId) -> bool {
        let scope = Need::of(permission, Some(project)).scope;
        match self {
            Credential::WebSession(_) => true,
            Credential::Token { limits, .. } => {
                limits.reaches(scope)
                    && limits.role_max.permissions().has(permission)
                    && self.allows(permission)
            }
            Credential::Workload(identity) => {
                scope == crate::Scope::Project(identity.project_id) && self.allows(permission)
            }
        }
    }
}

impl Action {
    pub const fn kind(&self) -> ActionKind {
        match self {
            Action::Task(_) => ActionKind::Task,
            Action::Workflow(_) => ActionKind::Workflow,
            Action::Workload(_) => ActionKind::Workload,
            Action::Operation(_) => ActionKind::Operation,
            Action::Http(_) => ActionKind::Http,
        }
    }

    /// What somebody needs to do it.
    pub const fn permission(&self) -> Permission {
        match self {
            Action::Task(_) => Permission::TaskSubmit,
            Action::Workflow(_) => Permission::WorkflowRun,
            Action::Workload(it) => match it.verb {
                WorkloadVerb::Start => Permission::WorkloadStart,
                WorkloadVerb::Stop => Permission::WorkloadStop,
                WorkloadVerb::Restart => Permission::WorkloadRestart,
            },
            Action::Operation(it) => match it {
                OperationAction::NodeDrain { .. } => Permission::NodeDrain,
                OperationAction::NodeCordon { .. } | OperationAction::NodeUncordon { .. } => {
                    Permission::NodeCordon
                }
                OperationAction::ImageSync { .. } => Permission::ImageSync,
                OperationAction::ImageTake { .. } => Permission::ImageTake,
                OperationAction::NodeBackup(_) => Permission::NodeBackup,
            },
            Action::Http(_) => Permission::EgressCall,
        }
    }

    /// Every mistake that can be seen without looking anything up.
    pub fn problems(&self, base: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |at: &str, text: &str| {
            found.push(Diagnostic::new(format!("{base}/{}{at}", self.kind()), text));
        };
        match self {
            Action::Task(it) => found.extend(it.spec.problems(&format!("{base}/task/spec"))),
            Action::Workflow(it) if it.name.is_empty() => say("/name", "which workflow?"),
            Action::Workflow(_) | Action::Workload(_) => {}
            Action::Operation(it) => match it {
                OperationAction::NodeDrain { reason, .. }
                | OperationAction::NodeCordon { reason, .. }
                    if !(1..=500).contains(&reason.len()) =>
                {
                    say("", "a reason has 1 to 500 characters");
                }
                OperationAction::NodeDrain { .. }
                | OperationAction::NodeCordon { .. }
                | OperationAction::NodeUncordon { .. }
                | OperationAction::ImageSync { .. }
                | OperationAction::ImageTake { .. }
                | OperationAction::NodeBackup(_) => {}
            },
            Action::Http(it) => it.look(&mut say),
        }
        found
    }

    /// In a few words, for lists.
    pub fn summary(&self) -> String {
        let words = match self {
            Action::Task(it) => match it.spec.command.as_slice() {
                [] => "a task".to_owned(),
                command => command.join(" "),
            },
            Action::Workflow(it) => match it.version {
                Some(version) => format!("workflow {} version {version}", it.name),
                None => format!("workflow {}", it.name),
            },
            Action::Workload(it) => format!("{} workload {}", it.verb, it.name),
            Action::Operation(it) => match it {
                OperationAction::NodeDrain { node, .. } => format!("drain node {node}"),
                OperationAction::NodeCordon { node, .. } => format!("cordon node {node}"),
                OperationAction::NodeUncordon { node } => format!("uncordon node {node}"),
                OperationAction::ImageSync { image, .. } => format!("sync image {image}"),
                OperationAction::ImageTake { image, node, .. } => {
                    format!("take image {image} from node {node}")
                }
                OperationAction::NodeBackup(it) => format!("back up node {}", it.node),
            },
            Action::Http(it) => format!("{} {}", it.method, origin(&it.url)),
        };
        let plain = words.replace(|c: char| c.is_control(), " ");
        match plain.char_indices().nth(SUMMARY_MAX) {
            Some((end, _)) => format!("{}…", &plain[..end]),
            None => plain,
        }
    }

    /// Takes out what not everybody may see.
    pub fn hide(&mut self) {
        match self {
            Action::Task(it) => it.spec.hide_environment(),
            Action::Http(it) => {
                it.headers.values_mut().for_each(|value| crate::HIDDEN.clone_into(value));
                if !it.body.is_empty() {
                    crate::HIDDEN.clone_into(&mut it.body);
                }
                let origin = origin(&it.url);
                if origin.len() < it.url.len() {
                    it.url = format!("{origin}/{}", crate::HIDDEN);
                }
            }
            Action::Workflow(_) | Action::Workload(_) | Action::Operation(_) => {}
        }
    }
}

/// The part of a URL that is no secret.
pub(crate) fn origin(url: &str) -> &str {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at);
    &url[..end]
}

impl HttpAction {
    fn look(&self, say: &mut impl FnMut(&str, &str)) {
        if !["http://", "https://"].iter().any(|scheme| self.url.starts_with(scheme)) {
            say("/url", "an address begins with `https://` or `http://`");
        }
        if self.url.len() > URL_MAX {
            say("/url", "an address has at most 2048 characters");
        }
        if self.url.ends_with(crate::HIDDEN) {
            say("/url", "it was hidden from you; write the whole address");
        }
        if self.body == crate::HIDDEN {
            say("/body", "it was hidden from you; write it, or leave it out");
        }
        if self.body.len() > BODY_MAX {
            say("/body", "a body has at most 256 KiB");
        }
        if matches!(self.method, HttpMethod::Get | HttpMethod::Head) && !self.body.is_empty() {
            say("/body", "GET and HEAD have no body");
        }
        if self.timeout.is_zero() || self.timeout > TIMEOUT_MAX {
            say("/timeout", "a call takes at least 1ms and at most 5m");
        }
        if self.headers.len() > HEADERS_MAX {
            say("/headers", "at most 50 headers");
        }
        for (name, value) in &self.headers {
            let lower = name.to_ascii_lowercase();
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            if name.is_empty() || name.len() > 128 || !name.chars().all(token) {
                say("/headers", &format!("`{}` is no name of a header", name.escape_default()));
            } else if lower == "authorization" || lower == "proxy-authorization" {
                say("/headers", "a credential is a secret: name it in `bearer`");
            } else if RESERVED.contains(&lower.as_str()) || lower.starts_with("hostler-") {
                say("/headers", &format!("`{name}` is set by the call itself"));
            }
            if value == crate::HIDDEN {
                say(
                    "/headers",
                    &format!("`{name}` was hidden from you; write its value, or leave it out"),
                );
            }
            if value.len() > 4096 || !value.bytes().all(|b| b == b'\t' || (32..127).contains(&b)) {
                let text = format!("`{name}`: values are printable ASCII, at most 4096 characters");
                say("/headers", &text);
            }
        }
    }
}

#[cfg(test)]
mod tests;
