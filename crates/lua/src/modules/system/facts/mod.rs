//! `facts`: what is true of the machine where the step runs.

mod look;
mod updates;

use hostler_host::{Host, accounts, package, service};
use serde_json::{Value as Json, json};

use super::given::Given;
use super::machine::{Trouble, asking};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "facts",
    about: "What is true of the machine where the step runs, as it is at that moment.",
    functions: &[
        Described {
            name: "get_all",
            signature: "([{ agent }]) -> facts | nil, error",
            about: "Everything below in one table: `hostname`, `platform`, `memory`, `disk`, `network`, `users`, `processes`, `mounts`, `uptime`, `load`, `kernel`, `cpu`; packages and services only where they are asked for by name.",
            example: "local all = facts.get_all()\nassert(all.hostname and all.memory.total > 0 and all.cpu.count >= 1)",
        },
        Described {
            name: "get_hostname",
            signature: "([{ agent }]) -> name | nil, error",
            about: "The name of the machine.",
            example: "assert(#facts.get_hostname() > 0)",
        },
        Described {
            name: "get_platform",
            signature: "([{ agent }]) -> { os, family, name, version, architecture, kernel, kernel_version, virtualization } | nil, error",
            about: "What the machine runs.",
            example: "assert(facts.get_platform().os == 'linux')",
        },
        Described {
            name: "os",
            signature: "([{ agent }]) -> { name, id, version, family, arch, kernel } | nil, error",
            about: "The operating system.",
            example: "assert(facts.os().arch)",
        },
        Described {
            name: "get_os",
            signature: "([{ agent }]) -> { name, id, version, family, arch, kernel } | nil, error",
            about: "The same as `facts.os`.",
            example: "assert(facts.get_os().kernel)",
        },
        Described {
            name: "cpu_count",
            signature: "([{ agent }]) -> number | nil, error",
            about: "How many processors a step may use.",
            example: "assert(facts.cpu_count() >= 1)",
        },
        Described {
            name: "get_memory",
            signature: "([{ agent }]) -> { total, available, used, used_percent, free, cached, buffers } | nil, error",
            about: "Memory, in bytes.",
            example: "local m = facts.get_memory()\nassert(m.total >= m.available and m.used_percent <= 100)",
        },
        Described {
            name: "get_disk",
            signature: "([{ agent, mountpoint }]) -> [{ device, mountpoint, fstype, total, used, free, used_percent }] | one | nil, error",
            about: "Disks that are mounted, in bytes; one of them where its `mountpoint` is told.",
            example: "assert(type(facts.get_disk()) == 'table')",
        },
        Described {
            name: "get_network",
            signature: "([{ agent, interface }]) -> [{ name, mac, mtu, is_up, speed, addresses }] | one | nil, error",
            about: "Interfaces of the network; one of them where it is named. Addresses need the program `ip`.",
            example: "assert(facts.get_network { interface = 'lo' }.name == 'lo')",
        },
        Described {
            name: "get_packages",
            signature: "([{ agent }]) -> { manager, installed_count, packages, updates_available, updates } | nil, error",
            about: "Packages that are installed.",
            example: "local function look() print(facts.get_packages().installed_count) end",
        },
        Described {
            name: "get_package",
            signature: "({ name[, agent] }) -> { installed, name, version, architecture, description } | nil, error",
            about: "Whether a package is installed, and which version.",
            example: "local function look() print(facts.get_package { name = 'bash' }.installed) end",
        },
        Described {
            name: "get_services",
            signature: "([{ agent }]) -> [{ name, status, state, description }] | nil, error",
            about: "Services of systemd.",
            example: "local function look() print(#facts.get_services()) end",
        },
        Described {
            name: "get_service",
            signature: "({ name[, agent] }) -> { name, status, state, enabled } | nil, error",
            about: "A service of systemd.",
            example: "local function look() print(facts.get_service { name = 'nginx' }.status) end",
        },
        Described {
            name: "get_users",
            signature: "([{ agent }]) -> [{ username, uid, gid, home, shell }] | nil, error",
            about: "Users of the machine.",
            example: "assert(#facts.get_users() > 0)",
        },
        Described {
            name: "get_user",
            signature: "({ username[, agent] }) -> { username, uid, gid, home, shell } | nil, error",
            about: "A user of the machine.",
            example: "assert(facts.get_user { username = 'root' }.uid == 0)",
        },
        Described {
            name: "get_processes",
            signature: "([{ agent }]) -> { total, running, sleeping, zombie } | nil, error",
            about: "How many processes there are.",
            example: "assert(facts.get_processes().total > 0)",
        },
        Described {
            name: "get_mounts",
            signature: "([{ agent }]) -> [{ device, mountpoint, fstype, options }] | nil, error",
            about: "Everything that is mounted.",
            example: "assert(#facts.get_mounts() > 0)",
        },
        Described {
            name: "get_uptime",
            signature: "([{ agent }]) -> { seconds, boot_time, timezone } | nil, error",
            about: "Since when the machine runs.",
            example: "assert(facts.get_uptime().seconds > 0)",
        },
        Described {
            name: "get_load",
            signature: "([{ agent }]) -> { one, five, fifteen } | nil, error",
            about: "The load of the last minute, five and fifteen minutes, as a list.",
            example: "assert(#facts.get_load() == 3)",
        },
        Described {
            name: "get_kernel",
            signature: "([{ agent }]) -> { name, version } | nil, error",
            about: "The kernel.",
            example: "assert(facts.get_kernel().name == 'Linux')",
        },
        Described {
            name: "query",
            signature: "({ path[, agent] } | path) -> value | nil, error",
            about: "One of all facts by its path, such as `memory.total` or `load.1`.",
            example: "assert(facts.query { path = 'memory.total' } == facts.get_memory().total)\nlocal nothing, err = facts.query('memory.colour')\nassert(nothing == nil and err)",
        },
    ],
    install,
};

/// A function that looks at the machine of the step, and at no other.
fn looking<F>(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    f: impl Fn(Given, Host) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<Json, Trouble>> + 'static,
{
    asking(module, name, takes, move |given: Given, host: Host| {
        let f = f.clone();
        async move {
            let agent = given.maybe("agent")?;
            let is_here = match agent.as_deref() {
                None | Some("" | "local" | "localhost") => true,
                Some(agent) => look::hostname(&host)? == agent,
            };
            match is_here {
                true => Ok(vec![f(given, host).await?]),
                false => Err(Trouble::new("facts of other nodes need a server")),
            }
        }
    })
}

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    looking(module, "get_all", "; agent", |_, host| async move { all(&host).await })?;
    looking(module, "get_hostname", "; agent", |_, host| async move {
        Ok(json!(look::hostname(&host)?))
    })?;
    looking(
        module,
        "get_platform",
        "; agent",
        |_, host| async move { look::platform(&host).await },
    )?;
    for name in ["os", "get_os"] {
        looking(module, name, "; agent", |_, host| async move { look::system(&host).await })?;
    }
    looking(module, "cpu_count", "; agent", |_, _| async move { Ok(json!(look::processors())) })?;
    looking(module, "get_memory", "; agent", |_, host| async move { look::memory(&host) })?;
    looking(module, "get_disk", "mountpoint; agent", |given: Given, host| async move {
        let disks = look::disks(&host).await?;
        one(disks, "mountpoint", given.maybe("mountpoint")?.as_deref())
    })?;
    looking(module, "get_network", "interface; agent", |given: Given, host| async move {
        let interfaces = look::interfaces(&host).await?;
        one(interfaces, "name", given.maybe("interface")?.as_deref())
    })?;
    looking(
        module,
        "get_processes",
        "; agent",
        |_, host| async move { look::processes(&host).await },
    )?;
    looking(module, "get_mounts", "; agent", |_, host| async move { look::mounts(&host).await })?;
    looking(module, "get_uptime", "; agent", |_, host| async move { look::uptime(&host) })?;
    looking(module, "get_load", "; agent", |_, host| async move { look::load(&host) })?;
    looking(module, "get_kernel", "; agent", |_, _| async move { Ok(look::kernel()) })?;
    looking(module, "query", "path; agent", |given: Given, host| async move {
        let path = given.text("path")?;
        let all = all(&host).await?;
        let found = found(&all, &path).cloned();
        found.ok_or_else(|| {
            Trouble::new(format!("there is no fact `{path}`; `facts.get_all()` has them all"))
        })
    })?;
    managed(module)
}

/// What the machine's own databases say.
fn managed(module: &mut Installer<'_>) -> mlua::Result<()> {
    looking(module, "get_users", "; agent", |_, host| async move { users(&host).await })?;
    looking(module, "get_user", "username; agent name", |given: Given, host| async move {
        let name = if given.has("name") { "name" } else { "username" };
        one(users(&host).await?, "username", Some(&given.text(name)?))
    })?;
    looking(module, "get_packages", "; agent", |_, host| async move {
        let manager = package::Manager::detect(&host)?;
        let packages = package::list(&host).await?;
        let updates = updates::waiting(&host, manager).await?;
        Ok(json!({
            "updates_available": updates.len(),
            "updates": updates,
            "manager": manager.name(),
            "installed_count": packages.len(),
            "packages": packages.iter().map(|p| json!({ "name": p.name, "version": p.version })).collect::<Vec<_>>(),
        }))
    })?;
    looking(module, "get_package", "name; agent", |given: Given, host| async move {
        let name = given.text("name")?;
        let version = package::version(&host, &name).await?;
        let about = match version {
            Some(_) => updates::about(&host, &name).await?,
            None => updates::About::default(),
        };
        Ok(json!({
            "name": name,
            "installed": version.is_some(),
            "version": version,
            "architecture": about.architecture,
            "description": about.description,
        }))
    })?;
    looking(module, "get_services", "; agent", |_, host| async move {
        let listed = service::list(&host, None).await?;
        let shown = listed.iter().map(|s| {
            let name = s.name.trim_end_matches(".service");
            json!({ "name": name, "status": s.active, "state": s.sub, "description": s.description })
        });
        Ok(shown.collect())
    })?;
    looking(module, "get_service", "name; agent", |given: Given, host| async move {
        let name = given.text("name")?;
        let (is_active, status) = service::is_active(&host, &name).await?;
        let (_, enabled) = service::is_enabled(&host, &name).await?;
        if status == "inactive" && enabled == "not-found" {
            return Err(Trouble::new(format!("there is no service `{name}`; check the name")));
        }
        Ok(
            json!({ "name": name, "status": status, "state": enabled, "enabled": enabled, "is_active": is_active }),
        )
    })
}

async fn users(host: &Host) -> Result<Json, Trouble> {
    let users = accounts::users(host).await?;
    let shown = users.iter().map(|user| {
        json!({
            "username": user.username,
            "uid": user.uid,
            "gid": user.gid,
            "home": user.home,
            "shell": user.shell,
        })
    });
    Ok(shown.collect())
}

async fn all(host: &Host) -> Result<Json, Trouble> {
    Ok(json!({
        "hostname": look::hostname(host)?,
        "platform": look::platform(host).await?,
        "cpu": { "count": look::processors() },
        "memory": look::memory(host)?,
        "disk": look::disks(host).await?,
        "network": look::interfaces(host).await?,
        "users": users(host).await?,
        "processes": look::processes(host).await?,
        "mounts": look::mounts(host).await?,
        "uptime": look::uptime(host)?,
        "load": look::load(host)?,
        "kernel": look::kernel(),
    }))
}

/// All of a list, or the one that is told.
fn one(list: Json, field: &str, wanted: Option<&str>) -> Result<Json, Trouble> {
    let Some(wanted) = wanted else { return Ok(list) };
    let items = list.as_array().into_iter().flatten();
    let found = items.into_iter().find(|item| item[field] == wanted).cloned();
    found.ok_or_else(|| Trouble::new(format!("there is none whose {field} is `{wanted}`")))
}

/// Lists are counted from 1, as Lua does.
fn found<'a>(all: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').filter(|part| !part.is_empty() && *part != "$").try_fold(
        all,
        |at, part| match (at, part.parse::<usize>()) {
            (Json::Array(items), Ok(number)) => items.get(number.checked_sub(1)?),
            _ => at.get(part),
        },
    )
}
