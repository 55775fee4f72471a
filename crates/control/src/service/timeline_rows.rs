//! Rows of timelines: what each source says, in the same words everywhere.

use std::collections::HashSet;

use hostler_engine::timeline::Row;
use hostler_model::schedule::Fire;
use hostler_model::{
    AuditEntry, Event, HookDelivery, Name, ObjectKind, ObjectRef, Run, RunState, TimelineEntry,
    TimelineSource,
};

pub(super) fn event_row(event: Event, source: TimelineSource) -> Row {
    let Event { sequence, event } = event;
    let key = sequence.to_string();
    let entry = TimelineEntry {
        time: event.time,
        source,
        what: event.name().to_string(),
        object: event.object,
        message: event.message,
        actor: Some(event.actor),
        cause: event.correlation,
        id: key.clone(),
    };
    Row { key, time: entry.time, entry: Some(entry) }
}

pub(super) fn run_row(run: &Run, node: Option<&Name>, object: &ObjectRef) -> Option<Row> {
    let time = run.time_ended?;
    let node = node.map_or_else(|| "a node that is gone".to_owned(), Name::to_string);
    let (what, how) = match &run.state {
        RunState::Exited { exit } => ("run.ended", exit.to_string()),
        RunState::Lost { why, .. } => ("run.lost", why.clone()),
        RunState::Assigned | RunState::Running { .. } | RunState::Paused { .. } => return None,
    };
    let entry = TimelineEntry {
        time,
        source: TimelineSource::Run,
        what: what.to_owned(),
        object: object.clone(),
        message: format!("run {} on {node}: {how}", run.attempt),
        actor: None,
        cause: None,
        id: run.id.to_string(),
    };
    Some(Row { key: format!("{}/{}", time.micros(), run.id), time, entry: Some(entry) })
}

pub(super) fn fire_row(name: &Name, fire: &Fire) -> Row {
    let how = match (&fire.object, fire.status) {
        _ if !fire.message.is_empty() => fire.message.clone(),
        (Some(object), _) => format!("{} {}; {} late", object.kind, object.name, fire.lateness()),
        (None, Some(status)) => format!("answered with status {status}"),
        (None, None) if fire.count > 1 => format!("{} times, up to {}", fire.count, fire.time_last),
        (None, None) => String::new(),
    };
    let entry = TimelineEntry {
        time: fire.time,
        source: TimelineSource::Fire,
        what: format!("fire.{}", fire.state),
        object: ObjectRef::new(ObjectKind::Schedule, fire.schedule_id, name),
        message: how,
        actor: None,
        cause: None,
        id: fire.key(),
    };
    let key = format!("{}/{}", fire.time.micros(), fire.schedule_id);
    Row { key, time: fire.time, entry: Some(entry) }
}

pub(super) fn delivery_row(delivery: &HookDelivery, hook: &Name) -> Row {
    let of = delivery.event["kind"].as_str().unwrap_or_default();
    let status = delivery.status.map(|status| format!("; status {status}")).unwrap_or_default();
    let note = match delivery.note.as_str() {
        "" => String::new(),
        note => format!(": {note}"),
    };
    let entry = TimelineEntry {
        time: delivery.time_created,
        source: TimelineSource::Delivery,
        what: format!("delivery.{}", delivery.state),
        object: ObjectRef::new(ObjectKind::Hook, delivery.line.hook, hook),
        message: format!("{of} (event {}){note}{status}", delivery.sequence),
        actor: None,
        cause: None,
        id: delivery.key(),
    };
    let key = format!("{}/{}", delivery.sequence, delivery.line.hook);
    Row { key, time: entry.time, entry: Some(entry) }
}

pub(super) fn audit_row(entry: AuditEntry, told: &HashSet<String>) -> Row {
    let AuditEntry { sequence, entry, .. } = entry;
    let (key, time) = (sequence.to_string(), entry.time);
    if told.contains(&entry.request_id) {
        return Row { key, time, entry: None };
    }
    let entry = TimelineEntry {
        time,
        source: TimelineSource::Audit,
        // What servers and nodes do by themselves comes from nowhere.
        message: match entry.source.as_str() {
            "" => String::new(),
            source => format!("from {source}"),
        },
        what: entry.action,
        object: entry.object,
        actor: Some(entry.actor),
        cause: Some(entry.request_id),
        id: key.clone(),
    };
    Row { key, time, entry: Some(entry) }
}
