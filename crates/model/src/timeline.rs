//! Timelines: everything that touched an object, from every place that knows something of it.

use serde::{Deserialize, Serialize};

use crate::{Actor, ObjectKind, ObjectRef, Timestamp};

crate::labels! {
    /// Where a row of a timeline is from. In the order in which rows of the same moment are shown, what follows before
    /// what it follows from.
    pub enum TimelineSource ("source of a timeline") {
        /// An event about the object, or caused by it.
        Event = "event",
        /// An event of a node on which it was at that time.
        Node = "node",
        /// A run that ended.
        Run = "run",
        /// A time of a schedule, and what became of it.
        Fire = "fire",
        /// A delivery of an event hook.
        Delivery = "delivery",
        /// Something that somebody did of which no event tells.
        Audit = "audit",
    }
}

/// A row of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    pub time: Timestamp,
    pub source: TimelineSource,
    /// The kind of the event, the action of the audit entry, or how the run, the fire or the delivery stands.
    pub what: String,
    /// What it is about, where that is something else than the timeline's object.
    pub object: ObjectRef,
    /// One sentence for people.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Actor>,
    /// What caused it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Names it among those of its source: the number of the event or the audit entry, the id of the run, the schedule
    /// and the time, the hook and the number of the event.
    pub id: String,
}

impl ObjectKind {
    /// Whether what is of this kind belongs to no project. Event hooks may or may not.
    pub const fn is_global(self) -> bool {
        match self {
            ObjectKind::AuditAnchor
            | ObjectKind::AuditSink
            | ObjectKind::Authority
            | ObjectKind::Backup
            | ObjectKind::Container
            | ObjectKind::Group
            | ObjectKind::Image
            | ObjectKind::Invitation
            | ObjectKind::JoinToken
            | ObjectKind::Node
            | ObjectKind::Operation
            | ObjectKind::Role
            | ObjectKind::Server
            | ObjectKind::Token
            | ObjectKind::User
            | ObjectKind::WebSession => true,
            ObjectKind::Approval
            | ObjectKind::ApprovalPolicy
            | ObjectKind::Blob
            | ObjectKind::Custom
            | ObjectKind::Execution
            | ObjectKind::Hook
            | ObjectKind::Lock
            | ObjectKind::Member
            | ObjectKind::Module
            | ObjectKind::Project
            | ObjectKind::Schedule
            | ObjectKind::Secret
            | ObjectKind::SoftwareConfig
            | ObjectKind::SoftwareDeployment
            | ObjectKind::Stack
            | ObjectKind::StackPlugin
            | ObjectKind::StateNamespace
            | ObjectKind::Task
            | ObjectKind::TaskArray
            | ObjectKind::Watcher
            | ObjectKind::Workflow
            | ObjectKind::Workload => false,
        }
    }
}
