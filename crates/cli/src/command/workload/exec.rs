//! Commands beside workloads: their output, their exit code.

use futures::StreamExt;
use hostler_api::workload::{ExecLine, WorkloadExecBody};
use hostler_client::{decode_data, encode_data};
use hostler_model::OutputStream;

use super::super::Cx;
use crate::args::WorkloadExecArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};

pub async fn exec(cx: &Cx, args: WorkloadExecArgs) -> Outcome {
    let link = cx.link()?;
    let stdin = match args.stdin {
        true => Some(encode_data(&cx.ui.input_bytes()?)),
        false => None,
    };
    let body =
        WorkloadExecBody { command: args.command, node: args.node, stdin, timeout: args.timeout };
    let mut lines = link.client.exec(&link.workload(&args.workload), &body).await?;
    while let Some(line) = lines.next().await {
        let line = line?;
        if let Some(Format::Json | Format::Jsonl) = cx.ui.format() {
            cx.ui.line(&output::compact(&line)?)?;
        }
        match line {
            ExecLine::Exit { code, signal, is_timed_out } => {
                if is_timed_out {
                    cx.ui.warn("the command took longer than allowed and was killed");
                }
                return Ok(shell_code(code, signal));
            }
            ExecLine::Broken { detail } => return Err(broken(&detail)),
            line => shown(cx, &line)?,
        }
    }
    Err(broken("the answer ended before the command did"))
}

fn shown(cx: &Cx, line: &ExecLine) -> Result<(), Failure> {
    let is_plain = !matches!(cx.ui.format(), Some(Format::Json | Format::Jsonl));
    match line {
        ExecLine::Data { stream: OutputStream::Stdout, data, .. } if is_plain => {
            cx.ui.task_data(&decode_data(data)?)
        }
        ExecLine::Data { stream: OutputStream::Stderr, data, .. } if is_plain => {
            cx.ui.task_error_data(&decode_data(data)?)
        }
        ExecLine::Gap { detail } => {
            cx.ui.warn(&format!("output is missing here: {detail}"));
            Ok(())
        }
        ExecLine::Data { .. } | ExecLine::Exit { .. } | ExecLine::Broken { .. } => Ok(()),
    }
}

fn broken(detail: &str) -> Failure {
    Failure::told(
        exit::Code::Unreachable,
        format!("it is not known how the command ended: {detail}"),
        "the command is killed when its connection is lost; look before you run it again",
    )
}

/// What a shell would show.
fn shell_code(code: Option<i32>, signal: Option<i32>) -> u8 {
    let number = match (code, signal) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(number & 0xff).unwrap_or(1)
}
