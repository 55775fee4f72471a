//! Tasks: submit, list, get, wait, kill, remove.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hostler_engine::observe;
use hostler_model::{
    Code, Desired, Diagnostic, Error, EventKind, Generation, Limit, Mode, Name, NodeId, ObjectKind,
    ObjectRef, Page, Placement, PrincipalId, Project, Role, Run, Scope, Span, TaskState,
    TaskStateKind, Timestamp, Workload, WorkloadId, WorkloadSpec,
};
use hostler_store::{Conn, WorkloadFilter};
use serde_json::json;

use super::project::taken;
use crate::{Control, Cx, NewTask, TaskDetail};

/// How often a waiter looks by itself, for changes made through another server.
const WAIT_POLL: Duration = Duration::from_millis(500);

impl Control {
    pub async fn task_list(
        &self,
        _: &Cx,
        project: &Project,
        states: &[TaskStateKind],
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<TaskDetail>, Error> {
        let mut read = self.store.read().await?;
        let projects = [project.id];
        let filter = WorkloadFilter { projects: Some(&projects), states, name_prefix: None };
        let page = read.workload_list(filter, after, limit).await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for workload in page.items {
            items.push(names.detail(&mut read, workload, project.name.clone()).await?);
        }
        Ok(Page { items, next: page.next })
    }

    /// Submits tasks: all of them, or none.
    pub async fn task_submit(
        &self,
        cx: &Cx,
        project: &Project,
        new: Vec<NewTask>,
    ) -> Result<Vec<TaskDetail>, Error> {
        let is_batch = new.len() > 1;
        let mut problems = Vec::new();
        let mut names = HashSet::new();
        for (i, task) in new.iter().enumerate() {
            let at = if is_batch { format!("/tasks/{i}") } else { String::new() };
            problems.extend(task.spec.problems(&format!("{at}/spec")));
            problems.extend(not_for_tasks(&task.spec, &format!("{at}/spec")));
            if let Some(name) = &task.name
                && !names.insert(name.clone())
            {
                problems.push(Diagnostic::new(
                    format!("{at}/name"),
                    format!("the name `{name}` is given twice"),
                ));
            }
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let now = self.now();
        let workloads: Vec<Workload> =
            new.into_iter().map(|task| self.workload(cx, project, task, now)).collect();
        let objects: Vec<ObjectRef> = workloads.iter().map(object).collect();
        let events: Vec<_> = objects
            .iter()
            .map(|object| {
                self.event(
                    EventKind::TaskCreated,
                    Some(project.id),
                    object,
                    cx.actor(),
                    "submitted",
                )
            })
            .collect();
        let audit: Vec<_> = match (objects.as_slice(), workloads.as_slice()) {
            ([object], [workload]) => {
                vec![self.audit(
                    cx,
                    "task.create",
                    object,
                    Some(project.id),
                    json!({ "command": workload.spec.command }),
                )]
            }
            _ => {
                let first = objects.first().cloned().ok_or_else(|| {
                    Error::invalid(vec![Diagnostic::new("/tasks", "no task is given")])
                })?;
                vec![self.audit(
                    cx,
                    "task.create-batch",
                    &first,
                    Some(project.id),
                    json!({ "tasks": objects.len() }),
                )]
            }
        };
        // One key stands for the whole batch: it remembers every id.
        let ids: Vec<String> = workloads.iter().map(|w| w.id.to_string()).collect();
        let claimed = ObjectRef { kind: ObjectKind::Task, id: ids.join(","), name: String::new() };
        let (workloads_ref, events, audit, claimed) = (&workloads, &events, &audit, &claimed);
        let replay = self
            .store
            .tx("task_submit", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, claimed).await? {
                        return Ok(Some(made));
                    }
                    let name =
                        workloads_ref.first().map(|w| w.name.to_string()).unwrap_or_default();
                    tx.workload_insert_batch(workloads_ref)
                        .await
                        .map_err(|e| taken(e, "task", name))?;
                    tx.journal_append(events, audit).await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        let workloads = match replay {
            None => {
                self.wakers.placement.wake();
                self.feed.ring();
                workloads
            }
            Some(made) => {
                let mut read = self.store.read().await?;
                let mut found = Vec::new();
                for id in made.id.split(',').filter_map(|id| id.parse::<WorkloadId>().ok()) {
                    found.extend(read.workload_get(id).await?);
                }
                if found.is_empty() {
                    return Err(Error::conflict(
                        "an earlier request with this Idempotency-Key made tasks that were removed since",
                        "use a fresh key to submit again",
                    ));
                }
                found
            }
        };
        let detail = |workload| TaskDetail {
            workload,
            project: project.name.clone(),
            created_by: cx.caller.name.to_string(),
            node: None,
            run: None,
        };
        Ok(workloads.into_iter().map(detail).collect())
    }

    pub async fn task_get(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<TaskDetail, Error> {
        let mut read = self.store.read().await?;
        let workload = find(&mut read, project, name_or_id).await?;
        Names::default().detail(&mut read, workload, project.name.clone()).await
    }

    /// Answers when the task has ended, or when the time is over with the task as it is then.
    pub async fn task_wait(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        patience: Duration,
    ) -> Result<TaskDetail, Error> {
        let deadline = self.clock.instant() + patience;
        let mut detail = self.task_get(cx, project, name_or_id).await?;
        let waiter = self.waiter(detail.workload.id);
        loop {
            let changed = waiter.notified();
            tokio::pin!(changed);
            // Listening begins before the look, so that nothing between the two is missed.
            changed.as_mut().enable();
            detail = self.task_get(cx, project, &detail.workload.id.to_string()).await?;
            let left = deadline.saturating_sub(self.clock.instant());
            if detail.workload.state.is_settled() || left.is_zero() {
                return Ok(detail);
            }
            tokio::select! {
                () = &mut changed => {}
                () = self.clock.sleep(left.min(WAIT_POLL)) => {}
            }
        }
    }

    /// Asks for a task to stop. Asking again, or for one that has ended, changes nothing.
    pub async fn task_kill(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        grace: Option<Span>,
    ) -> Result<TaskDetail, Error> {
        if grace.is_some_and(|g| g > Span::from_secs(86_400)) {
            return Err(Error::invalid(vec![Diagnostic::new(
                "/grace",
                "the grace period is at most 1d",
            )]));
        }
        let before = self.task_get(cx, project, name_or_id).await?;
        require_own(cx, project, "task", before.workload.created_by, &before.created_by)?;
        let id = before.workload.id;
        let object = object(&before.workload);
        let object = &object;
        let node = self
            .store
            .tx("task_kill", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let Some(workload) = tx.workload_get(id).await? else {
                        return Err(Error::not_found("task", id));
                    };
                    let placement = match workload.state.placement() {
                        Some(placement) => tx.placement_get(placement).await?,
                        None => None,
                    };
                    let Some(observe::Stop { workload: stopped, placement, events }) =
                        observe::stop(&workload, placement.as_ref(), grace, self.now())
                    else {
                        return Ok(None);
                    };
                    let node =
                        self.apply_stop(tx, &stopped, workload.generation, placement).await?;
                    let events: Vec<_> = events
                        .into_iter()
                        .map(|(kind, message)| {
                            self.event(kind, Some(project.id), object, cx.actor(), message)
                        })
                        .collect();
                    let audit = self.audit(
                        cx,
                        "task.kill",
                        object,
                        Some(project.id),
                        json!({ "grace": grace }),
                    );
                    tx.journal_append(&events, &[audit]).await?;
                    Ok::<_, Error>(node)
                })
            })
            .await?;
        if let Some(node) = node {
            self.links.wake(node);
        }
        self.notify_waiters([id]);
        self.feed.ring();
        self.task_get(cx, project, &id.to_string()).await
    }

    /// Writes a stop: the workload, and its placement under the node's next desired generation.
    pub(crate) async fn apply_stop(
        &self,
        tx: &mut hostler_store::Tx<'_>,
        workload: &Workload,
        expected: Generation,
        placement: Option<Placement>,
    ) -> Result<Option<NodeId>, Error> {
        tx.workload_update(workload, expected).await?.required("task", workload.id)?;
        let Some(mut placement) = placement else { return Ok(None) };
        let node = placement.node_id;
        let Some(generation) = tx.node_desired_bump(node, 1).await? else { return Ok(None) };
        placement.desired_generation = generation;
        tx.placement_update(&placement).await?.required("placement", placement.id)?;
        Ok(Some(node))
    }

    pub async fn task_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<(), Error> {
        let detail = self.task_get(cx, project, name_or_id).await?;
        require_own(cx, project, "task", detail.workload.created_by, &detail.created_by)?;
        let id = detail.workload.id;
        let object = object(&detail.workload);
        let event =
            self.event(EventKind::TaskRemoved, Some(project.id), &object, cx.actor(), "removed");
        let audit = self.audit(cx, "task.remove", &object, Some(project.id), json!({}));
        let (event, audit) = (&event, &audit);
        self.store
            .tx("task_remove", |tx| {
                Box::pin(async move {
                    let Some(workload) = tx.workload_get(id).await? else {
                        return Err(Error::not_found("task", id));
                    };
                    if !workload.state.is_settled() {
                        return Err(Error::conflict(
                            format!("the task is {}", workload.state.kind()),
                            "stop it first with `hostler task kill`",
                        ));
                    }
                    tx.workload_delete(id).await?.required("task", id)?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    pub async fn run_list(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Vec<Run>, Error> {
        let detail = self.task_get(cx, project, name_or_id).await?;
        let mut runs = self.store.read().await?.run_list(detail.workload.id).await?;
        runs.sort_by_key(|run| std::cmp::Reverse(run.attempt));
        Ok(runs)
    }

    fn workload(&self, cx: &Cx, project: &Project, task: NewTask, now: Timestamp) -> Workload {
        let id: WorkloadId = self.ids.fresh();
        let name = task.name.unwrap_or_else(|| made_name(&task.spec.command, id));
        Workload {
            id,
            project_id: project.id,
            name,
            spec: task.spec,
            desired: Desired::Run,
            state: TaskState::Pending,
            generation: Generation::FIRST,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_modified: now,
            time_ended: None,
        }
    }
}

pub(crate) fn object(workload: &Workload) -> ObjectRef {
    ObjectRef::new(ObjectKind::Task, workload.id, &workload.name)
}

/// A name made of the program and some of the id's random bits: `sleep-7k2f9ab3`.
fn made_name(command: &[String], id: WorkloadId) -> Name {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let program = command.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let stem: String =
        program.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { "task" } else { stem };
    // A UUIDv7 ends in 62 random bits.
    let mut bits = id.uuid().as_u128();
    let mut suffix = String::new();
    for _ in 0..10 {
        suffix.push(char::from(DIGITS[usize::try_from(bits & 31).unwrap_or_default()]));
        bits >>= 5;
    }
    format!("{stem}-{suffix}").parse().expect("letters, digits and dashes within 63 make a name")
}

pub(super) async fn find(
    read: &mut Conn,
    project: &Project,
    name_or_id: &str,
) -> Result<Workload, Error> {
    let found = match (name_or_id.parse::<WorkloadId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.workload_get(id).await?,
        (_, Ok(name)) => read.workload_by_name(project.id, &name).await?,
        _ => None,
    };
    found.filter(|w| w.project_id == project.id).ok_or_else(|| Error::not_found("task", name_or_id))
}

/// A task runs once, on one node.
fn not_for_tasks(spec: &WorkloadSpec, at: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if spec.mode != Mode::Once {
        let text =
            format!("a task runs once; apply it as a workload for mode {}", spec.mode.kind());
        found.push(Diagnostic::new(format!("{at}/mode"), text));
    }
    if spec.placement.every || spec.placement.count.is_some_and(|count| count > 1) {
        let text = "a task runs on one node; apply it as a workload for several";
        found.push(Diagnostic::new(format!("{at}/placement"), text));
    }
    found
}

/// A `user` may change only what is theirs; an operator everything in the project.
pub(super) fn require_own(
    cx: &Cx,
    project: &Project,
    kind: &str,
    created_by: PrincipalId,
    owner: &str,
) -> Result<(), Error> {
    let is_own = created_by == cx.caller.principal_id;
    if is_own || cx.caller.role_in(Scope::Project(project.id)) >= Some(Role::Operator) {
        return Ok(());
    }
    Err(Error::new(
        Code::Forbidden,
        format!("the {kind} belongs to {owner}"),
        "its owner, or an operator of the project, can do this",
    ))
}

/// Names looked up once per request.
#[derive(Default)]
pub(super) struct Names {
    nodes: HashMap<NodeId, Option<Name>>,
    principals: HashMap<PrincipalId, String>,
}

impl Names {
    async fn detail(
        &mut self,
        read: &mut Conn,
        workload: Workload,
        project: Name,
    ) -> Result<TaskDetail, Error> {
        let run = match &workload.state {
            TaskState::Pending => None,
            TaskState::Running { run, .. }
            | TaskState::Completed { run, .. }
            | TaskState::Failed { run, .. } => read.run_get(*run).await?,
            TaskState::Killed { run: Some(run), .. } => read.run_get(*run).await?,
            TaskState::Killed { run: None, .. } => None,
            TaskState::Assigning { placement } | TaskState::Lost { placement, .. } => {
                match read.placement_get(*placement).await? {
                    Some(Placement { run_id: Some(run), .. }) => read.run_get(run).await?,
                    Some(_) | None => None,
                }
            }
        };
        let node = match &run {
            Some(run) => self.node(read, run.node_id).await?,
            None => None,
        };
        let created_by = self.principal(read, workload.created_by).await?;
        Ok(TaskDetail { workload, project, created_by, node, run })
    }

    pub(super) async fn node(
        &mut self,
        read: &mut Conn,
        id: NodeId,
    ) -> Result<Option<Name>, Error> {
        if let Some(name) = self.nodes.get(&id) {
            return Ok(name.clone());
        }
        let name = read.node_get(id).await?.map(|node| node.name);
        self.nodes.insert(id, name.clone());
        Ok(name)
    }

    pub(super) async fn principal(
        &mut self,
        read: &mut Conn,
        id: PrincipalId,
    ) -> Result<String, Error> {
        if let Some(name) = self.principals.get(&id) {
            return Ok(name.clone());
        }
        let name = read
            .principal_get(id)
            .await?
            .map_or_else(|| "(removed)".to_owned(), |p| p.name.to_string());
        self.principals.insert(id, name.clone());
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_the_program() {
        let id = WorkloadId::from_uuid("0192f3c4-0000-7000-8000-0123456789ab".parse().unwrap());
        let name = |program: &str| made_name(&[program.to_owned()], id).to_string();
        assert_eq!(name("/usr/bin/Sleep"), "sleep-bd2fp2d410");
        assert!(name("./-weird_näme-.sh").starts_with("weirdnme-sh-"));
        assert!(name("/").starts_with("task-"));
        assert!(name(&"x".repeat(200)).len() <= 63);
    }
}
