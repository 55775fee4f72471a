//! Writes what a pass decided: all of it, if nobody else was faster.

use hostler_engine::observe;
use hostler_model::workflow::ExecutionJob;
use hostler_model::{
    BlobScope, Code, Error, EventKind, ObjectKind, ObjectRef, RunPayload, Span, Workload,
    execution_correlation,
};
use hostler_store::Tx;

use super::decide::Change;
use crate::Control;
use crate::ends::{Follow, Moved};
use crate::service::task::object;
use crate::service::task_submit::check_quota;

/// How long an execution waits that has no room for more tasks.
const NO_ROOM: Span = Span::from_secs(2);

impl Control {
    pub(super) async fn execution_commit(&self, change: Change) -> Result<bool, Error> {
        match self.execution_write(&change).await {
            // Somebody else took the last places of the project; what was decided is decided again later.
            Err(error) if error.code == Code::QuotaExceeded => self.execution_rest(change).await,
            written => written,
        }
    }

    async fn execution_rest(&self, change: Change) -> Result<bool, Error> {
        let id = change.scene.execution.id;
        let at = change.scene.now.plus(NO_ROOM.duration());
        self.store
            .tx("execution_rest", |tx| {
                Box::pin(async move {
                    let Some(mut known) = tx.execution_get(id).await? else { return Ok(()) };
                    let expected = known.generation;
                    known.time_due = Some(at);
                    tx.execution_update(&known, expected).await?.required("execution", id)?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(false)
    }

    async fn execution_write(&self, change: &Change) -> Result<bool, Error> {
        let written = self
            .store
            .tx("execution_advance", |tx| {
                Box::pin(async move {
                    let mut execution = change.scene.execution.clone();
                    execution.time_modified = change.scene.now;
                    if !tx.execution_update(&execution, change.before).await?.is_updated() {
                        return Ok(None);
                    }
                    self.write_jobs(tx, change).await?;
                    let steps: Vec<_> =
                        change.touched.iter().map(|i| change.scene.steps[*i].clone()).collect();
                    tx.execution_step_save_batch(&steps).await?;
                    for approval in &change.asked {
                        tx.approval_insert(approval).await?;
                    }
                    for (before, after) in &change.settled {
                        tx.approval_update(after, before.generation)
                            .await?
                            .required("approval", before.id)?;
                    }
                    let follow = self.stop_jobs(tx, &change.stopped).await?;
                    tx.journal_append(&self.execution_news(change), &[]).await?;
                    Ok::<_, Error>(Some(follow))
                })
            })
            .await?;
        let Some(follow) = written else { return Ok(true) };
        self.after_ends(follow);
        if !change.begun.is_empty() {
            self.wakers.placement.wake();
        }
        self.feed.ring();
        Ok(!change.begun.is_empty() || !change.jobs.is_empty() || !change.touched.is_empty())
    }

    /// The tasks of new jobs, and how others ended.
    async fn write_jobs(&self, tx: &mut Tx<'_>, change: &Change) -> Result<(), Error> {
        let (scene, now) = (&change.scene, change.scene.now);
        let scope = BlobScope::Project(scene.execution.project_id);
        tx.execution_job_save_batch(&change.jobs).await?;
        let mut uses: Vec<(BlobScope, hostler_model::Digest, String)> = change
            .held
            .iter()
            .map(|digest| (scope, *digest, scene.execution.id.to_string()))
            .collect();
        if !change.begun.is_empty() {
            check_quota(tx, &scene.project, change.begun.len() as u64).await?;
            for (_, task) in &change.begun {
                let inputs = task.spec.inputs.iter();
                uses.extend(inputs.map(|input| (scope, input.blob, task.id.to_string())));
            }
            let tasks: Vec<Workload> = change.begun.iter().map(|(_, task)| task.clone()).collect();
            let jobs: Vec<ExecutionJob> = change.begun.iter().map(|(job, _)| job.clone()).collect();
            tx.workload_insert_batch(&tasks).await?;
            tx.execution_job_insert_batch(&jobs).await?;
        }
        if !uses.is_empty() {
            tx.blob_use(&uses, now).await?;
        }
        Ok(())
    }

    /// Asks for the tasks of jobs to stop.
    async fn stop_jobs(&self, tx: &mut Tx<'_>, jobs: &[ExecutionJob]) -> Result<Follow, Error> {
        let (mut moved, mut nodes) = (Vec::new(), Vec::new());
        for job in jobs {
            let Some(task) = tx.workload_get(job.workload_id).await? else { continue };
            let placement = match task.state.placement() {
                Some(placement) => tx.placement_get(placement).await?,
                None => None,
            };
            let Some(stop) = observe::stop(&task, placement.as_ref(), None, self.now()) else {
                continue;
            };
            nodes.extend(
                self.apply_wish(tx, &stop.workload, task.generation, stop.placement).await?,
            );
            let of = object(&task);
            let events: Vec<_> = stop
                .events
                .into_iter()
                .map(|(kind, words)| {
                    self.event(kind, Some(task.project_id), &of, self.system_actor(), words)
                })
                .collect();
            tx.journal_append(&events, &[]).await?;
            moved.push(Moved { before: task.state.kind(), task: stop.workload });
        }
        let mut follow = self.follow_ends(tx, moved).await?;
        follow.nodes.extend(nodes);
        Ok(follow)
    }

    fn execution_news(&self, change: &Change) -> Vec<hostler_model::NewEvent> {
        let project = Some(change.scene.execution.project_id);
        let mut events = change.events.clone();
        let of = |kind, id: String, name: &str| ObjectRef { kind, id, name: name.to_owned() };
        for (_, task) in &change.begun {
            let about = of(ObjectKind::Task, task.id.to_string(), task.name.as_str());
            let words = format!("submitted by the execution {}", change.scene.execution.id);
            let actor = self.system_actor();
            let cause = execution_correlation(change.scene.execution.id);
            let event = self.event(EventKind::TaskCreated, project, &about, actor, words);
            events.push(event.caused_by(cause).with_payload(RunPayload::of(&task.spec)));
        }
        for approval in &change.asked {
            let about = of(ObjectKind::Approval, approval.id.to_string(), &approval.name);
            let words = format!("a step of {} waits for somebody to agree", approval.name);
            let kind = EventKind::ApprovalRequested;
            let event = self.event(kind, project, &about, self.system_actor(), words);
            events.push(event.with_payload(approval.payload()));
        }
        for (_, after) in &change.settled {
            let about = of(ObjectKind::Approval, after.id.to_string(), &after.name);
            let kind = match after.state {
                hostler_model::ApprovalState::Used => EventKind::ApprovalUsed,
                _ => EventKind::ApprovalVoid,
            };
            let words = after.state.label();
            let event = self.event(kind, project, &about, self.system_actor(), words);
            events.push(event.with_payload(after.payload()));
        }
        events
    }
}
