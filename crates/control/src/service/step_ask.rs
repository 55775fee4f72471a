//! What steps of workflows share: asked for by a run through the agent of its node.
//!
//! A node is believed nothing but who it is. It names a run, which has to be one of its own that goes on, of a step of a
//! workflow; the step is a caller like any other then: whoever started the execution, in the execution's project, with no
//! more than [`PermissionSet::OF_STEPS`]. All of that is looked up with every question, so that it ends with the run and
//! with whatever its owner loses. What the step asks for is done by the services that everybody asks.
//!
//! What cannot be done is answered in words; only a node that asks for what is not its own is refused as a whole.

use std::time::Duration;

use hostler_lua::modules::services::wire::{ASK_MAX, Ask, Reply, StackWant};
use hostler_model::{
    Caller, Code, Credential, CustomName, Error, LockHoldId, LockHolder, LockName, LockOutcome,
    Name, Need, NodeId, Permission, PermissionSet, PlacementId, PrincipalKind, Project, RunId,
    Runtime, Span, WorkloadId, WorkloadIdentity,
};
use serde_json::Value as Json;

use super::event::NewCustomEvent;
use super::lock::LockAsk;
use super::login::caller;
use crate::node_identity::Placed;
use crate::{Control, Cx, Idempotency, RequestMeta};

/// How long a question waits in the queue of a lock, whatever it says.
const QUEUE_MAX: Span = Span::from_secs(20);
/// How long a question may be on its way in all.
const PATIENCE: Duration = Duration::from_secs(40);
/// How much of who asks for a lock is shown.
const WHO_MAX: usize = 256;
const HOST_MAX: usize = 128;
const NO_WATCHERS: &str = "what is watched on nodes is said by whoever looks after them: `hostler watcher apply`; in a workflow run it with --here";

/// A step that asks.
pub(super) struct Stepper {
    pub cx: Cx,
    pub project: Project,
    pub run: RunId,
    pub workload: WorkloadId,
    node: Name,
}

impl Stepper {
    /// The same question is the same request; `of` is what it says.
    pub fn once(&self, id: &str, of: &[u8]) -> Idempotency {
        let hash = blake3::hash(of);
        Idempotency { key: format!("step:{}:{id}", self.run), request_hash: *hash.as_bytes() }
    }
}

impl Control {
    /// Answers a step that runs on this node.
    pub async fn node_step(
        &self,
        node: NodeId,
        placement: PlacementId,
        run: RunId,
        asked: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let step = self.stepper(node, placement, run).await?;
        let reply = match read(asked) {
            Ok(ask) => {
                let answer = Box::pin(self.step_answer(&step, ask, asked));
                match self.clock.timeout(PATIENCE, answer).await {
                    Ok(answer) => answer.unwrap_or_else(|error| told(&error)),
                    Err(_) => Reply::Later("the server took too long".to_owned()),
                }
            }
            Err(why) => Reply::Refused(why),
        };
        serde_json::to_vec(&reply).map_err(Error::internal)
    }

    /// Who asks, if it may.
    async fn stepper(
        &self,
        node_id: NodeId,
        placement: PlacementId,
        run: RunId,
    ) -> Result<Stepper, Error> {
        let refused = || Error::forbidden("this node has no such step of a workflow");
        let mut read = self.store.read().await?;
        let placed = Placed::find(&mut read, placement).await?;
        let placed = placed
            .filter(|placed| placed.placement.node_id == node_id)
            .filter(|placed| placed.runtime == Runtime::Lua)
            .ok_or_else(refused)?;
        if placed.has_live(&mut read, run).await? != Some(true) {
            return Err(refused());
        }
        let node = read.node_get(node_id).await?.ok_or_else(refused)?;
        let project = read.project_get(placed.placement.project_id).await?.ok_or_else(refused)?;
        let credential = Credential::Workload(WorkloadIdentity {
            run_id: run,
            project_id: project.id,
            subject: placed.subject(&project.name),
            can: PermissionSet::OF_STEPS,
        });
        let caller = caller(&mut read, placed.created_by, credential).await?;
        let caller = self.second_factor_bound(&mut read, caller).await?;
        let caller = Caller { name: placed.name, kind: PrincipalKind::Workload, ..caller };
        let request = RequestMeta {
            request_id: String::new(),
            trace: None,
            source: String::new(),
            user_agent: String::new(),
            idempotency: None,
            consent: None,
        };
        let workload = placed.placement.workload_id;
        Ok(Stepper { cx: Cx { caller, request }, project, run, workload, node: node.name })
    }

    async fn step_answer(&self, step: &Stepper, ask: Ask, said: &[u8]) -> Result<Reply, Error> {
        let need = Need::of(permission(&ask), Some(step.project.id));
        self.authorise(&step.cx.caller, need)?;
        match ask {
            Ask::StateGet { key } => self.step_state_get(step, &key).await.map(Reply::Entry),
            Ask::StateChange { id, key, change } => {
                let once = step.once(&id, said);
                self.step_state_change(step, &key, change, once).await.map(Reply::Changed)
            }
            Ask::StateList { prefix, after, with_values } => {
                self.step_state_list(step, &prefix, after.as_deref(), with_values).await
            }
            Ask::StateForget { keys } => {
                self.step_state_forget(step, &keys).await.map(Reply::Forgotten)
            }
            Ask::LockTake { name, hold, who, ttl, wait } => {
                let wait = wait.map(|wait| wait.min(QUEUE_MAX));
                let holder = LockHolder {
                    host: cut(step.node.as_str(), HOST_MAX),
                    command: cut(&who, WHO_MAX),
                    ..LockHolder::default()
                };
                let ask = LockAsk { id: hold_id(&hold)?, slots: 1, ttl, wait, holder };
                self.step_lock(step, &lock_name(&name)?, ask).await
            }
            Ask::LockRenew { name, hold } => {
                let (name, hold) = (lock_name(&name)?, hold_id(&hold)?);
                let renewed = self.lock_renew(&step.cx, &step.project, &name, hold, None).await;
                is_held(renewed.map(drop)).map(Reply::Done)
            }
            Ask::LockRelease { name, hold } => {
                let (name, hold) = (lock_name(&name)?, hold_id(&hold)?);
                let released = self.lock_release(&step.cx, &step.project, &name, hold).await;
                is_held(released).map(Reply::Done)
            }
            Ask::EventEmit { id, name, message, data } => {
                let name = name.parse::<CustomName>().map_err(|error| unfit(&error))?;
                let mut cx = step.cx.clone();
                cx.request.idempotency = Some(step.once(&id, said));
                let payload = (data != Json::Null).then_some(data);
                let new = NewCustomEvent { name, message, payload, cause: None };
                let event = self.event_emit(&cx, &step.project, new).await?;
                Ok(Reply::Event(event.sequence.to_string()))
            }
            Ask::Stack { id, want } => Box::pin(self.step_stack(step, &id, want, said)).await,
            Ask::Watcher { .. } => Ok(Reply::Refused(NO_WATCHERS.to_owned())),
        }
    }

    async fn step_lock(
        &self,
        step: &Stepper,
        name: &LockName,
        ask: LockAsk,
    ) -> Result<Reply, Error> {
        let answer = self.lock_acquire(&step.cx, &step.project, name, ask).await?;
        let token = answer.hold.as_ref().and_then(|hold| hold.token);
        if let (LockOutcome::Held, Some(token)) = (answer.outcome, token) {
            return Ok(Reply::Held(token));
        }
        let first = answer.holders.first();
        let who = first.map_or_else(
            || "those who came before".to_owned(),
            |hold| match hold.holder.command.is_empty() {
                true => hold.by.clone(),
                false => format!("{} ({})", hold.holder.command, hold.by),
            },
        );
        let until =
            first.map_or_else(|| self.now(), |hold| hold.time_renewed.plus(hold.ttl.duration()));
        Ok(Reply::Busy { who, until })
    }
}

fn read(asked: &[u8]) -> Result<Ask, String> {
    if asked.len() > ASK_MAX {
        return Err(format!(
            "at most {ASK_MAX} bytes can be asked for at once; use smaller values"
        ));
    }
    serde_json::from_slice(asked)
        .map_err(|error| format!("the server does not understand the step: {error}"))
}

const fn permission(ask: &Ask) -> Permission {
    match ask {
        Ask::StateGet { .. } | Ask::StateList { .. } => Permission::StateRead,
        Ask::StateChange { .. } | Ask::StateForget { .. } => Permission::StateWrite,
        Ask::LockTake { .. } | Ask::LockRenew { .. } | Ask::LockRelease { .. } => {
            Permission::LockUse
        }
        Ask::EventEmit { .. } => Permission::EventEmit,
        Ask::Stack { want: StackWant::Look | StackWant::Resource { .. }, .. } => {
            Permission::StackRead
        }
        Ask::Stack { .. } => Permission::StackApply,
        // Nobody may, and all are told so.
        Ask::Watcher { .. } => Permission::StateRead,
    }
}

/// That one has lost a lock is an answer.
fn is_held(outcome: Result<(), Error>) -> Result<bool, Error> {
    match outcome {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.code, Code::Conflict | Code::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is said to the step.
fn told(error: &Error) -> Reply {
    let mut words = error.detail.clone();
    for problem in &error.errors {
        words = format!("{words}; {}", problem.detail);
    }
    if !error.hint.is_empty() {
        words = format!("{words}; {}", error.hint);
    }
    match error.code {
        Code::Unavailable | Code::RateLimited | Code::Stale => Reply::Later(words),
        Code::Internal => {
            tracing::error!(%error, "what a step asked for failed");
            Reply::Later(words)
        }
        _ => Reply::Refused(words),
    }
}

pub(super) fn unfit(error: &dyn std::error::Error) -> Error {
    Error::new(Code::Invalid, error.to_string(), "")
}

fn lock_name(name: &str) -> Result<LockName, Error> {
    name.parse().map_err(|error: hostler_model::ParseLockNameError| unfit(&error))
}

fn hold_id(hold: &str) -> Result<LockHoldId, Error> {
    hold.parse().map_err(|_| {
        Error::new(Code::Invalid, format!("`{}` is no id of a hold", cut(hold, 80)), "")
    })
}

/// Words for people, as many as are kept.
fn cut(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(most).collect()
}

#[doc(hidden)]
pub mod fuzz {
    //! What a node hands on from a step.

    /// Whatever is read can be said again.
    pub fn read(bytes: &[u8]) {
        if let Ok(ask) = super::read(bytes) {
            let again = serde_json::to_vec(&ask).expect("what was read can be written");
            assert!(super::read(&again).is_ok(), "it reads as it was written");
        }
    }
}
