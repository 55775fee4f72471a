//! Files of tasks.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{BlobKind, Digest, Output, OutputWhen, inner_path_problem};

use super::{ListArgs, labels_of};
use crate::output::Format;

/// What is put before a task, and what is kept of it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Files")]
pub struct FileArgs {
    /// Put a file or a directory from here into the task's working directory
    #[arg(long = "input", value_name = "LOCAL[:PATH]", value_parser = local_input)]
    pub inputs: Vec<LocalInput>,
    /// Keep a file or a directory of the task's working directory when it has succeeded, or always; `*`
    /// and `?` stand for anything; `--output PATH` means the same, unless PATH is the name of a format
    #[arg(long, value_name = "PATH[:always]", value_parser = kept)]
    pub keep: Vec<Output>,
}

/// Where a task is submitted, `--output` with anything but a format says what to keep of it.
pub fn outputs_as_kept(words: Vec<OsString>) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let submits = words[..end].windows(2).any(|pair| match (pair[0].to_str(), pair[1].to_str()) {
        (before, Some("run")) => !matches!(before, Some("agent" | "server")),
        (before, Some("submit")) => before == Some("task"),
        _ => false,
    });
    if !submits {
        return words;
    }
    let is_path = |word: &str| word.parse::<Format>().is_err();
    let mut words = words;
    for at in 1..end {
        let kept = match words[at].to_str() {
            Some("--output") => {
                let path = words[..end].get(at + 1).and_then(|word| word.to_str());
                path.filter(|path| is_path(path)).map(|_| "--keep".to_owned())
            }
            Some(word) => {
                let path = word.strip_prefix("--output=").filter(|path| is_path(path));
                path.map(|path| format!("--keep={path}"))
            }
            None => None,
        };
        if let Some(kept) = kept {
            words[at] = kept.into();
        }
    }
    words
}

/// A file or directory here, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalInput {
    pub source: PathBuf,
    pub path: String,
}

fn local_input(text: &str) -> Result<LocalInput, String> {
    let whole = PathBuf::from(text);
    let (source, path) = match text.rsplit_once(':') {
        Some((source, path)) if !whole.exists() => (PathBuf::from(source), Some(path.to_owned())),
        _ => (whole, None),
    };
    let named = || Some(source.file_name()?.to_str()?.to_owned());
    let path = path.or_else(named).ok_or("say what it is to be called there: LOCAL:PATH")?;
    match inner_path_problem(&path) {
        Some(why) => Err(why.to_owned()),
        None => Ok(LocalInput { source, path }),
    }
}

fn kept(text: &str) -> Result<Output, String> {
    let (path, when) = match text.strip_suffix(":always") {
        Some(path) => (path, OutputWhen::Always),
        None => (text, OutputWhen::Success),
    };
    match inner_path_problem(path) {
        Some(why) => Err(why.to_owned()),
        None => Ok(Output { path: path.to_owned(), name: None, when }),
    }
}

/// Fetch what a task left: everything of its newest run, or what is named
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler task download train
  hostler task download train model.bin --to results

A directory comes as a tar archive. What is fetched is checked: it is what the task left, or nothing.")]
pub struct TaskDownloadArgs {
    /// Name or id of the task
    #[arg(value_name = "TASK")]
    pub task: String,
    /// What to fetch; everything when absent
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Directory to write to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub to: PathBuf,
}

#[derive(Clone, Debug, Subcommand)]
pub enum BlobCommand {
    /// List the content that a project has, newest first
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler blob ls\n  hostler blob ls --kind output -o wide"
    )]
    Ls(BlobListArgs),
    /// Show a blob
    #[command(visible_alias = "get", after_help = "Examples:\n  hostler blob show DIGEST")]
    Show(BlobArg),
    /// Remove blobs that no task needs; what nothing needs goes by itself in time
    #[command(visible_alias = "delete", after_help = "Examples:\n  hostler blob rm DIGEST")]
    Rm(BlobRemoveArgs),
}

#[derive(Args, Clone, Debug)]
pub struct BlobListArgs {
    /// Only blobs of this kind
    #[arg(long, value_name = "KIND", value_parser = labels_of!(BlobKind))]
    pub kind: Option<BlobKind>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Args, Clone, Debug)]
pub struct BlobArg {
    /// Digest of the blob
    #[arg(value_name = "DIGEST")]
    pub blob: Digest,
}

#[derive(Args, Clone, Debug)]
pub struct BlobRemoveArgs {
    /// Digests of blobs
    #[arg(value_name = "DIGEST", required = true)]
    pub blobs: Vec<Digest>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_named_by_themselves_or_by_the_user() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join("a:b");
        std::fs::write(&odd, "").unwrap();
        let read = |text: &str| local_input(text).map(|input| input.path);
        assert_eq!(read("data/train.csv"), Ok("train.csv".to_owned()));
        assert_eq!(read("data/train.csv:in/x.csv"), Ok("in/x.csv".to_owned()));
        assert_eq!(read(odd.to_str().unwrap()), Ok("a:b".to_owned()));
        assert!(read("x:/etc/passwd").is_err());
        assert!(read("x:../y").is_err());
        assert!(read("..").is_err());
    }

    #[test]
    fn an_output_that_is_no_format_is_kept() {
        let told = |line: &str| {
            let words = outputs_as_kept(line.split(' ').map(Into::into).collect());
            words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("hostler task submit --output m.bin -- x", "hostler task submit --keep m.bin -- x"),
            ("hostler run --output=out/* -- x", "hostler run --keep=out/* -- x"),
            (
                "hostler run --output json --output a -- x",
                "hostler run --output json --keep a -- x",
            ),
            ("hostler run -- x --output y", "hostler run -- x --output y"),
            ("hostler task ls --output m.bin", "hostler task ls --output m.bin"),
            ("hostler agent run --output m.bin", "hostler agent run --output m.bin"),
            ("hostler task submit --output", "hostler task submit --output"),
        ] {
            assert_eq!(told(line), expected);
        }
    }

    #[test]
    fn what_is_kept_may_be_kept_always() {
        assert_eq!(kept("out/*.log:always").unwrap().when, OutputWhen::Always);
        assert_eq!(kept("out").unwrap().when, OutputWhen::Success);
        assert!(kept("../x").is_err());
    }
}
