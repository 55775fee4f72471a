//! Which versions this agent brought here, and when each was used last: one small file.
//!
//! An engine can have several masters, so what is not noted here is never cleaned up. A version is noted
//! before the engine takes it in; what is noted and not there, because the agent died in between or somebody
//! removed it, is forgotten when that is seen. A file that is lost or damaged costs nothing but the room of
//! what it named. Not every use is written down: the file is behind by one step at most.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_base::fs;
use hostler_model::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

const FILE: &str = "images.json";
/// How much newer a use has to be to be worth a write.
const STEP: Duration = Duration::from_hours(1);

/// By what the engine calls them.
pub(super) type Used = BTreeMap<String, Timestamp>;

#[derive(Default, Serialize, Deserialize)]
struct Document {
    used: Used,
}

#[derive(Default)]
struct Book {
    used: Used,
    written: Used,
}

pub(super) struct Notes {
    path: PathBuf,
    step: Duration,
    book: Mutex<Option<Book>>,
}

impl Notes {
    /// Nothing is read yet. Uses count in steps of an hour, or less where versions are kept for less.
    pub fn new(data_dir: &Path, keep_for: Duration) -> Notes {
        let step = STEP.min(keep_for / 8).max(Duration::from_secs(1));
        Notes { path: data_dir.join(FILE), step, book: Mutex::default() }
    }

    /// Everything that is noted.
    pub async fn all(&self) -> Used {
        self.change(|_| {}).await.0
    }

    /// A version is about to be brought here.
    pub async fn brought(&self, name: &str, now: Timestamp) -> Result<(), fs::Error> {
        self.change(|used| {
            used.insert(name.to_owned(), now);
        })
        .await
        .1
    }

    /// Those of them that this agent brought are used now.
    pub async fn used<'a>(&self, names: impl IntoIterator<Item = &'a String>, now: Timestamp) {
        let written = self.change(|used| {
            for name in names {
                if let Some(time) = used.get_mut(name) {
                    *time = now;
                }
            }
        });
        complain(written.await.1);
    }

    /// They are not here any more.
    pub async fn forget<'a>(&self, names: impl IntoIterator<Item = &'a String>) {
        let written = self.change(|used| {
            for name in names {
                used.remove(name);
            }
        });
        complain(written.await.1);
    }

    /// What is noted afterwards, and whether that is on disk as far as it has to be.
    async fn change(&self, change: impl FnOnce(&mut Used)) -> (Used, Result<(), fs::Error>) {
        let mut book = self.book.lock().await;
        if book.is_none() {
            let used = self.read().await;
            *book = Some(Book { written: used.clone(), used });
        }
        let book = book.get_or_insert_default();
        change(&mut book.used);
        let used = book.used.clone();
        if !is_worth_writing(&used, &book.written, self.step) {
            return (used, Ok(()));
        }
        let (path, document) = (self.path.clone(), Document { used: used.clone() });
        let write = move || {
            let text = serde_json::to_vec(&document).expect("names and times are JSON");
            fs::write_atomic(&path, &text, 0o600)
        };
        let written = match tokio::task::spawn_blocking(write).await {
            Ok(written) => written,
            Err(_) => return (used, Ok(())),
        };
        if written.is_ok() {
            book.written = used.clone();
        }
        (used, written)
    }

    async fn read(&self) -> Used {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || fs::read_optional(&path)).await;
        let text = match read {
            Ok(Ok(text)) => text.unwrap_or_default(),
            Ok(Err(error)) => {
                tracing::warn!(%error, "it is not known which images were brought here");
                return Used::new();
            }
            Err(_) => return Used::new(),
        };
        if text.is_empty() {
            return Used::new();
        }
        serde_json::from_slice::<Document>(&text).map(|document| document.used).unwrap_or_else(
            |error| {
                tracing::warn!(%error, "it is not known which images were brought here");
                Used::new()
            },
        )
    }
}

fn complain(written: Result<(), fs::Error>) {
    if let Err(error) = written {
        tracing::warn!(%error, "it cannot be noted which images are used");
    }
}

fn is_worth_writing(used: &Used, written: &Used, step: Duration) -> bool {
    used.len() != written.len()
        || used.iter().any(|(name, time)| match written.get(name) {
            Some(before) => time < before || time.since(*before) > step,
            None => true,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: Duration = Duration::from_hours(7 * 24);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[tokio::test]
    async fn what_was_brought_is_known_to_the_next_agent() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = ("a".to_owned(), "b".to_owned());
        let notes = Notes::new(dir.path(), WEEK);
        assert!(notes.all().await.is_empty());
        assert!(!dir.path().join(FILE).exists(), "nothing is written for nothing");
        notes.brought(&a, at(0)).await.unwrap();
        notes.used([&a, &b], at(60)).await;
        assert_eq!(notes.all().await, Used::from([(a.clone(), at(60))]));

        let next = Notes::new(dir.path(), WEEK);
        assert_eq!(next.all().await, Used::from([(a.clone(), at(0))]), "not every use is written");
        next.used([&a], at(4000)).await;
        next.brought(&b, at(4001)).await.unwrap();
        let expected = Used::from([(a.clone(), at(4000)), (b.clone(), at(4001))]);
        assert_eq!(Notes::new(dir.path(), WEEK).all().await, expected);
        next.forget([&a]).await;
        assert_eq!(Notes::new(dir.path(), WEEK).all().await, Used::from([(b, at(4001))]));

        std::fs::write(dir.path().join(FILE), "{ no").unwrap();
        assert!(Notes::new(dir.path(), WEEK).all().await.is_empty());
    }
}
