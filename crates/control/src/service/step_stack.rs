//! The stack of a workflow, for its steps.
//!
//! Which one that is, is said by the execution and looked up here: a step cannot name another. What it does with it is
//! what whoever began the execution may do, by the services that they would ask themselves.
//!
//! What steps note of a stack, its outputs by `set_output` and what they look after by `register_resource`, are entries
//! of the project's state below `stack/NAME/`: the template does not know of them, and everybody can read them. Outputs of
//! the template are seen beside them.

use std::time::Duration;

use hostler_lua::modules::services::wire::{Reply, StackWant};
use hostler_lua::modules::services::{
    Change, Registered, Resource, ResourceSpec, Stack as StackSeen, StackAct,
};
use hostler_model::stack::{Stack, StackCheckResult, StackPoint, StackStatus};
use hostler_model::workflow::{CareKind, CareStanding, Execution};
use hostler_model::{Code, Error, StackSnapshotId};
use serde_json::{Map, Value as Json, json};

use super::stack::stack_find;
use super::stack_checklist::StackSubject;
use super::stack_lock::lock_name;
use super::step_ask::{Stepper, unfit};
use crate::Control;
use crate::execution::mandate_cx;

const NO_STACK: &str = "this step belongs to no stack; say stack(\"NAME\") at the top of the file, or name one with --stack";
const NO_RIGHT: &str = "whoever began the execution could not change the stack then";
/// How often a note is written again because somebody else wrote it.
const TRIES: u32 = 16;
/// How long one question waits for what takes a while, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(25);
const LOOK: Duration = Duration::from_millis(200);

/// The stack that a step is about.
struct Of {
    execution: Execution,
    stack: Stack,
}

impl Of {
    fn note(&self, rest: &str) -> String {
        format!("stack/{}/{rest}", self.stack.name)
    }
    fn resource(&self, kind: &str, name: &str) -> String {
        self.note(&format!("resources/{kind}/{name}"))
    }
    fn at(&self) -> String {
        self.stack.id.to_string()
    }
}

/// As files of workflows call it.
const fn status(stack: &Stack) -> &'static str {
    match stack.standing.status {
        StackStatus::InProgress => "running",
        StackStatus::Complete => "completed",
        StackStatus::Failed => "failed",
    }
}

impl Control {
    pub(super) async fn step_stack(
        &self,
        step: &Stepper,
        id: &str,
        want: StackWant,
        said: &[u8],
    ) -> Result<Reply, Error> {
        let Some(of) = self.step_stack_of(step).await? else {
            return Ok(match want {
                StackWant::Look => Reply::Stack(None),
                _ => Reply::Refused(NO_STACK.to_owned()),
            });
        };
        match want {
            StackWant::Look => {
                self.step_stack_seen(step, &of).await.map(|it| Reply::Stack(Some(it)))
            }
            StackWant::SetOutput { key, value } => {
                let change = Change::Set { value, ttl: None };
                let key = of.note(&format!("outputs/{key}"));
                self.step_state_change(step, &key, change, step.once(id, said)).await?;
                Ok(Reply::Done(true))
            }
            StackWant::Register(wanted) => self.step_register(step, &of, id, wanted).await,
            StackWant::Resource { kind, name } => {
                Ok(Reply::Resource(self.step_resource(step, &of, &kind, &name).await?))
            }
            StackWant::Update { kind, name, state, error } => {
                let change = |resource: Resource| Resource {
                    state: state.clone().unwrap_or(resource.state),
                    error: error.clone(),
                    ..resource
                };
                self.step_resource_change(step, &of, (&kind, &name), id, change).await
            }
            StackWant::Delete { kind, name } => {
                let key = of.resource(&kind, &name);
                let once = step.once(id, said);
                let gone = self.step_state_change(step, &key, Change::Delete, once).await?;
                Ok(Reply::Done(gone.is_applied))
            }
            StackWant::Act(act) => self.step_stack_act(step, &of, id, act, said).await,
        }
    }

    async fn step_stack_of(&self, step: &Stepper) -> Result<Option<Of>, Error> {
        let mut read = self.store.read().await?;
        let Some(job) = read.execution_job_of(step.workload).await? else { return Ok(None) };
        let Some(execution) = read.execution_get(job.execution_id).await? else { return Ok(None) };
        let named = execution.options.stack.as_ref().or(execution.graph.stack.as_ref());
        let Some(name) = named.cloned() else { return Ok(None) };
        match stack_find(&mut read, &step.project, &name).await {
            Ok(stack) if !stack.is_deleted() => Ok(Some(Of { execution, stack })),
            Err(refusal) if refusal.error.code != Code::NotFound => Err(refusal.into()),
            Ok(_) | Err(_) => Err(Error::new(
                Code::NotFound,
                format!("there is no stack `{name}` in project `{}`", step.project.name),
                "make it with `hostler stack apply`",
            )),
        }
    }

    async fn step_stack_seen(&self, step: &Stepper, of: &Of) -> Result<StackSeen, Error> {
        let given = self.stack_outputs(&step.cx, &step.project, &of.at()).await?;
        let mut outputs: Map<String, Json> =
            given.into_iter().filter_map(|one| Some((one.name, one.value.ok()?))).collect();
        let prefix = of.note("outputs/");
        let mut after = None;
        loop {
            let page = self.step_state_list(step, &prefix, after.as_deref(), true).await?;
            let Reply::Entries { entries, next } = page else { break };
            let own = |key: String| key.strip_prefix(&prefix).map(str::to_owned);
            outputs.extend(entries.into_iter().filter_map(|(key, it)| Some((own(key)?, it.value))));
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let lock = of.execution.care.as_ref().and_then(|care| care.phase(CareKind::Lock));
        Ok(StackSeen {
            id: of.at(),
            name: of.stack.name.to_string(),
            status: status(&of.stack).to_owned(),
            outputs,
            lock: lock_name(&of.stack.name).to_string(),
            is_locked: lock
                .is_some_and(|phase| matches!(phase.standing, CareStanding::Held { .. })),
        })
    }

    async fn step_resource(
        &self,
        step: &Stepper,
        of: &Of,
        kind: &str,
        name: &str,
    ) -> Result<Option<Resource>, Error> {
        let found = self.step_state_get(step, &of.resource(kind, name)).await?;
        let read = |entry: hostler_lua::modules::services::Entry| {
            serde_json::from_value(entry.value).map_err(|error| unfit(&error))
        };
        found.map(read).transpose()
    }

    async fn step_register(
        &self,
        step: &Stepper,
        of: &Of,
        id: &str,
        wanted: ResourceSpec,
    ) -> Result<Reply, Error> {
        let key = of.resource(&wanted.kind, &wanted.name);
        for attempt in 0..TRIES {
            let found = self.step_resource(step, of, &wanted.kind, &wanted.name).await?;
            let old = found.as_ref().map(serde_json::to_value).transpose();
            let old = old.map_err(Error::internal)?;
            // The answer to the same question may have been lost.
            let is_own = found.as_ref().is_some_and(|found| found.id == id);
            let (registered, resource) = wanted.clone().settle(found, &of.at(), id.to_owned());
            if registered == Registered::Unchanged {
                let registered = if is_own { Registered::Created } else { registered };
                return Ok(Reply::Registered { registered, resource });
            }
            if self.step_swap(step, &key, id, attempt, old, &resource).await? {
                return Ok(Reply::Registered { registered, resource });
            }
        }
        Err(contended(&key))
    }

    async fn step_resource_change(
        &self,
        step: &Stepper,
        of: &Of,
        (kind, name): (&str, &str),
        id: &str,
        change: impl Fn(Resource) -> Resource,
    ) -> Result<Reply, Error> {
        let key = of.resource(kind, name);
        for attempt in 0..TRIES {
            let Some(found) = self.step_resource(step, of, kind, name).await? else {
                return Ok(Reply::Resource(None));
            };
            let old = serde_json::to_value(&found).map_err(Error::internal)?;
            let next = change(found);
            if self.step_swap(step, &key, id, attempt, Some(old), &next).await? {
                return Ok(Reply::Resource(Some(next)));
            }
        }
        Err(contended(&key))
    }

    /// Writes a note unless somebody else did meanwhile.
    async fn step_swap(
        &self,
        step: &Stepper,
        key: &str,
        id: &str,
        attempt: u32,
        old: Option<Json>,
        new: &Resource,
    ) -> Result<bool, Error> {
        let new = serde_json::to_value(new).map_err(Error::internal)?;
        let text = new.to_string();
        let once = step.once(&format!("{id}:{attempt}"), text.as_bytes());
        let changed = self.step_state_change(step, key, Change::Swap { old, new }, once).await?;
        Ok(changed.is_applied)
    }

    async fn step_stack_act(
        &self,
        step: &Stepper,
        of: &Of,
        id: &str,
        act: StackAct,
        said: &[u8],
    ) -> Result<Reply, Error> {
        let (cx, project, at) = (&step.cx, &step.project, of.at());
        match act {
            StackAct::Validate => {
                let list = self.stack_checklist(cx, project, &StackSubject::Stack(at)).await?;
                let passed = list.lines.iter().all(|one| one.result != StackCheckResult::Failed);
                Ok(Reply::Came(json!({ "passed": passed, "checks": list.lines })))
            }
            StackAct::Drift => {
                let found = self.stack_drift_detect(cx, project, &at).await?;
                let items = found.items.iter().filter(|item| item.drift.is_drift());
                let items: Vec<Json> =
                    items.map(|item| json!({ "name": item.name, "drift": item.drift })).collect();
                Ok(Reply::Came(json!({
                    "drifted": found.drift.is_drifted(),
                    "looked": found.drift.looked,
                    "changed": found.drift.changed,
                    "missing": found.drift.missing,
                    "items": items,
                })))
            }
            StackAct::Snapshot { name } => {
                let snapshot: StackSnapshotId = id.parse().map_err(|error| unfit(&error))?;
                self.step_snapshot(step, of, snapshot, &name).await
            }
            StackAct::Rollback { point } => {
                let kept = of.execution.care.as_ref().and_then(|care| care.way_back());
                let point = match (point, kept) {
                    (Some(point), _) => {
                        point.parse::<StackPoint>().map_err(|error| unfit(&error))?
                    }
                    (None, Some(kept)) => kept,
                    (None, None) => {
                        let words = "the execution has kept nothing to go back to; name a revision (`v3`) or a snapshot";
                        return Ok(Reply::Refused(words.to_owned()));
                    }
                };
                let Some(care) = &of.execution.care else {
                    return Ok(Reply::Refused(NO_RIGHT.to_owned()));
                };
                // The stack acts with the rights of whoever began the execution from then on, not with those of steps.
                let mut cx = mandate_cx(self, &of.execution, care, None).await?;
                cx.request.idempotency = Some(step.once(id, said));
                let why = format!("a step of execution {}", of.execution.id);
                self.stack_restore(&cx, project, &at, point, &why).await?;
                self.step_rest(step, of, json!({ "point": point.to_string() })).await
            }
        }
    }

    async fn step_snapshot(
        &self,
        step: &Stepper,
        of: &Of,
        id: StackSnapshotId,
        name: &str,
    ) -> Result<Reply, Error> {
        let deadline = self.clock.instant() + PATIENCE;
        let known = self.store.read().await?.stack_snapshot_get(id).await?;
        if known.is_none() {
            self.stack_snapshot_create_as(&step.cx, &step.project, &of.at(), name, id).await?;
        }
        loop {
            let found = self.store.read().await?.stack_snapshot_get(id).await?;
            match found.map(|found| (found.status, found.reason)) {
                Some((StackStatus::Complete, _)) => return Ok(Reply::Came(json!({ "id": id }))),
                Some((StackStatus::Failed, why)) => return Ok(Reply::Refused(why)),
                None => return Ok(Reply::Refused("somebody removed the snapshot".to_owned())),
                Some((StackStatus::InProgress, _)) if self.clock.instant() >= deadline => {
                    return Ok(Reply::Later("the snapshot is taken still".to_owned()));
                }
                Some((StackStatus::InProgress, _)) => self.clock.sleep(LOOK).await,
            }
        }
    }

    /// Waits until nothing is done to a stack any more.
    async fn step_rest(&self, step: &Stepper, of: &Of, told: Json) -> Result<Reply, Error> {
        let deadline = self.clock.instant() + PATIENCE;
        loop {
            let stack = self.stack_known(&step.project, of.stack.id).await?;
            match stack.standing.status {
                StackStatus::Complete => return Ok(Reply::Came(told)),
                StackStatus::Failed => return Ok(Reply::Refused(stack.standing.reason)),
                StackStatus::InProgress if self.clock.instant() >= deadline => {
                    return Ok(Reply::Later(format!("stack {} goes back still", stack.name)));
                }
                StackStatus::InProgress => self.clock.sleep(LOOK).await,
            }
        }
    }
}

fn contended(key: &str) -> Error {
    Error::new(
        Code::Unavailable,
        format!("too many change `{key}` at the same time"),
        "take the lock of the stack around it",
    )
}
