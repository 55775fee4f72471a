//! The application, with simulated agents on an in-memory database.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod approvals;
mod audit;
mod audit_sinks;
mod audit_states;
mod authority;
mod backups;
mod blobs;
mod events;
mod executions;
mod gpus;
mod hooks;
mod identity;
mod lock_races;
mod locks;
mod measured;
mod metered;
mod modules;
mod node_backups;
mod node_images;
mod oidc;
mod people;
mod postgres;
mod quotas;
mod race_rooms;
mod racing;
mod reload;
mod river;
mod schedule_race;
mod schedules;
mod second_factor;
mod secrets;
mod services;
mod simulation;
mod stack_services;
mod stacks;
mod state;
mod steps;
mod story;
mod tasks;
mod timelines;
mod vault_server;
mod vaults;
mod waking;
mod watchers;
