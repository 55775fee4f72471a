//! What is shared, for a process that cannot get at it itself: a step of another user.
//!
//! Whoever started that process answers its questions ([`wire`](super::wire)) from services of its own. Nothing here
//! says who asks: that is looked at before.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use hostler_model::Span;

use super::wire::{Ask, Reply, StackWant, WatcherWant};
use super::{Change, Holder, Pattern, ServiceError, Services, Taken};

/// How many bytes of entries one answer has before another has to be asked for.
const PAGE: usize = 4 << 20;
/// How many answers are remembered of those that must not be carried out twice.
const REMEMBERED: usize = 256;
/// A lock of which nobody said how long it is held.
const LEASE: Span = Span::from_secs(30);

/// Answers with what some services say.
pub struct Relay {
    services: Rc<dyn Services>,
    /// How long locks are held at a time, by the ids of holds.
    leases: RefCell<BTreeMap<String, Span>>,
    /// Answers to what changed something, by its id.
    answers: RefCell<VecDeque<(String, Reply)>>,
}

impl Relay {
    pub fn new(services: Rc<dyn Services>) -> Relay {
        Relay { services, leases: RefCell::default(), answers: RefCell::default() }
    }

    /// The answer to one question, both as they are written.
    pub async fn answer(&self, question: &[u8]) -> Vec<u8> {
        let reply = match serde_json::from_slice::<Ask>(question) {
            Ok(ask) => self.reply(ask).await,
            Err(error) => Err(ServiceError::Refused(format!("it is not understood: {error}"))),
        };
        let reply = reply.unwrap_or_else(|error| Reply::Refused(error.to_string()));
        serde_json::to_vec(&reply).unwrap_or_default()
    }

    async fn reply(&self, ask: Ask) -> Result<Reply, ServiceError> {
        let services = &self.services;
        Ok(match ask {
            Ask::StateGet { key } => Reply::Entry(services.state_get(&key).await?),
            Ask::StateChange { id, key, change } => match self.remembered(&id) {
                Some(reply) => reply,
                None => {
                    let reply = Reply::Changed(services.state_change(&key, change).await?);
                    self.remember(id, reply)
                }
            },
            Ask::StateList { prefix, after, with_values } => {
                self.page(&prefix, after.as_deref(), with_values).await?
            }
            Ask::StateForget { keys } => {
                let mut gone = 0;
                for key in keys {
                    let changed = services.state_change(&key, Change::Delete).await?;
                    gone += usize::from(changed.is_applied);
                }
                Reply::Forgotten(gone)
            }
            Ask::LockTake { name, hold, who, ttl, wait: _ } => {
                let holder = Holder { token: hold.clone(), who };
                match services.lock_take(&name, &holder, ttl).await? {
                    Taken::Yes { fence } => {
                        self.leases.borrow_mut().insert(hold, ttl);
                        Reply::Held(fence)
                    }
                    Taken::No { who, until } => Reply::Busy { who, until },
                }
            }
            Ask::LockRenew { name, hold } => {
                let lease = self.leases.borrow().get(&hold).copied().unwrap_or(LEASE);
                Reply::Done(services.lock_renew(&name, &hold, lease).await?)
            }
            Ask::LockRelease { name, hold } => {
                self.leases.borrow_mut().remove(&hold);
                Reply::Done(services.lock_release(&name, &hold).await?)
            }
            Ask::EventEmit { id, name, message: _, data } => match self.remembered(&id) {
                Some(reply) => reply,
                None => {
                    let reply = Reply::Event(services.event_dispatch(&name, data).await?);
                    self.remember(id, reply)
                }
            },
            Ask::Stack { id, want } => match self.remembered(&id) {
                Some(reply) => reply,
                None => {
                    let reply = self.stack(want).await?;
                    self.remember(id, reply)
                }
            },
            Ask::Watcher { want: WatcherWant::Register(watcher) } => {
                services.watcher_register(watcher).await?;
                Reply::Done(true)
            }
            Ask::Watcher { want: WatcherWant::List } => {
                Reply::Watchers(services.watcher_list().await?)
            }
            Ask::Watcher { want: WatcherWant::Remove { id } } => {
                Reply::Done(services.watcher_remove(&id).await?)
            }
        })
    }

    async fn stack(&self, want: StackWant) -> Result<Reply, ServiceError> {
        let services = &self.services;
        Ok(match want {
            StackWant::Look => Reply::Stack(services.stack().await?),
            StackWant::SetOutput { key, value } => {
                services.stack_output_set(&key, value).await?;
                Reply::Done(true)
            }
            StackWant::Register(wanted) => {
                let (registered, resource) = services.resource_register(wanted).await?;
                Reply::Registered { registered, resource }
            }
            StackWant::Resource { kind, name } => {
                Reply::Resource(services.resource_get(&kind, &name).await?)
            }
            StackWant::Update { kind, name, state, error } => {
                Reply::Resource(services.resource_update(&kind, &name, state, error).await?)
            }
            StackWant::Delete { kind, name } => {
                Reply::Done(services.resource_delete(&kind, &name).await?)
            }
            StackWant::Act(act) => Reply::Came(services.stack_act(act).await?),
        })
    }

    async fn page(
        &self,
        prefix: &str,
        after: Option<&str>,
        with_values: bool,
    ) -> Result<Reply, ServiceError> {
        let found = self.services.state_list(&Pattern::everything()).await?;
        let is_meant = |key: &str| key.starts_with(prefix) && after.is_none_or(|after| key > after);
        let (mut entries, mut bytes, mut next) = (Vec::new(), 0, None);
        for (key, mut entry) in found.into_iter().filter(|(key, _)| is_meant(key)) {
            if !with_values {
                entry.value = serde_json::Value::Null;
            }
            bytes += key.len() + entry.value.to_string().len();
            if bytes > PAGE && !entries.is_empty() {
                next = entries.last().map(|(key, _): &(String, _)| key.clone());
                break;
            }
            entries.push((key, entry));
        }
        Ok(Reply::Entries { entries, next })
    }

    fn remembered(&self, id: &str) -> Option<Reply> {
        let answers = self.answers.borrow();
        answers.iter().find(|(known, _)| known == id).map(|(_, reply)| reply.clone())
    }

    fn remember(&self, id: String, reply: Reply) -> Reply {
        let mut answers = self.answers.borrow_mut();
        if answers.len() >= REMEMBERED {
            answers.pop_front();
        }
        answers.push_back((id, reply.clone()));
        reply
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{LocalServices, Registered, ResourceSpec, StackAct, Watcher};
    use super::*;

    #[tokio::test]
    async fn what_is_asked_is_done_once_and_answered_in_pages() {
        let folder = tempfile::tempdir().unwrap();
        let relay = Relay::new(Rc::new(LocalServices::new(folder.path())));
        let ask = async |ask: serde_json::Value| -> Reply {
            serde_json::from_slice(&relay.answer(ask.to_string().as_bytes()).await).unwrap()
        };
        let add = json!({ "ask": "state-change", "id": "1", "key": "n", "change": { "add": 2.0 } });
        assert_eq!(ask(add.clone()).await, ask(add).await);
        let Reply::Entry(Some(entry)) = ask(json!({ "ask": "state-get", "key": "n" })).await else {
            panic!("there is an entry");
        };
        assert_eq!(entry.value, json!(2));
        for (i, key) in ["p/a", "p/b"].into_iter().enumerate() {
            let change = json!({ "set": { "value": "x".repeat(3 << 20), "ttl": null } });
            let id = format!("s{i}");
            ask(json!({ "ask": "state-change", "id": id, "key": key, "change": change })).await;
        }
        let list = |after: Option<&str>| json!({ "ask": "state-list", "prefix": "p/", "after": after, "withValues": true });
        let Reply::Entries { entries, next } = ask(list(None)).await else { panic!("a page") };
        assert_eq!((entries.len(), next.as_deref()), (1, Some("p/a")));
        let Reply::Entries { entries, next } = ask(list(Some("p/a"))).await else {
            panic!("a page")
        };
        assert_eq!((entries[0].0.as_str(), next), ("p/b", None));
        let take = |hold: &str| json!({ "ask": "lock-take", "name": "l", "hold": hold, "who": "me", "ttl": "10s" });
        assert_eq!(ask(take("a")).await, Reply::Held(1));
        assert!(matches!(ask(take("b")).await, Reply::Busy { .. }));
        let held = |verb: &str| json!({ "ask": verb, "name": "l", "hold": "a" });
        assert_eq!(ask(held("lock-renew")).await, Reply::Done(true));
        assert_eq!(ask(held("lock-release")).await, Reply::Done(true));
        assert_eq!(
            ask(json!({ "ask": "state-forget", "keys": ["n", "none"] })).await,
            Reply::Forgotten(1)
        );
        assert!(matches!(ask(json!({ "ask": "what" })).await, Reply::Refused(_)));
    }

    #[tokio::test]
    async fn stacks_and_watchers_are_those_of_whoever_answers() {
        let folder = tempfile::tempdir().unwrap();
        let services = Rc::new(LocalServices::new(folder.path()).with_stack("web"));
        let relay = Relay::new(Rc::clone(&services) as Rc<dyn Services>);
        let ask = async |ask: Ask| -> Reply {
            let ask = serde_json::to_vec(&ask).unwrap();
            serde_json::from_slice(&relay.answer(&ask).await).unwrap()
        };
        let stack = |want: StackWant| Ask::Stack { id: uuid::Uuid::new_v4().to_string(), want };
        let output = StackWant::SetOutput { key: "url".into(), value: json!("x") };
        assert_eq!(ask(stack(output)).await, Reply::Done(true));
        let seen = services.stack().await.unwrap().unwrap();
        assert_eq!(ask(stack(StackWant::Look)).await, Reply::Stack(Some(seen.clone())));
        assert_eq!(seen.outputs["url"], json!("x"));
        let wanted = ResourceSpec {
            kind: "file".into(),
            name: "motd".into(),
            module: String::new(),
            properties: serde_json::Map::new(),
            dependencies: Vec::new(),
        };
        let same = stack(StackWant::Register(wanted.clone()));
        let first = ask(same.clone()).await;
        assert!(matches!(&first, Reply::Registered { registered: Registered::Created, .. }));
        assert_eq!(ask(same).await, first, "it is the same question");
        let Reply::Registered { registered, resource } =
            ask(stack(StackWant::Register(wanted))).await
        else {
            panic!("it is registered")
        };
        assert_eq!(registered, Registered::Unchanged);
        let (kind, name) = (String::from("file"), String::from("motd"));
        let found =
            ask(stack(StackWant::Resource { kind: kind.clone(), name: name.clone() })).await;
        assert_eq!(found, Reply::Resource(Some(resource)));
        assert_eq!(ask(stack(StackWant::Delete { kind, name })).await, Reply::Done(true));
        assert!(matches!(ask(stack(StackWant::Act(StackAct::Validate))).await, Reply::Refused(_)));

        let watcher = Watcher {
            id: "w".into(),
            kind: "file".into(),
            when: vec!["changed".into()],
            interval: Span::from_secs(5),
            settings: serde_json::Map::new(),
        };
        let watchers = |want: WatcherWant| Ask::Watcher { want };
        let made = ask(watchers(WatcherWant::Register(watcher.clone()))).await;
        assert_eq!(made, Reply::Done(true));
        assert_eq!(services.watcher_list().await.unwrap(), std::slice::from_ref(&watcher));
        assert_eq!(ask(watchers(WatcherWant::List)).await, Reply::Watchers(vec![watcher]));
        let gone = WatcherWant::Remove { id: "w".into() };
        assert_eq!(ask(watchers(gone.clone())).await, Reply::Done(true));
        assert_eq!(ask(watchers(gone)).await, Reply::Done(false));
    }
}
