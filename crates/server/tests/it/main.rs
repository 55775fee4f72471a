//! Tests of the HTTP side over its real router and the real application on SQLite.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod node;
mod world;

mod access;
mod blobs;
mod browser;
mod listen;
mod mounting;
mod requests;
mod routes;
mod watching;
mod workload_streams;
mod workloads;
