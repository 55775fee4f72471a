//! Tasks. The state is stored twice over: its label in a column that queries ask about, and the whole
//! of it, with its data, as a document.
//!
//! Services share the table (and so the names), but no query here sees them: they are of another kind,
//! and in no state that a task can be in.

use hostler_model::{
    Generation, Limit, Name, Page, ProjectId, TaskStateKind, Timestamp, Workload, WorkloadId,
};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "workload.id, workload.project_id, workload.name, workload.spec, workload.desired, workload.state_detail, workload.generation, workload.created_by, workload.time_created, workload.time_modified, workload.time_ended"
    };
}
pub(crate) use columns;

/// The same, as an insert names them.
const INSERT: &str = "INSERT INTO workload (id, project_id, name, spec, desired, state_detail, generation, created_by, time_created, time_modified, time_ended, state)";

const PROBE: &str = "SELECT generation FROM workload WHERE id = $1";

/// Which workloads to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkloadFilter<'a> {
    /// Only in these projects; `None` is all of them.
    pub projects: Option<&'a [ProjectId]>,
    /// Only in these states; empty is all of them.
    pub states: &'a [TaskStateKind],
    pub name_prefix: Option<&'a str>,
}

pub(crate) fn decode_from(columns: &mut Columns<'_>) -> Result<Workload, Error> {
    Ok(Workload {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        spec: columns.json()?,
        desired: columns.parse()?,
        state: columns.json()?,
        generation: columns.generation()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

fn decode(row: &Row) -> Result<Workload, Error> {
    decode_from(&mut row.columns("workload"))
}

fn decode_all(rows: &[Row]) -> Result<Vec<Workload>, Error> {
    rows.iter().map(decode).collect()
}

impl Conn {
    pub async fn workload_get(&mut self, id: WorkloadId) -> Result<Option<Workload>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM workload WHERE id = $1 AND kind = 'task'");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn workload_by_name(
        &mut self,
        project: ProjectId,
        name: &Name,
    ) -> Result<Option<Workload>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM workload WHERE project_id = $1 AND name = $2 AND kind = 'task'"
        );
        let row = self.query_one(sql, params![project, name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first.
    pub async fn workload_list(
        &mut self,
        filter: WorkloadFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Workload>, Error> {
        let mut select = Select::new(concat!("SELECT ", columns!(), " FROM workload"))
            .and("workload.kind = 'task'");
        if let Some(projects) = filter.projects {
            select = select.and_in("project_id", projects.iter().copied());
        }
        if !filter.states.is_empty() {
            select = select.and_in("state", filter.states.iter().map(|s| s.label()));
        }
        if let Some(prefix) = filter.name_prefix {
            // No character of a name sorts after `z`.
            let end = format!("{prefix}{{");
            select = select.and_value("name >=", prefix).and_value("name <", end.as_str());
        }
        let (sql, params) = select.and_some("id <", after).page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let workloads = decode_all(&rows)?;
        Ok(Page::from_rows(workloads, limit, |w| w.id.to_string()))
    }

    /// What waits for a node, oldest first, after the one with the id `after`.
    pub async fn workload_pending(
        &mut self,
        after: Option<WorkloadId>,
        limit: u32,
    ) -> Result<Vec<Workload>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM workload"))
            .and("workload.state = 'pending'")
            .and_some("workload.id >", after)
            .first("workload.id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        decode_all(&rows)
    }

    /// States nothing is in are left out.
    pub async fn workload_count_by_state(&mut self) -> Result<Vec<(TaskStateKind, u64)>, Error> {
        let rows = self
            .query("SELECT state, COUNT(*) FROM workload WHERE state <> 'service' GROUP BY state ORDER BY state", Vec::new())
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("workload");
                Ok((columns.parse()?, columns.number()?))
            })
            .collect()
    }

    /// Settled workloads that ended before `time`, the longest ago first. The state is hidden from
    /// the planner, which would otherwise sort everything that was ever settled.
    pub async fn workload_settled_before(
        &mut self,
        time: Timestamp,
        limit: u32,
    ) -> Result<Vec<WorkloadId>, Error> {
        let (sql, params) = Select::new("SELECT id FROM workload")
            .and_value("time_ended <", time)
            .and_in("COALESCE(state, '')", TaskStateKind::SETTLED.iter().map(|s| s.label()))
            .first("time_ended, id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        rows.iter().map(|row| row.columns("workload").parse()).collect()
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken in the project.
    pub async fn workload_insert(&mut self, workload: &Workload) -> Result<(), Error> {
        self.workload_insert_batch(std::slice::from_ref(workload)).await
    }

    pub async fn workload_insert_batch(&mut self, workloads: &[Workload]) -> Result<(), Error> {
        let rows = workloads
            .iter()
            .map(|w| {
                params![
                    w.id,
                    w.project_id,
                    &w.name,
                    Value::json(&w.spec),
                    w.desired.label(),
                    Value::json(&w.state),
                    w.generation,
                    w.created_by,
                    w.time_created,
                    w.time_modified,
                    w.time_ended,
                    w.state.kind().label()
                ]
            })
            .collect();
        self.insert_many(INSERT, rows).await?;
        Ok(())
    }

    /// Writes what can change: desired, state, times. Spec, name and project are fixed.
    pub async fn workload_update(
        &mut self,
        workload: &Workload,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE workload SET desired = $3, state = $4, state_detail = $5, generation = $6, time_modified = $7, time_ended = $8 WHERE id = $1 AND generation = $2",
            params![
                workload.id,
                expected,
                workload.desired.label(),
                workload.state.kind().label(),
                Value::json(&workload.state),
                expected.next(),
                workload.time_modified,
                workload.time_ended
            ],
            PROBE,
            workload.id,
        )
        .await
    }

    /// Writes workloads that were read in this transaction; each carries the generation after the one
    /// that is stored.
    pub async fn workload_save_batch(&mut self, workloads: &[Workload]) -> Result<(), Error> {
        let rows = workloads
            .iter()
            .map(|w| {
                params![
                    w.id,
                    w.desired.label(),
                    w.state.kind().label(),
                    Value::json(&w.state),
                    w.generation,
                    w.time_modified,
                    w.time_ended
                ]
            })
            .collect();
        let saved = self
            .update_many(
                "workload",
                "desired = v.column2, state = v.column3, state_detail = v.column4, generation = v.column5, time_modified = v.column6, time_ended = v.column7",
                "workload.generation + 1 = v.column5",
                &["TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT"],
                rows,
            )
            .await?;
        crate::update::all_saved("task", saved, workloads.len())
    }

    /// Deletes a settled workload with its placements and runs; `Stale` when it is not settled.
    pub async fn workload_delete(&mut self, id: WorkloadId) -> Result<Update, Error> {
        let row = self
            .query_one(
                "SELECT state, generation FROM workload WHERE id = $1 AND kind = 'task'",
                params![id],
            )
            .await?;
        let Some(row) = row else {
            return Ok(Update::Missing);
        };
        let mut columns = row.columns("workload");
        let state: TaskStateKind = columns.parse()?;
        let current = columns.generation()?;
        if !state.is_settled() {
            return Ok(Update::Stale { current });
        }
        for sql in [
            "DELETE FROM run WHERE workload_id = $1",
            "DELETE FROM placement WHERE workload_id = $1",
            "DELETE FROM workload WHERE id = $1",
        ] {
            self.execute(sql, params![id]).await?;
        }
        Ok(Update::Updated)
    }
}
