//! Backups of paths of nodes: made, listed, looked into, verified, put back and removed.
//!
//! Who may make one reads everything on the machine, and who puts one back is root there: both are for admins, and
//! policies of approvals can hold both back. What takes time is an operation (`operation/node_backup.rs`).

use std::time::Duration;

use hostler_model::Need;
use hostler_model::node_backup::{BackupEntry, EntryList, LINE_MAX, backup_label_problem};
use hostler_model::{
    Actor, BackupStore, BlobScope, Code, Diagnostic, Error, EventKind, Generation, Limit, Name,
    NodeBackup, NodeBackupAction, NodeBackupId, NodeBackupPayload, NodeBackupSpec, NodeBackupState,
    NodeId, ObjectKind, ObjectRef, Operation, OperationPlan, Page, Permission, RestoreSpec,
    RestoreTo,
};
use hostler_store::{NodeBackupCount, NodeBackupFilter};
use serde_json::json;

use super::node::{deed, require_present};
use super::node_host::require_online;
use super::project::settled;
use crate::{BlobReader, Control, Cx, audit_state};

/// How long a backup, or putting one back, may take, with all that the node is away meanwhile.
const TIME: Duration = Duration::from_hours(48);
const KEEP_MAX: u32 = 10_000;
/// What a backup is not needed for any more is let go of in portions.
const DROPPED: usize = 16;

/// A backup to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNodeBackup {
    pub spec: NodeBackupSpec,
    pub store: BackupStore,
    pub label: String,
    /// How many of this node with this name are kept.
    pub keep: Option<u32>,
}

impl From<&NodeBackupAction> for NewNodeBackup {
    fn from(it: &NodeBackupAction) -> NewNodeBackup {
        let NodeBackupAction { node: _, paths, exclude, cross_filesystems, store, label, keep } =
            it.clone();
        let spec = NodeBackupSpec { paths, exclude, cross_filesystems };
        NewNodeBackup { spec, store, label, keep }
    }
}

impl NewNodeBackup {
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = self.spec.problems();
        let label = backup_label_problem(&self.label);
        problems.extend(label.map(|detail| Diagnostic::new("/label", detail)));
        match self.keep {
            Some(_) if self.label.is_empty() => {
                let detail = "only of backups with a name it is known which belong together";
                problems.push(Diagnostic::new("/keep", detail));
            }
            Some(keep) if !(1..=KEEP_MAX).contains(&keep) => {
                problems.push(Diagnostic::new("/keep", format!("1 to {KEEP_MAX}")));
            }
            Some(_) | None => {}
        }
        problems
    }
}

/// A part of the list of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupFiles {
    pub entries: Vec<BackupEntry>,
    /// Where to go on.
    pub next: Option<u64>,
}

/// Reads the list of a backup, line by line.
pub(crate) struct ListReader {
    reader: BlobReader,
    rest: Vec<u8>,
    is_over: bool,
    list: EntryList,
}

impl ListReader {
    pub(crate) fn new(control: &Control, backup: &NodeBackup) -> Option<ListReader> {
        let outcome = backup.outcome.as_ref()?;
        let scope = BlobScope::Backup(backup.store);
        let digest = outcome.manifest.digest;
        let total = outcome.volumes.iter().map(|volume| volume.size);
        Some(ListReader {
            reader: BlobReader::of_blob(control.clone(), scope, digest, 0),
            rest: Vec::new(),
            is_over: false,
            list: EntryList::new(total.fold(0, u64::saturating_add)),
        })
    }

    /// The next entry, or what is wrong with it.
    pub(crate) async fn next(&mut self) -> Result<Option<BackupEntry>, Error> {
        loop {
            if let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=at).collect();
                return self.list.entry(&line[..at]).map(Some).map_err(|e| broken(&e));
            }
            if self.is_over && self.rest.is_empty() {
                return Ok(None);
            }
            if self.is_over || self.rest.len() > LINE_MAX {
                return Err(broken(&std::io::Error::other("a line has no end")));
            }
            match self.reader.next().await? {
                Some(bytes) => self.rest.extend_from_slice(&bytes),
                None => self.is_over = true,
            }
        }
    }
}

fn broken(error: &(dyn std::error::Error + 'static)) -> Error {
    Error::conflict(
        format!("the list of the backup is not one: {}", hostler_base::chain(error)),
        "verify the backup, and make another one",
    )
}

impl Control {
    /// Has a node keep what is on paths of its machine.
    pub async fn node_backup_create(
        &self,
        cx: &Cx,
        node: &str,
        new: NewNodeBackup,
    ) -> Result<NodeBackup, Error> {
        let problems = new.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        self.require_backup_store(new.store)?;
        let node = self.node_find(node).await?;
        require_present(&node)?;
        require_online(&node)?;
        let NewNodeBackup { spec, store, label, keep } = new;
        let what = json!({ "node": node.id, "spec": spec, "store": store, "label": label });
        let pass = self.approval_pass(cx, &deed(Permission::NodeBackup, &node, what)).await?;
        let now = self.now();
        let id: NodeBackupId = self.ids.fresh();
        let plan =
            OperationPlan::NodeBackup { node: node.id, backup: id, until: now.plus(TIME), keep };
        let backup = |operation: &Operation| NodeBackup {
            id,
            node_id: node.id,
            node_name: node.name.clone(),
            label,
            store,
            spec,
            state: NodeBackupState::Waiting,
            operation_id: operation.id,
            outcome: None,
            error: None,
            verdict: None,
            created_by: cx.actor(),
            generation: Generation::FIRST,
            time_created: now,
            time_ended: None,
        };
        let operation =
            self.node_operation_with(cx, &node, plan, ("node.backup", &pass), backup).await?;
        match operation.plan {
            OperationPlan::NodeBackup { backup, .. } => self.node_backup_by_id(backup).await,
            _ => Err(Error::not_found("node backup", id)),
        }
    }

    /// Newest first.
    pub async fn node_backup_list(
        &self,
        _: &Cx,
        node: Option<&str>,
        filter: NodeBackupFilter,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<NodeBackup>, Error> {
        let node = match node {
            // A node that was removed has backups still.
            Some(text) => match text.parse::<NodeId>() {
                Ok(id) => Some(id),
                Err(_) => Some(self.node_find(text).await?.id),
            },
            None => None,
        };
        let filter = NodeBackupFilter { node, ..filter };
        let page = self.store.read().await?.node_backup_list(&filter, after, limit).await?;
        page.ok_or_else(|| {
            Error::new(Code::Malformed, "the cursor was not made by this list", "list again")
        })
    }

    /// By id, or the newest of a name.
    pub async fn node_backup_get(&self, _: &Cx, text: &str) -> Result<NodeBackup, Error> {
        self.node_backup_find(text).await
    }

    async fn node_backup_find(&self, text: &str) -> Result<NodeBackup, Error> {
        let mut read = self.store.read().await?;
        let found = match text.parse::<NodeBackupId>() {
            Ok(id) => read.node_backup_get(id).await?,
            Err(_) if text.is_empty() => None,
            Err(_) => read.node_backup_find(text).await?,
        };
        found.ok_or_else(|| Error::not_found("node backup", text))
    }

    pub(crate) async fn node_backup_by_id(&self, id: NodeBackupId) -> Result<NodeBackup, Error> {
        let found = self.store.read().await?.node_backup_get(id).await?;
        found.ok_or_else(|| Error::not_found("node backup", id))
    }

    /// What is in a backup, from the entry with this number on.
    pub async fn node_backup_files(
        &self,
        _: &Cx,
        text: &str,
        below: Option<&str>,
        after: u64,
        limit: Limit,
    ) -> Result<BackupFiles, Error> {
        let backup = self.node_backup_find(text).await?;
        let mut list = ListReader::new(self, &backup).ok_or_else(|| incomplete(&backup))?;
        let above = hostler_model::node_backup::path_within(below.unwrap_or_default());
        let (mut entries, mut number) = (Vec::new(), 0);
        while let Some(entry) = list.next().await? {
            number += 1;
            if number <= after || !entry.path.is_in(&above) {
                continue;
            }
            if entries.len() >= limit.get() as usize {
                return Ok(BackupFiles { entries, next: Some(number - 1) });
            }
            entries.push(entry);
        }
        Ok(BackupFiles { entries, next: None })
    }

    /// Has a backup read through.
    pub async fn node_backup_verify(&self, cx: &Cx, text: &str) -> Result<Operation, Error> {
        let backup = self.node_backup_find(text).await?;
        require_complete(&backup)?;
        self.require_backup_store(backup.store)?;
        let node = self.node_by_id(backup.node_id).await?;
        let plan = OperationPlan::NodeBackupVerify { node: node.id, backup: backup.id };
        let what = json!({ "node": node.id, "verify": backup.id });
        let pass = self.approval_pass(cx, &deed(Permission::NodeBackup, &node, what)).await?;
        self.node_operation(cx, &node, plan, "node.backup-verify", &pass).await
    }

    /// Has a backup put back, on its node or on another.
    pub async fn node_backup_restore(
        &self,
        cx: &Cx,
        text: &str,
        node: Option<&str>,
        spec: RestoreSpec,
    ) -> Result<Operation, Error> {
        // Putting back is to be root there, and what is put back was read on a machine.
        self.authorise(&cx.caller, Need::of(Permission::NodeBackup, None))?;
        let problems = spec.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let backup = self.node_backup_find(text).await?;
        require_complete(&backup)?;
        self.require_backup_store(backup.store)?;
        let node = match node {
            Some(node) => self.node_find(node).await?,
            None => self.node_by_id(backup.node_id).await?,
        };
        require_present(&node)?;
        require_online(&node)?;
        if spec.to == RestoreTo::InPlace && node.id != backup.node_id {
            return Err(Error::invalid(vec![Diagnostic::new(
                "/to",
                "in place is only where it came from; name a directory on another node",
            )]));
        }
        let what = json!({ "node": node.id, "restore": backup.id, "spec": spec });
        let pass = self.approval_pass(cx, &deed(Permission::NodeAdminister, &node, what)).await?;
        let until = self.now().plus(TIME);
        let plan = OperationPlan::NodeRestore { node: node.id, backup: backup.id, spec, until };
        self.node_operation(cx, &node, plan, "node.restore", &pass).await
    }

    /// Forgets a backup; what only it needed goes.
    pub async fn node_backup_remove(&self, cx: &Cx, text: &str) -> Result<(), Error> {
        let backup = self.node_backup_find(text).await?;
        if !backup.state.is_settled() {
            return Err(Error::conflict(
                "the backup is under way",
                format!("cancel it: `hostler operation cancel {}`", backup.operation_id),
            ));
        }
        let object = backup_object(&backup);
        let audit = self
            .audit(cx, "node.backup-remove", &object, None, json!({ "backup": backup.id }))
            .with_states(Some(&audit_state::node_backup(&backup)), None);
        self.node_backup_drop(&backup, cx.actor(), audit).await
    }

    /// Removes those of a node and a name that are more than are to be kept, oldest first.
    pub(crate) async fn node_backup_expire(
        &self,
        node: NodeId,
        label: &str,
        keep: u32,
    ) -> Result<(), Error> {
        let filter = NodeBackupFilter {
            node: Some(node),
            state: Some(NodeBackupState::Complete),
            label: Some(label.to_owned()),
        };
        let (mut after, mut seen): (Option<String>, u32) = (None, 0);
        loop {
            let mut read = self.store.read().await?;
            let page = read.node_backup_list(&filter, after.as_deref(), Limit::DEFAULT).await?;
            drop(read);
            let Some(page) = page else { return Ok(()) };
            for backup in page.items {
                seen += 1;
                if seen <= keep {
                    continue;
                }
                let detail = json!({ "backup": backup.id, "keep": keep });
                let audit = self
                    .audit_system("node.backup-remove", &backup_object(&backup), None, detail)
                    .with_states(Some(&audit_state::node_backup(&backup)), None);
                match self.node_backup_drop(&backup, self.system_actor(), audit).await {
                    Err(error) if error.code == Code::NotFound => {}
                    dropped => dropped?,
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn node_backup_drop(
        &self,
        backup: &NodeBackup,
        actor: Actor,
        audit: hostler_model::NewAuditEntry,
    ) -> Result<(), Error> {
        let message = format!("the backup {} is not kept any more", backup.called());
        let object = backup_object(backup);
        let event = &self
            .event(EventKind::NodeBackupRemoved, None, &object, actor, message)
            .with_payload(NodeBackupPayload::from(backup));
        let audit = &audit;
        self.store
            .tx("node_backup_remove", |tx| {
                Box::pin(async move {
                    let gone = tx.node_backup_delete(backup.id, backup.generation).await?;
                    settled(gone, "node backup", backup.id)?;
                    let (events, audits) =
                        (std::slice::from_ref(event), std::slice::from_ref(audit));
                    tx.journal_append(events, audits).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        self.node_backup_let_go(backup, &[]).await
    }

    /// Lets go of all content but this. What is left when this server dies meanwhile goes by itself in time.
    pub(crate) async fn node_backup_let_go(
        &self,
        backup: &NodeBackup,
        but: &[hostler_model::Digest],
    ) -> Result<(), Error> {
        let (scope, holder) = (BlobScope::Backup(backup.store), &backup.id.to_string());
        loop {
            let dropped = self.store.tx("node_backup_let_go", |tx| {
                Box::pin(tx.blob_use_drop(scope, holder, but, DROPPED))
            });
            let dropped: Result<u64, hostler_store::Error> = dropped.await;
            if dropped? == 0 {
                return Ok(());
            }
        }
    }

    /// How many there are in each state; for metrics.
    pub async fn node_backup_counts(&self) -> Result<Vec<NodeBackupCount>, Error> {
        Ok(self.store.read().await?.node_backup_counts().await?)
    }

    async fn node_by_id(&self, id: NodeId) -> Result<hostler_model::Node, Error> {
        let node = self.store.read().await?.node_get(id).await?;
        node.ok_or_else(|| Error::not_found("node", id))
    }
}

/// Whose it is: what is told of a backup is told of its node.
pub(crate) fn backup_object(backup: &NodeBackup) -> ObjectRef {
    let name: &Name = &backup.node_name;
    ObjectRef::new(ObjectKind::Node, backup.node_id, name)
}

fn incomplete(backup: &NodeBackup) -> Error {
    Error::conflict(
        format!("the backup is {}, and there is nothing in it", backup.state),
        format!("`hostler operation get {}` says why", backup.operation_id),
    )
}

fn require_complete(backup: &NodeBackup) -> Result<(), Error> {
    match backup.state {
        NodeBackupState::Complete => Ok(()),
        NodeBackupState::Waiting | NodeBackupState::Running | NodeBackupState::Failed => {
            Err(incomplete(backup))
        }
    }
}
