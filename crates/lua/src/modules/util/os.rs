//! `os`: what Lua 5.1 has there and Luau has not.
//!
//! The clock, `os.date` and `os.getenv` are made where a file is defined, because they must stand still there.

use std::os::unix::process::ExitStatusExt;
use std::rc::Rc;
use std::time::Duration;

use mlua::{FromLua, Result, Value};

use super::fs::{remove_one, rename, stat, temporary, told};
use super::given::{Text, answer, place, would};
use crate::modules::{Described, Ended, Installer, Module, Order, acting};

/// How long what a line leaves behind may hold on to its streams.
pub(super) const LINGER: Duration = Duration::from_millis(100);

pub(crate) const MODULE: Module = Module {
    name: "os",
    about: "The `os` of Lua, where a step runs. Beside what is described here there are `time`, `date`, `clock`, `difftime` and `getenv`, as in Lua.",
    functions: &[
        Described {
            name: "execute",
            signature: "([command]) -> code, \"exit\" | \"signal\", code",
            about: "Runs a line of shell; what it prints are words of the step. What it leaves in the background goes on. Without a line it says whether there is a shell.",
            example: "assert(os.execute('exit 3') == 3)\nassert(os.execute('echo hello > a') == 0)\nassert(os.execute() == 1)",
        },
        Described {
            name: "remove",
            signature: "(path) -> true | nil, error",
            about: "Removes a file or an empty directory.",
            example: "fs.write('a', '')\nassert(os.remove('a'))\nlocal ok, why = os.remove('a')\nassert(ok == nil and why)",
        },
        Described {
            name: "rename",
            signature: "(from, to) -> true | nil, error",
            about: "Gives a file or directory another name.",
            example: "fs.write('a', 'x')\nassert(os.rename('a', 'b') and fs.read('b') == 'x')",
        },
        Described {
            name: "tmpname",
            signature: "() -> path",
            about: "Makes an empty file with a name that nobody has, and gives its path.",
            example: "local path = os.tmpname()\nassert(fs.exists(path))\nos.remove(path)",
        },
        Described {
            name: "exit",
            signature: "([code])",
            about: "Ends the step; with a code that is not 0, or with `false`, it failed.",
            example: "local ok, why = pcall(os.exit, 3)\nassert(not ok and tostring(why):find('3'))",
        },
        Described {
            name: "readlink",
            signature: "(path) -> target | nil, error",
            about: "Where a link leads.",
            example: "exec.run('ln -s target link')\nassert(os.readlink('link') == 'target')",
        },
        Described {
            name: "lstat",
            signature: "(path) -> { path, type, size, mode, mtime, uid, gid } | nil, error",
            about: "What is known about a file; of a link, about itself: its `type` is `link`. Otherwise as `fs.stat`.",
            example: "exec.run('ln -s target link')\nassert(os.lstat('link').type == 'link')",
        },
    ],
    install,
};

/// The step wants to end, and how.
#[derive(Debug, thiserror::Error)]
#[error("it ended itself with os.exit({code})")]
pub(crate) struct Exit {
    pub code: i32,
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("execute", |_, line: Option<Text>| execute(line))?;
    module.act("remove", |_, path: Text| {
        let removed = place(&path).and_then(|path| {
            if would(|| format!("remove {}", path.display())) {
                return Ok(true);
            }
            remove_one(&path).map(|()| true).map_err(told("remove", &path))
        });
        Ok(answer(removed))
    })?;
    module.act("rename", |_, (from, to): (Text, Text)| {
        Ok(answer(rename(&from, &to).map(|()| true)))
    })?;
    module.act("tmpname", |_, ()| temporary("lua_").map_err(mlua::Error::runtime))?;
    module.act("exit", |lua, code: Value| -> Result<()> {
        let code = match code {
            Value::Nil | Value::Boolean(true) => 0,
            Value::Boolean(false) => 1,
            other => i32::from_lua_arg(other, 1, Some("os.exit"), lua)?,
        };
        Err(mlua::Error::external(Exit { code }))
    })?;
    module.act("readlink", |_, path: Text| {
        let target = place(&path).and_then(|path| {
            let target = std::fs::read_link(&path).map_err(told("follow", &path))?;
            Ok(target.to_string_lossy().into_owned())
        });
        Ok(answer(target))
    })?;
    module.act("lstat", |lua, path: Text| stat(lua, &path, true))
}

type Ending = (i32, Option<&'static str>, Option<i32>);

async fn execute(line: Option<Text>) -> Result<Ending> {
    let Some(line) = line else { return Ok((1, None, None)) };
    if would(|| format!("run: {}", line.lossy())) {
        return Ok((0, Some("exit"), Some(0)));
    }
    let step = acting();
    let mut order = shell_line(&line.lossy());
    order.echo = Some(Rc::clone(&step.sink));
    match order.run().await {
        Ok(ended) => Ok((ended.code(), Some(manner(&ended)), Some(ended.code()))),
        Err(error) => {
            step.complain(&format!("error: it could not be started: {error}"));
            Ok((127, Some("exit"), Some(127)))
        }
    }
}

/// A line for the shell, as a step runs it.
pub(super) fn shell_line(line: &str) -> Order {
    let has_bash = std::path::Path::new("/bin/bash").exists();
    let mut order = Order::shell(if has_bash { "/bin/bash" } else { "/bin/sh" }, line);
    order.prepare(&acting());
    order.linger = Some(LINGER);
    order
}

/// Whether a program ended by itself.
pub(super) fn manner(ended: &Ended) -> &'static str {
    match ended.status {
        Some(status) if status.signal().is_some() => "signal",
        _ => "exit",
    }
}
