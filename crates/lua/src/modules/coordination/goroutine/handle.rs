//! Handles: what a function that goes on by itself will return.
//!
//! A failure that nobody asked for is told when the step ends.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result, Table, UserData, Value};
use tokio::sync::Notify;

use super::super::{call, tasks};

pub(in super::super) type Outcome = std::result::Result<MultiValue, String>;

#[derive(Clone, Default)]
pub(in super::super) struct Handle(Rc<Promise>);

#[derive(Default)]
struct Promise {
    outcome: RefCell<Option<Outcome>>,
    changed: Notify,
    is_heard: Cell<bool>,
}

impl UserData for Handle {}

impl Handle {
    pub fn start(function: Function, arguments: MultiValue) -> Handle {
        let handle = Handle::default();
        let promise = Rc::clone(&handle.0);
        tasks().spawn(async move {
            let outcome = call(function, arguments).await;
            if let Err(error) = &outcome {
                let (promise, error) = (Rc::clone(&promise), error.clone());
                tasks().finally(move |on| {
                    if !promise.is_heard.get() {
                        on.complain(&format!("error: a goroutine nobody waited for: {error}"));
                    }
                });
            }
            *promise.outcome.borrow_mut() = Some(outcome);
            promise.changed.notify_waiters();
        });
        handle
    }

    pub async fn outcome(&self) -> Outcome {
        self.0.is_heard.set(true);
        loop {
            let changed = self.0.changed.notified();
            if let Some(outcome) = &*self.0.outcome.borrow() {
                return outcome.clone();
            }
            changed.await;
        }
    }

    /// What was given as a handle, or the handle of a function that is started now.
    pub fn of(what: &str, value: &Value) -> Result<Handle> {
        match value {
            Value::UserData(data) => {
                if let Ok(handle) = data.borrow::<Handle>() {
                    return Ok(handle.clone());
                }
            }
            Value::Function(function) => {
                return Ok(Handle::start(function.clone(), MultiValue::new()));
            }
            _ => {}
        }
        Err(mlua::Error::runtime(format!("{what} needs what goroutine.async gave, or a function")))
    }
}

/// One entry of what `await_all` gives.
fn report(lua: &Lua, outcome: Outcome) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("success", outcome.is_ok())?;
    match outcome {
        Ok(values) => {
            table.set("value", values.front().cloned().unwrap_or(Value::Nil))?;
            let list = lua.create_table()?;
            for (at, value) in values.into_iter().enumerate() {
                list.raw_set(at + 1, value)?;
            }
            table.set("values", list)?;
        }
        Err(error) => {
            table.set("values", lua.create_table()?)?;
            table.set("error", error)?;
        }
    }
    Ok(table)
}

/// What several came to, in the order of the list.
pub(in super::super) async fn all(lua: &Lua, what: &str, list: &Table) -> Result<Table> {
    let handles = list
        .sequence_values::<Value>()
        .map(|value| Handle::of(what, &value?))
        .collect::<Result<Vec<_>>>()?;
    let results = lua.create_table()?;
    for (at, handle) in handles.iter().enumerate() {
        results.raw_set(at + 1, report(lua, handle.outcome().await)?)?;
    }
    Ok(results)
}

/// The same, for at most so long; who is not done then has failed.
pub(super) async fn all_within(
    lua: Lua,
    list: Table,
    time: Option<std::time::Duration>,
) -> Result<MultiValue> {
    let Some(time) = time else {
        return all(&lua, "go.wait_all", &list).await?.into_lua_multi(&lua);
    };
    let over = tokio::time::Instant::now() + time;
    let results = lua.create_table()?;
    for (at, value) in list.sequence_values::<Value>().enumerate() {
        let handle = Handle::of("go.wait_all", &value?)?;
        let outcome = tokio::time::timeout_at(over, handle.outcome())
            .await
            .unwrap_or_else(|_| Err("timeout exceeded".to_owned()));
        results.raw_set(at + 1, report(&lua, outcome)?)?;
    }
    results.into_lua_multi(&lua)
}
