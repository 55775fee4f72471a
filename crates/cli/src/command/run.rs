//! `hostler run`: submit, show the output, end as the task ends.
//!
//! Ctrl-C leaves the task alone and says how to go on, unless `--cancel-on-interrupt` was given; then
//! the first stops the task and the second leaves. Losing the output does not end the command: what
//! counts is how the task ends.

use std::pin::pin;
use std::time::Duration;

use hostler_api::ProjectPath;
use hostler_api::task::{
    LogsQuery, TaskGet, TaskGetQuery, TaskKill, TaskKillBody, TaskPath, TaskSubmit, TaskView,
};
use hostler_model::{Code, ExitReason, TaskStateKind};

use super::spec::{self, Many, Submission};
use super::{Cx, Link, NONE, files, logs, pause, task, wait};
use crate::args::RunArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};

const LOOK_EVERY: Duration = Duration::from_millis(200);
/// After so many looks somebody who sees no spinner is told what is waited for.
const LOOKS_IN_SILENCE: u32 = 15;

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
    let spinner = cx.ui.spinner("waiting for a node");
    let mut looks = 0;
    loop {
        let task = link.client.call::<TaskGet>(path, &TaskGetQuery::default(), &NONE).await?;
        spinner.message(task.status.message.clone());
        match task.status.state {
            TaskStateKind::PendingApproval | TaskStateKind::Pending | TaskStateKind::Assigning => {
                looks += 1;
                if looks == LOOKS_IN_SILENCE {
                    cx.ui.say(&format!("task {}: {}", task.name, task.status.message));
                }
                pause(LOOK_EVERY).await
            }
            TaskStateKind::Running | TaskStateKind::Paused => {
                pause(Duration::from_millis(50)).await;
                return Ok(true);
            }
            TaskStateKind::Completed
            | TaskStateKind::Failed
            | TaskStateKind::Killed
            | TaskStateKind::KilledOom
            | TaskStateKind::Stopped
            | TaskStateKind::Rejected
            | TaskStateKind::Lost => {
                return Ok(task.status.run.is_some() && task.status.time_started.is_some());
            }
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
