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

use mlua::chunk::Compiler;
use mlua::{Lua, LuaOptions, Result, StdLib, Table, VmState};

use crate::limits::Limits;

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
    fn is_over(&self) -> bool {
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
    lua.set_compiler(Compiler::new().set_optimization_level(1).set_debug_level(1));
    let deadline = Deadline::default();
    tighten(&lua, &deadline)?;
    install(&lua)?;
    lua.sandbox(true)?;
    if limits.memory > 0 {
        lua.set_memory_limit(limits.memory)?;
    }
    deadline.set(limits.time.map(|time| Instant::now() + time));
    lua.set_interrupt({
        let deadline = deadline.clone();
        move |_| {
            if deadline.is_over() {
                Err(mlua::Error::runtime(OUT_OF_TIME))
            } else {
                Ok(VmState::Continue)
            }
        }
    });
    Ok((lua, deadline))
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
    let catchers: Table =
        lua.load(include_str!("catch.luau")).set_name("=[catch]").call((is_over, OUT_OF_TIME))?;
    for name in ["pcall", "xpcall"] {
        globals.raw_set(name, catchers.raw_get::<mlua::Function>(name)?)?;
    }
    let coroutines: Table = globals.raw_get("coroutine")?;
    coroutines.raw_set("resume", catchers.raw_get::<mlua::Function>("resume")?)
}
