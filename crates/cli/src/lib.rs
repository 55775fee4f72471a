//! The command line of Hostler: arguments, commands, output.
//!
//! The binary calls [`parse`]. What becomes a server or an agent comes back as data
//! ([`Invocation::Up`] and its like), because this crate knows neither; everything else is a
//! [`ClientCommand`] for [`run`], which is a client of the API like any other.
//!
//! 1. stdout is data, stderr is talk. What is printed with `-o json`, `jsonl` or `yaml` parses.
//! 2. Questions are only asked on a terminal, and never with `--no-input`.
//! 3. Secrets are never flags.
//! 4. Every failure says what to do next and ends with a documented [exit code](exit::Code).
//!
//! Reading order is the order of the modules below.

pub mod args;

pub mod config;
pub mod environment;
pub mod exit;

mod failure;
mod target;
mod ui;

pub mod output;

mod codes;
mod command;
mod complete;
mod help;
mod reference;

#[doc(hidden)]
pub mod fuzz;

pub use codes::errors_markdown;
pub use complete::complete;
pub use environment::{Environment, Streams};
pub use failure::{Failure, Outcome};
pub use reference::reference_markdown;
pub use ui::Ui;

/// What of backups is the same with a server and without.
pub mod backup {
    pub use crate::command::backup::{Destination, Made, default_name, key_of, key_of_new};
}

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use hostler_model::Finding;

use args::{
    AgentArgs, AgentCommand, AgentInstallArgs, AgentJoinArgs, AgentRunArgs, AgentUninstallArgs,
    AgentUpArgs, BackupCommand, BackupCreateArgs, BackupListArgs, BackupRestoreArgs,
    BackupVerifyArgs, Cli, Command, DoctorArgs, Globals, LocalCommand, ServerCommand,
    ServerInstallArgs, ServerMigrateArgs, ServerRekeyArgs, ServerRunArgs, ServerUninstallArgs,
    UpArgs,
};

/// What a command line asks for.
#[derive(Clone, Debug)]
pub enum Invocation {
    Up(UpArgs),
    Server(ServerInvocation),
    Agent(AgentInvocation),
    /// What reads files and databases itself, and how to print the answer.
    Backup(Box<Globals>, Box<BackupInvocation>),
    /// Everything that [`run`] can do.
    Client(Box<ClientCommand>),
}

#[derive(Clone, Debug)]
pub enum ServerInvocation {
    Run(ServerRunArgs),
    Migrate(ServerMigrateArgs),
    Rekey(ServerRekeyArgs),
    Install(ServerInstallArgs),
    Uninstall(ServerUninstallArgs),
}

#[derive(Clone, Debug)]
pub enum BackupInvocation {
    Create(BackupCreateArgs),
    List(BackupListArgs),
    Verify(BackupVerifyArgs),
    Restore(BackupRestoreArgs),
}

#[derive(Clone, Debug)]
pub enum AgentInvocation {
    Run(AgentRunArgs),
    Up(AgentUpArgs),
    Join(AgentJoinArgs),
    Install(AgentInstallArgs),
    Uninstall(AgentUninstallArgs),
    /// A question to the agent on this machine, and how to print the answer.
    Local {
        globals: Box<Globals>,
        command: Box<LocalCommand>,
    },
}

/// A command that talks to a server, or needs none.
#[derive(Clone, Debug)]
pub struct ClientCommand {
    globals: Globals,
    command: Command,
    /// What is known before it begins; only `doctor` wants that.
    findings: Vec<Finding>,
    /// What takes secrets out of what workflows on this machine tell.
    scrubber: Option<Scrubber>,
}

/// Makes what takes the values of secrets, by their names, out of a text.
pub type Scrubber = fn(&BTreeMap<String, String>) -> Box<dyn Fn(&str) -> String>;

impl ClientCommand {
    /// Of `hostler doctor`: which server of this machine is meant.
    pub fn doctor(&self) -> Option<&DoctorArgs> {
        match &self.command {
            Command::Doctor(args) => Some(args),
            _ => None,
        }
    }

    /// With what was found of it.
    #[must_use]
    pub fn with_findings(self, findings: Vec<Finding>) -> ClientCommand {
        ClientCommand { findings, ..self }
    }

    /// With what takes secrets out of what people are told; without it no secret is read for a workflow here.
    #[must_use]
    pub fn with_scrubber(self, scrubber: Scrubber) -> ClientCommand {
        ClientCommand { scrubber: Some(scrubber), ..self }
    }
}

/// Reads the command line of this process. `Err` is the code to end with: help was asked for and
/// printed, or the usage was wrong and that was told.
pub fn parse() -> Result<Invocation, ExitCode> {
    parse_from(std::env::args_os()).map_err(|error| {
        let _nobody_listens = error.print();
        ExitCode::from(
            if error.use_stderr() { exit::Code::Usage } else { exit::Code::Success }.number(),
        )
    })
}

/// The same for a given command line, the program's name first.
pub fn parse_from(
    args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Invocation, clap::Error> {
    let words: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let Cli { globals, command } = match args::few(&words) {
        Some(cli) => cli,
        None => {
            let mut tree = command_tree();
            let words = args::outputs_as_kept(args::files_as_workflows(words, &tree));
            let matches = tree.try_get_matches_from_mut(words)?;
            Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut tree))?
        }
    };
    Ok(match command {
        Command::Up(args) => Invocation::Up(*args),
        Command::Agent(args) => {
            let AgentArgs { command, run } = *args;
            Invocation::Agent(match command {
                None => AgentInvocation::Run(run),
                Some(AgentCommand::Run(args)) => AgentInvocation::Run(args),
                Some(AgentCommand::Up(args)) => AgentInvocation::Up(args),
                Some(AgentCommand::Join(args)) => AgentInvocation::Join(args),
                Some(AgentCommand::Install(args)) => AgentInvocation::Install(args),
                Some(AgentCommand::Uninstall(args)) => AgentInvocation::Uninstall(args),
                Some(AgentCommand::Local(command)) => AgentInvocation::Local {
                    globals: Box::new(globals),
                    command: Box::new(command),
                },
            })
        }
        Command::Server(args) => match args.command {
            None => Invocation::Server(ServerInvocation::Run(args.run)),
            Some(ServerCommand::Run(run)) => Invocation::Server(ServerInvocation::Run(run)),
            Some(ServerCommand::Migrate(migrate)) => {
                Invocation::Server(ServerInvocation::Migrate(migrate))
            }
            Some(ServerCommand::Rekey(rekey)) => Invocation::Server(ServerInvocation::Rekey(rekey)),
            Some(ServerCommand::Install(args)) => {
                Invocation::Server(ServerInvocation::Install(args))
            }
            Some(ServerCommand::Uninstall(args)) => {
                Invocation::Server(ServerInvocation::Uninstall(args))
            }
            Some(ServerCommand::Ls) => client(globals, Command::Server(args)),
        },
        Command::Backup(command) => backup_of(globals, command),
        other => client(globals, other),
    })
}

/// Whether a server is asked, or everything is done here.
fn backup_of(globals: Globals, command: BackupCommand) -> Invocation {
    let here = match command {
        BackupCommand::Create(args) if args.offline => BackupInvocation::Create(args),
        BackupCommand::Ls(args) if args.directory.is_some() => BackupInvocation::List(args),
        BackupCommand::Verify(args) => BackupInvocation::Verify(args),
        BackupCommand::Restore(args) => BackupInvocation::Restore(args),
        other => return client(globals, Command::Backup(other)),
    };
    Invocation::Backup(Box::new(globals), Box::new(here))
}

fn client(globals: Globals, command: Command) -> Invocation {
    let (findings, scrubber) = (Vec::new(), None);
    Invocation::Client(Box::new(ClientCommand { globals, command, findings, scrubber }))
}

/// The whole tree of commands. Only the root has a `help` command, its own; nouns have `--help`.
pub fn command_tree() -> clap::Command {
    fn quiet(command: clap::Command) -> clap::Command {
        command.mut_subcommands(|sub| quiet(sub).disable_help_subcommand(true))
    }
    quiet(Cli::command())
}

/// Carries a command out.
pub fn run(command: ClientCommand) -> ExitCode {
    let environment = match Environment::from_process() {
        Ok(environment) => environment,
        Err(error) => {
            let failure = Failure::Other(error);
            let _nobody_listens =
                std::io::Write::write_all(&mut std::io::stderr(), failure.render(false).as_bytes());
            return ExitCode::from(failure.exit());
        }
    };
    let _logs = client_logs(&environment);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(run_in(command, environment, Streams::of_process()));
            runtime.shutdown_background();
            ExitCode::from(code)
        }
        Err(_) => ExitCode::from(exit::Code::Failure.number()),
    }
}

/// Carries a command out in a given environment, and says the code to end with.
pub async fn run_in(command: ClientCommand, environment: Environment, streams: Streams) -> u8 {
    let ui = std::rc::Rc::new(ui::Ui::new(streams, &command.globals, &environment));
    let used = std::sync::OnceLock::new();
    let (globals, findings, scrubber) = (command.globals, command.findings, command.scrubber);
    let cx = command::Cx { ui, globals, environment, used, findings, scrubber };
    let outcome = Box::pin(command::perform(&cx, command.command)).await;
    if let Some((client, context)) = cx.used.get() {
        command::authority::learn(&cx, client, context).await;
    }
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            cx.ui.fail(&failure);
            failure.exit()
        }
    }
}

/// Commands log only when asked to with `HOSTLER_LOG`; a filter that is wrong must not stop them.
fn client_logs(environment: &Environment) -> Option<hostler_base::log::LogGuard> {
    let filter = std::env::var("HOSTLER_LOG").ok().filter(|filter| !filter.is_empty())?;
    let config = hostler_base::log::LogConfig { filter, ..hostler_base::log::LogConfig::default() };
    hostler_base::log::init(&config, &environment.clock).ok()
}
