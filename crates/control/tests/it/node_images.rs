//! Images that leave nodes by themselves: each is an event, once.

use std::time::Duration;

use hostler_control::EventQuery;
use hostler_model::{EventId, ImageNews, Limit, NodeId};
use hostler_testkit::World;
use uuid::Uuid;

async fn told(world: &World) -> Vec<String> {
    let query = EventQuery::default();
    let page = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    let mut events: Vec<_> = page.items.into_iter().collect();
    events.sort_by_key(|event| event.sequence);
    let about = events.into_iter().map(|event| event.event);
    let about = about.filter(|event| event.kind.label().starts_with("node.image"));
    about
        .map(|it| format!("{} {} {}: {}", it.object.name, it.actor.name, it.kind, it.message))
        .collect()
}

#[tokio::test]
async fn an_image_that_left_its_node_is_an_event_however_often_it_is_told() {
    let world = World::new(61).await;
    let agent = world.join("n1").await;
    let news = |n: u128, version, problem: Option<&str>| ImageNews {
        id: EventId::from_uuid(Uuid::from_u128(n)),
        name: "train".parse().unwrap(),
        version,
        why: "there is a newer one".to_owned(),
        problem: problem.map(str::to_owned),
        time: world.control.clock().now(),
    };
    let (first, second) = (news(1, 1, None), news(2, 2, Some("no room")));
    let tell =
        async |of: &[ImageNews]| world.control.node_image_news(agent.node_id, of).await.unwrap();
    assert_eq!(tell(std::slice::from_ref(&first)).await, [first.id]);
    let both = [first.clone(), second.clone(), second.clone()];
    assert_eq!(tell(&both).await, [first.id, second.id, second.id]);
    let expected = [
        "n1 n1 node.image-removed: image hostler://train:1 removed: there is a newer one",
        "n1 n1 node.image-trouble: image hostler://train:2 cannot be removed: no room",
    ];
    assert_eq!(told(&world).await, expected);
    assert_eq!(world.control.images_tidied(), (1, 1));

    let other = world.join("n2").await;
    assert_eq!(world.control.node_image_news(other.node_id, &[first]).await.unwrap().len(), 1);
    assert!(told(&world).await[2].starts_with("n2 n2 node.image-removed"), "ids are a node's own");

    let stranger = NodeId::from_uuid(Uuid::from_u128(9));
    let late = ImageNews { time: second.time.minus(Duration::from_hours(3)), ..news(3, 3, None) };
    let ignored = world.control.node_image_news(stranger, std::slice::from_ref(&late)).await;
    assert_eq!(ignored.unwrap(), [late.id], "nobody has to tell it again");
    assert_eq!(told(&world).await.len(), 3);
    tell(std::slice::from_ref(&late)).await;
    let words = &told(&world).await[3];
    assert!(words.ends_with(&format!("(at {})", late.time)), "{words}");
}
