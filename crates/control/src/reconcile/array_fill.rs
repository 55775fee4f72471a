//! Makes the tasks of arrays, a batch at a time, so that an array of any size is submitted at once and
//! no transaction is long.

use std::sync::Arc;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{ApprovalState, Error};
use serde::Serialize;

use super::pass;
use crate::Control;
use crate::ends::Follow;
use crate::service::task_after::wait_for_others;

/// Tasks made in one transaction.
const BATCH: usize = 1000;

pub(super) struct ArrayFill {
    control: Control,
}

/// What a pass of filling arrays did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArrayFillReport {
    pub arrays: usize,
    pub made: usize,
}

impl ArrayFill {
    pub(super) fn new(control: Control) -> ArrayFill {
        ArrayFill { control }
    }
}

impl Reconciler for ArrayFill {
    const NAME: &'static str = "array_fill";
    const DESCRIPTION: &'static str = "makes the tasks of task arrays";
    type Report = ArrayFillReport;

    async fn reconcile(&mut self) -> Pass<ArrayFillReport> {
        let filled = self.control.fill_arrays().await;
        pass(filled.map(|report| Pass::done(report).again_if(report.made > 0)))
    }
}

impl Control {
    /// One batch for every array that is not complete.
    pub async fn fill_arrays(&self) -> Result<ArrayFillReport, Error> {
        const ARRAYS: u32 = 16;
        let arrays = self.store.read().await?.task_array_unmade(ARRAYS).await?;
        let mut report = ArrayFillReport { arrays: arrays.len(), made: 0 };
        for standing in arrays {
            let id = standing.array.id;
            let made = self
                .store
                .tx("array_fill", |tx| {
                    Box::pin(async move {
                        // Another server may have been faster, or somebody may have stopped it.
                        let Some(now) = tx.task_array_get(id).await? else { return Ok(0) };
                        let array = &now.array;
                        let approval = tx.approval_of_array(id).await?;
                        let is_held = approval.is_some_and(|it| it.state != ApprovalState::Used);
                        if array.is_stopped || is_held {
                            return Ok(0);
                        }
                        let Some(project) = tx.project_get(array.project_id).await? else {
                            return Ok(0);
                        };
                        let spec = Arc::new(array.spec.clone());
                        let skip = usize::try_from(now.made).unwrap_or(usize::MAX);
                        let tasks: Vec<_> = array
                            .range
                            .indexes()
                            .skip(skip)
                            .take(BATCH)
                            .map(|index| self.array_task(array, &spec, index, self.now()))
                            .collect();
                        let count = tasks.len();
                        let (tasks, waiting) = if spec.queue.after.is_empty() {
                            (tasks, Vec::new())
                        } else {
                            wait_for_others(tx, &project, &tasks).await?
                        };
                        tx.workload_insert_batch(&tasks).await?;
                        tx.task_after_insert_batch(&waiting).await?;
                        tx.task_array_made(id, now.made + count as u64).await?;
                        Ok::<_, Error>(count)
                    })
                })
                .await?;
            report.made += made;
        }
        if report.made > 0 {
            self.wakers.placement.wake();
            self.feed.ring();
        }
        Ok(report)
    }

    /// Gives up what waited longer than its user wants.
    pub async fn give_up_overdue(&self) -> Result<usize, Error> {
        const BATCH: u32 = 500;
        let now = self.now();
        if self.store.read().await?.workload_overdue(now, 1).await?.is_empty() {
            return Ok(0);
        }
        let (count, follow) = self
            .store
            .tx("task_give_up", |tx| {
                Box::pin(async move {
                    let overdue = tx.workload_overdue(now, BATCH).await?;
                    let (count, moved) = self.give_up_these(tx, overdue).await?;
                    let follow: Follow = self.follow_ends(tx, moved).await?;
                    Ok::<_, Error>((count, follow))
                })
            })
            .await?;
        self.after_ends(follow);
        self.feed.ring();
        Ok(count)
    }
}
