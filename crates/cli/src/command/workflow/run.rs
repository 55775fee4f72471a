//! Carrying workflows out in this process.

use std::collections::BTreeMap;
use std::rc::Rc;

use hostler_flow::{
    FlowError, Journal, Observer, Past, Report, STEP_AS, Scrub, Setup, run as carry_out,
};
use hostler_lua::body::{Performer, Sharing};
use hostler_lua::{Bundle, Definition, Given};
use hostler_model::workflow::{ExecutionOutcome, StepEnd};
use hostler_model::{ExecutionId, SecretRef};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::super::{Cx, DONE, secret};
use super::progress::{Telling, chart};
use super::{executions, given, graph, server, validate};
use crate::args::{WorkflowResumeArgs, WorkflowRunArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

/// How long what is killed may take to be gone.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(300);

/// An execution as a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<String>,
    #[serde(flatten)]
    report: Report,
}

pub async fn run(cx: &Cx, args: WorkflowRunArgs) -> Outcome {
    let given = given::given(cx, &args.file.values, &args.file.set, args.file.strict)?;
    if given::on_server(&args.file.file).is_some() || args.remote {
        only_here(&args)?;
    }
    if let Some(name) = given::on_server(&args.file.file) {
        return server::run(cx, &args, name, given.values).await;
    }
    let (name, text) = given::read(&cx.ui, &args.file.file)?;
    if args.dry_run {
        return dry_run(cx, &args, &name, &text, &given).await;
    }
    let performer = performer(cx, &args, &name, &text, &given).await?;
    if is_for_server(cx, &args, performer.definition()) {
        let bundle = performer.definition().bundle.clone();
        return server::run_file(cx, &args, bundle, given.values).await;
    }
    let chosen: Vec<String> =
        validate::chosen(performer.definition(), args.file.workflow.as_deref())?
            .into_iter()
            .map(|workflow| workflow.name.clone())
            .collect();
    let count = chosen.len();
    if args.interactive && !cx.ui.may_ask() {
        return Err(Failure::usage(
            "nobody can be asked here",
            "run it on a terminal, or without --interactive",
        ));
    }
    let setup = Setup {
        only: args.tasks,
        is_here: args.here,
        at_once: args.parallel.unwrap_or_else(at_once),
        check: args.check,
        values: given.values.clone(),
        now: given.now,
        ..setup(cx, &args.secret).await?
    };
    let mut done = Vec::new();
    for workflow in chosen {
        let journal = if args.no_journal { None } else { Some(new_journal(cx)?) };
        let telling = Telling::new(cx, args.interactive, args.approve.clone());
        let execution = journal.as_ref().map(Journal::id);
        let journal = journal.map(|journal| (journal, None));
        let report =
            Box::pin(execute(&performer, &workflow, setup.clone(), journal, telling)).await;
        if let (Err(_), Some(id)) = (&report, &execution) {
            executions::drop_unbegun(cx, id);
        }
        let Some(report) = report? else { return Ok(exit::INTERRUPTED) };
        tell(cx, &report, execution.as_deref());
        let is_well = report.status == ExecutionOutcome::Succeeded;
        done.push(Done { execution, report });
        if !is_well {
            break;
        }
    }
    if done.len() < count {
        cx.ui.warn(&format!("{} more workflows of the file were not begun", count - done.len()));
    }
    finish(cx, &done, count)
}

/// What cannot be had where a server carries it out.
fn only_here(args: &WorkflowRunArgs) -> Result<(), Failure> {
    let is_kept = given::on_server(&args.file.file).is_some();
    let flags = [
        ("--here", args.here),
        ("--interactive", args.interactive),
        ("--approve", !args.approve.is_empty()),
        ("--no-journal", args.no_journal),
        ("--check", args.check),
        ("--workflow", is_kept && args.file.workflow.is_some()),
        ("--strict", is_kept && args.file.strict),
    ];
    match flags.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some(("--workflow", _)) => Err(Failure::usage(
            "a workflow that the server keeps is named by itself",
            "leave --workflow out, or give the file",
        )),
        Some((flag, _)) => Err(Failure::usage(
            format!("{flag} is for files that this machine carries out"),
            "leave it out, or run the file here, without --remote",
        )),
    }
}

/// Whether it is the server that has to carry a file out: when somebody says so, and when its tasks say where they
/// run, or it asks for a stack, and a server is known.
fn is_for_server(cx: &Cx, args: &WorkflowRunArgs, definition: &Definition) -> bool {
    if args.here {
        return false;
    }
    let is_delegated = definition.workflows.iter().any(|workflow| {
        workflow.asks_for_stack().is_some()
            || workflow.delegate.is_some()
            || workflow.steps.iter().any(|step| step.delegate.is_some())
    });
    args.remote
        || !args.delegate_to.is_empty()
        || args.stack.is_some()
        || args.detach
        || !args.secret.is_empty()
        || is_delegated && cx.link().is_ok()
}

pub async fn resume(cx: &Cx, args: WorkflowResumeArgs, repeat_failed: bool) -> Outcome {
    let folder = executions::find(cx, &args.execution)?;
    let (journal, past) = Journal::open(&folder).map_err(|error| refused(&error.into()))?;
    if args.detach {
        return Err(Failure::usage(
            "--detach is for executions on the server, and this one is of this machine",
            "leave it out",
        ));
    }
    if past.outcome == Some(ExecutionOutcome::Succeeded) && args.from.is_none() {
        cx.ui.say("it succeeded already; there is nothing left to do");
        return Ok(DONE);
    }
    let given = Given {
        values: past.values.clone(),
        env: given::given(cx, &[], &[], false)?.env,
        now: past.now,
        ..Given::default()
    };
    let performer = Rc::new(
        Performer::new(past.bundle.clone(), &given).map_err(|mistakes| given::wrong(&mistakes))?,
    );
    let setup = Setup {
        only: past.only.clone(),
        is_here: args.here,
        at_once: at_once(),
        repeat_uncertain: args.repeat_uncertain,
        repeat_failed,
        from: args.from.clone(),
        values: past.values.clone(),
        now: past.now,
        seed: past.seed,
        ..setup(cx, &args.secret).await?
    };
    let execution = Some(journal.id());
    let telling = Telling::new(cx, false, args.approve);
    let workflow = past.workflow.clone();
    let report =
        Box::pin(execute(&performer, &workflow, setup, Some((journal, Some(past))), telling))
            .await?;
    let Some(report) = report else { return Ok(exit::INTERRUPTED) };
    tell(cx, &report, execution.as_deref());
    finish(cx, &[Done { execution, report }], 1)
}

/// Defines a file so that it can act, with what it imports.
async fn performer(
    cx: &Cx,
    args: &WorkflowRunArgs,
    name: &str,
    text: &str,
    given: &Given,
) -> Result<Rc<Performer>, Failure> {
    let wrong = |mistakes| given::wrong(&mistakes);
    let bundle = if text.contains("import") || text.contains("require") {
        let found = validate::defined(cx, name, &args.file.file, text, given).await?;
        found.map_err(wrong)?.bundle
    } else {
        Bundle { name: name.to_owned(), text: text.to_owned(), files: BTreeMap::new() }
    };
    let performer = Performer::new(bundle, given).map_err(wrong)?;
    for remark in &performer.definition().remarks {
        cx.ui.warn(&remark.to_string());
    }
    Ok(Rc::new(performer))
}

async fn dry_run(
    cx: &Cx,
    args: &WorkflowRunArgs,
    name: &str,
    text: &str,
    given: &Given,
) -> Outcome {
    let found = validate::defined(cx, name, &args.file.file, text, given).await?;
    let found = found.map_err(|mistakes| given::wrong(&mistakes))?;
    for remark in &found.remarks {
        cx.ui.warn(&remark.to_string());
    }
    let chosen = validate::chosen(&found, args.file.workflow.as_deref())?;
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &chosen)?;
        return Ok(DONE);
    }
    for workflow in chosen {
        cx.ui.line(&graph::plan(workflow))?;
    }
    cx.ui.say("nothing was done");
    Ok(DONE)
}

/// Carries it out. Nothing comes of it when somebody asks twice that it ends.
async fn execute(
    performer: &Rc<Performer>,
    workflow: &str,
    setup: Setup,
    journal: Option<(Journal, Option<Past>)>,
    telling: Telling,
) -> Result<Option<Report>, Failure> {
    let telling = Rc::new(telling);
    let observer = Rc::clone(&telling) as Rc<dyn Observer>;
    let execution = journal.as_ref().map(|(journal, _)| journal.id());
    let (first, asked) = oneshot::channel();
    let stop = async {
        if asked.await.is_err() {
            std::future::pending().await
        }
    };
    let work = carry_out(Rc::clone(performer), workflow, setup, journal, observer, stop);
    let local = LocalSet::new();
    let work = Box::pin(local.run_until(work));
    tokio::select! {
        report = work => return report.map(Some).map_err(|error| refused(&error)),
        () = asked_twice(&telling, first) => {}
    }
    drop(local);
    match execution {
        Some(id) => {
            hostler_flow::kill(&id);
            telling.say(&format!(
                "killed, with everything that ran; `hostler workflow resume {id}` goes on with it"
            ));
        }
        None => {
            tokio::time::sleep(LAST_WORDS).await;
            telling.say("killed, with everything that ran");
        }
    }
    Ok(None)
}

/// Over when somebody has asked for the end a second time; tells what that would do the first time.
async fn asked_twice(telling: &Telling, first: oneshot::Sender<()>) {
    let heard = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = heard else {
        return std::future::pending().await;
    };
    let mut ask = async || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    ask().await;
    telling.say("asked to end: what runs is stopped, and what is called last is called; once more kills everything at once");
    let _it_may_be_over = first.send(());
    ask().await;
}

async fn setup(cx: &Cx, secrets: &[SecretRef]) -> Result<Setup, Failure> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let secrets = read(cx, secrets).await?;
    let scrub = cx.scrubber.filter(|_| !secrets.is_empty()).map(|make| Scrub::new(make(&secrets)));
    let own = std::env::current_exe().map(std::path::PathBuf::into_os_string);
    Ok(Setup {
        workdir: std::env::current_dir()?,
        services: Sharing::Folder(cx.environment.state_dir.join("workflows")),
        environment: environment.collect(),
        secrets,
        scrub,
        helper: own.map_or_else(|_| Vec::new(), |own| vec![own, STEP_AS.into()]),
        seed: cx.environment.clock.now().micros().unsigned_abs(),
        ..Setup::default()
    })
}

/// Secrets of the project by what bodies call them: the whole reference, and the name alone.
async fn read(cx: &Cx, wanted: &[SecretRef]) -> Result<BTreeMap<String, String>, Failure> {
    let mut secrets = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(secrets);
    }
    let link = cx.link()?;
    for secret in wanted {
        let value = secret::value(&link, secret).await?;
        let Ok(value) = String::from_utf8(value.expose().to_vec()) else {
            return Err(Failure::usage(
                format!("the secret {secret} is not text"),
                "run it on a node, which has it as a file",
            ));
        };
        secrets.entry(secret.name.to_string()).or_insert_with(|| value.clone());
        secrets.insert(format!("{}/{}", secret.environment, secret.name), value);
    }
    Ok(secrets)
}

/// As many as keep the processors busy with what waits a little.
fn at_once() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cores).unwrap_or(1).saturating_mul(2).max(4)
}

fn new_journal(cx: &Cx) -> Result<Journal, Failure> {
    let folder = executions::folder(cx);
    let id = hostler_base::ids::Ids::system().fresh::<ExecutionId>().to_string();
    // Now and then: it takes as long as a short workflow.
    if id.ends_with('0') {
        executions::tidy(&folder);
    }
    Journal::create(&folder.join(id)).map_err(|error| refused(&error.into()))
}

fn refused(error: &FlowError) -> Failure {
    let code = match error {
        FlowError::NoWorkflow { .. } | FlowError::NoStep { .. } => exit::Code::NotFound,
        FlowError::Refused(_) => exit::Code::Usage,
        FlowError::Journal(hostler_flow::JournalError::Busy) => exit::Code::Conflict,
        FlowError::Journal(hostler_flow::JournalError::Unknown(_)) => exit::Code::NotFound,
        FlowError::Leftover(_) => exit::Code::Conflict,
        FlowError::Journal(_) => exit::Code::Failure,
    };
    Failure::told(code, error.to_string(), "")
}

fn tell(cx: &Cx, report: &Report, execution: Option<&str>) {
    cx.ui.say(&chart(report));
    if report.status != ExecutionOutcome::Succeeded
        && let Some(id) = execution
    {
        cx.ui.say(&format!(
            "`hostler workflow retry {id}` does again what failed, and nothing that succeeded"
        ));
        if report.tasks.iter().any(|task| task.status == StepEnd::Uncertain.label()) {
            cx.ui.say("with --repeat-uncertain also what is uncertain; what still runs of it is ended first");
        }
    }
    if cx.is_for_people() && !report.outputs.is_null() {
        cx.ui.say(&format!("outputs: {}", report.outputs));
    }
}

/// `count` workflows were to be carried out: with more than one the document is a list, however many were begun.
fn finish(cx: &Cx, done: &[Done], count: usize) -> Outcome {
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        match done {
            [one] if count == 1 => output::document(&cx.ui, format, one)?,
            several => output::document(&cx.ui, format, &several)?,
        }
    }
    let last = done.last().map(|done| done.report.status);
    Ok(match last {
        None | Some(ExecutionOutcome::Succeeded) => DONE,
        Some(ExecutionOutcome::Failed) => exit::Code::Unhealthy.number(),
        Some(ExecutionOutcome::TimedOut) => exit::Code::TimedOut.number(),
        Some(ExecutionOutcome::Cancelled) => exit::INTERRUPTED,
    })
}
