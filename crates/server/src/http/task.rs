//! Tasks, their runs and their output.

use hostler_api::task::{
    Explanation, LogLine, RunList, RunView, TaskBatchView, TaskExplain, TaskGet, TaskKill,
    TaskList, TaskLogs, TaskPause, TaskRemove, TaskResume, TaskRetry, TaskSubmit, TaskSubmitBatch,
    TaskSubmitBody, TaskView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{NewTask, OutputQuery, TaskDetail};
use hostler_model::{Caller, Diagnostic, Error, Span};

use super::error::malformed;
use super::gather::Gather;
use super::logs;
use super::watch::{self, Watched};
use super::{Answer, App, Call, gather, page, view};

/// The longest a caller may wait in one request.
const WAIT_MAX: Span = Span::from_secs(60);

/// Reads a `wait` parameter.
pub(crate) fn patience(wait: Option<Span>) -> Result<Option<std::time::Duration>, Error> {
    match wait {
        Some(wait) if wait > WAIT_MAX => {
            let detail = format!("wait is at most {WAIT_MAX}");
            let mut error = malformed(detail.clone(), "ask again when the time is over");
            error.errors = vec![Diagnostic::new("/query/wait", detail)];
            Err(error)
        }
        wait => Ok(wait.map(Span::duration)),
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<TaskList>,
) -> Result<Answer<Listing<TaskView>>, Error> {
    if call.query.watch == Some(true) {
        let cursor = call.query.cursor.clone();
        let asked = gather::filter::<TaskList>(call.query.filter.as_deref())?;
        let watched = Watched::Tasks { project: call.project().clone(), state: call.query.state };
        return watch::open(app, call, cursor, watched, asked).await;
    }
    let mut list = Gather::of::<TaskList>(&call.query)?;
    let head = app.control().event_head().await?;
    let states = call.query.state.as_slice();
    let array = call.query.array.as_deref();
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let tasks =
            control.task_list(&call.cx, project, states, array, ask.after(), ask.limit).await?;
        list.take(tasks, |task| view::task(&call.cx.caller, task))?;
    }
    let mut listing = list.listing();
    listing.watch_cursor = Some(head.to_string());
    Ok(Answer::new(listing))
}

fn new_task(body: TaskSubmitBody) -> NewTask {
    NewTask { name: body.name, spec: body.spec }
}

pub(crate) async fn submit(app: App, call: Call<TaskSubmit>) -> Result<Answer<TaskView>, Error> {
    let problems = call.body.spec.problems("/spec");
    if !problems.is_empty() {
        return Err(Error::invalid(problems));
    }
    let new = vec![new_task(call.body.clone())];
    let made = app.control().task_submit(&call.cx, call.project(), new).await?;
    let task = made
        .into_iter()
        .next()
        .ok_or_else(|| Error::internal("one task was submitted and none came back"))?;
    let location = format!("/api/v1/projects/{}/tasks/{}", task.project, task.workload.name);
    Ok(shown(&call.cx.caller, task).with_location(location))
}

pub(crate) async fn submit_batch(
    app: App,
    call: Call<TaskSubmitBatch>,
) -> Result<Answer<TaskBatchView>, Error> {
    let tasks = &call.body.tasks;
    if !(1..=1000).contains(&tasks.len()) {
        let detail = "a batch has 1 to 1000 tasks";
        return Err(Error::invalid(vec![Diagnostic::new("/tasks", detail)]));
    }
    let problems: Vec<Diagnostic> = tasks
        .iter()
        .enumerate()
        .flat_map(|(index, task)| task.spec.problems(&format!("/tasks/{index}/spec")))
        .collect();
    if !problems.is_empty() {
        return Err(Error::invalid(problems));
    }
    let new = tasks.iter().cloned().map(new_task).collect();
    let made = app.control().task_submit(&call.cx, call.project(), new).await?;
    Ok(Answer::new(TaskBatchView { tasks: made.into_iter().map(view::task_ref).collect() }))
}

pub(crate) async fn get(app: App, call: Call<TaskGet>) -> Result<Answer<TaskView>, Error> {
    let (control, project, task) = (app.control(), call.project(), &call.path.task);
    let detail = match patience(call.query.wait)? {
        Some(patience) => control.task_wait(&call.cx, project, task, patience).await?,
        None => control.task_get(&call.cx, project, task).await?,
    };
    Ok(shown(&call.cx.caller, detail))
}

pub(crate) async fn kill(app: App, call: Call<TaskKill>) -> Result<Answer<TaskView>, Error> {
    let detail =
        app.control().task_kill(&call.cx, call.project(), &call.path.task, call.body.grace).await?;
    Ok(shown(&call.cx.caller, detail))
}

pub(crate) async fn pause(app: App, call: Call<TaskPause>) -> Result<Answer<TaskView>, Error> {
    Ok(shown(
        &call.cx.caller,
        app.control().task_pause(&call.cx, call.project(), &call.path.task).await?,
    ))
}

pub(crate) async fn resume(app: App, call: Call<TaskResume>) -> Result<Answer<TaskView>, Error> {
    Ok(shown(
        &call.cx.caller,
        app.control().task_resume(&call.cx, call.project(), &call.path.task).await?,
    ))
}

pub(crate) async fn retry(app: App, call: Call<TaskRetry>) -> Result<Answer<TaskView>, Error> {
    Ok(shown(
        &call.cx.caller,
        app.control().task_retry(&call.cx, call.project(), &call.path.task).await?,
    ))
}

pub(crate) async fn remove(app: App, call: Call<TaskRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().task_remove(&call.cx, call.project(), &call.path.task).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn logs(app: App, call: Call<TaskLogs>) -> Result<Answer<LogLine>, Error> {
    let query = OutputQuery {
        follow: call.query.follow == Some(true),
        stream: call.query.stream,
        tail: call.query.tail,
        cursor: call.query.cursor.clone(),
        ..OutputQuery::default()
    };
    logs::open(app, call, query).await
}

pub(crate) async fn explain(
    app: App,
    call: Call<TaskExplain>,
) -> Result<Answer<Explanation>, Error> {
    let explained = app.control().task_explain(&call.cx, call.project(), &call.path.task).await?;
    Ok(Answer::new(view::explanation(explained)))
}

pub(crate) async fn runs(app: App, call: Call<RunList>) -> Result<Answer<Listing<RunView>>, Error> {
    let runs = app.control().run_list(&call.cx, call.project(), &call.path.task).await?;
    Ok(Answer::new(page::whole(runs, view::run)))
}

fn shown(caller: &Caller, detail: TaskDetail) -> Answer<TaskView> {
    let generation = detail.workload.generation;
    Answer::new(view::task(caller, detail)).with_generation(generation)
}
