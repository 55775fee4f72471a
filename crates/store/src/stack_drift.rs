//! What was found when somebody looked how far the objects of a stack are from what it says: the newest of each.

use hostler_model::StackId;
use hostler_model::stack::StackDrift;

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

const SELECT: &str = "SELECT stack_id, traversal, looked, changed, missing, unknown, report, time_created FROM stack_drift";

fn decode(row: &Row) -> Result<StackDrift, Error> {
    let mut columns = row.columns("stack_drift");
    Ok(StackDrift {
        stack_id: columns.parse()?,
        traversal: columns.generation()?,
        looked: columns.small()?,
        changed: columns.small()?,
        missing: columns.small()?,
        unknown: columns.small()?,
        report: columns.json()?,
        time: columns.time()?,
    })
}

impl Conn {
    pub async fn stack_drift_get(&mut self, stack: StackId) -> Result<Option<StackDrift>, Error> {
        let sql = format!("{SELECT} WHERE stack_id = $1");
        self.query_one(sql, params![stack]).await?.as_ref().map(decode).transpose()
    }

    /// Of these stacks, as far as somebody looked; in no order.
    pub async fn stack_drift_get_batch(
        &mut self,
        stacks: &[StackId],
    ) -> Result<Vec<StackDrift>, Error> {
        let mut found = Vec::with_capacity(stacks.len());
        for chunk in stacks.chunks(CHUNK) {
            let select = Select::new(SELECT).and_in("stack_id", chunk.iter().copied());
            let (sql, params) = select.unordered();
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// False when somebody looked later and wrote before.
    pub async fn stack_drift_put(&mut self, drift: &StackDrift) -> Result<bool, Error> {
        let done = self
            .execute(
                "INSERT INTO stack_drift (stack_id, traversal, looked, changed, missing, unknown, report, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (stack_id) DO UPDATE SET traversal = excluded.traversal, looked = excluded.looked, changed = excluded.changed, missing = excluded.missing, unknown = excluded.unknown, report = excluded.report, time_created = excluded.time_created WHERE stack_drift.time_created <= excluded.time_created",
                params![
                    drift.stack_id,
                    drift.traversal,
                    drift.looked,
                    drift.changed,
                    drift.missing,
                    drift.unknown,
                    Value::json(&drift.report),
                    drift.time
                ],
            )
            .await?;
        Ok(done > 0)
    }
}
