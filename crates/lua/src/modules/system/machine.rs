//! The machine that a step acts on, and how functions about it answer.
//!
//! What changes something is a plan of the crate `host`: shown when a step is only checked, performed otherwise, and
//! told as one table given twice (`changed`, `message`, `diff`, `output`), so that `local r =` and `local ok, r =` both
//! read well. What cannot be done is told as `nil` and words. Programs are looked for where the step looks for them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostler_host::call::Running;
use hostler_host::{
    Call, Commands, Host, HostError, Outcome, Plan, Primitive, Privilege, System, is_root,
};
use mlua::{IntoLuaMulti, Lua, MultiValue, Table, Value};
use serde_json::{Map, Value as Json};

use super::given::Given;
use crate::modules::{Installer, acting, as_text};
use crate::value::from_json;

/// Where a machine is that is not this one: for trying things out below a directory.
const ROOT: &str = "HOSTLER_HOST_ROOT";
/// Where programs of administrators are, which the path of a step may not name.
const USUAL: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Why something was not done.
pub(super) enum Trouble {
    /// The function was called wrongly.
    Misuse(mlua::Error),
    /// It cannot be done, in words.
    Failure(String),
}

impl From<mlua::Error> for Trouble {
    fn from(error: mlua::Error) -> Trouble {
        Trouble::Misuse(error)
    }
}

impl From<HostError> for Trouble {
    fn from(error: HostError) -> Trouble {
        Trouble::Failure(told(&error))
    }
}

impl Trouble {
    pub fn new(words: impl Into<String>) -> Trouble {
        Trouble::Failure(words.into())
    }
}

/// An error with its causes.
pub(super) fn told(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

/// What is to be done, and what is told beside.
pub(super) struct Changing {
    plan: Plan,
    fields: Map<String, Json>,
}

impl From<Plan> for Changing {
    fn from(plan: Plan) -> Changing {
        Changing { plan, fields: Map::new() }
    }
}

impl Changing {
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Changing {
        self.fields.insert(name.to_owned(), value.into());
        self
    }
}

/// What is wanted, or that it is not wanted.
pub(super) async fn wanted(
    host: &Host,
    is_present: bool,
    what: &impl Primitive,
) -> Result<Changing, Trouble> {
    let plan = if is_present { what.present(host).await } else { what.absent(host).await };
    Ok(plan?.into())
}

/// The programs of a step.
#[derive(Debug)]
struct Programs {
    environment: BTreeMap<String, String>,
    path: String,
}

impl Commands for Programs {
    fn run(&self, mut call: Call) -> Running<'_> {
        if let Some(found) = self.find(&call.program) {
            call.program = found.display().to_string();
        }
        let pairs =
            self.environment.iter().filter(|(name, _)| *name != "LC_ALL" && *name != "PATH");
        let pairs = pairs.map(|(name, value)| (name.clone(), value.clone()));
        let own = std::mem::take(&mut call.env);
        call.env = pairs.chain([("PATH".to_owned(), self.path.clone())]).chain(own).collect();
        Box::pin(async move { System.run(call).await })
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let mut folders = self.path.split(':').filter(|folder| !folder.is_empty());
        match program.contains('/') {
            true => System.find(program),
            false => folders
                .find_map(|folder| System.find(&Path::new(folder).join(program).to_string_lossy())),
        }
    }
}

/// The machine, for the step that runs.
pub(super) fn host() -> Host {
    let step = acting();
    let root = step.env(ROOT);
    let own = step.env("PATH").unwrap_or_default();
    let path = if root.is_some() { own } else { format!("{own}:{USUAL}") };
    let commands = Arc::new(Programs { environment: step.environment.clone(), path });
    match root {
        Some(root) => Host::new(root, commands, Privilege::Root),
        None if is_root() => Host::new("/", commands, Privilege::Root),
        None => {
            let host = Host::new("/", commands, Privilege::Ordinary);
            if host.has("sudo") { host.with_sudo() } else { host }
        }
    }
}

fn result(lua: &Lua, outcome: &Outcome, fields: &Map<String, Json>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("changed", outcome.changed)?;
    table.raw_set("message", outcome.message.as_str())?;
    table.raw_set("diff", outcome.render())?;
    table.raw_set("output", outcome.output.as_str())?;
    for (name, value) in fields {
        table.raw_set(name.as_str(), from_json(lua, value)?)?;
    }
    as_text(lua, &table, "message")?;
    Ok(table)
}

/// Shows a plan, or performs it.
pub(super) async fn settle(lua: &Lua, host: &Host, changing: Changing) -> mlua::Result<MultiValue> {
    let Changing { plan, fields } = changing;
    let outcome = if acting().check {
        let outcome = plan.outcome();
        if outcome.changed {
            let words = format!("{}\n{}", outcome.message, outcome.render());
            acting().say(words.trim_end());
        }
        Ok(outcome)
    } else {
        plan.perform(host).await
    };
    match outcome {
        Ok(outcome) => {
            let table = result(lua, &outcome, &fields)?;
            (table.clone(), table).into_lua_multi(lua)
        }
        Err(error) => refusal(lua, told(&error)),
    }
}

/// A table given twice, for what is no plan of the crate `host`.
pub(super) fn done(
    lua: &Lua,
    outcome: &Outcome,
    fields: &Map<String, Json>,
) -> mlua::Result<MultiValue> {
    let table = result(lua, outcome, fields)?;
    (table.clone(), table).into_lua_multi(lua)
}

pub(super) fn refusal(lua: &Lua, words: String) -> mlua::Result<MultiValue> {
    (Value::Nil, words).into_lua_multi(lua)
}

pub(super) fn troubled(lua: &Lua, trouble: Trouble) -> mlua::Result<MultiValue> {
    match trouble {
        Trouble::Misuse(error) => Err(error),
        Trouble::Failure(words) => refusal(lua, words),
    }
}

/// A function that makes something so.
pub(super) fn changing<F, C>(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    f: impl Fn(Given, Host) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<C, Trouble>> + 'static,
    C: Into<Changing>,
{
    changing_with(module, name, takes.to_owned(), f)
}

/// The same where what it takes is put together.
pub(super) fn changing_with<F, C>(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: String,
    f: impl Fn(Given, Host) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<C, Trouble>> + 'static,
    C: Into<Changing>,
{
    let function = format!("{}.{name}", module.module);
    module.act_async(name, move |lua: Lua, args: MultiValue| {
        let (f, function, takes) = (f.clone(), function.clone(), takes.clone());
        async move {
            let given = Given::read(function, &takes, args)?;
            let host = host();
            match f(given, host.clone()).await {
                Ok(changing) => settle(&lua, &host, changing.into()).await,
                Err(trouble) => troubled(&lua, trouble),
            }
        }
    })
}

/// A function that looks at something, and answers with values.
pub(super) fn asking<F>(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    f: impl Fn(Given, Host) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<Vec<Json>, Trouble>> + 'static,
{
    let function = format!("{}.{name}", module.module);
    module.act_async(name, move |lua: Lua, args: MultiValue| {
        let (f, function) = (f.clone(), function.clone());
        async move {
            let given = Given::read(function, takes, args)?;
            match f(given, host()).await {
                Ok(answers) => answers
                    .iter()
                    .map(|answer| from_json(&lua, answer))
                    .collect::<mlua::Result<MultiValue>>(),
                Err(trouble) => troubled(&lua, trouble),
            }
        }
    })
}

/// Anything that can be written as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap_or(Json::Null)
}
