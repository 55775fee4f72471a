//! Doors for the fuzz targets (`crates/fuzz`) to what reads the keys behind cursors, and the log of state. Nothing
//! else uses them.

/// The key behind a cursor of the list of blobs, written again.
pub fn blob_key(text: &str) -> Option<String> {
    let (micros, digest) = crate::blob::parse_cursor(text)?;
    Some(format!("{micros}.{digest}"))
}

/// Changes of the log of state: what can be read is written again and read as the same.
pub fn state_changes(bytes: &[u8]) {
    crate::state_log::read_and_write(bytes);
}
