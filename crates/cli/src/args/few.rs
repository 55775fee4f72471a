//! Commands that are read without the tree of all others.
//!
//! Workflows are begun often, by hooks and by other programs, and putting the whole tree together takes longer than a
//! short one. What is not understood here is read again with the whole tree, which also tells what is wrong.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::workflow::ENDINGS;
use super::{
    Cli, Command, Globals, RunArgs, WorkflowCommand, WorkflowRunArgs, files_as_workflows,
    outputs_as_kept,
};

#[derive(Parser)]
#[command(name = "hostler", version, disable_help_subcommand = true)]
struct Few {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: FewCommand,
}

#[derive(Subcommand)]
enum FewCommand {
    Run(Box<RunArgs>),
    #[command(subcommand)]
    Workflow(WorkflowCommand),
}

/// `hostler run FILE`, the file first.
#[derive(Parser)]
#[command(name = "hostler", disable_version_flag = true)]
struct RunFile {
    #[command(flatten)]
    globals: Globals,
    #[command(flatten)]
    run: WorkflowRunArgs,
}

fn run_file(words: &[OsString]) -> Option<Cli> {
    let [program, run, file, ..] = words else { return None };
    let file = file.to_str().filter(|file| !file.starts_with('-'))?;
    if run != "run" || !ENDINGS.iter().any(|ending| file.ends_with(ending)) {
        return None;
    }
    let words = [program].into_iter().chain(&words[2..]);
    let RunFile { globals, run } = RunFile::try_parse_from(words).ok()?;
    let command = Command::Workflow(WorkflowCommand::Run(Box::new(run)));
    Some(Cli { globals, command })
}

/// What a command line says that begins with `run` or `workflow`, if it is right.
pub fn few(words: &[OsString]) -> Option<Cli> {
    if let Some(cli) = run_file(words) {
        return Some(cli);
    }
    if !words.get(1).is_some_and(|word| word == "run" || word == "workflow") {
        return None;
    }
    let mut tree = Few::command();
    let words = outputs_as_kept(files_as_workflows(words.to_vec(), &tree));
    let matches = tree.try_get_matches_from_mut(words).ok()?;
    let Few { globals, command } = Few::from_arg_matches(&matches).ok()?;
    let command = match command {
        FewCommand::Run(args) => Command::Run(args),
        FewCommand::Workflow(command) => Command::Workflow(command),
    };
    Some(Cli { globals, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_the_whole_tree_reads() {
        for line in [
            "hostler run release.sloth",
            "hostler run --parallel 4 -o json release.sloth --set a=b",
            "hostler run release.sloth --parallel 4 -o json --set a=b --project x",
            "hostler workflow run release.lua -q",
            "hostler workflow validate a.sloth b.sloth --strict",
            "hostler workflow executions",
            "hostler run -- sh -c true",
            "hostler run --gpus 1 -- train x.lua",
        ] {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let mut tree = crate::command_tree();
            let whole = outputs_as_kept(files_as_workflows(words.clone(), &tree));
            let matches = tree.try_get_matches_from_mut(whole).unwrap();
            let whole = Cli::from_arg_matches(&matches).unwrap();
            assert_eq!(format!("{:?}", few(&words).unwrap()), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn what_it_does_not_understand_is_left_to_the_whole_tree() {
        for line in [
            "hostler",
            "hostler task ls",
            "hostler workflow",
            "hostler run --help",
            "hostler run --nonsense",
        ] {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert!(few(&words).is_none(), "{line}");
        }
    }
}
