use hostler_model::{
    Actor, ActorKind, EVENT_FIELDS, EventHookSpec, Generation, Mandate, NewEvent, ObjectKind,
    ObjectRef, PrincipalId, ProjectId, hook_correlation,
};
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;

fn uuid(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

fn project(n: u128) -> ProjectId {
    ProjectId::from_uuid(uuid(n))
}

fn id(n: u128) -> HookId {
    HookId::from_uuid(uuid(n))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn listener(n: u128, scope: Scope, on: &str, filter: &str) -> Listener {
    let spec: EventHookSpec = serde_json::from_value(json!({
        "on": [on],
        "filter": filter,
        "action": { "webhook": { "url": "https://a.example" } },
    }))
    .unwrap();
    let filter = match filter {
        "" => None,
        text => Some(Filter::read(text, &EVENT_FIELDS).unwrap()),
    };
    let hook = EventHook {
        id: id(n),
        scope,
        name: "h".parse().unwrap(),
        spec,
        mandate: Mandate { principal: PrincipalId::from_uuid(uuid(99)), can: None },
        is_enabled: true,
        after: 0,
        is_loop_told: false,
        generation: Generation::FIRST,
        time_created: at(0),
        time_modified: at(0),
    };
    Listener { hook, filter }
}

fn event(sequence: u64, kind: EventKind, object: &str, correlation: Option<&str>) -> Event {
    Event {
        sequence,
        event: NewEvent {
            kind,
            project_id: Some(project(1)),
            object: ObjectRef::new(ObjectKind::Task, object, object),
            actor: Actor { kind: ActorKind::System, name: "s".to_owned() },
            message: "m".to_owned(),
            payload: None,
            correlation: correlation.map(str::to_owned),
            time: at(1),
        },
    }
}

fn taken(dispatch: &Dispatch) -> Vec<(u128, u64)> {
    dispatch.deliveries.iter().map(|d| (d.line.hook.uuid().as_u128(), d.sequence)).collect()
}

#[test]
fn events_go_to_the_hooks_that_name_them() {
    let mut late = listener(5, Scope::Global, "*", "");
    late.hook.after = 1;
    let mut off = listener(6, Scope::Global, "*", "");
    off.hook.is_enabled = false;
    let listeners = [
        listener(1, Scope::Project(project(1)), "task.*", ""),
        listener(2, Scope::Project(project(2)), "task.*", ""),
        listener(3, Scope::Global, "task.failed", ""),
        listener(4, Scope::Global, "*", "object.name == \"b\""),
        late,
        off,
    ];
    let events =
        [event(1, EventKind::TaskFailed, "a", None), event(2, EventKind::TaskStarted, "b", None)];
    let dispatch = dispatch(&events, &listeners, &HashMap::new(), at(5));
    assert_eq!(taken(&dispatch), [(1, 1), (3, 1), (1, 2), (4, 2), (5, 2)]);
    assert_eq!(dispatch.deliveries[0].line.object, "task/a");
    assert!(dispatch.begun.is_empty() && dispatch.cut.is_empty());
}

#[test]
fn what_a_hook_began_is_known_to_be_its_own() {
    let listeners = [listener(1, Scope::Global, "task.*", "")];
    let key = hook_correlation(id(1), 7);
    let known = HashMap::from([(key.clone(), vec![id(1)])]);
    let events = [
        event(8, EventKind::TaskCreated, "made", Some(&format!("{key}/1"))),
        event(9, EventKind::TaskCompleted, "made", None),
        event(10, EventKind::TaskCompleted, "other", None),
    ];
    let dispatch = dispatch(&events, &listeners, &known, at(5));
    let chains: Vec<usize> = dispatch.deliveries.iter().map(|d| d.chain.len()).collect();
    assert_eq!(chains, [1, 1, 0]);
    assert_eq!(dispatch.begun, [("made".to_owned(), vec![id(1)])]);
}

#[test]
fn jobs_of_an_execution_are_of_who_began_it() {
    let listeners = [listener(1, Scope::Global, "task.*", "")];
    let known = HashMap::from([("e1".to_owned(), vec![id(1), id(2)])]);
    let events = [
        event(1, EventKind::TaskCreated, "job", Some("execution/e1")),
        event(2, EventKind::TaskFailed, "job", None),
    ];
    let dispatch = dispatch(&events, &listeners, &known, at(5));
    assert_eq!(dispatch.deliveries[1].chain, [id(1), id(2)]);
}

#[test]
fn what_only_was_changed_is_not_the_hooks_from_then_on() {
    let listeners = [listener(1, Scope::Global, "*", "")];
    let known = HashMap::from([(hook_correlation(id(1), 1), vec![id(1)])]);
    let key = hook_correlation(id(1), 1);
    let events = [
        event(2, EventKind::NodeCordoned, "n", Some(&key)),
        event(3, EventKind::NodeOffline, "n", None),
    ];
    let dispatch = dispatch(&events, &listeners, &known, at(5));
    let chains: Vec<usize> = dispatch.deliveries.iter().map(|d| d.chain.len()).collect();
    assert_eq!((chains, dispatch.begun.len()), (vec![1, 0], 0));
}

/// A hook that answers every event with a task: each of its tasks makes an event.
#[test]
fn a_loop_is_cut_and_told_once() {
    let listeners = [listener(1, Scope::Global, "task.created", "")];
    let mut known = HashMap::new();
    let (mut sequence, mut correlation, mut fired) = (1, None, 0);
    let cut = loop {
        let next =
            event(sequence, EventKind::TaskCreated, &sequence.to_string(), correlation.as_deref());
        let out = dispatch(&[next], &listeners, &known, at(5));
        let Some(delivery) = out.deliveries.first() else { break out.cut };
        fired += 1;
        assert!(fired < 100, "it goes on for ever");
        let mut chain = delivery.chain.clone();
        chain.push(delivery.line.hook);
        known.insert(delivery.key(), chain);
        correlation = Some(delivery.key());
        sequence += 1;
    };
    assert_eq!((fired, cut), (4, vec![(id(1), 5)]), "the first, and three for itself");
    let chain = vec![id(1); 4];
    let known = HashMap::from([("a".to_owned(), chain.clone()), ("b".to_owned(), chain)]);
    let events =
        [event(1, EventKind::TaskCreated, "a", None), event(2, EventKind::TaskCreated, "b", None)];
    assert_eq!(dispatch(&events, &listeners, &known, at(5)).cut, [(id(1), 1)]);
}

#[test]
fn keys_of_deliveries_are_read_back() {
    let key = hook_correlation(id(3), 12);
    assert_eq!(delivery_key(&key), Some((id(3), 12)));
    assert_eq!(delivery_key("hook/x/1"), None);
    assert_eq!(delivery_of(&format!("{key}/4")), key);
    assert_eq!(delivery_of(&key), key);
}

fn delivery() -> (HookDelivery, EventHook) {
    let listeners = [listener(1, Scope::Global, "*", "")];
    let events = [event(1, EventKind::TaskFailed, "a", None)];
    let mut one = dispatch(&events, &listeners, &HashMap::new(), at(10)).deliveries.remove(0);
    one.state = DeliveryState::Performing;
    let [listener] = listeners;
    (one, listener.hook)
}

#[test]
fn a_try_ends_a_delivery_or_puts_it_off() {
    let (one, hook) = delivery();
    let wait = Duration::from_secs(4);
    let failed = |is_final| Tried::Failed { why: "no".to_owned(), status: Some(500), is_final };
    let done = after_try(
        &one,
        &hook,
        Tried::Done { note: String::new(), status: Some(204) },
        wait,
        at(11),
    );
    assert_eq!((done.state, done.time_ended), (DeliveryState::Done, Some(at(11))));
    assert!(frees_line(&done, OnDead::Block));
    let again = after_try(&one, &hook, failed(false), wait, at(11));
    assert_eq!(
        (again.state, again.attempts, again.time_due),
        (DeliveryState::Ready, 1, at(15)),
        "it is tried again"
    );
    assert!(!frees_line(&again, OnDead::Continue));
    let dead = after_try(&one, &hook, failed(true), wait, at(11));
    assert_eq!((dead.state, dead.note.as_str()), (DeliveryState::Dead, "no"));
    assert!(frees_line(&dead, OnDead::Continue) && !frees_line(&dead, OnDead::Block));
    let last = HookDelivery { attempts: 9, ..one.clone() };
    assert_eq!(after_try(&last, &hook, failed(false), wait, at(11)).state, DeliveryState::Dead);
    let late = after_try(&one, &hook, failed(false), wait, at(10 + 86_400));
    assert_eq!(late.state, DeliveryState::Dead, "its time is over");
    let made = ObjectRef::new(ObjectKind::Task, "t", "t");
    let begun = after_try(&one, &hook, Tried::Begun { made: made.clone() }, wait, at(11));
    assert_eq!((begun.state, begun.made), (DeliveryState::Following, Some(made)));
}

proptest! {
    /// Whatever fails, a delivery ends: after so many tries, and never later than its deadline.
    #[test]
    fn every_delivery_ends(waits in prop::collection::vec(0u64..100_000, 1..200)) {
        let (mut one, hook) = delivery();
        let mut now = at(10);
        let mut tries = 0;
        for wait in waits.iter().cycle() {
            let failed = Tried::Failed { why: "no".to_owned(), status: None, is_final: false };
            one = after_try(&one, &hook, failed, Duration::from_secs(*wait), now);
            tries += 1;
            if one.state == DeliveryState::Dead { break; }
            prop_assert!(one.time_due < deadline(&one, &hook));
            now = one.time_due;
        }
        prop_assert!(tries <= hook.spec.retry.attempts);
    }

    /// Batches do not matter: what is decided of all events at once is what is decided of them in parts.
    #[test]
    fn batches_do_not_matter(
        kinds in prop::collection::vec((0usize..4, 0u8..4, any::<bool>()), 1..40), split in 0usize..40,
    ) {
        let listeners = [
            listener(1, Scope::Global, "task.*", ""),
            listener(2, Scope::Global, "*", "object.name != \"1\""),
        ];
        let key = hook_correlation(id(1), 0);
        let all: Vec<Event> = (1..)
            .zip(&kinds)
            .map(|(n, (kind, object, is_caused))| {
                let kind = [
                    EventKind::TaskCreated, EventKind::TaskFailed, EventKind::TaskStarted,
                    EventKind::TaskCompleted,
                ][*kind];
                event(n, kind, &object.to_string(), is_caused.then_some(key.as_str()))
            })
            .collect();
        let known = HashMap::from([(key.clone(), vec![id(1)])]);
        let whole = dispatch(&all, &listeners, &known, at(5));
        let (first, second) = all.split_at(split.min(all.len()));
        let left = dispatch(first, &listeners, &known, at(5));
        let mut known = known.clone();
        for (object, chain) in &left.begun {
            known.entry(object.clone()).or_insert_with(|| chain.clone());
        }
        let right = dispatch(second, &listeners, &known, at(5));
        let parts: Vec<HookDelivery> = left.deliveries.into_iter().chain(right.deliveries).collect();
        prop_assert_eq!(whole.deliveries, parts);
    }
}

#[test]
fn what_a_task_tells_of_is_of_the_hook_that_began_the_task() {
    let listeners = [
        listener(1, Scope::Global, "custom.deploy", ""),
        listener(2, Scope::Global, "custom.*", ""),
        listener(3, Scope::Global, "task.*", ""),
    ];
    let known = HashMap::from([("made".to_owned(), vec![id(1)])]);
    let told = |sequence, name: &str, cause| {
        let mut event = event(sequence, EventKind::Custom, name, Some(cause));
        event.event.object = ObjectRef::new(ObjectKind::Custom, name, name);
        event
    };
    // A name says nothing of who tells, whatever else is called so.
    let events = [told(1, "deploy", "task/made"), told(2, "made", "request-1")];
    let dispatch = dispatch(&events, &listeners, &known, at(5));
    assert_eq!(taken(&dispatch), [(1, 1), (2, 1), (2, 2)]);
    let chains: Vec<usize> = dispatch.deliveries.iter().map(|d| d.chain.len()).collect();
    assert_eq!(chains, [1, 1, 0]);
    assert_eq!(dispatch.deliveries[0].event["kind"], "custom.deploy");
    assert_eq!(dispatch.deliveries[0].line.object, "custom/deploy");
}
