//! Arrays of tasks, and gangs.
//!
//! Where a task is expected, an array is `array/NAME`, or `task-array/NAME` as `-o name` prints it. Waiting
//! asks how many are where, more seldom the longer it takes, at last once a second; losing the server for a while does not end it.

use std::time::Duration;

use futures::TryStreamExt;
use hostler_api::ProjectPath;
use hostler_api::task::{
    ArrayGet, ArrayKill, ArrayList, ArrayListQuery, ArrayPath, ArrayView, LogsQuery, TaskKillBody,
    TaskList, TaskListQuery, TaskView,
};
use hostler_model::{Code, Span, TaskStateKind};
use tokio::time::Instant;

use super::progress::{Speed, Tally};
use super::wait::{deadline, settle, timed_out};
use super::{Cx, DONE, Link, NONE, PAGE, logs, pause};
use crate::args::{ArrayCommand, ArrayLogsArgs, ListArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, ArrayTask, counted};

/// How often the counts are asked for, once it takes long.
const STEP: Duration = Duration::from_secs(1);

pub async fn perform(cx: &Cx, command: ArrayCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        ArrayCommand::Ls(list) => {
            let path = ProjectPath { project: link.project.clone() };
            let query = ArrayListQuery { filter: list.filter, limit: PAGE, cursor: None };
            cx.list::<ArrayList, _>(&link, &path, &query, list.limit).await
        }
        ArrayCommand::Get(args) => {
            let path = path(&link, &args.array);
            cx.one(&link.client.call::<ArrayGet>(&path, &NONE, &NONE).await?)
        }
        ArrayCommand::Tasks(args) => {
            tasks(cx, &link, &args.array.array, args.state, args.list).await
        }
        ArrayCommand::Logs(args) => output_of(cx, &link, args).await,
        ArrayCommand::Kill(args) => {
            for array in &args.arrays {
                kill(cx, &link, array, args.grace).await?;
            }
            Ok(DONE)
        }
        ArrayCommand::Wait(args) => {
            let (until, mut exit) = (deadline(args.timeout), DONE);
            for array in &args.arrays {
                exit = exit.max(ended(cx, &link, array, until, args.timeout).await?);
            }
            Ok(exit)
        }
    }
}

/// The name of an array that stands where a task could.
pub fn bare(given: &str) -> Option<&str> {
    given.strip_prefix("task-array/").or_else(|| given.strip_prefix("array/"))
}

fn path(link: &Link, array: &str) -> ArrayPath {
    let array = bare(array).unwrap_or(array).to_owned();
    ArrayPath { project: link.project.clone(), array }
}

/// The name is data, so that a script can go on with it.
pub fn submitted(cx: &Cx, array: &ArrayView) -> Outcome {
    if cx.ui.format().is_some() || cx.ui.is_quiet() {
        return cx.one(array);
    }
    let what = if array.is_gang { "a gang" } else { "an array" };
    cx.ui.say(&format!(
        "submitted {what} of {}; `hostler task array wait {}` waits for them",
        counted(array.size, "task"),
        array.name
    ));
    cx.ui.line(array.name.as_str())?;
    Ok(DONE)
}

pub async fn kill(cx: &Cx, link: &Link, name: &str, grace: Option<Span>) -> Outcome {
    let body = TaskKillBody { grace };
    let client = link.client.with_timeout(Duration::from_mins(2));
    let array = client.call::<ArrayKill>(&path(link, name), &NONE, &body).await?;
    let what = if array.unsettled == 0 { "has ended" } else { "is being stopped" };
    cx.changed(&array, what)
}

fn query(
    link: &Link,
    name: &str,
    state: Option<TaskStateKind>,
    filter: Option<String>,
) -> TaskListQuery {
    let array = Some(path(link, name).array);
    TaskListQuery { array, state, filter, limit: PAGE, ..TaskListQuery::default() }
}

/// Lists the tasks of an array.
pub async fn tasks(
    cx: &Cx,
    link: &Link,
    name: &str,
    state: Option<TaskStateKind>,
    list: ListArgs,
) -> Outcome {
    let path = ProjectPath { project: link.project.clone() };
    let query = query(link, name, state, list.filter);
    let pages = link.client.pages::<TaskList, _>(&path, &query, list.limit)?;
    let items: Vec<ArrayTask> = pages.map_ok(ArrayTask).try_collect().await?;
    output::list(&cx.ui, cx.now(), &items)?;
    Ok(DONE)
}

async fn output_of(cx: &Cx, link: &Link, args: ArrayLogsArgs) -> Outcome {
    let path = ProjectPath { project: link.project.clone() };
    let query = query(link, &args.array.array, args.state, None);
    let mut tasks: Vec<TaskView> =
        link.client.pages::<TaskList, _>(&path, &query, None)?.try_collect().await?;
    tasks.retain(|task| task.status.time_started.is_some());
    tasks.sort_by_key(|task| task.array.map(|seat| seat.index));
    let query = LogsQuery { tail: args.tail, ..LogsQuery::default() };
    for task in &tasks {
        cx.ui.say(&format!("==> {} ({}) <==", task.name, task.status.state));
        let path = link.task(&task.id.to_string());
        match logs::print(cx, &link.client, &path, &query, || {}).await {
            Err(Failure::Client(error))
                if error.is(Code::NodeUnreachable) || error.is(Code::Conflict) =>
            {
                cx.ui.warn(&format!("its output cannot be read now: {error}"));
            }
            other => {
                other?;
            }
        }
    }
    Ok(DONE)
}

/// Waits until all tasks of an array have ended; shows how far they are where somebody looks.
pub async fn ended(
    cx: &Cx,
    link: &Link,
    name: &str,
    until: Option<Instant>,
    timeout: Option<Span>,
) -> Outcome {
    let path = path(link, name);
    let begun = Instant::now();
    let fetch = async |length: Span| {
        pause((begun.elapsed() / 10).min(STEP).min(length.duration())).await;
        link.client.call::<ArrayGet>(&path, &NONE, &NONE).await
    };
    let bar = cx.ui.bar();
    let mut speed = Speed::default();
    let progress = |array: &ArrayView| {
        let tally = Tally::of(array);
        let speed = speed.at(begun.elapsed(), tally.ended(), array.size - tally.ended());
        bar.show(array.size, tally.ended(), &format!("{}{speed}", tally.words()));
    };
    let ended = settle(until, fetch, |array: &ArrayView| array.unsettled == 0, progress).await?;
    drop(bar);
    let Some(array) = ended else {
        return Err(timed_out(&format!("array {}", path.array), timeout));
    };
    if cx.ui.format().is_some() {
        cx.one(&array)?;
    } else {
        cx.ui.say(&format!("array {}: {}", array.name, Tally::of(&array).words()));
    }
    Ok(if array.unsuccessful == 0 { DONE } else { exit::Code::Unhealthy.number() })
}
