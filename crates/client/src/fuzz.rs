//! Doors for the fuzz targets (`crates/fuzz`) to what reads what a server sends. Nothing else uses them.

use crate::sse::Parser;

/// The events of a stream, as names and data.
pub fn sse(text: &str) -> Vec<(String, String)> {
    let mut parser = Parser::default();
    let events = text.split('\n').filter_map(|line| parser.line(line));
    events.map(|event| (event.name, event.data)).collect()
}
