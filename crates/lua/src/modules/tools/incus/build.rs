//! Objects of Incus and their settings.

use mlua::{Function, Lua, MultiValue, Result, Table, Value};

use super::super::super::Installer;
use super::super::arguments::Arguments;
use super::super::class::Class;
use super::super::tool::one;
use super::super::verb::Classes;
use super::settle::{device, given};
use super::{change, finish, named};

/// Methods that keep a value for later: the class, the method, the field.
const KEPT: [(&str, &str, &str); 12] = [
    ("instance", "image", "image"),
    ("instance", "ephemeral", "ephemeral"),
    ("image", "source", "source"),
    ("image", "server", "server"),
    ("network", "type", "type"),
    ("network", "description", "description"),
    ("profile", "description", "description"),
    ("storage", "driver", "driver"),
    ("storage", "description", "description"),
    ("snapshot", "stateful", "stateful"),
    ("instance", "type", "type"),
    ("image", "alias", "alias"),
];

/// Methods that add a table of settings to those for `:create()`.
const ADDED: [(&str, &str, &str); 8] = [
    ("network", "config", "config"),
    ("network", "set_config", "config"),
    ("profile", "config", "config"),
    ("profile", "set_config", "config"),
    ("profile", "set_devices", "devices"),
    ("storage", "config", "config"),
    ("storage", "set_config", "config"),
    ("instance", "set_profiles", "profiles"),
];

pub(super) fn install(module: &mut Installer<'_>, classes: &Classes) -> Result<()> {
    let lua = module.lua;
    for (class, method, field) in KEPT {
        classes[class].pure(lua, method, move |lua, object, mut args| {
            object.raw_set(field, args.pop_front().unwrap_or(Value::Boolean(true)))?;
            one(lua, object)
        })?;
    }
    for (class, method, field) in ADDED {
        classes[class].pure(lua, method, move |lua, object, mut args| {
            let Some(Value::Table(more)) = args.pop_front() else {
                return Err(mlua::Error::runtime(format!("incus {class}:{method} takes a table")));
            };
            add(lua, &object, field, &more)?;
            one(lua, object)
        })?;
    }
    classes["profile"].pure(lua, "device", |lua, object, args| {
        let (name, device) = device_of(args)?;
        let more = lua.create_table()?;
        more.raw_set(name, device)?;
        add(lua, &object, "devices", &more)?;
        one(lua, object)
    })?;
    let instance = &classes["instance"];
    instance.pure(lua, "profile", |lua, object, args| {
        for name in args {
            let profiles = match object.raw_get("profiles")? {
                Value::Table(profiles) => profiles,
                _ => lua.create_table()?,
            };
            profiles.raw_push(name)?;
            object.raw_set("profiles", profiles)?;
        }
        one(lua, object)
    })?;
    settings(lua, instance)?;
    for name in ["instance", "image", "network", "profile", "storage"] {
        let class = classes[name].clone();
        class.stays_here(lua)?;
        module.pure(name, move |lua, args: MultiValue| object(lua, &class, args, &["name"]))?;
    }
    let class = classes["snapshot"].clone();
    module.pure("snapshot", move |lua, args: MultiValue| {
        object(lua, &class, args, &["instance", "name"])
    })
}

/// An object of `f(name, { options })` or `f{ name =, options }`.
fn object(lua: &Lua, class: &Class, args: MultiValue, names: &[&str]) -> Result<Table> {
    let args = Arguments::read(lua, "incus", args, names)?;
    let name = args.required(&["name"])?;
    if name.starts_with('-') {
        return Err(args.mistake("a name does not begin with a dash"));
    }
    if args.flag("delegate_to")? {
        return Err(args.mistake("it acts where its task runs; give the task `delegate_to`"));
    }
    // Usage lines say `instance`, so that a method can have a `name` of its own.
    if names.len() == 1 {
        args.table.raw_set("instance", name)?;
    } else {
        args.table.raw_set("snapshot", name)?;
        args.required(&["instance"])?;
    }
    class.object(args.table)
}

fn add(lua: &Lua, object: &Table, field: &str, more: &Table) -> Result<()> {
    let all = match object.raw_get(field)? {
        Value::Table(all) => all,
        _ => lua.create_table()?,
    };
    more.for_each(|key: Value, value: Value| all.raw_set(key, value))?;
    object.raw_set(field, all)
}

fn device_of(args: MultiValue) -> Result<(String, Table)> {
    let mut args = args.into_iter();
    match (args.next(), args.next()) {
        (Some(Value::String(name)), Some(Value::Table(device))) => {
            Ok((crate::value::text(&name), device))
        }
        _ => Err(mlua::Error::runtime("incus: a device is given as its name and a table")),
    }
}

/// Whether settings are kept for `:create()`.
fn is_plan(object: &Table) -> Result<bool> {
    Ok(object.raw_get::<Option<String>>("image")?.is_some()
        && object.raw_get::<Option<bool>>("created")? != Some(true))
}

/// Settings of instances: kept while it is a plan, else made at once.
fn settings(lua: &Lua, class: &Class) -> Result<()> {
    let config = |_: &Lua, args: MultiValue| match args.into_iter().next() {
        Some(Value::Table(more)) => Ok(("config", more)),
        _ => Err(mlua::Error::runtime("incus: settings are a table, as { ['limits.cpu'] = 2 }")),
    };
    let devices = |_: &Lua, args: MultiValue| match args.into_iter().next() {
        Some(Value::Table(more)) => Ok(("devices", more)),
        _ => Err(mlua::Error::runtime("incus: devices are a table of tables")),
    };
    let device = |lua: &Lua, args: MultiValue| {
        let (name, device) = device_of(args)?;
        let more = lua.create_table()?;
        more.raw_set(name, device)?;
        Ok(("devices", more))
    };
    let proxy = |lua: &Lua, args: MultiValue| {
        let args = Arguments::read(lua, "instance:proxy", args, &["name", "listen", "connect"])?;
        let device = lua.create_table()?;
        device.raw_set("type", "proxy")?;
        device.raw_set("listen", args.required(&["listen"])?)?;
        device.raw_set("connect", args.required(&["connect"])?)?;
        let more = lua.create_table()?;
        more.raw_set(args.required(&["name"])?, device)?;
        Ok(("devices", more))
    };
    setting(lua, class, "config", config)?;
    setting(lua, class, "set_config", config)?;
    setting(lua, class, "set_devices", devices)?;
    setting(lua, class, "device", device)?;
    setting(lua, class, "add_device", device)?;
    setting(lua, class, "proxy", proxy)
}

fn setting(
    lua: &Lua,
    class: &Class,
    name: &'static str,
    read: impl Fn(&Lua, MultiValue) -> Result<(&'static str, Table)> + Copy + 'static,
) -> Result<()> {
    let carrier = class.clone();
    class.act(lua, name, move |lua, object, args| {
        let carrier = carrier.clone();
        async move {
            let (field, more) = read(&lua, args)?;
            let instance = named(&object)?;
            let mut made = Ok(super::settled(&lua, false, "there is nothing to set")?);
            if field == "config" {
                let mut words = vec!["config".to_owned(), "set".to_owned(), instance];
                let holder = lua.create_table()?;
                holder.raw_set("config", more)?;
                let pairs = super::settle::settings(&holder, "config")?;
                words.extend(pairs.into_iter().map(|(key, value)| format!("{key}={value}")));
                made = change(&lua, words).await?;
            } else if let Some(devices) = given(&more).as_object() {
                for (name, wanted) in devices {
                    made = device(&lua, &instance, name, wanted).await?;
                    let failed = match &made {
                        Ok(table) => table.contains_key("error")?,
                        Err(_) => true,
                    };
                    if failed {
                        break;
                    }
                }
            }
            finish(&lua, &carrier, &object, made)
        }
    })?;
    let at_once: Function = class.method(name)?;
    let later = lua.create_function(move |lua, mut args: MultiValue| {
        let object = match args.pop_front() {
            Some(Value::Table(object)) if is_plan(&object)? => object,
            _ => return Ok(false),
        };
        let (field, more) = read(lua, args)?;
        add(lua, &object, field, &more)?;
        Ok(true)
    })?;
    let chosen: Function = lua
        .load("local later, at_once = ... return function(object, ...) if later(object, ...) then return object end return at_once(object, ...) end")
        .set_name("=[incus]")
        .call((later, at_once))?;
    class.replace(name, chosen)
}
