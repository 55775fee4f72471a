//! What people can ask for, one file per noun.

mod account;
mod login;
mod node;
mod node_held;
mod node_join;
mod node_reach;
mod node_reload;
mod node_workloads;
mod operation;
mod project;
mod queue;
mod record;
pub(crate) mod task;
mod task_control;
mod task_explain;
mod task_output;
pub(crate) mod task_submit;
mod token;
mod user;
pub(crate) mod workload;
mod workload_explain;
mod workload_next;
mod workload_reach;

pub use project::ProjectChange;
pub use workload_reach::NewExec;
