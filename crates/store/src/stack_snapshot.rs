//! Snapshots of stacks. One is entered when it is begun, and written once more when it is known how it ended.

use hostler_model::stack::StackSnapshot;
use hostler_model::{Limit, Page, StackId, StackSnapshotId};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

const SELECT: &str = "SELECT id, stack_id, name, status, reason, definition_id, created_by, time_created, sealed FROM stack_snapshot";

fn decode(row: &Row) -> Result<StackSnapshot, Error> {
    let mut columns = row.columns("stack_snapshot");
    Ok(StackSnapshot {
        id: columns.parse()?,
        stack_id: columns.parse()?,
        name: columns.text()?,
        status: columns.parse()?,
        reason: columns.text()?,
        definition: columns.parse()?,
        created_by: columns.json()?,
        time_created: columns.time()?,
        sealed: columns.blob()?,
    })
}

impl Conn {
    pub async fn stack_snapshot_get(
        &mut self,
        id: StackSnapshotId,
    ) -> Result<Option<StackSnapshot>, Error> {
        let sql = format!("{SELECT} WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Oldest first.
    pub async fn stack_snapshot_list(
        &mut self,
        stack: StackId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackSnapshot>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("stack_id =", stack)
            .and_some("id >", after)
            .page("id", limit);
        let rows = self.query(sql, params).await?;
        let snapshots = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(snapshots, limit, |snapshot| snapshot.id.to_string()))
    }

    pub async fn stack_snapshot_count(&mut self, stack: StackId) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM stack_snapshot WHERE stack_id = $1";
        self.count(sql, params![stack]).await
    }
}

impl Tx<'_> {
    pub async fn stack_snapshot_insert(&mut self, snapshot: &StackSnapshot) -> Result<(), Error> {
        self.execute(
            "INSERT INTO stack_snapshot (id, stack_id, name, status, reason, definition_id, created_by, time_created, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            params![
                snapshot.id,
                snapshot.stack_id,
                &snapshot.name,
                snapshot.status.label(),
                &snapshot.reason,
                snapshot.definition,
                Value::json(&snapshot.created_by),
                snapshot.time_created,
                &snapshot.sealed
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes how it ended, and what it holds; false when that was known already, or it is gone.
    pub async fn stack_snapshot_end(&mut self, snapshot: &StackSnapshot) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE stack_snapshot SET status = $2, reason = $3, sealed = $4 WHERE id = $1 AND status = 'in-progress'",
                params![
                    snapshot.id,
                    snapshot.status.label(),
                    &snapshot.reason,
                    &snapshot.sealed
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// False when there is none.
    pub async fn stack_snapshot_delete(&mut self, id: StackSnapshotId) -> Result<bool, Error> {
        Ok(self.execute("DELETE FROM stack_snapshot WHERE id = $1", params![id]).await? > 0)
    }
}
