//! `python`: virtual environments.

use std::path::{Path, PathBuf};

use mlua::{Lua, MultiValue, Result, Table, Value};

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, one, refused, result, settled, split, two, would};
use super::usage::word;
use super::verb::{Gives, Verb, describe, install as install_verbs};

static PYTHON: Program = Program::new(
    "python3",
    "install it with the machine's packages: pkg.install{ packages = 'python3' }",
);

pub(crate) const MODULE: Module = Module {
    name: "python",
    about: "Python and its virtual environments. Methods of a venv can be chained; a chain stops where something failed.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

const OWN: &[Described] = &[
    Described {
        name: "venv",
        signature: "(path) -> venv",
        about: "A virtual environment at a path, whether it is there or not. `venv.path` is where.",
        example: "local venv = python.venv('.venv')\nassert(venv:exists() == false)",
    },
    Described {
        name: "venv:exists",
        signature: "() -> boolean",
        about: "Whether it is there.",
        example: "assert(python.venv('.venv'):exists() == false)",
    },
    Described {
        name: "venv:create",
        signature: "([{ python, system_site_packages, without_pip, clear }]) -> result, error",
        about: "Makes it, where it is not there yet.",
        example: "local venv = python.venv('v')\nlocal r, err = venv:create{ without_pip = true }\nassert(r == nil or r.success == venv:exists())\nif venv:exists() then assert(venv:create().changed == false) end",
    },
    Described {
        name: "venv:pip",
        signature: "(words[, { env, timeout }]) -> result, error",
        about: "Runs pip in it, with a line (`'install -r requirements.txt'`) or a list of words.",
        example: "local r, err = python.venv('gone'):pip('install flask')\nassert(not r or not r.success)",
    },
    Described {
        name: "venv:exec",
        signature: "(words[, { env, timeout, stdin }]) -> result, error",
        about: "Runs its Python with a line (`'app.py --port 80'`) or a list of words.",
        example: "local r, err = python.venv('gone'):exec({ 'app.py', '--port', '80' })\nassert(not r or not r.success)",
    },
    Described {
        name: "venv:remove",
        signature: "() -> result | nil, error",
        about: "Removes it.",
        example: "assert(python.venv('v'):remove().changed == false)",
    },
];

const VERBS: &[Verb] = &[
    Verb::new(
        "exec",
        "(args[, options]) -> result, error",
        "{args...}",
        "Runs the Python of the machine with a list of words.",
        "assert(python.exec({ '-V' }, { show_only = true }).command == 'python3 -V')",
    ),
    Verb::new(
        "version",
        "() -> text | nil, error",
        "-c 'import platform; print(platform.python_version())'",
        "The version of the machine's Python.",
        "local version, err = python.version()\nassert(version or err)",
    )
    .gives(Gives::Text)
    .reads(),
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_verbs(module, &PYTHON, VERBS)?;
    let class = Class::new(module.lua, "python", "venv")?;
    class.act(module.lua, "exists", |lua, object, _| async move {
        one(&lua, interpreter(&place(&object)?).exists())
    })?;
    class.act(module.lua, "create", {
        let class = class.clone();
        move |lua, object, args| create(lua, class.clone(), object, args)
    })?;
    for name in ["pip", "exec"] {
        let carrier = class.clone();
        class.act(module.lua, name, move |lua, object, args| {
            run(lua, carrier.clone(), object, args, name)
        })?;
    }
    class.act(module.lua, "remove", |lua, object, _| remove(lua, object))?;
    module.pure("venv", move |lua, path: String| {
        let object = lua.create_table()?;
        object.raw_set("path", path)?;
        class.object(object)
    })
}

/// Where an environment is; it was named as the step sees it.
fn place(object: &Table) -> Result<PathBuf> {
    Ok(acting().path(&object.raw_get::<String>("path")?))
}

fn interpreter(venv: &Path) -> PathBuf {
    venv.join("bin/python")
}

async fn create(lua: Lua, class: Class, object: Table, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "venv:create", args, &[])?;
    let venv = place(&object)?;
    let is_there = interpreter(&venv).exists() && !args.flag("clear")?;
    if is_there {
        let table = settled(&lua, false, &format!("{} is there", venv.display()))?;
        table.raw_set("stderr", "")?;
        table.raw_set("stdout", "")?;
        class.carry(&lua, &object, &table)?;
        return one(&lua, table);
    }
    let mut call = Call::new(&PYTHON, ["-m", "venv"]);
    if let Some(python) = args.text("python")? {
        call.path = super::tool::find(&acting(), &python);
        if call.path.is_none() {
            return refused(&lua, &format!("{python} is not installed here"));
        }
    }
    for (name, flag) in [
        ("system_site_packages", "--system-site-packages"),
        ("without_pip", "--without-pip"),
        ("clear", "--clear"),
    ] {
        if args.flag(name)? {
            call.words.push(flag.to_owned());
        }
    }
    call.words.push(venv.to_string_lossy().into_owned());
    finish(&lua, &class, &object, call).await
}

async fn run(
    lua: Lua,
    class: Class,
    object: Table,
    mut args: MultiValue,
    name: &'static str,
) -> Result<MultiValue> {
    let first = args.pop_front();
    let args = Arguments::read(&lua, "venv", args, &[])?;
    let words = match first {
        Some(Value::Table(list)) => {
            list.sequence_values::<Value>().map(|item| word(&item?)).collect::<Result<Vec<_>>>()?
        }
        Some(Value::String(line)) => split(&crate::value::text(&line))
            .map_err(|error| args.mistake(&format!("{name}: {error}")))?,
        _ => return Err(args.mistake(&format!("{name} is given a line or a list of words"))),
    };
    let venv = place(&object)?;
    if !interpreter(&venv).exists() {
        let at = venv.display();
        return refused(&lua, &format!("there is no environment at {at}; make it with :create()"));
    }
    let before: &[&str] = if name == "pip" { &["-m", "pip"] } else { &[] };
    let mut call = Call::new(&PYTHON, before.iter().map(|word| (*word).to_owned()).chain(words));
    call.path = Some(interpreter(&venv));
    call.enter(&venv);
    if let Value::Table(more) = args.value("env")? {
        more.for_each(|name: String, value: Value| {
            call.environment.insert(name, word(&value)?);
            Ok(())
        })?;
    }
    if let Some(input) = args.text("stdin")? {
        call.input = Some(input.into_bytes());
    }
    let timeout = args.value("timeout")?;
    if !timeout.is_nil() {
        call.timeout = crate::define::span_of(&timeout)
            .map_err(|e| args.mistake(&e.to_string()))?
            .map(Into::into);
    }
    finish(&lua, &class, &object, call).await
}

async fn finish(lua: &Lua, class: &Class, object: &Table, call: Call) -> Result<MultiValue> {
    let table = if acting().check {
        let table = would(lua, &call)?;
        acting().say(&table.raw_get::<String>("message")?);
        table
    } else {
        match call.run().await {
            Err(why) => return refused(lua, &why),
            Ok(ended) => {
                let table = result(lua, &PYTHON, &ended)?;
                table.raw_set("changed", ended.is_success())?;
                table
            }
        }
    };
    let error: Option<String> = table.raw_get("error")?;
    class.carry(lua, object, &table)?;
    two(lua, table, error)
}

async fn remove(lua: Lua, object: Table) -> Result<MultiValue> {
    let venv = place(&object)?;
    if !venv.exists() {
        return one(&lua, settled(&lua, false, &format!("{} is not there", venv.display()))?);
    }
    if !venv.join("pyvenv.cfg").exists() {
        return refused(&lua, &format!("{} is no virtual environment", venv.display()));
    }
    if !acting().check
        && let Err(error) = tokio::fs::remove_dir_all(&venv).await
    {
        return refused(&lua, &format!("{} could not be removed: {error}", venv.display()));
    }
    one(&lua, settled(&lua, true, &format!("removed {}", venv.display()))?)
}
