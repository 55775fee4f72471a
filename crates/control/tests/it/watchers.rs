//! Watchers: who is told what, and what nodes tell becomes an event once.

use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_control::{Control, Cx, EventQuery, WatcherDetail};
use hostler_model::{
    Code, EventKind, EventPayload, Generation, Grant, Limit, Name, NewEvent, NodeId, Principal,
    PrincipalKind, Role, Scope, Timestamp, WatchCondition, WatcherId, WatcherNews, WatcherOrder,
    WatcherReport, WatcherSpec, WatcherStanding, WatcherTold, WatcherWord,
};
use hostler_testkit::World;
use serde_json::json;

fn spec(json: serde_json::Value) -> WatcherSpec {
    serde_json::from_value(json).unwrap()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

async fn apply(world: &World, called: &str, json: serde_json::Value) -> WatcherDetail {
    let (cx, project) = (&world.cx, &world.project);
    let applied = world.control.watcher_apply(cx, project, &name(called), &spec(json), None).await;
    let (detail, _) = applied.unwrap();
    world.control.watcher_orders_give().await.unwrap();
    detail
}

async fn orders(control: &Control, node: NodeId, after: u64) -> Option<(u64, Vec<WatcherOrder>)> {
    let after = Generation::from_u64(after);
    let orders = control.node_watcher_orders(node, after).await.unwrap();
    orders.map(|(generation, orders)| (generation.get(), orders))
}

fn told(word: WatcherWord, text: &str) -> WatcherTold {
    WatcherTold {
        word,
        condition: Some(WatchCondition::Closed),
        subject: "127.0.0.1:443".into(),
        value: Some(1.5),
        threshold: None,
        count: 1,
        skipped: 2,
        words: text.into(),
    }
}

fn news(watcher: WatcherId, sequence: u64, text: &str) -> WatcherNews {
    let told = told(WatcherWord::Fired, text);
    WatcherNews { watcher, sequence, time: Timestamp::from_micros(7), told, lost: 3 }
}

fn standing(watcher: WatcherId, revision: Generation) -> WatcherStanding {
    WatcherStanding {
        watcher,
        revision,
        time_looked: Some(Timestamp::from_micros(5)),
        seen: "closed".into(),
        is_firing: true,
        trouble: None,
        waiting: 1,
        lost: 0,
    }
}

async fn events(world: &World) -> Vec<NewEvent> {
    let query = EventQuery::default();
    let page = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    let mut found = page.items;
    found.sort_by_key(|event| event.sequence);
    let found = found.into_iter().map(|event| event.event);
    found.filter(|event| event.kind.label().starts_with("watcher.")).collect()
}

/// Somebody with a role on the whole installation, in the database too.
async fn person(world: &World, text: &str, role: Role) -> Cx {
    let mut cx = world.cx.clone();
    cx.caller.principal_id = Ids::system().fresh();
    cx.caller.name = name(text);
    cx.caller.grants = vec![Grant::built_in(Scope::Global, role)];
    let principal = &Principal {
        id: cx.caller.principal_id,
        name: cx.caller.name.clone(),
        kind: PrincipalKind::User,
        password_hash: None,
        is_disabled: false,
        generation: Generation::FIRST,
        time_created: world.now(),
        time_modified: world.now(),
    };
    let stored: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(async move {
                tx.principal_insert(principal).await?;
                tx.role_binding_set(principal.id, Scope::Global, role).await
            })
        })
        .await;
    stored.unwrap();
    cx
}

async fn disable(world: &World, cx: &Cx) {
    let id = cx.caller.principal_id;
    let stored: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(async move {
                let mut principal = tx.principal_get(id).await?.unwrap();
                let before = principal.generation;
                (principal.is_disabled, principal.generation) = (true, before.next());
                tx.principal_update(&principal, before).await.map(drop)
            })
        })
        .await;
    stored.unwrap();
}

#[tokio::test]
async fn a_node_gets_the_watchers_that_are_for_it_and_later_ones_anew() {
    let world = World::new(71).await;
    let (a, b) = (world.join("a").await, world.join("b").await);
    assert_eq!(orders(&world.control, a.node_id, 0).await, None);
    let port = json!({ "port": { "port": 443 } });
    let all = apply(&world, "all", json!({ "watch": port })).await;
    let one =
        apply(&world, "one", json!({ "watch": port, "nodes": ["b"], "interval": "9s" })).await;
    let (first, given) = orders(&world.control, a.node_id, 0).await.unwrap();
    assert_eq!(given.iter().map(|order| order.id).collect::<Vec<_>>(), [all.watcher.id]);
    let (_, given) = orders(&world.control, b.node_id, 0).await.unwrap();
    assert_eq!(given.len(), 2);
    assert_eq!(given.last().unwrap().interval.duration(), Duration::from_secs(9));
    assert_eq!(orders(&world.control, a.node_id, first).await, None, "it has these");
    let again = world.control.watcher_orders_give().await.unwrap();
    assert_eq!((again.watchers, again.changed), (2, 0));

    apply(&world, "all", json!({ "watch": port, "cooldown": "1m" })).await;
    let (second, given) = orders(&world.control, a.node_id, first).await.unwrap();
    assert!(second > first && given[0].revision > all.watcher.generation);
    let disabled = world.control.watcher_enable(&world.cx, &world.project, "all", false).await;
    assert_eq!(disabled.unwrap().hindrance.as_deref(), Some("it is disabled"));
    world.control.watcher_orders_give().await.unwrap();
    assert!(orders(&world.control, a.node_id, second).await.unwrap().1.is_empty());

    // A node that has later orders than the database knows is given its orders above those.
    world.control.node_watches(b.node_id, Generation::from_u64(50)).await.unwrap();
    let (above, given) = orders(&world.control, b.node_id, 50).await.unwrap();
    assert_eq!((above, given.len()), (51, 1));
    assert_eq!(given[0].id, one.watcher.id);
}

#[tokio::test]
async fn news_become_events_once_in_the_project_of_the_watcher() {
    let world = World::new(72).await;
    let (a, b) = (world.join("a").await, world.join("b").await);
    let port = json!({ "watch": { "port": { "port": 443 } }, "nodes": ["a"] });
    let watcher = apply(&world, "web", port).await.watcher;
    let (generation, _) = orders(&world.control, a.node_id, 0).await.unwrap();
    let report = |all: &[WatcherNews]| WatcherReport {
        generation: Generation::from_u64(generation),
        news: all.to_vec(),
        standings: vec![standing(watcher.id, watcher.generation)],
    };
    let tell = async |control: &Control, node: NodeId, all: &[WatcherNews]| {
        control.node_watcher_report(node, &report(all)).await.unwrap();
    };
    let (first, second) = (news(watcher.id, 5, "is closed"), news(watcher.id, 9, "again"));
    tell(&world.control, a.node_id, std::slice::from_ref(&first)).await;
    tell(&world.control, a.node_id, &[first.clone(), second.clone(), second.clone()]).await;
    // Another server is told the same, and one that knows nothing of the watcher tells of it.
    tell(&world.another_server().await, a.node_id, &[first.clone(), second.clone()]).await;
    tell(&world.control, b.node_id, &[news(watcher.id, 99, "not its business")]).await;
    tell(&world.control, a.node_id, &[news(watcher.id, u64::MAX, "no number")]).await;
    let gone = WatcherId::from_uuid(uuid::Uuid::from_u128(9));
    tell(&world.control, a.node_id, &[news(gone, 1, "there is none")]).await;

    let events = events(&world).await;
    let fired: Vec<&NewEvent> =
        events.iter().filter(|event| event.kind == EventKind::WatcherFired).collect();
    let messages: Vec<&str> = fired.iter().map(|event| event.message.as_str()).collect();
    assert_eq!(messages, ["a: is closed", "a: again"]);
    let event = fired[0];
    assert_eq!((event.project_id, event.object.name.as_str()), (Some(world.project.id), "web"));
    assert_eq!(event.actor.name, "a");
    let Some(EventPayload::Watcher(payload)) = &event.payload else { panic!("{event:?}") };
    assert_eq!((payload.watch.as_str(), payload.lost, payload.skipped), ("port", 3, 2));
    assert_eq!(payload.condition, Some(WatchCondition::Closed));
    let counts = world.control.watcher_counts().await.unwrap();
    assert_eq!((counts.watchers, counts.enabled, counts.lost), (1, 1, 6));
    assert_eq!(counts.news[0], (WatcherWord::Fired, 2));

    let shown = world.control.watcher_get(&world.project, "web").await.unwrap();
    assert_eq!(shown.nodes.len(), 1);
    let on = shown.nodes[0].on.as_ref().unwrap();
    assert!(shown.nodes[0].is_given && on.standing.as_ref().unwrap().is_firing);
    assert_eq!(on.sequence, 9);

    // Off and on again: what was told before is still known.
    for is_enabled in [false, true] {
        let (cx, project) = (&world.cx, &world.project);
        world.control.watcher_enable(cx, project, "web", is_enabled).await.unwrap();
        world.control.watcher_orders_give().await.unwrap();
    }
    tell(&world.control, a.node_id, &[first, second]).await;
    let kinds: Vec<EventKind> = self::events(&world).await.iter().map(|event| event.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::WatcherFired).count(), 2);
    assert_eq!(kinds[0], EventKind::WatcherCreated);
    world.control.watcher_remove(&world.cx, &world.project, "web").await.unwrap();
    world.control.watcher_orders_give().await.unwrap();
    assert!(orders(&world.control, a.node_id, 0).await.unwrap().1.is_empty());
    let missing = world.control.watcher_get(&world.project, "web").await.unwrap_err();
    assert_eq!(missing.code, Code::NotFound);
}

#[tokio::test]
async fn a_watcher_is_with_its_nodes_for_as_long_as_its_writer_may_look() {
    let world = World::new(73).await;
    let node = world.join("a").await.node_id;
    let command = json!({ "watch": { "command": { "command": ["true"] } } });
    let port = json!({ "watch": { "port": { "port": 443 } } });
    let operator = person(&world, "olga", Role::Operator).await;
    let project = &world.project;
    let set = async |called: &str, json: &serde_json::Value| {
        let spec = spec(json.clone());
        world.control.watcher_apply(&operator, project, &name(called), &spec, None).await
    };
    assert_eq!(set("c", &command).await.unwrap_err().code, Code::Forbidden);
    set("p", &port).await.unwrap();
    apply(&world, "c", command.clone()).await;
    let refused = world.control.watcher_enable(&operator, project, "c", true).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden, "commands take more than looking");
    assert_eq!(orders(&world.control, node, 0).await.unwrap().1.len(), 2);

    disable(&world, &operator).await;
    let report = world.control.watcher_orders_give().await.unwrap();
    assert_eq!((report.watchers, report.refused, report.changed), (2, 1, 1));
    assert_eq!(orders(&world.control, node, 0).await.unwrap().1.len(), 1);
    let shown = world.control.watcher_get(project, "p").await.unwrap();
    let hindrance = shown.hindrance.unwrap();
    assert!(hindrance.starts_with("olga, who wrote it, is disabled"), "{hindrance}");
    assert!(!shown.nodes[0].is_given);
    // Whoever writes it now is whose rights it needs.
    apply(&world, "p", port).await;
    assert_eq!(orders(&world.control, node, 0).await.unwrap().1.len(), 2);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_its_place() {
    let world = World::new(74).await;
    let (cx, project) = (&world.cx, &world.project);
    let bad = spec(json!({ "watch": { "log": { "path": "/etc/shadow", "pattern": "(" } } }));
    let error = world.control.watcher_apply(cx, project, &name("x"), &bad, None).await.unwrap_err();
    let places: Vec<&str> = error.errors.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(places, ["/watch/log/path", "/watch/log/pattern"]);
    let port = json!({ "watch": { "port": { "port": 443 } } });
    let made = apply(&world, "web", port.clone()).await.watcher;
    let other = spec(json!({ "watch": { "port": { "port": 444 } } }));
    for (expected, code) in
        [(Generation::ZERO, Code::AlreadyExists), (made.generation.next(), Code::Stale)]
    {
        let called = name("web");
        let set = world.control.watcher_apply(cx, project, &called, &other, Some(expected)).await;
        assert_eq!(set.unwrap_err().code, code);
    }
    let near = world.control.watcher_get(project, "wbe").await.unwrap_err();
    assert_eq!(near.hint, "did you mean `web`?");
    let same = world.control.watcher_apply(cx, project, &name("web"), &spec(port), None).await;
    assert_eq!(same.unwrap().0.watcher, made, "nothing was changed");
}

#[tokio::test]
async fn a_node_has_no_more_watchers_than_it_can_look_after() {
    let world = World::new(75).await;
    let node = world.join("a").await.node_id;
    let (cx, project) = (&world.cx, &world.project);
    let port = spec(json!({ "watch": { "port": { "port": 443 } } }));
    for n in 0..203 {
        let called = name(&format!("w{n:03}"));
        world.control.watcher_apply(cx, project, &called, &port, None).await.unwrap();
    }
    let report = world.control.watcher_orders_give().await.unwrap();
    assert_eq!((report.changed, report.left_out), (1, 3));
    let (_, given) = orders(&world.control, node, 0).await.unwrap();
    assert_eq!(given.len(), 200);
    let last = world.control.watcher_get(project, "w202").await.unwrap();
    assert!(!last.nodes[0].is_given && last.hindrance.is_none());
}
