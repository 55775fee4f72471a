//! Which agents are connected to this process, and how to reach those connected to another.
//!
//! This is a cache of the present, never a truth: a missing link only means that somebody looks later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_base::Clock;
use hostler_model::{Error, Generation, NodeId, ServerRegistration};
use tokio::sync::watch;

use crate::{NodeAsk, OutputReceiver};

/// How long is waited for a node that changes one session for another.
const HANDOVER: Duration = Duration::from_secs(4);

/// A connected agent, as the transport offers it.
pub trait NodeLink: Send + Sync {
    /// There may be something new for the node.
    fn wake(&self);
    /// There may be other watchers for the node.
    fn wake_watch(&self) {}
    /// Opens a stream from the node.
    fn open(&self, ask: NodeAsk) -> BoxFuture<'_, Result<OutputReceiver, Error>>;
    /// Ends the session; the agent is told whether to come back.
    fn close(&self, reason: &str, may_return: bool);
}

/// How to reach nodes whose session another server holds.
pub trait PeerLinks: Send + Sync {
    fn open<'a>(
        &'a self,
        server: &'a ServerRegistration,
        node: NodeId,
        ask: NodeAsk,
    ) -> BoxFuture<'a, Result<OutputReceiver, Error>>;
}

/// How a node is connected.
enum Connection {
    Open {
        epoch: Generation,
        link: Arc<dyn NodeLink>,
    },
    /// It has left its session for another that is about to open. Whoever waits is told when this is dropped.
    Changing(watch::Sender<()>),
}

type ConnectionMap = HashMap<NodeId, Connection>;

#[derive(Default)]
pub(crate) struct Links {
    by_node: Mutex<ConnectionMap>,
}

impl Links {
    /// Puts a session in place of an older one, which is closed.
    pub(crate) fn insert(&self, node: NodeId, epoch: Generation, link: Arc<dyn NodeLink>) {
        let old = self.lock().insert(node, Connection::Open { epoch, link });
        if let Some(Connection::Open { link: old, .. }) = old {
            old.close("the agent opened a newer session", true);
        }
    }

    /// Takes a session out, unless a newer one has its place.
    pub(crate) fn remove(&self, node: NodeId, epoch: Generation) {
        let mut connections = self.lock();
        if is_held(&connections, node, epoch) {
            connections.remove(&node);
        }
    }

    /// Takes a session out whose agent is about to open another.
    pub(crate) fn change(&self, node: NodeId, epoch: Generation) {
        let mut connections = self.lock();
        if is_held(&connections, node, epoch) {
            connections.insert(node, Connection::Changing(watch::Sender::new(())));
        }
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<Arc<dyn NodeLink>> {
        match self.lock().get(&node) {
            Some(Connection::Open { link, .. }) => Some(Arc::clone(link)),
            Some(Connection::Changing(_)) | None => None,
        }
    }

    /// Like [`Links::get`], and waits a moment for a node that changes one session for another.
    pub(crate) async fn reach(&self, node: NodeId, clock: &Clock) -> Option<Arc<dyn NodeLink>> {
        let mut opened = match self.lock().get(&node)? {
            Connection::Open { link, .. } => return Some(Arc::clone(link)),
            Connection::Changing(opened) => opened.subscribe(),
        };
        if clock.timeout(HANDOVER, opened.changed()).await.is_err() {
            self.given_up(node);
        }
        self.get(node)
    }

    /// Nobody waits any more for a node that does not come back.
    fn given_up(&self, node: NodeId) {
        let mut connections = self.lock();
        if matches!(connections.get(&node), Some(Connection::Changing(_))) {
            connections.remove(&node);
        }
    }

    pub(crate) fn wake(&self, node: NodeId) {
        if let Some(link) = self.get(node) {
            link.wake();
        }
    }

    pub(crate) fn wake_watch(&self, node: NodeId) {
        if let Some(link) = self.get(node) {
            link.wake_watch();
        }
    }

    pub(crate) fn count(&self) -> usize {
        let is_open = |connection: &&Connection| matches!(connection, Connection::Open { .. });
        self.lock().values().filter(is_open).count()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ConnectionMap> {
        self.by_node.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_held(connections: &ConnectionMap, node: NodeId, of: Generation) -> bool {
    matches!(connections.get(&node), Some(Connection::Open { epoch, .. }) if *epoch == of)
}
