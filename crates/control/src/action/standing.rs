//! What became of what actions made: whether it goes on, and how it ended. And how it is stopped.

use std::collections::HashMap;

use hostler_model::workflow::ExecutionOutcome;
use hostler_model::{
    Error, ExecutionId, ObjectKind, ObjectRef, OperationId, OperationState, Permission, Project,
    TaskState, WorkloadId,
};
use hostler_store::Conn;

use super::Order;
use crate::execution::is_well;
use crate::{Control, Cx};

/// How what an action made stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionStanding {
    pub is_over: bool,
    /// Whether it ended well; nothing while it goes on.
    pub is_good: Option<bool>,
    /// The state in the word of its kind.
    pub state: String,
}

/// Objects by kind and id, with how they stand. What is not there any more, or was never anything that goes
/// on, is not in it.
pub type Standings = HashMap<(ObjectKind, String), ActionStanding>;

/// How these stand.
pub async fn standings(read: &mut Conn, objects: &[&ObjectRef]) -> Result<Standings, Error> {
    let mut found = Standings::new();
    let tasks: Vec<WorkloadId> = ids(objects, ObjectKind::Task);
    for task in read.workload_get_batch(&tasks).await? {
        let standing = ActionStanding {
            is_over: task.state.is_settled(),
            is_good: task.state.is_settled().then(|| is_completed(&task.state)),
            state: task.state.kind().to_string(),
        };
        found.insert((ObjectKind::Task, task.id.to_string()), standing);
    }
    for id in ids::<ExecutionId>(objects, ObjectKind::Execution) {
        if let Some(execution) = read.execution_get(id).await? {
            let outcome = execution.state.outcome().filter(|_| execution.state.is_over());
            let word = outcome.map_or(execution.state.label(), ExecutionOutcome::label);
            let standing = ActionStanding {
                is_over: execution.state.is_over(),
                is_good: outcome.map(is_well),
                state: word.to_owned(),
            };
            found.insert((ObjectKind::Execution, id.to_string()), standing);
        }
    }
    for id in ids::<OperationId>(objects, ObjectKind::Operation) {
        if let Some(operation) = read.operation_get(id).await? {
            let is_over = operation.state.is_settled();
            let standing = ActionStanding {
                is_over,
                is_good: is_over.then_some(operation.state == OperationState::Succeeded),
                state: operation.state.to_string(),
            };
            found.insert((ObjectKind::Operation, id.to_string()), standing);
        }
    }
    Ok(found)
}

fn ids<I: std::str::FromStr>(objects: &[&ObjectRef], kind: ObjectKind) -> Vec<I> {
    let of = objects.iter().filter(|object| object.kind == kind);
    of.filter_map(|object| object.id.parse().ok()).collect()
}

fn is_completed(state: &TaskState) -> bool {
    state.kind() == hostler_model::TaskStateKind::Completed
}

impl Control {
    /// Asks for what an earlier order made to end, in the name of whoever this one is for. What has ended, or
    /// does not go on, is left alone.
    pub async fn action_stop(&self, order: &Order<'_>, made: &ObjectRef) -> Result<(), Error> {
        let permission = match made.kind {
            ObjectKind::Task => Permission::TaskKill,
            ObjectKind::Execution => Permission::WorkflowCancel,
            ObjectKind::Operation => Permission::OperationCancel,
            _ => return Ok(()),
        };
        let cx = Cx {
            caller: self.action_caller(order, permission).await?,
            request: order.request_plain(),
        };
        self.action_end(&cx, order.project, made).await
    }

    async fn action_end(&self, cx: &Cx, project: &Project, made: &ObjectRef) -> Result<(), Error> {
        let standings = {
            let mut read = self.store.read().await?;
            standings(&mut read, &[made]).await?
        };
        let standing = standings.get(&(made.kind, made.id.clone()));
        if standing.is_none_or(|standing| standing.is_over) {
            return Ok(());
        }
        match made.kind {
            ObjectKind::Task => self.task_kill(cx, project, &made.id, None).await.map(drop),
            ObjectKind::Execution => {
                let id = made.id.parse().map_err(Error::internal)?;
                self.execution_cancel(cx, project, id).await.map(drop)
            }
            ObjectKind::Operation => {
                let id = made.id.parse().map_err(Error::internal)?;
                self.operation_cancel(cx, id).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}
