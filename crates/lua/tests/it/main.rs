//! Files of workflows: what they define, what they cannot do, and what the modules do.
#![expect(clippy::unwrap_used, reason = "the whole crate is tests")]

mod coordination;
mod define;
mod kept;
mod modules;
mod programs;
mod proof;
mod remote;
mod sandbox;
mod slips;
mod system;
mod testing;
mod tools;
mod util;
