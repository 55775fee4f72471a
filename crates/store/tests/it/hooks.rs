//! Event hooks and their deliveries: each is made once, lines keep their order, one server does each.

use std::collections::BTreeMap;

use hostler_model::*;
use hostler_store::{DeliveryFilter, Update};

use crate::world::*;

crate::conformance!(
    a_hook_is_what_was_written,
    a_hook_is_changed_only_from_what_was_seen,
    the_cursor_moves_from_where_it_was_read,
    a_cursor_that_nobody_needs_holds_nothing_back,
    deliveries_are_made_once,
    a_line_goes_one_after_the_other,
    a_dead_letter_blocks_a_line_where_it_should,
    one_server_takes_a_delivery,
    a_result_of_a_former_claim_counts_for_nothing,
    what_is_due_and_under_way_is_found,
    dead_letters_are_replayed_and_discarded,
    what_ended_goes,
    what_hooks_began_is_remembered,
    payloads_and_causes_come_back,
    what_a_workload_does_by_itself_has_the_cause_of_its_last_change,
);

/// One call in a transaction, which succeeds.
macro_rules! tx {
    ($world:expr, $tx:ident => $call:expr) => {{
        let done: Result<_> = $world.tx("test", |$tx| Box::pin($call)).await;
        done.unwrap()
    }};
}

type Result<T> = std::result::Result<T, hostler_store::Error>;

fn hook(scope: Scope, text: &str) -> EventHook {
    EventHook {
        id: HookId::from_uuid(next_uuid()),
        scope,
        name: name(text),
        spec: serde_json::from_value(serde_json::json!({
            "on": ["task.*"], "filter": "payload.exitCode > 0",
            "action": { "webhook": { "url": "https://a.example" } },
        }))
        .unwrap(),
        mandate: Mandate {
            principal: PrincipalId::from_uuid(next_uuid()),
            can: Some([Permission::TaskSubmit].into_iter().collect()),
        },
        is_enabled: true,
        after: 3,
        is_loop_told: false,
        generation: Generation::FIRST,
        time_created: at(1),
        time_modified: at(1),
    }
}

fn delivery(hook: HookId, sequence: u64, object: &str) -> HookDelivery {
    HookDelivery {
        line: HookLine { hook, object: object.to_owned() },
        sequence,
        event: serde_json::json!({ "sequence": sequence, "kind": "task.failed" }),
        chain: vec![hook],
        state: DeliveryState::Queued,
        attempts: 0,
        claims: 0,
        time_due: at(10),
        made: None,
        time_begun: None,
        note: String::new(),
        status: None,
        time_created: at(10),
        time_ended: None,
    }
}

async fn insert(world: &World, hook: &EventHook) {
    tx!(world, tx => tx.event_hook_insert(hook));
}

async fn add(world: &World, hook: HookId, rows: &[HookDelivery], on_dead: OnDead) {
    tx!(world, tx => tx.hook_delivery_insert(hook, rows, on_dead));
}

async fn states(world: &World, hook: HookId) -> Vec<(u64, &'static str)> {
    let mut read = world.read().await.unwrap();
    let page = read.hook_delivery_list(hook, DeliveryFilter::default(), None, Limit::LARGEST).await;
    page.unwrap().items.iter().rev().map(|one| (one.sequence, one.state.label())).collect()
}

async fn claim(world: &World, hook: HookId, limit: u64) -> Vec<HookDelivery> {
    let found = world.read().await.unwrap().hook_delivery_due(hook, at(100), limit).await.unwrap();
    tx!(world, tx => tx.hook_delivery_claim(found.clone(), at(100), at(130)))
}

/// Ends a delivery that was taken, and lets its line go on.
async fn end(world: &World, taken: &HookDelivery, state: DeliveryState, on_dead: OnDead) -> bool {
    let after = HookDelivery { state, time_ended: Some(at(101)), ..taken.clone() };
    let is_ours = tx!(world, tx => tx.hook_delivery_save(&after));
    if state == DeliveryState::Done || on_dead == OnDead::Continue {
        tx!(world, tx => tx.hook_line_advance(&after.line, on_dead, at(100)));
    }
    is_ours
}

async fn a_hook_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let (mine, global) = (hook(Scope::Project(project.id), "b"), hook(Scope::Global, "b"));
    let off = EventHook { is_enabled: false, ..hook(Scope::Project(project.id), "a") };
    for one in [&mine, &global, &off] {
        insert(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    let found = read.event_hook_by_name(mine.scope, &mine.name).await.unwrap();
    assert_eq!(found.as_ref(), Some(&mine));
    assert_eq!(read.event_hook_by_name(Scope::Global, &name("c")).await.unwrap(), None);
    let page = read.event_hook_list(mine.scope, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(page.items, [off.clone(), mine.clone()]);
    let enabled = read.event_hooks_enabled().await.unwrap();
    assert_eq!(enabled.len(), 2);
    assert_eq!(read.event_hook_count(mine.scope).await.unwrap(), 2);
    drop(read);
    let twin = hook(mine.scope, "b");
    let again: Result<()> = world.tx("test", |tx| Box::pin(tx.event_hook_insert(&twin))).await;
    assert!(matches!(again, Err(hostler_store::Error::Conflict { .. })), "{again:?}");
}

async fn a_hook_is_changed_only_from_what_was_seen(world: World) {
    let one = hook(Scope::Global, "a");
    insert(&world, &one).await;
    let off = EventHook { is_enabled: false, ..one.clone() };
    let update = tx!(world, tx => tx.event_hook_update(&off, one.generation));
    assert_eq!(update, Update::Updated);
    let update = tx!(world, tx => tx.event_hook_update(&off, one.generation));
    assert_eq!(update, Update::Stale { current: one.generation.next() });
    assert!(tx!(world, tx => tx.event_hook_loop_told(one.id)));
    assert!(!tx!(world, tx => tx.event_hook_loop_told(one.id)), "it was told");
    add(&world, one.id, &[delivery(one.id, 1, "a")], OnDead::Continue).await;
    let current = one.generation.next();
    let gone = tx!(world, tx => tx.event_hook_delete(&one, current));
    assert_eq!(gone, Update::Updated);
    assert_eq!(states(&world, one.id).await, [], "with what it had not delivered");
}

async fn the_cursor_moves_from_where_it_was_read(world: World) {
    assert_eq!(world.read().await.unwrap().hook_cursor().await.unwrap(), 0);
    assert!(tx!(world, tx => tx.hook_cursor_move(0, 5)));
    assert!(!tx!(world, tx => tx.hook_cursor_move(0, 7)), "somebody else moved it");
    tx!(world, tx => tx.hook_cursor_start(9));
    assert_eq!(world.read().await.unwrap().hook_cursor().await.unwrap(), 9);
    tx!(world, tx => tx.hook_cursor_start(4));
    insert(&world, &hook(Scope::Global, "a")).await;
    tx!(world, tx => tx.hook_cursor_start(20));
    assert_eq!(world.read().await.unwrap().hook_cursor().await.unwrap(), 9, "one needs it");
}

async fn a_cursor_that_nobody_needs_holds_nothing_back(world: World) {
    let events: Vec<NewEvent> =
        (0..10).map(|n| event(EventKind::TaskCreated, None, "t", n)).collect();
    tx!(world, tx => tx.journal_append(&events, &[]));
    let one = hook(Scope::Global, "a");
    insert(&world, &one).await;
    tx!(world, tx => tx.hook_cursor_move(0, 4));
    let gone = tx!(world, tx => tx.event_compact(at(1000), 0));
    assert_eq!(gone, 4, "what no hook has looked at stays");
    let off = EventHook { is_enabled: false, ..one.clone() };
    let update = tx!(world, tx => tx.event_hook_update(&off, one.generation));
    assert!(update.is_updated());
    assert_eq!(tx!(world, tx => tx.event_compact(at(1000), 0)), 6);
}

async fn deliveries_are_made_once(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let rows = [delivery(id, 1, "a"), delivery(id, 2, "b"), delivery(id, 3, "a")];
    add(&world, id, &rows, OnDead::Continue).await;
    add(&world, id, &rows, OnDead::Continue).await;
    assert_eq!(states(&world, id).await, [(1, "ready"), (2, "ready"), (3, "queued")]);
    let mut read = world.read().await.unwrap();
    let found = read.hook_delivery_get(id, 1).await.unwrap().unwrap();
    assert_eq!(found, HookDelivery { state: DeliveryState::Ready, ..rows[0].clone() });
    assert_eq!(found.key(), format!("hook/{id}/1"));
    assert_eq!(read.hook_delivery_get(id, 9).await.unwrap(), None);
    let counts = read.hook_delivery_counts(Some(id)).await.unwrap();
    assert_eq!(counts, BTreeMap::from([(DeliveryState::Queued, 1), (DeliveryState::Ready, 2)]));
    assert_eq!(read.hook_delivery_oldest().await.unwrap(), Some(at(10)));
}

async fn a_line_goes_one_after_the_other(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let rows: Vec<HookDelivery> =
        (1..=4).map(|n| delivery(id, n, if n == 4 { "b" } else { "a" })).collect();
    add(&world, id, &rows, OnDead::Continue).await;
    let mut order = Vec::new();
    for _ in 0..3 {
        for one in claim(&world, id, 10).await {
            order.push(one.sequence);
            assert!(end(&world, &one, DeliveryState::Done, OnDead::Continue).await);
        }
    }
    assert_eq!(order, [1, 4, 2, 3]);
    add(&world, id, &[delivery(id, 5, "a")], OnDead::Continue).await;
    assert_eq!(states(&world, id).await[4], (5, "ready"), "nothing of its line is open");
}

async fn a_dead_letter_blocks_a_line_where_it_should(world: World) {
    let (go, stop) = (HookId::from_uuid(next_uuid()), HookId::from_uuid(next_uuid()));
    for (id, on_dead) in [(go, OnDead::Continue), (stop, OnDead::Block)] {
        add(&world, id, &[delivery(id, 1, "a"), delivery(id, 2, "a")], on_dead).await;
        let taken = claim(&world, id, 10).await;
        assert!(end(&world, &taken[0], DeliveryState::Dead, on_dead).await);
        add(&world, id, &[delivery(id, 3, "a")], on_dead).await;
    }
    assert_eq!(states(&world, go).await, [(1, "dead"), (2, "ready"), (3, "queued")]);
    assert_eq!(states(&world, stop).await, [(1, "dead"), (2, "queued"), (3, "queued")]);
    let line = HookLine { hook: stop, object: "a".to_owned() };
    let stuck = tx!(world, tx => tx.hook_lines_stuck(stop));
    assert_eq!(stuck, std::slice::from_ref(&line));
    tx!(world, tx => tx.hook_line_advance(&line, OnDead::Block, at(102)));
    assert_eq!(states(&world, stop).await[1], (2, "queued"));
    tx!(world, tx => tx.hook_line_advance(&line, OnDead::Continue, at(102)));
    assert_eq!(states(&world, stop).await[1], (2, "ready"), "its hook was changed");
    assert_eq!(tx!(world, tx => tx.hook_lines_stuck(stop)), []);
}

async fn one_server_takes_a_delivery(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let rows: Vec<HookDelivery> = (1..=20).map(|n| delivery(id, n, &n.to_string())).collect();
    add(&world, id, &rows, OnDead::Continue).await;
    let found = world.read().await.unwrap().hook_delivery_due(id, at(100), 50).await.unwrap();
    let take = || async {
        let found = found.clone();
        tx!(world, tx => tx.hook_delivery_claim(found.clone(), at(100), at(130)))
    };
    let (a, b) = tokio::join!(take(), take());
    assert_eq!(a.len() + b.len(), 20, "each is taken once");
    assert!(claim(&world, id, 50).await.is_empty());
}

async fn a_result_of_a_former_claim_counts_for_nothing(world: World) {
    let id = HookId::from_uuid(next_uuid());
    add(&world, id, &[delivery(id, 1, "a")], OnDead::Continue).await;
    let first = claim(&world, id, 1).await.remove(0);
    assert_eq!((first.claims, first.time_begun), (1, Some(at(100))));
    let again = HookDelivery { state: DeliveryState::Ready, time_due: at(100), ..first.clone() };
    assert!(tx!(world, tx => tx.hook_delivery_save(&again)));
    let second = claim(&world, id, 1).await.remove(0);
    assert_eq!(second.claims, 2);
    assert!(!end(&world, &first, DeliveryState::Dead, OnDead::Continue).await);
    let made = Some(ObjectRef::new(ObjectKind::Task, "t", "job"));
    let following = HookDelivery {
        state: DeliveryState::Following,
        made,
        note: "n".to_owned(),
        status: Some(202),
        attempts: 3,
        ..second.clone()
    };
    assert!(tx!(world, tx => tx.hook_delivery_save(&following)));
    let found = world.read().await.unwrap().hook_delivery_get(id, 1).await.unwrap();
    assert_eq!(found, Some(following));
}

async fn what_is_due_and_under_way_is_found(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let later = HookDelivery { time_due: at(500), ..delivery(id, 2, "b") };
    add(&world, id, &[delivery(id, 1, "a"), later], OnDead::Continue).await;
    let next = async || world.read().await.unwrap().hook_delivery_next_due().await.unwrap();
    assert_eq!(next().await, Some(at(10)));
    let taken = claim(&world, id, 10).await;
    assert_eq!(taken.len(), 1, "the other is not due");
    assert_eq!(next().await, Some(at(130)), "when its lease is over");
    let mut read = world.read().await.unwrap();
    assert_eq!(read.hook_delivery_under_way().await.unwrap(), BTreeMap::from([(id, 1)]));
    let left = async |read: &mut hostler_store::Reader, now| {
        read.hook_delivery_due_in(DeliveryState::Performing, now, 10).await.unwrap().len()
    };
    assert_eq!(left(&mut read, at(129)).await, 0);
    assert_eq!(left(&mut read, at(130)).await, 1);
}

async fn dead_letters_are_replayed_and_discarded(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let rows: Vec<HookDelivery> = (1..=3).map(|n| delivery(id, n, &n.to_string())).collect();
    add(&world, id, &rows, OnDead::Block).await;
    for one in claim(&world, id, 10).await {
        let worn = HookDelivery { attempts: 7, ..one };
        end(&world, &worn, DeliveryState::Dead, OnDead::Block).await;
    }
    let replay = async |sequence| tx!(world, tx => tx.hook_delivery_replay(id, sequence, OnDead::Block, at(200), 10));
    assert_eq!(replay(Some(2)).await, 1);
    assert_eq!(replay(Some(2)).await, 0, "it is not dead any more");
    let mut read = world.read().await.unwrap();
    let found = read.hook_delivery_get(id, 2).await.unwrap().unwrap();
    drop(read);
    assert_eq!((found.state, found.attempts), (DeliveryState::Ready, 0));
    assert_eq!((found.time_created, found.time_ended), (at(200), None), "its time begins anew");
    let gone = tx!(world, tx => tx.hook_delivery_discard(id, Some(3), OnDead::Block, at(200), 10));
    assert_eq!(gone, 1);
    assert_eq!(replay(None).await, 1);
    assert_eq!(states(&world, id).await, [(1, "ready"), (2, "ready")]);
}

async fn what_ended_goes(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let rows: Vec<HookDelivery> = (1..=10).map(|n| delivery(id, n, &n.to_string())).collect();
    add(&world, id, &rows, OnDead::Continue).await;
    for one in claim(&world, id, 9).await {
        end(&world, &one, DeliveryState::Done, OnDead::Continue).await;
    }
    let pruned = tx!(world, tx => tx.hook_delivery_prune_done(id, 4, 100));
    assert_eq!(pruned, 5);
    assert_eq!(
        states(&world, id).await.iter().map(|(n, _)| *n).collect::<Vec<_>>(),
        [6, 7, 8, 9, 10],
        "the newest four, and what is open"
    );
    let old = async |time| {
        let state = DeliveryState::Done;
        tx!(world, tx => tx.hook_delivery_delete_before(state, time, 100)).len()
    };
    assert_eq!((old(at(101)).await, old(at(102)).await), (0, 4));
}

async fn what_hooks_began_is_remembered(world: World) {
    let id = HookId::from_uuid(next_uuid());
    let causes = [("t1".to_owned(), vec![id]), ("t2".to_owned(), vec![id, id])];
    tx!(world, tx => tx.hook_cause_insert(&causes, at(1)));
    tx!(world, tx => tx.hook_cause_insert(&causes[..1], at(9)));
    let asked = ["t1".to_owned(), "t3".to_owned()];
    let found = world.read().await.unwrap().hook_causes(&asked).await.unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [("t1".to_owned(), vec![id])]);
    assert_eq!(tx!(world, tx => tx.hook_cause_delete_before(at(2), 10)), 2);
}

async fn what_a_workload_does_by_itself_has_the_cause_of_its_last_change(world: World) {
    let told = |kind, id: &str| event(kind, None, id, 0);
    let asked = |request: &str| NewAuditEntry { request_id: request.to_owned(), ..audit("apply") };
    let created = told(EventKind::WorkloadCreated, "w1");
    let (created, asked) = ([created], [asked("r1")]);
    tx!(world, tx => tx.journal_append(&created, &asked));
    let by_itself = [
        told(EventKind::WorkloadPlaced, "w1"),
        told(EventKind::WorkloadStarted, "w1"),
        told(EventKind::WorkloadUnhealthy, "w1"),
        told(EventKind::WorkloadPlaced, "w2"),
    ];
    tx!(world, tx => tx.journal_append(&by_itself, &[]));
    let changed = [told(EventKind::WorkloadChanged, "w1").caused_by("hook/h/1")];
    tx!(world, tx => tx.journal_append(&changed, &[]));
    tx!(world, tx => tx.journal_append(&by_itself, &[]));
    let mut read = world.read().await.unwrap();
    let mut causes = Vec::new();
    for number in 1..=10 {
        causes.push(read.event_get(number).await.unwrap().unwrap().event.correlation);
    }
    let text = |text: &str| Some(text.to_owned());
    let (request, hook) = (text("r1"), text("hook/h/1"));
    let first = [request.clone(), request.clone(), request, None, None];
    let second = [hook.clone(), hook.clone(), hook, None, None];
    assert_eq!(causes, [first, second].concat());
}

async fn payloads_and_causes_come_back(world: World) {
    let payload = RunPayload { exit_code: Some(3), ..RunPayload::default() };
    let full =
        event(EventKind::TaskFailed, None, "a", 0).with_payload(payload).caused_by("execution/e1");
    let plain = event(EventKind::TaskFailed, None, "b", 0);
    let events = [full.clone(), plain.clone()];
    let one = [audit("task.kill")];
    tx!(world, tx => tx.journal_append(&events, &one));
    let two = [
        NewAuditEntry { request_id: "r1".to_owned(), ..audit("a") },
        NewAuditEntry { request_id: "r2".to_owned(), ..audit("b") },
    ];
    let plains = [plain.clone(), plain.clone()];
    tx!(world, tx => tx.journal_append(&plains, &two));
    let three = [plain.clone(), plain.clone(), plain];
    tx!(world, tx => tx.journal_append(&three, &two));
    let mut read = world.read().await.unwrap();
    assert_eq!(read.event_get(1).await.unwrap().unwrap().event, full);
    let mut causes = Vec::new();
    for number in 2..=7 {
        causes.push(read.event_get(number).await.unwrap().unwrap().event.correlation);
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(causes, [text("req-1"), text("r1"), text("r2"), None, None, None]);
    assert_eq!(read.event_get(99).await.unwrap(), None);
}
