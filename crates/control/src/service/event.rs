//! Events of one's own: what users, tasks and steps of workflows tell of, as `custom.NAME`.
//!
//! They are in the same journal as all others, and hooks take them. So that a hook cannot go round in circles through
//! what it began, an event that a task tells of is caused by that task, whatever the task says itself.
//!
//! Nothing is audited: the event says who told of it, and nothing else was done.

use hostler_model::{
    CUSTOM_MESSAGE_MAX, CUSTOM_PAYLOAD_MAX, Code, Credential, CustomName, CustomPayload,
    Diagnostic, Error, Event, EventKind, Generation, NewEvent, ObjectKind, ObjectRef, Project,
    WorkloadIdentity, task_correlation, workload_correlation,
};
use hostler_store::{Claim, Tx};

use crate::{Control, Cx};

/// How often telling is tried again when the same request was quicker.
const TRIES: u32 = 3;

/// What somebody tells of.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCustomEvent {
    pub name: CustomName,
    /// One sentence for people; may be empty.
    pub message: String,
    pub payload: Option<serde_json::Value>,
    /// What caused it; found from who tells, when absent.
    pub cause: Option<String>,
}

/// Number of the event that was told of.
enum Told {
    New(u64),
    /// By the same request, earlier.
    Before(u64),
}

impl NewCustomEvent {
    fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let length = self.message.chars().count();
        if length > CUSTOM_MESSAGE_MAX {
            let words = format!(
                "has {length} characters; at most {CUSTOM_MESSAGE_MAX} are kept: put the rest into the payload"
            );
            problems.push(Diagnostic::new("/message", words));
        }
        if let Some(payload) = &self.payload {
            let size = payload.to_string().len();
            if size > CUSTOM_PAYLOAD_MAX {
                let words = format!(
                    "has {size} bytes as JSON; at most {CUSTOM_PAYLOAD_MAX} are kept: keep what is larger as content or state, and name it here"
                );
                problems.push(Diagnostic::new("/payload", words));
            }
        }
        problems
    }
}

impl Control {
    /// Tells of an event. A repeated request finds the event that the first one made.
    pub async fn event_emit(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewCustomEvent,
    ) -> Result<Event, Error> {
        let problems = new.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let cause = match new.cause {
            Some(cause) => cause,
            None => self.event_cause(cx).await?,
        };
        let object = ObjectRef::new(ObjectKind::Custom, &new.name, &new.name);
        let event = self
            .event(EventKind::Custom, Some(project.id), &object, cx.actor(), new.message)
            .caused_by(cause);
        let event = &match new.payload {
            Some(payload) => event.with_payload(CustomPayload(payload)),
            None => event,
        };
        for _ in 0..TRIES {
            let told =
                self.store.tx("event_emit", |tx| Box::pin(self.event_emit_in(tx, cx, event))).await;
            match told {
                Ok(Told::New(sequence)) => {
                    self.feed.ring();
                    return Ok(Event { sequence, event: event.clone() });
                }
                Ok(Told::Before(sequence)) => {
                    let told = self.store.read().await?.event_get(sequence).await?;
                    return told.ok_or_else(|| Error::not_found("event", sequence));
                }
                Err(error) if error.code == Code::Stale => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(
            Code::Conflict,
            "the same request is made many times at once",
            "make it once, and again only when no answer came",
        ))
    }

    async fn event_emit_in(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        event: &NewEvent,
    ) -> Result<Told, Error> {
        if let Some(key) = &cx.request.idempotency {
            let principal = cx.caller.principal_id;
            let known = tx.idempotency_find(principal, &key.key, &key.request_hash).await?;
            if let Claim::Replay(object) = known {
                let sequence = object.id.parse().map_err(Error::internal)?;
                return Ok(Told::Before(sequence));
            }
        }
        tx.journal_append(std::slice::from_ref(event), &[]).await?;
        // Ours is the newest: nobody else gets a number until this is committed.
        let (_, sequence) = tx.event_bounds().await?;
        // It has no id but its number, which is known only now.
        let object = ObjectRef { id: sequence.to_string(), ..event.object.clone() };
        match self.claim(tx, cx, &object).await? {
            None => Ok(Told::New(sequence)),
            // The same request was quicker: what it did is found when this is tried again.
            Some(_) => Err(Error::stale("event", Generation::ZERO)),
        }
    }

    /// What an event is caused by that this caller tells of.
    async fn event_cause(&self, cx: &Cx) -> Result<String, Error> {
        match &cx.caller.credential {
            Credential::Workload(WorkloadIdentity { run_id, .. }) => {
                // An agent's run may not be known yet.
                let run = self.store.read().await?.run_get(*run_id).await?;
                Ok(match run {
                    Some(run) if run.cause.is_none() => task_correlation(run.workload_id),
                    Some(run) => workload_correlation(run.workload_id),
                    None => cx.request.request_id.clone(),
                })
            }
            Credential::WebSession(_) | Credential::Token { .. } => {
                Ok(cx.request.request_id.clone())
            }
        }
    }
}
