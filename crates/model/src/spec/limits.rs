//! What a run may use at most.

use serde::{Deserialize, Serialize};

use super::Problems;
use crate::{Bytes, Cores};

/// Limits of each run, kept by cgroups where the node has them and by resource limits where not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Limits {
    /// Memory; a run that needs more is killed, and its end says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Memory above which the run is slowed down and its pages are taken back first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_high: Option<Bytes>,
    /// Processor time, in cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cores>,
    /// Share of processor time when there is not enough, against 100 for others.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_weight: Option<u32>,
    /// Priority: -20 is the highest, 19 the lowest.
    #[schemars(range(min = -20, max = 19))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
    /// Processes and threads.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<u32>,
    /// Open files of each process.
    #[schemars(range(min = 8))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u32>,
    /// Share of disk time when there is not enough, against 100 for others.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_weight: Option<u32>,
}

const LEAST_MEMORY: Bytes = Bytes::new(256 << 10);

impl Limits {
    pub fn is_none(&self) -> bool {
        *self == Limits::default()
    }

    pub(super) fn look(&self, say: &mut Problems<'_>) {
        if self.memory.is_some_and(|memory| memory < LEAST_MEMORY) {
            say.at("/limits/memory", "no program runs in less than 256 KiB of memory");
        }
        if let (Some(high), Some(hard)) = (self.memory_high, self.memory)
            && high > hard
        {
            say.at("/limits/memoryHigh", "the soft limit is above the hard one");
        }
        if self.memory_high == Some(Bytes::ZERO) {
            say.at("/limits/memoryHigh", "a soft limit of zero would stall every run");
        }
        if self.cpu.is_some_and(|cpu| cpu < Cores::from_millis(10)) {
            say.at("/limits/cpu", "at least 0.01 cores are needed to get anywhere");
        }
        let weights = [("cpuWeight", self.cpu_weight), ("ioWeight", self.io_weight)];
        for (name, weight) in weights {
            if weight.is_some_and(|weight| !(1..=10_000).contains(&weight)) {
                say.at(&format!("/limits/{name}"), "a weight is a whole number from 1 to 10000");
            }
        }
        if self.nice.is_some_and(|nice| !(-20..=19).contains(&nice)) {
            say.at("/limits/nice", "a priority is a whole number from -20 to 19");
        }
        if self.pids == Some(0) {
            say.at("/limits/pids", "a run is at least one process");
        }
        if self.files.is_some_and(|files| files < 8) {
            say.at("/limits/files", "a process needs at least 8 open files");
        }
    }
}
