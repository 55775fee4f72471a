//! Stacks, their resources and their locks in numbers.

use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{StackChange, Update};

use crate::locks;
use crate::stack_parts::drift;
use crate::stacks::{insert, nested, resource, save, stack};
use crate::world::*;

crate::conformance!(resources_and_drift_are_counted, the_longest_is_found,);

fn text(kind: &str, status: &str, count: u64) -> (String, String, u64) {
    (kind.to_owned(), status.to_owned(), count)
}

async fn resources_and_drift_are_counted(world: World) {
    let project = world.project("alpha").await;
    let (web, gone) = (stack(&project, "web"), stack(&project, "gone"));
    let gone = Stack { time_deleted: Some(at(9)), ..gone };
    for one in [&web, &gone] {
        insert(&world, one).await;
    }
    assert_eq!(world.read().await.unwrap().stack_resource_count_by_kind().await.unwrap(), []);
    let of = |name: &str, kind: &str, status| {
        let known = resource(&web, name);
        let standing = ResourceStanding { status, ..known.standing };
        StackResource { kind: kind.to_owned(), standing, ..known }
    };
    let other = StackResourceId::from_uuid(next_uuid());
    let rows = [
        of("a", "X", StackStatus::Complete),
        of("b", "X", StackStatus::Complete),
        of("c", "X", StackStatus::Failed),
        of("d", "Y", StackStatus::InProgress),
        StackResource { replaced_by: Some(other), ..of("d", "Y", StackStatus::Complete) },
    ];
    let change = StackChange { resources: &rows, ..StackChange::of(&web) };
    assert_eq!(save(&world, change, Generation::FIRST).await, Update::Updated);
    let mut read = world.read().await.unwrap();
    assert_eq!(
        read.stack_resource_count_by_kind().await.unwrap(),
        [text("X", "complete", 2), text("X", "failed", 1), text("Y", "in-progress", 1)]
    );
    assert_eq!(read.stack_drift_count().await.unwrap(), 0);
    drop(read);
    let clean = StackDrift { changed: 0, missing: 0, ..drift(&web, 8) };
    for (found, count) in [(drift(&gone, 5), 0), (drift(&web, 5), 1), (clean, 0)] {
        let put: Result<bool> = world.tx("test", |tx| Box::pin(tx.stack_drift_put(&found))).await;
        assert!(put.unwrap());
        assert_eq!(world.read().await.unwrap().stack_drift_count().await.unwrap(), count);
    }
}

async fn the_longest_is_found(world: World) {
    let project = world.project("alpha").await;
    let first = world.read().await.unwrap().stack_begun_first().await.unwrap();
    assert_eq!(first, None);
    let under_way =
        |name: &str, begun: i64| Stack { time_begun: at(begun), ..stack(&project, name) };
    let (late, early) = (under_way("late", 7), under_way("early", 5));
    let over = under_way("over", 1);
    let over = Stack {
        standing: StackStanding { status: StackStatus::Failed, ..over.standing.clone() },
        ..over
    };
    let gone = Stack { time_deleted: Some(at(9)), ..under_way("gone", 2) };
    let below = Stack { time_begun: at(3), ..nested(&project, &late, "below") };
    for one in [&late, &early, &over, &gone, &below] {
        insert(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.stack_begun_first().await.unwrap(), Some(at(5)));
    assert_eq!(read.stack_lock_granted_first().await.unwrap(), None);
    drop(read);
    for (name, token, granted, found) in [
        ("stackless", Some(1), 1, None),
        ("stack/web", Some(2), 6, Some(6)),
        ("stack/late", Some(3), 8, Some(6)),
        ("stack/early", Some(4), 4, Some(4)),
        ("stack/waits", None, 2, Some(4)),
    ] {
        let lock = locks::lock(&project, name);
        let lock = Lock { held: u32::from(token.is_some()), waiting: 1, ..lock };
        let hold = locks::hold(&lock, 1, token);
        let hold = LockHold { time_granted: token.map(|_| at(granted)), ..hold };
        locks::put(&world, &lock, &[hold]).await;
        let oldest = world.read().await.unwrap().stack_lock_granted_first().await.unwrap();
        assert_eq!(oldest, found.map(at), "{name}");
    }
}
