//! Secrets and their versions.

use hostler_model::*;
use hostler_store::{Update, WrappedKey};

use crate::world::*;

crate::conformance!(
    a_secret_is_found_by_environment_and_name,
    versions_are_listed_and_destroyed,
    secrets_are_listed_page_by_page,
    keys_are_replaced_one_by_one,
    a_project_with_secrets_stays,
    a_link_is_kept_and_changed,
);

fn secret(project: &Project, environment: &str, secret_name: &str) -> Secret {
    Secret {
        id: SecretId::from_uuid(next_uuid()),
        project_id: project.id,
        environment: name(environment),
        name: name(secret_name),
        source: SecretSource::Kept,
        link: None,
        version_current: 0,
        version_last: 0,
        generation: Generation::FIRST,
        created_by: PrincipalId::from_uuid(next_uuid()),
        time_created: Timestamp::from_micros(5),
        time_modified: Timestamp::from_micros(6),
    }
}

fn envelope(byte: u8, key: u8) -> Envelope {
    Envelope {
        sealed: vec![byte; 9],
        wrapped_key: vec![byte, key],
        key_id: KeyId::from_bytes([key; 4]),
    }
}

async fn insert(world: &World, secret: &Secret) -> Result<()> {
    world.tx("test", |tx| Box::pin(tx.secret_insert(secret))).await
}

/// Adds a version, and makes it current.
async fn add(world: &World, secret: &mut Secret, envelope: &Envelope) {
    let number = secret.version_last + 1;
    let version = SecretVersion {
        secret_id: secret.id,
        version: number,
        size: 3,
        key_id: Some(envelope.key_id),
        created_by: Actor { kind: ActorKind::User, name: "ann".to_owned() },
        time_created: Timestamp::from_micros(7),
        time_destroyed: None,
    };
    (secret.version_current, secret.version_last) = (number, number);
    let (after, version) = (&*secret, &version);
    let updated: Result<Update> = world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.secret_version_insert(version, envelope).await?;
                tx.secret_update(after).await
            })
        })
        .await;
    assert_eq!(updated.unwrap(), Update::Updated);
    secret.generation = secret.generation.next();
}

async fn a_secret_is_found_by_environment_and_name(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let (plain, prod) = (secret(&alpha, "default", "db"), secret(&alpha, "prod", "db"));
    let other = secret(&beta, "default", "db");
    for one in [&plain, &prod, &other] {
        insert(&world, one).await.unwrap();
    }
    let twice = insert(&world, &secret(&alpha, "prod", "db")).await.unwrap_err();
    assert!(matches!(twice, hostler_store::Error::Conflict { .. }), "{twice:?}");
    let mut read = world.read().await.unwrap();
    for (project, text, meant) in [
        (&alpha, "db", Some(&plain)),
        (&alpha, "db:4", Some(&plain)),
        (&alpha, "prod/db", Some(&prod)),
        (&beta, "db", Some(&other)),
        (&beta, "prod/db", None),
        (&alpha, "other", None),
    ] {
        let found = read.secret_find(project.id, &text.parse().unwrap()).await.unwrap();
        assert_eq!(found.as_ref(), meant, "{text}");
    }
    assert_eq!(read.secret_get(prod.id).await.unwrap(), Some(prod.clone()));
    drop(read);
    let stale = Secret { generation: Generation::from_u64(9), ..prod };
    let update: Result<Update> = world.tx("test", |tx| Box::pin(tx.secret_update(&stale))).await;
    assert_eq!(update.unwrap(), Update::Stale { current: Generation::FIRST });
}

async fn versions_are_listed_and_destroyed(world: World) {
    let project = world.project("alpha").await;
    let mut db = secret(&project, "default", "db");
    insert(&world, &db).await.unwrap();
    for n in 1..=4 {
        add(&world, &mut db, &envelope(n, 1)).await;
    }
    let id = db.id;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.secret_get(id).await.unwrap(), Some(db.clone()));
    let first = read.secret_version_list(id, None, limit(3)).await.unwrap();
    let numbers = |page: &Page<SecretVersion>| {
        page.items.iter().map(|version| version.version).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&first), [4, 3, 2]);
    let rest = read.secret_version_list(id, first.next.as_deref(), limit(3)).await.unwrap();
    assert_eq!((numbers(&rest), rest.next), (vec![1], None));
    assert_eq!(read.secret_envelope(id, 2).await.unwrap(), Some(envelope(2, 1)));
    assert_eq!(read.secret_envelope(id, 9).await.unwrap(), None);
    drop(read);
    let now = Timestamp::from_micros(99);
    for (version, is_done) in [(4, true), (4, false), (7, false)] {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.secret_version_destroy(id, version, now))).await;
        assert_eq!(done.unwrap(), is_done, "{version}");
    }
    let newest: Result<Option<u32>> =
        world.tx("test", |tx| Box::pin(tx.secret_version_newest(id))).await;
    assert_eq!(newest.unwrap(), Some(3));
    let mut read = world.read().await.unwrap();
    let gone = read.secret_version_get(id, 4).await.unwrap().unwrap();
    assert_eq!((gone.is_destroyed(), gone.key_id, gone.time_destroyed), (true, None, Some(now)));
    assert_eq!(read.secret_envelope(id, 4).await.unwrap(), None);
    drop(read);
    let gone: Result<bool> = world.tx("test", |tx| Box::pin(tx.secret_delete(id))).await;
    assert!(gone.unwrap());
    let mut read = world.read().await.unwrap();
    assert_eq!(read.secret_get(id).await.unwrap(), None);
    assert_eq!(read.secret_version_get(id, 1).await.unwrap(), None);
    assert_eq!(read.secret_keys().await.unwrap(), []);
}

async fn secrets_are_listed_page_by_page(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    for (environment, secret_name) in
        [("prod", "b"), ("default", "z"), ("prod", "a"), ("default", "a-b"), ("stage", "a")]
    {
        insert(&world, &secret(&alpha, environment, secret_name)).await.unwrap();
    }
    insert(&world, &secret(&beta, "prod", "foreign")).await.unwrap();
    let mut read = world.read().await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = read.secret_list(alpha.id, None, after.as_deref(), limit(2)).await.unwrap();
        seen.extend(page.items.iter().map(|one| format!("{}/{}", one.environment, one.name)));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, ["default/a-b", "default/z", "prod/a", "prod/b", "stage/a"]);
    let prod = read.secret_list(alpha.id, Some(&name("prod")), None, limit(9)).await.unwrap();
    assert_eq!(prod.items.len(), 2);
}

async fn keys_are_replaced_one_by_one(world: World) {
    let project = world.project("alpha").await;
    let mut db = secret(&project, "default", "db");
    insert(&world, &db).await.unwrap();
    for (n, key) in [(1, 1), (2, 2), (3, 1)] {
        add(&world, &mut db, &envelope(n, key)).await;
    }
    let (old, new) = (KeyId::from_bytes([1; 4]), KeyId::from_bytes([2; 4]));
    let mut read = world.read().await.unwrap();
    assert_eq!(read.secret_keys().await.unwrap(), [(old, 2), (new, 1)]);
    let left = read.secret_keys_but(new, None, 10).await.unwrap();
    assert_eq!(left.iter().map(|key| key.version).collect::<Vec<_>>(), [1, 3]);
    let after = read.secret_keys_but(new, Some((db.id, 1)), 10).await.unwrap();
    assert_eq!(after.iter().map(|key| key.version).collect::<Vec<_>>(), [3]);
    drop(read);
    let stale = WrappedKey { wrapped_key: vec![0], ..left[0].clone() };
    for (before, is_done) in [(&stale, false), (&left[0], true), (&left[0], false)] {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.secret_key_replace(before, &[7, 7], new))).await;
        assert_eq!(done.unwrap(), is_done);
    }
    let mut read = world.read().await.unwrap();
    let moved = read.secret_envelope(db.id, 1).await.unwrap().unwrap();
    assert_eq!((moved.sealed, moved.wrapped_key, moved.key_id), (vec![1; 9], vec![7, 7], new));
    assert_eq!(read.secret_keys().await.unwrap(), [(old, 1), (new, 2)]);
}

async fn a_project_with_secrets_stays(world: World) {
    let project = world.project("alpha").await;
    let db = secret(&project, "default", "db");
    insert(&world, &db).await.unwrap();
    let remove = async || -> Result<Update> {
        world.tx("test", |tx| Box::pin(tx.project_delete(project.id, project.generation))).await
    };
    assert!(matches!(remove().await, Err(hostler_store::Error::Conflict { .. })));
    let gone: Result<bool> = world.tx("test", |tx| Box::pin(tx.secret_delete(db.id))).await;
    assert!(gone.unwrap());
    assert_eq!(remove().await.unwrap(), Update::Updated);
}

async fn a_link_is_kept_and_changed(world: World) {
    let project = world.project("alpha").await;
    let link = |text: &str| SecretLink::parse(name("corp"), text).unwrap();
    let mut db = Secret {
        source: SecretSource::Linked,
        link: Some(link("db/app#password@3")),
        ..secret(&project, "default", "db")
    };
    insert(&world, &db).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.secret_get(db.id).await.unwrap(), Some(db.clone()));
    drop(read);
    db.link = Some(link("db/other"));
    let after = &db;
    let updated: Result<Update> = world.tx("test", |tx| Box::pin(tx.secret_update(after))).await;
    assert_eq!(updated.unwrap(), Update::Updated);
    db.generation = db.generation.next();
    let mut read = world.read().await.unwrap();
    let listed = read.secret_list(project.id, None, None, limit(9)).await.unwrap();
    assert_eq!(listed.items, [db]);
}
