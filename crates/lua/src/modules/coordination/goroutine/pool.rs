//! Pools: functions that take turns at a number of workers. They belong to the step that makes them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{Function, Lua, MultiValue, Result, Table};
use tokio::sync::{Notify, Semaphore};

use super::super::{acting, call, tasks};

#[derive(Default)]
struct Pools(RefCell<BTreeMap<String, Rc<Pool>>>);

struct Pool {
    workers: usize,
    turns: Semaphore,
    submitted: Cell<u64>,
    queued: Cell<u64>,
    active: Cell<u64>,
    completed: Cell<u64>,
    failed: Cell<u64>,
    is_closed: Cell<bool>,
    changed: Notify,
}

fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

fn uncount(cell: &Cell<u64>) {
    cell.set(cell.get().saturating_sub(1));
}

impl Pool {
    async fn idle(&self) {
        loop {
            let changed = self.changed.notified();
            if self.queued.get() == 0 && self.active.get() == 0 {
                return;
            }
            changed.await;
        }
    }

    async fn work(self: Rc<Pool>, id: String, function: Function) {
        let Ok(_turn) = self.turns.acquire().await else { return };
        uncount(&self.queued);
        count(&self.active);
        let outcome = call(function, MultiValue::new()).await;
        uncount(&self.active);
        match outcome {
            Ok(_) => count(&self.completed),
            Err(error) => {
                count(&self.failed);
                acting().complain(&format!("error: {id}: {error}"));
            }
        }
        self.changed.notify_waiters();
    }
}

fn find(function: &str, name: &str) -> Result<Rc<Pool>> {
    let pools = tasks().kept::<Pools>();
    let found = pools.0.borrow().get(name).cloned();
    found.ok_or_else(|| {
        mlua::Error::runtime(format!(
            "{function}: there is no pool `{name}`; make it with goroutine.pool_create(\"{name}\")"
        ))
    })
}

pub(super) fn create(name: String, workers: usize) -> (bool, Option<String>) {
    let pools = tasks().kept::<Pools>();
    let mut pools = pools.0.borrow_mut();
    if pools.contains_key(&name) {
        return (false, Some(format!("there is a pool `{name}` already")));
    }
    let pool = Pool {
        workers,
        turns: Semaphore::new(workers),
        submitted: Cell::default(),
        queued: Cell::default(),
        active: Cell::default(),
        completed: Cell::default(),
        failed: Cell::default(),
        is_closed: Cell::default(),
        changed: Notify::new(),
    };
    pools.insert(name, Rc::new(pool));
    (true, None)
}

pub(super) fn submit(name: &str, function: Function) -> Result<(Option<String>, Option<String>)> {
    let pool = find("goroutine.pool_submit", name)?;
    if pool.is_closed.get() {
        return Ok((None, Some(format!("the pool `{name}` is closed"))));
    }
    count(&pool.submitted);
    count(&pool.queued);
    let id = format!("{name}-{}", pool.submitted.get());
    tasks().spawn(Rc::clone(&pool).work(id.clone(), function));
    Ok((Some(id), None))
}

pub(super) async fn wait(name: String) -> Result<bool> {
    find("goroutine.pool_wait", &name)?.idle().await;
    Ok(true)
}

/// Takes nothing more, waits for what it has, and is forgotten.
pub(super) async fn close(name: String) -> Result<bool> {
    let pool = find("goroutine.pool_close", &name)?;
    pool.is_closed.set(true);
    pool.idle().await;
    tasks().kept::<Pools>().0.borrow_mut().remove(&name);
    Ok(true)
}

pub(super) fn stats(lua: &Lua, name: &str) -> Result<Table> {
    let pool = find("goroutine.pool_stats", name)?;
    let table = lua.create_table()?;
    table.set("name", name)?;
    table.set("workers", pool.workers)?;
    for (field, cell) in [
        ("active", &pool.active),
        ("completed", &pool.completed),
        ("failed", &pool.failed),
        ("queued", &pool.queued),
    ] {
        table.set(field, cell.get())?;
    }
    Ok(table)
}
