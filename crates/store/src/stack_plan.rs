//! Changes of stacks that somebody looked at before they are made. A plan is used once, and lets go then of what is
//! sealed in it; one that nobody used is removed some time after it expired.

use hostler_model::stack::StackPlan;
use hostler_model::{Limit, Page, ProjectId, StackId, StackPlanId, Timestamp};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

const SELECT: &str = "SELECT id, project_id, stack_id, base, digest, changes, created_by, time_created, time_expires, time_used, sealed FROM stack_plan";

fn decode(row: &Row) -> Result<StackPlan, Error> {
    let mut columns = row.columns("stack_plan");
    Ok(StackPlan {
        id: columns.parse()?,
        project_id: columns.parse()?,
        stack_id: columns.parse()?,
        base: columns.generation()?,
        digest: columns.digest()?,
        changes: columns.json()?,
        created_by: columns.json()?,
        time_created: columns.time()?,
        time_expires: columns.time()?,
        time_used: columns.opt_time()?,
        sealed: columns.blob()?,
    })
}

impl Conn {
    pub async fn stack_plan_get(&mut self, id: StackPlanId) -> Result<Option<StackPlan>, Error> {
        let sql = format!("{SELECT} WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Of a project, or of one stack of it; newest first.
    pub async fn stack_plan_list(
        &mut self,
        project: ProjectId,
        stack: Option<StackId>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackPlan>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_some("stack_id =", stack)
            .and_some("id <", after)
            .page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let plans = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(plans, limit, |plan| plan.id.to_string()))
    }

    /// Plans that were not used, of all projects, after this one: for sealing them anew.
    pub async fn stack_plan_open_list(
        &mut self,
        after: Option<StackPlanId>,
        limit: u32,
    ) -> Result<Vec<StackPlan>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and("time_used IS NULL")
            .and_some("id >", after)
            .first("id", u64::from(limit));
        self.query(sql, params).await?.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    pub async fn stack_plan_insert(&mut self, plan: &StackPlan) -> Result<(), Error> {
        self.execute(
            "INSERT INTO stack_plan (id, project_id, stack_id, base, digest, changes, created_by, time_created, time_expires, time_used, sealed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            params![
                plan.id,
                plan.project_id,
                plan.stack_id,
                plan.base,
                plan.digest,
                Value::json(&plan.changes),
                Value::json(&plan.created_by),
                plan.time_created,
                plan.time_expires,
                plan.time_used,
                &plan.sealed
            ],
        )
        .await?;
        Ok(())
    }

    /// Notes that it is carried out, and lets go of what is sealed; false when it was before, has expired, or is gone.
    /// Only one caller ever gets true.
    pub async fn stack_plan_use(&mut self, id: StackPlanId, now: Timestamp) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE stack_plan SET time_used = $2, sealed = $3 WHERE id = $1 AND time_used IS NULL AND time_expires > $2",
                params![id, now, [].as_slice()],
            )
            .await?;
        Ok(done > 0)
    }

    /// What it is to become, sealed anew; false when it was used or is gone.
    pub async fn stack_plan_reseal(
        &mut self,
        plan: &StackPlan,
        sealed: &[u8],
    ) -> Result<bool, Error> {
        let sql =
            "UPDATE stack_plan SET sealed = $2 WHERE id = $1 AND sealed = $3 AND time_used IS NULL";
        Ok(self.execute(sql, params![plan.id, sealed, &plan.sealed]).await? > 0)
    }

    /// False when there is none.
    pub async fn stack_plan_delete(&mut self, id: StackPlanId) -> Result<bool, Error> {
        Ok(self.execute("DELETE FROM stack_plan WHERE id = $1", params![id]).await? > 0)
    }

    /// Removes plans that expired before this time, used or not, the longest ago first; says how many.
    pub async fn stack_plan_delete_old(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, Error> {
        let sql = "DELETE FROM stack_plan WHERE id IN (SELECT id FROM stack_plan WHERE time_expires < $1 ORDER BY time_expires, id LIMIT $2)";
        self.execute(sql, params![before, limit]).await
    }
}
