//! Messages between agents and servers.
//!
//! `v1` is generated from `proto/agent.proto` by `cargo xtask gen` and committed. `convert` turns
//! messages into model types and back; everything that arrives is checked there and nowhere else.

mod blob;
mod convert;
mod secret;
mod watcher;

/// Generated from `proto/agent.proto`.
#[expect(clippy::all, clippy::pedantic, clippy::restriction, missing_docs, reason = "generated code")]
#[rustfmt::skip]
#[path = "gen/hostler.agent.v1.rs"]
pub mod v1;

pub use blob::{
    chunks_to_message, digests_to_message, output_to_message, parse_chunks, parse_digest,
    parse_digests, parse_operation, parse_output, parse_run,
};
pub use convert::{
    ConvertError, assignment_to_message, log_shares_to_message, parse_assignment, parse_report,
    parse_status, report_to_message, status_to_message,
};

pub use secret::parse_placement;
pub use watcher::{
    UnreadableOrder, parse_watcher_orders, parse_watcher_report, watcher_orders_to_message,
    watcher_report_to_message,
};

/// Version of the conversation; a server refuses agents it cannot understand.
pub const PROTOCOL: u32 = 1;
