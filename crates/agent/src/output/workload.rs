//! The output of a workload: that of its runs, one after the other.
//!
//! Between runs stands a [`Mark`] that says which one begins, and how it ended. A query's filter and
//! tail go over all runs together; where lines are picked by what they say, marks appear only around
//! runs of which there are lines. Runs whose directory is gone are passed over with a gap.
//!
//! Runs are given oldest first, and later ones can be added while reading. A run that is not the last
//! is read to its present end and then left, whether or not it is over; only the last one given can
//! make the reader wait. (`WorkloadFollower` waits for each run's end before it goes on.)

use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use hostler_model::{Exit, RunId, Timestamp};

use super::line_reader::BadCursor;
use super::{
    Line, LineBatch, LineCursor, LineEntry, LineItem, LineReader, Position, Progress, Query,
    backwards,
};
use crate::rundir::{self, RunDir, StartedRecord};

/// One run of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLog {
    pub run_id: RunId,
    /// How people know it: the workload's first run is 1.
    pub number: u64,
    pub dir: PathBuf,
}

/// Something that happened between lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub run_id: RunId,
    pub time: Option<Timestamp>,
    /// `run 3 began`, `run 3 ended: exit code 1`.
    pub words: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogItem {
    Line(Line),
    /// Output is missing here; how many bytes, where that is known.
    Gap {
        bytes: Option<u64>,
    },
    Mark(Mark),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub item: LogItem,
    /// Behind it.
    pub cursor: LogCursor,
}

/// A place in the output of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogCursor {
    pub run_id: RunId,
    /// Absent when the run has been seen to its end.
    pub line: Option<LineCursor>,
}

impl std::fmt::Display for LogCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}/{line}", self.run_id),
            None => write!(f, "{}/end", self.run_id),
        }
    }
}

impl FromStr for LogCursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<LogCursor, BadCursor> {
        let (run_id, line) = text.split_once('/').ok_or(BadCursor)?;
        let line = if line == "end" { None } else { Some(line.parse()?) };
        Ok(LogCursor { run_id: run_id.parse().map_err(|_| BadCursor)?, line })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogBatch {
    pub entries: Vec<LogEntry>,
    /// `End`: the last run that was given is over, and this is all.
    pub progress: Progress,
}

pub struct WorkloadReader {
    query: Query,
    runs: Vec<RunLog>,
    /// The run that is being read, or is next.
    index: usize,
    /// Where to begin with it.
    begin: Begin,
    current: Option<Current>,
    /// Whether a run that is not over is waited for though there are later ones.
    is_patient: bool,
    /// Output of runs that are gone comes before the next.
    has_gap: bool,
}

#[derive(Clone, Copy)]
enum Begin {
    Fresh,
    At(LineCursor),
}

struct Current {
    reader: LineReader,
    /// Its beginning has been told, or was before what is wanted.
    is_announced: bool,
    has_entries: bool,
}

impl WorkloadReader {
    /// Begins with the oldest run, or where the query's tail begins.
    pub fn open(runs: Vec<RunLog>, query: Query) -> io::Result<WorkloadReader> {
        let mut left = query.tail;
        let mut start = (0, Begin::Fresh);
        for (index, run) in runs.iter().enumerate().rev() {
            let Some(wanted) = left else { break };
            let tail = match backwards::tail(&run.dir, &query, wanted) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            if let Some(cursor) = tail.cursor {
                start = (index, Begin::At(cursor));
                break;
            }
            left = Some(wanted - tail.found);
        }
        Ok(WorkloadReader::begin(runs, query, start.0, start.1))
    }

    /// Goes on behind what somebody has seen. When that run is gone, with the oldest there is.
    pub fn open_at(runs: Vec<RunLog>, query: Query, cursor: LogCursor) -> WorkloadReader {
        let found = runs.iter().position(|run| run.run_id == cursor.run_id);
        match (found, cursor.line) {
            (Some(index), Some(line)) => WorkloadReader::begin(runs, query, index, Begin::At(line)),
            (Some(index), None) => WorkloadReader::begin(runs, query, index + 1, Begin::Fresh),
            (None, _) => {
                let mut reader = WorkloadReader::begin(runs, query, 0, Begin::Fresh);
                reader.has_gap = true;
                reader
            }
        }
    }

    fn begin(runs: Vec<RunLog>, query: Query, index: usize, begin: Begin) -> WorkloadReader {
        let (current, is_patient, has_gap) = (None, false, false);
        WorkloadReader { query, runs, index, begin, current, is_patient, has_gap }
    }

    /// Whether the end of the run that is being read is waited for before the next is begun.
    pub(super) fn set_patient(&mut self, is_patient: bool) {
        self.is_patient = is_patient;
    }

    pub(super) fn is_at_last_run(&self) -> bool {
        self.index + 1 == self.runs.len()
    }

    /// Makes later runs known; those known already are left out.
    pub fn add_runs(&mut self, runs: &[RunLog]) {
        for run in runs {
            if self.runs.iter().all(|known| known.run_id != run.run_id) {
                self.runs.push(run.clone());
            }
        }
    }

    /// Which run is being read, and how far its frames have been.
    pub fn position(&self) -> Option<(RunId, Position)> {
        let current = self.current.as_ref()?;
        Some((self.runs.get(self.index)?.run_id, current.reader.position()))
    }

    /// The next lines, of about `limit` bytes. There may be none although there is more.
    pub fn read(&mut self, limit: usize) -> io::Result<LogBatch> {
        let mut entries = Vec::new();
        let progress = match self.read_run(limit, &mut entries) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.has_gap |= !self.query.has_filter();
                self.next_run();
                Ok(self.after_run())
            }
            other => other,
        }?;
        Ok(LogBatch { entries, progress })
    }

    fn read_run(&mut self, limit: usize, entries: &mut Vec<LogEntry>) -> io::Result<Progress> {
        let Some(run) = self.runs.get(self.index).cloned() else {
            return Ok(Progress::End);
        };
        let mut current = match self.current.take() {
            Some(current) => current,
            None => self.open_run(&run)?,
        };
        let LineBatch { entries: lines, progress } = current.reader.read(limit)?;
        self.announce(&run, &mut current, !lines.is_empty(), entries);
        entries.extend(lines.into_iter().map(|line| entry(run.run_id, line)));
        let is_left = match progress {
            Progress::End => true,
            Progress::Idle => !self.is_at_last_run() && !self.is_patient,
            Progress::More => false,
        };
        if !is_left {
            self.current = Some(current);
            return Ok(progress);
        }
        if progress == Progress::Idle {
            let unfinished = current.reader.finish();
            entries.extend(unfinished.into_iter().map(|line| entry(run.run_id, line)));
        }
        if current.has_entries || !self.query.has_filter() {
            entries.extend(self.ended(&run));
        }
        self.next_run();
        Ok(self.after_run())
    }

    fn open_run(&mut self, run: &RunLog) -> io::Result<Current> {
        let query = Query { tail: None, ..self.query.clone() };
        let (cursor, is_announced) = match std::mem::replace(&mut self.begin, Begin::Fresh) {
            Begin::Fresh => (LineCursor::default(), false),
            Begin::At(cursor) => (cursor, true),
        };
        let reader = LineReader::open_at(&run.dir, query, cursor)?;
        Ok(Current { reader, is_announced, has_entries: false })
    }

    fn announce(
        &mut self,
        run: &RunLog,
        current: &mut Current,
        has_lines: bool,
        entries: &mut Vec<LogEntry>,
    ) {
        current.has_entries |= has_lines;
        if current.is_announced || !has_lines && self.query.has_filter() {
            return;
        }
        current.is_announced = true;
        let cursor = LogCursor { run_id: run.run_id, line: Some(LineCursor::default()) };
        if std::mem::take(&mut self.has_gap) {
            entries.push(LogEntry { item: LogItem::Gap { bytes: None }, cursor });
        }
        let time = started(run).map(|record| record.time);
        if time.is_none_or(|time| self.query.is_in_range(time)) {
            let words = format!("run {} began", run.number);
            let mark = Mark { run_id: run.run_id, time, words };
            entries.push(LogEntry { item: LogItem::Mark(mark), cursor });
        }
    }

    fn ended(&self, run: &RunLog) -> Option<LogEntry> {
        let dir = RunDir::open_path(&run.dir).ok()?;
        let exit: Exit = dir.read_json(rundir::EXIT).ok().flatten()?;
        self.query.is_in_range(exit.time).then(|| LogEntry {
            item: LogItem::Mark(Mark {
                run_id: run.run_id,
                time: Some(exit.time),
                words: format!("run {} ended: {exit}", run.number),
            }),
            cursor: LogCursor { run_id: run.run_id, line: None },
        })
    }

    fn next_run(&mut self) {
        self.current = None;
        self.begin = Begin::Fresh;
        self.index += 1;
    }

    fn after_run(&self) -> Progress {
        if self.index < self.runs.len() { Progress::More } else { Progress::End }
    }
}

fn started(run: &RunLog) -> Option<StartedRecord> {
    RunDir::open_path(&run.dir).ok()?.read_json(rundir::STARTED).ok().flatten()
}

fn entry(run_id: RunId, line: LineEntry) -> LogEntry {
    let item = match line.item {
        LineItem::Line(line) => LogItem::Line(line),
        LineItem::Gap { bytes } => LogItem::Gap { bytes },
    };
    LogEntry { item, cursor: LogCursor { run_id, line: Some(line.cursor) } }
}
