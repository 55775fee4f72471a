//! Tasks.

use futures::TryStreamExt;
use hostler_api::ProjectPath;
use hostler_api::task::{
    ArraySubmit, RunList, TaskBatchView, TaskGet, TaskGetQuery, TaskKill, TaskKillBody, TaskList,
    TaskListQuery, TaskPause, TaskRemove, TaskResume, TaskRetry, TaskSubmit, TaskSubmitBatch,
    TaskView,
};
use hostler_model::TaskStateKind;

use super::spec::{self, Many, Submission};
use super::{Cx, DONE, Link, NONE, PAGE, array, explain, files, logs, task_describe, wait, watch};
use crate::args::{
    SubmitArgs, TaskCommand, TaskKillArgs, TaskListArgs, TaskRemoveArgs, TaskRetryArgs, WaitArgs,
};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format, counted};

pub async fn perform(cx: &Cx, command: TaskCommand) -> Outcome {
    match command {
        TaskCommand::Submit(args) => submit(cx, *args).await,
        TaskCommand::Ls(args) => ls(cx, args).await,
        TaskCommand::Describe(args) if cx.is_for_people() => {
            task_describe::describe(cx, &args.task).await
        }
        TaskCommand::Get(args) | TaskCommand::Describe(args) => {
            let link = cx.link()?;
            cx.one(&get(&link, &args.task).await?)
        }
        TaskCommand::Logs(args) => logs::logs(cx, args).await,
        TaskCommand::Wait(args) => wait::wait(cx, args).await,
        TaskCommand::Kill(args) => kill(cx, args).await,
        TaskCommand::Pause(args) => {
            let link = cx.link()?;
            for name in &args.tasks {
                let task = link.client.call::<TaskPause>(&link.task(name), &NONE, &NONE).await?;
                cx.changed(&task, paused(&task))?;
            }
            Ok(DONE)
        }
        TaskCommand::Resume(args) => {
            let link = cx.link()?;
            for name in &args.tasks {
                let task = link.client.call::<TaskResume>(&link.task(name), &NONE, &NONE).await?;
                cx.changed(&task, "goes on")?;
            }
            Ok(DONE)
        }
        TaskCommand::Retry(args) => retry(cx, args).await,
        TaskCommand::Outputs(args) => files::outputs(cx, &args.task).await,
        TaskCommand::Download(args) => files::download(cx, args).await,
        TaskCommand::Array(command) => array::perform(cx, command).await,
        TaskCommand::Rm(args) => rm(cx, args).await,
        TaskCommand::Explain(args) => explain::task(cx, &args.task).await,
        TaskCommand::Watch(args) => watch::tasks(cx, args.task.as_deref()).await,
        TaskCommand::Runs(args) => {
            let link = cx.link()?;
            let path = link.task(&args.task);
            cx.list::<RunList, _>(&link, &path, &NONE, None).await
        }
    }
}

pub(super) async fn get(link: &Link, name: &str) -> Result<TaskView, Failure> {
    Ok(link.client.call::<TaskGet>(&link.task(name), &TaskGetQuery::default(), &NONE).await?)
}

async fn submit(cx: &Cx, mut args: SubmitArgs) -> Outcome {
    let files = std::mem::take(&mut args.spec.files);
    let many = Many { range: args.array, nodes: args.nodes };
    let mut submission = spec::build(&cx.ui, args.spec, many)?;
    let link = cx.link()?;
    files::attach(cx, &link, &mut submission, files).await?;
    let path = ProjectPath { project: link.project.clone() };
    let names = match submission {
        Submission::One(body) => {
            let task = link.client.call::<TaskSubmit>(&path, &NONE, &body).await?;
            if !args.wait {
                return submitted(cx, &task);
            }
            vec![task.name.to_string()]
        }
        Submission::Array(body) => {
            let made = link.client.call::<ArraySubmit>(&path, &NONE, &body).await?;
            if !args.wait {
                return array::submitted(cx, &made);
            }
            return array::ended(cx, &link, &made.id.to_string(), None, None).await;
        }
        Submission::Batch(batch) => {
            let made = link.client.call::<TaskSubmitBatch>(&path, &NONE, &batch).await?;
            if !args.wait {
                return submitted_batch(cx, &made);
            }
            made.tasks.iter().map(|task| task.name.to_string()).collect()
        }
    };
    wait::wait(cx, WaitArgs { tasks: names, timeout: None }).await
}

/// The name is data, so that a script can go on with it.
pub fn submitted(cx: &Cx, task: &TaskView) -> Outcome {
    if cx.ui.format().is_some() || cx.ui.is_quiet() {
        return cx.one(task);
    }
    match task.status.state {
        TaskStateKind::PendingApproval => cx.ui.say(&format!(
            "submitted; it waits for an approval: `hostler task explain {}` says whose",
            task.name
        )),
        _ => cx.ui.say(&format!("submitted; `hostler logs -f {}` shows its output", task.name)),
    }
    cx.ui.line(task.name.as_str())?;
    Ok(DONE)
}

fn submitted_batch(cx: &Cx, made: &TaskBatchView) -> Outcome {
    match cx.ui.format() {
        _ if cx.ui.is_quiet() => {
            made.tasks.iter().try_for_each(|task| cx.ui.line(&task.id.to_string()))?
        }
        None | Some(Format::Table | Format::Wide) => {
            made.tasks.iter().try_for_each(|task| cx.ui.line(task.name.as_str()))?;
            cx.ui.say(&format!("submitted {}", counted(made.tasks.len(), "task")));
        }
        Some(Format::Name) => {
            made.tasks.iter().try_for_each(|task| cx.ui.line(&format!("task/{}", task.name)))?;
        }
        Some(format) => output::document(&cx.ui, format, made)?,
    }
    Ok(DONE)
}

async fn ls(cx: &Cx, args: TaskListArgs) -> Outcome {
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    if let Some(name) = &args.array {
        return array::tasks(cx, &link, name, args.state, args.list).await;
    }
    let query = TaskListQuery {
        state: args.state,
        filter: args.list.filter,
        limit: PAGE,
        ..TaskListQuery::default()
    };
    cx.list::<TaskList, _>(&link, &path, &query, args.list.limit).await
}

fn paused(task: &TaskView) -> &'static str {
    match task.status.state {
        TaskStateKind::Paused => "is paused",
        TaskStateKind::Pending | TaskStateKind::PendingApproval => "is held back",
        _ => "is being paused",
    }
}

/// Ids of all tasks of the project, or of an array, for which `is_meant` holds.
async fn all(
    link: &Link,
    state: Option<TaskStateKind>,
    array: Option<String>,
    is_meant: fn(TaskStateKind) -> bool,
) -> Result<Vec<String>, Failure> {
    let path = ProjectPath { project: link.project.clone() };
    let query = TaskListQuery { state, array, limit: PAGE, ..TaskListQuery::default() };
    let tasks: Vec<TaskView> =
        link.client.pages::<TaskList, _>(&path, &query, None)?.try_collect().await?;
    let meant = tasks.into_iter().filter(|task| is_meant(task.status.state));
    Ok(meant.map(|task| task.id.to_string()).collect())
}

async fn kill(cx: &Cx, args: TaskKillArgs) -> Outcome {
    let link = cx.link()?;
    let mut tasks = args.tasks;
    if args.all {
        tasks = all(&link, None, None, |state| !state.is_settled()).await?;
        cx.ui.confirm(&format!(
            "Stop {} of project {}?",
            counted(tasks.len(), "task"),
            link.project
        ))?;
    }
    let body = TaskKillBody { grace: args.grace };
    for task in &tasks {
        if array::bare(task).is_some() {
            array::kill(cx, &link, task, args.grace).await?;
            continue;
        }
        let task = link.client.call::<TaskKill>(&link.task(task), &NONE, &body).await?;
        let what = if task.status.state.is_settled() { "has ended" } else { "is being stopped" };
        cx.changed(&task, what)?;
    }
    Ok(DONE)
}

async fn retry(cx: &Cx, args: TaskRetryArgs) -> Outcome {
    let link = cx.link()?;
    let mut tasks = args.tasks;
    if let Some(name) = &args.array {
        let name = array::bare(name).unwrap_or(name);
        let is_meant =
            |state: TaskStateKind| state.is_settled() && state != TaskStateKind::Completed;
        tasks = all(&link, None, Some(name.to_owned()), is_meant).await?;
        if tasks.is_empty() {
            cx.ui.say(&format!("no task of array {name} ended otherwise than well"));
        }
    }
    for name in &tasks {
        let task = link.client.call::<TaskRetry>(&link.task(name), &NONE, &NONE).await?;
        cx.changed(&task, "is back in the queue")?;
    }
    Ok(DONE)
}

async fn rm(cx: &Cx, args: TaskRemoveArgs) -> Outcome {
    let link = cx.link()?;
    let mut tasks = args.tasks;
    if args.all {
        tasks = all(&link, args.state, None, TaskStateKind::is_settled).await?;
        cx.ui.confirm(&format!(
            "Remove {} of project {}?",
            counted(tasks.len(), "task"),
            link.project
        ))?;
    }
    for task in &tasks {
        let path = link.task(task);
        link.client.call::<TaskRemove>(&path, &NONE, &NONE).await?;
        cx.ui.say(&format!("task {} removed", path.task));
    }
    Ok(DONE)
}

/// Words as they would be typed.
pub(super) fn quoted(command: &[String]) -> String {
    let is_plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:=,@+%".contains(&b))
    };
    let words = command.iter().map(|word| {
        if is_plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    words.collect::<Vec<_>>().join(" ")
}
