//! Cores that belong to one run are used by no other: what shares cores is kept off those that somebody
//! owns, while somebody does.
//!
//! Whoever owns cores is bound to them by its shim or its engine. The others are told by affinity, thread
//! by thread: when an owner comes, they make room; when it goes, they may go back. A thread that has
//! chosen among its cores keeps its choice as far as it can. On a node where nobody owns cores nothing is
//! done at all, and a run that begins while somebody does is told right after its start.
//!
//! Nothing of this is on disk. An agent that starts learns from the runs it finds who owns what; those
//! that made room before have it still.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_model::{CpuSet, Reservation, RunId};
use rustix::process::Pid;
use tokio::sync::Notify;

use super::{Shared, binding, blocking, usage};

/// Threads are looked for until there are no new ones, and not for ever.
const ROUNDS: usize = 4;

pub struct Pool {
    /// What there is to be shared out.
    all: CpuSet,
    held: Mutex<HashMap<RunId, Held>>,
    changed: Notify,
}

/// What one run holds, of those for which that matters.
struct Held {
    cpus: CpuSet,
    is_own: bool,
}

impl Pool {
    pub fn new() -> Pool {
        let all = affinity(None).unwrap_or_default();
        Pool { all, held: Mutex::default(), changed: Notify::new() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<RunId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run is about to start, or was found.
    pub fn claim(&self, run_id: RunId, reservation: &Reservation) {
        let is_own = !reservation.cpus.is_empty();
        let cpus = binding::cpus(reservation);
        if cpus.is_empty() {
            return;
        }
        self.held().insert(run_id, Held { cpus, is_own });
        if is_own {
            self.changed.notify_one();
        }
    }

    /// It is over.
    pub fn release(&self, run_id: RunId) {
        if self.held().remove(&run_id).is_some_and(|held| held.is_own) {
            self.changed.notify_one();
        }
    }

    pub fn is_owned(&self) -> bool {
        self.held().values().any(|held| held.is_own)
    }

    /// What a run may use now; `None` for one that has cores of its own.
    fn share(&self, run_id: RunId) -> Option<CpuSet> {
        let held = self.held();
        let wide = match held.get(&run_id) {
            Some(held) if held.is_own => return None,
            Some(held) => held.cpus.clone(),
            None => self.all.clone(),
        };
        let mut rest = wide.clone();
        held.values().filter(|held| held.is_own).for_each(|held| rest.remove_all(&held.cpus));
        Some(if rest.is_empty() { wide } else { rest })
    }
}

/// Follows what is owned, until the runner is let go.
pub async fn keep(shared: Arc<Shared>) {
    let mut applied = HashMap::new();
    loop {
        tokio::select! {
            biased;
            () = shared.cancel.cancelled() => return,
            () = shared.pool.changed.notified() => {}
        }
        let each = shared.clone();
        let apply = move || {
            let live: Vec<RunId> = each.live().keys().copied().collect();
            applied.retain(|run_id, _| live.contains(run_id));
            for run_id in live {
                confine(&each, run_id, &mut applied);
            }
            Ok(applied)
        };
        match blocking(apply).await {
            Ok(now) => applied = now,
            Err(_) => return,
        }
    }
}

impl Shared {
    /// A run has started: where somebody owns cores, it is kept off them.
    pub(super) fn keep_off(&self) {
        if self.pool.is_owned() {
            self.pool.changed.notify_one();
        }
    }
}

fn confine(shared: &Shared, run_id: RunId, applied: &mut HashMap<RunId, CpuSet>) {
    let Some(share) = shared.pool.share(run_id) else { return };
    let before = applied.get(&run_id);
    if before == Some(&share) && !shared.pool.is_owned() {
        return;
    }
    let mut known = Vec::new();
    for _ in 0..ROUNDS {
        let threads = usage::threads(shared, run_id);
        let fresh: Vec<u32> = threads.into_iter().filter(|tid| !known.contains(tid)).collect();
        if fresh.is_empty() {
            break;
        }
        for tid in &fresh {
            move_thread(*tid, &share, before);
        }
        known.extend(fresh);
    }
    applied.insert(run_id, share);
}

/// A thread that has what it was given gets what is given now; another keeps what it can of its choice.
fn move_thread(tid: u32, share: &CpuSet, before: Option<&CpuSet>) {
    let Some(pid) = i32::try_from(tid).ok().and_then(Pid::from_raw) else { return };
    let Some(now) = affinity(Some(pid)) else { return };
    let kept: CpuSet = now.iter().filter(|cpu| share.contains(*cpu)).collect();
    let is_ours = before == Some(&now) || kept.is_empty();
    let wanted = if is_ours { share } else { &kept };
    if *wanted != now {
        let mut set = rustix::thread::CpuSet::new();
        let known = wanted.iter().map(|cpu| cpu as usize);
        known.filter(|cpu| *cpu < rustix::thread::CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
        // A thread that has gone needs nothing.
        let _ = rustix::thread::sched_setaffinity(Some(pid), &set);
    }
}

fn affinity(pid: Option<Pid>) -> Option<CpuSet> {
    let set = rustix::thread::sched_getaffinity(pid).ok()?;
    let numbers = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    Some(numbers.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: u128) -> RunId {
        RunId::from_uuid(uuid::Uuid::from_u128(n))
    }

    fn on(cpus: &str) -> Reservation {
        Reservation { cpus: cpus.parse().unwrap(), ..Reservation::default() }
    }

    #[test]
    fn what_is_owned_is_nobody_elses_until_its_owner_has_gone() {
        let all: CpuSet = "0-7".parse().unwrap();
        let pool = Pool { all, held: Mutex::default(), changed: Notify::new() };
        let share = |n| pool.share(run(n)).map(|cpus| cpus.to_string());
        assert_eq!(share(9).as_deref(), Some("0-7"));
        pool.claim(run(1), &on("0-1"));
        pool.claim(run(2), &on("4"));
        pool.claim(run(3), &Reservation::default());
        assert!(pool.is_owned());
        assert_eq!((share(1), share(3).as_deref()), (None, Some("2-3,5-7")));
        pool.held().insert(run(4), Held { cpus: "0-3".parse().unwrap(), is_own: false });
        assert_eq!(share(4).as_deref(), Some("2-3"), "bound to a part, and kept off the rest");
        pool.release(run(1));
        assert_eq!((share(4).as_deref(), share(9).as_deref()), (Some("0-3"), Some("0-3,5-7")));
        pool.release(run(2));
        assert!(!pool.is_owned());
        pool.claim(run(5), &on("0-7"));
        assert_eq!(share(9).as_deref(), Some("0-7"), "somewhere it has to run");
    }
}
