//! How much may be made of what a file gives, outside of the interpreter.
//!
//! The allocator of an interpreter counts what lies in it, and nothing else. A table that a file made is small even where
//! it lies in itself, or a thousand times in another; whoever walks through it, or makes texts of it, makes all of that
//! again. So every walk through a table of a file, and everything whose size a file chooses, is charged to a budget
//! before it is made: what is over it is an error at that place. A budget also looks at the clock now and then, because
//! no interrupt comes while we walk.

use std::cell::Cell;

use mlua::{Error, Lua, LuaString, Result, Value};

use crate::stage::{Scene, Stage};
use crate::value;
use crate::vm::{Deadline, OUT_OF_TIME};

/// What a value takes besides its text.
pub(crate) const NODE: usize = 64;
/// What a table takes besides what is in it.
pub(crate) const TABLE: usize = 192;
/// What is told when there is too much of it.
const TOO_MUCH: &str = "it takes too much memory";
/// Where nobody says how much.
const PLENTY: usize = 256 << 20;
/// How often it is charged between two looks at the clock.
const LOOK: u32 = 4096;
/// Texts up to here are taken without a look at what is allowed.
const SHORT: usize = 64 << 10;

/// What an interpreter is held to, kept beside it.
pub(crate) struct Bounds {
    /// Bytes; 0 is without bound.
    pub memory: usize,
    pub deadline: Deadline,
}

/// What may still be made.
pub(crate) struct Budget {
    left: Cell<usize>,
    until_look: Cell<u32>,
    deadline: Option<Deadline>,
}

/// For whoever acts: nothing that a machine cannot bear.
impl Default for Budget {
    fn default() -> Budget {
        Budget { left: Cell::new(PLENTY), until_look: Cell::new(LOOK), deadline: None }
    }
}

impl Budget {
    /// As much as the interpreter itself may hold.
    pub fn of(lua: &Lua) -> Budget {
        match lua.app_data_ref::<Bounds>() {
            None => Budget::default(),
            Some(bounds) => Budget {
                left: Cell::new(if bounds.memory == 0 { PLENTY } else { bounds.memory }),
                until_look: Cell::new(LOOK),
                deadline: Some(bounds.deadline.clone()),
            },
        }
    }

    /// Charges for what is about to be made.
    pub fn take(&self, bytes: usize) -> Result<()> {
        let looks = self.until_look.get().checked_sub(1);
        self.until_look.set(looks.unwrap_or(LOOK));
        if looks.is_none() && self.deadline.as_ref().is_some_and(Deadline::is_over) {
            return Err(Error::runtime(OUT_OF_TIME));
        }
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(too_much()),
        }
    }

    /// So many of something, each of a size.
    pub fn take_each(&self, count: usize, bytes: usize) -> Result<()> {
        self.take(count.saturating_mul(bytes))
    }

    /// A string as text, whatever its bytes.
    pub fn text(&self, string: &LuaString) -> Result<String> {
        self.take(NODE + string.as_bytes().len())?;
        Ok(value::text(string))
    }

    /// What a value is as a text.
    pub fn words(&self, value: &Value) -> Result<String> {
        match value {
            Value::String(string) => self.text(string),
            other => {
                let words = value::words(other)?;
                self.take(NODE + words.len())?;
                Ok(words)
            }
        }
    }
}

pub(crate) fn too_much() -> Error {
    Error::MemoryError(TOO_MUCH.to_owned())
}

/// Looks whether a function of ours takes a text of this length. What is made of a text is a few times as long, and while
/// a file is defined there may be many files that are.
pub(crate) fn check_length(lua: &Lua, length: usize) -> Result<()> {
    if length <= SHORT {
        return Ok(());
    }
    let memory = lua.app_data_ref::<Bounds>().map_or(0, |bounds| bounds.memory);
    let part = if Scene::of(lua).stage.get() == Stage::Defining { 8 } else { 2 };
    if memory == 0 || length <= memory / part {
        return Ok(());
    }
    let most = (memory / part) >> 20;
    Err(Error::runtime(format!("the text is longer than {most} MiB, which is too long here")))
}
