//! Questions to the agent on this machine, and their answers in the forms that every list and object of
//! the command line has.

use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use hostler_agent::door::LogAsk;
use hostler_agent::door::view::{
    Changed, Done, LogRecord, MistakeView, Outcome as Came, Refusal, RefusalCode, Reloaded,
};
use hostler_agent::local::{self, Answer, QueryError, Question};
use hostler_agent::output::Stream;
use hostler_agent::{OnStop, Standalone};
use hostler_base::Clock;
use hostler_cli::args::{
    AgentExecArgs, AgentLogsArgs, AgentShutdownArgs, AgentValidateArgs, AgentWorkloads, Globals,
    LocalCommand,
};
use hostler_cli::exit::Code;
use hostler_cli::output::{self, Format};
use hostler_cli::{Environment, Failure, Outcome, Streams, Ui};
use hostler_model::{Span, Timestamp};

use super::rows::{FireRow, PastRow, WorkloadRow, describe_status, describe_workload};

const DONE: u8 = Code::Success.number();
const PROGRESS_EVERY: Duration = Duration::from_millis(300);

pub fn run(globals: &Globals, command: LocalCommand) -> ExitCode {
    let ui = Ui::new(Streams::of_process(), globals, &environment());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(Box::pin(perform(&ui, command))),
        Err(error) => Err(error.into()),
    };
    ExitCode::from(outcome.unwrap_or_else(|failure| {
        ui.fail(&failure);
        failure.exit()
    }))
}

/// A home is not needed to talk to an agent.
fn environment() -> Environment {
    let or_root = |key: &str| std::env::var_os(key).or_else(|| (key == "HOME").then(|| "/".into()));
    Environment::from_process()
        .or_else(|_| Environment::from_lookup(or_root))
        .expect("with a home, every place is known, and the token of servers is not read here")
}

/// The agent that is talked to.
struct Agent<'a> {
    ui: &'a Ui,
    data_dir: PathBuf,
    clock: Clock,
}

impl Agent<'_> {
    fn at(ui: &Ui, place: hostler_cli::args::AgentDataDir) -> Agent<'_> {
        Agent { ui, data_dir: super::data_dir(place), clock: Clock::system() }
    }

    async fn ask(&self, question: Question) -> Result<Answer, Failure> {
        let answers = local::ask(&self.data_dir, &question, &self.clock).await.map_err(failure)?;
        answers.only().await.map_err(failure)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

async fn perform(ui: &Ui, command: LocalCommand) -> Outcome {
    match command {
        LocalCommand::Status(place) => status(&Agent::at(ui, place)).await,
        LocalCommand::Ls(place) => {
            let agent = Agent::at(ui, place);
            let Answer::List(items) = agent.ask(Question::List).await? else { return garbled() };
            let rows: Vec<WorkloadRow> = items.into_iter().map(WorkloadRow).collect();
            output::list(ui, agent.now(), &rows)?;
            Ok(DONE)
        }
        LocalCommand::Show(args) => {
            let agent = Agent::at(ui, args.place);
            let question = Question::Show { name: args.name };
            let Answer::Show(detail) = agent.ask(question).await? else { return garbled() };
            match ui.format() {
                None | Some(Format::Table | Format::Wide) => {
                    ui.data(describe_workload(&detail, agent.now()).as_bytes())?;
                }
                Some(format) => output::document(ui, format, &detail)?,
            }
            Ok(DONE)
        }
        LocalCommand::Start(args) => wishes(ui, args, |name| Question::Start { name }).await,
        LocalCommand::Stop(args) => wishes(ui, args, |name| Question::Stop { name }).await,
        LocalCommand::Restart(args) => wishes(ui, args, |name| Question::Restart { name }).await,
        LocalCommand::Logs(args) => logs(ui, args).await,
        LocalCommand::History(args) => {
            let agent = Agent::at(ui, args.place);
            let question = Question::History { name: args.name };
            let Answer::History(items) = agent.ask(question).await? else { return garbled() };
            let rows: Vec<PastRow> = items.into_iter().map(PastRow).collect();
            output::list(ui, agent.now(), &rows)?;
            Ok(DONE)
        }
        LocalCommand::Exec(args) => exec(ui, args).await,
        LocalCommand::Reload(place) => reload(&Agent::at(ui, place)).await,
        LocalCommand::Shutdown(args) => shutdown(ui, args).await,
        LocalCommand::Metrics(place) => {
            let agent = Agent::at(ui, place);
            let Answer::Metrics(text) = agent.ask(Question::Metrics).await? else {
                return garbled();
            };
            ui.data(text.as_bytes())?;
            Ok(DONE)
        }
        LocalCommand::Next(args) => {
            let agent = Agent::at(ui, args.workload.place);
            let question = Question::Next { name: args.workload.name, count: args.count };
            let Answer::Next(items) = agent.ask(question).await? else { return garbled() };
            let rows: Vec<FireRow> = items.into_iter().map(FireRow).collect();
            output::list(ui, agent.now(), &rows)?;
            Ok(DONE)
        }
        LocalCommand::Validate(args) => validate(ui, &args),
    }
}

async fn status(agent: &Agent<'_>) -> Outcome {
    let status = local::query(&agent.data_dir, &agent.clock).await.map_err(failure)?;
    match agent.ui.format() {
        None | Some(Format::Table | Format::Wide) => {
            agent.ui.data(describe_status(&status, agent.now()).as_bytes())?;
        }
        Some(format) => output::document(agent.ui, format, &status)?,
    }
    Ok(DONE)
}

/// One wish for each of several workloads; the gravest of what they come to is the exit code.
async fn wishes(ui: &Ui, args: AgentWorkloads, wish: impl Fn(String) -> Question) -> Outcome {
    let agent = Agent::at(ui, args.place);
    let mut code = DONE;
    for name in args.names {
        let Answer::Done(done) = agent.ask(wish(name)).await? else { return garbled() };
        match ui.format() {
            Some(format) => output::document(ui, format, &done)?,
            None => ui.line(&done.message)?,
        }
        code = code.max(code_of(&done));
    }
    Ok(code)
}

fn code_of(done: &Done) -> u8 {
    match done.outcome {
        Came::Failed => Code::Unhealthy.number(),
        Came::UnderWay => Code::TimedOut.number(),
        Came::Started
        | Came::Stopped
        | Came::Restarted
        | Came::AlreadyRunning
        | Came::NotRunning
        | Came::Waiting => DONE,
    }
}

async fn logs(ui: &Ui, args: AgentLogsArgs) -> Outcome {
    let agent = Agent::at(ui, args.workload.place);
    let now = agent.now();
    let level = args.level.map(|level| level.parse()).transpose();
    let ask = LogAsk {
        name: args.workload.name,
        follow: args.follow,
        since: args.since.map(|when| when.moment(now)),
        until: args.until.map(|when| when.moment(now)),
        grep: args.grep,
        invert: args.invert,
        tail: args.tail,
        stream: args.stream.and_then(|stream| stream.label().parse().ok()),
        level: level.map_err(|error| Failure::Other(anyhow::Error::from(error)))?,
    };
    let asked = local::ask(&agent.data_dir, &Question::Logs(ask), &agent.clock).await;
    let mut answers = asked.map_err(failure)?;
    while let Some(answer) = answers.next().await.map_err(failure)? {
        let Answer::Log(record) = answer else { return garbled() };
        match ui.format() {
            Some(Format::Json | Format::Jsonl) => ui.line(&output::compact(&record)?)?,
            _ => print_record(ui, &record, args.timestamps)?,
        }
    }
    Ok(DONE)
}

fn print_record(ui: &Ui, record: &LogRecord, has_times: bool) -> Result<(), Failure> {
    match record {
        LogRecord::Line { time, stream, text } => {
            let line = match has_times {
                true => format!("{time} {text}\n"),
                false => format!("{text}\n"),
            };
            match stream {
                Stream::Stdout => ui.task_data(line.as_bytes()),
                Stream::Stderr => ui.task_error_data(line.as_bytes()),
            }
        }
        LogRecord::Gap { bytes } => {
            let much = bytes.map(|bytes| format!(": {bytes} bytes")).unwrap_or_default();
            ui.warn(&format!("output is missing here{much}"));
            Ok(())
        }
        LogRecord::Mark { time, text } => {
            let time = time.map(|time| format!(" at {time}")).unwrap_or_default();
            ui.say(&format!("--- {text}{time}"));
            Ok(())
        }
    }
}

async fn exec(ui: &Ui, args: AgentExecArgs) -> Outcome {
    let agent = Agent::at(ui, args.workload.place);
    let (input, out, err) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [input.as_fd(), out.as_fd(), err.as_fd()];
    let name = &args.workload.name;
    let done =
        local::exec(&agent.data_dir, name, &args.command, args.timeout, streams, &agent.clock);
    let end = done.await.map_err(failure)?;
    if end.is_timed_out {
        let detail = "the command took longer than it was given, and was killed";
        return Err(Failure::told(Code::TimedOut, detail, ""));
    }
    let number = end.code.or(end.signal.map(|signal| 128 + signal)).unwrap_or(1);
    Ok(u8::try_from(number & 0xff).unwrap_or(1))
}

async fn reload(agent: &Agent<'_>) -> Outcome {
    let Answer::Reload(reloaded) = agent.ask(Question::Reload).await? else { return garbled() };
    match agent.ui.format() {
        Some(format) => output::document(agent.ui, format, &reloaded)?,
        None => agent.ui.data(difference(&reloaded).as_bytes())?,
    }
    Ok(DONE)
}

/// A line for everything that is different, and one for what it comes to.
fn difference(reloaded: &Reloaded) -> String {
    let Reloaded { added, removed, changed, unchanged } = reloaded;
    let mut lines: Vec<String> = Vec::new();
    lines.extend(added.iter().map(|name| format!("+ {name}")));
    lines.extend(removed.iter().map(|name| format!("- {name}")));
    for Changed { name, is_replaced, fields } in changed {
        let side = |value: &Option<serde_json::Value>| {
            value.as_ref().map_or("unset".to_owned(), ToString::to_string)
        };
        let note = if *is_replaced { "" } else { " (goes on running)" };
        lines.extend(fields.iter().map(|field| {
            format!("~ {name}: {} {} -> {}{note}", field.path, side(&field.old), side(&field.new))
        }));
    }
    lines.push(format!(
        "{} added, {} removed, {} changed, {} unchanged\n",
        added.len(),
        removed.len(),
        changed.len(),
        unchanged.len()
    ));
    lines.join("\n")
}

async fn shutdown(ui: &Ui, args: AgentShutdownArgs) -> Outcome {
    let agent = Agent::at(ui, args.place);
    let runs = args.runs.map(|runs| runs.parse()).transpose();
    let runs = runs.map_err(|error| Failure::Other(anyhow::Error::from(error)))?;
    let stopping = local::shutdown(&agent.data_dir, runs, &agent.clock).await.map_err(failure)?;
    if args.no_wait {
        ui.say("the agent stops");
        return Ok(DONE);
    }
    let left = Cell::new(0);
    let ended = async {
        tokio::select! {
            ended = stopping.ended() => ended,
            never = show_progress(&agent, &left) => match never {},
        }
    };
    match args.timeout {
        None => ended.await?,
        Some(limit) => match agent.clock.timeout(limit.duration(), ended).await {
            Ok(ended) => ended?,
            Err(_) => return Err(still_stopping(limit, left.get())),
        },
    }
    ui.say("the agent has stopped");
    Ok(DONE)
}

/// Says how much is left to stop, on a terminal, and keeps it in `left`.
async fn show_progress(agent: &Agent<'_>, left: &Cell<usize>) -> Infallible {
    let spinner = agent.ui.spinner("the agent stops");
    loop {
        let status = local::query(&agent.data_dir, &agent.clock).await.ok();
        let stopped = status.filter(|status| status.stopping == Some(OnStop::Stop));
        left.set(stopped.map_or(0, |status| status.runs_active));
        spinner.message(match left.get() {
            0 => "the agent stops".to_owned(),
            1 => "the agent stops; 1 run is left".to_owned(),
            more => format!("the agent stops; {more} runs are left"),
        });
        agent.clock.sleep(PROGRESS_EVERY).await;
    }
}

fn still_stopping(limit: Span, left: usize) -> Failure {
    let detail = match left {
        0 => format!("the agent has not stopped within {limit}"),
        1 => format!("the agent has not stopped within {limit}: 1 run is left"),
        more => format!("the agent has not stopped within {limit}: {more} runs are left"),
    };
    let hint = "it goes on stopping; `hostler agent shutdown` waits again";
    Failure::told(Code::TimedOut, detail, hint)
}

fn validate(ui: &Ui, args: &AgentValidateArgs) -> Outcome {
    let standalone = Standalone::new(&args.directory, None)?;
    match standalone.load() {
        Ok(set) => {
            ui.line(&format!("All configs valid. {} workload(s) found.", set.len()))?;
            for (name, item) in &set.workloads {
                ui.line(&format!("  - {name} ({}, {})", item.spec.runtime, item.spec.mode.kind()))?;
            }
            Ok(DONE)
        }
        Err(report) => {
            let detail = format!("{}\n\n{}", report.summary(), report.with_source());
            Err(Failure::usage(detail, ""))
        }
    }
}

pub fn mistake_line(mistake: &MistakeView) -> String {
    let MistakeView { file, line, column, detail, hint } = mistake;
    let place = if *line > 0 { format!("{file}:{line}:{column}") } else { file.clone() };
    let hint = if hint.is_empty() { String::new() } else { format!("\n    hint: {hint}") };
    format!("{place}: {detail}{hint}")
}

fn failure(error: QueryError) -> Failure {
    match error {
        QueryError::NotRunning { path, .. } => Failure::told(
            Code::Unreachable,
            format!("no agent answers in {}", path.display()),
            "start it with `hostler agent run` or `hostler agent up --standalone DIR`, or give its --data-dir",
        ),
        QueryError::Forbidden(path) => Failure::told(
            Code::Denied,
            format!("the agent's socket in {} may not be opened", path.display()),
            "ask as root, or as a user of the agent's group",
        ),
        QueryError::Timeout => {
            Failure::told(Code::Unreachable, "the agent does not answer", "look into its log")
        }
        QueryError::Refused(refusal) => refused(&refusal),
        error @ (QueryError::Broken(_) | QueryError::Garbled(_)) => Failure::told(
            Code::Unreachable,
            hostler_base::chain(&error).to_string(),
            "see whether it still runs with `hostler agent status`",
        ),
    }
}

fn refused(Refusal { code, detail, mistakes }: &Refusal) -> Failure {
    let exit = match code {
        RefusalCode::NotFound => Code::NotFound,
        RefusalCode::Malformed | RefusalCode::Invalid => Code::Usage,
        RefusalCode::Conflict => Code::Conflict,
        RefusalCode::Internal => Code::Failure,
    };
    let hint = match code {
        RefusalCode::NotFound => "`hostler agent ls` lists the workloads",
        _ => "",
    };
    let lines: Vec<String> = mistakes.iter().map(mistake_line).collect();
    let detail = match lines.is_empty() {
        true => detail.clone(),
        false => format!("{detail}\n{}", lines.join("\n")),
    };
    Failure::told(exit, detail, hint)
}

fn garbled() -> Outcome {
    Err(Failure::told(
        Code::Failure,
        "the agent answered something else than was asked",
        "is it of another release? `hostler agent status` tells",
    ))
}
