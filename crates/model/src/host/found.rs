//! What was found on a machine.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Timestamp};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostPackages {
    /// Who manages packages there: `apt`, `dnf`, ..
    pub manager: String,
    pub packages: Vec<HostPackage>,
    /// How many fit altogether.
    pub total: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostPackage {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostServices {
    /// Who starts services there: `systemd`, `openrc`, `sysv` or `unknown`.
    pub init: String,
    pub services: Vec<HostService>,
    /// How many fit altogether.
    pub total: u64,
    /// What cannot be told there, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostService {
    pub name: String,
    /// Such as `running`, `exited`, `dead`, `failed`; `unknown` where only asking the service would tell.
    pub state: String,
    /// Such as `active`, `inactive`, `failed`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub active: String,
    /// Such as `enabled` or `disabled`; told of a single service only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What the service manager says about it, for people; told of a single service only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostLogs {
    /// Where the lines come from: `journal`, `kernel` or the path of a file.
    pub source: String,
    /// In order, the newest last.
    pub lines: Vec<HostLogLine>,
    /// Whether there are more that would fit.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostLogLine {
    /// Absent where lines of a file are not divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Who wrote it: a service or a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// 0 (emergency) to 7 (debug).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostProcesses {
    pub processes: Vec<HostProcess>,
    /// How many fit altogether.
    pub total: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostProcess {
    pub pid: u32,
    pub parent: u32,
    pub user: String,
    /// As the kernel knows it, at most 15 bytes.
    pub name: String,
    /// The whole command line, cut where it is long; empty for threads of the kernel.
    pub command: String,
    /// One letter of the kernel's: `R` runs, `S` sleeps, `D` waits for a device, `Z` is dead.
    pub state: String,
    /// Share of one core while it was looked at; above 1 with several threads.
    pub cpu: f64,
    pub memory: Bytes,
    pub threads: u32,
    /// When it started, in clock ticks since boot: together with the pid it names this process only.
    pub start_ticks: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_started: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostDisks {
    pub mounts: Vec<HostMount>,
    /// What is largest below the directory that was asked for, the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub largest: Vec<HostTree>,
    /// What could not be looked at, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostMount {
    pub point: String,
    pub device: String,
    pub filesystem: String,
    pub size: Bytes,
    pub used: Bytes,
    /// To everybody: without what is reserved for root.
    pub available: Bytes,
    /// Zero where the file system does not count them.
    pub inodes: u64,
    pub inodes_used: u64,
    pub is_read_only: bool,
}

impl HostMount {
    /// How full it is to everybody, in percent, rounded up; 0 where it has no size.
    pub fn used_percent(&self) -> u64 {
        let whole = self.used.get().saturating_add(self.available.get());
        percent_up(self.used.get(), whole)
    }

    /// The same of inodes.
    pub fn inodes_percent(&self) -> u64 {
        percent_up(self.inodes_used, self.inodes)
    }
}

fn percent_up(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        whole => u64::try_from((u128::from(part) * 100).div_ceil(u128::from(whole))).unwrap_or(100),
    }
}

/// A file, or a directory with everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostTree {
    pub path: String,
    /// What it takes of the disk.
    pub size: Bytes,
    pub is_directory: bool,
    /// Files in it; 1 for a file.
    pub files: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostUsers {
    pub users: Vec<HostUser>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostUser {
    pub name: String,
    pub uid: u32,
    /// Its groups, the primary one first.
    pub groups: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    pub home: String,
    pub shell: String,
    /// One of the machine's own.
    pub is_system: bool,
    /// Whether its password is locked; absent where the agent may not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_locked: Option<bool>,
    /// How many public keys let somebody in; absent where the agent may not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_full_a_disk_is_leaves_out_what_only_root_may_use() {
        let mount = |used, available, inodes, inodes_used| HostMount {
            used: Bytes::new(used),
            available: Bytes::new(available),
            inodes,
            inodes_used,
            ..HostMount::default()
        };
        assert_eq!(mount(0, 0, 0, 0).used_percent(), 0);
        assert_eq!(mount(0, 0, 0, 5).inodes_percent(), 0);
        assert_eq!(mount(50, 50, 10, 5).used_percent(), 50);
        assert_eq!(mount(899, 101, 1000, 1).used_percent(), 90);
        assert_eq!(mount(0, 9, 1000, 1).inodes_percent(), 1);
        assert_eq!(mount(u64::MAX, u64::MAX, u64::MAX, u64::MAX).inodes_percent(), 100);
    }
}
