//! `reliability` and `circuit`: trying again, and leaving alone what keeps failing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Result, Table, Value};

use super::breaker::{Breaker, Settings};
use super::{Described, Installer, Module, at_least_one, call, clock, failure, kept, span};
use crate::value::text;

pub(crate) const MODULE: Module = Module {
    name: "reliability",
    about: "Trying again, and leaving alone what keeps failing. A function fails when it raises, or returns `nil, error`, `false, error` or `false`. Times are seconds, or texts such as `500ms`. Circuits are shared by the steps that one process carries out for an execution.",
    functions: &[
        Described {
            name: "retry",
            signature: "(attempts, delay, fn) -> values... | nil, error",
            about: "Calls a function until it goes well, at most so often, with a wait between.",
            example: "local n = 0\nlocal value = reliability.retry(3, 0.001, function() n += 1 if n < 3 then error('not yet') end return 'ok' end)\nassert(value == 'ok' and n == 3)\nlocal none, err = reliability.retry(2, 0, function() return nil, 'down' end)\nassert(none == nil and err:find('2 attempts') and err:find('down'))",
        },
        Described {
            name: "retry_with_config",
            signature: "({ max_attempts = 3, initial_delay = 1, max_delay = 30, strategy, multiplier = 2, jitter, backoff, on_retry }, fn) -> values... | nil, error",
            about: "The same with a wait that grows. The strategy is one of `reliability.strategy`: FIXED_DELAY, EXPONENTIAL_BACKOFF, LINEAR_BACKOFF, or CUSTOM_BACKOFF with `backoff = fn(attempt, error)` that gives the seconds. `jitter` takes up to that share (true: half) off each wait. `on_retry(attempt, delay, error)` is called before each wait.",
            example: "local waits = {}\nlocal none = reliability.retry_with_config({ max_attempts = 4, initial_delay = 0.001, max_delay = 0.003, strategy = reliability.strategy.EXPONENTIAL_BACKOFF, on_retry = function(_, delay) table.insert(waits, delay) end }, function() error('no') end)\nassert(none == nil and #waits == 3 and waits[1] == 0.001 and waits[2] == 0.002 and waits[3] == 0.003)",
        },
        Described {
            name: "circuit_breaker",
            signature: "(name, { max_failures = 5, timeout = 60, success_threshold = 1, on_state_change }, fn) -> values... | nil, error",
            about: "Calls a function unless it failed so often in a row; then it is left alone for a while, and tried again one at a time. `on_state_change(from, to)` is told about `closed`, `open` and `half-open`.",
            example: "local opts = { max_failures = 2, timeout = 60 }\nfor i = 1, 2 do reliability.circuit_breaker('api', opts, function() return nil, 'down' end) end\nlocal called = false\nlocal none, err = reliability.circuit_breaker('api', opts, function() called = true end)\nassert(none == nil and not called and err:find('open'))",
        },
        Described {
            name: "get_circuit_stats",
            signature: "(name) -> { state, requests, total_success, total_failures, consecutive_success, consecutive_failures, last_success_time, last_failure_time } | nil, error",
            about: "What a circuit has seen; times are seconds since 1970.",
            example: "reliability.circuit_breaker('db', {}, function() return 1 end)\nlocal s = reliability.get_circuit_stats('db')\nassert(s.state == 'closed' and s.requests == 1 and s.total_success == 1 and s.last_success_time > 0)\nassert(reliability.get_circuit_stats('none') == nil)",
        },
        Described {
            name: "reset_circuit",
            signature: "(name) -> boolean",
            about: "Closes a circuit and forgets what it has seen; false when there is none.",
            example: "reliability.circuit_breaker('db', { max_failures = 1 }, function() return nil, 'down' end)\nassert(reliability.reset_circuit('db'))\nassert(reliability.circuit_breaker('db', {}, function() return 'up' end) == 'up')",
        },
        Described {
            name: "list_circuits",
            signature: "() -> names",
            about: "The names of all circuits.",
            example: "reliability.circuit_breaker('a', {}, function() end)\nassert(reliability.list_circuits()[1] == 'a')",
        },
    ],
    install,
};

pub(crate) const CIRCUIT: Module = Module {
    name: "circuit",
    about: "Leaving alone what keeps failing; the same circuits as those of `reliability`.",
    functions: &[Described {
        name: "protect",
        signature: "(name[, { max_failures, timeout, success_threshold, on_state_change }], fn) -> values... | nil, error",
        about: "The same as `reliability.circuit_breaker`.",
        example: "assert(circuit.protect('api', { max_failures = 3 }, function() return 'up' end) == 'up')\nassert(circuit.protect('api', function() return 'up' end) == 'up')",
    }],
    install: |module| {
        module.act_async("protect", |lua, (name, options, function): (String, Value, Value)| {
            protect(lua, name, options, function)
        })
    },
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    let strategies = module.lua.create_table()?;
    for (name, strategy) in [
        ("FIXED_DELAY", "fixed"),
        ("LINEAR_BACKOFF", "linear"),
        ("EXPONENTIAL_BACKOFF", "exponential"),
        ("CUSTOM_BACKOFF", "custom"),
    ] {
        strategies.set(name, strategy)?;
    }
    module.table.raw_set("strategy", strategies)?;
    module.act_async(
        "retry",
        |lua, (attempts, delay, function): (Value, Value, Function)| async move {
            let delay = span("reliability.retry", &delay)?.unwrap_or_default();
            let attempts = at_least_one("reliability.retry: attempts", &attempts, 3)?;
            let policy = Policy { attempts, initial: delay, most: delay, ..Policy::default() };
            retry(lua, policy, function).await
        },
    )?;
    module.act_async(
        "retry_with_config",
        |lua, (config, function): (Table, Function)| async move {
            let policy = Policy::read(&config)?;
            retry(lua, policy, function).await
        },
    )?;
    module.act_async(
        "circuit_breaker",
        |lua, (name, options, function): (String, Value, Value)| {
            protect(lua, name, options, function)
        },
    )?;
    module.pure("get_circuit_stats", |lua, name: String| stats(lua, &name))?;
    module.pure("reset_circuit", |lua, name: String| {
        let circuits = kept::<Circuits>(lua);
        let mut circuits = circuits.0.borrow_mut();
        Ok(circuits.get_mut(&name).map(|breaker| *breaker = Breaker::default()).is_some())
    })?;
    module.pure("list_circuits", |lua, ()| {
        let circuits = kept::<Circuits>(lua);
        let names: Vec<String> = circuits.0.borrow().keys().cloned().collect();
        Ok(names)
    })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Strategy {
    #[default]
    Fixed,
    Linear,
    Exponential,
    Custom,
}

/// How to try again.
struct Policy {
    attempts: usize,
    initial: Duration,
    most: Duration,
    strategy: Strategy,
    multiplier: f64,
    /// The share of a wait that chance may take away.
    jitter: f64,
    backoff: Option<Function>,
    on_retry: Option<Function>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            attempts: 3,
            initial: Duration::from_secs(1),
            most: Duration::from_secs(30),
            strategy: Strategy::Fixed,
            multiplier: 2.0,
            jitter: 0.0,
            backoff: None,
            on_retry: None,
        }
    }
}

impl Policy {
    fn read(config: &Table) -> Result<Policy> {
        const WHAT: &str = "reliability.retry_with_config";
        let plain = Policy::default();
        let time = |name: &str| span(WHAT, &config.get::<Value>(name)?);
        let backoff: Option<Function> = match config.get("backoff")? {
            Some(function) => Some(function),
            None => config.get("custom_backoff")?,
        };
        let strategy = match config.get::<Value>("strategy")? {
            Value::Nil if backoff.is_some() => Strategy::Custom,
            Value::Nil => Strategy::Exponential,
            Value::String(word) => named(&text(&word)).ok_or_else(|| {
                mlua::Error::runtime(format!("{WHAT}: strategy is one of reliability.strategy"))
            })?,
            _ => {
                return Err(mlua::Error::runtime(format!(
                    "{WHAT}: strategy is one of reliability.strategy"
                )));
            }
        };
        if strategy == Strategy::Custom && backoff.is_none() {
            return Err(mlua::Error::runtime(format!(
                "{WHAT}: CUSTOM_BACKOFF needs backoff = function(attempt, error) ... end"
            )));
        }
        let jitter = match config.get::<Value>("jitter")? {
            Value::Boolean(true) => 0.5,
            Value::Number(share) => share.clamp(0.0, 1.0),
            _ => 0.0,
        };
        Ok(Policy {
            attempts: at_least_one(
                "reliability.retry_with_config: max_attempts",
                &config.get("max_attempts")?,
                plain.attempts,
            )?,
            initial: time("initial_delay")?.unwrap_or(plain.initial),
            most: time("max_delay")?.unwrap_or(plain.most),
            strategy,
            multiplier: config.get::<Option<f64>>("multiplier")?.unwrap_or(plain.multiplier),
            jitter,
            backoff,
            on_retry: config.get("on_retry")?,
        })
    }

    /// How long to wait after a try, from 1; `chance` is between 0 and 1.
    fn wait(&self, attempt: usize, chance: f64) -> Duration {
        let tries = u32::try_from(attempt).unwrap_or(u32::MAX);
        let factor = match self.strategy {
            Strategy::Fixed | Strategy::Custom => 1.0,
            Strategy::Linear => f64::from(tries),
            Strategy::Exponential => {
                self.multiplier.max(1.0).powi(i32::try_from(tries - 1).unwrap_or(i32::MAX))
            }
        };
        let most = self.most.as_secs_f64();
        let seconds =
            (self.initial.as_secs_f64() * factor).min(most) * (1.0 - self.jitter * chance);
        Duration::try_from_secs_f64(seconds).unwrap_or(self.most)
    }

    async fn pause(&self, attempt: usize, error: &str) -> Result<Duration> {
        match &self.backoff {
            Some(backoff) if self.strategy == Strategy::Custom => {
                let wanted: Value = backoff.call_async((attempt, error)).await?;
                let wait = span("reliability.retry_with_config: backoff", &wanted)?;
                Ok(wait.unwrap_or_default().min(self.most))
            }
            _ => Ok(self.wait(attempt, rand::random())),
        }
    }
}

fn named(word: &str) -> Option<Strategy> {
    let word = word.to_lowercase();
    [
        ("fixed", Strategy::Fixed),
        ("constant", Strategy::Fixed),
        ("linear", Strategy::Linear),
        ("exp", Strategy::Exponential),
        ("custom", Strategy::Custom),
    ]
    .into_iter()
    .find_map(|(beginning, strategy)| word.starts_with(beginning).then_some(strategy))
}

async fn retry(lua: Lua, policy: Policy, function: Function) -> Result<MultiValue> {
    let mut attempt = 1;
    loop {
        let outcome = call(function.clone(), MultiValue::new()).await;
        let error = match outcome {
            Err(error) => error,
            Ok(values) => match failure(&values) {
                None => return Ok(values),
                Some(error) => error,
            },
        };
        if attempt >= policy.attempts {
            let told = format!("it failed after {attempt} attempts; the last one: {error}");
            return (Value::Nil, told).into_lua_multi(&lua);
        }
        let wait = policy.pause(attempt, &error).await?;
        if let Some(on_retry) = &policy.on_retry {
            on_retry.call_async::<()>((attempt, wait.as_secs_f64(), error)).await?;
        }
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

#[derive(Default)]
struct Circuits(RefCell<BTreeMap<String, Breaker>>);

/// Somebody who was let through and has not said yet how it went.
struct Through<'a> {
    circuits: &'a Circuits,
    name: &'a str,
    is_told: bool,
}

impl Drop for Through<'_> {
    fn drop(&mut self) {
        if !self.is_told
            && let Some(breaker) = self.circuits.0.borrow_mut().get_mut(self.name)
        {
            breaker.forget();
        }
    }
}

impl Circuits {
    /// Changes a circuit; says from what to what it went, if it did.
    fn change<T>(
        &self,
        name: &str,
        f: impl FnOnce(&mut Breaker) -> T,
    ) -> (T, Option<(&'static str, &'static str)>) {
        let mut circuits = self.0.borrow_mut();
        let breaker = circuits.entry(name.to_owned()).or_default();
        let from = breaker.state.label();
        let answer = f(breaker);
        let to = breaker.state.label();
        (answer, (from != to).then_some((from, to)))
    }
}

async fn protect(lua: Lua, name: String, options: Value, function: Value) -> Result<MultiValue> {
    let (options, function) = match (options, function) {
        (Value::Function(function), Value::Nil) => (None, function),
        (Value::Table(options), Value::Function(function)) => (Some(options), function),
        (Value::Nil, Value::Function(function)) => (None, function),
        _ => {
            return Err(mlua::Error::runtime(
                "a circuit needs a name, a table of options and a function",
            ));
        }
    };
    let option = |name: &str| options.as_ref().map_or(Ok(Value::Nil), |options| options.get(name));
    let settings = Settings {
        max_failures: at_least_one("max_failures of a circuit", &option("max_failures")?, 5)?,
        timeout: span("timeout of a circuit", &option("timeout")?)?
            .unwrap_or(Duration::from_secs(60)),
        success_threshold: at_least_one(
            "success_threshold of a circuit",
            &option("success_threshold")?,
            1,
        )?,
    };
    let on_change = match option("on_state_change")? {
        Value::Function(function) => Some(function),
        _ => None,
    };
    let tell = async |change: Option<(&'static str, &'static str)>| match (&on_change, change) {
        (Some(function), Some(change)) => function.call_async::<()>(change).await,
        _ => Ok(()),
    };
    let circuits: Rc<Circuits> = kept(&lua);
    let (admitted, change) = circuits.change(&name, |breaker| breaker.admit(Instant::now()));
    tell(change).await?;
    if let Err(wait) = admitted {
        let told = format!(
            "the circuit `{name}` is open after failures; it is tried again in {:.1} s",
            wait.as_secs_f64()
        );
        return (Value::Nil, told).into_lua_multi(&lua);
    }
    let mut through = Through { circuits: &circuits, name: &name, is_told: false };
    let outcome = call(function, MultiValue::new()).await;
    let error = match &outcome {
        Ok(values) => failure(values),
        Err(error) => Some(error.clone()),
    };
    let ((), change) = circuits.change(&name, |breaker| {
        breaker.record(error.is_none(), Instant::now(), clock::now(), settings);
    });
    through.is_told = true;
    tell(change).await?;
    match (outcome, error) {
        (Ok(values), None) => Ok(values),
        (_, error) => (Value::Nil, error).into_lua_multi(&lua),
    }
}

fn stats(lua: &Lua, name: &str) -> Result<(Option<Table>, Option<String>)> {
    let circuits = kept::<Circuits>(lua);
    let circuits = circuits.0.borrow();
    let Some(breaker) = circuits.get(name) else {
        return Ok((None, Some(format!("there is no circuit `{name}` yet"))));
    };
    let table = lua.create_table()?;
    table.set("state", breaker.state.label())?;
    table.set("requests", breaker.requests)?;
    table.set("total_success", breaker.total_success)?;
    table.set("total_failures", breaker.total_failures)?;
    table.set("consecutive_success", breaker.consecutive_success)?;
    table.set("consecutive_failures", breaker.consecutive_failures)?;
    table.set("last_success_time", breaker.last_success.map(clock::seconds))?;
    table.set("last_failure_time", breaker.last_failure.map(clock::seconds))?;
    Ok((Some(table), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_as_their_strategy_says_and_not_beyond_the_most() {
        let policy = |strategy, jitter| Policy {
            initial: Duration::from_secs(1),
            most: Duration::from_secs(5),
            strategy,
            jitter,
            ..Policy::default()
        };
        for (strategy, jitter, expected) in [
            (Strategy::Fixed, 0.0, [1.0, 1.0, 1.0, 1.0]),
            (Strategy::Linear, 0.0, [1.0, 2.0, 3.0, 4.0]),
            (Strategy::Exponential, 0.0, [1.0, 2.0, 4.0, 5.0]),
            (Strategy::Exponential, 0.5, [0.75, 1.5, 3.0, 3.75]),
        ] {
            let waits = [1, 2, 3, 4].map(|at| policy(strategy, jitter).wait(at, 0.5).as_secs_f64());
            assert_eq!(waits, expected, "{strategy:?}");
        }
        assert_eq!(policy(Strategy::Exponential, 0.0).wait(5000, 0.0), Duration::from_secs(5));
    }
}
