//! The bytes of a journal: encoding frames, and telling whole from torn from corrupt. Pure.

use serde::Serialize;

use super::Error;

pub(super) const MAGIC: &[u8; 8] = b"HSTLDG\x00\x01";
/// Everything but the version, which is the last byte.
const MAGIC_NAME: &[u8] = b"HSTLDG\x00";
const HEADER: usize = 8;
/// Larger lengths are taken for damage.
pub(super) const PAYLOAD_MAX: usize = 64 * 1024 * 1024;

/// Appends the frame of one record to `buffer`.
pub(super) fn encode(buffer: &mut Vec<u8>, record: &impl Serialize) -> Result<(), Error> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; HEADER]);
    if let Err(source) = serde_json::to_writer(&mut *buffer, record) {
        buffer.truncate(start);
        return Err(Error::Encode(source));
    }
    let bytes = buffer.len() - start - HEADER;
    let length = match u32::try_from(bytes) {
        Ok(length) if bytes <= PAYLOAD_MAX => length.to_le_bytes(),
        _ => {
            buffer.truncate(start);
            return Err(Error::TooLarge { bytes, max: PAYLOAD_MAX });
        }
    };
    let sum = checksum(length, &buffer[start + HEADER..]);
    buffer[start..start + 4].copy_from_slice(&length);
    buffer[start + 4..start + 8].copy_from_slice(&sum);
    Ok(())
}

fn checksum(length: [u8; 4], payload: &[u8]) -> [u8; 4] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&length);
    hasher.update(payload);
    let mut sum = [0; 4];
    hasher.finalize_xof().fill(&mut sum);
    sum
}

/// The payload of the frame that begins at `at`, if it is whole.
fn decode(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let size = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if size == 0 || size > PAYLOAD_MAX {
        return None;
    }
    let payload = rest.get(..size)?;
    (checksum(*length, payload) == *sum).then_some(payload)
}

/// What a file's bytes turn out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scan<'a> {
    /// Payloads with the offsets of their frames.
    pub payloads: Vec<(usize, &'a [u8])>,
    /// Where the good part ends.
    pub good: usize,
    pub end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the end of the file.
    Clean,
    /// In a write that was not finished; nothing good follows.
    Torn,
    /// At a bad frame with good ones behind it, or where a journal should begin.
    Corrupt,
    /// Before it began: a journal of another version.
    Foreign,
}

pub(super) fn scan(bytes: &[u8]) -> Scan<'_> {
    let mut scan = Scan { payloads: Vec::new(), good: 0, end: End::Clean };
    if bytes.len() < MAGIC.len() {
        scan.end = match bytes {
            [] => End::Clean,
            part if MAGIC.starts_with(part) || part.iter().all(|byte| *byte == 0) => End::Torn,
            _ => End::Corrupt,
        };
        return scan;
    }
    if !bytes.starts_with(MAGIC) {
        scan.end = if bytes.iter().all(|byte| *byte == 0) {
            End::Torn
        } else if bytes.starts_with(MAGIC_NAME) {
            End::Foreign
        } else {
            End::Corrupt
        };
        return scan;
    }
    scan.good = MAGIC.len();
    while let Some(payload) = decode(bytes, scan.good) {
        scan.payloads.push((scan.good, payload));
        scan.good += HEADER + payload.len();
    }
    if scan.good < bytes.len() {
        scan.end = match decode_any(bytes, scan.good + 1) {
            Some(_) => End::Corrupt,
            None => End::Torn,
        };
    }
    scan
}

/// The first offset from `start` on where a whole frame begins.
fn decode_any(bytes: &[u8], start: usize) -> Option<usize> {
    (start..bytes.len()).find(|at| decode(bytes, *at).is_some())
}
