//! Task arrays, and how many of their tasks are left.

use hostler_model::{
    ArrayId, Desired, Limit, Name, Page, ProjectId, TaskArray, TaskState, Timestamp,
};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, project_id, name, spec, indexes, size, is_gang, is_stopped, made, unsettled, unsuccessful, trace, generation, created_by, time_created, time_modified"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM task_array");

/// An array with the counts of its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayStanding {
    pub array: TaskArray,
    /// How many of its tasks are in the table already.
    pub made: u64,
    /// Tasks that have not ended; those that are not made yet too.
    pub unsettled: u64,
    /// Tasks that ended otherwise than well.
    pub unsuccessful: u64,
}

/// How an array's counts change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayChange {
    pub unsettled: i64,
    pub unsuccessful: i64,
}

fn decode(row: &Row) -> Result<ArrayStanding, Error> {
    let mut columns = row.columns("task array");
    let (id, project_id, name) = (columns.parse()?, columns.parse()?, columns.parse()?);
    let spec = columns.json()?;
    let indexes = columns.text()?;
    let range = columns.document(&serde_json::Value::from(indexes).to_string())?;
    let _size = columns.number()?;
    let is_gang = columns.flag()?;
    let is_stopped = columns.flag()?;
    let made = columns.number()?;
    let (unsettled, unsuccessful) = (columns.number()?, columns.number()?);
    let array = TaskArray {
        id,
        project_id,
        name,
        spec,
        range,
        is_gang,
        is_stopped,
        trace: columns.opt_parse()?,
        generation: columns.generation()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    };
    Ok(ArrayStanding { array, made, unsettled, unsuccessful })
}

impl Conn {
    pub async fn task_array_get(&mut self, id: ArrayId) -> Result<Option<ArrayStanding>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM task_array WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    pub async fn task_array_by_name(
        &mut self,
        project: ProjectId,
        name: &Name,
    ) -> Result<Option<ArrayStanding>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM task_array WHERE project_id = $1 AND name = $2");
        self.query_one(sql, params![project, name]).await?.as_ref().map(decode).transpose()
    }

    /// Newest first.
    pub async fn task_array_list(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ArrayStanding>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_some("id <", after)
            .page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let arrays = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(arrays, limit, |standing| standing.array.id.to_string()))
    }

    /// These arrays, in no particular order.
    pub async fn task_array_get_batch(
        &mut self,
        ids: &[ArrayId],
    ) -> Result<Vec<ArrayStanding>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) =
                Select::new(SELECT).and_in("id", chunk.iter().copied()).first("id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    /// Arrays of which not every task is made yet, oldest first; without those that wait for an approval.
    pub async fn task_array_unmade(&mut self, limit: u32) -> Result<Vec<ArrayStanding>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and("is_stopped = FALSE")
            .and("made < size")
            .and("NOT EXISTS (SELECT 1 FROM approval WHERE approval.array_id = task_array.id AND approval.state <> 'used')")
            .first("id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// How many tasks of each of these arrays hold something of a node.
    pub async fn task_array_running(
        &mut self,
        ids: &[ArrayId],
    ) -> Result<Vec<(ArrayId, u64)>, Error> {
        let mut found = Vec::new();
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new("SELECT array_id, COUNT(*) FROM workload")
                .and_in("array_id", chunk.iter().copied())
                .and("state IN ('assigning', 'running', 'paused')")
                .unordered();
            for row in &self.query(format!("{sql} GROUP BY array_id"), params).await? {
                let mut columns = row.columns("workload");
                found.push((columns.parse()?, columns.number()?));
            }
        }
        Ok(found)
    }

    /// How many tasks of an array are in each state.
    pub async fn task_array_counts(&mut self, id: ArrayId) -> Result<Vec<(String, u64)>, Error> {
        let rows = self
            .query(
                "SELECT state, COUNT(*) FROM workload WHERE array_id = $1 GROUP BY state ORDER BY state",
                params![id],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("workload");
                Ok((columns.text()?, columns.number()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken in the project.
    pub async fn task_array_insert(&mut self, array: &TaskArray) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO task_array (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
            ),
            params![
                array.id,
                array.project_id,
                &array.name,
                Value::json(&array.spec),
                array.range.to_string().as_str(),
                array.range.len(),
                array.is_gang,
                array.is_stopped,
                0_u64,
                array.range.len(),
                0_u64,
                Value::from(array.trace.map(|trace| trace.to_string()).as_deref()),
                array.generation,
                array.created_by,
                array.time_created,
                array.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    /// Notes that tasks were made, up to the number `made` of the indexes.
    pub async fn task_array_made(&mut self, id: ArrayId, made: u64) -> Result<(), Error> {
        self.execute("UPDATE task_array SET made = $2 WHERE id = $1", params![id, made]).await?;
        Ok(())
    }

    /// No more tasks are made of it; what is not made yet counts as ended.
    pub async fn task_array_stop(&mut self, id: ArrayId, unmade: u64) -> Result<bool, Error> {
        let stopped = self
            .execute(
                "UPDATE task_array SET is_stopped = TRUE, unsettled = unsettled - $2, unsuccessful = unsuccessful + $2, generation = generation + 1 WHERE id = $1 AND is_stopped = FALSE",
                params![id, unmade],
            )
            .await?;
        Ok(stopped > 0)
    }

    /// Ends every task of an array that only waits, as killed; says how many.
    pub async fn task_array_kill_waiting(
        &mut self,
        id: ArrayId,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let killed = TaskState::Killed { run: None, exit: None };
        self.execute(
            "UPDATE workload SET state = $2, state_detail = $3, desired = $4, time_ended = $5, time_modified = $5, generation = generation + 1 WHERE array_id = $1 AND state IN ('pending', 'pending_approval')",
            params![
                id,
                killed.kind().label(),
                Value::json(&killed),
                Desired::Stop.label(),
                now
            ],
        )
        .await
    }

    /// Counts ends of tasks.
    pub async fn task_array_count(
        &mut self,
        changes: &[(ArrayId, ArrayChange)],
    ) -> Result<(), Error> {
        for (id, change) in changes {
            self.execute(
                "UPDATE task_array SET unsettled = unsettled + $2, unsuccessful = unsuccessful + $3 WHERE id = $1",
                params![*id, change.unsettled, change.unsuccessful],
            )
            .await?;
        }
        Ok(())
    }

    /// Deletes arrays none of whose tasks is left.
    pub async fn task_array_delete_empty(&mut self, limit: u32) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM task_array WHERE id IN (SELECT task_array.id FROM task_array WHERE unsettled = 0 AND NOT EXISTS (SELECT 1 FROM workload WHERE workload.array_id = task_array.id) ORDER BY task_array.id LIMIT $1)",
            params![limit],
        )
        .await
    }
}
