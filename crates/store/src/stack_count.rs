//! Stacks and their resources in numbers, for metrics. Counted in rows, so that every server says the same; a scrape looks at
//! every row of a resource once.

use hostler_model::Timestamp;

use crate::value::params;
use crate::{Conn, Error};

impl Conn {
    /// By the labels of action and status; what no stack stands at is left out, and so are those that were deleted.
    pub async fn stack_count_by_standing(&mut self) -> Result<Vec<(String, String, u64)>, Error> {
        let sql = "SELECT action, status, COUNT(*) FROM stack WHERE time_deleted IS NULL GROUP BY action, status ORDER BY action, status";
        self.stack_counts_of(sql).await
    }

    /// Resources by the type that the template says and the label of the status; not those that another takes the place of.
    pub async fn stack_resource_count_by_kind(
        &mut self,
    ) -> Result<Vec<(String, String, u64)>, Error> {
        let sql = "SELECT kind, status, COUNT(*) FROM stack_resource WHERE replaced_by IS NULL GROUP BY kind, status ORDER BY kind, status";
        self.stack_counts_of(sql).await
    }

    async fn stack_counts_of(
        &mut self,
        sql: &'static str,
    ) -> Result<Vec<(String, String, u64)>, Error> {
        let rows = self.query(sql, Vec::new()).await?;
        let each = rows.iter().map(|row| {
            let mut columns = row.columns("stack");
            Ok((columns.text()?, columns.text()?, columns.number()?))
        });
        each.collect()
    }

    /// Stacks of which it was found, when somebody looked last, that objects are not as they say.
    pub async fn stack_drift_count(&mut self) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM stack_drift JOIN stack ON stack.id = stack_drift.stack_id WHERE stack_drift.changed + stack_drift.missing > 0 AND stack.time_deleted IS NULL";
        let row = self.query_one(sql, Vec::new()).await?;
        row.map_or(Ok(0), |row| row.columns("stack_drift").number())
    }

    /// When what is under way the longest was begun, of stacks that are not resources of others.
    pub async fn stack_begun_first(&mut self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT MIN(time_begun) FROM stack WHERE status = $1 AND time_deleted IS NULL AND parent_stack_id IS NULL";
        let row = self.query_one(sql, params!["in-progress"]).await?;
        row.map_or(Ok(None), |row| row.columns("stack").opt_time())
    }

    /// Since when somebody holds the lock of a stack, of those that are held the longest.
    pub async fn stack_lock_granted_first(&mut self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT MIN(lock_hold.time_granted) FROM lock JOIN lock_hold ON lock_hold.lock_id = lock.id WHERE lock.held > 0 AND SUBSTR(lock.name, 1, 6) = 'stack/' AND lock_hold.token IS NOT NULL";
        let row = self.query_one(sql, Vec::new()).await?;
        row.map_or(Ok(None), |row| row.columns("lock_hold").opt_time())
    }
}
