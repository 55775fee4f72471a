//! A connection whose peer has to take what it is sent.
//!
//! A peer that asks for much and then does not read would hold the answer, and a place among the
//! connections, for as long as it likes. Here a write that makes no progress for a while ends the
//! connection. A stream that has nothing to send waits for nothing and is not concerned.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(super) struct Stalling<S> {
    stream: S,
    limit: Duration,
    deadline: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S> Stalling<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Stalling<S> {
        let deadline = Box::pin(tokio::time::sleep(limit));
        Stalling { stream, limit, deadline, is_waiting: false }
    }

    /// Lets a finished attempt through; a pending one only for so long.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        attempt: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            self.is_waiting = false;
            return attempt;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.deadline.as_mut().reset(Instant::now() + self.limit);
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, attempt)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, attempt)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, attempt)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, attempt)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn a_peer_that_takes_nothing_is_left() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut stream = Stalling::new(ours, Duration::from_millis(50));
        stream.write_all(&[1; 64]).await.unwrap();
        let error = stream.write_all(&[2; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let mut some = [0; 64];
        theirs.read_exact(&mut some).await.unwrap();
        stream.write_all(&[3; 64]).await.unwrap();
    }

    #[tokio::test]
    async fn a_slow_peer_that_reads_on_gets_everything() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut stream = Stalling::new(ours, Duration::from_millis(500));
        let send = async {
            stream.write_all(&[7; 4096]).await.unwrap();
            stream.shutdown().await.unwrap();
        };
        let take = async {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).await.unwrap();
            all.len()
        };
        assert_eq!(tokio::join!(send, take).1, 4096);
    }
}
