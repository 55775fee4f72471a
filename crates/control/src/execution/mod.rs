//! How executions of workflows go on.
//!
//! Everything is in rows. A pass reads an execution with its steps and jobs ([`scene`]), asks `engine::workflow::Course`
//! what follows ([`decide`]), puts what new jobs need into the project's content, and then writes all of it in one
//! transaction that names the generation it has read ([`commit`]): the tasks of new jobs, the steps, what is stopped.
//! Whoever loses that race, or dies before it, has done nothing; whoever comes next reads the same rows and decides
//! the same. So a step is begun once, and its end is told once.
//!
//! What is done for its stack is done by the services that people ask, under ids that were chosen before (`decide::care`).
//!
//! Nothing of a workflow runs here but its definition, in the sandbox, and `delegate_to` where that is a function.

mod commit;
mod decide;
mod places;
pub(crate) mod report;
mod scene;
mod spec;

pub(crate) use spec::secret_file;

use hostler_model::workflow::{Execution, ExecutionOutcome, StackCare};
use hostler_model::{Code, Error, ExecutionId, ExecutionPayload, ObjectKind, ObjectRef};

use crate::{Control, Cx, Idempotency, RequestMeta};

pub(crate) fn execution_object(execution: &Execution) -> ObjectRef {
    ObjectRef::new(ObjectKind::Execution, execution.id, &execution.workflow)
}

/// What its events say to programs.
pub(crate) fn execution_payload(execution: &Execution) -> ExecutionPayload {
    let outcome = execution.state.outcome().filter(|_| execution.state.is_over());
    ExecutionPayload {
        workflow: execution.workflow.clone(),
        version: execution.version,
        outcome: outcome.map(|outcome| outcome.label().to_owned()),
    }
}

/// A request in the name of whoever began an execution. What has the same key is the same request.
pub(crate) async fn mandate_cx(
    control: &Control,
    execution: &Execution,
    care: &StackCare,
    key: Option<&str>,
) -> Result<Cx, Error> {
    let caller = control.mandate_caller(&care.mandate).await.map_err(|error| match error.code {
        Code::Unauthenticated => Error::forbidden(
            "in whose name the execution acts is disabled or gone; somebody else has to begin it anew",
        ),
        _ => error,
    })?;
    let idempotency = key.map(|key| Idempotency {
        key: key.to_owned(),
        request_hash: *blake3::hash(key.as_bytes()).as_bytes(),
    });
    let request = RequestMeta {
        request_id: execution.id.to_string(),
        trace: execution.trace,
        source: format!("execution {}", execution.id),
        user_agent: String::new(),
        idempotency,
        consent: None,
    };
    Ok(Cx { caller, request })
}

pub(crate) const fn is_well(outcome: ExecutionOutcome) -> bool {
    matches!(outcome, ExecutionOutcome::Succeeded)
}

impl Control {
    /// Looks at an execution and does what follows; false when there was nothing to do.
    pub(crate) async fn execution_advance(&self, id: ExecutionId) -> Result<bool, Error> {
        let Some(scene) = self.execution_scene(id).await? else { return Ok(false) };
        let change = self.execution_decide(scene).await?;
        self.execution_commit(change).await
    }
}
