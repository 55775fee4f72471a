//! `exec`: programs on the machine where the step runs.

mod background;

use std::time::Duration;

use mlua::{IntoLuaMulti, Lua, Result, Table, Value};

use super::{Described, Ended, Installer, Module, Order, acting};
use crate::value::{text, words as shown};

pub(crate) const MODULE: Module = Module {
    name: "exec",
    about: "Programs on the machine where the step runs. A line is given to `bash` (to `sh` where there is none), in the working directory and with the environment of the step. What is started ends with the step at the latest. In check mode nothing is run unless the options have `reads = true`: the line is said, and the result is one of success without output.",
    functions: &[
        Described {
            name: "run",
            signature: "(command[, { workdir, env, timeout, stdin, shell, reads }]) -> result, error",
            about: "Runs a line of shell, or a list of a program and its arguments, to its end. The result has `stdout`, `stderr`, `exit_code`, `success` (also as `output`, `code`), and can be used as the text of its output.",
            example: "local r = exec.run('echo hello')\nassert(r.success and r.stdout == 'hello\\n' and r.exit_code == 0)\nlocal l = exec.run({ 'echo', 'a  b' })\nassert(l.stdout == 'a  b\\n')",
        },
        Described {
            name: "command",
            signature: "(command[, options]) -> result, error",
            about: "The same as `exec.run`.",
            example: "assert(exec.command('true').success)",
        },
        Described {
            name: "sh",
            signature: "(command[, options]) -> result, error",
            about: "The same as `exec.run`.",
            example: "assert(exec.sh('exit 3').exit_code == 3)",
        },
        Described {
            name: "run_timeout",
            signature: "(command, seconds[, options]) -> result, error",
            about: "Runs a line for at most so long; it and everything it started is killed then, and its exit code is 124.",
            example: "assert(exec.run_timeout('sleep 60', 0.05).exit_code == 124)",
        },
        Described {
            name: "background",
            signature: "(command[, options]) -> process | nil, error",
            about: "Starts a line and goes on; the process has its number in `pid`. It ends with the step at the latest, and is killed after `timeout` where that is said.",
            example: "local p = exec.background('echo ready; exec sleep 60')\nassert(p.pid and p:is_running())\np:kill()\nassert(not p:is_running())",
        },
        Described {
            name: "process:wait",
            signature: "([seconds]) -> result | nil, error",
            about: "Waits for its end, or for at most so long; the result is that of `exec.run`.",
            example: "local p = exec.background('sleep 0.05; echo done; exit 3')\nlocal none, err = p:wait(0)\nassert(none == nil and err == 'it still runs')\nlocal r = p:wait()\nassert(r.exit_code == 3 and r.stdout == 'done\\n')",
        },
        Described {
            name: "process:is_running",
            signature: "() -> boolean",
            about: "Whether it has not ended yet.",
            example: "local p = exec.background('true')\np:wait()\nassert(p:is_running() == false)",
        },
        Described {
            name: "process:kill",
            signature: "() -> result | nil, error",
            about: "Kills it and everything it started, and gives what it had printed. One that has ended stays as it is.",
            example: "local p = exec.background('echo begun; exec sleep 60')\ntime.sleep(0.1)\nlocal r = p:kill()\nassert(r.exit_code == 137 and r.stdout == 'begun\\n')",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    for name in ["run", "command", "sh"] {
        module.act_async(name, |lua, (command, options): (Value, Option<Table>)| {
            run(lua, command, options, None)
        })?;
    }
    module.act_async(
        "run_timeout",
        |lua, (command, seconds, options): (Value, f64, Option<Table>)| {
            run(lua, command, options, Some(seconds))
        },
    )?;
    module.act_async(
        "background",
        |lua, (command, options): (Value, Option<Table>)| async move {
            let order = order(&command, options.as_ref())?;
            if is_held(&order, options.as_ref())? {
                return (Value::Nil, "check mode: it was not started").into_lua_multi(&lua);
            }
            match order.start() {
                Ok(started) => background::put_aside(&lua, started)?.into_lua_multi(&lua),
                Err(error) => {
                    (Value::Nil, format!("it could not be started: {error}")).into_lua_multi(&lua)
                }
            }
        },
    )?;
    // Some files call the module itself.
    let run: mlua::Function = module.table.raw_get("run")?;
    let meta = module.lua.create_table()?;
    let call: mlua::Function = module
        .lua
        .load("local run = ... return function(_, ...) return run(...) end")
        .set_name("=[exec]")
        .call(run)?;
    meta.set("__call", call)?;
    module.table.set_metatable(Some(meta))
}

async fn run(
    lua: Lua,
    command: Value,
    options: Option<Table>,
    seconds: Option<f64>,
) -> Result<(Value, Option<String>)> {
    let mut order = order(&command, options.as_ref())?;
    if let Some(seconds) = seconds {
        order.timeout = Duration::try_from_secs_f64(seconds).ok();
    }
    if is_held(&order, options.as_ref())? {
        let table = result(&lua, &Ended::default())?;
        table.raw_set("success", true)?;
        table.raw_set("exit_code", 0)?;
        table.raw_set("code", 0)?;
        table.raw_set("check", true)?;
        return Ok((Value::Table(table), None));
    }
    match order.run().await {
        Ok(ended) => Ok((Value::Table(result(&lua, &ended)?), None)),
        Err(error) => {
            let failed = Ended {
                status: None,
                stdout: Vec::new(),
                stderr: format!("it could not be started: {error}").into_bytes(),
                lost: 0,
                is_timeout: false,
            };
            let message = text(&lua.create_string(&failed.stderr)?);
            Ok((Value::Table(result(&lua, &failed)?), Some(message)))
        }
    }
}

/// In check mode: says what would be run, unless it only reads.
fn is_held(order: &Order, options: Option<&Table>) -> Result<bool> {
    let step = acting();
    let reads = options.map_or(Ok(Value::Nil), |options| options.get::<Value>("reads"))?;
    if !step.check || reads == Value::Boolean(true) {
        return Ok(false);
    }
    step.say(&format!("would run: {}", order.line()));
    Ok(true)
}

/// A length of time as files write it.
fn span(what: &str, value: &Value) -> Result<Option<Duration>> {
    let span = crate::define::span_of(value)
        .map_err(|error| mlua::Error::runtime(format!("{what}: {error}")))?;
    Ok(span.map(Into::into))
}

/// What is asked for, on behalf of the step that runs.
fn order(command: &Value, options: Option<&Table>) -> Result<Order> {
    let step = acting();
    let option = |name: &str| options.map_or(Ok(Value::Nil), |options| options.get::<Value>(name));
    let mut order = match command {
        Value::Table(words) if words.raw_len() > 0 => {
            let program = words.sequence_values::<Value>().map(|word| Ok(shown(&word?)?.into()));
            Order { program: program.collect::<Result<_>>()?, ..Order::default() }
        }
        Value::Table(table) => {
            let line: Value = table.get("command")?;
            Order::shell(shell(&option("shell")?)?.as_str(), &shown(&line)?)
        }
        line => Order::shell(shell(&option("shell")?)?.as_str(), &shown(line)?),
    };
    order.workdir = match option("workdir")? {
        Value::String(path) => step.path(&text(&path)),
        _ => step.workdir.clone(),
    };
    let mut environment = step.environment.clone();
    if let Value::Table(more) = option("env")? {
        more.for_each(|name: String, value: Value| {
            environment.insert(name, shown(&value)?);
            Ok(())
        })?;
    }
    order.environment =
        environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    if let Value::String(input) = option("stdin")? {
        order.input = Some(input.as_bytes().to_vec());
    }
    order.timeout = span("exec: timeout", &option("timeout")?)?;
    Ok(order)
}

fn shell(given: &Value) -> Result<String> {
    Ok(match given {
        Value::String(shell) => text(shell),
        _ if std::path::Path::new("/bin/bash").exists() => "/bin/bash".to_owned(),
        _ => "/bin/sh".to_owned(),
    })
}

/// The end of a program as Lua sees it.
pub(crate) fn result(lua: &Lua, ended: &Ended) -> Result<Table> {
    let table = lua.create_table()?;
    let stdout = lua.create_string(&ended.stdout)?;
    let stderr = lua.create_string(&ended.stderr)?;
    table.set("stdout", &stdout)?;
    table.set("output", &stdout)?;
    table.set("stderr", &stderr)?;
    table.set("exit_code", ended.code())?;
    table.set("code", ended.code())?;
    table.set("success", ended.is_success())?;
    if ended.is_timeout {
        table.set("timed_out", true)?;
    }
    if ended.lost > 0 {
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        table.set("lost", ended.lost as f64)?;
    }
    super::as_text(lua, &table, "stdout")?;
    Ok(table)
}
