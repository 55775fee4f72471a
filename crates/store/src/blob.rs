//! Blobs, what they consist of, who needs them, and who may put them.
//!
//! A blob is entered together with its list of chunks, and only when all of these are there: in one
//! transaction, so that nothing can be deleted in between. It goes when nobody has needed it for long
//! ([`Tx::blob_delete_unused`]); its chunks follow by themselves.

use hostler_model::{
    BackupStore, Blob, BlobKind, BlobScope, ChunkRef, Digest, Limit, NodeId, Page, Timestamp,
};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

/// What became of a blob that was to be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Committed {
    New,
    /// It was there; it counts as used now.
    Before(Box<Blob>),
    /// Not entered: these chunks are not there, or of another size (the first of them).
    Lacking(Vec<Digest>),
}

/// A node may put one blob for everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobGrant {
    pub id: String,
    pub node_id: NodeId,
    pub kind: BlobKind,
    pub time_expires: Timestamp,
}

const LACKING_MAX: u32 = 1000;
/// What begins the scope of backups.
const BACKUP: &str = "backup:";

macro_rules! columns {
    () => {
        "scope, digest, size, kind, label, chunk_count, created_by, time_created, time_used"
    };
}

/// How a scope is written.
pub(crate) fn scope_key(scope: BlobScope) -> String {
    match scope {
        BlobScope::Shared => String::new(),
        BlobScope::Project(id) => id.to_string(),
        BlobScope::Backup(store) => format!("{BACKUP}{store}"),
    }
}

/// The store whose backups a scope is of.
pub(crate) fn store_of(scope: &str) -> Option<BackupStore> {
    scope.strip_prefix(BACKUP)?.parse().ok()
}

fn decode(row: &Row) -> Result<Blob, Error> {
    let mut columns = row.columns("blob");
    let text = columns.text()?;
    let scope = match store_of(&text) {
        Some(store) => BlobScope::Backup(store),
        None if text.is_empty() => BlobScope::Shared,
        None => BlobScope::Project(row.columns("blob").parse()?),
    };
    Ok(Blob {
        scope,
        digest: columns.digest()?,
        size: columns.number()?,
        kind: columns.parse()?,
        label: columns.text()?,
        chunk_count: columns.small()?,
        created_by: columns.opt_parse()?,
        time_created: columns.time()?,
        time_used: columns.time()?,
    })
}

fn cursor(blob: &Blob) -> String {
    format!("{}.{}", blob.time_created.micros(), blob.digest)
}

pub(crate) fn parse_cursor(text: &str) -> Option<(i64, Digest)> {
    let (micros, digest) = text.split_once('.')?;
    Some((micros.parse().ok()?, digest.parse().ok()?))
}

impl Conn {
    pub async fn blob_get(
        &mut self,
        scope: BlobScope,
        digest: Digest,
    ) -> Result<Option<Blob>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM blob WHERE scope = $1 AND digest = $2");
        let row = self.query_one(sql, params![scope_key(scope).as_str(), digest]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first; `None` when the cursor is none of ours.
    pub async fn blob_list(
        &mut self,
        scope: BlobScope,
        kind: Option<BlobKind>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Option<Page<Blob>>, Error> {
        let select = Select::new(concat!("SELECT ", columns!(), " FROM blob"))
            .and_value("scope =", scope_key(scope).as_str())
            .and_some("kind =", kind.map(BlobKind::label));
        let select = match after.map(parse_cursor) {
            None => select,
            Some(Some((time, digest))) => select.and_pair("(time_created, digest) <", time, digest),
            Some(None) => return Ok(None),
        };
        let (sql, params) = select.page("time_created DESC, digest DESC", limit);
        let rows = self.query(sql, params).await?;
        let blobs = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Page::from_rows(blobs, limit, cursor)))
    }

    /// Its chunks in order, from a number on.
    pub async fn blob_chunks(
        &mut self,
        scope: BlobScope,
        digest: Digest,
        from: u32,
        limit: u32,
    ) -> Result<Vec<ChunkRef>, Error> {
        let rows = self
            .query(
                "SELECT digest, size FROM blob_chunk WHERE scope = $1 AND blob = $2 AND number >= $3 ORDER BY number LIMIT $4",
                params![scope_key(scope).as_str(), digest, from, limit],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("blob_chunk");
                Ok(ChunkRef { digest: columns.digest()?, size: columns.small()? })
            })
            .collect()
    }

    /// Which of these are chunks of it.
    pub async fn blob_chunks_among(
        &mut self,
        scope: BlobScope,
        blob: Digest,
        digests: &[Digest],
    ) -> Result<Vec<Digest>, Error> {
        let mut found = Vec::with_capacity(digests.len());
        for some in digests.chunks(CHUNK) {
            let (sql, params) = Select::new("SELECT DISTINCT digest FROM blob_chunk")
                .and_value("scope =", scope_key(scope).as_str())
                .and_value("blob =", blob)
                .and_in("digest", some.iter().copied())
                .first("digest", u64::from(u32::MAX));
            for row in &self.query(sql, params).await? {
                found.push(row.columns("blob_chunk").digest()?);
            }
        }
        Ok(found)
    }

    /// Whether somebody needs it still.
    pub async fn blob_is_used(&mut self, scope: BlobScope, digest: Digest) -> Result<bool, Error> {
        let sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM blob_use WHERE scope = $1 AND digest = $2) OR EXISTS (SELECT 1 FROM run_output WHERE scope = $1 AND digest = $2)";
        let row = self.query_one(sql, params![scope_key(scope).as_str(), digest]).await?;
        Ok(row.is_some())
    }

    pub async fn blob_grant_get(&mut self, id: &str) -> Result<Option<BlobGrant>, Error> {
        let sql = "SELECT id, node_id, kind, time_expires FROM blob_grant WHERE id = $1";
        let Some(row) = self.query_one(sql, params![id]).await? else { return Ok(None) };
        let mut columns = row.columns("blob_grant");
        Ok(Some(BlobGrant {
            id: columns.text()?,
            node_id: columns.parse()?,
            kind: columns.parse()?,
            time_expires: columns.time()?,
        }))
    }
}

impl Tx<'_> {
    /// Enters a blob, if all its chunks are there.
    pub async fn blob_commit(
        &mut self,
        blob: &Blob,
        chunks: &[ChunkRef],
    ) -> Result<Committed, Error> {
        if let Some(known) = self.blob_get(blob.scope, blob.digest).await? {
            self.blob_touch(blob.scope, blob.digest, blob.time_used).await?;
            return Ok(Committed::Before(Box::new(known)));
        }
        let scope = scope_key(blob.scope);
        let rows = (chunks.iter().zip(0_u32..))
            .map(|(chunk, number)| {
                params![scope.as_str(), blob.digest, number, chunk.digest, chunk.size]
            })
            .collect();
        self.insert_many("INSERT INTO blob_chunk (scope, blob, number, digest, size)", rows)
            .await?;
        let lacking = self
            .query(
                "SELECT DISTINCT blob_chunk.digest FROM blob_chunk LEFT JOIN chunk ON chunk.scope = blob_chunk.scope AND chunk.digest = blob_chunk.digest WHERE blob_chunk.scope = $1 AND blob_chunk.blob = $2 AND (chunk.size IS NULL OR chunk.size <> blob_chunk.size) LIMIT $3",
                params![scope.as_str(), blob.digest, LACKING_MAX],
            )
            .await?;
        if !lacking.is_empty() {
            self.blob_chunks_delete(&scope, blob.digest).await?;
            let digests = lacking.iter().map(|row| row.columns("blob_chunk").digest());
            return Ok(Committed::Lacking(digests.collect::<Result<_, _>>()?));
        }
        self.execute(
            concat!(
                "INSERT INTO blob (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
            ),
            params![
                scope.as_str(),
                blob.digest,
                blob.size,
                blob.kind.label(),
                &blob.label,
                blob.chunk_count,
                blob.created_by,
                blob.time_created,
                blob.time_used
            ],
        )
        .await?;
        Ok(Committed::New)
    }

    /// It was asked for; noted once an hour.
    pub async fn blob_touch(
        &mut self,
        scope: BlobScope,
        digest: Digest,
        now: Timestamp,
    ) -> Result<(), Error> {
        let before = now.minus(std::time::Duration::from_hours(1));
        self.execute(
            "UPDATE blob SET time_used = $3 WHERE scope = $1 AND digest = $2 AND time_used < $4",
            params![scope_key(scope).as_str(), digest, now, before],
        )
        .await?;
        Ok(())
    }

    /// False when there is none. Whoever needs it is not asked.
    pub async fn blob_remove(&mut self, scope: BlobScope, digest: Digest) -> Result<bool, Error> {
        let scope = scope_key(scope);
        self.blob_chunks_delete(&scope, digest).await?;
        let removed = self
            .execute(
                "DELETE FROM blob WHERE scope = $1 AND digest = $2",
                params![scope.as_str(), digest],
            )
            .await?;
        Ok(removed > 0)
    }

    async fn blob_chunks_delete(&mut self, scope: &str, digest: Digest) -> Result<(), Error> {
        self.execute(
            "DELETE FROM blob_chunk WHERE scope = $1 AND blob = $2",
            params![scope, digest],
        )
        .await?;
        Ok(())
    }

    /// Deletes blobs that nobody needs (no task, no run that left it, no image) and nobody asked for since
    /// `time`; says how many.
    pub async fn blob_delete_unused(&mut self, time: Timestamp, limit: u32) -> Result<u64, Error> {
        let (sql, params) = (
            concat!(
                "SELECT ",
                columns!(),
                " FROM blob WHERE time_used < $1 AND NOT EXISTS (SELECT 1 FROM image WHERE image.digest = blob.digest) AND NOT EXISTS (SELECT 1 FROM blob_use WHERE blob_use.scope = blob.scope AND blob_use.digest = blob.digest) AND NOT EXISTS (SELECT 1 FROM run_output WHERE run_output.scope = blob.scope AND run_output.digest = blob.digest) ORDER BY time_used LIMIT $2"
            ),
            params![time, limit],
        );
        let unused = self.query(sql, params).await?;
        for row in &unused {
            let blob = decode(row)?;
            self.blob_remove(blob.scope, blob.digest).await?;
        }
        Ok(unused.len() as u64)
    }

    /// Notes that a task, an array, an execution, a version of a workflow or of a module, or a
    /// backup of a node needs these.
    pub async fn blob_use(
        &mut self,
        uses: &[(BlobScope, Digest, String)],
        now: Timestamp,
    ) -> Result<(), Error> {
        let rows: Vec<Vec<Value>> = uses
            .iter()
            .map(|(scope, digest, holder)| {
                params![scope_key(*scope).as_str(), *digest, holder.as_str()]
            })
            .collect();
        let head = "INSERT INTO blob_use (scope, digest, holder)";
        self.insert_many_or(head, rows, "ON CONFLICT (scope, digest, holder) DO NOTHING").await?;
        let mut seen: Vec<(BlobScope, Digest)> =
            uses.iter().map(|(scope, digest, _)| (*scope, *digest)).collect();
        seen.sort_by_key(|(_, digest)| *digest);
        seen.dedup();
        for (scope, digest) in seen {
            self.blob_touch(scope, digest, now).await?;
        }
        Ok(())
    }

    /// Forgets the needs of those that are gone.
    pub async fn blob_use_delete_left(&mut self, limit: u32) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM blob_use WHERE holder IN (SELECT holder FROM blob_use WHERE NOT EXISTS (SELECT 1 FROM workload WHERE workload.id = blob_use.holder) AND NOT EXISTS (SELECT 1 FROM task_array WHERE task_array.id = blob_use.holder) AND NOT EXISTS (SELECT 1 FROM execution WHERE execution.id = blob_use.holder) AND NOT EXISTS (SELECT 1 FROM workflow_version WHERE workflow_version.id = blob_use.holder) AND NOT EXISTS (SELECT 1 FROM module_version WHERE module_version.id = blob_use.holder) AND NOT EXISTS (SELECT 1 FROM node_backup WHERE node_backup.id = blob_use.holder) ORDER BY holder LIMIT $1)",
            params![limit],
        )
        .await
    }

    pub async fn blob_grant_insert(&mut self, grant: &BlobGrant) -> Result<(), Error> {
        self.execute(
            "INSERT INTO blob_grant (id, node_id, kind, time_expires) VALUES ($1, $2, $3, $4)",
            params![&grant.id, grant.node_id, grant.kind.label(), grant.time_expires],
        )
        .await?;
        Ok(())
    }

    pub async fn blob_grant_delete_expired(&mut self, now: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM blob_grant WHERE time_expires < $1", params![now]).await
    }
}
