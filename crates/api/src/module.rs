//! Modules that projects keep, for workflows to ask for with `require`.

use hostler_model::workflow::ModuleRef;
use hostler_model::{Digest, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workflow::{WorkflowBundle, WorkflowListQuery, WorkflowQuery};
use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "modules"
    /// List modules by name, the newest version of each.
    ModuleList = "module_list" GET "/api/v1/projects/{project}/modules", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ProjectPath, query: WorkflowListQuery, reply: Listing<ModuleView>, errors: [NotFound];
    /// Keep a module: it gets a new version, unless nothing changed.
    ModulePush = "module_push" POST "/api/v1/projects/{project}/modules", Access::Project(Role::User), WorkflowPush, 200,
        path: ProjectPath, body: ModulePushBody, reply: ModulePushed, errors: [NotFound, Invalid, QuotaExceeded, TooLarge, KeyReused];
    /// Show a module: its newest version, or another one.
    ModuleGet = "module_get" GET "/api/v1/projects/{project}/modules/{module}", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ModulePath, query: WorkflowQuery, reply: ModuleView, errors: [NotFound];
    /// Read the text of a module and of what it needs.
    ModuleSource = "module_source" GET "/api/v1/projects/{project}/modules/{module}/source", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ModulePath, query: WorkflowQuery, reply: ModuleText, errors: [NotFound];
    /// List the versions of a module, newest first.
    ModuleVersionList = "module_version_list" GET "/api/v1/projects/{project}/modules/{module}/versions", Access::Project(Role::Viewer), WorkflowRead, 200,
        path: ModulePath, query: WorkflowListQuery, reply: Listing<ModuleView>, errors: [NotFound];
    /// Remove a module with all its versions. Workflows that were kept with it still have it.
    ModuleRemove = "module_remove" DELETE "/api/v1/projects/{project}/modules/{module}", Access::Project(Role::Operator), WorkflowRemove, 204,
        path: ModulePath, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModulePath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the module.
    pub module: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModulePushBody {
    /// What `require` finds it by: letters, digits, `_`, `-`, and `.` between them.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    pub bundle: WorkflowBundle,
    /// What is only warned of otherwise is a mistake.
    #[serde(default)]
    pub strict: bool,
}

/// What became of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModulePushed {
    pub module: ModuleView,
    /// What is odd, with where it is.
    pub warnings: Vec<String>,
}

/// One version of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModuleView {
    pub name: String,
    pub version: u32,
    /// Of the text.
    pub bundle: Digest,
    pub file: String,
    /// Modules that it needs itself, as they were when it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleRef>,
    pub created_by: String,
    pub time_created: Timestamp,
}

/// The text of a version of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleText {
    pub name: String,
    pub version: u32,
    pub bundle: WorkflowBundle,
}
