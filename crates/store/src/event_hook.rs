//! Event hooks, how far events were looked at for them, and what is known to be theirs.
//!
//! There is one cursor for all hooks. It goes forward only from where it was read, in the transaction that
//! makes the deliveries of the events it goes over. While no hook is enabled it stands still and holds nothing
//! back; the first one that is enabled puts it at the newest event.

use std::collections::HashMap;

use hostler_model::{
    EventHook, Generation, HookId, Limit, Mandate, Name, Page, PermissionSet, Scope, Timestamp,
};

use crate::principal::{decode_scope, scope_value};
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, scope, name, spec, principal_id, can, is_enabled, after_sequence, is_loop_told, generation, time_created, time_modified"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM event_hook");
const PROBE: &str = "SELECT generation FROM event_hook WHERE id = $1";

fn decode(row: &Row) -> Result<EventHook, Error> {
    let mut columns = row.columns("event_hook");
    Ok(EventHook {
        id: columns.parse()?,
        scope: decode_scope(&mut columns)?,
        name: columns.parse()?,
        spec: columns.json()?,
        mandate: Mandate { principal: columns.parse()?, can: columns.opt_json::<PermissionSet>()? },
        is_enabled: columns.flag()?,
        after: columns.number()?,
        is_loop_told: columns.flag()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

impl Conn {
    pub async fn event_hook_by_name(
        &mut self,
        scope: Scope,
        name: &Name,
    ) -> Result<Option<EventHook>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM event_hook WHERE scope = $1 AND name = $2");
        let row = self.query_one(sql, vec![scope_value(scope), name.into()]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Of one scope, by name.
    pub async fn event_hook_list(
        &mut self,
        scope: Scope,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<EventHook>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("scope =", scope_value(scope))
            .and_some("name >", after)
            .page("name", limit);
        let rows = self.query(sql, params).await?;
        let hooks = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(hooks, limit, |hook| hook.name.to_string()))
    }

    /// Every hook that is enabled, in whatever scope. How many there may be is bounded where they are made.
    pub async fn event_hooks_enabled(&mut self) -> Result<Vec<EventHook>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM event_hook WHERE is_enabled = $1 ORDER BY id");
        let rows = self.query(sql, params![true]).await?;
        rows.iter().map(decode).collect()
    }

    pub async fn event_hook_count(&mut self, scope: Scope) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM event_hook WHERE scope = $1".to_owned();
        self.count(sql, vec![scope_value(scope)]).await
    }

    /// The number of the event up to which all were looked at.
    pub async fn hook_cursor(&mut self) -> Result<u64, Error> {
        let sql = "SELECT sequence FROM hook_cursor WHERE id = 'hooks'";
        let row = self.query_one(sql, Vec::new()).await?;
        let row = row.ok_or_else(|| Error::corrupt("the cursor of hooks is missing"))?;
        row.columns("hook_cursor").number()
    }

    /// The same, where some hook depends on it.
    pub(crate) async fn hook_cursor_kept(&mut self) -> Result<Option<u64>, Error> {
        let sql = "SELECT 1 FROM event_hook WHERE is_enabled = $1 LIMIT 1";
        match self.query_one(sql, params![true]).await? {
            Some(_) => self.hook_cursor().await.map(Some),
            None => Ok(None),
        }
    }

    /// Which hooks caused these objects, of those that some did.
    pub async fn hook_causes(
        &mut self,
        objects: &[String],
    ) -> Result<HashMap<String, Vec<HookId>>, Error> {
        let mut found = HashMap::new();
        for part in objects.chunks(500) {
            let (sql, params) = Select::new("SELECT id, chain FROM hook_cause")
                .and_in("id", part.iter().map(String::as_str))
                .unordered();
            for row in self.query(sql, params).await? {
                let mut columns = row.columns("hook_cause");
                found.insert(columns.text()?, columns.json()?);
            }
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken in the scope.
    pub async fn event_hook_insert(&mut self, hook: &EventHook) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO event_hook (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
            ),
            params![
                hook.id,
                scope_value(hook.scope),
                &hook.name,
                Value::json(&hook.spec),
                hook.mandate.principal,
                Value::json_opt(hook.mandate.can.as_ref()),
                hook.is_enabled,
                hook.after,
                hook.is_loop_told,
                hook.generation,
                hook.time_created,
                hook.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    pub async fn event_hook_update(
        &mut self,
        hook: &EventHook,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE event_hook SET spec = $3, principal_id = $4, can = $5, is_enabled = $6, after_sequence = $7, is_loop_told = $8, generation = $9, time_modified = $10 WHERE id = $1 AND generation = $2",
            params![
                hook.id,
                expected,
                Value::json(&hook.spec),
                hook.mandate.principal,
                Value::json_opt(hook.mandate.can.as_ref()),
                hook.is_enabled,
                hook.after,
                hook.is_loop_told,
                expected.next(),
                hook.time_modified
            ],
            PROBE,
            hook.id,
        )
        .await
    }

    /// With its deliveries.
    pub async fn event_hook_delete(
        &mut self,
        hook: &EventHook,
        expected: Generation,
    ) -> Result<Update, Error> {
        let sql = "DELETE FROM event_hook WHERE id = $1 AND generation = $2";
        let update = self.conditional(sql, params![hook.id, expected], PROBE, hook.id).await?;
        if update.is_updated() {
            self.execute("DELETE FROM hook_delivery WHERE hook_id = $1", params![hook.id]).await?;
        }
        Ok(update)
    }

    /// Notes that it was told that a loop of the hook was cut; false when it was noted before. This is no
    /// change of the hook's.
    pub async fn event_hook_loop_told(&mut self, id: HookId) -> Result<bool, Error> {
        let sql = "UPDATE event_hook SET is_loop_told = $2 WHERE id = $1 AND is_loop_told = $3";
        Ok(self.execute(sql, params![id, true, false]).await? > 0)
    }

    /// Moves the cursor; false when it is not where it was read.
    pub async fn hook_cursor_move(&mut self, from: u64, to: u64) -> Result<bool, Error> {
        let sql = "UPDATE hook_cursor SET sequence = $2 WHERE id = 'hooks' AND sequence = $1";
        Ok(self.execute(sql, params![from, to]).await? > 0)
    }

    /// Puts the cursor at the newest event, unless some hook is enabled. Call it before one is.
    pub async fn hook_cursor_start(&mut self, newest: u64) -> Result<(), Error> {
        self.execute(
            "UPDATE hook_cursor SET sequence = $1 WHERE id = 'hooks' AND sequence < $1 AND NOT EXISTS (SELECT 1 FROM event_hook WHERE is_enabled = $2)",
            params![newest, true],
        )
        .await?;
        Ok(())
    }

    /// Remembers what hooks began.
    pub async fn hook_cause_insert(
        &mut self,
        causes: &[(String, Vec<HookId>)],
        now: Timestamp,
    ) -> Result<(), Error> {
        let rows =
            causes.iter().map(|(object, chain)| params![object, Value::json(chain), now]).collect();
        let head = "INSERT INTO hook_cause (id, chain, time_created)";
        self.insert_many_or(head, rows, "ON CONFLICT (id) DO NOTHING").await?;
        Ok(())
    }

    pub async fn hook_cause_delete_before(
        &mut self,
        time: Timestamp,
        limit: u32,
    ) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM hook_cause WHERE id IN (SELECT id FROM hook_cause WHERE time_created < $1 ORDER BY time_created LIMIT $2)",
            params![time, u64::from(limit)],
        )
        .await
    }
}
