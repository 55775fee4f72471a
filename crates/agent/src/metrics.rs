//! How busy this machine is: a sample for heartbeats. The share of busy processor time is since the
//! sample before; the first one is since boot.

use std::path::PathBuf;

use hostler_model::{Bytes, NodeMetrics};

use crate::facts::{cpu_times, disk_space, first_number, hottest, meminfo, text};

/// Takes samples; remembers the processor times of the last one.
pub(crate) struct Sampler {
    data_dir: PathBuf,
    times: (u64, u64),
}

impl Sampler {
    pub fn new(data_dir: PathBuf) -> Sampler {
        Sampler { data_dir, times: (0, 0) }
    }

    pub fn sample(&mut self, runs_active: usize) -> NodeMetrics {
        let memory = text("/proc/meminfo");
        let in_memory = |key| meminfo(&memory, key).unwrap_or_default();
        let disk = disk_space(&self.data_dir);
        NodeMetrics {
            load_1m: first_number(&text("/proc/loadavg")).unwrap_or_default(),
            cpu_ratio: self.cpu_ratio(&text("/proc/stat")),
            memory_used: Bytes::new(
                in_memory("MemTotal").saturating_sub(in_memory("MemAvailable")),
            ),
            disk_used: disk.as_ref().map_or(Bytes::ZERO, |d| d.size.saturating_sub(d.free)),
            disk_size: disk.map_or(Bytes::ZERO, |d| d.size),
            uptime_seconds: uptime(&text("/proc/uptime")),
            runs_active: u32::try_from(runs_active).unwrap_or(u32::MAX),
            agent_memory: agent_memory(),
            temperature: hottest(),
            time: None,
            clock_skew_ms: None,
            writes: None,
            gap_lines: 0,
            gpus: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn cpu_ratio(&mut self, stat: &str) -> f64 {
        let Some((busy, total)) = cpu_times(stat) else {
            return 0.0;
        };
        let (busy_before, total_before) = std::mem::replace(&mut self.times, (busy, total));
        let (busy, total) = (busy.saturating_sub(busy_before), total.saturating_sub(total_before));
        #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 52 bits")]
        let ratio = busy as f64 / total.max(1) as f64;
        ratio.clamp(0.0, 1.0)
    }
}

/// Resident memory of this process.
pub(crate) fn agent_memory() -> Bytes {
    resident(&text("/proc/self/statm"))
}

fn uptime(text: &str) -> u64 {
    let whole = text.split(['.', ' ']).next().and_then(|seconds| seconds.parse().ok());
    whole.unwrap_or_default()
}

/// Resident memory, from statm's second number.
fn resident(text: &str) -> Bytes {
    let pages: u64 = text
        .split_ascii_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or_default();
    Bytes::new(pages.saturating_mul(rustix::param::page_size() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_share_is_of_the_time_between_samples() {
        let mut sampler = Sampler::new("/".into());
        assert!((sampler.cpu_ratio("cpu  50 0 0 50 0 0 0 0\n") - 0.5).abs() < 1e-9);
        assert!((sampler.cpu_ratio("cpu  75 0 0 50 0 0 0 0\n") - 1.0).abs() < 1e-9);
        assert!(sampler.cpu_ratio("cpu  75 0 0 150 0 0 0 0\n").abs() < 1e-9);
        assert!(sampler.cpu_ratio("").abs() < 1e-9);
    }

    #[test]
    fn a_sample_of_this_machine_is_plausible() {
        let metrics = Sampler::new("/".into()).sample(3);
        assert!(metrics.memory_used > Bytes::ZERO && metrics.agent_memory > Bytes::ZERO);
        assert!(metrics.disk_size >= metrics.disk_used);
        assert_eq!(metrics.runs_active, 3);
        assert_eq!(uptime("12345.67 1.0\n"), 12345);
    }
}
