//! On whose behalf something is done, and what is done beside it.
//!
//! A step is one call of [`with`]. Whatever its body starts beside itself belongs to its [`Tasks`]: it acts for the same
//! step, and it is gone before `with` returns, or when its future is dropped.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Map, Value as Json};
use tokio::task::JoinSet;

use super::coordination::Services;

/// Where the words of a step go.
pub trait Sink {
    fn say(&self, stream: Stream, text: &str);
}

/// What kind of words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Error,
}

/// A step that runs: where, with what, and whom it talks to.
pub struct Acting {
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    pub sink: Rc<dyn Sink>,
    /// Says what would be done, and does nothing.
    pub check: bool,
    pub exported: RefCell<Map<String, Json>>,
    /// State, locks, events, watchers and the stack: what others see too.
    pub services: Rc<dyn Services>,
}

impl Acting {
    pub fn say(&self, text: &str) {
        self.sink.say(Stream::Out, text);
    }
    pub fn complain(&self, text: &str) {
        self.sink.say(Stream::Error, text);
    }
    pub fn env(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }
    pub fn secret(&self, name: &str) -> Option<String> {
        self.secrets.get(name).cloned()
    }
    /// A path as the step sees it.
    pub fn path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.environment.get("HOME")) {
            (Some(rest), Some(home)) => Path::new(home).join(rest),
            _ => self.workdir.join(path),
        }
    }
}

tokio::task_local! {
    static ACTING: Rc<Acting>;
    static TASKS: Rc<Tasks>;
}

/// The step that runs.
pub(crate) fn acting() -> Rc<Acting> {
    ACTING.with(Rc::clone)
}

/// What the step that runs has going on beside its body.
pub(crate) fn tasks() -> Rc<Tasks> {
    TASKS.with(Rc::clone)
}

/// Does something on behalf of a step; what that started beside itself ends with it.
pub(crate) async fn with<F: Future>(acting: Rc<Acting>, f: F) -> F::Output {
    let until = Until(Rc::new(Tasks::default()));
    let tasks = Rc::clone(&until.0);
    TASKS
        .scope(
            tasks,
            ACTING.scope(acting, async {
                let output = f.await;
                until.0.end().await;
                output
            }),
        )
        .await
}

type LastWord = Box<dyn FnOnce(&Acting)>;

/// What a step has going on beside its body, and what is kept for as long as the step lasts.
#[derive(Default)]
pub(crate) struct Tasks {
    set: RefCell<JoinSet<()>>,
    is_over: Cell<bool>,
    last_words: RefCell<Vec<LastWord>>,
    kept: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
}

impl Tasks {
    /// Starts something on behalf of the step that runs.
    pub fn spawn(self: &Rc<Tasks>, f: impl Future<Output = ()> + 'static) {
        if self.is_over.get() {
            return;
        }
        let on_behalf = TASKS.scope(Rc::clone(self), ACTING.scope(acting(), f));
        let mut set = self.set.borrow_mut();
        while set.try_join_next().is_some() {}
        set.spawn_local(on_behalf);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        let mut set = self.set.borrow_mut();
        while set.try_join_next().is_some() {}
        set.len()
    }

    /// Says what is to be said when the body is over.
    pub fn finally(&self, say: impl FnOnce(&Acting) + 'static) {
        self.last_words.borrow_mut().push(Box::new(say));
    }

    /// One of its kind for the step that runs.
    pub fn kept<T: Default + 'static>(&self) -> Rc<T> {
        let mut kept = self.kept.borrow_mut();
        let found = kept.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(T::default()));
        Rc::clone(found).downcast().expect("it is kept by its type")
    }

    async fn end(&self) {
        self.is_over.set(true);
        let mut running = self.set.take();
        running.shutdown().await;
        for say in self.last_words.take() {
            say(&acting());
        }
    }
}

struct Until(Rc<Tasks>);

impl Drop for Until {
    fn drop(&mut self) {
        self.0.is_over.set(true);
        drop(self.0.set.take());
        self.0.kept.take();
    }
}
