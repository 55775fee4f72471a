//! Steps that somebody else carries out: what they are given.

use std::collections::BTreeMap;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use hostler_model::ExecutionId;
use hostler_model::workflow::{
    Act, ExecutionOutcome, JobEnd, JobKind, JobOrder, JobStep, SkipReason, StepEnd, StepResult,
};
use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::Flow;
use crate::another::{Errand, Other};
use crate::caller::Reply;
use crate::leftover::UNDOING;
use crate::run::Told;

impl Flow {
    /// Whether a step is of another user, who carries it out with what is called around it.
    pub(super) fn is_others(&self, step: usize) -> bool {
        self.others.contains_key(&step)
            && !matches!(self.workflow.steps[step].act, Act::Approval(_))
    }

    /// A try of a step of another user.
    pub(super) fn attempt_of_other(
        &self,
        step: usize,
        attempt: u32,
        mut stopped: oneshot::Receiver<()>,
        before: Option<LocalBoxFuture<'static, Reply>>,
    ) -> LocalBoxFuture<'static, StepResult> {
        let other = self.other(step, JobKind::Try, attempt);
        let observer = Rc::clone(&self.observer);
        let not_wanted = || StepResult::new(StepEnd::Cancelled, "it was stopped");
        let work = async move {
            let Some(other) = other else { return not_wanted() };
            if let Some(before) = before {
                tokio::select! {
                    _ = before => {}
                    _ = &mut stopped => return not_wanted(),
                }
            }
            let stop = async {
                let _it_is_not_wanted = stopped.await;
            };
            other.carry_out(observer, stop).await
        };
        work.boxed_local()
    }

    /// What undoes a step of another user.
    pub(super) fn undo_of_other(&self, step: usize) -> LocalBoxFuture<'static, StepResult> {
        let observer = Rc::clone(&self.observer);
        let Some(mut other) = self.other(step, JobKind::Undo, 1) else {
            return std::future::ready(StepResult::new(StepEnd::Cancelled, "")).boxed_local();
        };
        let output = self.steps[step].output.clone();
        other.errand.outputs.insert(self.steps[step].name.clone(), output);
        other.errand.environment.insert(UNDOING.to_owned(), "1".to_owned());
        (other.artifacts, other.consumes) = (None, Vec::new());
        async move { other.carry_out(observer, std::future::pending()).await }.boxed_local()
    }

    /// Tells a step of another user that it does not run.
    pub(super) fn skip_of_other(&mut self, step: usize, result: &StepResult) {
        let Some(mut other) = self.other(step, JobKind::After, 1) else { return };
        let told = JobStep {
            name: self.steps[step].name.clone(),
            status: "skipped".to_owned(),
            message: result.message.clone(),
            attempts: 0,
        };
        other.errand.order.end =
            Some(JobEnd { outcome: ExecutionOutcome::Succeeded, steps: vec![told] });
        (other.artifacts, other.consumes) = (None, Vec::new());
        let (observer, over) = (Rc::clone(&self.observer), Rc::clone(&self.sent_away));
        self.calls.spawn_local(async move {
            let stop = async { over.notified().await };
            let told = other.carry_out(Rc::clone(&observer), stop).await;
            if told.end != StepEnd::Succeeded {
                observer.told(&Told::Warned { text: &told.message });
            }
            Reply::Returned(Json::Null)
        });
    }

    fn other(&self, step: usize, kind: JobKind, attempt: u32) -> Option<Other> {
        let account = self.others.get(&step)?.clone();
        let definition = &self.workflow.steps[step];
        let mut environment = self.setup.environment.clone();
        environment.retain(|name, _| !is_private(name));
        environment.extend(account.variables());
        let input = self.input(step, attempt);
        let errand = Errand {
            order: JobOrder {
                execution: nobodys(),
                kind,
                workflow: self.workflow.name.clone(),
                step: definition.name.clone(),
                attempt: input.attempt,
                before: self.steps[step].message.clone(),
                values: self.setup.values.clone(),
                now: self.setup.now,
                results: Vec::new(),
                consumed: Vec::new(),
                secrets: BTreeMap::new(),
                stack: None,
                end: None,
            },
            bundle: (*self.bundle).clone(),
            workdir: self.setup.workdir.clone(),
            environment,
            secrets: self.setup.secrets.clone(),
            outputs: input.deps,
            check: self.setup.check,
            socket: None,
            artifacts: None,
            consumed: Vec::new(),
        };
        let is_kept = !definition.artifacts.is_empty() || !definition.consumes.is_empty();
        Some(Other {
            account,
            helper: self.setup.helper.clone(),
            errand,
            sharing: self.setup.services.clone(),
            stack: self.workflow.stack.clone(),
            artifacts: self.artifacts.clone().filter(|_| is_kept),
            consumes: definition.consumes.clone(),
            step,
        })
    }

    /// Why a step did not run, as it is told itself.
    pub(super) fn skipped(reason: SkipReason) -> StepResult {
        StepResult::new(StepEnd::Skipped, reason.words())
    }
}

/// What whoever runs this has in the environment for itself alone.
fn is_private(name: &str) -> bool {
    const PRIVATE: [&str; 4] =
        ["HOSTLER_TOKEN", "HOSTLER_CONFIG", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"];
    PRIVATE.contains(&name) || name.starts_with("XDG_")
}

/// The words of this execution are in the environment; on this machine it has no number of a server's.
fn nobodys() -> ExecutionId {
    "00000000-0000-0000-0000-000000000000".parse().expect("it is written like an id")
}
