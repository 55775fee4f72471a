//! Values of secrets are taken out of whatever people are told.

use std::rc::Rc;

use hostler_model::workflow::{Step, StepResult};
use serde_json::Value as Json;

use crate::run::{Answer, Observer, Told};

/// Takes the values of secrets out of a text.
#[derive(Clone)]
pub struct Scrub(Rc<dyn Fn(&str) -> String>);

impl Scrub {
    pub fn new(clean: impl Fn(&str) -> String + 'static) -> Scrub {
        Scrub(Rc::new(clean))
    }

    pub fn text(&self, text: &str) -> String {
        (self.0)(text)
    }

    /// Of a document: every text and every key in it.
    pub fn document(&self, value: &mut Json) {
        match value {
            Json::String(text) => *text = self.text(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.document(item)),
            Json::Object(entries) => {
                let before = std::mem::take(entries);
                for (key, mut value) in before {
                    self.document(&mut value);
                    entries.insert(self.text(&key), value);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Of what people are told of a step's end; what other steps are given stays as it is.
    pub fn result(&self, result: &mut StepResult) {
        result.message = self.text(&result.message);
        self.document(&mut result.exported);
    }
}

impl std::fmt::Debug for Scrub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrub")
    }
}

/// Whoever watches, who is not told secrets.
pub(crate) struct Scrubbed {
    pub inner: Rc<dyn Observer>,
    pub scrub: Scrub,
}

impl Observer for Scrubbed {
    fn told(&self, told: &Told<'_>) {
        let clean = |text: &str| self.scrub.text(text);
        let cleaned = |result: &StepResult| {
            let mut result = result.clone();
            self.scrub.result(&mut result);
            self.scrub.document(&mut result.output);
            result
        };
        match told {
            Told::Said { step, stream, text } => {
                let (step, stream) = (*step, *stream);
                self.inner.told(&Told::Said { step, stream, text: &clean(text) });
            }
            Told::Again { step, attempt, wait, message } => {
                let (step, attempt, wait) = (*step, *attempt, *wait);
                self.inner.told(&Told::Again { step, attempt, wait, message: &clean(message) });
            }
            Told::Ended { step, result, time } => {
                let (step, time) = (*step, *time);
                self.inner.told(&Told::Ended { step, result: &cleaned(result), time });
            }
            Told::Undone { step, result } => {
                self.inner.told(&Told::Undone { step: *step, result: &cleaned(result) });
            }
            Told::Warned { text } => self.inner.told(&Told::Warned { text: &clean(text) }),
            Told::Began { .. }
            | Told::Started { .. }
            | Told::Skipped { .. }
            | Told::Undoing { .. } => self.inner.told(told),
        }
    }

    fn is_asking(&self) -> bool {
        self.inner.is_asking()
    }

    fn asked(&self, step: &Step) -> Answer {
        self.inner.asked(step)
    }

    fn agrees(&self, step: &Step) -> Option<bool> {
        self.inner.agrees(step)
    }
}
