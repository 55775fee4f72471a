//! What is to be told of versions that left this node by themselves, or could not: one small file.
//!
//! That a version is about to go is written down before the engine is asked to remove it, and what became
//! of that afterwards. When the agent dies in between, or the engine does not answer, the next look settles
//! it: what is not there any more has left. News stay here until a server has answered that it keeps them,
//! so none is lost with a connection or with the agent; told twice, they have the same id and count once.
//!
//! A problem is told when it is new, not whenever it is met again. The file is there only while there is
//! something to remember. Lost, damaged or not to be written, it costs news and nothing else: what is to be
//! removed is removed all the same. Of too many news that nobody takes the oldest are dropped.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use hostler_base::{Ids, fs};
use hostler_model::{EventId, ImageNews, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};

use super::names;

const FILE: &str = "image-news.json";
const KEPT_MAX: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Document {
    /// The engine is asked to remove it.
    leaving: Option<Leaving>,
    /// Why those that could not be removed could not, as it was told.
    stuck: BTreeMap<String, String>,
    untold: VecDeque<ImageNews>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Leaving {
    called: String,
    why: String,
    time: Timestamp,
}

/// How many since the agent started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub removed: u64,
    pub failed: u64,
}

pub(crate) struct News {
    path: PathBuf,
    ids: Ids,
    document: Mutex<Option<Document>>,
    added: watch::Sender<()>,
    removed: AtomicU64,
    failed: AtomicU64,
}

impl News {
    /// Nothing is read yet.
    pub fn new(data_dir: &Path, ids: Ids) -> News {
        News {
            path: data_dir.join(FILE),
            ids,
            document: Mutex::default(),
            added: watch::Sender::new(()),
            removed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// A version is about to be removed.
    pub(super) async fn leaves(&self, called: &str, why: &str, time: Timestamp) {
        let leaving = Leaving { called: called.to_owned(), why: why.to_owned(), time };
        self.change(|document| document.leaving = Some(leaving)).await;
    }

    /// The version that was about to be removed is gone.
    pub(super) async fn left(&self) {
        let left = |document: &mut Document| {
            let Some(leaving) = document.leaving.take() else { return false };
            document.stuck.remove(&leaving.called);
            self.add(document, &leaving, None)
        };
        if self.change(left).await {
            self.removed.fetch_add(1, Ordering::Relaxed);
            self.added.send_replace(());
        }
    }

    /// The version that was about to be removed cannot be; whether that is new.
    pub(super) async fn failed(&self, problem: &str) -> bool {
        let failed = |document: &mut Document| {
            let Some(leaving) = document.leaving.take() else { return false };
            let known = document.stuck.insert(leaving.called.clone(), problem.to_owned());
            known.as_deref() != Some(problem)
                && self.add(document, &leaving, Some(problem.to_owned()))
        };
        let is_new = self.change(failed).await;
        if is_new {
            self.failed.fetch_add(1, Ordering::Relaxed);
            self.added.send_replace(());
        }
        is_new
    }

    /// These are none of its business: others removed them, or somebody uses them.
    pub(super) async fn let_be(&self, names: &[&String]) {
        self.change(|document| {
            document.stuck.retain(|called, _| !names.contains(&called));
            document.leaving.take_if(|leaving| names.contains(&&leaving.called));
        })
        .await;
    }

    /// What the engine has, looked at before anything else is removed.
    pub(super) async fn settle(&self, here: &HashSet<&String>) {
        let is_gone = self
            .change(|document| {
                document.stuck.retain(|called, _| here.contains(called));
                document.leaving.take_if(|leaving| here.contains(&leaving.called));
                document.leaving.is_some()
            })
            .await;
        if is_gone {
            self.left().await;
        }
    }

    /// Whatever no server has taken yet, oldest first.
    pub async fn untold(&self) -> Vec<ImageNews> {
        self.change(|document| document.untold.iter().cloned().collect()).await
    }

    /// A server keeps them from now on.
    pub async fn told(&self, ids: &HashSet<EventId>) {
        self.change(|document| document.untold.retain(|one| !ids.contains(&one.id))).await;
    }

    /// Changes when there is more to tell.
    pub fn added(&self) -> watch::Receiver<()> {
        self.added.subscribe()
    }

    pub fn counts(&self) -> Counts {
        Counts {
            removed: self.removed.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    fn add(&self, document: &mut Document, of: &Leaving, problem: Option<String>) -> bool {
        let Some((name, version, _)) = names::stored(&of.called) else { return false };
        let (why, time) = (of.why.clone(), of.time);
        let one = ImageNews { id: self.ids.fresh(), name, version, why, problem, time };
        document.untold.push_back(one);
        while document.untold.len() > KEPT_MAX {
            if let Some(lost) = document.untold.pop_front() {
                tracing::warn!(image = %lost.name, version = lost.version, "news of an image are dropped, no server takes them");
            }
        }
        true
    }

    async fn change<T>(&self, change: impl FnOnce(&mut Document) -> T) -> T {
        let mut held = self.document.lock().await;
        if held.is_none() {
            *held = Some(self.read().await);
        }
        let document = held.get_or_insert_default();
        let before = document.clone();
        let answer = change(document);
        if *document != before {
            self.write(document.clone()).await;
        }
        answer
    }

    async fn write(&self, document: Document) {
        let path = self.path.clone();
        let write = move || {
            if document == Document::default() {
                return fs::remove_optional(&path).map(|_| ());
            }
            let text = serde_json::to_vec(&document).expect("names, words and times are JSON");
            fs::write_atomic(&path, &text, 0o600)
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(write).await {
            tracing::warn!(%error, "it cannot be noted which images left this node");
        }
    }

    async fn read(&self) -> Document {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || fs::read_optional(&path)).await;
        let Ok(read) = read else { return Document::default() };
        let problem = match read {
            Ok(None) => return Document::default(),
            Ok(Some(text)) => match serde_json::from_slice(&text) {
                Ok(document) => return document,
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        tracing::warn!(problem, "news of images cannot be read and are lost");
        Document::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(version: u32) -> String {
        format!("hostler.local/train:v{version}.{}", "a".repeat(64))
    }

    fn of(dir: &Path) -> News {
        News::new(dir, Ids::system())
    }

    async fn told(news: &News) -> Vec<(u32, Option<String>)> {
        news.untold().await.into_iter().map(|one| (one.version, one.problem)).collect()
    }

    #[tokio::test]
    async fn what_left_is_told_by_the_next_agent_until_it_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let news = of(dir.path());
        let mut added = news.added();
        news.leaves(&called(1), "it is old", Timestamp::EPOCH).await;
        assert!(told(&news).await.is_empty() && !added.has_changed().unwrap());
        news.left().await;
        assert!(added.has_changed().unwrap());
        added.mark_unchanged();
        news.leaves(&called(2), "it is old", Timestamp::EPOCH).await;
        assert_eq!(news.counts(), Counts { removed: 1, failed: 0 });

        let next = of(dir.path());
        let first = next.untold().await;
        assert_eq!(first, news.untold().await);
        next.settle(&HashSet::new()).await;
        assert_eq!(told(&next).await, [(1, None), (2, None)], "it left and nobody wrote it down");
        next.leaves(&called(3), "it is old", Timestamp::EPOCH).await;
        next.settle(&HashSet::from([&called(3)])).await;
        next.leaves(&called(4), "it is old", Timestamp::EPOCH).await;
        next.let_be(&[&called(4)]).await;
        next.settle(&HashSet::new()).await;
        assert_eq!(told(&next).await.len(), 2, "one is there still, others removed the other");

        next.told(&first.iter().map(|one| one.id).collect()).await;
        assert_eq!(told(&of(dir.path())).await, [(2, None)]);
        next.told(&next.untold().await.iter().map(|one| one.id).collect()).await;
        assert!(!dir.path().join(FILE).exists(), "nothing is left to remember");
        std::fs::write(dir.path().join(FILE), "{ no").unwrap();
        assert!(told(&of(dir.path())).await.is_empty());
    }

    #[tokio::test]
    async fn a_problem_is_told_when_it_is_new() {
        let dir = tempfile::tempdir().unwrap();
        let problem = |news: News, words: &'static str| async move {
            news.leaves(&called(1), "it is old", Timestamp::EPOCH).await;
            news.failed(words).await
        };
        assert!(problem(of(dir.path()), "no room").await);
        assert!(!problem(of(dir.path()), "no room").await, "the next agent knows that it was told");
        assert!(problem(of(dir.path()), "read-only").await);
        let news = of(dir.path());
        news.settle(&HashSet::from([&called(1)])).await;
        assert!(!problem(of(dir.path()), "read-only").await);
        of(dir.path()).settle(&HashSet::new()).await;
        assert!(problem(of(dir.path()), "read-only").await, "it was gone in between");
        let words = |words: &str| (1, Some(words.to_owned()));
        let all = [words("no room"), words("read-only"), words("read-only")];
        assert_eq!(told(&of(dir.path())).await, all);
    }

    #[tokio::test]
    async fn news_that_nobody_takes_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let news = of(dir.path());
        let mut full = Document::default();
        let one = Leaving { called: called(1), why: String::new(), time: Timestamp::EPOCH };
        for version in 1..=u32::try_from(KEPT_MAX).unwrap() + 2 {
            news.add(&mut full, &Leaving { called: called(version), ..one.clone() }, None);
        }
        assert_eq!((full.untold.len(), full.untold[0].version), (KEPT_MAX, 3));
    }
}
