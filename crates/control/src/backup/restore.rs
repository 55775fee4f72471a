//! A file becomes a database.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use hostler_backup::{Head, Item, Opened, Reader, Summary, TableHasher, verify};
use hostler_model::backup::{Cell, TableSum};
use hostler_model::{
    Actor, ActorKind, BackupPayload, EventKind, NewAuditEntry, NewEvent, ObjectKind, ObjectRef,
    Span, Timestamp,
};
use hostler_store::{Occupancy, OpenOptions, RESTORE_UNFINISHED, RESTORED, Store, StoredTable};
use hostler_trust::{LockKey, MasterKey};

use super::BackupError;
use crate::Stateless;

/// Rows go into one transaction until they are so many, or hold so much.
const BATCH_ROWS: usize = 5000;
const BATCH_BYTES: usize = 8 << 20;

/// A server that was heard of so recently works on the database; it says so every few seconds.
const ALIVE: Duration = Duration::from_secs(30);

/// What was restored.
#[derive(Clone, Debug)]
pub struct Restored {
    pub head: Head,
    pub summary: Summary,
    /// The master keys that were in it, the present one first.
    pub keys: Vec<MasterKey>,
    /// Nodes that will be asked what they hold.
    pub nodes: u64,
}

/// Reads a file into a database that is empty, or may be emptied. No server may work on it: one that does all the
/// same notices, and stops.
pub async fn restore(
    store: &Store,
    file: &Path,
    key: Option<&LockKey>,
    may_overwrite: bool,
    now: Timestamp,
) -> Result<Restored, BackupError> {
    let head = open(file)?.head().clone();
    let known = Store::schema_known();
    if head.schema > known {
        return Err(BackupError::SchemaTooNew { found: head.schema, known });
    }
    let occupancy = store.occupancy().await?;
    match &occupancy {
        Occupancy::Empty | Occupancy::HalfRestored => {}
        Occupancy::Occupied(_) if may_overwrite => {}
        Occupancy::Occupied(tables) => return Err(BackupError::Occupied(tables.clone())),
        Occupancy::Foreign(tables) => return Err(BackupError::Foreign(tables.clone())),
    }
    let expected = verify(open(file)?, key)?;
    if let Occupancy::Occupied(_) = occupancy {
        let alive = alive(store, now).await?;
        if !alive.is_empty() {
            return Err(BackupError::Alive(alive));
        }
    }
    store.restore_begin(head.schema).await?;
    let (keys, summary) = load(store, open(file)?.unlock(key)?).await?;
    if summary != expected {
        return Err(hostler_backup::Error::Damaged { place: "while it was read".into() }.into());
    }
    compare(store, &summary.tables).await?;
    store.migrate().await?;
    let nodes = settle(store, &head, now).await?;
    Ok(Restored { head, summary, keys, nodes })
}

/// Restores into a database that is thrown away, which shows that it can be done.
pub async fn drill(
    file: &Path,
    key: Option<&LockKey>,
    now: Timestamp,
) -> Result<Restored, BackupError> {
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await?;
    let restored = restore(&store, file, key, false, now).await;
    store.close().await;
    restored
}

async fn alive(store: &Store, now: Timestamp) -> Result<Vec<String>, BackupError> {
    let servers = store.read().await?.server_list().await?.into_iter();
    let alive = servers.filter(|server| now.since(server.time_seen) < ALIVE);
    let told = alive.map(|server| {
        let ago = Span::from_secs(now.since(server.time_seen).as_secs());
        format!("{}, heard of {ago} ago", server.name)
    });
    Ok(told.collect())
}

fn open(file: &Path) -> Result<Opened<BufReader<File>>, BackupError> {
    let opened = File::open(file).map_err(BackupError::disk("opened", file))?;
    Ok(Opened::new(BufReader::with_capacity(256 << 10, opened))?)
}

async fn load(
    store: &Store,
    mut reader: Reader<BufReader<File>>,
) -> Result<(Vec<MasterKey>, Summary), BackupError> {
    let tables = store.read().await?.stored_tables().await?;
    let mut lacking: BTreeMap<&str, &StoredTable> =
        tables.iter().map(|table| (table.shape.name.as_str(), table)).collect();
    let (mut keys, mut batch) = (Vec::new(), Batch::default());
    let mut present = None;
    while let Some(item) = reader.next()? {
        match item {
            Item::Keys(found) => keys = found,
            Item::Table(shape) => {
                let table = lacking.remove(shape.name.as_str());
                let table = table.filter(|table| table.shape == shape);
                present = Some(table.ok_or(BackupError::OtherShape(shape.name))?);
            }
            Item::Row(row) => {
                batch.push(row);
                if let (true, Some(table)) = (batch.is_full(), present) {
                    batch.write(store, table).await?;
                }
            }
            Item::TableEnd(_) => {
                if let Some(table) = present.take() {
                    batch.write(store, table).await?;
                }
            }
            Item::End(summary) => {
                return match lacking.pop_first() {
                    None => Ok((keys, summary)),
                    Some((name, _)) => Err(BackupError::OtherShape(name.to_owned())),
                };
            }
        }
    }
    Err(hostler_backup::Error::Truncated.into())
}

#[derive(Default)]
struct Batch {
    rows: Vec<Vec<Cell>>,
    size: usize,
}

impl Batch {
    fn push(&mut self, row: Vec<Cell>) {
        self.size += row.iter().map(Cell::size).sum::<usize>();
        self.rows.push(row);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= BATCH_ROWS || self.size >= BATCH_BYTES
    }

    async fn write(&mut self, store: &Store, table: &StoredTable) -> Result<(), BackupError> {
        let rows = std::mem::take(self).rows;
        if rows.is_empty() {
            return Ok(());
        }
        // The mark is there already, and is no part of the backup.
        let rows = &rows;
        store
            .tx("restore_rows", |tx| Box::pin(tx.restore_rows(table, rows.clone())))
            .await
            .map_err(BackupError::Store)
    }
}

/// Reads everything back. The mark that is added is left out.
async fn compare(store: &Store, sums: &[TableSum]) -> Result<(), BackupError> {
    use futures::StreamExt as _;
    let mut snapshot = store.snapshot().await?;
    for table in snapshot.stored_tables().await? {
        let mut hasher = TableHasher::new(&table.shape)?;
        let mut rows = snapshot.rows(&table, true);
        while let Some(row) = rows.next().await {
            let row = row?;
            if !is_mark(&table, &row) {
                hasher.row(&row)?;
            }
        }
        let found = hasher.finish();
        if !sums.contains(&found) {
            return Err(BackupError::Differs(found.name));
        }
    }
    Ok(())
}

fn is_mark(table: &StoredTable, row: &[Cell]) -> bool {
    table.shape.name == "setting" && row.contains(&Cell::Text(RESTORE_UNFINISHED.to_owned()))
}

/// The last step: from here on servers start.
async fn settle(store: &Store, head: &Head, now: Timestamp) -> Result<u64, BackupError> {
    let actor = Actor { kind: ActorKind::System, name: "restore".to_owned() };
    let object = ObjectRef::new(ObjectKind::Backup, head.time, head.time);
    let event = NewEvent {
        kind: EventKind::BackupRestored,
        project_id: None,
        object: object.clone(),
        actor: actor.clone(),
        message: format!("everything is as it was at {}", head.time),
        payload: None,
        correlation: None,
        time: now,
    }
    .with_payload(BackupPayload {
        product: Some(head.product.clone()),
        is_sealed: Some(head.lock.is_some()),
        ..BackupPayload::default()
    });
    let detail = serde_json::json!({
        "product": head.product,
        "schema": head.schema,
        "installation": head.installation,
        "time": head.time,
    });
    let entry = NewAuditEntry {
        time: now,
        actor,
        action: Stateless::BackupRestore.action().to_owned(),
        object,
        project_id: None,
        request_id: String::new(),
        source: String::new(),
        detail,
        digest_before: None,
        digest_after: None,
    };
    let note = serde_json::json!({ "time": now, "backup": head.time, "product": head.product });
    let note = note.to_string().into_bytes();
    let (event, entry, note) = (&event, &entry, &note);
    let nodes = store
        .tx("restore_settle", |tx| {
            Box::pin(async move {
                let nodes = tx.restore_settle(now).await?;
                tx.setting_replace(RESTORED, note).await?;
                tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(entry)).await?;
                tx.setting_delete(RESTORE_UNFINISHED).await?;
                Ok::<_, hostler_store::Error>(nodes)
            })
        })
        .await?;
    Ok(nodes)
}
