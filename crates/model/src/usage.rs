//! What was used over time.

use serde::{Deserialize, Serialize};

use crate::{Bytes, PlacementId, Timestamp};

/// What a service uses on its node, as last sampled; told to servers now and then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadUsage {
    pub placement: PlacementId,
    /// Cores.
    pub cpu: f64,
    pub memory: Bytes,
}

impl WorkloadUsage {
    /// Of so many a node tells, those with the most memory.
    pub const MOST: usize = 256;

    /// What a node may say: no more than that, and numbers only.
    #[must_use]
    pub fn sane(mut told: Vec<WorkloadUsage>) -> Vec<WorkloadUsage> {
        told.truncate(WorkloadUsage::MOST);
        told.retain(|usage| usage.cpu.is_finite() && usage.cpu >= 0.0);
        told
    }
}

/// What a workload or a node used in the time up to `time`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct UsageSample {
    /// The end of the stretch that it speaks for.
    pub time: Timestamp,
    /// Length of the stretch.
    pub seconds: f64,
    /// Cores, on average.
    pub cpu: f64,
    /// The most that was seen.
    pub memory: Bytes,
    /// Bytes a second, on average.
    pub disk_read: f64,
    pub disk_written: f64,
    /// Of a node only: bytes a second over all its interfaces but loopback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net_received: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net_sent: Option<f64>,
    /// Of a node only: what its data directory's disk holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_used: Option<Bytes>,
    /// Of a node only: its hottest sensor, in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Processes and threads, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<u32>,
}

impl UsageSample {
    /// What both say together: averages by their lengths, the most of the rest.
    #[must_use]
    pub fn joined(&self, later: &UsageSample) -> UsageSample {
        let seconds = self.seconds + later.seconds;
        let mean = |a: f64, b: f64| {
            if seconds > 0.0 { (a * self.seconds + b * later.seconds) / seconds } else { b }
        };
        let mean_of = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(mean(a, b)),
            (one, other) => other.or(one),
        };
        UsageSample {
            time: later.time,
            seconds,
            cpu: mean(self.cpu, later.cpu),
            memory: self.memory.max(later.memory),
            disk_read: mean(self.disk_read, later.disk_read),
            disk_written: mean(self.disk_written, later.disk_written),
            net_received: mean_of(self.net_received, later.net_received),
            net_sent: mean_of(self.net_sent, later.net_sent),
            disk_used: later.disk_used.or(self.disk_used),
            temperature: match (self.temperature, later.temperature) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (one, other) => other.or(one),
            },
            pids: self.pids.max(later.pids),
        }
    }
}
