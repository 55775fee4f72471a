//! Plugins of stacks: types of resources that projects bring themselves.

use std::collections::BTreeMap;

use hostler_model::stack::{PluginKind, PluginPlace, PluginVerb};
use hostler_model::{Digest, Name, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workflow::{WorkflowBundle, WorkflowQuery};
use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "stack plugins"
    /// List plugins by name, the newest version of each.
    StackPluginList = "stack_plugin_list" GET "/api/v1/projects/{project}/stack-plugins", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, query: StackPluginListQuery, reply: Listing<StackPluginView>, errors: [NotFound];
    /// Keep a plugin: a node is asked what it is, and it gets a new version, unless nothing changed.
    StackPluginPush = "stack_plugin_push" POST "/api/v1/projects/{project}/stack-plugins", Access::Project(Role::Operator), StackPlugin, 200,
        path: ProjectPath, body: StackPluginPushBody, reply: StackPluginView, errors: [NotFound, Invalid, Conflict, QuotaExceeded, TooLarge, KeyReused];
    /// Show a plugin: its newest version, or another one.
    StackPluginGet = "stack_plugin_get" GET "/api/v1/projects/{project}/stack-plugins/{plugin}", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPluginPath, query: WorkflowQuery, reply: StackPluginView, errors: [NotFound];
    /// List the versions of a plugin, newest first.
    StackPluginVersionList = "stack_plugin_version_list" GET "/api/v1/projects/{project}/stack-plugins/{plugin}/versions", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPluginPath, query: StackPluginListQuery, reply: Listing<StackPluginView>, errors: [NotFound];
    /// Remove a plugin with all its versions, or one of them; not while a stack is made with it.
    StackPluginRemove = "stack_plugin_remove" DELETE "/api/v1/projects/{project}/stack-plugins/{plugin}", Access::Project(Role::Operator), StackPlugin, 204,
        path: StackPluginPath, query: WorkflowQuery, errors: [NotFound, Conflict];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackPluginPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the plugin.
    pub plugin: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackPluginListQuery {
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A program, or a file of Lua.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackPluginPushBody {
    pub name: Name,
    /// A program that speaks lines of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable: Option<StackPluginExecutable>,
    /// A file of Lua that returns a table of types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lua: Option<WorkflowBundle>,
    /// Where and how it is run.
    #[serde(default)]
    pub place: PluginPlace,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackPluginExecutable {
    /// Name of the file, for messages.
    #[schemars(length(min = 1, max = 256))]
    pub file: String,
    /// Its content, which the project has already.
    pub blob: Digest,
}

/// One version of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackPluginView {
    pub name: String,
    pub version: u32,
    pub kind: PluginKind,
    pub file: String,
    /// Of the program, or of the text with what it imports.
    pub artefact: Digest,
    /// By name. `stack_type_get` tells more of each.
    pub types: BTreeMap<String, StackPluginTypeView>,
    pub place: PluginPlace,
    pub created_by: String,
    pub time_created: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackPluginTypeView {
    pub description: String,
    pub properties: Vec<String>,
    pub attributes: Vec<String>,
    /// What it can do besides creating and deleting.
    pub verbs: Vec<PluginVerb>,
}
