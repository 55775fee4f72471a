//! Streams that a node sends over its session, such as output.
//!
//! Flow control is by credit: the agent may send a window of bytes, and gets more as the reader takes
//! what came. A reader that goes away cancels the stream; a session that ends ends its streams with an
//! error that says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_base::shutdown::{OnError, Tasks};
use hostler_control::{NodeAsk, OutputItem, OutputReceiver};
use hostler_model::{Code, Error};
use hostler_proto::v1;
use tokio::sync::mpsc;

use super::asks::{ended, item, what};

/// Bytes in flight per stream.
const WINDOW: u32 = 256 << 10;
/// Messages that a stream may hold. An agent that keeps to its window never fills it.
const QUEUE: usize = 1024;
/// Items between the session and the reader.
const READER_QUEUE: usize = 16;

enum Arrival {
    Data(Vec<v1::OutputFrame>),
    End(v1::StreamEnd),
}

#[derive(Default)]
struct Table {
    next: u64,
    open: HashMap<u64, mpsc::Sender<Arrival>>,
    is_closed: bool,
}

/// The open streams of one session.
#[derive(Clone)]
pub(super) struct Streams {
    table: Arc<Mutex<Table>>,
    outbound: mpsc::Sender<v1::ServerMessage>,
    tasks: Tasks,
}

impl Streams {
    pub(super) fn new(outbound: mpsc::Sender<v1::ServerMessage>, tasks: Tasks) -> Streams {
        Streams { table: Arc::default(), outbound, tasks }
    }

    pub(super) async fn open(&self, ask: NodeAsk) -> Result<OutputReceiver, Error> {
        let (arrivals, queue) = mpsc::channel(QUEUE);
        let place = self.outbound.reserve().await.map_err(|_| session_over())?;
        let id = {
            let mut table = self.lock();
            if table.is_closed {
                return Err(session_over());
            }
            table.next += 1;
            let id = table.next;
            table.open.insert(id, arrivals);
            // Before the table is let go: nothing is opened after a goodbye.
            let open = v1::StreamOpen { stream_id: id, window: WINDOW, what: Some(what(ask)) };
            let body = Some(v1::server_message::Body::StreamOpen(open));
            place.send(v1::ServerMessage { body });
            id
        };
        let (items, reader) = mpsc::channel(READER_QUEUE);
        let streams = self.clone();
        self.tasks.spawn_until_cancelled("output_forward", OnError::Log, async move {
            streams.forward(id, queue, items).await;
            streams.forget(id);
        });
        Ok(reader)
    }

    /// Takes what the agent sent; a stream that overflows its window is cut off.
    pub(super) fn arrive(&self, id: u64, frames: Vec<v1::OutputFrame>) {
        self.deliver(id, Arrival::Data(frames));
    }

    pub(super) fn end(&self, end: v1::StreamEnd) {
        self.deliver(end.stream_id, Arrival::End(end));
    }

    fn deliver(&self, id: u64, arrival: Arrival) {
        let sender = self.lock().open.get(&id).cloned();
        if let Some(sender) = sender
            && sender.try_send(arrival).is_err()
        {
            tracing::warn!(stream_id = id, "stream overran its window");
            self.forget(id);
        }
    }

    /// No stream is opened any more; those that are open go on.
    pub(super) fn refuse_more(&self) {
        self.lock().is_closed = true;
    }

    /// The session is over: every reader is told.
    pub(super) fn close(&self) {
        let mut table = self.lock();
        table.is_closed = true;
        table.open.clear();
    }

    async fn forward(
        &self,
        id: u64,
        mut queue: mpsc::Receiver<Arrival>,
        items: mpsc::Sender<Result<OutputItem, Error>>,
    ) {
        loop {
            let arrival = tokio::select! {
                arrival = queue.recv() => arrival,
                () = items.closed() => return self.cancel(id).await,
            };
            match arrival {
                None => {
                    // The reader may be gone as well; then nobody needs the news.
                    let _gone = items.send(Err(session_over())).await;
                    return;
                }
                Some(Arrival::End(end)) => {
                    let _gone = items.send(ended(&end)).await;
                    return;
                }
                Some(Arrival::Data(frames)) => {
                    let bytes: usize = frames.iter().map(|frame| frame.data.len()).sum();
                    for frame in frames {
                        if items.send(Ok(item(frame))).await.is_err() {
                            return self.cancel(id).await;
                        }
                    }
                    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                    let credit = v1::StreamCredit { stream_id: id, bytes };
                    if self.send(v1::server_message::Body::StreamCredit(credit)).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn cancel(&self, id: u64) {
        let cancel = v1::StreamCancel { stream_id: id };
        // A session that is over has no stream to cancel.
        let _over = self.send(v1::server_message::Body::StreamCancel(cancel)).await;
    }

    async fn send(&self, body: v1::server_message::Body) -> Result<(), Error> {
        self.outbound.send(v1::ServerMessage { body: Some(body) }).await.map_err(|_| session_over())
    }

    fn forget(&self, id: u64) {
        self.lock().open.remove(&id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn session_over() -> Error {
    Error::new(
        Code::NodeUnreachable,
        "the connection to the node was lost",
        "what the node has is kept there; ask again, for output from the last cursor",
    )
    .with_retry_after(1)
}
