//! Services in a directory, for steps that run without a server.
//!
//! Everything lies in one directory that only its owner can read: `state.json`, `locks.json`, `fence.json`,
//! `watchers.json`, `stacks.json` and `events.jsonl`. Whoever reads or writes holds the advisory lock of the file `lock` for that moment,
//! so that several processes can use one directory; files are replaced as a whole, so that a crash leaves the old or the
//! new one. The time is read while the lock is held: an entry or a lock is over exactly when its time is.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostler_model::{Span, Timestamp};
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{
    Answer, Change, Changed, Entry, Holder, Next, Pattern, Registered, Resource, ResourceSpec,
    ServiceError, Services, Stack, StackAct, Taken, Watcher,
};
use crate::modules::coordination::clock;

type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Services in a directory.
pub struct LocalServices {
    folder: PathBuf,
    stack: Option<String>,
    clock: Clock,
}

#[derive(Serialize, Deserialize)]
struct Held {
    #[serde(flatten)]
    holder: Holder,
    time_taken: Timestamp,
    time_expires: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct StackRecord {
    id: String,
    status: String,
    #[serde(default)]
    outputs: Map<String, Json>,
    /// By type, then by name.
    #[serde(default)]
    resources: BTreeMap<String, BTreeMap<String, Resource>>,
}

type Entries = BTreeMap<String, Entry>;
type Locks = BTreeMap<String, Held>;
type Watchers = BTreeMap<String, Watcher>;
type Stacks = BTreeMap<String, StackRecord>;

const STATE: &str = "state.json";
const LOCKS: &str = "locks.json";
const FENCE: &str = "fence.json";
const WATCHERS: &str = "watchers.json";
const STACKS: &str = "stacks.json";
const EVENTS: &str = "events.jsonl";

impl LocalServices {
    /// Keeps everything in a directory, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> LocalServices {
        LocalServices { folder: folder.into(), stack: None, clock: Arc::new(clock::now) }
    }

    /// For the steps of a stack.
    #[must_use]
    pub fn with_stack(mut self, name: impl Into<String>) -> LocalServices {
        self.stack = Some(name.into());
        self
    }

    /// With another clock, for tests.
    #[must_use]
    pub fn with_clock(
        mut self,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> LocalServices {
        self.clock = Arc::new(clock);
        self
    }

    /// Does something while nobody else does.
    fn alone<T: Send + 'static>(
        &self,
        f: impl FnOnce(&Room<'_>) -> Result<T, ServiceError> + Send + 'static,
    ) -> Answer<'_, T> {
        let (folder, clock) = (self.folder.clone(), Arc::clone(&self.clock));
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || {
                let room = Room::enter(&folder, &clock)?;
                f(&room)
            });
            work.await.unwrap_or_else(|gone| {
                Err(ServiceError::Refused(format!("it was not carried out: {gone}")))
            })
        })
    }

    /// The same with the stack of the step.
    fn in_stack<T: Send + 'static>(
        &self,
        f: impl FnOnce(&mut StackRecord) -> T + Send + 'static,
    ) -> Answer<'_, T> {
        let Some(name) = self.stack.clone() else {
            return Box::pin(async { Err(no_stack()) });
        };
        self.alone(move |room| {
            let mut stacks: Stacks = room.read(STACKS)?;
            let record = stacks.entry(name).or_insert_with(|| StackRecord {
                id: fresh_id(),
                status: "running".to_owned(),
                outputs: Map::new(),
                resources: BTreeMap::new(),
            });
            let answer = f(record);
            room.write(STACKS, &stacks)?;
            Ok(answer)
        })
    }
}

pub(super) fn no_stack() -> ServiceError {
    ServiceError::Refused(
        "this step belongs to no stack; say stack(\"name\") at the top of the file".to_owned(),
    )
}

fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The directory while nobody else is in it.
struct Room<'a> {
    folder: &'a Path,
    now: Timestamp,
    _lock: File,
}

impl Room<'_> {
    fn enter<'a>(folder: &'a Path, clock: &Clock) -> Result<Room<'a>, ServiceError> {
        let failed = |source| unavailable(folder, "cannot be used", source);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let path = folder.join("lock");
        let lock = open(OpenOptions::new().create(true).truncate(false).write(true), &path)
            .map_err(failed)?;
        loop {
            match flock(&lock, FlockOperation::LockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Ok(Room { folder, now: clock(), _lock: lock })
    }

    fn read<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, ServiceError> {
        let path = self.folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| unavailable(&path, "is damaged", error.into())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
            Err(error) => Err(unavailable(&path, "cannot be read", error)),
        }
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), ServiceError> {
        let path = self.folder.join(name);
        let beside = self.folder.join(format!("{name}.new"));
        let replace = || -> std::io::Result<()> {
            let bytes = serde_json::to_vec_pretty(value)?;
            let mut file =
                open(OpenOptions::new().create(true).truncate(true).write(true), &beside)?;
            file.write_all(&bytes)?;
            file.sync_data()?;
            std::fs::rename(&beside, &path)
        };
        replace().map_err(|error| unavailable(&path, "cannot be written", error))
    }

    fn append(&self, name: &str, value: &Json) -> Result<(), ServiceError> {
        let path = self.folder.join(name);
        let add = || -> std::io::Result<()> {
            let mut file = open(OpenOptions::new().create(true).append(true), &path)?;
            file.write_all(format!("{value}\n").as_bytes())?;
            file.sync_data()
        };
        add().map_err(|error| unavailable(&path, "cannot be written", error))
    }

    /// The entries whose time is not over.
    fn entries(&self) -> Result<Entries, ServiceError> {
        let mut entries: Entries = self.read(STATE)?;
        entries.retain(|_, entry| entry.is_alive(self.now));
        Ok(entries)
    }

    /// The locks that somebody holds.
    fn locks(&self) -> Result<Locks, ServiceError> {
        let mut locks: Locks = self.read(LOCKS)?;
        locks.retain(|_, held| self.now < held.time_expires);
        Ok(locks)
    }
}

fn open(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    options.mode(0o600).open(path)
}

fn unavailable(path: &Path, what: &str, source: std::io::Error) -> ServiceError {
    ServiceError::Unavailable { what: format!("{} {what}", path.display()), source }
}

impl Services for LocalServices {
    fn state_get(&self, key: &str) -> Answer<'_, Option<Entry>> {
        let key = key.to_owned();
        self.alone(move |room| Ok(room.entries()?.remove(&key)))
    }

    fn state_change(&self, key: &str, change: Change) -> Answer<'_, Changed> {
        let key = key.to_owned();
        self.alone(move |room| {
            let mut entries = room.entries()?;
            let (next, changed) = change.apply(&key, entries.get(&key), room.now)?;
            match next {
                Next::Keep => return Ok(changed),
                Next::Put(entry) => drop(entries.insert(key, entry)),
                Next::Remove => drop(entries.remove(&key)),
            }
            room.write(STATE, &entries)?;
            Ok(changed)
        })
    }

    fn state_list(&self, pattern: &Pattern) -> Answer<'_, Vec<(String, Entry)>> {
        let pattern = pattern.clone();
        self.alone(move |room| {
            let entries = room.entries()?.into_iter();
            Ok(entries.filter(|(key, _)| pattern.matches(key)).collect())
        })
    }

    fn state_clear(&self, pattern: &Pattern) -> Answer<'_, usize> {
        let pattern = pattern.clone();
        self.alone(move |room| {
            let mut entries = room.entries()?;
            let before = entries.len();
            entries.retain(|key, _| !pattern.matches(key));
            room.write(STATE, &entries)?;
            Ok(before - entries.len())
        })
    }

    fn state_backend(&self) -> &'static str {
        "local"
    }

    fn lock_take(&self, name: &str, holder: &Holder, ttl: Span) -> Answer<'_, Taken> {
        let (name, holder) = (name.to_owned(), holder.clone());
        self.alone(move |room| {
            let mut locks = room.locks()?;
            if let Some(held) = locks.get(&name) {
                return Ok(Taken::No { who: held.holder.who.clone(), until: held.time_expires });
            }
            let time_expires = room.now.plus(ttl.duration());
            locks.insert(name, Held { holder, time_taken: room.now, time_expires });
            // First the number: one that was given and not used is in nobody's way.
            let fence = room.read::<u64>(FENCE)?.saturating_add(1);
            room.write(FENCE, &fence)?;
            room.write(LOCKS, &locks)?;
            Ok(Taken::Yes { fence })
        })
    }

    fn lock_renew(&self, name: &str, token: &str, ttl: Span) -> Answer<'_, bool> {
        let (name, token) = (name.to_owned(), token.to_owned());
        self.alone(move |room| {
            let mut locks = room.locks()?;
            let Some(held) = locks.get_mut(&name).filter(|held| held.holder.token == token) else {
                return Ok(false);
            };
            held.time_expires = room.now.plus(ttl.duration());
            room.write(LOCKS, &locks)?;
            Ok(true)
        })
    }

    fn lock_release(&self, name: &str, token: &str) -> Answer<'_, bool> {
        let (name, token) = (name.to_owned(), token.to_owned());
        self.alone(move |room| {
            let mut locks = room.locks()?;
            if locks.get(&name).is_none_or(|held| held.holder.token != token) {
                return Ok(false);
            }
            locks.remove(&name);
            room.write(LOCKS, &locks)?;
            Ok(true)
        })
    }

    fn event_dispatch(&self, kind: &str, data: Json) -> Answer<'_, String> {
        let kind = kind.to_owned();
        self.alone(move |room| {
            let id = fresh_id();
            let time = room.now;
            let event = serde_json::json!({ "id": id, "type": kind, "time": time, "data": data });
            room.append(EVENTS, &event)?;
            Ok(id)
        })
    }

    fn watcher_register(&self, watcher: Watcher) -> Answer<'_, ()> {
        self.alone(move |room| {
            let mut watchers: Watchers = room.read(WATCHERS)?;
            watchers.insert(watcher.id.clone(), watcher);
            room.write(WATCHERS, &watchers)
        })
    }

    fn watcher_list(&self) -> Answer<'_, Vec<Watcher>> {
        self.alone(|room| Ok(room.read::<Watchers>(WATCHERS)?.into_values().collect()))
    }

    fn watcher_remove(&self, id: &str) -> Answer<'_, bool> {
        let id = id.to_owned();
        self.alone(move |room| {
            let mut watchers: Watchers = room.read(WATCHERS)?;
            if watchers.remove(&id).is_none() {
                return Ok(false);
            }
            room.write(WATCHERS, &watchers)?;
            Ok(true)
        })
    }

    fn stack(&self) -> Answer<'_, Option<Stack>> {
        let Some(name) = self.stack.clone() else { return Box::pin(async { Ok(None) }) };
        self.in_stack(move |record| {
            Some(Stack {
                id: record.id.clone(),
                lock: format!("stack/{name}"),
                is_locked: false,
                name,
                status: record.status.clone(),
                outputs: record.outputs.clone(),
            })
        })
    }

    fn stack_output_set(&self, key: &str, value: Json) -> Answer<'_, ()> {
        let key = key.to_owned();
        self.in_stack(move |record| drop(record.outputs.insert(key, value)))
    }

    fn resource_register(&self, wanted: ResourceSpec) -> Answer<'_, (Registered, Resource)> {
        self.in_stack(move |record| {
            let named = record.resources.entry(wanted.kind.clone()).or_default();
            let name = wanted.name.clone();
            let found = named.remove(&name);
            let (registered, resource) = wanted.settle(found, &record.id, fresh_id());
            named.insert(name, resource.clone());
            (registered, resource)
        })
    }

    fn resource_get(&self, kind: &str, name: &str) -> Answer<'_, Option<Resource>> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.in_stack(move |record| record.resources.get(&kind)?.get(&name).cloned())
    }

    fn resource_update(
        &self,
        kind: &str,
        name: &str,
        state: Option<String>,
        error: Option<String>,
    ) -> Answer<'_, Option<Resource>> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.in_stack(move |record| {
            let resource = record.resources.get_mut(&kind)?.get_mut(&name)?;
            if let Some(state) = state {
                resource.state = state;
            }
            resource.error = error;
            Some(resource.clone())
        })
    }

    fn resource_delete(&self, kind: &str, name: &str) -> Answer<'_, bool> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.in_stack(move |record| {
            record.resources.get_mut(&kind).is_some_and(|named| named.remove(&name).is_some())
        })
    }

    fn stack_act(&self, act: StackAct) -> Answer<'_, Json> {
        let Some(name) = self.stack.clone() else {
            return Box::pin(async { Err(no_stack()) });
        };
        let words = format!(
            "on this machine one cannot {} `{name}`, which is only noted here; stacks live on a server: `hostler workflow run FILE --remote`",
            act.told()
        );
        Box::pin(async move { Err(ServiceError::Refused(words)) })
    }
}
