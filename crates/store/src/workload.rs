//! Tasks. The state is stored twice over: its label in a column that queries ask about, and the whole
//! of it, with its data, as a document.
//!
//! A task of an array has its spec there; equal specs are read once for a whole list.
//!
//! How tasks wait is asked in `workload_queue`.
//!
//! Services share the table (and so the names), but no query here sees them: they are of another kind,
//! and in no state that a task can be in.

use std::collections::HashMap;
use std::sync::Arc;

use hostler_model::{
    ArrayId, Generation, Limit, Name, Page, ProjectId, TaskSeat, TaskStateKind, Timestamp,
    Workload, WorkloadId, WorkloadSpec,
};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "workload.id, workload.project_id, workload.name, COALESCE(task_array.spec, workload.spec), workload.desired, workload.state_detail, workload.array_id, workload.array_index, workload.attempts, workload.time_ready, workload.time_give_up, workload.trace, workload.generation, workload.created_by, workload.time_created, workload.time_modified, workload.time_ended"
    };
}
pub(crate) use columns;

/// What the columns are read from, after the table `workload` itself.
macro_rules! joined {
    () => {
        " LEFT JOIN task_array ON task_array.id = workload.array_id"
    };
}
pub(crate) use joined;

pub(crate) const SELECT: &str = concat!("SELECT ", columns!(), " FROM workload", joined!());

/// The same, from a table with an index named.
pub(crate) fn selected_from(table: &str) -> String {
    format!("SELECT {} FROM {table}{}", columns!(), joined!())
}

/// As an insert names them.
const INSERT: &str = "INSERT INTO workload (id, project_id, name, spec, desired, state_detail, priority, class, array_id, array_index, attempts, time_ready, time_give_up, trace, generation, created_by, time_created, time_modified, time_ended, state)";

const PROBE: &str = "SELECT generation FROM workload WHERE id = $1";

/// Which workloads to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkloadFilter<'a> {
    /// Only in these projects; `None` is all of them.
    pub projects: Option<&'a [ProjectId]>,
    /// Only in these states; empty is all of them.
    pub states: &'a [TaskStateKind],
    pub name_prefix: Option<&'a str>,
    pub array: Option<ArrayId>,
}

/// Specs that were read already, by their text.
#[derive(Default)]
pub(crate) struct Specs(HashMap<String, Arc<WorkloadSpec>>);

impl Specs {
    pub(crate) fn read(&mut self, columns: &mut Columns<'_>) -> Result<Arc<WorkloadSpec>, Error> {
        let text = columns.text()?;
        if let Some(known) = self.0.get(&text) {
            return Ok(known.clone());
        }
        let spec: Arc<WorkloadSpec> = Arc::new(columns.document(&text)?);
        self.0.insert(text, spec.clone());
        Ok(spec)
    }
}

pub(crate) fn decode_from(columns: &mut Columns<'_>, specs: &mut Specs) -> Result<Workload, Error> {
    Ok(Workload {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        spec: specs.read(columns)?,
        desired: columns.parse()?,
        state: columns.json()?,
        seat: seat(columns)?,
        attempts: columns.small()?,
        time_ready: columns.opt_time()?,
        time_give_up: columns.opt_time()?,
        trace: columns.opt_parse()?,
        generation: columns.generation()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

pub(crate) fn seat(columns: &mut Columns<'_>) -> Result<Option<TaskSeat>, Error> {
    let array: Option<ArrayId> = columns.opt_parse()?;
    let index = columns.opt_int()?;
    Ok(array
        .zip(index)
        .map(|(array, index)| TaskSeat { array, index: u32::try_from(index).unwrap_or(u32::MAX) }))
}

fn decode(row: &Row) -> Result<Workload, Error> {
    decode_from(&mut row.columns("workload"), &mut Specs::default())
}

pub(crate) fn decode_all(rows: &[Row]) -> Result<Vec<Workload>, Error> {
    let mut specs = Specs::default();
    rows.iter().map(|row| decode_from(&mut row.columns("workload"), &mut specs)).collect()
}

impl Conn {
    pub async fn workload_get(&mut self, id: WorkloadId) -> Result<Option<Workload>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM workload",
            joined!(),
            " WHERE workload.id = $1 AND workload.kind = 'task'"
        );
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
            " FROM workload",
            joined!(),
            " WHERE workload.project_id = $1 AND workload.name = $2 AND workload.kind = 'task'"
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
        let mut select = Select::new(SELECT)
            .and("workload.kind = 'task'")
            .and_some("workload.array_id =", filter.array);
        if let Some(projects) = filter.projects {
            select = select.and_in("workload.project_id", projects.iter().copied());
        }
        if !filter.states.is_empty() {
            select = select.and_in("workload.state", filter.states.iter().map(|s| s.label()));
        }
        if let Some(prefix) = filter.name_prefix {
            // No character of a name sorts after `z`.
            let end = format!("{prefix}{{");
            select = select
                .and_value("workload.name >=", prefix)
                .and_value("workload.name <", end.as_str());
        }
        let (sql, params) = select.and_some("workload.id <", after).page("workload.id DESC", limit);
        let rows = self.query(sql, params).await?;
        let workloads = decode_all(&rows)?;
        Ok(Page::from_rows(workloads, limit, |w| w.id.to_string()))
    }

    /// How many tasks of each project are in each state that is not an end; others are left out.
    pub async fn workload_count_open_by_project(
        &mut self,
    ) -> Result<Vec<(ProjectId, TaskStateKind, u64)>, Error> {
        let open = TaskStateKind::ALL.iter().filter(|state| !state.is_settled());
        let (sql, params) = Select::new("SELECT project_id, state, COUNT(*) FROM workload")
            .and_in("state", open.map(|state| state.label()))
            .unordered();
        let sql = format!("{sql} GROUP BY project_id, state ORDER BY project_id, state");
        let rows = self.query(sql, params).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("workload");
                Ok((columns.parse()?, columns.parse()?, columns.number()?))
            })
            .collect()
    }

    /// These tasks, in no particular order; those that are not there are left out.
    pub async fn workload_get_batch(&mut self, ids: &[WorkloadId]) -> Result<Vec<Workload>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new(SELECT)
                .and_in("workload.id", chunk.iter().copied())
                .and("workload.kind = 'task'")
                .first("workload.id", CHUNK as u64);
            found.extend(decode_all(&self.query(sql, params).await?)?);
        }
        Ok(found)
    }

    /// How many tasks of a project have not ended.
    pub async fn workload_count_open(&mut self, project: ProjectId) -> Result<u64, Error> {
        let waiting = self.by_index("workload", "workload_queue");
        let sql =
            format!("SELECT COUNT(*) FROM {waiting} WHERE project_id = $1 AND state = 'pending'");
        let waiting = self.count(sql, params![project]).await?;
        let others = TaskStateKind::ALL.iter().filter(|state| !state.is_settled());
        let others = others.filter(|state| **state != TaskStateKind::Pending);
        let table = self.by_index("workload", "workload_state");
        let (sql, params) = Select::new(&format!("SELECT COUNT(*) FROM {table}"))
            .and_in("state", others.map(|state| state.label()))
            .and_value("project_id =", project)
            .unordered();
        Ok(waiting + self.count(sql, params).await?)
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

    /// How many tasks ended at or after a time.
    pub async fn workload_count_ended_since(&mut self, time: Timestamp) -> Result<u64, Error> {
        self.count("SELECT COUNT(*) FROM workload WHERE time_ended >= $1", params![time]).await
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
                    own_spec(w),
                    w.desired.label(),
                    Value::json(&w.state),
                    i64::from(w.spec.queue.priority),
                    w.spec.queue_class(),
                    w.seat.map(|seat| seat.array),
                    Value::Int(w.seat.map(|seat| i64::from(seat.index))),
                    w.attempts,
                    w.time_ready,
                    w.time_give_up,
                    Value::from(w.trace.map(|trace| trace.to_string()).as_deref()),
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
            "UPDATE workload SET desired = $3, state = $4, state_detail = $5, generation = $6, time_modified = $7, time_ended = $8, attempts = $9, time_ready = $10, time_give_up = $11 WHERE id = $1 AND generation = $2",
            params![
                workload.id,
                expected,
                workload.desired.label(),
                workload.state.kind().label(),
                Value::json(&workload.state),
                expected.next(),
                workload.time_modified,
                workload.time_ended,
                workload.attempts,
                workload.time_ready,
                workload.time_give_up
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
                    w.time_ended,
                    w.attempts,
                    w.time_ready,
                    w.time_give_up
                ]
            })
            .collect();
        let saved = self
            .update_many(
                "workload",
                "desired = v.column2, state = v.column3, state_detail = v.column4, generation = v.column5, time_modified = v.column6, time_ended = v.column7, attempts = v.column8, time_ready = v.column9, time_give_up = v.column10",
                "workload.generation + 1 = v.column5",
                &[
                    "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "BIGINT",
                    "BIGINT", "BIGINT",
                ],
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
            "DELETE FROM task_after WHERE task_id = $1",
            "DELETE FROM blob_use WHERE holder = $1",
            "DELETE FROM run_output WHERE workload_id = $1",
            "DELETE FROM run WHERE workload_id = $1",
            "DELETE FROM placement WHERE workload_id = $1",
            "DELETE FROM workload WHERE id = $1",
        ] {
            self.execute(sql, params![id]).await?;
        }
        Ok(Update::Updated)
    }
}

/// The spec, unless its array has it.
fn own_spec(workload: &Workload) -> Value {
    match workload.seat {
        Some(_) => Value::from(""),
        None => Value::json(workload.spec.as_ref()),
    }
}
