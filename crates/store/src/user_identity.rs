//! Who people are at the identity provider.

use hostler_model::{PrincipalId, Timestamp, UserIdentity};

use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "issuer, subject, principal_id, email, time_created, time_last_used"
    };
}

fn decode(row: &Row) -> Result<UserIdentity, Error> {
    let mut columns = row.columns("user_identity");
    Ok(UserIdentity {
        issuer: columns.text()?,
        subject: columns.text()?,
        principal_id: columns.parse()?,
        email: columns.text()?,
        time_created: columns.time()?,
        time_last_used: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn user_identity_get(
        &mut self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<UserIdentity>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM user_identity WHERE issuer = $1 AND subject = $2"
        );
        let row = self.query_one(sql, params![issuer, subject]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Those of a user, by issuer and subject.
    pub async fn user_identity_list(
        &mut self,
        principal: PrincipalId,
    ) -> Result<Vec<UserIdentity>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM user_identity WHERE principal_id = $1 ORDER BY issuer, subject"
        );
        self.query(sql, params![principal]).await?.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// False when it belongs to somebody already.
    pub async fn user_identity_insert(&mut self, identity: &UserIdentity) -> Result<bool, Error> {
        let done = self
            .execute(
                concat!(
                    "INSERT INTO user_identity (",
                    columns!(),
                    ") VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (issuer, subject) DO NOTHING"
                ),
                params![
                    &identity.issuer,
                    &identity.subject,
                    identity.principal_id,
                    &identity.email,
                    identity.time_created,
                    identity.time_last_used
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// Notes that somebody logged in with it, and what the provider said.
    pub async fn user_identity_use(
        &mut self,
        issuer: &str,
        subject: &str,
        email: &str,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE user_identity SET email = $3, time_last_used = $4 WHERE issuer = $1 AND subject = $2",
                params![issuer, subject, email, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// False when the user has no such identity.
    pub async fn user_identity_delete(
        &mut self,
        principal: PrincipalId,
        issuer: &str,
        subject: &str,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "DELETE FROM user_identity WHERE principal_id = $1 AND issuer = $2 AND subject = $3",
                params![principal, issuer, subject],
            )
            .await?;
        Ok(done > 0)
    }
}
