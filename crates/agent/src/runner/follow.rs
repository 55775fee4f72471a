//! Following a run's output: read what there is, then wait for the shim's word that there is more.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hostler_model::RunId;

use super::{Runner, Shared, blocking};
use crate::output::{Batch, Position, Reader, Start, Streams};
use crate::wire::Command;

const BATCH: usize = 256 * 1024;
/// Looks again even without word: nothing depends on a notice alone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub struct Follower {
    shared: Arc<Shared>,
    run_id: RunId,
    start: Start,
    streams: Streams,
    reader: Option<Reader>,
    is_end: bool,
}

impl Follower {
    pub(super) fn new(
        shared: Arc<Shared>,
        run_id: RunId,
        start: Start,
        streams: Streams,
    ) -> Follower {
        Follower { shared, run_id, start, streams, reader: None, is_end: false }
    }

    /// The next output, waiting for it; `None` after the last. A run whose directory is gone, or that
    /// is neither attended to nor over, has nothing more.
    pub async fn next(&mut self) -> io::Result<Option<Batch>> {
        while !self.is_end {
            let was_live = self.is_live();
            let batch = self.read().await?;
            self.is_end = batch.is_end || (batch.items.is_empty() && !was_live);
            if batch.is_end {
                self.wait_for_end().await;
            }
            if !batch.items.is_empty() {
                return Ok(Some(batch));
            }
            if !self.is_end {
                self.wait(&batch).await;
            }
        }
        Ok(None)
    }

    /// A shim tells of the end only when all output is written.
    fn is_live(&self) -> bool {
        let live = self.shared.live();
        live.get(&self.run_id).is_some_and(|handle| handle.ended.is_none())
    }

    /// The end is on disk; whoever is told that the output is over may expect the run to be.
    async fn wait_for_end(&self) {
        let output = self.shared.live().get(&self.run_id).map(|handle| handle.output.clone());
        let Some(mut output) = output else { return };
        let known = async { while self.is_live() && output.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(LOOK_AGAIN, known).await;
    }

    async fn read(&mut self) -> io::Result<Batch> {
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                let dir = self.shared.runs.join(self.run_id.to_string());
                let (start, streams) = (self.start, self.streams);
                blocking(move || Reader::open(&dir, start, streams)).await?
            }
        };
        let (reader, batch) = blocking(move || {
            let batch = reader.read(BATCH)?;
            Ok((reader, batch))
        })
        .await?;
        self.start = Start::At(batch.position);
        self.reader = Some(reader);
        Ok(batch)
    }

    async fn wait(&self, seen: &Batch) {
        wait_for_output(&self.shared, self.run_id, seen.position).await;
    }
}

impl Runner {
    /// Waits until a run may have output beyond `position`, a second at most. False, and at once,
    /// when the run is not attended to: it is over, or was never started.
    pub async fn wait_for_output(&self, run_id: RunId, position: Position) -> bool {
        wait_for_output(self.shared(), run_id, position).await
    }
}

async fn wait_for_output(shared: &Shared, run_id: RunId, position: Position) -> bool {
    let handle =
        (shared.live().get(&run_id)).map(|handle| (handle.commands.clone(), handle.output.clone()));
    let Some((commands, mut output)) = handle else {
        return false;
    };
    output.borrow_and_update();
    let watch = Command::Watch { segment: position.segment, offset: position.offset };
    let _ = commands.try_send(watch.into());
    let _ = tokio::time::timeout(LOOK_AGAIN, output.changed()).await;
    true
}
