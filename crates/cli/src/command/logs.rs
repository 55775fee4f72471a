//! Output of tasks.

use std::cell::RefCell;
use std::convert::Infallible;
use std::time::Duration;

use futures::StreamExt;
use hostler_api::task::{
    Explanation, LogLine, LogsQuery, OutputStream, TaskExplain, TaskGet, TaskGetQuery, TaskPath,
};
use hostler_client::{Client, decode_data};
use hostler_model::{Name, TaskStateKind};

use super::{Cx, DONE, NONE, pause};
use crate::args::LogsArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};
use crate::ui::Spinner;

/// How often it is looked why there is no output yet.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After so many looks somebody who sees no spinner is told.
const LOOKS_IN_SILENCE: u32 = 3;

pub async fn logs(cx: &Cx, args: LogsArgs) -> Outcome {
    let link = cx.link()?;
    let query = LogsQuery {
        follow: args.follow.then_some(true),
        stream: args.stream,
        tail: args.tail,
        cursor: None,
    };
    let path = link.task(&args.task);
    let is_complete = match args.follow {
        true => follow(cx, &link.client, &path, &query).await?,
        false => print(cx, &link.client, &path, &query, || {}).await?,
    };
    if args.follow && !is_complete {
        cx.ui.warn("the output ends here, but the task has not ended or its node is away");
    }
    Ok(DONE)
}

/// Prints output as it comes, and until there is some says what the task waits for; says whether it was
/// all.
pub async fn follow(
    cx: &Cx,
    client: &Client,
    path: &TaskPath,
    query: &LogsQuery,
) -> Result<bool, Failure> {
    let spinner = RefCell::new(Some(cx.ui.spinner("waiting for output")));
    let printing = print(cx, client, path, query, || drop(spinner.take()));
    tokio::select! {
        biased;
        printed = printing => printed,
        never = tell_of_wait(cx, client, path, &spinner) => match never {},
    }
}

async fn tell_of_wait(
    cx: &Cx,
    client: &Client,
    path: &TaskPath,
    spinner: &RefCell<Option<Spinner>>,
) -> Infallible {
    for look in 1.. {
        pause(LOOK_EVERY).await;
        // Whoever prints tells of what goes wrong.
        let Ok(task) = client.call::<TaskGet>(path, &TaskGetQuery::default(), &NONE).await else {
            continue;
        };
        let is_waiting = matches!(
            task.status.state,
            TaskStateKind::PendingApproval | TaskStateKind::Pending | TaskStateKind::Assigning
        );
        let is_silent = spinner.borrow().as_ref().is_some_and(|spinner| {
            let words =
                if is_waiting { task.status.message.as_str() } else { "waiting for output" };
            spinner.message(words.to_owned());
            true
        });
        if !is_waiting || !is_silent {
            break;
        }
        if look == LOOKS_IN_SILENCE {
            let explained = client.call::<TaskExplain>(path, &NONE, &NONE).await;
            let words = explained.map_or(task.status.message, |why| reason(&task.name, &why));
            cx.ui.say(&format!("task {}: {words}", task.name));
        }
    }
    std::future::pending().await
}

/// Why a task waits, on one line.
fn reason(name: &Name, why: &Explanation) -> String {
    let Explanation { summary, nodes, .. } = why;
    match nodes.as_slice() {
        [] => summary.clone(),
        [one] if !one.reasons.is_empty() => format!("{summary}: {}", one.reasons.join("; ")),
        _ => format!("{summary}; `hostler explain {name}` says why for each"),
    }
}

/// Prints output as it comes, bytes as they are; says whether it was all. `first` is called before
/// anything is printed.
pub async fn print(
    cx: &Cx,
    client: &Client,
    path: &TaskPath,
    query: &LogsQuery,
    first: impl FnOnce(),
) -> Result<bool, Failure> {
    let mut lines = client.logs(path, query)?;
    let mut first = Some(first);
    while let Some(line) = lines.next().await {
        let line = line?;
        if let Some(first) = first.take() {
            first();
        }
        if let Some(Format::Json | Format::Jsonl) = cx.ui.format() {
            cx.ui.line(&output::compact(&line)?)?;
        } else {
            plain(cx, &line)?;
        }
        if let LogLine::End { complete } = line {
            return Ok(complete);
        }
    }
    Ok(false)
}

fn plain(cx: &Cx, line: &LogLine) -> Result<(), Failure> {
    match line {
        LogLine::Data { stream: OutputStream::Stdout, data, .. } => cx.ui.data(&decode_data(data)?),
        LogLine::Data { stream: OutputStream::Stderr, data, .. } => {
            cx.ui.error_data(&decode_data(data)?)
        }
        LogLine::Gap { detail } => {
            cx.ui.warn(&format!("output is missing here: {detail}"));
            Ok(())
        }
        LogLine::End { .. } => Ok(()),
    }
}
