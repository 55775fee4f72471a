//! Tasks: list, get, wait, kill, remove.

use std::collections::HashMap;
use std::time::Duration;

use hostler_engine::observe;
use hostler_model::{
    Code, Diagnostic, Error, EventKind, Generation, Limit, Name, Need, NodeId, ObjectKind,
    ObjectRef, Page, Permission, Placement, PlacementId, PrincipalId, Project, Reservation,
    RunPayload, Span, TaskStateKind, Workload, WorkloadId,
};
use hostler_store::{Conn, WorkloadFilter};
use serde_json::json;

use super::task_control::find_array;
use crate::ends::{Follow, Moved};
use crate::{Control, Cx, TaskDetail, TaskRun, audit_state};

/// How often a waiter looks by itself, for changes made through another server.
const WAIT_POLL: Duration = Duration::from_millis(500);

impl Control {
    pub async fn task_list(
        &self,
        _: &Cx,
        project: &Project,
        states: &[TaskStateKind],
        array: Option<&str>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<TaskDetail>, Error> {
        let mut read = self.store.read().await?;
        let projects = [project.id];
        let array = match array {
            Some(array) => Some(find_array(&mut read, project, array).await?.array.id),
            None => None,
        };
        let filter =
            WorkloadFilter { projects: Some(&projects), states, array, ..Default::default() };
        let page = read.workload_list(filter, after, limit).await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for workload in page.items {
            items.push(names.detail(&mut read, workload, project.name.clone()).await?);
        }
        Ok(Page { items, next: page.next })
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
        require_own(
            cx,
            project,
            "task",
            Permission::TaskManage,
            before.workload.created_by,
            &before.created_by,
        )?;
        let id = before.workload.id;
        self.tasks_stop(cx, project, &[id], grace).await?;
        self.task_get(cx, project, &id.to_string()).await
    }

    /// Asks for tasks to stop, in one transaction.
    pub(super) async fn tasks_stop(
        &self,
        cx: &Cx,
        project: &Project,
        ids: &[WorkloadId],
        grace: Option<Span>,
    ) -> Result<(), Error> {
        let follow = self
            .store
            .tx("task_kill", |tx| {
                Box::pin(async move {
                    let mut follow = Follow::default();
                    let mut moved = Vec::new();
                    for id in ids {
                        let Some(workload) = tx.workload_get(*id).await? else {
                            return Err(Error::not_found("task", id));
                        };
                        let object = object(&workload);
                        self.claim(tx, cx, &object).await?;
                        let placement = match workload.state.placement() {
                            Some(placement) => tx.placement_get(placement).await?,
                            None => None,
                        };
                        let Some(observe::Stop { workload: stopped, placement, events }) =
                            observe::stop(&workload, placement.as_ref(), grace, self.now())
                        else {
                            continue;
                        };
                        let node =
                            self.apply_wish(tx, &stopped, workload.generation, placement).await?;
                        follow.nodes.extend(node);
                        let after = audit_state::task(&stopped);
                        moved.push(Moved { before: workload.state.kind(), task: stopped });
                        let events: Vec<_> = events
                            .into_iter()
                            .map(|(kind, message)| {
                                self.event(kind, Some(project.id), &object, cx.actor(), message)
                                    .with_payload(RunPayload::of(&workload.spec))
                            })
                            .collect();
                        let detail = json!({ "grace": grace });
                        let audit = self
                            .audit(cx, "task.kill", &object, Some(project.id), detail)
                            .with_states(Some(&audit_state::task(&workload)), Some(&after));
                        tx.journal_append(&events, &[audit]).await?;
                    }
                    let further = self.follow_ends(tx, moved).await?;
                    follow.nodes.extend(further.nodes);
                    follow.changed = further.changed;
                    follow.is_ready = further.is_ready;
                    follow.is_end = further.is_end;
                    follow.ends = further.ends;
                    Ok::<_, Error>(follow)
                })
            })
            .await?;
        self.after_ends(follow);
        self.notify_waiters(ids.iter().copied());
        self.feed.ring();
        Ok(())
    }

    /// Writes a wish: the workload, and its placement under the node's next desired generation.
    pub(crate) async fn apply_wish(
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
        require_own(
            cx,
            project,
            "task",
            Permission::TaskManage,
            detail.workload.created_by,
            &detail.created_by,
        )?;
        let id = detail.workload.id;
        let object = object(&detail.workload);
        let event = self
            .event(EventKind::TaskRemoved, Some(project.id), &object, cx.actor(), "removed")
            .with_payload(RunPayload::of(&detail.workload.spec));
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
                    let state = audit_state::task(&workload);
                    let audit = audit.clone().with_states(Some(&state), None);
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
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
    ) -> Result<Vec<TaskRun>, Error> {
        let detail = self.task_get(cx, project, name_or_id).await?;
        let mut read = self.store.read().await?;
        let placements = read.placement_by_workload(detail.workload.id).await?;
        let mut given: HashMap<PlacementId, Reservation> =
            placements.into_iter().map(|placed| (placed.id, placed.reservation)).collect();
        let runs = read.run_list(detail.workload.id).await?;
        let mut runs: Vec<TaskRun> = runs
            .into_iter()
            .map(|run| TaskRun {
                reservation: given.remove(&run.placement_id).unwrap_or_default(),
                run,
            })
            .collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.run.attempt));
        Ok(runs)
    }
}

pub(crate) fn object(workload: &Workload) -> ObjectRef {
    ObjectRef::new(ObjectKind::Task, workload.id, &workload.name)
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
    match found.filter(|w| w.project_id == project.id) {
        Some(task) => Ok(task),
        None if find_array(read, project, name_or_id).await.is_ok() => Err(Error::new(
            Code::NotFound,
            format!("`{name_or_id}` is an array of tasks, not one task"),
            format!(
                "`hostler task array get|wait|kill {name_or_id}` mean all of it, `hostler task array tasks {name_or_id}` lists its tasks"
            ),
        )),
        None => Err(Error::not_found("task", name_or_id)),
    }
}

/// Who may do something to things of a kind may do it to their own; with `manage`, which operators have,
/// to everybody's.
pub(super) fn require_own(
    cx: &Cx,
    project: &Project,
    kind: &str,
    manage: Permission,
    created_by: PrincipalId,
    owner: &str,
) -> Result<(), Error> {
    let is_own = created_by == cx.caller.principal_id;
    if is_own || cx.caller.may(Need::of(manage, Some(project.id))) {
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
        let run = match (workload.state.run(), workload.state.placement()) {
            (Some(run), _) => read.run_get(run).await?,
            (None, Some(placement)) => match read.placement_get(placement).await? {
                Some(Placement { run_id: Some(run), .. }) => read.run_get(run).await?,
                Some(_) | None => None,
            },
            (None, None) => None,
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
