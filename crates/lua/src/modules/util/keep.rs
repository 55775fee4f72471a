//! What is kept for a step, and goes when the step does.
//!
//! Several steps share an interpreter, and each must have its own connections. There is no end of a step to hang on to:
//! what belongs to steps that are gone is dropped when the next one asks.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use crate::modules::{Acting, acting};

pub(super) struct PerStep<T>(RefCell<Vec<(Weak<Acting>, Rc<T>)>>);

impl<T: Default> PerStep<T> {
    pub fn new() -> Rc<PerStep<T>> {
        Rc::new(PerStep(RefCell::default()))
    }

    /// What belongs to the step that runs.
    pub fn own(&self) -> Rc<T> {
        let step = acting();
        let mut kept = self.0.borrow_mut();
        kept.retain(|(whose, _)| whose.strong_count() > 0);
        if let Some((_, own)) = kept.iter().find(|(whose, _)| whose.as_ptr() == Rc::as_ptr(&step)) {
            return Rc::clone(own);
        }
        let own = Rc::new(T::default());
        kept.push((Rc::downgrade(&step), Rc::clone(&own)));
        own
    }
}
