//! Tests with real processes: a real executor, real shims, real signals.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail by panicking, and say what they measured or skipped"
)]

mod agent;
mod bare;
mod container;
mod container_end;
mod container_image;
mod container_survive;
mod devices;
mod docker;
mod edge;
mod engine_late;
mod exec;
mod exits;
mod fake;
mod hooks;
mod image_news;
mod join;
mod limits;
mod logs;
mod measure;
mod output;
mod pausing;
mod reuse;
mod session;
mod soak;
mod stop;
mod storm;
mod support;
mod survive;
