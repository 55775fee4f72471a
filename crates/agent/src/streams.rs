//! Streams from this node to whoever asked a server for them: the output of runs.
//!
//! The server says how many bytes it is ready for (the window) and gives credit as it passes them on;
//! no more is ever on its way. A reader that is slow or gone therefore costs a file handle and one
//! batch, and never holds up anything else of the session.
//!
//! Every frame carries a cursor, from which another stream of the same kind goes on exactly behind it,
//! also in the middle of what the program wrote at once: `<segment>.<offset>.<skip>`, a position in the
//! run's output and how many bytes of the chosen streams from there on have been sent.

use std::io;
use std::str::FromStr;
use std::sync::Arc;

use hostler_base::Tasks;
use hostler_model::{Code, RunId};
use hostler_proto::v1;
use tokio::sync::{Semaphore, mpsc};

use crate::output::{Batch, Item, Position, Reader, Start, Stream, Streams};
use crate::runner::{Follower, Runner};
use crate::supervisor::Supervisor;

/// Data in one message.
const MESSAGE_BYTES: usize = 64 * 1024;
const READ_BYTES: usize = 128 * 1024;
/// Credit beyond this is not counted.
const CREDIT_MAX: usize = 1 << 30;

/// How many bytes the other side is ready for.
pub(crate) struct Credit(Semaphore);

impl Credit {
    pub fn new(window: u32) -> Arc<Credit> {
        Arc::new(Credit(Semaphore::new(usize::try_from(window).unwrap_or(0).min(CREDIT_MAX))))
    }

    pub fn add(&self, bytes: u32) {
        let room = CREDIT_MAX.saturating_sub(self.0.available_permits());
        self.0.add_permits(usize::try_from(bytes).unwrap_or(0).min(room));
    }

    /// Takes between one byte and `wanted`, waiting for the first.
    async fn take(&self, wanted: usize) -> usize {
        let Ok(first) = self.0.acquire().await else {
            return 0;
        };
        first.forget();
        let more = (wanted.max(1) - 1).min(self.0.available_permits());
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        match self.0.try_acquire_many(more) {
            Ok(permits) => {
                permits.forget();
                1 + usize::try_from(more).unwrap_or(0)
            }
            Err(_) => 1,
        }
    }

    fn is_spent(&self) -> bool {
        self.0.available_permits() == 0
    }
}

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
        let bad = || Failure {
            code: Code::Malformed,
            detail: "the cursor is not one of this node's; begin without one".to_owned(),
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

/// Why a stream ends before its time.
#[derive(Debug)]
struct Failure {
    code: Code,
    detail: String,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::NotFound {
            Failure {
                code: Code::NotFound,
                detail: "the node keeps no output of this run (any more)".to_owned(),
            }
        } else {
            Failure {
                code: Code::Internal,
                detail: format!("the output cannot be read on the node: {error}"),
            }
        }
    }
}

/// How a stream ended otherwise.
enum End {
    /// All was sent; the run is over or not.
    Sent { is_over: bool },
    /// The session is gone.
    Gone,
}

/// One stream of a run's output.
pub(crate) struct OutputStream {
    pub id: u64,
    pub request: v1::OutputRequest,
    pub window: u32,
    pub credit: Arc<Credit>,
    pub outbound: mpsc::Sender<v1::AgentMessage>,
    pub runner: Runner,
    pub supervisor: Supervisor,
    pub tasks: Tasks,
}

impl OutputStream {
    /// Sends everything there is to send, and how it ended.
    pub async fn run(self) {
        let (error, is_complete) = match self.send().await {
            Ok(End::Sent { is_over }) => (None, is_over),
            Ok(End::Gone) => return,
            Err(failure) => (Some(failure), false),
        };
        let (error_code, error_detail) = error
            .map(|failure| (failure.code.label().to_owned(), failure.detail))
            .unwrap_or_default();
        let end =
            v1::StreamEnd { stream_id: self.id, error_code, error_detail, complete: is_complete };
        let body = v1::agent_message::Body::StreamEnd(end);
        // When the session is gone, nobody waits for this.
        let _ = self.outbound.send(v1::AgentMessage { body: Some(body) }).await;
    }

    async fn send(&self) -> Result<End, Failure> {
        let run: RunId = self.request.run_id.parse().map_err(|_| Failure {
            code: Code::Malformed,
            detail: "the run's id cannot be read".to_owned(),
        })?;
        let streams = match self.request.stream.as_str() {
            "" => Streams::Both,
            name => Streams::Only(
                name.parse::<Stream>()
                    .map_err(|e| Failure { code: Code::Malformed, detail: e.to_string() })?,
            ),
        };
        if self.request.follow {
            self.supervisor.not_pending(run).await;
        }
        if !self.runner.run_dir(run).exists() {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        let begin = self.begin(run, streams).await?;
        let start = Start::At(begin.position);
        let mut source = if self.request.follow {
            Source::Follower(self.runner.follow(run, start, streams))
        } else {
            Source::Reader(Some(self.runner.output(run, start, streams)?))
        };
        let mut cursor = begin;
        while let Some(batch) = source.next(&self.tasks).await? {
            let position = batch.position;
            if !self.send_batch(batch, cursor).await {
                return Ok(End::Gone);
            }
            cursor = Cursor { position, skip: 0 };
        }
        Ok(End::Sent { is_over: !self.runner.live().contains(&run) })
    }

    /// Where to begin: at the cursor, so many lines before the end, or with the oldest there is.
    async fn begin(&self, run: RunId, streams: Streams) -> Result<Cursor, Failure> {
        if !self.request.cursor.is_empty() {
            return self.request.cursor.parse();
        }
        let Some(lines) = self.request.tail_lines else {
            return Ok(Cursor::default());
        };
        let runner = self.runner.clone();
        let open = move || runner.output(run, Start::TailLines(lines.into()), streams);
        let reader = blocking(&self.tasks, "output tail", open).await?;
        Ok(Cursor { position: reader.position(), skip: reader.skip() })
    }

    /// Sends a batch that begins at `from`; false when the session is gone.
    async fn send_batch(&self, batch: Batch, from: Cursor) -> bool {
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
        let mut message = Message::default();
        for (index, item) in batch.items.into_iter().enumerate() {
            let frame = match item {
                Item::Output(frame) => frame,
                Item::Gap { bytes } => {
                    if index == 0 {
                        to_skip = 0;
                    }
                    let words = gap_words(bytes);
                    self.spend(words.len(), &mut message).await;
                    let skip = passed;
                    message.push(3, 0, words.into_bytes(), &Cursor { skip, ..from });
                    continue;
                }
            };
            let kind = match frame.stream {
                Stream::Stdout => 1,
                Stream::Stderr => 2,
            };
            let skipped = usize::try_from(to_skip).unwrap_or(usize::MAX).min(frame.bytes.len());
            to_skip -= skipped as u64;
            passed += skipped as u64;
            let mut rest = &frame.bytes[skipped..];
            while !rest.is_empty() {
                let is_due = message.is_full() || (self.credit.is_spent() && !message.is_empty());
                if is_due && !self.flush(&mut message).await {
                    return false;
                }
                let wanted = rest.len().min(message.room());
                let allowed = self.credit.take(wanted).await;
                let (piece, later) = rest.split_at(allowed.min(rest.len()));
                rest = later;
                passed += piece.len() as u64;
                let cursor = if passed == total { end } else { Cursor { skip: passed, ..from } };
                message.push(kind, frame.time.micros(), piece.to_vec(), &cursor);
            }
        }
        message.is_empty() || self.flush(&mut message).await
    }

    /// Takes credit for something that cannot be cut, as far as the window allows.
    async fn spend(&self, bytes: usize, message: &mut Message) {
        let mut left = bytes.min(usize::try_from(self.window).unwrap_or(0).max(1));
        while left > 0 {
            if self.credit.is_spent() && !message.is_empty() {
                self.flush(message).await;
            }
            left -= self.credit.take(left).await.min(left);
        }
    }

    async fn flush(&self, message: &mut Message) -> bool {
        let frames = std::mem::take(message).frames;
        let data = v1::StreamData { stream_id: self.id, frames };
        let body = v1::agent_message::Body::StreamData(data);
        let message = v1::AgentMessage { body: Some(body) };
        self.outbound.send(message).await.is_ok()
    }
}

/// Frames that travel together.
#[derive(Default)]
struct Message {
    frames: Vec<v1::OutputFrame>,
    bytes: usize,
}

impl Message {
    fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    fn is_full(&self) -> bool {
        self.bytes >= MESSAGE_BYTES
    }

    fn room(&self) -> usize {
        MESSAGE_BYTES - self.bytes.min(MESSAGE_BYTES - 1)
    }

    fn push(&mut self, kind: u32, time_micros: i64, data: Vec<u8>, cursor: &Cursor) {
        self.bytes += data.len();
        self.frames.push(v1::OutputFrame { kind, time_micros, data, cursor: cursor.to_string() });
    }
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

fn gap_words(bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => format!("{bytes} bytes of output are missing here"),
        None => "some output is missing here".to_owned(),
    }
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

    #[tokio::test]
    async fn credit_is_taken_as_far_as_it_goes() {
        let credit = Credit::new(10);
        assert_eq!(credit.take(4).await, 4);
        assert_eq!(credit.take(100).await, 6);
        assert!(credit.is_spent());
        credit.add(1);
        assert_eq!(credit.take(5).await, 1);
        credit.add(u32::MAX);
        credit.add(u32::MAX);
        assert_eq!(credit.0.available_permits(), CREDIT_MAX);
    }
}
