//! What systemd has and Hostler has not, and what to do instead.

/// Settings of `[Service]` that confine it; one remark names them all.
pub fn is_confinement(key: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "Protect",
        "Private",
        "Restrict",
        "SystemCall",
        "IPAddress",
        "SocketBind",
        "Device",
        "NetworkNamespace",
        "RootImage",
        "AppArmor",
        "SELinux",
        "Smack",
    ];
    const KEYS: &[&str] = &[
        "NoNewPrivileges",
        "CapabilityBoundingSet",
        "AmbientCapabilities",
        "ReadWritePaths",
        "ReadOnlyPaths",
        "InaccessiblePaths",
        "ExecPaths",
        "NoExecPaths",
        "BindPaths",
        "BindReadOnlyPaths",
        "TemporaryFileSystem",
        "MountFlags",
        "MountAPIVFS",
        "RootDirectory",
        "LockPersonality",
        "MemoryDenyWriteExecute",
        "SecureBits",
        "RemoveIPC",
        "KeyringMode",
        "ProcSubset",
        "DynamicUser",
    ];
    KEYS.contains(&key) || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

/// Settings of `[Service]` and `[Unit]`, with what becomes of them.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &["ExecReload", "ReloadSignal"],
        "there is no reload; restart it, or send the signal with `hostler workload exec`",
    ),
    (
        &["ExecCondition"],
        "there is no condition; a `hooks.preStart` that fails counts as a failure",
    ),
    (
        &["EnvironmentFile", "PassEnvironment", "UnsetEnvironment"],
        "only what stands in `env` is set; write the variables there",
    ),
    (
        &[
            "PIDFile",
            "BusName",
            "NotifyAccess",
            "FileDescriptorStoreMax",
            "Sockets",
            "GuessMainPID",
        ],
        "the started process itself is the workload; it is not told where another one is",
    ),
    (&["WatchdogSec", "WatchdogSignal"], "there is no watchdog protocol; add a `health` check"),
    (
        &[
            "RuntimeDirectory",
            "StateDirectory",
            "CacheDirectory",
            "LogsDirectory",
            "ConfigurationDirectory",
            "RuntimeDirectoryMode",
            "StateDirectoryMode",
            "CacheDirectoryMode",
            "LogsDirectoryMode",
            "ConfigurationDirectoryMode",
            "RuntimeDirectoryPreserve",
        ],
        "folders are not created; do it once on the node, or in `hooks.preStart`",
    ),
    (
        &["LoadCredential", "LoadCredentialEncrypted", "SetCredential", "ImportCredential"],
        "there are no credentials; put the file on the node and name its path",
    ),
    (
        &["RestartPreventExitStatus", "RestartForceExitStatus"],
        "single exit codes cannot decide on a restart; `restart.successCodes` \
         says which are no failure",
    ),
    (
        &[
            "SendSIGKILL",
            "SendSIGHUP",
            "FinalKillSignal",
            "RestartKillSignal",
            "TimeoutAbortSec",
            "TimeoutStartFailureMode",
            "TimeoutStopFailureMode",
        ],
        "a run gets its stop signal and, after `stop.grace`, SIGKILL",
    ),
    (
        &[
            "MemoryMin",
            "MemoryLow",
            "MemorySwapMax",
            "MemoryZSwapMax",
            "StartupMemoryMax",
            "StartupMemoryHigh",
            "OOMPolicy",
            "OOMScoreAdjust",
            "ManagedOOMSwap",
            "ManagedOOMMemoryPressure",
        ],
        "there is no such limit; `limits.memory` and `limits.memoryHigh` are what there is",
    ),
    (
        &[
            "CPUAffinity",
            "CPUSchedulingPolicy",
            "CPUSchedulingPriority",
            "CPUQuotaPeriodSec",
            "AllowedCPUs",
            "NUMAPolicy",
            "NUMAMask",
            "StartupCPUWeight",
            "AllowedMemoryNodes",
        ],
        "there is no such limit; `limits.cpu`, `limits.cpuWeight` and \
         `limits.nice` are what there is",
    ),
    (
        &[
            "IOSchedulingClass",
            "IOSchedulingPriority",
            "IOReadBandwidthMax",
            "IOWriteBandwidthMax",
            "IOReadIOPSMax",
            "IOWriteIOPSMax",
            "IODeviceWeight",
            "IODeviceLatencyTargetSec",
            "BlockIOWeight",
            "StartupIOWeight",
        ],
        "there is no such limit; `limits.ioWeight` is what there is",
    ),
    (
        &[
            "StandardOutput",
            "StandardError",
            "SyslogIdentifier",
            "SyslogFacility",
            "SyslogLevel",
            "LogLevelMax",
            "LogRateLimitIntervalSec",
            "LogRateLimitBurst",
            "LogNamespace",
        ],
        "Hostler keeps the output by itself, shown by `hostler workload logs`",
    ),
    (
        &[
            "StandardInput",
            "StandardInputText",
            "StandardInputData",
            "TTYPath",
            "TTYReset",
            "TTYVHangup",
            "TTYVTDisallocate",
        ],
        "a workload has no terminal and no input",
    ),
    (
        &["SupplementaryGroups", "PAMName", "UtmpIdentifier"],
        "groups are those of the user on the node",
    ),
    (&["Slice", "Delegate"], "Hostler makes its own cgroups"),
    (
        &[
            "OnFailure",
            "OnSuccess",
            "PropagatesReloadTo",
            "PropagatesStopTo",
            "JoinsNamespaceOf",
            "Conflicts",
            "Upholds",
            "StopWhenUnneeded",
            "FailureAction",
            "SuccessAction",
            "StartLimitAction",
            "JobTimeoutSec",
            "JobTimeoutAction",
        ],
        "units do not start or stop each other; events say what happened",
    ),
    (
        &["RequiresMountsFor", "WantsMountsFor"],
        "mounts are not waited for; a run fails and is started again when its folder is missing",
    ),
];

/// Settings that say nothing a workload would need.
const SILENT: &[&str] = &[
    "Description",
    "Documentation",
    "DefaultDependencies",
    "RefuseManualStart",
    "RefuseManualStop",
    "CollectMode",
    "IgnoreOnIsolate",
    "SourcePath",
    "AllowIsolate",
    "CPUAccounting",
    "MemoryAccounting",
    "TasksAccounting",
    "IOAccounting",
    "BlockIOAccounting",
    "IPAccounting",
    "SyslogLevelPrefix",
    "IgnoreSIGPIPE",
    "ExitType",
    "RootDirectoryStartOnly",
    "DelegateSubgroup",
];

pub fn is_silent(key: &str) -> bool {
    SILENT.contains(&key) || key.starts_with("X-")
}

pub fn advice(key: &str) -> &'static str {
    let found = ADVICE.iter().find(|(keys, _)| keys.contains(&key));
    match found {
        Some((_, advice)) => advice,
        None if key.starts_with("Condition") || key.starts_with("Assert") => {
            "conditions are not looked at; use `placement` to choose nodes"
        }
        None if key.starts_with("Limit") => {
            "there is no such limit; set it for the user on the node"
        }
        None => "this setting has no equivalent",
    }
}

/// A whole unit that is neither a service nor a timer.
pub fn of_kind(kind: &str) -> &'static str {
    match kind {
        "socket" => {
            "Hostler opens no sockets for programs; let the program open its own and run for ever"
        }
        "path" => "nothing watches files; let the program do so, or use a schedule",
        "mount" | "automount" | "swap" => "mounts stay with systemd",
        "target" => "there are no targets; tags group workloads, `depends` orders them",
        "slice" | "scope" => "Hostler makes its own cgroups",
        _ => "this is neither a service nor a timer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_is_treated_twice() {
        let mut keys: Vec<_> = ADVICE.iter().flat_map(|(keys, _)| *keys).chain(SILENT).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
        assert!(keys.iter().all(|key| !is_confinement(key)));
    }
}
