//! Services that change nothing: what check mode gives to a step.
//!
//! Everything is read from the real ones. What would be changed is told, and remembered only here, so that a body that
//! writes and then reads goes the way it would go.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hostler_model::{Span, Timestamp};
use serde_json::Value as Json;

use super::local::no_stack;
use super::{
    Answer, Change, Changed, Entry, Holder, Next, Pattern, Registered, Resource, ResourceSpec,
    Services, Stack, StackAct, Taken, Watcher,
};
use crate::modules::coordination::clock;
use crate::modules::{Sink, Stream};

/// Services that only tell what they would change.
pub struct Rehearsal {
    real: Rc<dyn Services>,
    sink: Rc<dyn Sink>,
    /// What entries would be; nothing is an entry that would be gone.
    entries: RefCell<BTreeMap<String, Option<Entry>>>,
    locks: RefCell<BTreeMap<String, String>>,
    watchers: RefCell<BTreeMap<String, Option<Watcher>>>,
    outputs: RefCell<BTreeMap<String, Json>>,
    resources: RefCell<BTreeMap<(String, String), Option<Resource>>>,
}

impl Rehearsal {
    pub fn new(real: Rc<dyn Services>, sink: Rc<dyn Sink>) -> Rehearsal {
        Rehearsal {
            real,
            sink,
            entries: RefCell::default(),
            locks: RefCell::default(),
            watchers: RefCell::default(),
            outputs: RefCell::default(),
            resources: RefCell::default(),
        }
    }

    fn would(&self, what: &str) {
        self.sink.say(Stream::Out, &format!("would {what}"));
    }

    fn now() -> Timestamp {
        clock::now()
    }
}

impl Services for Rehearsal {
    fn state_get(&self, key: &str) -> Answer<'_, Option<Entry>> {
        let key = key.to_owned();
        Box::pin(async move {
            if let Some(known) = self.entries.borrow().get(&key) {
                return Ok(known.clone().filter(|entry| entry.is_alive(Self::now())));
            }
            self.real.state_get(&key).await
        })
    }

    fn state_change(&self, key: &str, change: Change) -> Answer<'_, Changed> {
        let key = key.to_owned();
        Box::pin(async move {
            let found = self.state_get(&key).await?;
            let what = change.told(&key);
            let (next, changed) = change.apply(&key, found.as_ref(), Self::now())?;
            let becomes = match next {
                Next::Keep => return Ok(changed),
                Next::Put(entry) => Some(entry),
                Next::Remove => None,
            };
            self.would(&what);
            self.entries.borrow_mut().insert(key, becomes);
            Ok(changed)
        })
    }

    fn state_list(&self, pattern: &Pattern) -> Answer<'_, Vec<(String, Entry)>> {
        let pattern = pattern.clone();
        Box::pin(async move {
            let real = self.real.state_list(&pattern).await?;
            let mut entries: BTreeMap<String, Entry> = real.into_iter().collect();
            for (key, entry) in self.entries.borrow().iter() {
                match entry {
                    Some(entry) if pattern.matches(key) && entry.is_alive(Self::now()) => {
                        entries.insert(key.clone(), entry.clone());
                    }
                    _ => drop(entries.remove(key)),
                }
            }
            Ok(entries.into_iter().collect())
        })
    }

    fn state_clear(&self, pattern: &Pattern) -> Answer<'_, usize> {
        let pattern = pattern.clone();
        Box::pin(async move {
            let found = self.state_list(&pattern).await?;
            self.would(&format!("delete {} entries of state", found.len()));
            let gone = found.iter().map(|(key, _)| (key.clone(), None));
            self.entries.borrow_mut().extend(gone);
            Ok(found.len())
        })
    }

    fn state_backend(&self) -> &'static str {
        self.real.state_backend()
    }

    fn lock_take(&self, name: &str, holder: &Holder, _: Span) -> Answer<'_, Taken> {
        let (name, holder) = (name.to_owned(), holder.clone());
        Box::pin(async move {
            if self.locks.borrow().contains_key(&name) {
                let until = Self::now().plus(std::time::Duration::from_secs(1));
                return Ok(Taken::No { who: holder.who, until });
            }
            self.would(&format!("take the lock `{name}`"));
            self.locks.borrow_mut().insert(name, holder.token);
            Ok(Taken::Yes { fence: 0 })
        })
    }

    fn lock_renew(&self, name: &str, token: &str, _: Span) -> Answer<'_, bool> {
        let is_held = self.locks.borrow().get(name).is_some_and(|held| held == token);
        Box::pin(async move { Ok(is_held) })
    }

    fn lock_release(&self, name: &str, token: &str) -> Answer<'_, bool> {
        let mut locks = self.locks.borrow_mut();
        let is_held = locks.get(name).is_some_and(|held| held == token);
        if is_held {
            locks.remove(name);
        }
        Box::pin(async move { Ok(is_held) })
    }

    fn event_dispatch(&self, kind: &str, data: Json) -> Answer<'_, String> {
        self.would(&format!("dispatch the event {kind} with {data}"));
        Box::pin(async { Ok(String::new()) })
    }

    fn watcher_register(&self, watcher: Watcher) -> Answer<'_, ()> {
        self.would(&format!("register a watcher of a {}", watcher.kind));
        self.watchers.borrow_mut().insert(watcher.id.clone(), Some(watcher));
        Box::pin(async { Ok(()) })
    }

    fn watcher_list(&self) -> Answer<'_, Vec<Watcher>> {
        Box::pin(async move {
            let real = self.real.watcher_list().await?;
            let mut watchers: BTreeMap<String, Option<Watcher>> =
                real.into_iter().map(|watcher| (watcher.id.clone(), Some(watcher))).collect();
            watchers.extend(self.watchers.borrow().clone());
            Ok(watchers.into_values().flatten().collect())
        })
    }

    fn watcher_remove(&self, id: &str) -> Answer<'_, bool> {
        let id = id.to_owned();
        Box::pin(async move {
            let is_there = self.watcher_list().await?.iter().any(|watcher| watcher.id == id);
            if is_there {
                self.would(&format!("remove the watcher {id}"));
                self.watchers.borrow_mut().insert(id, None);
            }
            Ok(is_there)
        })
    }

    fn stack(&self) -> Answer<'_, Option<Stack>> {
        Box::pin(async move {
            let Some(mut stack) = self.real.stack().await? else { return Ok(None) };
            stack.outputs.extend(self.outputs.borrow().clone());
            Ok(Some(stack))
        })
    }

    fn stack_output_set(&self, key: &str, value: Json) -> Answer<'_, ()> {
        let key = key.to_owned();
        Box::pin(async move {
            self.real.stack().await?.ok_or_else(no_stack)?;
            self.would(&format!("set the output `{key}` to {value}"));
            self.outputs.borrow_mut().insert(key, value);
            Ok(())
        })
    }

    fn resource_register(&self, wanted: ResourceSpec) -> Answer<'_, (Registered, Resource)> {
        Box::pin(async move {
            let stack = self.real.stack().await?.ok_or_else(no_stack)?;
            let at = (wanted.kind.clone(), wanted.name.clone());
            let found = self.resource_get(&at.0, &at.1).await?;
            let (registered, resource) = wanted.settle(found, &stack.id, String::new());
            if registered != Registered::Unchanged {
                self.would(&format!("register the {} `{}`", at.0, at.1));
                self.resources.borrow_mut().insert(at, Some(resource.clone()));
            }
            Ok((registered, resource))
        })
    }

    fn resource_get(&self, kind: &str, name: &str) -> Answer<'_, Option<Resource>> {
        let at = (kind.to_owned(), name.to_owned());
        Box::pin(async move {
            if let Some(known) = self.resources.borrow().get(&at) {
                return Ok(known.clone());
            }
            self.real.resource_get(&at.0, &at.1).await
        })
    }

    fn resource_update(
        &self,
        kind: &str,
        name: &str,
        state: Option<String>,
        error: Option<String>,
    ) -> Answer<'_, Option<Resource>> {
        let at = (kind.to_owned(), name.to_owned());
        Box::pin(async move {
            let Some(mut resource) = self.resource_get(&at.0, &at.1).await? else {
                return Ok(None);
            };
            if let Some(state) = state {
                resource.state = state;
            }
            resource.error = error;
            self.would(&format!("update the {} `{}`", at.0, at.1));
            self.resources.borrow_mut().insert(at, Some(resource.clone()));
            Ok(Some(resource))
        })
    }

    fn resource_delete(&self, kind: &str, name: &str) -> Answer<'_, bool> {
        let at = (kind.to_owned(), name.to_owned());
        Box::pin(async move {
            let is_there = self.resource_get(&at.0, &at.1).await?.is_some();
            if is_there {
                self.would(&format!("delete the {} `{}`", at.0, at.1));
                self.resources.borrow_mut().insert(at, None);
            }
            Ok(is_there)
        })
    }

    fn stack_act(&self, act: StackAct) -> Answer<'_, Json> {
        if !act.is_change() {
            return self.real.stack_act(act);
        }
        self.would(&act.told());
        Box::pin(async { Ok(Json::Object(serde_json::Map::new())) })
    }
}
