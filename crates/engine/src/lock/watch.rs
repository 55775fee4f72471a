//! When somebody who holds or waits is gone: silence counts only while we were watching.
//!
//! Every server looks at all holds again and again, and remembers for each since when, by its own clock that
//! cannot jump, it has had the generation that it has. Who was seen unchanged for the whole of its patience is
//! gone. So a hold never ends earlier than its patience after it was last heard of, whatever wall clocks say
//! and however they differ; and it ends no later than its patience and the time between two looks, as long as
//! one server has been looking. A server that was just started, or did not look for longer than
//! [`GAP_MAX`](Watch::GAP_MAX) (its database was away, its machine slept), counts anew from when it looks
//! again: nobody could have been heard through it meanwhile.

use std::collections::HashMap;
use std::time::Duration;

use hostler_model::{Generation, LockHoldId, LockSighting};

/// What one server has seen.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    looked: Option<Duration>,
    seen: HashMap<LockHoldId, Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    generation: Generation,
    since: Duration,
}

/// Somebody who is gone, as it was last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silent {
    pub id: LockHoldId,
    pub generation: Generation,
}

impl Watch {
    /// A longer time between two looks is an absence of ours, and says nothing of others.
    pub const GAP_MAX: Duration = Duration::from_secs(5);

    /// Looks at everything there is. `at` is the time *after* it was read: what was written a moment before
    /// must not seem older than it is.
    pub fn look(&mut self, at: Duration, all: &[LockSighting]) -> Vec<Silent> {
        let is_absence =
            self.looked.is_some_and(|before| at.saturating_sub(before) > Watch::GAP_MAX);
        self.looked = Some(at);
        let mut silent = Vec::new();
        let mut seen = HashMap::with_capacity(all.len());
        for sighting in all {
            let LockSighting { id, generation, patience, .. } = *sighting;
            let before = self.seen.get(&id).filter(|seen| seen.generation == generation);
            let since = before.filter(|_| !is_absence).map_or(at, |seen| seen.since);
            if at.saturating_sub(since) >= patience.duration() {
                silent.push(Silent { id, generation });
            }
            seen.insert(id, Seen { generation, since });
        }
        self.seen = seen;
        silent
    }

    /// How long until somebody of those is gone, should nobody be heard of.
    pub fn due_in(&self, at: Duration, all: &[LockSighting]) -> Option<Duration> {
        all.iter()
            .filter_map(|sighting| {
                let since = self.seen.get(&sighting.id)?.since;
                Some((since + sighting.patience.duration()).saturating_sub(at))
            })
            .min()
    }
}
