//! Backups, as people ask for them and see them.

use std::time::Duration;

use hostler_engine::backup_due;
use hostler_model::backup::BackupAttempt;
use hostler_model::{BackupPayload, Code, Error, EventKind, ObjectKind, ObjectRef, Timestamp};
use serde_json::json;

use crate::backup::{BackupStream, Kept, NewBackup, Sealing, Shelf, stream};
use crate::{Control, Cx, Stateless};

/// How the backups are that servers make by themselves.
#[derive(Clone, Debug)]
pub struct BackupSchedule {
    /// Absent when they make none.
    pub directory: Option<std::path::PathBuf>,
    pub every: Duration,
    pub keep: usize,
    pub is_sealed: bool,
    pub has_master_key: bool,
    pub has_content: bool,
    pub last_good: Option<BackupAttempt>,
    pub last: Option<BackupAttempt>,
    pub next: Option<Timestamp>,
    pub is_overdue: bool,
}

const ATTEMPTS_SHOWN: u32 = 50;

impl Control {
    /// Everything there is, for who asked. The entry in the audit trail comes first, so that it is in the
    /// backup too. Master keys are never in it.
    pub async fn backup_create(
        &self,
        cx: &Cx,
        sealing: Option<Sealing>,
        has_content: bool,
    ) -> Result<(Timestamp, BackupStream), Error> {
        if let Some(sealing) = &sealing
            && !sealing.lock.fits(&sealing.key)
        {
            return Err(Error::new(
                Code::Malformed,
                "the key is not the one of the lock",
                "send the lock that was made with the key",
            ));
        }
        let now = self.now();
        let name = Shelf::name(now);
        let object = ObjectRef::new(ObjectKind::Backup, now, &name);
        let detail = json!({ "isSealed": sealing.is_some(), "hasContent": has_content });
        let audit = self.audit(cx, Stateless::BackupCreate, &object, None, detail);
        let event = self
            .event(EventKind::BackupCreated, None, &object, cx.actor(), "sent to who asked")
            .with_payload(BackupPayload {
                server: Some(self.server_name.clone()),
                is_sealed: Some(sealing.is_some()),
                has_content: Some(has_content),
                ..BackupPayload::default()
            });
        let (event, audit) = (&event, &audit);
        self.store
            .tx("backup_create", |tx| {
                Box::pin(async move {
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        let new = NewBackup {
            product: env!("CARGO_PKG_VERSION").to_owned(),
            time: now,
            sealing,
            keys: None,
            has_content,
        };
        Ok((now, stream(self.store.clone(), new)))
    }

    /// What servers made by themselves or tried to, newest first; and what is in this server's directory.
    pub async fn backup_list(&self, _: &Cx) -> Result<(Vec<BackupAttempt>, Vec<Kept>), Error> {
        let attempts = self.store.read().await?.backup_attempts(ATTEMPTS_SHOWN).await?;
        let Some(config) = &self.config.backup else { return Ok((attempts, Vec::new())) };
        let shelf = Shelf::new(&config.directory);
        let kept = tokio::task::spawn_blocking(move || shelf.list()).await;
        let kept =
            kept.map_err(|e| Error::unavailable("the directory cannot be read now", e))??;
        Ok((attempts, kept))
    }

    pub async fn backup_schedule(&self) -> Result<BackupSchedule, Error> {
        let mut read = self.store.read().await?;
        let last = read.backup_attempts(1).await?.into_iter().next();
        let last_good = read.backup_last_good().await?;
        let now = self.now();
        let config = self.config.backup.clone().unwrap_or_default();
        let is_planned = self.config.backup.is_some();
        let next = is_planned
            .then(|| backup_due::next(config.every, last_good.as_ref(), last.as_ref(), now));
        let good_since = last_good.as_ref().map(|good| good.time_created);
        let is_overdue =
            is_planned && backup_due::is_overdue(config.every, good_since, self.time_started, now);
        Ok(BackupSchedule {
            directory: is_planned.then_some(config.directory),
            every: config.every,
            keep: config.keep,
            is_sealed: config.key_file.is_some(),
            has_master_key: config.has_master_key,
            has_content: config.has_content,
            last_good,
            last,
            next,
            is_overdue,
        })
    }

    /// Makes one now, as if it were due.
    pub async fn backup_now(&self, _: &Cx) -> Result<BackupSchedule, Error> {
        if self.config.backup.is_none() {
            return Err(Error::new(
                Code::Conflict,
                "this server makes no backups by itself",
                "set `directory` in the section `[backup]` of its configuration, or use `hostler backup create`",
            ));
        }
        self.wish_backup();
        self.wakers.backup.wake();
        self.backup_schedule().await
    }
}
