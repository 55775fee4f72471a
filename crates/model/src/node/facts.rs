//! What an agent tells about its machine: facts (rarely change) and metrics (every heartbeat).
//!
//! Unknown fields are ignored and missing ones default, so that agents and servers of neighbouring
//! versions understand each other.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Cores};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Facts {
    pub hostname: String,
    /// Distribution and version, as in os-release's PRETTY_NAME.
    pub os: String,
    pub kernel: String,
    pub architecture: String,
    /// Identifies the present boot of the machine.
    pub boot_id: String,
    pub machine_id: String,
    /// What may be reserved on the node.
    pub cores: Cores,
    pub cpu_model: String,
    pub memory: Bytes,
    pub swap: Bytes,
    pub numa: Vec<NumaFact>,
    pub disks: Vec<DiskFact>,
    pub addresses: Vec<String>,
    /// `v2`, `hybrid`, `v1` or `none`.
    pub cgroup: String,
    /// Container engine and its version, when one answers.
    pub container_engine: Option<String>,
    pub gpus: Vec<GpuFact>,
    /// Whether the agent runs as root (and so can run tasks as other users).
    pub is_root: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NumaFact {
    pub index: u32,
    /// CPUs in Linux list form, such as `0-7,16-23`.
    pub cpus: String,
    pub memory: Bytes,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct DiskFact {
    pub mount: String,
    pub device: String,
    pub filesystem: String,
    pub size: Bytes,
    pub available: Bytes,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct GpuFact {
    pub index: u32,
    pub uuid: String,
    pub model: String,
    pub memory: Bytes,
    pub driver: String,
}

/// A sample of the machine's load, sent with heartbeats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeMetrics {
    #[serde(rename = "load1m")]
    pub load_1m: f64,
    /// Share of all cores busy since the last sample, 0 to 1.
    pub cpu_ratio: f64,
    pub memory_used: Bytes,
    pub disk_used: Bytes,
    pub disk_size: Bytes,
    pub uptime_seconds: u64,
    pub runs_active: u32,
    /// Resident memory of the agent itself.
    pub agent_memory: Bytes,
}
