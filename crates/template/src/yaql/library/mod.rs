//! The functions of the language that there are here, by what they work on, and the names of those that
//! there are elsewhere only.

mod arguments;
mod branch;
mod collection;
mod dict;
mod format;
mod number;
pub(super) mod pattern;
mod query;
mod text;

use std::fmt;

use super::trouble::Trouble;
use super::value::Val;

pub(super) use arguments::Arguments;

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `f(x)`
    Function,
    /// `x.f()`
    Method,
    /// Either way; what it is asked of is the first argument of the function.
    Both,
}

/// A function. Its parameters are named without what it is asked of; `*` at the end takes any number of
/// values, `=>` any pairs.
pub(super) struct Builtin {
    pub name: &'static str,
    pub shape: Shape,
    pub parameters: &'static [&'static str],
    pub run: fn(&Arguments<'_>) -> Result<Val, Trouble>,
}

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Builtin {
    fn eq(&self, other: &Builtin) -> bool {
        self.name == other.name && self.shape == other.shape
    }
}

/// All tables, one for each module.
const TABLES: [&[Builtin]; 8] = [
    branch::TABLE,
    collection::TABLE,
    dict::TABLE,
    format::TABLE,
    number::TABLE,
    pattern::TABLE,
    query::TABLE,
    text::TABLE,
];

/// Functions of the whole language that are not here: those that give something else each time, that go on
/// for ever, that make functions, and what no template was seen to use.
const BEYOND: &[&str] = &[
    "assert",
    "bitwiseAnd",
    "bitwiseNot",
    "bitwiseOr",
    "bitwiseXor",
    "call",
    "characters",
    "cycle",
    "datetime",
    "def",
    "delete",
    "escapeRegex",
    "generate",
    "generateMany",
    "insert",
    "insertMany",
    "isDatetime",
    "isRegex",
    "isTimespan",
    "lambda",
    "localtz",
    "memorize",
    "now",
    "random",
    "replaceBy",
    "replaceMany",
    "sequence",
    "shiftBitsLeft",
    "shiftBitsRight",
    "timespan",
    "utctz",
];

/// Those of a name: one that is a function and one that is a method may share it.
pub(super) fn named(name: &str) -> impl Iterator<Item = &'static Builtin> {
    TABLES.into_iter().flatten().filter(move |builtin| builtin.name == name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().flatten().map(|builtin| builtin.name)
}

pub(super) fn is_beyond(name: &str) -> bool {
    BEYOND.contains(&name)
}
