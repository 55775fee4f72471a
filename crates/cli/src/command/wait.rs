//! Waiting for things to end, through restarts of the server.

use std::time::Duration;

use hostler_api::task::{TaskGet, TaskGetQuery, TaskPath, TaskView};
use hostler_client::{Client, Error};
use hostler_model::{Span, TaskStateKind};
use tokio::time::Instant;

use super::{Cx, DONE, Link, NONE, array, bare, operation, pause};
use crate::args::WaitArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

/// How long one question to the server lasts.
const QUESTION: Duration = Duration::from_secs(30);
/// How long a server may be away while we wait.
const PATIENCE: Duration = Duration::from_mins(5);
/// A server that answers at once is not asked more often than this.
const PACE: Duration = Duration::from_millis(250);

/// Asks until what is fetched has settled; `None` when the deadline came first.
pub async fn settle<T>(
    deadline: Option<Instant>,
    fetch: impl AsyncFn(Span) -> Result<T, Error>,
    is_settled: impl Fn(&T) -> bool,
    mut progress: impl FnMut(&T),
) -> Result<Option<T>, Failure> {
    let mut last_answer = Instant::now();
    loop {
        let asked = Instant::now();
        let left = deadline.map_or(QUESTION, |deadline| deadline.saturating_duration_since(asked));
        let length = Span::from_millis(u64::try_from(left.min(QUESTION).as_millis()).unwrap_or(0));
        match fetch(length).await {
            Ok(value) if is_settled(&value) => return Ok(Some(value)),
            Ok(value) => {
                last_answer = Instant::now();
                progress(&value);
            }
            Err(error) if error.is_transient() && last_answer.elapsed() < PATIENCE => {}
            Err(error) => return Err(error.into()),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        if asked.elapsed() < PACE {
            pause(PACE).await;
        }
    }
}

/// Waits for a task.
pub async fn task(
    client: &Client,
    path: &TaskPath,
    deadline: Option<Instant>,
    progress: impl FnMut(&TaskView),
) -> Result<Option<TaskView>, Failure> {
    let client = client.with_timeout(QUESTION + Duration::from_secs(15));
    let fetch = async |length: Span| {
        let query = TaskGetQuery { wait: Some(length) };
        client.call::<TaskGet>(path, &query, &NONE).await
    };
    settle(deadline, fetch, |task| task.status.state.is_settled(), progress).await
}

pub fn deadline(timeout: Option<Span>) -> Option<Instant> {
    timeout.map(|timeout| Instant::now() + timeout.duration())
}

pub fn timed_out(what: &str, timeout: Option<Span>) -> Failure {
    Failure::told(
        exit::Code::TimedOut,
        format!("{what} has not ended within {}", timeout.unwrap_or_default()),
        "it goes on; wait again, or ask `hostler explain` why",
    )
}

pub async fn wait(cx: &Cx, args: WaitArgs) -> Outcome {
    let link = cx.link()?;
    let deadline = deadline(args.timeout);
    let (operations, rest): (Vec<_>, Vec<_>) =
        args.tasks.iter().partition(|name| name.starts_with("operation/"));
    let (arrays, tasks): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|name| array::bare(name).is_some());
    let mut exit = DONE;
    for id in operations {
        exit = exit.max(operation::wait(cx, &link, bare("operation", id), args.timeout).await?);
    }
    for name in arrays {
        exit = exit.max(array::ended(cx, &link, name, deadline, args.timeout).await?);
    }
    exit = exit.max(tasks_ended(cx, &link, &tasks, deadline, args.timeout).await?);
    Ok(exit)
}

async fn tasks_ended(
    cx: &Cx,
    link: &Link,
    names: &[&String],
    deadline: Option<Instant>,
    timeout: Option<Span>,
) -> Outcome {
    let mut ended = Vec::new();
    for name in names {
        let spinner = cx.ui.spinner(format!("waiting for {name}"));
        let path = link.task(name);
        let progress =
            |task: &TaskView| spinner.message(format!("{name}: {}", task.status.message));
        let Some(task) = task(&link.client, &path, deadline, progress).await? else {
            return Err(timed_out(&format!("task {name}"), timeout));
        };
        drop(spinner);
        if cx.ui.format().is_none() {
            cx.ui.say(&format!("task {}: {}", task.name, task.status.message));
        }
        ended.push(task);
    }
    if cx.ui.format().is_some() {
        output::list(&cx.ui, cx.now(), &ended)?;
    }
    let is_well = ended.iter().all(|task| task.status.state == TaskStateKind::Completed);
    Ok(if is_well { DONE } else { exit::Code::Unhealthy.number() })
}

impl Link {
    pub fn task(&self, name: &str) -> TaskPath {
        TaskPath { project: self.project.clone(), task: bare("task", name).to_owned() }
    }
}
