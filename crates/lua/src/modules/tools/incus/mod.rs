//! `incus`: containers and virtual machines, their networks, profiles, pools and snapshots.
//!
//! Everything is an object: `incus.instance('web')` or `incus.instance{ name = 'web', image = 'images:debian/12' }`. An
//! instance with an image that was not created yet is a plan: settings are kept for its `:create()`. Settings of any
//! other instance are made at once. What is created twice is there once, and is brought to its settings (`settle`).
//! Methods can be chained; a chain stops where something failed.

mod build;
mod described;
mod settle;
mod words;

use std::time::Duration;

use mlua::{Lua, MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, one, refused, result, settled, two, would};
use super::verb::{describe, install as install_verbs};
use described::OWN;
use words::VERBS;

static INCUS: Program =
    Program::new("incus", "see https://linuxcontainers.org/incus/docs/main/installing");

pub(crate) const MODULE: Module = Module {
    name: "incus",
    about: "Containers and virtual machines of Incus, with the `incus` of the machine. An instance with an image that was not created yet keeps its settings for `:create()`; settings of any other instance are made at once.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

/// How long an instance has to come up, where nobody says.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often one looks.
const PAUSE: Duration = Duration::from_millis(250);

fn install(module: &mut Installer<'_>) -> Result<()> {
    let lua = module.lua;
    let classes = install_verbs(module, &INCUS, VERBS)?;
    let class = |name: &str| classes[name].clone();
    build::install(module, &classes)?;
    for name in ["instance", "network", "profile", "storage"] {
        let class = class(name);
        let kind = settle::Kind::of(name);
        for (method, is_started) in [("create", false), ("launch", true)] {
            if is_started && name != "instance" {
                continue;
            }
            let carrier = class.clone();
            class.act(lua, method, move |lua, object, _| {
                let carrier = carrier.clone();
                async move {
                    let made = settle::create(&lua, kind, &object, is_started).await?;
                    finish(&lua, &carrier, &object, made)
                }
            })?;
        }
    }
    let instance = class("instance");
    for (name, status) in [("start", "Running"), ("stop", "Stopped")] {
        let carrier = instance.clone();
        instance.act(lua, name, move |lua, object, args| {
            let carrier = carrier.clone();
            async move {
                let args = Arguments::read(&lua, "incus instance", args, &["force"])?;
                let force = args.flag("force")?;
                let made = turn(&lua, &object, name, status, force).await?;
                finish(&lua, &carrier, &object, made)
            }
        })?;
    }
    instance.act(lua, "wait_running", {
        let carrier = instance.clone();
        move |lua, object, args| wait_running(lua, carrier.clone(), object, args)
    })?;
    instance.act(lua, "snapshot", {
        let carrier = instance.clone();
        move |lua, object, args| snapshot(lua, carrier.clone(), object, args)
    })?;
    for name in ["file_push", "file_pull"] {
        let carrier = instance.clone();
        instance.act(lua, name, move |lua, object, args| {
            move_file(lua, carrier.clone(), object, args, name)
        })?;
    }
    module.act_async("list", |lua, args: MultiValue| list(lua, args))?;
    module.act_async("info", |lua, args: MultiValue| info(lua, args))?;
    module.act_async("delete", |lua, args: MultiValue| delete(lua, args))
}

/// The name of what an object stands for.
fn named(object: &Table) -> Result<String> {
    object.raw_get("instance")
}

/// What was done, or why not.
type Made = std::result::Result<Table, String>;

/// Ends a method: its result goes on with the object.
fn finish(lua: &Lua, class: &Class, object: &Table, made: Made) -> Result<MultiValue> {
    let table = match made {
        Ok(table) => table,
        Err(why) => {
            let table = lua.create_table()?;
            table.raw_set("success", false)?;
            table.raw_set("error", why.as_str())?;
            table.raw_set("stderr", why)?;
            table
        }
    };
    let error: Option<String> = table.raw_get("error")?;
    class.carry(lua, object, &table)?;
    two(lua, table, error)
}

/// Runs something that changes, or says that it would.
async fn change(lua: &Lua, words: Vec<String>) -> Result<Made> {
    let call = Call::new(&INCUS, words);
    if acting().check {
        let table = would(lua, &call)?;
        acting().say(&table.raw_get::<String>("message")?);
        return Ok(Ok(table));
    }
    match call.run().await {
        Err(why) => Ok(Err(why)),
        Ok(ended) => {
            let table = result(lua, &INCUS, &ended)?;
            table.raw_set("changed", ended.is_success())?;
            Ok(Ok(table))
        }
    }
}

/// What the server says of something; nothing where it is not there.
async fn query(path: &str) -> std::result::Result<Option<Json>, String> {
    let ended = Call::new(&INCUS, ["query", path]).run().await?;
    if ended.is_success() {
        let text = super::tool::stdout(&ended);
        return serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| format!("incus answered with something that is no JSON: {error}"));
    }
    let said = super::tool::failure(&INCUS, &ended);
    if said.to_lowercase().contains("not found") { Ok(None) } else { Err(said) }
}

async fn status(name: &str) -> std::result::Result<Option<String>, String> {
    let state = query(&format!("/1.0/instances/{name}/state")).await?;
    Ok(state.and_then(|state| state.get("status")?.as_str().map(str::to_owned)))
}

/// Starts or stops an instance that is not so yet.
async fn turn(lua: &Lua, object: &Table, verb: &str, wanted: &str, force: bool) -> Result<Made> {
    let name = named(object)?;
    match status(&name).await {
        Ok(Some(now)) if now == wanted => {
            return Ok(Ok(settled(lua, false, &format!("{name} is {}", wanted.to_lowercase()))?));
        }
        Ok(None) if !acting().check => return Ok(Err(format!("there is no instance {name}"))),
        Err(why) => return Ok(Err(why)),
        Ok(_) => {}
    }
    let mut words = vec![verb.to_owned(), name];
    if force && verb == "stop" {
        words.push("--force".to_owned());
    }
    change(lua, words).await
}

async fn wait_running(
    lua: Lua,
    class: Class,
    object: Table,
    args: MultiValue,
) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "instance:wait_running", args, &["timeout"])?;
    let patience = match args.value("timeout")? {
        Value::Nil => PATIENCE,
        value => crate::define::span_of(&value)
            .map_err(|error| args.mistake(&error.to_string()))?
            .map_or(PATIENCE, Into::into),
    };
    let name = named(&object)?;
    if acting().check {
        return finish(&lua, &class, &object, Ok(settled(&lua, false, "would wait")?));
    }
    let look = async {
        loop {
            match status(&name).await {
                Ok(Some(now)) if now == "Running" => return Ok(()),
                Ok(None) => return Err(format!("there is no instance {name}")),
                Ok(Some(_)) => tokio::time::sleep(PAUSE).await,
                Err(why) => return Err(why),
            }
        }
    };
    let made = match tokio::time::timeout(patience, look).await {
        Ok(Ok(())) => Ok(settled(&lua, false, &format!("{name} is running"))?),
        Ok(Err(why)) => Err(why),
        Err(_) => Err(format!("{name} was not running after {} s", patience.as_secs())),
    };
    finish(&lua, &class, &object, made)
}

async fn snapshot(lua: Lua, class: Class, object: Table, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "instance:snapshot", args, &["name"])?;
    let name = named(&object)?;
    let mut words = vec!["snapshot".to_owned(), "create".to_owned(), name];
    words.push(args.required(&["name", "snapshot"])?);
    if args.flag("stateful")? {
        words.push("--stateful".to_owned());
    }
    let made = change(&lua, words).await?;
    finish(&lua, &class, &object, made)
}

/// Moves a file into an instance, or out of it.
async fn move_file(
    lua: Lua,
    class: Class,
    object: Table,
    args: MultiValue,
    verb: &'static str,
) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "instance:file", args, &["source", "target"])?;
    let source = args.required(&["source", "src", "local_path", "from"])?;
    let target = args.required(&["target", "dest", "remote_path", "to"])?;
    let name = named(&object)?;
    let inside = |path: &str| format!("{name}/{}", path.trim_start_matches('/'));
    let outside = |path: &str| acting().path(path).to_string_lossy().into_owned();
    let mut words = vec!["file".to_owned()];
    if verb == "file_push" {
        words.extend(["push".to_owned(), outside(&source), inside(&target)]);
        for (name, flag) in [("mode", "--mode"), ("uid", "--uid"), ("gid", "--gid")] {
            if let Some(value) = args.text(name)? {
                words.extend([flag.to_owned(), value]);
            }
        }
    } else {
        words.extend(["pull".to_owned(), inside(&source), outside(&target)]);
    }
    for (name, flag) in [("recursive", "--recursive"), ("create_dirs", "--create-dirs")] {
        if args.flag(name)? {
            words.push(flag.to_owned());
        }
    }
    let made = change(&lua, words).await?;
    finish(&lua, &class, &object, made)
}

/// Words and the path of a kind of thing.
fn noun(args: &Arguments) -> Result<(&'static [&'static str], &'static str)> {
    let of = args.text("type")?.unwrap_or_else(|| "instance".to_owned());
    Ok(match of.trim_end_matches('s') {
        "instance" | "container" | "vm" | "virtual-machine" => (&[], "instances"),
        "image" => (&["image"], "images"),
        "network" => (&["network"], "networks"),
        "profile" => (&["profile"], "profiles"),
        "storage" | "storage_pool" => (&["storage"], "storage-pools"),
        other => {
            return Err(args.mistake(&format!(
                "there is no type `{other}`; there are instance, image, network, profile and storage"
            )));
        }
    })
}

async fn list(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "incus.list", args, &["type"])?;
    let (words, _) = noun(&args)?;
    let format = args.text("format")?;
    let mut call = Call::new(&INCUS, words.iter().copied().chain(["list", "--format"]));
    call.words.push(format.clone().unwrap_or_else(|| "json".to_owned()));
    if args.flag("show_only")? {
        return one(&lua, would(&lua, &call)?);
    }
    match (call.text().await, format) {
        (Err(why), _) => refused(&lua, &why),
        (Ok(text), Some(_)) => one(&lua, text),
        (Ok(text), None) => match serde_json::from_str::<Json>(&text) {
            Ok(json) => one(&lua, crate::value::from_json(&lua, &json)?),
            Err(error) => refused(&lua, &format!("incus printed no JSON: {error}")),
        },
    }
}

async fn info(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "incus.info", args, &["name"])?;
    let (_, path) = noun(&args)?;
    let name = args.required(&["name"])?;
    let path = format!("/1.0/{path}/{name}");
    if args.flag("show_only")? {
        return one(&lua, would(&lua, &Call::new(&INCUS, ["query", &path]))?);
    }
    match query(&path).await {
        Ok(Some(json)) => one(&lua, crate::value::from_json(&lua, &json)?),
        Ok(None) => refused(&lua, &format!("{name} is not there")),
        Err(why) => refused(&lua, &why),
    }
}

async fn delete(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "incus.delete", args, &["name"])?;
    let (words, _) = noun(&args)?;
    let name = args.required(&["name"])?;
    if name.starts_with('-') {
        return Err(args.mistake("a name does not begin with a dash"));
    }
    let mut call = Call::new(&INCUS, words.iter().copied().chain(["delete", &name]));
    if args.flag("force")? && words.is_empty() {
        call.words.push("--force".to_owned());
    }
    if args.flag("show_only")? {
        return one(&lua, would(&lua, &call)?);
    }
    match change(&lua, call.words).await? {
        Err(why) => refused(&lua, &why),
        Ok(table) => match table.raw_get::<Option<String>>("error")? {
            Some(why) => refused(&lua, &why),
            None => one(&lua, table),
        },
    }
}
