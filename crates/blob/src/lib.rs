//! Content by its digest: how bytes are cut into chunks, named and packed. Pure: bytes in, bytes out.
//!
//! Client, server and agent all cut with [`Cutter`], so that the same content is the same chunks
//! wherever it is cut: an end lies where the content says so (FastCDC), not at a fixed distance, and a
//! change in one place moves only the ends around it. The parameters are part of the format: other ones
//! would still be read, but share nothing with what is kept.
//!
//! Bytes are believed only after their digest was computed: [`unpack`] gives nothing else out, and never
//! more than it was told to expect, whatever the packed bytes pretend.

mod cut;
mod pack;

pub use cut::{Chunk, Cutter};
pub use pack::{UnpackError, pack, unpack};

use hostler_model::Digest;

/// The digest of some bytes.
pub fn digest_of(bytes: &[u8]) -> Digest {
    Digest::from_bytes(*blake3::hash(bytes).as_bytes())
}

/// The digest of bytes that come one after the other.
#[derive(Clone, Debug, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    pub fn new() -> Hasher {
        Hasher::default()
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn digest(&self) -> Digest {
        Digest::from_bytes(*self.0.finalize().as_bytes())
    }
}
