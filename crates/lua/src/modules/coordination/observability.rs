//! `observability`: traces of what a workflow does, and its numbers, in forms that others read.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Instant;

use mlua::{Lua, Result, Table, Value};
use serde_json::{Map, Value as Json, json};

use super::instruments::Instruments;
use super::traces::Traces;
use super::{Described, Installer, Module, acting, clock, in_millis, kept, machine, metrics};
use crate::value::{from_json, to_json};

pub(crate) const MODULE: Module = Module {
    name: "observability",
    about: "Traces of what a workflow does, and its numbers. They are kept in memory while the workflow is carried out, the last 1000 traces of them, and given out as text. Numbers are the same as those of `metrics`.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "start_trace",
        signature: "(name[, tags]) -> trace_id",
        about: "Begins a trace.",
        example: "local t = observability.start_trace('deploy', { env = 'test' })\nassert(#t == 32 and observability.get_trace(t).status == 'running')",
    },
    Described {
        name: "end_trace",
        signature: "(trace_id[, status = \"ok\"]) -> milliseconds | nil, error",
        about: "Ends a trace, and the spans of it that are still open.",
        example: "local t = observability.start_trace('deploy')\nassert(observability.end_trace(t, 'failed') >= 0)\nassert(observability.get_trace(t).status == 'failed')\nassert(observability.end_trace('none') == nil)",
    },
    Described {
        name: "get_trace",
        signature: "(trace_id) -> { id, name, status, tags, start_time, end_time, duration_ms, spans } | nil",
        about: "A trace with everything in it.",
        example: "local t = observability.start_trace('deploy')\nobservability.start_span(t, 'build')\nassert(observability.get_trace(t).spans[1].name == 'build')",
    },
    Described {
        name: "list_traces",
        signature: "([status]) -> traces",
        about: "All traces, or those with a status.",
        example: "observability.end_trace(observability.start_trace('a'))\nobservability.start_trace('b')\nassert(#observability.list_traces() == 2 and #observability.list_traces('running') == 1)",
    },
    Described {
        name: "start_span",
        signature: "(trace_id, name[, parent_span_id[, tags]]) -> span_id | nil, error",
        about: "Begins a span in a trace, or below another span of it.",
        example: "local t = observability.start_trace('deploy')\nlocal a = observability.start_span(t, 'build')\nlocal b = observability.start_span(t, 'compile', a, { lang = 'rust' })\nassert(observability.get_trace(t).spans[2].parent == a)\nlocal none, err = observability.start_span(t, 'x', 'nobody')\nassert(none == nil and err)",
    },
    Described {
        name: "end_span",
        signature: "(span_id[, status = \"ok\"]) -> milliseconds | nil, error",
        about: "Ends a span.",
        example: "local t = observability.start_trace('deploy')\nlocal s = observability.start_span(t, 'build')\nassert(observability.end_span(s) >= 0)\nassert(observability.get_trace(t).spans[1].status == 'ok')",
    },
    Described {
        name: "add_span_event",
        signature: "(span_id, name[, attributes]) -> true | false, error",
        about: "Says that something happened within a span.",
        example: "local t = observability.start_trace('deploy')\nlocal s = observability.start_span(t, 'build')\nassert(observability.add_span_event(s, 'cache miss', { key = 'x' }))\nassert(observability.get_trace(t).spans[1].events[1].name == 'cache miss')",
    },
    Described {
        name: "add_span_tag",
        signature: "(span_id, name, value) -> true | false, error",
        about: "Says something about a span.",
        example: "local t = observability.start_trace('deploy')\nlocal s = observability.start_span(t, 'build')\nassert(observability.add_span_tag(s, 'files', 3))\nassert(observability.get_trace(t).spans[1].tags.files == 3)",
    },
    Described {
        name: "gauge",
        signature: "(name, value[, tags]) -> true",
        about: "The same as `metrics.gauge`.",
        example: "assert(observability.gauge('queue', 3))",
    },
    Described {
        name: "counter",
        signature: "(name[, more = 1[, tags]]) -> number",
        about: "The same as `metrics.counter`.",
        example: "assert(observability.counter('done') == 1)",
    },
    Described {
        name: "histogram",
        signature: "(name, value[, tags]) -> true",
        about: "The same as `metrics.histogram`.",
        example: "assert(observability.histogram('size', 3))",
    },
    Described {
        name: "timer_start",
        signature: "(name[, tags]) -> timer_id",
        about: "Begins to measure.",
        example: "local id = observability.timer_start('nap')\nassert(observability.timer_end(id) >= 0)",
    },
    Described {
        name: "timer_end",
        signature: "(timer_id) -> milliseconds | nil, error",
        about: "Ends to measure, and records it as a histogram of the name.",
        example: "local id = observability.timer_start('nap')\nobservability.timer_end(id)\nassert(metrics.get_custom('nap').count == 1 and observability.timer_end(id) == nil)",
    },
    Described {
        name: "export_json",
        signature: "([trace_id]) -> text",
        about: "One trace, or all traces and numbers, as JSON.",
        example: "local t = observability.start_trace('deploy')\nobservability.counter('done')\nassert(observability.export_json():find('\"metrics\"') and observability.export_json(t):find('deploy'))",
    },
    Described {
        name: "export_jaeger",
        signature: "([trace_id]) -> text",
        about: "Traces in the JSON that Jaeger loads.",
        example: "local t = observability.start_trace('deploy')\nobservability.start_span(t, 'build')\nlocal text = observability.export_jaeger(t)\nassert(text:find('\"operationName\":\"build\"') and text:find('CHILD_OF'))",
    },
    Described {
        name: "export_prometheus",
        signature: "() -> text",
        about: "The numbers in the text that Prometheus reads.",
        example: "observability.counter('jobs.done', 2)\nassert(observability.export_prometheus():find('jobs_done 2'))",
    },
    Described {
        name: "health_check",
        signature: "() -> { overall, cpu, memory, disk, timestamp } | nil, error",
        about: "The same as `metrics.health_status`.",
        example: "assert(observability.health_check().overall)",
    },
    Described {
        name: "system_metrics",
        signature: "() -> { cpu, memory, disk } | nil, error",
        about: "How busy and how full the machine is; as `metrics.system_cpu`, `system_memory` and `system_disk` tell it.",
        example: "local m = observability.system_metrics()\nassert(m.cpu >= 0 and m.memory.total_mb > 0 and m.disk.total_gb > 0)",
    },
];

#[derive(Default)]
struct Timers {
    last: Cell<u32>,
    running: RefCell<BTreeMap<u32, (String, super::instruments::Tags, Instant)>>,
}

type Answered<T> = (Option<T>, Option<String>);

fn answered(lua: &Lua, outcome: std::result::Result<Json, String>) -> Result<Answered<Value>> {
    Ok(match outcome {
        Ok(value) => (Some(from_json(lua, &value)?), None),
        Err(error) => (None, Some(error)),
    })
}

fn done(outcome: std::result::Result<(), String>) -> (bool, Option<String>) {
    (outcome.is_ok(), outcome.err())
}

fn tags_of(table: Option<Table>) -> Map<String, Json> {
    match table.and_then(|table| to_json(&Value::Table(table)).ok()) {
        Some(Json::Object(tags)) => tags,
        _ => Map::new(),
    }
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    traces(module)?;
    metrics::recording(module)?;
    timers(module)?;
    exports(module)?;
    module.act_async("health_check", |lua, ()| async move {
        match machine::health(&lua).await {
            Ok(health) => Ok((Some(health), None)),
            Err(error) => Ok((None, Some(error.to_string()))),
        }
    })?;
    module.act_async("system_metrics", |lua, ()| async move {
        let look = async || -> std::io::Result<_> {
            let disk = machine::disk(&acting().path("/")).await?;
            Ok((machine::cpu().await?, machine::memory().await?, disk))
        };
        let (found, error) = metrics::known(look().await);
        let Some((cpu, memory, disk)) = found else { return Ok((None, error)) };
        let table = lua.create_table()?;
        table.set("cpu", cpu)?;
        table.set("memory", machine::memory_table(&lua, memory)?)?;
        table.set("disk", machine::disk_table(&lua, disk)?)?;
        Ok((Some(table), None))
    })
}

fn traces(module: &mut Installer<'_>) -> Result<()> {
    module.act("start_trace", |lua, (name, tags): (String, Option<Table>)| {
        Ok(kept::<Traces>(lua).start(name, tags_of(tags), clock::now()))
    })?;
    module.act("end_trace", |lua, (id, status): (String, Option<String>)| {
        let status = status.as_deref().unwrap_or("ok");
        answered(lua, kept::<Traces>(lua).end(&id, status, clock::now()))
    })?;
    module.act("get_trace", |lua, id: String| match kept::<Traces>(lua).get(&id) {
        Some(trace) => from_json(lua, &trace),
        None => Ok(Value::Nil),
    })?;
    module.act("list_traces", |lua, status: Option<String>| {
        from_json(lua, &kept::<Traces>(lua).list(status.as_deref()).into())
    })?;
    module.act(
        "start_span",
        |lua, (trace, name, parent, tags): (String, String, Option<String>, Option<Table>)| {
            let traces = kept::<Traces>(lua);
            Ok(match traces.start_span(&trace, name, parent, tags_of(tags), clock::now()) {
                Ok(id) => (Some(id), None),
                Err(error) => (None, Some(error)),
            })
        },
    )?;
    module.act("end_span", |lua, (id, status): (String, Option<String>)| {
        let status = status.as_deref().unwrap_or("ok");
        answered(lua, kept::<Traces>(lua).end_span(&id, status, clock::now()))
    })?;
    module.act("add_span_event", |lua, (id, name, more): (String, String, Option<Table>)| {
        let more = Json::Object(tags_of(more));
        Ok(done(kept::<Traces>(lua).add_event(&id, name, more, clock::now())))
    })?;
    module.act("add_span_tag", |lua, (id, name, value): (String, String, Value)| {
        Ok(done(kept::<Traces>(lua).add_tag(&id, name, to_json(&value)?)))
    })
}

fn timers(module: &mut Installer<'_>) -> Result<()> {
    module.act("timer_start", |lua, (name, tags): (String, Option<Table>)| {
        let timers = kept::<Timers>(lua);
        let id = timers.last.get() + 1;
        timers.last.set(id);
        let tags = metrics::tags_of(tags)?;
        timers.running.borrow_mut().insert(id, (name, tags, Instant::now()));
        Ok(id)
    })?;
    module.act("timer_end", |lua, id: u32| {
        let found = kept::<Timers>(lua).running.borrow_mut().remove(&id);
        let Some((name, tags, began)) = found else {
            return Ok((None, Some(format!("there is no timer {id}"))));
        };
        let took = in_millis(began.elapsed());
        kept::<Instruments>(lua).observe(&name, took, tags);
        Ok((Some(took), None))
    })
}

fn exports(module: &mut Installer<'_>) -> Result<()> {
    module.act("export_json", |lua, id: Option<String>| {
        let traces = kept::<Traces>(lua);
        let json = match id {
            Some(id) => traces.get(&id).unwrap_or(Json::Null),
            None => {
                json!({ "traces": traces.list(None), "metrics": kept::<Instruments>(lua).list() })
            }
        };
        Ok(json.to_string())
    })?;
    module.act("export_jaeger", |lua, id: Option<String>| {
        let service = acting().env("OTEL_SERVICE_NAME").unwrap_or_else(|| "hostler".to_owned());
        Ok(kept::<Traces>(lua).jaeger(id.as_deref(), &service).to_string())
    })?;
    module.act("export_prometheus", |lua, ()| Ok(kept::<Instruments>(lua).prometheus()))
}
