//! Principals and the roles bound to them.

use hostler_model::{
    Generation, Limit, Name, Page, Principal, PrincipalId, Role, RoleBinding, RoleName, Scope,
};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "principal.id, principal.name, principal.kind, principal.password_hash, principal.is_disabled, principal.generation, principal.time_created, principal.time_modified"
    };
}

const PROBE: &str = "SELECT generation FROM principal WHERE id = $1";
pub(crate) const GLOBAL: &str = "global";

fn decode_from(columns: &mut Columns<'_>) -> Result<Principal, Error> {
    Ok(Principal {
        id: columns.parse()?,
        name: columns.parse()?,
        kind: columns.parse()?,
        password_hash: columns.opt_text()?,
        is_disabled: columns.flag()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn decode(row: &Row) -> Result<Principal, Error> {
    decode_from(&mut row.columns("principal"))
}

pub(crate) fn scope_value(scope: Scope) -> Value {
    match scope {
        Scope::Global => Value::from(GLOBAL),
        Scope::Project(id) => Value::from(id),
    }
}

fn decode_binding(columns: &mut Columns<'_>) -> Result<RoleBinding, Error> {
    let principal_id = columns.parse()?;
    let scope = decode_scope(columns)?;
    Ok(RoleBinding { principal_id, scope, role: columns.parse()? })
}

pub(crate) fn decode_scope(columns: &mut Columns<'_>) -> Result<Scope, Error> {
    let scope = columns.text()?;
    if scope == GLOBAL {
        return Ok(Scope::Global);
    }
    scope.parse().map(Scope::Project).map_err(|e| {
        Error::corrupt_by(
            format!("scope `{scope}` of a role binding"),
            std::sync::Arc::new(e) as crate::Cause,
        )
    })
}

impl Conn {
    pub async fn principal_get(&mut self, id: PrincipalId) -> Result<Option<Principal>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM principal WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn principal_by_name(&mut self, name: &Name) -> Result<Option<Principal>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM principal WHERE name = $1");
        let row = self.query_one(sql, params![name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By name.
    pub async fn principal_list(
        &mut self,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Principal>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM principal"))
            .and_some("principal.name >", after)
            .page("principal.name", limit);
        let rows = self.query(sql, params).await?;
        let principals = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(principals, limit, |p| p.name.to_string()))
    }

    pub async fn principal_count(&mut self) -> Result<u64, Error> {
        self.count("SELECT COUNT(*) FROM principal", Vec::new()).await
    }

    /// How many enabled principals are admin of the whole installation.
    pub async fn admin_count(&mut self) -> Result<u64, Error> {
        self.count(
            "SELECT COUNT(*) FROM role_binding JOIN principal ON principal.id = role_binding.principal_id WHERE role_binding.scope = $1 AND role_binding.role = $2 AND principal.is_disabled = FALSE",
            params![GLOBAL, Role::Admin.label()],
        )
        .await
    }

    pub async fn role_bindings_of(
        &mut self,
        principal: PrincipalId,
    ) -> Result<Vec<RoleBinding>, Error> {
        let rows = self
            .query(
                "SELECT principal_id, scope, role FROM role_binding WHERE principal_id = $1 ORDER BY scope",
                params![principal],
            )
            .await?;
        rows.iter().map(|row| decode_binding(&mut row.columns("role_binding"))).collect()
    }

    /// By name of the principal, then by scope; `None` lists the bindings of every scope.
    pub async fn role_binding_list(
        &mut self,
        scope: Option<Scope>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<(Principal, RoleBinding)>, Error> {
        let mut select = Select::new(concat!(
            "SELECT ",
            columns!(),
            ", role_binding.principal_id, role_binding.scope, role_binding.role FROM role_binding JOIN principal ON principal.id = role_binding.principal_id"
        ))
        .and_some("role_binding.scope =", scope.map(scope_value));
        if let Some(after) = after {
            let (name, scope) = after.split_once('/').unwrap_or((after, ""));
            select = select.and_pair("(principal.name, role_binding.scope) >", name, scope);
        }
        let (sql, params) = select.page("principal.name, role_binding.scope", limit);
        let rows = self.query(sql, params).await?;
        let found = rows
            .iter()
            .map(|row| {
                let mut columns = row.columns("role_binding");
                Ok((decode_from(&mut columns)?, decode_binding(&mut columns)?))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Page::from_rows(found, limit, |(principal, binding)| match binding.scope {
            Scope::Global => format!("{}/{GLOBAL}", principal.name),
            Scope::Project(id) => format!("{}/{id}", principal.name),
        }))
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken.
    pub async fn principal_insert(&mut self, principal: &Principal) -> Result<(), Error> {
        self.execute(
            "INSERT INTO principal (id, name, kind, password_hash, is_disabled, generation, time_created, time_modified) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            params![
                principal.id,
                &principal.name,
                principal.kind.label(),
                principal.password_hash.as_deref(),
                principal.is_disabled,
                principal.generation,
                principal.time_created,
                principal.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    pub async fn principal_update(
        &mut self,
        principal: &Principal,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE principal SET name = $3, kind = $4, password_hash = $5, is_disabled = $6, generation = $7, time_modified = $8 WHERE id = $1 AND generation = $2",
            params![
                principal.id,
                expected,
                &principal.name,
                principal.kind.label(),
                principal.password_hash.as_deref(),
                principal.is_disabled,
                expected.next(),
                principal.time_modified
            ],
            PROBE,
            principal.id,
        )
        .await
    }

    /// Deletes the principal with its bindings, tokens, sessions, second factor, idempotency keys and
    /// the invitations that it made.
    pub async fn principal_delete(
        &mut self,
        id: PrincipalId,
        expected: Generation,
    ) -> Result<Update, Error> {
        let Some(row) = self.query_one(PROBE, params![id]).await? else {
            return Ok(Update::Missing);
        };
        let current = row.columns("principal").generation()?;
        if current != expected {
            return Ok(Update::Stale { current });
        }
        for sql in [
            "DELETE FROM role_binding WHERE principal_id = $1",
            "DELETE FROM group_member WHERE principal_id = $1",
            "DELETE FROM token WHERE principal_id = $1",
            "DELETE FROM web_session WHERE principal_id = $1",
            "DELETE FROM invitation WHERE created_by = $1",
            "DELETE FROM password_reset WHERE principal_id = $1",
            "DELETE FROM user_identity WHERE principal_id = $1",
            "DELETE FROM recovery_code WHERE principal_id = $1",
            "DELETE FROM second_factor WHERE principal_id = $1",
            "DELETE FROM idempotency_key WHERE principal_id = $1",
            "DELETE FROM token_maker WHERE principal_id = $1",
            "DELETE FROM principal WHERE id = $1",
        ] {
            self.execute(sql, params![id]).await?;
        }
        Ok(Update::Updated)
    }

    /// Binds a role in a scope, in place of the one bound there before.
    pub async fn role_binding_set(
        &mut self,
        principal: PrincipalId,
        scope: Scope,
        role: impl Into<RoleName>,
    ) -> Result<(), Error> {
        let role = role.into();
        self.execute(
            "INSERT INTO role_binding (principal_id, scope, role) VALUES ($1, $2, $3) ON CONFLICT (principal_id, scope) DO UPDATE SET role = excluded.role",
            vec![principal.into(), scope_value(scope), role.as_str().into()],
        )
        .await?;
        Ok(())
    }

    /// False when there was none.
    pub async fn role_binding_remove(
        &mut self,
        principal: PrincipalId,
        scope: Scope,
    ) -> Result<bool, Error> {
        let gone = self
            .execute(
                "DELETE FROM role_binding WHERE principal_id = $1 AND scope = $2",
                vec![principal.into(), scope_value(scope)],
            )
            .await?;
        Ok(gone > 0)
    }
}
