//! What nodes are told of watchers, and what they told last.
//!
//! The orders of a node are the watchers as they were when they became orders. That of the newest news that was
//! taken of a watcher on a node is kept for as long as both are there, also while the watcher is not for the node:
//! news that are told again are known.

use hostler_model::{Generation, NodeId, NodeWatch, ServerId, WatcherId, WatcherOn};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

const WATCH: &str = "SELECT node_id, generation, applied, orders FROM node_watch";
const ON: &str = "SELECT watcher_id, node_id, sequence, standing, time_told FROM watcher_node";

fn decode_watch(row: &Row) -> Result<NodeWatch, Error> {
    let mut columns = row.columns("node_watch");
    Ok(NodeWatch {
        node_id: columns.parse()?,
        generation: columns.generation()?,
        applied: columns.generation()?,
        orders: columns.json()?,
    })
}

fn decode_on(row: &Row) -> Result<WatcherOn, Error> {
    let mut columns = row.columns("watcher_node");
    Ok(WatcherOn {
        watcher_id: columns.parse()?,
        node_id: columns.parse()?,
        sequence: columns.number()?,
        standing: columns.opt_json()?,
        time_told: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn node_watch_get(&mut self, node: NodeId) -> Result<Option<NodeWatch>, Error> {
        let (sql, params) = Select::new(WATCH).and_value("node_id =", node).unordered();
        self.query_one(sql, params).await?.as_ref().map(decode_watch).transpose()
    }

    /// Of every node that was ever told of some.
    pub async fn node_watches(&mut self) -> Result<Vec<NodeWatch>, Error> {
        let sql = "SELECT node_id, generation, applied, orders FROM node_watch ORDER BY node_id";
        self.query(sql, Vec::new()).await?.iter().map(decode_watch).collect()
    }

    /// Nodes whose session this server holds, and that have other watchers than they are to have.
    pub async fn node_watch_behind(&mut self, server: ServerId) -> Result<Vec<NodeId>, Error> {
        let sql = "SELECT node_watch.node_id FROM node_watch JOIN node_lease ON node_lease.node_id = node_watch.node_id WHERE node_lease.server_id = $1 AND node_watch.generation > node_watch.applied ORDER BY node_watch.node_id";
        let rows = self.query(sql, params![server]).await?;
        rows.iter().map(|row| row.columns("node_watch").parse()).collect()
    }

    /// What nodes told of a watcher.
    pub async fn watcher_nodes(&mut self, watcher: WatcherId) -> Result<Vec<WatcherOn>, Error> {
        let sql = "SELECT watcher_id, node_id, sequence, standing, time_told FROM watcher_node WHERE watcher_id = $1 ORDER BY node_id";
        self.query(sql, params![watcher]).await?.iter().map(decode_on).collect()
    }

    /// What a node told of these watchers, of those that it told something of.
    pub async fn watchers_on(
        &mut self,
        node: NodeId,
        watchers: &[WatcherId],
    ) -> Result<Vec<WatcherOn>, Error> {
        let mut found = Vec::with_capacity(watchers.len());
        for chunk in watchers.chunks(500) {
            let (sql, params) = Select::new(ON)
                .and_value("node_id =", node)
                .and_in("watcher_id", chunk.iter().copied())
                .unordered();
            for row in &self.query(sql, params).await? {
                found.push(decode_on(row)?);
            }
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// Gives a node other orders. The generation is one more than before, and more than `above`.
    pub async fn node_watch_put(
        &mut self,
        node: NodeId,
        orders: &[(WatcherId, Generation)],
        above: Generation,
    ) -> Result<Generation, Error> {
        let before = self.node_watch_get(node).await?;
        let last = before.map_or(Generation::ZERO, |before| before.generation);
        let generation = last.max(above).next();
        self.execute(
            "INSERT INTO node_watch (node_id, generation, applied, orders) VALUES ($1, $2, 0, $3) ON CONFLICT (node_id) DO UPDATE SET generation = excluded.generation, orders = excluded.orders",
            params![node, generation, Value::json(&orders)],
        )
        .await?;
        Ok(generation)
    }

    /// The node has these orders.
    pub async fn node_watch_applied(
        &mut self,
        node: NodeId,
        generation: Generation,
    ) -> Result<(), Error> {
        let sql = "UPDATE node_watch SET applied = $2 WHERE node_id = $1 AND applied <> $2 AND generation >= $2";
        self.execute(sql, params![node, generation]).await?;
        Ok(())
    }

    /// The node is gone.
    pub async fn node_watch_delete(&mut self, node: NodeId) -> Result<(), Error> {
        self.execute("DELETE FROM node_watch WHERE node_id = $1", params![node]).await?;
        self.execute("DELETE FROM watcher_node WHERE node_id = $1", params![node]).await?;
        Ok(())
    }

    /// Notes what a node told; a smaller number than the known one changes nothing of it.
    pub async fn watcher_node_put(&mut self, on: &WatcherOn) -> Result<(), Error> {
        self.execute(
            "INSERT INTO watcher_node (watcher_id, node_id, sequence, standing, time_told) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (watcher_id, node_id) DO UPDATE SET sequence = CASE WHEN excluded.sequence > watcher_node.sequence THEN excluded.sequence ELSE watcher_node.sequence END, standing = COALESCE(excluded.standing, watcher_node.standing), time_told = COALESCE(excluded.time_told, watcher_node.time_told)",
            params![
                on.watcher_id,
                on.node_id,
                on.sequence,
                Value::json_opt(on.standing.as_ref()),
                on.time_told
            ],
        )
        .await?;
        Ok(())
    }
}
