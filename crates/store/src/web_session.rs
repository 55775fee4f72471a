//! Browsers that are logged in.

use hostler_model::{PrincipalId, Timestamp, TokenId, WebSession, WebSessionId};

use crate::conn::{CHUNK, Sql, values_list};
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, principal_id, secret_hash, user_agent, time_created, time_expires, time_last_used"
    };
}

fn decode(row: &Row) -> Result<WebSession, Error> {
    let mut columns = row.columns("web_session");
    Ok(WebSession {
        id: columns.parse()?,
        principal_id: columns.parse()?,
        secret_hash: columns.blob()?,
        user_agent: columns.text()?,
        time_created: columns.time()?,
        time_expires: columns.time()?,
        time_last_used: columns.time()?,
    })
}

impl Conn {
    pub async fn web_session_get(&mut self, id: WebSessionId) -> Result<Option<WebSession>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM web_session WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Also finds sessions that are expired: compare `time_expires`.
    pub async fn web_session_by_hash(&mut self, hash: &[u8]) -> Result<Option<WebSession>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM web_session WHERE secret_hash = $1");
        let row = self.query_one(sql, params![hash]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first; a person has few.
    pub async fn web_session_list(
        &mut self,
        principal: PrincipalId,
    ) -> Result<Vec<WebSession>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM web_session WHERE principal_id = $1 ORDER BY id DESC LIMIT 1000"
        );
        let rows = self.query(sql, params![principal]).await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    pub async fn web_session_insert(&mut self, session: &WebSession) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO web_session (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
            ),
            params![
                session.id,
                session.principal_id,
                &session.secret_hash,
                &session.user_agent,
                session.time_created,
                session.time_expires,
                session.time_last_used
            ],
        )
        .await?;
        Ok(())
    }

    /// False when there was none.
    pub async fn web_session_delete(&mut self, id: WebSessionId) -> Result<bool, Error> {
        let gone = self.execute("DELETE FROM web_session WHERE id = $1", params![id]).await?;
        Ok(gone > 0)
    }

    /// Gives the session another secret; false when there is no such session.
    pub async fn web_session_rekey(
        &mut self,
        id: WebSessionId,
        secret_hash: &[u8],
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE web_session SET secret_hash = $2 WHERE id = $1",
                params![id, secret_hash],
            )
            .await?;
        Ok(done > 0)
    }

    pub async fn web_session_touch_batch(
        &mut self,
        used: &[(WebSessionId, Timestamp)],
    ) -> Result<(), Error> {
        let rows = used.iter().map(|(id, time)| params![*id, *time]).collect();
        self.touch_batch("web_session", rows).await
    }

    /// Returns how many went.
    pub async fn web_session_delete_expired(&mut self, now: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM web_session WHERE time_expires <= $1", params![now]).await
    }

    /// Removes those that nobody used since a time; returns how many went.
    pub async fn web_session_delete_idle(&mut self, since: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM web_session WHERE time_last_used <= $1", params![since]).await
    }

    /// Revokes the live tokens of a principal that have a name, but one; returns how many. Those of
    /// command lines that logged in all have the same.
    pub async fn token_revoke_named(
        &mut self,
        principal: PrincipalId,
        name: &str,
        but: Option<TokenId>,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let but = but.map(|id| id.to_string()).unwrap_or_default();
        self.execute(
            "UPDATE token SET time_revoked = $3 WHERE principal_id = $1 AND name = $2 AND id <> $4 AND time_revoked IS NULL AND (time_expires IS NULL OR time_expires > $3)",
            params![principal, name, now, &but],
        )
        .await
    }

    /// Raises `time_last_used` of many rows; each row of `rows` is an id and a time.
    pub(crate) async fn touch_batch(
        &mut self,
        table: &'static str,
        rows: Vec<Vec<Value>>,
    ) -> Result<(), Error> {
        for chunk in rows.chunks(CHUNK) {
            let (values, params) = values_list(chunk.to_vec(), 0);
            let text = format!(
                "WITH used (used_id, used_time) AS (VALUES {values}) UPDATE {table} SET time_last_used = used_time FROM used WHERE id = used_id AND (time_last_used IS NULL OR time_last_used < used_time)"
            );
            self.execute(Sql::for_rows(text, chunk.len()), params).await?;
        }
        Ok(())
    }
}
