//! Submitting tasks and task arrays.
//!
//! A batch is all or nothing. Its tasks may wait for each other by name, for tasks that exist, and for
//! arrays; what they wait for is resolved in the transaction that writes them, so that an end which
//! comes between is never missed.
//!
//! An array is one row at first; the reconciler `array_fill` makes its tasks, in batches.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hostler_model::{
    ArrayId, ArrayPayload, ArrayRange, Code, Desired, Diagnostic, Error, EventKind, Generation,
    Mode, Name, NewAuditEntry, ObjectKind, ObjectRef, Project, RunPayload, TaskArray, TaskSeat,
    TaskState, Timestamp, Workload, WorkloadId, WorkloadSpec,
};
use hostler_store::{ArrayStanding, Tx};
use serde_json::json;

use super::approval_gate::{Held, Hold, Pass, array_deed, tasks_deed};
use super::project::taken;
use super::secret_use::{check_secrets, secret_needs};
use super::task::object;
use super::task_after::{resolve, wait_for_others};
use super::task_files::{Need, hold_inputs, needs};
use super::workload_caller::check_identities;
use crate::{Control, Cx, NewArray, NewTask, TaskDetail, audit_state};

impl Control {
    /// Submits tasks: all of them, or none.
    pub async fn task_submit(
        &self,
        cx: &Cx,
        project: &Project,
        new: Vec<NewTask>,
    ) -> Result<Vec<TaskDetail>, Error> {
        look(&new)?;
        if new.is_empty() {
            return Err(Error::invalid(vec![Diagnostic::new("/tasks", "no task is given")]));
        }
        let now = self.now();
        let mut workloads: Vec<Workload> =
            new.into_iter().map(|task| self.workload(cx, project, task, now)).collect();
        let mut events: Vec<_> = workloads
            .iter()
            .map(|workload| {
                let kind = EventKind::TaskCreated;
                self.event(kind, Some(project.id), &object(workload), cx.actor(), "submitted")
                    .with_payload(RunPayload::of(&workload.spec))
            })
            .collect();
        let mut audit = Vec::new();
        let held = Held { tasks: workloads.iter().map(|w| w.id).collect(), array_id: None };
        let hold = self.approval_hold(cx, &tasks_deed(project, &workloads), held).await?;
        let (pass, approval) = match hold {
            Hold::Free(pass) => (pass, None),
            Hold::Wait(approval) => (Pass::Free, Some(approval)),
        };
        if let Some(approval) = &approval {
            for workload in &mut workloads {
                workload.state = TaskState::PendingApproval;
                let (kind, words) =
                    (EventKind::TaskApprovalRequested, "waits for somebody to agree");
                let of = object(workload);
                let event = self.event(kind, Some(project.id), &of, cx.actor(), words);
                events.push(event.with_payload(RunPayload::of(&workload.spec)));
            }
            let (event, entry) = self.approval_news(cx, approval);
            events.push(event);
            audit.push(entry);
        }
        // One key stands for the whole batch: it remembers every id.
        let ids: Vec<String> = workloads.iter().map(|w| w.id.to_string()).collect();
        let claimed = ObjectRef { kind: ObjectKind::Task, id: ids.join(","), name: String::new() };
        let (made, events, audit, claimed) = (&workloads, &events, &audit, &claimed);
        let (pass, approval) = (&pass, approval.as_deref());
        let outcome = self
            .store
            .tx("task_submit", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, claimed).await? {
                        return Ok(Submitted::Before(made));
                    }
                    check_quota(tx, project, made.len() as u64).await?;
                    let name = made.first().map(|w| w.name.to_string()).unwrap_or_default();
                    let (made, waiting) = wait_for_others(tx, project, made).await?;
                    hold_inputs(tx, project, &needs(&made), now).await?;
                    check_secrets(tx, project, secret_needs(&made)).await?;
                    let specs: Vec<&WorkloadSpec> = made.iter().map(|w| w.spec.as_ref()).collect();
                    check_identities(tx, cx, project, &specs).await?;
                    tx.workload_insert_batch(&made).await.map_err(|e| taken(e, "task", name))?;
                    tx.task_after_insert_batch(&waiting).await?;
                    if let Some(approval) = approval {
                        tx.approval_insert(approval).await?;
                    }
                    self.approval_use(tx, cx, pass).await?;
                    let mut entries: Vec<_> =
                        self.submit_audit(cx, project, &made).into_iter().collect();
                    entries.extend_from_slice(audit);
                    tx.journal_append(events, &entries).await?;
                    Ok::<_, Error>(Submitted::Now(made))
                })
            })
            .await?;
        let workloads = match outcome {
            Submitted::Now(made) => {
                self.approval_done(cx, pass);
                self.wakers.placement.wake();
                self.feed.ring();
                made
            }
            Submitted::Before(made) => self.submitted_before(&made.id).await?,
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

    /// Submits an array. Its tasks are made a moment later.
    pub async fn task_array_submit(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewArray,
    ) -> Result<ArrayStanding, Error> {
        let mut problems = new.spec.problems("/spec");
        problems.extend(not_for_tasks(&new.spec, "/spec"));
        let is_gang = new.spec.queue.nodes.is_some();
        let range = match (new.range, new.spec.queue.nodes) {
            (Some(range), None) => range,
            (None, Some(nodes)) => gang_range(nodes),
            (Some(_), Some(_)) => {
                let text = "an array runs its tasks apart; `nodes` runs them together: choose one";
                problems.push(Diagnostic::new("/spec/queue/nodes", text));
                gang_range(1)
            }
            (None, None) => {
                problems.push(Diagnostic::new("/range", "a range of indexes is needed"));
                gang_range(1)
            }
        };
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let now = self.now();
        let id: ArrayId = self.ids.fresh();
        let name = new.name.unwrap_or_else(|| made_name(&new.spec.command, id.uuid().as_u128()));
        if name.as_str().len() > ARRAY_NAME_MAX {
            let text = format!(
                "an array's name has at most {ARRAY_NAME_MAX} characters: its tasks add their index"
            );
            return Err(Error::invalid(vec![Diagnostic::new("/name", text)]));
        }
        let array = TaskArray {
            id,
            project_id: project.id,
            name,
            spec: new.spec,
            range,
            is_gang,
            is_stopped: false,
            trace: cx.request.trace,
            generation: Generation::FIRST,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_modified: now,
        };
        let object = array_object(&array);
        let message = format!("{} tasks submitted", array.range.len());
        let event = self
            .event(EventKind::ArrayCreated, Some(project.id), &object, cx.actor(), message)
            .with_payload(ArrayPayload { tasks: Some(array.range.len()), waited: None });
        let detail = json!({ "command": array.spec.command, "range": array.range });
        let audit = self
            .audit(cx, "array.create", &object, Some(project.id), detail)
            .with_states(None, Some(&audit_state::array(&array, false)));
        let (mut events, mut audit) = (vec![event], vec![audit]);
        let held = Held { tasks: Vec::new(), array_id: Some(array.id) };
        let (pass, approval) =
            match self.approval_hold(cx, &array_deed(project, &array), held).await? {
                Hold::Free(pass) => (pass, None),
                Hold::Wait(approval) => (Pass::Free, Some(approval)),
            };
        if let Some(approval) = &approval {
            let (event, entry) = self.approval_news(cx, approval);
            events.push(event);
            audit.push(entry);
        }
        let (array, event, audit, object) = (&array, &events, &audit, &object);
        let (pass, approval) = (&pass, approval.as_deref());
        let id = self
            .store
            .tx("task_array_submit", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return made.id.parse::<ArrayId>().map_err(|_| used_key());
                    }
                    check_quota(tx, project, array.range.len()).await?;
                    for (i, after) in array.spec.queue.after.iter().enumerate() {
                        let at = format!("/spec/queue/after/{i}/task");
                        resolve(tx, project, after, &at, &HashMap::new()).await?;
                    }
                    let holder = array.id.to_string();
                    let need = Need { at: "/spec".to_owned(), spec: &array.spec, holder };
                    hold_inputs(tx, project, &[need], now).await?;
                    let spec = ("/spec".to_owned(), &array.spec);
                    check_secrets(tx, project, [spec]).await?;
                    check_identities(tx, cx, project, &[&array.spec]).await?;
                    tx.task_array_insert(array)
                        .await
                        .map_err(|e| taken(e, "task array", array.name.to_string()))?;
                    if let Some(approval) = approval {
                        tx.approval_insert(approval).await?;
                    }
                    self.approval_use(tx, cx, pass).await?;
                    tx.journal_append(event, audit).await?;
                    Ok::<_, Error>(array.id)
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.wakers.array_fill.wake();
        self.feed.ring();
        let standing = self.store.read().await?.task_array_get(id).await?;
        standing.ok_or_else(used_key)
    }

    pub(super) fn submit_audit(
        &self,
        cx: &Cx,
        project: &Project,
        made: &[Workload],
    ) -> Option<NewAuditEntry> {
        let (action, detail, state) = match made {
            [one] => {
                let detail = json!({ "command": one.spec.command });
                ("task.create", detail, audit_state::task(one))
            }
            many => {
                let detail = json!({ "tasks": many.len() });
                ("task.create-batch", detail, audit_state::tasks(many))
            }
        };
        let audit = self.audit(cx, action, &object(made.first()?), Some(project.id), detail);
        Some(audit.with_states(None, Some(&state)))
    }

    async fn submitted_before(&self, ids: &str) -> Result<Vec<Workload>, Error> {
        let mut read = self.store.read().await?;
        let ids: Vec<WorkloadId> = ids.split(',').filter_map(|id| id.parse().ok()).collect();
        let mut found = read.workload_get_batch(&ids).await?;
        found.sort_by_key(|workload| ids.iter().position(|id| *id == workload.id));
        if found.is_empty() { Err(used_key()) } else { Ok(found) }
    }

    pub(super) fn workload(
        &self,
        cx: &Cx,
        project: &Project,
        task: NewTask,
        now: Timestamp,
    ) -> Workload {
        let id: WorkloadId = self.ids.fresh();
        let name = task.name.unwrap_or_else(|| made_name(&task.spec.command, id.uuid().as_u128()));
        let ready = ready_time(&task.spec, now);
        Workload {
            id,
            project_id: project.id,
            name,
            desired: Desired::Run,
            state: TaskState::Pending,
            seat: None,
            attempts: 0,
            time_ready: Some(ready),
            time_give_up: give_up_time(&task.spec, ready),
            spec: Arc::new(task.spec),
            trace: cx.request.trace,
            generation: Generation::FIRST,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_modified: now,
            time_ended: None,
        }
    }

    /// The task of an array at one of its indexes.
    pub(crate) fn array_task(
        &self,
        array: &TaskArray,
        spec: &Arc<WorkloadSpec>,
        index: u32,
        now: Timestamp,
    ) -> Workload {
        let ready = ready_time(spec, array.time_created);
        let name = format!("{}-{index}", array.name);
        Workload {
            id: self.ids.fresh(),
            project_id: array.project_id,
            name: name.parse().expect("a short name, a dash and digits make a name"),
            spec: spec.clone(),
            desired: Desired::Run,
            state: TaskState::Pending,
            seat: Some(TaskSeat { array: array.id, index }),
            attempts: 0,
            time_ready: Some(ready),
            // One that waited for an approval begins with that.
            time_give_up: give_up_time(spec, ready.max(array.time_modified)),
            trace: array.trace,
            generation: Generation::FIRST,
            created_by: array.created_by,
            time_created: now,
            time_modified: now,
            time_ended: None,
        }
    }
}

/// A dash and up to ten digits follow.
const ARRAY_NAME_MAX: usize = 52;

enum Submitted {
    Now(Vec<Workload>),
    Before(ObjectRef),
}

fn gang_range(nodes: u32) -> ArrayRange {
    format!("0-{}", nodes.saturating_sub(1)).parse().expect("from zero up is a range")
}

fn used_key() -> Error {
    Error::conflict(
        "an earlier request with this Idempotency-Key made tasks that were removed since",
        "use a fresh key to submit again",
    )
}

pub(crate) fn array_object(array: &TaskArray) -> ObjectRef {
    ObjectRef::new(ObjectKind::TaskArray, array.id, &array.name)
}

pub(crate) fn ready_time(spec: &WorkloadSpec, submitted: Timestamp) -> Timestamp {
    let queue = &spec.queue;
    let delayed = queue.delay.map_or(submitted, |delay| submitted.plus(delay.duration()));
    queue.not_before.map_or(delayed, |time| time.max(delayed))
}

pub(crate) fn give_up_time(spec: &WorkloadSpec, ready: Timestamp) -> Option<Timestamp> {
    spec.queue.start_within.map(|within| ready.plus(within.duration()))
}

/// Every mistake in a batch.
pub(super) fn look(new: &[NewTask]) -> Result<(), Error> {
    let is_batch = new.len() > 1;
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    for (i, task) in new.iter().enumerate() {
        let at = if is_batch { format!("/tasks/{i}") } else { String::new() };
        problems.extend(task.spec.problems(&format!("{at}/spec")));
        problems.extend(not_for_tasks(&task.spec, &format!("{at}/spec")));
        if task.spec.queue.nodes.is_some() {
            let text = "a task of several nodes is submitted as an array";
            problems.push(Diagnostic::new(format!("{at}/spec/queue/nodes"), text));
        }
        if let Some(name) = &task.name
            && !names.insert(name)
        {
            let text = format!("the name `{name}` is given twice");
            problems.push(Diagnostic::new(format!("{at}/name"), text));
        }
    }
    problems.extend(cycle(new));
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}

/// Tasks of a batch that wait for each other in a circle.
fn cycle(new: &[NewTask]) -> Option<Diagnostic> {
    let by_name: HashMap<&str, usize> = new
        .iter()
        .enumerate()
        .filter_map(|(i, task)| Some((task.name.as_ref()?.as_str(), i)))
        .collect();
    let next = |i: usize| {
        new[i].spec.queue.after.iter().filter_map(|after| by_name.get(after.task.as_str()).copied())
    };
    let mut left: Vec<usize> = vec![0; new.len()];
    for i in 0..new.len() {
        next(i).for_each(|on| left[on] += 1);
    }
    let mut free: Vec<usize> = (0..new.len()).filter(|i| left[*i] == 0).collect();
    while let Some(i) = free.pop() {
        for on in next(i).collect::<Vec<_>>() {
            left[on] -= 1;
            if left[on] == 0 {
                free.push(on);
            }
        }
    }
    let stuck = left.iter().position(|count| *count > 0)?;
    let mut path = vec![stuck];
    loop {
        let on = next(path[path.len() - 1]).find(|on| left[*on] > 0)?;
        if let Some(begin) = path.iter().position(|seen| *seen == on) {
            path.push(on);
            let names: Vec<String> = path[begin..]
                .iter()
                .map(|i| new[*i].name.as_ref().map(ToString::to_string).unwrap_or_default())
                .collect();
            let text = format!("tasks wait for each other: {}", names.join(" → "));
            return Some(Diagnostic::new(format!("/tasks/{on}/spec/queue/after"), text));
        }
        path.push(on);
    }
}

pub(crate) async fn check_quota(
    tx: &mut Tx<'_>,
    project: &Project,
    more: u64,
) -> Result<(), Error> {
    // Read here again: it may have changed since the request came in.
    let quota = tx.project_get(project.id).await?.and_then(|project| project.quota.tasks);
    let Some(quota) = quota else { return Ok(()) };
    let open = tx.workload_count_open(project.id).await?;
    if open + more <= quota {
        return Ok(());
    }
    Err(Error::new(
        Code::QuotaExceeded,
        format!(
            "the project may have {quota} tasks that wait or run; it has {open}, and this is {more} more"
        ),
        "wait until some have ended, or ask for a larger quota",
    ))
}

/// A task runs once, on one node.
pub(crate) fn not_for_tasks(spec: &WorkloadSpec, at: &str) -> Vec<Diagnostic> {
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

/// A name made of the program and some random bits: `sleep-7k2f9ab3`.
pub(crate) fn made_name(command: &[String], random: u128) -> Name {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let program = command.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let stem: String =
        program.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { "task" } else { stem };
    // A UUIDv7 ends in 62 random bits.
    let mut bits = random;
    let mut suffix = String::new();
    for _ in 0..10 {
        suffix.push(char::from(DIGITS[usize::try_from(bits & 31).unwrap_or_default()]));
        bits >>= 5;
    }
    format!("{stem}-{suffix}").parse().expect("letters, digits and dashes within 63 make a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_the_program() {
        let id = WorkloadId::from_uuid("0192f3c4-0000-7000-8000-0123456789ab".parse().unwrap());
        let name =
            |program: &str| made_name(&[program.to_owned()], id.uuid().as_u128()).to_string();
        assert_eq!(name("/usr/bin/Sleep"), "sleep-bd2fp2d410");
        assert!(name("./-weird_näme-.sh").starts_with("weirdnme-sh-"));
        assert!(name("/").starts_with("task-"));
        assert!(name(&"x".repeat(200)).len() <= 63);
    }
}
