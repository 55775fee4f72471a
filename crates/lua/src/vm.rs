//! An interpreter with bounds.
//!
//! Nothing of the standard library that reaches out of Lua is there (no `io`, of `os` only the clock, which is ours), no
//! bytecode is loaded, and the libraries cannot be changed. Memory is bounded by the allocator. Time is bounded by the
//! interrupts of Luau, which also come while a pattern is matched; an error of theirs cannot be caught for long, because
//! `pcall` and its like raise it again once the time is over.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use mlua::{Lua, LuaOptions, Result, StdLib, Table, Value, VmState};

use crate::budget::{Bounds, Budget};
use crate::limits::Limits;
use crate::ours;

/// What is told when the time is over.
pub(crate) const OUT_OF_TIME: &str =
    "it takes too long; a definition only describes, what takes time belongs into a task";

/// When an interpreter has to stop: at a time, or when somebody says so.
#[derive(Clone, Default)]
pub(crate) struct Deadline(Rc<End>);

#[derive(Default)]
struct End {
    at: Cell<Option<Instant>>,
    said: RefCell<Arc<AtomicBool>>,
}

impl Deadline {
    pub fn set(&self, at: Option<Instant>) {
        self.0.at.set(at);
    }
    pub fn stop_with(&self, flag: Arc<AtomicBool>) {
        *self.0.said.borrow_mut() = flag;
    }
    pub fn is_over(&self) -> bool {
        self.0.said.borrow().load(Ordering::Acquire)
            || self.0.at.get().is_some_and(|at| Instant::now() >= at)
    }
}

/// Makes an interpreter. What `install` puts into the globals cannot be changed afterwards.
pub(crate) fn new(
    limits: Limits,
    install: impl FnOnce(&Lua) -> Result<()>,
) -> Result<(Lua, Deadline)> {
    let libraries = StdLib::COROUTINE
        | StdLib::TABLE
        | StdLib::OS
        | StdLib::STRING
        | StdLib::UTF8
        | StdLib::BIT
        | StdLib::MATH
        | StdLib::BUFFER;
    let lua = Lua::new_with(libraries, LuaOptions::new())?;
    lua.set_compiler(ours::compiler());
    let deadline = Deadline::default();
    lua.set_app_data(Bounds { memory: limits.memory, deadline: deadline.clone() });
    tighten(&lua, &deadline)?;
    install(&lua)?;
    lua.sandbox(true)?;
    if limits.memory > 0 {
        lua.set_memory_limit(limits.memory)?;
    }
    deadline.set(limits.time.map(|time| Instant::now() + time));
    lua.set_interrupt({
        let deadline = deadline.clone();
        move |lua| {
            if deadline.is_over() {
                Err(mlua::Error::runtime(format!("{}{OUT_OF_TIME}", whereabouts(lua))))
            } else {
                Ok(VmState::Continue)
            }
        }
    });
    Ok((lua, deadline))
}

/// Where it is, as errors say it.
fn whereabouts(lua: &Lua) -> String {
    let place = |debug: &mlua::debug::Debug<'_>| {
        let file = debug.source().short_src?.into_owned();
        Some(format!("{file}:{}: ", debug.current_line()?))
    };
    lua.inspect_stack(0, place).flatten().unwrap_or_default()
}

/// The last table that was raised as an error: where it is, which is all that the interpreter tells of it, and what
/// it says.
struct Raised {
    address: String,
    text: String,
}

fn note(lua: &Lua, table: &Table) {
    let text = ["message", "msg", "error", "err", "reason"]
        .iter()
        .find_map(|name| table.get::<Option<String>>(*name).ok().flatten())
        .unwrap_or_else(|| {
            let budget = Budget::of(lua);
            let json = crate::value::json(&Value::Table(table.clone()), &budget);
            json.map_or_else(|error| error.to_string(), |json| json.to_string())
        });
    let address = format!("{:?}", table.to_pointer());
    lua.set_app_data(Raised { address, text });
}

/// What an error says, when all that is left of it is the address of a table.
pub(crate) fn raised(lua: &Lua, detail: String) -> String {
    let address = detail.strip_prefix("table: ").or(detail.strip_prefix("<table "));
    let address = address.map(|address| address.trim_end_matches('>'));
    match lua.app_data_ref::<Raised>() {
        Some(raised) if address == Some(&raised.address) => raised.text.clone(),
        _ => detail,
    }
}

/// Takes away what is not wanted, and makes what catches errors let go of the last one.
fn tighten(lua: &Lua, deadline: &Deadline) -> Result<()> {
    let globals = lua.globals();
    for name in ["collectgarbage", "newproxy", "getfenv", "setfenv", "gcinfo"] {
        globals.raw_remove(name)?;
    }
    let is_over = {
        let deadline = deadline.clone();
        lua.create_function(move |_, ()| Ok(deadline.is_over()))?
    };
    let note = lua.create_function(|lua, table: Table| {
        note(lua, &table);
        Ok(())
    })?;
    let catchers: Table = ours::CATCH.call(lua, (is_over, OUT_OF_TIME, note))?;
    for name in ["error", "pcall", "xpcall"] {
        globals.raw_set(name, catchers.raw_get::<mlua::Function>(name)?)?;
    }
    let coroutines: Table = globals.raw_get("coroutine")?;
    coroutines.raw_set("resume", catchers.raw_get::<mlua::Function>("resume")?)?;
    for (library, name) in [("table", "move"), ("string", "rep")] {
        let library: Table = globals.raw_get(library)?;
        library.raw_set(name, catchers.raw_get::<mlua::Function>(name)?)?;
    }
    Ok(())
}
