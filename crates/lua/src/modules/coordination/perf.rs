//! `perf`: how long something takes.

use std::time::Instant;

use mlua::{Function, MultiValue, Result, Value};

use super::instruments::Instruments;
use super::{Described, Installer, Module, acting, in_millis, kept};

pub(crate) const MODULE: Module = Module {
    name: "perf",
    about: "How long something takes.",
    functions: &[Described {
        name: "measure",
        signature: "(fn[, name]) -> milliseconds, values...",
        about: "Calls a function, and gives how long it took before what it returned. With a name that is told, and kept as a histogram of `metrics`.",
        example: "local ms, value = perf.measure(function() goroutine.sleep(5) return 'ok' end, 'nap')\nassert(ms >= 4 and value == 'ok')\nassert(metrics.get_custom('nap').count == 1)",
    }],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("measure", |lua, (function, name): (Function, Option<String>)| async move {
        let began = Instant::now();
        let mut values: MultiValue = function.call_async(()).await?;
        let took = in_millis(began.elapsed());
        if let Some(name) = name {
            acting().say(&format!("{name}: {took:.1} ms"));
            kept::<Instruments>(&lua).observe(&name, took, Default::default());
        }
        values.push_front(Value::Number(took));
        Ok(values)
    })
}
