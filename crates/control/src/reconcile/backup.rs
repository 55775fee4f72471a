//! Makes the backups that the configuration asks for: into a directory of this server, one at a time in the
//! whole installation, read back before it counts, the oldest removed.
//!
//! The line of an attempt is written before it begins (`store::backup_attempt`), so two servers do not make
//! the same one, and one that died over it is seen. What failed is told once, and tried again.

use std::io::Write as _;
use std::path::PathBuf;

use bytes::Bytes;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::backup_due;
use hostler_model::backup::BackupAttempt;
use hostler_model::{BackupPayload, Error, EventKind, ObjectKind, ObjectRef};
use hostler_trust::LockKey;
use serde::Serialize;
use tokio::sync::mpsc;

use super::pass;
use crate::backup::{BackupError, Made, NewBackup, Shelf, create};
use crate::{BackupConfig, Control, Stateless};

/// The loop that makes backups.
pub struct BackupKeeper {
    control: Control,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// The file that was made.
    pub made: Option<String>,
    /// Files that were removed for it.
    pub removed: usize,
}

impl BackupKeeper {
    pub(super) fn new(control: Control) -> BackupKeeper {
        BackupKeeper { control }
    }

    async fn keep(&self) -> Result<Pass<BackupReport>, Error> {
        let control = &self.control;
        let Some(config) = &control.config.backup else {
            return Ok(Pass::done(BackupReport::default()));
        };
        let now = control.now();
        let mut read = control.store.read().await?;
        let last = read.backup_attempts(1).await?.into_iter().next();
        let good = read.backup_last_good().await?;
        drop(read);
        let due = backup_due::next(config.every, good.as_ref(), last.as_ref(), now);
        let is_asked = control.take_backup_wish();
        if due > now && !is_asked {
            return Ok(Pass::done(BackupReport::default()).due_at(Some(due)));
        }
        let attempt = BackupAttempt {
            id: control.ids.fresh(),
            server_name: control.server_name.clone(),
            file: Shelf::name(now),
            size: 0,
            digest: None,
            problem: None,
            time_created: now,
            time_ended: None,
        };
        let newest = last.as_ref().map(|last| last.id);
        let begun = &attempt;
        let is_ours = control
            .store
            .tx("backup_begin", |tx| Box::pin(tx.backup_attempt_begin(begun, newest)))
            .await?;
        if !is_ours {
            return Ok(Pass::done(BackupReport::default()));
        }
        let made = control.backup_to_shelf(config, &attempt).await;
        let was_well = last.is_none_or(|last| last.problem.is_none());
        control.backup_ended(attempt.clone(), made, was_well).await?;
        let shelf = Shelf::new(&config.directory);
        let keep = config.keep;
        let removed = blocking(move || shelf.tidy(keep)).await?.len();
        Ok(Pass::done(BackupReport { made: Some(attempt.file), removed }))
    }
}

impl Control {
    /// Writes a file, reads it back, and gives it its name.
    async fn backup_to_shelf(
        &self,
        config: &BackupConfig,
        attempt: &BackupAttempt,
    ) -> Result<Made, BackupError> {
        let (shelf, key_file) = (Shelf::new(&config.directory), config.key_file.clone());
        let key = blocking({
            let shelf = shelf.clone();
            move || {
                shelf.prepare()?;
                let load = |path: PathBuf| hostler_trust::MasterKey::load(&path);
                Ok(key_file.map(load).transpose()?.map(LockKey::File))
            }
        })
        .await?;
        let keys = config.has_master_key.then_some(&self.keyring);
        let new = NewBackup::checked(
            env!("CARGO_PKG_VERSION"),
            attempt.time_created,
            key.as_ref(),
            keys,
            config.has_content,
        )?;
        let draft = shelf.draft(&attempt.file);
        let (to, from) = mpsc::channel(2);
        let (made, written) =
            tokio::join!(create(&self.store, new, to), write_file(draft.clone(), from));
        written?;
        let made = made?;
        let name = attempt.file.clone();
        let expected = made.summary.clone();
        blocking(move || {
            let file = std::fs::File::open(&draft).map_err(BackupError::disk("opened", &draft))?;
            let file = std::io::BufReader::new(file);
            let found = hostler_backup::verify(hostler_backup::Opened::new(file)?, key.as_ref())?;
            if found != expected {
                let place = "between writing and reading it".to_owned();
                return Err(hostler_backup::Error::Damaged { place }.into());
            }
            shelf.publish(&name).map(drop)
        })
        .await?;
        Ok(made)
    }

    /// Notes how it ended, and tells of it: of every one that was made, and of the first that was not.
    async fn backup_ended(
        &self,
        attempt: BackupAttempt,
        made: Result<Made, BackupError>,
        was_well: bool,
    ) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Backup, attempt.id, &attempt.file);
        let ended = Some(self.now());
        let (attempt, event, audit) = match made {
            Ok(made) => {
                let message = format!("{} rows, {} bytes", made.summary.rows, made.size);
                let detail = serde_json::json!({
                    "rows": made.summary.rows,
                    "digest": made.summary.digest,
                    "isSealed": made.head.lock.is_some(),
                    "hasMasterKey": made.head.has_keys,
                });
                let audit = self.audit_system(Stateless::BackupCreate, &object, None, detail);
                let (size, digest) = (made.size, Some(made.summary.digest));
                let payload = BackupPayload {
                    server: Some(attempt.server_name.clone()),
                    rows: Some(made.summary.rows),
                    size: Some(size),
                    digest,
                    is_sealed: Some(made.head.lock.is_some()),
                    ..BackupPayload::default()
                };
                let attempt = BackupAttempt { size, digest, time_ended: ended, ..attempt };
                (attempt, Some((EventKind::BackupCreated, message, payload)), Some(audit))
            }
            Err(error) => {
                let problem = hostler_base::chain(&error).to_string();
                tracing::error!(problem, "a backup could not be made");
                let payload = BackupPayload {
                    server: Some(attempt.server_name.clone()),
                    problem: Some(problem.clone()),
                    ..BackupPayload::default()
                };
                let event = was_well.then(|| (EventKind::BackupFailed, problem.clone(), payload));
                let problem = Some(problem);
                (BackupAttempt { problem, time_ended: ended, ..attempt }, event, None)
            }
        };
        let event = event.map(|(kind, message, payload)| {
            self.event(kind, None, &object, self.system_actor(), message).with_payload(payload)
        });
        let (attempt, events, audits) = (&attempt, &Vec::from_iter(event), &Vec::from_iter(audit));
        self.store
            .tx("backup_end", |tx| {
                Box::pin(async move {
                    tx.backup_attempt_end(attempt).await?;
                    if !events.is_empty() {
                        tx.journal_append(events, audits).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    /// The loop that makes backups.
    pub fn backup_reconciler(&self) -> BackupKeeper {
        BackupKeeper::new(self.clone())
    }
}

async fn write_file(path: PathBuf, mut from: mpsc::Receiver<Bytes>) -> Result<(), BackupError> {
    blocking(move || {
        let failed = |source| BackupError::Disk { verb: "written", path: path.clone(), source };
        let mut file = Shelf::create_file(&path).map_err(failed)?;
        while let Some(bytes) = from.blocking_recv() {
            file.write_all(&bytes).map_err(failed)?;
        }
        file.sync_all().map_err(failed)
    })
    .await
}

/// Work that waits for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(BackupError::Gone),
    }
}

impl Reconciler for BackupKeeper {
    const NAME: &'static str = "backup";
    const DESCRIPTION: &'static str = "makes the backups that the configuration asks for";
    type Report = BackupReport;

    async fn reconcile(&mut self) -> Pass<BackupReport> {
        pass(self.keep().await)
    }
}
