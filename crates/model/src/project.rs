//! Projects: the tenant scope that every object but nodes, users and servers belongs to.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Cores, Generation, Name, ProjectId, Timestamp};

/// The project that exists from the first start.
pub const DEFAULT_PROJECT: &str = "default";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    pub id: ProjectId,
    pub name: Name,
    pub description: String,
    pub quota: Quota,
    /// Its part of the fleet when others want it too, as a weight; 1 for most.
    pub weight: u32,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// How much a project may hold at once; what is absent is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quota {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<Cores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// Tasks that wait or run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
}
