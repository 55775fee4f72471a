//! What follows from the end of a task, in the same transaction: arrays count it, tasks that waited for
//! it may go or never will, the others of a gang are stopped.
//!
//! The ends of those are followed too, until nothing more follows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::Ordering;

use hostler_engine::observe;
use hostler_model::{
    ArrayId, Error, EventKind, NewEvent, NodeId, RunPayload, TaskStateKind, Workload, WorkloadId,
};
use hostler_store::{ArrayChange, ArrayStanding, Tx, Waiting, WorkloadFilter};

use crate::Control;
use crate::service::task::object;
use crate::service::task_after::is_met;
use crate::service::task_submit::{give_up_time, ready_time};

/// A task that was written, and the state it had before.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    pub before: TaskStateKind,
    pub task: Workload,
}

/// What has to be told once the transaction is committed.
#[derive(Debug, Default)]
pub(crate) struct Follow {
    pub changed: Vec<WorkloadId>,
    /// Nodes that have something to stop.
    pub nodes: BTreeSet<NodeId>,
    /// Something may be placed now that could not before.
    pub is_ready: bool,
    /// Something ended.
    pub is_end: bool,
    /// How it did, each of them.
    pub ends: Vec<TaskStateKind>,
}

impl Control {
    /// Follows the ends of tasks that were written in this transaction.
    pub(crate) async fn follow_ends(
        &self,
        tx: &mut Tx<'_>,
        moved: Vec<Moved>,
    ) -> Result<Follow, Error> {
        let mut follow = Follow::default();
        let mut moved = moved;
        while !moved.is_empty() {
            let over = count_ends(tx, &moved).await?;
            let ended = moved.iter().filter(|m| m.is_new_end());
            follow.is_end |= moved.iter().any(Moved::is_new_end);
            let new = moved.iter().filter(|m| m.is_new_end());
            follow.ends.extend(new.map(|m| m.task.state.kind()));
            let mut ends: HashMap<String, bool> =
                ended.map(|m| (m.task.id.to_string(), is_good(m.task.state.kind()))).collect();
            ends.extend(
                over.iter()
                    .filter(|standing| standing.unsettled == 0)
                    .map(|standing| (standing.array.id.to_string(), standing.unsuccessful == 0)),
            );
            let broken: BTreeSet<ArrayId> = over
                .iter()
                .filter(|standing| standing.array.is_gang && standing.unsuccessful > 0)
                .map(|standing| standing.array.id)
                .collect();
            let mut next = self.release_waiting(tx, &ends, &mut follow).await?;
            for array in broken {
                next.extend(self.stop_gang(tx, array, &mut follow).await?);
            }
            follow.changed.extend(next.iter().map(|m| m.task.id));
            moved = next;
        }
        Ok(follow)
    }

    /// Follows the end of an array whose tasks were ended all at once.
    pub(crate) async fn follow_array(&self, tx: &mut Tx<'_>, id: ArrayId) -> Result<Follow, Error> {
        let mut follow = Follow::default();
        let standing = tx.task_array_get(id).await?.filter(|standing| standing.unsettled == 0);
        let Some(standing) = standing else { return Ok(follow) };
        let ends = HashMap::from([(id.to_string(), standing.unsuccessful == 0)]);
        let moved = self.release_waiting(tx, &ends, &mut follow).await?;
        let further = self.follow_ends(tx, moved).await?;
        follow.changed.extend(further.changed);
        follow.nodes.extend(further.nodes);
        follow.is_ready |= further.is_ready;
        follow.is_end |= further.is_end;
        follow.ends.extend(further.ends);
        Ok(follow)
    }

    /// Lets go, or gives up, what waited for these.
    async fn release_waiting(
        &self,
        tx: &mut Tx<'_>,
        ends: &HashMap<String, bool>,
        follow: &mut Follow,
    ) -> Result<Vec<Moved>, Error> {
        let ids: Vec<String> = ends.keys().cloned().collect();
        let waiting = tx.task_after_on(&ids).await?;
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let mut by_task: BTreeMap<WorkloadId, Vec<Waiting>> = BTreeMap::new();
        for one in waiting {
            by_task.entry(one.task_id).or_default().push(one);
        }
        let tasks: Vec<WorkloadId> = by_task.keys().copied().collect();
        let now = self.now();
        let (mut saved, mut moved, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for task in tx.workload_get_batch(&tasks).await? {
            let waits = by_task.remove(&task.id).unwrap_or_default();
            let is_met = |w: &Waiting| is_met(w.condition, ends.get(&w.on_id) == Some(&true));
            let broken = waits.iter().find(|w| !is_met(w));
            let mut done = waits.clone();
            if let Some(broken) = broken {
                done = tx.task_after_of(task.id).await?;
                let why = format!("what it waited for did not end with `{}`", broken.condition);
                if let Some((given_up, event)) = observe::give_up(&task, &why, now) {
                    events.push(self.task_event(&given_up, event));
                    moved.push(Moved { before: task.state.kind(), task: given_up.clone() });
                    saved.push(given_up);
                }
            }
            tx.task_after_delete_batch(&done).await?;
            if broken.is_none()
                && !task.state.is_settled()
                && tx.task_after_of(task.id).await?.is_empty()
            {
                let ready = ready_time(&task.spec, task.time_created).max(now);
                follow.is_ready = true;
                follow.changed.push(task.id);
                saved.push(Workload {
                    time_ready: Some(ready),
                    time_give_up: give_up_time(&task.spec, ready),
                    generation: task.generation.next(),
                    time_modified: now,
                    ..task
                });
            }
        }
        tx.workload_save_batch(&saved).await?;
        if !events.is_empty() {
            tx.journal_append(&events, &[]).await?;
        }
        Ok(moved)
    }

    /// One of a gang failed: the others are of no use any more.
    async fn stop_gang(
        &self,
        tx: &mut Tx<'_>,
        array: ArrayId,
        follow: &mut Follow,
    ) -> Result<Vec<Moved>, Error> {
        let open: Vec<TaskStateKind> =
            TaskStateKind::ALL.iter().copied().filter(|state| !state.is_settled()).collect();
        let filter = WorkloadFilter { states: &open, array: Some(array), ..Default::default() };
        let page = tx.workload_list(filter, None, hostler_model::Limit::LARGEST).await?;
        let now = self.now();
        let mut moved = Vec::new();
        for task in page.items {
            let placement = match task.state.placement() {
                Some(placement) => tx.placement_get(placement).await?,
                None => None,
            };
            let Some(stop) = observe::stop(&task, placement.as_ref(), None, now) else { continue };
            let node = self.apply_wish(tx, &stop.workload, task.generation, stop.placement).await?;
            follow.nodes.extend(node);
            let why = (EventKind::TaskKillRequested, "another one of its gang failed".to_owned());
            tx.journal_append(&[self.task_event(&task, why)], &[]).await?;
            moved.push(Moved { before: task.state.kind(), task: stop.workload });
        }
        Ok(moved)
    }

    fn task_event(&self, task: &Workload, (kind, message): (EventKind, String)) -> NewEvent {
        self.event(kind, Some(task.project_id), &object(task), self.system_actor(), message)
            .with_payload(RunPayload { tags: task.spec.tags.clone(), ..RunPayload::default() })
    }

    /// Tells what waits for it that a transaction with ends is committed.
    pub(crate) fn after_ends(&self, follow: Follow) {
        self.queue_tally.ended(&follow.ends);
        for node in follow.nodes {
            self.links.wake(node);
        }
        if follow.is_ready {
            self.wakers.placement.wake();
        }
        if follow.is_end && self.has_executions.load(Ordering::Relaxed) {
            self.wakers.execution.wake();
        }
        self.notify_waiters(follow.changed);
    }
}

impl Moved {
    fn is_new_end(&self) -> bool {
        !self.before.is_settled() && self.task.state.is_settled()
    }

    fn change(&self) -> ArrayChange {
        let after = self.task.state.kind();
        let open = |state: TaskStateKind| i64::from(!state.is_settled());
        let bad = |state: TaskStateKind| i64::from(state.is_settled() && !is_good(state));
        ArrayChange {
            unsettled: open(after) - open(self.before),
            unsuccessful: bad(after) - bad(self.before),
        }
    }
}

fn is_good(state: TaskStateKind) -> bool {
    state == TaskStateKind::Completed
}

/// Counts the ends in their arrays; says how those stand now.
async fn count_ends(tx: &mut Tx<'_>, moved: &[Moved]) -> Result<Vec<ArrayStanding>, Error> {
    let mut changes: BTreeMap<ArrayId, ArrayChange> = BTreeMap::new();
    for one in moved {
        let Some(seat) = one.task.seat else { continue };
        let change = one.change();
        let total = changes.entry(seat.array).or_default();
        total.unsettled += change.unsettled;
        total.unsuccessful += change.unsuccessful;
    }
    changes.retain(|_, change| *change != ArrayChange::default());
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    let changes: Vec<(ArrayId, ArrayChange)> = changes.into_iter().collect();
    tx.task_array_count(&changes).await?;
    let ids: Vec<ArrayId> = changes.iter().map(|(id, _)| *id).collect();
    Ok(tx.task_array_get_batch(&ids).await?)
}
