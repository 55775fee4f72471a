//! `Store::tx` itself: retries, groups, and callers that vanish.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hostler_model::{Generation, Project};
use hostler_store::{Dialect, Error, OpenOptions, Store};
use sqlx::Connection as _;

use crate::world::*;

crate::conformance!(
    a_closure_may_borrow_from_its_caller,
    an_error_rolls_everything_back,
    a_statement_error_that_was_swallowed_is_not_committed,
    read_modify_write_at_the_same_time_loses_nothing,
    a_dropped_transaction_leaves_no_trace,
    a_panicking_closure_leaves_no_trace,
    transactions_aborted_at_random_harm_nobody,
    one_failure_in_a_crowd_fails_alone,
    a_closed_store_says_so,
);

fn is_send<T: Send>(value: T) -> T {
    value
}

async fn a_closure_may_borrow_from_its_caller(world: World) {
    let name = String::from("local");
    let projects = vec![project("a"), project("b")];
    let calls = AtomicU32::new(0);
    let (name_ref, projects_ref, calls_ref) = (&name, &projects, &calls);
    let length = is_send(world.tx("borrow", |tx| {
        Box::pin(async move {
            calls_ref.fetch_add(1, Ordering::SeqCst);
            for project in projects_ref {
                tx.project_insert(project).await?;
            }
            // A transaction reads its own writes.
            let seen = tx.project_list(None, None, limit(10)).await?;
            assert_eq!(seen.items.len(), 2);
            Ok::<_, Error>(name_ref.len())
        })
    }))
    .await
    .unwrap();
    assert_eq!(length, name.len());
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    is_send(world.read()).await.unwrap();
}

#[derive(Debug, PartialEq)]
enum Custom {
    Refused,
    Store,
}

impl From<Error> for Custom {
    fn from(_: Error) -> Custom {
        Custom::Store
    }
}

async fn count(world: &World) -> usize {
    let mut reader = world.read().await.unwrap();
    reader.project_list(None, None, limit(1000)).await.unwrap().items.len()
}

async fn an_error_rolls_everything_back(world: World) {
    let project = &project("a");
    let result: std::result::Result<(), Custom> = world
        .tx("refuse", |tx| {
            Box::pin(async move {
                tx.project_insert(project).await?;
                Err(Custom::Refused)
            })
        })
        .await;
    assert_eq!(result, Err(Custom::Refused));
    assert_eq!(count(&world).await, 0);
}

async fn a_statement_error_that_was_swallowed_is_not_committed(world: World) {
    world.project("a").await;
    let (fresh, twin) = (&project("fresh"), &project("a"));
    let result: Result<()> = world
        .tx("swallow", |tx| {
            Box::pin(async move {
                tx.project_insert(fresh).await?;
                assert!(tx.project_insert(twin).await.is_err());
                Ok(())
            })
        })
        .await;
    assert!(matches!(result, Err(Error::Conflict { .. })), "{result:?}");
    assert_eq!(count(&world).await, 1);
}

/// The error type hides the cause, and still the wrapper sees that it should run again.
async fn read_modify_write_at_the_same_time_loses_nothing(world: World) {
    world.tx("test", |tx| Box::pin(tx.setting_insert("n", b"0"))).await.unwrap();
    let again = world.clone();
    let outcomes: Vec<std::result::Result<(), Custom>> = together(20, move |_| {
        let world = again.clone();
        async move {
            world
                .tx("increment", |tx| {
                    Box::pin(async move {
                        let bytes = tx.setting_get("n").await?.unwrap();
                        let n: u64 = String::from_utf8(bytes).unwrap().parse().unwrap();
                        tx.setting_replace("n", (n + 1).to_string().as_bytes()).await?;
                        Ok(())
                    })
                })
                .await
        }
    })
    .await;
    assert!(outcomes.iter().all(std::result::Result::is_ok), "{outcomes:?}");
    let stored = world.read().await.unwrap().setting_get("n").await.unwrap();
    assert_eq!(stored, Some(b"20".to_vec()));
    let stats = world.stats();
    let increments = stats.transactions.iter().find(|t| t.name == "increment").unwrap();
    assert_eq!(increments.attempts, 20 + increments.retries);
    assert_eq!(increments.conflicts, 0);
    match world.dialect() {
        Dialect::Sqlite => assert_eq!(increments.retries, 0),
        Dialect::Postgres => assert!(increments.retries > 0),
    }
}

/// A transaction that inserts, tells so, and then never ends.
async fn endless(world: World, project: Project, began: Arc<tokio::sync::Notify>) {
    let (project, began) = (&project, &began);
    world
        .tx("endless", |tx| {
            Box::pin(async move {
                tx.project_insert(project).await?;
                began.notify_one();
                std::future::pending::<Result<()>>().await
            })
        })
        .await
        .unwrap();
}

async fn a_dropped_transaction_leaves_no_trace(world: World) {
    for round in 0..5 {
        let began = Arc::new(tokio::sync::Notify::new());
        let task = endless(world.clone(), project("dropped"), began.clone());
        tokio::select! {
            () = task => unreachable!("it never ends"),
            () = began.notified() => {}
        }
        world.project(&format!("after-{round}")).await;
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.project_by_name(&name("dropped")).await.unwrap(), None);
    drop(reader);
    assert_eq!(count(&world).await, 5);
}

async fn a_panicking_closure_leaves_no_trace(world: World) {
    let other = world.clone();
    let outcome = tokio::task::JoinSet::from_iter([async move {
        let lost = &project("lost");
        let result: Result<()> = other
            .tx("panic", |tx| {
                Box::pin(async move {
                    tx.project_insert(lost).await?;
                    panic!("on purpose")
                })
            })
            .await;
        result
    }])
    .join_next()
    .await
    .unwrap();
    assert!(outcome.unwrap_err().is_panic());
    world.project("after").await;
    assert_eq!(count(&world).await, 1);
}

/// Whoever got an answer has it; whoever was aborted may or may not; nobody waits for ever.
async fn transactions_aborted_at_random_harm_nobody(world: World) {
    for round in 0..8 {
        let mut set = tokio::task::JoinSet::new();
        let mut victims = Vec::new();
        for i in 0..24 {
            let (world, project) = (world.clone(), project(&format!("r{round}-{i}")));
            let handle = set.spawn(async move {
                let project_ref = &project;
                let result: Result<()> = world
                    .tx("crowd", |tx| {
                        Box::pin(async move {
                            tx.project_insert(project_ref).await?;
                            let update = tx.project_update(project_ref, Generation::FIRST).await?;
                            assert!(update.is_updated());
                            Ok(())
                        })
                    })
                    .await;
                result.map(|()| project.name)
            });
            if i % 2 == 0 {
                victims.push(handle);
            }
        }
        for (i, victim) in victims.into_iter().enumerate() {
            for _ in 0..(i * 7 + round * 3) % 40 {
                tokio::task::yield_now().await;
            }
            victim.abort();
        }
        let mut answered = Vec::new();
        while let Some(outcome) = tokio::time::timeout(Duration::from_secs(20), set.join_next())
            .await
            .expect("nobody waits for ever")
        {
            match outcome {
                Ok(result) => answered.push(result.unwrap()),
                Err(error) => assert!(error.is_cancelled()),
            }
        }
        assert!(answered.len() >= 12);
        let mut reader = world.read().await.unwrap();
        for name in answered {
            let stored = reader.project_by_name(&name).await.unwrap().unwrap();
            assert_eq!(stored.generation, Generation::from_u64(2));
        }
    }
    world.project("after").await;
}

async fn one_failure_in_a_crowd_fails_alone(world: World) {
    world.project("taken").await;
    let again = world.clone();
    let outcomes: Vec<Result<()>> = together(40, move |i| {
        let world = again.clone();
        async move {
            let (first, second) = (
                &project(&format!("p{i}")),
                &project(&if i % 4 == 0 { "taken".to_owned() } else { format!("q{i}") }),
            );
            world
                .tx("crowd", |tx| {
                    Box::pin(async move {
                        tx.project_insert(first).await?;
                        tx.project_insert(second).await
                    })
                })
                .await
        }
    })
    .await;
    let failed = outcomes.iter().filter(|o| o.is_err()).count();
    assert!(
        outcomes
            .iter()
            .filter_map(|o| o.as_ref().err())
            .all(|e| matches!(e, Error::Conflict { .. })),
        "{outcomes:?}"
    );
    assert_eq!(failed, 10);
    assert_eq!(count(&world).await, 1 + 2 * 30);
}

async fn a_closed_store_says_so(world: World) {
    let store = Store::open(&world.url, options()).await.unwrap();
    store.close().await;
    let error: Error = store.tx("closed", |tx| Box::pin(tx.setting_delete("x"))).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(matches!(store.ping().await, Err(Error::Unavailable { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_transactions_share_commits() {
    on_sqlite(async |world: World| {
        let before = world.stats().commits;
        let again = world.clone();
        let outcomes: Vec<Result<()>> = together(200, move |i| {
            let world = again.clone();
            async move {
                let project = project(&format!("p{i}"));
                world.tx("many", |tx| Box::pin(tx.project_insert(&project))).await
            }
        })
        .await;
        assert!(outcomes.iter().all(std::result::Result::is_ok));
        assert_eq!(count(&world).await, 200);
        let commits = world.stats().commits - before;
        assert!(commits <= 60, "{commits} commits for 200 transactions");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_busy_database_is_waited_for() {
    on_sqlite(async |world: World| {
        let mut other = sqlx::SqliteConnection::connect(&world.url).await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
        let project = project("a");
        let waiting = world.tx("busy", |tx| Box::pin(tx.project_insert(&project)));
        let release = async {
            let retried = || {
                let stats = world.stats();
                stats.transactions.iter().any(|t| t.name == "busy" && t.retries > 0)
            };
            wait_for(retried).await;
            sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
        };
        let (result, ()) = tokio::join!(waiting, release);
        result.unwrap();
        assert_eq!(count(&world).await, 1);
        other.close().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_is_private_and_leaves_nothing() {
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    let other = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    assert_eq!(other.schema_version().await.unwrap(), 0);
    let project = project("a");
    store.tx("test", |tx| Box::pin(tx.project_insert(&project))).await.unwrap();
    let found = store.read().await.unwrap().project_get(project.id).await.unwrap();
    assert_eq!(found, Some(project));
    let pid = std::process::id();
    let left = move || {
        ["/dev/shm".into(), std::env::temp_dir()]
            .into_iter()
            .filter_map(|dir: std::path::PathBuf| std::fs::read_dir(dir).ok())
            .flatten()
            .filter_map(std::result::Result::ok)
            .filter(|f| f.file_name().to_string_lossy().starts_with(&format!("hostler-{pid}-")))
            .count()
    };
    assert!(left() > 0);
    store.close().await;
    drop((store, other));
    wait_for(|| left() == 0).await;
}

async fn wait_for(condition: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(tokio::time::Instant::now() < deadline, "it did not happen in time");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    on_sqlite(async |world: World| {
        world.project("a").await;
        let file = world.url.strip_prefix("sqlite:").unwrap();
        for suffix in ["", "-wal"] {
            let mode = std::fs::metadata(format!("{file}{suffix}")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{suffix}");
        }
    })
    .await;
}
