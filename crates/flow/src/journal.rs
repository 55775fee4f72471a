//! What happened in an execution, line by line.
//!
//! A line is written before a step begins and after it ended, each with one `write`: a process that is killed at any
//! moment leaves whole lines, and what it says is all that is believed. The file is synced when the execution ends; a
//! machine that loses power may lose the last lines, and knows of the steps in them only that they may have run.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hostler_lua::Bundle;
use hostler_model::workflow::{ExecutionOutcome, SkipReason, StepEnd, StepResult};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub(crate) enum Line {
    /// What is carried out, with which values; the first line.
    Began {
        workflow: String,
        bundle: Box<Bundle>,
        values: Json,
        only: Vec<String>,
        seed: u64,
        now: i64,
    },
    Started {
        step: String,
        attempt: u32,
    },
    Ended {
        step: String,
        attempt: u32,
        result: Box<StepResult>,
    },
    Skipped {
        step: String,
        reason: SkipReason,
    },
    Undone {
        step: String,
        end: StepEnd,
    },
    Finished {
        outcome: ExecutionOutcome,
    },
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "there is no execution `{0}` here; `hostler workflow executions` lists those that are known"
    )]
    Unknown(String),
    #[error(
        "the execution is being carried out by another process; wait for it, or stop that process"
    )]
    Busy,
    #[error("{path} cannot be read as a journal, line {line}")]
    Unreadable { path: PathBuf, line: usize },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// The journal of one execution, locked while it is open.
pub struct Journal {
    file: File,
    path: PathBuf,
    folder: PathBuf,
}

impl Journal {
    const FILE: &'static str = "journal.jsonl";

    /// Makes one for a new execution, in a directory of its own.
    pub fn create(folder: &Path) -> Result<Journal, JournalError> {
        let path = folder.join(Self::FILE);
        let failed = |source| JournalError::Io { path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = OpenOptions::new().append(true).create_new(true).open(&path).map_err(failed)?;
        Self::locked(file, path, folder)
    }

    /// Opens one that is there, with what it says.
    pub fn open(folder: &Path) -> Result<(Journal, Past), JournalError> {
        let path = folder.join(Self::FILE);
        let failed = |source| JournalError::Io { path: path.clone(), source };
        let file = match OpenOptions::new().append(true).read(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Err(JournalError::Unknown(name));
            }
            Err(error) => return Err(failed(error)),
        };
        let journal = Self::locked(file, path.clone(), folder)?;
        let past = Past::read(&path)?;
        Ok((journal, past))
    }

    fn locked(file: File, path: PathBuf, folder: &Path) -> Result<Journal, JournalError> {
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| JournalError::Busy)?;
        Ok(Journal { file, path, folder: folder.to_owned() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn write(&mut self, line: &Line) -> Result<(), JournalError> {
        let mut bytes = serde_json::to_vec(line).expect("a line can be written");
        bytes.push(b'\n');
        self.file
            .write_all(&bytes)
            .map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }

    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }
}

/// What a journal says.
#[derive(Clone, Debug, Default)]
pub struct Past {
    pub workflow: String,
    pub bundle: Bundle,
    pub values: Json,
    pub only: Vec<String>,
    pub seed: u64,
    pub now: i64,
    /// Steps that are over, with how.
    pub results: BTreeMap<String, StepResult>,
    pub skipped: BTreeMap<String, SkipReason>,
    /// Steps that began and of whose end nothing is known, with the try.
    pub open: BTreeMap<String, u32>,
    pub outcome: Option<ExecutionOutcome>,
}

impl Past {
    /// Reads the journal in a directory, whoever has it open.
    pub fn of(folder: &Path) -> Result<Past, JournalError> {
        Past::read(&folder.join(Journal::FILE))
    }

    fn read(path: &Path) -> Result<Past, JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let mut past = Past::default();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (i, line) in lines.iter().enumerate() {
            // A last line without its end was never acted on.
            if !line.ends_with('\n') {
                break;
            }
            let line = serde_json::from_str(line)
                .map_err(|_| JournalError::Unreadable { path: path.to_owned(), line: i + 1 })?;
            past.take(line);
        }
        Ok(past)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Began { workflow, bundle, values, only, seed, now } => {
                *self =
                    Past { workflow, bundle: *bundle, values, only, seed, now, ..Past::default() };
            }
            Line::Started { step, attempt } => {
                self.results.remove(&step);
                self.skipped.remove(&step);
                self.outcome = None;
                self.open.insert(step, attempt);
            }
            Line::Ended { step, result, .. } => {
                self.open.remove(&step);
                self.results.insert(step, *result);
            }
            Line::Skipped { step, reason } => {
                self.skipped.insert(step, reason);
            }
            Line::Undone { .. } => {}
            Line::Finished { outcome } => self.outcome = Some(outcome),
        }
    }
}
