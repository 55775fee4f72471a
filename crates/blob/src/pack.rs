//! Packing: chunks are kept and sent as zstd frames.

use hostler_model::{CHUNK_MAX, Digest};

use crate::digest_of;

/// Fast, and most of what can be had.
const LEVEL: i32 = 3;

/// Why packed bytes are not a chunk.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    #[error("the packed bytes cannot be read")]
    Broken(#[source] std::io::Error),
    #[error("the bytes have the digest {found} and not {expected}")]
    Digest { expected: Digest, found: Digest },
}

pub fn pack(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, LEVEL).expect("compressing into memory cannot fail")
}

/// The plain bytes, if they have this digest and are no more than a chunk can have.
pub fn unpack(packed: &[u8], digest: Digest) -> Result<Vec<u8>, UnpackError> {
    let plain = zstd::bulk::decompress(packed, CHUNK_MAX).map_err(UnpackError::Broken)?;
    let found = digest_of(&plain);
    if found == digest { Ok(plain) } else { Err(UnpackError::Digest { expected: digest, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_the_digest_comes_out() {
        let plain = b"some bytes ".repeat(1000);
        let packed = pack(&plain);
        assert!(packed.len() < plain.len() / 10);
        assert_eq!(unpack(&packed, digest_of(&plain)).unwrap(), plain);
        let other = unpack(&packed, digest_of(b"other"));
        assert!(matches!(other, Err(UnpackError::Digest { .. })));
        let cut = unpack(&packed[..packed.len() / 2], digest_of(&plain));
        assert!(matches!(cut, Err(UnpackError::Broken(_))));
        assert!(matches!(unpack(b"no frame", digest_of(b"")), Err(UnpackError::Broken(_))));
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let plain = vec![0; CHUNK_MAX + 1];
        let packed = pack(&plain);
        assert!(packed.len() < 1000);
        assert!(matches!(unpack(&packed, digest_of(&plain)), Err(UnpackError::Broken(_))));
    }
}
