//! Resources of stacks: thousands at once, with what is sealed and without.

use std::collections::BTreeMap;

use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{Error, StackChange, Update};

use crate::stacks::{deed, definition_id, insert, nested, resource, save, stack, with_resources};
use crate::world::*;

crate::conformance!(
    a_resource_is_what_was_written,
    thousands_are_written_and_removed_at_once,
    what_is_sealed_stays_where_it_was_not_asked_for,
    resources_of_a_name_are_found,
    resources_are_found_by_what_they_are_in_the_world,
    resources_below_a_stack_are_counted,
    leases_of_one_server_are_renewed,
    what_others_had_in_hand_is_due_for_the_only_server,
    a_resource_belongs_to_a_stack,
);

fn full(stack: &Stack) -> StackResource {
    let id = || StackResourceId::from_uuid(next_uuid());
    StackResource {
        kind: "Hostler::Workload".to_owned(),
        standing: ResourceStanding {
            action: ResourceAction::Update,
            status: StackStatus::Failed,
            reason: "no \u{1F600}".to_owned(),
        },
        physical: Some("ä".repeat(700)),
        definition: Some(definition_id()),
        traversal: Generation::from_u64(8),
        requires: vec![id(), id()],
        replaces: Some(id()),
        replaced_by: Some(id()),
        deletion_policy: DeletionPolicy::Snapshot,
        deed: Some(Deed {
            kind: DeedKind::Delete,
            definition: Some(definition_id()),
            is_idle: true,
            ..deed(Some(4), Some(9))
        }),
        deeds: 17,
        hooks: BTreeMap::from([(
            StackHook::PreUpdate,
            HookStanding { traversal: Generation::from_u64(8), is_cleared: true },
        )]),
        sealed: vec![0; 100_000],
        time_created: at(3),
        time_modified: at(4),
        ..resource(stack, "all of it")
    }
}

fn bare(resource: &StackResource) -> StackResource {
    StackResource { sealed: Vec::new(), ..resource.clone() }
}

async fn resources(world: &World, stack: &Stack) -> Vec<StackResource> {
    world.read().await.unwrap().stack_resources(stack.id).await.unwrap()
}

async fn a_resource_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let one = stack(&project, "web");
    let plain = resource(&one, "plain");
    let all = [full(&one), plain.clone()];
    let one = with_resources(&world, &one, &all).await;
    assert_eq!(resources(&world, &one).await, all);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_resources_bare(one.id).await.unwrap(), all.each_ref().map(bare));
    assert_eq!(read.stack_resource_get(all[0].id).await.unwrap().as_ref(), Some(&all[0]));
    let nobody = StackResourceId::from_uuid(next_uuid());
    assert_eq!(read.stack_resource_get(nobody).await.unwrap(), None);
    let some = read.stack_resource_get_batch(&[plain.id, nobody]).await.unwrap();
    assert_eq!(some, std::slice::from_ref(&plain));
    drop(read);
    let swapped = [
        StackResource {
            id: plain.id,
            name: plain.name.clone(),
            time_created: plain.time_created,
            ..full(&one)
        },
        StackResource { id: all[0].id, name: all[0].name.clone(), ..resource(&one, "") },
    ];
    let change = StackChange { resources: &swapped, ..StackChange::of(&one) };
    assert_eq!(save(&world, change, one.generation).await, Update::Updated);
    let [second, first] = swapped;
    let first = StackResource { time_created: at(3), ..first };
    assert_eq!(resources(&world, &one).await, [first, second], "everything but its name and time");
}

async fn thousands_are_written_and_removed_at_once(world: World) {
    const COUNT: usize = 5000;
    let project = world.project("alpha").await;
    let one = stack(&project, "web");
    let mut rows: Vec<StackResource> =
        (0..COUNT).map(|n| resource(&one, &format!("r{n:04}"))).collect();
    let one = with_resources(&world, &one, &rows).await;
    assert_eq!(resources(&world, &one).await, rows);
    for row in &mut rows {
        row.standing.action = ResourceAction::Create;
        row.physical = Some(format!("object {}", row.name));
        row.sealed = row.name.clone().into_bytes();
        row.deed = Some(deed(Some(5), Some(6)));
    }
    let gone: Vec<StackResourceId> = rows.drain(..1001).map(|row| row.id).collect();
    let events: Vec<StackEvent> =
        rows.iter().map(|row| crate::stacks::event(&one, Some(row), "state changed")).collect();
    let change = StackChange { stack: &one, resources: &rows, gone: &gone, events: &events };
    assert_eq!(save(&world, change, one.generation).await, Update::Updated);
    assert_eq!(resources(&world, &one).await, rows);
    let mut read = world.read().await.unwrap();
    let bares: Vec<StackResource> = rows.iter().map(bare).collect();
    assert_eq!(read.stack_resources_bare(one.id).await.unwrap(), bares);
    let ids: Vec<StackResourceId> = rows.iter().map(|row| row.id).rev().collect();
    let mut found = read.stack_resource_get_batch(&ids).await.unwrap();
    found.sort_by_key(|row| row.id);
    assert_eq!(found, rows);
    assert_eq!(read.stack_resource_get_batch(&gone).await.unwrap(), []);
}

async fn what_is_sealed_stays_where_it_was_not_asked_for(world: World) {
    let project = world.project("alpha").await;
    let one = stack(&project, "web");
    let first = resource(&one, "r");
    let blank = bare(&resource(&one, "s"));
    let one = with_resources(&world, &one, &[first.clone(), blank.clone()]).await;
    let mut again = bare(&first);
    again.standing.reason = "state changed".to_owned();
    let rows = [again.clone()];
    let change = StackChange { resources: &rows, ..StackChange::of(&one) };
    assert_eq!(save(&world, change, one.generation).await, Update::Updated);
    let meant = StackResource { sealed: first.sealed, ..again };
    assert_eq!(resources(&world, &one).await, [meant, blank]);
}

async fn resources_of_a_name_are_found(world: World) {
    let project = world.project("alpha").await;
    let (one, other) = (stack(&project, "one"), stack(&project, "other"));
    let rows = [resource(&one, "a"), resource(&one, "b"), resource(&one, "a")];
    with_resources(&world, &one, &rows).await;
    with_resources(&world, &other, &[resource(&other, "a")]).await;
    let mut read = world.read().await.unwrap();
    let found = read.stack_resources_named(one.id, "a").await.unwrap();
    assert_eq!(found, [rows[0].clone(), rows[2].clone()]);
    assert_eq!(read.stack_resources_named(one.id, "A").await.unwrap(), []);
    let all = read.stack_resources(one.id).await.unwrap();
    assert_eq!(all, [rows[0].clone(), rows[2].clone(), rows[1].clone()], "by name");
}

async fn resources_are_found_by_what_they_are_in_the_world(world: World) {
    let project = world.project("alpha").await;
    let (one, other) = (stack(&project, "one"), stack(&project, "other"));
    let long = "\u{1F600}".repeat(3000);
    let is = |stack: &Stack, physical: &str| StackResource {
        physical: Some(physical.to_owned()),
        ..resource(stack, "r")
    };
    let longer = format!("{long}!");
    let rows = [is(&one, "vm-1"), is(&one, &long), is(&one, &longer), resource(&one, "none")];
    let elsewhere = is(&other, "vm-1");
    with_resources(&world, &one, &rows).await;
    with_resources(&world, &other, std::slice::from_ref(&elsewhere)).await;
    let mut read = world.read().await.unwrap();
    for (scope, physical, meant) in [
        (None, "vm-1", vec![&rows[0], &elsewhere]),
        (Some(one.id), "vm-1", vec![&rows[0]]),
        (Some(other.id), "vm-1", vec![&elsewhere]),
        (None, &long, vec![&rows[1]]),
        (None, &longer, vec![&rows[2]]),
        (None, "vm", vec![]),
        (Some(one.id), "VM-1", vec![]),
    ] {
        let found = read.stack_resources_physical(scope, physical).await.unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), meant, "{scope:?}");
    }
    drop(read);

    let third = stack(&project, "third");
    let rows =
        ["bell-0", "bell-fa", "bell", "bells", "Bell-1", "bellow-1"].map(|it| is(&third, it));
    with_resources(&world, &third, &rows).await;
    let mut read = world.read().await.unwrap();
    let found = read.stack_resources_physical_begin("bell-").await.unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), [&rows[0], &rows[1]]);
    assert!(read.stack_resources_physical_begin("whistle-").await.unwrap().is_empty());
}

async fn resources_below_a_stack_are_counted(world: World) {
    let project = world.project("alpha").await;
    let root = stack(&project, "root");
    let below = nested(&project, &root, "below");
    let empty = nested(&project, &below, "empty");
    let other = stack(&project, "other");
    let new = resource(&root, "a");
    let old = StackResource { replaced_by: Some(new.id), ..resource(&root, "a") };
    with_resources(&world, &root, &[old, new, resource(&root, "b")]).await;
    let rows: Vec<StackResource> = (0..3).map(|n| resource(&below, &n.to_string())).collect();
    with_resources(&world, &below, &rows).await;
    insert(&world, &empty).await;
    with_resources(&world, &other, &[resource(&other, "x")]).await;
    let mut read = world.read().await.unwrap();
    let counts = read.stack_resource_counts(root.id).await.unwrap();
    assert_eq!(counts, [(root.id, 2), (below.id, 3)]);
    assert_eq!(read.stack_resource_counts(below.id).await.unwrap(), [], "it is not at the top");
}

async fn leases_of_one_server_are_renewed(world: World) {
    let project = world.project("alpha").await;
    let (one, other) = (stack(&project, "one"), stack(&project, "other"));
    let (me, them) = (server_id(), server_id());
    let by = |server_id, due: Option<i64>| {
        Some(Deed { owner: Some(DeedOwner { server_id, time_lease: at(30) }), ..deed(due, None) })
    };
    let row = |stack: &Stack, name: &str, deed| StackResource { deed, ..resource(stack, name) };
    let rows = [
        row(&one, "a", by(me, None)),
        row(&one, "b", by(me, Some(40))),
        row(&one, "c", by(them, None)),
        row(&one, "d", Some(deed(None, None))),
        row(&one, "e", None),
    ];
    let one = with_resources(&world, &one, &rows).await;
    let elsewhere = row(&other, "a", by(me, Some(90)));
    with_resources(&world, &other, std::slice::from_ref(&elsewhere)).await;
    let renew = async |generation| -> Update {
        let done: Result<Update> = world
            .tx("test", |tx| Box::pin(tx.stack_deeds_renew(one.id, generation, me, at(60))))
            .await;
        done.unwrap()
    };
    assert_eq!(renew(Generation::FIRST).await, Update::Stale { current: one.generation });
    assert_eq!(resources(&world, &one).await, rows);
    assert_eq!(renew(one.generation).await, Update::Updated);
    let mut meant = rows.clone();
    for row in &mut meant[..2] {
        row.deed.as_mut().unwrap().owner.as_mut().unwrap().time_lease = at(60);
    }
    assert_eq!(resources(&world, &one).await, meant);
    assert_eq!(resources(&world, &other).await, [elsewhere]);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_get(one.id).await.unwrap().unwrap().generation, one.generation.next());
    assert_eq!(read.stack_wanting(at(39), 9).await.unwrap(), [one.id, other.id]);
    drop(read);
    let done: Vec<StackResource> =
        rows.iter().map(|row| StackResource { deed: None, ..row.clone() }).collect();
    let next = Stack { generation: one.generation.next(), ..one.clone() };
    let change = StackChange { resources: &done, ..StackChange::of(&next) };
    assert_eq!(save(&world, change, next.generation).await, Update::Updated);
    assert_eq!(world.read().await.unwrap().stack_wanting(at(99), 9).await.unwrap(), [other.id]);
}

async fn what_others_had_in_hand_is_due_for_the_only_server(world: World) {
    let project = world.project("alpha").await;
    let one = stack(&project, "one");
    let (me, them) = (server_id(), server_id());
    let by = |server_id| {
        Some(Deed { owner: Some(DeedOwner { server_id, time_lease: at(30) }), ..deed(None, None) })
    };
    let row = |name: &str, deed| StackResource { deed, ..resource(&one, name) };
    let rows = [
        row("a", by(me)),
        row("b", by(them)),
        row("c", Some(deed(Some(50), None))),
        row("d", None),
    ];
    with_resources(&world, &one, &rows).await;
    assert!(world.read().await.unwrap().stack_wanting(at(20), 9).await.unwrap().is_empty());
    let inherit = async || -> u64 {
        let done: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.stack_deeds_inherit(me, at(10)))).await;
        done.unwrap()
    };
    assert_eq!(inherit().await, 1);
    assert_eq!(inherit().await, 0);
    let mut meant = rows.clone();
    meant[1].deed.as_mut().unwrap().owner.as_mut().unwrap().time_lease = at(10);
    assert_eq!(resources(&world, &one).await, meant);
    assert_eq!(world.read().await.unwrap().stack_wanting(at(20), 9).await.unwrap(), [one.id]);
}

async fn a_resource_belongs_to_a_stack(world: World) {
    let project = world.project("alpha").await;
    let (one, nobody) = (stack(&project, "one"), stack(&project, "nobody"));
    let mine = resource(&one, "a");
    let one = with_resources(&world, &one, std::slice::from_ref(&mine)).await;
    let lost = [resource(&nobody, "a")];
    let change = StackChange { resources: &lost, ..StackChange::of(&one) };
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.stack_save(change, one.generation))).await;
    assert!(matches!(done.unwrap_err(), Error::Conflict { .. }));
    let other = stack(&project, "other");
    insert(&world, &other).await;
    let change = StackChange { gone: &[mine.id], ..StackChange::of(&other) };
    assert_eq!(save(&world, change, Generation::FIRST).await, Update::Updated);
    assert_eq!(resources(&world, &one).await, [mine], "only what is its own is removed");
}
