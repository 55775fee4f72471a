//! Projects.

use hostler_model::{Name, ProjectId, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "projects"
    /// List the projects the caller has a role in.
    ProjectList = "project_list" GET "/api/v1/projects", Access::LoggedIn, 200, query: PageQuery, reply: Listing<ProjectView>;
    /// Create a project.
    ProjectCreate = "project_create" POST "/api/v1/projects", Access::Global(Role::Admin), 201,
        body: ProjectCreateBody, reply: ProjectView, errors: [AlreadyExists, KeyReused];
    /// Show a project.
    ProjectGet = "project_get" GET "/api/v1/projects/{project}", Access::Project(Role::Viewer), 200,
        path: ProjectPath, reply: ProjectView, errors: [NotFound];
    /// Change a project's description.
    ProjectUpdate = "project_update" PATCH "/api/v1/projects/{project}", Access::Project(Role::Admin), 200,
        path: ProjectPath, body: ProjectUpdateBody, reply: ProjectView, errors: [NotFound], if_match: Always;
    /// Remove a project that holds nothing any more.
    ProjectRemove = "project_remove" DELETE "/api/v1/projects/{project}", Access::Global(Role::Admin), 204,
        path: ProjectPath, errors: [NotFound, Conflict], if_match: Always;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectCreateBody {
    pub name: Name,
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectUpdateBody {
    #[schemars(length(max = 1000))]
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    pub id: ProjectId,
    pub name: Name,
    pub description: String,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}
