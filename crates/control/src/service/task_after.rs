//! What tasks wait for: other tasks and arrays, by name or id, and those of the same batch.
//!
//! Resolved in the transaction that writes the tasks, so that an end which comes between is never missed.

use std::collections::{BTreeMap, HashMap};

use hostler_model::{
    After, AfterCondition, ArrayId, Diagnostic, Error, Name, Project, TaskStateKind, Workload,
    WorkloadId,
};
use hostler_store::{ArrayStanding, Tx, Waiting};

use super::task::find;

/// What a task waits for, and how that stands.
pub(super) enum Other {
    Task {
        id: WorkloadId,
        state: TaskStateKind,
    },
    Array {
        id: ArrayId,
        is_over: bool,
        is_good: bool,
    },
    /// Made in the same batch.
    Sibling(WorkloadId),
}

pub(super) async fn resolve(
    tx: &mut Tx<'_>,
    project: &Project,
    after: &After,
    at: &str,
    siblings: &HashMap<String, WorkloadId>,
) -> Result<Other, Error> {
    if let Some(id) = siblings.get(&after.task) {
        return Ok(Other::Sibling(*id));
    }
    if let Ok(found) = find(tx, project, &after.task).await {
        return Ok(Other::Task { id: found.id, state: found.state.kind() });
    }
    let array = match (after.task.parse::<ArrayId>(), after.task.parse::<Name>()) {
        (Ok(id), _) => tx.task_array_get(id).await?,
        (_, Ok(name)) => tx.task_array_by_name(project.id, &name).await?,
        _ => None,
    };
    match array.filter(|standing| standing.array.project_id == project.id) {
        Some(ArrayStanding { array, unsettled, unsuccessful, .. }) => {
            Ok(Other::Array { id: array.id, is_over: unsettled == 0, is_good: unsuccessful == 0 })
        }
        None => {
            let text = format!("there is no task or array `{}` in the project", after.task);
            Err(Error::invalid(vec![Diagnostic::new(at, text)]))
        }
    }
}

/// Whether an end is what was waited for.
pub(crate) fn is_met(condition: AfterCondition, is_good: bool) -> bool {
    match condition {
        AfterCondition::Ok => is_good,
        AfterCondition::Any => true,
        AfterCondition::Fail => !is_good,
    }
}

/// Takes the time away at which a task may be placed where it waits for others, and says for which.
pub(crate) async fn wait_for_others(
    tx: &mut Tx<'_>,
    project: &Project,
    made: &[Workload],
) -> Result<(Vec<Workload>, Vec<Waiting>), Error> {
    let mut made = made.to_vec();
    let siblings: HashMap<String, WorkloadId> =
        made.iter().map(|task| (task.name.to_string(), task.id)).collect();
    let is_batch = made.len() > 1;
    let mut waiting = BTreeMap::new();
    for (i, task) in made.iter_mut().enumerate() {
        for (n, after) in task.spec.clone().queue.after.iter().enumerate() {
            let base = if is_batch { format!("/tasks/{i}") } else { String::new() };
            let at = format!("{base}/spec/queue/after/{n}/task");
            let (on_id, over) = match resolve(tx, project, after, &at, &siblings).await? {
                Other::Sibling(id) => (id.to_string(), None),
                Other::Task { id, state } => {
                    let is_good = state == TaskStateKind::Completed;
                    (id.to_string(), state.is_settled().then_some(is_good))
                }
                Other::Array { id, is_over, is_good } => {
                    (id.to_string(), is_over.then_some(is_good))
                }
            };
            match over {
                Some(is_good) if is_met(after.on, is_good) => {}
                Some(_) => {
                    let text =
                        format!("`{}` has ended already, but not with `{}`", after.task, after.on);
                    return Err(Error::invalid(vec![Diagnostic::new(at, text)]));
                }
                None => {
                    task.time_ready = None;
                    task.time_give_up = None;
                    let one =
                        Waiting { task_id: task.id, on_id: on_id.clone(), condition: after.on };
                    waiting.insert((task.id, on_id), one);
                }
            }
        }
    }
    Ok((made, waiting.into_values().collect()))
}
