//! Where the content of backups of nodes is: sealed chunks, in the database or in an object store.
//!
//! A chunk of a backup is sealed before it is kept anywhere. The key is one that this installation made for
//! itself, and it is kept sealed with the master key, so that replacing that does not mean to seal everything anew.
//! In the store `server` what is sealed is a row; in the others it is an object with a name of its own, and the
//! row has the name. What is fetched is opened, and unpacked by whoever wants it, which compares the digest.

mod object;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use futures::{StreamExt as _, TryStreamExt as _};
use hostler_egress::Egress;
use hostler_model::{BackupStore, BlobScope, Code, Digest, Error, OperationId};
use hostler_store::Chunk;
use hostler_trust::MasterKey;
use tokio::sync::OnceCell;

use object::ObjectStore;
pub use object::ObjectStoreConfig;

use crate::Control;
use crate::operation::Verification;

/// The setting with the key that chunks are sealed with.
pub(crate) const BACKUP_KEY: &str = "node_backup_key";
/// How many objects are on their way at once, for one question.
const TOGETHER: usize = 8;
/// How long an object that nothing names is left alone: it may be on its way.
const OBJECT_KEEP: std::time::Duration = std::time::Duration::from_hours(2);
const OBJECT_BATCH: u32 = 200;

/// What this server needs for backups of nodes.
pub(crate) struct BackupDesk {
    key: OnceCell<MasterKey>,
    stores: BTreeMap<BackupStore, ObjectStore>,
    /// Backups that are read through here, and how far.
    pub(crate) verifications: Mutex<HashMap<OperationId, Verification>>,
}

impl BackupDesk {
    pub(crate) fn new(configs: &[ObjectStoreConfig], egress: &Egress) -> BackupDesk {
        let stores = configs.iter().map(|config| (config.name, ObjectStore::new(config, egress)));
        BackupDesk {
            key: OnceCell::new(),
            stores: stores.collect(),
            verifications: Mutex::default(),
        }
    }
}

fn belongs_to(digest: Digest) -> Vec<u8> {
    format!("hostler.node-backup.v1/{digest}").into_bytes()
}

impl Control {
    /// The stores that backups can be kept in.
    pub fn backup_stores(&self) -> Vec<BackupStore> {
        let others = self.backup_desk.stores.keys().copied();
        std::iter::once(BackupStore::server()).chain(others).collect()
    }

    fn object_store(&self, store: BackupStore) -> Result<&ObjectStore, Error> {
        self.backup_desk.stores.get(&store).ok_or_else(|| unknown(store))
    }

    pub(crate) fn require_backup_store(&self, store: BackupStore) -> Result<(), Error> {
        if store.is_server() {
            return Ok(());
        }
        self.object_store(store).map(drop)
    }

    /// The key of this installation's backups; made when there is none.
    async fn backup_key(&self) -> Result<&MasterKey, Error> {
        let wrong =
            |error| Error::unavailable("the key of the backups of nodes cannot be opened", error);
        self.backup_desk
            .key
            .get_or_try_init(|| async {
                let fresh = MasterKey::generate();
                let text = fresh.to_base64();
                let sealed = self.keyring.seal(text.expose().as_bytes(), BACKUP_KEY.as_bytes());
                let sealed = &sealed.map_err(Error::internal)?;
                let kept = self
                    .store
                    .tx("backup_key", |tx| {
                        Box::pin(async move {
                            tx.setting_insert(BACKUP_KEY, sealed).await?;
                            tx.setting_get(BACKUP_KEY).await.map(Option::unwrap_or_default)
                        })
                    })
                    .await;
                let kept: Result<Vec<u8>, hostler_store::Error> = kept;
                let opened = self.keyring.open(&kept?, BACKUP_KEY.as_bytes()).map_err(wrong)?;
                let text = std::str::from_utf8(&opened).map_err(Error::internal)?;
                text.parse::<MasterKey>().map_err(|_| {
                    let why = std::io::Error::other("it is not a key");
                    Error::unavailable("the key of the backups of nodes cannot be read", why)
                })
            })
            .await
    }

    /// Keeps a chunk of a backup, sealed.
    pub(crate) async fn backup_chunk_keep(
        &self,
        store: BackupStore,
        chunk: Chunk,
    ) -> Result<(), Error> {
        let sealed = self.backup_key().await?.seal(&chunk.packed, &belongs_to(chunk.digest));
        let sealed = sealed.map_err(Error::internal)?;
        let scope = BlobScope::Backup(store);
        if store.is_server() {
            return self.chunk_store(scope, Chunk { packed: sealed, ..chunk }).await;
        }
        let objects = self.object_store(store)?;
        let name = &self.ids.fresh::<uuid::Uuid>().to_string();
        let now = self.now();
        self.store
            .tx("backup_object_note", |tx| Box::pin(tx.backup_object_note(store, name, now)))
            .await?;
        let size = sealed.len() as u64;
        objects.put(name, sealed, self.now()).await?;
        let chunk = &Chunk { packed: name.clone().into_bytes(), ..chunk };
        let now = self.now();
        self.store
            .tx("chunk_put_object", |tx| Box::pin(tx.chunk_put_object(store, chunk, size, now)))
            .await?;
        Ok(())
    }

    /// Chunks as they were packed, in no particular order; those of backups opened.
    pub(crate) async fn chunks_open(
        &self,
        scope: BlobScope,
        digests: &[Digest],
    ) -> Result<Vec<Chunk>, ChunkError> {
        let found = self.store.read().await.map_err(Error::from)?;
        let mut found = found;
        let found = found.chunk_get_batch(scope, digests).await.map_err(Error::from)?;
        let BlobScope::Backup(store) = scope else { return Ok(found) };
        let key = self.backup_key().await?;
        let open = |chunk: Chunk| {
            let opened = key.open(&chunk.packed, &belongs_to(chunk.digest));
            let opened = opened.map_err(|error| ChunkError::Damaged {
                digest: chunk.digest,
                why: error.to_string(),
            })?;
            Ok(Chunk { packed: opened.to_vec(), ..chunk })
        };
        if store.is_server() {
            return found.into_iter().map(open).collect();
        }
        let (objects, now) = (self.object_store(store)?, self.now());
        let fetched = found.into_iter().map(|chunk| async move {
            let name = String::from_utf8_lossy(&chunk.packed).into_owned();
            match objects.get(&name, now).await? {
                Some(packed) => open(Chunk { packed, ..chunk }),
                None => {
                    let why = format!("the object {name} is not there");
                    Err(ChunkError::Damaged { digest: chunk.digest, why })
                }
            }
        });
        futures::stream::iter(fetched).buffer_unordered(TOGETHER).try_collect().await
    }

    /// A chunk that cannot be read counts as not there, so that the next backup sends it again.
    pub(crate) async fn backup_chunk_drop(
        &self,
        store: BackupStore,
        digest: Digest,
    ) -> Result<(), Error> {
        let now = self.now();
        let scope = BlobScope::Backup(store);
        self.store
            .tx("backup_chunk_drop", |tx| Box::pin(tx.chunk_drop(scope, digest, now)))
            .await?;
        Ok(())
    }

    /// Removes objects that nothing names; how many. Those of a store that cannot be reached stay for later.
    pub(crate) async fn backup_objects_collect(&self) -> Result<u64, Error> {
        let before = self.now().minus(OBJECT_KEEP);
        let left = self.store.read().await?.backup_object_left(before, OBJECT_BATCH).await?;
        let mut gone = 0;
        for (store, name) in left {
            let Some(objects) = self.backup_desk.stores.get(&store) else { continue };
            if let Err(error) = objects.delete(&name, self.now()).await {
                tracing::warn!(%store, %error, "left object of a backup not removed");
                continue;
            }
            let name = name.as_str();
            self.store
                .tx("backup_object_forget", |tx| Box::pin(tx.backup_object_forget(store, name)))
                .await?;
            gone += 1;
        }
        Ok(gone)
    }
}

/// Why chunks cannot be had.
#[derive(Debug)]
pub(crate) enum ChunkError {
    /// This one is not what it was.
    Damaged {
        digest: Digest,
        why: String,
    },
    Other(Error),
}

impl From<Error> for ChunkError {
    fn from(error: Error) -> ChunkError {
        ChunkError::Other(error)
    }
}

impl From<ChunkError> for Error {
    fn from(error: ChunkError) -> Error {
        match error {
            ChunkError::Damaged { digest, why } => damaged(digest, &why),
            ChunkError::Other(error) => error,
        }
    }
}

fn damaged(digest: Digest, why: &str) -> Error {
    Error::new(
        Code::Conflict,
        format!("the chunk {digest} is damaged: {why}"),
        "verify the backup; the next one sends again what is found damaged",
    )
}

fn unknown(store: BackupStore) -> Error {
    Error::new(
        Code::Conflict,
        format!("this server has no store `{store}` for backups"),
        "name one of its configuration, below `[backup_store.NAME]`, or `server`",
    )
}
