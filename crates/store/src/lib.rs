//! The only crate with SQL: every row of the control plane, on SQLite, PostgreSQL and CockroachDB.
//!
//! [`Store`] is a concrete struct that everybody clones. Writing happens in [`Store::tx`], on a
//! [`Tx`]; reading there too, or on a [`Reader`] from [`Store::read`]. Methods are noun-first, one file
//! per noun, and speak `model` types only. SQL is written once, in what the three databases share; the
//! few places where they differ ask [`Store::dialect`] in the open.
//!
//! Every mutable row has a generation, and every update says which one it expects ([`Update`]). Lists
//! are keyset-paged. The schema and its migrations are in `schema/` at the root of the repository.
//!
//! Reading order is the order of the modules below.

mod error;
mod value;

mod conn;
mod select;
mod stats;
mod store;
mod update;
mod writer;

mod backup;
mod dump;
mod migrate;

mod account;
mod approval;
mod audit;
mod audit_anchor;
mod audit_sink;
mod backup_attempt;
mod blob;
mod chunk;
mod event;
mod event_hook;
mod execution;
mod execution_job;
mod execution_step;
mod group;
mod hook_delivery;
mod idempotency;
mod image;
mod invitation;
mod join;
mod lease;
mod lock;
mod log_share;
mod login_tally;
mod module;
mod node;
mod node_backup;
mod node_lease;
mod node_usage;
mod operation;
mod placement;
mod principal;
mod project;
mod project_usage;
mod role;
mod run;
mod run_output;
mod schedule;
mod schedule_fire;
mod sealed_key;
mod second_factor;
mod secret;
mod server;
mod service;
mod service_placement;
mod service_run;
mod setting;
mod software_config;
mod software_deployment;
mod stack;
mod stack_count;
mod stack_definition;
mod stack_dependency;
mod stack_drift;
mod stack_event;
mod stack_list;
mod stack_plan;
mod stack_plugin;
mod stack_resource;
mod stack_revision;
mod stack_snapshot;
mod state;
mod state_log;
mod task_after;
mod task_array;
mod token;
mod user_identity;
mod vitals;
mod watcher;
mod watcher_node;
mod web_session;
mod workflow;
mod workload;
mod workload_queue;

#[doc(hidden)]
pub mod fuzz;

pub use account::{Account, Used};
pub use approval::ApprovalFilter;
pub use audit::{AuditFilter, AuditFollow};
pub use backup::{Occupancy, RESTORE_UNFINISHED, RESTORED, Snapshot, StoredTable};
pub use blob::{BlobGrant, Committed};
pub use chunk::{Chunk, ChunkTotals};
pub use conn::{Conn, Reader, Tx};
pub use error::{Cause, ConflictReason, Error};
pub use event::EventFilter;
pub use execution::ExecutionFilter;
pub use hook_delivery::{DeliveryCounts, DeliveryFilter};
pub use idempotency::Claim;
pub use lock::{LockEntered, LockFilter};
pub use node::NodeFilter;
pub use node_backup::{NodeBackupCount, NodeBackupFilter};
pub use node_lease::{Attach, LeaseRenewal};
pub use operation::OperationFilter;
pub use placement::{
    FeedEntry, HeldPlacement, NodeUsage, ParticularHold, PlacedWords, ProjectUsage,
};
pub use role::Member;
pub use run::RunContext;
pub use schedule::{ScheduleMade, ScheduleTurn};
pub use sealed_key::SealedKey;
pub use secret::WrappedKey;
pub use service::{ServiceFilter, ServiceName};
pub use service_placement::ServicePlacement;
pub use service_run::RUNS_KEPT;
pub use software_deployment::SoftwareDeploymentFilter;
pub use stack::StackChange;
pub use stack_event::{StackEventFilter, StackEventScope};
pub use stack_list::{StackFilter, StackOrder, StackSort};
pub use state::StateListing;
pub use state_log::StateLogMark;
pub use stats::{Stats, TxStats};
pub use store::{OpenOptions, Store};
pub use task_after::Waiting;
pub use task_array::{ArrayChange, ArrayStanding};
pub use update::Update;
pub use vitals::{Backlog, Vitals};
pub use workload::WorkloadFilter;
pub use workload_queue::{PassedOver, QueueCursor};

/// Which database is behind a store. CockroachDB speaks PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    pub const fn label(self) -> &'static str {
        match self {
            Dialect::Sqlite => "sqlite",
            Dialect::Postgres => "postgres",
        }
    }
}
