//! Reads the content of a blob, a few chunks at a time.
//!
//! Whoever reads slowly holds nothing but the chunks at hand. A blob that goes while it is read shows as
//! an error, never as an early end.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use hostler_blob::unpack;
use hostler_model::{BlobScope, ChunkRef, Code, Digest, Error};

use crate::Control;
use crate::node_backup::ChunkError;

const LISTED: u32 = 1000;
const READ: usize = 4;

pub struct BlobReader {
    control: Control,
    scope: BlobScope,
    /// Where the list of chunks goes on.
    more: Option<(Digest, u32)>,
    listed: VecDeque<ChunkRef>,
    ready: VecDeque<Bytes>,
    /// Bytes to leave out.
    skip: u64,
    /// A chunk that turned out to be damaged.
    damaged: Option<Digest>,
}

impl BlobReader {
    pub(crate) fn of_blob(
        control: Control,
        scope: BlobScope,
        blob: Digest,
        skip: u64,
    ) -> BlobReader {
        let (listed, ready) = (VecDeque::new(), VecDeque::new());
        BlobReader { control, scope, more: Some((blob, 0)), listed, ready, skip, damaged: None }
    }

    pub(super) fn of_chunks(
        control: Control,
        scope: BlobScope,
        chunks: Vec<ChunkRef>,
    ) -> BlobReader {
        BlobReader {
            control,
            scope,
            more: None,
            listed: chunks.into(),
            ready: VecDeque::new(),
            skip: 0,
            damaged: None,
        }
    }

    /// The chunk because of which the last reading failed, if it was because of one.
    pub(crate) fn damaged(&self) -> Option<Digest> {
        self.damaged
    }

    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Ok(Some(bytes));
            }
            if self.listed.is_empty() && !self.list().await? {
                return Ok(None);
            }
            self.leave_out();
            self.read().await?;
        }
    }

    /// Lists more chunks; false when there are none.
    async fn list(&mut self) -> Result<bool, Error> {
        let Some((blob, from)) = self.more else { return Ok(false) };
        let listed =
            self.control.store.read().await?.blob_chunks(self.scope, blob, from, LISTED).await?;
        let is_last = listed.len() < LISTED as usize;
        self.more = (!is_last).then_some((blob, from + LISTED));
        self.listed.extend(listed);
        Ok(!self.listed.is_empty())
    }

    fn leave_out(&mut self) {
        while let Some(chunk) = self.listed.front()
            && self.skip >= u64::from(chunk.size)
        {
            self.skip -= u64::from(chunk.size);
            self.listed.pop_front();
        }
    }

    async fn read(&mut self) -> Result<(), Error> {
        let wanted: Vec<ChunkRef> = self.listed.drain(..self.listed.len().min(READ)).collect();
        let digests: Vec<Digest> = wanted.iter().map(|chunk| chunk.digest).collect();
        let found = match self.control.chunks_open(self.scope, &digests).await {
            Ok(found) => found,
            Err(error) => {
                if let ChunkError::Damaged { digest, .. } = &error {
                    self.damaged = Some(*digest);
                }
                return Err(error.into());
            }
        };
        let unpacking = move || {
            let unpacked = found.into_iter().map(|chunk| {
                unpack(&chunk.packed, chunk.digest)
                    .map(|bytes| (chunk.digest, Bytes::from(bytes)))
                    .map_err(|error| (chunk.digest, error))
            });
            unpacked.collect::<Result<HashMap<Digest, Bytes>, _>>()
        };
        let unpacked = tokio::task::spawn_blocking(unpacking).await.map_err(Error::internal)?;
        let unpacked = unpacked.map_err(|(digest, error)| {
            self.damaged = Some(digest);
            Error::internal(error)
        })?;
        for chunk in wanted {
            let bytes = unpacked.get(&chunk.digest);
            let bytes = bytes.filter(|bytes| bytes.len() == chunk.size as usize);
            let Some(bytes) = bytes else {
                self.damaged = Some(chunk.digest);
                return Err(gone(chunk.digest));
            };
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            self.skip -= skipped as u64;
            self.ready.push_back(bytes.slice(skipped..));
        }
        Ok(())
    }
}

fn gone(chunk: Digest) -> Error {
    Error::new(
        Code::Conflict,
        format!("the chunk {chunk} is not there, or of another size"),
        "ask which are missing, send those, and try again",
    )
}
