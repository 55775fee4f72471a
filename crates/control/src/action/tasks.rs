//! Tasks of one principal are submitted together, where nothing stands in the way of any of them.

use std::collections::HashMap;

use hostler_model::{
    Action, ActionOutcome, Error, Mandate, Name, PermissionSet, PrincipalId, ProjectId, TaskAction,
};
use uuid::Uuid;

use super::Order;
use crate::service::task_submit::made_name;
use crate::{Control, Cx, NewTask};

/// How many tasks are submitted in one transaction.
const BATCH: usize = 250;

/// What the orders of a batch have in common.
type Alike = (ProjectId, PrincipalId, Option<PermissionSet>);

impl Control {
    /// Those of the orders that could be done together, by their place.
    pub(super) async fn action_tasks(&self, orders: &[Order<'_>]) -> Vec<(usize, ActionOutcome)> {
        let mut groups: HashMap<Alike, Vec<usize>> = HashMap::new();
        for (at, order) in orders.iter().enumerate() {
            if matches!(order.action, Action::Task(_)) && order.consent.is_none() {
                let Mandate { principal, can } = order.mandate;
                groups.entry((order.project.id, principal, can)).or_default().push(at);
            }
        }
        let mut done = Vec::new();
        for places in groups.into_values().filter(|places| places.len() > 1) {
            for places in places.chunks(BATCH) {
                match self.action_task_batch(orders, places).await {
                    Ok(made) => done.extend(made),
                    Err(error) => {
                        tracing::debug!(%error, tasks = places.len(), "tasks are submitted one by one");
                    }
                }
            }
        }
        done
    }

    async fn action_task_batch(
        &self,
        orders: &[Order<'_>],
        places: &[usize],
    ) -> Result<Vec<(usize, ActionOutcome)>, Error> {
        let Some(first) = places.first() else { return Ok(Vec::new()) };
        let caller = self.action_cx(&orders[*first]).await?.caller;
        let (mut asked, mut new) = (Vec::new(), Vec::new());
        for at in places {
            if let Action::Task(it) = orders[*at].action {
                let request = orders[*at].request()?;
                new.push((Cx { caller: caller.clone(), request }, self.action_task(it)));
                asked.push(*at);
            }
        }
        let made = self.task_submit_apart(orders[*first].project, new).await?;
        let outcome = |object| ActionOutcome { object: Some(object), status: None };
        Ok(asked.into_iter().zip(made.into_iter().map(outcome)).collect())
    }

    /// A task with a name of its own.
    pub(super) fn action_task(&self, it: &TaskAction) -> NewTask {
        let random: Uuid = self.ids.fresh();
        let stem = it.name.as_ref().map(|name: &Name| vec![name.to_string()]);
        let name = made_name(stem.as_ref().unwrap_or(&it.spec.command), random.as_u128());
        NewTask { name: Some(name), spec: it.spec.clone() }
    }
}
