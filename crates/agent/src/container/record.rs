//! What a keeper leaves in the run's directory for the shim, for agents and for keepers after it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::output::Stream;
use crate::rundir::RunDir;

pub const BEGUN: &str = "container.begun";
pub const PROCESS: &str = "container.json";
pub const SEEN: &str = "container.seen";
pub const END: &str = "container.end";

/// The first process of a container, as the node sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// In clock ticks since boot.
    pub start_ticks: u64,
}

impl Process {
    /// Says it in one line.
    pub fn line(self) -> String {
        format!("\0started {} {}", self.pid, self.start_ticks)
    }

    pub fn from_line(line: &[u8]) -> Option<Process> {
        let text = std::str::from_utf8(line).ok()?.strip_prefix("\0started ")?;
        let (pid, ticks) = text.split_once(' ')?;
        Some(Process { pid: pid.parse().ok()?, start_ticks: ticks.parse().ok()? })
    }
}

/// How a container ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// As the engine says; 128 and more for signals.
    pub code: Option<i32>,
    /// Something of it was killed for memory.
    pub is_out_of_memory: bool,
    /// Why it never ran.
    pub failure: Option<String>,
    /// It is gone, and nobody knows how it ended.
    pub is_vanished: bool,
    /// What else there is to say.
    pub note: Option<String>,
}

impl Outcome {
    pub fn failed(why: impl Into<String>) -> Outcome {
        Outcome { failure: Some(why.into()), ..Outcome::default() }
    }

    pub fn vanished(why: impl Into<String>) -> Outcome {
        Outcome { is_vanished: true, note: Some(why.into()), ..Outcome::default() }
    }

    pub fn read(run: &RunDir) -> Option<Outcome> {
        run.read_json(END).ok().flatten()
    }

    /// Writes it, unless there is one.
    pub fn write(&self, run: &RunDir) -> io::Result<()> {
        if !run.has(END) {
            run.write(END, &serde_json::to_vec(self)?)?;
        }
        Ok(())
    }
}

/// How far a stream has been passed on: the time of the last piece, and how many with this very time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub nanos: i64,
    pub count: u64,
}

/// How much of the output has been passed on, kept on disk after every piece. A keeper that is killed
/// between passing a piece on and keeping its mark makes its follower pass that piece on again.
pub struct Seen {
    file: File,
    marks: [Mark; 2],
}

const MARK: usize = 16;

impl Seen {
    pub fn open(run: &RunDir) -> io::Result<Seen> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::openat(run, SEEN, flags, Mode::RUSR | Mode::WUSR)?);
        let mut bytes = [0; 2 * MARK];
        let mut length = 0;
        while length < bytes.len() {
            match file.read_at(&mut bytes[length..], length as u64)? {
                0 => break,
                n => length += n,
            }
        }
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            word
        };
        let mark = |at| Mark {
            nanos: i64::from_le_bytes(word(at)),
            count: u64::from_le_bytes(word(at + 8)),
        };
        Ok(Seen { file, marks: [mark(0), mark(MARK)] })
    }

    fn at(stream: Stream) -> usize {
        match stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
        }
    }

    pub fn mark(&self, stream: Stream) -> Mark {
        self.marks[Seen::at(stream)]
    }

    /// The time of the newest piece of either.
    pub fn newest(&self) -> i64 {
        self.marks[0].nanos.max(self.marks[1].nanos)
    }

    /// One more piece with this time has been passed on.
    pub fn advance(&mut self, stream: Stream, nanos: i64) -> io::Result<()> {
        let at = Seen::at(stream);
        let mark = &mut self.marks[at];
        *mark = Mark { nanos, count: if mark.nanos == nanos { mark.count + 1 } else { 1 } };
        let mut bytes = [0; MARK];
        bytes[..8].copy_from_slice(&mark.nanos.to_le_bytes());
        bytes[8..].copy_from_slice(&mark.count.to_le_bytes());
        self.file.write_all_at(&bytes, (at * MARK) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_survives_its_line() {
        let process = Process { pid: 7, start_ticks: 99 };
        assert_eq!(Process::from_line(process.line().as_bytes()), Some(process));
        for line in ["", "\0started", "\0started 7", "program `x` does not exist"] {
            assert_eq!(Process::from_line(line.as_bytes()), None);
        }
    }

    #[test]
    fn marks_are_kept_per_stream() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::open_path(dir.path()).unwrap();
        let mut seen = Seen::open(&run).unwrap();
        assert_eq!(seen.newest(), 0);
        seen.advance(Stream::Stderr, 50).unwrap();
        seen.advance(Stream::Stdout, 40).unwrap();
        seen.advance(Stream::Stdout, 40).unwrap();
        let again = Seen::open(&run).unwrap();
        assert_eq!(again.mark(Stream::Stdout), Mark { nanos: 40, count: 2 });
        assert_eq!(again.mark(Stream::Stderr), Mark { nanos: 50, count: 1 });
        assert_eq!(again.newest(), 50);
    }

    #[test]
    fn the_first_outcome_stays() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::open_path(dir.path()).unwrap();
        assert_eq!(Outcome::read(&run), None);
        let first = Outcome { code: Some(3), ..Outcome::default() };
        first.write(&run).unwrap();
        Outcome::failed("late").write(&run).unwrap();
        assert_eq!(Outcome::read(&run), Some(first));
    }
}
