//! Looking at the machine.

use std::path::PathBuf;

use hostler_host::{Call, Host, facts};
use serde_json::{Value as Json, json};

use crate::modules::system::machine::Trouble;
use crate::modules::system::proc;

/// What is mounted and holds no files of anybody.
const NO_DISKS: [&str; 20] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "tmpfs",
    "cgroup",
    "cgroup2",
    "pstore",
    "bpf",
    "debugfs",
    "tracefs",
    "mqueue",
    "hugetlbfs",
    "securityfs",
    "configfs",
    "fusectl",
    "autofs",
    "binfmt_misc",
    "ramfs",
    "nsfs",
];

fn proc_path(host: &Host) -> Result<PathBuf, Trouble> {
    Ok(host.path("/proc")?)
}

pub(super) fn hostname(host: &Host) -> Result<String, Trouble> {
    let name = proc::text(&proc_path(host)?.join("sys/kernel/hostname"));
    let own = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    Ok(if name.is_empty() { own() } else { name })
}

pub(super) fn kernel() -> Json {
    let uname = rustix::system::uname();
    json!({ "name": uname.sysname().to_string_lossy(), "version": uname.release().to_string_lossy() })
}

fn architecture() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

fn family(found: &facts::Distribution) -> &'static str {
    let families = [
        ("debian", "debian"),
        ("ubuntu", "debian"),
        ("rhel", "redhat"),
        ("fedora", "redhat"),
        ("suse", "suse"),
        ("opensuse", "suse"),
        ("arch", "arch"),
        ("alpine", "alpine"),
    ];
    families.iter().find(|(id, _)| found.is_like(id)).map_or("unknown", |(_, family)| family)
}

pub(super) async fn platform(host: &Host) -> Result<Json, Trouble> {
    let found = facts::distribution(host).await?;
    Ok(json!({
        "os": "linux",
        "family": family(&found),
        "id": found.id,
        "name": found.name,
        "version": found.version,
        "architecture": architecture(),
        "kernel": "linux",
        "kernel_version": kernel()["version"],
        "virtualization": virtualization(host).await?,
    }))
}

pub(super) async fn system(host: &Host) -> Result<Json, Trouble> {
    let found = facts::distribution(host).await?;
    Ok(json!({
        "name": found.name,
        "id": found.id,
        "version": found.version,
        "family": family(&found),
        "arch": architecture(),
        "kernel": kernel()["version"],
    }))
}

/// In systemd's word; `none` on bare metal, nothing where nobody can tell.
async fn virtualization(host: &Host) -> Result<Json, Trouble> {
    if !host.has("systemd-detect-virt") {
        return Ok(Json::Null);
    }
    let finished = host.attempt(Call::new("systemd-detect-virt")).await?;
    let word = finished.text().trim().to_owned();
    Ok(if word.is_empty() { Json::Null } else { json!(word) })
}

pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[expect(clippy::cast_precision_loss, reason = "a share of a hundred, for people")]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1000.0).round() / 10.0 }
}

pub(super) fn memory(host: &Host) -> Result<Json, Trouble> {
    let of = proc::memory(&proc_path(host)?);
    let (total, available) = (of("MemTotal"), of("MemAvailable"));
    let used = total.saturating_sub(available);
    Ok(json!({
        "total": total,
        "available": available,
        "used": used,
        "used_percent": percent(used, total),
        "free": of("MemFree"),
        "cached": of("Cached"),
        "buffers": of("Buffers"),
        "swap_total": of("SwapTotal"),
        "swap_free": of("SwapFree"),
    }))
}

pub(super) async fn mounts(host: &Host) -> Result<Json, Trouble> {
    let proc = proc_path(host)?;
    let mounts = proc::blocking(move || proc::mounts(&proc)).await?;
    Ok(mounts.iter().map(|mount| serde_json::to_value(mount).unwrap_or(Json::Null)).collect())
}

pub(super) async fn disks(host: &Host) -> Result<Json, Trouble> {
    let (proc, host) = (proc_path(host)?, host.clone());
    proc::blocking(move || {
        let mounts = proc::mounts(&proc);
        let real = mounts.iter().filter(|mount| !NO_DISKS.contains(&mount.fstype.as_str()));
        let sized = real.filter_map(|mount| {
            let stat = rustix::fs::statvfs(host.path(&mount.mountpoint).ok()?).ok()?;
            let total = stat.f_blocks.saturating_mul(stat.f_frsize);
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let used = total.saturating_sub(stat.f_bfree.saturating_mul(stat.f_frsize));
            (total > 0).then(|| {
                json!({
                    "device": mount.device,
                    "mountpoint": mount.mountpoint,
                    "fstype": mount.fstype,
                    "total": total,
                    "used": used,
                    "free": free,
                    "used_percent": percent(used, used.saturating_add(free)),
                })
            })
        });
        sized.collect()
    })
    .await
}

pub(super) async fn interfaces(host: &Host) -> Result<Json, Trouble> {
    let said = match host.has("ip") {
        true => host.attempt(Call::new("ip").args(["-j", "addr", "show"])).await?.stdout,
        false => Vec::new(),
    };
    let said: Json = serde_json::from_slice(&said).unwrap_or(Json::Null);
    let folder = host.path("/sys/class/net")?;
    proc::blocking(move || {
        let Ok(entries) = std::fs::read_dir(&folder) else { return json!([]) };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let shown = names.iter().map(|name| {
            let of = |file: &str| proc::text(&folder.join(name).join(file));
            let flags = of("flags");
            let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
            json!({
                "name": name,
                "mac": of("address"),
                "mtu": of("mtu").parse::<u32>().ok(),
                "is_up": flags & 1 == 1,
                "speed": of("speed").parse::<u32>().ok(),
                "addresses": addresses(&said, name),
            })
        });
        shown.collect()
    })
    .await
}

/// What `ip` said of an interface: addresses with their prefixes.
fn addresses(said: &Json, name: &str) -> Vec<String> {
    let interfaces = said.as_array().into_iter().flatten();
    let of_it = interfaces.filter(|interface| interface["ifname"] == name);
    let all = of_it.flat_map(|interface| interface["addr_info"].as_array().into_iter().flatten());
    all.filter_map(|info| Some(format!("{}/{}", info["local"].as_str()?, info["prefixlen"])))
        .collect()
}

pub(super) async fn processes(host: &Host) -> Result<Json, Trouble> {
    let proc = proc_path(host)?;
    let states = proc::blocking(move || proc::states(&proc)).await?;
    let count = |letters: &[char]| states.iter().filter(|state| letters.contains(state)).count();
    Ok(json!({
        "total": states.len(),
        "running": count(&['R']),
        "sleeping": count(&['S', 'D', 'I']),
        "zombie": count(&['Z']),
    }))
}

pub(super) fn uptime(host: &Host) -> Result<Json, Trouble> {
    let proc = proc_path(host)?;
    let seconds = proc::text(&proc.join("uptime"));
    let seconds = seconds.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    let stat = proc::text(&proc.join("stat"));
    let boot =
        stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<u64>().ok());
    Ok(
        json!({ "seconds": seconds.map(f64::floor), "boot_time": boot, "timezone": timezone(host)? }),
    )
}

fn timezone(host: &Host) -> Result<Option<String>, Trouble> {
    let named = proc::text(&host.path("/etc/timezone")?);
    if !named.is_empty() {
        return Ok(Some(named));
    }
    let link = std::fs::read_link(host.path("/etc/localtime")?).ok();
    let zone = link.and_then(|link| {
        link.to_str().and_then(|link| Some(link.split_once("zoneinfo/")?.1.to_owned()))
    });
    Ok(zone)
}

pub(super) fn load(host: &Host) -> Result<Json, Trouble> {
    let text = proc::text(&proc_path(host)?.join("loadavg"));
    let numbers = text.split_whitespace().take(3).filter_map(|word| word.parse::<f64>().ok());
    Ok(numbers.map(Json::from).collect())
}
