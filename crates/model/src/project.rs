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
    /// Workloads that are applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workloads: Option<u64>,
    /// Secrets, whatever their environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<u64>,
    /// Files and outputs of tasks that are kept as blobs, by their sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blobs: Option<Bytes>,
    /// Output of runs that is kept on nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<Bytes>,
    /// Keys and values of its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Bytes>,
    /// Stacks, without those that are resources of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacks: Option<u64>,
}

/// What a project has of what is counted in rows, and what nodes say that they keep of its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProjectUsage {
    pub workloads: u64,
    pub secrets: u64,
    pub blobs: Bytes,
    /// Known where there is a quota.
    pub logs: Bytes,
    /// Keys and values.
    pub state: Bytes,
    pub stacks: u64,
}
