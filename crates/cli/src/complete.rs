//! Completion in shells. The script that a shell loads only calls this program, which knows its
//! commands and flags and asks the server for names. A server that is slow or away costs the names,
//! not the rest.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use clap::{Command, Parser, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, CompleteEnv, EnvCompleter, Fish, Zsh};
use futures::TryStreamExt;
use hostler_api::image::{ImageList, ImageListQuery};
use hostler_api::node::{NodeList, NodeListQuery};
use hostler_api::project::ProjectList;
use hostler_api::secret::{SecretList, SecretListQuery};
use hostler_api::stack::{StackList, StackListQuery};
use hostler_api::task::{ArrayList, ArrayListQuery, TaskList, TaskListQuery};
use hostler_api::user::UserList;
use hostler_api::workload::{WorkloadList, WorkloadListQuery};
use hostler_api::{Endpoint, Listing, Nothing, PageQuery, ProjectPath};

use crate::args::{Cli, ShellName};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Show;
use crate::target::Target;

/// Set by the script when it calls this program.
const VARIABLE: &str = "HOSTLER_COMPLETE";
const PATIENCE: Duration = Duration::from_secs(2);
const MOST: usize = 500;
const PAGE: u32 = 500;

/// Answers the shell and ends the process, when a shell asks.
pub fn complete() {
    CompleteEnv::with_factory(tree).var(VARIABLE).bin("hostler").complete();
}

/// What a shell loads.
pub fn script(shell: ShellName) -> Result<Vec<u8>, Failure> {
    let shell: &dyn EnvCompleter = match shell {
        ShellName::Bash => &Bash,
        ShellName::Zsh => &Zsh,
        ShellName::Fish => &Fish,
    };
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "hostler", "hostler", "hostler", &mut script)
        .map_err(|error| Failure::Other(error.into()))?;
    Ok(script)
}

/// The commands, with names for every argument that stands for an object.
fn tree() -> Command {
    named(crate::command_tree())
}

fn named(command: Command) -> Command {
    command.mut_subcommands(named).mut_args(|arg| {
        let placeholder = arg.get_value_names().and_then(|names| names.first()).cloned();
        let id = arg.get_id().to_string();
        match placeholder.as_deref() {
            Some("TASK" | "TASK|CODE") => arg.add(ArgValueCompleter::new(tasks)),
            Some("ARRAY") => arg.add(ArgValueCompleter::new(arrays)),
            Some("WORKLOAD") => arg.add(ArgValueCompleter::new(workloads)),
            Some("IMAGE") => arg.add(ArgValueCompleter::new(images)),
            Some("SECRET") => arg.add(ArgValueCompleter::new(secrets)),
            Some("STACK") => arg.add(ArgValueCompleter::new(stacks)),
            Some("NODE") => arg.add(ArgValueCompleter::new(nodes)),
            Some("PROJECT") => arg.add(ArgValueCompleter::new(projects)),
            Some("USER") => arg.add(ArgValueCompleter::new(users)),
            Some("NAME") if id == "context" => arg.add(ArgValueCompleter::new(contexts)),
            Some("NAME") if id == "project" => arg.add(ArgValueCompleter::new(projects)),
            Some("FILE" | "FILE|DIR") => arg.value_hint(ValueHint::FilePath),
            Some("DIR") => arg.value_hint(ValueHint::DirPath),
            _ => arg,
        }
    })
}

fn secrets(current: &OsStr) -> Vec<CompletionCandidate> {
    let query = SecretListQuery { limit: Some(PAGE), ..SecretListQuery::default() };
    names::<SecretList, _>(
        current,
        |target| ProjectPath { project: target.project.value.clone() },
        query,
    )
}

fn stacks(current: &OsStr) -> Vec<CompletionCandidate> {
    names::<StackList, _>(
        current,
        |target| ProjectPath { project: target.project.value.clone() },
        StackListQuery { limit: Some(PAGE), ..StackListQuery::default() },
    )
}

fn images(current: &OsStr) -> Vec<CompletionCandidate> {
    let query = ImageListQuery { limit: Some(PAGE), ..ImageListQuery::default() };
    names::<ImageList, _>(current, |_| Nothing {}, query)
}

fn tasks(current: &OsStr) -> Vec<CompletionCandidate> {
    names::<TaskList, _>(
        current,
        |target| ProjectPath { project: target.project.value.clone() },
        TaskListQuery { limit: Some(PAGE), ..TaskListQuery::default() },
    )
}

fn arrays(current: &OsStr) -> Vec<CompletionCandidate> {
    names::<ArrayList, _>(
        current,
        |target| ProjectPath { project: target.project.value.clone() },
        ArrayListQuery { limit: Some(PAGE), ..ArrayListQuery::default() },
    )
}

fn workloads(current: &OsStr) -> Vec<CompletionCandidate> {
    names::<WorkloadList, _>(
        current,
        |target| ProjectPath { project: target.project.value.clone() },
        WorkloadListQuery { limit: Some(PAGE), ..WorkloadListQuery::default() },
    )
}

fn nodes(current: &OsStr) -> Vec<CompletionCandidate> {
    let query = NodeListQuery { limit: Some(PAGE), ..NodeListQuery::default() };
    names::<NodeList, _>(current, |_| Nothing {}, query)
}

fn projects(current: &OsStr) -> Vec<CompletionCandidate> {
    let query = PageQuery { limit: Some(PAGE), ..PageQuery::default() };
    names::<ProjectList, _>(current, |_| Nothing {}, query)
}

fn users(current: &OsStr) -> Vec<CompletionCandidate> {
    let query = PageQuery { limit: Some(PAGE), ..PageQuery::default() };
    names::<UserList, _>(current, |_| Nothing {}, query)
}

fn contexts(current: &OsStr) -> Vec<CompletionCandidate> {
    let config = Environment::from_process().ok().and_then(|e| crate::config::load(&e).ok());
    let names = config.into_iter().flat_map(|config| config.contexts.into_keys());
    beginning_with(current, names)
}

fn beginning_with(
    current: &OsStr,
    names: impl Iterator<Item = String>,
) -> Vec<CompletionCandidate> {
    let start = current.to_string_lossy();
    names.filter(|name| name.starts_with(&*start)).map(CompletionCandidate::new).collect()
}

/// What the server has of a kind. Whatever goes wrong, there are no names.
fn names<E, T>(
    current: &OsStr,
    path: impl Fn(&Target) -> E::Path,
    query: E::Query,
) -> Vec<CompletionCandidate>
where
    E: Endpoint<Body = Nothing, Reply = Listing<T>>,
    T: Show + Send + 'static,
{
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2).collect::<Vec<_>>();
    let asked = || -> Option<Vec<T>> {
        let cli = Cli::try_parse_from(where_to(&words)).ok()?;
        let target = Target::resolve(&cli.globals, &Environment::from_process().ok()?).ok()?;
        let client = target.client().ok()?.with_timeout(PATIENCE);
        let pages = client.pages::<E, T>(&path(&target), &query, Some(MOST)).ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async {
            tokio::time::timeout(PATIENCE, pages.try_collect()).await.ok()?.ok()
        })
    };
    beginning_with(current, asked().into_iter().flatten().map(|item| item.name()))
}

/// A command line that says no more than which server and project a half-written one means.
fn where_to(words: &[OsString]) -> Vec<OsString> {
    const FLAGS: [&str; 6] =
        ["--context", "--project", "-p", "--address", "--cacert", "--token-file"];
    let mut line = vec![OsString::from("hostler"), OsString::from("version")];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if FLAGS.iter().any(|flag| text == *flag) {
            line.extend([word.clone()].into_iter().chain(words.next().cloned()));
        } else if FLAGS.iter().any(|flag| text.starts_with(&format!("{flag}="))) {
            line.push(word.clone());
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_that_stands_for_an_object_is_completed() {
        fn look(command: &Command, missing: &mut Vec<String>) {
            for arg in command.get_arguments() {
                let name = arg.get_value_names().and_then(|names| names.first());
                let is_object = matches!(
                    name.map(|name| name.as_str()),
                    Some(
                        "TASK"
                            | "TASK|CODE"
                            | "ARRAY"
                            | "WORKLOAD"
                            | "STACK"
                            | "NODE"
                            | "PROJECT"
                            | "USER"
                    )
                ) || arg.is_global_set()
                    && ["context", "project"].contains(&arg.get_id().as_str());
                if is_object && arg.get::<ArgValueCompleter>().is_none() {
                    missing.push(format!("{} {}", command.get_name(), arg.get_id()));
                }
            }
            command.get_subcommands().for_each(|sub| look(sub, missing));
        }
        let mut missing = Vec::new();
        look(&tree(), &mut missing);
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn a_half_written_line_says_where_it_goes() {
        let words = ["task", "get", "--context", "lab", "-p", "web", "--address=https://x", "-o"];
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let told = where_to(&words);
        assert_eq!(
            told,
            ["hostler", "version", "--context", "lab", "-p", "web", "--address=https://x"]
        );
        assert!(Cli::try_parse_from(told).is_ok());
    }
}
