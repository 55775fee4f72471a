//! `salt`: minions of a Salt master.
//!
//! Salt has functions by the thousand, so none is listed: a method of a target becomes the function of Salt that it
//! is named after. `target:pkg_install('nginx')` is `pkg.install`, split at the first underscore; a name with a dot
//! goes as it is, by `target:cmd('linux_sysctl.get', 'x')`. A table among the arguments becomes `key=value`.
//!
//! A call gives `result, stdout, stderr, error`; the last two are nothing where it went well. What the minions said is
//! in `result.data`, by minion. `:result()` gives the last `stdout, stderr, error` of a target.

use std::time::Duration;

use mlua::{Lua, MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, one, refused, result, stdout, two, would};
use super::usage::word;
use super::verb::nested;
use crate::value::{from_json, text};

const HINT: &str =
    "see https://docs.saltproject.io/salt/install-guide; the step runs on the master";
static SALT: Program = Program::new("salt", HINT);
static SALT_KEY: Program = Program::new("salt-key", HINT);
static SALT_RUN: Program = Program::new("salt-run", HINT);
static SALT_CALL: Program = Program::new("salt-call", HINT);

pub(crate) const MODULE: Module = Module {
    name: "salt",
    about: "Minions of a Salt master, with the `salt` of the machine. Any function of Salt is a method of a target: `salt.target('web*'):pkg_install('nginx')` calls `pkg.install`. A call gives `result, stdout, stderr, error`; `result.data` has what the minions said, by their names.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "client",
        signature: "([{ config_dir, timeout, batch }]) -> client",
        about: "A client, with options for every call: the directory of the configuration, how long a master waits, how many minions at a time.",
        example: "local t = salt.client{ timeout = 30 }:target('web*')\nassert(t:ping{ show_only = true }.command == \"salt --out=json --static --retcode-passthrough --timeout=30 'web*' test.ping\")",
    },
    Described {
        name: "target",
        signature: "(expression[, type]) -> target",
        about: "Minions: by a `glob` where nothing is said, or by `list`, `grain`, `pillar`, `compound`, `regex`, `nodegroup` or `subnet`.",
        example: "local t = salt.target('os:Debian', 'grain')\nassert(t:state_apply('web', { test = true, show_only = true }).command == 'salt --out=json --static --retcode-passthrough -G os:Debian state.apply web test=true')",
    },
    Described {
        name: "runner",
        signature: "(function, ...) -> result, stdout, stderr, error",
        about: "Calls a runner on the master, as `jobs.active`.",
        example: "assert(salt.runner('manage.up', { show_only = true }).command == 'salt-run --out=json manage.up')",
    },
    Described {
        name: "call",
        signature: "(function, ...) -> result, stdout, stderr, error",
        about: "Calls a function on this machine, without a master.",
        example: "assert(salt.call('grains.items', { show_only = true }).command == 'salt-call --local --out=json grains.items')",
    },
    Described {
        name: "client:target",
        signature: "(expression[, type]) -> target",
        about: "Minions, as `salt.target`. A client has the methods of a target, too; their first argument is the expression.",
        example: "assert(salt.client():target('web*'):pkg_install('nginx', { show_only = true }).argv[6] == 'pkg.install')\nassert(salt.client():pkg_install('web*', 'nginx', { show_only = true }).argv[6] == 'pkg.install')",
    },
    Described {
        name: "target:cmd",
        signature: "(function, ...) -> result, stdout, stderr, error",
        about: "Calls a function by its name.",
        example: "local r = salt.target('db'):cmd('cmd.run', 'ls -l', { show_only = true })\nassert(r.argv[#r.argv] == 'ls -l')",
    },
    Described {
        name: "target:ping",
        signature: "() -> result, stdout, stderr, error",
        about: "Asks whether they are there (`test.ping`).",
        example: "assert(salt.target('web*'):ping{ show_only = true }.argv[6] == 'test.ping')",
    },
    Described {
        name: "target:result",
        signature: "() -> stdout, stderr, error",
        about: "What came of the last call.",
        example: "local t = salt.target('web*')\nt:ping()\nlog.info(t:result())",
    },
    Described {
        name: "key.list",
        signature: "() -> table | nil, error",
        about: "Keys of minions: `minions` are accepted, `minions_pre` wait, `minions_rejected`, `minions_denied`.",
        example: "local keys, err = salt.key.list()\nassert(keys or err)",
    },
    Described {
        name: "key.accept",
        signature: "(minion) -> boolean, output",
        about: "Accepts the key of a minion.",
        example: "assert(salt.key.accept('web-1', { show_only = true }).command == 'salt-key --yes --accept web-1')",
    },
    Described {
        name: "key.reject",
        signature: "(minion) -> boolean, output",
        about: "Rejects the key of a minion.",
        example: "assert(salt.key.reject('web-1', { show_only = true }).command == 'salt-key --yes --reject web-1')",
    },
    Described {
        name: "key.delete",
        signature: "(minion) -> boolean, output",
        about: "Forgets the key of a minion.",
        example: "assert(salt.key.delete('web-1', { show_only = true }).command == 'salt-key --yes --delete web-1')",
    },
    Described {
        name: "key.wait_and_accept",
        signature: "([{ timeout, minion }]) -> minion | nil, error",
        about: "Waits until a key comes (that of a minion, where one is named), accepts it, and gives the name of the minion.",
        example: "local minion, err = salt.key.wait_and_accept{ timeout = 0.01 }\nassert(minion or err)",
    },
];

/// How a kind of target is said.
const KINDS: [(&str, &str); 12] = [
    ("glob", ""),
    ("list", "-L"),
    ("grain", "-G"),
    ("grains", "-G"),
    ("pillar", "-I"),
    ("compound", "-C"),
    ("regex", "-E"),
    ("pcre", "-E"),
    ("nodegroup", "-N"),
    ("subnet", "-S"),
    ("ipcidr", "-S"),
    ("range", "-R"),
];

/// Names that are not what they are in Salt.
const KNOWN: [(&str, &str); 7] = [
    ("ping", "test.ping"),
    ("run", "cmd.run"),
    ("highstate", "state.highstate"),
    ("grains", "grains.items"),
    ("pillar", "pillar.items"),
    ("status", "status.all_status"),
    ("sync_all", "saltutil.sync_all"),
];

/// How often one looks for keys.
const PAUSE: Duration = Duration::from_millis(500);

fn install(module: &mut Installer<'_>) -> Result<()> {
    let lua = module.lua;
    let target = Class::new(lua, "salt", "target")?;
    let client = Class::new(lua, "salt", "client")?;
    for class in [&target, &client] {
        any_method(lua, class)?;
    }
    target.pure(lua, "result", {
        let class = target.clone();
        move |_, object, _| last(class.last(&object)?)
    })?;
    client.pure(lua, "target", {
        let target = target.clone();
        move |lua, object, args| one(lua, aimed(lua, &target, Some(&object), args)?)
    })?;
    let itself = module.table.clone();
    module.pure("target", move |lua, mut args: MultiValue| {
        // Called with a colon, too.
        if matches!(args.front(), Some(Value::Table(t)) if t.to_pointer() == itself.to_pointer()) {
            args.pop_front();
        }
        aimed(lua, &target, None, args)
    })?;
    module.pure("client", move |lua, args: MultiValue| {
        client.object(Arguments::read(lua, "salt.client", args, &[])?.table)
    })?;
    module.act_async("runner", |lua, args: MultiValue| async move {
        function(&lua, Call::new(&SALT_RUN, ["--out=json"]), args).await
    })?;
    module.act_async("call", |lua, args: MultiValue| async move {
        function(&lua, Call::new(&SALT_CALL, ["--local", "--out=json"]), args).await
    })?;
    keys(module)
}

/// A target from an expression and its kind.
fn aimed(lua: &Lua, class: &Class, client: Option<&Table>, args: MultiValue) -> Result<Table> {
    let mut values = args.into_iter();
    let object = lua.create_table()?;
    let expression = match values.next() {
        Some(Value::Table(list)) => {
            let names: Result<Vec<String>> =
                list.sequence_values::<Value>().map(|name| word(&name?)).collect();
            object.raw_set("kind", "list")?;
            names?.join(",")
        }
        Some(Value::String(expression)) => text(&expression),
        _ => return Err(mlua::Error::runtime("salt: a target is an expression, as 'web*'")),
    };
    if let Some(Value::String(kind)) = values.next() {
        let kind = text(&kind);
        if !KINDS.iter().any(|(name, _)| *name == kind) {
            let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            return Err(mlua::Error::runtime(format!(
                "salt: there is no target by `{kind}`; there is {names}"
            )));
        }
        object.raw_set("kind", kind)?;
    }
    object.raw_set("expression", expression)?;
    for name in ["config_dir", "timeout", "batch"] {
        if let Some(client) = client {
            object.raw_set(name, client.raw_get::<Value>(name)?)?;
        }
    }
    class.object(object)
}

/// Makes a method of any name when it is looked for.
fn any_method(lua: &Lua, class: &Class) -> Result<()> {
    let maker = class.clone();
    let make = lua.create_function(move |lua, (methods, name): (Table, String)| {
        let known = KNOWN.iter().find(|(short, _)| *short == name);
        let function = match known {
            Some((_, function)) => Some((*function).to_owned()),
            None if name == "cmd" => None,
            // A field that some results have.
            None if name == "timed_out" => return Ok(Value::Nil),
            None if name.contains('_') => Some(name.replacen('_', ".", 1)),
            None => return Ok(Value::Nil),
        };
        method(lua, &maker, &methods, &name, function)
    })?;
    class.fallback(lua, make)
}

fn method(
    lua: &Lua,
    class: &Class,
    methods: &Table,
    key: &str,
    function: Option<String>,
) -> Result<Value> {
    let carrier = class.clone();
    let mut installer = Installer { lua, table: methods.clone(), module: "salt" };
    installer.act_async(key, move |lua, args: MultiValue| {
        let (class, function) = (carrier.clone(), function.clone());
        async move {
            let (object, mut args) = class.receiver("cmd", args)?;
            let object = match object.raw_get::<Value>("expression")? {
                Value::Nil => {
                    let first = args.pop_front().into_iter().collect();
                    aimed(&lua, &class, Some(&object), first)?
                }
                _ => object,
            };
            if let Some(function) = &function {
                args.push_front(Value::String(lua.create_string(function)?));
            }
            aim(&lua, &class, &object, args).await
        }
    })?;
    methods.raw_get(key)
}

/// Calls a function on a target.
async fn aim(lua: &Lua, class: &Class, object: &Table, args: MultiValue) -> Result<MultiValue> {
    let mut call = Call::new(&SALT, ["--out=json", "--static", "--retcode-passthrough"]);
    for (name, flag) in
        [("config_dir", "--config-dir"), ("timeout", "--timeout"), ("batch", "--batch-size")]
    {
        let value: Value = object.raw_get(name)?;
        if !value.is_nil() {
            call.words.push(format!("{flag}={}", word(&value)?));
        }
    }
    let kind: Option<String> = object.raw_get("kind")?;
    let flag = KINDS.iter().find(|(name, _)| Some(*name) == kind.as_deref());
    call.words.extend(flag.map(|(_, flag)| (*flag).to_owned()).filter(|flag| !flag.is_empty()));
    let expression: String = object.raw_get("expression")?;
    if expression.starts_with('-') {
        return Err(mlua::Error::runtime("salt: a target does not begin with a dash"));
    }
    call.words.push(expression);
    let values = function(lua, call, args).await?;
    if let Some(Value::Table(table)) = values.front()
        && !table.contains_key("command")?
    {
        class.carry(lua, object, table)?;
    }
    Ok(values)
}

/// Adds a function and its arguments, and runs it.
async fn function(lua: &Lua, mut call: Call, args: MultiValue) -> Result<MultiValue> {
    let mut is_shown = false;
    for (i, value) in args.into_iter().enumerate() {
        match &value {
            Value::Table(pairs) if pairs.raw_len() == 0 => {
                let mut words = Vec::new();
                pairs.for_each(|key: String, value: Value| {
                    match key.as_str() {
                        "show_only" => is_shown = true,
                        _ => words.push(format!("{key}={}", word(&value)?)),
                    }
                    Ok(())
                })?;
                words.sort();
                call.words.extend(words);
            }
            Value::Nil => {}
            value => {
                let value = word(value)?;
                if i == 0 && (value.starts_with('-') || !value.contains('.')) {
                    return Err(mlua::Error::runtime(format!(
                        "salt: `{value}` is no function of Salt; they are called as pkg.install"
                    )));
                }
                call.words.push(value);
            }
        }
    }
    if is_shown || acting().check {
        let table = would(lua, &call)?;
        if !is_shown {
            acting().say(&table.raw_get::<String>("message")?);
        }
        return one(lua, table);
    }
    let program = call.program;
    let ended = match call.run().await {
        Ok(ended) => ended,
        Err(why) => {
            let why = Value::String(lua.create_string(why)?);
            return Ok(MultiValue::from_vec(vec![Value::Nil, Value::Nil, why.clone(), why]));
        }
    };
    let table = result(lua, program, &ended)?;
    if let Ok(json) = serde_json::from_slice::<Json>(&ended.stdout) {
        table.raw_set("data", from_json(lua, &json)?)?;
    }
    let mut values = vec![Value::Table(table.clone())];
    values.extend(last(Some(table))?);
    Ok(MultiValue::from_vec(values))
}

/// `stdout, stderr, error`, where the last two are nothing when it went well.
fn last(result: Option<Table>) -> Result<MultiValue> {
    let Some(result) = result else { return Ok(MultiValue::new()) };
    let (out, error): (Value, Value) = (result.raw_get("stdout")?, result.raw_get("error")?);
    let said = match result.raw_get::<Value>("stderr")? {
        _ if error.is_nil() => Value::Nil,
        Value::String(said) if said.as_bytes().is_empty() => error.clone(),
        said => said,
    };
    Ok(MultiValue::from_vec(vec![out, said, error]))
}

fn keys(module: &mut Installer<'_>) -> Result<()> {
    let table = nested(module.lua, &module.table, "key")?;
    let mut key = Installer { lua: module.lua, table, module: "salt.key" };
    key.act_async("list", |lua, _: MultiValue| async move {
        match listed().await {
            Ok(json) => one(&lua, from_json(&lua, &json)?),
            Err(why) => refused(&lua, &why),
        }
    })?;
    for (name, flag) in [("accept", "--accept"), ("reject", "--reject"), ("delete", "--delete")] {
        key.act_async(name, move |lua, args: MultiValue| async move {
            let args = Arguments::read(&lua, "salt.key", args, &["minion"])?;
            let minion = args.required(&["minion", "id", "name"])?;
            let call = Call::new(&SALT_KEY, ["--yes", flag, &minion]);
            if args.flag("show_only")? {
                return one(&lua, would(&lua, &call)?);
            }
            if acting().check {
                let line = format!("would run: {}", call.line());
                acting().say(&line);
                return two(&lua, true, line);
            }
            match call.text().await {
                Ok(said) => two(&lua, true, said),
                Err(why) => two(&lua, false, why),
            }
        })?;
    }
    key.act_async("wait_and_accept", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "salt.key.wait_and_accept", args, &["timeout"])?;
        let wanted = args.any(&["minion", "id"])?;
        let patience = match args.value("timeout")? {
            Value::Nil => None,
            value => crate::define::span_of(&value)
                .map_err(|error| args.mistake(&error.to_string()))?
                .map(Duration::from),
        };
        let found = match patience {
            None => waiting(wanted.as_deref()).await,
            Some(time) => match tokio::time::timeout(time, waiting(wanted.as_deref())).await {
                Ok(found) => found,
                Err(_) => Err("no key came in time".to_owned()),
            },
        };
        let minion = match found {
            Ok(minion) => minion,
            Err(why) => return refused(&lua, &why),
        };
        if acting().check {
            acting().say(&format!("would accept the key of {minion}"));
            return one(&lua, minion);
        }
        match Call::new(&SALT_KEY, ["--yes", "--accept", &minion]).text().await {
            Ok(_) => one(&lua, minion),
            Err(why) => refused(&lua, &why),
        }
    })
}

async fn listed() -> std::result::Result<Json, String> {
    let ended = Call::new(&SALT_KEY, ["--out=json", "--list=all"]).run().await?;
    if !ended.is_success() {
        return Err(super::tool::failure(&SALT_KEY, &ended));
    }
    serde_json::from_str(&stdout(&ended))
        .map_err(|error| format!("salt-key printed no JSON: {error}"))
}

/// The first minion whose key waits.
async fn waiting(wanted: Option<&str>) -> std::result::Result<String, String> {
    loop {
        let keys = listed().await?;
        let names = keys.get("minions_pre").and_then(Json::as_array).into_iter().flatten();
        let mut names = names.filter_map(Json::as_str);
        if let Some(minion) = names.find(|name| wanted.is_none_or(|wanted| wanted == *name)) {
            return Ok(minion.to_owned());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
