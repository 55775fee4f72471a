//! Watchers: what servers ordered is looked at again and again, whether or not a server can be reached.
//!
//! Orders come with a generation and are written down before anything is looked at (`kept`). One task (`driver`) owns
//! the timetable: it begins looks that are due, a few at once, gives what they saw to the engine, and writes down
//! what is remembered together with the news of it, in one file for each watcher, before the news are told. So a
//! restart tells no edge twice and forgets no level that was told. What does not matter so much (how far a log was
//! read without finding anything, that news were taken) is written down later.
//!
//! News have numbers that only grow, also where the file was lost: the microseconds since 1970 stand in. They wait
//! until a server has answered (`book`); of too many the oldest are given up, and the next one says how many.

mod book;
mod driver;
mod kept;
mod look;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use hostler_base::{Clock, OnError, Tasks};
use hostler_host::Host;
use hostler_model::{Generation, WatcherReport};
use hostler_proto::parse_watcher_orders;
use hostler_proto::v1;
use tokio::sync::watch;

use crate::writes::Tally;
use book::Book;
use kept::Kept;

/// What a session works with. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Watching {
    book: Arc<Book>,
}

impl Watching {
    /// Goes on with what is on disk.
    pub async fn start(
        data_dir: &Path,
        host: Host,
        clock: Clock,
        tally: Arc<Tally>,
        tasks: &Tasks,
    ) -> Watching {
        let book = Arc::new(Book::open(Kept::new(data_dir, tally), clock).await);
        let driver = driver::Driver::new(Arc::clone(&book), host, tasks.token());
        tasks.spawn("watchers", OnError::Log, driver.run());
        Watching { book }
    }

    /// Which orders are on disk.
    pub fn generation(&self) -> Generation {
        self.book.generation()
    }

    /// Puts orders into force that are later than those there are; others change nothing.
    pub async fn take(&self, orders: &v1::WatcherOrders) {
        let (generation, orders, unreadable) = parse_watcher_orders(orders);
        self.book.take(generation, orders, unreadable).await;
    }

    /// Changes when there may be more to tell.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.book.changes()
    }

    /// What no server knows yet, as much as goes into one message.
    pub fn report(&self) -> Option<WatcherReport> {
        self.book.report()
    }

    /// A server has taken this.
    pub fn taken(&self, report: &WatcherReport) {
        self.book.taken(report);
    }
}
