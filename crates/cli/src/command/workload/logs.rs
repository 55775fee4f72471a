//! Output of workloads.

use futures::StreamExt;
use hostler_api::workload::{WorkloadLogLine, WorkloadLogsQuery};
use hostler_client::decode_data;
use hostler_model::{Name, OutputStream, Timestamp};

use super::super::{Cx, DONE};
use crate::args::WorkloadLogsArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};

pub async fn logs(cx: &Cx, args: WorkloadLogsArgs) -> Outcome {
    let link = cx.link()?;
    let now = cx.now();
    let query = WorkloadLogsQuery {
        node: args.node,
        run: args.run,
        follow: args.follow.then_some(true),
        tail: args.tail,
        since: args.since.map(|when| when.moment(now)),
        until: args.until.map(|when| when.moment(now)),
        grep: args.grep,
        stream: args.stream,
        cursor: None,
    };
    let mut lines = link.client.workload_logs(&link.workload(&args.workload), &query)?;
    while let Some(line) = lines.next().await {
        let line = line?;
        if let Some(Format::Json | Format::Jsonl) = cx.ui.format() {
            cx.ui.line(&output::compact(&line)?)?;
        } else {
            plain(cx, &line, args.timestamps)?;
        }
        if let WorkloadLogLine::End { complete: false } = line {
            cx.ui.warn(
                "the output may be incomplete: the workload has not begun, or a node is away",
            );
        }
    }
    Ok(DONE)
}

fn plain(cx: &Cx, line: &WorkloadLogLine, has_time: bool) -> Result<(), Failure> {
    match line {
        WorkloadLogLine::Data { node, stream, time, data, .. } => {
            let mut text = beginning(node.as_ref(), has_time.then_some(*time)).into_bytes();
            text.extend(decode_data(data)?);
            match stream {
                OutputStream::Stdout => cx.ui.task_data(&text),
                OutputStream::Stderr => cx.ui.task_error_data(&text),
            }
        }
        WorkloadLogLine::Mark { node, time, detail, .. } => {
            let begin = beginning(node.as_ref(), time.filter(|_| has_time));
            cx.ui.say(&format!("{begin}--- {detail}"));
            Ok(())
        }
        WorkloadLogLine::Gap { node, detail } => {
            cx.ui.warn(&format!(
                "{}output is missing here: {detail}",
                beginning(node.as_ref(), None)
            ));
            Ok(())
        }
        WorkloadLogLine::End { .. } => Ok(()),
    }
}

fn beginning(node: Option<&Name>, time: Option<Timestamp>) -> String {
    let time = time.map(|time| format!("{time} ")).unwrap_or_default();
    let node = node.map(|node| format!("[{node}] ")).unwrap_or_default();
    time + &node
}
