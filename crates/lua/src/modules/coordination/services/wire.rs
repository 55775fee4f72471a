//! What a step on a node says to its installation, and what is answered: one document of JSON each.
//!
//! The step hands it to the agent of its node, which says whose it is and passes it on unread; a server carries it
//! out. What changes something has an id, so that it is done once however often it has to be said.

use hostler_model::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Change, Changed, Entry, Registered, Resource, ResourceSpec, Stack, StackAct, Watcher};

/// The longest question, in bytes.
pub const ASK_MAX: usize = 2 << 20;
/// The longest answer, in bytes.
pub const REPLY_MAX: usize = 16 << 20;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "ask",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Ask {
    StateGet {
        key: String,
    },
    /// The same id is the same change.
    StateChange {
        id: String,
        key: String,
        change: Change,
    },
    /// Entries by key, without values where those are not needed.
    StateList {
        prefix: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        with_values: bool,
    },
    StateForget {
        keys: Vec<String>,
    },
    /// The same hold is the same question, and keeps its place in the queue.
    LockTake {
        name: String,
        hold: String,
        who: String,
        ttl: Span,
        /// Without it nobody queues.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<Span>,
    },
    LockRenew {
        name: String,
        hold: String,
    },
    LockRelease {
        name: String,
        hold: String,
    },
    /// The same id is the same event.
    EventEmit {
        id: String,
        name: String,
        message: String,
        data: Json,
    },
    /// About the stack that the step belongs to. The same id is the same change.
    Stack {
        id: String,
        want: StackWant,
    },
    /// About what is watched on the machine.
    Watcher {
        want: WatcherWant,
    },
}

/// What is wanted of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum StackWant {
    Look,
    SetOutput { key: String, value: Json },
    Register(ResourceSpec),
    Resource { kind: String, name: String },
    Update { kind: String, name: String, state: Option<String>, error: Option<String> },
    Delete { kind: String, name: String },
    Act(StackAct),
}

/// What is wanted of watchers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum WatcherWant {
    Register(Watcher),
    List,
    Remove { id: String },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Reply {
    Entry(Option<Entry>),
    Changed(Changed),
    Entries {
        entries: Vec<(String, Entry)>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    Forgotten(usize),
    /// The lock is held, with the number that only grows.
    Held(u64),
    /// Somebody else holds it.
    Busy {
        who: String,
        until: Timestamp,
    },
    /// Whether there was something to do it with.
    Done(bool),
    Event(String),
    /// The stack that the step belongs to, if it does.
    Stack(Option<Stack>),
    Resource(Option<Resource>),
    Registered {
        registered: Registered,
        resource: Resource,
    },
    Watchers(Vec<Watcher>),
    /// What came of something that was done with a stack.
    Came(Json),
    /// It is not done, and trying again would not help.
    Refused(String),
    /// Nobody could be asked now.
    Later(String),
}
