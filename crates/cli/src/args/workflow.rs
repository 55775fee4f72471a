//! Workflows.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hostler_model::{ExecutionId, SecretRef};

use super::{ListArgs, ModuleCommand};

#[derive(Clone, Debug, Subcommand)]
pub enum WorkflowCommand {
    Run(Box<WorkflowRunArgs>),
    Validate(WorkflowValidateArgs),
    Push(WorkflowPushArgs),
    /// List the workflows that the server keeps
    #[command(after_help = "Examples:\n  hostler workflow ls\n  hostler workflow ls -o json")]
    Ls(WorkflowListArgs),
    /// Say what a workflow does, or how an execution stands
    #[command(
        after_help = "Examples:\n  hostler workflow show release.sloth\n  hostler workflow show release.sloth --values prod.yaml -o json\n  hostler workflow show release\n  hostler workflow show 0192f3c4-0000-7000-8000-000000000000\n\nA file is looked at here; a name is a workflow that the server keeps; an id is an execution on\nthe server."
    )]
    Show(WorkflowFileArgs),
    Graph(WorkflowGraphArgs),
    Executions(WorkflowExecutionsArgs),
    Logs(WorkflowLogsArgs),
    Output(WorkflowOutputArgs),
    Cancel(WorkflowCancelArgs),
    Resume(WorkflowResumeArgs),
    /// Do again what failed or was skipped in an execution, and nothing that succeeded
    #[command(
        after_help = "Examples:\n  hostler workflow retry 0192f3c1\n\nAn execution is named by its id, or by the beginning of it."
    )]
    Retry(WorkflowResumeArgs),
    /// Remove workflows from the server, with all their versions
    #[command(after_help = "Examples:\n  hostler workflow rm release\n\nExecutions go on.")]
    Rm {
        /// Names of workflows
        #[arg(value_name = "WORKFLOW", required = true)]
        workflows: Vec<String>,
    },
    Fmt(WorkflowFmtArgs),
    Modules(WorkflowModulesArgs),
    /// Modules of your own, which the server keeps for workflows to ask for with `require`
    #[command(subcommand)]
    Module(ModuleCommand),
}

/// Keep the workflows of files on the server
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workflow push release.sloth
  hostler workflow push workflows/*.sloth --strict

Every workflow of a file gets a new version, with the files that it imports and the modules that
the project keeps for it, unless nothing changed. Versions never change; `hostler workflow run NAME` carries out the newest.")]
pub struct WorkflowPushArgs {
    /// Files with workflows
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// YAML, JSON or TOML file with values that the files need to be looked at; executions have their own
    #[arg(short = 'V', long, value_name = "FILE")]
    pub values: Vec<PathBuf>,
    /// One of the values, such as image.tag=v2; wins over files
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is only warned of otherwise is a mistake
    #[arg(long)]
    pub strict: bool,
}

#[derive(Args, Clone, Debug)]
pub struct WorkflowListArgs {
    /// List the versions of this workflow, newest first
    #[arg(long, value_name = "WORKFLOW")]
    pub versions: Option<String>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// List executions of workflows, newest first
#[derive(Args, Clone, Debug)]
#[command(
    visible_alias = "history",
    after_help = "Examples:\n  hostler workflow executions\n  hostler workflow executions --workflow release --open\n  hostler workflow executions --here -o json\n\nThose on the server, where one is known; otherwise those on this machine."
)]
pub struct WorkflowExecutionsArgs {
    /// Those that were carried out on this machine by the command line
    #[arg(long)]
    pub here: bool,
    /// Only of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    pub workflow: Option<String>,
    /// Only those that are not over
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Print what the steps of an execution on the server printed
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow logs 0192f3c4-0000-7000-8000-000000000000\n  hostler workflow logs 0192f3c4-0000-7000-8000-000000000000 build"
)]
pub struct WorkflowLogsArgs {
    /// Id of the execution
    #[arg(value_name = "EXECUTION")]
    pub execution: ExecutionId,
    /// Only of this step
    #[arg(value_name = "STEP")]
    pub step: Option<String>,
}

/// Print what a step of an execution on the server gave to others
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow output 0192f3c4-0000-7000-8000-000000000000 build"
)]
pub struct WorkflowOutputArgs {
    /// Id of the execution
    #[arg(value_name = "EXECUTION")]
    pub execution: ExecutionId,
    /// Name of the step
    #[arg(value_name = "STEP")]
    pub step: String,
}

/// End executions on the server: nothing begins any more, and what runs is stopped
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow cancel 0192f3c4-0000-7000-8000-000000000000\n\nAn execution on this machine ends with Ctrl-C."
)]
pub struct WorkflowCancelArgs {
    /// Ids of executions
    #[arg(value_name = "EXECUTION", required = true)]
    pub executions: Vec<ExecutionId>,
}

/// Indent files as their blocks nest, and take away what is at the ends of lines
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow fmt release.sloth\n  hostler workflow fmt *.sloth --check\n\nWith --check nothing is written; exits with 1 when a file would change."
)]
pub struct WorkflowFmtArgs {
    /// Files with workflows
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Write nothing; say which files would change
    #[arg(long)]
    pub check: bool,
}

/// A file, and what it is defined with.
#[derive(Args, Clone, Debug)]
pub struct WorkflowFileArgs {
    /// File with the workflow (.sloth, .lua or .luau), `-` for stdin; or the name of one that the server keeps
    #[arg(value_name = "FILE|WORKFLOW")]
    pub file: PathBuf,
    /// Workflow of the file, when it has several; otherwise all of them, one after the other
    #[arg(short, long, value_name = "NAME")]
    pub workflow: Option<String>,
    /// YAML, JSON or TOML file with what the workflow sees as `values`; later files win
    #[arg(short = 'V', long, value_name = "FILE")]
    pub values: Vec<PathBuf>,
    /// One of the values, such as image.tag=v2; wins over files
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is only warned of otherwise is a mistake
    #[arg(long)]
    pub strict: bool,
}

/// Carry out the workflows of a file
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workflow run release.sloth
  hostler workflow run release.sloth --values prod.yaml --set image.tag=v2
  hostler workflow run release.sloth --task deploy
  hostler workflow run release.sloth --dry-run
  hostler workflow run ci.lua --workflow test -o json
  hostler workflow run release.sloth --delegate-to web-01 --delegate-to web-02
  hostler workflow run release --version 3 --detach
  hostler workflow run release --stack web

A file is carried out by this command on this machine. With --delegate-to, --remote or --stack, or
when its tasks say where they run or its config asks for a stack, it is kept on the server and
carried out on nodes; steps that name no node run wherever there is room. A name is a workflow
that the server keeps already.

`hostler run FILE` is the same. What steps print goes to stdout, what happens to stderr; with
-o json stdout has the result alone. Exits with 0 when everything went well, 4 when a step
failed, 9 when the workflow took too long, 130 when it was interrupted.

An execution that is interrupted or whose process dies is known to
`hostler workflow executions`, and goes on with `hostler workflow resume`.")]
pub struct WorkflowRunArgs {
    #[command(flatten)]
    pub file: WorkflowFileArgs,
    /// Only this task and what it depends on
    #[arg(short, long = "task", value_name = "TASK")]
    pub tasks: Vec<String>,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Ask before every task
    #[arg(short, long)]
    pub interactive: bool,
    /// Run on this machine also what is delegated to nodes
    #[arg(long)]
    pub here: bool,
    /// Agree to this task that waits for somebody to agree
    #[arg(long, value_name = "TASK")]
    pub approve: Vec<String>,
    /// How many tasks run at once where the workflow does not say it
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub parallel: Option<u32>,
    /// Keep no journal; the execution cannot be resumed
    #[arg(long)]
    pub no_journal: bool,
    /// Have modules say what they would change, and change nothing; programs and functions are run all the same
    #[arg(long)]
    pub check: bool,
    /// Run on this node what does not say where it runs; several run it on each of them
    #[arg(short, long, value_name = "NODE", conflicts_with = "here")]
    pub delegate_to: Vec<String>,
    /// Have the server carry it out, on its nodes
    #[arg(long, conflicts_with = "here")]
    pub remote: bool,
    /// Stack that it is about, instead of the one that the file names; the server carries it out
    #[arg(long, value_name = "STACK", conflicts_with = "here")]
    pub stack: Option<String>,
    /// Secret that tasks can ask for: NAME or ENVIRONMENT/NAME; with --here you need to be allowed to read it
    #[arg(long, value_name = "SECRET")]
    pub secret: Vec<SecretRef>,
    /// Version of a workflow that the server keeps; the newest when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub version: Option<u32>,
    /// Do not wait for an execution on the server to end
    #[arg(long)]
    pub detach: bool,
}

/// Say what is wrong with files, without running anything
#[derive(Args, Clone, Debug)]
#[command(
    visible_alias = "lint",
    after_help = "\
Examples:
  hostler workflow validate release.sloth
  hostler workflow validate *.sloth --strict
  hostler workflow validate release.sloth --values prod.yaml -o json
  hostler workflow validate release

A name is a workflow that the server keeps, which is looked at with these values. Every mistake of every file is told, with its line. Exits with 2 when there is one."
)]
pub struct WorkflowValidateArgs {
    /// Files with workflows, or names of those that the server keeps
    #[arg(value_name = "FILE|WORKFLOW", required = true)]
    pub files: Vec<PathBuf>,
    /// YAML, JSON or TOML file with what the workflows see as `values`; later files win
    #[arg(short = 'V', long, value_name = "FILE")]
    pub values: Vec<PathBuf>,
    /// One of the values, such as image.tag=v2; wins over files
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is only warned of otherwise is a mistake
    #[arg(long)]
    pub strict: bool,
}

/// Draw the graph of a workflow
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow graph release.sloth\n  hostler workflow graph release\n  hostler workflow graph release.sloth --format svg > release.svg\n  hostler workflow graph release.sloth --format dot | dot -Tpng > release.png"
)]
pub struct WorkflowGraphArgs {
    #[command(flatten)]
    pub file: WorkflowFileArgs,
    /// How it is drawn
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For a terminal
    Text,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

/// Go on with an execution whose process was interrupted or died
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workflow resume 0192f3c1
  hostler workflow resume 0192f3c1 --repeat-uncertain

What is finished is not done again. A step that was under way when the process died is reported
as uncertain, and done again only with --repeat-uncertain.")]
pub struct WorkflowResumeArgs {
    /// Id of the execution, or the beginning of it
    #[arg(value_name = "EXECUTION")]
    pub execution: String,
    /// Do again also what was under way when its process, or its node, was lost
    #[arg(long)]
    pub repeat_uncertain: bool,
    /// Do this step again, and everything that depends on it
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,
    /// Do not wait for an execution on the server to end
    #[arg(long)]
    pub detach: bool,
    /// Run on this machine also what is delegated to nodes
    #[arg(long)]
    pub here: bool,
    /// Agree to this task that waits for somebody to agree
    #[arg(long, value_name = "TASK")]
    pub approve: Vec<String>,
    /// Secret that tasks of an execution on this machine can ask for: NAME or ENVIRONMENT/NAME
    #[arg(long, value_name = "SECRET")]
    pub secret: Vec<SecretRef>,
}

/// List the modules that workflows can use, or the functions of one
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow modules\n  hostler workflow modules exec\n  hostler workflow modules exec -o json"
)]
pub struct WorkflowModulesArgs {
    /// Name of a module
    #[arg(value_name = "MODULE")]
    pub module: Option<String>,
}

/// Endings of files with workflows.
pub(super) const ENDINGS: [&str; 3] = [".sloth", ".lua", ".luau"];

/// `hostler run FILE.sloth` is `hostler workflow run FILE.sloth`: what comes first after `run` decides, and a command
/// after `--` is never a file.
pub fn files_as_workflows(words: Vec<OsString>, tree: &clap::Command) -> Vec<OsString> {
    let Some(verb) = first_word(&words, 1, &[tree]).filter(|&at| words[at] == "run") else {
        return words;
    };
    let workflow =
        tree.find_subcommand("workflow").and_then(|command| command.find_subcommand("run"));
    let forms: Vec<&clap::Command> =
        [Some(tree), tree.find_subcommand("run"), workflow].into_iter().flatten().collect();
    let file = first_word(&words, verb + 1, &forms).and_then(|at| words[at].to_str());
    if !file.is_some_and(|file| ENDINGS.iter().any(|ending| file.ends_with(ending))) {
        return words;
    }
    let mut words = words;
    words.insert(verb, "workflow".into());
    words
}

/// Where the first word is that is neither a flag nor the value of one; nothing when `--` comes before it.
fn first_word(words: &[OsString], from: usize, forms: &[&clap::Command]) -> Option<usize> {
    let mut at = from;
    loop {
        let word = words.get(at)?.to_str()?;
        if word == "--" {
            return None;
        }
        if !word.starts_with('-') || word == "-" {
            return Some(at);
        }
        at += if forms.iter().any(|form| takes_value(form, word)) { 2 } else { 1 };
    }
}

/// Whether a flag is followed by its value.
fn takes_value(command: &clap::Command, word: &str) -> bool {
    if word.contains('=') {
        return false;
    }
    command.get_arguments().any(|argument| {
        let is_it = match word.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => {
                let mut letters = word.chars().skip(1);
                let short = letters.next();
                short.is_some() && letters.next().is_none() && argument.get_short() == short
            }
        };
        is_it && argument.get_action().takes_values()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_after_run_is_a_workflow_and_a_command_is_not() {
        let tree = crate::command_tree();
        let told = |line: &str| {
            let words = files_as_workflows(line.split(' ').map(Into::into).collect(), &tree);
            words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("hostler run a.sloth --set x=1", "hostler workflow run a.sloth --set x=1"),
            ("hostler run --values v.yaml a.lua", "hostler workflow run --values v.yaml a.lua"),
            ("hostler -o json run a.luau", "hostler -o json workflow run a.luau"),
            ("hostler run -o json a.luau", "hostler workflow run -o json a.luau"),
            ("hostler run -- lua a.lua", "hostler run -- lua a.lua"),
            ("hostler run lua a.lua", "hostler run lua a.lua"),
            ("hostler run -e A=b.lua env", "hostler run -e A=b.lua env"),
            ("hostler run --node x ./a.lua", "hostler workflow run --node x ./a.lua"),
            ("hostler workflow run a.lua", "hostler workflow run a.lua"),
            ("hostler agent run a.lua", "hostler agent run a.lua"),
            ("hostler run", "hostler run"),
        ] {
            assert_eq!(told(line), expected);
        }
    }
}
