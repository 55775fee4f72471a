//! Files of workflows: what they define, what they cannot do, and what the modules do.
#![expect(clippy::unwrap_used, reason = "the whole crate is tests")]

mod coordination;
mod define;
mod modules;
mod sandbox;
mod system;
mod tools;
mod util;
