//! What stacks can be made of: types of resources, and the editions of the template language with their functions.

use hostler_model::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "stacks"
    /// List the types of resources by name.
    StackTypeList = "stack_type_list" GET "/api/v1/projects/{project}/stack-types", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, query: StackTypeListQuery, reply: Listing<StackTypeView>, errors: [NotFound];
    /// Show a type: its properties, its attributes, and a template to begin with.
    StackTypeGet = "stack_type_get" GET "/api/v1/projects/{project}/stack-types/{type}", Access::Project(Role::Viewer), StackRead, 200,
        path: StackTypePath, reply: StackTypeDetailView, errors: [NotFound];
    /// List the editions of the template language, oldest first.
    StackEditionList = "stack_edition_list" GET "/api/v1/projects/{project}/stack-editions", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, reply: Listing<StackEditionView>, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackTypePath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the type, such as `OS::Heat::Value`.
    #[serde(rename = "type")]
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackTypeListQuery {
    /// Only those whose name has this in it, in whatever case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackTypeView {
    pub name: String,
    /// The type that it is another name of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackTypeDetailView {
    pub name: String,
    /// The type that it is another name of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Properties, attributes, and since when there is such a thing.
    pub schema: Value,
    /// Takes and gives what a resource of this type does.
    pub template: Value,
}

/// One edition of the template language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackEditionView {
    /// The key under which a template says it...
    pub key: String,
    /// ...and what it says there...
    pub version: String,
    /// ...or may say instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Names of the functions that values may have.
    pub functions: Vec<String>,
    /// Names of the functions that conditions may have.
    pub conditions: Vec<String>,
}
