//! Workloads in Master Control's words: its statuses, its fields, its messages. Its clients find in
//! them what they look for; what it has no words for is told in the nearest ones.

use hostler_model::{Mode, Phase, Timestamp};
use serde_json::{Map, Value, json};

use super::view::{Done, Outcome, Reloaded};
use crate::supervisor::ServiceView;

/// Marks the tag that holds the name a workload has there, when that cannot be a name here.
pub(crate) const NAME_TAG: &str = "name:";
const TYPE_TAG: &str = "type:";

/// One of registered, starting, running, stopping, stopped, failed, completed.
fn status(service: &ServiceView) -> &'static str {
    let policy = &service.assignment.spec.restart;
    let is_well = service.status.last_exit.as_ref().is_none_or(|exit| policy.is_success(exit));
    match service.status.phase {
        Phase::Waiting | Phase::Idle => "registered",
        Phase::Backoff if is_well => "starting",
        Phase::Starting => "starting",
        Phase::Running => "running",
        Phase::Stopping => "stopping",
        Phase::Stopped | Phase::Removed => "stopped",
        Phase::Completed => "completed",
        Phase::Backoff | Phase::Failed => "failed",
    }
}

fn tagged<'a>(service: &'a ServiceView, mark: &str) -> Option<&'a str> {
    service.assignment.spec.tags.iter().find_map(|tag| tag.strip_prefix(mark))
}

fn name(service: &ServiceView) -> &str {
    tagged(service, NAME_TAG).unwrap_or(service.name().as_str())
}

fn kind(service: &ServiceView) -> &str {
    tagged(service, TYPE_TAG).unwrap_or(match service.assignment.spec.mode {
        Mode::Forever => "service",
        Mode::Once | Mode::Times(_) | Mode::Schedule(_) => "script",
    })
}

fn run_mode(mode: &Mode) -> &'static str {
    match mode {
        Mode::Forever => "forever",
        Mode::Once | Mode::Times(_) => "n_times",
        Mode::Schedule(_) => "schedule",
    }
}

fn time(time: Option<Timestamp>) -> Value {
    time.map_or(Value::Null, |time| Value::String(time.to_string()))
}

/// What went wrong last, unless it runs well since.
fn last_error(service: &ServiceView) -> Option<String> {
    let policy = &service.assignment.spec.restart;
    let failed = service.status.last_exit.as_ref().filter(|exit| !policy.is_success(exit));
    let reason = || service.status.reason.clone();
    match service.status.phase {
        Phase::Failed | Phase::Backoff | Phase::Waiting => {
            reason().or_else(|| failed.map(ToString::to_string))
        }
        _ => failed.map(ToString::to_string),
    }
}

/// A workload as its list has it.
pub(crate) fn brief(service: &ServiceView) -> Map<String, Value> {
    let spec = &service.assignment.spec;
    object(json!({
        "name": name(service),
        "type": kind(service),
        "run_mode": run_mode(&spec.mode),
        "status": status(service),
        "pid": service.live.and_then(|live| live.pid),
        "run_count": service.launched,
        "last_started": time(service.last_started()),
        "last_error": last_error(service),
    }))
}

/// A workload with everything that its status has.
pub(crate) fn full(service: &ServiceView) -> Map<String, Value> {
    let spec = &service.assignment.spec;
    let (schedule, max_runs) = match &spec.mode {
        Mode::Schedule(schedule) => (Some(schedule.cron.as_str()), None),
        Mode::Times(runs) => (None, Some(*runs)),
        Mode::Once => (None, Some(1)),
        Mode::Forever => (None, None),
    };
    let is_mark = |tag: &&String| tag.starts_with(NAME_TAG) || tag.starts_with(TYPE_TAG);
    let tags: Vec<&String> = spec.tags.iter().filter(|tag| !is_mark(tag)).collect();
    let mut fields = brief(service);
    fields.extend(object(json!({
        "last_stopped": time(service.last_exit().map(|exit| exit.time)),
        "consecutive_failures": service.status.failures,
        "schedule": schedule,
        "max_runs": max_runs,
        "module": spec.python.as_ref().map(|python| &python.module),
        "entry_point": spec.python.as_ref().map(|python| &python.entry),
        "tags": tags,
        "version": spec.version,
        "memory_limit_mb": spec.limits.memory.map(|bytes| bytes.get() >> 20),
        "cpu_nice": spec.limits.nice,
    })));
    fields
}

/// What a command is run with beside a workload there.
pub(crate) fn environment(service: &ServiceView) -> Map<String, Value> {
    let spec = &service.assignment.spec;
    let mut env = spec.env.clone();
    let python = spec.python.as_ref();
    let params = python.map(|python| Value::Object(python.params.clone())).unwrap_or(json!({}));
    let module = python.map(|python| python.module.clone()).unwrap_or_default();
    let entry = python.map(|python| python.entry.clone()).unwrap_or_default();
    env.extend([
        ("MCTL_WORKLOAD_NAME".to_owned(), name(service).to_owned()),
        ("MCTL_WORKLOAD_TYPE".to_owned(), kind(service).to_owned()),
        ("MCTL_MODULE_PATH".to_owned(), module.clone()),
        ("MCTL_ENTRY_POINT".to_owned(), entry.clone()),
        ("MCTL_PARAMS_JSON".to_owned(), params.to_string()),
        ("PYTHONPATH".to_owned(), spec.workdir.clone().unwrap_or_default()),
    ]);
    object(json!({ "env": env, "module": module, "entry_point": entry, "params": params }))
}

/// Its words for what a wish came to, and whether it was a success.
pub(crate) fn message(done: &Done) -> (bool, String) {
    match done.outcome {
        Outcome::Restarted => (true, format!("Started '{}'", done.name)),
        Outcome::Started | Outcome::Stopped => (true, done.message.clone()),
        Outcome::AlreadyRunning
        | Outcome::NotRunning
        | Outcome::Waiting
        | Outcome::Failed
        | Outcome::UnderWay => (false, done.message.clone()),
    }
}

pub(crate) fn changes(reloaded: &Reloaded) -> Value {
    let (replaced, updated): (Vec<_>, Vec<_>) =
        reloaded.changed.iter().partition(|changed| changed.is_replaced);
    let names = |changed: Vec<&super::view::Changed>| -> Vec<String> {
        changed.iter().map(|changed| changed.name.to_string()).collect()
    };
    json!({
        "added": reloaded.added,
        "removed": reloaded.removed,
        "restarted": names(replaced),
        "updated": names(updated),
        "unchanged": reloaded.unchanged,
    })
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
