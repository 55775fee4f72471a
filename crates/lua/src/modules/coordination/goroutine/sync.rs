//! What goroutines agree with: wait groups, mutexes, semaphores, counters, conditions.
//!
//! Everything runs on one thread, so a goroutine is only interrupted where it waits, or between two instructions of Lua;
//! what is here is for what lasts across that.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use mlua::{Function, MultiValue, Result, UserData, UserDataMethods, UserDataRef, Value};
use tokio::sync::{Notify, Semaphore, oneshot};

use super::idle;

fn wrong(text: &str) -> mlua::Error {
    mlua::Error::runtime(text)
}

/// A permit that is given back by hand.
async fn take(permits: &Semaphore, count: u32) {
    if let Ok(permit) = permits.acquire_many(count).await {
        permit.forget();
    }
}

fn take_now(permits: &Semaphore, count: u32) -> bool {
    permits.try_acquire_many(count).map(|permit| permit.forget()).is_ok()
}

#[derive(Default)]
pub(super) struct WaitGroup {
    count: Cell<i64>,
    changed: Notify,
}

impl WaitGroup {
    fn add(&self, delta: i64) -> Result<()> {
        let count = self.count.get() + delta;
        if count < 0 {
            return Err(wrong(
                "wait_group:done() was called more often than wait_group:add() said",
            ));
        }
        self.count.set(count);
        if count == 0 {
            self.changed.notify_waiters();
        }
        Ok(())
    }
}

impl UserData for WaitGroup {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("add", |_, this, count: Option<i64>| this.add(count.unwrap_or(1)));
        methods.add_method("done", |_, this, ()| this.add(-1));
        methods.add_method("count", |_, this, ()| Ok(this.count.get()));
        methods.add_async_method("wait", |lua, this: UserDataRef<WaitGroup>, ()| async move {
            if idle(&lua, "wait_group:wait").is_some() {
                return Ok(true);
            }
            loop {
                let changed = this.changed.notified();
                if this.count.get() == 0 {
                    return Ok(true);
                }
                changed.await;
            }
        });
    }
}

#[derive(Clone)]
pub(super) struct Mutex(Rc<Semaphore>);

impl Default for Mutex {
    fn default() -> Mutex {
        Mutex(Rc::new(Semaphore::new(1)))
    }
}

impl Mutex {
    fn is_locked(&self) -> bool {
        self.0.available_permits() == 0
    }
    async fn lock(&self) {
        take(&self.0, 1).await;
    }
    fn unlock(&self) -> Result<()> {
        if !self.is_locked() {
            return Err(wrong("mutex:unlock() of a mutex that nobody has locked"));
        }
        self.0.add_permits(1);
        Ok(())
    }
}

impl UserData for Mutex {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method("lock", |lua, this: UserDataRef<Mutex>, ()| async move {
            if idle(&lua, "mutex:lock").is_none() {
                this.lock().await;
            }
            Ok(())
        });
        methods.add_method("try_lock", |_, this, ()| Ok(take_now(&this.0, 1)));
        methods.add_method("unlock", |_, this, ()| this.unlock());
    }
}

/// Many readers or one writer, in the order in which they came.
pub(super) struct RwMutex {
    permits: Semaphore,
    readers: Cell<u32>,
    is_written: Cell<bool>,
}

const READERS: u32 = 1 << 20;

impl Default for RwMutex {
    fn default() -> RwMutex {
        let permits = Semaphore::new(READERS as usize);
        RwMutex { permits, readers: Cell::default(), is_written: Cell::default() }
    }
}

impl RwMutex {
    fn began(&self, is_writer: bool) {
        if is_writer {
            self.is_written.set(true);
        } else {
            self.readers.set(self.readers.get() + 1);
        }
    }

    fn unlock(&self) -> Result<()> {
        if !self.is_written.replace(false) {
            return Err(wrong("rwmutex:unlock() of a mutex that no writer has locked"));
        }
        self.permits.add_permits(READERS as usize);
        Ok(())
    }

    fn runlock(&self) -> Result<()> {
        let readers = self.readers.get();
        if readers == 0 {
            return Err(wrong("rwmutex:runlock() of a mutex that no reader has locked"));
        }
        self.readers.set(readers - 1);
        self.permits.add_permits(1);
        Ok(())
    }
}

impl UserData for RwMutex {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        for (name, share, is_writer) in [("lock", READERS, true), ("rlock", 1, false)] {
            methods.add_async_method(name, move |lua, this: UserDataRef<RwMutex>, ()| async move {
                if idle(&lua, "rwmutex:lock").is_none() {
                    take(&this.permits, share).await;
                    this.began(is_writer);
                }
                Ok(())
            });
        }
        for (name, share, is_writer) in [("try_lock", READERS, true), ("try_rlock", 1, false)] {
            methods.add_method(name, move |_, this, ()| {
                let is_taken = take_now(&this.permits, share);
                if is_taken {
                    this.began(is_writer);
                }
                Ok(is_taken)
            });
        }
        methods.add_method("unlock", |_, this, ()| this.unlock());
        methods.add_method("runlock", |_, this, ()| this.runlock());
    }
}

pub(super) struct Tokens {
    permits: Semaphore,
    capacity: u32,
}

impl Tokens {
    pub fn new(capacity: u32) -> Tokens {
        Tokens { permits: Semaphore::new(capacity as usize), capacity }
    }

    fn wanted(&self, count: Option<u32>) -> Result<u32> {
        let count = count.unwrap_or(1);
        if count > self.capacity {
            return Err(wrong(&format!(
                "semaphore:acquire({count}) of a semaphore with {} tokens would wait for ever",
                self.capacity
            )));
        }
        Ok(count)
    }
}

impl UserData for Tokens {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method(
            "acquire",
            |lua, this: UserDataRef<Tokens>, count: Option<u32>| async move {
                let count = this.wanted(count)?;
                if idle(&lua, "semaphore:acquire").is_none() {
                    take(&this.permits, count).await;
                }
                Ok(true)
            },
        );
        methods.add_method("try_acquire", |_, this, count: Option<u32>| {
            Ok(take_now(&this.permits, this.wanted(count)?))
        });
        methods.add_method("release", |_, this, count: Option<u32>| {
            let free = this.permits.available_permits();
            let room = (this.capacity as usize).saturating_sub(free);
            let count = count.unwrap_or(1) as usize;
            this.permits.add_permits(count.min(room));
            Ok(count <= room)
        });
        methods.add_method("available", |_, this, ()| Ok(this.permits.available_permits()));
        methods.add_method("capacity", |_, this, ()| Ok(this.capacity));
    }
}

pub(super) struct AtomicInt(pub Cell<i64>);

impl UserData for AtomicInt {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("add", |_, this, delta: Option<i64>| {
            this.0.set(this.0.get().wrapping_add(delta.unwrap_or(1)));
            Ok(this.0.get())
        });
        methods.add_method("load", |_, this, ()| Ok(this.0.get()));
        methods.add_method("store", |_, this, value: i64| {
            this.0.set(value);
            Ok(())
        });
        methods.add_method("swap", |_, this, value: i64| Ok(this.0.replace(value)));
        methods.add_method("compare_and_swap", |_, this, (old, new): (i64, i64)| {
            let is_old = this.0.get() == old;
            if is_old {
                this.0.set(new);
            }
            Ok(is_old)
        });
    }
}

#[derive(Default)]
pub(super) struct Once {
    turn: Mutex,
    is_done: Cell<bool>,
}

impl UserData for Once {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method(
            "call",
            |_, this: UserDataRef<Once>, function: Function| async move {
                let turn = this.turn.0.acquire().await;
                if this.is_done.replace(true) {
                    return Ok(false);
                }
                function.call_async::<MultiValue>(()).await?;
                drop(turn);
                Ok(true)
            },
        );
    }
}

/// A condition that goroutines wait for, and the mutex that guards it.
#[derive(Default)]
pub(super) struct Cond {
    mutex: Mutex,
    waiting: RefCell<VecDeque<oneshot::Sender<()>>>,
}

impl Cond {
    pub fn new(mutex: Option<Mutex>) -> Cond {
        Cond { mutex: mutex.unwrap_or_default(), waiting: RefCell::default() }
    }

    /// Wakes one that is still there.
    fn signal(&self) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(one) = waiting.pop_front() {
            if one.send(()).is_ok() {
                return true;
            }
        }
        false
    }
}

impl UserData for Cond {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method("wait", |lua, this: UserDataRef<Cond>, ()| async move {
            if idle(&lua, "cond:wait").is_some() {
                // It stands in a loop until something holds that cannot hold now.
                return Err(wrong("cond:wait() belongs into the body of a task"));
            }
            if !this.mutex.is_locked() {
                return Err(wrong("cond:wait() needs its mutex locked: cond:get_mutex():lock()"));
            }
            let (sender, woken) = oneshot::channel();
            this.waiting.borrow_mut().push_back(sender);
            this.mutex.unlock()?;
            let _by_whom = woken.await;
            this.mutex.lock().await;
            Ok(())
        });
        methods.add_method("signal", |_, this, ()| {
            this.signal();
            Ok(())
        });
        methods.add_method("broadcast", |_, this, ()| {
            while this.signal() {}
            Ok(())
        });
        methods.add_method("get_mutex", |_, this, ()| Ok(this.mutex.clone()));
    }
}

/// A mutex that was given, if one was.
pub(super) fn given_mutex(value: &Value) -> Option<Mutex> {
    value.as_userdata()?.borrow::<Mutex>().ok().map(|mutex| mutex.clone())
}
