//! Tests with real processes: a real executor, real shims, real signals.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail by panicking, and say what they measured or skipped"
)]

mod agent;
mod exits;
mod fake;
mod join;
mod measure;
mod output;
mod session;
mod stop;
mod support;
mod survive;
