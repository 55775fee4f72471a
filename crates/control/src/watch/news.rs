//! What nodes tell of watchers.

use std::collections::{HashMap, HashSet};

use hostler_model::{
    Error, EventKind, Name, NewEvent, NodeId, NodeState, Watcher, WatcherId, WatcherNews,
    WatcherOn, WatcherPayload, WatcherReport, WatcherWord,
};
use hostler_store::Tx;

use super::watcher_object;
use crate::Control;
use crate::node_session::node_actor;

/// What is taken of one message.
const TAKEN_MAX: usize = 1000;
/// The largest number that rows can hold.
const SEQUENCE_MAX: u64 = i64::MAX as u64;

impl Control {
    /// Takes what a node tells. Afterwards all of it is in the database, or was there, or is of no use. Says how much
    /// of it was about watchers that are none of the node's business.
    pub async fn node_watcher_report(
        &self,
        node_id: NodeId,
        report: &WatcherReport,
    ) -> Result<usize, Error> {
        let (heard, foreign) = self
            .store
            .tx("node_watcher_report", |tx| {
                Box::pin(async move { self.watcher_report(tx, node_id, report).await })
            })
            .await?;
        for (word, lost) in &heard {
            self.watcher_tally.heard(*word, *lost);
        }
        if !heard.is_empty() {
            self.feed.ring();
        }
        Ok(foreign)
    }

    async fn watcher_report(
        &self,
        tx: &mut Tx<'_>,
        node_id: NodeId,
        report: &WatcherReport,
    ) -> Result<(Vec<(WatcherWord, u64)>, usize), Error> {
        let node = tx.node_get(node_id).await?;
        let Some(node) = node.filter(|node| node.state != NodeState::Removed) else {
            return Ok((Vec::new(), 0));
        };
        let watch = tx.node_watch_get(node_id).await?;
        if watch.as_ref().is_some_and(|watch| watch.applied != report.generation) {
            tx.node_watch_applied(node_id, report.generation).await?;
        }
        let news = &report.news[..report.news.len().min(TAKEN_MAX)];
        let standings = &report.standings[..report.standings.len().min(TAKEN_MAX)];
        let ids: HashSet<WatcherId> = (news.iter().map(|one| one.watcher))
            .chain(standings.iter().map(|one| one.watcher))
            .collect();
        let ids: Vec<WatcherId> = ids.into_iter().collect();
        let known = tx.watcher_get_batch(&ids).await?;
        let known: HashMap<WatcherId, Watcher> =
            known.into_iter().map(|watcher| (watcher.id, watcher)).collect();
        let mut on: HashMap<WatcherId, WatcherOn> = (tx.watchers_on(node_id, &ids).await?)
            .into_iter()
            .map(|on| (on.watcher_id, on))
            .collect();
        for (id, _) in watch.iter().flat_map(|watch| &watch.orders) {
            if known.contains_key(id) {
                on.entry(*id).or_insert_with(|| WatcherOn {
                    watcher_id: *id,
                    node_id,
                    sequence: 0,
                    standing: None,
                    time_told: None,
                });
            }
        }
        let mut changed = HashSet::new();
        let (mut heard, mut events, mut foreign) = (Vec::new(), Vec::new(), 0);
        for one in news {
            // One that is gone may have been the node's.
            let Some(watcher) = known.get(&one.watcher) else { continue };
            let Some(on) = on.get_mut(&one.watcher) else {
                foreign += 1;
                continue;
            };
            if one.sequence <= on.sequence || one.sequence > SEQUENCE_MAX {
                continue;
            }
            on.sequence = one.sequence;
            changed.insert(one.watcher);
            heard.push((one.told.word, one.lost));
            events.push(self.watcher_event(&node.name, watcher, one));
        }
        let now = self.now();
        for standing in standings {
            match on.get_mut(&standing.watcher) {
                Some(on) => {
                    (on.standing, on.time_told) = (Some(standing.clone().sane()), Some(now));
                    changed.insert(standing.watcher);
                }
                None => foreign += usize::from(known.contains_key(&standing.watcher)),
            }
        }
        for on in on.values().filter(|on| changed.contains(&on.watcher_id)) {
            if known.contains_key(&on.watcher_id) {
                tx.watcher_node_put(on).await?;
            }
        }
        if !events.is_empty() {
            tx.journal_append(&events, &[]).await?;
        }
        Ok((heard, foreign))
    }

    fn watcher_event(&self, node: &Name, watcher: &Watcher, news: &WatcherNews) -> NewEvent {
        let told = news.told.clone().sane();
        let kind = match told.word {
            WatcherWord::Fired => EventKind::WatcherFired,
            WatcherWord::Cleared => EventKind::WatcherCleared,
            WatcherWord::Trouble => EventKind::WatcherTrouble,
        };
        let payload = WatcherPayload {
            node: node.clone(),
            watch: watcher.spec.watch.label().to_owned(),
            condition: told.condition,
            subject: told.subject,
            value: told.value,
            threshold: told.threshold,
            count: told.count,
            skipped: told.skipped,
            lost: news.lost,
            time_seen: news.time,
        };
        let words = format!("{node}: {}", told.words);
        let object = watcher_object(watcher);
        self.event(kind, Some(watcher.project_id), &object, node_actor(node), words)
            .with_payload(payload)
    }
}
