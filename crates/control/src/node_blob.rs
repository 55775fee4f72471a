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
    Blob, BlobKind, BlobScope, ChunkRef, Code, Digest, Error, NodeId, NodeState, PrincipalId,
    RunId, RunOutput, RunStateKind,
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
}

/// Where a blob of a node goes, and as what.
struct Place {
    scope: BlobScope,
    kind: BlobKind,
    created_by: Option<PrincipalId>,
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
        run: Option<RunId>,
    ) -> Result<BlobScope, Error> {
        let Some(run) = run else { return Ok(BlobScope::Shared) };
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
        run: Option<RunId>,
    ) -> Result<(Blob, Vec<ChunkRef>), Error> {
        let scope = self.node_scope(node_id, digest, run).await?;
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
        run: Option<RunId>,
        wanted: &[Digest],
    ) -> Result<Vec<Chunk>, Error> {
        let scope = self.node_scope(node_id, blob, run).await?;
        let mut read = self.store.read().await?;
        let among = read.blob_chunks_among(scope, blob, wanted).await?;
        let among: HashSet<Digest> = among.into_iter().collect();
        if let Some(foreign) = wanted.iter().find(|digest| !among.contains(digest)) {
            return Err(Error::not_found("chunk", foreign));
        }
        Ok(read.chunk_get_batch(scope, wanted).await?)
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
                })
            }
            NodePut::Grant(id) => {
                let grant = self.store.read().await?.blob_grant_get(id).await?;
                let grant = grant
                    .filter(|grant| grant.node_id == node_id && grant.time_expires > self.now());
                let grant = grant.ok_or_else(|| {
                    Error::forbidden("this node was not asked for content, or too long ago")
                })?;
                Ok(Place { scope: BlobScope::Shared, kind: grant.kind, created_by: None })
            }
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
        let Place { scope, kind, created_by } = self.node_place(node_id, put).await?;
        self.blob_enter(NewBlob { scope, digest, kind, label, chunks }, created_by).await
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
