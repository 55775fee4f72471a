//! Executions of workflows, and which of them somebody has to look at. The state is two columns: its label,
//! and how it ends or ended where that is known.
//!
//! What is done for its stack is kept with the options, as the entry `care` of that document.
//!
//! An execution is changed only from the generation that was read. Its steps and its jobs have no
//! generation of their own: they are written in the transaction that moves the execution on.

use hostler_model::workflow::{
    Execution, ExecutionOptions, ExecutionState, ExecutionStep, StackCare,
};
use hostler_model::{ExecutionId, Generation, Limit, Page, ProjectId, TaskStateKind, Timestamp};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, project_id, workflow, version, bundle, graph, given, options, state, outcome, is_cancel_requested, trace, generation, created_by, time_created, time_modified, time_begun, time_due, time_ended"
    };
}

const PROBE: &str = "SELECT generation FROM execution WHERE id = $1";

/// Which executions to list.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionFilter<'a> {
    pub project: ProjectId,
    pub workflow: Option<&'a str>,
    /// Only those that have not ended, or only those that have.
    pub is_open: Option<bool>,
}

/// What is kept beside the options, in the same document.
const CARE: &str = "care";

fn options(execution: &Execution) -> Value {
    let Some(care) = &execution.care else { return Value::json(&execution.options) };
    let mut document = serde_json::to_value(&execution.options).unwrap_or_default();
    document[CARE] = serde_json::to_value(care).unwrap_or_default();
    Value::json(&document)
}

fn decode_options(
    columns: &mut Columns<'_>,
) -> Result<(ExecutionOptions, Option<StackCare>), Error> {
    let text = columns.text()?;
    let mut document: serde_json::Map<String, serde_json::Value> = columns.document(&text)?;
    let care = document.remove(CARE);
    let bad =
        |error: serde_json::Error| Error::corrupt(format!("options of an execution: {error}"));
    let care = care.map(serde_json::from_value).transpose().map_err(bad)?;
    let options = serde_json::from_value(serde_json::Value::Object(document)).map_err(bad)?;
    Ok((options, care))
}

fn decode(row: &Row) -> Result<Execution, Error> {
    let mut columns = row.columns("execution");
    let (id, project_id, workflow) = (columns.parse()?, columns.parse()?, columns.text()?);
    let (version, bundle) = (columns.small()?, columns.digest()?);
    let (graph, values) = (columns.json()?, columns.json()?);
    let (options, care) = decode_options(&mut columns)?;
    Ok(Execution {
        id,
        project_id,
        workflow,
        version,
        bundle,
        graph,
        values,
        options,
        care,
        state: decode_state(&mut columns)?,
        is_cancel_requested: columns.flag()?,
        trace: columns.opt_parse()?,
        generation: columns.generation()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        time_begun: columns.time()?,
        time_due: columns.opt_time()?,
        time_ended: columns.opt_time()?,
    })
}

fn decode_state(columns: &mut Columns<'_>) -> Result<ExecutionState, Error> {
    let label = columns.text()?;
    let outcome = columns.opt_parse()?;
    ExecutionState::of(&label, outcome)
        .ok_or_else(|| Error::corrupt(format!("state `{label}` of an execution")))
}

impl Conn {
    pub async fn execution_get(&mut self, id: ExecutionId) -> Result<Option<Execution>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM execution WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Newest first.
    pub async fn execution_list(
        &mut self,
        filter: ExecutionFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Execution>, Error> {
        let table = match filter.is_open {
            Some(true) => self.by_index("execution", "execution_open"),
            _ => "execution".to_owned(),
        };
        let select = Select::new(&format!("SELECT {} FROM {table}", columns!()))
            .and_value("project_id =", filter.project)
            .and_some("workflow =", filter.workflow);
        let select = match filter.is_open {
            None => select,
            Some(true) => select.and("state <> 'ended'"),
            Some(false) => select.and("state = 'ended'"),
        };
        let (sql, params) = select.and_some("id <", after).page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let executions = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(executions, limit, |execution| execution.id.to_string()))
    }

    /// Executions that have not ended and whose time has come, or one of whose jobs is under way as far as
    /// they know, while its task has ended or is gone; oldest first.
    pub async fn execution_wanting(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<ExecutionId>, Error> {
        let limit = u64::from(limit);
        let table = self.by_index("execution", "execution_due");
        let (sql, params) = Select::new(&format!("SELECT id FROM {table}"))
            .and("state <> 'ended'")
            .and_value("time_due <=", now)
            .first("time_due, id", limit);
        let mut rows = self.query(sql, params).await?;
        let jobs = self.by_index("execution_job", "execution_job_open");
        let open = TaskStateKind::ALL.iter().filter(|state| !state.is_settled());
        let (sql, params) = Select::new(&format!("SELECT DISTINCT execution_job.execution_id FROM {jobs} JOIN execution ON execution.id = execution_job.execution_id LEFT JOIN workload ON workload.id = execution_job.workload_id"))
            .and("execution_job.outcome IS NULL")
            .and("execution.state <> 'ended'")
            .and_not_in("workload.state", open.map(|state| state.label()))
            .first("execution_job.execution_id", limit);
        rows.extend(self.query(sql, params).await?);
        let ids = rows.iter().map(|row| row.columns("execution").parse());
        let mut ids: Vec<ExecutionId> = ids.collect::<Result<_, Error>>()?;
        ids.sort();
        ids.dedup();
        ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(ids)
    }

    /// Whether some execution is not over, and when the next one wants somebody to look.
    pub async fn execution_next_due(&mut self) -> Result<(bool, Option<Timestamp>), Error> {
        let sql = "SELECT COUNT(*), MIN(time_due) FROM execution WHERE state <> 'ended'";
        let Some(row) = self.query_one(sql, Vec::new()).await? else { return Ok((false, None)) };
        let mut columns = row.columns("execution");
        Ok((columns.number()? > 0, columns.opt_time()?))
    }

    /// By label; states nothing is in are left out.
    pub async fn execution_count_by_state(&mut self) -> Result<Vec<(String, u64)>, Error> {
        let rows = self
            .query(
                "SELECT state, COUNT(*) FROM execution GROUP BY state ORDER BY state",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("execution");
                Ok((columns.text()?, columns.number()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    /// With its steps.
    pub async fn execution_insert(
        &mut self,
        execution: &Execution,
        steps: &[ExecutionStep],
    ) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO execution (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)"
            ),
            params![
                execution.id,
                execution.project_id,
                &execution.workflow,
                execution.version,
                execution.bundle,
                Value::json(&execution.graph),
                Value::json(&execution.values),
                options(execution),
                execution.state.label(),
                execution.state.outcome().map(|outcome| outcome.label()),
                execution.is_cancel_requested,
                Value::from(execution.trace.map(|trace| trace.to_string()).as_deref()),
                execution.generation,
                execution.created_by,
                execution.time_created,
                execution.time_modified,
                execution.time_begun,
                execution.time_due,
                execution.time_ended
            ],
        )
        .await?;
        self.execution_step_save_batch(steps).await
    }

    /// Writes what can change: state, request to cancel, options, what is done for its stack, times. What it executes is fixed.
    pub async fn execution_update(
        &mut self,
        execution: &Execution,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE execution SET state = $3, outcome = $4, is_cancel_requested = $5, options = $6, time_modified = $7, time_begun = $8, time_due = $9, time_ended = $10, generation = $11 WHERE id = $1 AND generation = $2",
            params![
                execution.id,
                expected,
                execution.state.label(),
                execution.state.outcome().map(|outcome| outcome.label()),
                execution.is_cancel_requested,
                options(execution),
                execution.time_modified,
                execution.time_begun,
                execution.time_due,
                execution.time_ended,
                expected.next()
            ],
            PROBE,
            execution.id,
        )
        .await
    }

    /// Deletes executions that ended before `before`, with their steps, their jobs and what they need of
    /// blobs; the longest ago first. Says how many. The state is hidden from the planner, as in
    /// `workload_settled_before`.
    pub async fn execution_delete_old(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, Error> {
        let (sql, params) = Select::new("SELECT id FROM execution")
            .and_value("time_ended <", before)
            .and("COALESCE(state, '') = 'ended'")
            .first("time_ended, id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        for row in &rows {
            let id: ExecutionId = row.columns("execution").parse()?;
            for sql in [
                "DELETE FROM execution_job WHERE execution_id = $1",
                "DELETE FROM execution_step WHERE execution_id = $1",
                "DELETE FROM blob_use WHERE holder = $1",
                "DELETE FROM execution WHERE id = $1",
            ] {
                self.execute(sql, params![id]).await?;
            }
        }
        Ok(rows.len() as u64)
    }
}
