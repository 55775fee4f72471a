//! How executions of workflows go on.
//!
//! Everything is in rows. A pass reads an execution with its steps and jobs ([`scene`]), asks `engine::workflow::Course`
//! what follows ([`decide`]), puts what new jobs need into the project's content, and then writes all of it in one
//! transaction that names the generation it has read ([`commit`]): the tasks of new jobs, the steps, what is stopped.
//! Whoever loses that race, or dies before it, has done nothing; whoever comes next reads the same rows and decides
//! the same. So a step is begun once, and its end is told once.
//!
//! Nothing of a workflow runs here but its definition, in the sandbox, and `delegate_to` where that is a function.

mod commit;
mod decide;
mod places;
pub(crate) mod report;
mod scene;
mod spec;

pub(crate) use spec::secret_file;

use hostler_model::workflow::{Execution, ExecutionOutcome};
use hostler_model::{Error, ExecutionId, ExecutionPayload, ObjectKind, ObjectRef};

use crate::Control;

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
