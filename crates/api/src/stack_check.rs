//! Whether stacks can be made and changed: what a template says, what uses what, and a list of what to look at before.

use hostler_model::Role;
use hostler_model::stack::{StackCheckLine, StackName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stack::{StackFormBody, StackPath};
use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "stacks"
    /// Look at a template without making anything of it. What is wrong is answered as for a stack that is to be made.
    StackTemplateCheck = "stack_template_check" POST "/api/v1/projects/{project}/stack-template-check", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, body: StackTemplateCheckBody, reply: StackTemplateView, errors: [NotFound, KeyReused];
    /// Go through the checklist of a change that is not made yet.
    StackFormCheck = "stack_form_check" POST "/api/v1/projects/{project}/stack-checklist", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, body: StackFormCheckBody, reply: StackChecklistView, errors: [NotFound, Conflict, KeyReused];
    /// Go through the checklist of every stack of the project, in the order in which they depend on each other.
    StackChecklistAll = "stack_checklist_all" GET "/api/v1/projects/{project}/stack-checklist", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, reply: Listing<StackChecklistView>, errors: [NotFound, Conflict];
    /// Go through the checklist of a stack: syntax, dependencies, existence, permissions, lock, disk, network.
    StackChecklist = "stack_checklist" GET "/api/v1/projects/{project}/stacks/{stack}/checklist", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: StackChecklistView, errors: [NotFound, Conflict];
    /// Show which stacks a stack uses, and which use it.
    StackDependencies = "stack_dependencies" GET "/api/v1/projects/{project}/stacks/{stack}/dependencies", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: StackDependenciesView, errors: [NotFound];
    /// Show which stacks of the project use which others, and in what order they can be made.
    StackDependencyGraph = "stack_dependency_graph" GET "/api/v1/projects/{project}/stack-dependencies", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, reply: StackDependencyGraphView, errors: [NotFound];
    /// Check that what stacks use of others is there: of one stack, or of all.
    StackDependencyCheck = "stack_dependency_check" GET "/api/v1/projects/{project}/stack-dependencies/check", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, query: StackDependencyCheckQuery, reply: Listing<StackCheckLine>, errors: [NotFound];
    /// Say in what order stacks can be made: each wave after the one before.
    StackDependencyOrder = "stack_dependency_order" POST "/api/v1/projects/{project}/stack-dependencies/order", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, body: StackDependencyOrderBody, reply: StackOrderView, errors: [NotFound, Conflict, KeyReused];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StackTemplateCheckBody {
    pub form: StackFormBody,
    /// Parameters without a value are wrong.
    #[serde(default)]
    pub needs_values: bool,
    /// Also tell of templates below it.
    #[serde(default)]
    pub nested: bool,
}

/// What a template says, where nothing is wrong with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackTemplateView {
    /// How many resources it has.
    pub resources: u64,
    /// Its description, parameters and groups of them.
    pub summary: Value,
    /// What is odd, with where it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackFormCheckBody {
    /// What the stack is, or is to be, called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<StackName>,
    pub form: StackFormBody,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackChecklistView {
    /// Absent where no stack was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackName>,
    /// Nothing failed.
    pub is_passed: bool,
    pub lines: Vec<StackCheckLine>,
}

/// What one stack uses of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackUseView {
    /// The other one.
    pub stack: StackName,
    pub outputs: Vec<String>,
    /// Whether that stack is there...
    pub is_there: bool,
    /// ...and which of the outputs it does not give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackDependenciesView {
    pub stack: StackName,
    pub uses: Vec<StackUseView>,
    pub used_by: Vec<StackUseView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackDependencyGraphView {
    pub stacks: Vec<StackDependenciesView>,
    /// Each wave can be made when those before are there.
    pub order: Vec<Vec<StackName>>,
    /// Stacks that wait for each other, each for the next; empty where there is no circle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circle: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackDependencyCheckQuery {
    /// Only of this stack, by name or by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackDependencyOrderBody {
    /// Which stacks; all of the project when empty.
    pub stacks: Vec<StackName>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackOrderView {
    pub waves: Vec<Vec<StackName>>,
}
