//! Content for nodes and from them.
//!
//! A node may fetch what belongs to everybody, and of a project's what a run names that was given to
//! this very node and has not ended. It may put what its runs are to leave, and what it was granted
//! (`Control::blob_grant`).
//!
//! Everything may be repeated: content that is there is not sent again, and outputs that were told
//! twice are there once.

use std::collections::HashSet;

use hostler_model::{
    Blob, BlobKind, BlobScope, ChunkRef, Code, Digest, Error, NodeBackupId, NodeBackupOutcome,
    NodeId, NodeState, Operation, OperationId, OperationPlan, PrincipalId, RunId, RunOutput,
    RunStateKind,
};
use hostler_store::{Chunk, RunContext};

use crate::{Control, NewBlob};

/// How many outputs one run may have.
const OUTPUTS_MAX: usize = 10_000;

/// In whose name a node puts a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodePut {
    /// What one of its runs left.
    Output(RunId),
    Grant(String),
    /// It is of the backup that this operation makes.
    Backup(OperationId),
}

/// For what a node fetches a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeFetch {
    /// It belongs to everybody.
    Shared,
    /// One of its runs names it.
    Input(RunId),
    /// It is of the backup that this operation puts back.
    Restore(OperationId),
}

/// Where a blob of a node goes, and as what.
struct Place {
    scope: BlobScope,
    kind: BlobKind,
    created_by: Option<PrincipalId>,
    /// The backup that needs it.
    backup: Option<NodeBackupId>,
}

impl Control {
    /// Whether this certificate still speaks for the node.
    pub async fn node_admit(&self, node_id: NodeId, serial: &str) -> Result<(), Error> {
        let mut read = self.store.read().await?;
        let certificate = read.node_certificate_get(serial).await?;
        let is_valid = certificate.is_some_and(|known| {
            known.node_id == node_id && known.time_revoked.is_none() && !self.is_dropped(&known)
        });
        let node = read.node_get(node_id).await?;
        let is_member = node.is_some_and(|node| node.state != NodeState::Removed);
        if is_valid && is_member {
            return Ok(());
        }
        Err(Error::unauthenticated("this certificate does not speak for a node any more"))
    }

    async fn run_of(&self, node_id: NodeId, run: RunId) -> Result<RunContext, Error> {
        let context = self.store.read().await?.run_context(&[run]).await?.pop();
        context
            .filter(|context| context.run.node_id == node_id)
            .ok_or_else(|| Error::forbidden("this node has no such run"))
    }

    /// A run that may still leave something: once its end was told, what it left is settled.
    async fn unfinished_run_of(&self, node_id: NodeId, run: RunId) -> Result<RunContext, Error> {
        let context = self.run_of(node_id, run).await?;
        match context.run.state.kind() {
            RunStateKind::Exited => {
                Err(Error::forbidden("the run has ended, and what it left is settled"))
            }
            RunStateKind::Assigned
            | RunStateKind::Running
            | RunStateKind::Paused
            | RunStateKind::Lost => Ok(context),
        }
    }

    /// Where a node finds a blob that it may fetch.
    async fn node_scope(
        &self,
        node_id: NodeId,
        digest: Digest,
        fetch: NodeFetch,
    ) -> Result<BlobScope, Error> {
        let run = match fetch {
            NodeFetch::Shared => return Ok(BlobScope::Shared),
            NodeFetch::Restore(operation) => {
                return self.restore_scope(node_id, digest, operation).await;
            }
            NodeFetch::Input(run) => run,
        };
        let context = self.run_of(node_id, run).await?;
        let is_over = context.run.state.kind() == RunStateKind::Exited;
        let is_named = context.workload.spec.inputs.iter().any(|input| input.blob == digest);
        if is_over || !is_named {
            return Err(Error::forbidden("the run does not name this blob"));
        }
        Ok(BlobScope::Project(context.run.project_id))
    }

    /// A blob and its chunks, for a node.
    pub async fn node_blob(
        &self,
        node_id: NodeId,
        digest: Digest,
        fetch: NodeFetch,
    ) -> Result<(Blob, Vec<ChunkRef>), Error> {
        let scope = self.node_scope(node_id, digest, fetch).await?;
        let mut read = self.store.read().await?;
        let blob = read.blob_get(scope, digest).await?;
        let blob = blob.ok_or_else(|| Error::not_found("blob", digest))?;
        let chunks = read.blob_chunks(scope, digest, 0, u32::MAX).await?;
        drop(read);
        let now = self.now();
        self.store.tx("blob_touch", |tx| Box::pin(tx.blob_touch(scope, digest, now))).await?;
        Ok((blob, chunks))
    }

    /// Some chunks of a blob, for a node, in no particular order.
    pub async fn node_chunks(
        &self,
        node_id: NodeId,
        blob: Digest,
        fetch: NodeFetch,
        wanted: &[Digest],
    ) -> Result<Vec<Chunk>, Error> {
        let scope = self.node_scope(node_id, blob, fetch).await?;
        let mut read = self.store.read().await?;
        let among = read.blob_chunks_among(scope, blob, wanted).await?;
        let among: HashSet<Digest> = among.into_iter().collect();
        if let Some(foreign) = wanted.iter().find(|digest| !among.contains(digest)) {
            return Err(Error::not_found("chunk", foreign));
        }
        drop(read);
        Ok(self.chunks_open(scope, wanted).await?)
    }

    /// The operation, while it is under way.
    async fn open_operation(&self, id: OperationId) -> Result<Operation, Error> {
        let operation = self.store.read().await?.operation_get(id).await?;
        operation
            .filter(|operation| !operation.state.is_settled() && !operation.is_cancel_requested)
            .ok_or_else(|| Error::forbidden("there is no such operation under way"))
    }

    /// A node may fetch of a backup what it is told to put back, for as long as it is to.
    async fn restore_scope(
        &self,
        node_id: NodeId,
        digest: Digest,
        operation: OperationId,
    ) -> Result<BlobScope, Error> {
        let refused = || Error::forbidden("this node is not to put this back");
        let id = match self.open_operation(operation).await?.plan {
            OperationPlan::NodeRestore { node, backup, .. } if node == node_id => backup,
            _ => return Err(refused()),
        };
        let backup = self.store.read().await?.node_backup_get(id).await?.ok_or_else(refused)?;
        let blobs = backup.outcome.iter().flat_map(NodeBackupOutcome::blobs);
        match blobs.into_iter().any(|blob| blob.digest == digest) {
            true => Ok(BlobScope::Backup(backup.store)),
            false => Err(refused()),
        }
    }

    /// A node may put what it is told to keep, for as long as it is to.
    async fn backup_place(&self, node_id: NodeId, operation: OperationId) -> Result<Place, Error> {
        let refused = || Error::forbidden("this node is not to make this backup");
        let id = match self.open_operation(operation).await?.plan {
            OperationPlan::NodeBackup { node, backup, .. } if node == node_id => backup,
            _ => return Err(refused()),
        };
        let backup = self.store.read().await?.node_backup_get(id).await?;
        let backup = backup.filter(|backup| !backup.state.is_settled()).ok_or_else(refused)?;
        Ok(Place {
            scope: BlobScope::Backup(backup.store),
            kind: BlobKind::Backup,
            created_by: None,
            backup: Some(id),
        })
    }

    async fn node_place(&self, node_id: NodeId, put: &NodePut) -> Result<Place, Error> {
        match put {
            NodePut::Output(run) => {
                let context = self.unfinished_run_of(node_id, *run).await?;
                if context.workload.spec.outputs.is_empty() {
                    return Err(Error::forbidden("nothing of this run is to be kept"));
                }
                Ok(Place {
                    scope: BlobScope::Project(context.run.project_id),
                    kind: BlobKind::Output,
                    created_by: Some(context.workload.created_by),
                    backup: None,
                })
            }
            NodePut::Grant(id) => {
                let grant = self.store.read().await?.blob_grant_get(id).await?;
                let grant = grant
                    .filter(|grant| grant.node_id == node_id && grant.time_expires > self.now());
                let grant = grant.ok_or_else(|| {
                    Error::forbidden("this node was not asked for content, or too long ago")
                })?;
                let (scope, kind) = (BlobScope::Shared, grant.kind);
                Ok(Place { scope, kind, created_by: None, backup: None })
            }
            NodePut::Backup(operation) => self.backup_place(node_id, *operation).await,
        }
    }

    pub async fn node_chunks_missing(
        &self,
        node_id: NodeId,
        put: &NodePut,
        digests: &[Digest],
    ) -> Result<Vec<Digest>, Error> {
        let place = self.node_place(node_id, put).await?;
        self.blob_missing(place.scope, digests).await
    }

    pub async fn node_chunk_put(
        &self,
        node_id: NodeId,
        put: &NodePut,
        digest: Digest,
        packed: Vec<u8>,
    ) -> Result<(), Error> {
        let place = self.node_place(node_id, put).await?;
        self.chunk_put_packed(place.scope, digest, packed).await
    }

    pub async fn node_blob_commit(
        &self,
        node_id: NodeId,
        put: &NodePut,
        digest: Digest,
        label: String,
        chunks: Vec<ChunkRef>,
    ) -> Result<Blob, Error> {
        let Place { scope, kind, created_by, backup } = self.node_place(node_id, put).await?;
        let new = NewBlob { scope, digest, kind, label, chunks };
        self.blob_enter_for(new, created_by, backup).await
    }

    /// What a run left; all of it at once.
    pub async fn node_outputs(
        &self,
        node_id: NodeId,
        run: RunId,
        outputs: &[RunOutput],
    ) -> Result<(), Error> {
        let context = &self.unfinished_run_of(node_id, run).await?;
        if outputs.len() > OUTPUTS_MAX {
            let detail = format!("a run has at most {OUTPUTS_MAX} outputs");
            return Err(Error::new(Code::TooLarge, detail, "keep a directory instead"));
        }
        self.store
            .tx("node_outputs", |tx| {
                Box::pin(async move {
                    let project = context.run.project_id;
                    for output in outputs {
                        if let Some(digest) = output.kept.digest()
                            && tx.blob_get(BlobScope::Project(project), digest).await?.is_none()
                        {
                            return Err(Error::not_found("blob", digest));
                        }
                        tx.run_output_put(project, context.workload.id, output).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await
    }
}
