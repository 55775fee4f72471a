//! What is on disk of watchers: the orders in one file, and one file for each watcher.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostler_base::{chain, fs};
use hostler_engine::watch::Memory;
use hostler_model::{Generation, WatcherId, WatcherNews, WatcherOrder};
use serde::{Deserialize, Serialize};

use super::look::Cursor;
use crate::writes::{Tally, What, blocks};

const FOLDER: &str = "watchers";
const ORDERS: &str = "orders.json";

/// Which watchers there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Orders {
    pub generation: Generation,
    pub orders: Vec<WatcherOrder>,
    pub unreadable: Vec<Unreadable>,
}

/// One that this release cannot read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Unreadable {
    pub id: WatcherId,
    pub revision: Generation,
    pub problem: String,
}

/// What is known of one watcher.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Record {
    pub memory: Memory,
    /// How far a log was read.
    pub cursor: Option<Cursor>,
    /// The number of the newest news.
    pub sequence: u64,
    pub news: VecDeque<WatcherNews>,
    /// News that were given up since the watcher came.
    pub lost: u64,
}

/// Where all that is.
pub(super) struct Kept {
    folder: PathBuf,
    tally: Arc<Tally>,
}

impl Kept {
    pub fn new(data_dir: &Path, tally: Arc<Tally>) -> Kept {
        Kept { folder: data_dir.join(FOLDER), tally }
    }

    fn path(&self, id: WatcherId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// A file that cannot be read is as one that is not there: the server gives the orders again.
    fn read<T: Default + serde::de::DeserializeOwned>(path: &Path) -> T {
        let problem = match fs::read_optional(path) {
            Ok(None) => return T::default(),
            Ok(Some(text)) => match serde_json::from_slice(&text) {
                Ok(document) => return document,
                Err(error) => error.to_string(),
            },
            Err(error) => chain(&error).to_string(),
        };
        tracing::warn!(path = %path.display(), problem, "what is known of watchers cannot be read and is lost");
        T::default()
    }

    pub fn orders(&self) -> Orders {
        Kept::read(&self.folder.join(ORDERS))
    }

    pub fn record(&self, id: WatcherId) -> Record {
        Kept::read(&self.path(id))
    }

    fn write(&self, path: &Path, document: &impl Serialize) -> Result<u64, fs::Error> {
        let text = serde_json::to_vec(document).expect("names, words and times are JSON");
        fs::create_dir(&self.folder, 0o700)?;
        fs::write_atomic(path, &text, 0o600)?;
        let bytes = blocks(0, text.len() as u64);
        self.tally.count(What::Records, bytes);
        Ok(bytes)
    }

    pub fn put_orders(&self, orders: &Orders) -> Result<(), fs::Error> {
        self.write(&self.folder.join(ORDERS), orders).map(|_| ())
    }

    /// Says how much was written.
    pub fn put_record(&self, id: WatcherId, record: &Record) -> Result<u64, fs::Error> {
        self.write(&self.path(id), record)
    }

    /// Removes what is known of watchers that are not among these.
    pub fn forget_others(&self, ids: &[WatcherId]) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok());
            if id.is_some_and(|id: WatcherId| !ids.contains(&id))
                && let Err(error) = fs::remove_optional(&entry.path())
            {
                tracing::warn!(%error, "what is known of a former watcher cannot be removed");
            }
        }
    }
}
