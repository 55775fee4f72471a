//! Looks at every event once for the hooks: makes the deliveries and moves the cursor in one transaction.
//!
//! Two servers that look at the same events do the same, and the one that is later finds the cursor moved and
//! writes nothing. A crash before the transaction loses nothing, after it nothing is left to do. While no hook is
//! enabled nothing is read but that.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::hook::{Dispatch, Listener, cause_keys, delivery_key, dispatch};
use hostler_model::{
    Error, Event, EventHook, EventKind, HookDelivery, HookId, HookPayload, Limit, NewEvent,
    ObjectKind, ObjectRef, Scope, hook_correlation,
};
use hostler_store::EventFilter;
use serde::Serialize;

use super::pass;
use crate::Control;

/// Events looked at in one pass; fewer where many hooks may want each of them.
const BATCH: u32 = 500;
/// Deliveries that one transaction makes, about.
const ROWS_MAX: u32 = 5_000;

/// The loop that makes deliveries.
pub struct HookDispatch {
    control: Control,
}

/// What a pass over events did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HookDispatchReport {
    pub events: usize,
    pub deliveries: usize,
    /// Hooks that were kept from a loop.
    pub cut: usize,
}

impl Control {
    pub fn hook_dispatch_reconciler(&self) -> HookDispatch {
        HookDispatch { control: self.clone() }
    }
}

impl Reconciler for HookDispatch {
    const NAME: &'static str = "hook_dispatch";
    const DESCRIPTION: &'static str = "makes deliveries of events for hooks";
    type Report = HookDispatchReport;

    async fn reconcile(&mut self) -> Pass<HookDispatchReport> {
        pass(self.control.hook_dispatch().await)
    }
}

impl Control {
    async fn hook_dispatch(&self) -> Result<Pass<HookDispatchReport>, Error> {
        let mut read = self.store.read().await?;
        let hooks = read.event_hooks_enabled().await?;
        self.has_hooks.store(!hooks.is_empty(), Ordering::Relaxed);
        if hooks.is_empty() {
            return Ok(Pass::done(HookDispatchReport::default()));
        }
        let (cursor, head) = (read.hook_cursor().await?, read.event_bounds().await?.1);
        if cursor >= head {
            return Ok(Pass::done(HookDispatchReport::default()));
        }
        let most = (ROWS_MAX / u32::try_from(hooks.len()).unwrap_or(ROWS_MAX)).clamp(10, BATCH);
        let limit = Limit::new(most).unwrap_or(Limit::DEFAULT);
        let events = read.event_list(EventFilter::default(), cursor, limit).await?;
        drop(read);
        let Some(last) = events.last().map(|event| event.sequence) else {
            return Ok(Pass::done(HookDispatchReport::default()));
        };
        let known = self.hook_chains(&events).await?;
        let decided = {
            let listeners: Vec<Listener> = hooks.iter().cloned().filter_map(listener).collect();
            dispatch(&events, &listeners, &known, self.now())
        };
        let is_ours = self.hook_dispatch_write(&hooks, &decided, cursor, last).await?;
        let report = match is_ours {
            true => HookDispatchReport {
                events: events.len(),
                deliveries: decided.deliveries.len(),
                cut: decided.cut.len(),
            },
            false => HookDispatchReport::default(),
        };
        if report.deliveries > 0 {
            self.wakers.hook_deliver.wake();
        }
        Ok(Pass::done(report).again_if(last < head))
    }

    /// The chains of what these events may have been caused by.
    async fn hook_chains(&self, events: &[Event]) -> Result<HashMap<String, Vec<HookId>>, Error> {
        let mut keys: Vec<String> = events.iter().flat_map(cause_keys).map(str::to_owned).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut read = self.store.read().await?;
        let (deliveries, objects): (Vec<String>, Vec<String>) =
            keys.into_iter().partition(|key| delivery_key(key).is_some());
        let mut known = read.hook_causes(&objects).await?;
        for key in deliveries {
            let Some((hook, sequence)) = delivery_key(&key) else { continue };
            let delivery = read.hook_delivery_get(hook, sequence).await?;
            let mut chain = delivery.map(|delivery| delivery.chain).unwrap_or_default();
            chain.push(hook);
            known.insert(key, chain);
        }
        Ok(known)
    }

    async fn hook_dispatch_write(
        &self,
        hooks: &[EventHook],
        decided: &Dispatch,
        cursor: u64,
        last: u64,
    ) -> Result<bool, Error> {
        let now = self.now();
        let by_hook: Vec<(&EventHook, Vec<HookDelivery>)> = hooks
            .iter()
            .map(|hook| {
                let of = decided.deliveries.iter().filter(|one| one.line.hook == hook.id);
                (hook, of.cloned().collect())
            })
            .collect();
        let by_hook = &by_hook;
        let (is_ours, is_told) = self
            .store
            .tx("hook_dispatch", |tx| {
                Box::pin(async move {
                    if !tx.hook_cursor_move(cursor, last).await? {
                        return Ok((false, false));
                    }
                    for (hook, deliveries) in by_hook {
                        if !deliveries.is_empty() {
                            let on_dead = hook.spec.on_dead;
                            tx.hook_delivery_insert(hook.id, deliveries, on_dead).await?;
                        }
                    }
                    tx.hook_cause_insert(&decided.begun, now).await?;
                    let mut events = Vec::new();
                    for (id, sequence) in &decided.cut {
                        let hook = hooks.iter().find(|hook| hook.id == *id);
                        if let Some(hook) = hook
                            && tx.event_hook_loop_told(*id).await?
                        {
                            events.push(self.loop_cut(hook, *sequence));
                        }
                    }
                    tx.journal_append(&events, &[]).await?;
                    Ok::<_, Error>((true, !events.is_empty()))
                })
            })
            .await?;
        if is_told {
            self.feed.ring();
        }
        Ok(is_ours)
    }

    fn loop_cut(&self, hook: &EventHook, sequence: u64) -> NewEvent {
        let words = format!(
            "did not answer to event {sequence}: it is what the hook caused itself, more than {} times over; narrow its filter",
            hook.spec.loop_depth
        );
        let reason = "a loop".to_owned();
        hook_event(self, hook, EventKind::HookLoopCut, words)
            .with_payload(HookPayload { sequence, attempts: 0, reason })
            .caused_by(hook_correlation(hook.id, sequence))
    }
}

/// Something that happened to a hook by itself.
pub(super) fn hook_event(
    control: &Control,
    hook: &EventHook,
    kind: EventKind,
    words: impl Into<String>,
) -> NewEvent {
    let project = match hook.scope {
        Scope::Global => None,
        Scope::Project(id) => Some(id),
    };
    let object = ObjectRef::new(ObjectKind::Hook, hook.id, &hook.name);
    control.event(kind, project, &object, control.system_actor(), words)
}

/// A filter was read when the hook was made; one that a later version does not read takes nothing.
fn listener(hook: EventHook) -> Option<Listener> {
    match hook.spec.filter() {
        Ok(filter) => Some(Listener { filter, hook }),
        Err(mistake) => {
            tracing::error!(hook = %hook.name, error = mistake.detail, "the filter of a hook cannot be read");
            None
        }
    }
}
