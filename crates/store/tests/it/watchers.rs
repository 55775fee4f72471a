//! Watchers, what nodes are told of them, and what nodes told last.

use hostler_model::*;
use hostler_store::Update;

use crate::workflows::somebody;
use crate::world::*;

crate::conformance!(
    a_watcher_is_what_was_written,
    a_change_of_a_watcher_says_which_one_it_saw,
    a_name_is_given_once_in_a_project,
    orders_of_a_node_only_grow,
    the_number_of_news_only_grows,
    a_project_goes_with_its_watchers,
);

fn watcher(project: &Project, name: &str) -> Watcher {
    let json = serde_json::json!({ "watch": { "port": { "port": 443 } }, "cooldown": "1m" });
    Watcher {
        id: WatcherId::from_uuid(next_uuid()),
        project_id: project.id,
        name: name.parse().unwrap(),
        spec: serde_json::from_value(json).unwrap(),
        mandate: Mandate {
            principal: somebody(),
            can: Some(PermissionSet::EMPTY.with(Permission::NodeInspect)),
        },
        is_enabled: true,
        generation: Generation::FIRST,
        time_created: at(1),
        time_modified: at(2),
    }
}

async fn put(world: &World, watcher: &Watcher) {
    world.tx("test", |tx| Box::pin(tx.watcher_insert(watcher))).await.unwrap();
}

fn standing(watcher: &Watcher) -> WatcherStanding {
    WatcherStanding {
        watcher: watcher.id,
        revision: watcher.generation,
        time_looked: Some(at(5)),
        seen: "open".into(),
        is_firing: true,
        trouble: Some("ü".into()),
        waiting: 3,
        lost: 4,
    }
}

async fn a_watcher_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let other = world.project("beta").await;
    let (b, a) = (watcher(&project, "b"), watcher(&project, "a"));
    let off = Watcher { is_enabled: false, ..watcher(&other, "b") };
    for one in [&b, &a, &off] {
        put(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.watcher_get(b.id).await.unwrap().as_ref(), Some(&b));
    let name: Name = "b".parse().unwrap();
    assert_eq!(read.watcher_by_name(other.id, &name).await.unwrap().as_ref(), Some(&off));
    let page = read.watcher_list(project.id, None, Limit::new(1).unwrap()).await.unwrap();
    assert_eq!((page.items, page.next.as_deref()), (vec![a.clone()], Some("a")));
    let page = read.watcher_list(project.id, Some("a"), Limit::DEFAULT).await.unwrap();
    assert_eq!((page.items, page.next), (vec![b.clone()], None));
    assert_eq!(read.watchers_enabled().await.unwrap(), [b.clone(), a.clone()]);
    let gone = WatcherId::from_uuid(next_uuid());
    assert_eq!(read.watcher_get_batch(&[gone, a.id]).await.unwrap(), [a]);
    assert_eq!(read.watcher_count_in(project.id).await.unwrap(), 2);
    assert_eq!(read.watcher_count().await.unwrap(), (3, 2));
}

async fn a_change_of_a_watcher_says_which_one_it_saw(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let before = watcher(&project, "a");
    put(&world, &before).await;
    let mut spec = before.spec.clone();
    spec.description = "ü".into();
    let can = before.mandate.can.map(|can| can.with(Permission::NodeAdminister));
    let after = &Watcher {
        spec,
        mandate: Mandate { principal: somebody(), can },
        is_enabled: false,
        generation: before.generation.next(),
        time_modified: at(9),
        ..before.clone()
    };
    let update = |expected| {
        let world = world.clone();
        async move {
            let done: Result<Update> =
                world.tx("test", |tx| Box::pin(tx.watcher_update(after, expected))).await;
            done.unwrap()
        }
    };
    assert_eq!(update(Generation::FIRST).await, Update::Updated);
    let stale = Update::Stale { current: after.generation };
    assert_eq!(update(Generation::FIRST).await, stale);
    assert_eq!(
        world.read().await.unwrap().watcher_get(after.id).await.unwrap().as_ref(),
        Some(after)
    );
    let on = &WatcherOn {
        watcher_id: after.id,
        node_id: node.id,
        sequence: 1,
        standing: None,
        time_told: None,
    };
    world.tx("test", |tx| Box::pin(tx.watcher_node_put(on))).await.unwrap();
    for (expected, outcome) in [
        (Generation::FIRST, stale),
        (after.generation, Update::Updated),
        (after.generation, Update::Missing),
    ] {
        let done: Result<Update> =
            world.tx("test", |tx| Box::pin(tx.watcher_delete(after.id, expected))).await;
        assert_eq!(done.unwrap(), outcome);
    }
    assert!(world.read().await.unwrap().watcher_nodes(after.id).await.unwrap().is_empty());
}

async fn a_name_is_given_once_in_a_project(world: World) {
    let project = world.project("alpha").await;
    put(&world, &watcher(&project, "a")).await;
    let again = &watcher(&project, "a");
    let taken: Result<()> = world.tx("test", |tx| Box::pin(tx.watcher_insert(again))).await;
    assert!(matches!(taken, Err(hostler_store::Error::Conflict { .. })), "{taken:?}");
}

async fn orders_of_a_node_only_grow(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await.id;
    let one = watcher(&project, "a");
    let give = |orders: Vec<(WatcherId, Generation)>, above: u64| {
        let world = world.clone();
        async move {
            let (orders, above) = (&orders, Generation::from_u64(above));
            let given: Result<Generation> =
                world.tx("test", |tx| Box::pin(tx.node_watch_put(node, orders, above))).await;
            given.unwrap().get()
        }
    };
    assert_eq!(world.read().await.unwrap().node_watch_get(node).await.unwrap(), None);
    assert_eq!(give(vec![(one.id, one.generation)], 0).await, 1);
    assert_eq!(give(vec![], 0).await, 2);
    assert_eq!(give(vec![(one.id, one.generation)], 7).await, 8, "the node has later ones");
    let applied = |generation: u64| {
        let world = world.clone();
        async move {
            let generation = Generation::from_u64(generation);
            world.tx("test", |tx| Box::pin(tx.node_watch_applied(node, generation))).await.unwrap();
            world.read().await.unwrap().node_watch_get(node).await.unwrap().unwrap()
        }
    };
    assert_eq!(applied(9).await.applied.get(), 0, "nobody gave it that");
    let now = applied(8).await;
    assert_eq!((now.applied.get(), now.generation.get()), (8, 8));
    assert_eq!(now.orders, [(one.id, one.generation)]);
    assert_eq!(applied(3).await.applied.get(), 3, "its disk was replaced");
    assert_eq!(world.read().await.unwrap().node_watches().await.unwrap().len(), 1);
    world.tx("test", |tx| Box::pin(tx.node_watch_delete(node))).await.unwrap();
    assert!(world.read().await.unwrap().node_watches().await.unwrap().is_empty());
}

async fn the_number_of_news_only_grows(world: World) {
    let project = world.project("alpha").await;
    let (n1, n2) = (world.node("n1").await.id, world.node("n2").await.id);
    let one = watcher(&project, "a");
    put(&world, &one).await;
    let tell = |node_id, sequence, standing: Option<WatcherStanding>| {
        let (world, watcher_id) = (world.clone(), one.id);
        async move {
            let time_told = standing.as_ref().map(|_| at(6));
            let on = &WatcherOn { watcher_id, node_id, sequence, standing, time_told };
            world.tx("test", |tx| Box::pin(tx.watcher_node_put(on))).await.unwrap();
            let mut read = world.read().await.unwrap();
            let mut found = read.watchers_on(node_id, &[watcher_id]).await.unwrap();
            found.pop().unwrap()
        }
    };
    assert_eq!(tell(n1, 5, None).await.sequence, 5);
    let told = tell(n1, 3, Some(standing(&one))).await;
    assert_eq!((told.sequence, told.time_told), (5, Some(at(6))));
    assert_eq!(told.standing, Some(standing(&one)));
    let told = tell(n1, u64::try_from(i64::MAX).unwrap(), None).await;
    assert_eq!(told.standing, Some(standing(&one)), "nothing new was told of it");
    tell(n2, 1, None).await;
    let all = world.read().await.unwrap().watcher_nodes(one.id).await.unwrap();
    assert_eq!(all.iter().map(|on| on.node_id).collect::<Vec<_>>(), [n1, n2]);
    world.tx("test", |tx| Box::pin(tx.node_watch_delete(n1))).await.unwrap();
    let all = world.read().await.unwrap().watcher_nodes(one.id).await.unwrap();
    assert_eq!(all.iter().map(|on| on.node_id).collect::<Vec<_>>(), [n2]);
}

async fn a_project_goes_with_its_watchers(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let one = watcher(&project, "a");
    put(&world, &one).await;
    let on = &WatcherOn {
        watcher_id: one.id,
        node_id: node.id,
        sequence: 1,
        standing: None,
        time_told: None,
    };
    world.tx("test", |tx| Box::pin(tx.watcher_node_put(on))).await.unwrap();
    let gone: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.project_delete(project.id, project.generation))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.watcher_get(one.id).await.unwrap(), None);
    assert!(read.watcher_nodes(one.id).await.unwrap().is_empty());
}
