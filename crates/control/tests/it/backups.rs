//! Backups of a control plane that works, and what becomes of nodes that lived on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use hostler_backup::Opened;
use hostler_base::reconcile::Reconciler as _;
use hostler_control::backup::{self, BackupError, Made, NewBackup, Shelf};
use hostler_control::{
    BackupConfig, BackupReport, Boot, BootError, ControlConfig, EventQuery, NewTask,
};
use hostler_model::backup::TableSum;
use hostler_model::{
    Cores, EventKind, Generation, Limit, Mode, NodeState, RunStateKind, Severity, TaskStateKind,
    WorkloadSpec,
};
use hostler_store::{OpenOptions, RESTORE_UNFINISHED, Store};
use hostler_testkit::{Random, SimAgent, Truth, World};
use hostler_trust::{Keyring, LockKey, MasterKey, SecretBytes, SecretString};
use tokio::sync::mpsc;

use crate::postgres::Schema;

fn key() -> LockKey {
    LockKey::File(MasterKey::from_bytes([42; 32]))
}

async fn take(store: &Store, new: NewBackup, into: &Path) -> Result<Made, BackupError> {
    let (to, mut from) = mpsc::channel::<Bytes>(2);
    let collect = async {
        let mut file = Vec::new();
        while let Some(bytes) = from.recv().await {
            file.extend(bytes);
        }
        file
    };
    let (made, file) = tokio::join!(backup::create(store, new, to), collect);
    std::fs::write(into, file).unwrap();
    made
}

async fn save(world: &World, dir: &Path) -> PathBuf {
    let file = dir.join("a.backup");
    let ring = Keyring::from(MasterKey::from_bytes([7; 32]));
    let new = NewBackup::checked("test", world.now(), Some(&key()), Some(&ring), true).unwrap();
    let made = take(&world.store, new, &file).await.unwrap();
    assert!(made.summary.rows > 5 && made.head.has_keys);
    assert_eq!(made.size, std::fs::metadata(&file).unwrap().len());
    assert!(!made.head.installation.is_empty());
    file
}

async fn sqlite() -> Store {
    Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap()
}

/// Everything but what settling changes.
async fn rows(store: &Store) -> Vec<TableSum> {
    use futures::StreamExt as _;
    let mut snapshot = store.snapshot().await.unwrap();
    let mut sums = Vec::new();
    for table in snapshot.stored_tables().await.unwrap() {
        let mut hasher = hostler_backup::TableHasher::new(&table.shape).unwrap();
        let mut rows = snapshot.rows(&table, true);
        while let Some(row) = rows.next().await {
            hasher.row(&row.unwrap()).unwrap();
        }
        sums.push(hasher.finish());
    }
    sums
}

struct Calm {
    random: Random,
    truth: Truth,
}

impl Calm {
    fn new() -> Calm {
        Calm { random: Random::new(1), truth: Truth::default() }
    }

    async fn settle(&mut self, world: &World, agent: &mut SimAgent, rounds: u32, ends: bool) {
        for _ in 0..rounds {
            world.control.place_pending().await.unwrap();
            let now = world.now();
            agent.start(now);
            agent.connect(&world.control).await;
            agent.heartbeat(&world.control);
            agent.pull(&world.control, &mut self.random).await;
            agent.act(now, &mut self.random, &mut self.truth);
            if ends {
                agent.run_programs(now, &mut self.random, &mut self.truth);
            }
            agent.report(&world.control, &mut self.random).await;
            agent.disconnect();
            world.control.flush_leases().await.unwrap();
        }
    }
}

async fn submit(world: &World, name: &str) -> String {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(100);
    let new = NewTask { name: Some(name.parse().unwrap()), spec };
    let made = world.control.task_submit(&world.cx, &world.project, vec![new]).await.unwrap();
    made[0].workload.id.to_string()
}

async fn state(world: &World, id: &str) -> TaskStateKind {
    world.control.task_get(&world.cx, &world.project, id).await.unwrap().workload.state.kind()
}

/// A server on what was restored, at the time of the one before.
async fn world_on(store: Store, before: &World) -> World {
    let world = World::resumed(store, before).await;
    assert_eq!(world.project.id, before.project.id);
    world
}

#[tokio::test]
async fn a_backup_is_restored_row_by_row_in_both_directions() {
    let Some(schema) = Schema::create("backup") else { return };
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(1).await;
    let mut agent = world.join("n1").await;
    for name in ["one", "two", "three"] {
        submit(&world, name).await;
    }
    Calm::new().settle(&world, &mut agent, 10, true).await;
    let postgres = schema.open().await;
    let first = save(&world, dir.path()).await;
    let expected = rows(&world.store).await;
    let there = backup::restore(&postgres, &first, Some(&key()), false, world.now()).await.unwrap();
    assert_eq!(there.summary.tables, expected);
    assert_eq!(there.keys[0].id(), MasterKey::from_bytes([7; 32]).id());
    assert_eq!(there.nodes, 1);
    let second = dir.path().join("b.backup");
    let new = NewBackup::checked("test", world.now(), None, None, true).unwrap();
    take(&postgres, new, &second).await.unwrap();
    let back = sqlite().await;
    let here = backup::restore(&back, &second, None, false, world.now()).await.unwrap();
    assert_eq!(here.summary.tables, rows(&postgres).await);
    let on_postgres = world_on(postgres.clone(), &world).await;
    let nodes = on_postgres.control.node_get(&world.cx, "n1").await.unwrap();
    assert_eq!(nodes.state, NodeState::Online);
    let verdict = on_postgres.control.audit_verify(&world.cx).await.unwrap();
    assert!(verdict.is_intact, "{verdict:?}");
    postgres.close().await;
    back.close().await;
}

#[tokio::test]
async fn what_is_written_meanwhile_is_in_it_wholly_or_not_at_all() {
    Box::pin(drill_of_a_busy(&World::new(2).await, sqlite().await)).await;
}

#[tokio::test]
async fn a_busy_sqlite_is_restored_on_postgres() {
    let Some(schema) = Schema::create("busy_there") else { return };
    Box::pin(drill_of_a_busy(&World::new(2).await, schema.open().await)).await;
}

#[tokio::test]
async fn a_busy_postgres_is_restored_on_sqlite() {
    let Some(schema) = Schema::create("busy_here") else { return };
    let world = World::configured(schema.open().await, 2, ControlConfig::default()).await;
    Box::pin(drill_of_a_busy(&world, sqlite().await)).await;
}

/// What a restore changes itself when everything is there: it says that it was done, takes servers for gone, and lets
/// numbers leap over those that were given since. All other tables are, row by row, what they were at the moment of the
/// backup.
const SETTLED: [&str; 8] = [
    "audit_entry",
    "event",
    "journal_head",
    "lease",
    "lock_floor",
    "server",
    "setting",
    "state_head",
];

/// Backs up a control plane where much is done meanwhile, restores it elsewhere and looks at every row.
async fn drill_of_a_busy(world: &World, copy: Store) {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..50 {
        submit(world, &format!("before-{n}")).await;
    }
    let file = dir.path().join("busy.backup");
    let new = NewBackup::checked("test", world.now(), Some(&key()), None, true).unwrap();
    let (tell, told) = tokio::sync::oneshot::channel();
    let writing = async {
        let mut tell = Some(tell);
        for n in 0..50 {
            submit(world, &format!("during-{n}")).await;
            keep_secret(world, &format!("secret-{n}")).await;
            if let Some(tell) = tell.take_if(|_| n == 9) {
                tell.send(()).unwrap();
            }
        }
    };
    let taking = async {
        told.await.unwrap();
        take(&world.store, new, &file).await
    };
    let (made, ()) = tokio::join!(taking, writing);
    let made = made.unwrap();
    let restored = backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    assert_eq!(restored.summary, made.summary);

    let there = rows(&copy).await;
    let names = |sums: &[TableSum]| sums.iter().map(|sum| sum.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&there), names(&made.summary.tables));
    let mut compared = 0;
    for (was, is) in made.summary.tables.iter().zip(&there) {
        match SETTLED.contains(&was.name.as_str()) {
            true => assert!(is.rows <= was.rows + 1, "{}: {} and {}", was.name, was.rows, is.rows),
            false => {
                assert_eq!(was, is);
                compared += was.rows;
            }
        }
    }
    assert!(compared >= 80, "{compared} rows");

    let again = world_on(copy.clone(), world).await;
    // Every task has its event, and every event its task: a transaction is not cut.
    let query = EventQuery { kind: Some(EventKind::TaskCreated.into()), ..EventQuery::default() };
    let events =
        again.control.event_list(&world.cx, &query, None, Limit::new(1000).unwrap()).await.unwrap();
    let tasks = again
        .control
        .task_list(&world.cx, &world.project, &[], None, None, Limit::new(1000).unwrap())
        .await
        .unwrap();
    assert!(tasks.items.len() >= 60);
    assert_eq!(events.items.len(), tasks.items.len());
    let verdict = again.control.audit_verify(&world.cx).await.unwrap();
    assert!(verdict.is_intact, "{verdict:?}");
    copy.close().await;
}

async fn keep_secret(world: &World, name: &str) {
    let value = SecretBytes::new(name.as_bytes().to_vec());
    let reference = name.parse().unwrap();
    let set = world.control.secret_set(&world.cx, &world.project, &reference, &value, false);
    Box::pin(set).await.unwrap();
}

#[tokio::test]
async fn a_run_that_ended_after_the_backup_is_not_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(3).await;
    let mut agent = world.join("n1").await;
    let mut calm = Calm::new();
    let old = submit(&world, "old").await;
    calm.settle(&world, &mut agent, 3, false).await;
    assert_eq!(state(&world, &old).await, TaskStateKind::Running);
    let file = save(&world, dir.path()).await;
    // Life goes on: it ends and is forgotten, and another one begins that the backup does not know.
    calm.settle(&world, &mut agent, 40, true).await;
    assert!(state(&world, &old).await.is_settled());
    assert_eq!(agent.running(), 0);
    submit(&world, "new").await;
    calm.settle(&world, &mut agent, 3, false).await;
    assert_eq!(agent.running(), 1);
    agent.clear_away();
    let copy = sqlite().await;
    backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    let world = world_on(copy, &world).await;
    assert_eq!(state(&world, &old).await, TaskStateKind::Running, "as the backup has it");
    // What is placed before the node is back does not get in the way either.
    let later = submit(&world, "later").await;
    world.control.place_pending().await.unwrap();
    calm.settle(&world, &mut agent, 3, false).await;
    assert_eq!(state(&world, &old).await, TaskStateKind::Lost);
    assert_eq!(agent.disowned, 1, "what nobody knows is stopped");
    calm.settle(&world, &mut agent, 40, true).await;
    assert!(state(&world, &later).await.is_settled());
    assert!(calm.truth.executed.values().all(|times| *times == 1), "{:?}", calm.truth.executed);
}

#[tokio::test]
async fn a_run_that_still_runs_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(4).await;
    let mut agent = world.join("n1").await;
    let mut calm = Calm::new();
    let id = submit(&world, "long").await;
    calm.settle(&world, &mut agent, 3, false).await;
    let file = save(&world, dir.path()).await;
    let copy = sqlite().await;
    backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    let world = world_on(copy, &world).await;
    let node = agent.node_id;
    let waits = world.control.node_desired(node, Generation::ZERO).await.unwrap();
    assert_eq!(waits, None, "nothing is told before the node has said what it holds");
    calm.settle(&world, &mut agent, 3, false).await;
    assert_eq!((agent.running(), agent.disowned), (1, 0));
    assert_eq!(state(&world, &id).await, TaskStateKind::Running);
    calm.settle(&world, &mut agent, 40, true).await;
    assert!(state(&world, &id).await.is_settled());
    assert_eq!(calm.truth.executed.len(), 1);
}

#[tokio::test]
async fn what_a_node_never_heard_of_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(5).await;
    let mut agent = world.join("n1").await;
    let mut calm = Calm::new();
    calm.settle(&world, &mut agent, 1, false).await;
    let id = submit(&world, "waiting").await;
    world.control.place_pending().await.unwrap();
    let file = save(&world, dir.path()).await;
    let copy = sqlite().await;
    backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    let world = world_on(copy, &world).await;
    calm.settle(&world, &mut agent, 40, true).await;
    assert!(matches!(state(&world, &id).await, TaskStateKind::Completed | TaskStateKind::Failed));
}

#[tokio::test]
async fn a_service_that_was_removed_after_the_backup_runs_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(6).await;
    let mut agent = world.join("n1").await;
    agent.is_calm = true;
    let mut calm = Calm::new();
    let mut spec = WorkloadSpec::command(["serve"]);
    spec.mode = Mode::Forever;
    let name = "web".parse().unwrap();
    let applied = world.control.workload_apply(&world.cx, &world.project, &name, &spec, None).await;
    applied.unwrap();
    let since = world.now();
    for _ in 0..5 {
        world.control.place_services(since).await.unwrap();
        calm.settle(&world, &mut agent, 1, true).await;
    }
    assert_eq!(agent.running(), 1);
    let file = save(&world, dir.path()).await;
    agent.lose_everything();
    let copy = sqlite().await;
    backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    let world = world_on(copy, &world).await;
    for _ in 0..5 {
        world.control.place_services(since).await.unwrap();
        calm.settle(&world, &mut agent, 1, true).await;
    }
    assert_eq!(agent.running(), 1);
}

#[tokio::test]
async fn a_half_restored_database_starts_no_server_and_can_be_restored_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(7).await;
    submit(&world, "one").await;
    let file = save(&world, dir.path()).await;
    let copy = sqlite().await;
    copy.restore_begin(Store::schema_known()).await.unwrap();
    let boot = Boot {
        store: copy.clone(),
        clock: world.clock.clock(),
        ids: hostler_base::ids::Ids::seeded(1),
        config: ControlConfig::default(),
        master_key: MasterKey::from_bytes([7; 32]).into(),
        server_name: "s".into(),
    };
    assert!(matches!(boot.run().await.map(drop), Err(BootError::HalfRestored)));
    let new = NewBackup::checked("test", world.now(), None, None, true).unwrap();
    let refused = take(&copy, new, &dir.path().join("no.backup")).await.unwrap_err();
    assert!(matches!(refused, BackupError::HalfRestored));
    backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    let mark = copy.read().await.unwrap().setting_get(RESTORE_UNFINISHED).await.unwrap();
    assert_eq!(mark, None);
    world_on(copy, &world).await;
}

#[tokio::test]
async fn nothing_is_overwritten_unasked_and_nothing_is_touched_for_a_bad_file() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(8).await;
    let id = submit(&world, "one").await;
    let file = save(&world, dir.path()).await;
    let (store, now) = (&world.store, world.now());
    let occupied = backup::restore(store, &file, Some(&key()), false, now).await.unwrap_err();
    assert!(matches!(occupied, BackupError::Occupied(_)), "{occupied}");
    let whole = std::fs::read(&file).unwrap();
    let bad = dir.path().join("bad.backup");
    let flipped = {
        let mut bytes = whole.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        bytes
    };
    let newer = {
        let mut bytes = whole.clone();
        bytes[hostler_backup::MAGIC.len()] = 7;
        bytes
    };
    let other = LockKey::File(MasterKey::from_bytes([1; 32]));
    let words = LockKey::Passphrase(SecretString::new("not the right one at all"));
    let cases: [(&str, &[u8], Option<LockKey>, &str); 7] = [
        ("flipped", &flipped, Some(key()), "damaged"),
        ("cut", &whole[..whole.len() - 10], Some(key()), "cut off"),
        ("newer", &newer, Some(key()), "format 7"),
        ("another key", &whole, Some(other), "cannot be opened with this"),
        ("a passphrase", &whole, Some(words), "cannot be opened with this"),
        ("no key", &whole, None, "give its key"),
        ("no backup", b"hello", Some(key()), "not a backup"),
    ];
    for (what, bytes, key, expected) in cases {
        std::fs::write(&bad, bytes).unwrap();
        let error = backup::restore(store, &bad, key.as_ref(), true, now).await.unwrap_err();
        let text = hostler_base::chain(&error).to_string();
        assert!(text.contains(expected), "{what}: {text}");
    }
    assert_eq!(state(&world, &id).await, TaskStateKind::Pending, "all of it is still there");
    backup::restore(store, &file, Some(&key()), true, now).await.unwrap();
}

#[tokio::test]
async fn a_database_that_a_server_works_on_is_not_restored() {
    guarded(&World::new(9).await).await;
}

#[tokio::test]
async fn a_postgres_that_a_server_works_on_is_not_restored() {
    let Some(schema) = Schema::create("guarded") else { return };
    guarded(&World::configured(schema.open().await, 9, ControlConfig::default()).await).await;
}

async fn guarded(world: &World) {
    let dir = tempfile::tempdir().unwrap();
    let id = submit(world, "one").await;
    let file = save(world, dir.path()).await;
    let (control, store) = (&world.control, &world.store);
    control.register("a:7443".into(), "a:7444".into(), "test").await.unwrap();
    world.advance(Duration::from_secs(3));
    let refused = backup::restore(store, &file, Some(&key()), true, world.now()).await.unwrap_err();
    assert!(matches!(&refused, BackupError::Alive(names) if names.len() == 1), "{refused}");
    let words = refused.to_string();
    assert!(words.contains(control.server_name()) && words.contains("heard of 3s ago"), "{words}");
    assert!(words.contains("stop them all"), "{words}");
    assert_eq!(state(world, &id).await, TaskStateKind::Pending);
    let mut renew = control.server_renew_reconciler();
    assert_eq!(renew.reconcile().await.error, None);
    assert!(!control.is_restored());

    // It is not heard of for long, and works on all the same.
    world.advance(Duration::from_secs(40));
    backup::restore(store, &file, Some(&key()), true, world.now()).await.unwrap();
    let events = control.event_head().await.unwrap();
    assert_eq!(renew.reconcile().await.error, None);
    assert!(control.is_restored());
    tokio::time::timeout(Duration::from_secs(5), control.until_restored()).await.unwrap();
    renew.reconcile().await;
    let servers = control.server_list(&world.cx).await.unwrap();
    assert!(servers.is_empty(), "it does not come back to life: {servers:?}");
    assert_eq!(control.event_head().await.unwrap(), events, "nothing more is written");
}

#[tokio::test]
async fn a_server_notices_a_restore_that_is_under_way() {
    let world = World::new(9).await;
    let mut renew = world.control.server_renew_reconciler();
    renew.reconcile().await;
    world.store.restore_begin(Store::schema_known()).await.unwrap();
    renew.reconcile().await;
    assert!(world.control.is_restored());
}

#[tokio::test]
async fn a_drill_shows_that_it_can_be_restored() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(9).await;
    let file = save(&world, dir.path()).await;
    let before = rows(&world.store).await;
    let drilled = backup::drill(&file, Some(&key()), world.now()).await.unwrap();
    assert_eq!(drilled.summary.tables, before);
    assert_eq!(rows(&world.store).await, before, "the database itself is not touched");
    let sum = hostler_backup::verify(
        Opened::new(std::fs::File::open(&file).unwrap()).unwrap(),
        Some(&key()),
    );
    assert_eq!(sum.unwrap(), drilled.summary);
}

#[test]
fn master_keys_go_only_into_what_another_key_seals() {
    let ring = Keyring::new(MasterKey::from_bytes([7; 32]), vec![MasterKey::from_bytes([8; 32])]);
    let now = hostler_model::Timestamp::EPOCH;
    let plain = NewBackup::checked("test", now, None, Some(&ring), true);
    assert!(matches!(plain, Err(BackupError::KeysInPlain)));
    for own in [7, 8] {
        let own = LockKey::File(MasterKey::from_bytes([own; 32]));
        let refused = NewBackup::checked("test", now, Some(&own), Some(&ring), true);
        assert!(matches!(refused, Err(BackupError::OwnKey)));
    }
    let sealed = NewBackup::checked("test", now, Some(&key()), Some(&ring), true).unwrap();
    assert_eq!(sealed.keys.map(|keys| keys.len()), Some(2));
}

#[tokio::test]
async fn an_agent_too_old_to_say_what_it_holds_is_refused_after_a_restore() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(10).await;
    let agent = world.join("n1").await;
    let file = save(&world, dir.path()).await;
    let copy = sqlite().await;
    backup::restore(&copy, &file, Some(&key()), false, world.now()).await.unwrap();
    let world = world_on(copy, &world).await;
    let hello = hostler_control::HelloFacts {
        agent_version: "0.0.1".into(),
        session_epoch: Generation::from_u64(99),
        applied_generation: Generation::ZERO,
        facts: Some(hostler_model::Facts::default()),
        heartbeat_wish: None,
        can_tell_holdings: false,
    };
    let refused = world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap();
    let hostler_control::Attach::Refused { detail, may_return, .. } = refused else {
        panic!("{refused:?}")
    };
    assert!(detail.contains("upgrade") && may_return);
    let node = agent.node_id;
    let runs = world.store.read().await.unwrap().run_unsettled_on(node).await.unwrap();
    assert!(runs.iter().all(|run| run.state.kind() != RunStateKind::Running));
}

/// A control plane that makes backups by itself, every hour, two of them kept.
async fn scheduled(dir: &Path, seed: u64) -> World {
    use std::os::unix::fs::PermissionsExt as _;
    let key_file = dir.join("backup.key");
    std::fs::write(&key_file, MasterKey::from_bytes([42; 32]).to_base64().expose()).unwrap();
    std::fs::set_permissions(&key_file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let backup = BackupConfig {
        directory: dir.join("shelf"),
        every: Duration::from_hours(1),
        keep: 2,
        key_file: Some(key_file),
        has_master_key: true,
        has_content: true,
    };
    let config = ControlConfig { backup: Some(backup), ..ControlConfig::default() };
    World::configured(sqlite().await, seed, config).await
}

async fn pass(world: &World) -> hostler_base::reconcile::Pass<BackupReport> {
    world.control.backup_reconciler().reconcile().await
}

async fn attempts(world: &World) -> Vec<hostler_model::backup::BackupAttempt> {
    world.store.read().await.unwrap().backup_attempts(50).await.unwrap()
}

#[tokio::test]
async fn backups_are_made_when_they_are_due_read_back_and_tidied() {
    let dir = tempfile::tempdir().unwrap();
    let world = scheduled(dir.path(), 20).await;
    let shelf = Shelf::new(dir.path().join("shelf"));
    for hour in 0..4_u64 {
        let done = pass(&world).await;
        assert!(done.error.is_none() && done.report.made.is_some(), "{done:?}");
        let waits = pass(&world).await;
        assert_eq!(waits.report.made, None, "not before it is due");
        assert_eq!(waits.due, Some(world.now().plus(Duration::from_hours(1))));
        let kept = shelf.list().unwrap();
        assert_eq!(kept.len() as u64, (hour + 1).min(2));
        world.advance(Duration::from_hours(1));
    }
    let newest = shelf.directory.join(&shelf.list().unwrap()[0].name);
    let drilled = backup::drill(&newest, Some(&key()), world.now()).await.unwrap();
    assert_eq!(drilled.keys.len(), 1, "the master key is in it");
    let made = attempts(&world).await;
    assert_eq!(made[0].digest, Some(drilled.summary.digest));
    assert!(made.iter().all(|one| one.problem.is_none() && one.time_ended.is_some()));
    assert!(!world.control.backup_schedule().await.unwrap().is_overdue);
    world.advance(Duration::from_hours(1));
    assert!(world.control.backup_schedule().await.unwrap().is_overdue);
    world.control.backup_now(&world.cx).await.unwrap();
    assert!(pass(&world).await.report.made.is_some());
    world.control.backup_now(&world.cx).await.unwrap();
    world.advance(Duration::from_secs(1));
    assert!(pass(&world).await.report.made.is_some(), "a wish counts before it is due");
}

#[tokio::test]
async fn the_doctor_sees_that_the_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let world = scheduled(dir.path(), 24).await;
    assert!(pass(&world).await.report.made.is_some());
    let found = async || {
        let findings = world.control.diagnose(&world.cx).await.unwrap();
        findings.into_iter().find(|finding| finding.check == "backup").unwrap()
    };
    assert_eq!(found().await.severity, Severity::Ok);
    let shelf = dir.path().join("shelf");
    let kept = Shelf::new(&shelf).list().unwrap().remove(0);
    let file = shelf.join(&kept.name);
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(kept.size / 2).unwrap();
    assert_eq!(found().await.severity, Severity::Critical, "it was cut short");
    std::fs::remove_dir_all(&shelf).unwrap();
    let gone = found().await;
    assert_eq!(gone.severity, Severity::Critical, "{gone:?}");
    assert!(gone.what.contains("not there any more"), "{gone:?}");
    assert!(gone.evidence[0].contains(&file.display().to_string()), "{gone:?}");
}

#[tokio::test]
async fn two_servers_make_one_backup() {
    let dir = tempfile::tempdir().unwrap();
    let world = scheduled(dir.path(), 21).await;
    let other = world.another_server().await;
    let (mut one, mut two) = (world.control.backup_reconciler(), other.backup_reconciler());
    let (one, two) = tokio::join!(one.reconcile(), two.reconcile());
    assert_eq!((one.error, two.error), (None, None));
    let made = one.report.made.is_some() as u8 + two.report.made.is_some() as u8;
    assert_eq!((made, attempts(&world).await.len()), (1, 1));
}

#[tokio::test]
async fn a_full_disk_is_told_once_and_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = scheduled(dir.path(), 22).await;
    let shelf = Shelf::new(dir.path().join("shelf"));
    shelf.prepare().unwrap();
    let full = |world: &World| {
        let draft = shelf.draft(&Shelf::name(world.now()));
        std::os::unix::fs::symlink("/dev/full", draft).unwrap();
    };
    for _ in 0..2 {
        full(&world);
        assert_eq!(pass(&world).await.error, None);
        world.advance(Duration::from_mins(5));
    }
    let failed = attempts(&world).await;
    assert_eq!(failed.len(), 2);
    assert!(failed[0].problem.as_ref().unwrap().contains("No space left"), "{failed:?}");
    assert!(shelf.list().unwrap().is_empty());
    let query = EventQuery { kind: Some(EventKind::BackupFailed.into()), ..EventQuery::default() };
    let events = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(events.items.len(), 1, "told once");
    let findings = world.control.diagnose(&world.cx).await.unwrap();
    let found = findings.iter().find(|finding| finding.check == "backup").unwrap();
    assert_eq!(found.severity, Severity::Warning);
    assert!(found.evidence.iter().any(|line| line.contains("No space left")), "{found:?}");
    pass(&world).await;
    assert_eq!(shelf.list().unwrap().len(), 1);
    let findings = world.control.diagnose(&world.cx).await.unwrap();
    let found = findings.iter().find(|finding| finding.check == "backup").unwrap();
    assert_eq!(found.severity, Severity::Ok);
}

#[tokio::test]
async fn the_doctor_sees_what_is_in_the_rows() {
    let world = World::new(23).await;
    let mut agent = world.join("n1").await;
    submit(&world, "waits").await;
    agent.connect(&world.control).await;
    agent.disconnect();
    let of = async |check: &str| {
        let findings = world.control.diagnose(&world.cx).await.unwrap();
        findings.into_iter().find(|finding| finding.check == check).unwrap()
    };
    assert_eq!(of("nodes").await.severity, Severity::Ok);
    assert_eq!(of("queue").await.severity, Severity::Ok);
    world.advance(Duration::from_hours(1));
    world.control.judge_nodes(world.now().minus(Duration::from_hours(1))).await.unwrap();
    let nodes = of("nodes").await;
    assert_eq!(nodes.severity, Severity::Critical, "{nodes:?}");
    assert!(nodes.evidence[0].starts_with("n1: heard of 60m ago"), "{nodes:?}");
    assert_eq!(of("queue").await.severity, Severity::Critical);
}
