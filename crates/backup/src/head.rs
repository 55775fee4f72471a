//! The head: what everybody may read.

use std::io::Read;

use hostler_model::Timestamp;
use hostler_trust::Lock;
use serde::{Deserialize, Serialize};

use crate::Error;

pub const MAGIC: &[u8; 15] = b"hostler-backup\n";
/// The newest that is known; written always.
pub const FORMAT: u8 = 1;
/// Of the JSON.
const HEAD_MAX: usize = 64 << 10;

/// What a backup is of, and what it needs. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Of the Hostler that made it.
    pub product: String,
    /// Of the database that it was made from.
    pub schema: u64,
    /// Empty where it was never started.
    pub installation: String,
    /// The moment that it shows.
    pub time: Timestamp,
    /// How digests are made.
    pub digest: String,
    /// How it is sealed; absent when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// The master keys that open what is sealed in the rows.
    #[serde(default)]
    pub needs_keys: Vec<String>,
    /// Those keys are in the file.
    pub has_keys: bool,
    /// Content (images, files of tasks) is in the file.
    pub has_content: bool,
}

impl Head {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let json = serde_json::to_vec(self).map_err(|e| Error::Misuse(e.to_string()))?;
        let length = u32::try_from(json.len()).map_err(|e| Error::Misuse(e.to_string()))?;
        Ok([&MAGIC[..], &[FORMAT], &length.to_le_bytes(), &json].concat())
    }

    /// Reads it; gives the bytes that it was read from too, which the pieces are bound to.
    pub(crate) fn read(from: &mut impl Read) -> Result<(Head, Vec<u8>), Error> {
        let mut begin = [0; MAGIC.len() + 5];
        let mut filled = 0;
        while filled < begin.len() {
            match from.read(&mut begin[filled..]).map_err(Error::from_io)? {
                0 => break,
                more => filled += more,
            }
        }
        let known = filled.min(MAGIC.len());
        if filled == 0 || begin[..known] != MAGIC[..known] {
            return Err(Error::NotABackup);
        }
        if filled > MAGIC.len() && begin[MAGIC.len()] > FORMAT {
            return Err(Error::Newer { found: begin[MAGIC.len()], known: FORMAT });
        }
        if filled < begin.len() {
            return Err(Error::Truncated);
        }
        let wrong = || Error::damaged("at its head");
        if begin[MAGIC.len()] == 0 {
            return Err(wrong());
        }
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| begin[MAGIC.len() + n]);
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).map_err(|_| wrong())?;
        if length > HEAD_MAX {
            return Err(wrong());
        }
        let mut json = vec![0; length];
        from.read_exact(&mut json).map_err(Error::from_io)?;
        let head = serde_json::from_slice(&json).map_err(|_| wrong())?;
        Ok((head, [&begin[..], &json].concat()))
    }
}
