//! Backups of nodes, and what is in the stores for backups outside of the database.
//!
//! The content of a backup is blobs of a scope of their own, which it uses ([`Tx::blob_use`]) as long as its row is
//! there. Where the store is not the database, a chunk has the name of an object in the place of its bytes. A name is
//! noted as left over before the object is written, and is no longer in the transaction that enters the chunk; a chunk
//! that goes leaves its object over again. So whatever dies in between, no object is forgotten, and because every
//! writing has a name of its own, none is removed that somebody needs.

use hostler_model::{
    BackupStore, BlobScope, Digest, Generation, Limit, NodeBackup, NodeBackupId, NodeBackupState,
    NodeId, Page, Timestamp,
};

use super::blob::scope_key;
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, node_id, node_name, label, store, spec, state, operation_id, outcome, error, verdict, created_by, generation, time_created, time_ended"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM node_backup");
const PROBE: &str = "SELECT generation FROM node_backup WHERE id = $1";

/// Which backups to list.
#[derive(Clone, Debug, Default)]
pub struct NodeBackupFilter {
    pub node: Option<NodeId>,
    pub state: Option<NodeBackupState>,
    /// The name that they were given.
    pub label: Option<String>,
}

/// How many backups there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeBackupCount {
    pub state: NodeBackupState,
    pub count: u64,
}

fn decode(row: &Row) -> Result<NodeBackup, Error> {
    let mut columns = row.columns("node_backup");
    Ok(NodeBackup {
        id: columns.parse()?,
        node_id: columns.parse()?,
        node_name: columns.parse()?,
        label: columns.text()?,
        store: columns.parse()?,
        spec: columns.json()?,
        state: columns.parse()?,
        operation_id: columns.parse()?,
        outcome: columns.opt_json()?,
        error: columns.opt_text()?,
        verdict: columns.opt_json()?,
        created_by: columns.json()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

fn cursor(backup: &NodeBackup) -> String {
    format!("{}.{}", backup.time_created.micros(), backup.id)
}

fn parse_cursor(text: &str) -> Option<(i64, NodeBackupId)> {
    let (micros, id) = text.split_once('.')?;
    Some((micros.parse().ok()?, id.parse().ok()?))
}

impl Conn {
    pub async fn node_backup_get(&mut self, id: NodeBackupId) -> Result<Option<NodeBackup>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM node_backup WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// The newest of this name.
    pub async fn node_backup_find(&mut self, label: &str) -> Result<Option<NodeBackup>, Error> {
        let (sql, params) =
            Select::new(SELECT).and_value("label =", label).first("time_created DESC, id DESC", 1);
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    /// Newest first; `None` when the cursor is none of ours.
    pub async fn node_backup_list(
        &mut self,
        filter: &NodeBackupFilter,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Option<Page<NodeBackup>>, Error> {
        let select = Select::new(SELECT)
            .and_some("node_id =", filter.node)
            .and_some("state =", filter.state.map(NodeBackupState::label))
            .and_some("label =", filter.label.as_deref());
        let select = match after.map(parse_cursor) {
            None => select,
            Some(Some((time, id))) => select.and_pair("(time_created, id) <", time, id),
            Some(None) => return Ok(None),
        };
        let (sql, params) = select.page("time_created DESC, id DESC", limit);
        let rows = self.query(sql, params).await?;
        let backups = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Page::from_rows(backups, limit, cursor)))
    }

    /// By state; states without any are left out.
    pub async fn node_backup_counts(&mut self) -> Result<Vec<NodeBackupCount>, Error> {
        let sql = "SELECT state, COUNT(*) FROM node_backup GROUP BY state ORDER BY state";
        let rows = self.query(sql, Vec::new()).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("node_backup");
                Ok(NodeBackupCount { state: columns.parse()?, count: columns.number()? })
            })
            .collect()
    }

    /// Whether a holder needs this blob.
    pub async fn blob_use_has(
        &mut self,
        scope: BlobScope,
        digest: Digest,
        holder: &str,
    ) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM blob_use WHERE scope = $1 AND digest = $2 AND holder = $3";
        let found = self.query_one(sql, params![scope_key(scope).as_str(), digest, holder]).await?;
        Ok(found.is_some())
    }

    /// Objects that were left over before `time`, oldest first.
    pub async fn backup_object_left(
        &mut self,
        time: Timestamp,
        limit: u32,
    ) -> Result<Vec<(BackupStore, String)>, Error> {
        let sql = "SELECT store, name FROM backup_object WHERE time_used < $1 ORDER BY time_used LIMIT $2";
        let rows = self.query(sql, params![time, limit]).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("backup_object");
                Ok((columns.parse()?, columns.text()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    pub async fn node_backup_insert(&mut self, backup: &NodeBackup) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO node_backup (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
            ),
            params![
                backup.id,
                backup.node_id,
                &backup.node_name,
                &backup.label,
                backup.store.as_str(),
                Value::json(&backup.spec),
                backup.state.label(),
                backup.operation_id,
                Value::json_opt(backup.outcome.as_ref()),
                backup.error.as_deref(),
                Value::json_opt(backup.verdict.as_ref()),
                Value::json(&backup.created_by),
                backup.generation,
                backup.time_created,
                backup.time_ended
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes what changes of a backup, with the generation that it has.
    pub async fn node_backup_update(
        &mut self,
        backup: &NodeBackup,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE node_backup SET state = $3, outcome = $4, error = $5, verdict = $6, generation = $7, time_ended = $8 WHERE id = $1 AND generation = $2",
            params![
                backup.id,
                expected,
                backup.state.label(),
                Value::json_opt(backup.outcome.as_ref()),
                backup.error.as_deref(),
                Value::json_opt(backup.verdict.as_ref()),
                backup.generation,
                backup.time_ended
            ],
            PROBE,
            backup.id,
        )
        .await
    }

    pub async fn node_backup_delete(
        &mut self,
        id: NodeBackupId,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "DELETE FROM node_backup WHERE id = $1 AND generation = $2",
            params![id, expected],
            PROBE,
            id,
        )
        .await
    }

    /// A holder needs nothing any more but these: blobs of this scope that were its alone go. So many at most;
    /// says how many it does not need any more.
    pub async fn blob_use_drop(
        &mut self,
        scope: BlobScope,
        holder: &str,
        but: &[Digest],
        limit: usize,
    ) -> Result<u64, Error> {
        let key = scope_key(scope);
        let rows = self
            .query(
                "SELECT digest FROM blob_use WHERE scope = $1 AND holder = $2 ORDER BY digest",
                params![key.as_str(), holder],
            )
            .await?;
        let mut gone = 0;
        let digests = rows.iter().map(|row| row.columns("blob_use").digest());
        let mut digests = digests.collect::<Result<Vec<Digest>, _>>()?;
        digests.retain(|digest| !but.contains(digest));
        for digest in digests.into_iter().take(limit) {
            self.execute(
                "DELETE FROM blob_use WHERE scope = $1 AND digest = $2 AND holder = $3",
                params![key.as_str(), digest, holder],
            )
            .await?;
            if !self.blob_is_used(scope, digest).await? {
                self.blob_remove(scope, digest).await?;
            }
            gone += 1;
        }
        Ok(gone)
    }

    /// An object is left over unless a chunk names it later.
    pub async fn backup_object_note(
        &mut self,
        store: BackupStore,
        name: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO backup_object (store, name, time_used) VALUES ($1, $2, $3) ON CONFLICT (store, name) DO UPDATE SET time_used = excluded.time_used",
            params![store.as_str(), name, now],
        )
        .await?;
        Ok(())
    }

    /// It is gone, or a chunk names it.
    pub async fn backup_object_forget(
        &mut self,
        store: BackupStore,
        name: &str,
    ) -> Result<bool, Error> {
        let gone = self
            .execute(
                "DELETE FROM backup_object WHERE store = $1 AND name = $2",
                params![store.as_str(), name],
            )
            .await?;
        Ok(gone > 0)
    }
}
