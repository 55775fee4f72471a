//! What a container says, passed on to the keeper's own standard output and error.
//!
//! *Attached.* The keeper that starts a container attaches to it before: everything arrives as it was
//! written, and a program that writes faster than its output is kept has to wait, as it would for any pipe.
//!
//! *From the record.* Beside that the engine keeps a record, which is for those who come later: another
//! keeper, the same one after the engine was away, the one that makes an end. It goes through the record
//! from its beginning and leaves out as many bytes of each stream as have been passed on ([`Seen`]). The
//! record is bounded. Where it may have lost its beginning, what is newer than the last piece that was
//! passed on is taken instead, and a line says that something may be missing.
//!
//! Some engines (Docker before 23) lose the newline of a line that they recorded in pieces. A piece that
//! is neither full nor ends with one can only be the end of the output, or the end of such a line; so when
//! more follows, the newline is put back.

use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::time::Duration;

use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::query_parameters::{AttachContainerOptionsBuilder, LogsOptionsBuilder};
use futures::StreamExt;
use tokio::io::AsyncWrite;

use super::body::RECORD_KEPT;
use super::engine::{Engine, EngineError};
use super::record::Seen;
use crate::output::Stream;
use crate::sys;

/// Into pieces of this size engines divide long lines.
const PIECE: usize = 16 * 1024;
/// What the engine adds to each line in its record, at the most.
const LINE_COST: u64 = 64;
/// A pipe takes this much at once or not at all.
const SLICE: usize = 4096;
/// So many pieces of the record are looked at together, when they are there.
const TOGETHER: usize = 256;
/// How long there may be silence where there should be output, before it is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// The same once the container has ended, while it is followed.
pub const OUTPUT_MAX: Duration = Duration::from_secs(2);

/// A container's output as it comes.
pub struct Attached {
    output: Pin<Box<dyn futures::Stream<Item = Result<LogOutput, Error>> + Send>>,
    /// Closing it would end the connection.
    _input: Pin<Box<dyn AsyncWrite + Send>>,
}

impl Attached {
    /// Attaches to a container that has not been started yet.
    pub async fn to(engine: &Engine, name: &str) -> Result<Attached, EngineError> {
        let options =
            AttachContainerOptionsBuilder::default().stdout(true).stderr(true).stream(true).build();
        let attached = engine.docker().await?.attach_container(name, Some(options)).await;
        let attached = attached.map_err(|e| engine.error(e))?;
        Ok(Attached { output: attached.output, _input: attached.input })
    }

    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<(Stream, bytes::Bytes), Error>> {
        loop {
            match self.output.next().await? {
                Ok(piece) => match split(piece) {
                    Some(piece) => return Some(Ok(piece)),
                    None => continue,
                },
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

fn split(piece: LogOutput) -> Option<(Stream, bytes::Bytes)> {
    match piece {
        LogOutput::StdErr { message } => Some((Stream::Stderr, message)),
        LogOutput::StdOut { message } | LogOutput::Console { message } => {
            Some((Stream::Stdout, message))
        }
        LogOutput::StdIn { .. } => None,
    }
}

/// Passes output on, and remembers how much.
pub struct Copier {
    seen: Seen,
    has_warned: bool,
}

impl Copier {
    pub fn new(seen: Seen) -> Copier {
        Copier { seen, has_warned: false }
    }

    /// Passes a piece on. Without a shim there is nobody to write for, and nothing left for a keeper to
    /// do.
    pub fn pass_on(&mut self, stream: Stream, bytes: &[u8], nanos: i64) {
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        let target: BorrowedFd<'_> = match stream {
            Stream::Stdout => stdout.as_fd(),
            Stream::Stderr => stderr.as_fd(),
        };
        for mut slice in bytes.chunks(SLICE) {
            while !slice.is_empty() {
                match rustix::io::retry_on_intr(|| rustix::io::write(target, slice)) {
                    Ok(written) => {
                        let _ = self.seen.advance(stream, &slice[..written], nanos);
                        slice = &slice[written..];
                    }
                    Err(rustix::io::Errno::AGAIN) => wait_for(target),
                    Err(_) => sys::exit_now(1),
                }
            }
        }
    }

    /// Passes on what the record has that was not passed on, and what comes while the container runs,
    /// if it runs: until that has ended, and nothing more has come for a while.
    pub async fn copy_record(
        &mut self,
        engine: &Engine,
        name: &str,
        running: Option<Pin<&mut (dyn Future<Output = ()> + Send)>>,
    ) -> Result<(), EngineError> {
        let is_following = running.is_some();
        let limit = if is_following { OUTPUT_MAX } else { SILENCE };
        let is_whole = self.seen.lines() * LINE_COST + self.seen.total() < RECORD_KEPT;
        let mut place = match is_whole {
            true => {
                Place::Bytes([self.seen.bytes(Stream::Stdout), self.seen.bytes(Stream::Stderr)])
            }
            false => Place::After(self.seen.nanos()),
        };
        let since = if is_whole { 0 } else { self.seen.nanos() / 1_000_000_000 };
        let options = LogsOptionsBuilder::default()
            .follow(is_following)
            .stdout(true)
            .stderr(true)
            .timestamps(true)
            .since(i32::try_from(since).unwrap_or(0))
            .build();
        if !is_whole && !std::mem::replace(&mut self.has_warned, true) {
            let words = b"hostler: some output may be missing here\n";
            let _ = rustix::io::write(std::io::stderr().as_fd(), words);
        }
        let docker = engine.docker().await?;
        let mut pieces = docker.logs(name, Some(options)).ready_chunks(TOGETHER);
        let mut is_open = [false; 2];
        let mut running = running;
        loop {
            let next = match &mut running {
                None => match tokio::time::timeout(limit, pieces.next()).await {
                    Ok(next) => next,
                    Err(_) => return Ok(()),
                },
                Some(ended) => tokio::select! {
                    () = ended.as_mut() => {
                        running = None;
                        continue;
                    }
                    next = pieces.next() => next,
                },
            };
            let Some(some) = next else { return Ok(()) };
            let mut heap = Heap::default();
            for piece in some {
                let piece = match piece {
                    Ok(piece) => split(piece),
                    Err(e) => {
                        heap.pass_on(self);
                        return Err(engine.error(e));
                    }
                };
                let Some((stream, bytes)) = piece else { continue };
                let (nanos, text) = split_time(&bytes);
                let (nanos, at) = (nanos.unwrap_or(0), at(stream));
                if heap.stream != stream {
                    heap.pass_on(self);
                    heap.stream = stream;
                }
                if std::mem::replace(&mut is_open[at], may_lack_newline(text)) {
                    heap.bytes.extend_from_slice(place.rest(at, nanos, b"\n"));
                }
                heap.bytes.extend_from_slice(place.rest(at, nanos, text));
                heap.nanos = nanos;
            }
            heap.pass_on(self);
        }
    }
}

/// Pieces of one stream on their way together.
struct Heap {
    stream: Stream,
    bytes: Vec<u8>,
    nanos: i64,
}

impl Default for Heap {
    fn default() -> Heap {
        Heap { stream: Stream::Stdout, bytes: Vec::new(), nanos: 0 }
    }
}

impl Heap {
    fn pass_on(&mut self, copier: &mut Copier) {
        copier.pass_on(self.stream, &self.bytes, self.nanos);
        self.bytes.clear();
    }
}

fn at(stream: Stream) -> usize {
    usize::from(stream == Stream::Stderr)
}

/// Where in the record the part begins that was not passed on.
enum Place {
    /// Behind so many bytes of each stream.
    Bytes([u64; 2]),
    /// Behind this time.
    After(i64),
}

impl Place {
    /// What of the next piece was not passed on.
    fn rest<'a>(&mut self, at: usize, nanos: i64, text: &'a [u8]) -> &'a [u8] {
        match self {
            Place::Bytes(left) => {
                let length = usize::try_from(left[at]).unwrap_or(usize::MAX).min(text.len());
                left[at] -= length as u64;
                &text[length..]
            }
            Place::After(time) if nanos <= *time => &[],
            Place::After(_) => text,
        }
    }
}

fn wait_for(target: BorrowedFd<'_>) {
    use rustix::event::{PollFd, PollFlags, poll};
    let _ = poll(&mut [PollFd::new(&target, PollFlags::OUT)], None);
}

fn may_lack_newline(text: &[u8]) -> bool {
    text.len() < PIECE && text.last() != Some(&b'\n')
}

/// The time in front of a piece, and the rest.
pub(crate) fn split_time(bytes: &[u8]) -> (Option<i64>, &[u8]) {
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
    fn only_the_rest_of_a_long_line_may_lack_its_newline() {
        assert!(may_lack_newline(b"rest") && may_lack_newline(b""));
        assert!(!may_lack_newline(b"line\n") && !may_lack_newline(&[b'x'; PIECE]));
    }

    #[test]
    fn what_was_passed_on_is_left_out() {
        let mut bytes = Place::Bytes([5, 0]);
        assert_eq!(bytes.rest(1, 1, b"err\n"), b"err\n");
        assert_eq!(bytes.rest(0, 1, b"abc\n"), b"");
        assert_eq!(bytes.rest(0, 2, b"def\n"), b"ef\n");
        assert_eq!(bytes.rest(0, 3, b"ghi\n"), b"ghi\n");
        let mut after = Place::After(5);
        assert_eq!(after.rest(0, 5, b"old\n"), b"");
        assert_eq!(after.rest(0, 6, b"new\n"), b"new\n");
    }
}
