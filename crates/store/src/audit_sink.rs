//! How far each sink of audit entries has been told. A cursor only goes forward, and only from where
//! its reader found it, so that two servers that deliver at the same time cannot skip anything.

use hostler_model::{AuditSinkState, Timestamp};

use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "name, sequence, anchor_sequence, problem, time_modified"
    };
}

fn decode(row: &Row) -> Result<AuditSinkState, Error> {
    let mut columns = row.columns("audit_sink");
    Ok(AuditSinkState {
        name: columns.text()?,
        sequence: columns.number()?,
        anchor_sequence: columns.number()?,
        problem: columns.opt_text()?,
        time_modified: columns.time()?,
    })
}

impl Conn {
    pub async fn audit_sink_get(&mut self, name: &str) -> Result<Option<AuditSinkState>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM audit_sink WHERE name = $1");
        let row = self.query_one(sql, params![name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// All of them, by name; there are few.
    pub async fn audit_sink_list(&mut self) -> Result<Vec<AuditSinkState>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM audit_sink ORDER BY name LIMIT 1000");
        let rows = self.query(sql, Vec::new()).await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// Enters a sink unless it is there.
    pub async fn audit_sink_insert(&mut self, sink: &AuditSinkState) -> Result<bool, Error> {
        let done = self
            .execute(
                concat!(
                    "INSERT INTO audit_sink (",
                    columns!(),
                    ") VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING"
                ),
                params![
                    &sink.name,
                    sink.sequence,
                    sink.anchor_sequence,
                    sink.problem.as_deref(),
                    sink.time_modified
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// Goes forward from `from`; false when somebody else did meanwhile.
    pub async fn audit_sink_advance(
        &mut self,
        from: &AuditSinkState,
        sequence: u64,
        anchor_sequence: u64,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE audit_sink SET sequence = $4, anchor_sequence = $5, problem = NULL, time_modified = $6 WHERE name = $1 AND sequence = $2 AND anchor_sequence = $3",
                params![
                    &from.name,
                    from.sequence,
                    from.anchor_sequence,
                    sequence.max(from.sequence),
                    anchor_sequence.max(from.anchor_sequence),
                    now
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// Notes why it does not go on; false when a problem was noted already.
    pub async fn audit_sink_problem(
        &mut self,
        name: &str,
        problem: &str,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let is_new = self
            .execute(
                "UPDATE audit_sink SET problem = $2, time_modified = $3 WHERE name = $1 AND problem IS NULL",
                params![name, problem, now],
            )
            .await?;
        if is_new == 0 {
            self.execute(
                "UPDATE audit_sink SET problem = $2, time_modified = $3 WHERE name = $1 AND problem <> $2",
                params![name, problem, now],
            )
            .await?;
        }
        Ok(is_new > 0)
    }
}
