//! Everything there is, as a stream of bytes.

use bytes::Bytes;
use futures::StreamExt as _;
use hostler_backup::{Head, Summary, Writer};
use hostler_model::Timestamp;
use hostler_store::{RESTORE_UNFINISHED, Snapshot, Store};
use hostler_trust::{Keyring, Lock, LockKey, MasterKey, StreamKey};
use tokio::sync::mpsc;

use super::BackupError;
use crate::bootstrap::INSTALLATION;

/// Bytes are handed on in portions of about this size.
const PORTION: usize = 256 << 10;

/// How a backup is sealed.
#[derive(Clone, Debug)]
pub struct Sealing {
    pub lock: Lock,
    pub key: StreamKey,
}

/// A backup to be made.
#[derive(Clone, Debug)]
pub struct NewBackup {
    /// Version of this Hostler.
    pub product: String,
    pub time: Timestamp,
    pub sealing: Option<Sealing>,
    /// The master keys, where they are to be in it.
    pub keys: Option<Vec<MasterKey>>,
    /// Images, and what tasks left, are in it.
    pub has_content: bool,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub head: Head,
    pub summary: Summary,
    pub size: u64,
}

impl NewBackup {
    /// Master keys go only into what is sealed with something else.
    pub fn checked(
        product: &str,
        time: Timestamp,
        key: Option<&LockKey>,
        keys: Option<&Keyring>,
        has_content: bool,
    ) -> Result<NewBackup, BackupError> {
        if let Some(ring) = keys {
            match key {
                None => return Err(BackupError::KeysInPlain),
                Some(LockKey::File(key)) if ring.ids().contains(&key.id()) => {
                    return Err(BackupError::OwnKey);
                }
                Some(_) => {}
            }
        }
        let sealing = key.map(LockKey::lock).transpose()?;
        Ok(NewBackup {
            product: product.to_owned(),
            time,
            sealing: sealing.map(|(lock, key)| Sealing { lock, key }),
            keys: keys.map(Keyring::keys),
            has_content,
        })
    }
}

/// Reads the database as it is at one moment and sends the file, portion by portion.
pub async fn create(
    store: &Store,
    new: NewBackup,
    to: mpsc::Sender<Bytes>,
) -> Result<Made, BackupError> {
    let mut snapshot = store.snapshot().await?;
    let head = head(&mut snapshot, &new).await?;
    let mut writer = Writer::new(&head, new.sealing.map(|sealing| sealing.key))?;
    if let Some(keys) = &new.keys {
        writer.keys(keys)?;
    }
    let mut size = 0;
    for table in snapshot.stored_tables().await? {
        writer.table(&table.shape)?;
        let mut rows = snapshot.rows(&table, new.has_content);
        while let Some(row) = rows.next().await {
            writer.row(&row?)?;
            if writer.waiting() >= PORTION {
                size += send(&to, writer.take()).await?;
            }
        }
    }
    let (rest, summary) = writer.finish()?;
    size += send(&to, rest).await?;
    Ok(Made { head, summary, size })
}

async fn send(to: &mpsc::Sender<Bytes>, bytes: Vec<u8>) -> Result<u64, BackupError> {
    let size = bytes.len() as u64;
    to.send(bytes.into()).await.map_err(|_| BackupError::Gone)?;
    Ok(size)
}

async fn head(snapshot: &mut Snapshot, new: &NewBackup) -> Result<Head, BackupError> {
    let known = Store::schema_known();
    match snapshot.version {
        0 => return Err(BackupError::Nothing),
        found if found > known => return Err(BackupError::SchemaTooNew { found, known }),
        _ => {}
    }
    if snapshot.setting_get(RESTORE_UNFINISHED).await?.is_some() {
        return Err(BackupError::HalfRestored);
    }
    let installation = snapshot.setting_get(INSTALLATION).await?.unwrap_or_default();
    let mut needs_keys: Vec<String> =
        snapshot.secret_keys().await?.into_iter().map(|(id, _)| id.to_string()).collect();
    let authority = crate::bootstrap::sealed_with(snapshot).await?;
    needs_keys.extend(authority.map(|id| id.to_string()));
    needs_keys.sort();
    needs_keys.dedup();
    Ok(Head {
        product: new.product.clone(),
        schema: snapshot.version,
        installation: String::from_utf8_lossy(&installation).into_owned(),
        time: new.time,
        digest: "blake3".to_owned(),
        lock: new.sealing.as_ref().map(|sealing| sealing.lock.clone()),
        needs_keys,
        has_keys: new.keys.is_some(),
        has_content: new.has_content,
    })
}
