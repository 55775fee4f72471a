//! Nodes get the watchers that they are to have, and are told of them.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;
use crate::watch::WatcherOrdersReport;

pub(super) struct WatcherOrders {
    control: Control,
}

impl WatcherOrders {
    pub(super) fn new(control: Control) -> WatcherOrders {
        WatcherOrders { control }
    }
}

impl Reconciler for WatcherOrders {
    const NAME: &'static str = "watcher_orders";
    const DESCRIPTION: &'static str = "gives nodes the watchers that are for them";
    type Report = WatcherOrdersReport;

    async fn reconcile(&mut self) -> Pass<WatcherOrdersReport> {
        pass(self.control.watcher_orders_give().await.map(Pass::done))
    }
}

pub(super) struct WatcherFeed {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct WatcherFeedReport {
    behind: usize,
}

impl WatcherFeed {
    pub(super) fn new(control: Control) -> WatcherFeed {
        WatcherFeed { control }
    }

    async fn look(&self) -> Result<WatcherFeedReport, Error> {
        Ok(WatcherFeedReport { behind: self.control.watcher_orders_feed().await? })
    }
}

impl Reconciler for WatcherFeed {
    const NAME: &'static str = "watcher_feed";
    const DESCRIPTION: &'static str =
        "wakes sessions of nodes that have other watchers than they are to have";
    type Report = WatcherFeedReport;

    async fn reconcile(&mut self) -> Pass<WatcherFeedReport> {
        pass(self.look().await.map(Pass::done))
    }
}
