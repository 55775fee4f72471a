//! Many tasks of one caller in one transaction, each with a key of its own: what has been submitted before
//! under its key is found, and the rest is made. All or nothing; whoever gets an error submits them one by one,
//! so that each has an answer of its own.

use hostler_model::{Error, EventKind, ObjectRef, Project, RunPayload, Workload, WorkloadSpec};

use super::approval_gate::{Held, Hold, tasks_deed};
use super::secret_use::{check_secrets, secret_needs};
use super::task::object;
use super::task_after::wait_for_others;
use super::task_files::{hold_inputs, needs};
use super::task_submit::{check_quota, look};
use super::workload_caller::check_identities;
use crate::{Control, Cx, NewTask};

impl Control {
    /// Submits tasks that have nothing to do with each other. The requests are all of one caller.
    pub(crate) async fn task_submit_apart(
        &self,
        project: &Project,
        new: Vec<(Cx, NewTask)>,
    ) -> Result<Vec<ObjectRef>, Error> {
        let Some(like) = new.first().map(|(cx, _)| cx.clone()) else { return Ok(Vec::new()) };
        let now = self.now();
        let mut all: Vec<(Cx, Workload)> = Vec::with_capacity(new.len());
        for (cx, task) in new {
            look(std::slice::from_ref(&task))?;
            let workload = self.workload(&cx, project, task, now);
            all.push((cx, workload));
        }
        let workloads: Vec<Workload> = all.iter().map(|(_, workload)| workload.clone()).collect();
        let held = Held { tasks: Vec::new(), array_id: None };
        if let Hold::Wait(_) =
            self.approval_hold(&like, &tasks_deed(project, &workloads), held).await?
        {
            return Err(Error::conflict("one of them needs an approval", "submit each by itself"));
        }
        let (all, like) = (&all, &like);
        let made = self
            .store
            .tx("task_submit_apart", |tx| {
                Box::pin(async move {
                    let mut made: Vec<ObjectRef> = Vec::with_capacity(all.len());
                    let (mut fresh, mut by) = (Vec::new(), Vec::new());
                    for (cx, workload) in all {
                        let own = object(workload);
                        let before = self.claim(tx, cx, &own).await?;
                        if before.is_none() {
                            fresh.push(workload.clone());
                            by.push(cx);
                        }
                        made.push(before.unwrap_or(own));
                    }
                    check_quota(tx, project, fresh.len() as u64).await?;
                    let (fresh, waiting) = wait_for_others(tx, project, &fresh).await?;
                    hold_inputs(tx, project, &needs(&fresh), now).await?;
                    check_secrets(tx, project, secret_needs(&fresh)).await?;
                    let specs: Vec<&WorkloadSpec> = fresh.iter().map(|w| w.spec.as_ref()).collect();
                    check_identities(tx, like, project, &specs).await?;
                    tx.workload_insert_batch(&fresh).await?;
                    tx.task_after_insert_batch(&waiting).await?;
                    let (mut events, mut entries) = (Vec::new(), Vec::new());
                    for (workload, cx) in fresh.iter().zip(by) {
                        let kind = EventKind::TaskCreated;
                        let of = (Some(project.id), object(workload));
                        let event = self.event(kind, of.0, &of.1, cx.actor(), "submitted");
                        events.push(event.with_payload(RunPayload::of(&workload.spec)));
                        let one = std::slice::from_ref(workload);
                        entries.extend(self.submit_audit(cx, project, one));
                    }
                    tx.journal_append(&events, &entries).await?;
                    Ok::<_, Error>(made)
                })
            })
            .await?;
        self.wakers.placement.wake();
        self.feed.ring();
        Ok(made)
    }
}
