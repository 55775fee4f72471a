//! `hostler run`: submit, show the output, end as the task ends.
//!
//! Ctrl-C leaves the task alone and says how to go on, unless `--cancel-on-interrupt` was given; then
//! the first stops the task and the second leaves. Losing the output does not end the command: what
//! counts is how the task ends.

use std::pin::pin;
use std::time::Duration;

use hostler_api::ProjectPath;
use hostler_api::task::{LogsQuery, TaskKill, TaskKillBody, TaskPath, TaskSubmit, TaskView};
use hostler_model::{Code, ExitReason};

use super::spec::{self, Many, Submission};
use super::telling::{Telling, is_waiting};
use super::{Cx, Link, NONE, files, logs, pause, task, wait};
use crate::args::RunArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// What has just begun has output a moment later.
const OUTPUT_SOON: Duration = Duration::from_millis(50);

pub async fn run(cx: &Cx, mut args: RunArgs) -> Outcome {
    let given = std::mem::take(&mut args.spec.files);
    let mut submission = spec::build(&cx.ui, args.spec, Many::default())?;
    let link = cx.link()?;
    files::attach(cx, &link, &mut submission, given).await?;
    let body = match submission {
        Submission::One(body) => body,
        Submission::Batch(_) | Submission::Array(_) => {
            return Err(Failure::usage(
                "`run` runs one task, and the file has many",
                "submit them with `hostler task submit -f`, and wait with --wait",
            ));
        }
    };
    let path = ProjectPath { project: link.project.clone() };
    let task = link.client.call::<TaskSubmit>(&path, &NONE, &body).await?;
    if args.detach {
        return task::submitted(cx, &task);
    }
    let path = link.task(&task.id.to_string());
    let mut ending = pin!(follow(cx, &link, &path));
    let mut interrupts = 0;
    let ended = loop {
        tokio::select! {
            ended = &mut ending => break ended?,
            interrupt = tokio::signal::ctrl_c() => {
                interrupt?;
                interrupts += 1;
                if !args.cancel_on_interrupt || interrupts > 1 {
                    return Ok(detached(cx, &task));
                }
                cx.ui.say(&format!("stopping task {}; Ctrl-C again leaves it to stop by itself", task.name));
                link.client.call::<TaskKill>(&path, &NONE, &TaskKillBody::default()).await?;
            }
        }
    };
    Ok(exit_of(cx, &ended))
}

fn detached(cx: &Cx, task: &TaskView) -> u8 {
    let name = &task.name;
    cx.ui.say(&format!(
        "\ntask {name} goes on; `hostler logs -f {name}` shows its output, `hostler wait {name}` waits, `hostler task kill {name}` stops it"
    ));
    exit::INTERRUPTED
}

/// Shows the output until there is no more, then waits for the end.
async fn follow(cx: &Cx, link: &Link, path: &TaskPath) -> Result<TaskView, Failure> {
    let query = LogsQuery { follow: Some(true), ..LogsQuery::default() };
    loop {
        match logs::follow(cx, &link.client, path, &query).await {
            Ok(true) => break,
            Ok(false) => {
                cx.ui.warn("the output may be incomplete: its node is away");
                break;
            }
            Err(Failure::Client(error)) if error.is(Code::Conflict) => {
                if begun(cx, link, path).await? {
                    continue;
                }
                break;
            }
            Err(Failure::Client(error)) if error.is_transient() => {
                cx.ui.warn(&format!(
                    "the output cannot be shown: {error}; waiting for the end of the task"
                ));
                break;
            }
            Err(failure) => return Err(failure),
        }
    }
    let ended = wait::task(&link.client, path, None, |_| {}).await?;
    ended.ok_or_else(|| wait::timed_out("the task", None))
}

/// Waits until there can be output; false when the task ended without ever running.
async fn begun(cx: &Cx, link: &Link, path: &TaskPath) -> Result<bool, Failure> {
    let telling = Telling::new(cx, &link.client, path, "waiting for a node");
    loop {
        let task = telling.look().await?;
        if is_waiting(&task) {
            pause(LOOK_EVERY).await;
        } else if task.status.state.is_settled() {
            return Ok(task.status.run.is_some() && task.status.time_started.is_some());
        } else {
            pause(OUTPUT_SOON).await;
            return Ok(true);
        }
    }
}

fn exit_of(cx: &Cx, task: &TaskView) -> u8 {
    let is_plain = task.status.exit.as_ref().is_some_and(|exit| exit.reason == ExitReason::Exited);
    if !is_plain {
        cx.ui.warn(&format!("task {}: {}", task.name, task.status.message));
    }
    match &task.status.exit {
        Some(exit) => exit.shell_code(),
        None => exit::Code::Unhealthy.number(),
    }
}
