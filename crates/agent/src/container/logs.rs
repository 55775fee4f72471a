//! What a container says, passed on to the keeper's own standard output and error.
//!
//! The engine keeps it with the time of each line (of each piece, for lines longer than 16 KiB). Times
//! only grow within one stream, not between the two, so how far we are is kept for each ([`Seen`]); another
//! keeper asks for everything from a little before the newest and leaves out what it has seen. The engine
//! ends the last line with a newline where the program has not.

use std::os::fd::{AsFd, BorrowedFd};

use bollard::container::LogOutput;
use bollard::query_parameters::LogsOptionsBuilder;
use futures::StreamExt;

use super::engine::{Engine, EngineError};
use super::record::{Mark, Seen};
use crate::output::Stream;
use crate::sys;

/// By how much pieces of the two streams may lie in another order than their times, at the most.
const DISORDER_S: i64 = 10;

pub struct Copier {
    seen: Seen,
}

impl Copier {
    pub fn new(seen: Seen) -> Copier {
        Copier { seen }
    }

    /// Passes on what there is, and what comes while the container runs if that is wanted.
    pub async fn copy(
        &mut self,
        engine: &Engine,
        name: &str,
        is_following: bool,
    ) -> Result<(), EngineError> {
        let since = (self.seen.newest() / 1_000_000_000 - DISORDER_S).max(0);
        let options = LogsOptionsBuilder::default()
            .follow(is_following)
            .stdout(true)
            .stderr(true)
            .timestamps(true)
            .since(i32::try_from(since).unwrap_or(0))
            .build();
        let mut before = [Stream::Stdout, Stream::Stderr].map(|s| Behind::new(self.seen.mark(s)));
        let docker = engine.docker().await?;
        let mut pieces = docker.logs(name, Some(options));
        while let Some(piece) = pieces.next().await {
            let (stream, bytes) = match piece.map_err(|e| engine.error(e))? {
                LogOutput::StdErr { message } => (Stream::Stderr, message),
                LogOutput::StdOut { message } | LogOutput::Console { message } => {
                    (Stream::Stdout, message)
                }
                LogOutput::StdIn { .. } => continue,
            };
            let (nanos, text) = split_time(&bytes);
            let behind = &mut before[usize::from(stream == Stream::Stderr)];
            if nanos.is_some_and(|nanos| behind.has(nanos)) {
                continue;
            }
            pass_on(stream, text);
            if let Some(nanos) = nanos {
                let _ = self.seen.advance(stream, nanos);
            }
        }
        Ok(())
    }
}

/// What had been passed on when the present pass began.
struct Behind {
    mark: Mark,
    met: u64,
}

impl Behind {
    fn new(mark: Mark) -> Behind {
        Behind { mark, met: 0 }
    }

    /// Whether the next piece, of this time, is one of those.
    fn has(&mut self, nanos: i64) -> bool {
        if nanos == self.mark.nanos && self.met < self.mark.count {
            self.met += 1;
            return true;
        }
        nanos < self.mark.nanos
    }
}

/// The time in front of a piece, and the rest.
fn split_time(bytes: &[u8]) -> (Option<i64>, &[u8]) {
    let parts = || {
        let end = bytes.iter().take(48).position(|b| *b == b' ')?;
        let time: jiff::Timestamp = std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()?;
        Some((i64::try_from(time.as_nanosecond()).ok()?, &bytes[end + 1..]))
    };
    match parts() {
        Some((nanos, rest)) => (Some(nanos), rest),
        None => (None, bytes),
    }
}

/// Writes all of it, waiting for the shim where that is needed. Without a shim there is nobody to write
/// for, and nothing left for a keeper to do.
fn pass_on(stream: Stream, mut bytes: &[u8]) {
    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    let target: BorrowedFd<'_> = match stream {
        Stream::Stdout => stdout.as_fd(),
        Stream::Stderr => stderr.as_fd(),
    };
    while !bytes.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(target, bytes)) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::AGAIN) => {
                let _ = rustix::event::poll(
                    &mut [rustix::event::PollFd::new(&target, rustix::event::PollFlags::OUT)],
                    None,
                );
            }
            Err(_) => sys::exit_now(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_split_off() {
        let (nanos, rest) = split_time(b"1970-01-01T00:00:01.000000005Z a b\n");
        assert_eq!((nanos, rest), (Some(1_000_000_005), &b"a b\n"[..]));
        let (nanos, rest) = split_time(b"1970-01-01T00:00:01.000000005Z \n");
        assert_eq!((nanos, rest), (Some(1_000_000_005), &b"\n"[..]));
        for odd in [&b"no time here"[..], b"", b"\xff\xff \xff"] {
            assert_eq!(split_time(odd), (None, odd));
        }
    }

    #[test]
    fn what_was_seen_is_left_out_once() {
        let mut behind = Behind::new(Mark { nanos: 5, count: 2 });
        let times = [3, 5, 5, 5, 6];
        assert_eq!(times.map(|nanos| behind.has(nanos)), [true, true, true, false, false]);
        let mut fresh = Behind::new(Mark::default());
        assert!(!fresh.has(1));
    }
}
