//! `io`: files and programs as Lua 5.1 has them.
//!
//! A handle never waits in the middle of a loop over lines, because Lua cannot be interrupted there: files are read
//! where they stand, and a program that is read from has run to its end before its handle is given.

mod handle;
mod read;

use mlua::{AnyUserData, Lua, MultiValue, Result, Value, Variadic};

use self::handle::Handle;
use super::given::{Text, answer};
use super::os::shell_line;
use crate::modules::{Described, Installer, Module};
use crate::stage::Scene;

pub(crate) const MODULE: Module = Module {
    name: "io",
    about: "Files and programs as Lua has them. A step has no input, and what it writes to `io.stdout` and `io.stderr` are its words, a call at least a line.",
    functions: &[
        Described {
            name: "open",
            signature: "(path[, mode]) -> file | nil, error",
            about: "Opens a file: `r` to read (which is meant without a mode), `w` to write it anew, `a` to add to its end, with `+` to do both. Named pipes are refused.",
            example: "local f = assert(io.open('a', 'w'))\nf:write('one\\n', 2, '\\n')\nf:close()\nlocal none, why = io.open('b')\nassert(none == nil and why:find('b'))",
        },
        Described {
            name: "popen",
            signature: "(command[, mode]) -> file | nil, error",
            about: "Runs a line of shell. With `r` it runs to its end and what it printed can be read; with `w` it runs when the handle is closed, with what was written to it. What it prints besides are words of the step.",
            example: "local p = io.popen('echo hello; exit 3')\nassert(p:read('*a') == 'hello\\n')\nlocal ok, how, code = p:close()\nassert(ok == nil and how == 'exit' and code == 3)",
        },
        Described {
            name: "lines",
            signature: "(path) -> iterator",
            about: "The lines of a file, which is closed after the last.",
            example: "fs.write('a', 'x\\ny\\n')\nlocal all = {}\nfor line in io.lines('a') do table.insert(all, line) end\nassert(table.concat(all, ',') == 'x,y')",
        },
        Described {
            name: "read",
            signature: "(...) -> nil",
            about: "Reads from the input of the step, which has none.",
            example: "assert(io.read() == nil)",
        },
        Described {
            name: "write",
            signature: "(...) -> file",
            about: "Says something.",
            example: "io.write('built ', 3, ' files\\n')",
        },
        Described {
            name: "output",
            signature: "() -> file",
            about: "The same as `io.stdout`.",
            example: "io.output():write('hello\\n')",
        },
        Described {
            name: "input",
            signature: "() -> file",
            about: "The same as `io.stdin`, in which nothing is.",
            example: "assert(io.input():read('*a') == '')",
        },
        Described {
            name: "tmpfile",
            signature: "() -> file | nil, error",
            about: "A file without a name, to write and to read.",
            example: "local f = io.tmpfile()\nf:write('x')\nf:seek('set')\nassert(f:read('*a') == 'x')",
        },
        Described {
            name: "close",
            signature: "(file) -> true",
            about: "The same as `file:close()`.",
            example: "local f = io.open('a', 'w')\nassert(io.close(f) and io.type(f) == 'closed file')",
        },
        Described {
            name: "type",
            signature: "(value) -> \"file\" | \"closed file\" | nil",
            about: "What kind of handle a value is.",
            example: "assert(io.type(io.stdout) == 'file' and io.type(1) == nil)",
        },
        Described {
            name: "file:read",
            signature: "(format, ...) -> value, ... | nil",
            about: "Reads a line (`*l`, which is meant without a format), a line with its end (`*L`), a number (`*n`), everything (`*a`), or so many bytes. At the end it is nil.",
            example: "fs.write('a', '12 x\\nrest\\n')\nlocal f = io.open('a')\nassert(f:read('*n') == 12)\nassert(f:read(2) == ' x')\nassert(f:read() == '')\nassert(f:read('*a') == 'rest\\n')\nassert(f:read('*l') == nil and f:read('*a') == '')",
        },
        Described {
            name: "file:lines",
            signature: "() -> iterator",
            about: "The lines that are left.",
            example: "local p = io.popen('seq 3')\nlocal sum = 0\nfor line in p:lines() do sum = sum + tonumber(line) end\nassert(sum == 6)",
        },
        Described {
            name: "file:write",
            signature: "(text, ...) -> file | nil, error",
            about: "Writes texts and numbers.",
            example: "local p = io.popen('cat > a', 'w')\np:write('x'):write('y')\nassert(p:close())\nassert(fs.read('a') == 'xy')",
        },
        Described {
            name: "file:seek",
            signature: "([whence[, offset]]) -> position | nil, error",
            about: "Moves to an offset from the beginning (`set`), from here (`cur`) or from the end (`end`), and says where that is.",
            example: "fs.write('a', 'hello')\nlocal f = io.open('a')\nassert(f:seek('end') == 5)\nassert(f:seek('set', 1) == 1 and f:read(2) == 'el')",
        },
        Described {
            name: "file:flush",
            signature: "() -> true",
            about: "Nothing is held back: it is always done.",
            example: "local f = io.open('a', 'w')\nf:write('x')\nassert(f:flush() and fs.read('a') == 'x')",
        },
        Described {
            name: "file:setvbuf",
            signature: "(mode) -> true",
            about: "Nothing is held back, whatever the mode.",
            example: "assert(io.stdout:setvbuf('no'))",
        },
        Described {
            name: "file:close",
            signature: "() -> true | nil, \"exit\" | \"signal\", code",
            about: "Ends the use of a handle. For a program it says how that ended.",
            example: "local p = io.popen('true')\nlocal ok, how, code = p:close()\nassert(ok == true and how == 'exit' and code == 0)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    let lua = module.lua;
    let stdin = lua.create_userdata(Handle::input())?;
    let stdout = lua.create_userdata(Handle::out())?;
    let stderr = lua.create_userdata(Handle::error())?;
    module.act("open", |_, (path, mode): (Text, Option<String>)| {
        Ok(answer(Handle::open(&path, mode.as_deref().unwrap_or("r"))))
    })?;
    module.act_async("popen", |_, (line, mode): (Text, Option<String>)| popen(line, mode))?;
    // While a file is defined there are no lines: a loop over what is unknown would never end.
    module.pure("lines", |lua, path: Option<Text>| match path {
        Some(path) if Scene::of(lua).deferral(lua, "io.lines").is_none() => {
            let handle = Handle::open(&path, "r").map_err(mlua::Error::runtime)?;
            handle::lines(lua, lua.create_userdata(handle)?, MultiValue::new(), true)
        }
        _ => lua.create_function(|_, ()| Ok(Value::Nil)),
    })?;
    module.act("read", {
        let stdin = stdin.clone();
        move |lua, formats: MultiValue| handle::read(lua, &stdin, &formats)
    })?;
    module.act_quietly("write", {
        let stdout = stdout.clone();
        move |lua, values: Variadic<Text>| handle::write(lua, &stdout, &values)
    })?;
    for (name, handle) in [("output", &stdout), ("input", &stdin)] {
        let handle = handle.clone();
        module.pure(name, move |_, other: Value| {
            if other.is_nil() {
                return Ok(handle.clone());
            }
            Err(mlua::Error::runtime(format!(
                "io.{name} cannot be another file, because steps share it; use the handle that io.open gives"
            )))
        })?;
    }
    module.act("tmpfile", |_, ()| Ok(answer(Handle::temporary())))?;
    module.act_async("close", |lua: Lua, file: Option<AnyUserData>| async move {
        match file {
            Some(file) => handle::close(&lua, &file).await,
            None => Ok(MultiValue::from_iter([Value::Boolean(true)])),
        }
    })?;
    module.pure("type", |_, value: Value| {
        Ok(match value {
            Value::UserData(file) => file
                .borrow::<Handle>()
                .ok()
                .map(|handle| if handle.is_closed() { "closed file" } else { "file" }),
            _ => None,
        })
    })?;
    module.table.raw_set("stdin", stdin)?;
    module.table.raw_set("stdout", stdout)?;
    module.table.raw_set("stderr", stderr)
}

async fn popen(line: Text, mode: Option<String>) -> Result<super::given::Answer<Handle>> {
    let order = shell_line(&line.lossy());
    match mode.as_deref().unwrap_or("r") {
        "r" | "rb" => Ok(answer(Handle::program(order, &line.lossy()).await)),
        "w" | "wb" => Ok((Some(Handle::feed(order, line.lossy())), None)),
        other => Err(mlua::Error::runtime(format!(
            "io.popen does not know the mode `{other}`; use \"r\" or \"w\""
        ))),
    }
}
