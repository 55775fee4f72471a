//! Intrinsic functions: a map with one key that names a function is called, everything else is data.
//!
//! Reading and calling are apart. [`parse`] finds the functions of a value, checks the shapes of their
//! arguments against the version of the template ([`Dialect`]), decides every `if` whose condition is known,
//! and says everything that is wrong at once. What it gives is an [`Expr`], which knows what it refers to
//! ([`Expr::references`]) without being called. [`Expr::resolve`] calls the functions, as late as the caller
//! likes and as often: it asks a [`Scope`] for everything that is not in the template, keeps nothing, and
//! changes nothing.
//!
//! `if` is not a function but a macro: the branch that is not taken is not even looked at, so that it may
//! refer to what does not exist. Where conditions cannot be decided yet, because the parameters are not
//! known, both branches are read and both count.
//!
//! A value can be [`Resolved::Absent`]: an `if` without a third argument whose condition does not hold. In a
//! list or a map it takes its place away with it; what it means for a whole value, the caller knows.
//!
//! Numbers, texts and comparisons behave as clients know them: `True == 1`, `str(1.0)` is `1.0`, JSON is
//! written with sorted keys and a space after each comma (`python`).
//!
//! **Nothing here can run away.** How deep functions stand within each other is bounded ([`DEPTH_MAX`]), and
//! so is what one resolution may produce on the way to its result ([`SIZE_MAX`]): every function pays for
//! what it makes before it makes it. There is no recursion but along the value, and no loop but along data
//! that was paid for.

mod digest;
mod list;
mod logic;
mod lookup;
mod map;
mod repeat;
mod text;
mod url;

mod dialect;
mod form;
mod meter;
mod parse;
pub(crate) mod python;
mod reference;
mod scope;

use serde_json::{Map, Value};

use crate::place::{Path, Place};

pub use dialect::Dialect;
pub(crate) use logic::names as condition_names;
pub use meter::{DEPTH_MAX, SIZE_MAX};
pub use parse::{parse, parse_condition};
pub use reference::{Reference, References};
pub use scope::{Conditions, Facade, NoConditions, ResolveError, Scope, select};

use form::Form;
use meter::Meter;

/// A value in which functions were found and their arguments' shapes checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// No function is in it.
    Plain(Value),
    List(Vec<Expr>),
    Map(Vec<(String, Expr)>),
    Call(Box<Call>),
    /// What an `if` without a third argument is when its condition does not hold.
    Absent,
}

/// A function with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// As the template calls it.
    pub name: &'static str,
    /// Where the map stands that is the call; the name is not part of it.
    pub at: Path,
    pub place: Option<Place>,
    pub(crate) form: Form,
}

/// What became of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    Value(Value),
    /// As if nobody had written it.
    Absent,
}

impl Resolved {
    /// The value; nothing where it is absent.
    pub fn or_null(self) -> Value {
        match self {
            Resolved::Value(value) => value,
            Resolved::Absent => Value::Null,
        }
    }
}

/// What a resolution has at hand.
pub(crate) struct Context<'c> {
    pub scope: &'c dyn Scope,
    pub conditions: &'c dyn Conditions,
    pub meter: Meter,
}

impl Expr {
    /// Whether no function has to be called.
    pub fn is_plain(&self) -> bool {
        matches!(self, Expr::Plain(_))
    }

    /// Calls the functions.
    pub fn resolve(&self, scope: &dyn Scope) -> Result<Resolved, ResolveError> {
        self.resolve_with(scope, &NoConditions)
    }

    /// Calls the functions, among them those that ask for conditions by name.
    pub fn resolve_with(
        &self,
        scope: &dyn Scope,
        conditions: &dyn Conditions,
    ) -> Result<Resolved, ResolveError> {
        let context = Context { scope, conditions, meter: Meter::new() };
        Ok(match self.or_absent(&context)? {
            Some(value) => Resolved::Value(value),
            None => Resolved::Absent,
        })
    }

    /// The value; nothing when it is absent.
    pub(crate) fn value(&self, context: &Context<'_>) -> Result<Value, ResolveError> {
        Ok(self.or_absent(context)?.unwrap_or(Value::Null))
    }

    pub(crate) fn or_absent(&self, context: &Context<'_>) -> Result<Option<Value>, ResolveError> {
        Ok(Some(match self {
            Expr::Absent => return Ok(None),
            Expr::Plain(value) => {
                context.meter.take(value)?;
                value.clone()
            }
            Expr::List(items) => Value::Array(values(items, context)?),
            Expr::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, item) in entries {
                    if let Some(value) = item.or_absent(context)? {
                        context.meter.pay(key.len())?;
                        map.insert(key.clone(), value);
                    }
                }
                Value::Object(map)
            }
            Expr::Call(call) => {
                let result = call.form.resolve(call, context);
                return result.map_err(|error| error.within(&call.path()));
            }
        }))
    }

    /// The items, when this is a list; functions in it stay as they are.
    pub(crate) fn into_items(self) -> Result<Vec<Expr>, Expr> {
        match self {
            Expr::List(items) => Ok(items),
            Expr::Plain(Value::Array(items)) => Ok(items.into_iter().map(Expr::Plain).collect()),
            other => Err(other),
        }
    }

    /// The entries, when this is a map.
    pub(crate) fn into_entries(self) -> Result<Vec<(String, Expr)>, Expr> {
        match self {
            Expr::Map(entries) => Ok(entries),
            Expr::Plain(Value::Object(map)) => {
                Ok(map.into_iter().map(|(key, value)| (key, Expr::Plain(value))).collect())
            }
            other => Err(other),
        }
    }

    pub(crate) fn is_call(&self) -> bool {
        matches!(self, Expr::Call(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Expr::List(_) | Expr::Plain(Value::Array(_)))
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self, Expr::Map(_) | Expr::Plain(Value::Object(_)))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Expr::Plain(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Nothing, or empty.
    pub(crate) fn is_void(&self) -> bool {
        match self {
            Expr::Plain(value) => !python::is_true(value),
            Expr::List(items) => items.is_empty(),
            Expr::Map(entries) => entries.is_empty(),
            Expr::Call(_) => false,
            Expr::Absent => true,
        }
    }
}

impl Call {
    /// Where the arguments stand.
    pub fn path(&self) -> Path {
        self.at.key(self.name)
    }
}

/// The values of items, without those that are absent.
pub(crate) fn values(items: &[Expr], context: &Context<'_>) -> Result<Vec<Value>, ResolveError> {
    let mut list = Vec::with_capacity(items.len());
    for item in items {
        list.extend(item.or_absent(context)?);
    }
    context.meter.pay(0)?;
    Ok(list)
}
