//! What is known of watchers now, and what of it no server has been told.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::{Clock, chain};
use hostler_engine::watch::{Memory, Seen, accepts, goes_on, in_words, judge};
use hostler_model::{
    Generation, Timestamp, WATCHERS_PER_NODE, WatcherId, WatcherNews, WatcherOrder, WatcherReport,
    WatcherStanding, WatcherTold,
};
use hostler_proto::UnreadableOrder;
use tokio::sync::watch;

use super::kept::{Kept, Orders, Record, Unreadable};
use super::look::{Cursor, Looked};

/// News that wait of one watcher.
const NEWS_MAX: usize = 50;
/// What goes into one message.
const TOLD_MAX: usize = 100;
const STANDINGS_MAX: usize = 200;
/// What may be lost without harm is written down after so long.
const LATER: Duration = Duration::from_secs(60);

/// A watcher that is looked after.
struct Page {
    order: WatcherOrder,
    record: Record,
    /// What is on disk of it, in the parts that must not be lost.
    saved: Memory,
    /// Whether the place where a log is read on is on disk at all.
    has_cursor: bool,
    /// News up to here are on disk, or as well kept as they can be.
    safe: u64,
    /// Something is not on disk that may be written later; since then.
    unsaved: Option<Duration>,
    time_looked: Option<Timestamp>,
    seen: String,
    /// How it stands as a server knows it.
    told: Option<WatcherStanding>,
}

#[derive(Default)]
struct Pages {
    generation: Generation,
    generation_told: Option<Generation>,
    pages: BTreeMap<WatcherId, Page>,
    unreadable: Vec<Unreadable>,
    unreadable_told: HashSet<WatcherId>,
}

pub(super) struct Book {
    kept: Arc<Kept>,
    clock: Clock,
    pages: Mutex<Pages>,
    /// Who writes files: one at a time, each what is newest then.
    writing: tokio::sync::Mutex<()>,
    orders: watch::Sender<()>,
    changes: watch::Sender<()>,
}

/// What a look led to.
pub(super) struct Noted {
    /// What was written down for it.
    pub bytes: u64,
}

impl Book {
    pub async fn open(kept: Kept, clock: Clock) -> Book {
        let kept = Arc::new(kept);
        let from = Arc::clone(&kept);
        let read = move || {
            let orders = from.orders();
            let ids: Vec<WatcherId> = orders.orders.iter().map(|order| order.id).collect();
            from.forget_others(&ids);
            let records: Vec<Record> = ids.iter().map(|id| from.record(*id)).collect();
            (orders, records)
        };
        let (orders, records) = tokio::task::spawn_blocking(read).await.unwrap_or_default();
        let mut pages = Pages {
            generation: orders.generation,
            unreadable: orders.unreadable,
            ..Pages::default()
        };
        for (order, record) in orders.orders.into_iter().zip(records) {
            pages.pages.insert(order.id, Page::new(order, record));
        }
        Book {
            kept,
            clock,
            pages: Mutex::new(pages),
            writing: tokio::sync::Mutex::default(),
            orders: watch::Sender::new(()),
            changes: watch::Sender::new(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn generation(&self) -> Generation {
        self.lock().generation
    }

    /// Changes with the orders.
    pub fn orders_changes(&self) -> watch::Receiver<()> {
        self.orders.subscribe()
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub fn orders(&self) -> Vec<WatcherOrder> {
        self.lock().pages.values().map(|page| page.order.clone()).collect()
    }

    /// How far the log of a watcher was read.
    pub fn cursor(&self, id: WatcherId) -> Option<Cursor> {
        self.lock().pages.get(&id)?.record.cursor.clone()
    }

    /// Orders that cannot be written down are not in force: the next session brings them again.
    pub async fn take(
        &self,
        generation: Generation,
        mut orders: Vec<WatcherOrder>,
        unreadable: Vec<UnreadableOrder>,
    ) {
        let _alone = self.writing.lock().await;
        if !accepts(self.generation(), generation) {
            return;
        }
        orders.truncate(WATCHERS_PER_NODE);
        let unreadable = unreadable.into_iter().map(|one| Unreadable {
            id: one.id,
            revision: one.revision,
            problem: one.problem,
        });
        let all = Orders { generation, orders, unreadable: unreadable.collect() };
        let (kept, written) = (Arc::clone(&self.kept), all.clone());
        let write = move || {
            kept.put_orders(&written)?;
            let ids: Vec<WatcherId> = written.orders.iter().map(|order| order.id).collect();
            kept.forget_others(&ids);
            Ok::<_, hostler_base::fs::Error>(())
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(error = %chain(&error), "watchers cannot be written down, the former ones go on");
                return;
            }
            Err(_) => return,
        }
        tracing::info!(%generation, watchers = all.orders.len(), "watchers taken");
        {
            let mut pages = self.lock();
            pages.generation = generation;
            (pages.unreadable, pages.unreadable_told) = (all.unreadable, HashSet::new());
            let mut former = std::mem::take(&mut pages.pages);
            for order in all.orders {
                let page = match former.remove(&order.id) {
                    Some(page) => page.with(order),
                    None => Page::new(order, Record::default()),
                };
                pages.pages.insert(page.order.id, page);
            }
        }
        self.orders.send_replace(());
        self.changes.send_replace(());
    }

    /// Notes what a look saw, and what follows from it. A look for an order that is another by now counts for nothing.
    pub async fn note(&self, order: &WatcherOrder, looked: Looked) -> Noted {
        let now = self.clock.now();
        {
            let mut pages = self.lock();
            let Some(page) = pages.pages.get_mut(&order.id) else { return Noted { bytes: 0 } };
            if !goes_on(&page.order, order) {
                return Noted { bytes: 0 };
            }
            page.note(looked, now, self.clock.instant());
            if page.is_safe() {
                let is_new = page.has_news();
                drop(pages);
                if is_new {
                    self.changes.send_replace(());
                }
                return Noted { bytes: 0 };
            }
        }
        let bytes = self.save(order.id).await;
        self.changes.send_replace(());
        Noted { bytes }
    }

    /// Writes down what is known of a watcher. What cannot be is told all the same: it may be about a full disk.
    async fn save(&self, id: WatcherId) -> u64 {
        let _alone = self.writing.lock().await;
        let record = {
            let pages = self.lock();
            let Some(page) = pages.pages.get(&id) else { return 0 };
            page.record.clone()
        };
        let (sequence, memory) = (record.sequence, durable(&record.memory));
        let has_cursor = record.cursor.is_some();
        let kept = Arc::clone(&self.kept);
        let written = tokio::task::spawn_blocking(move || kept.put_record(id, &record)).await;
        let bytes = match written {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) => {
                tracing::warn!(error = %chain(&error), "what a watcher saw cannot be written down");
                0
            }
            Err(_) => 0,
        };
        if let Some(page) = self.lock().pages.get_mut(&id) {
            (page.safe, page.saved, page.unsaved) = (sequence, memory, None);
            page.has_cursor = has_cursor;
        }
        bytes
    }

    /// Writes down what could wait, and has; or all of it.
    pub async fn save_later(&self, is_last: bool) {
        let now = self.clock.instant();
        let due: Vec<WatcherId> = {
            let pages = self.lock();
            let is_due = |page: &Page| {
                page.unsaved.is_some_and(|since| is_last || now.saturating_sub(since) >= LATER)
            };
            pages.pages.iter().filter(|(_, page)| is_due(page)).map(|(id, _)| *id).collect()
        };
        for id in due {
            self.save(id).await;
        }
    }

    pub fn report(&self) -> Option<WatcherReport> {
        let pages = self.lock();
        let mut report = WatcherReport { generation: pages.generation, ..WatcherReport::default() };
        for page in pages.pages.values() {
            let safe = page.record.news.iter().filter(|one| one.sequence <= page.safe);
            let told = report.news.len();
            report.news.extend(safe.take(TOLD_MAX - told).cloned());
            // Whoever hears of it sees how it stands then.
            let has_news = report.news.len() > told;
            let standing = page.standing();
            let is_other = page.told.as_ref().is_none_or(|told| told.differs(&standing));
            if (is_other || has_news) && report.standings.len() < STANDINGS_MAX {
                report.standings.push(standing);
            }
        }
        for one in &pages.unreadable {
            let is_told = pages.unreadable_told.contains(&one.id);
            if !is_told && report.standings.len() < STANDINGS_MAX {
                report.standings.push(one.standing());
            }
        }
        let is_known = pages.generation_told == Some(pages.generation)
            || (pages.generation_told.is_none() && pages.generation == Generation::ZERO);
        let is_empty = report.news.is_empty() && report.standings.is_empty() && is_known;
        (!is_empty).then_some(report)
    }

    /// Whether everything was looked at.
    #[cfg(test)]
    pub fn has_looked(&self) -> bool {
        self.lock().pages.values().all(|page| page.time_looked.is_some())
    }

    pub fn taken(&self, report: &WatcherReport) {
        let now = self.clock.instant();
        let mut pages = self.lock();
        pages.generation_told = Some(report.generation);
        for news in &report.news {
            if let Some(page) = pages.pages.get_mut(&news.watcher) {
                page.record.news.retain(|one| one.sequence != news.sequence);
                page.unsaved.get_or_insert(now);
            }
        }
        for standing in &report.standings {
            let id = standing.watcher;
            match pages.pages.get_mut(&id) {
                Some(page) if page.order.revision == standing.revision => {
                    page.told = Some(standing.clone());
                }
                Some(_) => {}
                None => {
                    pages.unreadable_told.insert(id);
                }
            }
        }
        drop(pages);
        self.changes.send_replace(());
    }
}

/// Without what is not written down, or need not be at once.
fn durable(memory: &Memory) -> Memory {
    Memory { since: None, skipped: 0, ..memory.clone() }
}

impl Unreadable {
    fn standing(&self) -> WatcherStanding {
        WatcherStanding {
            watcher: self.id,
            revision: self.revision,
            time_looked: None,
            seen: String::new(),
            is_firing: false,
            trouble: Some(format!("the agent is too old for it: {}", self.problem)),
            waiting: 0,
            lost: 0,
        }
    }
}

impl Page {
    fn new(order: WatcherOrder, record: Record) -> Page {
        Page {
            saved: durable(&record.memory),
            has_cursor: record.cursor.is_some(),
            safe: record.sequence,
            unsaved: None,
            time_looked: None,
            seen: String::new(),
            told: None,
            order,
            record,
        }
    }

    /// With another order: what is remembered is of use where the same is looked at, and news are told in any case.
    fn with(self, order: WatcherOrder) -> Page {
        if goes_on(&self.order, &order) {
            return Page { order, told: None, ..self };
        }
        let Record { sequence, news, lost, .. } = self.record;
        let record = Record { sequence, news, lost, ..Record::default() };
        Page { safe: self.safe, ..Page::new(order, record) }
    }

    /// Whether nothing has to be written down before it is told.
    fn is_safe(&self) -> bool {
        self.safe == self.record.sequence
            && self.has_cursor == self.record.cursor.is_some()
            && self.saved == durable(&self.record.memory)
    }

    /// Whether there is something that no server knows.
    fn has_news(&self) -> bool {
        let standing = self.standing();
        let is_other = self.told.as_ref().is_none_or(|told| told.differs(&standing));
        is_other || !self.record.news.is_empty()
    }

    fn note(&mut self, looked: Looked, now: Timestamp, instant: Duration) {
        let Looked { seen, cursor } = looked;
        if cursor.is_some() && cursor != self.record.cursor {
            self.record.cursor = cursor;
            self.unsaved.get_or_insert(instant);
        }
        let seen: Result<Seen, String> = match seen {
            Ok(Some(seen)) => Ok(seen),
            Ok(None) => return,
            Err(problem) => Err(problem),
        };
        self.time_looked = Some(now);
        if let Ok(seen) = &seen {
            self.seen = in_words(&self.order, seen, now);
        }
        let skipped = self.record.memory.skipped;
        for told in judge(&self.order, &mut self.record.memory, seen, now) {
            self.add(told, now);
        }
        if self.record.memory.skipped != skipped {
            self.unsaved.get_or_insert(instant);
        }
    }

    fn add(&mut self, told: WatcherTold, time: Timestamp) {
        let stand_in = u64::try_from(time.micros()).unwrap_or_default();
        let record = &mut self.record;
        record.sequence = record.sequence.saturating_add(1).max(stand_in);
        let (watcher, sequence) = (self.order.id, record.sequence);
        record.news.push_back(WatcherNews { watcher, sequence, time, told: told.sane(), lost: 0 });
        while record.news.len() > NEWS_MAX
            && let Some(gone) = record.news.pop_front()
        {
            record.lost += 1;
            if let Some(next) = record.news.front_mut() {
                next.lost += 1 + gone.lost;
            }
        }
    }

    fn standing(&self) -> WatcherStanding {
        WatcherStanding {
            watcher: self.order.id,
            revision: self.order.revision,
            time_looked: self.time_looked,
            seen: self.seen.clone(),
            is_firing: self.record.memory.is_firing,
            trouble: self.record.memory.trouble.clone(),
            waiting: self.record.news.len() as u64,
            lost: self.record.lost,
        }
        .sane()
    }
}
