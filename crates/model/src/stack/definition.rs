//! What a stack is made of, as somebody asked for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Actor, StackDefinitionId, StackId, StackPluginId, Timestamp};

/// A template with what belongs to it. Never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDefinition {
    pub id: StackDefinitionId,
    pub stack_id: StackId,
    /// A [`DefinitionBody`], sealed with the key of the stack.
    pub sealed: Vec<u8>,
    /// Versions of plugins that it is read with: what may not be removed while it is kept. Written beside it, and not read
    /// again with it.
    pub plugins: Vec<StackPluginId>,
    pub created_by: Actor,
    pub time_created: Timestamp,
}

/// What is sealed of a definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DefinitionBody {
    /// As it was given, as a document.
    pub template: Value,
    /// Merged from everything that was given: `parameters`, `parameter_defaults`, `resource_registry`, `event_sinks`.
    pub environment: Value,
    /// Texts that the template, its children and environments name.
    pub files: Map<String, Value>,
    /// Which of the files are environments, and so may hold what is hidden of the parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment_files: Vec<String>,
    /// Parameters of the stack above, for one that is a resource.
    pub parameters: Map<String, Value>,
    /// What is secret of the stacks above, as far as it stands in this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Resources that are taken over, by name, as an exported document has them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub left: Map<String, Value>,
    /// Why somebody wants it, in their words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Objects are looked at in the world before they are compared, and what was changed behind the stack's back is put right.
    #[serde(skip_serializing_if = "is_false")]
    pub is_live: bool,
    /// Which version of a plugin each type of the project's own is read and made with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plugins: BTreeMap<String, StackPluginId>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
