//! Watches who holds locks and who waits: ends what has been silent for too long, and wakes those who wait
//! here for what another server gave them.
//!
//! Every server does this for all locks, each by its own clock that cannot jump ([`Watch`]). What one ends
//! another does not find any more; and what was heard of meanwhile has another generation and stays.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::lock::{Freed, Going, Silent, Watch};
use hostler_model::{Code, Error, EventKind, Limit, Lock, LockHold, LockPayload, LockSighting};
use serde::Serialize;

use super::pass;
use crate::Control;
use crate::service::lock_object;

/// Ends locks whose holders are gone.
pub struct LockWatch {
    control: Control,
    watch: Watch,
}

/// What a pass of the watch over locks did.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct LockWatchReport {
    pub held: usize,
    pub waiting: usize,
    pub expired: usize,
    /// Of those who waited and were not heard of any more.
    pub places_lost: usize,
}

impl Control {
    /// The watch of this server, passed by hand in tests.
    pub fn lock_watch(&self) -> LockWatch {
        LockWatch { control: self.clone(), watch: Watch::default() }
    }

    async fn lock_sightings(&self) -> Result<Vec<LockSighting>, Error> {
        let mut read = self.store.read().await?;
        let mut all: Vec<LockSighting> = Vec::new();
        loop {
            let after = all.last().map(|sighting| sighting.id);
            let page = read.lock_sightings(after, Limit::LARGEST).await?;
            let is_last = page.len() < Limit::MAX as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Ends a hold that is as it was seen; says what it was.
    async fn lock_expire(&self, silent: Silent) -> Result<Option<LockHold>, Error> {
        let ended = self
            .store
            .tx("lock_expire", |tx| {
                Box::pin(async move {
                    let found = tx.lock_by_hold(silent.id).await?;
                    let same = found.filter(|(_, hold)| hold.generation == silent.generation);
                    let Some((lock, hold)) = same else { return Ok(None) };
                    let gone = std::slice::from_ref(&hold);
                    let freed = self.lock_free(tx, &lock, gone, &Going::Silent).await?;
                    if hold.is_held() {
                        let event = self.lock_expired_event(&lock, &hold, &freed);
                        tx.journal_append(&[event], &[]).await?;
                    }
                    Ok::<_, Error>(Some((hold, freed)))
                })
            })
            .await;
        match ended {
            Ok(Some((hold, freed))) => {
                self.lock_freed(&freed);
                match hold.is_held() {
                    true => self.feed.ring(),
                    false => self.lock_waiter_lost(),
                }
                Ok(Some(hold))
            }
            Ok(None) => Ok(None),
            // Somebody else was faster; the next look shows what is left to do.
            Err(error) if error.code == Code::Stale => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn lock_expired_event(
        &self,
        lock: &Lock,
        hold: &LockHold,
        freed: &[Freed],
    ) -> hostler_model::NewEvent {
        let next = freed.iter().flat_map(|freed| &freed.granted).next();
        let host = Some(&hold.holder.host).filter(|host| !host.is_empty());
        let from = match host {
            Some(host) => format!("{} on {host}", hold.by),
            None => hold.by.clone(),
        };
        let words = match next {
            Some(next) => format!("{from} was silent for {}; {} holds it now", hold.ttl, next.by),
            None => format!("{from} was silent for {}", hold.ttl),
        };
        let project = Some(lock.project_id);
        let kind = EventKind::LockExpired;
        let next = freed.iter().flat_map(|freed| &freed.granted);
        let payload = LockPayload {
            next: Some(next.map(|hold| hold.by.clone()).collect()),
            ..LockPayload::of(std::slice::from_ref(hold))
        };
        self.event(kind, project, &lock_object(lock), self.system_actor(), words)
            .with_payload(payload)
    }
}

impl LockWatch {
    async fn look(&mut self) -> Result<Pass<LockWatchReport>, Error> {
        let control = &self.control;
        let all = control.lock_sightings().await?;
        let at = control.clock.instant();
        let silent = self.watch.look(at, &all);
        let held = all.iter().filter(|sighting| sighting.is_held).count();
        let mut report =
            LockWatchReport { held, waiting: all.len() - held, ..LockWatchReport::default() };
        control.lock_tally.held.store(held as u64, Ordering::Relaxed);
        control.lock_tally.waiting.store(report.waiting as u64, Ordering::Relaxed);
        let seen: HashMap<_, _> = all.iter().map(|s| (s.id, s.is_held)).collect();
        control.lock_bells.ring_if(|id| seen.get(&id).copied().unwrap_or(true));
        for one in silent {
            match control.lock_expire(one).await? {
                Some(hold) if hold.is_held() => report.expired += 1,
                Some(_) => report.places_lost += 1,
                None => {}
            }
        }
        let due = self.watch.due_in(at, &all).map(|length| control.now().plus(length));
        Ok(Pass::done(report).due_at(due))
    }
}

impl Reconciler for LockWatch {
    const NAME: &'static str = "lock_watch";
    const DESCRIPTION: &'static str =
        "ends locks whose holders were silent for too long, and wakes those who wait for one";
    type Report = LockWatchReport;

    async fn reconcile(&mut self) -> Pass<LockWatchReport> {
        pass(self.look().await)
    }
}
