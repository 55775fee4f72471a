//! An empty database is filled, and what must not come to life again does not.

use hostler_model::backup::Cell;
use hostler_model::{NodeId, Timestamp};

use super::StoredTable;
use crate::value::params;
use crate::{Conn, Dialect, Error, Store, Tx};

/// There while a restore is under way, or was cut off: no server starts.
pub const RESTORE_UNFINISHED: &str = "restore_unfinished";
/// What was restored last, and when.
pub const RESTORED: &str = "restored";

/// Numbers that agents and watchers may have seen after the backup was made are left out: what is new
/// gets larger ones. No installation counts this far between a backup and its restore.
const LEAP: u64 = 1 << 32;

/// Deeds of a resource that may have been done since: their numbers are told to others, who do nothing twice. They
/// are counted in fewer bits. What is under way goes on under its own number.
const DEED_LEAP: u32 = 1 << 16;

/// Tables in which a fresh schema has its one row.
const FRESH: [&str; 3] = ["journal_head", "state_head", "hook_cursor"];

/// What is in a database already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupancy {
    Empty,
    /// A restore was cut off.
    HalfRestored,
    /// Tables with something in them.
    Occupied(Vec<String>),
    /// There are tables, and they are not ours.
    Foreign(Vec<String>),
}

impl Store {
    /// Whether something would be overwritten.
    pub async fn occupancy(&self) -> Result<Occupancy, Error> {
        let mut reader = self.read().await?;
        let is_ours = reader.has_progress_table().await?;
        let tables = reader.stored_tables().await?;
        if !is_ours {
            let names: Vec<String> = tables.into_iter().map(|table| table.shape.name).collect();
            return Ok(match names.is_empty() {
                true => Occupancy::Empty,
                false => Occupancy::Foreign(names),
            });
        }
        let has_settings = tables.iter().any(|table| table.shape.name == "setting");
        if has_settings && reader.setting_get(RESTORE_UNFINISHED).await?.is_some() {
            return Ok(Occupancy::HalfRestored);
        }
        let mut occupied = Vec::new();
        for name in tables.into_iter().map(|table| table.shape.name) {
            if FRESH.contains(&name.as_str()) {
                continue;
            }
            let sql = format!("SELECT 1 FROM \"{name}\" LIMIT 1");
            if reader.query_one(sql, Vec::new()).await?.is_some() {
                occupied.push(name);
            }
        }
        Ok(match occupied.is_empty() {
            true => Occupancy::Empty,
            false => Occupancy::Occupied(occupied),
        })
    }

    /// Takes every table away, brings the schema to `version`, and notes that a restore is under way.
    pub async fn restore_begin(&self, version: u64) -> Result<(), Error> {
        let known = Store::schema_known();
        if version > known {
            return Err(Error::SchemaTooNew { found: version, known });
        }
        self.tx("restore_wipe", |tx| Box::pin(tx.drop_tables())).await?;
        self.migrate_to(version).await?;
        self.tx("restore_begin", |tx| Box::pin(tx.restore_clear())).await
    }
}

impl Tx<'_> {
    async fn drop_tables(&mut self) -> Result<(), Error> {
        let mut names: Vec<String> =
            self.stored_tables().await?.into_iter().rev().map(|table| table.shape.name).collect();
        if self.has_progress_table().await? {
            names.push("schema_version".to_owned());
        }
        for name in names {
            self.script(format!("DROP TABLE \"{name}\"").into()).await?;
        }
        Ok(())
    }

    async fn restore_clear(&mut self) -> Result<(), Error> {
        for table in self.stored_tables().await?.iter().rev() {
            self.execute(format!("DELETE FROM \"{}\"", table.shape.name), Vec::new()).await?;
        }
        self.setting_insert(RESTORE_UNFINISHED, b"restore").await?;
        Ok(())
    }

    /// Puts rows into a table.
    pub async fn restore_rows(
        &mut self,
        table: &StoredTable,
        rows: Vec<Vec<Cell>>,
    ) -> Result<(), Error> {
        let misfit =
            || Error::corrupt(format!("a row that does not fit into {}", table.shape.name));
        let rows: Option<Vec<_>> = rows.into_iter().map(|row| table.values(row)).collect();
        self.insert_many(&table.insert(), rows.ok_or_else(misfit)?).await?;
        Ok(())
    }

    /// What must not come to life again, after everything was loaded and migrated: who was logged in, who
    /// held what, what was to be used once. Numbers leap over those that were given since. Nodes are to
    /// say what they hold before they are told anything. Returns how many nodes that are.
    pub async fn restore_settle(&mut self, now: Timestamp) -> Result<u64, Error> {
        for table in
            // The log of state too: whoever watched it saw changes that are not there any more, and has to list again.
            [
                "web_session",
                "password_reset",
                "login_tally",
                "blob_grant",
                "lease",
                "server",
                "state_log",
            ]
        {
            self.execute(format!("DELETE FROM {table}"), Vec::new()).await?;
        }
        for table in ["join_token", "invitation"] {
            let sql = format!(
                "UPDATE {table} SET time_revoked = $1 WHERE time_used IS NULL AND time_revoked IS NULL"
            );
            self.execute(sql, params![now]).await?;
        }
        let held = match self.dialect() {
            Dialect::Sqlite => "UPDATE node_lease SET is_held = 0",
            Dialect::Postgres => "UPDATE node_lease SET is_held = FALSE",
        };
        self.execute(held, Vec::new()).await?;
        self.execute("UPDATE journal_head SET event_sequence = event_sequence + $1", params![LEAP])
            .await?;
        self.execute("UPDATE node SET desired_generation = desired_generation + $1", params![LEAP])
            .await?;
        self.execute("UPDATE state_head SET revision = revision + $1, logged = 0", params![LEAP])
            .await?;
        self.execute("UPDATE lock SET token_last = token_last + $1", params![LEAP]).await?;
        let floor = self.lock_floor().await?;
        self.lock_floor_raise(floor + LEAP).await?;
        self.execute("DELETE FROM stack_plan WHERE time_used IS NULL", Vec::new()).await?;
        self.execute(
            "UPDATE stack_resource SET deeds = deeds + $1 WHERE deed IS NULL",
            params![DEED_LEAP],
        )
        .await?;
        self.execute("DELETE FROM node_resync", Vec::new()).await?;
        self.execute(
            "INSERT INTO node_resync (node_id, cause, time_created) SELECT id, 'restored', CAST($1 AS BIGINT) FROM node WHERE state <> 'removed'",
            params![now],
        )
        .await
    }

    /// The node says what it holds before it is told anything.
    pub async fn node_resync_insert(
        &mut self,
        node: NodeId,
        cause: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO node_resync (node_id, cause, time_created) VALUES ($1, $2, $3) ON CONFLICT (node_id) DO NOTHING",
            params![node, cause, now],
        )
        .await?;
        Ok(())
    }

    /// False when it was not waited for.
    pub async fn node_resync_delete(&mut self, node: NodeId) -> Result<bool, Error> {
        let gone =
            self.execute("DELETE FROM node_resync WHERE node_id = $1", params![node]).await?;
        Ok(gone > 0)
    }
}

impl Conn {
    /// Why a node is to say what it holds first; `None` where it is not.
    pub async fn node_resync_cause(&mut self, node: NodeId) -> Result<Option<String>, Error> {
        let sql = "SELECT cause FROM node_resync WHERE node_id = $1";
        let row = self.query_one(sql, params![node]).await?;
        row.map(|row| row.columns("node_resync").text()).transpose()
    }

    /// How many nodes have not said yet what they hold.
    pub async fn node_resync_count(&mut self) -> Result<u64, Error> {
        self.count("SELECT COUNT(*) FROM node_resync", Vec::new()).await
    }
}
