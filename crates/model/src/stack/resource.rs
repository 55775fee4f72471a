//! One object of a stack, and what is being done to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{HookStanding, StackHook, StackStatus};
use crate::{Generation, ServerId, StackDefinitionId, StackId, StackResourceId, Timestamp};

crate::labels! {
    /// What is done to a resource.
    pub enum ResourceAction ("resource action") {
        /// There is a row, and nothing else yet.
        Init = "init",
        Create = "create",
        Update = "update",
        Delete = "delete",
        Suspend = "suspend",
        Resume = "resume",
        Adopt = "adopt",
        Snapshot = "snapshot",
        Check = "check",
        Rollback = "rollback",
    }
}

impl ResourceAction {
    /// As Heat writes it.
    pub fn heat(self) -> String {
        self.label().to_ascii_uppercase()
    }
}

/// What is being done to a resource, or was done last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceStanding {
    pub action: ResourceAction,
    pub status: StackStatus,
    pub reason: String,
}

impl ResourceStanding {
    /// As Heat writes it: `CREATE_COMPLETE`.
    pub fn heat(&self) -> String {
        format!("{}_{}", self.action.heat(), self.status.heat())
    }
}

crate::labels! {
    /// What becomes of the object when its resource goes.
    #[derive(Default)]
    pub enum DeletionPolicy ("deletion policy") {
        #[default]
        Delete = "delete",
        /// It stays, and is forgotten.
        Retain = "retain",
        /// It is kept in another form before it goes.
        Snapshot = "snapshot",
    }
}

/// One object of a stack. The newest row of a name that nothing takes the place of is the resource of that name.
#[derive(Clone, Debug, PartialEq)]
pub struct StackResource {
    pub id: StackResourceId,
    pub stack_id: StackId,
    /// In the template.
    pub name: String,
    /// Its type, as the template has it.
    pub kind: String,
    pub standing: ResourceStanding,
    /// What it is in the world.
    pub physical: Option<String>,
    /// Which definition it is as; none before it was made.
    pub definition: Option<StackDefinitionId>,
    /// The last traversal in which its part was done.
    pub traversal: Generation,
    /// What has to be there before it, and to go after it.
    pub requires: Vec<StackResourceId>,
    /// Whose place it takes.
    pub replaces: Option<StackResourceId>,
    /// Who takes its place.
    pub replaced_by: Option<StackResourceId>,
    pub deletion_policy: DeletionPolicy,
    /// What is being done to it.
    pub deed: Option<Deed>,
    /// How many deeds were begun, in all; the number of the one under way.
    pub deeds: u32,
    /// Hooks at which it waits or waited.
    pub hooks: BTreeMap<StackHook, HookStanding>,
    /// A [`ResourceBody`], sealed with the key of the stack. Empty where it was not asked for: then it stays as it is.
    pub sealed: Vec<u8>,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// What is sealed of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceBody {
    /// Resolved, as the object was made or last changed with.
    pub properties: Map<String, Value>,
    pub metadata: Value,
    pub update_policy: Value,
    pub description: String,
    /// What others may ask of it, as it was when it was made or changed.
    pub attributes: Map<String, Value>,
    /// What `get_resource` gives, where that is not the physical id.
    pub reference: Option<String>,
    /// What its plugin remembers.
    pub data: Map<String, Value>,
    /// Its type behind every alias, as it was when it was made: who looks after the object.
    pub plugin: String,
    /// What is being done to it, as far as that is not in the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deed: Option<Box<DeedBody>>,
}

/// What is sealed of a deed: whoever carries it on knows what was meant, whatever became of the template since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DeedBody {
    /// Resolved, as the object is to be.
    pub properties: Map<String, Value>,
    pub metadata: Value,
    pub update_policy: Value,
    pub description: String,
    /// The template that its type is, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Value>,
    /// Names of the properties that differ from what it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Its plugin has begun, and waits.
    #[serde(skip_serializing_if = "is_false")]
    pub is_waiting: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

crate::labels! {
    /// What is being done to an object.
    pub enum DeedKind ("deed") {
        Create = "create",
        Update = "update",
        Delete = "delete",
        Suspend = "suspend",
        Resume = "resume",
        Adopt = "adopt",
        Snapshot = "snapshot",
        Check = "check",
    }
}

/// Something that is being done to an object. It is written before it is begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deed {
    pub kind: DeedKind,
    /// Which definition the object is to be as afterwards.
    pub definition: Option<StackDefinitionId>,
    /// The traversal that wanted it; a newer one looks at the object anew when it is over.
    pub traversal: Generation,
    /// Who carries it out; nobody while it waits for a time or for a signal.
    pub owner: Option<DeedOwner>,
    /// It waits for somebody's signal, and takes no place among those that are worked on.
    #[serde(default)]
    pub is_idle: bool,
    /// When somebody has to look at it again.
    pub time_due: Option<Timestamp>,
    pub time_begun: Timestamp,
}

/// The server that carries a deed out at present, until its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeedOwner {
    pub server_id: ServerId,
    pub time_lease: Timestamp,
}

impl StackResource {
    /// What everybody who carries the present deed out passes on: the same however often it is begun again.
    pub fn deed_key(&self) -> String {
        format!("stack-resource/{}/{}", self.id, self.deeds)
    }
}
