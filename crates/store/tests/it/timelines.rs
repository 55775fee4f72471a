//! What timelines and exports ask for: events by what caused them and when, ends of runs, deliveries about an object.

use hostler_model::*;
use hostler_store::EventFilter;

use crate::world::*;

crate::conformance!(
    events_are_found_by_cause_name_and_time,
    what_is_gone_is_known,
    runs_are_listed_by_their_end,
    deliveries_are_found_by_what_they_are_about,
);

async fn append(world: &World, events: &[NewEvent]) {
    world.tx("append", |tx| Box::pin(tx.journal_append(events, &[]))).await.unwrap();
}

async fn events_are_found_by_cause_name_and_time(world: World) {
    let told = |name: &str, cause: &str, seconds| NewEvent {
        object: ObjectRef::new(ObjectKind::Custom, name, name),
        payload: Some(CustomPayload(serde_json::json!({ "n": [seconds, "ü\u{0}"] })).into()),
        correlation: Some(cause.to_owned()),
        ..event(EventKind::Custom, None, "", seconds)
    };
    let events = [
        told("deploy", "task/t1", 10),
        told("deploy", "fire/s1/10", 20),
        told("other", "fire/s1/20", 30),
        // The clock of another server is behind.
        told("deploy", "fire/s10/20", 25),
        event(EventKind::TaskCreated, None, "t1", 40),
    ];
    append(&world, &events).await;
    let all = EventFilter::default();
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let (one, two, causes) =
        (ids(&["deploy"]), ids(&["t1", "other", "none"]), ids(&["task/t1", "fire/s1/20"]));
    for (filter, expected) in [
        (EventFilter { object_ids: &one, ..all }, vec![1, 2, 4]),
        (EventFilter { object_ids: &two, ..all }, vec![3, 5]),
        (EventFilter { object_name: Some("other"), ..all }, vec![3]),
        (EventFilter { object_name: Some("job"), kinds: &[EventKind::Custom], ..all }, vec![]),
        (EventFilter { causes: &causes, ..all }, vec![1, 3]),
        (EventFilter { cause_under: Some("fire/s1/"), ..all }, vec![2, 3]),
        (EventFilter { cause_under: Some("fire/"), object_ids: &one, ..all }, vec![2, 4]),
        (EventFilter { since: Some(at(25)), ..all }, vec![3, 4, 5]),
        (EventFilter { since: Some(at(26)), until: Some(at(40)), ..all }, vec![3]),
        (EventFilter { until: Some(at(25)), ..all }, vec![1, 2]),
        (EventFilter { since: Some(at(41)), ..all }, vec![]),
    ] {
        let mut reader = world.read().await.unwrap();
        let found = reader.event_list(filter, 0, limit(10)).await.unwrap();
        for event in &found {
            let index = usize::try_from(event.sequence).unwrap() - 1;
            assert_eq!(event.event, events[index]);
        }
        let numbers: Vec<_> = found.iter().map(|e| e.sequence).collect();
        assert_eq!(numbers, expected, "{filter:?}");
        let (mut back, mut before) = (Vec::new(), None);
        loop {
            let page = reader.event_list_recent(filter, before, limit(1)).await.unwrap();
            back.extend(page.items.iter().map(|e| e.sequence));
            match page.next {
                Some(next) => before = Some(next.parse().unwrap()),
                None => break,
            }
        }
        back.reverse();
        assert_eq!(back, expected, "{filter:?}");
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.event_first_since(at(21)).await.unwrap(), 3);
    assert_eq!(reader.event_first_since(at(99)).await.unwrap(), 6, "the one to come");
}

async fn what_is_gone_is_known(world: World) {
    let kept = async || world.read().await.unwrap().event_kept_since().await.unwrap();
    assert_eq!(kept().await, None);
    let events: Vec<_> =
        (1..=4).map(|i| event(EventKind::TaskCreated, None, "t", i * 10)).collect();
    append(&world, &events).await;
    assert_eq!(kept().await, None, "everything is there");
    world.tx("compact", |tx| Box::pin(tx.event_compact(at(25), 0))).await.unwrap();
    assert_eq!(kept().await, Some(at(30)));
}

async fn runs_are_listed_by_their_end(world: World) {
    let (project, node) = (world.project("alpha").await, world.node("n1").await);
    let service = world.service(&project, "web").await;
    let other = world.service(&project, "other").await;
    let seat = world.seat(&service, &node, 1).await;
    let others = world.seat(&other, &node, 2).await;
    let ended = |seat: &Placement, number: u32, seconds: Option<i64>| Run {
        time_ended: seconds.map(at),
        ..agent_run(seat, number)
    };
    let runs = vec![
        ended(&seat, 1, Some(10)),
        ended(&seat, 2, Some(30)),
        ended(&seat, 3, Some(20)),
        ended(&seat, 4, Some(20)),
        ended(&seat, 5, None),
        ended(&others, 1, Some(15)),
    ];
    world.tx("test", |tx| Box::pin(tx.service_run_put_batch(&runs))).await.unwrap();
    let listed = async |since: Option<i64>, until: Option<i64>| {
        let mut read = world.read().await.unwrap();
        let (mut found, mut before): (Vec<Run>, _) = (Vec::new(), None);
        loop {
            let (since, until) = (since.map(at), until.map(at));
            let part =
                read.run_list_ended(&[service.id], since, until, before, limit(1)).await.unwrap();
            let Some(last) = part.last() else { break };
            before = Some((last.time_ended.unwrap(), last.id));
            found.extend(part);
        }
        found.into_iter().map(|run| run.time_ended.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, None).await, [at(30), at(20), at(20), at(10)]);
    assert_eq!(listed(Some(20), Some(30)).await, [at(20), at(20)]);
}

async fn deliveries_are_found_by_what_they_are_about(world: World) {
    let hooks: Vec<HookId> = (0..3).map(|_| HookId::from_uuid(next_uuid())).collect();
    let delivery = |hook: HookId, sequence: u64, object: &str| HookDelivery {
        line: HookLine { hook, object: object.to_owned() },
        sequence,
        event: serde_json::json!({ "sequence": sequence }),
        chain: Vec::new(),
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
    };
    for (hook, sequence, object) in
        [(0, 1, "task/a"), (1, 1, "task/a"), (0, 2, "task/b"), (1, 3, "task/a"), (2, 4, "task/a")]
    {
        let made = [delivery(hooks[hook], sequence, object)];
        let (hook, made) = (hooks[hook], &made);
        world
            .tx("test", |tx| Box::pin(tx.hook_delivery_insert(hook, made, OnDead::Continue)))
            .await
            .unwrap();
    }
    let mut read = world.read().await.unwrap();
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let part = read.hook_delivery_about(&hooks[..2], "task/a", before, limit(1)).await.unwrap();
        let Some(last) = part.last() else { break };
        before = Some((last.sequence, last.line.hook));
        found.push((last.sequence, last.line.hook));
    }
    let mut first = [hooks[0], hooks[1]];
    first.sort();
    assert_eq!(found, [(3, hooks[1]), (1, first[1]), (1, first[0])]);
}
