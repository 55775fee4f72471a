//! How much a definition may take.

use std::time::Duration;

/// Bounds of an interpreter.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes that Lua may hold; 0 is without bound.
    pub memory: usize,
    /// How long it may compute; nothing is without bound.
    pub time: Option<Duration>,
}

impl Limits {
    /// For definitions: what a server gives to a file that it does not know.
    pub const DEFINITION: Limits = Limits { memory: 64 << 20, time: Some(Duration::from_secs(2)) };
    /// For bodies of tasks, which have timeouts of their own: the time is that of the definition before them.
    pub const BODY: Limits = Limits { memory: 512 << 20, time: Limits::DEFINITION.time };
}
