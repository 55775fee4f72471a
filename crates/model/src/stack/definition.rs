//! What a stack is made of, as somebody asked for it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Actor, StackDefinitionId, StackId, Timestamp};

/// A template with what belongs to it. Never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDefinition {
    pub id: StackDefinitionId,
    pub stack_id: StackId,
    /// A [`DefinitionBody`], sealed with the key of the stack.
    pub sealed: Vec<u8>,
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
    /// Parameters of the stack above, for one that is a resource.
    pub parameters: Map<String, Value>,
    /// Resources that are taken over, by name, as an exported document has them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub left: Map<String, Value>,
}
