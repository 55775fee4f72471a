//! From the walk to the server: bytes are sent while they are read, volume by volume, and in the end the list.

use std::fs::File;
use std::io::{BufWriter, Seek as _, Write as _};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use hostler_model::node_backup::{BACKUP_VOLUME, BackupEntry};
use hostler_model::{
    BackupVolume, Bytes as Size, Content, NodeBackupOutcome, NodeBackupSpec, OperationId,
};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

use super::walk::{Met, Take, walk};
use super::{Failure, Progress, blocking};
use crate::blobs::{BlobError, Blobs, PutAs};

/// How much is read ahead, in pieces of a quarter of a MiB at most.
const AHEAD: usize = 16;

/// Reads what a spec names, and sends what the server lacks.
pub(super) async fn keep(
    blobs: &Blobs,
    job: OperationId,
    spec: &NodeBackupSpec,
    progress: &Arc<Progress>,
) -> Result<NodeBackupOutcome, Failure> {
    progress.begin("reading");
    let list = blobs.scratch().await?;
    let (sender, receiver) = mpsc::channel(AHEAD);
    let (spec, shared) = (spec.clone(), progress.clone());
    let walking = blocking(move || {
        let mut channel = Channel { sender, list: BufWriter::new(list) };
        let met = walk(&spec, &shared, &mut channel)?;
        let list = channel.list.into_inner().map_err(|e| written(&e.into_error()))?;
        Ok((met, list))
    });
    let put_as = PutAs::Backup(job);
    // When it fails, nobody takes what is read any more, and the walk ends too.
    let sending = async {
        let mut feed = Feed { receiver, current: Bytes::new(), left: 0 };
        let mut volumes = Vec::new();
        while feed.next_volume().await {
            let content = put(blobs, &put_as, &mut feed, "volume", progress).await?;
            volumes.push(volume(&content));
        }
        Ok::<_, BlobError>(volumes)
    };
    let (walked, sent) = tokio::join!(walking, sending);
    let volumes = sent?;
    let (met, mut list) = walked?;
    list.rewind().map_err(|e| written(&e))?;
    let mut list = tokio::fs::File::from_std(list);
    let content = put(blobs, &put_as, &mut list, "list", progress).await?;
    let sent = progress.sent.load(Ordering::Relaxed);
    Ok(outcome(met, volume(&content), volumes, sent))
}

async fn put(
    blobs: &Blobs,
    put_as: &PutAs,
    from: impl AsyncRead + Send + Unpin,
    label: &str,
    progress: &Progress,
) -> Result<Content, BlobError> {
    let before = progress.sent.load(Ordering::Relaxed);
    let tell = |done: crate::blobs::Progress| {
        progress.sent.store(before + done.sent, Ordering::Relaxed);
    };
    blobs.put(put_as, from, label, tell).await
}

fn volume(content: &Content) -> BackupVolume {
    BackupVolume { digest: content.digest, size: content.size }
}

fn outcome(
    met: Met,
    manifest: BackupVolume,
    volumes: Vec<BackupVolume>,
    sent: u64,
) -> NodeBackupOutcome {
    NodeBackupOutcome {
        manifest,
        volumes,
        files: met.files,
        directories: met.directories,
        links: met.links,
        bytes: Size::new(met.bytes),
        bytes_sent: Size::new(sent),
        changed: met.changed,
        vanished: met.vanished,
        unreadable: met.unreadable,
        special: met.special,
        troubles: met.troubles,
    }
}

fn written(error: &std::io::Error) -> Failure {
    Failure::Refused(format!("the list cannot be written on this machine: {error}"))
}

/// Bytes go to whoever sends them, entries to a file.
struct Channel {
    sender: mpsc::Sender<Bytes>,
    list: BufWriter<File>,
}

impl Take for Channel {
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // Whoever sent them has given up, and says why.
        self.sender.blocking_send(Bytes::copy_from_slice(bytes)).map_err(|_| Failure::Stopped)
    }

    fn entry(&mut self, entry: &BackupEntry) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(entry)
            .map_err(|error| Failure::Refused(format!("an entry cannot be written: {error}")))?;
        line.push(b'\n');
        self.list.write_all(&line).map_err(|e| written(&e))
    }
}

/// What was read, a volume at a time.
struct Feed {
    receiver: mpsc::Receiver<Bytes>,
    current: Bytes,
    /// What fits into the volume still.
    left: u64,
}

impl Feed {
    /// Whether there is another volume; begins it.
    async fn next_volume(&mut self) -> bool {
        if self.current.is_empty() {
            match self.receiver.recv().await {
                Some(bytes) => self.current = bytes,
                None => return false,
            }
        }
        self.left = BACKUP_VOLUME;
        true
    }
}

impl AsyncRead for Feed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Ok(()));
        }
        if self.current.is_empty() {
            match self.receiver.poll_recv(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(bytes)) => self.current = bytes,
            }
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.remaining());
        let length = room.min(self.current.len());
        buffer.put_slice(&self.current[..length]);
        self.current.advance(length);
        self.left -= length as u64;
        Poll::Ready(Ok(()))
    }
}
