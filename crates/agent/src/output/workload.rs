//! The output of a workload: that of its runs.
//!
//! Between runs stands a [`Mark`] that says which one begins, and how it ended. A query's filter and
//! tail go over all runs together; where lines are picked by what they say, marks appear only around
//! runs of which there are lines. Runs whose directory is gone are passed over with a gap.
//!
//! Runs are given oldest first, and later ones can be added while reading. They are read one after the
//! other: a run that is not the last is read to its present end and then left, whether or not it is
//! over; only the last one given can make the reader wait. Someone who follows sees those that live
//! side by side instead: each has a [`Lane`], the next is opened when all before it have been read to
//! their present end, and what is read of them at once is put into the order of its times. A lane that
//! has much to say shares each read with the others, so none is kept waiting.
//!
//! A cursor says for every run that is being read how far it has been seen, so whoever goes on from one
//! finds all of them where they were.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::PathBuf;

use hostler_model::{Exit, RunId, Timestamp};

use super::log_cursor::{LogCursor, Spots};
use super::{
    Line, LineBatch, LineCursor, LineEntry, LineItem, LineReader, Position, Progress, Query,
    backwards,
};
use crate::rundir::{self, RunDir, StartedRecord};

/// The most runs that are read side by side; further ones wait for one of them to end.
const LANES_MAX: usize = 64;
/// The least that is read of a run at once.
const SHARE_MIN: usize = 8 * 1024;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogBatch {
    pub entries: Vec<LogEntry>,
    /// `End`: the last run that was given is over, and this is all.
    pub progress: Progress,
}

pub struct WorkloadReader {
    query: Query,
    /// Every run that was ever given.
    known: HashSet<RunId>,
    upcoming: VecDeque<(RunLog, Option<LineCursor>)>,
    /// Those that are being read, oldest first.
    lanes: Vec<Lane>,
    spots: Spots,
    /// Whether runs that live are read side by side, and waited for though there are later ones.
    is_following: bool,
    /// Output of runs that are gone comes before the next.
    has_gap: bool,
}

/// A run that is being read.
struct Lane {
    run: RunLog,
    reader: LineReader,
    /// Its beginning has been told, or was before what is wanted.
    is_announced: bool,
    has_entries: bool,
    /// Nobody attends to it, though it is not over: it was prepared and never started, or its end is
    /// just being found out.
    is_forsaken: bool,
    /// The latest time that was read of it.
    time: Timestamp,
}

/// Something that was read of a run.
struct Step {
    run_id: RunId,
    /// Puts it in order with that of other runs.
    time: Timestamp,
    /// What it is, unless it only says how far the run has been seen.
    item: Option<LogItem>,
    /// Behind it; absent when the run has been seen to its end.
    line: Option<LineCursor>,
}

impl WorkloadReader {
    /// Begins with the oldest run, or where the query's tail begins.
    pub fn open(runs: Vec<RunLog>, query: Query) -> io::Result<WorkloadReader> {
        let mut left = query.tail;
        let mut start = (0, None);
        for (index, run) in runs.iter().enumerate().rev() {
            let Some(wanted) = left else { break };
            let tail = match backwards::tail(&run.dir, &query, wanted) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            if tail.cursor.is_some() {
                start = (index, tail.cursor);
                break;
            }
            left = Some(wanted - tail.found);
        }
        let mut reader = WorkloadReader::new(query, &runs);
        reader.upcoming = runs.into_iter().skip(start.0).map(|run| (run, None)).collect();
        if let Some((_, begin)) = reader.upcoming.front_mut() {
            *begin = start.1;
        }
        Ok(reader)
    }

    /// Goes on behind what somebody has seen. When nothing of that is there any more, with the oldest
    /// run there is.
    pub fn open_at(runs: Vec<RunLog>, query: Query, cursor: &LogCursor) -> WorkloadReader {
        let mut reader = WorkloadReader::new(query, &runs);
        let newest = runs.iter().rposition(|run| cursor.place(run.run_id).is_some());
        reader.has_gap = cursor.runs().any(|run| !reader.known.contains(&run));
        for (index, run) in runs.into_iter().enumerate() {
            match (newest.is_some_and(|newest| index <= newest), cursor.place(run.run_id)) {
                (true, Some(Some(line))) => reader.upcoming.push_back((run, Some(line))),
                (true, Some(None) | None) => {}
                (false, _) => reader.upcoming.push_back((run, None)),
            }
        }
        reader
    }

    fn new(query: Query, runs: &[RunLog]) -> WorkloadReader {
        WorkloadReader {
            query,
            known: runs.iter().map(|run| run.run_id).collect(),
            upcoming: VecDeque::new(),
            lanes: Vec::new(),
            spots: Spots::default(),
            is_following: false,
            has_gap: false,
        }
    }

    /// From here on, runs that live are read side by side.
    pub(super) fn follow(&mut self) {
        self.is_following = true;
    }

    /// Makes later runs known; those known already are left out.
    pub fn add_runs(&mut self, runs: &[RunLog]) {
        for run in runs {
            if self.known.insert(run.run_id) {
                self.upcoming.push_back((run.clone(), None));
            }
        }
    }

    /// The runs that are being read, and how far their frames have been.
    pub(super) fn waits_for(&self) -> Vec<(RunId, Position)> {
        self.lanes.iter().map(|lane| (lane.run.run_id, lane.reader.position())).collect()
    }

    /// Whether a run is attended to: one that is not is left where there is a later one.
    pub(super) fn set_attended(&mut self, run_id: RunId, is_attended: bool) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.run.run_id == run_id) {
            lane.is_forsaken = !is_attended;
        }
    }

    /// The next lines, of about `limit` bytes. There may be none although there is more.
    pub fn read(&mut self, limit: usize) -> io::Result<LogBatch> {
        let mut steps = Vec::new();
        let is_more = self.read_lanes(limit, &mut steps)?;
        let entries = self.told(steps);
        let may_open = match self.is_following {
            true => self.lanes.len() < LANES_MAX,
            false => self.lanes.is_empty(),
        };
        let progress = if is_more {
            Progress::More
        } else if may_open && let Some((run, begin)) = self.upcoming.pop_front() {
            self.open_lane(run, begin)?;
            Progress::More
        } else if self.lanes.is_empty() {
            Progress::End
        } else {
            Progress::Idle
        };
        Ok(LogBatch { entries, progress })
    }

    /// Reads a share of every run; says whether there is more to be read at once.
    fn read_lanes(&mut self, limit: usize, steps: &mut Vec<Step>) -> io::Result<bool> {
        let mut is_more = false;
        let lanes = std::mem::take(&mut self.lanes);
        let (share, count) = ((limit / lanes.len().max(1)).max(SHARE_MIN.min(limit)), lanes.len());
        for (index, mut lane) in lanes.into_iter().enumerate() {
            let is_last = index + 1 == count && self.upcoming.is_empty();
            match self.read_lane(&mut lane, share, is_last, steps) {
                Ok(Progress::End) => steps.push(lane.step(None, None)),
                Ok(progress) => {
                    is_more |= progress == Progress::More;
                    self.lanes.push(lane);
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    self.has_gap |= !self.query.has_filter();
                    steps.push(lane.step(None, None));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(is_more)
    }

    /// `End` also for a run that is left before it is over.
    fn read_lane(
        &mut self,
        lane: &mut Lane,
        limit: usize,
        is_last: bool,
        steps: &mut Vec<Step>,
    ) -> io::Result<Progress> {
        let LineBatch { entries: lines, progress } = lane.reader.read(limit)?;
        self.announce(lane, !lines.is_empty(), steps);
        for line in lines {
            steps.push(lane.line(line));
        }
        let is_left = match progress {
            Progress::End => true,
            Progress::Idle => !is_last && (lane.is_forsaken || !self.is_following),
            Progress::More => false,
        };
        if !is_left {
            return Ok(progress);
        }
        if progress == Progress::Idle {
            for line in lane.reader.finish() {
                steps.push(lane.line(line));
            }
        }
        if (lane.has_entries || !self.query.has_filter())
            && let Some(mark) = self.ended(&lane.run)
        {
            lane.time = lane.time.max(mark.time.unwrap_or(lane.time));
            steps.push(lane.step(Some(LogItem::Mark(mark)), None));
        }
        Ok(Progress::End)
    }

    fn open_lane(&mut self, run: RunLog, begin: Option<LineCursor>) -> io::Result<()> {
        let query = Query { tail: None, ..self.query.clone() };
        let reader = match LineReader::open_at(&run.dir, query, begin.unwrap_or_default()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.has_gap |= !self.query.has_filter();
                return Ok(());
            }
            other => other?,
        };
        self.spots.open(run.run_id, begin.unwrap_or_default());
        self.lanes.push(Lane {
            run,
            reader,
            is_announced: begin.is_some(),
            has_entries: false,
            is_forsaken: false,
            time: Timestamp::EPOCH,
        });
        Ok(())
    }

    fn announce(&mut self, lane: &mut Lane, has_lines: bool, steps: &mut Vec<Step>) {
        lane.has_entries |= has_lines;
        if lane.is_announced || !has_lines && self.query.has_filter() {
            return;
        }
        lane.is_announced = true;
        let cursor = Some(LineCursor::default());
        let time = started(&lane.run).map(|record| record.time);
        lane.time = lane.time.max(time.unwrap_or(lane.time));
        if std::mem::take(&mut self.has_gap) {
            steps.push(lane.step(Some(LogItem::Gap { bytes: None }), cursor));
        }
        if time.is_none_or(|time| self.query.is_in_range(time)) {
            let words = format!("run {} began", lane.run.number);
            let mark = Mark { run_id: lane.run.run_id, time, words };
            steps.push(lane.step(Some(LogItem::Mark(mark)), cursor));
        }
    }

    fn ended(&self, run: &RunLog) -> Option<Mark> {
        let dir = RunDir::open_path(&run.dir).ok()?;
        let exit: Exit = dir.read_json(rundir::EXIT).ok().flatten()?;
        self.query.is_in_range(exit.time).then(|| Mark {
            run_id: run.run_id,
            time: Some(exit.time),
            words: format!("run {} ended: {exit}", run.number),
        })
    }

    /// What was read, in the order of its times, with cursors.
    fn told(&mut self, mut steps: Vec<Step>) -> Vec<LogEntry> {
        steps.sort_by_key(|step| step.time);
        let mut entries = Vec::with_capacity(steps.len());
        for Step { run_id, item, line, .. } in steps {
            self.spots.see(run_id, line);
            entries.extend(item.map(|item| LogEntry { item, cursor: self.spots.cursor() }));
        }
        entries
    }
}

impl Lane {
    fn step(&self, item: Option<LogItem>, line: Option<LineCursor>) -> Step {
        Step { run_id: self.run.run_id, time: self.time, item, line }
    }

    fn line(&mut self, entry: LineEntry) -> Step {
        let item = match entry.item {
            LineItem::Line(line) => {
                self.time = self.time.max(line.time);
                LogItem::Line(line)
            }
            LineItem::Gap { bytes } => LogItem::Gap { bytes },
        };
        self.step(Some(item), Some(entry.cursor))
    }
}

fn started(run: &RunLog) -> Option<StartedRecord> {
    RunDir::open_path(&run.dir).ok()?.read_json(rundir::STARTED).ok().flatten()
}
