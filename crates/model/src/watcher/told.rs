//! What servers tell nodes of watchers, and what nodes tell servers.
//!
//! A node is told all its watchers at once, under a generation of its own: it refuses older ones. It tells news,
//! each with a number that only grows for a watcher on a node, and keeps them until a server has answered; and how
//! its watchers stand, whenever that has changed.

use serde::{Deserialize, Serialize};

use crate::{Generation, NodeId, Span, Timestamp, Watch, WatchCondition, WatcherId};

/// The most that is kept of words and subjects of news, in characters.
const TEXT_MAX: usize = 500;

/// A watcher as nodes are told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatcherOrder {
    pub id: WatcherId,
    pub revision: Generation,
    pub watch: Watch,
    pub interval: Span,
    pub cooldown: Span,
}

crate::labels! {
    /// What a node says of a watcher.
    pub enum WatcherWord ("news of a watcher") {
        /// What it waits for is so.
        Fired = "fired",
        /// What it fired on is over.
        Cleared = "cleared",
        /// It cannot be looked.
        Trouble = "trouble",
    }
}

/// What a node saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatcherTold {
    pub word: WatcherWord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<WatchCondition>,
    /// Which file, line, unit and so on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// How many this stands for.
    #[serde(default = "one_of_many")]
    pub count: u64,
    /// How often it would have fired since it last did, but for its cooldown.
    #[serde(default)]
    pub skipped: u64,
    /// In words.
    pub words: String,
}

const fn one_of_many() -> u64 {
    1
}

/// A piece of news of a watcher on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatcherNews {
    pub watcher: WatcherId,
    /// Larger than of any earlier news of this watcher on this node.
    pub sequence: u64,
    pub time: Timestamp,
    pub told: WatcherTold,
    /// News before this one that were given up, because there was no room for them while no server took them.
    #[serde(default)]
    pub lost: u64,
}

/// How a watcher stands on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatcherStanding {
    pub watcher: WatcherId,
    /// Which generation of the watcher the node has.
    pub revision: Generation,
    /// When it looked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_looked: Option<Timestamp>,
    /// What it saw then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seen: String,
    /// Whether a level is told of that is not over.
    #[serde(default)]
    pub is_firing: bool,
    /// Why it cannot look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// News that no server has taken yet.
    #[serde(default)]
    pub waiting: u64,
    /// News that were given up since the watcher came to the node.
    #[serde(default)]
    pub lost: u64,
}

/// What a node is told of watchers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeWatch {
    pub node_id: NodeId,
    /// Larger whenever the orders are others.
    pub generation: Generation,
    /// What the node has.
    pub applied: Generation,
    /// Which watchers, as they were then.
    pub orders: Vec<(WatcherId, Generation)>,
}

/// What was last heard of a watcher from a node.
#[derive(Clone, Debug, PartialEq)]
pub struct WatcherOn {
    pub watcher_id: WatcherId,
    pub node_id: NodeId,
    /// Of the newest news that was taken.
    pub sequence: u64,
    pub standing: Option<WatcherStanding>,
    /// When the node said how the watcher stands.
    pub time_told: Option<Timestamp>,
}

/// What a node tells at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatcherReport {
    /// Which orders it has.
    pub generation: Generation,
    pub news: Vec<WatcherNews>,
    pub standings: Vec<WatcherStanding>,
}

fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(TEXT_MAX) {
        text.truncate(end);
        text.push('…');
    }
}

impl WatcherTold {
    /// With no more text than is kept, and figures that are numbers: a node may say anything.
    pub fn sane(mut self) -> WatcherTold {
        cut(&mut self.subject);
        cut(&mut self.words);
        self.value = self.value.filter(|value| value.is_finite());
        self.threshold = self.threshold.filter(|value| value.is_finite());
        self
    }
}

impl WatcherStanding {
    /// With no more text than is kept.
    pub fn sane(mut self) -> WatcherStanding {
        cut(&mut self.seen);
        if let Some(trouble) = &mut self.trouble {
            cut(trouble);
        }
        self
    }

    /// Whether it stands otherwise, apart from what it saw and when.
    pub fn differs(&self, other: &WatcherStanding) -> bool {
        let of = |it: &WatcherStanding| {
            (it.revision, it.is_firing, it.trouble.clone(), it.lost, it.time_looked.is_some())
        };
        self.watcher != other.watcher || of(self) != of(other)
    }
}
