//! Blobs: chunks are taken one by one, and become a blob when all are there.
//!
//! Nothing is believed: a chunk has to have its digest, and a blob is read through before it is entered,
//! up to [`READ_THROUGH_MAX`]; larger ones are taken at their word, because whoever fetches one checks
//! it anyway.
//!
//! How much there is altogether is looked up now and then and counted on in between, on each server for
//! itself. So the total is a bound on growth, not to the byte.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostler_blob::{Hasher, digest_of, pack, unpack};
use hostler_model::{
    Blob, BlobKind, BlobScope, Bytes, CHUNK_MAX, ChunkRef, Code, Diagnostic, Digest, Error, Limit,
    NodeBackupId, ObjectKind, ObjectRef, Page, Permission, PrincipalId, Project, RunOutput,
};
use hostler_store::{BlobGrant, Chunk, Committed, Tx};
use serde_json::json;

use super::quota::room_for_blob;
use super::task::{Names, find, require_own};
use crate::{BlobReader, Control, Cx, audit_state};

/// Blobs up to this size are read through before they are entered.
const READ_THROUGH_MAX: u64 = 4 << 30;
const LABEL_MAX: usize = 256;
const ASKED_MAX: usize = 1000;
const TOTAL_EVERY: Duration = Duration::from_secs(10);
const GRANT_TIME: Duration = Duration::from_hours(1);

/// A blob to be made of chunks that are there.
#[derive(Clone, Debug)]
pub struct NewBlob {
    pub scope: BlobScope,
    pub digest: Digest,
    pub kind: BlobKind,
    pub label: String,
    pub chunks: Vec<ChunkRef>,
}

/// A blob with who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlobDetail {
    pub blob: Blob,
    pub created_by: Option<String>,
}

/// How much is kept, as far as this server knows.
#[derive(Default)]
pub(crate) struct BlobRoom(Mutex<Option<Known>>);

#[derive(Clone, Copy)]
struct Known {
    bytes: u64,
    time: Duration,
}

impl BlobRoom {
    fn get(&self, now: Duration) -> Option<u64> {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.filter(|known| now.saturating_sub(known.time) < TOTAL_EVERY).map(|known| known.bytes)
    }

    fn set(&self, bytes: u64, time: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Known { bytes, time });
    }

    fn add(&self, bytes: u64) {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            known.bytes = known.bytes.saturating_add(bytes);
        }
    }
}

impl Control {
    /// Which of these chunks would have to be sent.
    pub async fn blob_missing(
        &self,
        scope: BlobScope,
        digests: &[Digest],
    ) -> Result<Vec<Digest>, Error> {
        if digests.len() > ASKED_MAX {
            let text = format!("at most {ASKED_MAX} at a time");
            return Err(Error::invalid(vec![Diagnostic::new("/chunks", text)]));
        }
        let now = self.now();
        Ok(self
            .store
            .tx("blob_missing", |tx| Box::pin(tx.chunk_missing(scope, digests, now)))
            .await?)
    }

    /// Takes a chunk.
    pub async fn chunk_put(
        &self,
        scope: BlobScope,
        digest: Digest,
        plain: bytes::Bytes,
    ) -> Result<(), Error> {
        if plain.is_empty() || plain.len() > CHUNK_MAX {
            return Err(not_a_chunk("a chunk has 1 byte to 1 MiB"));
        }
        let packing = move || (digest_of(&plain) == digest).then(|| (pack(&plain), plain.len()));
        let packed = tokio::task::spawn_blocking(packing).await.map_err(Error::internal)?;
        let Some((packed, size)) = packed else {
            return Err(not_a_chunk("the bytes do not have the digest in the path"));
        };
        let size = u32::try_from(size).map_err(Error::internal)?;
        self.chunk_keep(scope, Chunk { digest, size, packed }).await
    }

    /// Takes a chunk that was packed by whoever sent it.
    pub(crate) async fn chunk_put_packed(
        &self,
        scope: BlobScope,
        digest: Digest,
        packed: Vec<u8>,
    ) -> Result<(), Error> {
        let unpacking = move || unpack(&packed, digest).map(|plain| (plain.len(), packed));
        let unpacked = tokio::task::spawn_blocking(unpacking).await.map_err(Error::internal)?;
        let (size, packed) = unpacked.map_err(|e| not_a_chunk(&e.to_string()).with_source(e))?;
        if size == 0 {
            return Err(not_a_chunk("a chunk has 1 byte to 1 MiB"));
        }
        let size = u32::try_from(size).map_err(Error::internal)?;
        self.chunk_keep(scope, Chunk { digest, size, packed }).await
    }

    async fn chunk_keep(&self, scope: BlobScope, chunk: Chunk) -> Result<(), Error> {
        match scope {
            BlobScope::Backup(store) => self.backup_chunk_keep(store, chunk).await,
            BlobScope::Shared | BlobScope::Project(_) => self.chunk_store(scope, chunk).await,
        }
    }

    /// Keeps it in the database, as it is.
    pub(crate) async fn chunk_store(&self, scope: BlobScope, chunk: Chunk) -> Result<(), Error> {
        self.require_room(chunk.packed.len() as u64).await?;
        let (chunk, now) = (&chunk, self.now());
        let put = self.store.tx("chunk_put", |tx| Box::pin(tx.chunk_put(scope, chunk, now)));
        put.await?;
        self.blob_room.add(chunk.packed.len() as u64);
        Ok(())
    }

    async fn require_room(&self, more: u64) -> Result<(), Error> {
        let now = self.clock.instant();
        let kept = match self.blob_room.get(now) {
            Some(bytes) => bytes,
            None => {
                let bytes = self.store.read().await?.chunk_totals().await?.bytes;
                self.blob_room.set(bytes, now);
                bytes
            }
        };
        let max = self.config.blobs.total_max;
        if kept.saturating_add(more) <= max.get() {
            return Ok(());
        }
        Err(Error::new(
            Code::QuotaExceeded,
            format!("there is no room for more content: {} of {max} are used", Bytes::new(kept)),
            "remove blobs and images that nothing needs, or have the server's `blobs.total_max` raised",
        ))
    }

    /// Makes a blob of chunks that are there. Making one that exists changes nothing.
    pub async fn blob_commit(&self, cx: &Cx, new: NewBlob) -> Result<BlobDetail, Error> {
        let by = Some(cx.caller.principal_id);
        let blob = &self.checked_blob(&new, by).await?;
        let object = ObjectRef::new(ObjectKind::Blob, blob.digest, &blob.label);
        let told = json!({ "size": blob.size, "kind": blob.kind });
        let audit = &[self
            .audit(cx, "blob.create", &object, blob.scope.project(), told)
            .with_states(None, Some(&audit_state::blob(blob)))];
        let chunks = &new.chunks;
        let before = self
            .store
            .tx("blob_commit", |tx| {
                Box::pin(async move {
                    let before = enter(tx, blob, chunks).await?;
                    if before.is_none() {
                        tx.journal_append(&[], audit).await?;
                    }
                    Ok::<_, Error>(before)
                })
            })
            .await?;
        let made = before.map_or_else(|| blob.clone(), |before| *before);
        let created_by = match made.created_by {
            Some(id) => {
                let mut read = self.store.read().await?;
                Some(Names::default().principal(&mut read, id).await?)
            }
            None => None,
        };
        Ok(BlobDetail { blob: made, created_by })
    }

    pub(crate) async fn blob_enter(
        &self,
        new: NewBlob,
        created_by: Option<PrincipalId>,
    ) -> Result<Blob, Error> {
        self.blob_enter_for(new, created_by, None).await
    }

    /// The same for a backup of a node, which needs it from now on.
    pub(crate) async fn blob_enter_for(
        &self,
        new: NewBlob,
        created_by: Option<PrincipalId>,
        backup: Option<NodeBackupId>,
    ) -> Result<Blob, Error> {
        let blob = &self.checked_blob(&new, created_by).await?;
        let (chunks, now) = (&new.chunks, self.now());
        let uses = backup.map(|backup| (blob.scope, blob.digest, backup.to_string()));
        let uses = uses.as_slice();
        let committed = self
            .store
            .tx("blob_commit", |tx| {
                Box::pin(async move {
                    let before = enter(tx, blob, chunks).await?;
                    if !uses.is_empty() {
                        tx.blob_use(uses, now).await?;
                    }
                    Ok::<_, Error>(before)
                })
            })
            .await?;
        Ok(committed.map_or_else(|| blob.clone(), |before| *before))
    }

    /// Keeps bytes that this server made itself.
    pub(crate) async fn blob_of(
        &self,
        scope: BlobScope,
        kind: BlobKind,
        label: String,
        bytes: &[u8],
        created_by: Option<PrincipalId>,
    ) -> Result<Digest, Error> {
        let mut cutter = hostler_blob::Cutter::new();
        let mut pieces = bytes.chunks(CHUNK_MAX);
        loop {
            let cut = match pieces.next() {
                Some(piece) => {
                    cutter.push(piece);
                    cutter.cut()
                }
                None => match cutter.cut_rest() {
                    Some(chunk) => Some(chunk),
                    None => break,
                },
            };
            if let Some(chunk) = cut {
                self.chunk_put(scope, chunk.digest, bytes::Bytes::from(chunk.bytes)).await?;
            }
        }
        let content = cutter.content();
        let digest = content.digest;
        let label = label.chars().filter(|c| !c.is_control()).take(LABEL_MAX / 4).collect();
        let new = NewBlob { scope, digest, kind, label, chunks: content.chunks };
        self.blob_enter(new, created_by).await?;
        Ok(digest)
    }

    /// All of a blob that is not larger than this; nothing when it is not there.
    pub(crate) async fn blob_bytes(
        &self,
        scope: BlobScope,
        digest: Digest,
        most: u64,
    ) -> Result<Option<Vec<u8>>, Error> {
        let found = self.store.read().await?.blob_get(scope, digest).await?;
        if found.is_none_or(|blob| blob.size > most) {
            return Ok(None);
        }
        let mut reader = BlobReader::of_blob(self.clone(), scope, digest, 0);
        let mut all = Vec::new();
        while let Some(bytes) = reader.next().await? {
            all.extend_from_slice(&bytes);
        }
        Ok(Some(all))
    }

    /// The row of a new blob, once it is certain that its content is what it says; for whoever enters it
    /// together with something else.
    pub async fn checked_blob(
        &self,
        new: &NewBlob,
        created_by: Option<PrincipalId>,
    ) -> Result<Blob, Error> {
        let size = new.chunks.iter().map(|chunk| u64::from(chunk.size)).sum();
        let max = self.config.blobs.size_max;
        if size > max.get() {
            return Err(Error::new(
                Code::QuotaExceeded,
                format!("{} are more than a blob may have: {max}", Bytes::new(size)),
                "split it, or have the server's `blobs.size_max` raised",
            ));
        }
        let is_chunk = |chunk: &ChunkRef| (1..=CHUNK_MAX).contains(&(chunk.size as usize));
        if let Some(i) = new.chunks.iter().position(|chunk| !is_chunk(chunk)) {
            let at = format!("/chunks/{i}/size");
            return Err(Error::invalid(vec![Diagnostic::new(at, "a chunk has 1 byte to 1 MiB")]));
        }
        if new.label.len() > LABEL_MAX || new.label.contains(char::is_control) {
            let text = format!("a label has at most {LABEL_MAX} printable characters");
            return Err(Error::invalid(vec![Diagnostic::new("/label", text)]));
        }
        let chunk_count = u32::try_from(new.chunks.len()).map_err(Error::internal)?;
        let is_there = self.store.read().await?.blob_get(new.scope, new.digest).await?.is_some();
        if !is_there && size <= READ_THROUGH_MAX {
            self.read_through(new).await?;
        }
        let now = self.now();
        Ok(Blob {
            scope: new.scope,
            digest: new.digest,
            size,
            kind: new.kind,
            label: new.label.clone(),
            chunk_count,
            created_by,
            time_created: now,
            time_used: now,
        })
    }

    async fn read_through(&self, new: &NewBlob) -> Result<(), Error> {
        let mut reader = BlobReader::of_chunks(self.clone(), new.scope, new.chunks.clone());
        let mut hasher = Hasher::new();
        while let Some(bytes) = reader.next().await? {
            hasher.update(&bytes);
        }
        if hasher.digest() == new.digest {
            return Ok(());
        }
        let text = "the chunks together do not have this digest";
        Err(Error::invalid(vec![Diagnostic::new("/digest", text)]))
    }

    /// Newest first.
    pub async fn blob_list(
        &self,
        scope: BlobScope,
        kind: Option<BlobKind>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<BlobDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.blob_list(scope, kind, after, limit).await?;
        let page = page.ok_or_else(|| {
            Error::new(Code::Malformed, "the cursor was not made by this list", "list again")
        })?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for blob in page.items {
            let created_by = match blob.created_by {
                Some(id) => Some(names.principal(&mut read, id).await?),
                None => None,
            };
            items.push(BlobDetail { blob, created_by });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn blob_get(&self, scope: BlobScope, digest: Digest) -> Result<BlobDetail, Error> {
        let mut read = self.store.read().await?;
        let blob = read.blob_get(scope, digest).await?;
        let blob = blob.ok_or_else(|| Error::not_found("blob", digest))?;
        let created_by = match blob.created_by {
            Some(id) => Some(Names::default().principal(&mut read, id).await?),
            None => None,
        };
        Ok(BlobDetail { blob, created_by })
    }

    /// Reads a blob's content, without so many bytes at its beginning.
    pub async fn blob_read(
        &self,
        scope: BlobScope,
        digest: Digest,
        from: u64,
    ) -> Result<(Blob, BlobReader), Error> {
        let blob = self.blob_get(scope, digest).await?.blob;
        let now = self.now();
        self.store.tx("blob_touch", |tx| Box::pin(tx.blob_touch(scope, digest, now))).await?;
        let reader = BlobReader::of_blob(self.clone(), scope, digest, from);
        Ok((blob, reader))
    }

    /// Removes a blob that nothing needs.
    pub async fn blob_remove(
        &self,
        cx: &Cx,
        project: &Project,
        digest: Digest,
    ) -> Result<(), Error> {
        let scope = BlobScope::Project(project.id);
        let detail = self.blob_get(scope, digest).await?;
        if let Some(owner) = detail.blob.created_by {
            let name = detail.created_by.as_deref().unwrap_or_default();
            require_own(cx, project, "blob", Permission::BlobManage, owner, name)?;
        }
        let object = ObjectRef::new(ObjectKind::Blob, digest, &detail.blob.label);
        let told = json!({ "size": detail.blob.size, "kind": detail.blob.kind });
        let audit = &[self
            .audit(cx, "blob.remove", &object, Some(project.id), told)
            .with_states(Some(&audit_state::blob(&detail.blob)), None)];
        self.store
            .tx("blob_remove", |tx| {
                Box::pin(async move {
                    if tx.blob_is_used(scope, digest).await? {
                        return Err(Error::conflict(
                            "a task still needs this blob",
                            "remove the task first; what nothing needs goes by itself in time",
                        ));
                    }
                    tx.blob_remove(scope, digest).await?;
                    tx.journal_append(&[], audit).await?;
                    Ok::<_, Error>(())
                })
            })
            .await
    }

    /// Lets a node put one blob of this kind for everybody, for an hour.
    pub async fn blob_grant(
        &self,
        node_id: hostler_model::NodeId,
        kind: BlobKind,
    ) -> Result<String, Error> {
        let id = self.ids.fresh::<uuid::Uuid>().to_string();
        let time_expires = self.now().plus(GRANT_TIME);
        let grant = &BlobGrant { id, node_id, kind, time_expires };
        self.store.tx("blob_grant", |tx| Box::pin(tx.blob_grant_insert(grant))).await?;
        Ok(grant.id.clone())
    }

    /// What the runs of a task left, newest run first.
    pub async fn task_outputs(
        &self,
        project: &Project,
        name_or_id: &str,
    ) -> Result<(hostler_model::Name, Vec<RunOutput>), Error> {
        let mut read = self.store.read().await?;
        let task = find(&mut read, project, name_or_id).await?;
        Ok((task.name, read.run_outputs(task.id).await?))
    }
}

/// Enters a blob; what was there before, if it was.
async fn enter(
    tx: &mut Tx<'_>,
    blob: &Blob,
    chunks: &[ChunkRef],
) -> Result<Option<Box<Blob>>, Error> {
    match tx.blob_commit(blob, chunks).await? {
        Committed::New => {
            room_for_blob(tx, blob.scope, blob.size).await?;
            Ok(None)
        }
        Committed::Before(before) => Ok(Some(before)),
        Committed::Lacking(lacking) => Err(lacking_chunks(&lacking)),
    }
}

/// For whoever enters a blob together with something else.
pub fn lacking_chunks(lacking: &[Digest]) -> Error {
    let first = lacking.first().map(ToString::to_string).unwrap_or_default();
    Error::conflict(
        format!("{} of the chunks are not there, such as {first}", lacking.len()),
        "ask which are missing, send those, and try again",
    )
}

fn not_a_chunk(why: &str) -> Error {
    Error::new(Code::Invalid, why, "cut the content again, and send each chunk under its digest")
}
