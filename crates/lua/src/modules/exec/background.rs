//! Programs that go on beside the body.
//!
//! A process is a table with its number and methods. It ends by itself, when it is killed, or with its step.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{IntoLuaMulti, Lua, MultiValue, Result, Table, Value};
use tokio::sync::{Notify, oneshot};

use super::super::{Ended, Started, tasks};
use super::{result, span};

/// How it is with a process.
#[derive(Default)]
struct Process {
    outcome: RefCell<Option<std::result::Result<Ended, String>>>,
    changed: Notify,
    kill: RefCell<Option<oneshot::Sender<()>>>,
}

impl Process {
    fn is_over(&self) -> bool {
        self.outcome.borrow().is_some()
    }

    async fn over(&self) {
        loop {
            let changed = self.changed.notified();
            if self.is_over() {
                return;
            }
            changed.await;
        }
    }

    /// What came of it.
    fn told(&self, lua: &Lua) -> Result<MultiValue> {
        match &*self.outcome.borrow() {
            None => (Value::Nil, "it still runs").into_lua_multi(lua),
            Some(Ok(ended)) => result(lua, ended)?.into_lua_multi(lua),
            Some(Err(why)) => (Value::Nil, why.as_str()).into_lua_multi(lua),
        }
    }
}

/// Lets a program go on by itself, and gives what it can be asked with.
pub(super) fn put_aside(lua: &Lua, started: Started) -> Result<Table> {
    let process = Rc::new(Process::default());
    let table = lua.create_table()?;
    table.raw_set("pid", started.pid())?;
    let (kill, asked) = oneshot::channel::<()>();
    *process.kill.borrow_mut() = Some(kill);
    tasks().spawn({
        let process = Rc::clone(&process);
        async move {
            let asked = async move {
                if asked.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            let ended = started.end_unless(asked).await.map_err(|error| error.to_string());
            *process.outcome.borrow_mut() = Some(ended);
            process.changed.notify_waiters();
        }
    });
    let method = Rc::clone(&process);
    table.raw_set("is_running", lua.create_function(move |_, ()| Ok(!method.is_over()))?)?;
    let method = Rc::clone(&process);
    let wait = lua.create_async_function(move |lua, args: MultiValue| {
        let process = Rc::clone(&method);
        async move {
            let time = args.into_iter().find(|value| !value.is_table()).unwrap_or(Value::Nil);
            match span("process:wait", &time)? {
                None => process.over().await,
                Some(time) => {
                    let _it_may_take_longer = tokio::time::timeout(time, process.over()).await;
                }
            }
            process.told(&lua)
        }
    })?;
    table.raw_set("wait", wait)?;
    let method = Rc::clone(&process);
    let kill = lua.create_async_function(move |lua, _: MultiValue| {
        let process = Rc::clone(&method);
        async move {
            if let Some(kill) = process.kill.borrow_mut().take() {
                let _it_may_have_ended = kill.send(());
            }
            process.over().await;
            process.told(&lua)
        }
    })?;
    table.raw_set("kill", kill)?;
    Ok(table)
}
