//! What an agent tells about its machine: facts (rarely change) and metrics (every heartbeat).
//!
//! Unknown fields are ignored and missing ones default, so that agents and servers of neighbouring
//! versions understand each other.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Cores, OutputKept, Timestamp};

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
    /// What `timezone: local` means there, by its name in the time zone database; absent when it has
    /// none, or the agent is older than this.
    pub timezone: Option<String>,
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
    /// What each sensor showed when the facts were collected.
    pub temperatures: Vec<TemperatureFact>,
    /// What disks say about their own wear, those that say anything.
    pub disk_health: Vec<DiskHealthFact>,
    /// The agent was told that its link is paid for by what it carries; it sends less.
    pub is_metered: bool,
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
    /// The NUMA node it is next to, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<u32>,
    /// Why it is out of service, such as `Xid 79: GPU has fallen off the bus`; nothing is given it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TemperatureFact {
    /// As the kernel names it, such as `cpu_thermal` or `coretemp Package id 0`.
    pub sensor: String,
    /// Degrees Celsius.
    pub celsius: f64,
    /// Where the machine protects itself, in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct DiskHealthFact {
    /// Such as `mmcblk0` or `nvme0`.
    pub device: String,
    /// `emmc`, `sd` or `nvme`.
    pub kind: String,
    pub model: String,
    /// At most this share of its life is used up, in percent; above 100 it has outlived its estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life_used: Option<u8>,
    /// How its spare blocks are: `normal`, `warning` (four fifths used) or `urgent` (nine tenths).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<String>,
    /// The controller's state as the kernel sees it; `live` is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub celsius: Option<f64>,
}

impl DiskHealthFact {
    /// It says that it will fail, or has.
    pub fn is_failing(&self) -> bool {
        self.life_used.is_some_and(|used| used > 100)
            || self.spare.as_deref() == Some("urgent")
            || self.state.as_deref() == Some("dead")
    }

    /// It is time to think of another.
    pub fn is_worn(&self) -> bool {
        self.is_failing()
            || self.life_used.is_some_and(|used| used >= 90)
            || self.spare.as_deref() == Some("warning")
    }
}

impl Facts {
    /// Whether another look found the same machine: the same but for levels that change all the time,
    /// such as free space and temperatures.
    pub fn is_same_machine(&self, other: &Facts) -> bool {
        self.without_levels() == other.without_levels()
    }

    /// The names of what another look found to be different, levels left aside.
    pub fn differences(&self, other: &Facts) -> Vec<String> {
        let fields = |facts: &Facts| match serde_json::to_value(facts.without_levels()) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let theirs = fields(other);
        let ours = fields(self).into_iter();
        let differing = ours.filter(|(name, value)| theirs.get(name) != Some(value));
        let mut names: Vec<String> = differing.map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    }

    fn without_levels(&self) -> Facts {
        let mut facts = self.clone();
        facts.disks.iter_mut().for_each(|disk| disk.available = Bytes::ZERO);
        facts.temperatures.iter_mut().for_each(|sensor| sensor.celsius = 0.0);
        facts.disk_health.iter_mut().for_each(|disk| disk.celsius = None);
        facts
    }
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
    /// The hottest sensor, in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// What the node takes the time to be; for servers only, which tell how far that is from theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub time: Option<Timestamp>,
    /// How far the node's clock is ahead of the server's, in milliseconds; behind when negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_skew_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<WriteMetrics>,
    /// Lines that programs printed and that could not be kept, since the agent started.
    pub gap_lines: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuMetrics>,
    /// Output of projects that have a share here; for servers only, because it names projects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub outputs: Vec<OutputKept>,
}

/// How busy a GPU is, as far as it tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct GpuMetrics {
    /// Its number on the node.
    pub index: u32,
    /// Share of the time in which something ran on it, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<f64>,
    pub memory_used: Bytes,
    /// Degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// Processes that compute on it, whoever started them.
    pub processes: u32,
    /// Errors that its driver has told of since the agent started.
    pub errors: u64,
}

/// What the agent and its shims have written to disk today; a day is one of UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(default, rename_all = "camelCase")]
pub struct WriteMetrics {
    pub today: Bytes,
    /// Since the agent started.
    pub total: Bytes,
    /// What was declared to be the most for a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Bytes>,
}

impl WriteMetrics {
    /// How much of the budget is used, in percent.
    pub fn percent(&self) -> Option<u64> {
        let budget = u128::from(self.budget?.get().max(1));
        Some(u64::try_from(u128::from(self.today.get()) * 100 / budget).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_do_not_make_another_machine() {
        let facts = |available, celsius, life_used| Facts {
            disks: vec![DiskFact { available: Bytes::new(available), ..DiskFact::default() }],
            temperatures: vec![TemperatureFact { celsius, ..TemperatureFact::default() }],
            disk_health: vec![DiskHealthFact {
                life_used: Some(life_used),
                celsius: Some(celsius),
                ..DiskHealthFact::default()
            }],
            ..Facts::default()
        };
        assert!(facts(1, 40.0, 10).is_same_machine(&facts(2, 50.5, 10)));
        assert!(!facts(1, 40.0, 10).is_same_machine(&facts(1, 40.0, 20)));
        assert_eq!(facts(1, 40.0, 10).differences(&facts(2, 50.5, 10)), [""; 0]);
        let moved = Facts { timezone: Some("Europe/Rome".into()), ..facts(1, 40.0, 20) };
        assert_eq!(moved.differences(&facts(1, 40.0, 10)), ["diskHealth", "timezone"]);
    }

    #[test]
    fn a_disk_says_when_it_is_worn() {
        let disk = |life_used, spare: Option<&str>, state: Option<&str>| DiskHealthFact {
            life_used,
            spare: spare.map(str::to_owned),
            state: state.map(str::to_owned),
            ..DiskHealthFact::default()
        };
        let verdict = |disk: DiskHealthFact| (disk.is_worn(), disk.is_failing());
        assert_eq!(verdict(disk(None, None, None)), (false, false));
        assert_eq!(verdict(disk(Some(80), Some("normal"), Some("live"))), (false, false));
        assert_eq!(verdict(disk(Some(90), None, None)), (true, false));
        assert_eq!(verdict(disk(None, Some("warning"), None)), (true, false));
        assert_eq!(verdict(disk(Some(101), None, None)), (true, true));
        assert_eq!(verdict(disk(None, Some("urgent"), None)), (true, true));
        assert_eq!(verdict(disk(None, None, Some("dead"))), (true, true));
    }

    #[test]
    fn the_share_of_a_budget() {
        let writes = |today, budget: Option<u64>| WriteMetrics {
            today: Bytes::new(today),
            total: Bytes::ZERO,
            budget: budget.map(Bytes::new),
        };
        assert_eq!(writes(5, None).percent(), None);
        assert_eq!(writes(50, Some(200)).percent(), Some(25));
        assert_eq!(writes(u64::MAX, Some(u64::MAX)).percent(), Some(100));
        assert_eq!(writes(7, Some(0)).percent(), Some(700));
    }
}
