//! `metrics`: how it is with the machine, and numbers of one's own.

use std::time::Instant;

use mlua::{Function, Lua, MultiValue, Result, Table, Value};

use super::instruments::{Instruments, Tags};
use super::{Described, Installer, Module, acting, in_millis, kept, machine, tasks};
use crate::value::{from_json, words};

pub(crate) const MODULE: Module = Module {
    name: "metrics",
    about: "How it is with the machine where the step runs, and numbers of one's own. Those are kept while the workflow is carried out there; `observability.export_prometheus` and `metrics.list_custom` give them out.",
    functions: &[
        Described {
            name: "system_cpu",
            signature: "() -> percent | nil, error",
            about: "How busy the processors are, over a tenth of a second.",
            example: "local cpu = metrics.system_cpu()\nassert(cpu >= 0 and cpu <= 100)",
        },
        Described {
            name: "system_memory",
            signature: "() -> { used_mb, total_mb, available_mb, percent } | nil, error",
            about: "How much of the memory is used.",
            example: "local m = metrics.system_memory()\nassert(m.total_mb > 0 and m.percent > 0 and m.percent <= 100)",
        },
        Described {
            name: "system_disk",
            signature: "([path = \"/\"]) -> { used_gb, total_gb, free_gb, percent } | nil, error",
            about: "How full the disk is that a path lies on.",
            example: "assert(metrics.system_disk().total_gb > 0)\nassert(metrics.system_disk('.').percent <= 100)\nassert(metrics.system_disk('none') == nil)",
        },
        Described {
            name: "runtime_info",
            signature: "() -> { goroutines, memory_mb, cpus, pid, os, arch, version }",
            about: "What runs this step.",
            example: "local r = metrics.runtime_info()\nassert(r.goroutines == 0 and r.memory_mb > 0 and r.os == 'linux')",
        },
        Described {
            name: "gauge",
            signature: "(name, value[, tags]) -> true",
            about: "Records a number that goes up and down.",
            example: "metrics.gauge('queue', 3, { host = 'a' })\nassert(metrics.get_custom('queue').value == 3)",
        },
        Described {
            name: "counter",
            signature: "(name[, more = 1[, tags]]) -> number",
            about: "Counts on, and gives the new number.",
            example: "metrics.counter('done')\nassert(metrics.counter('done', 2) == 3)",
        },
        Described {
            name: "histogram",
            signature: "(name, value[, tags]) -> true",
            about: "Records one of many numbers.",
            example: "metrics.histogram('size', 1)\nmetrics.histogram('size', 3)\nlocal h = metrics.get_custom('size')\nassert(h.count == 2 and h.sum == 4 and h.min == 1 and h.max == 3 and h.avg == 2)",
        },
        Described {
            name: "timer",
            signature: "(name, fn[, tags]) -> milliseconds, values...",
            about: "Calls a function, and records how long it took as a histogram.",
            example: "local ms, value = metrics.timer('nap', function() goroutine.sleep(5) return 1 end)\nassert(ms >= 4 and value == 1 and metrics.get_custom('nap').count == 1)",
        },
        Described {
            name: "get_custom",
            signature: "(name) -> { name, type, tags, value, ... } | nil",
            about: "What was recorded under a name. A histogram has `count`, `sum`, `min`, `max` and `avg`.",
            example: "assert(metrics.get_custom('none') == nil)",
        },
        Described {
            name: "list_custom",
            signature: "() -> list",
            about: "Everything that was recorded.",
            example: "metrics.gauge('a', 1)\nmetrics.counter('b')\nassert(#metrics.list_custom() == 2 and metrics.list_custom()[1].name == 'a')",
        },
        Described {
            name: "alert",
            signature: "(name, { level = \"warning\", message, threshold, value }) -> true",
            about: "Says that a number is not as it should be, in the output of the step.",
            example: "assert(metrics.alert('queue', { level = 'critical', message = 'too long', threshold = 10, value = 12 }))",
        },
        Described {
            name: "health_status",
            signature: "() -> { overall, cpu, memory, disk, timestamp } | nil, error",
            about: "How it is with the machine: `healthy`, `warning` (from 80 percent) or `critical` (from 95); each part has `status` and `percent`.",
            example: "local h = metrics.health_status()\nassert(h.overall and h.disk.status and h.memory.percent > 0 and h.timestamp > 0)",
        },
    ],
    install,
};

/// Something about the machine, or `nil` and why nobody knows.
pub(super) fn known<T>(found: std::io::Result<T>) -> (Option<T>, Option<String>) {
    match found {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(format!("the machine does not say: {error}"))),
    }
}

pub(super) fn tags_of(table: Option<Table>) -> Result<Tags> {
    let mut tags = Tags::new();
    if let Some(table) = table {
        table.for_each(|name: Value, value: Value| {
            tags.insert(words(&name)?, words(&value)?);
            Ok(())
        })?;
    }
    Ok(tags)
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    of_machine(module)?;
    recording(module)?;
    module.act("get_custom", |lua, name: String| match kept::<Instruments>(lua).find(&name) {
        Some(found) => from_json(lua, &found),
        None => Ok(Value::Nil),
    })?;
    module.act("list_custom", |lua, ()| from_json(lua, &kept::<Instruments>(lua).list().into()))?;
    module.act_async(
        "timer",
        |lua, (name, function, tags): (String, Function, Option<Table>)| async move {
            let tags = tags_of(tags)?;
            let began = Instant::now();
            let mut values: MultiValue = function.call_async(()).await?;
            let took = in_millis(began.elapsed());
            kept::<Instruments>(&lua).observe(&name, took, tags);
            values.push_front(Value::Number(took));
            Ok(values)
        },
    )?;
    module.act("alert", |_, (name, told): (String, Table)| {
        let word = |field: &str| -> Result<Option<String>> {
            let value: Value = told.get(field)?;
            Ok(if value.is_nil() { None } else { Some(words(&value)?) })
        };
        let level = word("level")?.unwrap_or_else(|| "warning".to_owned());
        let mut text = format!("[ALERT] {level}: {}", word("message")?.unwrap_or(name));
        if let Some(value) = word("value")? {
            text.push_str(&format!(" (value {value}"));
            match word("threshold")? {
                Some(threshold) => text.push_str(&format!(", threshold {threshold})")),
                None => text.push(')'),
            }
        }
        acting().complain(&text);
        Ok(true)
    })
}

fn of_machine(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("system_cpu", |_, ()| async { Ok(known(machine::cpu().await)) })?;
    module.act_async("system_memory", |lua, ()| async move {
        let (memory, error) = known(machine::memory().await);
        Ok((memory.map(|memory| machine::memory_table(&lua, memory)).transpose()?, error))
    })?;
    module.act_async("system_disk", |lua, path: Option<String>| async move {
        let path = acting().path(path.as_deref().unwrap_or("/"));
        let (disk, error) = known(machine::disk(&path).await);
        Ok((disk.map(|disk| machine::disk_table(&lua, disk)).transpose()?, error))
    })?;
    module.act("runtime_info", |lua, ()| runtime_info(lua))?;
    module.act_async("health_status", |lua, ()| async move {
        match machine::health(&lua).await {
            Ok(health) => Ok((Some(health), None)),
            Err(error) => Ok((None, Some(error.to_string()))),
        }
    })
}

fn runtime_info(lua: &Lua) -> Result<Table> {
    #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
    let memory = lua.used_memory() as f64 / 1_048_576.0;
    let table = lua.create_table()?;
    table.set("goroutines", tasks().count())?;
    table.set("memory_mb", memory)?;
    table.set("cpus", std::thread::available_parallelism().map_or(1, usize::from))?;
    table.set("pid", std::process::id())?;
    table.set("os", std::env::consts::OS)?;
    table.set("arch", std::env::consts::ARCH)?;
    table.set("version", env!("CARGO_PKG_VERSION"))?;
    Ok(table)
}

/// What `metrics` and `observability` record alike.
pub(super) fn recording(module: &mut Installer<'_>) -> Result<()> {
    module.act("gauge", |lua, (name, value, tags): (String, f64, Option<Table>)| {
        kept::<Instruments>(lua).gauge(&name, value, tags_of(tags)?);
        Ok(true)
    })?;
    module.act("counter", |lua, (name, more, tags): (String, Option<f64>, Option<Table>)| {
        Ok(kept::<Instruments>(lua).count(&name, more.unwrap_or(1.0), tags_of(tags)?))
    })?;
    module.act("histogram", |lua, (name, value, tags): (String, f64, Option<Table>)| {
        kept::<Instruments>(lua).observe(&name, value, tags_of(tags)?);
        Ok(true)
    })
}
