//! Migrations, and the committed picture of the schema.

use std::path::PathBuf;

use hostler_model::{Generation, Timestamp};
use hostler_store::{Dialect, Error, Store};

use crate::world::{World, options, together};

crate::conformance!(
    migrating_again_changes_nothing,
    servers_may_migrate_at_the_same_time,
    a_migration_that_was_cut_off_is_continued,
    rows_of_the_first_version_are_carried_over,
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

/// What version 1 wrote is read by this one: a task, its placement and its run.
async fn rows_of_the_first_version_are_carried_over(world: World) {
    let expected = world.schema_dump().await.unwrap();
    empty(&world).await;
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema/0001-initial");
    for step in 1..=5 {
        let file = schema.join(world.dialect().label()).join(format!("up{step}.sql"));
        world.raw(&std::fs::read_to_string(file).unwrap()).await;
    }
    let (no, yes) = match world.dialect() {
        Dialect::Sqlite => ("0", "1"),
        Dialect::Postgres => ("FALSE", "TRUE"),
    };
    let id = |n: u8| format!("00000000-0000-0000-0000-0000000000{n:02}");
    let (project, node, workload) = (id(1), id(2), id(3));
    let mut script = format!(
        "CREATE TABLE schema_version (\n    id TEXT NOT NULL PRIMARY KEY,\n    version BIGINT NOT NULL,\n    step BIGINT NOT NULL\n);
         INSERT INTO schema_version VALUES ('schema', 1, 5);
         INSERT INTO project VALUES ('{project}', 'alpha', '', 1, 0, 0);
         INSERT INTO node VALUES ('{node}', 'n1', 'n1', '{{}}', 'joined', NULL, NULL, {no}, NULL, '', 1, 2, 0, 0, 0);
         INSERT INTO workload VALUES ('{workload}', '{project}', 'job', '{{\"command\":[\"true\"]}}', 'run', 'pending', '{{\"kind\":\"pending\"}}', 1, '{project}', 5, 6, NULL);"
    );
    for (placement, run, released) in [(id(4), id(5), yes), (id(6), id(7), no)] {
        script += &format!(
            "INSERT INTO placement VALUES ('{placement}', '{workload}', '{project}', '{node}', '{run}', 'run', 2, '5s', {released}, 250, 64, 7, 8);
             INSERT INTO run VALUES ('{run}', '{placement}', '{workload}', '{project}', '{node}', 1, 'assigned', '{{\"kind\":\"assigned\"}}', 0, 9, NULL, 10);"
        );
    }
    world.raw(&script).await;
    assert_eq!(world.schema_version().await.unwrap(), 1);
    world.migrate().await.unwrap();
    assert_eq!(world.schema_version().await.unwrap(), Store::schema_known());
    assert_eq!(world.schema_dump().await.unwrap(), expected);
    let mut read = world.read().await.unwrap();
    let task = read.workload_get(workload.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(task.spec.command, ["true"]);
    let placements = read.placement_by_workload(task.id).await.unwrap();
    assert_eq!(placements.iter().map(|p| p.is_released).collect::<Vec<_>>(), [true, false]);
    assert_eq!(placements[0].run_id, Some(id(5).parse().unwrap()));
    assert_eq!((placements[0].revision, &placements[0].status), (Generation::ZERO, &None));
    let runs = read.run_list(task.id).await.unwrap();
    assert_eq!(runs.iter().map(|r| (r.cause, r.fire)).collect::<Vec<_>>(), [(None, None); 2]);
    assert_eq!(runs[1].time_ended, Some(Timestamp::from_micros(10)));
    assert_eq!(read.service_list_all().await.unwrap(), []);
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
