//! What works together: things at the same time, trying again, state, events, measurements, messages.
//!
//! Goroutines are coroutines of the interpreter, each a task of the thread that the step runs on: whatever waits lets
//! the others go on. They act for the step that started them and end with it (`modules::acting`). What is shared with
//! others than the step goes through [`services`].

pub mod services;

mod asynchronous;
mod breaker;
mod clock;
mod email;
mod event;
mod export;
mod goroutine;
mod instruments;
mod locks;
mod machine;
mod metrics;
mod notifications;
mod observability;
mod parallel;
mod perf;
mod reliability;
mod stack;
mod state;
mod traces;
mod watcher;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result, Value};

pub(crate) use parallel::parallel;
pub use services::Services;

use self::services::Rehearsal;
use super::{Described, Installer, Module, acting, tasks};

pub(super) const MODULES: &[&Module] = &[
    &goroutine::MODULE,
    &goroutine::GO,
    &asynchronous::MODULE,
    &reliability::MODULE,
    &reliability::CIRCUIT,
    &perf::MODULE,
    &state::MODULE,
    &event::MODULE,
    &watcher::MODULE,
    &metrics::MODULE,
    &observability::MODULE,
    &notifications::MODULE,
    &notifications::NOTIFICATION,
    &notifications::NOTIFY,
    &stack::MODULE,
    &export::MODULE,
];

/// The services of the step that runs; in check mode they change nothing.
fn services() -> Rc<dyn Services> {
    let on = acting();
    if !on.check {
        return Rc::clone(&on.services);
    }
    let kept = tasks().kept::<RefCell<Option<Rc<Rehearsal>>>>();
    let mut rehearsal = kept.borrow_mut();
    let one = rehearsal.get_or_insert_with(|| {
        Rc::new(Rehearsal::new(Rc::clone(&on.services), Rc::clone(&on.sink)))
    });
    Rc::clone(one) as Rc<dyn Services>
}

/// One of its kind for everything that an interpreter runs.
fn kept<T: Default + 'static>(lua: &Lua) -> Rc<T> {
    if let Some(found) = lua.app_data_ref::<Rc<T>>() {
        return Rc::clone(&found);
    }
    let made = Rc::new(T::default());
    lua.set_app_data(Rc::clone(&made));
    made
}

/// Calls a function of the file; what it raises is a text.
async fn call(
    function: Function,
    arguments: MultiValue,
) -> std::result::Result<MultiValue, String> {
    function.call_async::<MultiValue>(arguments).await.map_err(|error| told(&error))
}

/// An error of the interpreter for people.
fn told(error: &mlua::Error) -> String {
    let mistake = crate::diagnose::from_error(error, "");
    if mistake.place.is_unknown() {
        mistake.detail
    } else {
        format!("{} ({})", mistake.detail, mistake.place)
    }
}

/// The text of what a call returned as its error: `nil, error`, `false, error` and a lone `false` are failures.
fn failure(returned: &MultiValue) -> Option<String> {
    let second = returned.get(1).filter(|value| !value.is_nil());
    match (returned.front(), second) {
        (None | Some(Value::Nil | Value::Boolean(false)), Some(error)) => {
            Some(error.to_string().unwrap_or_else(|_| "it failed".to_owned()))
        }
        (Some(Value::Boolean(false)), None) => Some("it returned false".to_owned()),
        _ => None,
    }
}

/// A length of time as files write it: seconds, or a text such as `500ms`.
fn span(function: &str, value: &Value) -> Result<Option<Duration>> {
    let span = crate::define::span_of(value)
        .map_err(|error| mlua::Error::runtime(format!("{function}: {error}")))?;
    Ok(span.map(Into::into))
}

/// The same where a number is milliseconds.
fn millis(function: &str, value: &Value) -> Result<Duration> {
    let number = match value {
        Value::Integer(millis) => *millis as f64,
        Value::Number(millis) => *millis,
        other => {
            return span(function, other)?.ok_or_else(|| {
                mlua::Error::runtime(format!("{function} needs a number of milliseconds"))
            });
        }
    };
    Duration::try_from_secs_f64(number / 1e3).map_err(|_| {
        mlua::Error::runtime(format!("{function}: {number} milliseconds is no length of time"))
    })
}

/// Milliseconds, for people and files.
fn in_millis(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}

/// A count that is at least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was looked at")]
fn at_least_one(what: &str, value: &Value, default: usize) -> Result<usize> {
    let number = match value {
        Value::Nil => return Ok(default),
        Value::Integer(number) => *number as f64,
        Value::Number(number) => *number,
        _ => f64::NAN,
    };
    if number.fract() == 0.0 && (1.0..=1e6).contains(&number) {
        Ok(number as usize)
    } else {
        Err(mlua::Error::runtime(format!("{what} has to be a whole number of at least 1")))
    }
}

/// Lets a module be called like one of its functions.
fn callable(module: &Installer<'_>, name: &str) -> Result<()> {
    let function: Function = module.table.raw_get(name)?;
    let meta = module.lua.create_table()?;
    let call: Function = module
        .lua
        .load("local f = ... return function(_, ...) return f(...) end")
        .set_name("=[call]")
        .call(function)?;
    meta.set("__call", call)?;
    module.table.set_metatable(Some(meta))
}

/// `true, values` or `false, error`.
fn said(lua: &Lua, outcome: std::result::Result<MultiValue, String>) -> Result<MultiValue> {
    match outcome {
        Ok(mut values) => {
            values.push_front(Value::Boolean(true));
            Ok(values)
        }
        Err(error) => (false, error).into_lua_multi(lua),
    }
}
