//! What this server heard of watchers since it started.

use std::sync::atomic::{AtomicU64, Ordering};

use hostler_model::WatcherWord;

const WORDS: [WatcherWord; 3] = [WatcherWord::Fired, WatcherWord::Cleared, WatcherWord::Trouble];

#[derive(Debug, Default)]
pub(crate) struct WatcherTally {
    news: [AtomicU64; WORDS.len()],
    lost: AtomicU64,
}

/// The counts at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatcherCounts {
    /// Watchers, and those of them that are enabled.
    pub watchers: u64,
    pub enabled: u64,
    pub news: Vec<(WatcherWord, u64)>,
    /// What nodes gave up because nobody took it.
    pub lost: u64,
}

impl WatcherTally {
    pub(crate) fn heard(&self, word: WatcherWord, lost: u64) {
        if let Some(at) = WORDS.iter().position(|known| *known == word) {
            self.news[at].fetch_add(1, Ordering::Relaxed);
        }
        self.lost.fetch_add(lost, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self, watchers: u64, enabled: u64) -> WatcherCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        WatcherCounts {
            watchers,
            enabled,
            news: WORDS.into_iter().zip(self.news.iter().map(read)).collect(),
            lost: read(&self.lost),
        }
    }
}
