//! A connection whose peer has to begin.
//!
//! The time for the head of a request counts only once it is known which HTTP is spoken, and that takes
//! the first bytes. A peer that sends none of them, or a part of the words with which HTTP/2 begins, would
//! hold a place among the connections for as long as it likes. Here so many bytes have to be there in time,
//! or reading fails.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// As long as the words with which HTTP/2 begins.
const BYTES: usize = 24;

pub(super) struct Beginning<S> {
    stream: S,
    missing: usize,
    deadline: Pin<Box<Sleep>>,
}

impl<S> Beginning<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Beginning<S> {
        Beginning { stream, missing: BYTES, deadline: Box::pin(tokio::time::sleep(limit)) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Beginning<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let attempt = Pin::new(&mut self.stream).poll_read(context, buffer);
        if attempt.is_ready() {
            let read = buffer.filled().len().saturating_sub(before);
            self.missing = self.missing.saturating_sub(read);
            return attempt;
        }
        if self.missing == 0 {
            return Poll::Pending;
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer says nothing")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Beginning<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
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
    async fn a_peer_that_does_not_begin_is_left() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut stream = Beginning::new(ours, Duration::from_millis(50));
        theirs.write_all(b"PRI").await.unwrap();
        let mut some = [0; 64];
        assert_eq!(stream.read(&mut some).await.unwrap(), 3);
        let error = stream.read(&mut some).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_peer_that_has_begun_may_be_silent() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let mut stream = Beginning::new(ours, Duration::from_millis(50));
        theirs.write_all(&[b'x'; BYTES]).await.unwrap();
        let mut some = [0; 64];
        assert_eq!(stream.read(&mut some).await.unwrap(), BYTES);
        let waited = tokio::time::timeout(Duration::from_millis(200), stream.read(&mut some));
        assert!(waited.await.is_err(), "it waits for as long as it takes");
        theirs.write_all(b"more").await.unwrap();
        assert_eq!(stream.read(&mut some).await.unwrap(), 4);
    }
}
