//! Executions in one process.
#![expect(clippy::unwrap_used, reason = "the whole crate is tests")]

mod executions;
mod files;
mod handlers;
mod plugins;
mod programs;
mod resume;
mod world;
