//! Operations and who carries them on. A claim gives a server a lease and a new adoption number;
//! every later write names that number, so a server that lost its lease can change nothing.
//!
//! A request to cancel may come from anywhere at any time: it has a column of its own which saving
//! never clears.

use hostler_model::{
    Generation, Limit, Operation, OperationId, OperationOwner, OperationState, Page, ProjectId,
    ServerId, Timestamp,
};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, project_id, plan, state, steps, error, is_cancel_requested, created_by, owner_id, adoption, time_lease, generation, time_created, time_modified, time_ended"
    };
}

const PROBE: &str = "SELECT generation FROM operation WHERE id = $1";

/// Which operations to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperationFilter<'a> {
    /// Only of these projects; `None` is all, and those that belong to no project.
    pub projects: Option<&'a [ProjectId]>,
    pub state: Option<OperationState>,
}

fn decode(row: &Row) -> Result<Operation, Error> {
    let mut columns = row.columns("operation");
    let id = columns.parse()?;
    let project_id = columns.opt_parse()?;
    let plan = columns.json()?;
    let state = columns.parse()?;
    let steps = columns.json()?;
    let error = columns.opt_text()?;
    let is_cancel_requested = columns.flag()?;
    let created_by = columns.json()?;
    let server_id: Option<ServerId> = columns.opt_parse()?;
    let adoption = columns.generation()?;
    let time_lease = columns.opt_time()?;
    Ok(Operation {
        id,
        project_id,
        plan,
        state,
        steps,
        error,
        is_cancel_requested,
        created_by,
        owner: server_id.map(|server_id| OperationOwner {
            server_id,
            adoption,
            time_lease: time_lease.unwrap_or_default(),
        }),
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn operation_get(&mut self, id: OperationId) -> Result<Option<Operation>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM operation WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first.
    pub async fn operation_list(
        &mut self,
        filter: OperationFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Operation>, Error> {
        let mut select = Select::new(concat!("SELECT ", columns!(), " FROM operation"))
            .and_some("state =", filter.state.map(OperationState::label))
            .and_some("id <", after);
        if let Some(projects) = filter.projects {
            select = select.and_in("project_id", projects.iter().copied());
        }
        let (sql, params) = select.page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let operations = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(operations, limit, |o| o.id.to_string()))
    }
}

impl Tx<'_> {
    pub async fn operation_insert(&mut self, operation: &Operation) -> Result<(), Error> {
        let owner = operation.owner;
        self.execute(
            concat!(
                "INSERT INTO operation (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
            ),
            params![
                operation.id,
                operation.project_id,
                Value::json(&operation.plan),
                operation.state.label(),
                Value::json(&operation.steps),
                operation.error.as_deref(),
                operation.is_cancel_requested,
                Value::json(&operation.created_by),
                owner.map(|o| o.server_id),
                owner.map_or(Generation::ZERO, |o| o.adoption),
                owner.map(|o| o.time_lease),
                operation.generation,
                operation.time_created,
                operation.time_modified,
                operation.time_ended
            ],
        )
        .await?;
        Ok(())
    }

    /// Takes up to `limit` operations that nobody carries on, oldest first, until `lease_until`.
    pub async fn operation_claim(
        &mut self,
        server: ServerId,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Operation>, Error> {
        let sql = concat!(
            "UPDATE operation SET state = 'running', owner_id = $1, adoption = adoption + 1, time_lease = $3, generation = generation + 1, time_modified = $2 WHERE id IN (SELECT id FROM operation WHERE state IN ('pending', 'running') AND (owner_id IS NULL OR time_lease <= $2) ORDER BY id LIMIT $4) RETURNING ",
            columns!()
        );
        let rows = self.query(sql, params![server, now, lease_until, limit]).await?;
        let mut claimed = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        claimed.sort_by_key(|o| o.id);
        Ok(claimed)
    }

    /// Saves progress and renews the lease to the record's own, if `adoption` is still the current
    /// one and the operation is not settled. The stored generation grows by one.
    pub async fn operation_save(
        &mut self,
        operation: &Operation,
        adoption: Generation,
    ) -> Result<Update, Error> {
        let owner = operation.owner;
        self.conditional(
            "UPDATE operation SET state = $3, steps = $4, error = $5, is_cancel_requested = (is_cancel_requested OR $6), owner_id = $7, time_lease = $8, generation = generation + 1, time_modified = $9, time_ended = $10 WHERE id = $1 AND adoption = $2 AND owner_id IS NOT NULL AND state IN ('pending', 'running')",
            params![
                operation.id,
                adoption,
                operation.state.label(),
                Value::json(&operation.steps),
                operation.error.as_deref(),
                operation.is_cancel_requested,
                owner.map(|o| o.server_id),
                owner.map(|o| o.time_lease),
                operation.time_modified,
                operation.time_ended
            ],
            PROBE,
            operation.id,
        )
        .await
    }

    /// Asks whoever carries it on to stop; `Stale` when it has ended.
    pub async fn operation_cancel_request(
        &mut self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE operation SET is_cancel_requested = TRUE, generation = generation + 1, time_modified = $2 WHERE id = $1 AND state IN ('pending', 'running')",
            params![id, now],
            PROBE,
            id,
        )
        .await
    }
}
