//! Watchers: what agents look at on their machines, again and again.

use hostler_model::{Generation, Name, Role, Timestamp, WatcherId, WatcherSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "watchers"
    /// List watchers by name.
    WatcherList = "watcher_list" GET "/api/v1/projects/{project}/watchers", Access::Project(Role::Viewer), WatcherRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<WatcherView>, errors: [NotFound];
    /// Show a watcher, and how it stands on its nodes.
    WatcherGet = "watcher_get" GET "/api/v1/projects/{project}/watchers/{watcher}", Access::Project(Role::Viewer), WatcherRead, 200,
        path: WatcherPath, reply: WatcherView, errors: [NotFound];
    /// Make a watcher, or change the one that `If-Match` names. Nodes look with the rights of the caller from then on: node.inspect, and for commands node.administer.
    WatcherApply = "watcher_apply" PUT "/api/v1/projects/{project}/watchers/{watcher}", Access::Project(Role::Operator), WatcherWrite, 200,
        path: WatcherPath, body: WatcherSpec, reply: WatcherView, errors: [NotFound, AlreadyExists, QuotaExceeded], if_match: IfPresent;
    /// Remove a watcher. Nodes look no more, and what they have not told yet is forgotten.
    WatcherRemove = "watcher_remove" DELETE "/api/v1/projects/{project}/watchers/{watcher}", Access::Project(Role::Operator), WatcherWrite, 204,
        path: WatcherPath, errors: [NotFound];
    /// Have nodes look again.
    WatcherEnable = "watcher_enable" POST "/api/v1/projects/{project}/watchers/{watcher}/enable", Access::Project(Role::Operator), WatcherWrite, 200,
        path: WatcherPath, reply: WatcherView, errors: [NotFound, KeyReused];
    /// Keep nodes from looking until the watcher is enabled.
    WatcherDisable = "watcher_disable" POST "/api/v1/projects/{project}/watchers/{watcher}/disable", Access::Project(Role::Operator), WatcherWrite, 200,
        path: WatcherPath, reply: WatcherView, errors: [NotFound, KeyReused];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WatcherPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the watcher; to make one, its name.
    pub watcher: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatcherView {
    pub id: WatcherId,
    pub name: Name,
    pub spec: WatcherSpec,
    /// What is looked at and what it fires on, in words.
    pub summary: String,
    /// Whose rights it needs.
    pub owner: String,
    pub is_enabled: bool,
    /// Why no node looks, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<String>,
    /// Nodes that are to look.
    pub looking: u64,
    /// Of these, on how many a level is told of that is not over.
    pub firing: u64,
    /// Of these, how many cannot look.
    pub trouble: u64,
    /// The nodes that it is for, by name.
    pub nodes: Vec<WatcherNodeView>,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// How a watcher stands on a node, as the node told when that last changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatcherNodeView {
    pub node: Name,
    pub state: WatcherState,
    /// What it saw when it told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seen: String,
    /// Why it cannot look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// News that were given up, because no server took them for too long.
    pub lost: u64,
    /// When it told how the watcher stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_told: Option<Timestamp>,
}

hostler_model::labels! {
    /// How a watcher stands on a node.
    pub enum WatcherState ("state of a watcher") {
        /// The node is not to look: the watcher is disabled, its writer may not have it, or the node has too many.
        Off = "off",
        /// The node has not said yet that it looks.
        Pending = "pending",
        /// It looks.
        Looking = "looking",
        /// It told of a level that is not over.
        Firing = "firing",
        /// It cannot look.
        Trouble = "trouble",
    }
}
