//! The bytes of blobs, packed, each under the digest of what they are when unpacked.
//!
//! A chunk that no blob has is on its way to one, or is left over. Whoever asks which chunks are missing
//! renews those that are there ([`Tx::chunk_missing`]), and only what was not renewed for long is
//! deleted; so what was said to be there stays until the blob that needs it is entered.

use std::time::Duration;

use hostler_model::{BackupStore, BlobScope, ChunkRef, Digest, Timestamp};

use super::blob::{scope_key, store_of};
use crate::conn::{CHUNK, Sql};
use crate::select::Select;
use crate::value::{Value, params};
use crate::{Conn, Error, Tx};

/// A chunk as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub digest: Digest,
    /// Of the plain bytes.
    pub size: u32,
    pub packed: Vec<u8>,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkTotals {
    pub chunks: u64,
    /// As they are kept.
    pub bytes: u64,
}

impl Conn {
    /// Those that are there, in no particular order.
    pub async fn chunk_get_batch(
        &mut self,
        scope: BlobScope,
        digests: &[Digest],
    ) -> Result<Vec<Chunk>, Error> {
        let mut found = Vec::with_capacity(digests.len());
        for some in digests.chunks(CHUNK) {
            let (sql, params) = Select::new("SELECT digest, size, packed FROM chunk")
                .and_value("scope =", scope_key(scope).as_str())
                .and_in("digest", some.iter().copied())
                .first("digest", u64::from(u32::MAX));
            for row in &self.query(sql, params).await? {
                let mut columns = row.columns("chunk");
                found.push(Chunk {
                    digest: columns.digest()?,
                    size: columns.small()?,
                    packed: columns.blob()?,
                });
            }
        }
        Ok(found)
    }

    /// In all scopes together; without those whose bytes are in a store for backups that is not the database.
    pub async fn chunk_totals(&mut self) -> Result<ChunkTotals, Error> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(packed_size), 0) AS BIGINT) FROM chunk WHERE NOT (scope >= 'backup:' AND scope < 'backup;') OR scope = $1";
        let server = scope_key(BlobScope::Backup(BackupStore::server()));
        let Some(row) = self.query_one(sql, params![server.as_str()]).await? else {
            return Ok(ChunkTotals::default());
        };
        let mut columns = row.columns("chunk");
        Ok(ChunkTotals { chunks: columns.number()?, bytes: columns.number()? })
    }

    pub(crate) async fn chunk_known(
        &mut self,
        scope: BlobScope,
        digests: &[Digest],
    ) -> Result<Vec<ChunkRef>, Error> {
        let mut found = Vec::with_capacity(digests.len());
        for some in digests.chunks(CHUNK) {
            let (sql, params) = Select::new("SELECT digest, size FROM chunk")
                .and_value("scope =", scope_key(scope).as_str())
                .and_in("digest", some.iter().copied())
                .first("digest", u64::from(u32::MAX));
            for row in &self.query(sql, params).await? {
                let mut columns = row.columns("chunk");
                found.push(ChunkRef { digest: columns.digest()?, size: columns.small()? });
            }
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// Which of these are not there, in the order they were given. Those that are there stay for long
    /// enough to be made a blob of.
    pub async fn chunk_missing(
        &mut self,
        scope: BlobScope,
        digests: &[Digest],
        now: Timestamp,
    ) -> Result<Vec<Digest>, Error> {
        let known = self.chunk_known(scope, digests).await?;
        let known: std::collections::HashSet<Digest> =
            known.into_iter().map(|chunk| chunk.digest).collect();
        let (there, missing): (Vec<Digest>, Vec<Digest>) =
            digests.iter().partition(|digest| known.contains(digest));
        let before = now.minus(Duration::from_hours(1));
        for some in there.chunks(CHUNK) {
            let mut params = params![now, before, scope_key(scope).as_str()];
            params.extend(some.iter().map(|digest| Value::from(*digest)));
            let numbers: Vec<String> = (4..=params.len()).map(|n| format!("${n}")).collect();
            let text = format!(
                "UPDATE chunk SET time_used = $1 WHERE time_used < $2 AND scope = $3 AND digest IN ({})",
                numbers.join(", ")
            );
            self.execute(Sql::for_rows(text, some.len()), params).await?;
        }
        Ok(missing)
    }

    /// Nothing changes when it is there already, but that it stays.
    pub async fn chunk_put(
        &mut self,
        scope: BlobScope,
        chunk: &Chunk,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO chunk (scope, digest, size, packed, packed_size, time_used) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (scope, digest) DO UPDATE SET time_used = excluded.time_used",
            params![
                scope_key(scope).as_str(),
                chunk.digest,
                chunk.size,
                &chunk.packed,
                chunk.packed.len() as u64,
                now
            ],
        )
        .await?;
        Ok(())
    }

    /// Deletes chunks that no blob has and nobody asked for since `time`; says how many.
    pub async fn chunk_delete_unused(&mut self, time: Timestamp, limit: u32) -> Result<u64, Error> {
        let rows = self
            .query(
                "SELECT chunk.scope, chunk.digest FROM chunk WHERE chunk.time_used < $1 AND NOT EXISTS (SELECT 1 FROM blob_chunk WHERE blob_chunk.scope = chunk.scope AND blob_chunk.digest = chunk.digest) ORDER BY chunk.time_used LIMIT $2",
                params![time, limit],
            )
            .await?;
        let mut deleted = 0;
        for row in &rows {
            let mut columns = row.columns("chunk");
            let (scope, digest) = (columns.text()?, columns.digest()?);
            self.object_left(&scope, digest, time).await?;
            deleted += self
                .execute(
                    "DELETE FROM chunk WHERE scope = $1 AND digest = $2",
                    params![&scope, digest],
                )
                .await?;
        }
        Ok(deleted)
    }

    /// A chunk goes, also one that blobs have; its object is left over.
    pub async fn chunk_drop(
        &mut self,
        scope: BlobScope,
        digest: Digest,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let key = scope_key(scope);
        self.object_left(&key, digest, now).await?;
        let gone = self
            .execute(
                "DELETE FROM chunk WHERE scope = $1 AND digest = $2",
                params![key.as_str(), digest],
            )
            .await?;
        Ok(gone > 0)
    }

    /// Takes a chunk whose bytes are an object in a store for backups, and no longer left over.
    pub async fn chunk_put_object(
        &mut self,
        store: BackupStore,
        chunk: &Chunk,
        size: u64,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let scope = scope_key(BlobScope::Backup(store));
        let name = String::from_utf8_lossy(&chunk.packed).into_owned();
        let put = self.execute(
            "INSERT INTO chunk (scope, digest, size, packed, packed_size, time_used) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (scope, digest) DO NOTHING",
            params![scope.as_str(), chunk.digest, chunk.size, &chunk.packed, size, now],
        )
        .await?;
        if put == 0 {
            return Ok(false);
        }
        self.backup_object_forget(store, &name).await?;
        Ok(true)
    }

    /// A chunk that goes leaves its object over.
    async fn object_left(
        &mut self,
        scope: &str,
        digest: Digest,
        time: Timestamp,
    ) -> Result<(), Error> {
        let Some(store) = store_of(scope).filter(|store| !store.is_server()) else { return Ok(()) };
        let sql = "SELECT packed FROM chunk WHERE scope = $1 AND digest = $2";
        let Some(row) = self.query_one(sql, params![scope, digest]).await? else { return Ok(()) };
        let name = String::from_utf8_lossy(&row.columns("chunk").blob()?).into_owned();
        self.backup_object_note(store, &name, time).await
    }
}
