//! What a task wrote: segments of output, lines, cursors into them, logs of engines, answers to health checks;
//! and streams on their way to a client.

use hostler_agent::fuzz;
use hostler_agent::output::{Line, LineReader, LogCursor, Progress, Query, Stream};
use hostler_model::Timestamp;

use crate::{scratch, text};

/// Longer than any segment of a corpus needs.
const READS_MAX: usize = 10_000;

/// Cursors that nobody was given.
const FAR_AWAY: [&str; 5] = [
    "1.17.3",
    "1.16.18446744073709551615",
    "1.18446744073709551615.0",
    "4294967295.0.0-0.0.0",
    "0.0.0-1.18446744073709551615.18446744073709551615",
];

/// A segment of output, in the form that shims write or packed. Reading it ends, and going on from any
/// cursor ends too.
pub fn segment(bytes: &[u8]) {
    let Some((form, bytes)) = bytes.split_first() else { return };
    let name = if form % 2 == 0 { "out.000001" } else { "out.000001.gz" };
    let dir = scratch();
    std::fs::write(dir.path().join(name), bytes).expect("a file can be written");
    let query = || Query { tail: (form % 3 == 0).then_some(3), ..Query::default() };
    let Ok(mut reader) = LineReader::open(dir.path(), query()) else { return };
    let mut cursor = None;
    for _ in 0..READS_MAX {
        let Ok(batch) = reader.read(1 << 16) else { break };
        cursor = batch.entries.last().map(|entry| entry.cursor).or(cursor);
        if batch.progress != Progress::More {
            break;
        }
    }
    let written = cursor.map(|cursor| cursor.to_string());
    for text in written.as_deref().into_iter().chain(FAR_AWAY) {
        let cursor = text.parse().expect("a cursor");
        let Ok(mut rest) = LineReader::open_at(dir.path(), query(), cursor) else { continue };
        if let Ok(left) = rest.read(1 << 16) {
            assert_ne!(left.progress, Progress::End, "nothing says that the run is over");
        }
    }
}

/// A line, as most logging libraries write it.
pub fn line(bytes: &[u8]) {
    let line = Line {
        stream: Stream::Stdout,
        time: Timestamp::EPOCH,
        bytes: bytes.to_vec(),
        length: bytes.len() as u64,
        has_start: true,
        has_end: true,
    };
    assert_eq!(line.is_json(), line.fields().is_some());
    assert!(!line.is_cut());
}

/// A place in the output of a workload.
pub fn log_cursor(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(cursor) = text.parse::<LogCursor>() {
        let printed = cursor.to_string();
        assert_eq!(printed.parse::<LogCursor>().ok(), Some(cursor), "{text:?}");
    }
}

/// Output on its way, whose first bytes are the secret: it comes out the same however it is cut, and
/// without the secret.
pub fn scrub(bytes: &[u8]) {
    let Some((&[length, cut], bytes)) = bytes.split_first_chunk::<2>() else { return };
    let Some((secret, output)) = bytes.split_at_checked(usize::from(length)) else { return };
    let Some((whole, pieces)) = fuzz::scrub(secret, output, usize::from(cut)) else { return };
    assert_eq!(whole, pieces);
    let is_there = |text: &[u8]| text.windows(secret.len()).any(|part| part == secret);
    // What stands in its place may itself contain a short one, and spaces around it are not part of it.
    if secret.len() >= 16 && secret.iter().all(u8::is_ascii_alphanumeric) {
        assert!(!is_there(&whole), "the secret came through");
    }
}

/// A piece of an engine's log with its time: what is not the time is all there.
pub fn container_line(bytes: &[u8]) {
    let (time, rest) = fuzz::container_line(bytes);
    assert!(bytes.ends_with(rest));
    assert_eq!(time.is_none(), rest.len() == bytes.len());
}

/// Server-sent events: what was read is written so that it is read as the same.
pub fn sse(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let events = hostler_client::fuzz::sse(text);
    let mut written = String::new();
    for (name, data) in &events {
        written.push_str(&format!("event: {name}\n"));
        for line in data.split('\n') {
            written.push_str(&format!("data: {line}\n"));
        }
        written.push('\n');
    }
    assert_eq!(hostler_client::fuzz::sse(&written), events);
    if let Ok(data) = hostler_client::decode_data(text) {
        assert_eq!(hostler_client::encode_data(&data), text);
    }
}

/// What a program answers to a health check.
pub fn health_answer(bytes: &[u8]) {
    if let Some(status) = fuzz::status(bytes) {
        assert!((100..600).contains(&status));
    }
}

/// What a shim says.
pub fn events(bytes: &[u8]) {
    assert!(fuzz::events(bytes) <= bytes.len() / 8);
}
