//! The timetable: who looks when.
//!
//! Looks that only read files are done one at a time; those that wait for others (a port, a command) a few at once,
//! so that none of them keeps the rest waiting. A look that takes too long is trouble, and is not begun again before
//! it has ended. A watcher that has much to write down looks less often.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hostler_host::Host;
use hostler_model::{WatcherId, WatcherOrder};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::book::Book;
use super::look::{Eyes, Looked};

const QUICK: usize = 1;
const SLOW: usize = 4;
/// What a watcher writes in a second, on average.
const PACE: u64 = 4096;
/// First looks are spread over so much.
const SPREAD: Duration = Duration::from_secs(1);
/// How often it is seen to what may be written later.
const SWEEP: Duration = Duration::from_secs(30);

struct Turn {
    order: WatcherOrder,
    eyes: Arc<Eyes>,
    due: Duration,
    is_looking: bool,
}

struct Done {
    order: WatcherOrder,
    looked: Looked,
}

pub(super) struct Driver {
    book: Arc<Book>,
    host: Host,
    stopping: CancellationToken,
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    turns: HashMap<WatcherId, Turn>,
    looks: JoinSet<Done>,
}

impl Driver {
    pub fn new(book: Arc<Book>, host: Host, stopping: CancellationToken) -> Driver {
        Driver {
            book,
            host,
            stopping,
            quick: Arc::new(Semaphore::new(QUICK)),
            slow: Arc::new(Semaphore::new(SLOW)),
            turns: HashMap::new(),
            looks: JoinSet::new(),
        }
    }

    pub async fn run(mut self) {
        let clock = self.book.clock().clone();
        let stopping = self.stopping.clone();
        let mut orders = self.book.orders_changes();
        orders.mark_changed();
        let mut sweep = Box::pin(clock.sleep(SWEEP));
        loop {
            let next =
                self.turns.values().filter(|turn| !turn.is_looking).map(|turn| turn.due).min();
            let wait = next.map(|due| due.saturating_sub(clock.instant()));
            let due = async {
                match wait {
                    Some(wait) => clock.sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stopping.cancelled() => break,
                Ok(()) = orders.changed() => self.follow(clock.instant()),
                Some(done) = self.looks.join_next(), if !self.looks.is_empty() => {
                    if let Ok(done) = done {
                        self.end(done).await;
                    }
                }
                () = &mut sweep => {
                    self.book.save_later(false).await;
                    sweep = Box::pin(clock.sleep(SWEEP));
                }
                () = due => self.begin(clock.instant()),
            }
        }
        self.looks.shutdown().await;
        self.book.save_later(true).await;
    }

    /// Keeps the times of those whose order is the same.
    fn follow(&mut self, now: Duration) {
        let mut former = std::mem::take(&mut self.turns);
        for order in self.book.orders() {
            let turn = match former.remove(&order.id) {
                Some(turn) if turn.order.watch == order.watch => {
                    let latest = now.saturating_add(order.interval.duration());
                    Turn { due: turn.due.min(latest), order, ..turn }
                }
                _ => {
                    let most = SPREAD.min(order.interval.duration()) / 4;
                    let share =
                        f64::from(u8::try_from(order.id.uuid().as_u128() & 0xff).unwrap_or(0));
                    Turn {
                        eyes: Arc::new(Eyes::new(&order.watch, self.host.clone())),
                        due: now.saturating_add(most.mul_f64(share / 256.0)),
                        is_looking: false,
                        order,
                    }
                }
            };
            self.turns.insert(turn.order.id, turn);
        }
    }

    fn begin(&mut self, now: Duration) {
        for turn in self.turns.values_mut() {
            if turn.is_looking || turn.due > now {
                continue;
            }
            turn.is_looking = true;
            let (order, eyes) = (turn.order.clone(), Arc::clone(&turn.eyes));
            let (book, clock) = (Arc::clone(&self.book), self.book.clock().clone());
            let places = if eyes.is_slow() { &self.slow } else { &self.quick };
            let places = Arc::clone(places);
            self.looks.spawn(async move {
                let _place = places.acquire().await;
                let cursor = book.cursor(order.id);
                let limit = eyes.limit();
                let looked = match clock.timeout(limit, eyes.look(&clock, cursor)).await {
                    Ok(looked) => looked,
                    Err(_) => {
                        Looked::problem(format!("looking takes longer than {} s", limit.as_secs()))
                    }
                };
                Done { order, looked }
            });
        }
    }

    async fn end(&mut self, Done { order, looked }: Done) {
        let noted = self.book.note(&order, looked).await;
        let now = self.book.clock().instant();
        let Some(turn) = self.turns.get_mut(&order.id) else { return };
        if turn.order.watch != order.watch {
            return;
        }
        turn.is_looking = false;
        let rest = Duration::from_secs(noted.bytes / PACE).max(turn.order.interval.duration());
        // Where it is late, times that passed are left out.
        turn.due = turn.due.saturating_add(rest);
        if turn.due < now {
            turn.due = now.saturating_add(turn.order.interval.duration());
        }
    }
}
