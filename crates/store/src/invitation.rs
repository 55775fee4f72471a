//! Ways in that were handed to people: invitations and password resets. Only hashes of their secrets
//! are stored or looked up, and each is used up by at most one caller.

use hostler_model::{
    Invitation, InvitationId, Limit, Page, PasswordReset, PrincipalId, Scope, Timestamp,
};

use crate::principal::scope_value;
use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, secret_hash, scope, role, user_name, email, created_by, time_created, time_expires, time_used, used_by, time_revoked"
    };
}

fn scope_of(columns: &mut Columns<'_>) -> Result<Scope, Error> {
    let text = columns.text()?;
    if Value::from(text.as_str()) == scope_value(Scope::Global) {
        return Ok(Scope::Global);
    }
    let project = text.parse().map_err(|e| {
        let source = std::sync::Arc::new(e) as crate::Cause;
        Error::corrupt_by(format!("scope `{text}` of an invitation"), source)
    })?;
    Ok(Scope::Project(project))
}

fn decode(row: &Row) -> Result<Invitation, Error> {
    let mut columns = row.columns("invitation");
    Ok(Invitation {
        id: columns.parse()?,
        secret_hash: columns.blob()?,
        scope: scope_of(&mut columns)?,
        role: columns.parse()?,
        user_name: columns.opt_parse()?,
        email: columns.text()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_expires: columns.time()?,
        time_used: columns.opt_time()?,
        used_by: columns.opt_parse()?,
        time_revoked: columns.opt_time()?,
    })
}

fn decode_reset(row: &Row) -> Result<PasswordReset, Error> {
    let mut columns = row.columns("password_reset");
    Ok(PasswordReset {
        principal_id: columns.parse()?,
        secret_hash: columns.blob()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_expires: columns.time()?,
    })
}

impl Conn {
    pub async fn invitation_get(&mut self, id: InvitationId) -> Result<Option<Invitation>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM invitation WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Also finds those that are used, expired or revoked: ask `Invitation::state`.
    pub async fn invitation_by_hash(&mut self, hash: &[u8]) -> Result<Option<Invitation>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM invitation WHERE secret_hash = $1");
        let row = self.query_one(sql, params![hash]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first; `None` lists those of every scope.
    pub async fn invitation_list(
        &mut self,
        scope: Option<Scope>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Invitation>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM invitation"))
            .and_some("scope =", scope.map(scope_value))
            .and_some("id <", after)
            .page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let invitations = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(invitations, limit, |i| i.id.to_string()))
    }

    /// Also finds one that is expired: compare `time_expires`.
    pub async fn password_reset_by_hash(
        &mut self,
        hash: &[u8],
    ) -> Result<Option<PasswordReset>, Error> {
        let row = self
            .query_one(
                "SELECT principal_id, secret_hash, created_by, time_created, time_expires FROM password_reset WHERE secret_hash = $1",
                params![hash],
            )
            .await?;
        row.as_ref().map(decode_reset).transpose()
    }
}

impl Tx<'_> {
    pub async fn invitation_insert(&mut self, invitation: &Invitation) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO invitation (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
            ),
            params![
                invitation.id,
                &invitation.secret_hash,
                scope_value(invitation.scope),
                invitation.role.label(),
                invitation.user_name.as_ref(),
                &invitation.email,
                invitation.created_by,
                invitation.time_created,
                invitation.time_expires,
                invitation.time_used,
                invitation.used_by,
                invitation.time_revoked
            ],
        )
        .await?;
        Ok(())
    }

    /// Uses the invitation up; false when it was used, revoked or expired before. Only one caller
    /// ever gets true.
    pub async fn invitation_consume(
        &mut self,
        id: InvitationId,
        by: PrincipalId,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE invitation SET time_used = $3, used_by = $2 WHERE id = $1 AND time_used IS NULL AND time_revoked IS NULL AND time_expires > $3",
                params![id, by, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// False when there is no such invitation, or it was used or revoked before.
    pub async fn invitation_revoke(
        &mut self,
        id: InvitationId,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE invitation SET time_revoked = $2 WHERE id = $1 AND time_used IS NULL AND time_revoked IS NULL",
                params![id, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// Returns how many went.
    pub async fn invitation_delete_before(&mut self, expired: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM invitation WHERE time_expires <= $1", params![expired]).await
    }

    /// Stores a reset, in place of the one that the principal had before.
    pub async fn password_reset_set(&mut self, reset: &PasswordReset) -> Result<(), Error> {
        self.execute(
            "INSERT INTO password_reset (principal_id, secret_hash, created_by, time_created, time_expires) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (principal_id) DO UPDATE SET secret_hash = excluded.secret_hash, created_by = excluded.created_by, time_created = excluded.time_created, time_expires = excluded.time_expires",
            params![
                reset.principal_id,
                &reset.secret_hash,
                reset.created_by,
                reset.time_created,
                reset.time_expires
            ],
        )
        .await?;
        Ok(())
    }

    /// Uses the reset up; false when it was used, replaced or expired before. Only one caller ever
    /// gets true.
    pub async fn password_reset_consume(
        &mut self,
        hash: &[u8],
        now: Timestamp,
    ) -> Result<bool, Error> {
        let gone = self
            .execute(
                "DELETE FROM password_reset WHERE secret_hash = $1 AND time_expires > $2",
                params![hash, now],
            )
            .await?;
        Ok(gone > 0)
    }

    /// False when there was none.
    pub async fn password_reset_delete(&mut self, principal: PrincipalId) -> Result<bool, Error> {
        let gone = self
            .execute("DELETE FROM password_reset WHERE principal_id = $1", params![principal])
            .await?;
        Ok(gone > 0)
    }

    /// Returns how many went.
    pub async fn password_reset_delete_expired(&mut self, now: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM password_reset WHERE time_expires <= $1", params![now]).await
    }
}
