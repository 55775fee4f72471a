//! Settings of a service that are a field of the spec each, and which settings are understood at all.

use super::service::Reading;
use crate::quantities;

const SERVICE: &[&str] = &[
    "Type",
    "ExecStart",
    "ExecStartPre",
    "ExecStartPost",
    "ExecStop",
    "ExecStopPost",
    "Restart",
    "RestartSec",
    "RestartSteps",
    "RestartMaxDelaySec",
    "SuccessExitStatus",
    "StartLimitBurst",
    "StartLimitInterval",
    "StartLimitIntervalSec",
    "User",
    "Group",
    "UMask",
    "WorkingDirectory",
    "Environment",
    "TimeoutSec",
    "TimeoutStartSec",
    "TimeoutStopSec",
    "KillSignal",
    "KillMode",
    "RuntimeMaxSec",
    "MemoryMax",
    "MemoryLimit",
    "MemoryHigh",
    "CPUQuota",
    "CPUWeight",
    "CPUShares",
    "TasksMax",
    "LimitNOFILE",
    "Nice",
    "IOWeight",
    "RemainAfterExit",
];

const UNIT: &[&str] = &[
    "After",
    "Before",
    "Requires",
    "Requisite",
    "BindsTo",
    "Wants",
    "PartOf",
    "StartLimitBurst",
    "StartLimitInterval",
    "StartLimitIntervalSec",
];

pub fn is_service(key: &str) -> bool {
    SERVICE.contains(&key)
}

pub fn is_unit(key: &str) -> bool {
    UNIT.contains(&key)
}

impl Reading<'_, '_> {
    pub fn limits(&mut self) {
        self.identity();
        let memory = self.parsed("MemoryMax", endless(quantities::size)).flatten();
        let old_memory = self.parsed("MemoryLimit", endless(quantities::size)).flatten();
        self.spec.limits.memory = memory.or(old_memory);
        self.spec.limits.memory_high =
            self.parsed("MemoryHigh", endless(quantities::size)).flatten();
        self.spec.limits.cpu = self.parsed("CPUQuota", |text| {
            quantities::cores(text.strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0)
        });
        let weight = self.parsed("CPUWeight", |text| text.parse().ok());
        let shares = self.parsed("CPUShares", |text| text.parse().ok());
        self.spec.limits.cpu_weight = weight.or(shares.map(quantities::weight_of_shares));
        self.spec.limits.io_weight = self.parsed("IOWeight", |text| text.parse().ok());
        self.spec.limits.pids =
            self.parsed("TasksMax", endless(|text| text.parse().ok())).flatten();
        self.spec.limits.nice = self.parsed("Nice", |text| text.parse().ok());
        self.spec.limits.files = self.parsed("LimitNOFILE", |text| {
            text.split(':').next().and_then(|soft| soft.trim().parse().ok())
        });
        let unit = self.unit;
        if unit.is_true("Service", "RemainAfterExit")
            && let Some(setting) = unit.last("Service", "RemainAfterExit")
        {
            self.note(setting, "once it has ended well it is completed; others may depend on that");
        }
    }

    fn identity(&mut self) {
        let unit = self.unit;
        let text = |key: &str| unit.text("Service", key).map(str::to_owned);
        self.spec.user = text("User");
        self.spec.group = text("Group");
        self.spec.umask = text("UMask").map(|umask| format!("{umask:0>3}"));
        for key in ["User", "Group"] {
            if let Some(setting) = unit.last("Service", key)
                && setting.value.bytes().all(|b| b.is_ascii_digit())
            {
                self.changed(
                    setting,
                    format!(
                        "`{}` is a number; nodes want names, so write the name it has there",
                        setting.value
                    ),
                );
            }
        }
        if let Some(setting) = unit.last("Service", "WorkingDirectory") {
            match setting.value.strip_prefix('-') {
                Some(directory) => {
                    self.changed(setting, "it has to exist here (`-` let it be missing)");
                    self.spec.workdir = Some(directory.to_owned());
                }
                None if setting.value == "~" => {
                    self.lost(setting, "the home of the user is not known here; write its path");
                }
                None => self.spec.workdir = Some(setting.value.clone()),
            }
        }
    }
}

/// `infinity` is no limit.
fn endless<T>(read: impl Fn(&str) -> Option<T>) -> impl Fn(&str) -> Option<Option<T>> {
    move |text| if text == "infinity" { Some(None) } else { read(text).map(Some) }
}
