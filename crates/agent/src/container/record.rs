//! What a keeper leaves in the run's directory for the shim, for agents and for keepers after it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::output::Stream;
use crate::rundir::RunDir;

pub const BEGUN: &str = "container.begun";
/// What the engine calls the image, where that is not what the workload calls it.
pub const IMAGE: &str = "container.image";
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

/// How much of the output has been passed on, kept on disk after every piece of at most a page. A keeper
/// that is killed between passing a piece on and keeping that makes the next one pass it on again.
pub struct Seen {
    file: File,
    /// Bytes of standard output and error, lines of both, and the time of the last piece.
    numbers: [u64; 4],
}

const LINES: usize = 2;
const NANOS: usize = 3;
const SIZE: usize = 32;

impl Seen {
    pub fn open(run: &RunDir) -> io::Result<Seen> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::openat(run, SEEN, flags, Mode::RUSR | Mode::WUSR)?);
        let mut bytes = [0; SIZE];
        let mut length = 0;
        while length < SIZE {
            match file.read_at(&mut bytes[length..], length as u64)? {
                0 => break,
                n => length += n,
            }
        }
        let mut numbers = [0; 4];
        for (number, word) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = u64::from_le_bytes(word.try_into().unwrap_or_default());
        }
        Ok(Seen { file, numbers })
    }

    fn at(stream: Stream) -> usize {
        usize::from(stream == Stream::Stderr)
    }

    pub fn bytes(&self, stream: Stream) -> u64 {
        self.numbers[Seen::at(stream)]
    }

    pub fn total(&self) -> u64 {
        self.numbers[0].saturating_add(self.numbers[1])
    }

    pub fn lines(&self) -> u64 {
        self.numbers[LINES]
    }

    /// The time of the last piece, in nanoseconds since 1970.
    pub fn nanos(&self) -> i64 {
        self.numbers[NANOS].cast_signed()
    }

    /// More has been passed on, which was said at this time.
    pub fn advance(&mut self, stream: Stream, passed: &[u8], nanos: i64) -> io::Result<()> {
        let lines = passed.iter().filter(|byte| **byte == b'\n').count();
        self.numbers[Seen::at(stream)] += passed.len() as u64;
        self.numbers[LINES] += lines as u64;
        self.numbers[NANOS] = nanos.cast_unsigned();
        let mut bytes = [0; SIZE];
        for (word, number) in bytes.chunks_exact_mut(8).zip(self.numbers) {
            word.copy_from_slice(&number.to_le_bytes());
        }
        self.file.write_all_at(&bytes, 0)
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
    fn what_was_passed_on_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::open_path(dir.path()).unwrap();
        let mut seen = Seen::open(&run).unwrap();
        assert_eq!((seen.total(), seen.nanos()), (0, 0));
        seen.advance(Stream::Stderr, b"abc\n", 50).unwrap();
        seen.advance(Stream::Stdout, b"a\nb\n", 60).unwrap();
        seen.advance(Stream::Stdout, b"c", 70).unwrap();
        let again = Seen::open(&run).unwrap();
        assert_eq!((again.bytes(Stream::Stdout), again.bytes(Stream::Stderr)), (5, 4));
        assert_eq!((again.total(), again.lines(), again.nanos()), (9, 3, 70));
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
