//! Events.

use std::path::Path;

use futures::TryStreamExt;
use hostler_api::ProjectPath;
use hostler_api::record::{
    EventEmit, EventEmitBody, EventExport, EventExportQuery, EventList, EventListQuery, EventView,
};
use hostler_model::{EventId, EventName, ObjectKind};
use serde_json::Value;

use super::{Cx, DONE, NONE, PAGE, watch};
use crate::args::{
    EventCommand, EventEmitArgs, EventExportArgs, EventFilterArgs, EventListArgs, EventObject,
};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::target::given;

/// Lines that are printed in one go.
const LINES: usize = 500;
/// Where a file is read from that is called so.
const STDIN: &str = "-";

fn all_if_zero(limit: usize) -> Option<usize> {
    Some(limit).filter(|limit| *limit > 0)
}

pub async fn events(cx: &Cx, command: EventCommand) -> Outcome {
    match command {
        EventCommand::Ls(args) => {
            let limit = all_if_zero(args.limit);
            cx.list::<EventList, _>(&cx.link()?, &NONE, &listed(cx, args), limit).await
        }
        EventCommand::Watch(args) => watch::events(cx, filter(cx, args)).await,
        EventCommand::Export(args) => export(cx, args).await,
        EventCommand::Emit(args) => emit(cx, args).await,
    }
}

fn listed(cx: &Cx, args: EventListArgs) -> EventListQuery {
    EventListQuery {
        since: args.since.map(|when| when.moment(cx.now())),
        until: args.until.map(|when| when.moment(cx.now())),
        limit: PAGE,
        ..filter(cx, args.filter)
    }
}

/// Only a project that was asked for: events of nodes belong to none.
fn filter(cx: &Cx, args: EventFilterArgs) -> EventListQuery {
    let (object, id, name) = about(args.object, args.id);
    EventListQuery {
        project: given(&cx.globals.project).map(str::to_owned),
        kind: args.kind,
        object,
        id,
        name,
        cause: args.cause,
        filter: args.filter,
        ..EventListQuery::default()
    }
}

/// Kind, id and name; what looks like an id is one, and names of events of one's own are.
fn about(
    object: Option<EventObject>,
    id: Option<String>,
) -> (Option<ObjectKind>, Option<String>, Option<String>) {
    let Some(object) = object else { return (None, id, None) };
    match object.name {
        Some(name) if object.kind == ObjectKind::Custom || name.parse::<EventId>().is_ok() => {
            (Some(object.kind), Some(name), None)
        }
        name => (Some(object.kind), id, name),
    }
}

async fn export(cx: &Cx, args: EventExportArgs) -> Outcome {
    let EventListQuery { project, kind, object, id, name, cause, filter, .. } =
        filter(cx, args.filter);
    let query = EventExportQuery {
        project,
        kind,
        object,
        id,
        name,
        cause,
        filter,
        since: args.since.map(|when| when.moment(cx.now())),
        until: args.until.map(|when| when.moment(cx.now())),
        after: args.after,
        limit: PAGE,
        cursor: None,
    };
    let (link, mut count) = (cx.link()?, 0);
    let events = link.client.pages::<EventExport, EventView>(&NONE, &query, None)?;
    let mut parts = events.try_chunks(LINES);
    while let Some(part) = parts.try_next().await.map_err(|error| error.1)? {
        let mut text = String::new();
        count += part.len();
        for event in &part {
            text.push_str(&output::compact(event)?);
            text.push('\n');
        }
        cx.ui.data(text.as_bytes())?;
    }
    if count == 0 {
        cx.ui.say("there are no such events yet: nothing was written");
    }
    Ok(DONE)
}

async fn emit(cx: &Cx, args: EventEmitArgs) -> Outcome {
    let payload = match (&args.payload, &args.payload_file) {
        (Some(text), _) => Some(json(text.as_bytes(), "--payload")?),
        (None, Some(file)) => Some(json(&input(cx, file)?, &file.display().to_string())?),
        (None, None) => None,
    };
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let kind = EventName::Custom(args.name);
    let body = EventEmitBody { kind, message: args.message, payload };
    let told = link.client.call::<EventEmit>(&path, &NONE, &body).await?;
    cx.changed(&told, "told")
}

fn json(bytes: &[u8], place: &str) -> Result<Value, Failure> {
    serde_json::from_slice(bytes).map_err(|error| {
        Failure::usage(
            format!("{place} is not JSON: {error}"),
            "write it as JSON, such as '{\"version\":\"3.2\"}'; text stands in \"quotes\"",
        )
    })
}

fn input(cx: &Cx, file: &Path) -> Result<Vec<u8>, Failure> {
    if file == Path::new(STDIN) {
        return cx.ui.input_bytes();
    }
    std::fs::read(file).map_err(|error| {
        Failure::usage(
            format!("{} cannot be read: {error}", file.display()),
            "name a file that is there, or `-` for stdin",
        )
    })
}
