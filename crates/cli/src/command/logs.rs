//! Output of tasks.

use futures::StreamExt;
use hostler_api::task::{LogLine, LogsQuery, OutputStream, TaskPath};
use hostler_client::{Client, decode_data};

use super::telling::Telling;
use super::{Cx, DONE};
use crate::args::LogsArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};

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
    let telling = Telling::new(cx, client, path, "waiting for output");
    let printing = print(cx, client, path, query, || telling.end());
    tokio::select! {
        biased;
        printed = printing => printed,
        never = telling.keep_on() => match never {},
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
        LogLine::Data { stream: OutputStream::Stdout, data, .. } => {
            cx.ui.task_data(&decode_data(data)?)
        }
        LogLine::Data { stream: OutputStream::Stderr, data, .. } => {
            cx.ui.task_error_data(&decode_data(data)?)
        }
        LogLine::Gap { detail } => {
            cx.ui.warn(&format!("output is missing here: {detail}"));
            Ok(())
        }
        LogLine::End { .. } => Ok(()),
    }
}
