//! Everything read at one moment, and put into another database.

use futures::StreamExt as _;
use hostler_model::backup::Cell;
use hostler_model::*;
use hostler_store::{Dialect, Occupancy, RESTORE_UNFINISHED, Store};

use crate::world::{self, World, at, options};

crate::conformance!(
    every_table_of_the_schema_is_in_a_snapshot,
    a_snapshot_shows_one_moment,
    rows_come_in_the_order_of_their_key,
    an_empty_database_and_others_are_told_apart,
    an_older_schema_is_restored_and_migrated,
    what_must_not_come_to_life_again_does_not,
    content_can_be_left_out,
);

type Rows = Vec<(String, Vec<Vec<Cell>>)>;

async fn everything(store: &Store, has_content: bool) -> Rows {
    let mut snapshot = store.snapshot().await.unwrap();
    let mut all = Vec::new();
    for table in snapshot.stored_tables().await.unwrap() {
        let rows = snapshot.rows(&table, has_content).map(Result::unwrap).collect().await;
        all.push((table.shape.name.clone(), rows));
    }
    all
}

/// The dump of the schema is what the database says of itself, and knows nothing of backups.
async fn every_table_of_the_schema_is_in_a_snapshot(world: World) {
    let dump = world.schema_dump().await.unwrap();
    let mut expected: Vec<&str> = dump
        .lines()
        .filter_map(|line| line.strip_prefix("CREATE TABLE ")?.split([' ', '(']).next())
        .filter(|table| *table != "schema_version")
        .collect();
    expected.sort_unstable();
    let tables = world.snapshot().await.unwrap().stored_tables().await.unwrap();
    let mut found: Vec<&str> = tables.iter().map(|table| table.shape.name.as_str()).collect();
    found.sort_unstable();
    assert!(found.len() > 50, "{found:?}");
    assert_eq!(found, expected);
    let place = |name: &str| tables.iter().position(|table| table.shape.name == name).unwrap();
    assert!(place("project") < place("workload") && place("workload") < place("placement"));
    assert!(place("placement") < place("run") && place("node") < place("node_lease"));
    // A table that somebody adds is there without anybody saying so.
    world.raw("CREATE TABLE aaa_new (id TEXT NOT NULL PRIMARY KEY, project_id TEXT REFERENCES project (id))").await;
    let tables = world.snapshot().await.unwrap().stored_tables().await.unwrap();
    let place = |name: &str| tables.iter().position(|table| table.shape.name == name).unwrap();
    assert!(place("project") < place("aaa_new"), "after what it refers to");
}

async fn a_snapshot_shows_one_moment(world: World) {
    world.project("before").await;
    let mut snapshot = world.snapshot().await.unwrap();
    world.project("meanwhile").await;
    let tables = snapshot.stored_tables().await.unwrap();
    let table = tables.iter().find(|table| table.shape.name == "project").unwrap();
    let mut rows = snapshot.rows(table, true);
    world.project("while-reading").await;
    let mut count = 0;
    while let Some(row) = rows.next().await {
        assert!(row.unwrap().contains(&Cell::Text("before".into())));
        count += 1;
    }
    assert_eq!(count, 1);
    drop(rows);
    drop(snapshot);
    let now = everything(&world, true).await;
    let (_, projects) = now.iter().find(|(name, _)| name == "project").unwrap();
    assert_eq!(projects.len(), 3);
}

async fn rows_come_in_the_order_of_their_key(world: World) {
    for name in ["b", "B", "a-1", "a", "Z9", "ä"] {
        let (name, bytes) = (name.to_owned(), name.as_bytes().to_vec());
        let (name, bytes) = (&name, &bytes);
        world.tx("set", |tx| Box::pin(tx.setting_insert(name, bytes))).await.unwrap();
    }
    let all = everything(&world, true).await;
    let (_, rows) = all.iter().find(|(table, _)| table == "setting").unwrap();
    let names: Vec<&Cell> = rows.iter().map(|row| &row[1]).collect();
    let expected = ["B", "Z9", "a", "a-1", "b", "ä"].map(|name| Cell::Text(name.to_owned()));
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
}

async fn an_empty_database_and_others_are_told_apart(world: World) {
    assert_eq!(world.occupancy().await.unwrap(), Occupancy::Empty, "a fresh schema");
    world.project("alpha").await;
    let occupied = world.occupancy().await.unwrap();
    assert_eq!(occupied, Occupancy::Occupied(vec!["project".to_owned()]));
    world.restore_begin(Store::schema_known()).await.unwrap();
    assert_eq!(world.occupancy().await.unwrap(), Occupancy::HalfRestored);
    let mark = world.read().await.unwrap().setting_get(RESTORE_UNFINISHED).await.unwrap();
    assert!(mark.is_some());
    let all = everything(&world, true).await;
    let filled: Vec<&str> =
        all.iter().filter(|(_, rows)| !rows.is_empty()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(filled, ["setting"], "not even the rows of a fresh schema are left");
    let too_new = world.restore_begin(Store::schema_known() + 1).await;
    assert!(matches!(too_new, Err(hostler_store::Error::SchemaTooNew { .. })));
    world.raw("DROP TABLE schema_version").await;
    assert!(
        matches!(world.occupancy().await.unwrap(), Occupancy::Foreign(names) if names.len() > 50)
    );
}

/// What an earlier version wrote goes into tables of that version, and is migrated like any other.
async fn an_older_schema_is_restored_and_migrated(world: World) {
    let expected = world.schema_dump().await.unwrap();
    world.restore_begin(1).await.unwrap();
    assert_eq!(world.schema_version().await.unwrap(), 1);
    let tables = world.read().await.unwrap().stored_tables().await.unwrap();
    let project = tables.iter().find(|table| table.shape.name == "project").unwrap();
    let id = "00000000-0000-0000-0000-000000000001";
    let cell = |name: &str| match name {
        "id" => Cell::Text(id.to_owned()),
        "name" => Cell::Text("alpha".to_owned()),
        "description" => Cell::Text(String::new()),
        _ => Cell::Int(1),
    };
    let row: Vec<Cell> = project.shape.columns.iter().map(|column| cell(&column.name)).collect();
    world.tx("rows", |tx| Box::pin(tx.restore_rows(project, vec![row.clone()]))).await.unwrap();
    let misfit = vec![vec![Cell::Int(1)]];
    let refused = world.tx("rows", |tx| Box::pin(tx.restore_rows(project, misfit.clone()))).await;
    assert!(matches!(refused, Err(hostler_store::Error::Corrupt { .. })));
    world.migrate().await.unwrap();
    assert_eq!(world.schema_dump().await.unwrap(), expected);
    let kept = world.read().await.unwrap().project_get(id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((kept.name.as_str(), kept.weight), ("alpha", 1));
}

async fn what_must_not_come_to_life_again_does_not(world: World) {
    let (gone, stays) = (world::node("gone"), world::node("stays"));
    let gone = Node { state: NodeState::Removed, ..gone };
    for node in [&gone, &stays] {
        world.tx("node", |tx| Box::pin(tx.node_insert(node))).await.unwrap();
    }
    let principal = world::principal("ada");
    let session = WebSession {
        id: WebSessionId::from_uuid(uuid::Uuid::new_v4()),
        principal_id: principal.id,
        secret_hash: vec![1; 32],
        user_agent: String::new(),
        time_created: at(0),
        time_expires: at(1000),
        time_last_used: at(0),
    };
    let (principal, session) = (&principal, &session);
    world
        .tx("session", |tx| {
            Box::pin(async move {
                tx.principal_insert(principal).await?;
                tx.web_session_insert(session).await
            })
        })
        .await
        .unwrap();
    let nodes = world.tx("settle", |tx| Box::pin(tx.restore_settle(at(5)))).await.unwrap();
    assert_eq!(nodes, 1);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.node_resync_cause(stays.id).await.unwrap().as_deref(), Some("restored"));
    assert_eq!(read.node_resync_cause(gone.id).await.unwrap(), None);
    assert_eq!(read.node_resync_count().await.unwrap(), 1);
    let leapt = read.node_get(stays.id).await.unwrap().unwrap().desired_generation;
    assert!(leapt >= Generation::from_u64(1 << 32));
    let all = everything(&world, true).await;
    assert!(all.iter().any(|(name, rows)| name == "web_session" && rows.is_empty()));
    let event = world::event(EventKind::TaskCreated, None, "t1", 1);
    let event = &event;
    world
        .tx("event", |tx| {
            Box::pin(async move { tx.journal_append(std::slice::from_ref(event), &[]).await })
        })
        .await
        .unwrap();
    let (_, head) = read.event_bounds().await.unwrap();
    assert!(head > 1 << 32, "watchers that were further see what is new");
    let node = stays.id;
    assert!(world.tx("done", |tx| Box::pin(tx.node_resync_delete(node))).await.unwrap());
    assert!(!world.tx("done", |tx| Box::pin(tx.node_resync_delete(node))).await.unwrap());
}

async fn content_can_be_left_out(world: World) {
    let project = world.project("alpha").await;
    let scope = format!("project/{}", project.id);
    let bytes = |n: u8| match world.dialect() {
        Dialect::Sqlite => format!("x'{}'", format!("{n:02x}").repeat(32)),
        Dialect::Postgres => format!("'\\x{}'::bytea", format!("{n:02x}").repeat(32)),
    };
    let mut script = String::new();
    // Two blobs share a chunk; one of them is an image.
    for (blob, kind, chunks) in [(1, "file", [11, 12]), (2, "image", [12, 13])] {
        script += &format!(
            "INSERT INTO blob VALUES ('{scope}', {}, 2, '{kind}', '', 2, NULL, 0, 0);",
            bytes(blob)
        );
        for (number, chunk) in chunks.into_iter().enumerate() {
            script += &format!(
                "INSERT INTO blob_chunk VALUES ('{scope}', {}, {number}, {}, 1);",
                bytes(blob),
                bytes(chunk)
            );
        }
    }
    for chunk in [11, 12, 13] {
        script += &format!(
            "INSERT INTO chunk VALUES ('{scope}', {}, 1, {}, 1, 0);",
            bytes(chunk),
            bytes(chunk)
        );
    }
    world.raw(&script).await;
    let count = |all: &Rows, table: &str| {
        all.iter().find(|(name, _)| name == table).map(|(_, rows)| rows.len()).unwrap()
    };
    let whole = everything(&world, true).await;
    let lean = everything(&world, false).await;
    for (table, all, few) in [("blob", 2, 1), ("blob_chunk", 4, 2), ("chunk", 3, 2)] {
        assert_eq!((count(&whole, table), count(&lean, table)), (all, few), "{table}");
    }
    assert_eq!(count(&lean, "project"), 1);
}

/// The same rows, wherever they are: from SQLite to PostgreSQL and back.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_are_the_same_in_both_databases() {
    world::on_postgres(|postgres| async move {
        let dir = tempfile::tempdir().unwrap();
        let url = |name: &str| format!("sqlite:{}", dir.path().join(name).display());
        let first = Store::open(&url("a.db"), options()).await.unwrap();
        first.migrate().await.unwrap();
        let project = world::project("alpha");
        let task = world::workload(project.id, "job");
        let (node, actor) = (world::node("n1"), world::audit("task.create"));
        let (placement, run) = world::placement(&task, node.id, 3);
        let event = world::event(EventKind::TaskCreated, Some(project.id), "t1", 1);
        let all = (&project, &task, &node, &placement, &run, &event, &actor);
        first
            .tx("fill", |tx| {
                Box::pin(async move {
                    let (project, task, node, placement, run, event, entry) = all;
                    tx.project_insert(project).await?;
                    tx.workload_insert(task).await?;
                    tx.node_insert(node).await?;
                    tx.placement_insert_batch(std::slice::from_ref(placement)).await?;
                    tx.run_insert_batch(std::slice::from_ref(run)).await?;
                    tx.setting_insert("bytes", &[0, 1, 255]).await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(entry))
                        .await?;
                    Ok::<_, hostler_store::Error>(())
                })
            })
            .await
            .unwrap();
        let second = Store::open(&url("b.db"), options()).await.unwrap();
        let original = everything(&first, true).await;
        for (from, to) in [(&first, &postgres.store), (&postgres.store, &second)] {
            let rows = everything(from, true).await;
            to.restore_begin(Store::schema_known()).await.unwrap();
            to.tx("unmark", |tx| Box::pin(tx.setting_delete(RESTORE_UNFINISHED))).await.unwrap();
            for table in to.read().await.unwrap().stored_tables().await.unwrap() {
                let (_, rows) = rows.iter().find(|(name, _)| *name == table.shape.name).unwrap();
                let table = &table;
                to.tx("rows", |tx| Box::pin(tx.restore_rows(table, rows.clone()))).await.unwrap();
            }
            assert_eq!(everything(to, true).await, original);
        }
        first.close().await;
        second.close().await;
    })
    .await;
}
