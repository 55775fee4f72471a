//! What a process does not have, and what to do instead.

/// Keys of a service that belong to containers, with what becomes of them.
const ADVICE: &[(&[&str], &str)] = &[
    (&["build"], "nothing is built; install the program on the nodes"),
    (
        &["ports", "expose"],
        "nothing maps ports; the program listens on the node's own ports, so \
         choose them in its settings and keep them apart",
    ),
    (
        &["volumes", "volumes_from", "tmpfs"],
        "there are no mounts; paths are the node's own, so create the folders \
         and use their real paths",
    ),
    (
        &["networks", "network_mode", "links", "external_links", "mac_address"],
        "there are no networks of its own; names of other services do not \
         resolve, use addresses of nodes",
    ),
    (
        &["dns", "dns_opt", "dns_search", "extra_hosts", "hostname", "domainname"],
        "names and resolvers are the node's own",
    ),
    (
        &["secrets", "configs", "credential_spec"],
        "put the file on the node and name its path in the command or the environment",
    ),
    (
        &[
            "privileged",
            "cap_add",
            "cap_drop",
            "security_opt",
            "userns_mode",
            "device_cgroup_rules",
            "devices",
            "gpus",
        ],
        "the process sees the node as its user does; choose `user` and the \
         permissions of files accordingly",
    ),
    (
        &[
            "read_only",
            "cgroup",
            "cgroup_parent",
            "isolation",
            "ipc",
            "pid",
            "uts",
            "shm_size",
            "storage_opt",
            "sysctls",
            "runtime",
            "platform",
            "init",
        ],
        "there is no container around the process",
    ),
    (&["tty", "stdin_open", "attach"], "a workload has no terminal and no input"),
    (
        &["logging"],
        "Hostler keeps and rotates the output by itself (`logs`), shown by `hostler workload logs`",
    ),
    (&["extends"], "it is not followed; write the other service's settings here"),
    (&["env_file"], "files of variables are not read by nodes; write the variables into `env`"),
    (&["group_add"], "supplementary groups are those of the user on the node"),
    (
        &["cpuset", "cpu_count", "cpu_percent", "cpu_rt_period", "cpu_rt_runtime"],
        "there is no such limit; `limits.cpu` and `limits.cpuWeight` are what there is",
    ),
    (
        &["mem_swappiness", "memswap_limit", "oom_kill_disable", "oom_score_adj"],
        "there is no such limit; `limits.memory` and `limits.memoryHigh` are what there is",
    ),
    (&["blkio_config"], "there is no such limit; `limits.ioWeight` is what there is"),
    (
        &["develop", "provider", "use_api_socket", "models", "pull_policy", "annotations"],
        "it has no equivalent",
    ),
];

pub fn advice(key: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(keys, _)| keys.contains(&key)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_has_two_kinds_of_advice() {
        let mut keys: Vec<_> = ADVICE.iter().flat_map(|(keys, _)| *keys).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
        assert!(advice("ports").is_some() && advice("command").is_none());
    }
}
