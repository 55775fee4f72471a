//! `state`: what is kept between steps, executions and machines, and locks.

use std::time::Duration;

use hostler_model::Span;
use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result, Value};
use serde_json::Value as Json;

use super::services::codec::{bytes_of, of_bytes};
use super::services::{Change, Changed, Entry, Pattern, ServiceError};
use super::{Described, Installer, Module, clock, locks, services, span};
use crate::value::{to_json, words};

pub(crate) const MODULE: Module = Module {
    name: "state",
    about: "What is kept between steps, executions and machines under a key, and locks. Values are strings of any bytes and what JSON knows, and come back as they were. On nodes of a server they are those of the project, in the namespace `default` (`hostler state`, `hostler lock`). Changes of one entry are done in one go, whoever else changes it. A time to live is in seconds, or a text such as `5m`; an entry is gone exactly when it is over.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "set",
        signature: "(key, value[, ttl]) -> true | false, error",
        about: "Keeps a value, for ever or for so long.",
        example: "assert(state.set('app.version', '1.2'))\nstate.set('app.hosts', { 'a', 'b' }, 60)\nassert(state.get('app.version') == '1.2' and state.get('app.hosts')[2] == 'b')",
    },
    Described {
        name: "set_with_ttl",
        signature: "(key, value, ttl) -> true | false, error",
        about: "The same with a time to live.",
        example: "state.set_with_ttl('token', 'x', 60)\nassert(state.get_ttl('token') == 60)",
    },
    Described {
        name: "get",
        signature: "(key[, default]) -> value | nil, error",
        about: "What is kept under a key.",
        example: "assert(state.get('none') == nil and state.get('none', 7) == 7)\nstate.set('t', { a = { 1, 2 } })\nassert(state.get('t').a[2] == 2)",
    },
    Described {
        name: "delete",
        signature: "(key) -> true, existed | false, error",
        about: "Forgets an entry.",
        example: "state.set('x', 1)\nlocal ok, existed = state.delete('x')\nassert(ok and existed and not state.exists('x'))",
    },
    Described {
        name: "exists",
        signature: "(key) -> boolean",
        about: "Whether there is an entry.",
        example: "state.set('x', false)\nassert(state.exists('x') and not state.exists('y'))",
    },
    Described {
        name: "has",
        signature: "(key) -> boolean",
        about: "The same as `state.exists`.",
        example: "assert(not state.has('y'))",
    },
    Described {
        name: "keys",
        signature: "([pattern]) -> keys | entries",
        about: "The sorted keys that match a pattern in which `*` stands for any text; all without one. A text without `*` is the beginning of keys, and gives a table of these keys and their values.",
        example: "state.set('a.1', 'x')\nstate.set('a.2', 'y')\nstate.set('b', 'z')\nassert(table.concat(state.keys('a.*'), ' ') == 'a.1 a.2')\nassert(#state.keys() == 3)\nassert(state.keys('a.')['a.2'] == 'y')",
    },
    Described {
        name: "get_all",
        signature: "([pattern]) -> entries",
        about: "A table of keys and values.",
        example: "state.set('a.1', 'x')\nstate.set('b', 2)\nassert(state.get_all()['b'] == 2 and state.get_all('a.*')['b'] == nil)",
    },
    Described {
        name: "clear",
        signature: "([pattern]) -> true, count | false, error",
        about: "Forgets every entry that matches; all without a pattern.",
        example: "state.set('a.1', 1)\nstate.set('b', 1)\nlocal ok, n = state.clear('a.*')\nassert(ok and n == 1 and state.exists('b'))",
    },
    Described {
        name: "set_ttl",
        signature: "(key, ttl) -> boolean",
        about: "Lets an entry live so long from now on, or for ever without a time; false when there is none.",
        example: "state.set('x', 1)\nassert(state.set_ttl('x', 10) and state.get_ttl('x') == 10)\nassert(state.set_ttl('x') and state.get_ttl('x') == -1)",
    },
    Described {
        name: "get_ttl",
        signature: "(key) -> seconds",
        about: "How long an entry lives, rounded up to whole seconds: -1 for ever, -2 when there is none.",
        example: "state.set('x', 1)\nassert(state.get_ttl('x') == -1 and state.get_ttl('none') == -2)",
    },
    Described {
        name: "ttl",
        signature: "(key) -> seconds",
        about: "The same as `state.get_ttl`.",
        example: "assert(state.ttl('none') == -2)",
    },
    Described {
        name: "increment",
        signature: "(key[, delta = 1]) -> number | nil, error",
        about: "Adds to a number, which begins at 0, and gives the new one.",
        example: "assert(state.increment('n') == 1 and state.increment('n', 4) == 5)\nstate.set('word', 'x')\nlocal none, err = state.increment('word')\nassert(none == nil and err:find('not a number'))",
    },
    Described {
        name: "decrement",
        signature: "(key[, delta = 1]) -> number | nil, error",
        about: "Subtracts from a number.",
        example: "assert(state.decrement('n', 2) == -2)",
    },
    Described {
        name: "append",
        signature: "(key, text) -> length | nil, error",
        about: "Puts text at the end of a text, and gives its length.",
        example: "state.append('log', 'ab')\nassert(state.append('log', 'c') == 3 and state.get('log') == 'abc')",
    },
    Described {
        name: "compare_swap",
        signature: "(key, old, new) -> boolean",
        about: "Sets a value only where the old one is there; nil is no entry.",
        example: "assert(state.compare_swap('leader', nil, 'a'))\nassert(not state.compare_swap('leader', 'b', 'c'))\nassert(state.compare_swap('leader', 'a', 'c') and state.get('leader') == 'c')",
    },
    Described {
        name: "list_push",
        signature: "(key, value) -> length | nil, error",
        about: "Puts a value at the end of a list.",
        example: "state.list_push('queue', 'a')\nassert(state.list_push('queue', { id = 2 }) == 2)",
    },
    Described {
        name: "list_pop",
        signature: "(key) -> value | nil",
        about: "Takes the value at the end of a list.",
        example: "state.set('queue', { 'a', 'b' })\nassert(state.list_pop('queue') == 'b' and state.list_pop('queue') == 'a' and state.list_pop('queue') == nil)",
    },
    Described {
        name: "list_length",
        signature: "(key) -> number | nil, error",
        about: "How many values a list has; 0 when there is none.",
        example: "state.set('queue', { 'a', 'b' })\nassert(state.list_length('queue') == 2 and state.list_length('none') == 0)",
    },
    Described {
        name: "stats",
        signature: "() -> { total_keys, total_size, last_modified, backend }",
        about: "How much is kept; the size is that of keys and values in bytes, the time is seconds since 1970.",
        example: "state.set('ab', 'xyz')\nlocal s = state.stats()\nassert(s.total_keys == 1 and s.total_size == 7 and s.last_modified > 0 and s.backend == 'local')",
    },
    Described {
        name: "try_lock",
        signature: "(name[, ttl]) -> true, number | false, error",
        about: "Takes a lock if it is free, for so long; without a time until `state.unlock` or the end of the step. The number is larger than that of everybody who held the lock before: give it to what the lock protects, so that a late word of an earlier holder can be told from yours.",
        example: "assert(state.try_lock('deploy', 60))\nlocal ok, err = state.try_lock('deploy', 60)\nassert(not ok and err:find('held by'))",
    },
    Described {
        name: "lock",
        signature: "(name[, timeout]) -> true, number | false, error",
        about: "Waits for a lock, however long or for so long, and takes it until `state.unlock` or the end of the step. Whoever dies with a lock holds it for 30 seconds more. The number is that of `state.try_lock`.",
        example: "local ok, first = state.lock('deploy')\nassert(ok and not state.lock('deploy', 0.01))\nstate.unlock('deploy')\nlocal _, second = state.lock('deploy', 1)\nassert(second > first)",
    },
    Described {
        name: "unlock",
        signature: "(name) -> true | false, error",
        about: "Gives a lock back that this step holds.",
        example: "state.lock('deploy')\nassert(state.unlock('deploy') and not state.unlock('deploy'))",
    },
    Described {
        name: "with_lock",
        signature: "(name, fn[, timeout]) -> values... | nil, error",
        about: "Calls a function while a lock is held, and gives it back whatever happens. The function is given the number of `state.try_lock`.",
        example: "local r = state.with_lock('deploy', function(number)\n  assert(number > 0 and not state.try_lock('deploy'))\n  return 'done'\nend)\nassert(r == 'done' and state.try_lock('deploy', 1))",
    },
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    entries(module)?;
    lists(module)?;
    counting(module)?;
    locking(module)
}

/// `true` and more, or `false` and why not.
fn done<T: IntoLuaMulti>(
    lua: &Lua,
    outcome: std::result::Result<T, ServiceError>,
) -> Result<MultiValue> {
    match outcome {
        Ok(more) => {
            let mut values = more.into_lua_multi(lua)?;
            values.push_front(Value::Boolean(true));
            Ok(values)
        }
        Err(error) => (false, error.to_string()).into_lua_multi(lua),
    }
}

/// What was asked for, or `nil` and why not.
fn found<T: IntoLuaMulti>(
    lua: &Lua,
    outcome: std::result::Result<T, ServiceError>,
) -> Result<MultiValue> {
    match outcome {
        Ok(values) => values.into_lua_multi(lua),
        Err(error) => (Value::Nil, error.to_string()).into_lua_multi(lua),
    }
}

fn ttl_of(function: &str, value: &Value) -> Result<Option<Span>> {
    let length = span(function, value)?;
    Ok(length
        .map(|length| Span::from_millis(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))))
}

/// A value as it is kept; a string of any bytes is one too.
fn kept(value: &Value) -> Result<Json> {
    Ok(match value {
        Value::String(string) if std::str::from_utf8(&string.as_bytes()).is_err() => {
            of_bytes(&string.as_bytes())
        }
        other => to_json(other)?,
    })
}

/// What is kept as a value.
fn given(lua: &Lua, kept: &Json) -> Result<Value> {
    match bytes_of(kept) {
        Some(bytes) => Ok(Value::String(lua.create_string(bytes)?)),
        None => crate::value::from_json(lua, kept),
    }
}

async fn change(key: &str, change: Change) -> std::result::Result<Changed, ServiceError> {
    services().state_change(key, change).await
}

fn entries(module: &mut Installer<'_>) -> Result<()> {
    for (name, what) in [("set", "state.set"), ("set_with_ttl", "state.set_with_ttl")] {
        module.act_async(
            name,
            move |lua, (key, value, ttl): (String, Value, Value)| async move {
                let set = Change::Set { value: kept(&value)?, ttl: ttl_of(what, &ttl)? };
                done(&lua, change(&key, set).await.map(|_| ()))
            },
        )?;
    }
    module.act_async("get", |lua, (key, default): (String, Value)| async move {
        match services().state_get(&key).await {
            Ok(Some(entry)) => given(&lua, &entry.value)?.into_lua_multi(&lua),
            Ok(None) => default.into_lua_multi(&lua),
            Err(error) => (Value::Nil, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("delete", |lua, key: String| async move {
        done(&lua, change(&key, Change::Delete).await.map(|changed| changed.is_applied))
    })?;
    for name in ["exists", "has"] {
        module.act_async(name, |lua, key: String| async move {
            done_or_false(&lua, services().state_get(&key).await.map(|entry| entry.is_some()))
        })?;
    }
    module.act_async(
        "compare_swap",
        |lua, (key, old, new): (String, Value, Value)| async move {
            let old = (!old.is_nil()).then(|| kept(&old)).transpose()?;
            let swap = Change::Swap { old, new: kept(&new)? };
            done_or_false(&lua, change(&key, swap).await.map(|changed| changed.is_applied))
        },
    )?;
    module.act_async("set_ttl", |lua, (key, ttl): (String, Value)| async move {
        let expire = Change::Expire(ttl_of("state.set_ttl", &ttl)?);
        done_or_false(&lua, change(&key, expire).await.map(|changed| changed.is_applied))
    })?;
    for name in ["get_ttl", "ttl"] {
        module.act_async(name, |lua, key: String| async move {
            found(&lua, services().state_get(&key).await.map(left))
        })?;
    }
    Ok(())
}

/// `true` or `false`, and why nobody knows.
fn done_or_false(
    lua: &Lua,
    outcome: std::result::Result<bool, ServiceError>,
) -> Result<MultiValue> {
    match outcome {
        Ok(answer) => answer.into_lua_multi(lua),
        Err(error) => (false, error.to_string()).into_lua_multi(lua),
    }
}

fn left(entry: Option<Entry>) -> f64 {
    match entry {
        None => -2.0,
        Some(entry) => match entry.time_expires {
            None => -1.0,
            Some(at) => at.since(clock::now()).as_secs_f64().ceil(),
        },
    }
}

fn lists(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("keys", |lua, pattern: Option<String>| async move {
        match pattern {
            Some(beginning) if !beginning.contains('*') => {
                found(&lua, pairs(&lua, &Pattern::new(format!("{beginning}*"))).await?)
            }
            pattern => {
                let listed = services().state_list(&pattern_of(pattern)).await;
                let keys = listed.map(|entries| {
                    entries.into_iter().map(|(key, _)| key).collect::<Vec<String>>()
                });
                found(&lua, keys)
            }
        }
    })?;
    module.act_async("get_all", |lua, pattern: Option<String>| async move {
        found(&lua, pairs(&lua, &pattern_of(pattern)).await?)
    })?;
    module.act_async("clear", |lua, pattern: Option<String>| async move {
        done(&lua, services().state_clear(&pattern_of(pattern)).await)
    })?;
    module.act_async("stats", |lua, ()| async move {
        let services = services();
        let entries = match services.state_list(&Pattern::everything()).await {
            Ok(entries) => entries,
            Err(error) => return (Value::Nil, error.to_string()).into_lua_multi(&lua),
        };
        let size: usize =
            entries.iter().map(|(key, entry)| key.len() + entry.value.to_string().len()).sum();
        let modified = entries.iter().map(|(_, entry)| entry.time_modified).max();
        let stats = lua.create_table()?;
        stats.set("total_keys", entries.len())?;
        stats.set("total_size", size)?;
        stats.set("last_modified", modified.map(clock::seconds))?;
        stats.set("backend", services.state_backend())?;
        stats.into_lua_multi(&lua)
    })?;
    module.act_async("list_push", |lua, (key, value): (String, Value)| async move {
        let pushed = change(&key, Change::Push(kept(&value)?)).await;
        found(&lua, pushed.map(|changed| length(changed.after.as_ref())))
    })?;
    module.act_async("list_pop", |lua, key: String| async move {
        match change(&key, Change::Pop).await {
            Ok(Changed { is_applied: true, after: Some(last), .. }) => {
                given(&lua, &last)?.into_lua_multi(&lua)
            }
            outcome => found(&lua, outcome.map(|_| Value::Nil)),
        }
    })?;
    module.act_async("list_length", |lua, key: String| async move {
        let entry = match services().state_get(&key).await {
            Ok(entry) => entry,
            Err(error) => return (Value::Nil, error.to_string()).into_lua_multi(&lua),
        };
        match entry.map(|entry| entry.value) {
            None => 0.into_lua_multi(&lua),
            Some(value @ Json::Array(_)) => length(Some(&value)).into_lua_multi(&lua),
            Some(Json::Object(fields)) if fields.is_empty() => 0.into_lua_multi(&lua),
            Some(_) => (Value::Nil, format!("state `{key}` is not a list")).into_lua_multi(&lua),
        }
    })
}

fn pattern_of(given: Option<String>) -> Pattern {
    given.map_or_else(Pattern::everything, Pattern::new)
}

async fn pairs(
    lua: &Lua,
    pattern: &Pattern,
) -> Result<std::result::Result<mlua::Table, ServiceError>> {
    let entries = match services().state_list(pattern).await {
        Ok(entries) => entries,
        Err(error) => return Ok(Err(error)),
    };
    let table = lua.create_table()?;
    for (key, entry) in entries {
        table.raw_set(key, given(lua, &entry.value)?)?;
    }
    Ok(Ok(table))
}

fn length(value: Option<&Json>) -> usize {
    value.and_then(Json::as_array).map_or(0, Vec::len)
}

fn counting(module: &mut Installer<'_>) -> Result<()> {
    for (name, sign) in [("increment", 1.0), ("decrement", -1.0)] {
        module.act_async(name, move |lua, (key, delta): (String, Option<f64>)| async move {
            let added = change(&key, Change::Add(sign * delta.unwrap_or(1.0))).await;
            found(&lua, added.map(|changed| changed.after.and_then(|value| value.as_f64())))
        })?;
    }
    module.act_async("append", |lua, (key, more): (String, Value)| async move {
        let more = words(&more)?;
        let appended = change(&key, Change::Append(more)).await;
        found(
            &lua,
            appended
                .map(|changed| changed.after.as_ref().and_then(Json::as_str).map_or(0, str::len)),
        )
    })
}

fn locking(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("try_lock", |lua, (name, ttl): (String, Value)| async move {
        let ttl = ttl_of("state.try_lock", &ttl)?;
        taken(&lua, locks::take(&name, ttl, Some(Duration::ZERO)).await)
    })?;
    module.act_async("lock", |lua, (name, timeout): (String, Value)| async move {
        let patience = span("state.lock", &timeout)?;
        taken(&lua, locks::take(&name, None, patience).await)
    })?;
    module.act_async("unlock", |lua, name: String| async move {
        match locks::release(&name).await {
            Ok(true) => true.into_lua_multi(&lua),
            Ok(false) => {
                (false, format!("the lock `{name}` is not held by this step")).into_lua_multi(&lua)
            }
            Err(error) => (false, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async(
        "with_lock",
        |lua, (name, function, timeout): (String, Function, Value)| async move {
            let patience = span("state.with_lock", &timeout)?;
            let granted = match locks::take(&name, None, patience).await {
                Ok(Ok(granted)) => granted,
                Ok(Err(held)) => return (Value::Nil, held).into_lua_multi(&lua),
                Err(error) => return (Value::Nil, error.to_string()).into_lua_multi(&lua),
            };
            let returned = function.call_async::<MultiValue>(number(granted.fence)).await;
            match (returned, granted.release().await) {
                (Ok(values), Ok(true)) => Ok(values),
                (Ok(_), Ok(false)) => (Value::Nil, format!("the lock `{name}` was lost meanwhile"))
                    .into_lua_multi(&lua),
                (Ok(_), Err(error)) => (Value::Nil, error.to_string()).into_lua_multi(&lua),
                (Err(error), _) => Err(error),
            }
        },
    )
}

#[expect(clippy::cast_precision_loss, reason = "nobody takes a lock 2^53 times")]
const fn number(fence: u64) -> f64 {
    fence as f64
}

fn taken(lua: &Lua, outcome: locks::Outcome) -> Result<MultiValue> {
    match outcome {
        Ok(Ok(granted)) => {
            let fence = number(granted.fence);
            granted.keep();
            (true, fence).into_lua_multi(lua)
        }
        Ok(Err(held)) => (false, held).into_lua_multi(lua),
        Err(error) => (false, error.to_string()).into_lua_multi(lua),
    }
}
