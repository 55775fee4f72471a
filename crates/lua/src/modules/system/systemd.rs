//! `systemd`: services of the machine.

use hostler_host::service::{self, Service, UnitFile};
use hostler_host::{Host, Primitive};
use serde_json::{Value as Json, json};

use super::given::Given;
use super::machine::{Changing, Trouble, asking, changing, wanted};
use crate::modules::{Described, Installer, Module};

pub(crate) const MODULE: Module = Module {
    name: "systemd",
    about: "Services of the machine. What runs, or is enabled, already is not touched. Names may be given alone or as `{ name = .. }`.",
    functions: &[
        Described {
            name: "create_service",
            signature: "{ name, exec_start, description, after, wants, requires, exec_stop, exec_reload, type, user, group, working_directory, restart, restart_sec, environment, wanted_by } | (name, options) -> result, result | nil, error",
            about: "Writes the file that describes a service, and makes systemd read it where it changed. Starting it is `start`, at boot `enable`.",
            example: "local function deploy()\n  local r = systemd.create_service('web', {\n    exec_start = '/usr/local/bin/web --port 80',\n    user = 'web',\n    environment = { LEVEL = 'info' },\n  })\n  if r.changed then systemd.restart('web') end\nend",
        },
        Described {
            name: "start",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Makes a service run.",
            example: "local function deploy() assert(systemd.start('nginx')) end",
        },
        Described {
            name: "stop",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Makes a service not run.",
            example: "local function deploy() assert(systemd.stop { name = 'nginx' }) end",
        },
        Described {
            name: "enable",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Makes a service start at boot.",
            example: "local function deploy() assert(systemd.enable('nginx')) end",
        },
        Described {
            name: "disable",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Makes a service not start at boot.",
            example: "local function deploy() assert(systemd.disable('nginx')) end",
        },
        Described {
            name: "ensure",
            signature: "{ name, state, enabled } -> result, result | nil, error",
            about: "Makes a service be as told: `state` is `running` (or `started`) or `stopped`, `enabled` whether it starts at boot.",
            example: "local function deploy()\n  assert(systemd.ensure { name = 'nginx', state = 'running', enabled = true })\nend",
        },
        Described {
            name: "restart",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Stops and starts a service; starts what does not run. Always a change.",
            example: "local function deploy() assert(systemd.restart('nginx')) end",
        },
        Described {
            name: "reload",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Makes a service read its configuration again. Always a change.",
            example: "local function deploy() assert(systemd.reload('nginx')) end",
        },
        Described {
            name: "daemon_reload",
            signature: "() -> result, result | nil, error",
            about: "Makes systemd read unit files again.",
            example: "local function deploy() assert(systemd.daemon_reload()) end",
        },
        Described {
            name: "remove_service",
            signature: "{ name } | (name) -> result, result | nil, error",
            about: "Stops and disables a service and removes the file that describes it.",
            example: "local function deploy() assert(systemd.remove_service('web')) end",
        },
        Described {
            name: "status",
            signature: "{ name } | (name) -> text | nil, error",
            about: "For people: state, processes, the last lines of the journal.",
            example: "local function look() print(systemd.status('nginx')) end",
        },
        Described {
            name: "is_active",
            signature: "{ name } | (name) -> boolean, state | nil, error",
            about: "Whether a service runs, and its state in systemd's word.",
            example: "local function look()\n  local active, state = systemd.is_active('nginx')\n  print(active, state)\nend",
        },
        Described {
            name: "is_enabled",
            signature: "{ name } | (name) -> boolean, state | nil, error",
            about: "Whether a service starts at boot, and how in systemd's word.",
            example: "local function look() return systemd.is_enabled('nginx') end",
        },
        Described {
            name: "list_services",
            signature: "{ state, no_header } | () -> text | nil, error",
            about: "Services as systemd prints them, those of one state where it is told.",
            example: "local function look() print(systemd.list_services { state = 'failed' }) end",
        },
        Described {
            name: "show",
            signature: "{ name } | (name) -> text | nil, error",
            about: "Everything systemd knows about a unit, as `Name=value` lines.",
            example: "local function look() return systemd.show('nginx'):match('MainPID=(%d+)') end",
        },
    ],
    install,
};

const UNIT: &str = "name; description after wants requires exec_start exec_stop exec_reload type user group working_directory restart restart_sec environment wanted_by";

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    changing(module, "create_service", UNIT, create)?;
    for (name, running, enabled) in [
        ("start", Some(true), None),
        ("stop", Some(false), None),
        ("enable", None, Some(true)),
        ("disable", None, Some(false)),
    ] {
        changing(module, name, "name", move |given, host| be(given, host, running, enabled))?;
    }
    changing(module, "ensure", "name; state enabled", ensure)?;
    changing(module, "restart", "name", |given: Given, host: Host| async move {
        Ok(service::restart(&host, &given.text("name")?).await?)
    })?;
    changing(module, "reload", "name", |given: Given, host: Host| async move {
        Ok(service::reload(&host, &given.text("name")?).await?)
    })?;
    changing(module, "daemon_reload", "", |_, host: Host| async move {
        Ok(service::daemon_reload(&host).await?)
    })?;
    changing(module, "remove_service", "name", |given: Given, host: Host| async move {
        Ok(service::remove(&host, &given.text("name")?).await?)
    })?;
    asking(module, "status", "name", |given: Given, host: Host| async move {
        Ok(vec![json!(service::status(&host, &given.text("name")?).await?)])
    })?;
    asking(module, "is_active", "name", |given: Given, host: Host| async move {
        let (answer, state) = service::is_active(&host, &given.text("name")?).await?;
        Ok(vec![json!(answer), json!(state)])
    })?;
    asking(module, "is_enabled", "name", |given: Given, host: Host| async move {
        let (answer, state) = service::is_enabled(&host, &given.text("name")?).await?;
        Ok(vec![json!(answer), json!(state)])
    })?;
    asking(module, "list_services", "; state no_header", |given: Given, host: Host| async move {
        let state = given.maybe("state")?;
        let text = service::list_text(&host, state.as_deref(), given.is("no_header")?).await?;
        Ok(vec![json!(text)])
    })?;
    asking(module, "show", "name", |given: Given, host: Host| async move {
        Ok(vec![json!(service::show(&host, &given.text("name")?).await?)])
    })
}

async fn be(
    given: Given,
    host: Host,
    running: Option<bool>,
    enabled: Option<bool>,
) -> Result<Changing, Trouble> {
    let service = Service { name: given.text("name")?, running, enabled };
    wanted(&host, true, &service).await
}

async fn ensure(given: Given, host: Host) -> Result<Changing, Trouble> {
    let state = given.word("state", &["running", "started", "active", "stopped", "inactive"])?;
    let running = state.map(|state| !matches!(state, "stopped" | "inactive"));
    let enabled = given.flag("enabled")?;
    be(given, host, running, enabled).await
}

async fn create(given: Given, host: Host) -> Result<Changing, Trouble> {
    let environment = given.map("environment")?.into_iter();
    let environment = environment.map(|(name, value)| match value {
        Json::String(text) => (name, text),
        other => (name, other.to_string()),
    });
    let name = given.text("name")?;
    let standard = UnitFile::new(name, given.text("exec_start")?);
    let unit = UnitFile {
        description: given.maybe("description")?,
        after: given.texts("after")?,
        wants: given.texts("wants")?,
        requires: given.texts("requires")?,
        exec_stop: given.maybe("exec_stop")?,
        exec_reload: given.maybe("exec_reload")?,
        kind: given.maybe("type")?.unwrap_or_else(|| standard.kind.clone()),
        user: given.maybe("user")?,
        group: given.maybe("group")?,
        working_directory: given.maybe("working_directory")?,
        restart: given.maybe("restart")?.unwrap_or_else(|| standard.restart.clone()),
        restart_sec: given.maybe("restart_sec")?,
        environment: environment.collect(),
        wanted_by: match given.texts("wanted_by")? {
            given if given.is_empty() => standard.wanted_by.clone(),
            given => given,
        },
        ..standard
    };
    let path = unit.path()?.display().to_string();
    Ok(Changing::from(unit.present(&host).await?).with("path", path))
}
