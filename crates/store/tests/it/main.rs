//! The conformance suite: plain async functions over a `Store`, run on SQLite always and on
//! PostgreSQL when `HOSTLER_TEST_POSTGRES` holds the address of one. Each test has a database (or
//! schema) of its own, which goes with it.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "the whole crate is tests")]

mod access;
mod approvals;
mod audit;
mod backup;
mod blobs;
mod executions;
mod hooks;
mod images;
mod journal;
mod locks;
mod measured;
mod modules;
mod node_backups;
mod nodes;
mod outage;
mod people;
mod roles;
mod schedules;
mod schema;
mod secrets;
mod services;
mod shared;
mod stack_counts;
mod stack_events;
mod stack_lists;
mod stack_parts;
mod stack_plugins;
mod stack_resources;
mod stack_software;
mod stacks;
mod state;
mod tasks;
mod timelines;
mod transactions;
mod watchers;
mod workflows;
mod workloads;
mod world;

/// Stamps every named `async fn(World)` for both databases.
#[macro_export]
macro_rules! conformance {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                $crate::world::on_sqlite(super::$name).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                $crate::world::on_postgres(super::$name).await;
            })+
        }
    };
}
