//! What runs on every node.
//!
//! Three kinds of process share this crate. The *agent* is asynchronous and may die at any moment.
//! The *executor* is a small single-threaded process the agent starts; all it does is fork *shims*.
//! A shim is the parent of one run: it owns the run's output, enforces its timeout and its stopping,
//! and writes down how it ended. Agent and executor can both be killed without touching what runs.
//!
//! Read `rundir` first (what is on disk, and what each file proves), then `shim`, then `runner`. Of the
//! agent around them read `supervisor` first (what is done, and in which order), then `session`.

mod cgroup;
mod gpu;
mod proc;
mod rundir;
mod sys;
mod wire;

pub mod executor;
mod shim;

pub mod container;

pub mod output;
pub mod runner;

mod backup;
pub mod blobs;
mod files;
mod images;
mod secrets;

pub mod health;

mod config;
pub mod facts;
pub mod identity;
pub mod join;

pub mod door;
mod http;
pub mod local;
mod standalone;

mod housekeeping;
mod ledger;
mod machine;
mod metrics;
mod session;
mod status;
mod steps;
mod streams;
mod supervisor;
mod thrift;
mod usage;
mod watch;
mod writes;
mod zone;

mod agent;

#[doc(hidden)]
pub mod fuzz;

pub use self::http::HttpConfig;
pub use agent::{AgentError, run};
pub use config::{AgentConfig, OnStop};
pub use runner::STEP;
pub use secrets::scrubber;
pub use standalone::Standalone;
pub use thrift::prepare_process;
