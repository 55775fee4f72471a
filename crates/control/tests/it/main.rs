//! The application, with simulated agents on an in-memory database.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod approvals;
mod audit;
mod audit_sinks;
mod audit_states;
mod authority;
mod blobs;
mod executions;
mod gpus;
mod identity;
mod metered;
mod modules;
mod node_images;
mod oidc;
mod people;
mod postgres;
mod quotas;
mod race_rooms;
mod racing;
mod reload;
mod river;
mod second_factor;
mod secrets;
mod services;
mod simulation;
mod story;
mod tasks;
mod vault_server;
mod vaults;
mod waking;
