//! Schedules: something is done when its time comes.

use hostler_model::schedule::{FireCause, FireRemark, FireState, Pause, ScheduleSpec};
use hostler_model::{ActionKind, Generation, Name, ObjectRef, Role, ScheduleId, Span, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "schedules"
    /// List schedules by name.
    ScheduleList = "schedule_list" GET "/api/v1/projects/{project}/schedules", Access::Project(Role::Viewer), ScheduleRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<ScheduleView>, errors: [NotFound];
    /// Show a schedule, with its last fire.
    ScheduleGet = "schedule_get" GET "/api/v1/projects/{project}/schedules/{schedule}", Access::Project(Role::Viewer), ScheduleRead, 200,
        path: SchedulePath, reply: ScheduleView, errors: [NotFound];
    /// Make a schedule, or change the one that `If-Match` names. Its target is done in the name of the caller from then on.
    ScheduleApply = "schedule_apply" PUT "/api/v1/projects/{project}/schedules/{schedule}", Access::Project(Role::User), ScheduleWrite, 200,
        path: SchedulePath, body: ScheduleSpec, reply: ScheduleView, errors: [NotFound, AlreadyExists, QuotaExceeded], if_match: IfPresent;
    /// Remove a schedule with its history. What it made goes on.
    ScheduleRemove = "schedule_remove" DELETE "/api/v1/projects/{project}/schedules/{schedule}", Access::Project(Role::User), ScheduleWrite, 204,
        path: SchedulePath, errors: [NotFound];
    /// Keep a schedule from doing anything until it is resumed.
    SchedulePause = "schedule_pause" POST "/api/v1/projects/{project}/schedules/{schedule}/pause", Access::Project(Role::User), ScheduleWrite, 200,
        path: SchedulePath, body: SchedulePauseBody, reply: ScheduleView, errors: [NotFound, KeyReused];
    /// Let a paused schedule go on from now.
    ScheduleResume = "schedule_resume" POST "/api/v1/projects/{project}/schedules/{schedule}/resume", Access::Project(Role::User), ScheduleWrite, 200,
        path: SchedulePath, reply: ScheduleView, errors: [NotFound, KeyReused];
    /// Do now what a schedule is for, in its owner's name.
    ScheduleRun = "schedule_run" POST "/api/v1/projects/{project}/schedules/{schedule}/run", Access::Project(Role::User), ScheduleRun, 200,
        path: SchedulePath, reply: ScheduleFireView, errors: [NotFound, Conflict, KeyReused];
    /// Say when a schedule comes next.
    ScheduleNext = "schedule_next" GET "/api/v1/projects/{project}/schedules/{schedule}/next", Access::Project(Role::Viewer), ScheduleRead, 200,
        path: SchedulePath, query: ScheduleNextQuery, reply: Listing<NextFireView>, errors: [NotFound];
    /// List what became of the times of a schedule, newest first.
    ScheduleHistory = "schedule_history" GET "/api/v1/projects/{project}/schedules/{schedule}/history", Access::Project(Role::Viewer), ScheduleRead, 200,
        path: SchedulePath, query: ScheduleHistoryQuery, reply: Listing<ScheduleFireView>, errors: [NotFound];
    /// Say when a schedule like this would come, without making it.
    SchedulePreview = "schedule_preview" POST "/api/v1/projects/{project}/schedule-preview", Access::Project(Role::Viewer), ScheduleRead, 200,
        path: ProjectPath, query: ScheduleNextQuery, body: ScheduleSpec, reply: Listing<NextFireView>, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the schedule; to make one, its name.
    pub schedule: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePauseBody {
    /// Why, for whoever finds it paused.
    #[schemars(length(min = 1, max = 500))]
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduleNextQuery {
    /// How many times to show (1 to 1000, default 10).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct ScheduleHistoryQuery {
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<FireState>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(ScheduleHistoryQuery);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleView {
    pub id: ScheduleId,
    pub name: Name,
    /// When and what; values of environments and headers are hidden from those who may not see them.
    pub spec: ScheduleSpec,
    /// When, in words.
    pub timing: String,
    /// What kind of thing is done...
    pub kind: ActionKind,
    /// ...and which, in words.
    pub summary: String,
    /// In whose name it is done.
    pub owner: String,
    /// Why it does nothing, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// When it comes next; absent when it is paused or over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_next: Option<Timestamp>,
    /// What became of its newest time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<ScheduleFireView>,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// A time of a schedule, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleFireView {
    /// When the schedule says; names the fire.
    pub time: Timestamp,
    pub state: FireState,
    pub cause: FireCause,
    /// When it was to be begun: the time, put off by jitter.
    pub time_planned: Timestamp,
    /// When it was begun, or found to be missed.
    pub time_begun: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
    /// How much later than planned it was begun.
    pub lateness: Span,
    /// How many times this stands for; more than one only where they were missed.
    pub count: u32,
    /// The last of them.
    pub time_last: Timestamp,
    /// What was made, or what it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    /// How that stands, if it is something that goes on and is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// Whether it ended well; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_good: Option<bool>,
    /// What a call was answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// How often it was tried.
    pub tries: u32,
}

/// A time that will come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextFireView {
    /// When the schedule says.
    pub time: Timestamp,
    /// When it will be begun: the time, put off by jitter.
    pub start: Timestamp,
    /// The time as clocks show it in the schedule's zone.
    pub local: String,
    /// What is special about it, where clocks are changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<FireRemark>,
}
