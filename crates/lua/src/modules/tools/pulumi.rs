//! `pulumi`: infrastructure as programs.
//!
//! Two ways in. `pulumi.login(url)` gives a client whose methods answer `ok, output`. `pulumi.stack(name, { workdir })`
//! gives a stack whose methods answer a result and can be chained. A stack does not sign in: the address of its
//! backend and its virtual environment go along in the environment of every call.

use mlua::{Lua, MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, failure, one, refused, result, stdout, two, would};
use super::usage::word;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static PULUMI: Program =
    Program::new("pulumi", "see https://www.pulumi.com/docs/install for how to install it");

pub(crate) const MODULE: Module = Module {
    name: "pulumi",
    about: "Infrastructure that programs describe, with the `pulumi` of the machine. Nothing asks back: `up` and `destroy` of a stack go ahead, those of a client when they are given `auto_approve`.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

const OWN: &[Described] = &[
    Described {
        name: "login",
        signature: "([url][, { login_local, workdir, env }]) -> client | nil, error",
        about: "Signs in at a backend, and gives a client.",
        example: "local r = pulumi.login('file:///tmp/state', { show_only = true })\nassert(r.command == 'pulumi login --non-interactive file:///tmp/state')",
    },
    Described {
        name: "stack",
        signature: "(name[, { workdir, login, venv, env }]) -> stack",
        about: "A stack in a directory. `login` (or `login_url`) is the backend, `venv` a virtual environment or `venv_path` its path.",
        example: "local stack = pulumi.stack('org/app/prod', { workdir = '.' })\nassert(stack.name == 'org/app/prod')\nassert(stack:up{ show_only = true }.command == 'pulumi up --yes --non-interactive --color never --stack org/app/prod')",
    },
    Described {
        name: "client:stack",
        signature: "(name[, { create }]) -> boolean, output",
        about: "Goes to a stack; with `create` it is made where it is not there.",
        example: "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:stack('prod', { create = true }))\nend",
    },
    Described {
        name: "client:set_workdir",
        signature: "(path) -> client",
        about: "Acts in another directory from now on.",
        example: "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:set_workdir('infra'):stack('prod'))\nend",
    },
    Described {
        name: "stack:config_map",
        signature: "(values) -> result, error",
        about: "Sets several values; a table becomes JSON.",
        example: "local function deploy()\n  assert(pulumi.stack('prod'):config_map{ ['aws:region'] = 'eu-west-1', size = 3 }.success)\nend",
    },
    Described {
        name: "stack:outputs",
        signature: "([{ show_secrets }]) -> table | nil, error",
        about: "What the stack gives out.",
        example: "local function deploy()\n  log.info(assert(pulumi.stack('prod'):outputs()).url)\nend",
    },
];

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs pulumi with a list of words.",
        "assert(pulumi.exec({ 'whoami' }, { show_only = true }).command == 'pulumi whoami')",
    ),
    Verb::new(
        "client:set_config",
        "(key, value[, { secret, path }]) -> boolean, output",
        "config set --non-interactive [--secret] [--path] [--stack {stack_name}] -- {key} {value@}",
        "Sets a value of the stack.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:set_config('aws:region', 'eu-west-1'))\nend",
    )
    .gives(Gives::Flag),
    Verb::new(
        "client:get_config",
        "(key) -> text | nil, error",
        "config get --non-interactive [--path] [--stack {stack_name}] -- {key}",
        "A value of the stack.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  log.info(client:get_config('aws:region'))\nend",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "client:preview",
        "([{ diff, envs, refresh, target }]) -> boolean, output",
        "preview --non-interactive --color never [--diff] [--refresh] [--target {target*}] [--stack {stack_name}]",
        "Says what would change.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:preview{ diff = true })\nend",
    )
    .gives(Gives::Flag)
    .reads(),
    Verb::new(
        "client:up",
        "([{ auto_approve, envs, skip_preview, refresh, target }]) -> boolean, output",
        "up --non-interactive --color never [auto_approve? --yes] [--skip-preview] [--refresh] [--target {target*}] [--stack {stack_name}]",
        "Makes it so.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:up{ auto_approve = true })\nend",
    )
    .gives(Gives::Flag),
    Verb::new(
        "client:destroy",
        "([{ auto_approve, envs, skip_preview, target }]) -> boolean, output",
        "destroy --non-interactive --color never [auto_approve? --yes] [--skip-preview] [--target {target*}] [--stack {stack_name}]",
        "Destroys everything in the stack.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:destroy{ auto_approve = true })\nend",
    )
    .gives(Gives::Flag),
    Verb::new(
        "client:refresh",
        "([{ auto_approve, envs }]) -> boolean, output",
        "refresh --non-interactive --color never --yes [auto_approve? ] [--stack {stack_name}]",
        "Brings the state to what is there.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  assert(client:refresh{})\nend",
    )
    .gives(Gives::Flag),
    Verb::new(
        "client:output",
        "([name]) -> text or table | nil, error",
        "stack output --non-interactive --json [--show-secrets] [--stack {stack_name}] [-- {name}]",
        "An output, or all of them.",
        "local function deploy()\n  local client = assert(pulumi.login('file:///srv/state'))\n  log.info(client:output('url'))\nend",
    )
    .gives(Gives::Json)
    .reads()
    .takes(&["name"]),
    Verb::new(
        "stack:select",
        "([{ create }]) -> result, error",
        "stack select --non-interactive [--create] --stack {name}",
        "Goes to the stack; with `create` it is made where it is not there.",
        "assert(pulumi.stack('prod'):select{ create = true, show_only = true }.command == 'pulumi stack select --non-interactive --create --stack prod')",
    ),
    Verb::new(
        "stack:config",
        "(key, value[, { secret, path }]) -> result, error",
        "config set --non-interactive [--secret] [--path] --stack {name} -- {key} {value@}",
        "Sets a value; a table becomes JSON.",
        "assert(pulumi.stack('prod'):config('size', 3, { show_only = true }).command == 'pulumi config set --non-interactive --stack prod -- size 3')",
    ),
    Verb::new(
        "stack:get_config",
        "(key) -> text | nil, error",
        "config get --non-interactive [--path] --stack {name} -- {key}",
        "A value.",
        "assert(pulumi.stack('prod'):get_config('size', { show_only = true }).command == 'pulumi config get --non-interactive --stack prod -- size')",
    )
    .gives(Gives::Text)
    .reads(),
    Verb::new(
        "stack:up",
        "([{ config, skip_preview, refresh, target, parallel }]) -> result, error",
        "up --yes --non-interactive --color never [yes? ] [non_interactive? ] [--skip-preview] [--refresh] [--target {target*}] [--parallel {parallel}] [--config {config=}] --stack {name}",
        "Makes it so.",
        "assert(pulumi.stack('prod'):up{ skip_preview = true, show_only = true }.command == 'pulumi up --yes --non-interactive --color never --skip-preview --stack prod')",
    ),
    Verb::new(
        "stack:preview",
        "([{ diff, refresh, target }]) -> result, error",
        "preview --non-interactive --color never [non_interactive? ] [--diff] [--refresh] [--target {target*}] --stack {name}",
        "Says what would change.",
        "assert(pulumi.stack('prod'):preview{ diff = true, show_only = true }.command == 'pulumi preview --non-interactive --color never --diff --stack prod')",
    )
    .reads(),
    Verb::new(
        "stack:destroy",
        "([{ skip_preview, target }]) -> result, error",
        "destroy --yes --non-interactive --color never [yes? ] [non_interactive? ] [--skip-preview] [--target {target*}] --stack {name}",
        "Destroys everything in the stack.",
        "assert(pulumi.stack('prod'):destroy{ show_only = true }.command == 'pulumi destroy --yes --non-interactive --color never --stack prod')",
    ),
    Verb::new(
        "stack:refresh",
        "() -> result, error",
        "refresh --yes --non-interactive --color never [yes? ] [non_interactive? ] --stack {name}",
        "Brings the state to what is there.",
        "assert(pulumi.stack('prod'):refresh{ show_only = true }.command == 'pulumi refresh --yes --non-interactive --color never --stack prod')",
    ),
    Verb::new(
        "stack:cancel",
        "() -> result, error",
        "cancel --yes --stack {name}",
        "Ends an update that was left behind.",
        "assert(pulumi.stack('prod'):cancel{ show_only = true }.command == 'pulumi cancel --yes --stack prod')",
    ),
    Verb::new(
        "stack:remove",
        "([{ force }]) -> result, error",
        "stack rm --yes --non-interactive [--force] --stack {name}",
        "Forgets the stack.",
        "assert(pulumi.stack('prod'):remove{ force = true, show_only = true }.command == 'pulumi stack rm --yes --non-interactive --force --stack prod')",
    ),
    Verb::new(
        "stack:export",
        "() -> result, error",
        "stack export --stack {name}",
        "Its state; `data` has it as a table.",
        "assert(pulumi.stack('prod'):export{ show_only = true }.command == 'pulumi stack export --stack prod')",
    )
    .gives(Gives::Document)
    .reads(),
    Verb::new(
        "stack:exec",
        "(args) -> result, error",
        "{args...}",
        "Runs pulumi in its directory with a list of words.",
        "assert(pulumi.stack('prod'):exec({ 'about' }, { show_only = true }).command == 'pulumi about')",
    ),
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    let classes = install_verbs(module, &PULUMI, VERBS)?;
    let (client, stack) = (classes["client"].clone(), classes["stack"].clone());
    client.act(module.lua, "stack", select)?;
    client.pure(module.lua, "set_workdir", |lua, object, mut args| {
        object.raw_set("workdir", args.pop_front())?;
        one(lua, object)
    })?;
    stack.act(module.lua, "config_map", {
        let class = stack.clone();
        move |lua, object, args| config_map(lua, class.clone(), object, args)
    })?;
    stack.act(module.lua, "outputs", outputs)?;
    let itself = module.table.clone();
    module.pure("stack", move |lua, mut args: MultiValue| {
        // Called with a colon, too.
        if matches!(args.front(), Some(Value::Table(first)) if first.to_pointer() == itself.to_pointer()) {
            args.pop_front();
        }
        stack.object(described(lua, args)?)
    })?;
    module.act_async("login", move |lua, args: MultiValue| login(lua, client.clone(), args))
}

/// A stack from what it is given.
fn described(lua: &Lua, args: MultiValue) -> Result<Table> {
    let args = Arguments::read(lua, "pulumi.stack", args, &["name"])?;
    let object = lua.create_table()?;
    object.raw_set("name", args.required(&["name"])?)?;
    object.raw_set("workdir", args.text("workdir")?)?;
    let environment = lua.create_table()?;
    if let Value::Table(more) = args.value("env")? {
        more.for_each(|name: String, value: Value| environment.raw_set(name, value))?;
    }
    if let Some(url) = args.any(&["login", "login_url"])? {
        environment.raw_set("PULUMI_BACKEND_URL", url)?;
    }
    let venv = match args.value("venv")? {
        Value::Table(venv) => venv.get::<Option<String>>("path")?,
        _ => args.any(&["venv_path", "venv"])?,
    };
    object.raw_set("venv_path", venv)?;
    object.raw_set("env", environment)?;
    Ok(object)
}

/// A call on behalf of a stack or a client.
fn call_of<const N: usize>(object: &Table, words: [&str; N]) -> Result<Call> {
    let mut call = Call::new(&PULUMI, words);
    if let Some(workdir) = object.raw_get::<Option<String>>("workdir")? {
        call.workdir = acting().path(&workdir);
    }
    if let Value::Table(more) = object.raw_get("env")? {
        more.for_each(|name: String, value: Value| {
            call.environment.insert(name, word(&value)?);
            Ok(())
        })?;
    }
    if let Some(venv) = object.raw_get::<Option<String>>("venv_path")? {
        call.enter(&acting().path(&venv));
    }
    Ok(call)
}

async fn login(lua: Lua, class: Class, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "pulumi.login", args, &["url"])?;
    let mut call = Call::new(&PULUMI, ["login", "--non-interactive"]);
    match args.text("url")? {
        Some(url) if url.starts_with('-') => return Err(args.mistake("`url` is an address")),
        Some(url) => call.words.push(url),
        None if args.flag("login_local")? => call.words.push("--local".to_owned()),
        None => {}
    }
    let workdir = args.text("workdir")?;
    if let Some(workdir) = &workdir {
        call.workdir = acting().path(workdir);
    }
    if let Value::Table(more) = args.value("env")? {
        more.for_each(|name: String, value: Value| {
            call.environment.insert(name, word(&value)?);
            Ok(())
        })?;
    }
    let is_shown = args.flag("show_only")?;
    let table = if is_shown || acting().check {
        let table = would(&lua, &call)?;
        if !is_shown {
            acting().say(&table.raw_get::<String>("message")?);
        }
        table
    } else {
        match call.run().await {
            Err(why) => return refused(&lua, &why),
            Ok(ended) if !ended.is_success() => return refused(&lua, &failure(&PULUMI, &ended)),
            Ok(ended) => result(&lua, &PULUMI, &ended)?,
        }
    };
    // What it printed would hide the method.
    table.raw_remove("output")?;
    table.raw_set("workdir", workdir)?;
    table.raw_set("env", args.value("env")?)?;
    one(&lua, class.object(table)?)
}

async fn select(lua: Lua, object: Table, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "client:stack", args, &["name"])?;
    let name = args.required(&["name"])?;
    let mut call = call_of(&object, ["stack", "select", "--non-interactive"])?;
    if args.flag("create")? {
        call.words.push("--create".to_owned());
    }
    call.words.extend(["--stack".to_owned(), name.clone()]);
    object.raw_set("stack_name", name)?;
    if acting().check {
        let message = format!("would run: {}", call.line());
        acting().say(&message);
        return two(&lua, true, message);
    }
    match call.run().await {
        Err(why) => two(&lua, false, why),
        Ok(ended) if !ended.is_success() => two(&lua, false, failure(&PULUMI, &ended)),
        Ok(ended) => two(&lua, true, stdout(&ended)),
    }
}

async fn config_map(lua: Lua, class: Class, object: Table, args: MultiValue) -> Result<MultiValue> {
    let Some(Value::Table(values)) = args.into_iter().next() else {
        return Err(mlua::Error::runtime("pulumi stack:config_map is given a table of values"));
    };
    let name: String = object.raw_get("name")?;
    let mut pairs = Vec::new();
    values.for_each(|key: String, value: Value| {
        pairs.push(format!("{key}={}", word(&value)?));
        Ok(())
    })?;
    pairs.sort();
    let mut call = call_of(&object, ["config", "set-all", "--non-interactive", "--stack", &name])?;
    for pair in pairs {
        call.words.extend(["--plaintext".to_owned(), pair]);
    }
    let table = if acting().check {
        let table = would(&lua, &call)?;
        acting().say(&table.raw_get::<String>("message")?);
        table
    } else {
        match call.run().await {
            Err(why) => return refused(&lua, &why),
            Ok(ended) => {
                let table = result(&lua, &PULUMI, &ended)?;
                table.raw_set("changed", ended.is_success())?;
                table
            }
        }
    };
    let error: Option<String> = table.raw_get("error")?;
    class.carry(&lua, &object, &table)?;
    two(&lua, table, error)
}

async fn outputs(lua: Lua, object: Table, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "stack:outputs", args, &[])?;
    let name: String = object.raw_get("name")?;
    let mut call =
        call_of(&object, ["stack", "output", "--json", "--non-interactive", "--stack", &name])?;
    if args.flag("show_secrets")? {
        call.words.push("--show-secrets".to_owned());
    }
    match call.text().await {
        Err(why) => refused(&lua, &why),
        Ok(text) => match serde_json::from_str::<Json>(&text) {
            Ok(json) => one(&lua, crate::value::from_json(&lua, &json)?),
            Err(error) => refused(&lua, &format!("its outputs are no JSON: {error}")),
        },
    }
}
