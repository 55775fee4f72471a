//! `goroutine` and `go`: functions that go on at the same time.
//!
//! A goroutine is a coroutine of the interpreter that runs as a task of its own on the thread of the step. Whatever
//! waits lets the others go on; a loop that does not wait keeps the goroutines of its own step waiting, and no other step. What is
//! still going when the step ends is ended with it.

mod channel;
mod context;
mod described;
mod flow;
mod handle;
mod pool;
mod select;
mod sync;

use std::cell::Cell;
use std::time::Duration;

use futures::future::join_all;
use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result, Table, UserDataRef, Value, Variadic};
use tokio::sync::Semaphore;

use super::{Described, Installer, Module, acting, at_least_one, call, millis, said, span, tasks};
use crate::stage::Scene;
use channel::{Channel, Direction, receive_from, send_to};
use context::Context;
use flow::{carry, closing, work};
pub(super) use handle::{Handle, Outcome, all};
use select::Choice;
use sync::{AtomicInt, Cond, Mutex, Once, RwMutex, Tokens, WaitGroup};

pub(crate) const MODULE: Module = Module {
    name: "goroutine",
    about: "Functions that go on at the same time, and what they agree with. They act for the step that started them, share its variables, and end with it at the latest. Numbers of time are milliseconds; a text such as `2s` is understood too.",
    functions: described::GOROUTINE,
    install,
};

pub(crate) const GO: Module = Module {
    name: "go",
    about: "Functions that go on at the same time, in two words.",
    functions: described::GO,
    install: install_go,
};

/// While a file is defined nobody can wait: what a method answers then.
fn idle(lua: &Lua, what: &str) -> Option<Value> {
    Scene::of(lua).deferral(lua, what)
}

/// Starts a function; what it raises is told.
fn spawn(function: Function, arguments: MultiValue) {
    tasks().spawn(async move {
        if let Err(error) = call(function, arguments).await {
            acting().complain(&format!("error: a goroutine: {error}"));
        }
    });
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    starting(module)?;
    pools(module)?;
    channels(module)?;
    agreeing(module)?;
    flowing(module)
}

fn install_go(module: &mut Installer<'_>) -> Result<()> {
    module.act("create", |_, (function, arguments): (Function, Variadic<Value>)| {
        Ok(Handle::start(function, arguments.into_iter().collect()))
    })?;
    module.act_async("wait_all", |lua, (list, time): (Table, Value)| async move {
        let time = span("go.wait_all", &time)?;
        handle::all_within(lua, list, time).await
    })
}

fn starting(module: &mut Installer<'_>) -> Result<()> {
    module.act("spawn", |_, (function, arguments): (Function, Variadic<Value>)| {
        spawn(function, arguments.into_iter().collect());
        Ok(true)
    })?;
    module.act("spawn_many", |lua, (count, function): (Value, Function)| {
        for id in 1..=at_least_one("goroutine.spawn_many", &count, 1)? {
            spawn(function.clone(), id.into_lua_multi(lua)?);
        }
        Ok(true)
    })?;
    module.act("async", |_, (function, arguments): (Function, Variadic<Value>)| {
        Ok(Handle::start(function, arguments.into_iter().collect()))
    })?;
    module.act_async("await", |lua, handle: Value| async move {
        let outcome = Handle::of("goroutine.await", &handle)?.outcome().await;
        said(&lua, outcome)
    })?;
    module.act_async("await_all", |lua, list: Table| async move {
        all(&lua, "goroutine.await_all", &list).await
    })?;
    module.act_async("sleep", |_, time: Value| async move {
        tokio::time::sleep(millis("goroutine.sleep", &time)?).await;
        Ok(())
    })?;
    module.act_async("timeout", |lua, (time, function): (Value, Function)| async move {
        within(&lua, millis("goroutine.timeout", &time)?, function).await
    })?;
    module.act_async("map", |lua, (list, function, options): (Table, Function, Option<Table>)| {
        map(lua, list, function, options)
    })
}

/// Runs a function for at most so long: `true` and what it returned, or `false` and why not.
pub(super) async fn within(lua: &Lua, time: Duration, function: Function) -> Result<MultiValue> {
    let outcome = tokio::time::timeout(time, call(function, MultiValue::new())).await;
    said(lua, outcome.unwrap_or_else(|_| Err("timeout exceeded".to_owned())))
}

/// Calls functions at the same time, so many at once; what each came to, in their order.
pub(super) async fn at_once(calls: Vec<(Function, MultiValue)>, most: usize) -> Vec<Outcome> {
    let turns = Semaphore::new(most);
    let turns = &turns;
    join_all(calls.into_iter().map(|(function, arguments)| async move {
        let _turn = turns.acquire().await;
        call(function, arguments).await
    }))
    .await
}

async fn map(lua: Lua, list: Table, function: Function, options: Option<Table>) -> Result<Table> {
    let mut calls = Vec::new();
    for (at, item) in list.sequence_values::<Value>().enumerate() {
        calls.push((function.clone(), (item?, at + 1).into_lua_multi(&lua)?));
    }
    let most = match options {
        Some(options) => options.get::<Value>("concurrency")?,
        None => Value::Nil,
    };
    let count = calls.len();
    let most = at_least_one("goroutine.map: concurrency", &most, count.max(1))?;
    let results = lua.create_table()?;
    let mut failures = Vec::new();
    for (at, outcome) in at_once(calls, most).await.into_iter().enumerate() {
        match outcome {
            Ok(values) => results.raw_set(at + 1, values.front().cloned().unwrap_or(Value::Nil))?,
            Err(error) => failures.push(format!("item {}: {error}", at + 1)),
        }
    }
    if failures.is_empty() {
        return Ok(results);
    }
    let (failed, told) = (failures.len(), failures.join("; "));
    Err(mlua::Error::runtime(format!("goroutine.map: {failed} of {count} failed: {told}")))
}

fn pools(module: &mut Installer<'_>) -> Result<()> {
    module.act("pool_create", |_, (name, options): (String, Option<Table>)| {
        let workers = match options {
            Some(options) => options.get::<Value>("workers")?,
            None => Value::Nil,
        };
        Ok(pool::create(name, at_least_one("goroutine.pool_create: workers", &workers, 10)?))
    })?;
    module.act("pool_submit", |_, (name, function): (String, Function)| {
        pool::submit(&name, function)
    })?;
    module.act_async("pool_wait", |_, name: String| pool::wait(name))?;
    module.act_async("pool_close", |_, name: String| pool::close(name))?;
    module.act("pool_stats", |lua, name: String| pool::stats(lua, &name))
}

fn channels(module: &mut Installer<'_>) -> Result<()> {
    module.pure("channel", |_, (capacity, direction): (Option<usize>, Option<String>)| {
        let direction =
            Direction::named(direction.as_deref().unwrap_or_default()).ok_or_else(|| {
                mlua::Error::runtime(
                    "goroutine.channel: the direction is \"send\", \"receive\" or \"both\"",
                )
            })?;
        Ok(Channel::new(capacity.unwrap_or(0), direction))
    })?;
    module.act_async("channel_send", |lua, (to, value): (UserDataRef<Channel>, Value)| {
        send_to(lua, to.clone(), value)
    })?;
    module.act_async("channel_receive", |lua, from: UserDataRef<Channel>| {
        receive_from(lua, from.clone())
    })?;
    module.pure("channel_close", |_, channel: UserDataRef<Channel>| Ok(channel.close()))?;
    module.pure("channel_len", |_, channel: UserDataRef<Channel>| Ok(channel.len()))?;
    module.pure("channel_cap", |_, channel: UserDataRef<Channel>| Ok(channel.capacity()))?;
    module.act_async("select", |_, cases: Table| async move {
        let (place, mut values) = Choice::read("goroutine.select", &cases)?.make().await?;
        values.push_front(number(place));
        Ok(values)
    })?;
    module.act_async("select_timeout", |lua, (time, cases): (Value, Table)| async move {
        let time = millis("goroutine.select_timeout", &time)?;
        let choice = Choice::read("goroutine.select_timeout", &cases)?;
        let Some((place, mut values)) = choice.make_within(time).await? else {
            return true.into_lua_multi(&lua);
        };
        values.push_front(number(place));
        values.push_front(Value::Boolean(false));
        Ok(values)
    })
}

fn number(place: usize) -> Value {
    Value::Number(u32::try_from(place).map_or(f64::INFINITY, f64::from))
}

fn agreeing(module: &mut Installer<'_>) -> Result<()> {
    module.pure("wait_group", |_, ()| Ok(WaitGroup::default()))?;
    module.pure("mutex", |_, ()| Ok(Mutex::default()))?;
    module.pure("rwmutex", |_, ()| Ok(RwMutex::default()))?;
    module.pure("semaphore", |_, tokens: Value| {
        let tokens = at_least_one("goroutine.semaphore: the number of tokens", &tokens, 1)?;
        Ok(Tokens::new(u32::try_from(tokens).unwrap_or(u32::MAX)))
    })?;
    module
        .pure("atomic_int", |_, value: Option<i64>| Ok(AtomicInt(Cell::new(value.unwrap_or(0)))))?;
    module.pure("once", |_, ()| Ok(Once::default()))?;
    module.pure("cond", |_, mutex: Value| Ok(Cond::new(sync::given_mutex(&mutex))))?;
    module.pure("context", |lua, ()| Context::new(None, None).with_cancel(lua))
}

fn flowing(module: &mut Installer<'_>) -> Result<()> {
    module.act("pipeline", |_, (input, stages): (UserDataRef<Channel>, Table)| {
        let mut from = input.clone();
        for (at, stage) in stages.sequence_values::<Table>().enumerate() {
            let stage = stage?;
            let Some(function) = stage.get::<Option<Function>>("fn")? else {
                return Err(mlua::Error::runtime(format!(
                    "goroutine.pipeline: stage {} needs fn = function(value) ... end",
                    at + 1
                )));
            };
            let workers: Value = stage.get("workers")?;
            let workers = at_least_one("goroutine.pipeline: workers", &workers, 1)?;
            let to = Channel::new(0, Direction::Both);
            let each = (0..workers).map(|_| work(from.clone(), to.clone(), function.clone()));
            closing(to.clone(), each);
            from = to;
        }
        Ok(from)
    })?;
    module.act("fan_out", |lua, (input, count): (UserDataRef<Channel>, Value)| {
        let list = lua.create_table()?;
        for at in 1..=at_least_one("goroutine.fan_out", &count, 1)? {
            let to = Channel::new(0, Direction::Both);
            closing(to.clone(), std::iter::once(carry(input.clone(), to.clone())));
            list.raw_set(at, to)?;
        }
        Ok(list)
    })?;
    module.act("fan_in", |_, list: Table| {
        let to = Channel::new(0, Direction::Both);
        let each = list
            .sequence_values::<UserDataRef<Channel>>()
            .map(|from| Ok(carry(from?.clone(), to.clone())))
            .collect::<Result<Vec<_>>>()?;
        closing(to.clone(), each);
        Ok(to)
    })
}
