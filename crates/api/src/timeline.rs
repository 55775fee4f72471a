//! Timelines: everything that touched an object.

use hostler_model::{ObjectKind, ObjectRef, Role, TimelineEntry, TimelineSource, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "timelines"
    /// Find what of a project has this name or id, to see its timeline.
    TimelineFind = "timeline_find" GET "/api/v1/projects/{project}/timeline", Access::Project(Role::Viewer), EventRead, 200,
        path: ProjectPath, query: TimelineFindQuery, reply: Listing<ObjectRef>, errors: [NotFound];
    /// List everything that touched an object of a project, newest first.
    ProjectTimeline = "project_timeline" GET "/api/v1/projects/{project}/timeline/{kind}/{object}", Access::Project(Role::Viewer), EventRead, 200,
        path: ProjectTimelinePath, query: TimelineQuery, reply: TimelineView, errors: [NotFound];
    /// The same of an object that belongs to no project, such as a node; for those who see the events of the installation.
    TimelineGet = "timeline_get" GET "/api/v1/timeline/{kind}/{object}", Access::LoggedIn, EventRead, 200,
        path: TimelinePath, query: TimelineQuery, reply: TimelineView, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectTimelinePath {
    /// Name or id of the project.
    pub project: String,
    pub kind: ObjectKind,
    /// Name or id of the object; a `/` in it is written `%2F`.
    pub object: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelinePath {
    pub kind: ObjectKind,
    /// Name or id of the object; a `/` in it is written `%2F`.
    pub object: String,
}

/// The longest name that is looked for.
pub const OBJECT_MAX: usize = 400;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineFindQuery {
    /// Name or id of the object, of whatever kind.
    #[schemars(length(min = 1, max = OBJECT_MAX))]
    pub object: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimelineQuery {
    /// Not before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only from these sources, with commas between them: event, node, run, fire, delivery, audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
    /// At most this many items (1 to 1000, default 100). A page may have fewer, or none, although more follow.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A part of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineView {
    /// What it is about.
    pub object: ObjectRef,
    /// Newest first.
    pub items: Vec<TimelineEntry>,
    /// Pass it as `cursor` to get what follows; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What may have something to say and was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<TimelineLeftOut>,
    /// Events before this time, which were asked for too, are not kept any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_since: Option<Timestamp>,
}

/// A source that the caller may not see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineLeftOut {
    pub source: TimelineSource,
    /// The permission that it takes.
    pub needs: String,
}
