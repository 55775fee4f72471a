//! What people can ask for, one file per noun.

mod login;
mod node;
mod node_join;
mod node_reach;
mod node_reload;
mod node_workloads;
mod operation;
mod project;
mod record;
pub(crate) mod task;
mod task_explain;
mod task_output;
mod token;
mod user;
pub(crate) mod workload;
mod workload_explain;
mod workload_next;
mod workload_reach;

pub use workload_reach::NewExec;
