//! Which agents are connected to this process, and how to reach those connected to another.
//!
//! This is a cache of the present, never a truth: a missing link only means that somebody looks later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use hostler_model::{Error, Generation, NodeId, ServerRegistration};

use crate::{NodeAsk, OutputReceiver};

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

type LinkMap = HashMap<NodeId, (Generation, Arc<dyn NodeLink>)>;

#[derive(Default)]
pub(crate) struct Links {
    by_node: Mutex<LinkMap>,
}

impl Links {
    /// Puts a session in place of an older one, which is closed.
    pub(crate) fn insert(&self, node: NodeId, epoch: Generation, link: Arc<dyn NodeLink>) {
        let old = self.lock().insert(node, (epoch, link));
        if let Some((_, old)) = old {
            old.close("the agent opened a newer session", true);
        }
    }

    /// Takes a session out, unless a newer one has its place.
    pub(crate) fn remove(&self, node: NodeId, epoch: Generation) {
        let mut links = self.lock();
        if links.get(&node).is_some_and(|(held, _)| *held == epoch) {
            links.remove(&node);
        }
    }

    pub(crate) fn get(&self, node: NodeId) -> Option<Arc<dyn NodeLink>> {
        self.lock().get(&node).map(|(_, link)| Arc::clone(link))
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
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LinkMap> {
        self.by_node.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
