//! The output of one run, byte for byte.
//!
//! A cursor is `<segment>.<offset>.<skip>`: a position in the run's output, and how many bytes of the
//! chosen streams from there on have been sent. So it can stand in the middle of what the program
//! wrote at once.

use std::io;
use std::str::FromStr;

use hostler_base::Tasks;
use hostler_model::{Code, RunId};
use hostler_proto::v1;

use super::outlet::{Gone, Outlet};
use super::{End, Failure, gap_words};
use crate::output::{Batch, Item, Position, Reader, Start, Stream, Streams};
use crate::runner::{Follower, Runner};
use crate::supervisor::Supervisor;

const READ_BYTES: usize = 128 * 1024;

/// A place in the middle of a run's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    position: Position,
    skip: u64,
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Position { segment, offset } = self.position;
        write!(f, "{segment}.{offset}.{}", self.skip)
    }
}

impl FromStr for Cursor {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Cursor, Failure> {
        let bad = || {
            let detail = "the cursor is not one of this node's; begin without one";
            Failure::new(Code::Malformed, detail)
        };
        let mut words = text.split('.');
        let mut number = || words.next()?.parse::<u64>().ok();
        let segment = number().and_then(|n| u32::try_from(n).ok()).ok_or_else(bad)?;
        let offset = number().ok_or_else(bad)?;
        let skip = number().ok_or_else(bad)?;
        match words.next() {
            None => Ok(Cursor { position: Position { segment, offset }, skip }),
            Some(_) => Err(bad()),
        }
    }
}

pub(super) fn streams(name: &str) -> Result<Streams, Failure> {
    match name {
        "" => Ok(Streams::Both),
        name => {
            let only = name.parse::<Stream>().map_err(|e| Failure::malformed(&e))?;
            Ok(Streams::Only(only))
        }
    }
}

pub(super) async fn send(
    request: &v1::OutputRequest,
    runner: &Runner,
    supervisor: &Supervisor,
    tasks: &Tasks,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let run: RunId = request
        .run_id
        .parse()
        .map_err(|_| Failure::new(Code::Malformed, "the run's id cannot be read"))?;
    let streams = streams(&request.stream)?;
    if request.follow {
        supervisor.not_pending(run).await;
    }
    if !runner.run_dir(run).exists() {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    }
    let begin = begin(request, runner, run, streams, tasks).await?;
    let start = Start::At(begin.position);
    let mut source = if request.follow {
        Source::Follower(runner.follow(run, start, streams))
    } else {
        Source::Reader(Some(runner.output(run, start, streams)?))
    };
    let mut cursor = begin;
    while let Some(batch) = source.next(tasks).await? {
        let position = batch.position;
        if send_batch(batch, cursor, outlet).await.is_err() {
            return Ok(End::Gone);
        }
        cursor = Cursor { position, skip: 0 };
    }
    Ok(End::Sent { is_over: !runner.live().contains(&run) })
}

/// Where to begin: at the cursor, so many lines before the end, or with the oldest there is.
async fn begin(
    request: &v1::OutputRequest,
    runner: &Runner,
    run: RunId,
    streams: Streams,
    tasks: &Tasks,
) -> Result<Cursor, Failure> {
    if !request.cursor.is_empty() {
        return request.cursor.parse();
    }
    let Some(lines) = request.tail_lines else {
        return Ok(Cursor::default());
    };
    let runner = runner.clone();
    let open = move || runner.output(run, Start::TailLines(lines.into()), streams);
    let reader = blocking(tasks, "output tail", open).await?;
    Ok(Cursor { position: reader.position(), skip: reader.skip() })
}

/// Sends a batch that begins at `from`.
async fn send_batch(batch: Batch, from: Cursor, outlet: &mut Outlet) -> Result<(), Gone> {
    let total: u64 = batch
        .items
        .iter()
        .map(|item| match item {
            Item::Output(frame) => frame.bytes.len() as u64,
            Item::Gap { .. } => 0,
        })
        .sum();
    let end = Cursor { position: batch.position, skip: 0 };
    let mut to_skip = from.skip;
    let mut passed = 0u64;
    for (index, item) in batch.items.into_iter().enumerate() {
        let frame = match item {
            Item::Output(frame) => frame,
            Item::Gap { bytes } => {
                if index == 0 {
                    to_skip = 0;
                }
                let cursor = Cursor { skip: passed, ..from };
                outlet.gap(gap_words(bytes), cursor.to_string()).await?;
                continue;
            }
        };
        let skipped = usize::try_from(to_skip).unwrap_or(usize::MAX).min(frame.bytes.len());
        to_skip -= skipped as u64;
        passed += skipped as u64;
        let mut rest = &frame.bytes[skipped..];
        while !rest.is_empty() {
            let cursor = |sent: usize| {
                let skip = passed + sent as u64;
                if skip == total { end } else { Cursor { skip, ..from } }.to_string()
            };
            let sent = outlet.some(frame.stream, frame.time.micros(), rest, cursor).await?;
            passed += sent as u64;
            rest = &rest[sent..];
        }
    }
    outlet.flush().await
}

enum Source {
    Follower(Follower),
    Reader(Option<Reader>),
}

impl Source {
    /// The next batch; `None` after the last.
    async fn next(&mut self, tasks: &Tasks) -> Result<Option<Batch>, Failure> {
        match self {
            Source::Follower(follower) => Ok(follower.next().await?),
            Source::Reader(slot) => {
                let Some(mut reader) = slot.take() else {
                    return Ok(None);
                };
                let read = move || {
                    let batch = reader.read(READ_BYTES)?;
                    Ok((reader, batch))
                };
                let (reader, batch) = blocking(tasks, "output read", read).await?;
                if batch.items.is_empty() {
                    return Ok(None);
                }
                if !batch.is_end {
                    *slot = Some(reader);
                }
                Ok(Some(batch))
            }
        }
    }
}

async fn blocking<T: Send + 'static>(
    tasks: &Tasks,
    name: &'static str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let done = tasks.run_blocking(name, work).await;
    Ok(done.map_err(io::Error::other)??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_the_wire_and_nonsense_is_refused() {
        let cursor = Cursor { position: Position { segment: 3, offset: 9000 }, skip: 17 };
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        for bad in ["", "1.2", "1.2.3.4", "a.b.c", "99999999999.1.1", "-1.0.0"] {
            assert!(bad.parse::<Cursor>().is_err(), "{bad}");
        }
    }
}
