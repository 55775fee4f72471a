//! What a change of a stack would do, how its objects differ from what it says, and what was found when it was looked over: in
//! words for people and programs, without secrets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StackAction;

/// What hidden values are shown as.
pub const STACK_HIDDEN: &str = "******";

crate::labels! {
    /// What would become of a resource.
    pub enum StackChangeKind ("change of a resource") {
        Create = "create",
        /// An object that is there is taken over.
        Adopt = "adopt",
        /// It is changed where it is.
        Update = "update",
        /// Another object takes its place.
        Replace = "replace",
        Delete = "delete",
        /// The object stays where it is, and is not spoken of any more.
        Forget = "forget",
        Unchanged = "unchanged",
        /// The change as a whole would fail here.
        Impossible = "impossible",
    }
}

/// One value that differs: a property, a parameter or an output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StackValueChange {
    pub name: String,
    /// Absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Absent where there is none, or where it is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// What it will be is known when it is done.
    pub is_unknown: bool,
    /// The values are hidden.
    pub is_secret: bool,
    /// Because of it another object takes the place of this one.
    pub replaces: bool,
}

/// What would become of one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackResourceChange {
    pub name: String,
    /// Resources of the stacks above that this one lies in, from the top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Its type, as the template has it.
    pub kind: String,
    pub change: StackChangeKind,
    /// What it is in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<String>,
    /// It depends on what is known only when it is done, and may turn out to be unchanged.
    #[serde(default)]
    pub is_uncertain: bool,
    /// Why; empty where there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<StackValueChange>,
}

/// What a change of a stack would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackChanges {
    pub action: StackAction,
    /// In the order in which it could be done, with those that stay as they are.
    pub resources: Vec<StackResourceChange>,
    #[serde(default)]
    pub parameters: Vec<StackValueChange>,
    #[serde(default)]
    pub outputs: Vec<StackValueChange>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl StackChanges {
    /// How many resources this would become of.
    pub fn count(&self, kind: StackChangeKind) -> usize {
        self.resources.iter().filter(|one| one.change == kind).count()
    }

    /// No object would be touched.
    pub fn is_empty(&self) -> bool {
        self.count(StackChangeKind::Unchanged) == self.resources.len()
    }

    /// It would fail.
    pub fn is_impossible(&self) -> bool {
        self.count(StackChangeKind::Impossible) > 0
    }
}

crate::labels! {
    /// How an object differs from what its stack says.
    pub enum StackDriftKind ("drift") {
        InSync = "in-sync",
        /// Properties are others.
        Configuration = "configuration",
        /// There is no such object.
        Missing = "missing",
        /// There is an object that the stack does not want.
        Extra = "extra",
        /// It is there, and not well.
        State = "state",
        /// What it was made from has changed, or is missing.
        Dependency = "dependency",
        /// Nobody could look.
        Unknown = "unknown",
    }
}

impl StackDriftKind {
    /// Whether there is something to put right.
    pub const fn is_drift(self) -> bool {
        !matches!(self, StackDriftKind::InSync | StackDriftKind::Unknown)
    }
}

/// What was found of one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackDriftItem {
    pub name: String,
    /// Resources of the stacks above that this one lies in, from the top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<String>,
    pub drift: StackDriftKind,
    /// As the stack says, and as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<StackValueChange>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

crate::labels! {
    /// What is looked over before something is begun with a stack.
    pub enum StackCheckKind ("check of a stack") {
        Syntax = "syntax",
        /// Stacks whose outputs it uses.
        Dependencies = "dependencies",
        /// Its objects are there.
        Existence = "existence",
        Permissions = "permissions",
        /// Nobody else has locked it.
        Lock = "lock",
        Disk = "disk",
        Network = "network",
    }
}

crate::labels! {
    /// What was found.
    pub enum StackCheckResult ("result of a check") {
        Passed = "passed",
        Failed = "failed",
        /// There was nothing to look at.
        Skipped = "skipped",
    }
}

/// One line of what was looked over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackCheckLine {
    pub check: StackCheckKind,
    pub result: StackCheckResult,
    /// Why.
    pub message: String,
}
