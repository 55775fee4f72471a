//! Executions that this machine knows of: a directory each, with a journal.

use std::path::{Path, PathBuf};

use hostler_flow::Past;
use hostler_model::filter::{Field, Fields, Filter};
use serde::Serialize;

use super::super::{Cx, DONE};
use crate::args::WorkflowExecutionsArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

/// What filters of them can name: all that is listed.
const FIELDS: &[Field] = &[
    Field::any("id"),
    Field::any("workflow"),
    Field::any("file"),
    Field::any("status"),
    Field::any("timeStarted"),
    Field::any("steps"),
];

/// Where they are.
pub fn folder(cx: &Cx) -> PathBuf {
    cx.environment.state_dir.join("executions")
}

/// Ids, newest first: they begin with the time.
fn ids(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut ids: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids
}

/// The one execution whose id begins like this.
pub fn find(cx: &Cx, beginning: &str) -> Result<PathBuf, Failure> {
    let folder = folder(cx);
    let mut found = ids(&folder).into_iter().filter(|id| id.starts_with(beginning));
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(folder.join(id)),
        (Some(_), Some(_)) => Err(Failure::usage(
            format!("several executions begin with `{beginning}`"),
            "give more of the id; `hostler workflow executions` lists them",
        )),
        (None, _) => Err(Failure::told(
            exit::Code::NotFound,
            format!("there is no execution `{beginning}`"),
            "`hostler workflow executions` lists those that this machine knows",
        )),
    }
}

/// Removes the journal of one that was refused before it began: there is nothing in it to go on with.
pub fn drop_unbegun(cx: &Cx, id: &str) {
    let path = folder(cx).join(id);
    let journal = std::fs::metadata(path.join("journal.jsonl"));
    if journal.is_ok_and(|journal| journal.len() == 0) {
        let _another_time = std::fs::remove_dir_all(path);
    }
}

/// Removes the oldest that are over, beyond what is worth keeping.
pub fn tidy(folder: &Path) {
    const KEPT: usize = 200;
    for id in ids(folder).into_iter().skip(KEPT) {
        let path = folder.join(id);
        if Past::of(&path).is_ok_and(|past| past.outcome.is_some()) {
            let _another_time = std::fs::remove_dir_all(path);
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    workflow: String,
    file: String,
    status: String,
    time_started: String,
    steps: usize,
}

fn read(filter: &str) -> Result<Filter, Failure> {
    Filter::read(filter, &Fields(FIELDS.into())).map_err(|mistake| {
        Failure::usage(format!("--filter: {mistake}"), "mend it where the mark is")
    })
}

pub fn list(cx: &Cx, args: &WorkflowExecutionsArgs) -> Outcome {
    let folder = folder(cx);
    let filter = match &args.list.filter {
        Some(text) => Some(read(text)?),
        None => None,
    };
    let mut listed = Vec::new();
    for id in ids(&folder) {
        let Ok(past) = Past::of(&folder.join(&id)) else { continue };
        let is_other = args.workflow.as_ref().is_some_and(|name| *name != past.workflow);
        if is_other || args.open && past.outcome.is_some() {
            continue;
        }
        if args.list.limit.is_some_and(|limit| listed.len() >= limit) {
            break;
        }
        let status = past
            .outcome
            .map_or_else(|| "unfinished".to_owned(), |outcome| outcome.label().to_owned());
        let began = jiff::Timestamp::from_second(past.now).unwrap_or_default();
        let one = Listed {
            id,
            workflow: past.workflow,
            file: past.bundle.name,
            status,
            time_started: began.to_string(),
            steps: past.results.len() + past.skipped.len() + past.open.len(),
        };
        let document = serde_json::to_value(&one).unwrap_or_default();
        if filter.as_ref().is_none_or(|filter| filter.matches(&document)) {
            listed.push(one);
        }
    }
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &listed)?;
        return Ok(DONE);
    }
    if listed.is_empty() {
        cx.ui.say("no workflow was run here yet; `hostler run FILE` runs one");
        return Ok(DONE);
    }
    let wide = listed.iter().map(|one| one.workflow.chars().count()).max().unwrap_or(0).max(8);
    cx.ui.line(&format!(
        "{:<36}  {:<wide$}  {:<10}  {:<20}  FILE",
        "EXECUTION", "WORKFLOW", "STATUS", "STARTED"
    ))?;
    for one in listed {
        cx.ui.line(&format!(
            "{:<36}  {:<wide$}  {:<10}  {:<20}  {}",
            one.id, one.workflow, one.status, one.time_started, one.file
        ))?;
    }
    Ok(DONE)
}
