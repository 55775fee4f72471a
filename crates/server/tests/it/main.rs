//! Tests of the HTTP side over its real router and the real application on SQLite.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod node;
mod world;

mod access;
mod approvals;
mod attack;
mod authority;
mod backups;
mod blobs;
mod browser;
mod filters;
mod grpc;
mod heat;
mod heat_access;
mod heat_change;
mod heat_identity;
mod heat_parts;
mod hidden;
mod identity;
mod listen;
mod locks;
mod modules;
mod mounting;
mod packaging;
mod people;
mod requests;
mod roles;
mod routes;
mod schedules;
mod secrets;
mod stack_plans;
mod stack_supersede;
mod stack_watching;
mod stacks;
mod state;
mod transport;
mod watchers;
mod watching;
mod workload_streams;
mod workloads;
