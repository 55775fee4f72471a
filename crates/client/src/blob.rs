//! Content: sent in chunks that the server lacks, read back and checked.

use std::io::{self, Read, Write};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use hostler_api::blob::{
    BlobCommit, BlobCommitBody, BlobContent, BlobContentQuery, BlobPath, BlobView, ChunkPath,
    ChunkPut, ChunksBody, ChunksMissing, SharedChunkPath, SharedChunkPut, SharedChunksMissing,
};
use hostler_api::{Endpoint, Nothing, ProjectPath};
use hostler_blob::{Chunk, Cutter, Hasher};
use hostler_model::{Content, Digest};
use tokio::time::Instant;

use crate::request::Parts;
use crate::retry::{self, Reached};
use crate::{Client, Error};

/// How many chunks are asked about, and held, at once.
const WINDOW: usize = 32;
/// How many are on their way at once.
const SENT: usize = 4;
const READ: usize = 256 << 10;

/// Where content goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadTo {
    /// Name or id of a project.
    Project(String),
    /// To what belongs to everybody.
    Shared,
}

/// How far an upload is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub read: u64,
    /// What the server lacked.
    pub sent: u64,
}

/// Something that is read and cut where it may block.
struct Source<R> {
    from: R,
    cutter: Cutter,
    buffer: Vec<u8>,
    is_over: bool,
}

impl<R: Read> Source<R> {
    /// The next chunks; none at the end.
    fn window(&mut self) -> io::Result<Vec<Chunk>> {
        let mut window = Vec::with_capacity(WINDOW);
        while window.len() < WINDOW {
            let chunk = if self.is_over { self.cutter.cut_rest() } else { self.cutter.cut() };
            if let Some(chunk) = chunk {
                window.push(chunk);
                continue;
            }
            if self.is_over {
                break;
            }
            let read = match self.from.read(&mut self.buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.is_over = read == 0;
            self.cutter.push(&self.buffer[..read]);
        }
        Ok(window)
    }
}

impl Client {
    /// Sends everything that can be read, as far as the server lacks it, and says what it is. It is no
    /// blob before it is named as one.
    pub async fn upload(
        &self,
        to: UploadTo,
        from: impl Read + Send + 'static,
        mut progress: impl FnMut(Progress),
    ) -> Result<Content, Error> {
        let (cutter, buffer) = (Cutter::new(), vec![0; READ]);
        let mut source = Source { from, cutter, buffer, is_over: false };
        let mut done = Progress::default();
        loop {
            let reading = move || {
                let window = source.window();
                (source, window)
            };
            let read = tokio::task::spawn_blocking(reading).await;
            let window;
            (source, window) = read.map_err(|e| Error::Setup(e.into()))?;
            let window = window.map_err(Error::Local)?;
            if window.is_empty() {
                return Ok(source.cutter.content());
            }
            done.read += window.iter().map(|chunk| chunk.bytes.len() as u64).sum::<u64>();
            progress(done);
            done.sent += self.send_lacking(&to, window).await?;
            progress(done);
        }
    }

    async fn send_lacking(&self, to: &UploadTo, mut window: Vec<Chunk>) -> Result<u64, Error> {
        let chunks = window.iter().map(|chunk| chunk.digest).collect();
        let (none, body) = (Nothing {}, ChunksBody { chunks });
        let answer = match to {
            UploadTo::Project(project) => {
                let path = ProjectPath { project: project.clone() };
                self.call::<ChunksMissing>(&path, &none, &body).await?
            }
            UploadTo::Shared => self.call::<SharedChunksMissing>(&none, &none, &body).await?,
        };
        window.retain(|chunk| answer.missing.contains(&chunk.digest));
        let puts = window.into_iter().map(|chunk| async move {
            let size = chunk.bytes.len() as u64;
            let (digest, bytes) = (chunk.digest, Bytes::from(chunk.bytes));
            match to {
                UploadTo::Project(project) => {
                    let path = ChunkPath { project: project.clone(), chunk: digest };
                    self.call_raw::<ChunkPut>(&path, &Nothing {}, bytes).await?
                }
                UploadTo::Shared => {
                    let path = SharedChunkPath { chunk: digest };
                    self.call_raw::<SharedChunkPut>(&path, &Nothing {}, bytes).await?
                }
            };
            Ok::<_, Error>(size)
        });
        let puts = futures::stream::iter(puts).buffer_unordered(SENT);
        puts.try_fold(0, |sum, size| std::future::ready(Ok(sum + size))).await
    }

    /// Makes a blob of a project of everything that can be read.
    pub async fn blob_upload(
        &self,
        project: &str,
        label: &str,
        from: impl Read + Send + 'static,
        progress: impl FnMut(Progress),
    ) -> Result<BlobView, Error> {
        let to = UploadTo::Project(project.to_owned());
        let content = self.upload(to, from, progress).await?;
        let path = ProjectPath { project: project.to_owned() };
        let body = BlobCommitBody {
            digest: content.digest,
            label: label.to_owned(),
            chunks: content.chunks,
        };
        self.call::<BlobCommit>(&path, &Nothing {}, &body).await
    }

    /// The answer of an endpoint that gives bytes as they are. It may break off, and is not checked.
    pub async fn bytes<E: Endpoint<Body = Nothing>>(
        &self,
        path: &E::Path,
        query: &E::Query,
    ) -> Result<BoxStream<'static, Result<Bytes, Error>>, Error> {
        self.bytes_with::<E>(path, query, &Nothing {}).await
    }

    /// The same for a request that has a body.
    pub async fn bytes_with<E: Endpoint>(
        &self,
        path: &E::Path,
        query: &E::Query,
        body: &E::Body,
    ) -> Result<BoxStream<'static, Result<Bytes, Error>>, Error> {
        let parts = Parts::of::<E>(path, query, body)?;
        let key = uuid::Uuid::new_v4().to_string();
        let sent = self.send::<E>(&parts, None, &key, "application/octet-stream").await;
        let response = sent.map_err(|failed| failed.error)?;
        let client = self.clone();
        let broken = move |error| client.lost(Reached::Sent, error).error;
        Ok(response.bytes_stream().map_err(broken).boxed())
    }

    /// Writes a blob's content; goes on where it broke off, and fails unless it is that blob.
    pub async fn blob_download(
        &self,
        project: &str,
        blob: Digest,
        mut into: impl Write,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        let path = BlobPath { project: project.to_owned(), blob };
        let (mut hasher, mut done) = (Hasher::new(), 0);
        let mut trouble = self.trouble();
        loop {
            let query = BlobContentQuery { from: Some(done) };
            let broken = match self.bytes::<BlobContent>(&path, &query).await {
                Ok(mut stream) => {
                    trouble.connected();
                    loop {
                        match stream.next().await {
                            Some(Ok(bytes)) => {
                                into.write_all(&bytes).map_err(Error::Local)?;
                                hasher.update(&bytes);
                                done += bytes.len() as u64;
                                trouble.over();
                                progress(done);
                            }
                            Some(Err(error)) => break error,
                            None => return self.whole(&hasher, blob, done),
                        }
                    }
                }
                Err(error @ (Error::Unreachable { .. } | Error::Timeout { .. })) => error,
                Err(error) => return Err(error),
            };
            match trouble.delay(Instant::now(), retry::random()) {
                Some(delay) => tokio::time::sleep(delay).await,
                None => return Err(broken),
            }
        }
    }

    fn whole(&self, hasher: &Hasher, blob: Digest, size: u64) -> Result<u64, Error> {
        let found = hasher.digest();
        if found == blob {
            return Ok(size);
        }
        Err(Error::Unexpected {
            address: self.address().to_owned(),
            detail: format!("the content has the digest {found} and not {blob}"),
            source: None,
        })
    }
}
