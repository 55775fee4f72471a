//! What may be done when.
//!
//! The same globals are there while a file is defined and while a body runs, because Luau looks names up once. What
//! acts on the world asks for the stage when it is called. While a file is defined it does nothing and answers with
//! [`unknown`]: a value that can be called, indexed, joined and counted and stays unknown, so that a definition that
//! asks the machine something at its top still yields its graph, and is warned about that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use hostler_model::workflow::Place;
use mlua::{Lua, MultiValue, Result, Table, Value};

use crate::budget::Budget;
use crate::missing::Missing;
use crate::vm::Deadline;

/// How often a script calls what acts before it is known for one.
const ENOUGH: u32 = 1000;

/// What an interpreter is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Defining,
    Acting,
}

/// What is kept beside an interpreter, for everything in it.
pub(crate) struct Scene {
    pub stage: Cell<Stage>,
    /// What would have acted while the file was defined: the function, and where it was called first.
    pub deferred: RefCell<BTreeMap<String, Place>>,
    /// How often that was, and what ends a script that would go on for ever.
    count: Cell<u32>,
    patience: RefCell<Option<Deadline>>,
    /// What functions answer while a test runs, by their names.
    pub mocks: RefCell<BTreeMap<String, Table>>,
    unknown: RefCell<Option<Value>>,
    pub missing: Missing,
}

impl Scene {
    pub fn install(lua: &Lua) -> Result<Rc<Scene>> {
        let scene = Rc::new(Scene {
            stage: Cell::new(Stage::Defining),
            deferred: RefCell::default(),
            mocks: RefCell::default(),
            count: Cell::new(0),
            patience: RefCell::default(),
            unknown: RefCell::default(),
            missing: Missing::default(),
        });
        lua.set_app_data(Rc::clone(&scene));
        *scene.unknown.borrow_mut() = Some(Value::Table(make_unknown(lua)?));
        Ok(scene)
    }

    pub fn of(lua: &Lua) -> Rc<Scene> {
        Rc::clone(&lua.app_data_ref::<Rc<Scene>>().expect("every interpreter of ours has a scene"))
    }

    /// What a function answers while a test runs.
    pub fn mocked(&self, what: &str) -> Option<Table> {
        self.mocks.borrow().get(what).cloned()
    }

    /// A file that only acts waits for what never comes: it is enough to have seen that.
    pub fn gives_up_with(&self, deadline: Deadline) {
        *self.patience.borrow_mut() = Some(deadline);
    }

    /// While a file is defined: notes that `what` was called, and gives what it answers.
    pub fn deferral(&self, lua: &Lua, what: &str) -> Option<Value> {
        if self.stage.get() == Stage::Acting {
            return None;
        }
        self.count.set(self.count.get().saturating_add(1));
        if self.count.get() > ENOUGH
            && let Some(deadline) = &*self.patience.borrow()
        {
            deadline.set(Some(Instant::now()));
        }
        self.deferred.borrow_mut().entry(what.to_owned()).or_insert_with(|| caller(lua));
        self.unknown.borrow().clone()
    }
}

/// What nobody knows while a file is defined.
pub(crate) fn unknown(lua: &Lua) -> Value {
    let scene = Scene::of(lua);
    let value = scene.unknown.borrow();
    value.clone().unwrap_or(Value::Nil)
}

fn make_unknown(lua: &Lua) -> Result<Table> {
    let value = lua.create_table()?;
    let meta = lua.create_table()?;
    let itself = {
        let weak = lua.create_table()?;
        weak.raw_set(1, &value)?;
        move |_: &Lua, _: MultiValue| weak.raw_get::<Table>(1)
    };
    for name in [
        "__index", "__call", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm",
        "__idiv",
    ] {
        meta.raw_set(name, lua.create_function(itself.clone())?)?;
    }
    meta.raw_set("__newindex", lua.create_function(|_, _: MultiValue| Ok(()))?)?;
    meta.raw_set("__tostring", lua.create_function(|_, _: MultiValue| Ok("(unknown)"))?)?;
    meta.raw_set("__concat", lua.create_function(concat)?)?;
    // A loop over what nobody knows has nothing to go over.
    meta.raw_set(
        "__iter",
        lua.create_function(|lua, _: MultiValue| lua.create_function(|_, _: MultiValue| Ok(())))?,
    )?;
    meta.raw_set("__len", lua.create_function(|_, _: MultiValue| Ok(0))?)?;
    meta.raw_set("__lt", lua.create_function(|_, _: MultiValue| Ok(false))?)?;
    meta.raw_set("__le", lua.create_function(|_, _: MultiValue| Ok(false))?)?;
    meta.raw_set("__metatable", "locked")?;
    value.set_metatable(Some(meta))?;
    Ok(value)
}

fn concat(lua: &Lua, (a, b): (Value, Value)) -> Result<String> {
    let budget = Budget::of(lua);
    Ok(format!("{}{}", budget.words(&a)?, budget.words(&b)?))
}

pub(crate) fn is_unknown(lua: &Lua, value: &Value) -> bool {
    matches!((value, unknown(lua)), (Value::Table(a), Value::Table(b)) if a.to_pointer() == b.to_pointer())
}

/// The line of Lua that called the function of ours that asks.
pub(crate) fn caller(lua: &Lua) -> Place {
    for level in 0..16 {
        let found = lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let name = source.source.as_deref().unwrap_or_default();
            match (debug.current_line(), name) {
                (Some(line), name) if line > 0 && !name.starts_with("=[") => Some(Place {
                    file: name.trim_start_matches(['@', '=']).to_owned(),
                    line: u32::try_from(line).unwrap_or(0),
                }),
                _ => None,
            }
        });
        match found {
            None => break,
            Some(Some(place)) => return place,
            Some(None) => {}
        }
    }
    Place::default()
}
