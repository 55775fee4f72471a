//! Content for nodes and from them. Who speaks is the certificate, looked at anew with every call: a
//! connection may outlive a node's membership.

use std::pin::Pin;

use futures::Stream;
use hostler_control::{Control, NodeFetch, NodePut};
use hostler_model::{Code, Error, NodeId};
use hostler_proto::v1::{self, put_as::Name};
use hostler_proto::{
    ConvertError, chunks_to_message, digests_to_message, parse_chunks, parse_digest, parse_digests,
    parse_operation, parse_output, parse_run,
};
use tonic::{Request, Response, Status};

/// Read from the database at once, for one stream.
const READ: usize = 4;
/// Asked for with one call.
const ASKED_MAX: usize = 1000;

pub(super) struct BlobLinkService {
    control: Control,
}

impl BlobLinkService {
    pub(super) fn new(control: Control) -> BlobLinkService {
        BlobLinkService { control }
    }

    async fn node<T>(&self, request: &Request<T>) -> Result<NodeId, Status> {
        let certificate = super::peer(request)?;
        let node_id = super::node_of(&certificate)?;
        super::admit(&self.control, node_id, &certificate).await.map_err(|e| status(&e))?;
        Ok(node_id)
    }
}

type Chunks = Pin<Box<dyn Stream<Item = Result<v1::ChunkData, Status>> + Send>>;

#[tonic::async_trait]
impl v1::blob_link_server::BlobLink for BlobLinkService {
    type FetchChunksStream = Chunks;

    async fn fetch_blob(
        &self,
        request: Request<v1::FetchBlobRequest>,
    ) -> Result<Response<v1::BlobManifest>, Status> {
        let node = self.node(&request).await?;
        let asked = request.into_inner();
        let digest = parsed(parse_digest(&asked.digest))?;
        let fetch = fetch_for(&asked.run_id, &asked.restore_id)?;
        let found = self.control.node_blob(node, digest, fetch).await;
        let (blob, chunks) = found.map_err(|e| status(&e))?;
        let chunks = chunks_to_message(&chunks);
        Ok(Response::new(v1::BlobManifest { size: blob.size, chunks }))
    }

    async fn fetch_chunks(
        &self,
        request: Request<v1::FetchChunksRequest>,
    ) -> Result<Response<Chunks>, Status> {
        let node = self.node(&request).await?;
        let asked = request.into_inner();
        let blob = parsed(parse_digest(&asked.blob))?;
        let fetch = fetch_for(&asked.run_id, &asked.restore_id)?;
        let wanted = parsed(parse_digests(&asked.digests))?;
        if wanted.len() > ASKED_MAX {
            return Err(Status::invalid_argument("too many chunks at once"));
        }
        let state = (self.control.clone(), wanted.into_iter());
        let batches = futures::stream::try_unfold(state, move |(control, mut wanted)| async move {
            let some: Vec<_> = wanted.by_ref().take(READ).collect();
            if some.is_empty() {
                return Ok::<_, Status>(None);
            }
            let found = control.node_chunks(node, blob, fetch, &some).await;
            let found = found.map_err(|e| status(&e))?;
            let data = found.into_iter().map(|chunk| {
                let digest = chunk.digest.bytes().to_vec();
                Ok(v1::ChunkData { digest, packed: chunk.packed })
            });
            let data = futures::stream::iter(data.collect::<Vec<_>>());
            Ok(Some((data, (control, wanted))))
        });
        Ok(Response::new(Box::pin(futures::TryStreamExt::try_flatten(batches))))
    }

    async fn missing_chunks(
        &self,
        request: Request<v1::MissingChunksRequest>,
    ) -> Result<Response<v1::MissingChunksReply>, Status> {
        let node = self.node(&request).await?;
        let asked = request.into_inner();
        let (put, digests) = (put_as(asked.put_as)?, parsed(parse_digests(&asked.digests))?);
        let missing = self.control.node_chunks_missing(node, &put, &digests).await;
        let digests = digests_to_message(&missing.map_err(|e| status(&e))?);
        Ok(Response::new(v1::MissingChunksReply { digests }))
    }

    async fn put_chunk(
        &self,
        request: Request<v1::PutChunkRequest>,
    ) -> Result<Response<v1::PutChunkReply>, Status> {
        let node = self.node(&request).await?;
        let given = request.into_inner();
        let (put, digest) = (put_as(given.put_as)?, parsed(parse_digest(&given.digest))?);
        let taken = self.control.node_chunk_put(node, &put, digest, given.packed).await;
        taken.map_err(|e| status(&e))?;
        Ok(Response::new(v1::PutChunkReply {}))
    }

    async fn put_blob(
        &self,
        request: Request<v1::PutBlobRequest>,
    ) -> Result<Response<v1::PutBlobReply>, Status> {
        let node = self.node(&request).await?;
        let given = request.into_inner();
        let (put, digest) = (put_as(given.put_as)?, parsed(parse_digest(&given.digest))?);
        let chunks = parsed(parse_chunks(&given.chunks))?;
        let made = self.control.node_blob_commit(node, &put, digest, given.label, chunks).await;
        made.map_err(|e| status(&e))?;
        Ok(Response::new(v1::PutBlobReply {}))
    }

    async fn put_outputs(
        &self,
        request: Request<v1::PutOutputsRequest>,
    ) -> Result<Response<v1::PutOutputsReply>, Status> {
        let node = self.node(&request).await?;
        let given = request.into_inner();
        let run = parsed(parse_run(&given.run_id))?;
        let run = run.ok_or_else(|| Status::invalid_argument("the run is missing"))?;
        let outputs = given.outputs.into_iter().map(|entry| parse_output(run, entry));
        let outputs = parsed(outputs.collect::<Result<Vec<_>, _>>())?;
        let noted = self.control.node_outputs(node, run, &outputs).await;
        noted.map_err(|e| status(&e))?;
        Ok(Response::new(v1::PutOutputsReply {}))
    }
}

fn parsed<T>(result: Result<T, ConvertError>) -> Result<T, Status> {
    result.map_err(|e| Status::invalid_argument(e.to_string()))
}

fn put_as(message: Option<v1::PutAs>) -> Result<NodePut, Status> {
    let missing = || Status::invalid_argument("it is not said in whose name");
    match message.and_then(|message| message.name).ok_or_else(missing)? {
        Name::RunId(run) => {
            let run = parsed(parse_run(&run))?;
            run.map(NodePut::Output).ok_or_else(missing)
        }
        Name::Grant(grant) => Ok(NodePut::Grant(grant)),
        Name::BackupId(operation) => {
            let operation = parsed(parse_operation(&operation, "backup_id"))?;
            operation.map(NodePut::Backup).ok_or_else(missing)
        }
    }
}

fn fetch_for(run: &str, restore: &str) -> Result<NodeFetch, Status> {
    match (parsed(parse_run(run))?, parsed(parse_operation(restore, "restore_id"))?) {
        (None, None) => Ok(NodeFetch::Shared),
        (Some(run), None) => Ok(NodeFetch::Input(run)),
        (None, Some(operation)) => Ok(NodeFetch::Restore(operation)),
        (Some(_), Some(_)) => Err(Status::invalid_argument("it is for a run or for a restore")),
    }
}

/// The agent tries again when a server is away, and takes everything else as final.
fn status(error: &Error) -> Status {
    let words = format!("{}; {}", error.detail, error.hint);
    match error.code {
        Code::Unavailable | Code::RateLimited | Code::NodeUnreachable => Status::unavailable(words),
        Code::NotFound => Status::not_found(words),
        Code::Forbidden => super::not_its_own(words),
        Code::Unauthenticated => Status::unauthenticated(words),
        Code::QuotaExceeded | Code::TooLarge => Status::resource_exhausted(words),
        Code::Conflict => Status::failed_precondition(words),
        Code::Internal => {
            tracing::error!(%error, "content for a node failed");
            Status::internal(words)
        }
        _ => Status::invalid_argument(words),
    }
}
