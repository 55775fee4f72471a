//! Primitives, tried in temporary roots with commands that record.
#![expect(clippy::unwrap_used, reason = "the whole crate is tests")]

mod accounts;
mod archives;
mod cron;
mod edits;
mod facts;
mod files;
mod firewall;
mod glance;
mod keys;
mod logins;
mod packages;
mod plain_data;
mod services;
mod sysctl;
mod system;
mod world;
