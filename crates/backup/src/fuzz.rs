//! For fuzzing: any bytes as the body of a file that is otherwise right, so that what reads records is reached.

use std::io::Write as _;

use hostler_model::Timestamp;
use zstd::stream::write::Encoder;

use crate::piece::{PieceWriter, Seal};
use crate::{Error, Head};

/// An unsealed file whose records are these bytes.
pub fn file_of(body: &[u8]) -> Result<Vec<u8>, Error> {
    let head = Head {
        product: "fuzz".to_owned(),
        schema: 1,
        installation: String::new(),
        time: Timestamp::EPOCH,
        digest: "blake3".to_owned(),
        lock: None,
        needs_keys: Vec::new(),
        has_keys: true,
        has_content: true,
    };
    let head = head.to_bytes()?;
    let seal = Seal::new(None, &head);
    let mut packed = Encoder::new(PieceWriter::new(seal, head), 1).map_err(Error::from_io)?;
    packed.write_all(body).map_err(Error::from_io)?;
    packed.finish().map_err(Error::from_io)?.finish()
}
