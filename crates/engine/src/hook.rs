//! Event hooks: which events are for which hook, what is caused by whom, and what follows from a try.
//!
//! Loops. An event can be the consequence of a hook: its correlation names a delivery, or the execution or the task that
//! a delivery began, or it is about a task that such an execution submitted. Every event therefore has a
//! *chain*, the hooks that led to it, which is found without help of what runs in between: events come in
//! order, so whatever a hook began is noted when it begins ([`Dispatch::begun`]), before anything can be said of
//! how it went. A hook does not take an event whose chain has it more often than it allows.
//!
//! Only what ends is noted: tasks, arrays, executions and operations. A node that a hook cordoned has events of
//! its own afterwards, and those are nobody's.

use std::collections::HashMap;
use std::time::Duration;

use hostler_model::filter::Filter;
use hostler_model::{
    DeliveryState, Event, EventHook, EventKind, HookDelivery, HookId, HookLine, ObjectKind, OnDead,
    Scope, Timestamp,
};

/// Hooks in one chain; what would be longer is cut whatever the hooks allow.
pub const CHAIN_MAX: usize = 32;

/// A hook with its filter read.
#[derive(Clone, Debug)]
pub struct Listener {
    pub hook: EventHook,
    pub filter: Option<Filter>,
}

/// What follows from some events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dispatch {
    /// In the order of the events.
    pub deliveries: Vec<HookDelivery>,
    /// What hooks began: the object's id, and the chain.
    pub begun: Vec<(String, Vec<HookId>)>,
    /// Hooks that were kept from taking an event, with its number; each hook once.
    pub cut: Vec<(HookId, u64)>,
}

/// The keys under which an event's cause may be known: what caused it, and what it is about.
pub fn cause_keys(event: &Event) -> impl Iterator<Item = &str> {
    let correlation = event.event.correlation.as_deref();
    let caused_by = correlation.filter(|text| text.starts_with(DELIVERY)).map(delivery_of);
    let begun = correlation
        .and_then(|text| text.strip_prefix("execution/").or_else(|| text.strip_prefix("task/")));
    // What users tell of is about a name, and not about anything that a hook began.
    let object = &event.event.object;
    let about = (object.kind != ObjectKind::Custom).then_some(object.id.as_str());
    caused_by.into_iter().chain(begun).chain(about)
}

const DELIVERY: &str = "hook/";

/// A delivery's key without the number of the try.
fn delivery_of(correlation: &str) -> &str {
    match correlation.match_indices('/').nth(2) {
        Some((end, _)) => &correlation[..end],
        None => correlation,
    }
}

/// Hook and event number of a delivery's key.
pub fn delivery_key(key: &str) -> Option<(HookId, u64)> {
    let (hook, sequence) = key.strip_prefix(DELIVERY)?.split_once('/')?;
    Some((hook.parse().ok()?, sequence.parse().ok()?))
}

/// Decides for events in their order. `known` has the chains of [`cause_keys`]: of a delivery, the hooks that
/// led to it and itself.
pub fn dispatch(
    events: &[Event],
    listeners: &[Listener],
    known: &HashMap<String, Vec<HookId>>,
    now: Timestamp,
) -> Dispatch {
    let mut dispatch = Dispatch::default();
    let mut begun: HashMap<&str, Vec<HookId>> = HashMap::new();
    for event in events {
        let chain = cause_keys(event)
            .find_map(|key| begun.get(key).or_else(|| known.get(key)))
            .cloned()
            .unwrap_or_default();
        let object = &event.event.object;
        if !chain.is_empty() && begins(event.event.kind) {
            dispatch.begun.push((object.id.clone(), chain.clone()));
            begun.insert(object.id.as_str(), chain.clone());
        }
        let mut document = None;
        for listener in listeners.iter().filter(|listener| listener.hears(event)) {
            let document = document.get_or_insert_with(|| event.document());
            if listener.filter.as_ref().is_some_and(|filter| !filter.matches(document)) {
                continue;
            }
            let hook = &listener.hook;
            if is_loop(hook, &chain) {
                if dispatch.cut.iter().all(|(cut, _)| *cut != hook.id) {
                    dispatch.cut.push((hook.id, event.sequence));
                }
                continue;
            }
            dispatch.deliveries.push(HookDelivery {
                line: HookLine { hook: hook.id, object: format!("{}/{}", object.kind, object.id) },
                sequence: event.sequence,
                event: document.clone(),
                chain: chain.clone(),
                state: DeliveryState::Queued,
                attempts: 0,
                claims: 0,
                time_due: now,
                made: None,
                time_begun: None,
                note: String::new(),
                status: None,
                time_created: now,
                time_ended: None,
            });
        }
    }
    dispatch
}

impl Listener {
    /// Whether an event is for it, as far as can be told without its filter.
    fn hears(&self, event: &Event) -> bool {
        let hook = &self.hook;
        let is_in_scope = match hook.scope {
            Scope::Global => true,
            Scope::Project(id) => event.event.project_id == Some(id),
        };
        is_in_scope
            && hook.is_enabled
            && event.sequence > hook.after
            && hook.spec.takes(&event.event.name())
    }
}

fn is_loop(hook: &EventHook, chain: &[HookId]) -> bool {
    let times = chain.iter().filter(|id| **id == hook.id).count();
    times > hook.spec.loop_depth as usize || chain.len() >= CHAIN_MAX
}

/// Whether an event is the first of something that ends.
fn begins(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::TaskCreated
            | EventKind::ArrayCreated
            | EventKind::ExecutionCreated
            | EventKind::OperationCreated
    )
}

/// How a try went.
#[derive(Clone, Debug, PartialEq)]
pub enum Tried {
    /// It is done.
    Done { note: String, status: Option<u16> },
    /// Something was begun that is to be followed.
    Begun { made: hostler_model::ObjectRef },
    /// It failed; `is_final` when trying again is of no use.
    Failed { why: String, status: Option<u16>, is_final: bool },
    /// Nothing can be said yet of what is followed.
    Goes,
    /// Nobody knows what became of it: who tried is gone.
    Again,
}

/// How often what was begun is looked at.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a delivery is after a try. `wait` is how long the next one is put off if there is one.
pub fn after_try(
    delivery: &HookDelivery,
    hook: &EventHook,
    tried: Tried,
    wait: Duration,
    now: Timestamp,
) -> HookDelivery {
    let mut next = delivery.clone();
    match tried {
        Tried::Done { note, status } => {
            next.state = DeliveryState::Done;
            next.note = note;
            next.status = status;
            next.time_ended = Some(now);
        }
        Tried::Begun { made } => {
            next.state = DeliveryState::Following;
            next.made = Some(made);
            next.time_due = now.plus(LOOK_EVERY);
        }
        Tried::Goes => next.time_due = now.plus(LOOK_EVERY),
        Tried::Again => {
            next.state = DeliveryState::Ready;
            next.time_due = now;
            next.time_begun = None;
        }
        Tried::Failed { why, status, is_final } => {
            next.attempts += 1;
            next.note = why;
            next.status = status;
            next.made = None;
            next.time_begun = None;
            let again = now.plus(wait);
            let is_over = is_final
                || next.attempts >= hook.spec.retry.attempts
                || again >= deadline(delivery, hook);
            if is_over {
                next.state = DeliveryState::Dead;
                next.time_ended = Some(now);
            } else {
                next.state = DeliveryState::Ready;
                next.time_due = again;
            }
        }
    }
    next
}

/// When a delivery is given up.
pub fn deadline(delivery: &HookDelivery, hook: &EventHook) -> Timestamp {
    delivery.time_created.plus(hook.spec.retry.give_up_after.duration())
}

/// Whether the next of its line may go on after it.
pub fn frees_line(delivery: &HookDelivery, on_dead: OnDead) -> bool {
    match delivery.state {
        DeliveryState::Done => true,
        DeliveryState::Dead => on_dead == OnDead::Continue,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
