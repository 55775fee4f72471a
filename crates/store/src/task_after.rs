//! Who waits for whom. A row goes when what it waits for has ended.

use hostler_model::{AfterCondition, WorkloadId};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Value, params};
use crate::{Conn, Error, Tx};

/// A task that waits for another task, or for an array; `on_id` is the id of either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub task_id: WorkloadId,
    pub on_id: String,
    pub condition: AfterCondition,
}

impl Conn {
    /// Everything that waits for one of these.
    pub async fn task_after_on(&mut self, ids: &[String]) -> Result<Vec<Waiting>, Error> {
        let mut found = Vec::new();
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new("SELECT task_id, on_id, condition FROM task_after")
                .and_in("on_id", chunk.iter().map(String::as_str))
                .first("on_id, task_id", u64::from(u32::MAX));
            for row in &self.query(sql, params).await? {
                let mut columns = row.columns("task_after");
                found.push(Waiting {
                    task_id: columns.parse()?,
                    on_id: columns.text()?,
                    condition: columns.parse()?,
                });
            }
        }
        Ok(found)
    }

    /// What a task still waits for.
    pub async fn task_after_of(&mut self, task: WorkloadId) -> Result<Vec<Waiting>, Error> {
        let rows = self
            .query(
                "SELECT task_id, on_id, condition FROM task_after WHERE task_id = $1 ORDER BY on_id",
                params![task],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("task_after");
                Ok(Waiting {
                    task_id: columns.parse()?,
                    on_id: columns.text()?,
                    condition: columns.parse()?,
                })
            })
            .collect()
    }
}

impl Tx<'_> {
    pub async fn task_after_insert_batch(&mut self, waiting: &[Waiting]) -> Result<(), Error> {
        let rows = waiting
            .iter()
            .map(|w| params![w.task_id, w.on_id.as_str(), w.condition.label()])
            .collect();
        self.insert_many("INSERT INTO task_after (task_id, on_id, condition)", rows).await?;
        Ok(())
    }

    /// These wait no more for these.
    pub async fn task_after_delete_batch(&mut self, waiting: &[Waiting]) -> Result<(), Error> {
        for one in waiting {
            let params: Vec<Value> = params![one.task_id, one.on_id.as_str()];
            self.execute("DELETE FROM task_after WHERE task_id = $1 AND on_id = $2", params)
                .await?;
        }
        Ok(())
    }
}
