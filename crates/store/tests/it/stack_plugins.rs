//! Plugins of stacks: versions that are numbered once, and stay while a stack is made with them.

use hostler_model::stack::*;
use hostler_model::*;
use hostler_store::{StackChange, Update};

use crate::stacks::{definition, insert, save, stack};
use crate::workflows::digest;
use crate::world::*;

crate::conformance!(versions_are_numbered_once, a_version_is_in_use_while_a_stack_is_made_with_it);

fn plugin(project: &Project, name: &str, artefact: u8) -> StackPlugin {
    let it = PluginType { description: "A thing \u{1F600}.".to_owned(), ..PluginType::default() };
    let types = [("Test::Thing".to_owned(), it)].into();
    StackPlugin {
        id: StackPluginId::from_uuid(next_uuid()),
        project_id: project.id,
        name: name.parse().unwrap(),
        version: 0,
        kind: PluginKind::Executable,
        file: "thing.sh".to_owned(),
        artefact: digest(artefact),
        manifest: PluginManifest { protocol: 1, types },
        place: PluginPlace { timeout: Some(Span::from_secs(9)), ..PluginPlace::default() },
        created_by: PrincipalId::from_uuid(next_uuid()),
        time_created: at(3),
    }
}

async fn enter(world: &World, plugin: &StackPlugin) -> StackPlugin {
    let entered: Result<StackPlugin> =
        world.tx("test", |tx| Box::pin(tx.stack_plugin_insert(plugin))).await;
    entered.unwrap()
}

async fn versions_are_numbered_once(world: World) {
    let (project, other) = (world.project("alpha").await, world.project("beta").await);
    let first = enter(&world, &plugin(&project, "thing", 1)).await;
    assert_eq!(first.version, 1);
    let same = enter(&world, &plugin(&project, "thing", 1)).await;
    assert_eq!(same, first, "the same in a row is one version");
    let second = enter(&world, &plugin(&project, "thing", 2)).await;
    assert_eq!(second.version, 2);
    enter(&world, &plugin(&project, "another", 1)).await;
    enter(&world, &plugin(&other, "thing", 1)).await;
    let mut read = world.read().await.unwrap();
    let name = |page: Page<StackPlugin>| -> Vec<(String, u32)> {
        page.items.into_iter().map(|one| (one.name.to_string(), one.version)).collect()
    };
    let newest = read.stack_plugin_list(project.id, None, Limit::LARGEST).await.unwrap();
    assert_eq!(name(newest), [("another".to_owned(), 1), ("thing".to_owned(), 2)]);
    let later = read.stack_plugin_list(project.id, Some("another"), Limit::LARGEST).await.unwrap();
    assert_eq!(name(later), [("thing".to_owned(), 2)]);
    let all = read.stack_plugin_versions(project.id, "thing", None, Limit::LARGEST).await.unwrap();
    assert_eq!(all.items, [second.clone(), first.clone()]);
    assert_eq!(read.stack_plugin_counts(project.id, "thing").await.unwrap(), (2, 2));
    assert_eq!(read.stack_plugin_by_id(first.id).await.unwrap(), Some(first.clone()));
    let found = read.stack_plugin_get(project.id, "thing", Some(1)).await.unwrap();
    assert_eq!(found, Some(first));
    drop(read);
    let gone: Result<bool> =
        world.tx("test", |tx| Box::pin(tx.stack_plugin_remove(second.id))).await;
    assert!(gone.unwrap());
    let third = enter(&world, &plugin(&project, "thing", 2)).await;
    assert_eq!(third.version, 3, "a number never means two things");
}

async fn a_version_is_in_use_while_a_stack_is_made_with_it(world: World) {
    let project = world.project("alpha").await;
    let first = enter(&world, &plugin(&project, "thing", 1)).await;
    let web = stack(&project, "web");
    insert(&world, &web).await;
    let made = StackDefinition { plugins: vec![first.id], ..definition(&web) };
    let missing = StackDefinition {
        plugins: vec![StackPluginId::from_uuid(next_uuid())],
        ..definition(&web)
    };
    let put: Result<()> =
        world.tx("test", |tx| Box::pin(tx.stack_definition_insert(&missing))).await;
    assert!(put.is_err(), "there is no such version");
    let put: Result<()> = world.tx("test", |tx| Box::pin(tx.stack_definition_insert(&made))).await;
    put.unwrap();
    let users = async || world.read().await.unwrap().stack_plugin_users(first.id).await.unwrap();
    assert!(users().await.is_empty(), "the stack does not go towards it");
    let wanting = Stack { wanted: Some(made.id), settled: None, ..web.clone() };
    let change = StackChange::of(&wanting);
    assert_eq!(save(&world, change, Generation::FIRST).await, Update::Updated);
    assert_eq!(users().await, ["web"]);
    let bare = Stack { wanted: None, settled: None, ..web.clone() };
    let change = StackChange::of(&bare);
    assert_eq!(save(&world, change, Generation::FIRST.next()).await, Update::Updated);
    assert!(users().await.is_empty());
    let pruned: Result<u64> =
        world.tx("test", |tx| Box::pin(tx.stack_definition_prune(web.id))).await;
    assert!(pruned.unwrap() > 0);
    let gone: Result<bool> =
        world.tx("test", |tx| Box::pin(tx.stack_plugin_remove(first.id))).await;
    assert!(gone.unwrap());
}
