//! Events: what happened, in commit order, for people, watch streams and hooks.
//!
//! Sequence numbers are given inside the transaction that made the change, so a reader that has seen
//! number `n` has seen everything before it.

use serde::{Deserialize, Serialize};

use crate::{Actor, ProjectId, Timestamp};

crate::labels! {
    /// Every kind of event; `docs/reference/events.md` is generated from this list.
    pub enum EventKind ("event kind") {
        /// A node joined with a join token.
        NodeJoined = "node.joined",
        /// A node's agent connected and is online.
        NodeOnline = "node.online",
        /// A node has been quiet for longer than its heartbeat allows.
        NodeStale = "node.stale",
        /// A node has been quiet for so long that it is taken to be away.
        NodeOffline = "node.offline",
        /// A node takes no new work.
        NodeCordoned = "node.cordoned",
        /// A node takes new work again.
        NodeUncordoned = "node.uncordoned",
        /// A node's labels were changed.
        NodeChanged = "node.changed",
        /// A node was taken out and its certificates revoked.
        NodeRemoved = "node.removed",
        /// A used, expired, revoked or foreign join token was presented.
        JoinRefused = "join.refused",
        /// An operation was created.
        OperationCreated = "operation.created",
        /// An operation moved on.
        OperationProgressed = "operation.progressed",
        /// An operation ended.
        OperationEnded = "operation.ended",
        /// A project was created.
        ProjectCreated = "project.created",
        /// A project was changed.
        ProjectChanged = "project.changed",
        /// A project was removed.
        ProjectRemoved = "project.removed",
        /// A server started.
        ServerStarted = "server.started",
        /// A server stopped in good order.
        ServerStopped = "server.stopped",
        /// A task was submitted.
        TaskCreated = "task.created",
        /// A task was given to a node.
        TaskAssigned = "task.assigned",
        /// A task's process is running.
        TaskStarted = "task.started",
        /// A task ended with exit code 0.
        TaskCompleted = "task.completed",
        /// A task ended otherwise.
        TaskFailed = "task.failed",
        /// Somebody asked for a task to be stopped.
        TaskKillRequested = "task.kill-requested",
        /// A task was stopped on request.
        TaskKilled = "task.killed",
        /// A task's node has been away for too long.
        TaskLost = "task.lost",
        /// A task that was thought lost was found again on its node.
        TaskFound = "task.found",
        /// A task was removed from the records.
        TaskRemoved = "task.removed",
    }
}

crate::labels! {
    /// Kinds of objects that events, audit entries and watch streams speak of.
    pub enum ObjectKind ("object kind") {
        JoinToken = "join-token",
        Member = "member",
        Node = "node",
        Operation = "operation",
        Project = "project",
        Server = "server",
        Task = "task",
        Token = "token",
        User = "user",
        WebSession = "web-session",
    }
}

/// The object an event is about: enough to fetch it, or to name it once it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ObjectRef {
    pub kind: ObjectKind,
    pub id: String,
    pub name: String,
}

impl ObjectRef {
    pub fn new(
        kind: ObjectKind,
        id: impl std::fmt::Display,
        name: impl std::fmt::Display,
    ) -> ObjectRef {
        ObjectRef { kind, id: id.to_string(), name: name.to_string() }
    }
}

/// An event that is not stored yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    pub kind: EventKind,
    pub project_id: Option<ProjectId>,
    pub object: ObjectRef,
    pub actor: Actor,
    /// One sentence for people.
    pub message: String,
    pub time: Timestamp,
}

/// A stored event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub sequence: u64,
    pub event: NewEvent,
}
