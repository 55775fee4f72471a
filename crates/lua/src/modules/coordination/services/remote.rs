//! State, locks, events and the stack of the project, for steps that run on a node.
//!
//! The step has no way to a server, and no credential: it asks the agent of its node on a socket there, and the agent
//! knows by the process that asks which run it is ([`wire`](super::wire)). What the run may do is looked at by the
//! server with every question.
//!
//! An agent that is started anew, or a server that is away, is waited for, up to [`PATIENCE`]. What was asked for has
//! an id or is harmless to repeat, so a lost answer costs nothing. A lock that could not be renewed for its whole TTL is
//! lost.
//!
//! What a step still holds when it ends is given back by [`Line::let_go`], however it ended; after a `kill -9` it is
//! free after its TTL.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_model::Span;
use rustix::fs::{Mode, OFlags};
use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::wire::{ASK_MAX, Ask, REPLY_MAX, Reply, StackWant, WatcherWant};
use super::{
    Answer, Change, Changed, Entry, Holder, Pattern, Registered, Resource, ResourceSpec,
    ServiceError, Services, Stack, StackAct, Taken, Watcher,
};

/// How long somebody is waited for who could answer.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The same for what is done with a stack, which takes a while; the step has a time of its own.
const ACTING: Duration = Duration::from_secs(3600);
/// The same when a step is over.
const LAST_PATIENCE: Duration = Duration::from_secs(5);
/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(45);
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Keys that are forgotten with one question.
const TOGETHER: usize = 100;
/// What a list may hold.
const ENTRIES_MAX: usize = 100_000;

/// The way of one process to its agent, and the locks that it holds through it.
pub struct Line {
    socket: PathBuf,
    patience: Duration,
    /// Names by the ids of holds, also of those that are only asked for.
    holds: Mutex<BTreeMap<String, String>>,
}

impl Line {
    pub fn new(socket: impl Into<PathBuf>) -> Line {
        Line { socket: socket.into(), patience: PATIENCE, holds: Mutex::default() }
    }

    /// Waits no longer than this, for tests.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Line {
        self.patience = patience;
        self
    }

    fn holds(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives every lock back that is still held.
    pub async fn let_go(&self) {
        let left = std::mem::take(&mut *self.holds());
        let each = left.into_iter().map(|(hold, name)| async move {
            // What cannot be told now is free after its TTL.
            let _ = self.ask(&Ask::LockRelease { name, hold }, LAST_PATIENCE).await;
        });
        futures::future::join_all(each).await;
    }

    /// Asks until somebody answers.
    async fn ask(&self, ask: &Ask, patience: Duration) -> Result<Reply, ServiceError> {
        let mut line = serde_json::to_vec(ask)
            .map_err(|error| ServiceError::Refused(format!("it cannot be asked for: {error}")))?;
        if line.len() > ASK_MAX {
            return Err(ServiceError::Refused(format!(
                "it is too large: one call carries at most {ASK_MAX} bytes"
            )));
        }
        line.push(b'\n');
        let deadline = Instant::now() + patience;
        let mut pause = SHORTEST_PAUSE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let asked = tokio::time::timeout(left.min(ANSWER), self.once(&line)).await;
            let why = match asked {
                Ok(Ok(Reply::Refused(why))) => return Err(ServiceError::Refused(why)),
                Ok(Ok(Reply::Later(why))) => std::io::Error::other(why),
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(error)) => error,
                Err(_) => std::io::ErrorKind::TimedOut.into(),
            };
            if Instant::now() + pause >= deadline {
                let what =
                    "what steps share cannot be reached through the agent of this node".to_owned();
                return Err(ServiceError::Unavailable { what, source: why });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn once(&self, line: &[u8]) -> std::io::Result<Reply> {
        let mut stream = connect(&self.socket).await?;
        stream.write_all(line).await?;
        let mut answer = Vec::new();
        stream.take(REPLY_MAX as u64 + 1).read_to_end(&mut answer).await?;
        if answer.is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_slice(&answer).map_err(std::io::Error::other)
    }
}

/// Goes to a socket however long its path is.
async fn connect(socket: &Path) -> std::io::Result<UnixStream> {
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    UnixStream::connect(short).await
}

/// What is shared through an agent.
pub struct RemoteServices {
    line: Arc<Line>,
}

impl RemoteServices {
    pub fn new(line: Arc<Line>) -> RemoteServices {
        RemoteServices { line }
    }

    fn asked<T: 'static>(
        &self,
        ask: Ask,
        read: impl FnOnce(Reply) -> Option<T> + 'static,
    ) -> Answer<'_, T> {
        Box::pin(async move {
            let reply = self.line.ask(&ask, self.line.patience).await?;
            read(reply).ok_or_else(odd)
        })
    }

    /// Every page of a list.
    async fn listed(
        &self,
        pattern: &Pattern,
        with_values: bool,
    ) -> Result<Vec<(String, Entry)>, ServiceError> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let prefix = pattern.beginning().to_owned();
            let ask = Ask::StateList { prefix, after, with_values };
            let Reply::Entries { entries, next } = self.line.ask(&ask, self.line.patience).await?
            else {
                return Err(odd());
            };
            found.extend(entries.into_iter().filter(|(key, _)| pattern.matches(key)));
            if found.len() > ENTRIES_MAX {
                return Err(ServiceError::Refused(format!(
                    "more than {ENTRIES_MAX} keys match `{}`; ask for fewer",
                    pattern.as_str()
                )));
            }
            match next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

fn odd() -> ServiceError {
    ServiceError::Refused(
        "the answer is not understood; is the server much newer than the agent?".to_owned(),
    )
}

fn fresh() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// What an event is called here: what people make up is below `custom.`.
fn event_name(kind: &str, data: &Json) -> String {
    match (kind.strip_prefix("custom."), data.get("name").and_then(Json::as_str)) {
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) if kind == "custom" => name.to_owned(),
        (None, _) => kind.to_owned(),
    }
}

/// What is said in a sentence of an event: its message, where that is a text.
fn event_message(data: &Json) -> String {
    let message = data.get("message").and_then(Json::as_str).unwrap_or_default();
    message.chars().take(hostler_model::CUSTOM_MESSAGE_MAX).collect()
}

impl Services for RemoteServices {
    fn state_get(&self, key: &str) -> Answer<'_, Option<Entry>> {
        self.asked(Ask::StateGet { key: key.to_owned() }, |reply| match reply {
            Reply::Entry(entry) => Some(entry),
            _ => None,
        })
    }

    fn state_change(&self, key: &str, change: Change) -> Answer<'_, Changed> {
        let ask = Ask::StateChange { id: fresh(), key: key.to_owned(), change };
        self.asked(ask, |reply| match reply {
            Reply::Changed(changed) => Some(changed),
            _ => None,
        })
    }

    fn state_list(&self, pattern: &Pattern) -> Answer<'_, Vec<(String, Entry)>> {
        let pattern = pattern.clone();
        Box::pin(async move { self.listed(&pattern, true).await })
    }

    fn state_clear(&self, pattern: &Pattern) -> Answer<'_, usize> {
        let pattern = pattern.clone();
        Box::pin(async move {
            let keys: Vec<String> =
                self.listed(&pattern, false).await?.into_iter().map(|(key, _)| key).collect();
            let mut count = 0;
            for some in keys.chunks(TOGETHER) {
                let ask = Ask::StateForget { keys: some.to_vec() };
                let Reply::Forgotten(gone) = self.line.ask(&ask, self.line.patience).await? else {
                    return Err(odd());
                };
                count += gone;
            }
            Ok(count)
        })
    }

    fn state_backend(&self) -> &'static str {
        "server"
    }

    fn lock_take(&self, name: &str, holder: &Holder, ttl: Span) -> Answer<'_, Taken> {
        self.lock_wait(name, holder, ttl, None)
    }

    fn lock_wait(
        &self,
        name: &str,
        holder: &Holder,
        ttl: Span,
        wait: Option<Span>,
    ) -> Answer<'_, Taken> {
        let (name, holder) = (name.to_owned(), holder.clone());
        Box::pin(async move {
            let hold = holder.token.clone();
            self.line.holds().insert(hold.clone(), name.clone());
            let (who, hold_id) = (holder.who, hold.clone());
            let ask = Ask::LockTake { name: name.clone(), hold: hold_id, who, ttl, wait };
            let asked = self.line.ask(&ask, self.line.patience).await;
            if let Err(ServiceError::Refused(_)) = &asked {
                self.line.holds().remove(&hold);
            }
            match asked? {
                // It counts from when it was granted, which may be long before the answer: that it is held is said anew.
                Reply::Held(fence) if wait.is_some() => {
                    match self.lock_renew(&name, &hold, ttl).await? {
                        true => Ok(Taken::Yes { fence }),
                        false => Err(ServiceError::Refused(format!(
                            "the lock `{name}` was lost before it was known to be held"
                        ))),
                    }
                }
                Reply::Held(fence) => Ok(Taken::Yes { fence }),
                Reply::Busy { who, until } => {
                    if wait.is_none() {
                        self.line.holds().remove(&hold);
                    }
                    Ok(Taken::No { who, until })
                }
                _ => Err(odd()),
            }
        })
    }

    fn lock_renew(&self, name: &str, token: &str, ttl: Span) -> Answer<'_, bool> {
        let ask = Ask::LockRenew { name: name.to_owned(), hold: token.to_owned() };
        let token = token.to_owned();
        Box::pin(async move {
            match self.line.ask(&ask, ttl.duration() / 3).await? {
                Reply::Done(true) => Ok(true),
                Reply::Done(false) => {
                    self.line.holds().remove(&token);
                    Ok(false)
                }
                _ => Err(odd()),
            }
        })
    }

    fn lock_release(&self, name: &str, token: &str) -> Answer<'_, bool> {
        let ask = Ask::LockRelease { name: name.to_owned(), hold: token.to_owned() };
        let token = token.to_owned();
        Box::pin(async move {
            let Reply::Done(was_held) = self.line.ask(&ask, self.line.patience).await? else {
                return Err(odd());
            };
            self.line.holds().remove(&token);
            Ok(was_held)
        })
    }

    fn event_dispatch(&self, kind: &str, data: Json) -> Answer<'_, String> {
        let (name, message) = (event_name(kind, &data), event_message(&data));
        self.asked(Ask::EventEmit { id: fresh(), name, message, data }, |reply| match reply {
            Reply::Event(id) => Some(id),
            _ => None,
        })
    }

    fn watcher_register(&self, watcher: Watcher) -> Answer<'_, ()> {
        let ask = Ask::Watcher { want: WatcherWant::Register(watcher) };
        self.asked(ask, |reply| matches!(reply, Reply::Done(_)).then_some(()))
    }
    fn watcher_list(&self) -> Answer<'_, Vec<Watcher>> {
        self.asked(Ask::Watcher { want: WatcherWant::List }, |reply| match reply {
            Reply::Watchers(watchers) => Some(watchers),
            _ => None,
        })
    }
    fn watcher_remove(&self, id: &str) -> Answer<'_, bool> {
        let ask = Ask::Watcher { want: WatcherWant::Remove { id: id.to_owned() } };
        self.asked(ask, done)
    }

    fn stack(&self) -> Answer<'_, Option<Stack>> {
        self.asked(stack(StackWant::Look), |reply| match reply {
            Reply::Stack(stack) => Some(stack),
            _ => None,
        })
    }
    fn stack_output_set(&self, key: &str, value: Json) -> Answer<'_, ()> {
        let want = StackWant::SetOutput { key: key.to_owned(), value };
        self.asked(stack(want), |reply| matches!(reply, Reply::Done(_)).then_some(()))
    }
    fn resource_register(&self, wanted: ResourceSpec) -> Answer<'_, (Registered, Resource)> {
        self.asked(stack(StackWant::Register(wanted)), |reply| match reply {
            Reply::Registered { registered, resource } => Some((registered, resource)),
            _ => None,
        })
    }
    fn resource_get(&self, kind: &str, name: &str) -> Answer<'_, Option<Resource>> {
        let want = StackWant::Resource { kind: kind.to_owned(), name: name.to_owned() };
        self.asked(stack(want), resource)
    }
    fn resource_update(
        &self,
        kind: &str,
        name: &str,
        state: Option<String>,
        error: Option<String>,
    ) -> Answer<'_, Option<Resource>> {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        self.asked(stack(StackWant::Update { kind, name, state, error }), resource)
    }
    fn resource_delete(&self, kind: &str, name: &str) -> Answer<'_, bool> {
        let want = StackWant::Delete { kind: kind.to_owned(), name: name.to_owned() };
        self.asked(stack(want), done)
    }
    fn stack_act(&self, act: StackAct) -> Answer<'_, Json> {
        let ask = stack(StackWant::Act(act));
        Box::pin(async move {
            match self.line.ask(&ask, self.line.patience.max(ACTING)).await? {
                Reply::Came(told) => Ok(told),
                _ => Err(odd()),
            }
        })
    }
}

fn stack(want: StackWant) -> Ask {
    Ask::Stack { id: fresh(), want }
}

fn done(reply: Reply) -> Option<bool> {
    match reply {
        Reply::Done(done) => Some(done),
        _ => None,
    }
}

#[expect(clippy::option_option, reason = "the outer one says whether it is an answer")]
fn resource(reply: Reply) -> Option<Option<Resource>> {
    match reply {
        Reply::Resource(found) => Some(found),
        _ => None,
    }
}
