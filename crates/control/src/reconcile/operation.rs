//! Carries operations on, step by step. Any server can take over from one that died.
//!
//! A claim gives the operation to this server under a fresh adoption number; every later write names
//! that number, so a server that lost its claim can change nothing. Each step writes that it runs
//! before it does anything, and its result afterwards; a step that was interrupted runs again, so
//! steps are idempotent.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{
    Error, EventKind, Generation, Limit, NewAuditEntry, NewEvent, ObjectKind, ObjectRef, Operation,
    OperationEvent, OperationId, OperationOwner, OperationPayload, OperationState, StepState,
};
use hostler_store::OperationFilter;
use serde::Serialize;

use super::pass;
use crate::Control;
use crate::operation::{Ended, StepOutcome};

const LEASE: Duration = Duration::from_secs(15);
const CLAIM_BATCH: u32 = 20;
/// How many are carried on at the same time; most of that is waiting for nodes.
const TOGETHER: usize = 32;

/// How far one was carried.
enum Carried {
    On,
    ToItsEnd,
    /// Another server has it now, or it has ended.
    NotMine,
}

/// The operation reconciler.
pub struct OperationAdvance {
    control: Control,
    /// What this server has claimed, under which adoption number.
    mine: HashMap<OperationId, Generation>,
}

/// What a pass over operations did.
#[derive(Debug, Default, Serialize)]
pub struct OperationReport {
    pub claimed: usize,
    pub carried: usize,
    pub ended: usize,
}

impl OperationAdvance {
    pub(super) fn new(control: Control) -> OperationAdvance {
        OperationAdvance { control, mine: HashMap::new() }
    }

    async fn advance(&mut self) -> Result<Pass<OperationReport>, Error> {
        let control = self.control.clone();
        // The common case, that there is nothing to carry on, costs no write.
        if self.mine.is_empty() && !control.has_open_operations().await? {
            return Ok(Pass::done(OperationReport::default()));
        }
        let now = control.now();
        let control_ref = &control;
        let claimed = control
            .store
            .tx("operation_claim", |tx| {
                Box::pin(async move {
                    Ok::<_, Error>(
                        tx.operation_claim(
                            control_ref.server_id,
                            now,
                            now.plus(LEASE),
                            CLAIM_BATCH,
                        )
                        .await?,
                    )
                })
            })
            .await?;
        let mut report = OperationReport { claimed: claimed.len(), ..OperationReport::default() };
        for operation in &claimed {
            if let Some(owner) = operation.owner {
                self.mine.insert(operation.id, owner.adoption);
            }
        }
        let carrying = self.mine.clone().into_iter().map(|(id, adoption)| {
            let control = control.clone();
            async move { (id, control.operation_carry_mine(id, adoption).await) }
        });
        let carried: Vec<_> =
            futures::stream::iter(carrying).buffer_unordered(TOGETHER).collect().await;
        let mut failure = None;
        for (id, carried) in carried {
            match carried {
                Ok(Carried::On) => report.carried += 1,
                Ok(Carried::ToItsEnd) => {
                    report.carried += 1;
                    report.ended += 1;
                    self.mine.remove(&id);
                }
                Ok(Carried::NotMine) => drop(self.mine.remove(&id)),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let is_full = report.claimed >= CLAIM_BATCH as usize;
        Ok(Pass::done(report).again_if(is_full))
    }
}

impl Reconciler for OperationAdvance {
    const NAME: &'static str = "operation";
    const DESCRIPTION: &'static str = "carries operations on, step by step";
    type Report = OperationReport;

    async fn reconcile(&mut self) -> Pass<OperationReport> {
        pass(self.advance().await)
    }
}

impl Control {
    /// A reconciler of operations for this server; tests advance it by hand.
    pub fn operation_reconciler(&self) -> OperationAdvance {
        OperationAdvance::new(self.clone())
    }

    async fn has_open_operations(&self) -> Result<bool, Error> {
        const ONE: Limit = match Limit::new(1) {
            Some(limit) => limit,
            None => Limit::DEFAULT,
        };
        let mut read = self.store.read().await?;
        for state in [OperationState::Pending, OperationState::Running] {
            let filter = OperationFilter { projects: None, state: Some(state) };
            if !read.operation_list(filter, None, ONE).await?.items.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn operation_carry_mine(
        &self,
        id: OperationId,
        adoption: Generation,
    ) -> Result<Carried, Error> {
        let operation = self.store.read().await?.operation_get(id).await?;
        let still_mine = operation.filter(|o| {
            let is_owner =
                |w: &OperationOwner| w.server_id == self.server_id && w.adoption == adoption;
            !o.state.is_settled() && o.owner.as_ref().is_some_and(is_owner)
        });
        let Some(operation) = still_mine else { return Ok(Carried::NotMine) };
        Ok(match self.operation_carry(operation, adoption).await? {
            true => Carried::ToItsEnd,
            false => Carried::On,
        })
    }

    /// Does as many steps as can be done now; true when the operation has ended.
    async fn operation_carry(
        &self,
        mut operation: Operation,
        adoption: Generation,
    ) -> Result<bool, Error> {
        operation.state = operation.state.apply(OperationEvent::Claimed).unwrap_or(operation.state);
        while let Some(index) =
            operation.steps.iter().position(|step| step.state != StepState::Succeeded)
        {
            if operation.is_cancel_requested {
                self.operation_cancelled(&operation).await?;
                for step in &mut operation.steps {
                    if step.state != StepState::Succeeded {
                        step.state = StepState::Skipped;
                    }
                }
                return self
                    .operation_end(operation, adoption, OperationEvent::Cancelled, None)
                    .await;
            }
            if operation.steps[index].state == StepState::Waiting {
                operation.steps[index].state = StepState::Running;
                operation.steps[index].time_started = Some(self.now());
                let message = format!("step {} begins", operation.steps[index].name);
                if !self
                    .operation_save(
                        &mut operation,
                        adoption,
                        EventKind::OperationProgressed,
                        message,
                    )
                    .await?
                {
                    return Ok(false);
                }
            }
            let outcome = match self.operation_step(&operation, index).await {
                Ok(outcome) => outcome,
                Err(error)
                    if matches!(
                        error.code,
                        hostler_model::Code::Unavailable | hostler_model::Code::Stale
                    ) =>
                {
                    StepOutcome::Wait(format!("waiting: {error}"))
                }
                Err(error) => StepOutcome::Failed(error.to_string()),
            };
            let step = &mut operation.steps[index];
            match outcome {
                StepOutcome::Done(message) => {
                    step.state = StepState::Succeeded;
                    step.message = message;
                    step.time_ended = Some(self.now());
                    let message = format!("step {} is done: {}", step.name, step.message);
                    if !self
                        .operation_save(
                            &mut operation,
                            adoption,
                            EventKind::OperationProgressed,
                            message,
                        )
                        .await?
                    {
                        return Ok(false);
                    }
                }
                StepOutcome::Wait(message) => {
                    let is_news = step.message != message;
                    step.message = message.clone();
                    let kind = is_news.then_some(message);
                    self.operation_keep(&mut operation, adoption, kind).await?;
                    return Ok(false);
                }
                StepOutcome::Ended(ended) => {
                    let Ended { is_well, message, result, event, audit } = *ended;
                    step.state = if is_well { StepState::Succeeded } else { StepState::Failed };
                    step.message.clone_from(&message);
                    step.result = result;
                    step.time_ended = Some(self.now());
                    let told = (&[event][..], &[audit][..]);
                    if !self.operation_write(&mut operation, adoption, told).await? {
                        return Ok(false);
                    }
                    if !is_well {
                        let event = OperationEvent::StepFailed;
                        return self.operation_end(operation, adoption, event, Some(message)).await;
                    }
                }
                StepOutcome::Failed(message) => {
                    step.state = StepState::Failed;
                    step.message.clone_from(&message);
                    step.time_ended = Some(self.now());
                    return self
                        .operation_end(
                            operation,
                            adoption,
                            OperationEvent::StepFailed,
                            Some(message),
                        )
                        .await;
                }
            }
        }
        self.operation_end(operation, adoption, OperationEvent::Finished, None).await
    }

    async fn operation_end(
        &self,
        mut operation: Operation,
        adoption: Generation,
        event: OperationEvent,
        error: Option<String>,
    ) -> Result<bool, Error> {
        let Some(state) = operation.state.apply(event) else { return Ok(true) };
        operation.state = state;
        operation.time_ended = Some(self.now());
        let message = error.clone().map_or_else(|| state.to_string(), |e| format!("{state}: {e}"));
        operation.error = error;
        self.operation_save(&mut operation, adoption, EventKind::OperationEnded, message).await
    }

    async fn operation_save(
        &self,
        operation: &mut Operation,
        adoption: Generation,
        kind: EventKind,
        message: String,
    ) -> Result<bool, Error> {
        let object = ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label());
        let payload =
            OperationPayload { plan: operation.plan.label().to_owned(), state: operation.state };
        let event =
            self.event(kind, None, &object, self.system_actor(), message).with_payload(payload);
        self.operation_write(operation, adoption, (&[event], &[])).await
    }

    /// Renews the lease, with an event only when there is something new to say.
    async fn operation_keep(
        &self,
        operation: &mut Operation,
        adoption: Generation,
        news: Option<String>,
    ) -> Result<bool, Error> {
        let object = ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label());
        let payload = OperationPayload::from(&*operation);
        let event = news.map(|message| {
            self.event(EventKind::OperationProgressed, None, &object, self.system_actor(), message)
                .with_payload(payload)
        });
        self.operation_write(operation, adoption, (event.as_slice(), &[])).await
    }

    async fn operation_write(
        &self,
        operation: &mut Operation,
        adoption: Generation,
        told: (&[NewEvent], &[NewAuditEntry]),
    ) -> Result<bool, Error> {
        let now = self.now();
        operation.time_modified = now;
        operation.owner = Some(OperationOwner {
            server_id: self.server_id,
            adoption,
            time_lease: now.plus(LEASE),
        });
        let (saved, (events, audits)) = (&*operation, told);
        let is_mine = self
            .store
            .tx("operation_save", |tx| {
                Box::pin(async move {
                    if !tx.operation_save(saved, adoption).await?.is_updated() {
                        return Ok(false);
                    }
                    if !events.is_empty() || !audits.is_empty() {
                        tx.journal_append_of(saved.id, events, audits).await?;
                    }
                    Ok::<_, Error>(true)
                })
            })
            .await?;
        if is_mine {
            self.feed.ring();
        }
        // The saved row may have moved on (a cancel request); read it before the next step.
        if let Some(fresh) = self.store.read().await?.operation_get(operation.id).await? {
            operation.is_cancel_requested = fresh.is_cancel_requested;
            operation.generation = fresh.generation;
        }
        Ok(is_mine)
    }
}
