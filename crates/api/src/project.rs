//! Projects.

use hostler_model::{Name, ProjectId, Quota, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "projects"
    /// List the projects the caller has a role in.
    ProjectList = "project_list" GET "/api/v1/projects", Access::LoggedIn, ProjectRead, 200, query: PageQuery, reply: Listing<ProjectView>;
    /// Create a project.
    ProjectCreate = "project_create" POST "/api/v1/projects", Access::Global(Role::Admin), ProjectCreate, 201,
        body: ProjectCreateBody, reply: ProjectView, errors: [AlreadyExists, KeyReused];
    /// Show a project.
    ProjectGet = "project_get" GET "/api/v1/projects/{project}", Access::Project(Role::Viewer), ProjectRead, 200,
        path: ProjectPath, reply: ProjectView, errors: [NotFound];
    /// Change a project: description, weight, quota.
    ProjectUpdate = "project_update" PATCH "/api/v1/projects/{project}", Access::Project(Role::Admin), ProjectUpdate, 200,
        path: ProjectPath, body: ProjectUpdateBody, reply: ProjectView, errors: [NotFound], if_match: Always;
    /// Remove a project that holds nothing any more.
    ProjectRemove = "project_remove" DELETE "/api/v1/projects/{project}", Access::Global(Role::Admin), ProjectRemove, 204,
        path: ProjectPath, errors: [NotFound, Conflict], if_match: Always;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectCreateBody {
    pub name: Name,
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub description: String,
    /// Its part of the fleet when others want it too; 1 when absent.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// How much it may hold at once; nothing is limited when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
}

/// What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectUpdateBody {
    #[schemars(length(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its part of the fleet when others want it too, against 1 for most.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// How much it may hold at once from now on; what it does not name is not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    pub id: ProjectId,
    pub name: Name,
    pub description: String,
    /// Its part of the fleet when others want it too; 1 for most.
    #[serde(default = "one")]
    pub weight: u32,
    /// How much it may hold at once.
    #[serde(default)]
    pub quota: Quota,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

const fn one() -> u32 {
    1
}
