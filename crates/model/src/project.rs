//! Projects: the tenant scope that every object but nodes, users and servers belongs to.

use crate::{Generation, Name, ProjectId, Timestamp};

/// The project that exists from the first start.
pub const DEFAULT_PROJECT: &str = "default";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub id: ProjectId,
    pub name: Name,
    pub description: String,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}
