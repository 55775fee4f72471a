//! Reading the kernel's and the distribution's text files. Pure: text in, values out; what cannot be
//! read is left out, because a node with an odd kernel is still a node.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The value of a key in an os-release file, without its quotes.
pub fn os_release(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    let value = line.trim();
    let unquoted = value
        .strip_prefix('"')
        .and_then(|v| v.strip_suffix('"'))
        .or_else(|| value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')))
        .unwrap_or(value);
    Some(unquoted.replace("\\\"", "\""))
}

/// A line of meminfo, in bytes. Also for the meminfo of one NUMA node, whose lines have a prefix.
pub fn meminfo(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        if name.split_ascii_whitespace().last()? != key {
            return None;
        }
        let mut words = value.split_ascii_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        match words.next() {
            Some("kB") => number.checked_mul(1024),
            _ => Some(number),
        }
    })
}

/// The model of the processor, from cpuinfo.
pub fn cpu_model(text: &str) -> Option<String> {
    let value_of = |key: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    value_of("model name")
        .or_else(|| value_of("Model"))
        .or_else(|| value_of("cpu"))
        .filter(|model| !model.is_empty())
}

/// One line of a mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub device: String,
    pub point: String,
    pub filesystem: String,
}

/// File systems that hold data on a disk or a server; the rest are the kernel's own.
const STORAGE: [&str; 15] = [
    "bcachefs", "btrfs", "ceph", "ext2", "ext3", "ext4", "f2fs", "jfs", "nfs", "nfs4", "overlay",
    "reiserfs", "xfs", "zfs", "virtiofs",
];

/// The mounts of `/proc/self/mounts` that hold data, one per device, in the table's order.
pub fn storage_mounts(text: &str) -> Vec<Mount> {
    let mut found: Vec<Mount> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(device), Some(point), Some(filesystem)) =
            (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if !STORAGE.contains(&filesystem) || (filesystem == "overlay" && point != "/") {
            continue;
        }
        let device = unescape(device);
        if found.iter().all(|mount| mount.device != device) {
            found.push(Mount { device, point: unescape(point), filesystem: filesystem.to_owned() });
        }
    }
    found
}

/// Mount tables write spaces and the like as three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail
            .get(..3)
            .filter(|_| first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What kind of cgroup hierarchy the mount table shows: `v2`, `hybrid`, `v1` or `none`.
pub fn cgroup_kind(mounts: &str) -> &'static str {
    let has =
        |filesystem: &str| mounts.lines().any(|line| line.split(' ').nth(2) == Some(filesystem));
    match (has("cgroup2"), has("cgroup")) {
        (true, false) => "v2",
        (true, true) => "hybrid",
        (false, true) => "v1",
        (false, false) => "none",
    }
}

/// The machine's own IPv4 addresses, from `/proc/net/fib_trie`, without loopback.
pub fn ipv4_addresses(text: &str) -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    let mut leaf = None;
    for line in text.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL"
            && let Some(address) = leaf
            && !address.is_loopback()
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

/// The machine's own IPv6 addresses, from `/proc/net/if_inet6`, without loopback and link-local.
pub fn ipv6_addresses(text: &str) -> Vec<Ipv6Addr> {
    let mut found: Vec<Ipv6Addr> = Vec::new();
    for line in text.lines() {
        let address = line
            .split_ascii_whitespace()
            .next()
            .filter(|digits| digits.len() == 32)
            .and_then(|digits| u128::from_str_radix(digits, 16).ok())
            .map(Ipv6Addr::from_bits);
        if let Some(address) = address
            && !address.is_loopback()
            && !address.is_unicast_link_local()
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

/// Busy and total processor time since boot, in ticks, from the first line of `/proc/stat`.
pub fn cpu_times(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    if ticks.len() < 5 {
        return None;
    }
    let total: u64 = ticks.iter().sum();
    let idle = ticks[3] + ticks[4];
    Some((total - idle, total))
}

/// The first number of a file such as `/proc/loadavg` or `/proc/uptime`.
pub fn first_number(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Name and version from a container engine's answer to `GET /version`.
pub fn container_engine(answer: &str) -> Option<String> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if !head.lines().next()?.contains(" 200") {
        return None;
    }
    let json = body.get(body.find('{')?..=body.rfind('}')?)?;
    let json: serde_json::Value = serde_json::from_str(json).ok()?;
    let version = json.get("Version")?.as_str()?;
    let components = json.get("Components").and_then(|c| c.as_array()).into_iter().flatten();
    let is_podman = components
        .filter_map(|part| part.get("Name")?.as_str())
        .any(|name| name.starts_with("Podman"));
    let name = if is_podman { "podman" } else { "docker" };
    Some(format!("{name} {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn os_release_values_lose_their_quotes() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nODD='it'\n";
        assert_eq!(os_release(text, "PRETTY_NAME").unwrap(), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(os_release(text, "ID").unwrap(), "debian");
        assert_eq!(os_release(text, "ODD").unwrap(), "it");
        assert_eq!(os_release(text, "VERSION"), None);
    }

    #[test]
    fn meminfo_is_in_bytes_for_machine_and_numa_node() {
        let machine =
            "MemTotal:       49364832 kB\nMemFree:        1 kB\nHugePages_Total:       7\n";
        assert_eq!(meminfo(machine, "MemTotal"), Some(49_364_832 * 1024));
        assert_eq!(meminfo(machine, "HugePages_Total"), Some(7));
        assert_eq!(meminfo(machine, "SwapTotal"), None);
        let node = "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:        2 kB\n";
        assert_eq!(meminfo(node, "MemTotal"), Some(1_024_000));
    }

    #[test]
    fn cpu_models_of_both_worlds() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: AMD EPYC 7B13\n").unwrap(),
            "AMD EPYC 7B13"
        );
        assert_eq!(cpu_model("processor : 0\nModel : Raspberry Pi 4\n").unwrap(), "Raspberry Pi 4");
        assert_eq!(cpu_model("processor: 0\n"), None);
    }

    #[test]
    fn mounts_that_hold_data_once_per_device() {
        let text = "proc /proc proc rw 0 0\n/dev/vda / ext4 rw 0 0\n/dev/vda /bind ext4 rw 0 0\n\
                    /dev/sdb1 /mnt/my\\040disk xfs rw 0 0\ntmpfs /run tmpfs rw 0 0\noverlay /var/x overlay rw 0 0\n";
        let points: Vec<_> = storage_mounts(text).into_iter().map(|m| m.point).collect();
        assert_eq!(points, ["/", "/mnt/my disk"]);
    }

    #[test]
    fn cgroup_kinds() {
        assert_eq!(cgroup_kind("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), "v2");
        assert_eq!(cgroup_kind("cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n"), "v1");
        assert_eq!(
            cgroup_kind("cgroup /a cgroup rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"),
            "hybrid"
        );
        assert_eq!(cgroup_kind("proc /proc proc rw 0 0\n"), "none");
    }

    #[test]
    fn addresses_of_the_machine_itself() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 192.0.2.2\n        /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\nLocal:\n     |-- 192.0.2.2\n        /32 host LOCAL\n";
        assert_eq!(ipv4_addresses(trie), [Ipv4Addr::new(192, 0, 2, 2)]);
        let inet6 = "fe8000000000000000fc00fffe000001 04 40 20 80     eth0\nfd000000000000000000000000000002 04 40 00 82     eth0\n00000000000000000000000000000001 01 80 10 80       lo\n";
        assert_eq!(ipv6_addresses(inet6), ["fd00::2".parse::<Ipv6Addr>().unwrap()]);
    }

    #[test]
    fn processor_time_counts_waiting_as_idle() {
        assert_eq!(cpu_times("cpu  10 0 20 60 10 0 0 0 5 0\ncpu0 1 2 3 4\n"), Some((30, 100)));
        assert_eq!(cpu_times("cpu  10\n"), None);
        assert_eq!(first_number("0.42 0.1 0.0 1/2 3\n"), Some(0.42));
    }

    #[test]
    fn container_engines_by_their_answer() {
        let docker = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"Version\":\"27.1.1\",\"Components\":[{\"Name\":\"Engine\"}]}\n";
        assert_eq!(container_engine(docker).unwrap(), "docker 27.1.1");
        let podman = "HTTP/1.0 200 OK\r\n\r\n1f\r\n{\"Version\":\"5.0\",\"Components\":[{\"Name\":\"Podman Engine\"}]}\r\n0\r\n";
        assert_eq!(container_engine(podman).unwrap(), "podman 5.0");
        assert_eq!(container_engine("HTTP/1.0 403 Forbidden\r\n\r\n{\"Version\":\"1\"}"), None);
    }
}
