//! Schedules.

use std::path::Path;

use anyhow::Context as _;
use hostler_api::ProjectPath;
use hostler_api::schedule::{
    NextFireView, ScheduleApply, ScheduleFireView, ScheduleGet, ScheduleHistory,
    ScheduleHistoryQuery, ScheduleList, ScheduleNext, ScheduleNextQuery, SchedulePath,
    SchedulePause, SchedulePauseBody, SchedulePreview, ScheduleRemove, ScheduleResume, ScheduleRun,
    ScheduleView,
};
use hostler_model::schedule::{FireState, ScheduleSpec, read_moment};
use hostler_model::workflow::ExecutionOptions;
use hostler_model::{
    Action, HttpAction, Name, NodeBackupAction, OperationAction, TaskAction, Timestamp,
    WorkflowAction, WorkloadAction, WorkloadVerb,
};

use super::spec::{self, Many, Submission};
use super::workflow::values_given;
use super::{Cx, DONE, Link, NONE, PAGE, again_if_stale, bare, files};
use crate::args::{
    HttpTargetArgs, ScheduleAddArgs, ScheduleCommand, SpecArgs, TargetCommand, WorkflowTargetArgs,
};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description, age, moment};

const PREVIEW: u32 = 5;

pub async fn perform(cx: &Cx, command: ScheduleCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        ScheduleCommand::Add(args) => add(cx, &link, *args).await,
        ScheduleCommand::Ls(list) => {
            let query = list.page();
            cx.list::<ScheduleList, _>(&link, &project(&link), &query, list.limit).await
        }
        ScheduleCommand::Show(args) => show(cx, &link, &args.schedule).await,
        ScheduleCommand::Rm(args) => {
            for name in &args.schedules {
                let path = named(&link, name);
                link.client.call::<ScheduleRemove>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("schedule {} removed", path.schedule));
            }
            Ok(DONE)
        }
        ScheduleCommand::Pause(args) => {
            let body = SchedulePauseBody { reason: args.reason };
            for name in &args.which.schedules {
                let path = named(&link, name);
                let paused = link.client.call::<SchedulePause>(&path, &NONE, &body).await?;
                cx.changed(&paused, "paused")?;
            }
            Ok(DONE)
        }
        ScheduleCommand::Resume(args) => {
            for name in &args.schedules {
                let path = named(&link, name);
                let resumed = link.client.call::<ScheduleResume>(&path, &NONE, &NONE).await?;
                cx.changed(&resumed, &comes(&resumed, cx.now()))?;
            }
            Ok(DONE)
        }
        ScheduleCommand::Run(args) => {
            let path = named(&link, &args.schedule);
            ran(cx, &link.client.call::<ScheduleRun>(&path, &NONE, &NONE).await?)
        }
        ScheduleCommand::Next(args) => {
            let path = named(&link, &args.which.schedule);
            let query = ScheduleNextQuery { count: Some(args.count) };
            let next = link.client.call::<ScheduleNext>(&path, &query, &NONE).await?;
            if next.items.is_empty() && cx.is_for_people() {
                let it = link.client.call::<ScheduleGet>(&path, &NONE, &NONE).await?;
                cx.ui.say(&ends(&it));
            }
            output::list(&cx.ui, cx.now(), &next.items)?;
            Ok(DONE)
        }
        ScheduleCommand::History(args) => {
            let path = named(&link, &args.which.schedule);
            let query = ScheduleHistoryQuery {
                state: args.state,
                filter: args.list.filter,
                limit: PAGE,
                cursor: None,
            };
            cx.list::<ScheduleHistory, _>(&link, &path, &query, args.list.limit).await
        }
    }
}

fn project(link: &Link) -> ProjectPath {
    ProjectPath { project: link.project.clone() }
}

fn named(link: &Link, name: &str) -> SchedulePath {
    let schedule = bare("schedule", name).to_owned();
    SchedulePath { project: link.project.clone(), schedule }
}

/// Why it has no next time.
fn ends(schedule: &ScheduleView) -> String {
    match &schedule.pause {
        Some(pause) => format!(
            "it does not come: {} paused it ({}); `hostler schedule resume {}` lets it go on",
            pause.by, pause.reason, schedule.name
        ),
        None => "it does not come again: its last time has passed".to_owned(),
    }
}

fn times(cx: &Cx, next: &[NextFireView]) -> Outcome {
    if next.is_empty() && cx.is_for_people() {
        cx.ui.say("it never comes: its times have passed");
    }
    output::list(&cx.ui, cx.now(), next)?;
    Ok(DONE)
}

fn comes(schedule: &ScheduleView, now: Timestamp) -> String {
    match schedule.time_next {
        Some(next) => format!("comes next {}", age(next, now)),
        None => "does not come again".to_owned(),
    }
}

/// What was made is data, so that a script can go on with it.
fn ran(cx: &Cx, fire: &ScheduleFireView) -> Outcome {
    if cx.ui.format().is_some() || cx.ui.is_quiet() {
        return cx.one(fire);
    }
    match (fire.state, &fire.object) {
        (FireState::Failed | FireState::Uncertain, _) => Err(Failure::told(
            crate::exit::Code::Failure,
            fire.message.clone(),
            "`hostler schedule history` keeps what was tried",
        )),
        (FireState::Begun, _) => {
            cx.ui.say("begun; `hostler schedule history` says what comes of it");
            Ok(DONE)
        }
        (_, Some(made)) => {
            cx.ui.say(&format!("done: {} {}", made.kind, made.name));
            cx.ui.line(&made.name)?;
            Ok(DONE)
        }
        (_, None) => {
            cx.ui.say("done");
            Ok(DONE)
        }
    }
}

async fn show(cx: &Cx, link: &Link, name: &str) -> Outcome {
    let it = link.client.call::<ScheduleGet>(&named(link, name), &NONE, &NONE).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&it);
    }
    let time = |time| moment(time, cx.now(), true);
    let spec = &it.spec;
    let mut text = Description::default();
    text.pair("Name", it.name.to_string())
        .pair("Id", it.id.to_string())
        .pair("Description", spec.description.clone())
        .pair("Comes", it.timing.clone())
        .pair("Does", format!("{} ({})", it.summary, it.kind))
        .pair("In the name of", it.owner.clone())
        .pair(
            "Paused",
            it.pause.as_ref().map(|p| format!("by {} at {}: {}", p.by, time(p.time), p.reason)),
        )
        .pair("Next", it.time_next.map(time))
        .pair("Starts", spec.starts.map(time))
        .pair("Ends", spec.ends.map(time))
        .pair("Jitter", (!spec.jitter.is_zero()).then(|| format!("up to {}", spec.jitter)))
        .pair("Overlap", spec.overlap.to_string())
        .pair(
            "Catch-up",
            format!(
                "{}, within {}, at most {}",
                spec.catch_up, spec.catch_up_window, spec.catch_up_limit
            ),
        )
        .pair("Created", time(it.time_created))
        .pair("Modified", time(it.time_modified));
    if let Some(last) = &it.last {
        text.section("Last");
        text.pair("Time", time(last.time))
            .pair("State", last.state.to_string())
            .pair("Late by", last.lateness.to_string())
            .pair("Made", last.object.as_ref().map(|made| format!("{} {}", made.kind, made.name)))
            .pair("Stands", last.standing.clone())
            .pair("Answer", last.status.map(|status| status.to_string()))
            .pair("Message", last.message.clone());
    }
    text.section("Target");
    for line in serde_json::to_string_pretty(&spec.target).unwrap_or_default().lines() {
        text.text(line);
    }
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}

async fn add(cx: &Cx, link: &Link, args: ScheduleAddArgs) -> Outcome {
    let (name, replace, dry_run) = (args.name.clone(), args.replace, args.dry_run);
    let spec = spec_of(cx, link, args).await?;
    if dry_run {
        let query = ScheduleNextQuery { count: Some(PREVIEW) };
        let next = link.client.call::<SchedulePreview>(&project(link), &query, &spec).await?;
        return times(cx, &next.items);
    }
    let (path, spec) = (named(link, name.as_str()), &spec);
    let made = again_if_stale(async || {
        let seen = match replace {
            false => None,
            true => match link.client.call::<ScheduleGet>(&path, &NONE, &NONE).await {
                Ok(known) => Some(known.generation),
                Err(error) if error.is(hostler_model::Code::NotFound) => None,
                Err(error) => return Err(error),
            },
        };
        match seen {
            Some(seen) => {
                link.client.call_if_match::<ScheduleApply>(&path, &NONE, spec, seen).await
            }
            None => link.client.call::<ScheduleApply>(&path, &NONE, spec).await,
        }
    });
    let made = made.await.map_err(|error| {
        let next = format!("change it with `--replace`, or choose another name than `{name}`");
        error.with_hint(hostler_model::Code::AlreadyExists, next)
    })?;
    cx.changed(&made, &comes(&made, cx.now()))
}

/// What a file or the flags say; flags win.
async fn spec_of(cx: &Cx, link: &Link, args: ScheduleAddArgs) -> Result<ScheduleSpec, Failure> {
    let target = match args.target.clone() {
        Some(target) => Some(target_of(cx, link, &args.name, target).await?),
        None => None,
    };
    let mut spec = match (&args.file, target) {
        (Some(path), target) => {
            let mut spec = parsed(cx, path)?;
            spec.target = target.unwrap_or(spec.target);
            spec
        }
        (None, Some(target)) => ScheduleSpec::never(target),
        (None, None) => {
            return Err(Failure::usage(
                "what is to be done?",
                "name a target after the times, such as `task -- COMMAND`, `workflow NAME`, `restart WORKLOAD` or `http URL`",
            ));
        }
    };
    if args.cron.is_some() || args.every.is_some() || args.at.is_some() {
        (spec.cron, spec.every, spec.at) = (args.cron, args.every, None);
    }
    spec.timezone = args.zone.unwrap_or(spec.timezone);
    let read = |flag: &str, text: Option<String>| match text {
        None => Ok(None),
        Some(text) => read_moment(&text, &spec.timezone).map(Some).map_err(|mistake| {
            Failure::usage(
                format!("--{flag}: {mistake}"),
                "times without an offset are read in --zone",
            )
        }),
    };
    let (at, starts, ends) =
        (read("at", args.at)?, read("starts", args.starts)?, read("ends", args.ends)?);
    spec.at = at.or(spec.at);
    spec.starts = starts.or(spec.starts);
    spec.ends = ends.or(spec.ends);
    spec.jitter = args.jitter.unwrap_or(spec.jitter);
    spec.overlap = args.overlap.unwrap_or(spec.overlap);
    spec.catch_up = args.catch_up.unwrap_or(spec.catch_up);
    spec.catch_up_window = args.catch_up_window.unwrap_or(spec.catch_up_window);
    spec.catch_up_limit = args.catch_up_limit.unwrap_or(spec.catch_up_limit);
    spec.delivery = args.delivery.unwrap_or(spec.delivery);
    spec.description = args.description.unwrap_or(spec.description);
    Ok(spec)
}

fn parsed(cx: &Cx, path: &Path) -> Result<ScheduleSpec, Failure> {
    let text = match path == Path::new("-") {
        true => cx.ui.input_all()?,
        false => {
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?
        }
    };
    parse(&text).map_err(|mistake| {
        Failure::usage(
            format!("{} is not understood: {mistake}", path.display()),
            "it holds one of `cron`, `every` and `at`, and `target`, as YAML or JSON; `hostler schedule show NAME -o yaml` shows one below `spec`",
        )
    })
}

/// JSON is YAML, so one parser reads both.
pub(crate) fn parse(text: &str) -> Result<ScheduleSpec, String> {
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

async fn target_of(
    cx: &Cx,
    link: &Link,
    name: &Name,
    target: TargetCommand,
) -> Result<Action, Failure> {
    let workload = |name, verb| Action::Workload(WorkloadAction { name, verb });
    let operation = Action::Operation;
    Ok(match target {
        TargetCommand::Task(args) => task(cx, link, name, *args).await?,
        TargetCommand::Workflow(args) => workflow(cx, args)?,
        TargetCommand::Start(args) => workload(args.workload, WorkloadVerb::Start),
        TargetCommand::Stop(args) => workload(args.workload, WorkloadVerb::Stop),
        TargetCommand::Restart(args) => workload(args.workload, WorkloadVerb::Restart),
        TargetCommand::Drain(args) => operation(OperationAction::NodeDrain {
            node: args.node.node,
            reason: args.node.reason,
            deadline: args.deadline,
        }),
        TargetCommand::Cordon(args) => {
            operation(OperationAction::NodeCordon { node: args.node, reason: args.reason })
        }
        TargetCommand::Uncordon { node } => operation(OperationAction::NodeUncordon { node }),
        TargetCommand::ImageSync { image, nodes } => {
            operation(OperationAction::ImageSync { image, nodes })
        }
        TargetCommand::Backup(args) => {
            operation(OperationAction::NodeBackup(Box::new(NodeBackupAction {
                node: args.node,
                paths: args.paths,
                exclude: args.exclude,
                cross_filesystems: args.cross_filesystems,
                store: args.store,
                label: args.label,
                keep: args.keep,
            })))
        }
        TargetCommand::Http(args) => http(args)?,
    })
}

/// Tasks are named after their schedule, unless something else is said.
async fn task(cx: &Cx, link: &Link, name: &Name, mut args: SpecArgs) -> Result<Action, Failure> {
    let attached = std::mem::take(&mut args.files);
    let mut submission = spec::build(&cx.ui, args, Many::default())?;
    files::attach(cx, link, &mut submission, attached).await?;
    match submission {
        Submission::One(body) => {
            let name = body.name.or_else(|| Some(name.clone()));
            Ok(Action::Task(Box::new(TaskAction { name, spec: body.spec })))
        }
        Submission::Batch(_) | Submission::Array(_) => Err(Failure::usage(
            "a schedule submits one task at a time",
            "make one schedule for each, or a workflow of them",
        )),
    }
}

fn workflow(cx: &Cx, args: WorkflowTargetArgs) -> Result<Action, Failure> {
    let values = values_given(cx, &args.values, &args.set)?;
    Ok(Action::Workflow(WorkflowAction {
        name: args.workflow,
        version: args.version,
        values,
        options: ExecutionOptions {
            delegate_to: args.delegate_to,
            secrets: args.secret,
            ..ExecutionOptions::default()
        },
    }))
}

fn http(args: HttpTargetArgs) -> Result<Action, Failure> {
    let mut headers = std::collections::BTreeMap::new();
    for given in args.header {
        let Some((name, value)) = given.split_once(':') else {
            return Err(Failure::usage(
                format!("`{given}` is no header"),
                "write -H 'NAME: VALUE', such as -H 'X-Team: ops'",
            ));
        };
        headers.insert(name.trim().to_owned(), value.trim().to_owned());
    }
    Ok(Action::Http(Box::new(HttpAction {
        method: args.method,
        url: args.url,
        headers,
        body: args.body,
        bearer: args.bearer,
        sign: args.sign,
        timeout: args.timeout,
    })))
}
