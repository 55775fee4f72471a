//! What a step shares with others: state, locks, events, watchers and its stack.
//!
//! Everything that needs somebody outside the process goes through one trait, [`Services`]. A step is given one: on a
//! developer's machine [`LocalServices`] (a directory), on the nodes of a server [`RemoteServices`] (through the agent),
//! where there is neither [`AbsentServices`], which refuses. Requests are plain data, and what a change of state does to
//! an entry is decided by one pure function ([`Change::apply`]), so that every implementation answers alike. In check mode
//! the services of a step are wrapped by [`Rehearsal`], which reads through, tells what would be changed and changes only
//! its own memory.
//!
//! A lock always has an end: whoever holds one renews it, and what is not renewed is free again.

mod absent;
mod change;
pub mod codec;
mod local;
mod rehearsal;
mod relay;
mod remote;
pub mod wire;

use std::future::Future;
use std::pin::Pin;

use hostler_model::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use absent::AbsentServices;
pub use change::{Change, Changed, Next};
pub use local::LocalServices;
pub use rehearsal::Rehearsal;
pub use relay::Relay;
pub use remote::{Line, RemoteServices};

/// An answer that takes a while.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ServiceError>> + 'a>>;

/// Why a service did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// It cannot be done with what is there.
    #[error("{0}")]
    Refused(String),
    /// Nobody answered.
    #[error("{what}: {source}; try again, or look at what keeps it")]
    Unavailable {
        what: String,
        #[source]
        source: std::io::Error,
    },
}

/// What a step shares with others.
pub trait Services {
    /// What is kept under a key, unless its time is over.
    fn state_get(&self, key: &str) -> Answer<'_, Option<Entry>>;
    /// Changes what is kept under a key, in one go.
    fn state_change(&self, key: &str, change: Change) -> Answer<'_, Changed>;
    /// Every entry whose key matches, sorted by key.
    fn state_list(&self, pattern: &Pattern) -> Answer<'_, Vec<(String, Entry)>>;
    /// Forgets every entry whose key matches; how many there were.
    fn state_clear(&self, pattern: &Pattern) -> Answer<'_, usize>;
    /// What keeps the state, in a word.
    fn state_backend(&self) -> &'static str;

    /// Takes a lock that is free; otherwise says who has it.
    fn lock_take(&self, name: &str, holder: &Holder, ttl: Span) -> Answer<'_, Taken>;
    /// The same, waiting for so long in a queue where there is one. Whoever gives up gives the place back, as a lock.
    fn lock_wait(
        &self,
        name: &str,
        holder: &Holder,
        ttl: Span,
        _wait: Option<Span>,
    ) -> Answer<'_, Taken> {
        self.lock_take(name, holder, ttl)
    }
    /// Holds a lock for longer; false when it is not held by this holder any more.
    fn lock_renew(&self, name: &str, token: &str, ttl: Span) -> Answer<'_, bool>;
    /// Gives a lock back; false when it is not held by this holder.
    fn lock_release(&self, name: &str, token: &str) -> Answer<'_, bool>;

    /// Tells that something happened; gives the id of the event.
    fn event_dispatch(&self, kind: &str, data: Json) -> Answer<'_, String>;

    /// Wants something watched from now on; the same watcher twice is one.
    fn watcher_register(&self, watcher: Watcher) -> Answer<'_, ()>;
    fn watcher_list(&self) -> Answer<'_, Vec<Watcher>>;
    /// False when there is none with that id.
    fn watcher_remove(&self, id: &str) -> Answer<'_, bool>;

    /// The stack that the step belongs to, if it does.
    fn stack(&self) -> Answer<'_, Option<Stack>>;
    fn stack_output_set(&self, key: &str, value: Json) -> Answer<'_, ()>;
    /// Says what a resource is to be; tells whether that is new.
    fn resource_register(&self, wanted: ResourceSpec) -> Answer<'_, (Registered, Resource)>;
    fn resource_get(&self, kind: &str, name: &str) -> Answer<'_, Option<Resource>>;
    /// Says how it is with a resource; nothing when there is none.
    fn resource_update(
        &self,
        kind: &str,
        name: &str,
        state: Option<String>,
        error: Option<String>,
    ) -> Answer<'_, Option<Resource>>;
    /// False when there is none.
    fn resource_delete(&self, kind: &str, name: &str) -> Answer<'_, bool>;
    /// Does something with the stack as a whole; what came of it, as a document.
    fn stack_act(&self, act: StackAct) -> Answer<'_, Json>;
}

/// What is done with a stack as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum StackAct {
    /// Goes through its checklist.
    Validate,
    /// Looks at its objects.
    Drift,
    /// Keeps it as it is.
    Snapshot { name: String },
    /// Brings it back to a revision or a snapshot; to what the execution has kept where nothing is said.
    Rollback { point: Option<String> },
}

impl StackAct {
    /// What it does, for people.
    pub fn told(&self) -> String {
        match self {
            StackAct::Validate => "validate the stack".to_owned(),
            StackAct::Drift => "look for drift of the stack".to_owned(),
            StackAct::Snapshot { .. } => "take a snapshot of the stack".to_owned(),
            StackAct::Rollback { point: Some(point) } => format!("bring the stack back to {point}"),
            StackAct::Rollback { point: None } => "bring the stack back".to_owned(),
        }
    }
    /// Whether it changes something.
    pub const fn is_change(&self) -> bool {
        matches!(self, StackAct::Snapshot { .. } | StackAct::Rollback { .. })
    }
}

/// What is kept under a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub value: Json,
    pub time_modified: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_expires: Option<Timestamp>,
}

impl Entry {
    /// Whether it is still there at that time.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.time_expires.is_none_or(|at| now < at)
    }
}

/// Which keys are meant: `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    pub fn new(text: impl Into<String>) -> Pattern {
        Pattern(text.into())
    }
    pub fn everything() -> Pattern {
        Pattern("*".to_owned())
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What every key begins with that matches.
    pub fn beginning(&self) -> &str {
        self.0.split('*').next().unwrap_or_default()
    }

    pub fn matches(&self, key: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = key.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// Who wants a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// What only the holder knows.
    pub token: String,
    /// Who that is, for people.
    pub who: String,
}

/// Whether a lock was free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// With a number that is larger than that of whoever held it before.
    Yes {
        fence: u64,
    },
    No {
        who: String,
        until: Timestamp,
    },
}

/// Something to watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watcher {
    /// Made of what it says, so that saying it twice is saying it once.
    pub id: String,
    pub kind: String,
    pub when: Vec<String>,
    pub interval: Span,
    /// What its kind needs to know.
    pub settings: Map<String, Json>,
}

/// A stack as its steps see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    pub id: String,
    pub name: String,
    pub status: String,
    pub outputs: Map<String, Json>,
    /// The name of its lock.
    pub lock: String,
    /// The execution has the lock already.
    #[serde(default)]
    pub is_locked: bool,
}

/// What a resource of a stack is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceSpec {
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    pub module: String,
    pub properties: Map<String, Json>,
    pub dependencies: Vec<String>,
}

/// A resource of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    pub id: String,
    pub stack_id: String,
    #[serde(flatten)]
    pub spec: ResourceSpec,
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of its properties.
    pub checksum: String,
}

/// What registering a resource found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Registered {
    Created,
    Changed,
    Unchanged,
}

impl Registered {
    pub const fn label(self) -> &'static str {
        match self {
            Registered::Created => "created",
            Registered::Changed => "changed",
            Registered::Unchanged => "unchanged",
        }
    }
}

impl ResourceSpec {
    /// What becomes of what was there (or was not) when this is wanted.
    pub fn settle(
        self,
        found: Option<Resource>,
        stack: &str,
        id: String,
    ) -> (Registered, Resource) {
        let checksum = digest(&[&Json::Object(self.properties.clone()).to_string()]);
        match found {
            None => {
                let state = "pending".to_owned();
                let stack_id = stack.to_owned();
                let made = Resource { id, stack_id, spec: self, state, error: None, checksum };
                (Registered::Created, made)
            }
            Some(old) if old.checksum == checksum => (Registered::Unchanged, old),
            Some(old) => {
                let state = "pending".to_owned();
                let changed = Resource { spec: self, state, error: None, checksum, ..old };
                (Registered::Changed, changed)
            }
        }
    }
}

/// What identifies texts: hexadecimal SHA-256 over each of them with its length.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for text in texts {
        context.update(&text.len().to_le_bytes());
        context.update(text.as_bytes());
    }
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, key, expected) in [
            ("*", "", true),
            ("*", "a.b", true),
            ("a.*", "a.b", true),
            ("a.*", "b.a.", false),
            ("*.b", "a.b", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("ab*ba", "aba", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("", "", true),
            ("", "a", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(key), expected, "{pattern} {key}");
        }
    }

    #[test]
    fn a_resource_is_new_or_changed_or_as_it_was() {
        let spec = |version: &str| ResourceSpec {
            kind: "file".into(),
            name: "motd".into(),
            module: String::new(),
            properties: Map::from_iter([("version".to_owned(), Json::from(version))]),
            dependencies: Vec::new(),
        };
        let (found, first) = spec("1").settle(None, "s", "id".into());
        assert_eq!((found, first.state.as_str()), (Registered::Created, "pending"));
        let (found, same) = spec("1").settle(Some(first.clone()), "s", "other".into());
        assert_eq!((found, &same), (Registered::Unchanged, &first));
        let (found, next) = spec("2").settle(Some(first.clone()), "s", "other".into());
        assert_eq!((found, next.id.as_str()), (Registered::Changed, "id"));
        assert_ne!(next.checksum, first.checksum);
    }
}
