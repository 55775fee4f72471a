//! How a machine is: what was measured, and what to think of it.

use serde::{Deserialize, Serialize};

use super::HostMount;
use crate::{Bytes, TemperatureFact, Timestamp};

/// What was measured on a machine. Whether that is well is decided elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HostVitals {
    /// The machine's clock when it was asked.
    pub time: Timestamp,
    pub uptime_seconds: u64,
    pub cores: u32,
    /// Processes that run or wait for a device, on average over 1, 5 and 15 minutes.
    pub load: [f64; 3],
    pub memory: Bytes,
    /// What could be given to programs without swapping.
    pub memory_available: Bytes,
    pub swap: Bytes,
    pub swap_free: Bytes,
    pub mounts: Vec<HostMount>,
    /// Services that failed; absent where nobody can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_services: Option<Vec<String>>,
    pub temperatures: Vec<TemperatureFact>,
    /// Why the machine should be restarted, such as the packages that want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reboot: Option<String>,
    /// When the agent's certificate expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_expires: Option<Timestamp>,
    /// Processes that are dead and that nobody has waited for.
    pub zombies: u32,
}

crate::labels! {
    /// How well something is; later is worse.
    pub enum HealthLevel ("level of health") {
        Ok = "ok",
        Warning = "warning",
        Critical = "critical",
    }
}

crate::labels! {
    /// What a finding is about.
    pub enum Vital ("vital sign") {
        Load = "load",
        Memory = "memory",
        Swap = "swap",
        Disk = "disk",
        Inodes = "inodes",
        Services = "services",
        Clock = "clock",
        Temperature = "temperature",
        Reboot = "reboot",
        Certificate = "certificate",
        Processes = "processes",
    }
}

/// Something about a machine that is not well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostFinding {
    pub about: Vital,
    pub level: HealthLevel,
    /// What was found, and what to do.
    pub message: String,
}

/// A verdict on a machine, with what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostHealth {
    /// The worst of the findings.
    pub level: HealthLevel,
    /// The worst first.
    pub findings: Vec<HostFinding>,
    pub vitals: HostVitals,
}
