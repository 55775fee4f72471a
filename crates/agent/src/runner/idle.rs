//! Shims that are free for another run.
//!
//! A shim whose run has ended in order waits a moment for the next (`shim::idle`), and is told of it over
//! the link that we have anyway. There are never more of them than there were runs at once; those that
//! nobody had a use for within [`KEEP`] are let go by closing their link. The last to come is the first
//! to go to work again, so that only as many stay as are needed.
//!
//! An order that a shim did not live to carry out is an order that was lost on its way, like one that was
//! in the queue of an executor that died: the link closes without a word, the run's directory says that
//! nothing was executed, and the order is given again, to somebody else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Shared;
use super::attend::Shim;
use crate::sys;
use crate::wire::StartOrder;

/// How long a shim is kept that nobody has a use for. Shims themselves wait longer.
const KEEP: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(250);
/// As many as can be about to start at once.
const MAX: usize = 64;

#[derive(Default)]
pub struct Idle(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The longest idle first.
    shims: Vec<(Duration, Shim)>,
    is_watched: bool,
    is_closed: bool,
}

impl Idle {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an order to a shim that is free; `None` when there is none.
    pub fn give(&self, order: &StartOrder) -> Option<Shim> {
        let oldest = sys::boottime().saturating_sub(KEEP * 2);
        loop {
            let (since, shim) = self.kept().shims.pop()?;
            if since >= oldest && shim.order(order) {
                return Some(shim);
            }
        }
    }

    /// Lets all go, and takes no more.
    pub fn close(&self) {
        let mut kept = self.kept();
        kept.is_closed = true;
        kept.shims.clear();
    }

    /// False when none are left.
    fn let_go(&self) -> bool {
        let mut kept = self.kept();
        let oldest = sys::boottime().saturating_sub(KEEP);
        kept.shims.retain(|(since, _)| *since >= oldest);
        kept.is_watched = !kept.shims.is_empty();
        kept.is_watched
    }
}

impl Shared {
    /// Keeps a shim that is free.
    pub(super) fn keep_idle(self: &Arc<Self>, shim: Shim) {
        let mut kept = self.idle.kept();
        if kept.is_closed || kept.shims.len() >= MAX || !shim.is_silent() {
            return;
        }
        kept.shims.push((sys::boottime(), shim));
        if !std::mem::replace(&mut kept.is_watched, true) {
            let shared = self.clone();
            self.tasks.spawn(async move {
                loop {
                    tokio::select! {
                        () = shared.cancel.cancelled() => return shared.idle.close(),
                        () = tokio::time::sleep(LOOK) => {}
                    }
                    if !shared.idle.let_go() {
                        return;
                    }
                }
            });
        }
    }
}
