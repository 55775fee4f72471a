//! `async`: several functions at the same time, as one call.

use std::pin::Pin;

use futures::future::{select_all, try_join_all};
use mlua::{Function, IntoLuaMulti, Result, Table, Value, Variadic};

use super::goroutine::{Handle, Outcome, within};
use super::{Described, Installer, Module, at_least_one, call, parallel, said, span};

pub(crate) const MODULE: Module = Module {
    name: "async",
    about: "Several functions at the same time, as one call. Times are seconds, or texts such as `500ms`.",
    functions: &[
        Described {
            name: "run",
            signature: "(fn[, ...]) -> handle",
            about: "Starts a function whose results are wanted later.",
            example: "local h = async.run(function(n) return n + 1 end, 1)\nlocal ok, n = async.await(h)\nassert(ok and n == 2)",
        },
        Described {
            name: "await",
            signature: "(handle) -> true, values... | false, error",
            about: "Waits for what `async.run` started.",
            example: "local ok, err = async.await(async.run(function() error('no') end))\nassert(not ok and err:find('no'))",
        },
        Described {
            name: "all",
            signature: "(list) -> values | nil, error",
            about: "Calls all functions (or waits for all handles) of a list at the same time. The first that fails ends the other functions.",
            example: "local r = async.all({ function() return 1 end, function() async.sleep(0.001) return 2 end })\nassert(r[1] == 1 and r[2] == 2)\nlocal none, err = async.all({ function() error('no') end, function() async.sleep(60) end })\nassert(none == nil and err:find('no'))",
        },
        Described {
            name: "race",
            signature: "(list) -> value, index | nil, error",
            about: "The same until the first is done; the other functions are ended.",
            example: "local value, index = async.race({ function() async.sleep(60) end, function() return 'fast' end })\nassert(value == 'fast' and index == 2)",
        },
        Described {
            name: "parallel",
            signature: "(list[, max_workers]) -> results, error",
            about: "Carries out functions, lines for the shell, or tables with `name` and `command`, so many at once. Every result has `name`, `status` (`Success` or `Failed`), `duration` in seconds, `value` and `error`; the error of the whole is nil when nothing failed.",
            example: "local results, err = async.parallel({ { name = 'a', command = 'true' }, { name = 'b', command = function() return 5 end } }, 2)\nassert(err == nil and results[1].status == 'Success' and results[2].value == 5)\nlocal results, err = async.parallel({ 'exit 3' })\nassert(results[1].status == 'Failed' and err:find('exit code 3'))",
        },
        Described {
            name: "timeout",
            signature: "(seconds, fn) -> true, values... | false, error",
            about: "Calls a function and gives up after that time.",
            example: "local ok, err = async.timeout('5ms', function() async.sleep(60) end)\nassert(not ok and err == 'timeout exceeded')",
        },
        Described {
            name: "sleep",
            signature: "(seconds)",
            about: "Waits; others go on.",
            example: "async.sleep(0.001)",
        },
    ],
    install,
};

type Running = Pin<Box<dyn Future<Output = Outcome>>>;

fn running(function: &str, list: &Table) -> Result<Vec<Running>> {
    list.sequence_values::<Value>()
        .map(|value| match value? {
            Value::Function(function) => {
                Ok(Box::pin(call(function, Default::default())) as Running)
            }
            other => {
                let handle = Handle::of(function, &other)?;
                Ok(Box::pin(async move { handle.outcome().await }) as Running)
            }
        })
        .collect()
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act("run", |_, (function, arguments): (Function, Variadic<Value>)| {
        Ok(Handle::start(function, arguments.into_iter().collect()))
    })?;
    module.act_async("await", |lua, handle: Value| async move {
        let outcome = Handle::of("async.await", &handle)?.outcome().await;
        said(&lua, outcome)
    })?;
    module.act_async("all", |lua, list: Table| async move {
        match try_join_all(running("async.all", &list)?).await {
            Ok(outcomes) => {
                let values = lua.create_table()?;
                for (at, outcome) in outcomes.into_iter().enumerate() {
                    values.raw_set(at + 1, outcome.into_iter().next().unwrap_or(Value::Nil))?;
                }
                values.into_lua_multi(&lua)
            }
            Err(error) => (Value::Nil, error).into_lua_multi(&lua),
        }
    })?;
    module.act_async("race", |lua, list: Table| async move {
        let running = running("async.race", &list)?;
        if running.is_empty() {
            return Err(mlua::Error::runtime("async.race needs at least one function"));
        }
        match select_all(running).await {
            (Ok(values), at, _) => {
                let value = values.into_iter().next().unwrap_or(Value::Nil);
                (value, at + 1).into_lua_multi(&lua)
            }
            (Err(error), _, _) => (Value::Nil, error).into_lua_multi(&lua),
        }
    })?;
    module.act_async("parallel", |lua, (list, most): (Table, Value)| async move {
        let most = at_least_one("async.parallel: max_workers", &most, list.raw_len().max(1))?;
        parallel::run(&lua, "async.parallel", &list, most).await
    })?;
    module.act_async("timeout", |lua, (time, function): (Value, Function)| async move {
        let Some(time) = span("async.timeout", &time)? else {
            return Err(mlua::Error::runtime(
                "async.timeout needs a length of time and a function",
            ));
        };
        within(&lua, time, function).await
    })?;
    module.act_async("sleep", |_, time: Value| async move {
        tokio::time::sleep(span("async.sleep", &time)?.unwrap_or_default()).await;
        Ok(())
    })
}
