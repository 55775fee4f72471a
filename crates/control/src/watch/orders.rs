//! What nodes are told of watchers.

use std::collections::{HashMap, HashSet};

use hostler_model::{
    Caller, Code, Error, Generation, Mandate, Need, Node, NodeId, NodeWatch, Permission,
    WATCHERS_PER_NODE, Watcher, WatcherId, WatcherOrder,
};
use serde::Serialize;

use crate::{Control, Cx};

/// Who gives orders; it saves work and nothing depends on it.
const LEASE: &str = "watcher_orders";
const LEASE_TIME: std::time::Duration = std::time::Duration::from_secs(15);
/// Nodes that are given orders in one transaction.
const BATCH: usize = 100;

type Orders = Vec<(WatcherId, Generation)>;

/// What giving orders did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WatcherOrdersReport {
    /// That are enabled.
    pub watchers: usize,
    /// Of these, whose writers may not have them any more.
    pub refused: usize,
    /// Nodes that were given other orders.
    pub changed: usize,
    /// Nodes that are gone, and whose orders are forgotten.
    pub gone: usize,
    /// Places on nodes that had too many.
    pub left_out: usize,
}

impl Control {
    /// Gives nodes the orders that they are to have, where they have others.
    pub async fn watcher_orders_give(&self) -> Result<WatcherOrdersReport, Error> {
        let mut report = WatcherOrdersReport::default();
        let (watchers, given) = {
            let mut read = self.store.read().await?;
            (read.watchers_enabled().await?, read.node_watches().await?)
        };
        report.watchers = watchers.len();
        if watchers.is_empty() && given.iter().all(|watch| watch.orders.is_empty()) {
            return Ok(report);
        }
        if !self.watcher_orders_hold().await? {
            return Ok(report);
        }
        let nodes = self.store.read().await?.node_list_all_present().await?;
        let allowed = self.watchers_allowed(watchers).await?;
        report.refused = report.watchers - allowed.len();
        let mut given: HashMap<NodeId, NodeWatch> =
            given.into_iter().map(|watch| (watch.node_id, watch)).collect();
        let mut due: Vec<(NodeId, Orders)> = Vec::new();
        for node in &nodes {
            let (orders, left_out) = orders_of(&allowed, node);
            report.left_out += left_out;
            let is_same = match given.remove(&node.id) {
                Some(watch) => watch.orders == orders,
                None => orders.is_empty(),
            };
            if !is_same {
                due.push((node.id, orders));
            }
        }
        let gone: Vec<NodeId> = given.into_keys().collect();
        (report.changed, report.gone) = (due.len(), gone.len());
        for some in due.chunks(BATCH) {
            self.store
                .tx("watcher_orders", |tx| {
                    Box::pin(async move {
                        for (node, orders) in some {
                            tx.node_watch_put(*node, orders, Generation::ZERO).await?;
                        }
                        Ok::<_, Error>(())
                    })
                })
                .await?;
        }
        for some in gone.chunks(BATCH) {
            self.store
                .tx("watcher_orders_forget", |tx| {
                    Box::pin(async move {
                        for node in some {
                            tx.node_watch_delete(*node).await?;
                        }
                        Ok::<_, Error>(())
                    })
                })
                .await?;
        }
        for (node, _) in &due {
            self.links.wake_watch(*node);
        }
        Ok(report)
    }

    /// Wakes sessions of this server whose node has other orders than it is to have; says how many.
    pub(crate) async fn watcher_orders_feed(&self) -> Result<usize, Error> {
        if self.links.count() == 0 {
            return Ok(0);
        }
        let behind = self.store.read().await?.node_watch_behind(self.server_id).await?;
        for node in &behind {
            self.links.wake_watch(*node);
        }
        Ok(behind.len())
    }

    async fn watcher_orders_hold(&self) -> Result<bool, Error> {
        let now = self.now();
        self.store
            .tx("watcher_orders_hold", |tx| {
                Box::pin(async move {
                    let until = now.plus(LEASE_TIME);
                    Ok::<_, Error>(tx.lease_acquire(LEASE, self.server_id, now, until).await?)
                })
            })
            .await
    }

    /// Those whose writers may have them now.
    async fn watchers_allowed(&self, watchers: Vec<Watcher>) -> Result<Vec<Watcher>, Error> {
        let mut callers: Vec<(Mandate, Option<Caller>)> = Vec::new();
        let mut allowed = Vec::with_capacity(watchers.len());
        for watcher in watchers {
            let known = callers.iter().position(|(mandate, _)| *mandate == watcher.mandate);
            let at = match known {
                Some(at) => at,
                None => {
                    let caller = self.watcher_caller(&watcher.mandate).await?;
                    callers.push((watcher.mandate, caller));
                    callers.len() - 1
                }
            };
            if callers[at].1.as_ref().is_some_and(|caller| lacks(caller, &watcher).is_none()) {
                allowed.push(watcher);
            }
        }
        Ok(allowed)
    }

    /// Nobody where they are disabled or gone; a database that is away is an error, and no reason to stop looking.
    async fn watcher_caller(&self, mandate: &Mandate) -> Result<Option<Caller>, Error> {
        match self.mandate_caller(mandate).await {
            Ok(caller) => Ok(Some(caller)),
            Err(error) if matches!(error.code, Code::Unauthenticated | Code::Forbidden) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Why a watcher is with no node, apart from there being none.
    pub(crate) async fn watcher_hindrance(
        &self,
        watcher: &Watcher,
        owner: &str,
    ) -> Result<Option<String>, Error> {
        if !watcher.is_enabled {
            return Ok(Some("it is disabled".to_owned()));
        }
        let Some(caller) = self.watcher_caller(&watcher.mandate).await? else {
            return Ok(Some(format!("{owner}, who wrote it, is disabled or gone")));
        };
        Ok(lacks(&caller, watcher).map(|permission| {
            format!("{owner}, who wrote it, has not the permission {permission}")
        }))
    }

    /// Whoever writes a watcher, or enables it, has to be allowed to look.
    pub(crate) fn watcher_require(&self, cx: &Cx, needs: Permission) -> Result<(), Error> {
        self.authorise(&cx.caller, Need::of(needs, None))
    }

    /// What an agent that has just come has of its orders.
    pub async fn node_watches(&self, node: NodeId, held: Generation) -> Result<(), Error> {
        let watch = self.store.read().await?.node_watch_get(node).await?;
        let known = watch.as_ref().map_or(Generation::ZERO, |watch| watch.generation);
        if held <= known && watch.as_ref().is_none_or(|watch| watch.applied == held) {
            return Ok(());
        }
        self.store
            .tx("node_watches", |tx| {
                Box::pin(async move {
                    if held > known {
                        let orders = tx.node_watch_get(node).await?.map(|watch| watch.orders);
                        tx.node_watch_put(node, &orders.unwrap_or_default(), held).await?;
                    } else {
                        tx.node_watch_applied(node, held).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await
    }

    /// The orders of a node, if there are later ones than these. One that was changed since they were given is
    /// about to be given anew, and all of them with it.
    pub async fn node_watcher_orders(
        &self,
        node: NodeId,
        after: Generation,
    ) -> Result<Option<(Generation, Vec<WatcherOrder>)>, Error> {
        let mut read = self.store.read().await?;
        let Some(watch) = read.node_watch_get(node).await? else { return Ok(None) };
        if watch.generation <= after {
            return Ok(None);
        }
        let ids: Vec<WatcherId> = watch.orders.iter().map(|(id, _)| *id).collect();
        let watchers = read.watcher_get_batch(&ids).await?;
        let wanted: HashSet<(WatcherId, Generation)> = watch.orders.into_iter().collect();
        let orders: Vec<WatcherOrder> = watchers
            .iter()
            .filter(|watcher| wanted.contains(&(watcher.id, watcher.generation)))
            .map(Watcher::order)
            .collect();
        Ok((orders.len() == wanted.len()).then_some((watch.generation, orders)))
    }
}

/// What a writer would need and has not.
fn lacks(caller: &Caller, watcher: &Watcher) -> Option<Permission> {
    let needed =
        [(Permission::WatcherWrite, Some(watcher.project_id)), (watcher.spec.watch.needs(), None)];
    needed
        .into_iter()
        .find(|(permission, project)| !caller.may(Need::of(*permission, *project)))
        .map(|(permission, _)| permission)
}

/// The watchers of a node, the oldest first, and how many there is no room for.
pub(crate) fn orders_of(watchers: &[Watcher], node: &Node) -> (Orders, usize) {
    let meant = watchers.iter().filter(|watcher| watcher.spec.is_for(&node.name, &node.labels));
    let mut orders: Orders = meant.map(|watcher| (watcher.id, watcher.generation)).collect();
    let left_out = orders.len().saturating_sub(WATCHERS_PER_NODE);
    orders.truncate(WATCHERS_PER_NODE);
    (orders, left_out)
}
