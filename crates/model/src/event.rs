//! Events: what happened, in commit order, for people, watch streams and hooks.
//!
//! Sequence numbers are given inside the transaction that made the change, so a reader that has seen
//! number `n` has seen everything before it.
//!
//! Besides its sentence for people an event can have a *payload* for programs ([`EventPayload`]), whose form
//! is fixed by its kind, and a *correlation*: what caused it. That is the request id of the audit entry it
//! was written with, `execution/ID` for what an execution did, `task/ID` or `workload/ID` for what one of them told of,
//! `fire/ID/TIME` for what a schedule did, `stack/ID` for what a stack did, `hook/ID/SEQUENCE` for what a delivery of an event hook did. Requests of people cannot have a `/` in their id, so nobody can pretend to be one of
//! the others.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::filter::{Field, Fields};
use crate::{Actor, EventName, EventPayload, ProjectId, Timestamp};

/// What filters of events can name.
pub const EVENT_FIELDS: Fields = Fields(Cow::Borrowed(EVENT_FIELD_LIST));

const EVENT_FIELD_LIST: &[Field] = &[
    Field::any("sequence"),
    Field::any("kind"),
    Field::any("time"),
    Field::any("project"),
    Field::any("object.kind"),
    Field::any("object.id"),
    Field::any("object.name"),
    Field::any("actor.kind"),
    Field::any("actor.name"),
    Field::any("message"),
    Field::any("correlation"),
    Field::any("payload.**"),
];

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
        /// A node was looked at anew, and told again what it should run.
        NodeReloaded = "node.reloaded",
        /// A node's labels were changed.
        NodeChanged = "node.changed",
        /// A GPU of a node is out of service: its driver told of an error, or it does not answer.
        NodeGpuTrouble = "node.gpu-trouble",
        /// A GPU of a node that was out of service can be given to tasks again.
        NodeGpuWell = "node.gpu-well",
        /// An agent removed a version of an image from its node, because nobody needs it there.
        NodeImageRemoved = "node.image-removed",
        /// A version of an image that nobody needs on a node cannot be removed from it.
        NodeImageTrouble = "node.image-trouble",
        /// Something was done to a node's machine, or was found to be so already.
        NodeAdministered = "node.administered",
        /// Something that was to be done to a node's machine failed; part of it may have been done.
        NodeAdministerFailed = "node.administer-failed",
        /// What was on paths of a node is kept.
        NodeBackedUp = "node.backed-up",
        /// A backup of a node was given up.
        NodeBackupFailed = "node.backup-failed",
        /// A backup of a node was read through, and is not whole.
        NodeBackupDamaged = "node.backup-damaged",
        /// A backup of a node is not kept any more.
        NodeBackupRemoved = "node.backup-removed",
        /// What a backup has was put back on a node.
        NodeRestored = "node.restored",
        /// A backup could not be put back on a node; part of it may be there.
        NodeRestoreFailed = "node.restore-failed",
        /// A node was taken out and its certificates revoked.
        NodeRemoved = "node.removed",
        /// There is a new key for the tokens of what runs, or former ones are forgotten.
        IdentityKeysChanged = "identity.keys-changed",
        /// A version of an image is kept from now on.
        ImageAdded = "image.added",
        /// A version of an image is not kept any more.
        ImageRemoved = "image.removed",
        /// Something waits for others to agree.
        ApprovalRequested = "approval.requested",
        /// Enough people agreed to something.
        ApprovalApproved = "approval.approved",
        /// Somebody did not agree to something.
        ApprovalDenied = "approval.denied",
        /// Nobody decided in time, or what was approved was not done in time.
        ApprovalExpired = "approval.expired",
        /// Something was done that others had agreed to.
        ApprovalUsed = "approval.used",
        /// A request was taken back by who made it.
        ApprovalWithdrawn = "approval.withdrawn",
        /// A request is worth nothing any more: what it was for is gone, or somebody lost the right to it.
        ApprovalVoid = "approval.void",
        /// Warning: somebody did without an approval what needs one.
        ApprovalBreakGlass = "approval.break-glass",
        /// A policy of approvals was made.
        ApprovalPolicyCreated = "approval-policy.created",
        /// A policy of approvals was changed.
        ApprovalPolicyChanged = "approval-policy.changed",
        /// A policy of approvals was removed.
        ApprovalPolicyRemoved = "approval-policy.removed",
        /// The newest hash of the audit chain was signed.
        AuditAnchored = "audit.anchored",
        /// Audit entries cannot be delivered to a sink; they are kept and tried again.
        AuditSinkTrouble = "audit.sink-trouble",
        /// Audit entries are delivered to a sink again.
        AuditSinkWell = "audit.sink-well",
        /// A new certificate authority begins to take the place of the present one.
        AuthorityRotationBegun = "authority.rotation-begun",
        /// The authority that was to be replaced stays, and the new one goes.
        AuthorityRotationAborted = "authority.rotation-aborted",
        /// A certificate authority has taken the place of another, which counts no more.
        AuthorityRotated = "authority.rotated",
        /// Something that a user, a task or a step of a workflow told of: `custom.NAME`.
        Custom = "custom",
        /// An event hook was made.
        HookCreated = "hook.created",
        /// An event hook was changed, enabled or disabled.
        HookChanged = "hook.changed",
        /// An event hook was removed, with what it had not delivered.
        HookRemoved = "hook.removed",
        /// An event could not be delivered by a hook, and is kept until somebody replays it.
        HookDeadLetter = "hook.dead-letter",
        /// A hook was kept from answering to what it had caused itself, too many times over.
        HookLoopCut = "hook.loop-cut",
        /// Everything the control plane knows was written to a file, or sent to who asked for it.
        BackupCreated = "backup.created",
        /// A backup that was due could not be made; it is tried again.
        BackupFailed = "backup.failed",
        /// The database was restored from a backup.
        BackupRestored = "backup.restored",
        /// Somebody was invited.
        InvitationCreated = "invitation.created",
        /// Somebody made an account with an invitation.
        InvitationAccepted = "invitation.accepted",
        /// An invitation that was used, expired or revoked was presented.
        InvitationRefused = "invitation.refused",
        /// An invitation was taken back before it was used.
        InvitationRevoked = "invitation.revoked",
        /// A used, expired, revoked or foreign join token was presented.
        JoinRefused = "join.refused",
        /// Somebody who held a lock was not heard of for as long as it had said, and holds it no more.
        LockExpired = "lock.expired",
        /// Warning: a lock was taken away from who held it.
        LockForced = "lock.forced",
        /// Too many logins failed for one name or from one address; more have to wait.
        LoginThrottled = "login.throttled",
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
        /// A custom role was made.
        RoleCreated = "role.created",
        /// A custom role allows something else than before, or is described otherwise.
        RoleChanged = "role.changed",
        /// A custom role was removed.
        RoleRemoved = "role.removed",
        /// A group was made.
        GroupCreated = "group.created",
        /// A group has other members, another role or another description.
        GroupChanged = "group.changed",
        /// A group was removed.
        GroupRemoved = "group.removed",
        /// A schedule was made.
        ScheduleCreated = "schedule.created",
        /// A schedule was changed.
        ScheduleChanged = "schedule.changed",
        /// A schedule does nothing until it is resumed.
        SchedulePaused = "schedule.paused",
        /// A schedule that was paused goes on.
        ScheduleResumed = "schedule.resumed",
        /// A schedule was removed.
        ScheduleRemoved = "schedule.removed",
        /// The time of a schedule came, and what it is for was begun.
        ScheduleFired = "schedule.fired",
        /// The time of a schedule came, and what it is for could not be done.
        ScheduleFailed = "schedule.failed",
        /// Times of a schedule passed without anything being done.
        ScheduleMissed = "schedule.missed",
        /// A secret was set for the first time.
        SecretCreated = "secret.created",
        /// A secret has a new version.
        SecretRotated = "secret.rotated",
        /// A secret was linked to a path in a vault, or to another one.
        SecretLinked = "secret.linked",
        /// A version of a secret was destroyed.
        SecretDestroyed = "secret.destroyed",
        /// A secret was removed with all its versions.
        SecretRemoved = "secret.removed",
        /// A secret could not be opened: its data or its master key is not the right one.
        SecretUnopened = "secret.unopened",
        /// Secrets were sealed anew, with the present master key.
        SecretRewrapped = "secret.rewrapped",
        /// A stack was asked for.
        StackCreated = "stack.created",
        /// Something was begun with a stack: it is made, changed, taken down, undone, checked and so on.
        StackBegun = "stack.begun",
        /// What was begun with a stack is complete.
        StackCompleted = "stack.completed",
        /// What was begun with a stack failed.
        StackFailed = "stack.failed",
        /// A stack is gone, with everything that was not to be kept.
        StackRemoved = "stack.removed",
        /// A resource of a stack waits at a hook until somebody lets it go on.
        StackPaused = "stack.paused",
        /// Somebody let a resource of a stack go on that waited at a hook.
        StackHookCleared = "stack.hook-cleared",
        /// A resource of a stack was signalled.
        StackSignalled = "stack.signalled",
        /// Somebody said that a resource of a stack is broken, or that it is not.
        StackMarked = "stack.marked",
        /// Something of a stack is not as its template says.
        StackDrifted = "stack.drifted",
        /// A namespace of a project's state was emptied.
        StateCleared = "state.cleared",
        /// A server started.
        ServerStarted = "server.started",
        /// A server stopped in good order.
        ServerStopped = "server.stopped",
        /// A live token or session was sent in the address of a request, where it is no secret any more.
        TokenExposed = "token.exposed",
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
        /// The kernel killed a task for memory.
        TaskOom = "task.oom",
        /// A task was stopped for others or for its node.
        TaskStopped = "task.stopped",
        /// A task is frozen on its node.
        TaskPaused = "task.paused",
        /// A task goes on after it was frozen.
        TaskResumed = "task.resumed",
        /// Somebody asked for a task to be frozen, or to go on.
        TaskPauseRequested = "task.pause-requested",
        /// A task is back in the queue, to be tried again.
        TaskRetried = "task.retried",
        /// A task waits for somebody to agree.
        TaskApprovalRequested = "task.approval-requested",
        /// Somebody did not agree to a task.
        TaskRejected = "task.rejected",
        /// A task array was submitted.
        ArrayCreated = "array.created",
        /// Somebody asked for a task array to be stopped.
        ArrayKillRequested = "array.kill-requested",
        /// A task's node has been away for too long.
        TaskLost = "task.lost",
        /// A task that was thought lost was found again on its node.
        TaskFound = "task.found",
        /// A task was removed from the records.
        TaskRemoved = "task.removed",
        /// A link with which a user can set a new password was made.
        UserResetIssued = "user.reset-issued",
        /// A user set a new password with such a link.
        UserResetUsed = "user.reset-used",
        /// A user's logins need a code from now on.
        UserSecondFactorOn = "user.second-factor-on",
        /// A user's logins need no code any more.
        UserSecondFactorOff = "user.second-factor-off",
        /// A recovery code took the place of a user's second factor, and is used up.
        UserRecoveryCodeUsed = "user.recovery-code-used",
        /// An identity at the identity provider logs in as a user from now on.
        UserLinked = "user.linked",
        /// An identity at the identity provider does not log in as a user any more.
        UserUnlinked = "user.unlinked",
        /// Somebody else ended sessions of a user.
        UserSessionsEnded = "user.sessions-ended",
        /// A watcher was made.
        WatcherCreated = "watcher.created",
        /// A watcher was changed, enabled or disabled.
        WatcherChanged = "watcher.changed",
        /// A watcher was removed, and nodes forget what they knew for it.
        WatcherRemoved = "watcher.removed",
        /// A node saw what a watcher waits for.
        WatcherFired = "watcher.fired",
        /// What a watcher fired on is over.
        WatcherCleared = "watcher.cleared",
        /// A node cannot look at what a watcher is about.
        WatcherTrouble = "watcher.trouble",
        /// A version of a workflow is kept from now on.
        WorkflowPushed = "workflow.pushed",
        /// A workflow was removed with all its versions.
        WorkflowRemoved = "workflow.removed",
        /// A version of a module is kept from now on.
        ModulePushed = "module.pushed",
        /// A module was removed with all its versions.
        ModuleRemoved = "module.removed",
        /// A version of a plugin of stacks is kept from now on.
        StackPluginPushed = "stack-plugin.pushed",
        /// A plugin of stacks was removed, or one version of it.
        StackPluginRemoved = "stack-plugin.removed",
        /// An execution of a workflow was begun.
        ExecutionCreated = "execution.created",
        /// A step of an execution began.
        ExecutionStepStarted = "execution.step-started",
        /// A step of an execution ended, well or not, or was skipped.
        ExecutionStepEnded = "execution.step-ended",
        /// A step of an execution failed and is tried again.
        ExecutionStepRetried = "execution.step-retried",
        /// A step of an execution waits for somebody to agree.
        ExecutionStepWaits = "execution.step-waits",
        /// A step of an execution is undone.
        ExecutionStepUndone = "execution.step-undone",
        /// What an execution does for its stack began to wait, or ended.
        ExecutionPhase = "execution.phase",
        /// Somebody asked for an execution to end.
        ExecutionCancelRequested = "execution.cancel-requested",
        /// An execution that was over goes on, with what was not done.
        ExecutionRetried = "execution.retried",
        /// An execution is over and everything went well.
        ExecutionSucceeded = "execution.succeeded",
        /// An execution is over and did not do what it was there for.
        ExecutionFailed = "execution.failed",
        /// A workload was applied for the first time.
        WorkloadCreated = "workload.created",
        /// A workload's spec was changed.
        WorkloadChanged = "workload.changed",
        /// Somebody asked for a workload to run.
        WorkloadStartRequested = "workload.start-requested",
        /// Somebody asked for a workload to stop.
        WorkloadStopRequested = "workload.stop-requested",
        /// Somebody asked for new runs in place of those that are there.
        WorkloadRestartRequested = "workload.restart-requested",
        /// Somebody asked for a workload to be removed.
        WorkloadRemoveRequested = "workload.remove-requested",
        /// Nothing is left of a workload on any node, and its records are gone.
        WorkloadRemoved = "workload.removed",
        /// A workload was given to a node.
        WorkloadPlaced = "workload.placed",
        /// A workload is taken away from a node.
        WorkloadUnplaced = "workload.unplaced",
        /// A run of a workload began, by itself or because its time had come.
        WorkloadStarted = "workload.started",
        /// A run of a workload began because the one before it had ended.
        WorkloadRestarted = "workload.restarted",
        /// A workload is stopped on a node.
        WorkloadStopped = "workload.stopped",
        /// A workload, or a scheduled run of it, has done what it was there for.
        WorkloadCompleted = "workload.completed",
        /// A workload will not be started again by itself, or a scheduled run of it failed.
        WorkloadFailed = "workload.failed",
        /// A workload has failed several times in a row and is started again ever more slowly.
        WorkloadCrashLoop = "workload.crash-loop",
        /// The kernel killed a run of a workload for memory.
        WorkloadOom = "workload.oom",
        /// A run's end cannot be known: its node rebooted, or its supervisor died with it.
        WorkloadVanished = "workload.vanished",
        /// A workload's health checks fail.
        WorkloadUnhealthy = "workload.unhealthy",
        /// A workload's health checks say that it works.
        WorkloadHealthy = "workload.healthy",
        /// Scheduled times of a workload were left out.
        WorkloadFireMissed = "workload.fire-missed",
        /// Runs ended that nobody could be told of; only their number is known.
        WorkloadRunsUntold = "workload.runs-untold",
    }
}

crate::labels! {
    /// Kinds of objects that events, audit entries and watch streams speak of.
    pub enum ObjectKind ("object kind") {
        Approval = "approval",
        ApprovalPolicy = "approval-policy",
        AuditAnchor = "audit-anchor",
        AuditSink = "audit-sink",
        Authority = "authority",
        Backup = "backup",
        Blob = "blob",
        Container = "container",
        Custom = "custom",
        Execution = "execution",
        Group = "group",
        Hook = "hook",
        Image = "image",
        Invitation = "invitation",
        JoinToken = "join-token",
        Lock = "lock",
        Member = "member",
        Module = "module",
        Node = "node",
        Operation = "operation",
        Project = "project",
        Role = "role",
        Schedule = "schedule",
        Secret = "secret",
        Server = "server",
        SoftwareConfig = "software-config",
        SoftwareDeployment = "software-deployment",
        Stack = "stack",
        StackPlugin = "stack-plugin",
        StateNamespace = "state-namespace",
        Task = "task",
        TaskArray = "task-array",
        Token = "token",
        User = "user",
        Watcher = "watcher",
        WebSession = "web-session",
        Workflow = "workflow",
        Workload = "workload",
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
    /// The same for programs, and more.
    pub payload: Option<EventPayload>,
    /// What caused it; the request of the audit entry it is written with, where it does not say.
    pub correlation: Option<String>,
    pub time: Timestamp,
}

impl NewEvent {
    /// What its kind is called.
    pub fn name(&self) -> EventName {
        match self.kind {
            EventKind::Custom => {
                self.object.name.parse().map_or(self.kind.into(), EventName::Custom)
            }
            kind => kind.into(),
        }
    }

    #[must_use]
    pub fn with_payload(mut self, payload: impl Into<EventPayload>) -> NewEvent {
        self.payload = Some(payload.into());
        self
    }

    #[must_use]
    pub fn caused_by(mut self, correlation: impl Into<String>) -> NewEvent {
        self.correlation = Some(correlation.into());
        self
    }
}

/// A stored event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub sequence: u64,
    pub event: NewEvent,
}

impl Event {
    /// As filters, hooks and their receivers see it.
    pub fn document(&self) -> Value {
        let NewEvent { kind: _, project_id, object, actor, message, payload, correlation, time } =
            &self.event;
        let mut document = json!({
            "sequence": self.sequence,
            "kind": self.event.name(),
            "time": time,
            "object": object,
            "actor": actor,
            "message": message,
        });
        if let Some(project) = project_id {
            document["project"] = json!(project);
        }
        if let Some(payload) = payload {
            document["payload"] = json!(payload);
        }
        if let Some(correlation) = correlation {
            document["correlation"] = json!(correlation);
        }
        document
    }
}

/// What an execution did is caused by it.
pub fn execution_correlation(id: crate::ExecutionId) -> String {
    format!("execution/{id}")
}

/// What a stack did is caused by it.
pub fn stack_correlation(id: crate::StackId) -> String {
    format!("stack/{id}")
}

/// What a task told of is caused by it.
pub fn task_correlation(id: crate::WorkloadId) -> String {
    format!("task/{id}")
}

/// What a workload that is no task told of is caused by it.
pub fn workload_correlation(id: crate::WorkloadId) -> String {
    format!("workload/{id}")
}
