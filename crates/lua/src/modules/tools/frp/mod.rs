//! `frp`: servers and clients of the Fast Reverse Proxy.
//!
//! `frp.server(name)` and `frp.client(name)` describe one; `:save_config()` writes its configuration and its unit of
//! systemd, where they are not so already, and the other methods turn the unit. `frp.install` gets the programs
//! (`release`).

mod config;
mod release;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mlua::{Lua, MultiValue, Result, Table, Value};
use serde_json::json;

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, one, refused, settled, stdout, would};
use crate::value::to_json;

static SYSTEMCTL: Program = Program::new("systemctl", "a unit needs a machine with systemd");

pub(crate) const MODULE: Module = Module {
    name: "frp",
    about: "Servers and clients of the Fast Reverse Proxy, as units of systemd. What is called `name` has its configuration in `/etc/frp/name.toml` and the unit `name.service`.",
    functions: FUNCTIONS,
    install,
};

const fn own(
    name: &'static str,
    signature: &'static str,
    about: &'static str,
    example: &'static str,
) -> Described {
    Described { name, signature, about, example }
}

const FUNCTIONS: &[Described] = &[
    own(
        "server",
        "(name) -> server",
        "A server (`frps`).",
        "local s = frp.server('edge'):config{ bindPort = 7000, auth = { token = 't' } }:config_path('edge.toml'):unit_path('edge.service'):reload(false)\nassert(s:save_config().changed and s:save_config().changed == false)\nassert(exec.run('cat edge.toml').stdout == 'auth = { token = \"t\" }\\nbindPort = 7000\\n')",
    ),
    own(
        "client",
        "(name) -> client",
        "A client (`frpc`).",
        "local c = frp.client('home'):server('frp.example', 7000):proxy{ name = 'ssh', type = 'tcp', localPort = 22, remotePort = 6000 }\nassert(c.settings.serverPort == 7000 and c.proxies[1].name == 'ssh')",
    ),
    own(
        "install",
        "([version][, { url, dest }]) -> result | nil, error",
        "Gets `frps` and `frpc` of a version (`latest` where none is said), checks them against their published sums, and puts them into `dest` (`/usr/local/bin`). A version that is there stays.",
        "local r, err = frp.install('0.0.0', { url = 'file:///nowhere', dest = '.' })\nassert(r == nil and err)",
    ),
    own(
        "server:config",
        "(settings) -> server",
        "Adds settings.",
        "assert(frp.server('edge'):config{ bindPort = 7000 }.settings.bindPort == 7000)",
    ),
    own(
        "server:config_path",
        "(path) -> server",
        "Where its configuration is.",
        "assert(frp.server('edge'):config_path('edge.toml').config_path == 'edge.toml')",
    ),
    own(
        "server:unit_path",
        "(path) -> server",
        "Where its unit is.",
        "assert(frp.server('edge'):unit_path('edge.service').unit_path == 'edge.service')",
    ),
    own(
        "server:binary",
        "(path) -> server",
        "Where its program is.",
        "assert(frp.server('edge'):binary('/opt/frp/frps').binary == '/opt/frp/frps')",
    ),
    own(
        "server:reload",
        "(flag) -> server",
        "Whether systemd is told of a new unit.",
        "assert(frp.server('edge'):reload(false).reload == false)",
    ),
    own(
        "server:version",
        "(version) -> server",
        "The version that `:install()` gets.",
        "assert(frp.server('edge'):version('0.61.0').version == '0.61.0')",
    ),
    own(
        "server:install",
        "([{ url, dest }]) -> result | nil, error",
        "As `frp.install`, for the version that `:version` said.",
        "local r, err = frp.server('edge'):version('0.0.0'):install{ url = 'file:///nowhere', dest = '.' }\nassert(r == nil and err)",
    ),
    own(
        "server:save_config",
        "() -> result | nil, error",
        "Writes its configuration and its unit.",
        "local s = frp.server('edge'):config_path('edge.toml'):unit_path('edge.service'):reload(false)\nassert(s:save_config().changed and fs.exists('edge.service'))",
    ),
    own(
        "server:enable",
        "() -> result | nil, error",
        "Starts it with the machine.",
        "local function setup()\n  assert(frp.server('edge'):enable())\nend",
    ),
    own(
        "server:disable",
        "() -> result | nil, error",
        "Does not start it with the machine.",
        "local function setup()\n  assert(frp.server('edge'):disable())\nend",
    ),
    own(
        "server:start",
        "() -> result | nil, error",
        "Starts it.",
        "local function setup()\n  assert(frp.server('edge'):start())\nend",
    ),
    own(
        "server:stop",
        "() -> result | nil, error",
        "Stops it.",
        "local function setup()\n  assert(frp.server('edge'):stop())\nend",
    ),
    own(
        "server:restart",
        "() -> result | nil, error",
        "Restarts it.",
        "local function setup()\n  assert(frp.server('edge'):restart())\nend",
    ),
    own(
        "server:status",
        "() -> text | nil, error",
        "How it is, in the words of systemd.",
        "local function look()\n  log.info(frp.server('edge'):status())\nend",
    ),
    own(
        "client:server",
        "(address[, port]) -> client",
        "The server that it dials.",
        "assert(frp.client('home'):server('frp.example', 7000).settings.serverPort == 7000)",
    ),
    own(
        "client:proxy",
        "(proxy) -> client",
        "Adds a proxy: `name`, `type`, `localPort` and so on. A client has the methods of a server, too.",
        "local c = frp.client('home'):proxy{ name = 'ssh', type = 'tcp', localPort = 22, remotePort = 6000 }\nassert(c.proxies[1].localPort == 22)",
    ),
];

/// Methods that keep a value.
const KEPT: [&str; 5] = ["config_path", "unit_path", "binary", "reload", "version"];
const TURNS: [&str; 5] = ["enable", "disable", "start", "stop", "restart"];

fn install(module: &mut Installer<'_>) -> Result<()> {
    let lua = module.lua;
    for (name, program) in [("server", "frps"), ("client", "frpc")] {
        let class = Class::new(lua, "frp", name)?;
        methods(lua, &class)?;
        class.stays_here(lua)?;
        if name == "client" {
            client_methods(lua, &class)?;
        }
        module.pure(name, move |lua, args: MultiValue| {
            let args = Arguments::read(lua, "frp", args, &["name"])?;
            let name = args.required(&["name"])?;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
            if name.starts_with('-') || !name.chars().all(is_plain) {
                return Err(
                    args.mistake("a name is made of letters, digits, `-`, `_`, `.` and `@`")
                );
            }
            let object = lua.create_table()?;
            object.raw_set("name", name)?;
            object.raw_set("program", program)?;
            object.raw_set("settings", lua.create_table()?)?;
            class.object(object)
        })?;
    }
    module.act_async("install", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "frp.install", args, &["version"])?;
        release::install(&lua, &args).await
    })
}

fn methods(lua: &Lua, class: &Class) -> Result<()> {
    for name in KEPT {
        class.pure(lua, name, move |lua, object, mut args| {
            object.raw_set(name, args.pop_front())?;
            one(lua, object)
        })?;
    }
    class.pure(lua, "config", |lua, object, mut args| {
        let Some(Value::Table(more)) = args.pop_front() else {
            return Err(mlua::Error::runtime("frp: settings are a table, as { bindPort = 7000 }"));
        };
        let settings: Table = object.raw_get("settings")?;
        more.for_each(|key: Value, value: Value| settings.raw_set(key, value))?;
        one(lua, object)
    })?;
    class.act(lua, "save_config", |lua, object, _| save(lua, object))?;
    class.act(lua, "install", |lua, object, args| async move {
        let args = Arguments::read(&lua, "frp:install", args, &[])?;
        args.table.raw_set("version", object.raw_get::<Value>("version")?)?;
        release::install(&lua, &args).await
    })?;
    for verb in TURNS {
        class.act(lua, verb, move |lua, object, _| turn(lua, object, verb))?;
    }
    class.act(lua, "status", |lua, object, _| async move {
        let name: String = object.raw_get("name")?;
        let call = Call::new(&SYSTEMCTL, ["status", "--no-pager", &unit(&name)]);
        match call.run().await {
            Err(why) => refused(&lua, &why),
            // Systemd says 3 of a unit that does not run, and 4 of one that it does not know.
            Ok(ended) if ended.code() < 4 => one(&lua, stdout(&ended)),
            Ok(ended) => refused(&lua, &super::tool::failure(&SYSTEMCTL, &ended)),
        }
    })
}

fn client_methods(lua: &Lua, class: &Class) -> Result<()> {
    class.pure(lua, "server", |lua, object, args| {
        let args = Arguments::read(lua, "client:server", args, &["address", "port"])?;
        let settings: Table = object.raw_get("settings")?;
        settings.raw_set("serverAddr", args.required(&["address"])?)?;
        settings.raw_set("serverPort", args.number("port")?.unwrap_or(7000.0))?;
        one(lua, object)
    })?;
    class.pure(lua, "proxy", |lua, object, mut args| {
        let Some(Value::Table(proxy)) = args.pop_front() else {
            return Err(mlua::Error::runtime("frp: a proxy is a table, as { name =, type = }"));
        };
        let proxies = match object.raw_get("proxies")? {
            Value::Table(proxies) => proxies,
            _ => lua.create_table()?,
        };
        proxies.raw_push(proxy)?;
        object.raw_set("proxies", proxies)?;
        one(lua, object)
    })
}

fn unit(name: &str) -> String {
    format!("{name}.service")
}

fn path_of(object: &Table, field: &str, otherwise: String) -> Result<PathBuf> {
    let said: Option<String> = object.raw_get(field)?;
    Ok(acting().path(&said.unwrap_or(otherwise)))
}

async fn save(lua: Lua, object: Table) -> Result<MultiValue> {
    let name: String = object.raw_get("name")?;
    let program: String = object.raw_get("program")?;
    let config_path = path_of(&object, "config_path", format!("/etc/frp/{name}.toml"))?;
    let unit_path = path_of(&object, "unit_path", format!("/etc/systemd/system/{}", unit(&name)))?;
    let binary = path_of(&object, "binary", format!("/usr/local/bin/{program}"))?;
    let mut document = to_json(&object.raw_get::<Value>("settings")?)?;
    let proxies = to_json(&object.raw_get::<Value>("proxies")?)?;
    if !proxies.is_null() {
        document["proxies"] = json!(proxies);
    }
    let text = config::toml(&document);
    let described = config::unit(&name, &program, &binary, &config_path);
    let mut changed = Vec::new();
    for (path, text, mode) in [(&config_path, &text, 0o600), (&unit_path, &described, 0o644)] {
        match written(path, text, mode).await {
            Ok(true) => changed.push(path),
            Ok(false) => {}
            Err(error) => {
                return refused(&lua, &format!("{} could not be written: {error}", path.display()));
            }
        }
    }
    let is_told = object.raw_get::<Option<bool>>("reload")? != Some(false);
    if changed.contains(&&unit_path)
        && is_told
        && !acting().check
        && let Err(why) = Call::new(&SYSTEMCTL, ["daemon-reload"]).text().await
    {
        return refused(&lua, &why);
    }
    let shown: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
    let message = match (shown.is_empty(), acting().check) {
        (true, _) => format!("{name} is configured"),
        (false, true) => format!("would write {}", shown.join(" and ")),
        (false, false) => format!("wrote {}", shown.join(" and ")),
    };
    one(&lua, settled(&lua, !shown.is_empty(), &message)?)
}

/// Makes a file say something; whether it did not before.
async fn written(path: &Path, text: &str, mode: u32) -> std::io::Result<bool> {
    if tokio::fs::read_to_string(path).await.is_ok_and(|now| now == text) {
        return Ok(false);
    }
    if acting().check {
        return Ok(true);
    }
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await?;
    }
    tokio::fs::write(path, text).await?;
    tokio::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).await?;
    Ok(true)
}

async fn turn(lua: Lua, object: Table, verb: &'static str) -> Result<MultiValue> {
    let name: String = object.raw_get("name")?;
    let unit = unit(&name);
    let (question, wanted) = match verb {
        "enable" => ("is-enabled", true),
        "disable" => ("is-enabled", false),
        "start" => ("is-active", true),
        "stop" => ("is-active", false),
        _ => ("", true),
    };
    if !question.is_empty() {
        match Call::new(&SYSTEMCTL, [question, "--quiet", &unit]).run().await {
            Err(why) => return refused(&lua, &why),
            Ok(ended) if ended.is_success() == wanted => {
                return one(
                    &lua,
                    settled(&lua, false, &format!("{unit}: {verb} is done already"))?,
                );
            }
            Ok(_) => {}
        }
    }
    let call = Call::new(&SYSTEMCTL, [verb, &unit]);
    if acting().check {
        let table = would(&lua, &call)?;
        acting().say(&table.raw_get::<String>("message")?);
        return one(&lua, table);
    }
    match call.text().await {
        Ok(_) => one(&lua, settled(&lua, true, &format!("{unit}: {verb} is done"))?),
        Err(why) => refused(&lua, &why),
    }
}
