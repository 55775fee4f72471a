//! Logins that failed, so that every server makes the same people wait, and a restart forgives
//! nothing.

use hostler_model::{LoginTally, TallyKind, Timestamp};

use crate::value::params;
use crate::{Conn, Error, Tx};

impl Conn {
    pub async fn login_tally_get(
        &mut self,
        kind: TallyKind,
        subject: &[u8],
    ) -> Result<Option<LoginTally>, Error> {
        let row = self
            .query_one(
                "SELECT kind, subject, failures, time_last, is_told FROM login_tally WHERE kind = $1 AND subject = $2",
                params![kind.label(), subject],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = row.columns("login_tally");
        Ok(Some(LoginTally {
            kind: columns.parse()?,
            subject: columns.blob()?,
            failures: columns.number()?,
            time_last: columns.time()?,
            is_told: columns.flag()?,
        }))
    }
}

impl Tx<'_> {
    pub async fn login_tally_set(&mut self, tally: &LoginTally) -> Result<(), Error> {
        self.execute(
            "INSERT INTO login_tally (kind, subject, failures, time_last, is_told) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (kind, subject) DO UPDATE SET failures = excluded.failures, time_last = excluded.time_last, is_told = excluded.is_told",
            params![
                tally.kind.label(),
                &tally.subject,
                tally.failures,
                tally.time_last,
                tally.is_told
            ],
        )
        .await?;
        Ok(())
    }

    /// Takes one failure back that was none.
    pub async fn login_tally_refund(
        &mut self,
        kind: TallyKind,
        subject: &[u8],
    ) -> Result<(), Error> {
        self.execute(
            "UPDATE login_tally SET failures = failures - 1 WHERE kind = $1 AND subject = $2 AND failures > 0",
            params![kind.label(), subject],
        )
        .await?;
        Ok(())
    }

    pub async fn login_tally_delete(
        &mut self,
        kind: TallyKind,
        subject: &[u8],
    ) -> Result<(), Error> {
        self.execute(
            "DELETE FROM login_tally WHERE kind = $1 AND subject = $2",
            params![kind.label(), subject],
        )
        .await?;
        Ok(())
    }

    /// Removes what was last touched before a time; returns how many went.
    pub async fn login_tally_delete_before(
        &mut self,
        kind: TallyKind,
        time: Timestamp,
    ) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM login_tally WHERE kind = $1 AND time_last < $2",
            params![kind.label(), time],
        )
        .await
    }
}
