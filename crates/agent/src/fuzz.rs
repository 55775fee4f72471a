//! Doors for the fuzz targets (`crates/fuzz`) to what reads bytes that others wrote: archives, output on
//! its way, logs of engines, answers to health checks, words of shims, questions at the local doors. Nothing
//! else uses them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::files::{Bounds, unpack as unpack_files};
use crate::health::http_status;
use crate::secrets::{Forms, Scrub};
use crate::wire::take_event;

/// Unpacks an archive into a directory; whether all of it could be.
pub fn unpack(archive: File, into: &Path, bytes: u64, entries: u64) -> io::Result<bool> {
    let into = File::open(into)?;
    Ok(unpack_files(archive, into, None, Bounds { bytes, entries }).is_ok())
}

/// Puts a backup back whose list is this, and whose files have these bytes; how many were put back.
pub fn put_back(dir: &Path, into: &Path, list: &[u8], content: &[u8]) -> io::Result<u64> {
    crate::backup::put_back(dir, into, list, content)
}

/// Output without a secret: given whole, and given in two pieces.
pub fn scrub(secret: &[u8], output: &[u8], cut: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let forms = Arc::new(Forms::of([("s", secret)])?);
    let whole = forms.clean(output);
    let (first, second) = output.split_at(cut.min(output.len()));
    let (mut scrub, mut pieces) = (Scrub::new(forms), Vec::new());
    scrub.feed(first, &mut pieces);
    scrub.feed(second, &mut pieces);
    scrub.end(&mut pieces);
    Some((whole, pieces))
}

/// The status in an answer to a health check.
pub fn status(answer: &[u8]) -> Option<u16> {
    http_status(answer).ok()
}

/// Takes what a shim said apart; how many events there were.
pub fn events(bytes: &[u8]) -> usize {
    let mut buffer = bytes.to_vec();
    let mut count = 0;
    while let Ok(Some(_event)) = take_event(&mut buffer) {
        count += 1;
    }
    count
}

/// The time in front of a piece of an engine's log, in nanoseconds, and the rest.
pub fn container_line(bytes: &[u8]) -> (Option<i64>, &[u8]) {
    crate::container::split_time(bytes)
}

/// Whether a question in Master Control's spelling can be read.
pub fn local_command(question: Value) -> bool {
    crate::local::is_command(question)
}

/// What an address of the local HTTP port asks for: whether it is a change, and for how many lines.
pub fn local_route(path: &str, query: &str) -> Option<(bool, Option<usize>)> {
    let (method, lines) = crate::http::reading(path, query)?;
    Some((method != ::http::Method::GET, lines))
}
