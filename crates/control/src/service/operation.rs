//! Operations, as people see them.

use std::time::Duration;

use hostler_model::{
    Error, EventKind, Limit, ObjectKind, ObjectRef, Operation, OperationId, OperationPayload,
    OperationState, Page,
};
use hostler_store::OperationFilter;
use serde_json::json;

use crate::{Control, Cx, audit_state};

impl Control {
    pub async fn operation_list(
        &self,
        _: &Cx,
        state: Option<OperationState>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Operation>, Error> {
        Ok(self
            .store
            .read()
            .await?
            .operation_list(OperationFilter { projects: None, state }, after, limit)
            .await?)
    }

    pub async fn operation_get(&self, _: &Cx, id: OperationId) -> Result<Operation, Error> {
        self.store
            .read()
            .await?
            .operation_get(id)
            .await?
            .ok_or_else(|| Error::not_found("operation", id))
    }

    /// Answers when the operation has ended, or when the time is over.
    pub async fn operation_wait(
        &self,
        cx: &Cx,
        id: OperationId,
        patience: Duration,
    ) -> Result<Operation, Error> {
        let deadline = self.clock.instant() + patience;
        let mut bell = self.feed.listen();
        loop {
            bell.mark_unchanged();
            let operation = self.operation_get(cx, id).await?;
            let left = deadline.saturating_sub(self.clock.instant());
            if operation.state.is_settled() || left.is_zero() {
                return Ok(operation);
            }
            tokio::select! {
                rung = bell.changed() => if rung.is_err() { return Ok(operation) },
                () = self.clock.sleep(left.min(Duration::from_millis(500))) => {}
            }
        }
    }

    /// Asks for an operation to stop after its present step.
    pub async fn operation_cancel(&self, cx: &Cx, id: OperationId) -> Result<Operation, Error> {
        let operation = self.operation_get(cx, id).await?;
        if operation.state.is_settled() {
            return Err(Error::conflict(
                format!("the operation has {} already", operation.state),
                "nothing is left to cancel",
            ));
        }
        let object = ObjectRef::new(ObjectKind::Operation, id, operation.plan.label());
        let event = self
            .event(EventKind::OperationProgressed, None, &object, cx.actor(), "asked to stop")
            .with_payload(OperationPayload::from(&operation));
        let audit = self.audit(cx, "operation.cancel", &object, None, json!({})).with_states(
            Some(&audit_state::operation(&operation, operation.is_cancel_requested)),
            Some(&audit_state::operation(&operation, true)),
        );
        let (object, event, audit) = (&object, &event, &audit);
        self.store
            .tx("operation_cancel", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    tx.operation_cancel_request(id, self.now()).await?.required("operation", id)?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.wakers.operation.wake();
        self.feed.ring();
        self.operation_get(cx, id).await
    }
}
