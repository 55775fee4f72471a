//! Doors for the fuzz targets (`crates/fuzz`) to what reads the keys behind cursors. Nothing else uses them.

/// The key behind a cursor of the list of blobs, written again.
pub fn blob_key(text: &str) -> Option<String> {
    let (micros, digest) = crate::blob::parse_cursor(text)?;
    Some(format!("{micros}.{digest}"))
}
