//! Reaching a node: over its session when this process holds it, and otherwise through the server that
//! does. Nothing is kept of it; whoever asked asks again.

use std::sync::Arc;

use hostler_model::{Code, Error, NodeId, PlacementId, Timestamp};

use crate::{Control, Cx, NodeAsk, OutputReceiver};

impl Control {
    /// Asks a node for something, wherever it is connected.
    pub async fn node_open(&self, node_id: NodeId, ask: NodeAsk) -> Result<OutputReceiver, Error> {
        if let Some(opened) = self.node_open_linked(node_id, &ask).await {
            return opened;
        }
        let mut read = self.store.read().await?;
        let node = read.node_get(node_id).await?;
        let name = node.as_ref().map_or_else(|| node_id.to_string(), |node| node.name.to_string());
        let away = || {
            Error::new(
                Code::NodeUnreachable,
                format!("node `{name}` has to answer this and cannot be reached now"),
                "what it has is kept there; ask again when it is back (`hostler node get` shows its state)",
            )
            .with_retry_after(5)
        };
        let lease = node.as_ref().and_then(|node| node.lease.as_ref()).ok_or_else(away)?;
        if lease.server_id == self.server_id {
            return Err(away());
        }
        let server = read.server_get(lease.server_id).await?.ok_or_else(away)?;
        drop(read);
        let peers = self.peers().ok_or_else(away)?;
        peers.open(&server, node_id, ask).await
    }

    /// Asks a node that is connected to this process; for other servers that pass a question on.
    pub async fn node_open_here(
        &self,
        node_id: NodeId,
        ask: NodeAsk,
    ) -> Result<OutputReceiver, Error> {
        self.node_open_linked(node_id, &ask).await.unwrap_or_else(|| {
            Err(Error::new(
                Code::NodeUnreachable,
                "the node is not connected here any more",
                "ask again in a moment",
            )
            .with_retry_after(1))
        })
    }

    /// Over the session that this process holds, where it holds one. A session that the agent leaves at
    /// this moment has taken nothing, so its successor is asked.
    async fn node_open_linked(
        &self,
        node_id: NodeId,
        ask: &NodeAsk,
    ) -> Option<Result<OutputReceiver, Error>> {
        let link = self.links.reach(node_id, &self.clock).await?;
        let opened = link.open(ask.clone()).await;
        if opened.is_err()
            && let Some(next) = self.links.reach(node_id, &self.clock).await
            && !Arc::ptr_eq(&link, &next)
        {
            return Some(next.open(ask.clone()).await);
        }
        Some(opened)
    }

    /// What a node has used over time, as one JSON document an item.
    pub async fn node_usage(
        &self,
        cx: &Cx,
        name_or_id: &str,
        since: Option<Timestamp>,
    ) -> Result<OutputReceiver, Error> {
        let node = self.node_get(cx, name_or_id).await?;
        self.usage(node.id, None, since).await
    }

    pub(super) async fn usage(
        &self,
        node: NodeId,
        placement: Option<PlacementId>,
        since: Option<Timestamp>,
    ) -> Result<OutputReceiver, Error> {
        self.node_open(node, NodeAsk::Usage { placement, since }).await
    }
}
