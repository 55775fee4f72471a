//! What servers order of watchers, and what they are told of them.
//!
//! It goes on beside the conversation, in a task of its own, because orders are written down and news crossed off on
//! disk. One report is under way at a time; the next one has whatever came meanwhile.

use hostler_base::{OnError, Tasks};
use hostler_proto::v1::{self, agent_message};
use hostler_proto::watcher_report_to_message;
use tokio::sync::mpsc;

use super::Session;
use super::talk::message;
use crate::watch::Watching;

const QUEUED: usize = 16;

enum Heard {
    Orders(v1::WatcherOrders),
    Ack(u64),
}

/// Where what the server says of watchers goes.
pub(super) struct WatchTalk(mpsc::Sender<Heard>);

impl WatchTalk {
    pub(super) async fn orders(&self, orders: v1::WatcherOrders) {
        // Whoever would take it is gone only when the session is over.
        let _over = self.0.send(Heard::Orders(orders)).await;
    }

    pub(super) async fn acknowledged(&self, ack: v1::WatcherAck) {
        let _over = self.0.send(Heard::Ack(ack.number)).await;
    }
}

impl Session {
    pub(super) fn tell_of_watchers(
        &self,
        scope: &Tasks,
        outbound: mpsc::Sender<v1::AgentMessage>,
    ) -> WatchTalk {
        let (heard, hearing) = mpsc::channel(QUEUED);
        let telling = tell(self.watching.clone(), outbound, hearing);
        scope.spawn_until_cancelled("watcher news", OnError::Log, telling);
        WatchTalk(heard)
    }
}

async fn tell(
    watching: Watching,
    outbound: mpsc::Sender<v1::AgentMessage>,
    mut heard: mpsc::Receiver<Heard>,
) {
    let mut changes = watching.changes();
    changes.mark_changed();
    let mut number = 0;
    let mut under_way = None;
    loop {
        tokio::select! {
            Ok(()) = changes.changed(), if under_way.is_none() => {
                let Some(report) = watching.report() else { continue };
                number += 1;
                let body = agent_message::Body::WatcherReport(watcher_report_to_message(number, &report));
                under_way = Some(report);
                if outbound.send(message(body)).await.is_err() {
                    return;
                }
            }
            next = heard.recv() => match next {
                Some(Heard::Orders(orders)) => watching.take(&orders).await,
                Some(Heard::Ack(answered)) if answered == number => {
                    if let Some(report) = under_way.take() {
                        watching.taken(&report);
                    }
                }
                Some(Heard::Ack(_)) => {}
                None => return,
            },
        }
    }
}
