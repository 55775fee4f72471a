//! Tasks.

use futures::TryStreamExt;
use hostler_api::ProjectPath;
use hostler_api::record::{EventList, EventListQuery};
use hostler_api::task::{
    RunList, TaskBatchView, TaskExplain, TaskGet, TaskGetQuery, TaskKill, TaskKillBody, TaskList,
    TaskListQuery, TaskRemove, TaskSubmit, TaskSubmitBatch, TaskView,
};
use hostler_model::{ObjectKind, TaskStateKind};

use super::spec::{self, Submission};
use super::{Cx, DONE, Link, NONE, PAGE, explain, logs, wait, watch};
use crate::args::{SubmitArgs, TaskCommand, TaskKillArgs, TaskListArgs, TaskRemoveArgs, WaitArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description, Format, age, moment};

pub async fn perform(cx: &Cx, command: TaskCommand) -> Outcome {
    match command {
        TaskCommand::Submit(args) => submit(cx, *args).await,
        TaskCommand::Ls(args) => ls(cx, args).await,
        TaskCommand::Describe(args) if cx.is_for_people() => describe(cx, &args.task).await,
        TaskCommand::Get(args) | TaskCommand::Describe(args) => {
            let link = cx.link()?;
            cx.one(&get(&link, &args.task).await?)
        }
        TaskCommand::Logs(args) => logs::logs(cx, args).await,
        TaskCommand::Wait(args) => wait::wait(cx, args).await,
        TaskCommand::Kill(args) => kill(cx, args).await,
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

async fn get(link: &Link, name: &str) -> Result<TaskView, Failure> {
    Ok(link.client.call::<TaskGet>(&link.task(name), &TaskGetQuery::default(), &NONE).await?)
}

async fn submit(cx: &Cx, args: SubmitArgs) -> Outcome {
    let submission = spec::build(&cx.ui, args.spec)?;
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let names = match submission {
        Submission::One(body) => {
            let task = link.client.call::<TaskSubmit>(&path, &NONE, &body).await?;
            if !args.wait {
                return submitted(cx, &task);
            }
            vec![task.name.to_string()]
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
    cx.ui.say(&format!("submitted; `hostler logs -f {}` shows its output", task.name));
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
            cx.ui.say(&format!("submitted {} tasks", made.tasks.len()));
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
    let query = TaskListQuery { state: args.state, limit: PAGE, ..TaskListQuery::default() };
    cx.list::<TaskList, _>(&link, &path, &query, args.limit.limit).await
}

/// Names of all tasks of the project for which `is_meant` holds.
async fn all(
    link: &Link,
    state: Option<TaskStateKind>,
    is_meant: fn(TaskStateKind) -> bool,
) -> Result<Vec<String>, Failure> {
    let path = ProjectPath { project: link.project.clone() };
    let query = TaskListQuery { state, limit: PAGE, ..TaskListQuery::default() };
    let tasks: Vec<TaskView> =
        link.client.pages::<TaskList, _>(&path, &query, None)?.try_collect().await?;
    let meant = tasks.into_iter().filter(|task| is_meant(task.status.state));
    Ok(meant.map(|task| task.id.to_string()).collect())
}

async fn kill(cx: &Cx, args: TaskKillArgs) -> Outcome {
    let link = cx.link()?;
    let mut tasks = args.tasks;
    if args.all {
        tasks = all(&link, None, |state| !state.is_settled()).await?;
        cx.ui.confirm(&format!("Stop {} tasks of project {}?", tasks.len(), link.project))?;
    }
    let body = TaskKillBody { grace: args.grace };
    for task in &tasks {
        let task = link.client.call::<TaskKill>(&link.task(task), &NONE, &body).await?;
        let what = if task.status.state.is_settled() { "has ended" } else { "is being stopped" };
        cx.changed(&task, what)?;
    }
    Ok(DONE)
}

async fn rm(cx: &Cx, args: TaskRemoveArgs) -> Outcome {
    let link = cx.link()?;
    let mut tasks = args.tasks;
    if args.all {
        tasks = all(&link, args.state, TaskStateKind::is_settled).await?;
        cx.ui.confirm(&format!("Remove {} tasks of project {}?", tasks.len(), link.project))?;
    }
    for task in &tasks {
        let path = link.task(task);
        link.client.call::<TaskRemove>(&path, &NONE, &NONE).await?;
        cx.ui.say(&format!("task {} removed", path.task));
    }
    Ok(DONE)
}

async fn describe(cx: &Cx, name: &str) -> Outcome {
    let link = cx.link()?;
    let task = get(&link, name).await?;
    let path = link.task(&task.id.to_string());
    let query = EventListQuery {
        object: Some(ObjectKind::Task),
        id: Some(task.id.to_string()),
        limit: Some(20),
        ..EventListQuery::default()
    };
    let explanation = link.client.call::<TaskExplain>(&path, &NONE, &NONE).await?;
    let runs = link.client.call::<RunList>(&path, &NONE, &NONE).await?;
    let events = link.client.call::<EventList>(&NONE, &query, &NONE).await?;
    let now = cx.now();

    let mut text = Description::default();
    about(&mut text, &task, now);
    text.section("Why").text(explanation.summary);
    explanation.hints.into_iter().for_each(|hint| {
        text.text(format!("hint: {hint}"));
    });
    text.section("Runs");
    for run in runs.items {
        let exit = run.exit.map(|exit| format!(", {exit}")).unwrap_or_default();
        text.text(format!("{} attempt {}: {}{exit}", run.id, run.attempt, run.state));
    }
    text.section("Events");
    for event in events.items {
        text.text(format!("{:>8}  {}", age(event.time, now), event.message));
    }
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}

fn about(text: &mut Description, task: &TaskView, now: hostler_model::Timestamp) {
    let (spec, status) = (&task.spec, &task.status);
    let time = |time: hostler_model::Timestamp| {
        format!("{} ({})", moment(time, now, true), age(time, now))
    };
    text.pair("Name", task.name.to_string())
        .pair("Id", task.id.to_string())
        .pair("Project", task.project.to_string())
        .pair("State", format!("{}: {}", status.state, status.message))
        .pair("Node", status.node.as_ref().map(ToString::to_string))
        .pair("Pid", status.pid.map(|pid| pid.to_string()))
        .pair("Exit", status.exit.as_ref().map(ToString::to_string))
        .pair("Created", format!("{} by {}", time(task.time_created), task.created_by))
        .pair("Started", status.time_started.map(time))
        .pair("Ended", status.time_ended.map(time));
    text.section("Spec")
        .pair("Command", quoted(&spec.command))
        .pair(
            "Env",
            spec.env.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("\n"),
        )
        .pair("Workdir", spec.workdir.clone())
        .pair("User", spec.user.clone())
        .pair("Timeout", spec.timeout.map(|timeout| timeout.to_string()))
        .pair("Stop", format!("{}, then SIGKILL after {}", spec.stop.signal, spec.stop.grace))
        .pair("Cores", spec.resources.cores.to_string())
        .pair("Memory", spec.resources.memory.to_string())
        .pair("On node", spec.placement.node.as_ref().map(ToString::to_string))
        .pair(
            "Selector",
            spec.placement
                .selector
                .iter()
                .map(|(k, v)| format!("{k}={v}"))
                .collect::<Vec<_>>()
                .join(","),
        );
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
