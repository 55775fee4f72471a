//! Resources of stacks. They have no generation of their own: whoever writes one has written its stack in the same
//! transaction, from the generation that was read.
//!
//! What is being done to a resource is a document, and what is looked for in it stands in columns as well; the lease of who
//! does it counts as it stands there. What is
//! sealed is by far the most of a row, and seldom asked for: a resource that was read without it is written without it.

use hostler_model::stack::{Deed, ResourceStanding, StackResource};
use hostler_model::{StackId, StackResourceId, Timestamp};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx};

/// Characters of what objects are called in the world by which they are found.
const PHYSICAL_INDEXED: usize = 200;

macro_rules! columns {
    () => {
        "id, stack_id, name, kind, action, status, reason, physical, definition_id, traversal, requires, replaces, replaced_by, deletion_policy, deed, deed_time_lease, deeds, hooks, time_created, time_modified"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), ", sealed FROM stack_resource");
const SELECT_BARE: &str = concat!("SELECT ", columns!(), " FROM stack_resource");

/// The lease may have been renewed since the rest was written.
fn decode_deed(columns: &mut Columns<'_>) -> Result<Option<Deed>, Error> {
    let mut deed: Option<Deed> = columns.opt_json()?;
    let lease = columns.opt_time()?;
    let owner = deed.as_mut().and_then(|deed| deed.owner.as_mut());
    if let Some((owner, time_lease)) = owner.zip(lease) {
        owner.time_lease = time_lease;
    }
    Ok(deed)
}

fn decode_columns(columns: &mut Columns<'_>) -> Result<StackResource, Error> {
    Ok(StackResource {
        id: columns.parse()?,
        stack_id: columns.parse()?,
        name: columns.text()?,
        kind: columns.text()?,
        standing: ResourceStanding {
            action: columns.parse()?,
            status: columns.parse()?,
            reason: columns.text()?,
        },
        physical: columns.opt_text()?,
        definition: columns.opt_parse()?,
        traversal: columns.generation()?,
        requires: columns.json()?,
        replaces: columns.opt_parse()?,
        replaced_by: columns.opt_parse()?,
        deletion_policy: columns.parse()?,
        deed: decode_deed(columns)?,
        deeds: columns.small()?,
        hooks: columns.json()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        sealed: Vec::new(),
    })
}

fn decode_bare(row: &Row) -> Result<StackResource, Error> {
    decode_columns(&mut row.columns("stack_resource"))
}

fn decode(row: &Row) -> Result<StackResource, Error> {
    let mut columns = row.columns("stack_resource");
    let resource = decode_columns(&mut columns)?;
    Ok(StackResource { sealed: columns.blob()?, ..resource })
}

/// When somebody has to look at what is being done: at its own time, or when the lease of who does it ends.
fn due(deed: &Deed) -> Option<Timestamp> {
    deed.time_due.into_iter().chain(deed.owner.map(|owner| owner.time_lease)).min()
}

fn row_of(resource: &StackResource) -> Vec<Value> {
    let deed = resource.deed.as_ref();
    let owner = deed.and_then(|deed| deed.owner);
    params![
        resource.id,
        resource.stack_id,
        &resource.name,
        &resource.kind,
        resource.standing.action.label(),
        resource.standing.status.label(),
        &resource.standing.reason,
        resource.physical.as_deref(),
        resource.definition,
        resource.traversal,
        Value::json(&resource.requires),
        resource.replaces,
        resource.replaced_by,
        resource.deletion_policy.label(),
        Value::json_opt(deed),
        owner.map(|owner| owner.time_lease),
        resource.deeds,
        Value::json(&resource.hooks),
        resource.time_created,
        resource.time_modified,
        deed.and_then(|deed| deed.definition),
        owner.map(|owner| owner.server_id),
        deed.and_then(|deed| deed.time_due),
        deed.and_then(due),
        &resource.sealed
    ]
}

impl Conn {
    pub async fn stack_resource_get(
        &mut self,
        id: StackResourceId,
    ) -> Result<Option<StackResource>, Error> {
        let (sql, params) = Select::new(SELECT).and_value("id =", id).unordered();
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    /// Those of these that are there, with what is sealed; in no order.
    pub async fn stack_resource_get_batch(
        &mut self,
        ids: &[StackResourceId],
    ) -> Result<Vec<StackResource>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let select = Select::new(SELECT).and_in("id", chunk.iter().copied());
            let (sql, params) = select.unordered();
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    /// All rows of a stack, by name, the oldest of a name first.
    pub async fn stack_resources(&mut self, stack: StackId) -> Result<Vec<StackResource>, Error> {
        let sql = format!("{SELECT} WHERE stack_id = $1 ORDER BY name, id");
        self.query(sql, params![stack]).await?.iter().map(decode).collect()
    }

    /// The same, without what is sealed.
    pub async fn stack_resources_bare(
        &mut self,
        stack: StackId,
    ) -> Result<Vec<StackResource>, Error> {
        let sql = format!("{SELECT_BARE} WHERE stack_id = $1 ORDER BY name, id");
        self.query(sql, params![stack]).await?.iter().map(decode_bare).collect()
    }

    /// All rows of a name, the oldest first.
    pub async fn stack_resources_named(
        &mut self,
        stack: StackId,
        name: &str,
    ) -> Result<Vec<StackResource>, Error> {
        let sql = format!("{SELECT} WHERE stack_id = $1 AND name = $2 ORDER BY id");
        self.query(sql, params![stack, name]).await?.iter().map(decode).collect()
    }

    /// What is that object in the world, in whichever stack or in this one; the oldest first. SQLite would put what is
    /// looked for into the expression of the index, and not see that it is one: the column is hidden.
    pub async fn stack_resources_physical(
        &mut self,
        stack: Option<StackId>,
        physical: &str,
    ) -> Result<Vec<StackResource>, Error> {
        let begin: String = physical.chars().take(PHYSICAL_INDEXED).collect();
        let table = self.by_index("stack_resource", "stack_resource_physical");
        let select = Select::new(&format!("SELECT {}, sealed FROM {table}", columns!()))
            .and_value("SUBSTR(physical, 1, 200) =", begin.as_str())
            .and_value("COALESCE(physical, '') =", physical)
            .and("physical IS NOT NULL")
            .and_some("stack_id =", stack);
        let (sql, params) = select.first("id", u64::from(u32::MAX));
        self.query(sql, params).await?.iter().map(decode).collect()
    }

    /// What is an object in the world whose name begins so, in whichever stack, with what is sealed; the oldest first.
    /// `begin` is of letters and dashes, what follows of digits and of letters up to `f`.
    pub async fn stack_resources_physical_begin(
        &mut self,
        begin: &str,
    ) -> Result<Vec<StackResource>, Error> {
        let (table, end) =
            (self.by_index("stack_resource", "stack_resource_physical"), format!("{begin}g"));
        let select = Select::new(&format!("SELECT {}, sealed FROM {table}", columns!()))
            .and_value("SUBSTR(physical, 1, 200) >=", begin)
            .and_value("SUBSTR(physical, 1, 200) <", &end)
            .and("physical IS NOT NULL");
        let (sql, params) = select.first("id", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        let mut found = rows.iter().map(decode).collect::<Result<Vec<_>, Error>>()?;
        found.retain(|row| row.physical.as_ref().is_some_and(|it| it.starts_with(begin)));
        Ok(found)
    }

    /// How many resources every stack at or below one at the top has, those left out that something takes the place of;
    /// and stacks without any.
    pub async fn stack_resource_counts(
        &mut self,
        root: StackId,
    ) -> Result<Vec<(StackId, u64)>, Error> {
        let sql = "SELECT stack_resource.stack_id, COUNT(*) FROM stack JOIN stack_resource ON stack_resource.stack_id = stack.id WHERE stack.root_id = $1 AND stack_resource.replaced_by IS NULL GROUP BY stack_resource.stack_id ORDER BY stack_resource.stack_id";
        let rows = self.query(sql, params![root]).await?;
        let each = rows.iter().map(|row| {
            let mut columns = row.columns("stack_resource");
            Ok((columns.parse()?, columns.number()?))
        });
        each.collect()
    }
}

impl Tx<'_> {
    /// Writes resources, known or new, each once. Nothing sealed means that it stays as it is.
    pub(crate) async fn stack_resource_save_batch(
        &mut self,
        resources: &[StackResource],
    ) -> Result<(), Error> {
        self.insert_many_or(
            concat!("INSERT INTO stack_resource (", columns!(), ", deed_definition, deed_owner, deed_time_due, time_due, sealed)"),
            resources.iter().map(row_of).collect(),
            "ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, action = excluded.action, status = excluded.status, reason = excluded.reason, physical = excluded.physical, definition_id = excluded.definition_id, traversal = excluded.traversal, requires = excluded.requires, replaces = excluded.replaces, replaced_by = excluded.replaced_by, deletion_policy = excluded.deletion_policy, deed = excluded.deed, deed_definition = excluded.deed_definition, deed_owner = excluded.deed_owner, deed_time_lease = excluded.deed_time_lease, deed_time_due = excluded.deed_time_due, deeds = excluded.deeds, hooks = excluded.hooks, time_modified = excluded.time_modified, time_due = excluded.time_due, sealed = CASE WHEN LENGTH(excluded.sealed) = 0 THEN stack_resource.sealed ELSE excluded.sealed END",
        )
        .await?;
        Ok(())
    }

    /// The stack is hidden from the planner, which would look at all that it has.
    pub(crate) async fn stack_resource_delete_batch(
        &mut self,
        stack: StackId,
        ids: &[StackResourceId],
    ) -> Result<(), Error> {
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new("DELETE FROM stack_resource")
                .and_in("id", chunk.iter().copied())
                .and_value("COALESCE(stack_id, '') =", stack)
                .unordered();
            self.execute(sql, params).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hostler_model::stack::{DeedKind, DeedOwner};
    use hostler_model::{Generation, ServerId};

    use super::*;

    #[test]
    fn a_deed_is_due_at_the_first_of_its_times() {
        let time = Timestamp::from_micros;
        let server_id: ServerId = "00000000-0000-0000-0000-000000000001".parse().unwrap();
        for (own, lease, meant) in [
            (None, None, None),
            (Some(5), None, Some(5)),
            (None, Some(6), Some(6)),
            (Some(5), Some(6), Some(5)),
            (Some(7), Some(6), Some(6)),
        ] {
            let deed = Deed {
                kind: DeedKind::Create,
                definition: None,
                traversal: Generation::FIRST,
                owner: lease.map(|lease| DeedOwner { server_id, time_lease: time(lease) }),
                is_idle: false,
                time_due: own.map(time),
                time_begun: time(0),
            };
            assert_eq!(due(&deed), meant.map(time));
        }
    }
}
