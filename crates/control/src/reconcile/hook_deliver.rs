//! Does what deliveries are there for: takes those that are due, tries each beside the others, and writes what came of it.
//!
//! A pass never waits for a receiver. It writes the results of the tries that ended since the last pass, frees
//! their lines, takes as many as there are hands, and begins with them; a try that ends wakes it. So results are written
//! many at a time when there are many. A server that dies leaves its tries to their lease, and another does them
//! again, under the same key: at least once.
//!
//! There is a bound for each hook, on all servers together, and one for this server. Hooks take turns at being the
//! first to get hands, so one with much to do, or a receiver that hangs, does not keep others waiting for ever.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_base::backoff::Backoff;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::hook::{Tried, after_try, deadline, frees_line};
use hostler_model::{
    DeliveryState, Error, EventHook, EventKind, HookDelivery, HookId, HookLine, HookPayload,
    NewEvent, OnDead,
};
use serde::Serialize;
use tokio::task::JoinSet;

use super::hook_dispatch::hook_event;
use super::pass;
use crate::Control;

/// Beyond its time limit, until another server takes a delivery over.
const LEASE_BEYOND: Duration = Duration::from_secs(30);
/// What is begun by a call to ourselves has this long to be begun.
const BEGIN_MAX: Duration = Duration::from_secs(60);
/// Deliveries that are followed, or left over, and looked at in one pass.
const LOOKS: u64 = 500;
/// Times a delivery may be taken without a result before that counts as one that failed.
const LOST_MAX: u32 = 5;

/// The loop that delivers.
pub struct HookDeliver {
    control: Control,
    tries: JoinSet<Ended>,
    /// Ended, and not written yet.
    ended: Vec<Ended>,
    /// Which hook is asked first.
    turn: usize,
}

struct Ended {
    hook: EventHook,
    delivery: HookDelivery,
    tried: Tried,
}

/// What a pass over deliveries did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HookDeliverReport {
    pub begun: usize,
    pub done: usize,
    pub failed: usize,
    pub dead: usize,
    /// Tries under way on this server.
    pub under_way: usize,
}

/// How tries ended on this server, since it started.
#[derive(Debug, Default)]
pub(crate) struct HookTally {
    done: AtomicU64,
    failed: AtomicU64,
    dead: AtomicU64,
}

/// The same, as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookCounts {
    pub done: u64,
    pub failed: u64,
    pub dead: u64,
}

impl Control {
    pub fn hook_deliver_reconciler(&self) -> HookDeliver {
        HookDeliver { control: self.clone(), tries: JoinSet::new(), ended: Vec::new(), turn: 0 }
    }

    /// How tries ended on this server, since it started.
    pub fn hook_counts(&self) -> HookCounts {
        let tally = &self.hook_tally;
        HookCounts {
            done: tally.done.load(Ordering::Relaxed),
            failed: tally.failed.load(Ordering::Relaxed),
            dead: tally.dead.load(Ordering::Relaxed),
        }
    }
}

impl Reconciler for HookDeliver {
    const NAME: &'static str = "hook_deliver";
    const DESCRIPTION: &'static str = "delivers events for hooks";
    type Report = HookDeliverReport;

    async fn reconcile(&mut self) -> Pass<HookDeliverReport> {
        pass(self.deliver().await)
    }
}

/// What one transaction did.
#[derive(Default)]
struct Round {
    taken: Vec<HookDelivery>,
    done: u64,
    failed: u64,
    dead: u64,
}

impl HookDeliver {
    async fn deliver(&mut self) -> Result<Pass<HookDeliverReport>, Error> {
        while let Some(ended) = self.tries.try_join_next() {
            match ended {
                Ok(ended) => self.ended.push(ended),
                Err(error) => tracing::error!(%error, "a delivery broke off; its lease ends it"),
            }
        }
        let control = self.control.clone();
        if !control.has_hooks.load(Ordering::Relaxed)
            && self.ended.is_empty()
            && self.tries.is_empty()
        {
            return Ok(Pass::done(HookDeliverReport::default()));
        }
        let hooks: HashMap<HookId, EventHook> = {
            let mut read = control.store.read().await?;
            read.event_hooks_enabled().await?.into_iter().map(|hook| (hook.id, hook)).collect()
        };
        let mut ended = std::mem::take(&mut self.ended);
        ended.extend(looked_at(&control, &hooks).await?);
        let free = control.config.hook_workers.saturating_sub(self.tries.len());
        let round = match self.round(&hooks, &ended, free).await {
            Ok(round) => round,
            Err(error) => {
                self.ended = ended;
                return Err(error);
            }
        };
        count(&control, &round);
        let begun = round.taken.len();
        for delivery in round.taken {
            let Some(hook) = hooks.get(&delivery.line.hook).cloned() else { continue };
            let control = control.clone();
            self.tries.spawn(async move {
                let tried = control.hook_try(&hook, &delivery).await;
                control.wakers.hook_deliver.wake();
                Ended { hook, delivery, tried }
            });
        }
        if round.dead > 0 {
            control.feed.ring();
        }
        let report = HookDeliverReport {
            begun,
            done: usize::try_from(round.done).unwrap_or(usize::MAX),
            failed: usize::try_from(round.failed).unwrap_or(usize::MAX),
            dead: usize::try_from(round.dead).unwrap_or(usize::MAX),
            under_way: self.tries.len(),
        };
        let due = match self.tries.len() < control.config.hook_workers {
            true => control.store.read().await?.hook_delivery_next_due().await?,
            false => None,
        };
        Ok(Pass::done(report).due_at(due))
    }

    /// Writes results, frees lines and takes what is next, in one transaction.
    async fn round(
        &mut self,
        hooks: &HashMap<HookId, EventHook>,
        ended: &[Ended],
        free: usize,
    ) -> Result<Round, Error> {
        let control = &self.control;
        let now = control.now();
        let settled: Vec<(&EventHook, HookDelivery)> = ended
            .iter()
            .map(|one| {
                let wait = wait(&one.hook, &one.delivery);
                (&one.hook, after_try(&one.delivery, &one.hook, one.tried.clone(), wait, now))
            })
            .collect();
        let mut order: Vec<&EventHook> = hooks.values().collect();
        order.sort_by_key(|hook| hook.id);
        if !order.is_empty() {
            self.turn = (self.turn + 1) % order.len();
            order.rotate_left(self.turn);
        }
        let (settled, order) = (&settled, &order);
        control
            .store
            .tx("hook_deliver", |tx| {
                Box::pin(async move {
                    let mut round = Round::default();
                    let (mut lines, mut news): (HashSet<(HookLine, OnDead)>, Vec<NewEvent>) =
                        (HashSet::new(), Vec::new());
                    for (hook, after) in settled {
                        if !tx.hook_delivery_save(after).await? {
                            continue;
                        }
                        round.note(control, hook, after, &mut news);
                        if frees_line(after, hook.spec.on_dead) {
                            lines.insert((after.line.clone(), hook.spec.on_dead));
                        }
                    }
                    for (line, on_dead) in &lines {
                        tx.hook_line_advance(line, *on_dead, now).await?;
                    }
                    round.taken = take(tx, order, free, now).await?;
                    tx.journal_append(&news, &[]).await?;
                    Ok::<_, Error>(round)
                })
            })
            .await
    }
}

impl Round {
    fn note(
        &mut self,
        control: &Control,
        hook: &EventHook,
        after: &HookDelivery,
        news: &mut Vec<NewEvent>,
    ) {
        match after.state {
            DeliveryState::Done => self.done += 1,
            DeliveryState::Ready => self.failed += 1,
            DeliveryState::Dead => {
                self.dead += 1;
                let words = format!("gave up event {}: {}", after.sequence, after.note);
                let payload = HookPayload {
                    sequence: after.sequence,
                    attempts: after.attempts,
                    reason: after.note.clone(),
                };
                let event = hook_event(control, hook, EventKind::HookDeadLetter, words);
                news.push(event.with_payload(payload).caused_by(after.key()));
            }
            _ => {}
        }
    }
}

/// Takes what is due, hook after hook, within their bounds and ours.
async fn take(
    tx: &mut hostler_store::Tx<'_>,
    order: &[&EventHook],
    mut free: usize,
    now: hostler_model::Timestamp,
) -> Result<Vec<HookDelivery>, Error> {
    let mut taken = Vec::new();
    if free == 0 {
        return Ok(taken);
    }
    let under_way: BTreeMap<HookId, u64> = tx.hook_delivery_under_way().await?;
    for hook in order {
        let busy = under_way.get(&hook.id).copied().unwrap_or_default();
        let room = u64::from(hook.spec.at_once).saturating_sub(busy).min(free as u64);
        if room == 0 {
            continue;
        }
        let found = tx.hook_delivery_due(hook.id, now, room).await?;
        let limit = hook.spec.time_limit().duration();
        let lease = match hook.spec.action {
            hostler_model::HookAction::Webhook(_) => limit,
            _ => BEGIN_MAX,
        };
        let claimed = tx.hook_delivery_claim(found, now, now.plus(lease + LEASE_BEYOND)).await?;
        free = free.saturating_sub(claimed.len());
        taken.extend(claimed);
        if free == 0 {
            break;
        }
    }
    Ok(taken)
}

/// What became of what was begun, and of what a server that is gone left behind.
async fn looked_at(
    control: &Control,
    hooks: &HashMap<HookId, EventHook>,
) -> Result<Vec<Ended>, Error> {
    let now = control.now();
    let (following, left) = {
        let mut read = control.store.read().await?;
        (
            read.hook_delivery_due_in(DeliveryState::Following, now, LOOKS).await?,
            read.hook_delivery_due_in(DeliveryState::Performing, now, LOOKS).await?,
        )
    };
    let mut ended = Vec::new();
    for delivery in following {
        let Some(hook) = hooks.get(&delivery.line.hook).cloned() else { continue };
        let tried = control.hook_look(&hook, &delivery).await?;
        ended.push(Ended { hook, delivery, tried });
    }
    for delivery in left {
        let Some(hook) = hooks.get(&delivery.line.hook).cloned() else { continue };
        let lost = delivery.claims.saturating_sub(delivery.attempts);
        let tried = match lost >= LOST_MAX || now >= deadline(&delivery, &hook) {
            true => Tried::Failed {
                why: "servers ended again and again while they delivered it".to_owned(),
                status: None,
                is_final: true,
            },
            false => Tried::Again,
        };
        ended.push(Ended { hook, delivery, tried });
    }
    Ok(ended)
}

fn wait(hook: &EventHook, delivery: &HookDelivery) -> Duration {
    let retry = hook.spec.retry;
    Backoff::new(retry.min.duration(), retry.max.duration(), Duration::ZERO)
        .after(delivery.attempts)
        .next_delay()
}

fn count(control: &Control, round: &Round) {
    let tally = &control.hook_tally;
    tally.done.fetch_add(round.done, Ordering::Relaxed);
    tally.failed.fetch_add(round.failed, Ordering::Relaxed);
    tally.dead.fetch_add(round.dead, Ordering::Relaxed);
}
