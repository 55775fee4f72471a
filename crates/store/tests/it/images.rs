//! Versions of images.

use hostler_model::*;

use crate::world::*;

crate::conformance!(
    versions_are_counted_and_never_reused,
    an_image_is_found_by_what_it_is_called,
    images_are_listed_by_name_and_number,
    two_who_push_at_once_get_two_numbers,
);

fn image(image_name: &str, content: u8) -> Image {
    Image {
        id: ImageId::from_uuid(next_uuid()),
        name: name(image_name),
        version: 0,
        digest: Digest::from_bytes([content; 32]),
        size: Bytes::mib(5),
        origin: "file with debian:12".to_owned(),
        created_by: Actor { kind: ActorKind::User, name: "ann".to_owned() },
        time_created: Timestamp::from_micros(77),
    }
}

async fn push(world: &World, new: &Image) -> Image {
    let made: Result<Image> = world.tx("test", |tx| Box::pin(tx.image_insert(new))).await;
    made.unwrap()
}

async fn remove(world: &World, id: ImageId) -> bool {
    let gone: Result<bool> = world.tx("test", |tx| Box::pin(tx.image_delete(id))).await;
    gone.unwrap()
}

async fn versions_are_counted_and_never_reused(world: World) {
    let first = push(&world, &image("train", 1)).await;
    let second = push(&world, &image("train", 2)).await;
    let other = push(&world, &image("serve", 1)).await;
    assert_eq!((first.version, second.version, other.version), (1, 2, 1));
    assert_eq!(push(&world, &second).await, second, "the same id is the same version");
    assert!(remove(&world, second.id).await);
    assert!(!remove(&world, second.id).await);
    let mut reader = world.read().await.unwrap();
    assert!(reader.image_has_content(Digest::from_bytes([1; 32])).await.unwrap());
    assert!(!reader.image_has_content(Digest::from_bytes([2; 32])).await.unwrap());
    drop(reader);
    assert_eq!(push(&world, &image("train", 3)).await.version, 3);
}

async fn an_image_is_found_by_what_it_is_called(world: World) {
    let first = push(&world, &image("train", 1)).await;
    let second = push(&world, &image("train", 2)).await;
    let third = push(&world, &image("train", 1)).await;
    let mut reader = world.read().await.unwrap();
    let content = |byte| format!("train@{}", Digest::from_bytes([byte; 32]));
    for (text, meant) in [
        ("train", Some(&third)),
        ("train:1", Some(&first)),
        ("train:2", Some(&second)),
        ("train:9", None),
        ("other", None),
        (content(2).as_str(), Some(&second)),
        (content(1).as_str(), Some(&third)),
        (content(7).as_str(), None),
    ] {
        let found = reader.image_find(&text.parse().unwrap()).await.unwrap();
        assert_eq!(found.as_ref(), meant, "{text}");
    }
    assert_eq!(reader.image_get(first.id).await.unwrap(), Some(first));
}

async fn images_are_listed_by_name_and_number(world: World) {
    for (name, content) in [("b", 1), ("a-z", 2), ("b", 3), ("ab", 4), ("b", 5)] {
        push(&world, &image(name, content)).await;
    }
    let mut reader = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = reader.image_list(None, after.as_deref(), limit(2)).await.unwrap();
        seen.extend(page.items.iter().map(|image| format!("{}:{}", image.name, image.version)));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, ["a-z:1", "ab:1", "b:1", "b:2", "b:3"]);
    let page = reader.image_list(Some(&name("b")), Some("b:1"), limit(10)).await.unwrap();
    assert_eq!(page.items.iter().map(|image| image.version).collect::<Vec<_>>(), [2, 3]);
}

async fn two_who_push_at_once_get_two_numbers(world: World) {
    let (a, b, c) = (image("train", 1), image("train", 2), image("train", 3));
    let (a, b, c) = tokio::join!(push(&world, &a), push(&world, &b), push(&world, &c));
    let mut versions = [a.version, b.version, c.version];
    versions.sort_unstable();
    assert_eq!(versions, [1, 2, 3]);
}
