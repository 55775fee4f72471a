//! What watch and output streams share: bytes cut into lines, and patience with broken connections.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::Response;
use tokio::time::Instant;

use crate::retry::RetryPolicy;

/// How patient a stream is once it has worked. Until then the [`RetryPolicy`] of calls holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumePolicy {
    /// Give up when nothing came through for this long.
    pub give_up_after: Duration,
    pub delay_min: Duration,
    pub delay_max: Duration,
}

impl Default for ResumePolicy {
    fn default() -> ResumePolicy {
        ResumePolicy {
            give_up_after: Duration::from_mins(5),
            delay_min: Duration::from_millis(100),
            delay_max: Duration::from_secs(5),
        }
    }
}

/// Counts what goes wrong with a stream, and says when to try again or give up.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    retry: RetryPolicy,
    resume: ResumePolicy,
    has_worked: bool,
    failures: u32,
    since: Option<Instant>,
}

impl Trouble {
    pub fn new(retry: RetryPolicy, resume: ResumePolicy) -> Trouble {
        Trouble { retry, resume, has_worked: false, failures: 0, since: None }
    }

    pub fn connected(&mut self) {
        self.has_worked = true;
    }

    /// Something came through.
    pub fn over(&mut self) {
        self.failures = 0;
        self.since = None;
    }

    /// How long to wait before connecting again; `None` is giving up.
    pub fn delay(&mut self, now: Instant, random: f64) -> Option<Duration> {
        self.failures = self.failures.saturating_add(1);
        if !self.has_worked {
            return self.retry.delay(self.failures, None, random);
        }
        let since = *self.since.get_or_insert(now);
        let patient = RetryPolicy {
            attempts: u32::MAX,
            delay_min: self.resume.delay_min,
            delay_max: self.resume.delay_max,
        };
        let delay = patient.delay(self.failures, None, random)?;
        (now.duration_since(since) + delay <= self.resume.give_up_after).then_some(delay)
    }
}

/// Lines longer than this are not ours; the connection is dropped.
const LINE_MAX: usize = 16 << 20;

/// The body of an answer, line by line.
pub(crate) struct Lines {
    body: BoxStream<'static, Result<Bytes, reqwest::Error>>,
    buffer: Vec<u8>,
    /// How much of `buffer` was handed out or is known to hold no line end.
    taken: usize,
    scanned: usize,
    idle_max: Option<Duration>,
}

/// Why there are no more lines.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Dropped {
    #[error("the server closed the stream")]
    Closed,
    #[error("the stream broke off")]
    Broken(#[source] reqwest::Error),
    #[error("the stream went silent")]
    Idle,
    #[error("the stream has a line that is too long")]
    TooLong,
}

impl Lines {
    /// With `idle_max`, silence of that length counts as a broken connection.
    pub fn new(response: Response, idle_max: Option<Duration>) -> Lines {
        Lines {
            body: response.bytes_stream().boxed(),
            buffer: Vec::new(),
            taken: 0,
            scanned: 0,
            idle_max,
        }
    }

    /// The next whole line without its end. A line that was cut off by the end of the body is
    /// dropped: it will come again after the cursor.
    pub async fn next(&mut self) -> Result<String, Dropped> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(line);
            }
            if self.buffer.len() > LINE_MAX {
                return Err(Dropped::TooLong);
            }
            let next = self.body.next();
            let chunk = match self.idle_max {
                None => next.await,
                Some(limit) => {
                    tokio::time::timeout(limit, next).await.map_err(|_| Dropped::Idle)?
                }
            };
            match chunk {
                None => return Err(Dropped::Closed),
                Some(Err(error)) => return Err(Dropped::Broken(error.without_url())),
                Some(Ok(bytes)) => self.buffer.extend_from_slice(&bytes),
            }
        }
    }

    fn take_line(&mut self) -> Option<String> {
        let Some(length) = self.buffer[self.scanned..].iter().position(|b| *b == b'\n') else {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + length;
        let line = &self.buffer[self.taken..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = String::from_utf8_lossy(line).into_owned();
        self.taken = end + 1;
        self.scanned = end + 1;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: Vec<&'static [u8]>) -> Lines {
        let chunks = chunks.into_iter().map(|c| Ok(Bytes::from_static(c)));
        Lines {
            body: futures::stream::iter(chunks).boxed(),
            buffer: Vec::new(),
            taken: 0,
            scanned: 0,
            idle_max: None,
        }
    }

    #[tokio::test]
    async fn lines_are_cut_wherever_chunks_end() {
        let mut lines = lines(vec![b"one\ntw", b"o\r\n", b"", b"\n\xc3", b"\xbc\nrest"]);
        for expected in ["one", "two", "", "ü"] {
            assert_eq!(lines.next().await.unwrap(), expected);
        }
        assert!(matches!(lines.next().await, Err(Dropped::Closed)));
    }

    #[tokio::test]
    async fn silence_is_a_broken_connection_where_a_limit_is_set() {
        let mut lines = lines(vec![]);
        lines.body = futures::stream::pending().boxed();
        lines.idle_max = Some(Duration::from_millis(5));
        assert!(matches!(lines.next().await, Err(Dropped::Idle)));
    }

    #[test]
    fn patience_is_short_at_first_and_long_once_it_worked() {
        let retry = RetryPolicy::default();
        let mut trouble = Trouble::new(retry, ResumePolicy::default());
        let tries = std::iter::from_fn(|| trouble.delay(Instant::now(), 0.5)).count();
        assert_eq!(tries, retry.attempts as usize - 1);
        trouble.over();
        trouble.connected();
        let (mut now, begin) = (Instant::now(), Instant::now());
        while let Some(delay) = trouble.delay(now, 0.5) {
            now += delay;
        }
        let patience = now - begin;
        assert!(patience > Duration::from_secs(290), "{patience:?}");
        assert!(patience <= Duration::from_mins(5), "{patience:?}");
    }
}
