//! Which limit is written to which file. A table and nothing else.

use crate::wire::Bounds;

/// Which generation of the interface a directory has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

/// One limit as it is put into force.
#[derive(Debug, PartialEq, Eq)]
pub struct Bound {
    /// As in a spec.
    pub name: &'static str,
    value: u64,
}

/// A file and what is written there. `else_file` is for kernels that name it otherwise; a write that
/// is not `is_needed` may fail.
#[derive(Debug, PartialEq, Eq)]
pub struct Write {
    pub file: &'static str,
    pub text: String,
    pub else_write: Option<(&'static str, String)>,
    pub is_needed: bool,
}

/// Those that are asked for.
pub fn bounds(bounds: &Bounds) -> Vec<Bound> {
    [
        ("memory", bounds.memory),
        ("memoryHigh", bounds.memory_high),
        ("cpu", bounds.cpu),
        ("cpuWeight", bounds.cpu_weight),
        ("pids", bounds.pids),
        ("ioWeight", bounds.io_weight),
    ]
    .into_iter()
    .filter(|(_, value)| *value > 0)
    .map(|(name, value)| Bound { name, value })
    .collect()
}

const PERIOD_US: u64 = 100_000;
/// The kernel takes no smaller quota.
const QUOTA_MIN_US: u64 = 1_000;

impl Bound {
    /// The controller, as the kernel calls it.
    pub fn controller(&self, version: Version) -> &'static str {
        match (self.name, version) {
            ("memory" | "memoryHigh", _) => "memory",
            ("cpu" | "cpuWeight", _) => "cpu",
            ("pids", _) => "pids",
            (_, Version::One) => "blkio",
            (_, Version::Two) => "io",
        }
    }

    /// A file that is there exactly when the controller works in a directory of version 2.
    pub fn sign(&self) -> &'static str {
        match self.controller(Version::Two) {
            "memory" => "memory.max",
            "cpu" => "cpu.max",
            "pids" => "pids.max",
            _ => "io.stat",
        }
    }

    pub fn writes(&self, version: Version) -> Vec<Write> {
        let value = self.value;
        let quota = (value.saturating_mul(PERIOD_US) / 1000).max(QUOTA_MIN_US);
        match (version, self.name) {
            (Version::Two, "memory") => {
                vec![needed("memory.max", value), wished("memory.swap.max", 0)]
            }
            (Version::Two, "memoryHigh") => vec![needed("memory.high", value)],
            (Version::Two, "cpu") => vec![needed("cpu.max", format!("{quota} {PERIOD_US}"))],
            (Version::Two, "cpuWeight") => vec![needed("cpu.weight", value)],
            (Version::Two, "ioWeight") => vec![Write {
                else_write: Some(("io.bfq.weight", value.min(1000).to_string())),
                ..needed("io.weight", value)
            }],
            (Version::One, "memory") => vec![
                needed("memory.limit_in_bytes", value),
                wished("memory.memsw.limit_in_bytes", value),
            ],
            (Version::One, "memoryHigh") => vec![needed("memory.soft_limit_in_bytes", value)],
            (Version::One, "cpu") => {
                vec![needed("cpu.cfs_period_us", PERIOD_US), needed("cpu.cfs_quota_us", quota)]
            }
            (Version::One, "cpuWeight") => {
                vec![needed("cpu.shares", (value * 1024 / 100).clamp(2, 262_144))]
            }
            (Version::One, "ioWeight") => vec![Write {
                else_write: Some(("blkio.weight", (value * 5).clamp(10, 1000).to_string())),
                ..needed("blkio.bfq.weight", value.min(1000))
            }],
            _ => vec![needed("pids.max", value)],
        }
    }
}

fn needed(file: &'static str, value: impl ToString) -> Write {
    Write { file, text: value.to_string(), else_write: None, is_needed: true }
}

fn wished(file: &'static str, value: impl ToString) -> Write {
    Write { is_needed: false, ..needed(file, value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(version: Version, asked: Bounds) -> Vec<String> {
        let lines = bounds(&asked).into_iter().flat_map(|bound| {
            let controller = bound.controller(version);
            let line = move |write: Write| format!("{controller} {}={}", write.file, write.text);
            bound.writes(version).into_iter().map(line).collect::<Vec<_>>()
        });
        lines.collect()
    }

    const ALL: Bounds = Bounds {
        memory: 1 << 20,
        memory_high: 1 << 19,
        cpu: 1500,
        cpu_weight: 200,
        pids: 7,
        io_weight: 5000,
    };

    #[test]
    fn each_limit_has_its_file_in_version_two() {
        assert_eq!(
            table(Version::Two, ALL),
            [
                "memory memory.max=1048576",
                "memory memory.swap.max=0",
                "memory memory.high=524288",
                "cpu cpu.max=150000 100000",
                "cpu cpu.weight=200",
                "pids pids.max=7",
                "io io.weight=5000",
            ]
        );
    }

    #[test]
    fn each_limit_has_its_file_in_version_one() {
        assert_eq!(
            table(Version::One, ALL),
            [
                "memory memory.limit_in_bytes=1048576",
                "memory memory.memsw.limit_in_bytes=1048576",
                "memory memory.soft_limit_in_bytes=524288",
                "cpu cpu.cfs_period_us=100000",
                "cpu cpu.cfs_quota_us=150000",
                "cpu cpu.shares=2048",
                "pids pids.max=7",
                "blkio blkio.bfq.weight=1000",
            ]
        );
    }

    #[test]
    fn what_is_not_asked_for_is_not_written() {
        assert!(table(Version::Two, Bounds::default()).is_empty());
        let tiny = Bounds { cpu: 1, cpu_weight: 1, ..Bounds::default() };
        assert_eq!(table(Version::Two, tiny)[0], "cpu cpu.max=1000 100000");
        assert_eq!(table(Version::One, tiny)[2], "cpu cpu.shares=10");
    }

    #[test]
    fn no_amount_is_too_large_to_be_written() {
        let most = u64::MAX;
        let asked =
            Bounds { memory: most, memory_high: most, cpu: most, pids: most, ..Bounds::default() };
        for version in [Version::One, Version::Two] {
            let table = table(version, asked);
            assert!(table.iter().any(|line| line.ends_with(&format!("={most}"))), "{table:?}");
        }
    }
}
