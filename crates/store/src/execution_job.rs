//! Jobs of executions: the tasks that they submitted. A job is entered in the transaction that enters its
//! task, is open until it is known how it ended, and outlives its task.

use hostler_model::workflow::ExecutionJob;
use hostler_model::{ExecutionId, WorkloadId};

use crate::value::{Row, Value, params};
use crate::{Conn, Dialect, Error, Tx};

macro_rules! columns {
    () => {
        "workload_id, execution_id, kind, position, tries, node, wanted, outcome, message, result"
    };
}

fn decode(row: &Row) -> Result<ExecutionJob, Error> {
    let mut columns = row.columns("execution_job");
    Ok(ExecutionJob {
        workload_id: columns.parse()?,
        execution_id: columns.parse()?,
        kind: columns.parse()?,
        position: columns.opt_small()?,
        tries: columns.small()?,
        node: columns.opt_parse()?,
        wanted: columns.opt_parse()?,
        end: columns.opt_parse()?,
        message: columns.text()?,
        result: columns.opt_digest()?,
    })
}

fn row_of(job: &ExecutionJob) -> Vec<Value> {
    params![
        job.workload_id,
        job.execution_id,
        job.kind.label(),
        job.position,
        job.tries,
        job.node.as_ref(),
        job.wanted.map(|end| end.label()),
        job.end.map(|end| end.label()),
        &job.message,
        job.result
    ]
}

impl Conn {
    /// Oldest task first.
    pub async fn execution_jobs(&mut self, id: ExecutionId) -> Result<Vec<ExecutionJob>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM execution_job WHERE execution_id = $1 ORDER BY workload_id"
        );
        self.query(sql, params![id]).await?.iter().map(decode).collect()
    }

    /// What a task is done for, where an execution submitted it.
    pub async fn execution_job_of(
        &mut self,
        workload: WorkloadId,
    ) -> Result<Option<ExecutionJob>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM execution_job WHERE workload_id = $1");
        self.query_one(sql, params![workload]).await?.as_ref().map(decode).transpose()
    }
}

impl Tx<'_> {
    pub async fn execution_job_insert_batch(&mut self, jobs: &[ExecutionJob]) -> Result<(), Error> {
        let head = concat!("INSERT INTO execution_job (", columns!(), ")");
        self.insert_many(head, jobs.iter().map(row_of).collect()).await?;
        Ok(())
    }

    /// Writes what can change of jobs that were read in this transaction: how each is to be reported, how
    /// it ended, what was said and told.
    pub async fn execution_job_save_batch(&mut self, jobs: &[ExecutionJob]) -> Result<(), Error> {
        let rows = jobs
            .iter()
            .map(|job| {
                params![
                    job.workload_id,
                    job.wanted.map(|end| end.label()),
                    job.end.map(|end| end.label()),
                    &job.message,
                    job.result,
                    job.node.as_ref()
                ]
            })
            .collect();
        let bytes = match self.dialect() {
            Dialect::Sqlite => "BLOB",
            Dialect::Postgres => "BYTEA",
        };
        let saved = self
            .update_many_where(
                "execution_job",
                "wanted = v.column2, outcome = v.column3, message = v.column4, result = v.column5, node = v.column6",
                "execution_job.workload_id = v.column1",
                &["TEXT", "TEXT", "TEXT", "TEXT", bytes, "TEXT"],
                rows,
            )
            .await?;
        crate::update::all_saved("job of an execution", saved, jobs.len())
    }
}
