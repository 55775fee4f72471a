//! What happened to stacks: in its order, whatever the clocks of servers say.

use hostler_model::stack::*;
use hostler_store::{Error, StackEventFilter, StackEventScope};
use serde_json::json;

use crate::stacks::{event, insert, nested, resource, stack};
use crate::world::*;

crate::conformance!(
    an_event_is_what_was_written,
    events_come_in_the_order_in_which_they_happened,
    events_of_several_stacks_come_in_the_order_of_their_ids,
    events_are_filtered,
    those_who_write_at_once_all_get_a_place,
    old_events_are_removed,
);

async fn write(world: &World, events: &[StackEvent]) -> Result<()> {
    world.tx("test", |tx| Box::pin(tx.stack_event_insert_batch(events))).await
}

async fn listed(world: &World, filter: StackEventFilter<'_>, on_page: u32) -> Vec<StackEvent> {
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = read.stack_event_list(filter, after.as_deref(), limit(on_page)).await.unwrap();
        assert!(page.items.len() <= on_page as usize);
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break seen,
        }
    }
}

fn one(stack: &Stack) -> StackEventFilter<'_> {
    StackEventFilter::new(StackEventScope::One(stack.id))
}

fn reversed(mut events: Vec<StackEvent>) -> Vec<StackEvent> {
    events.reverse();
    events
}

async fn an_event_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let (web, other) = (stack(&project, "web"), stack(&project, "other"));
    insert(&world, &web).await;
    insert(&world, &other).await;
    let part = resource(&web, "part");
    let mut all = Vec::new();
    for status in StackStatus::ALL {
        for action in StackAction::ALL {
            let status = StackEventStatus::Stack(*action, *status);
            all.push(StackEvent { status, physical: None, ..event(&web, None, "of a stack") });
        }
        for action in ResourceAction::ALL {
            let status = StackEventStatus::Resource(*action, *status);
            let properties = Some(json!({ "a": [1.5, null, "x"] }));
            all.push(StackEvent { status, properties, ..event(&web, Some(&part), "\u{1F600}") });
        }
        let status = StackEventStatus::Signal(*status);
        all.push(StackEvent { status, time: at(77), ..event(&web, Some(&part), "Signal") });
    }
    write(&world, &all).await.unwrap();
    assert_eq!(listed(&world, one(&web), 1000).await, all);
    let mut read = world.read().await.unwrap();
    for event in &all {
        let found = read.stack_event_get(web.id, event.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(event));
        assert_eq!(read.stack_event_get(other.id, event.id).await.unwrap(), None);
    }
    drop(read);
    write(&world, &[]).await.unwrap();
    let lost = write(&world, &[event(&stack(&project, "nobody"), None, "x")]).await;
    assert!(matches!(lost.unwrap_err(), Error::Missing { .. }));
}

async fn events_come_in_the_order_in_which_they_happened(world: World) {
    let project = world.project("alpha").await;
    let (web, other) = (stack(&project, "web"), stack(&project, "other"));
    insert(&world, &web).await;
    insert(&world, &other).await;
    let mut all: Vec<StackEvent> = (0..7).map(|n| event(&web, None, &n.to_string())).collect();
    // A server whose clock is behind wrote the last ones.
    all.swap(0, 5);
    all.swap(1, 6);
    for part in all.chunks(3) {
        write(&world, part).await.unwrap();
        write(&world, &[event(&other, None, "x")]).await.unwrap();
    }
    assert_eq!(listed(&world, one(&web), 2).await, all);
    let newest = StackEventFilter { is_ascending: false, ..one(&web) };
    assert_eq!(listed(&world, newest, 3).await, reversed(all.clone()));
    let mut read = world.read().await.unwrap();
    let seen = all[4].id.to_string();
    let next = read.stack_event_list(one(&web), Some(&seen), limit(9)).await.unwrap();
    assert_eq!(next.items, all[5..], "what comes after the last that was seen");
    let others = listed(&world, one(&other), 9).await;
    for unknown in [others[0].id.to_string().as_str(), "nothing"] {
        let page = read.stack_event_list(one(&web), Some(unknown), limit(1000)).await.unwrap();
        assert_eq!(page.items, all, "{unknown}");
    }
}

async fn events_of_several_stacks_come_in_the_order_of_their_ids(world: World) {
    let project = world.project("alpha").await;
    let root = stack(&project, "root");
    let below = nested(&project, &root, "below");
    let deep = nested(&project, &below, "deep");
    let other = stack(&project, "other");
    let stacks = [&root, &below, &deep, &other];
    for stack in stacks {
        insert(&world, stack).await;
    }
    let all: Vec<StackEvent> =
        (0..16).map(|n: usize| event(stacks[n * 3 % 4], None, &n.to_string())).collect();
    write(&world, &all).await.unwrap();
    let of = |meant: &[&Stack]| -> Vec<StackEvent> {
        let is_meant = |event: &&StackEvent| meant.iter().any(|stack| stack.id == event.stack_id);
        all.iter().filter(is_meant).cloned().collect()
    };
    let at_depth = |depth| StackEventScope::Below { root: root.id, depth };
    let few = [below.id, other.id];
    for (scope, meant) in [
        (at_depth(0), of(&[&root])),
        (at_depth(1), of(&[&root, &below])),
        (at_depth(9), of(&[&root, &below, &deep])),
        (StackEventScope::Below { root: below.id, depth: 9 }, Vec::new()),
        (StackEventScope::Among(&few), of(&[&below, &other])),
        (StackEventScope::Among(&[]), Vec::new()),
        (StackEventScope::One(deep.id), of(&[&deep])),
    ] {
        let filter = StackEventFilter::new(scope);
        assert_eq!(listed(&world, filter, 3).await, meant, "{scope:?}");
        let newest = StackEventFilter { is_ascending: false, ..filter };
        assert_eq!(listed(&world, newest, 3).await, reversed(meant), "{scope:?}");
    }
}

async fn events_are_filtered(world: World) {
    let project = world.project("alpha").await;
    let web = stack(&project, "web");
    insert(&world, &web).await;
    // One resource is called as its stack is.
    let (a, namesake) = (resource(&web, "a"), resource(&web, "web"));
    let with = |resource: Option<&StackResource>, status| StackEvent {
        status,
        ..event(&web, resource, "x")
    };
    let (complete, failed) = (StackStatus::Complete, StackStatus::Failed);
    let all = [
        with(None, StackEventStatus::Stack(StackAction::Create, StackStatus::InProgress)),
        with(Some(&a), StackEventStatus::Resource(ResourceAction::Create, failed)),
        StackEvent {
            kind: "My::Type".to_owned(),
            ..with(Some(&namesake), StackEventStatus::Resource(ResourceAction::Create, complete))
        },
        with(Some(&a), StackEventStatus::Signal(complete)),
        with(None, StackEventStatus::Stack(StackAction::Update, failed)),
    ];
    write(&world, &all).await.unwrap();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (web_name, a_name) = (texts(&["web"]), texts(&["a", "b"]));
    let (mine, heats) = (texts(&["My::Type"]), texts(&["OS::Heat::Value", "OS::Heat::Stack"]));
    let (create, signal) = (texts(&["create"]), texts(&["signal", "update"]));
    let every = one(&web);
    for (filter, meant) in [
        (every, vec![0, 1, 2, 3, 4]),
        (StackEventFilter { names: &web_name, ..every }, vec![0, 2, 4]),
        (StackEventFilter { names: &web_name, resources_only: true, ..every }, vec![2]),
        (StackEventFilter { names: &a_name, ..every }, vec![1, 3]),
        (StackEventFilter { kinds: &mine, ..every }, vec![2]),
        (StackEventFilter { kinds: &heats, ..every }, vec![0, 1, 3, 4]),
        (StackEventFilter { actions: &create, ..every }, vec![0, 1, 2]),
        (StackEventFilter { actions: &signal, ..every }, vec![3, 4]),
        (StackEventFilter { statuses: &[failed], ..every }, vec![1, 4]),
        (StackEventFilter { statuses: &[failed], actions: &create, ..every }, vec![1]),
        (StackEventFilter { resources_only: true, ..every }, vec![1, 2, 3]),
    ] {
        let meant: Vec<StackEvent> = meant.into_iter().map(|n: usize| all[n].clone()).collect();
        assert_eq!(listed(&world, filter, 2).await, meant, "{filter:?}");
    }
}

async fn those_who_write_at_once_all_get_a_place(world: World) {
    let project = world.project("alpha").await;
    let web = stack(&project, "web");
    insert(&world, &web).await;
    let done = together(4, |n| {
        let (world, web) = (world.clone(), web.clone());
        async move {
            let events = [0, 1].map(|part| event(&web, None, &format!("{n}/{part}")));
            write(&world, &events).await
        }
    })
    .await;
    assert!(done.iter().all(std::result::Result::is_ok), "{done:?}");
    let found = listed(&world, one(&web), 1000).await;
    assert_eq!(found.len(), 8);
    for pair in found.chunks(2) {
        let of = |n: usize| pair[n].reason.split('/').next().unwrap().to_owned();
        assert_eq!(of(0), of(1), "what is written together stands together");
    }
}

async fn old_events_are_removed(world: World) {
    let project = world.project("alpha").await;
    let (many, few) = (stack(&project, "many"), stack(&project, "few"));
    insert(&world, &many).await;
    insert(&world, &few).await;
    let events = |stack: &Stack, count: usize| -> Vec<StackEvent> {
        (0..count).map(|n| event(stack, None, &n.to_string())).collect()
    };
    let (mut old, kept) = (events(&many, 9), events(&few, 3));
    write(&world, &old).await.unwrap();
    write(&world, &kept).await.unwrap();
    let trim = async |keep, limit| -> u64 {
        let done: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.stack_event_trim(keep, limit))).await;
        done.unwrap()
    };
    assert_eq!(trim(9, 9).await, 0);
    assert_eq!(trim(4, 9).await, 5);
    assert_eq!(listed(&world, one(&many), 9).await, old[5..]);
    assert_eq!(listed(&world, one(&few), 9).await, kept);
    assert_eq!(trim(4, 9).await, 0);
    let more = events(&many, 2);
    write(&world, &more).await.unwrap();
    old.extend(more);
    assert_eq!(trim(4, 9).await, 2);
    assert_eq!(listed(&world, one(&many), 9).await, old[7..]);
    assert_eq!(trim(1, 1).await, 3, "of one stack at a time");
    assert_eq!(trim(1, 9).await, 2);
    assert_eq!(listed(&world, one(&few), 9).await, kept[2..]);
}
