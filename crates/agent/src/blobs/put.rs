//! From something to read to a blob at the server.

use futures::{StreamExt, TryStreamExt};
use hostler_blob::{Chunk, Cutter, pack};
use hostler_model::{Content, Digest, OperationId, RunId, RunOutput};
use hostler_proto::v1::{self, put_as::Name};
use hostler_proto::{chunks_to_message, digests_to_message, output_to_message, parse_digests};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::reach::Link;
use super::{BlobError, Blobs, Progress};

/// How many chunks are asked about, and held, at once.
const WINDOW: usize = 16;
/// How many are on their way at once.
const SENT: usize = 4;
const READ: usize = 256 << 10;

/// In whose name a blob is put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutAs {
    /// A run leaves it.
    Run(RunId),
    /// The server has asked for it.
    Grant(String),
    /// It is of a backup that this operation makes.
    Backup(OperationId),
}

impl PutAs {
    fn message(&self) -> v1::PutAs {
        let name = match self {
            PutAs::Run(run) => Name::RunId(run.to_string()),
            PutAs::Grant(grant) => Name::Grant(grant.clone()),
            PutAs::Backup(operation) => Name::BackupId(operation.to_string()),
        };
        v1::PutAs { name: Some(name) }
    }
}

impl Blobs {
    /// Makes a blob of everything that can be read.
    pub async fn put(
        &self,
        put_as: &PutAs,
        mut from: impl AsyncRead + Send + Unpin,
        label: &str,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<Content, BlobError> {
        let turn = self.shared.transfers.acquire().await;
        let _turn = turn.map_err(|_| BlobError::Away("the agent is stopping".to_owned()))?;
        let mut link = Link::new(self.reach());
        let put_as = put_as.message();
        let mut cutter = Cutter::new();
        let mut window: Vec<Chunk> = Vec::with_capacity(WINDOW);
        let mut buffer = vec![0; READ];
        let mut done = Progress::default();
        loop {
            let read = from.read(&mut buffer).await.map_err(BlobError::Read)?;
            cutter.push(&buffer[..read]);
            let is_end = read == 0;
            loop {
                let chunk = if is_end { cutter.cut_rest() } else { cutter.cut() };
                let is_last = chunk.is_none();
                window.extend(chunk);
                if window.len() == WINDOW || (is_end && is_last && !window.is_empty()) {
                    done.bytes += window.iter().map(|chunk| chunk.bytes.len() as u64).sum::<u64>();
                    done.sent += self.send(&mut link, &put_as, std::mem::take(&mut window)).await?;
                    progress(done);
                }
                if is_last {
                    break;
                }
            }
            if is_end {
                break;
            }
        }
        let content = cutter.content();
        let request = v1::PutBlobRequest {
            put_as: Some(put_as),
            digest: content.digest.bytes().to_vec(),
            chunks: chunks_to_message(&content.chunks),
            label: label.to_owned(),
        };
        link.ask(|mut client| {
            let request = request.clone();
            async move { client.put_blob(request).await }
        })
        .await?;
        Ok(content)
    }

    /// Sends those that the server lacks; how many bytes.
    async fn send(
        &self,
        link: &mut Link<'_>,
        put_as: &v1::PutAs,
        window: Vec<Chunk>,
    ) -> Result<u64, BlobError> {
        let digests: Vec<Digest> = window.iter().map(|chunk| chunk.digest).collect();
        let request = v1::MissingChunksRequest {
            put_as: Some(put_as.clone()),
            digests: digests_to_message(&digests),
        };
        let answer = link
            .ask(|mut client| {
                let request = request.clone();
                async move { client.missing_chunks(request).await }
            })
            .await?;
        let missing = parse_digests(&answer.digests);
        let missing = missing.map_err(|e| BlobError::Refused(e.to_string()))?;
        let mut lacking = window;
        lacking.retain(|chunk| missing.contains(&chunk.digest));
        lacking.dedup_by_key(|chunk| chunk.digest);
        let reach = self.reach();
        let sending = lacking.into_iter().map(|chunk| async move {
            let packing = move || Ok((chunk.digest, pack(&chunk.bytes)));
            let packed = super::blocking(packing).await.map_err(BlobError::Read)?;
            Ok::<_, BlobError>(packed)
        });
        let packed: Vec<(Digest, Vec<u8>)> =
            futures::stream::iter(sending).buffered(SENT).try_collect().await?;
        let sent = packed.iter().map(|(_, packed)| packed.len() as u64).sum();
        let client = link.client().await?;
        let puts = packed.into_iter().map(|(digest, packed)| {
            let request = v1::PutChunkRequest {
                put_as: Some(put_as.clone()),
                digest: digest.bytes().to_vec(),
                packed,
            };
            let mut link = Link::with(reach, client.clone());
            async move {
                link.ask(|mut client| {
                    let request = request.clone();
                    async move { client.put_chunk(request).await }
                })
                .await
            }
        });
        let puts = futures::stream::iter(puts).buffer_unordered(SENT);
        puts.try_for_each(|_| std::future::ready(Ok(()))).await?;
        Ok(sent)
    }

    /// Tells what a run left, whose blobs were put.
    pub async fn put_outputs(&self, run: RunId, outputs: &[RunOutput]) -> Result<(), BlobError> {
        let mut link = Link::new(self.reach());
        let request = v1::PutOutputsRequest {
            run_id: run.to_string(),
            outputs: outputs.iter().map(output_to_message).collect(),
        };
        link.ask(|mut client| {
            let request = request.clone();
            async move { client.put_outputs(request).await }
        })
        .await?;
        Ok(())
    }
}
