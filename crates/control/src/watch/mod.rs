//! Watchers between rows and nodes: who is told what, and what becomes of what nodes tell.
//!
//! What a node is to look at follows from the watchers there are, its name and labels, and what those who wrote them
//! may do now. The reconciler `watcher_orders` compares that with what each node was given last and gives it other
//! orders, under a generation that grows; the session that a server holds with the node sends them. A node that has
//! later orders than the database knows of (which was put back) is given its orders anew, above those.
//!
//! News of a node become events in the transaction that notes their numbers. A number that is not larger than the
//! one noted is known already; a watcher that the node was never given is none of its business.

mod news;
mod orders;
mod tally;

pub use orders::WatcherOrdersReport;
pub use tally::WatcherCounts;
pub(crate) use tally::WatcherTally;

use hostler_model::{ObjectKind, ObjectRef, Watcher};

pub(crate) fn watcher_object(watcher: &Watcher) -> ObjectRef {
    ObjectRef::new(ObjectKind::Watcher, watcher.id, &watcher.name)
}
