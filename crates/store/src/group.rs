//! Groups of principals, and the roles bound to them.

use hostler_model::{
    Generation, Group, GroupId, Limit, Name, Page, PrincipalId, RoleName, Scope, Timestamp,
};

use crate::principal::{decode_scope, scope_value};
use crate::select::Select;
use crate::value::{Row, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, name, description, generation, time_created, time_modified"
    };
}

const PROBE: &str = "SELECT generation FROM principal_group WHERE id = $1";

fn decode(row: &Row) -> Result<Group, Error> {
    let mut columns = row.columns("principal_group");
    Ok(Group {
        id: columns.parse()?,
        name: columns.parse()?,
        description: columns.text()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

impl Conn {
    pub async fn group_get(&mut self, id: GroupId) -> Result<Option<Group>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM principal_group WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn group_by_name(&mut self, name: &Name) -> Result<Option<Group>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM principal_group WHERE name = $1");
        let row = self.query_one(sql, params![name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By name.
    pub async fn group_list(
        &mut self,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Group>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM principal_group"))
            .and_some("name >", after)
            .page("name", limit);
        let rows = self.query(sql, params).await?;
        let groups = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(groups, limit, |group| group.name.to_string()))
    }

    /// Names of those who are in it, in their order.
    pub async fn group_members(&mut self, group: GroupId) -> Result<Vec<Name>, Error> {
        let rows = self
            .query(
                "SELECT principal.name FROM group_member JOIN principal ON principal.id = group_member.principal_id WHERE group_member.group_id = $1 ORDER BY principal.name",
                params![group],
            )
            .await?;
        rows.iter().map(|row| row.columns("group_member").parse()).collect()
    }

    /// The roles bound to it.
    pub async fn group_bindings(
        &mut self,
        group: GroupId,
    ) -> Result<Vec<(Scope, RoleName)>, Error> {
        let rows = self
            .query(
                "SELECT scope, role FROM group_binding WHERE group_id = $1 ORDER BY scope",
                params![group],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("group_binding");
                Ok((decode_scope(&mut columns)?, columns.parse()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken.
    pub async fn group_insert(&mut self, group: &Group) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO principal_group (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6)"
            ),
            params![
                group.id,
                &group.name,
                &group.description,
                group.generation,
                group.time_created,
                group.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    pub async fn group_update(
        &mut self,
        group: &Group,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE principal_group SET description = $3, generation = $4, time_modified = $5 WHERE id = $1 AND generation = $2",
            params![
                group.id,
                expected,
                &group.description,
                expected.next(),
                group.time_modified
            ],
            PROBE,
            group.id,
        )
        .await
    }

    /// Notes that members or bindings are others than before. False when there is no such group.
    pub async fn group_touch(&mut self, group: GroupId, now: Timestamp) -> Result<bool, Error> {
        let rows = self
            .execute(
                "UPDATE principal_group SET generation = generation + 1, time_modified = $2 WHERE id = $1",
                params![group, now],
            )
            .await?;
        Ok(rows > 0)
    }

    /// Deletes the group with its members and bindings.
    pub async fn group_delete(
        &mut self,
        group: GroupId,
        expected: Generation,
    ) -> Result<Update, Error> {
        let Some(row) = self.query_one(PROBE, params![group]).await? else {
            return Ok(Update::Missing);
        };
        let current = row.columns("principal_group").generation()?;
        if current != expected {
            return Ok(Update::Stale { current });
        }
        for sql in [
            "DELETE FROM group_member WHERE group_id = $1",
            "DELETE FROM group_binding WHERE group_id = $1",
            "DELETE FROM principal_group WHERE id = $1",
        ] {
            self.execute(sql, params![group]).await?;
        }
        Ok(Update::Updated)
    }

    /// False when it was in it already.
    pub async fn group_member_add(
        &mut self,
        group: GroupId,
        principal: PrincipalId,
    ) -> Result<bool, Error> {
        let rows = self
            .execute(
                "INSERT INTO group_member (group_id, principal_id) VALUES ($1, $2) ON CONFLICT (group_id, principal_id) DO NOTHING",
                params![group, principal],
            )
            .await?;
        Ok(rows > 0)
    }

    /// False when it was not in it.
    pub async fn group_member_remove(
        &mut self,
        group: GroupId,
        principal: PrincipalId,
    ) -> Result<bool, Error> {
        let rows = self
            .execute(
                "DELETE FROM group_member WHERE group_id = $1 AND principal_id = $2",
                params![group, principal],
            )
            .await?;
        Ok(rows > 0)
    }

    /// Binds a role in a scope, in place of the one bound there before.
    pub async fn group_binding_set(
        &mut self,
        group: GroupId,
        scope: Scope,
        role: &RoleName,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO group_binding (group_id, scope, role) VALUES ($1, $2, $3) ON CONFLICT (group_id, scope) DO UPDATE SET role = excluded.role",
            vec![group.into(), scope_value(scope), role.as_str().into()],
        )
        .await?;
        Ok(())
    }

    /// False when there was none.
    pub async fn group_binding_remove(
        &mut self,
        group: GroupId,
        scope: Scope,
    ) -> Result<bool, Error> {
        let rows = self
            .execute(
                "DELETE FROM group_binding WHERE group_id = $1 AND scope = $2",
                vec![group.into(), scope_value(scope)],
            )
            .await?;
        Ok(rows > 0)
    }
}
