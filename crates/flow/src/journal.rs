//! What happened in an execution, line by line.
//!
//! A line is written before a step begins and after it ended, each with one `write`: a process that is killed at any
//! moment leaves whole lines, and what it says is all that is believed. The file is synced when the execution ends and
//! there is something left to do; a machine that loses power may lose the last lines, and knows of the steps in them only
//! that they may have run.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostler_lua::Bundle;
use hostler_model::workflow::{ExecutionOutcome, SkipReason, StepEnd, StepResult};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "what")]
pub(crate) enum Line<'a> {
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
        result: Box<Cow<'a, StepResult>>,
    },
    Skipped {
        step: String,
        reason: SkipReason,
    },
    Undoing {
        step: String,
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
    #[error("the execution `{0}` had not begun when its process ended; run its file again")]
    NotBegun(String),
    #[error("{path} cannot be read as a journal, line {line}")]
    Unreadable { path: PathBuf, line: usize },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

/// The journal of one execution, locked while it is open.
pub struct Journal {
    file: Arc<File>,
    path: PathBuf,
    folder: PathBuf,
}

impl Journal {
    const FILE: &'static str = "journal.jsonl";
    /// A program that is just being started holds the lock until it is itself, even if the process that starts it dies.
    const HANDOVER: Duration = Duration::from_millis(200);

    /// Makes one for a new execution, in a directory of its own.
    pub fn create(folder: &Path) -> Result<Journal, JournalError> {
        let path = folder.join(Self::FILE);
        let failed = |source| JournalError::Io { path: path.clone(), source };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(failed)?;
        let mut how = OpenOptions::new();
        let file = how.append(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
        Self::locked(file, path, folder)
    }

    /// Opens one that is there, with what it says.
    pub fn open(folder: &Path) -> Result<(Journal, Past), JournalError> {
        let path = folder.join(Self::FILE);
        let failed = |source| JournalError::Io { path: path.clone(), source };
        let file = match OpenOptions::new().append(true).read(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JournalError::Unknown(name_of(folder)));
            }
            Err(error) => return Err(failed(error)),
        };
        let journal = Self::locked(file, path.clone(), folder)?;
        let (past, whole) = Past::read(&path)?;
        if whole == 0 {
            return Err(JournalError::NotBegun(journal.id()));
        }
        journal.file.set_len(whole).map_err(failed)?;
        Ok((journal, past))
    }

    fn locked(file: File, path: PathBuf, folder: &Path) -> Result<Journal, JournalError> {
        let deadline = Instant::now() + Self::HANDOVER;
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if Instant::now() >= deadline {
                return Err(JournalError::Busy);
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Ok(Journal { file: Arc::new(file), path, folder: folder.to_owned() })
    }

    /// The id of the execution.
    pub fn id(&self) -> String {
        name_of(&self.folder)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn write(&self, line: &Line<'_>) -> Result<(), JournalError> {
        self.note(line).write()
    }

    /// A line for somebody else to write.
    pub(crate) fn note(&self, line: &Line<'_>) -> Note {
        let mut bytes = serde_json::to_vec(line).expect("a line can be written");
        bytes.push(b'\n');
        Note { file: Arc::clone(&self.file), path: self.path.clone(), bytes }
    }

    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|source| JournalError::Io { path: self.path.clone(), source })
    }
}

/// A line that is not written yet.
pub(crate) struct Note {
    file: Arc<File>,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Note {
    pub fn write(self) -> Result<(), JournalError> {
        let written = (&*self.file).write_all(&self.bytes);
        written.map_err(|source| JournalError::Io { path: self.path, source })
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
    /// Steps that were being undone, and of the end of that nothing is known.
    pub undoing: BTreeSet<String>,
    /// Steps that were undone.
    pub undone: BTreeSet<String>,
    /// Steps that began and of whose end nothing is known, with the try.
    pub open: BTreeMap<String, u32>,
    pub outcome: Option<ExecutionOutcome>,
}

impl Past {
    /// Reads the journal in a directory, whoever has it open.
    pub fn of(folder: &Path) -> Result<Past, JournalError> {
        Ok(Past::read(&folder.join(Journal::FILE))?.0)
    }

    /// Also how long the file is up to its last whole line: one without its end was never acted on.
    fn read(path: &Path) -> Result<(Past, u64), JournalError> {
        let failed = |source| JournalError::Io { path: path.to_owned(), source };
        Past::parse(path, &std::fs::read(path).map_err(failed)?)
    }

    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<(Past, u64), JournalError> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut past = Past::default();
        for (i, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = serde_json::from_slice(line)
                .map_err(|_| JournalError::Unreadable { path: path.to_owned(), line: i + 1 })?;
            past.take(line);
        }
        Ok((past, u64::try_from(whole).unwrap_or(u64::MAX)))
    }

    fn take(&mut self, line: Line<'_>) {
        match line {
            Line::Began { workflow, bundle, values, only, seed, now } => {
                *self =
                    Past { workflow, bundle: *bundle, values, only, seed, now, ..Past::default() };
            }
            Line::Started { step, attempt } => {
                self.results.remove(&step);
                self.skipped.remove(&step);
                self.undoing.remove(&step);
                self.undone.remove(&step);
                self.outcome = None;
                self.open.insert(step, attempt);
            }
            Line::Ended { step, result, .. } => {
                self.open.remove(&step);
                self.results.insert(step, result.into_owned());
            }
            Line::Skipped { step, reason } => {
                self.skipped.insert(step, reason);
            }
            Line::Undoing { step } => {
                self.undoing.insert(step);
            }
            Line::Undone { step, .. } => {
                self.undoing.remove(&step);
                self.undone.insert(step);
            }
            Line::Finished { outcome } => self.outcome = Some(outcome),
        }
    }
}
