//! Backups that servers made by themselves, or tried to: what is there, and when the next is due. Whoever
//! begins one writes its line first, on condition that nobody else has; so there is one at a time.

use hostler_model::BackupId;
use hostler_model::backup::BackupAttempt;

use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

/// Lines that are kept.
const KEPT: u64 = 100;

macro_rules! columns {
    () => {
        "id, server_name, file, size, digest, problem, time_created, time_ended"
    };
}

fn decode(row: &Row) -> Result<BackupAttempt, Error> {
    let mut columns = row.columns("backup_attempt");
    Ok(BackupAttempt {
        id: columns.parse()?,
        server_name: columns.text()?,
        file: columns.text()?,
        size: columns.number()?,
        digest: columns.opt_digest()?,
        problem: columns.opt_text()?,
        time_created: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

impl Conn {
    /// The newest first.
    pub async fn backup_attempts(&mut self, limit: u32) -> Result<Vec<BackupAttempt>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM backup_attempt ORDER BY time_created DESC, id DESC LIMIT $1"
        );
        let rows = self.query(sql, params![limit]).await?;
        rows.iter().map(decode).collect()
    }

    /// The newest that succeeded.
    pub async fn backup_last_good(&mut self) -> Result<Option<BackupAttempt>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM backup_attempt WHERE digest IS NOT NULL ORDER BY time_created DESC, id DESC LIMIT 1"
        );
        self.query_one(sql, Vec::new()).await?.as_ref().map(decode).transpose()
    }
}

impl Tx<'_> {
    /// Writes the line of a backup that begins, unless another one was begun after `newest`.
    pub async fn backup_attempt_begin(
        &mut self,
        attempt: &BackupAttempt,
        newest: Option<BackupId>,
    ) -> Result<bool, Error> {
        let found = self.backup_attempts(1).await?.first().map(|last| last.id);
        if found != newest {
            return Ok(false);
        }
        self.execute(
            concat!(
                "INSERT INTO backup_attempt (",
                columns!(),
                ") VALUES ($1, $2, $3, 0, NULL, NULL, $4, NULL)"
            ),
            params![attempt.id, &attempt.server_name, &attempt.file, attempt.time_created],
        )
        .await?;
        self.execute(
            "DELETE FROM backup_attempt WHERE time_created < (SELECT MIN(time_created) FROM (SELECT time_created FROM backup_attempt ORDER BY time_created DESC LIMIT $1) AS newest)",
            params![KEPT],
        )
        .await?;
        Ok(true)
    }

    /// How it ended: with a digest it is there, with a problem it is not.
    pub async fn backup_attempt_end(&mut self, attempt: &BackupAttempt) -> Result<(), Error> {
        self.execute(
            "UPDATE backup_attempt SET size = $2, digest = $3, problem = $4, time_ended = $5 WHERE id = $1",
            params![
                attempt.id,
                attempt.size,
                attempt.digest,
                attempt.problem.as_deref(),
                attempt.time_ended
            ],
        )
        .await?;
        Ok(())
    }
}
