//! Steps of executions: entered with their execution, and written whole whenever they move.

use hostler_model::ExecutionId;
use hostler_model::workflow::ExecutionStep;

use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "execution_id, position, name, standing, tries, message, changed, exported, results, artifacts, is_undone, approval_id, time_started, time_ended"
    };
}

fn decode(row: &Row) -> Result<ExecutionStep, Error> {
    let mut columns = row.columns("execution_step");
    Ok(ExecutionStep {
        execution_id: columns.parse()?,
        position: columns.small()?,
        name: columns.text()?,
        standing: columns.json()?,
        tries: columns.small()?,
        message: columns.text()?,
        changed: columns.opt_flag()?,
        exported: columns.json()?,
        results: columns.json()?,
        artifacts: columns.json()?,
        is_undone: columns.flag()?,
        approval_id: columns.opt_parse()?,
        time_started: columns.opt_time()?,
        time_ended: columns.opt_time()?,
    })
}

fn row_of(step: &ExecutionStep) -> Vec<Value> {
    params![
        step.execution_id,
        step.position,
        &step.name,
        Value::json(&step.standing),
        step.tries,
        &step.message,
        step.changed,
        Value::json(&step.exported),
        Value::json(&step.results),
        Value::json(&step.artifacts),
        step.is_undone,
        step.approval_id,
        step.time_started,
        step.time_ended
    ]
}

impl Conn {
    /// In the order of the definition.
    pub async fn execution_steps(&mut self, id: ExecutionId) -> Result<Vec<ExecutionStep>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM execution_step WHERE execution_id = $1 ORDER BY position"
        );
        self.query(sql, params![id]).await?.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// Writes steps, known or new, each once.
    pub async fn execution_step_save_batch(
        &mut self,
        steps: &[ExecutionStep],
    ) -> Result<(), Error> {
        self.insert_many_or(
            concat!("INSERT INTO execution_step (", columns!(), ")"),
            steps.iter().map(row_of).collect(),
            "ON CONFLICT (execution_id, position) DO UPDATE SET name = excluded.name, standing = excluded.standing, tries = excluded.tries, message = excluded.message, changed = excluded.changed, exported = excluded.exported, results = excluded.results, artifacts = excluded.artifacts, is_undone = excluded.is_undone, approval_id = excluded.approval_id, time_started = excluded.time_started, time_ended = excluded.time_ended",
        )
        .await?;
        Ok(())
    }
}
