//! Small pieces of file work, many on one thread.
//!
//! What a start needs from the disk takes some microseconds, less than it takes to wake another thread
//! for it. So pieces of work queue up, and a thread that has begun to work goes on for as long as there
//! are any; when they come faster than one thread can do them, because the disk is slow, others help. The
//! queue is as long as there are callers that wait. A piece of work that panics harms only its caller.
//!
//! Work is lent what it works with and must not hold it: it would keep alive what it waits in, should
//! the threads go away first.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::Shared;

/// So much may wait for each thread before there is another.
const WAITING: usize = 8;
const THREADS_MAX: usize = 8;

type Work<W> = Box<dyn FnOnce(&W) + Send>;

/// Where pieces of work wait that are lent a `W`.
pub struct Desk<W>(Mutex<Pile<W>>);

struct Pile<W> {
    waiting: VecDeque<Work<W>>,
    threads: usize,
}

impl<W> Default for Desk<W> {
    fn default() -> Desk<W> {
        Desk(Mutex::new(Pile { waiting: VecDeque::new(), threads: 0 }))
    }
}

impl<W> Desk<W> {
    fn pile(&self) -> MutexGuard<'_, Pile<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when there is to be another thread for it.
    fn put(&self, work: Work<W>) -> bool {
        let mut pile = self.pile();
        pile.waiting.push_back(work);
        let is_enough = pile.threads >= THREADS_MAX || pile.waiting.len() <= pile.threads * WAITING;
        if !is_enough {
            pile.threads += 1;
        }
        !is_enough
    }

    fn next(&self) -> Option<Work<W>> {
        let mut pile = self.pile();
        let work = pile.waiting.pop_front();
        if work.is_none() {
            pile.threads -= 1;
        }
        work
    }

    fn work_off(&self, with: &W) {
        while let Some(work) = self.next() {
            let _ = catch_unwind(AssertUnwindSafe(|| work(with)));
        }
    }
}

impl Shared {
    /// Does a small piece of work where it may block; `None` when it panicked.
    pub(super) async fn at_desk<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let work = move |shared: &Shared| {
            // Whoever asked may have stopped waiting.
            let _ = answer.send(work(shared));
        };
        if self.desk.put(Box::new(work)) {
            let shared = self.clone();
            tokio::task::spawn_blocking(move || shared.desk.work_off(&shared));
        }
        answered.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn threads_are_added_as_work_piles_up_and_leave_when_it_is_done() {
        let desk = Desk::<()>::default();
        let done = Arc::new(AtomicUsize::new(0));
        let added = (0..200)
            .filter(|n| {
                let (n, done) = (*n, done.clone());
                desk.put(Box::new(move |()| {
                    assert!(n != 50, "a piece of work that fails");
                    done.fetch_add(1, Ordering::Relaxed);
                }))
            })
            .count();
        assert_eq!(added, THREADS_MAX);
        (0..added).for_each(|_| desk.work_off(&()));
        assert_eq!(done.load(Ordering::Relaxed), 199);
        assert_eq!(desk.pile().threads, 0);
        assert!(desk.put(Box::new(|()| {})), "the next one needs a thread again");
    }
}
