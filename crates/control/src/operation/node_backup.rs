//! The steps of keeping what is on a node, of reading through what is kept, and of putting it back.
//!
//! The node does the work, as a job of its own: asking tells how it stands, and begins it where nobody has. So a
//! server that dies loses nothing, and an agent that dies begins again with what it sent. A backup is read through
//! by the server that carries its operation on, a portion at a time; another server begins anew.

use std::sync::PoisonError;
use std::time::Duration;

use hostler_blob::Hasher;
use hostler_model::host::HostAsk;
use hostler_model::{
    BackupVerdict, BackupVolume, BlobScope, Code, Digest, Error, EventKind, JobState, NodeBackup,
    NodeBackupEvent, NodeBackupId, NodeBackupOutcome, NodeBackupPayload, NodeBackupState, NodeId,
    ObjectKind, ObjectRef, Operation, OperationPayload, RestoreOrder, RestoreOutcome, RestoreSpec,
    Timestamp,
};
use serde_json::json;

use super::image::is_passing;
use super::{Ended, StepOutcome};
use crate::service::{ListReader, backup_object};
use crate::{BlobReader, Control, Stateless, audit_state};

/// How long one portion of reading through takes.
const PORTION: Duration = Duration::from_secs(2);
/// The most volumes of one backup.
const VOLUMES_MAX: usize = 1 << 20;

/// How far a backup was read through.
pub(crate) struct Verification {
    volumes: std::vec::IntoIter<BackupVolume>,
    list: Option<ListReader>,
    open: Option<(BackupVolume, BlobReader, Hasher)>,
    read: u64,
    total: u64,
}

impl Control {
    pub(super) async fn step_backup(
        &self,
        operation: &Operation,
        node: NodeId,
        id: NodeBackupId,
        until: Timestamp,
        keep: Option<u32>,
    ) -> Result<StepOutcome, Error> {
        let Some(mut backup) = self.store.read().await?.node_backup_get(id).await? else {
            return Ok(StepOutcome::Failed("the backup was removed meanwhile".into()));
        };
        match backup.state {
            NodeBackupState::Complete => return self.backup_kept(&backup, keep).await,
            NodeBackupState::Failed => {
                let why = backup.error.unwrap_or_else(|| "it was given up".to_owned());
                return Ok(StepOutcome::Failed(why));
            }
            NodeBackupState::Waiting => {
                self.backup_move(&mut backup, NodeBackupEvent::Begun, None).await?;
            }
            NodeBackupState::Running => {}
        }
        if self.present(node).await?.is_none() {
            return self.backup_give_up(backup, "the node was removed meanwhile".into()).await;
        }
        let ask = |spec| HostAsk::Backup { job: operation.id, spec };
        let mut told = self.host_job::<NodeBackupOutcome>(node, ask(None)).await;
        if matches!(told, Ok(JobState::Unknown)) && self.now() < until {
            told = self.host_job(node, ask(Some(backup.spec.clone()))).await;
        }
        let why = match told {
            Ok(JobState::Done { content: Some(outcome) }) => {
                match self.outcome_problem(&backup, &outcome).await? {
                    None => return self.backup_complete(backup, outcome, keep).await,
                    Some(why) => why,
                }
            }
            Ok(JobState::Done { content: None }) => {
                "the node says that it is done, but not what it kept".to_owned()
            }
            Ok(JobState::Going { .. } | JobState::Unknown) if self.now() >= until => {
                self.host_forget(node, operation.id).await;
                "it takes too long".to_owned()
            }
            Ok(JobState::Going { words }) => return Ok(StepOutcome::Wait(words)),
            Ok(JobState::Unknown) => return Ok(StepOutcome::Wait("it begins".into())),
            Ok(JobState::Failed { why }) => why,
            Err(error) if is_passing(&error) && self.now() < until => {
                return Ok(StepOutcome::Wait("the node cannot be reached now".into()));
            }
            Err(error) => error.detail,
        };
        self.backup_give_up(backup, why).await
    }

    /// A node names only what it put itself, for this backup.
    async fn outcome_problem(
        &self,
        backup: &NodeBackup,
        outcome: &NodeBackupOutcome,
    ) -> Result<Option<String>, Error> {
        if outcome.volumes.len() > VOLUMES_MAX {
            return Ok(Some("the node names too many volumes".to_owned()));
        }
        let (scope, holder) = (BlobScope::Backup(backup.store), backup.id.to_string());
        let mut read = self.store.read().await?;
        for volume in outcome.blobs() {
            let is_its = read.blob_use_has(scope, volume.digest, &holder).await?;
            let blob = read.blob_get(scope, volume.digest).await?;
            if !is_its || blob.is_none_or(|blob| blob.size != volume.size) {
                let digest = volume.digest;
                return Ok(Some(format!("the node names {digest}, which it did not send")));
            }
        }
        Ok(None)
    }

    async fn backup_complete(
        &self,
        mut backup: NodeBackup,
        outcome: NodeBackupOutcome,
        keep: Option<u32>,
    ) -> Result<StepOutcome, Error> {
        backup.outcome = Some(outcome);
        self.backup_move(&mut backup, NodeBackupEvent::Told, None).await?;
        self.backup_kept(&backup, keep).await
    }

    /// What follows once it is complete; may be done twice.
    async fn backup_kept(
        &self,
        backup: &NodeBackup,
        keep: Option<u32>,
    ) -> Result<StepOutcome, Error> {
        let Some(outcome) = &backup.outcome else {
            return Ok(StepOutcome::Failed("nothing is known of what was kept".into()));
        };
        let kept: Vec<Digest> = outcome.blobs().iter().map(|blob| blob.digest).collect();
        self.node_backup_let_go(backup, &kept).await?;
        if let Some(keep) = keep {
            self.node_backup_expire(backup.node_id, &backup.label, keep).await?;
        }
        Ok(StepOutcome::Done(outcome.words()))
    }

    async fn backup_give_up(
        &self,
        mut backup: NodeBackup,
        why: String,
    ) -> Result<StepOutcome, Error> {
        self.backup_move(&mut backup, NodeBackupEvent::GaveUp, Some(why.clone())).await?;
        self.node_backup_let_go(&backup, &[]).await?;
        Ok(StepOutcome::Failed(why))
    }

    /// It was cancelled.
    pub(super) async fn backup_cancelled(
        &self,
        operation: &Operation,
        node: NodeId,
        id: NodeBackupId,
    ) -> Result<(), Error> {
        self.host_forget(node, operation.id).await;
        let found = self.store.read().await?.node_backup_get(id).await?;
        match found {
            Some(backup) if !backup.state.is_settled() => {
                self.backup_give_up(backup, "it was cancelled".to_owned()).await.map(drop)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Another state, with what is to be told of it.
    async fn backup_move(
        &self,
        backup: &mut NodeBackup,
        event: NodeBackupEvent,
        error: Option<String>,
    ) -> Result<(), Error> {
        let Some(state) = backup.state.apply(event) else { return Ok(()) };
        let before = audit_state::node_backup(backup);
        let expected = backup.generation;
        backup.state = state;
        backup.error = error;
        backup.generation = expected.next();
        backup.time_ended = state.is_settled().then(|| self.now());
        let (kind, action, message) = match state {
            NodeBackupState::Complete => {
                let words = backup.outcome.as_ref().map(NodeBackupOutcome::words);
                (EventKind::NodeBackedUp, "node.backed-up", words.unwrap_or_default())
            }
            NodeBackupState::Failed => {
                let why = backup.error.clone().unwrap_or_default();
                (EventKind::NodeBackupFailed, "node.backup-failed", why)
            }
            NodeBackupState::Waiting | NodeBackupState::Running => {
                return self.backup_save(backup, expected, None).await;
            }
        };
        let object = backup_object(backup);
        let message = format!("backup {}: {message}", backup.called());
        let event = self
            .event(kind, None, &object, backup.created_by.clone(), message)
            .with_payload(NodeBackupPayload {
                operation: Some(backup.operation_id),
                reason: backup.error.clone(),
                ..NodeBackupPayload::from(&*backup)
            });
        let detail = json!({ "backup": backup.id, "by": backup.created_by.name });
        let audit = self
            .audit_system(action, &object, None, detail)
            .with_states(Some(&before), Some(&audit_state::node_backup(backup)));
        self.backup_save(backup, expected, Some((event, audit))).await
    }

    async fn backup_save(
        &self,
        backup: &NodeBackup,
        expected: hostler_model::Generation,
        told: Option<(hostler_model::NewEvent, hostler_model::NewAuditEntry)>,
    ) -> Result<(), Error> {
        let told = &told;
        self.store
            .tx("node_backup_save", |tx| {
                Box::pin(async move {
                    let update = tx.node_backup_update(backup, expected).await?;
                    update.required("node backup", backup.id)?;
                    if let Some((event, audit)) = told {
                        let told = (std::slice::from_ref(event), std::slice::from_ref(audit));
                        tx.journal_append_of(backup.operation_id, told.0, told.1).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    pub(super) async fn step_verify(
        &self,
        operation: &Operation,
        id: NodeBackupId,
    ) -> Result<StepOutcome, Error> {
        let Some(backup) = self.store.read().await?.node_backup_get(id).await? else {
            self.verification_forget(operation);
            return Ok(StepOutcome::Failed("the backup was removed meanwhile".into()));
        };
        let known = self
            .backup_desk
            .verifications
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&operation.id);
        let mut verification = match known.or_else(|| Verification::new(self, &backup)) {
            Some(verification) => verification,
            None => return Ok(StepOutcome::Failed("there is nothing in this backup".into())),
        };
        let problem = match verification.carry_on(self, &backup).await {
            Ok(true) => None,
            Ok(false) => {
                let words = verification.words();
                self.backup_desk
                    .verifications
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(operation.id, verification);
                self.wakers.operation.wake();
                return Ok(StepOutcome::Wait(words));
            }
            Err(error) if matches!(error.code, Code::Unavailable | Code::Stale) => {
                return Err(error);
            }
            Err(error) => Some(hostler_base::chain(&error).to_string()),
        };
        self.verified(operation, backup, problem).await
    }

    async fn verified(
        &self,
        operation: &Operation,
        mut backup: NodeBackup,
        problem: Option<String>,
    ) -> Result<StepOutcome, Error> {
        let object = backup_object(&backup);
        let (before, expected) = (audit_state::node_backup(&backup), backup.generation);
        backup.verdict = Some(BackupVerdict { time: self.now(), problem: problem.clone() });
        backup.generation = expected.next();
        let actor = operation.created_by.clone();
        let (kind, words) = match &problem {
            None => (EventKind::OperationProgressed, "everything is there and right".to_owned()),
            Some(why) => (EventKind::NodeBackupDamaged, why.clone()),
        };
        let about = match &problem {
            None => ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label()),
            Some(_) => object.clone(),
        };
        let message = format!("backup {}: {words}", backup.called());
        let event = self.event(kind, None, &about, actor, message);
        let event = match &problem {
            None => event.with_payload(OperationPayload::from(operation)),
            Some(why) => event.with_payload(NodeBackupPayload {
                operation: Some(operation.id),
                reason: Some(why.clone()),
                ..NodeBackupPayload::from(&backup)
            }),
        };
        let detail = json!({ "backup": backup.id, "problem": problem });
        let audit = self
            .audit_system("node.backup-verified", &object, None, detail)
            .with_states(Some(&before), Some(&audit_state::node_backup(&backup)));
        self.backup_save(&backup, expected, Some((event, audit))).await?;
        Ok(match problem {
            None => StepOutcome::Done(words),
            Some(why) => StepOutcome::Failed(format!("the backup is not whole: {why}")),
        })
    }

    pub(super) fn verification_forget(&self, operation: &Operation) {
        let mut known =
            self.backup_desk.verifications.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&operation.id);
    }

    pub(super) async fn step_restore(
        &self,
        operation: &Operation,
        (node, id): (NodeId, NodeBackupId),
        spec: &RestoreSpec,
        until: Timestamp,
    ) -> Result<StepOutcome, Error> {
        let Some(present) = self.present(node).await? else {
            return Ok(StepOutcome::Failed("the node was removed meanwhile".into()));
        };
        let found = self.store.read().await?.node_backup_get(id).await?;
        let Some((backup, outcome)) =
            found.and_then(|backup| backup.outcome.clone().map(|outcome| (backup, outcome)))
        else {
            self.host_forget(node, operation.id).await;
            return Ok(StepOutcome::Failed("the backup was removed meanwhile".into()));
        };
        let ask = |order| HostAsk::Restore { job: operation.id, order };
        let mut told = self.host_job::<RestoreOutcome>(node, ask(None)).await;
        if matches!(told, Ok(JobState::Unknown)) && self.now() < until {
            let order = RestoreOrder {
                backup: id,
                manifest: outcome.manifest,
                volumes: outcome.volumes,
                spec: spec.clone(),
            };
            told = self.host_job(node, ask(Some(Box::new(order)))).await;
        }
        let object = ObjectRef::new(ObjectKind::Node, present.id, &present.name);
        let why = match told {
            Ok(JobState::Done { content: Some(outcome) }) => {
                let ended = self.restored(operation, (&object, &backup), spec, outcome);
                return Ok(StepOutcome::Ended(Box::new(ended)));
            }
            Ok(JobState::Done { content: None }) => {
                "the node says that it is done, but not what came of it".to_owned()
            }
            Ok(JobState::Going { .. } | JobState::Unknown) if self.now() >= until => {
                self.host_forget(node, operation.id).await;
                "it takes too long; part of it may be there".to_owned()
            }
            Ok(JobState::Going { words }) => return Ok(StepOutcome::Wait(words)),
            Ok(JobState::Unknown) => return Ok(StepOutcome::Wait("it begins".into())),
            Ok(JobState::Failed { why }) => why,
            Err(error) if is_passing(&error) && self.now() < until => {
                return Ok(StepOutcome::Wait("the node cannot be reached now".into()));
            }
            Err(error) => error.detail,
        };
        let ended = self.restore_failed(operation, (&object, &backup), why, None);
        Ok(StepOutcome::Ended(Box::new(ended)))
    }

    fn restored(
        &self,
        operation: &Operation,
        (object, backup): (&ObjectRef, &NodeBackup),
        spec: &RestoreSpec,
        outcome: RestoreOutcome,
    ) -> Ended {
        let words = outcome.words(spec.check);
        if outcome.failed > 0 && !spec.check {
            let first = outcome.troubles.first();
            let first = first.map(|trouble| format!("; {}: {}", trouble.path, trouble.why));
            let why = format!("{words}{}", first.unwrap_or_default());
            return self.restore_failed(operation, (object, backup), why, Some(outcome));
        }
        let actor = operation.created_by.clone();
        let message = format!("backup {}: {words}", backup.called());
        let detail = json!({ "operation": operation.id, "backup": backup.id, "spec": spec });
        let (event, audit) = match spec.check {
            true => {
                let about =
                    ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label());
                let kind = EventKind::OperationProgressed;
                let event = self
                    .event(kind, None, &about, actor, message)
                    .with_payload(OperationPayload::from(operation));
                (event, self.audit_system(Stateless::NodeRestoreCheck, object, None, detail))
            }
            false => {
                let event = self
                    .event(EventKind::NodeRestored, None, object, actor, message)
                    .with_payload(NodeBackupPayload {
                        operation: Some(operation.id),
                        files: Some(outcome.files),
                        bytes: Some(outcome.bytes),
                        directory: Some(outcome.directory.clone()),
                        ..NodeBackupPayload::from(backup)
                    });
                let after = json!({
                    "backup": backup.id,
                    "directory": outcome.directory,
                    "files": outcome.files,
                    "kept": outcome.kept,
                });
                let audit = self.audit_system("node.restored", object, None, detail);
                (event, audit.with_states(None, Some(&after)))
            }
        };
        let result = serde_json::to_value(outcome).ok();
        Ended { is_well: true, message: words, result, event, audit }
    }

    fn restore_failed(
        &self,
        operation: &Operation,
        (object, backup): (&ObjectRef, &NodeBackup),
        why: String,
        outcome: Option<RestoreOutcome>,
    ) -> Ended {
        let actor = operation.created_by.clone();
        let message = format!("backup {}: {why}", backup.called());
        let event = self
            .event(EventKind::NodeRestoreFailed, None, object, actor, message)
            .with_payload(NodeBackupPayload {
                operation: Some(operation.id),
                reason: Some(why.clone()),
                ..NodeBackupPayload::from(backup)
            });
        let detail = json!({ "operation": operation.id, "backup": backup.id, "why": why });
        let audit = self.audit_system(Stateless::NodeRestoreFailed, object, None, detail);
        let result = outcome.and_then(|outcome| serde_json::to_value(outcome).ok());
        Ended { is_well: false, message: why, result, event, audit }
    }
}

impl Verification {
    fn new(control: &Control, backup: &NodeBackup) -> Option<Verification> {
        let outcome = backup.outcome.as_ref()?;
        let blobs = outcome.blobs();
        Some(Verification {
            total: blobs.iter().map(|blob| blob.size).sum(),
            volumes: blobs.into_iter(),
            list: ListReader::new(control, backup),
            open: None,
            read: 0,
        })
    }

    fn words(&self) -> String {
        let (read, total) = (self.read, self.total);
        let size = hostler_model::Bytes::new;
        format!("{} of {} are read through", size(read), size(total))
    }

    /// Reads for a while; true when all of it was right.
    async fn carry_on(&mut self, control: &Control, backup: &NodeBackup) -> Result<bool, Error> {
        let until = control.clock.instant() + PORTION;
        let scope = BlobScope::Backup(backup.store);
        while control.clock.instant() < until {
            if self.open.is_none() {
                match self.volumes.next() {
                    Some(volume) => {
                        let reader = BlobReader::of_blob(control.clone(), scope, volume.digest, 0);
                        self.open = Some((volume, reader, Hasher::new()));
                    }
                    None => match &mut self.list {
                        // The list is right, byte by byte; it has to make sense too.
                        Some(list) => {
                            if list.next().await?.is_none() {
                                self.list = None;
                            }
                            continue;
                        }
                        None => return Ok(true),
                    },
                }
            }
            let Some((volume, reader, hasher)) = &mut self.open else { continue };
            match reader.next().await {
                Ok(Some(bytes)) => {
                    hasher.update(&bytes);
                    self.read += bytes.len() as u64;
                }
                Ok(None) if hasher.digest() == volume.digest => self.open = None,
                Ok(None) => {
                    let detail = format!("the volume {} has other bytes", volume.digest);
                    return Err(Error::conflict(detail, "make another backup"));
                }
                Err(error) => {
                    if let Some(digest) = reader.damaged() {
                        control.backup_chunk_drop(backup.store, digest).await?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(false)
    }
}
