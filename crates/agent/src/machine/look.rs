//! Questions about the machine, answered in the words of servers.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use hostler_host::logs::{Source, Wanted};
use hostler_host::{Host, HostError, accounts, authorized_keys, disks, facts, package, service};
use hostler_model::host::{
    DiskQuery, HOST_ITEMS_MAX, HOST_LINES_MAX, HostDisks, HostLogLine, HostLogs, HostMount,
    HostPackage, HostPackages, HostProcess, HostProcesses, HostService, HostServices, HostTree,
    HostUser, HostUsers, HostVitals, LogQuery, LogSource, PackageQuery, PackageWhich, ProcessOrder,
    ProcessQuery, ServiceQuery, UserQuery,
};
use hostler_model::{Bytes, Timestamp};

use super::Machine;
use crate::facts::{meminfo, sensors, text};

/// How long processes are watched to see what they use.
const WINDOW: Duration = Duration::from_millis(300);
const SECOND: i64 = 1_000_000;

fn fits(filter: Option<&String>, text: &str) -> bool {
    filter.is_none_or(|filter| text.to_lowercase().contains(&filter.to_lowercase()))
}

/// At most so many, and how many there are.
fn bounded<T>(mut items: Vec<T>, limit: u32) -> (Vec<T>, u64) {
    let total = items.len() as u64;
    items.truncate(usize::try_from(limit.min(HOST_ITEMS_MAX)).unwrap_or(usize::MAX));
    (items, total)
}

impl Machine {
    pub(super) async fn vitals(&self) -> Result<HostVitals, HostError> {
        let host = &self.inner.host;
        let failed = match facts::init(host)? {
            facts::Init::Systemd => {
                let failed = service::list(host, Some("failed")).await?;
                Some(failed.into_iter().map(|service| service.name).collect())
            }
            _ => None,
        };
        let mounts = disks::mounts(host).await?.into_iter().map(mount).collect();
        let zombies = hostler_host::processes::zombies(host).await?;
        let memory = text("/proc/meminfo");
        let bytes = |name| Bytes::new(meminfo(&memory, name).unwrap_or_default());
        let uptime = text("/proc/uptime");
        let uptime = uptime.split('.').next().and_then(|seconds| seconds.parse().ok());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(HostVitals {
            time: self.inner.clock.now(),
            uptime_seconds: uptime.unwrap_or_default(),
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            load: load(&text("/proc/loadavg")),
            memory: bytes("MemTotal"),
            memory_available: bytes("MemAvailable"),
            swap: bytes("SwapTotal"),
            swap_free: bytes("SwapFree"),
            mounts,
            failed_services: failed,
            temperatures: sensors::temperatures(Path::new(sensors::SYS)),
            reboot: facts::reboot_wanted(host)?,
            certificate_expires: self.inner.status.known().certificate_expires,
            zombies,
        })
    }
}

fn load(text: &str) -> [f64; 3] {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0.0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

fn mount(mount: disks::Mount) -> HostMount {
    HostMount {
        used: Bytes::new(mount.size.saturating_sub(mount.free)),
        size: Bytes::new(mount.size),
        available: Bytes::new(mount.available),
        inodes: mount.inodes,
        inodes_used: mount.inodes.saturating_sub(mount.inodes_free),
        point: mount.point,
        device: mount.device,
        filesystem: mount.filesystem,
        is_read_only: mount.is_read_only,
    }
}

pub(super) async fn packages(host: &Host, query: PackageQuery) -> Result<HostPackages, HostError> {
    let manager = package::Manager::detect(host)?.to_string();
    let filter = query.filter.as_ref();
    let mut found: Vec<HostPackage> = match query.which {
        PackageWhich::Installed => {
            let installed = package::list(host).await?.into_iter();
            let shown = installed.map(|one| HostPackage {
                name: one.name,
                version: Some(one.version),
                description: String::new(),
            });
            shown.filter(|one| fits(filter, &one.name)).collect()
        }
        PackageWhich::Upgradable => {
            let pending = package::upgradable(host).await?.into_iter();
            let shown = pending.map(|one| HostPackage {
                name: one.name,
                version: one.version,
                description: one.description,
            });
            shown.filter(|one| fits(filter, &one.name)).collect()
        }
        PackageWhich::Available => {
            let words = query.filter.as_deref().unwrap_or_default();
            let found = package::search(host, words).await?.into_iter();
            let shown = found.map(|one| HostPackage {
                name: one.name,
                version: one.version,
                description: one.description,
            });
            shown.collect()
        }
    };
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let (packages, total) = bounded(found, query.limit);
    Ok(HostPackages { manager, packages, total })
}

pub(super) async fn services(host: &Host, query: ServiceQuery) -> Result<HostServices, HostError> {
    if let Some(name) = &query.name {
        return one_service(host, name).await;
    }
    let found = service::overview(host, query.state.as_deref()).await?;
    let shown = found.services.into_iter().map(|one| HostService {
        name: one.name,
        state: one.sub,
        active: one.active,
        boot: None,
        description: one.description,
        status: None,
    });
    let fitting = shown.filter(|one| fits(query.filter.as_ref(), &one.name)).collect();
    let (services, total) = bounded(fitting, query.limit);
    let note = found.note.map(str::to_owned);
    Ok(HostServices { init: found.init.name().to_owned(), services, total, note })
}

async fn one_service(host: &Host, name: &str) -> Result<HostServices, HostError> {
    service::require_systemd(host)?;
    let status = service::status(host, name).await?;
    let (_, active) = service::is_active(host, name).await?;
    let (_, boot) = service::is_enabled(host, name).await?;
    let service = HostService {
        name: name.to_owned(),
        state: active.clone(),
        active,
        boot: Some(boot),
        description: String::new(),
        status: Some(status),
    };
    Ok(HostServices { init: "systemd".to_owned(), services: vec![service], total: 1, note: None })
}

pub(super) async fn logs(host: &Host, query: LogQuery) -> Result<HostLogs, HostError> {
    let source = match query.source {
        LogSource::System => Source::System,
        LogSource::Service { name } => Source::Service(name),
        LogSource::Kernel => Source::Kernel,
        LogSource::File { path } => Source::File(path),
    };
    let seconds = |time: Timestamp| time.micros().div_euclid(SECOND);
    let wanted = Wanted {
        lines: query.lines.min(HOST_LINES_MAX),
        since: query.since.map(seconds),
        until: query.until.map(seconds),
        priority: query.priority,
        grep: query.grep,
    };
    let read = hostler_host::logs::read(host, &source, &wanted).await?;
    let lines = read.lines.into_iter().map(|line| HostLogLine {
        time: line.micros.map(Timestamp::from_micros),
        by: line.by,
        priority: line.priority,
        text: line.text,
    });
    Ok(HostLogs { source: read.source, lines: lines.collect(), is_cut: read.is_cut })
}

pub(super) async fn processes(
    host: &Host,
    query: ProcessQuery,
) -> Result<HostProcesses, HostError> {
    let users: HashMap<u32, String> =
        accounts::users(host).await?.into_iter().map(|user| (user.uid, user.username)).collect();
    let name_of = |uid: u32| users.get(&uid).cloned().unwrap_or_else(|| uid.to_string());
    let found = hostler_host::processes::list(host, WINDOW).await?;
    let shown = found.into_iter().map(|one| HostProcess {
        user: name_of(one.uid),
        pid: one.pid,
        parent: one.parent,
        name: one.name,
        command: one.command,
        state: one.state.to_string(),
        cpu: (one.cpu * 1000.0).round() / 1000.0,
        memory: Bytes::new(one.memory),
        threads: one.threads,
        start_ticks: one.start_ticks,
        time_started: one.started.map(|s| Timestamp::from_micros(s.saturating_mul(SECOND))),
    });
    let is_fitting = |one: &HostProcess| {
        let is_theirs = query.user.as_ref().is_none_or(|user| *user == one.user);
        let filter = query.filter.as_ref();
        is_theirs && (fits(filter, &one.name) || fits(filter, &one.command))
    };
    let mut fitting: Vec<HostProcess> = shown.filter(is_fitting).collect();
    match query.order {
        ProcessOrder::Cpu => {
            fitting.sort_by(|a, b| b.cpu.total_cmp(&a.cpu).then(b.memory.cmp(&a.memory)));
        }
        ProcessOrder::Memory => fitting.sort_by_key(|process| Reverse(process.memory)),
        ProcessOrder::Pid => fitting.sort_by_key(|one| one.pid),
        ProcessOrder::Started => fitting.sort_by_key(|process| Reverse(process.start_ticks)),
    }
    let (processes, total) = bounded(fitting, query.limit);
    Ok(HostProcesses { processes, total })
}

pub(super) async fn disks(host: &Host, query: DiskQuery) -> Result<HostDisks, HostError> {
    let mounts = disks::mounts(host).await?.into_iter().map(mount).collect();
    let Some(path) = query.largest else {
        return Ok(HostDisks { mounts, ..HostDisks::default() });
    };
    let most = usize::try_from(query.limit.clamp(1, 1000)).unwrap_or(1000);
    let largest = disks::largest(host, &path, most).await?;
    let shown = largest.trees.into_iter().map(|tree| HostTree {
        path: tree.path.display().to_string(),
        size: Bytes::new(tree.size),
        is_directory: tree.is_directory,
        files: tree.files,
    });
    Ok(HostDisks { mounts, largest: shown.collect(), note: largest.note })
}

pub(super) async fn users(host: &Host, query: UserQuery) -> Result<HostUsers, HostError> {
    let mut users = Vec::new();
    for profile in accounts::profiles(host).await? {
        let account = profile.account;
        let is_wanted = (query.system || !profile.is_system || account.uid == 0)
            && fits(query.filter.as_ref(), &account.username);
        if !is_wanted {
            continue;
        }
        let keys = match profile.is_system && account.uid != 0 {
            true => None,
            false => authorized_keys::list(host, &account.username).await.ok(),
        };
        users.push(HostUser {
            keys: keys.map(|keys| u32::try_from(keys.len()).unwrap_or(u32::MAX)),
            name: account.username,
            uid: account.uid,
            groups: profile.groups,
            comment: account.comment,
            home: account.home,
            shell: account.shell,
            is_system: profile.is_system,
            is_locked: profile.is_locked,
        });
    }
    users.truncate(usize::try_from(HOST_ITEMS_MAX).unwrap_or(usize::MAX));
    Ok(HostUsers { users })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_read_or_nothing() {
        assert_eq!(load("0.52 1.50 2.00 1/123 4567\n"), [0.52, 1.5, 2.0]);
        assert_eq!(load("x 1.5"), [0.0, 1.5, 0.0]);
        assert_eq!(load(""), [0.0; 3]);
    }

    #[tokio::test]
    async fn this_machine_answers() {
        let host = Host::local();
        let query = |order, filter: Option<&str>, limit| ProcessQuery {
            order,
            filter: filter.map(str::to_owned),
            user: None,
            limit,
        };
        let few = processes(&host, query(ProcessOrder::Memory, None, 2)).await.unwrap();
        assert!(few.processes.len() <= 2 && few.total >= few.processes.len() as u64);
        assert!(few.processes.windows(2).all(|pair| pair[0].memory >= pair[1].memory));
        let none = processes(&host, query(ProcessOrder::Pid, Some("no such process at all"), 9));
        assert_eq!(none.await.unwrap().total, 0);
        let found = users(&host, UserQuery { system: false, filter: None }).await.unwrap();
        assert!(found.users.iter().any(|user| user.name == "root"));
        let found = disks(&host, DiskQuery { largest: None, limit: 1 }).await.unwrap();
        assert!(found.mounts.iter().any(|mount| mount.point == "/"));
        let found =
            services(&host, ServiceQuery { name: None, state: None, filter: None, limit: 9 });
        let found = found.await.unwrap();
        assert!(found.init == "systemd" || found.note.is_some());
    }
}
