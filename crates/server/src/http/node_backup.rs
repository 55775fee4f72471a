//! Backups of paths of nodes.

use hostler_api::node_backup::{
    BackupFileKind, BackupFileView, NodeBackupCreate, NodeBackupFiles, NodeBackupGet,
    NodeBackupList, NodeBackupRemove, NodeBackupRestore, NodeBackupVerify, NodeBackupView,
};
use hostler_api::operation::OperationView;
use hostler_api::{Listing, Nothing};
use hostler_control::NewNodeBackup;
use hostler_model::node_backup::{BackupEntry, EntryKind};
use hostler_model::{
    Bytes, Error, NodeBackup, NodeBackupSpec, Operation, Page, RestoreSpec, Timestamp,
};
use hostler_store::NodeBackupFilter;

use super::gather::Gather;
use super::{Answer, App, Call, page, view};

const SECOND: i64 = 1_000_000;

fn backup(backup: NodeBackup) -> NodeBackupView {
    NodeBackupView {
        id: backup.id,
        node_id: backup.node_id,
        node: backup.node_name,
        label: backup.label,
        store: backup.store,
        spec: backup.spec,
        state: backup.state,
        operation: backup.operation_id,
        outcome: backup.outcome,
        error: backup.error,
        verdict: backup.verdict,
        created_by: backup.created_by,
        generation: backup.generation.get(),
        time_created: backup.time_created,
        time_ended: backup.time_ended,
    }
}

fn file(entry: BackupEntry) -> BackupFileView {
    let (kind, size, digest, target) = match entry.kind {
        EntryKind::Directory => (BackupFileKind::Directory, None, None, None),
        EntryKind::File { size, digest, .. } => {
            (BackupFileKind::File, Some(Bytes::new(size)), Some(digest), None)
        }
        EntryKind::Same { path } => (BackupFileKind::Same, None, None, Some(path.to_string())),
        EntryKind::Link { target } => {
            let target = String::from_utf8_lossy(target.bytes()).into_owned();
            (BackupFileKind::Link, None, None, Some(target))
        }
    };
    let (seconds, nanos) = entry.modified;
    let micros = seconds.saturating_mul(SECOND).saturating_add(i64::from(nanos / 1000));
    BackupFileView {
        path: entry.path.to_string(),
        kind,
        size,
        digest,
        target,
        mode: format!("{:04o}", entry.mode),
        uid: entry.uid,
        gid: entry.gid,
        time_modified: Timestamp::from_micros(micros),
    }
}

pub(crate) async fn create(
    app: App,
    call: Call<NodeBackupCreate>,
) -> Result<Answer<NodeBackupView>, Error> {
    let body = call.body;
    let spec = NodeBackupSpec {
        paths: body.paths,
        exclude: body.exclude,
        cross_filesystems: body.cross_filesystems,
    };
    let new = NewNodeBackup { spec, store: body.store, label: body.label, keep: body.keep };
    let made = app.control().node_backup_create(&call.cx, &call.path.node, new).await?;
    let location = format!("/api/v1/node-backups/{}", made.id);
    Ok(Answer::new(backup(made)).with_location(location))
}

pub(crate) async fn list(
    app: App,
    call: Call<NodeBackupList>,
) -> Result<Answer<Listing<NodeBackupView>>, Error> {
    let mut list = Gather::of::<NodeBackupList>(&call.query)?;
    let (control, query) = (app.control(), call.query);
    let filter = NodeBackupFilter { node: None, state: query.state, label: query.label };
    let node = query.node.as_deref();
    while let Some(ask) = list.ask() {
        let filter = filter.clone();
        let found =
            control.node_backup_list(&call.cx, node, filter, ask.after(), ask.limit).await?;
        list.take(found, backup)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(
    app: App,
    call: Call<NodeBackupGet>,
) -> Result<Answer<NodeBackupView>, Error> {
    Ok(Answer::new(backup(app.control().node_backup_get(&call.cx, &call.path.backup).await?)))
}

pub(crate) async fn files(
    app: App,
    call: Call<NodeBackupFiles>,
) -> Result<Answer<Listing<BackupFileView>>, Error> {
    let after = page::before(call.query.cursor.as_deref())?.unwrap_or_default();
    let limit = page::limit(call.query.limit)?;
    let (text, below) = (&call.path.backup, call.query.path.as_deref());
    let found = app.control().node_backup_files(&call.cx, text, below, after, limit).await?;
    let next = found.next.map(|number| number.to_string());
    Ok(Answer::new(page::listing(Page { items: found.entries, next }, file)))
}

pub(crate) async fn verify(
    app: App,
    call: Call<NodeBackupVerify>,
) -> Result<Answer<OperationView>, Error> {
    Ok(begun(app.control().node_backup_verify(&call.cx, &call.path.backup).await?))
}

pub(crate) async fn restore(
    app: App,
    call: Call<NodeBackupRestore>,
) -> Result<Answer<OperationView>, Error> {
    let body = call.body;
    let spec = RestoreSpec {
        to: body.to,
        paths: body.paths,
        overwrite: body.overwrite,
        check: body.check,
    };
    let (text, node) = (&call.path.backup, body.node.as_deref());
    Ok(begun(app.control().node_backup_restore(&call.cx, text, node, spec).await?))
}

fn begun(operation: Operation) -> Answer<OperationView> {
    let location = format!("/api/v1/operations/{}", operation.id);
    Answer::new(view::operation(operation)).with_location(location)
}

pub(crate) async fn remove(
    app: App,
    call: Call<NodeBackupRemove>,
) -> Result<Answer<Nothing>, Error> {
    app.control().node_backup_remove(&call.cx, &call.path.backup).await?;
    Ok(Answer::new(Nothing {}))
}
