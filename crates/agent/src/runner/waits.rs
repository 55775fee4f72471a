//! What runs wait for before they start, and before their end is told: in memory, for whoever asks.
//!
//! A start that came to nothing leaves the reason here until the next attempt has succeeded, the run is
//! over, or it is forgotten. Nothing is decided by it, and the next agent begins with nothing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostler_model::{Bytes, Readiness, RunId, Timestamp};

use super::Runner;

/// What is said of a run of which only the trouble is known.
const START: (&str, &str) = ("its start", "is tried again");

#[derive(Default)]
pub struct Waits(Mutex<HashMap<RunId, Readiness>>);

impl Waits {
    /// Something is being done for a run. What was said of the same thing before, it is since then.
    pub fn say(&self, run: RunId, what: &str, doing: &str, now: Timestamp) {
        let mut waits = self.lock();
        let before = waits.remove(&run);
        let time_since = match &before {
            Some(before) if before.what == what => before.time_since,
            _ => now,
        };
        let fresh = Readiness {
            what: what.to_owned(),
            doing: doing.to_owned(),
            bytes: None,
            total: None,
            time_since,
            trouble: before.and_then(|before| before.trouble),
        };
        waits.insert(run, fresh);
    }

    /// So much of it is there; zero in all means that nobody knows how much there is.
    pub fn amount(&self, run: RunId, bytes: u64, total: u64) {
        if let Some(wait) = self.lock().get_mut(&run) {
            wait.bytes = Some(Bytes::new(bytes));
            wait.total = (total > 0).then(|| Bytes::new(total));
        }
    }

    /// It did not succeed and will be tried again.
    pub fn failed(&self, run: RunId, why: String, now: Timestamp) {
        let mut waits = self.lock();
        let wait = waits.entry(run).or_insert_with(|| Readiness {
            what: START.0.to_owned(),
            doing: START.1.to_owned(),
            bytes: None,
            total: None,
            time_since: now,
            trouble: None,
        });
        wait.trouble = Some(why);
    }

    /// Nothing is waited for any more.
    pub fn over(&self, run: RunId) {
        self.lock().remove(&run);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Readiness>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runner {
    /// What a run waits for, if it does.
    pub fn readiness(&self, run: RunId) -> Option<Readiness> {
        self.shared().waits.lock().get(&run).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn trouble_is_remembered_until_it_is_over() {
        let (waits, run) = (Waits::default(), RunId::from_uuid(Uuid::from_u128(1)));
        let at = Timestamp::from_micros;
        let get = || waits.lock().get(&run).cloned();
        waits.amount(run, 1, 2);
        assert_eq!(get(), None);
        waits.say(run, "input a", "is being fetched", at(1));
        waits.amount(run, 5, 10);
        waits.failed(run, "no space".to_owned(), at(2));
        let failed = get().unwrap();
        assert_eq!((failed.bytes, failed.total), (Some(Bytes::new(5)), Some(Bytes::new(10))));
        assert_eq!(failed.trouble.as_deref(), Some("no space"));

        waits.say(run, "input a", "is being fetched", at(3));
        let again = get().unwrap();
        assert_eq!((again.time_since, again.bytes, again.total), (at(1), None, None));
        assert_eq!(again.trouble.as_deref(), Some("no space"));
        waits.say(run, "input b", "is being fetched", at(4));
        assert_eq!(get().unwrap().time_since, at(4));
        waits.over(run);
        assert_eq!(get(), None);

        waits.failed(run, "no directory".to_owned(), at(5));
        let words = get().unwrap().words(at(5));
        assert_eq!(words, "its start is tried again; it did not succeed before: no directory");
    }
}
