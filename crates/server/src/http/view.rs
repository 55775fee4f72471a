//! From records to what callers see. Every field is named, so a new one cannot be forgotten or leak.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hostler_api::node::{
    CordonView, GpuHeldView, JoinTokenState, JoinTokenView, NodeHeldView, NodeView, NumaHeldView,
};
use hostler_api::operation::OperationView;
use hostler_api::project::ProjectView;
use hostler_api::record::EventView;
use hostler_api::session::{ProjectRole, WebSessionView, WhoamiView};
use hostler_api::system::{ReconcilerView, ServerView};
use hostler_api::task::{
    AccountView, ArraySeat, ArrayView, Explanation, GivenView, LogLine, NodeExplanation,
    QueueEntry, QueueProject, RunView, TaskRef, TaskStatus, TaskView,
};
use hostler_api::token::TokenView;
use hostler_api::user::{MemberView, UserView};
use hostler_base::reconcile::{Activity, Status};
use hostler_control::{
    AccountDetail, ArrayDetail, NodeHeld, OutputItem, QueueDetail, QueuedTask, TaskDetail, TaskRun,
    TokenDetail, UserDetail,
};
use hostler_model::{
    Bytes, Caller, Credential, Desired, Event, GpuHold, JoinToken, Name, Need, Node, NodeMetrics,
    Operation, Permission, PermissionSet, Project, ProjectId, Reservation, Run, RunState, Scope,
    SecondFactorState, ServerId, ServerRegistration, TaskState, Timestamp, WebSession,
};
use hostler_store::Member;

pub(crate) fn user(detail: UserDetail) -> UserView {
    let principal = detail.principal;
    UserView {
        id: principal.id,
        name: principal.name,
        kind: principal.kind,
        role: detail.role,
        is_disabled: principal.is_disabled,
        generation: principal.generation.get(),
        time_created: principal.time_created,
        time_modified: principal.time_modified,
    }
}

pub(crate) fn member(member: Member) -> MemberView {
    MemberView { user: member.subject, id: member.id, role: member.role }
}

pub(crate) fn token(detail: TokenDetail) -> TokenView {
    let token = detail.token;
    TokenView {
        id: token.id,
        name: token.name,
        user: detail.user,
        role: token.limits.role_max,
        project: match detail.projects.as_deref() {
            Some([one]) => Some(one.clone()),
            Some(_) | None => None,
        },
        projects: detail.projects,
        can: token.limits.can,
        from: token.limits.sources,
        is_revoked: token.time_revoked.is_some(),
        time_created: token.time_created,
        time_expires: token.time_expires,
        time_last_used: token.time_last_used,
    }
}

pub(crate) fn whoami(caller: &Caller, csrf_token: Option<String>) -> WhoamiView {
    let bound = caller.grants.iter().filter_map(|grant| match grant.scope {
        Scope::Global => None,
        Scope::Project(id) => Some(id),
    });
    let projects: BTreeSet<_> = match caller.visible_projects() {
        Some(visible) => visible.into_iter().collect(),
        None => bound.collect(),
    };
    let roles = projects.into_iter().map(|project| {
        let scope = Scope::Project(project);
        let permissions = caller.permissions_in(scope).intersection(PermissionSet::of_projects());
        ProjectRole { project, name: None, role: caller.role_in(scope), permissions }
    });
    WhoamiView {
        id: caller.principal_id,
        name: caller.name.clone(),
        kind: caller.kind,
        role: caller.role_in(Scope::Global),
        permissions: caller.permissions_in(Scope::Global),
        projects: roles.collect(),
        second_factor: SecondFactorState::default(),
        csrf_token,
    }
}

pub(crate) fn web_session(session: WebSession, caller: &Caller) -> WebSessionView {
    WebSessionView {
        id: session.id,
        user_agent: session.user_agent,
        is_current: caller.credential == Credential::WebSession(session.id),
        time_created: session.time_created,
        time_last_used: session.time_last_used,
        time_expires: session.time_expires,
    }
}

pub(crate) fn project(project: Project) -> ProjectView {
    ProjectView {
        id: project.id,
        name: project.name,
        description: project.description,
        weight: project.weight,
        quota: project.quota,
        generation: project.generation.get(),
        time_created: project.time_created,
        time_modified: project.time_modified,
    }
}

pub(crate) fn node(node: Node) -> NodeView {
    let (applied, seen, metrics) = match node.lease {
        Some(lease) => {
            // Which projects have output there is not everybody's to know.
            let shown = |metrics: NodeMetrics| NodeMetrics { outputs: Vec::new(), ..metrics };
            let metrics = lease.metrics.map(shown);
            (lease.applied_generation.get(), Some(lease.time_seen), metrics)
        }
        None => (0, None, None),
    };
    NodeView {
        id: node.id,
        name: node.name,
        labels: node.labels,
        state: node.state,
        cordon: node.cordon.map(|cordon| CordonView {
            reason: cordon.reason,
            is_draining: cordon.is_draining,
            time: cordon.time,
        }),
        facts: node.facts,
        metrics,
        agent_version: node.agent_version,
        generation: node.generation.get(),
        desired_generation: node.desired_generation.get(),
        applied_generation: applied,
        time_created: node.time_created,
        time_seen: seen,
        time_state: node.time_state,
    }
}

pub(crate) fn join_token(token: JoinToken, now: Timestamp) -> JoinTokenView {
    let state = if token.time_used.is_some() {
        JoinTokenState::Used
    } else if token.time_revoked.is_some() {
        JoinTokenState::Revoked
    } else if now >= token.time_expires {
        JoinTokenState::Expired
    } else {
        JoinTokenState::Unused
    };
    JoinTokenView {
        id: token.id,
        name: token.node_name,
        labels: token.labels,
        state,
        used_by: token.used_by,
        time_created: token.time_created,
        time_expires: token.time_expires,
    }
}

pub(crate) fn task(caller: &Caller, detail: TaskDetail) -> TaskView {
    let workload = detail.workload;
    let mut spec = Arc::unwrap_or_clone(workload.spec);
    let need = Need::of(Permission::TaskEnv, Some(workload.project_id));
    if !caller.may_or_made(need, workload.created_by) {
        spec.hide_environment();
    }
    let is_stopping = workload.desired == Desired::Stop && !workload.state.is_settled();
    let mut message = task_message(&workload.state, workload.desired, detail.node.as_ref());
    if is_stopping {
        message.push_str(", asked to stop");
    }
    let pid = detail.run.as_ref().and_then(run_pid);
    let status = TaskStatus {
        state: workload.state.kind(),
        message,
        is_stopping,
        node: detail.node,
        run: detail.run.as_ref().map(|run| run.id),
        pid,
        exit: workload.state.exit().cloned(),
        time_started: detail.run.as_ref().and_then(|run| run.time_started),
        time_ended: workload.time_ended,
    };
    TaskView {
        id: workload.id,
        name: workload.name,
        project: detail.project,
        spec,
        array: workload.seat.map(|seat| ArraySeat { array: seat.array, index: seat.index }),
        attempts: workload.attempts,
        time_ready: workload.time_ready,
        status,
        trace: workload.trace.map(|trace| trace.trace_id()),
        created_by: detail.created_by,
        generation: workload.generation.get(),
        time_created: workload.time_created,
        time_modified: workload.time_modified,
    }
}

pub(crate) fn array(caller: &Caller, detail: ArrayDetail) -> ArrayView {
    let standing = detail.standing;
    let mut array = standing.array;
    let need = Need::of(Permission::TaskEnv, Some(array.project_id));
    if !caller.may_or_made(need, array.created_by) {
        array.spec.hide_environment();
    }
    ArrayView {
        id: array.id,
        name: array.name,
        project: detail.project,
        spec: array.spec,
        size: array.range.len(),
        range: array.range,
        is_gang: array.is_gang,
        is_stopping: array.is_stopped && standing.unsettled > 0,
        unsettled: standing.unsettled,
        unsuccessful: standing.unsuccessful,
        counts: detail.counts,
        created_by: detail.created_by,
        generation: array.generation.get(),
        time_created: array.time_created,
    }
}

pub(crate) fn queue(detail: QueueDetail) -> QueueProject {
    let QueueDetail { project, held, counts, usage, next } = detail;
    QueueProject {
        project: project.name,
        weight: project.weight,
        quota: project.quota,
        counts,
        cores: thousandths(held.cores),
        memory: Bytes::new(held.memory),
        gpus: thousandths(held.gpus),
        workloads: usage.workloads,
        secrets: usage.secrets,
        blobs: usage.blobs,
        logs: usage.logs,
        state: usage.state,
        stacks: usage.stacks,
        next: next.into_iter().map(queued).collect(),
    }
}

fn queued(task: QueuedTask) -> QueueEntry {
    QueueEntry {
        id: task.id,
        name: task.name,
        position: task.position,
        priority: task.priority,
        time_ready: task.time_ready,
        reason: task.reason,
    }
}

pub(crate) fn account(detail: AccountDetail) -> AccountView {
    let hours = |milliseconds: u64| thousandths(milliseconds) / 3600.0;
    let used = detail.used;
    AccountView {
        project: detail.project,
        user: detail.user,
        tasks: used.tasks,
        core_hours: hours(used.core_milliseconds),
        gpu_hours: hours(used.gpu_milliseconds),
        memory_gib_hours: used.memory_mib_seconds as f64 / 1024.0 / 3600.0,
        wait_seconds_mean: thousandths(used.wait_milliseconds) / used.tasks.max(1) as f64,
        run_hours: hours(used.run_milliseconds),
    }
}

fn thousandths(count: u64) -> f64 {
    count as f64 / 1000.0
}

pub(crate) fn task_ref(detail: TaskDetail) -> TaskRef {
    TaskRef { id: detail.workload.id, name: detail.workload.name }
}

fn task_message(state: &TaskState, desired: Desired, node: Option<&Name>) -> String {
    let place = node.map_or_else(|| "a node".to_owned(), |name| format!("node `{name}`"));
    match state {
        TaskState::PendingApproval => "waiting for somebody to agree".to_owned(),
        TaskState::Rejected { why, .. } => format!("rejected: {why}"),
        TaskState::Pending if desired == Desired::Pause => {
            "held back; `hostler task resume` puts it back into the queue".to_owned()
        }
        TaskState::Pending => "waiting for a node; `hostler explain` says why".to_owned(),
        TaskState::Assigning { .. } => format!("given to {place}, not started yet"),
        TaskState::Running { .. } => format!("running on {place}"),
        TaskState::Paused { .. } => format!("paused on {place}"),
        TaskState::Completed { exit, .. }
        | TaskState::Failed { exit, .. }
        | TaskState::KilledOom { exit, .. }
        | TaskState::Stopped { exit, .. } => exit.to_string(),
        TaskState::Killed { exit: Some(exit), .. } => exit.to_string(),
        TaskState::Killed { exit: None, .. } => "stopped before it started".to_owned(),
        TaskState::Lost { why, .. } => why.clone(),
    }
}

fn run_pid(run: &Run) -> Option<u32> {
    match run.state {
        RunState::Running { pid, .. } | RunState::Paused { pid, .. } => Some(pid),
        RunState::Assigned | RunState::Exited { .. } | RunState::Lost { .. } => None,
    }
}

pub(crate) fn gpus_held(gpus: &[GpuHold]) -> Vec<GpuHeldView> {
    gpus.iter()
        .map(|gpu| GpuHeldView { index: gpu.index, share: f64::from(gpu.share.millis()) / 1000.0 })
        .collect()
}

pub(crate) fn node_held(held: NodeHeld) -> NodeHeldView {
    let numa = held.numa.into_iter().map(|numa| NumaHeldView {
        index: numa.index,
        cores: numa.cores,
        memory: numa.memory,
    });
    NodeHeldView {
        id: held.id,
        node: held.name,
        placements: held.placements,
        cores: held.cores,
        memory: held.memory,
        disk: held.disk,
        cpus: held.cpus.to_string(),
        numa: numa.collect(),
        gpus: gpus_held(&held.gpus),
    }
}

fn given(held: &Reservation) -> GivenView {
    GivenView {
        cores: held.cores,
        memory: held.memory,
        disk: held.disk,
        cpus: held.cpus.to_string(),
        numa: held.numa,
        gpus: gpus_held(&held.gpus),
    }
}

pub(crate) fn run(detail: TaskRun) -> RunView {
    let TaskRun { run, reservation } = detail;
    let pid = run_pid(&run);
    let exit = match &run.state {
        RunState::Exited { exit } => Some(exit.clone()),
        RunState::Assigned
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Lost { .. } => None,
    };
    RunView {
        id: run.id,
        attempt: run.attempt,
        node_id: run.node_id,
        state: run.state.kind(),
        given: given(&reservation),
        pid,
        exit,
        time_created: run.time_created,
        time_started: run.time_started,
        time_ended: run.time_ended,
    }
}

pub(crate) fn explanation(explained: hostler_control::Explanation) -> Explanation {
    let nodes = explained.nodes.into_iter().map(|node| NodeExplanation {
        node: node.node,
        is_fitting: node.reasons.is_empty(),
        reasons: node.reasons,
        labels: node.labels,
    });
    Explanation {
        state: explained.state,
        summary: explained.summary,
        nodes: nodes.collect(),
        hints: explained.hints,
        readiness: explained.readiness,
        trace: explained.trace.map(|trace| trace.trace_id()),
    }
}

pub(crate) fn log_line(item: OutputItem) -> LogLine {
    use base64::Engine;
    match item {
        OutputItem::Data { stream, time, bytes, cursor } => LogLine::Data {
            stream,
            time,
            data: base64::engine::general_purpose::STANDARD.encode(bytes),
            cursor,
        },
        OutputItem::Gap(detail) | OutputItem::Mark { words: detail, .. } => LogLine::Gap { detail },
        OutputItem::End { complete } => LogLine::End { complete },
        OutputItem::Exit { .. } => LogLine::End { complete: true },
    }
}

pub(crate) fn operation(operation: Operation) -> OperationView {
    OperationView {
        id: operation.id,
        plan: operation.plan,
        state: operation.state,
        steps: operation.steps,
        error: operation.error,
        is_cancel_requested: operation.is_cancel_requested,
        created_by: operation.created_by,
        generation: operation.generation.get(),
        time_created: operation.time_created,
        time_modified: operation.time_modified,
        time_ended: operation.time_ended,
    }
}

pub(crate) fn event(event: Event, projects: &HashMap<ProjectId, Name>) -> EventView {
    let sequence = event.sequence;
    let event = event.event;
    EventView {
        sequence,
        kind: event.name(),
        time: event.time,
        project: event.project_id,
        project_name: event.project_id.and_then(|id| projects.get(&id).cloned()),
        object: event.object,
        actor: event.actor,
        message: event.message,
        payload: event.payload.and_then(|payload| serde_json::to_value(payload).ok()),
        correlation: event.correlation,
    }
}

pub(crate) fn server(server: ServerRegistration, current: ServerId) -> ServerView {
    ServerView {
        id: server.id,
        name: server.name,
        version: server.version,
        api_address: server.api_address,
        agent_address: server.agent_address,
        is_current: server.id == current,
        time_started: server.time_started,
        time_seen: server.time_seen,
    }
}

pub(crate) fn reconciler(status: Status) -> ReconcilerView {
    ReconcilerView {
        name: status.name,
        description: status.description,
        period_seconds: status.period.duration().as_secs_f64(),
        is_running: matches!(status.activity, Activity::Running { .. }),
        passes: status.passes,
        errors: status.consecutive_errors,
        panics: status.panics,
        time_last_started: status.time_last_started,
        seconds_last: status.duration_last.unwrap_or_default().duration().as_secs_f64(),
        error_last: status.error_last,
        report: status.report_last,
    }
}
