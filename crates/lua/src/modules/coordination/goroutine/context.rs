//! Contexts: whether there is still a point in going on.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mlua::{Function, Lua, Result, UserData, UserDataMethods, Value};

use super::super::{clock, millis};

/// A node in a tree: what is cancelled above is cancelled below.
#[derive(Clone)]
pub(super) struct Context(Rc<Node>);

struct Node {
    parent: Option<Context>,
    is_cancelled: Cell<bool>,
    /// When it ends, and that in milliseconds since 1970.
    deadline: Option<(Instant, f64)>,
}

impl Context {
    pub fn new(parent: Option<Context>, deadline: Option<(Instant, f64)>) -> Context {
        Context(Rc::new(Node { parent, is_cancelled: Cell::new(false), deadline }))
    }

    fn error(&self, now: Instant) -> Option<&'static str> {
        if self.0.is_cancelled.get() {
            return Some("context canceled");
        }
        if let Some(error) = self.0.parent.as_ref().and_then(|parent| parent.error(now)) {
            return Some(error);
        }
        let is_late = self.0.deadline.is_some_and(|(at, _)| now >= at);
        is_late.then_some("context deadline exceeded")
    }

    /// The nearest of its deadline and those above.
    fn deadline(&self) -> Option<f64> {
        let above = self.0.parent.as_ref().and_then(Context::deadline);
        let own = self.0.deadline.map(|(_, at)| at);
        match (own, above) {
            (Some(own), Some(above)) => Some(own.min(above)),
            (own, above) => own.or(above),
        }
    }

    fn below(&self, deadline: Option<(Instant, f64)>) -> Context {
        Context::new(Some(self.clone()), deadline)
    }

    /// It, and the function that cancels it.
    pub fn with_cancel(self, lua: &Lua) -> Result<(Context, Function)> {
        let cancelled = self.clone();
        let cancel = lua.create_function(move |_, ()| {
            cancelled.0.is_cancelled.set(true);
            Ok(())
        })?;
        Ok((self, cancel))
    }
}

impl UserData for Context {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("with_cancel", |lua, this, ()| this.below(None).with_cancel(lua));
        methods.add_method("with_timeout", |lua, this, time: Value| {
            let time = millis("context:with_timeout", &time)?;
            let at = clock::millis(clock::now().plus(time));
            this.below(Some((Instant::now() + time, at))).with_cancel(lua)
        });
        methods.add_method("with_deadline", |lua, this, at: f64| {
            let left = (at - clock::millis(clock::now())).max(0.0);
            let left = Duration::try_from_secs_f64(left / 1e3).map_err(|_| {
                mlua::Error::runtime(
                    "context:with_deadline needs a time in milliseconds since 1970",
                )
            })?;
            this.below(Some((Instant::now() + left, at))).with_cancel(lua)
        });
        methods.add_method("is_cancelled", |_, this, ()| Ok(this.error(Instant::now()).is_some()));
        methods.add_method("err", |_, this, ()| Ok(this.error(Instant::now())));
        methods.add_method("cancel", |_, this, ()| {
            this.0.is_cancelled.set(true);
            Ok(())
        });
        methods.add_method("deadline", |_, this, ()| Ok(this.deadline()));
    }
}
