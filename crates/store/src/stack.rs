//! Stacks, and which of them somebody has to look at.
//!
//! A stack is changed only from the generation that was read, and so is everything of it that has no generation of its
//! own: [`Tx::stack_save`] writes the stack, its resources and its events in one go, or nothing. Its key is written once,
//! and then only sealed anew. Tags stand in a column of their own as well, each between two line ends, where they can be
//! looked for.

use hostler_model::stack::{Stack, StackEvent, StackParent, StackResource};
use hostler_model::{
    Envelope, Generation, KeyId, Mandate, PermissionSet, ProjectId, ServerId, StackId,
    StackResourceId, Timestamp,
};

use crate::sealed_key::SealedKey;
use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, project_id, name, description, parent_stack_id, parent_resource_id, root_id, depth, action, status, reason, traversal, wanted, settled, options, revision, key_sealed, wrapped_key, key_id, mandate_principal, mandate_can, generation, time_created, time_updated, time_deleted, time_begun, failure, time_deadline, time_due"
    };
}
pub(crate) use columns as stack_columns;

const PROBE: &str = "SELECT generation FROM stack WHERE id = $1";

/// What is written of a stack together.
#[derive(Clone, Copy, Debug)]
pub struct StackChange<'a> {
    pub stack: &'a Stack,
    /// Resources that are new or changed, as they are to be, each once.
    pub resources: &'a [StackResource],
    /// Resources that are not there any more.
    pub gone: &'a [StackResourceId],
    /// What happened, in its order.
    pub events: &'a [StackEvent],
}

impl<'a> StackChange<'a> {
    /// Of the stack alone.
    pub const fn of(stack: &'a Stack) -> StackChange<'a> {
        StackChange { stack, resources: &[], gone: &[], events: &[] }
    }
}

fn decode_parent(columns: &mut Columns<'_>) -> Result<Option<StackParent>, Error> {
    let (stack, resource) = (columns.opt_parse()?, columns.opt_parse()?);
    Ok(stack.zip(resource).map(|(stack_id, resource_id)| StackParent { stack_id, resource_id }))
}

pub(crate) fn decode(row: &Row) -> Result<Stack, Error> {
    let mut columns = row.columns("stack");
    Ok(Stack {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        description: columns.text()?,
        parent: decode_parent(&mut columns)?,
        root_id: columns.parse()?,
        depth: columns.small()?,
        standing: hostler_model::stack::StackStanding {
            action: columns.parse()?,
            status: columns.parse()?,
            reason: columns.text()?,
        },
        traversal: columns.generation()?,
        wanted: columns.opt_parse()?,
        settled: columns.opt_parse()?,
        options: columns.json()?,
        revision: columns.small()?,
        key: Envelope {
            sealed: columns.blob()?,
            wrapped_key: columns.blob()?,
            key_id: columns.parse()?,
        },
        mandate: Mandate { principal: columns.parse()?, can: columns.opt_json::<PermissionSet>()? },
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_updated: columns.opt_time()?,
        time_deleted: columns.opt_time()?,
        time_begun: columns.time()?,
        failure: columns.opt_json()?,
        time_deadline: columns.opt_time()?,
        time_due: columns.opt_time()?,
    })
}

/// As it is looked for in the column of tags.
pub(crate) fn tag_text(tag: &str) -> String {
    format!("\n{tag}\n")
}

fn tags_text(stack: &Stack) -> String {
    match stack.options.tags.is_empty() {
        true => String::new(),
        false => tag_text(&stack.options.tags.join("\n")),
    }
}

/// When a row of some table is due, and whose it is.
fn due(row: &Row) -> Result<(Timestamp, StackId), Error> {
    let mut columns = row.columns("stack");
    Ok((columns.time()?, columns.parse()?))
}

impl Conn {
    pub async fn stack_get(&mut self, id: StackId) -> Result<Option<Stack>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM stack WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// The one of that name that is not a resource of another, and is not deleted.
    pub async fn stack_by_name(
        &mut self,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<Stack>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM stack WHERE project_id = $1 AND name = $2 AND time_deleted IS NULL AND parent_stack_id IS NULL"
        );
        self.query_one(sql, params![project, name]).await?.as_ref().map(decode).transpose()
    }

    /// Stacks that are resources of this one, oldest first; not those that were deleted.
    pub async fn stack_children(&mut self, id: StackId) -> Result<Vec<Stack>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM stack WHERE parent_stack_id = $1 AND time_deleted IS NULL ORDER BY id"
        );
        self.query(sql, params![id]).await?.iter().map(decode).collect()
    }

    /// Every stack below one at the top, however deep; those further up first, not those that were deleted.
    pub async fn stack_below(&mut self, root: StackId) -> Result<Vec<Stack>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM stack WHERE root_id = $1 AND id <> $1 AND time_deleted IS NULL ORDER BY depth, id"
        );
        self.query(sql, params![root]).await?.iter().map(decode).collect()
    }

    /// Stacks whose time has come, or one of whose deeds somebody has to look at; the longest due first.
    pub async fn stack_wanting(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<StackId>, Error> {
        let sql =
            "SELECT time_due, id FROM stack WHERE time_due <= $1 ORDER BY time_due, id LIMIT $2";
        let mut rows = self.query(sql, params![now, limit]).await?;
        let table = self.by_index("stack_resource", "stack_resource_due");
        let sql = format!(
            "SELECT MIN(time_due), stack_id FROM {table} WHERE time_due <= $1 GROUP BY stack_id ORDER BY MIN(time_due), stack_id LIMIT $2"
        );
        rows.extend(self.query(sql, params![now, limit]).await?);
        let mut found = rows.iter().map(due).collect::<Result<Vec<_>, _>>()?;
        found.sort_unstable();
        let mut ids: Vec<StackId> = Vec::with_capacity(found.len());
        let mut known = std::collections::HashSet::with_capacity(found.len());
        ids.extend(found.into_iter().map(|(_, id)| id).filter(|id| known.insert(*id)));
        ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(ids)
    }

    /// When the next one wants somebody to look.
    pub async fn stack_next_due(&mut self) -> Result<Option<Timestamp>, Error> {
        let mut first = None;
        for sql in [
            "SELECT time_due FROM stack WHERE time_due IS NOT NULL ORDER BY time_due LIMIT 1",
            "SELECT time_due FROM stack_resource WHERE time_due IS NOT NULL ORDER BY time_due LIMIT 1",
        ] {
            if let Some(row) = self.query_one(sql, Vec::new()).await? {
                let time = row.columns("stack").time()?;
                first = Some(first.map_or(time, |first: Timestamp| first.min(time)));
            }
        }
        Ok(first)
    }

    /// Under which master keys there are keys of stacks, and how many.
    pub async fn stack_keys(&mut self) -> Result<Vec<(KeyId, u64)>, Error> {
        self.sealed_keys("stack").await
    }

    /// Keys that are sealed with another master key than this one, of the stacks after one.
    pub async fn stack_keys_but(
        &mut self,
        key_id: KeyId,
        after: Option<StackId>,
        limit: u32,
    ) -> Result<Vec<SealedKey<StackId>>, Error> {
        self.sealed_keys_but("stack", key_id, after, limit).await
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken.
    pub async fn stack_insert(&mut self, stack: &Stack) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO stack (",
                columns!(),
                ", tags, event_last, event_gone) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, 0, 0)"
            ),
            params![
                stack.id,
                stack.project_id,
                stack.name.as_str(),
                &stack.description,
                stack.parent.map(|parent| parent.stack_id),
                stack.parent.map(|parent| parent.resource_id),
                stack.root_id,
                stack.depth,
                stack.standing.action.label(),
                stack.standing.status.label(),
                &stack.standing.reason,
                stack.traversal,
                stack.wanted,
                stack.settled,
                Value::json(&stack.options),
                stack.revision,
                &stack.key.sealed,
                &stack.key.wrapped_key,
                stack.key.key_id,
                stack.mandate.principal,
                Value::json_opt(stack.mandate.can.as_ref()),
                stack.generation,
                stack.time_created,
                stack.time_updated,
                stack.time_deleted,
                stack.time_begun,
                Value::json_opt(stack.failure.as_ref()),
                stack.time_deadline,
                stack.time_due,
                &tags_text(stack)
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes what can change, with the generation after `expected`: everything but whose it is, its name, its key, and
    /// when it was created.
    pub async fn stack_update(
        &mut self,
        stack: &Stack,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE stack SET generation = $3, description = $4, action = $5, status = $6, reason = $7, traversal = $8, wanted = $9, settled = $10, options = $11, tags = $12, revision = $13, mandate_principal = $14, mandate_can = $15, time_updated = $16, time_deleted = $17, time_begun = $18, time_deadline = $19, time_due = $20, failure = $21 WHERE id = $1 AND generation = $2",
            params![
                stack.id,
                expected,
                expected.next(),
                &stack.description,
                stack.standing.action.label(),
                stack.standing.status.label(),
                &stack.standing.reason,
                stack.traversal,
                stack.wanted,
                stack.settled,
                Value::json(&stack.options),
                &tags_text(stack),
                stack.revision,
                stack.mandate.principal,
                Value::json_opt(stack.mandate.can.as_ref()),
                stack.time_updated,
                stack.time_deleted,
                stack.time_begun,
                stack.time_deadline,
                stack.time_due,
                Value::json_opt(stack.failure.as_ref())
            ],
            PROBE,
            stack.id,
        )
        .await
    }

    /// Writes the stack as `stack_update` does, and where that was done, what changed of its resources and what
    /// happened.
    pub async fn stack_save(
        &mut self,
        change: StackChange<'_>,
        expected: Generation,
    ) -> Result<Update, Error> {
        let update = self.stack_update(change.stack, expected).await?;
        if update.is_updated() {
            self.stack_resource_save_batch(change.resources).await?;
            self.stack_resource_delete_batch(change.stack.id, change.gone).await?;
            self.stack_event_insert_batch(change.events).await?;
        }
        Ok(update)
    }

    /// The server goes on with all deeds of the stack that it has in hand, until this time. Moves the generation on,
    /// as every write does.
    pub async fn stack_deeds_renew(
        &mut self,
        id: StackId,
        expected: Generation,
        server: ServerId,
        until: Timestamp,
    ) -> Result<Update, Error> {
        let update = self
            .conditional(
                "UPDATE stack SET generation = $3 WHERE id = $1 AND generation = $2",
                params![id, expected, expected.next()],
                PROBE,
                id,
            )
            .await?;
        if update.is_updated() {
            self.execute(
                "UPDATE stack_resource SET deed_time_lease = $3, time_due = CASE WHEN deed_time_due < $3 THEN deed_time_due ELSE $3 END WHERE stack_id = $1 AND deed_owner = $2",
                params![id, server, until],
            )
            .await?;
        }
        Ok(update)
    }

    /// Everything that other servers have in hand is due now: for a server that is known to be the only one. Says how
    /// much that was.
    pub async fn stack_deeds_inherit(
        &mut self,
        server: ServerId,
        now: Timestamp,
    ) -> Result<u64, Error> {
        self.execute(
            "UPDATE stack_resource SET deed_time_lease = $2, time_due = $2 WHERE time_due IS NOT NULL AND deed_owner IS NOT NULL AND deed_owner <> $1 AND deed_time_lease > $2",
            params![server, now],
        )
        .await
    }

    /// Puts the same key, sealed with another master key, in the place of what was read; false when that is not
    /// there any more.
    pub async fn stack_key_replace(
        &mut self,
        before: &SealedKey<StackId>,
        wrapped_key: &[u8],
        key_id: KeyId,
    ) -> Result<bool, Error> {
        self.sealed_key_replace("stack", before, wrapped_key, key_id).await
    }

    /// Forgets stacks that were deleted before this time, with everything that was theirs; the longest ago first.
    /// Says how many.
    pub async fn stack_delete_old(&mut self, before: Timestamp, limit: u32) -> Result<u64, Error> {
        let (sql, params) = Select::new("SELECT id FROM stack")
            .and_value("time_deleted <", before)
            .first("time_deleted, id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        for row in &rows {
            let id: StackId = row.columns("stack").parse()?;
            for sql in [
                "DELETE FROM stack_dependency WHERE stack_id = $1",
                "DELETE FROM stack_drift WHERE stack_id = $1",
                "DELETE FROM stack_plan WHERE stack_id = $1",
                "DELETE FROM stack_snapshot WHERE stack_id = $1",
                "DELETE FROM stack_revision WHERE stack_id = $1",
                "DELETE FROM stack_event WHERE stack_id = $1",
                "DELETE FROM stack_resource WHERE stack_id = $1",
                "DELETE FROM stack_plugin_use WHERE stack_id = $1",
                "DELETE FROM stack_definition WHERE stack_id = $1",
                "DELETE FROM stack WHERE id = $1",
            ] {
                self.execute(sql, params![id]).await?;
            }
        }
        Ok(rows.len() as u64)
    }

    /// What is left of a project that is gone: what was of its stacks, and configuration of software.
    pub(crate) async fn stack_forget_project(&mut self, project: ProjectId) -> Result<(), Error> {
        for table in [
            "stack_drift",
            "stack_snapshot",
            "stack_revision",
            "stack_event",
            "stack_resource",
            "stack_definition",
        ] {
            let sql = format!(
                "DELETE FROM {table} WHERE stack_id IN (SELECT id FROM stack WHERE project_id = $1)"
            );
            self.execute(sql, params![project]).await?;
        }
        for table in
            ["stack_dependency", "stack_plan", "stack", "software_deployment", "software_config"]
        {
            let sql = format!("DELETE FROM {table} WHERE project_id = $1");
            self.execute(sql, params![project]).await?;
        }
        Ok(())
    }
}
