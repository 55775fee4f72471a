//! The transports of the control plane: the HTTP API with its dashboard and documentation, and the
//! sessions of agents. The only crate that knows status codes; what the system does is in `control`.
//!
//! Reading order is the order of the modules below.

pub mod config;
mod history;
pub mod metrics;
mod refusals;

mod operator_tls;
pub mod tls;

pub mod grpc;
pub mod heat;
pub mod http;
mod web;

mod listening;
mod run;

pub use hostler_control::stack_types_page;
pub use listening::Listening;
pub use run::{Restored, Running, StartError, open_store, start};
