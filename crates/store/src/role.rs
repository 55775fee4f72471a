//! Custom roles, and what principals hold: their own bindings and those of their groups.

use std::str::FromStr as _;

use hostler_model::{
    CustomRole, Generation, Grant, Limit, Name, Page, PermissionSet, PrincipalId, RoleName, Scope,
    Subject,
};

use crate::principal::{decode_scope, scope_value};
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, name, description, permissions, generation, time_created, time_modified"
    };
}

const PROBE: &str = "SELECT generation FROM custom_role WHERE id = $1";

fn decode(row: &Row) -> Result<CustomRole, Error> {
    let mut columns = row.columns("custom_role");
    Ok(CustomRole {
        id: columns.parse()?,
        name: columns.parse()?,
        description: columns.text()?,
        permissions: columns.json()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

/// Somebody with a role in a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub subject: Subject,
    /// Of the principal or of the group.
    pub id: String,
    pub role: RoleName,
}

impl Conn {
    pub async fn custom_role_by_name(&mut self, name: &Name) -> Result<Option<CustomRole>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM custom_role WHERE name = $1");
        let row = self.query_one(sql, params![name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By name.
    pub async fn custom_role_list(
        &mut self,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<CustomRole>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM custom_role"))
            .and_some("name >", after)
            .page("name", limit);
        let rows = self.query(sql, params).await?;
        let roles = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(roles, limit, |role| role.name.to_string()))
    }

    /// What a role allows; `None` where there is no such role.
    pub async fn role_permissions(
        &mut self,
        role: &RoleName,
    ) -> Result<Option<PermissionSet>, Error> {
        match role {
            RoleName::BuiltIn(role) => Ok(Some(role.permissions())),
            RoleName::Custom(name) => {
                Ok(self.custom_role_by_name(name).await?.map(|role| role.permissions))
            }
        }
    }

    /// Who holds a role, and where; users before groups.
    pub async fn role_holders(&mut self, role: &RoleName) -> Result<Vec<(Subject, Scope)>, Error> {
        let users = self
            .query(
                "SELECT principal.name, role_binding.scope FROM role_binding JOIN principal ON principal.id = role_binding.principal_id WHERE role_binding.role = $1 ORDER BY principal.name, role_binding.scope",
                params![role.as_str()],
            )
            .await?;
        let groups = self
            .query(
                "SELECT principal_group.name, group_binding.scope FROM group_binding JOIN principal_group ON principal_group.id = group_binding.group_id WHERE group_binding.role = $1 ORDER BY principal_group.name, group_binding.scope",
                params![role.as_str()],
            )
            .await?;
        let read = |row: &Row, subject: fn(Name) -> Subject| {
            let mut columns = row.columns("role_binding");
            Ok((subject(columns.parse()?), decode_scope(&mut columns)?))
        };
        let users = users.iter().map(|row| read(row, Subject::User));
        users.chain(groups.iter().map(|row| read(row, Subject::Group))).collect()
    }

    /// Everything that a principal holds, by itself and through its groups. A role that is not there
    /// gives nothing.
    pub async fn grants_of(&mut self, principal: PrincipalId) -> Result<Vec<Grant>, Error> {
        let rows = self
            .query(
                "SELECT bound.scope, bound.role, bound.via, custom_role.permissions FROM (SELECT scope, role, '' AS via FROM role_binding WHERE principal_id = $1 UNION ALL SELECT group_binding.scope, group_binding.role, principal_group.name FROM group_member JOIN group_binding ON group_binding.group_id = group_member.group_id JOIN principal_group ON principal_group.id = group_member.group_id WHERE group_member.principal_id = $1) AS bound LEFT JOIN custom_role ON custom_role.name = bound.role",
                params![principal],
            )
            .await?;
        let mut grants = rows.iter().map(decode_grant).collect::<Result<Vec<_>, _>>()?;
        grants.sort_by(|a, b| (&a.group, a.scope).cmp(&(&b.group, b.scope)));
        Ok(grants)
    }

    /// Who holds a role in a scope: users, and groups as `group:NAME`, by that text.
    pub async fn member_list(
        &mut self,
        scope: Scope,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Member>, Error> {
        let (sql, params) = Select::new("SELECT member.subject, member.id, member.role FROM (SELECT principal.name AS subject, principal.id AS id, role_binding.role AS role, role_binding.scope AS scope FROM role_binding JOIN principal ON principal.id = role_binding.principal_id UNION ALL SELECT 'group:' || principal_group.name, principal_group.id, group_binding.role, group_binding.scope FROM group_binding JOIN principal_group ON principal_group.id = group_binding.group_id) AS member")
            .and_value("member.scope =", scope_value(scope))
            .and_some("member.subject >", after)
            .page("member.subject", limit);
        let rows = self.query(sql, params).await?;
        let members = rows
            .iter()
            .map(|row| {
                let mut columns = row.columns("role_binding");
                Ok(Member {
                    subject: columns.parse()?,
                    id: columns.text()?,
                    role: columns.parse()?,
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(Page::from_rows(members, limit, |member| member.subject.to_string()))
    }

    /// The role that a principal itself holds in a scope.
    pub async fn role_binding_get(
        &mut self,
        principal: PrincipalId,
        scope: Scope,
    ) -> Result<Option<RoleName>, Error> {
        let row = self
            .query_one(
                "SELECT role FROM role_binding WHERE principal_id = $1 AND scope = $2",
                vec![principal.into(), scope_value(scope)],
            )
            .await?;
        row.map(|row| row.columns("role_binding").parse()).transpose()
    }
}

fn decode_grant(row: &Row) -> Result<Grant, Error> {
    let mut columns = row.columns("role_binding");
    let scope = decode_scope(&mut columns)?;
    let role: RoleName = columns.parse()?;
    let via = columns.text()?;
    let custom: Option<PermissionSet> = columns.opt_json()?;
    let permissions = match &role {
        RoleName::BuiltIn(role) => role.permissions(),
        RoleName::Custom(_) => custom.unwrap_or_default(),
    };
    Ok(Grant { scope, role, permissions, group: Name::from_str(&via).ok() })
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken.
    pub async fn custom_role_insert(&mut self, role: &CustomRole) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO custom_role (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
            ),
            params![
                role.id,
                &role.name,
                &role.description,
                Value::json(&role.permissions),
                role.generation,
                role.time_created,
                role.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    /// The name stays: bindings know the role by it.
    pub async fn custom_role_update(
        &mut self,
        role: &CustomRole,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE custom_role SET description = $3, permissions = $4, generation = $5, time_modified = $6 WHERE id = $1 AND generation = $2",
            params![
                role.id,
                expected,
                &role.description,
                Value::json(&role.permissions),
                expected.next(),
                role.time_modified
            ],
            PROBE,
            role.id,
        )
        .await
    }

    /// Who holds it is for the caller to ask, in the same transaction.
    pub async fn custom_role_delete(
        &mut self,
        role: &CustomRole,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "DELETE FROM custom_role WHERE id = $1 AND generation = $2",
            params![role.id, expected],
            PROBE,
            role.id,
        )
        .await
    }
}
