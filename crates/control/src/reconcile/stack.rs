//! Carries stacks on: those that were asked to change, whose deeds came to an end, and whose time has come.
//!
//! A pass never waits for anybody outside. It gives every stack what came of its deeds since the last pass, lets it decide
//! and write, and begins with what was committed; a deed that ends wakes it. So results are written many at a time when
//! there are many. What a stack looks like stays in memory while it is under way; it is read anew as soon as somebody else
//! has written to it.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use hostler_base::chain::chain;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::stack::DeedRef;
use hostler_model::{Code, Error, StackId, Timestamp};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::pass;
use crate::Control;
use crate::stack::{Advanced, Task, Told, Walk};

const BATCH: u32 = 256;
/// Stacks that are carried on side by side.
const TOGETHER: usize = 8;
/// Deeds that one server is at, of all stacks together.
const DEEDS_MAX: usize = 256;
/// How often a server says that it is still at what it is at.
const RENEW: Duration = Duration::from_secs(10);
/// A stack that cannot be carried on waits so long before it is tried again.
const REST: Duration = Duration::from_secs(10);

/// The loop that carries stacks on.
pub struct StackAdvance {
    control: Control,
    walks: HashMap<StackId, Walk>,
    deeds: JoinSet<()>,
    /// What came of deeds, and was not looked at yet.
    inbox: Arc<Mutex<Vec<Told>>>,
    /// Deeds under way, and of which stack.
    flying: HashMap<DeedRef, StackId>,
    told: HashMap<StackId, Vec<Told>>,
    hands: Arc<Semaphore>,
    /// Stacks that could not be carried on, and until when they are left alone.
    resting: HashMap<StackId, Timestamp>,
    renewed: Timestamp,
}

/// What a pass over stacks did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StackReport {
    pub looked_at: usize,
    pub moved: usize,
    pub failed: usize,
    /// Deeds that were begun.
    pub begun: usize,
    /// Deeds under way on this server.
    pub under_way: usize,
}

impl Control {
    /// A reconciler of stacks for this server; tests advance it by hand.
    pub fn stack_reconciler(&self) -> StackAdvance {
        StackAdvance {
            control: self.clone(),
            walks: HashMap::new(),
            deeds: JoinSet::new(),
            inbox: Arc::default(),
            flying: HashMap::new(),
            told: HashMap::new(),
            hands: Arc::new(Semaphore::new(DEEDS_MAX)),
            resting: HashMap::new(),
            renewed: self.now(),
        }
    }
}

impl Reconciler for StackAdvance {
    const NAME: &'static str = "stack";
    const DESCRIPTION: &'static str = "carries stacks on, towards what their templates say";
    type Report = StackReport;

    async fn reconcile(&mut self) -> Pass<StackReport> {
        pass(self.advance().await)
    }
}

impl StackAdvance {
    /// Carries on every stack that wants it.
    pub async fn advance(&mut self) -> Result<Pass<StackReport>, Error> {
        self.open_inbox();
        let now = self.control.now();
        let wanting = self.wanting(now).await?;
        let mut report = StackReport { looked_at: wanting.len(), ..StackReport::default() };
        let (control, flying) = (self.control.clone(), self.flying_by_stack());
        let nobody = HashSet::new();
        let jobs: Vec<_> = wanting
            .into_iter()
            .map(|id| {
                let kept = self.walks.remove(&id);
                let told = self.told.remove(&id).unwrap_or_default();
                let (control, flying) = (&control, flying.get(&id).unwrap_or(&nobody));
                async move {
                    let advanced = control.stack_advance(id, kept, &told, flying).await;
                    (id, advanced, told)
                }
            })
            .collect();
        let done: Vec<_> = futures::stream::iter(jobs).buffer_unordered(TOGETHER).collect().await;
        let mut is_more = false;
        for (id, advanced, told) in done {
            let is_written = advanced.as_ref().is_ok_and(|advanced| !advanced.is_lost);
            if !is_written && !told.is_empty() {
                self.told.insert(id, told);
            }
            match advanced {
                Ok(advanced) => {
                    self.resting.remove(&id);
                    report.moved += usize::from(advanced.is_moved);
                    is_more |= advanced.is_more || advanced.is_moved;
                    report.begun += self.carry_out(id, advanced);
                }
                Err(error) if error.code == Code::Stale => is_more = true,
                Err(error) => {
                    report.failed += 1;
                    self.resting.insert(id, now.plus(REST));
                    self.control.stack_tally.errors.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(stack = %id, error = %chain(&error), "stack cannot be carried on");
                }
            }
        }
        report.under_way = self.flying.len();
        let tally = &self.control.stack_tally;
        tally.passes.fetch_add(report.moved as u64, Ordering::Relaxed);
        tally.under_way.store(self.flying.len() as u64, Ordering::Relaxed);
        let due = self.control.store.read().await?.stack_next_due().await?;
        let due = due.map(|due| match self.resting.is_empty() {
            true => due,
            false => due.max(now.plus(Duration::from_secs(1))),
        });
        Ok(Pass::done(report).again_if(is_more).due_at(due))
    }

    /// Stacks that are due, that something came for, or whose deeds this server has to say that it is at.
    async fn wanting(&mut self, now: Timestamp) -> Result<Vec<StackId>, Error> {
        self.resting.retain(|_, until| *until > now);
        let due = self.control.store.read().await?.stack_wanting(now, BATCH).await?;
        let mut known = HashSet::new();
        let mut wanting: Vec<StackId> = due
            .into_iter()
            .chain(self.told.keys().copied())
            .filter(|id| !self.resting.contains_key(id) && known.insert(*id))
            .collect();
        if now >= self.renewed.plus(RENEW) {
            self.renewed = now;
            wanting.extend(self.flying.values().copied().filter(|id| known.insert(*id)));
        }
        Ok(wanting)
    }

    fn flying_by_stack(&self) -> HashMap<StackId, HashSet<DeedRef>> {
        let mut found: HashMap<StackId, HashSet<DeedRef>> = HashMap::new();
        for (deed, stack) in &self.flying {
            found.entry(*stack).or_default().insert(*deed);
        }
        found
    }

    fn carry_out(&mut self, id: StackId, advanced: Advanced) -> usize {
        if let Some(walk) = advanced.walk {
            self.walks.insert(id, walk);
        }
        let count = advanced.tasks.len();
        for task in advanced.tasks {
            self.begin(task);
        }
        count
    }

    fn begin(&mut self, task: Task) {
        let (hands, wakers) = (Arc::clone(&self.hands), self.control.wakers.stack.clone());
        let inbox = Arc::clone(&self.inbox);
        let (deed, stack) = (task.deed(), task.stack());
        self.flying.insert(deed, stack);
        self.deeds.spawn(async move {
            let _hand = hands.acquire_owned().await;
            let told = AssertUnwindSafe(task.run()).catch_unwind().await;
            let told = told.unwrap_or_else(|_| {
                tracing::error!(%stack, resource = %deed.row, "a deed of a stack panicked");
                Told::broken(stack, deed)
            });
            inbox.lock().unwrap_or_else(PoisonError::into_inner).push(told);
            wakers.wake();
        });
    }

    /// Takes in what came of deeds.
    fn open_inbox(&mut self) {
        while self.deeds.try_join_next().is_some() {}
        let told = std::mem::take(&mut *self.inbox.lock().unwrap_or_else(PoisonError::into_inner));
        for one in told {
            self.control.stack_tally.deeds.fetch_add(1, Ordering::Relaxed);
            self.flying.remove(&one.deed());
            self.told.entry(one.stack()).or_default().push(one);
        }
    }

    /// Waits until one of the deeds under way has ended; false when there is none.
    pub async fn deed_ended(&mut self) -> bool {
        self.deeds.join_next().await.is_some()
    }
}
