//! What people can ask for, one file per noun.

mod account;
mod blob;
mod blob_read;
mod image;
mod login;
mod node;
mod node_engine;
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
pub(crate) mod task_after;
mod task_control;
mod task_explain;
mod task_files;
mod task_output;
pub(crate) mod task_submit;
mod token;
mod user;
pub(crate) mod workload;
mod workload_explain;
mod workload_next;
mod workload_reach;

pub(crate) use blob::BlobRoom;
pub use blob::{BlobDetail, NewBlob};
pub use blob_read::BlobReader;
pub use image::NewImage;
pub(crate) use image::taken_id;
pub use project::ProjectChange;
pub use workload_reach::NewExec;
