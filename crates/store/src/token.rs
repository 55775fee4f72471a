//! API tokens. Only the hash of a secret is ever stored or looked up.
//!
//! A token of one project names it in `project_id` and goes with it; one of several has them in a list,
//! where a project that is gone stays and means nothing.

use hostler_model::{Limit, Page, PrincipalId, ProjectId, Timestamp, Token, TokenId, TokenLimits};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, principal_id, name, secret_hash, role_max, project_id, projects, permissions, sources, time_created, time_expires, time_last_used, time_revoked"
    };
}

fn decode(row: &Row) -> Result<Token, Error> {
    let mut columns = row.columns("token");
    Ok(Token {
        id: columns.parse()?,
        principal_id: columns.parse()?,
        name: columns.parse()?,
        secret_hash: columns.blob()?,
        limits: TokenLimits {
            role_max: columns.parse()?,
            projects: {
                let one: Option<ProjectId> = columns.opt_parse()?;
                columns.opt_json()?.or_else(|| one.map(|id| vec![id]))
            },
            can: columns.opt_json()?,
            sources: columns.opt_json()?,
        },
        time_created: columns.time()?,
        time_expires: columns.opt_time()?,
        time_last_used: columns.opt_time()?,
        time_revoked: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn token_get(&mut self, id: TokenId) -> Result<Option<Token>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM token WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Also finds tokens that are expired or revoked: ask `Token::is_live`.
    pub async fn token_by_hash(&mut self, hash: &[u8]) -> Result<Option<Token>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM token WHERE secret_hash = $1");
        let row = self.query_one(sql, params![hash]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first.
    pub async fn token_list(
        &mut self,
        principal: Option<PrincipalId>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Token>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM token"))
            .and_some("principal_id =", principal)
            .and_some("id <", after)
            .page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let tokens = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(tokens, limit, |t| t.id.to_string()))
    }
}

impl Tx<'_> {
    pub async fn token_insert(&mut self, token: &Token) -> Result<(), Error> {
        let limits = &token.limits;
        let (one, several) = match limits.projects.as_deref() {
            Some([one]) => (Some(*one), None),
            several => (None, several),
        };
        self.execute(
            concat!(
                "INSERT INTO token (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
            ),
            params![
                token.id,
                token.principal_id,
                &token.name,
                &token.secret_hash,
                limits.role_max.label(),
                one,
                Value::json_opt(several.as_ref()),
                Value::json_opt(limits.can.as_ref()),
                Value::json_opt(limits.sources.as_ref()),
                token.time_created,
                token.time_expires,
                token.time_last_used,
                token.time_revoked
            ],
        )
        .await?;
        Ok(())
    }

    /// False when there is no such token, or it was revoked before.
    pub async fn token_revoke(&mut self, id: TokenId, now: Timestamp) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE token SET time_revoked = $2 WHERE id = $1 AND time_revoked IS NULL",
                params![id, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// Notes when tokens were last used; never goes back in time.
    pub async fn token_touch_batch(&mut self, used: &[(TokenId, Timestamp)]) -> Result<(), Error> {
        let rows = used.iter().map(|(id, time)| params![*id, *time]).collect();
        self.touch_batch("token", rows).await
    }
}
