//! Modules that a server keeps, as far as they have been brought.
//!
//! A definition cannot wait for a server. It is run with what lies on the shelf, which notes what was asked for and is
//! not there; whoever runs it brings that, or says that there is no such module, and runs it again, until nothing is
//! noted any more ([`Shelf::asked`]). A name means the same version in every round.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_model::workflow::{ModuleAsk, ModuleRef};

use crate::source::{Bundle, Files};

/// More are not brought for one file.
const MOST: usize = 256;

/// How often a file is run before nobody brings anything more.
pub const ROUNDS: usize = 8;

/// Files, and beside them the modules that were brought.
pub struct Shelf<F> {
    files: Arc<F>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What is known of what was asked for; nothing says that there is no such module.
    answers: BTreeMap<ModuleAsk, Option<u32>>,
    texts: BTreeMap<String, String>,
    asked: BTreeSet<ModuleAsk>,
}

impl<F> Clone for Shelf<F> {
    fn clone(&self) -> Shelf<F> {
        Shelf { files: Arc::clone(&self.files), state: Arc::clone(&self.state) }
    }
}

impl<F: Files> Shelf<F> {
    pub fn new(files: F) -> Shelf<F> {
        Shelf { files: Arc::new(files), state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked for and is neither here nor known to be nowhere.
    pub fn asked(&self) -> Vec<ModuleAsk> {
        std::mem::take(&mut self.state().asked).into_iter().collect()
    }

    /// Brings what was asked for; nothing where there is no such module.
    pub fn put(&self, ask: ModuleAsk, found: Option<(u32, &Bundle)>) {
        let mut state = self.state();
        if let Some((version, bundle)) = found {
            let module = ModuleRef { name: ask.name.clone(), version };
            state.texts.extend(bundle.as_module(&module));
        }
        state.answers.insert(ask, found.map(|(version, _)| version));
    }

    /// How many bytes were brought.
    pub fn size(&self) -> usize {
        self.state().texts.values().map(String::len).sum()
    }
}

impl<F: Files> Files for Shelf<F> {
    fn text(&self, name: &str) -> Option<String> {
        self.files.text(name)
    }

    fn module(&self, within: &str, ask: &ModuleAsk) -> Option<(u32, BTreeMap<String, String>)> {
        let mut state = self.state();
        if !within.is_empty() {
            return state.texts.module(within, ask);
        }
        match state.answers.get(ask) {
            Some(None) => None,
            Some(version) => {
                state.texts.module("", &ModuleAsk { name: ask.name.clone(), version: *version })
            }
            None => {
                if state.asked.len() + state.answers.len() < MOST {
                    state.asked.insert(ask.clone());
                }
                None
            }
        }
    }

    fn shelf(&self) -> Option<&'static str> {
        Some("among the modules that the project keeps")
    }
}
