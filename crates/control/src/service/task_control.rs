//! Pausing, resuming and trying again; stopping whole arrays; giving up.

use hostler_engine::observe;
use hostler_model::{
    ApprovalState, ArrayPayload, Desired, Error, EventKind, Limit, Page, Permission, Project,
    RunPayload, Span, TaskStateKind, Timestamp, Workload, WorkloadId,
};
use hostler_store::{ArrayStanding, Tx, WorkloadFilter};
use serde_json::json;

use super::task::{object, require_own};
use super::task_submit::{array_object, give_up_time};
use crate::ends::Moved;
use crate::{ArrayDetail, Control, Cx, TaskDetail, audit_state};

impl Control {
    /// Freezes a task on its node; one that waits is held back. What is lost can be asked too: a frozen run
    /// does not end by itself, so its node, should it come back, has to hear that it may go on.
    pub async fn task_pause(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<TaskDetail, Error> {
        self.task_wish(cx, project, name_or_id, Desired::Pause).await
    }

    /// Lets a frozen task go on.
    pub async fn task_resume(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<TaskDetail, Error> {
        self.task_wish(cx, project, name_or_id, Desired::Run).await
    }

    async fn task_wish(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        desired: Desired,
    ) -> Result<TaskDetail, Error> {
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
        let object = object(&before.workload);
        let (action, words) = match desired {
            Desired::Pause => ("task.pause", "asked to pause"),
            Desired::Run | Desired::Stop | Desired::Remove => ("task.resume", "asked to go on"),
        };
        let (object, now) = (&object, self.now());
        let node = self
            .store
            .tx("task_wish", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let Some(task) = tx.workload_get(id).await? else {
                        return Err(Error::not_found("task", id));
                    };
                    let is_lost = task.state.kind() == TaskStateKind::Lost;
                    if task.state.is_settled() && !is_lost || task.desired == Desired::Stop {
                        return Err(Error::conflict(
                            format!("the task is {}", standing(&task)),
                            "only what waits or runs can be paused and resumed",
                        ));
                    }
                    if task.desired == desired {
                        return Ok(None);
                    }
                    let placement = match task.state.placement() {
                        Some(placement) => tx.placement_get(placement).await?,
                        None => None,
                    };
                    let placement = placement
                        .filter(|p| !p.is_released)
                        .map(|p| hostler_model::Placement { desired, time_modified: now, ..p });
                    let changed = Workload { desired, time_modified: now, ..task.clone() };
                    let node = self.apply_wish(tx, &changed, task.generation, placement).await?;
                    let kind = EventKind::TaskPauseRequested;
                    let event = self
                        .event(kind, Some(project.id), object, cx.actor(), words)
                        .with_payload(RunPayload::of(&task.spec));
                    let audit =
                        self.audit(cx, action, object, Some(project.id), json!({})).with_states(
                            Some(&audit_state::task(&task)),
                            Some(&audit_state::task(&changed)),
                        );
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(node)
                })
            })
            .await?;
        if let Some(node) = node {
            self.links.wake(node);
        }
        self.wakers.placement.wake();
        self.notify_waiters([id]);
        self.feed.ring();
        self.task_get(cx, project, &id.to_string()).await
    }

    /// Puts a task that ended otherwise than well back into the queue, as often as somebody asks.
    pub async fn task_retry(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<TaskDetail, Error> {
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
        let object = object(&before.workload);
        let (object, now) = (&object, self.now());
        let follow = self
            .store
            .tx("task_retry", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let Some(task) = tx.workload_get(id).await? else {
                        return Err(Error::not_found("task", id));
                    };
                    let approval = tx.approval_of_task(id).await?;
                    if approval.is_some_and(|it| it.state != ApprovalState::Used) {
                        return Err(Error::conflict(
                            "the task ended before it was approved",
                            "submit it again, which asks for a new approval",
                        ));
                    }
                    let state = observe::again(&task).ok_or_else(|| {
                        Error::conflict(
                            format!("the task is {}", standing(&task)),
                            "only what failed, was stopped or lost can be tried again",
                        )
                    })?;
                    let again = Workload {
                        state,
                        desired: Desired::Run,
                        time_ready: Some(now),
                        time_give_up: give_up_time(&task.spec, now),
                        time_modified: now,
                        time_ended: None,
                        ..task.clone()
                    };
                    tx.workload_update(&again, task.generation).await?.required("task", id)?;
                    let kind = EventKind::TaskRetried;
                    let words = "back in the queue on request";
                    let event = self
                        .event(kind, Some(project.id), object, cx.actor(), words)
                        .with_payload(RunPayload::of(&task.spec));
                    let audit = self
                        .audit(cx, "task.retry", object, Some(project.id), json!({}))
                        .with_states(
                            Some(&audit_state::task(&task)),
                            Some(&audit_state::task(&again)),
                        );
                    tx.journal_append(&[event], &[audit]).await?;
                    let moved = vec![Moved { before: task.state.kind(), task: again }];
                    self.follow_ends(tx, moved).await
                })
            })
            .await?;
        self.after_ends(follow);
        self.wakers.placement.wake();
        self.notify_waiters([id]);
        self.feed.ring();
        self.task_get(cx, project, &id.to_string()).await
    }

    /// Ends tasks that wait as given up; `moved` is to be followed.
    pub(crate) async fn give_up_these(
        &self,
        tx: &mut Tx<'_>,
        tasks: Vec<Workload>,
    ) -> Result<(usize, Vec<Moved>), Error> {
        let now: Timestamp = self.now();
        let (mut saved, mut events, mut moved) = (Vec::new(), Vec::new(), Vec::new());
        for task in tasks {
            let why = "it did not begin in the time it was given";
            let Some((given_up, (kind, message))) = observe::give_up(&task, why, now) else {
                continue;
            };
            let actor = self.system_actor();
            let project = Some(task.project_id);
            let event = self.event(kind, project, &object(&task), actor, message);
            events.push(event.with_payload(RunPayload::of(&task.spec)));
            moved.push(Moved { before: task.state.kind(), task: given_up.clone() });
            saved.push(given_up);
        }
        tx.workload_save_batch(&saved).await?;
        if !events.is_empty() {
            tx.journal_append(&events, &[]).await?;
        }
        Ok((saved.len(), moved))
    }

    pub async fn task_array_list(
        &self,
        _: &Cx,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ArrayDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.task_array_list(project.id, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for standing in page.items {
            items.push(array_detail(&mut read, project, standing).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn task_array_get(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<ArrayDetail, Error> {
        let mut read = self.store.read().await?;
        let standing = find_array(&mut read, project, name_or_id).await?;
        array_detail(&mut read, project, standing).await
    }

    /// Stops an array: what waits ends at once, what runs is asked to stop.
    pub async fn task_array_kill(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        grace: Option<Span>,
    ) -> Result<ArrayDetail, Error> {
        let before = self.task_array_get(cx, project, name_or_id).await?;
        let array = &before.standing.array;
        require_own(
            cx,
            project,
            "task array",
            Permission::TaskManage,
            array.created_by,
            &before.created_by,
        )?;
        let (id, object) = (array.id, array_object(array));
        let object = &object;
        let follow = self
            .store
            .tx("task_array_kill", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let Some(standing) = tx.task_array_get(id).await? else {
                        return Err(Error::not_found("task array", id));
                    };
                    let unmade = standing.array.range.len().saturating_sub(standing.made);
                    tx.task_array_stop(id, unmade).await?;
                    let killed = tx.task_array_kill_waiting(id, self.now()).await?;
                    let killed = i64::try_from(killed).unwrap_or(i64::MAX);
                    let change =
                        hostler_store::ArrayChange { unsettled: -killed, unsuccessful: killed };
                    tx.task_array_count(&[(id, change)]).await?;
                    let kind = EventKind::ArrayKillRequested;
                    let words = format!("asked to stop; {killed} tasks waited");
                    let event = self
                        .event(kind, Some(project.id), object, cx.actor(), words)
                        .with_payload(ArrayPayload {
                            tasks: Some(standing.array.range.len()),
                            waited: u64::try_from(killed).ok(),
                        });
                    let detail = json!({ "grace": grace });
                    let was_stopped = standing.array.is_stopped;
                    let audit =
                        self.audit(cx, "array.kill", object, Some(project.id), detail).with_states(
                            Some(&audit_state::array(&standing.array, was_stopped)),
                            Some(&audit_state::array(&standing.array, true)),
                        );
                    tx.journal_append(&[event], &[audit]).await?;
                    self.follow_array(tx, id).await
                })
            })
            .await?;
        self.after_ends(follow);
        self.feed.ring();
        self.array_stop_running(cx, project, id, grace).await?;
        self.task_array_get(cx, project, &id.to_string()).await
    }

    /// Asks what runs of an array to stop, a few in each transaction.
    async fn array_stop_running(
        &self,
        cx: &Cx,
        project: &Project,
        id: hostler_model::ArrayId,
        grace: Option<Span>,
    ) -> Result<(), Error> {
        let limit = Limit::LARGEST;
        let mut after: Option<String> = None;
        loop {
            let filter = WorkloadFilter {
                states: TaskStateKind::OCCUPYING,
                array: Some(id),
                ..Default::default()
            };
            let page =
                self.store.read().await?.workload_list(filter, after.as_deref(), limit).await?;
            let tasks: Vec<WorkloadId> = page.items.iter().map(|task| task.id).collect();
            for chunk in tasks.chunks(50) {
                self.tasks_stop(cx, project, chunk, grace).await?;
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }
}

fn standing(task: &Workload) -> String {
    match (task.state.is_settled(), task.desired) {
        (false, Desired::Stop) => "being stopped".to_owned(),
        _ => task.state.kind().to_string(),
    }
}

pub(super) async fn find_array(
    read: &mut hostler_store::Conn,
    project: &Project,
    name_or_id: &str,
) -> Result<ArrayStanding, Error> {
    let found = match (name_or_id.parse(), name_or_id.parse()) {
        (Ok(id), _) => read.task_array_get(id).await?,
        (_, Ok(name)) => read.task_array_by_name(project.id, &name).await?,
        _ => None,
    };
    found
        .filter(|standing| standing.array.project_id == project.id)
        .ok_or_else(|| Error::not_found("task array", name_or_id))
}

async fn array_detail(
    read: &mut hostler_store::Conn,
    project: &Project,
    standing: ArrayStanding,
) -> Result<ArrayDetail, Error> {
    let mut counts: std::collections::BTreeMap<String, u64> =
        read.task_array_counts(standing.array.id).await?.into_iter().collect();
    // More may have been made since the standing was read.
    let made = standing.made.max(counts.values().sum());
    let unmade = standing.array.range.len().saturating_sub(made);
    if unmade > 0 {
        let approval = read.approval_of_array(standing.array.id).await?;
        let state = match (standing.array.is_stopped, approval.map(|it| it.state)) {
            (false, Some(ApprovalState::Waiting)) => TaskStateKind::PendingApproval,
            (false, _) => TaskStateKind::Pending,
            (true, Some(state)) if state != ApprovalState::Used && state.is_final() => {
                TaskStateKind::Rejected
            }
            (true, _) => TaskStateKind::Killed,
        };
        *counts.entry(state.label().to_owned()).or_default() += unmade;
    }
    let created_by =
        super::task::Names::default().principal(read, standing.array.created_by).await?;
    Ok(ArrayDetail { standing, counts, project: project.name.clone(), created_by })
}
