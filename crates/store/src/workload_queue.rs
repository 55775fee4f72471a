//! Tasks that wait: in which order, what of them was looked at in vain, and what is due when.
//!
//! Every question is answered from an index of what is pending, so that none of them depends on how much
//! has ended.

use std::collections::BTreeSet;

use hostler_model::{ArrayId, ProjectId, Timestamp, Workload, WorkloadId};

use crate::select::Select;
use crate::value::params;
use crate::workload::{SELECT, decode_all, selected_from};
use crate::{Conn, Error};

/// What of a project's queue was looked at in vain, and need not be looked at again for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    pub arrays: BTreeSet<ArrayId>,
    /// As [`WorkloadSpec::queue_class`] has them.
    pub classes: BTreeSet<i64>,
}

/// A place in a project's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueCursor {
    pub priority: i32,
    pub id: WorkloadId,
}

impl QueueCursor {
    pub fn of(task: &Workload) -> QueueCursor {
        QueueCursor { priority: task.spec.queue.priority, id: task.id }
    }
}

impl Conn {
    /// Projects in which something waits for a node.
    pub async fn workload_queue_projects(&mut self) -> Result<Vec<ProjectId>, Error> {
        let mut projects: Vec<ProjectId> = Vec::new();
        loop {
            // One step of the index each, however long the queues are.
            let table = self.by_index("workload", "workload_queue");
            let (sql, params) = Select::new(&format!("SELECT workload.project_id FROM {table}"))
                .and("workload.state = 'pending'")
                .and_some("workload.project_id >", projects.last().copied())
                .first("workload.project_id", 1);
            match self.query_one(sql, params).await? {
                Some(row) => projects.push(row.columns("workload").parse()?),
                None => return Ok(projects),
            }
        }
    }

    /// What waits for a node in a project and may be placed: by priority, then the oldest first.
    pub async fn workload_queue(
        &mut self,
        project: ProjectId,
        ready: Timestamp,
        after: Option<QueueCursor>,
        limit: u32,
    ) -> Result<Vec<Workload>, Error> {
        self.workload_queue_beside(project, ready, after, &PassedOver::default(), limit).await
    }

    /// The same, but for what was looked at in vain. That is decided in the index: what is left out
    /// costs a step of it and no more.
    pub async fn workload_queue_beside(
        &mut self,
        project: ProjectId,
        ready: Timestamp,
        after: Option<QueueCursor>,
        passed_over: &PassedOver,
        limit: u32,
    ) -> Result<Vec<Workload>, Error> {
        let head = selected_from(&self.by_index("workload", "workload_queue"));
        let select = || {
            Select::new(&head)
                .and("workload.state = 'pending'")
                .and_value("workload.project_id =", project)
                .and_value("workload.time_ready <=", ready)
                .and_not_in("workload.array_id", passed_over.arrays.iter().copied())
                .and_not_in("workload.class", passed_over.classes.iter().copied())
        };
        let Some(QueueCursor { priority, id }) = after else {
            return self.queue_part(select(), limit).await;
        };
        // Two ranges of the index; one condition for both would go through all that is before them.
        let priority = i64::from(priority);
        let equal =
            select().and_value("workload.priority =", priority).and_value("workload.id >", id);
        let mut found = self.queue_part(equal, limit).await?;
        let missing = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        if missing > 0 {
            let lower = select().and_value("workload.priority <", priority);
            found.extend(self.queue_part(lower, missing).await?);
        }
        Ok(found)
    }

    async fn queue_part(&mut self, select: Select, limit: u32) -> Result<Vec<Workload>, Error> {
        let (sql, params) = select.first("workload.priority DESC, workload.id", limit.into());
        let rows = self.query(sql, params).await?;
        decode_all(&rows)
    }

    /// What waits of an array and may be placed, in the order of the indexes.
    pub async fn workload_queue_of_array(
        &mut self,
        array: ArrayId,
        ready: Timestamp,
    ) -> Result<Vec<Workload>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("workload.array_id =", array)
            .and("workload.state = 'pending'")
            .and_value("workload.time_ready <=", ready)
            .first("workload.array_index", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        decode_all(&rows)
    }

    /// The lowest priority among the tasks that hold something of a node.
    pub async fn workload_lowest_placed(&mut self) -> Result<Option<i32>, Error> {
        let table = self.by_index("workload", "workload_placed");
        let sql = format!(
            "SELECT MIN(priority) FROM {table} WHERE state IN ('assigning', 'running', 'paused')"
        );
        let row = self.query_one(sql, Vec::new()).await?;
        let lowest = row.map_or(Ok(None), |row| row.columns("workload").opt_int())?;
        Ok(lowest.and_then(|priority| i32::try_from(priority).ok()))
    }

    /// When the next task that waits was to be placed at the latest.
    pub async fn workload_next_give_up(&mut self) -> Result<Option<Timestamp>, Error> {
        let table = self.by_index("workload", "workload_give_up");
        let sql = format!(
            "SELECT MIN(time_give_up) FROM {table} WHERE state = 'pending' AND time_give_up IS NOT NULL"
        );
        let row = self.query_one(sql, Vec::new()).await?;
        row.map_or(Ok(None), |row| row.columns("workload").opt_time())
    }

    /// When the next task that waits, and did not begin to at once, may be placed, if that is after `now`.
    pub async fn workload_next_ready(
        &mut self,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let table = self.by_index("workload", "workload_delayed");
        let sql = format!(
            "SELECT MIN(time_ready) FROM {table} WHERE state = 'pending' AND time_ready > time_created AND time_ready > $1"
        );
        let row = self.query_one(sql, params![now]).await?;
        row.map_or(Ok(None), |row| row.columns("workload").opt_time())
    }

    /// What waits though it should have been placed before `now`.
    pub async fn workload_overdue(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Workload>, Error> {
        let table = self.by_index("workload", "workload_give_up");
        let (sql, params) = Select::new(&selected_from(&table))
            .and("workload.state = 'pending'")
            .and_value("workload.time_give_up <=", now)
            .first("workload.time_give_up, workload.id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        decode_all(&rows)
    }
}
