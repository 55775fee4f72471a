//! Migrations, and the committed picture of the schema.

use std::path::PathBuf;

use hostler_store::{Dialect, Error, Store};

use crate::world::{World, options, together};

crate::conformance!(
    migrating_again_changes_nothing,
    servers_may_migrate_at_the_same_time,
    a_migration_that_was_cut_off_is_continued,
    a_newer_schema_is_refused,
    the_committed_dump_is_true,
);

async fn migrating_again_changes_nothing(world: World) {
    let before = world.schema_dump().await.unwrap();
    world.project("kept").await;
    world.migrate().await.unwrap();
    assert_eq!(world.schema_version().await.unwrap(), Store::schema_known());
    assert_eq!(world.schema_dump().await.unwrap(), before);
    let kept = world.read().await.unwrap().project_list(None, None, crate::world::limit(5)).await;
    assert_eq!(kept.unwrap().items.len(), 1);
}

async fn servers_may_migrate_at_the_same_time(world: World) {
    let expected = world.schema_dump().await.unwrap();
    empty(&world).await;
    assert_eq!(world.schema_version().await.unwrap(), 0);
    let url = world.url.clone();
    let outcomes = together(4, move |_| {
        let url = url.clone();
        async move {
            let store = Store::open(&url, options()).await?;
            store.migrate().await?;
            store.close().await;
            Ok::<_, Error>(())
        }
    })
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    assert_eq!(world.schema_version().await.unwrap(), Store::schema_known());
    assert_eq!(world.schema_dump().await.unwrap(), expected);
}

/// Steps are idempotent: those of a crashed migration are run again over what they had made.
async fn a_migration_that_was_cut_off_is_continued(world: World) {
    let expected = world.schema_dump().await.unwrap();
    world.raw("UPDATE schema_version SET version = 1, step = 2").await;
    assert_eq!(world.schema_version().await.unwrap(), 0);
    world.migrate().await.unwrap();
    assert_eq!(world.schema_version().await.unwrap(), Store::schema_known());
    assert_eq!(world.schema_dump().await.unwrap(), expected);
}

async fn a_newer_schema_is_refused(world: World) {
    world.raw("UPDATE schema_version SET version = 999").await;
    let error = world.migrate().await.unwrap_err();
    assert!(
        matches!(error, Error::SchemaTooNew { found: 999, known } if known == Store::schema_known()),
        "{error:?}"
    );
}

async fn the_committed_dump_is_true(world: World) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../schema")
        .join(format!("current.{}.sql", world.dialect().label()));
    let header = "-- The whole schema as the database reports it after every migration. Written by a test; see README.md.\n\n";
    let found = format!("{header}{}\n", world.schema_dump().await.unwrap().trim_end());
    if std::env::var_os("HOSTLER_UPDATE").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == committed,
        "{} is not what the migrations make; look at the change, then run this test with HOSTLER_UPDATE=1",
        file.display()
    );
}

/// Back to an empty database.
async fn empty(world: &World) {
    let dump = world.schema_dump().await.unwrap();
    let tables: Vec<&str> = dump
        .lines()
        .filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split([' ', '(']).next())
        .collect();
    let drops: String = match world.dialect() {
        Dialect::Sqlite => tables.iter().map(|t| format!("DROP TABLE {t};")).collect::<String>(),
        Dialect::Postgres => format!("DROP TABLE {} CASCADE;", tables.join(", ")),
    };
    let quiet = match world.dialect() {
        Dialect::Sqlite => "PRAGMA foreign_keys = OFF;",
        Dialect::Postgres => "",
    };
    world.raw(&format!("{quiet}{drops}")).await;
}
