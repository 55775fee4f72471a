//! How locks go on and end: renewed, released, taken away. Those who wait longest get what became free.

use std::sync::atomic::Ordering;

use hostler_engine::lock::{self as engine, Freed, Going};
use hostler_model::{
    Code, Error, EventKind, Lock, LockEnd, LockForced, LockHold, LockHoldId, LockName, LockPayload,
    PastHold, Permission, Project, Span,
};
use hostler_store::Tx;
use serde_json::json;

use super::approval_gate::{Deed, What};
use super::lock::{LockDetail, TRIES, keep, lock_object};
use super::lock_words::{absent, check_ttl, contended, not_held, over};
use super::project::check_text;
use crate::{Control, Cx, audit_state};

const REASON_LENGTH: std::ops::RangeInclusive<usize> = 1..=1000;

impl Control {
    /// Says that one is still there.
    pub async fn lock_renew(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        id: LockHoldId,
        ttl: Option<Span>,
    ) -> Result<LockHold, Error> {
        if let Some(ttl) = ttl {
            check_ttl(ttl)?;
        }
        let principal = cx.caller.principal_id;
        let renewed = self
            .store
            .tx("lock_renew", |tx| {
                Box::pin(async move {
                    let now = self.now();
                    let renewed =
                        tx.lock_hold_renew(project.id, name, id, principal, ttl, now).await?;
                    Ok::<_, Error>(renewed)
                })
            })
            .await?;
        match renewed {
            Some(hold) => Ok(hold),
            None => Err(self.lock_lost(cx, project, name, id).await?),
        }
    }

    /// Gives a lock back, or a place in its queue. Doing it again is no mistake.
    pub async fn lock_release(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        id: LockHoldId,
    ) -> Result<(), Error> {
        for _ in 0..TRIES {
            let freed = self
                .store
                .tx("lock_release", |tx| {
                    Box::pin(async move {
                        let Some((lock, hold)) = tx.lock_by_hold(id).await? else {
                            return Ok(None);
                        };
                        if !is_own(cx, project, name, &lock, &hold) {
                            return Ok(None);
                        }
                        self.lock_free(tx, &lock, &[hold], &Going::Left).await.map(Some)
                    })
                })
                .await;
            match freed {
                Ok(Some(freed)) => {
                    self.lock_freed(&freed);
                    return Ok(());
                }
                Ok(None) => {
                    let past = self.lock_past(cx, project, name, id).await?;
                    return match past.as_ref().map(|past| past.end) {
                        Some(LockEnd::Released) => Ok(()),
                        _ => Err(self.lock_lost(cx, project, name, id).await?),
                    };
                }
                Err(error) if error.code == Code::Stale => {}
                Err(error) => return Err(error),
            }
        }
        Err(contended(name))
    }

    /// Takes a lock away from who holds it, from all or from one; those who wait are next.
    pub async fn lock_force_release(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        only: Option<LockHoldId>,
        reason: &str,
    ) -> Result<LockDetail, Error> {
        check_text("/reason", reason, REASON_LENGTH)?;
        let deed = Deed {
            verb: Permission::LockForce,
            project: Some(project),
            name: name.to_string(),
            what: What::Plain(json!({ "lock": name, "hold": only, "reason": reason })),
            specs: Vec::new(),
            node: None,
        };
        let pass = self.approval_pass(cx, &deed).await?;
        let (pass, forced) =
            (&pass, &LockForced { by: cx.actor().name, reason: reason.to_owned() });
        let freed = self
            .store
            .tx("lock_force_release", |tx| {
                Box::pin(async move {
                    let lock = tx.lock_get(project.id, name).await?.ok_or_else(|| absent(name))?;
                    let object = lock_object(&lock);
                    // A repeat of what was done must not hit who came next.
                    if self.claim(tx, cx, &object).await?.is_some() {
                        return Ok(Vec::new());
                    }
                    let before = tx.lock_holders(&[lock.id]).await?;
                    let mut gone = before.clone();
                    gone.retain(|hold| only.is_none_or(|only| hold.id == only));
                    if gone.is_empty() {
                        return Err(not_held(name, only));
                    }
                    self.approval_use(tx, cx, pass).await?;
                    let going = Going::Forced(forced.clone());
                    let freed = self.lock_free(tx, &lock, &gone, &going).await?;
                    let after = tx.lock_holders(&[lock.id]).await?;
                    let now = tx.lock_get(project.id, name).await?.unwrap_or(lock.clone());
                    let names: Vec<&str> = gone.iter().map(|hold| hold.by.as_str()).collect();
                    let words = format!("taken away from {}: {reason}", names.join(", "));
                    let event = self.event(
                        EventKind::LockForced,
                        Some(project.id),
                        &object,
                        cx.actor(),
                        words,
                    );
                    let next = freed.iter().flat_map(|freed| &freed.granted);
                    let event = event.with_payload(LockPayload {
                        next: Some(next.map(|hold| hold.by.clone()).collect()),
                        reason: Some(reason.to_owned()),
                        ..LockPayload::of(&gone)
                    });
                    let ids: Vec<_> = gone.iter().map(|hold| hold.id).collect();
                    let detail = json!({ "holds": ids, "from": names, "reason": reason });
                    let audit = self
                        .audit(cx, "lock.force", &object, Some(project.id), detail)
                        .with_states(
                            Some(&audit_state::lock(&lock, &before)),
                            Some(&audit_state::lock(&now, &after)),
                        );
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(freed)
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.lock_freed(&freed);
        self.feed.ring();
        self.lock_get(project, name).await
    }
    /// Some are gone; those who wait longest get what they had.
    pub(crate) async fn lock_free(
        &self,
        tx: &mut Tx<'_>,
        lock: &Lock,
        gone: &[LockHold],
        going: &Going,
    ) -> Result<Vec<Freed>, Error> {
        let holders = gone.iter().filter(|hold| hold.is_held()).count() as u64;
        let next = match holders {
            0 => Vec::new(),
            _ if lock.waiting == 0 => Vec::new(),
            holders => tx.lock_queue(lock.id, holders).await?,
        };
        let decision = engine::free(lock, gone, &next, going, self.now());
        keep(tx, lock, &decision).await?;
        Ok(decision.answer)
    }
    /// Wakes who was granted something, and counts.
    pub(crate) fn lock_freed(&self, freed: &[Freed]) {
        let tally = &self.lock_tally;
        for one in freed {
            let count = match one.past.as_ref().map(|past| past.end) {
                Some(LockEnd::Released) => Some(&tally.released),
                Some(LockEnd::Expired) => Some(&tally.expired),
                Some(LockEnd::Forced) => Some(&tally.forced),
                None => None,
            };
            if let Some(count) = count {
                count.fetch_add(1, Ordering::Relaxed);
            }
            tally.granted.fetch_add(one.granted.len() as u64, Ordering::Relaxed);
            self.lock_bells.ring(one.granted.iter().map(|hold| hold.id));
        }
    }

    pub(crate) fn lock_waiter_lost(&self) {
        self.lock_tally.waiters_lost.fetch_add(1, Ordering::Relaxed);
    }
    async fn lock_past(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        id: LockHoldId,
    ) -> Result<Option<PastHold>, Error> {
        let lock = self.store.read().await?.lock_get(project.id, name).await?;
        let past = lock.and_then(|lock| lock.past_of(id).cloned());
        Ok(past.filter(|past| past.principal_id == cx.caller.principal_id))
    }

    /// Why somebody does not hold what it says it holds.
    async fn lock_lost(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        id: LockHoldId,
    ) -> Result<Error, Error> {
        let past = self.lock_past(cx, project, name, id).await?;
        if let Some(past) = past {
            return Ok(over(name, &past));
        }
        let found = self.store.read().await?.lock_by_hold(id).await?;
        Ok(match found.filter(|(lock, hold)| is_own(cx, project, name, lock, hold)) {
            Some((_, hold)) if !hold.is_held() => Error::conflict(
                format!("the hold {id} of lock `{name}` waits and holds nothing yet"),
                "ask for the lock again, with the same id, to keep its place",
            ),
            _ => Error::new(
                Code::NotFound,
                format!("you have no hold {id} of lock `{name}`"),
                format!("`hostler lock show {name}` says who holds it and who held it before"),
            ),
        })
    }
}

/// Whether it is the caller's, and of the lock that the caller names.
fn is_own(cx: &Cx, project: &Project, name: &LockName, lock: &Lock, hold: &LockHold) -> bool {
    hold.principal_id == cx.caller.principal_id
        && lock.project_id == project.id
        && lock.name == *name
}
