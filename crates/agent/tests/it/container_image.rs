//! Images: named, made, carried about, removed.

use bytes::Bytes;
use futures::StreamExt;
use hostler_agent::container::EngineError;
use hostler_agent::output::Stream;

use crate::docker::{Docked, IMAGE, inside, with};

fn fresh(word: &str) -> String {
    format!("hostler-test/{word}-{}:1", uuid::Uuid::new_v4().simple())
}

#[tokio::test]
async fn images_are_listed_named_and_removed() {
    let Some(world) = Docked::new().await else { return };
    let engine = &world.engine;
    let found = engine.image(IMAGE).await.unwrap().unwrap();
    assert!(found.id.starts_with("sha256:") && found.size > 100_000, "{found:?}");
    let name = fresh("named");
    engine.tag_image(IMAGE, &name).await.unwrap();
    let again = engine.image(&name).await.unwrap().unwrap();
    assert_eq!(again.id, found.id);
    let listed = engine.images().await.unwrap();
    let listed = listed.iter().find(|image| image.id == found.id).unwrap();
    assert!(listed.names.contains(&name) && listed.names.iter().any(|name| name == IMAGE));
    engine.remove_image(&name, false).await.unwrap();
    assert_eq!(engine.image(&name).await.unwrap(), None);
    let missing = engine.remove_image(&name, false).await.unwrap_err();
    assert!(matches!(missing, EngineError::NotFound(_)), "{missing:?}");
    let bad = engine.image("../containers/json").await.unwrap_err();
    assert!(matches!(bad, EngineError::Invalid(_)));
}

#[tokio::test]
async fn a_container_becomes_an_image_which_travels() {
    let Some(mut world) = Docked::new().await else { return };
    let engine = world.engine.clone();
    let (run_id, _) =
        world.start(inside("echo kept > /etc/kept; echo up; sleep 1000")).await.unwrap();
    let out = world.run_dir(run_id).join("out.000001");
    crate::support::until("it has written", || out.exists()).await;
    let name = fresh("made");
    let id = engine.commit(&format!("hostler-{run_id}"), &name).await.unwrap();
    world.kill(run_id).await;
    assert_eq!(engine.image(&name).await.unwrap().unwrap().id, id);

    let exported = engine.export_image(&name).await.unwrap();
    assert_eq!(exported.image_id, id);
    let parts: Vec<Bytes> = exported.content.map(Result::unwrap).collect().await;
    let content = parts.concat();
    engine.remove_image(&name, false).await.unwrap();
    assert_eq!(engine.image(&id).await.unwrap(), None);

    let whole = |content: &[u8]| {
        let parts: Vec<_> = content.chunks(10_000).map(Bytes::copy_from_slice).collect();
        futures::stream::iter(parts.into_iter().map(Ok::<_, std::io::Error>))
    };
    let half = content.len() / 2;
    let broken = whole(&content[..half]);
    let broken = broken
        .chain(futures::stream::once(async { Err(std::io::Error::other("the sender has died")) }));
    engine.import_image(broken, Some(&id), Some(&name)).await.unwrap_err();
    assert_eq!(engine.image(&id).await.unwrap(), None);
    let other = format!("sha256:{}", "0".repeat(64));
    let wrong = engine.import_image(whole(&content), Some(&other), Some(&name)).await.unwrap_err();
    assert!(wrong.to_string().contains("damaged or mixed up"), "{wrong}");
    assert_eq!(engine.image(&name).await.unwrap(), None);

    let taken = engine.import_image(whole(&content), Some(&id), Some(&name)).await.unwrap();
    assert_eq!(taken.image_id, id);
    assert_eq!(taken.bytes, content.len() as u64);
    assert_eq!(taken.blake3, blake3::hash(&content).to_hex().to_string());
    let news = world.run(with(inside("cat /etc/kept"), |c| c.image = name.clone())).await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "kept\n");
    engine.remove_image(&name, true).await.unwrap();
    world.nothing_is_left().await;
}
