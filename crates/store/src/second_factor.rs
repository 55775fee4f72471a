//! Second factors of people, and the recovery codes that can stand in for them once each.

use hostler_model::{PrincipalId, SecondFactor, Timestamp};

use crate::select::Select;
use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

fn decode(row: &Row) -> Result<SecondFactor, Error> {
    let mut columns = row.columns("second_factor");
    Ok(SecondFactor {
        principal_id: columns.parse()?,
        secret_sealed: columns.blob()?,
        step_last: columns.number()?,
        time_created: columns.time()?,
        time_confirmed: columns.opt_time()?,
    })
}

impl Conn {
    /// Also one that is not confirmed yet: ask `SecondFactor::is_on`.
    pub async fn second_factor_get(
        &mut self,
        principal: PrincipalId,
    ) -> Result<Option<SecondFactor>, Error> {
        let row = self
            .query_one(
                "SELECT principal_id, secret_sealed, step_last, time_created, time_confirmed FROM second_factor WHERE principal_id = $1",
                params![principal],
            )
            .await?;
        row.as_ref().map(decode).transpose()
    }

    /// All of them, by principal, after this one.
    pub async fn second_factor_list(
        &mut self,
        after: Option<PrincipalId>,
        limit: u32,
    ) -> Result<Vec<SecondFactor>, Error> {
        let (sql, params) = Select::new(
            "SELECT principal_id, secret_sealed, step_last, time_created, time_confirmed FROM second_factor",
        )
        .and_some("principal_id >", after)
        .first("principal_id", u64::from(limit));
        self.query(sql, params).await?.iter().map(decode).collect()
    }

    /// How many recovery codes are left.
    pub async fn recovery_code_count(&mut self, principal: PrincipalId) -> Result<u64, Error> {
        self.count("SELECT COUNT(*) FROM recovery_code WHERE principal_id = $1", params![principal])
            .await
    }
}

impl Tx<'_> {
    /// Stores a secret that is to be confirmed, in place of an earlier one that was not; false when
    /// there is one that counts.
    pub async fn second_factor_begin(&mut self, factor: &SecondFactor) -> Result<bool, Error> {
        let done = self
            .execute(
                "INSERT INTO second_factor (principal_id, secret_sealed, step_last, time_created) VALUES ($1, $2, $3, $4) ON CONFLICT (principal_id) DO UPDATE SET secret_sealed = excluded.secret_sealed, step_last = excluded.step_last, time_created = excluded.time_created WHERE second_factor.time_confirmed IS NULL",
                params![
                    factor.principal_id,
                    &factor.secret_sealed,
                    factor.step_last,
                    factor.time_created
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// Makes the secret count, with the step of the code that was shown; false when it counts already
    /// or is another one by now.
    pub async fn second_factor_confirm(
        &mut self,
        factor: &SecondFactor,
        step: u64,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE second_factor SET step_last = $3, time_confirmed = $4 WHERE principal_id = $1 AND secret_sealed = $2 AND time_confirmed IS NULL",
                params![factor.principal_id, &factor.secret_sealed, step, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// The same secret, sealed anew; false when it is another one by now.
    pub async fn second_factor_reseal(
        &mut self,
        factor: &SecondFactor,
        sealed: &[u8],
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE second_factor SET secret_sealed = $3 WHERE principal_id = $1 AND secret_sealed = $2",
                params![factor.principal_id, &factor.secret_sealed, sealed],
            )
            .await?;
        Ok(done > 0)
    }

    /// Notes that the code of a step was used; false when that step or a later one was used before.
    /// Only one caller ever gets true for a step.
    pub async fn second_factor_use(
        &mut self,
        principal: PrincipalId,
        step: u64,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE second_factor SET step_last = $2 WHERE principal_id = $1 AND step_last < $2 AND time_confirmed IS NOT NULL",
                params![principal, step],
            )
            .await?;
        Ok(done > 0)
    }

    /// Removes the second factor with its recovery codes; false when there was none.
    pub async fn second_factor_delete(&mut self, principal: PrincipalId) -> Result<bool, Error> {
        self.execute("DELETE FROM recovery_code WHERE principal_id = $1", params![principal])
            .await?;
        let gone = self
            .execute("DELETE FROM second_factor WHERE principal_id = $1", params![principal])
            .await?;
        Ok(gone > 0)
    }

    /// Stores fresh recovery codes in place of those there were.
    pub async fn recovery_codes_set(
        &mut self,
        principal: PrincipalId,
        hashes: &[[u8; 32]],
    ) -> Result<(), Error> {
        self.execute("DELETE FROM recovery_code WHERE principal_id = $1", params![principal])
            .await?;
        for hash in hashes {
            self.execute(
                "INSERT INTO recovery_code (principal_id, code_hash) VALUES ($1, $2)",
                params![principal, hash.as_slice()],
            )
            .await?;
        }
        Ok(())
    }

    /// Uses a recovery code up; false when there is no such code (any more).
    pub async fn recovery_code_use(
        &mut self,
        principal: PrincipalId,
        hash: &[u8; 32],
    ) -> Result<bool, Error> {
        let gone = self
            .execute(
                "DELETE FROM recovery_code WHERE principal_id = $1 AND code_hash = $2",
                params![principal, hash.as_slice()],
            )
            .await?;
        Ok(gone > 0)
    }
}
