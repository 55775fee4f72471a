//! Cutting: bytes go in as they come, chunks come out, and in the end what the whole was.

use fastcdc::v2020::FastCDC;
use hostler_model::{CHUNK_MAX, CHUNK_MIN, ChunkRef, Content, Digest};

use crate::{Hasher, digest_of};

const CHUNK_USUAL: usize = 256 << 10;

/// A chunk that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub digest: Digest,
    pub bytes: Vec<u8>,
}

impl Chunk {
    pub fn reference(&self) -> ChunkRef {
        let size = u32::try_from(self.bytes.len()).expect("a chunk has at most 1 MiB");
        ChunkRef { digest: self.digest, size }
    }
}

/// Cuts content into chunks. Holds little more than the largest chunk.
#[derive(Debug, Default)]
pub struct Cutter {
    buffer: Vec<u8>,
    /// How much of the buffer was cut off.
    taken: usize,
    hasher: Hasher,
    size: u64,
    chunks: Vec<ChunkRef>,
}

impl Cutter {
    pub fn new() -> Cutter {
        Cutter::default()
    }

    /// How much room there is before something has to be cut off.
    pub fn room(&self) -> usize {
        (2 * CHUNK_MAX).saturating_sub(self.buffer.len() - self.taken)
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next chunk whose end is certain, whatever is pushed later.
    pub fn cut(&mut self) -> Option<Chunk> {
        (self.buffer.len() - self.taken >= CHUNK_MAX).then(|| self.cut_off())
    }

    /// The next chunk when nothing more comes; `None` when all of it was cut.
    pub fn cut_rest(&mut self) -> Option<Chunk> {
        (self.buffer.len() > self.taken).then(|| self.cut_off())
    }

    /// What it was, once all is cut.
    pub fn content(self) -> Content {
        debug_assert_eq!(self.taken, self.buffer.len(), "something was not cut");
        Content { digest: self.hasher.digest(), size: self.size, chunks: self.chunks }
    }

    fn cut_off(&mut self) -> Chunk {
        let rest = &self.buffer[self.taken..];
        let within = &rest[..rest.len().min(CHUNK_MAX)];
        let cut = FastCDC::new(within, CHUNK_MIN, CHUNK_USUAL, CHUNK_MAX).next();
        let length = cut.map_or(within.len(), |cut| cut.length);
        let bytes = within[..length].to_vec();
        self.taken += length;
        let chunk = Chunk { digest: digest_of(&bytes), bytes };
        self.chunks.push(chunk.reference());
        chunk
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(content: &[u8], piece: usize) -> (Vec<Chunk>, Content) {
        let mut cutter = Cutter::new();
        let mut chunks = Vec::new();
        for some in content.chunks(piece) {
            cutter.push(some);
            chunks.extend(std::iter::from_fn(|| cutter.cut()));
        }
        chunks.extend(std::iter::from_fn(|| cutter.cut_rest()));
        (chunks, cutter.content())
    }

    /// Bytes that look random, from a seed.
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let mut reader = blake3::Hasher::new().update(&seed.to_be_bytes()).finalize_xof();
        reader.fill(&mut bytes);
        bytes
    }

    #[test]
    fn nothing_is_no_chunks() {
        let (chunks, content) = cut(&[], 10);
        assert!(chunks.is_empty() && content.chunks.is_empty());
        assert_eq!((content.size, content.digest), (0, digest_of(&[])));
    }

    #[test]
    fn what_is_alike_shares_its_chunks() {
        let before = noise(1, 20 << 20);
        let mut after = before.clone();
        after.splice(7_000_000..7_000_000, noise(2, 5000));
        let (_, old) = cut(&before, 1 << 16);
        let (_, new) = cut(&after, 1 << 16);
        let fresh = new.chunks.iter().filter(|chunk| !old.chunks.contains(chunk));
        let bytes: u64 = fresh.map(|chunk| u64::from(chunk.size)).sum();
        assert!(bytes > 0 && bytes < 3 << 20, "{bytes} bytes to send for an insertion of 5000");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn content_is_its_chunks_however_it_comes(
            seed: u64,
            length in 0_usize..4 << 20,
            zeros in 0_usize..2 << 20,
            piece in 1_usize..300_000,
        ) {
            let mut content = noise(seed, length);
            content.resize(length + zeros, 0);
            let (chunks, whole) = cut(&content, piece.max(1000));
            prop_assert_eq!(chunks.iter().flat_map(|c| c.bytes.clone()).collect::<Vec<u8>>(), content.clone());
            prop_assert_eq!(whole.digest, digest_of(&content));
            prop_assert_eq!(whole.size, content.len() as u64);
            let references: Vec<ChunkRef> = chunks.iter().map(Chunk::reference).collect();
            prop_assert_eq!(&references, &whole.chunks);
            for (i, chunk) in chunks.iter().enumerate() {
                prop_assert!(chunk.bytes.len() <= CHUNK_MAX);
                prop_assert!(chunk.bytes.len() >= CHUNK_MIN || i + 1 == chunks.len());
            }
            let (_, at_once) = cut(&content, content.len().max(1));
            prop_assert_eq!(at_once.chunks, whole.chunks);
        }
    }
}
