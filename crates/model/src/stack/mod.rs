//! Stacks: the live objects of a template, kept as it says.
//!
//! A [`Stack`] goes towards a [`StackDefinition`]: a template with its environment, files and parameters, as they were
//! when somebody asked for the change. Definitions are never changed; every change that is asked for has a new one, and
//! gives the stack a new *traversal*, a number that only grows:
//!
//! ```text
//!   (asked for) --> IN_PROGRESS --everything is as wanted--> COMPLETE
//!                     |   ^  '--something failed----------> FAILED --> IN_PROGRESS of ROLLBACK, where it was chosen
//!                     '---' asked for something newer: the same rows, another goal
//! ```
//!
//! A [`StackResource`] is a row for one object: what it is called in the template, what it is in the world, which definition it
//! is as, and what is being done to it ([`Deed`]). One name has several rows while one object takes the place of another.
//! What is under way when something newer is asked for is finished, and then looked at anew; nothing is done twice, because
//! a deed is written before it is begun, and has a number that whoever carries it out passes on.
//!
//! The generation of a stack grows with every write to it *or to any of its resources*: a pass reads all of it, decides
//! (`engine::stack`), and writes what follows in one transaction that names the generation it has read. So no lock is held
//! while anything is done, and any server can go on where another stopped.
//!
//! Owner and deadline: every stack that is `IN_PROGRESS`, and every resource with a deed, is owned by the reconciler `stack`,
//! which looks when something changed and when `time_due` has come; `time_deadline` ends the whole.
//!
//! What can have a secret in it (templates, parameters, properties, attributes, data of plugins) is sealed with a key of the
//! stack, and that key with the master key.

mod change;
mod definition;
mod dependency;
mod drift;
mod event;
mod group;
mod hook;
mod name;
mod plugin;
mod resource;
mod revision;
mod software;

pub use change::{
    STACK_HIDDEN, StackChangeKind, StackChanges, StackCheckKind, StackCheckLine, StackCheckResult,
    StackDriftItem, StackDriftKind, StackResourceChange, StackValueChange,
};
pub use definition::{DefinitionBody, StackDefinition};
pub use dependency::StackDependency;
pub use drift::StackDrift;
pub use event::{StackEvent, StackEventStatus};
pub use group::{AdjustmentKind, RemovalMode};
pub use hook::{HookStanding, StackHook};
pub use name::{ParseStackNameError, StackName};
pub use plugin::{
    PLUGIN_LINE_MAX, PLUGIN_PROTOCOL, PLUGIN_SIZE_MAX, PLUGIN_TIME, PLUGIN_VERSIONS_MAX,
    PLUGINS_MAX, PluginAnswer, PluginAttribute, PluginCall, PluginDone, PluginExample, PluginKind,
    PluginManifest, PluginPlace, PluginPrior, PluginProperty, PluginReply, PluginRequest,
    PluginType, PluginValueKind, PluginVerb, StackPlugin, plugin_key, plugin_type,
};
pub use resource::{
    Deed, DeedBody, DeedKind, DeedOwner, DeletionPolicy, ResourceAction, ResourceBody,
    ResourceStanding, StackResource,
};
pub use revision::{
    ParseStackPointError, SnapshotBody, StackPlan, StackPoint, StackRevision, StackSnapshot,
};
pub use software::{
    SoftwareConfig, SoftwareConfigBody, SoftwareDeployment, SoftwareDeploymentBody,
};

use serde::{Deserialize, Serialize};

use crate::{
    Envelope, Generation, Mandate, ProjectId, Span, StackDefinitionId, StackId, StackResourceId,
    Timestamp,
};

/// How deep stacks may lie in one another.
pub const STACK_DEPTH_MAX: u32 = 5;
/// How many resources a stack may have, with everything below it.
pub const STACK_RESOURCES_MAX: u32 = 10_000;
/// How long a template may be, as text.
pub const STACK_TEMPLATE_MAX: usize = 512 << 10;
/// How many snapshots of a stack are kept.
pub const STACK_SNAPSHOTS_MAX: u32 = 32;
/// How often drift is looked for by itself, at least and at most.
pub const STACK_DRIFT_EVERY: std::ops::RangeInclusive<Span> =
    Span::from_secs(300)..=Span::from_secs(30 * 86_400);
/// How long a plan may be carried out.
pub const STACK_PLAN_TTL: Span = Span::from_secs(3600);
/// How long a change may take where nothing else is said.
pub const STACK_TIMEOUT_DEFAULT: Span = Span::from_secs(3600);

crate::labels! {
    /// What is done to a stack as a whole.
    pub enum StackAction ("stack action") {
        Create = "create",
        Update = "update",
        Delete = "delete",
        /// Back to what it was before a change that failed, or that was cancelled.
        Rollback = "rollback",
        Suspend = "suspend",
        Resume = "resume",
        /// Resources that exist are taken over.
        Adopt = "adopt",
        Snapshot = "snapshot",
        /// Every resource is looked at.
        Check = "check",
        /// Back to a snapshot or a revision.
        Restore = "restore",
    }
}

crate::labels! {
    /// How far it is.
    pub enum StackStatus ("stack status") {
        InProgress = "in-progress",
        Complete = "complete",
        Failed = "failed",
    }
}

/// What is being done, or was done last, how far it is, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackStanding {
    pub action: StackAction,
    pub status: StackStatus,
    pub reason: String,
}

impl StackStanding {
    /// An action that begins.
    pub fn begun(action: StackAction) -> StackStanding {
        let reason = format!("Stack {} started", action.heat());
        StackStanding { action, status: StackStatus::InProgress, reason }
    }

    pub fn completed(action: StackAction) -> StackStanding {
        let reason = format!("Stack {} completed successfully", action.heat());
        StackStanding { action, status: StackStatus::Complete, reason }
    }

    pub fn failed(action: StackAction, reason: impl Into<String>) -> StackStanding {
        StackStanding { action, status: StackStatus::Failed, reason: reason.into() }
    }

    pub const fn is_under_way(&self) -> bool {
        matches!(self.status, StackStatus::InProgress)
    }

    /// As Heat writes it: `CREATE_COMPLETE`.
    pub fn heat(&self) -> String {
        format!("{}_{}", self.action.heat(), self.status.heat())
    }
}

impl StackAction {
    /// As Heat writes it.
    pub fn heat(self) -> String {
        self.label().to_ascii_uppercase()
    }
}

impl StackStatus {
    /// As Heat writes it.
    pub fn heat(self) -> String {
        self.label().replace('-', "_").to_ascii_uppercase()
    }
}

/// A template's live objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    pub id: StackId,
    pub project_id: ProjectId,
    pub name: StackName,
    /// Of the template that it goes towards.
    pub description: String,
    /// The resource of another stack that it is, where it is one.
    pub parent: Option<StackParent>,
    /// The stack at the top; itself where it has no parent.
    pub root_id: StackId,
    /// 0 at the top.
    pub depth: u32,
    pub standing: StackStanding,
    /// Grows with every change that is asked for.
    pub traversal: Generation,
    /// What it goes towards, or is as; nothing when it is to go.
    pub wanted: Option<StackDefinitionId>,
    /// What it was as a whole the last time: where a rollback leads. Nothing before it was complete once.
    pub settled: Option<StackDefinitionId>,
    pub options: StackOptions,
    /// The number of its newest revision; 0 before there is one.
    pub revision: u32,
    /// The key that everything of it is sealed with, itself sealed.
    pub key: Envelope,
    /// In whose name it acts.
    pub mandate: Mandate,
    /// Grows with every write to it or to any of its resources.
    pub generation: Generation,
    pub time_created: Timestamp,
    /// When the last change but its creation was asked for.
    pub time_updated: Option<Timestamp>,
    pub time_deleted: Option<Timestamp>,
    /// When what is under way was asked for.
    pub time_begun: Timestamp,
    /// Why what is under way will end as failed, as soon as nobody has a part of it in hand. Nothing is begun any more.
    pub failure: Option<StackFailure>,
    /// When what is under way is given up.
    pub time_deadline: Option<Timestamp>,
    /// When somebody has to look at it.
    pub time_due: Option<Timestamp>,
}

impl Stack {
    pub const fn is_deleted(&self) -> bool {
        self.time_deleted.is_some()
    }
}

/// Which resource of which stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackParent {
    pub stack_id: StackId,
    pub resource_id: StackResourceId,
}

/// That what is under way will not be complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackFailure {
    pub reason: String,
    /// It is not undone, even where that was chosen.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_kept: bool,
}

/// What is chosen for a stack besides what it is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct StackOptions {
    /// A change that fails is undone.
    #[serde(skip_serializing_if = "is_false")]
    pub is_rollback_enabled: bool,
    /// How long a change may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What was changed behind its back is found and put right by an update.
    #[serde(skip_serializing_if = "is_false")]
    pub converges: bool,
    /// How many resources are worked on at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// How often it is looked at by itself whether its objects are as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_every: Option<Span>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
