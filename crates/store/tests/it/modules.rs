//! Versions of modules: numbers mean one thing, and their text stays as long as they do.

use hostler_model::workflow::{ModuleRef, ModuleVersion};
use hostler_model::*;
use hostler_store::Update;

use crate::workflows::{digest, somebody};
use crate::world::*;

crate::conformance!(
    a_module_is_what_was_written,
    modules_are_numbered_by_name_and_project,
    the_same_text_again_is_the_same_version,
    numbers_of_removed_modules_are_never_reused,
    versions_of_a_module_are_listed_newest_first,
    modules_are_listed_by_name,
    two_who_push_at_once_get_two_numbers,
    what_modules_need_of_blobs_stays,
    a_project_goes_with_its_modules,
);

fn version(project: &Project, text: &str, content: u8) -> ModuleVersion {
    ModuleVersion {
        id: ModuleId::from_uuid(next_uuid()),
        project_id: project.id,
        name: text.to_owned(),
        version: 0,
        bundle: digest(content),
        file: format!("{text}.lua"),
        modules: vec![ModuleRef { name: "note".to_owned(), version: u32::from(content) }],
        created_by: somebody(),
        time_created: at(7),
    }
}

async fn enter(world: &World, new: &ModuleVersion) -> ModuleVersion {
    let made: Result<ModuleVersion> =
        world.tx("test", |tx| Box::pin(tx.module_version_insert(new))).await;
    made.unwrap()
}

async fn remove(world: &World, project: &Project, text: &str) -> u64 {
    let gone: Result<u64> =
        world.tx("test", |tx| Box::pin(tx.module_remove(project.id, text))).await;
    gone.unwrap()
}

async fn a_module_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let first = enter(&world, &version(&project, "acme.web", 1)).await;
    let other = ModuleVersion { modules: Vec::new(), ..version(&project, "acme.web", 2) };
    let second = enter(&world, &other).await;
    assert_eq!(second, ModuleVersion { version: 2, ..other });
    let mut read = world.read().await.unwrap();
    for (number, meant) in
        [(Some(1), Some(&first)), (Some(2), Some(&second)), (None, Some(&second)), (Some(3), None)]
    {
        let found = read.module_version_get(project.id, "acme.web", number).await.unwrap();
        assert_eq!(found.as_ref(), meant, "{number:?}");
    }
    assert_eq!(read.module_version_get(project.id, "other", None).await.unwrap(), None);
}

async fn modules_are_numbered_by_name_and_project(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for (project, text, content, number) in [
        (&alpha, "web", 1, 1),
        (&alpha, "web", 2, 2),
        (&alpha, "Web", 2, 1),
        (&beta, "web", 2, 1),
        (&alpha, "web", 3, 3),
    ] {
        assert_eq!(enter(&world, &version(project, text, content)).await.version, number);
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.module_version_get(beta.id, "web", Some(2)).await.unwrap(), None);
    assert_eq!(read.module_version_get(beta.id, "Web", None).await.unwrap(), None);
}

async fn the_same_text_again_is_the_same_version(world: World) {
    let project = world.project("alpha").await;
    let first = enter(&world, &version(&project, "web", 1)).await;
    assert_eq!(enter(&world, &version(&project, "web", 1)).await, first);
    let file = ModuleVersion { file: "init.lua".to_owned(), ..version(&project, "web", 1) };
    assert_eq!(enter(&world, &file).await.version, 2, "another file");
    assert_eq!(enter(&world, &version(&project, "web", 2)).await.version, 3, "another text");
    assert_eq!(enter(&world, &version(&project, "web", 1)).await.version, 4, "the newest counts");
    let mut read = world.read().await.unwrap();
    let all = read.module_versions(project.id, "web", None, limit(9)).await.unwrap();
    assert_eq!(all.items.len(), 4);
}

async fn numbers_of_removed_modules_are_never_reused(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for content in 1..=2 {
        enter(&world, &version(&alpha, "web", content)).await;
    }
    let kept = [
        enter(&world, &version(&alpha, "web2", 1)).await,
        enter(&world, &version(&beta, "web", 1)).await,
    ];
    assert_eq!(remove(&world, &alpha, "web").await, 2);
    assert_eq!(remove(&world, &alpha, "web").await, 0);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.module_version_get(alpha.id, "web", None).await.unwrap(), None);
    let list = read.module_list(alpha.id, None, limit(9)).await.unwrap();
    assert_eq!(list.items, kept[..1]);
    let list = read.module_list(beta.id, None, limit(9)).await.unwrap();
    assert_eq!(list.items, kept[1..]);
    drop(read);
    assert_eq!(enter(&world, &version(&alpha, "web", 2)).await.version, 3);
}

async fn versions_of_a_module_are_listed_newest_first(world: World) {
    let project = world.project("alpha").await;
    for content in 1..=12 {
        enter(&world, &version(&project, "web", content)).await;
    }
    enter(&world, &version(&project, "other", 1)).await;
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page =
            read.module_versions(project.id, "web", after.as_deref(), limit(5)).await.unwrap();
        seen.extend(page.items.iter().map(|version| version.version));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, (1..=12).rev().collect::<Vec<u32>>());
    let anew = read.module_versions(project.id, "web", Some("x"), limit(1)).await.unwrap();
    assert_eq!(anew.items[0].version, 12);
}

async fn modules_are_listed_by_name(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for (text, content) in [("b", 1), ("Z", 2), ("b", 3), ("a-z", 4), ("a.b", 5), ("b", 6)] {
        enter(&world, &version(&alpha, text, content)).await;
    }
    enter(&world, &version(&beta, "aa", 7)).await;
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = read.module_list(alpha.id, after.as_deref(), limit(2)).await.unwrap();
        seen.extend(page.items.iter().map(|one| format!("{}:{}", one.name, one.version)));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, ["Z:1", "a-z:1", "a.b:1", "b:3"]);
}

async fn two_who_push_at_once_get_two_numbers(world: World) {
    let project = world.project("alpha").await;
    let [a, b, c] = [1, 2, 3].map(|content| version(&project, "web", content));
    let (a, b, c) = tokio::join!(enter(&world, &a), enter(&world, &b), enter(&world, &c));
    let mut numbers = [a.version, b.version, c.version];
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
}

async fn what_modules_need_of_blobs_stays(world: World) {
    let project = world.project("alpha").await;
    let scope = BlobScope::Project(project.id);
    let entered = enter(&world, &version(&project, "web", 1)).await;
    let uses = [
        (scope, digest(1), entered.id.to_string()),
        (scope, digest(2), ModuleId::from_uuid(next_uuid()).to_string()),
    ];
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.blob_use(&uses, at(0)))).await;
    done.unwrap();
    let gone: Result<u64> = world.tx("test", |tx| Box::pin(tx.blob_use_delete_left(100))).await;
    assert_eq!(gone.unwrap(), 1);
    let used = async |n| {
        let mut read = world.read().await.unwrap();
        read.blob_is_used(scope, digest(n)).await.unwrap()
    };
    assert!(used(1).await && !used(2).await);
    assert_eq!(remove(&world, &project, "web").await, 1);
    assert!(!used(1).await);
}

async fn a_project_goes_with_its_modules(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for project in [&alpha, &beta] {
        enter(&world, &version(project, "web", 1)).await;
    }
    let id = alpha.id;
    let gone: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.project_delete(id, Generation::FIRST))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.module_list(alpha.id, None, limit(9)).await.unwrap().items, []);
    assert_eq!(read.module_list(beta.id, None, limit(9)).await.unwrap().items.len(), 1);
}
