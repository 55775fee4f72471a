//! The way out of a stream: frames gathered into messages, as far as there is credit for them.

use std::sync::Arc;

use hostler_proto::v1;
use tokio::sync::{Semaphore, mpsc};

use crate::output::Stream as Which;

/// Data in one message.
const MESSAGE_BYTES: usize = 64 * 1024;
/// Credit beyond this is not counted.
const CREDIT_MAX: usize = 1 << 30;

const GAP: u32 = 3;
const MARK: u32 = 4;

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

/// The session is gone; nobody waits for anything any more.
#[derive(Debug)]
pub(super) struct Gone;

pub(super) struct Outlet {
    id: u64,
    window: usize,
    credit: Arc<Credit>,
    outbound: mpsc::Sender<v1::AgentMessage>,
    frames: Vec<v1::OutputFrame>,
    bytes: usize,
}

impl Outlet {
    pub fn new(
        id: u64,
        window: u32,
        credit: Arc<Credit>,
        outbound: mpsc::Sender<v1::AgentMessage>,
    ) -> Outlet {
        let window = usize::try_from(window).unwrap_or(0).max(1);
        Outlet { id, window, credit, outbound, frames: Vec::new(), bytes: 0 }
    }

    /// Some of `bytes` that the program wrote; answers how many. `cursor` makes the cursor behind that
    /// many.
    pub async fn some(
        &mut self,
        which: Which,
        time_micros: i64,
        bytes: &[u8],
        cursor: impl FnOnce(usize) -> String,
    ) -> Result<usize, Gone> {
        if self.bytes >= MESSAGE_BYTES || self.credit.is_spent() {
            self.flush().await?;
        }
        let room = MESSAGE_BYTES - self.bytes.min(MESSAGE_BYTES - 1);
        let allowed = self.credit.take(bytes.len().min(room)).await.min(bytes.len());
        let (kind, data) = (kind(which), bytes[..allowed].to_vec());
        self.push(v1::OutputFrame { kind, time_micros, data, cursor: cursor(allowed) });
        Ok(allowed)
    }

    /// Something that is not cut. What is larger than the window uses all of it.
    pub async fn whole(
        &mut self,
        which: Which,
        time_micros: i64,
        data: Vec<u8>,
        cursor: String,
    ) -> Result<(), Gone> {
        self.spend(data.len()).await?;
        self.push(v1::OutputFrame { kind: kind(which), time_micros, data, cursor });
        Ok(())
    }

    pub async fn gap(&mut self, words: String, cursor: String) -> Result<(), Gone> {
        self.words(GAP, 0, words, cursor).await
    }

    pub async fn mark(
        &mut self,
        time_micros: i64,
        words: String,
        cursor: String,
    ) -> Result<(), Gone> {
        self.words(MARK, time_micros, words, cursor).await
    }

    async fn words(
        &mut self,
        kind: u32,
        time_micros: i64,
        words: String,
        cursor: String,
    ) -> Result<(), Gone> {
        self.spend(words.len()).await?;
        self.push(v1::OutputFrame { kind, time_micros, data: words.into_bytes(), cursor });
        Ok(())
    }

    async fn spend(&mut self, bytes: usize) -> Result<(), Gone> {
        if self.bytes >= MESSAGE_BYTES {
            self.flush().await?;
        }
        let mut left = bytes.min(self.window);
        while left > 0 {
            if self.credit.is_spent() {
                self.flush().await?;
            }
            left -= self.credit.take(left).await.min(left);
        }
        Ok(())
    }

    fn push(&mut self, frame: v1::OutputFrame) {
        self.bytes += frame.data.len();
        self.frames.push(frame);
    }

    /// Sends what was gathered.
    pub async fn flush(&mut self) -> Result<(), Gone> {
        if self.frames.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let frames = std::mem::take(&mut self.frames);
        let data = v1::StreamData { stream_id: self.id, frames };
        self.send(v1::agent_message::Body::StreamData(data)).await
    }

    pub async fn end(mut self, end: v1::StreamEnd) {
        if self.flush().await.is_ok() {
            // When the session is gone, nobody waits for this.
            let _gone = self.send(v1::agent_message::Body::StreamEnd(end)).await;
        }
    }

    async fn send(&self, body: v1::agent_message::Body) -> Result<(), Gone> {
        self.outbound.send(v1::AgentMessage { body: Some(body) }).await.map_err(|_| Gone)
    }
}

const fn kind(which: Which) -> u32 {
    match which {
        Which::Stdout => 1,
        Which::Stderr => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn frames(message: v1::AgentMessage) -> Vec<v1::OutputFrame> {
        match message.body {
            Some(v1::agent_message::Body::StreamData(data)) => data.frames,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn nothing_is_sent_beyond_the_window() {
        let credit = Credit::new(4);
        let (outbound, mut sent) = mpsc::channel(8);
        let mut outlet = Outlet::new(7, 4, credit.clone(), outbound);
        let first = outlet.some(Which::Stdout, 1, b"abcdef", |n| n.to_string()).await.unwrap();
        assert_eq!(first, 4);
        let (more, message) =
            tokio::join!(outlet.some(Which::Stdout, 1, b"ef", |n| n.to_string()), async {
                let message = sent.recv().await.unwrap();
                credit.add(2);
                message
            });
        assert_eq!(more.unwrap(), 2);
        let frames = frames(message);
        assert_eq!((frames[0].data.as_slice(), frames[0].cursor.as_str()), (&b"abcd"[..], "4"));
    }

    #[tokio::test]
    async fn what_cannot_be_cut_uses_the_whole_window() {
        let credit = Credit::new(4);
        let (outbound, mut sent) = mpsc::channel(8);
        let mut outlet = Outlet::new(7, 4, credit.clone(), outbound);
        outlet.whole(Which::Stderr, 1, b"a long line".to_vec(), "c".into()).await.unwrap();
        assert!(credit.is_spent());
        outlet.flush().await.unwrap();
        let frames = frames(sent.recv().await.unwrap());
        assert_eq!((frames[0].kind, frames[0].data.len()), (2, 11));
    }
}
