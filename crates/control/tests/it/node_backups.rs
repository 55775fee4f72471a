//! Backups of nodes: what nodes may put and fetch for them, where content is kept, and what becomes of it. The node is
//! a simulated one; what real ones do is tested with the agent.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_blob::{Cutter, digest_of, pack, unpack};
use hostler_control::{
    Attach, Control, ControlConfig, HelloFacts, NewNodeBackup, NodeAsk, NodeFetch, NodeLink,
    NodePut, ObjectStoreConfig, OutputItem, OutputReceiver,
};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::host::HostAsk;
use hostler_model::node_backup::{BackupEntry, BackupPath, EntryKind};
use hostler_model::{
    BackupStore, BackupVolume, BlobScope, Bytes, Code, Content, Digest, Error, Facts, Generation,
    JobState, Limit, NodeBackup, NodeBackupOutcome, NodeBackupSpec, NodeBackupState, NodeId,
    OperationId, OperationState, OutputStream, RestoreOutcome, RestoreSpec, RestoreTo,
};
use hostler_store::{NodeBackupFilter, OpenOptions, Store};
use hostler_testkit::{ObjectServer, SimAgent, World};
use tokio::sync::mpsc;

/// A node that has one file, and puts back what it is told to.
pub(crate) struct Machine {
    control: Control,
    node: NodeId,
    file: Mutex<Vec<u8>>,
    /// What it got back.
    back: Mutex<Vec<u8>>,
    jobs: Mutex<Vec<OperationId>>,
    sent: Mutex<u64>,
    /// It says that it put this too.
    lie: Mutex<Option<BackupVolume>>,
}

impl Machine {
    async fn put(&self, put: &NodePut, bytes: &[u8]) -> Result<Content, Error> {
        let mut cutter = Cutter::new();
        cutter.push(bytes);
        let mut chunks = Vec::new();
        while let Some(chunk) = cutter.cut_rest() {
            chunks.push(chunk);
        }
        let digests: Vec<Digest> = chunks.iter().map(|chunk| chunk.digest).collect();
        let missing = self.control.node_chunks_missing(self.node, put, &digests).await?;
        for chunk in chunks.into_iter().filter(|chunk| missing.contains(&chunk.digest)) {
            let packed = pack(&chunk.bytes);
            *self.sent.lock().unwrap() += packed.len() as u64;
            self.control.node_chunk_put(self.node, put, chunk.digest, packed).await?;
        }
        let content = cutter.content();
        let (digest, chunks) = (content.digest, content.chunks.clone());
        self.control.node_blob_commit(self.node, put, digest, "volume".into(), chunks).await?;
        Ok(content)
    }

    async fn keep(&self, job: OperationId) -> Result<NodeBackupOutcome, Error> {
        let (put, bytes) = (NodePut::Backup(job), self.file.lock().unwrap().clone());
        *self.sent.lock().unwrap() = 0;
        let volume = self.put(&put, &bytes).await?;
        let size = bytes.len() as u64;
        let entry = BackupEntry {
            path: BackupPath::new("srv/file").unwrap(),
            kind: EntryKind::File {
                size,
                at: 0,
                stored: size,
                digest: digest_of(&bytes),
                extents: Vec::new(),
            },
            mode: 0o600,
            uid: 0,
            gid: 0,
            modified: (1, 0),
            attributes: std::collections::BTreeMap::new(),
        };
        let list = serde_json::to_string(&entry).unwrap() + "\n";
        let manifest = self.put(&put, list.as_bytes()).await?;
        let volume_of =
            |content: &Content| BackupVolume { digest: content.digest, size: content.size };
        let mut volumes = vec![volume_of(&volume)];
        volumes.extend(*self.lie.lock().unwrap());
        Ok(NodeBackupOutcome {
            manifest: volume_of(&manifest),
            volumes,
            files: 1,
            directories: 0,
            links: 0,
            bytes: Bytes::new(size),
            bytes_sent: Bytes::new(*self.sent.lock().unwrap()),
            changed: 0,
            vanished: 0,
            unreadable: 0,
            special: 0,
            troubles: Vec::new(),
        })
    }

    async fn fetch(&self, job: OperationId, digest: Digest) -> Result<Vec<u8>, Error> {
        let fetch = NodeFetch::Restore(job);
        let (_, chunks) = self.control.node_blob(self.node, digest, fetch).await?;
        let mut all = Vec::new();
        for chunk in chunks {
            let found = self.control.node_chunks(self.node, digest, fetch, &[chunk.digest]).await?;
            all.extend(unpack(&found[0].packed, chunk.digest).unwrap());
        }
        Ok(all)
    }

    /// One that has this file.
    pub(crate) fn new(control: Control, node: NodeId, file: &[u8]) -> Machine {
        Machine {
            control,
            node,
            file: Mutex::new(file.to_vec()),
            back: Mutex::default(),
            jobs: Mutex::default(),
            sent: Mutex::default(),
            lie: Mutex::default(),
        }
    }

    pub(crate) async fn answer(&self, ask: HostAsk) -> Vec<u8> {
        let failed = |error: Error| error.detail;
        match ask {
            HostAsk::Backup { spec: None, .. } | HostAsk::Restore { order: None, .. } => {
                serde_json::to_vec(&JobState::<()>::Unknown).unwrap()
            }
            HostAsk::Backup { job, .. } => {
                self.jobs.lock().unwrap().push(job);
                let state = match self.keep(job).await.map_err(failed) {
                    Ok(outcome) => JobState::Done { content: Some(outcome) },
                    Err(why) => JobState::Failed { why },
                };
                serde_json::to_vec(&state).unwrap()
            }
            HostAsk::Restore { job, order: Some(order) } => {
                self.jobs.lock().unwrap().push(job);
                let state = match self.fetch(job, order.volumes[0].digest).await.map_err(failed) {
                    Ok(bytes) => {
                        *self.back.lock().unwrap() = bytes;
                        let outcome = RestoreOutcome { files: 1, ..RestoreOutcome::default() };
                        JobState::Done { content: Some(outcome) }
                    }
                    Err(why) => JobState::Failed { why },
                };
                serde_json::to_vec(&state).unwrap()
            }
            _ => serde_json::to_vec(&()).unwrap(),
        }
    }
}

struct Link(Arc<Machine>);

impl NodeLink for Link {
    fn wake(&self) {}

    fn open(&self, ask: NodeAsk) -> BoxFuture<'_, Result<OutputReceiver, Error>> {
        let NodeAsk::Host(ask) = ask else { panic!("{ask:?}") };
        let machine = Arc::clone(&self.0);
        Box::pin(async move {
            let bytes = machine.answer(ask).await;
            let time = hostler_model::Timestamp::from_micros(0);
            let (stream, cursor) = (OutputStream::Stdout, String::new());
            let (items, reader) = mpsc::channel(2);
            items.send(Ok(OutputItem::Data { stream, time, bytes, cursor })).await.unwrap();
            items.send(Ok(OutputItem::End { complete: true })).await.unwrap();
            Ok(reader)
        })
    }

    fn close(&self, _: &str, _: bool) {}
}

async fn machine(world: &World, name: &str, file: &[u8]) -> (SimAgent, Arc<Machine>) {
    let agent = world.join(name).await;
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(1),
        applied_generation: Generation::ZERO,
        facts: Some(Facts::default()),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    let attached = world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap();
    let Attach::Attached(attached) = attached else { panic!("{attached:?}") };
    let machine = Arc::new(Machine::new(world.control.clone(), agent.node_id, file));
    world.control.node_link(&attached, Arc::new(Link(Arc::clone(&machine))));
    (agent, machine)
}

fn new(store: &str, label: &str) -> NewNodeBackup {
    NewNodeBackup {
        spec: NodeBackupSpec { paths: vec!["/srv".into()], ..NodeBackupSpec::default() },
        store: store.parse().unwrap(),
        label: label.to_owned(),
        keep: None,
    }
}

async fn made(world: &World, node: &str, new: NewNodeBackup) -> NodeBackup {
    let begun = world.control.node_backup_create(&world.cx, node, new).await.unwrap();
    assert_eq!(begun.state, NodeBackupState::Waiting);
    ended(world, begun.operation_id).await;
    world.control.node_backup_get(&world.cx, &begun.id.to_string()).await.unwrap()
}

/// How an operation ended, and why.
async fn ended(world: &World, id: OperationId) -> (OperationState, Option<String>) {
    let mut operations = world.operations();
    for _ in 0..20 {
        operations.pass().await;
        let operation = world.control.operation_get(&world.cx, id).await.unwrap();
        if operation.state.is_settled() {
            return (operation.state, operation.error);
        }
        world.advance(Duration::from_secs(1));
    }
    panic!("the operation does not end");
}

async fn verify(world: &World, backup: &NodeBackup) -> (OperationState, Option<String>) {
    let id = backup.id.to_string();
    let operation = world.control.node_backup_verify(&world.cx, &id).await.unwrap();
    ended(world, operation.id).await
}

async fn restore(
    world: &World,
    backup: &NodeBackup,
    node: Option<&str>,
) -> (OperationState, Option<String>) {
    let spec =
        RestoreSpec { to: RestoreTo::Fresh, paths: Vec::new(), overwrite: false, check: false };
    let id = backup.id.to_string();
    let operation = world.control.node_backup_restore(&world.cx, &id, node, spec).await.unwrap();
    ended(world, operation.id).await
}

fn noise(seed: u8, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&[seed]).finalize_xof().fill(&mut bytes);
    bytes
}

#[tokio::test]
async fn a_backup_is_kept_sealed_verified_and_put_back_and_what_is_known_is_not_sent() {
    let world = World::new(71).await;
    let content = noise(1, 3 << 20);
    let (_one, first) = machine(&world, "n1", &content).await;
    let backup = made(&world, "n1", new("server", "nightly")).await;
    assert_eq!(backup.state, NodeBackupState::Complete, "{:?}", backup.error);
    let outcome = backup.outcome.clone().unwrap();
    assert!(outcome.bytes_sent.get() > 3 << 20);

    // What is in the database opens with the key of the installation only.
    let scope = BlobScope::Backup(BackupStore::server());
    let volume = outcome.volumes[0].digest;
    let mut read = world.store.read().await.unwrap();
    let chunks = read.blob_chunks(scope, volume, 0, 100).await.unwrap();
    let kept = read.chunk_get_batch(scope, &[chunks[0].digest]).await.unwrap();
    assert!(unpack(&kept[0].packed, chunks[0].digest).is_err(), "it is sealed");
    drop(read);

    assert_eq!(verify(&world, &backup).await, (OperationState::Succeeded, None));
    assert_eq!(restore(&world, &backup, None).await, (OperationState::Succeeded, None));
    assert_eq!(*first.back.lock().unwrap(), content);

    // The same again, and on another node with nearly the same, sends next to nothing.
    let again = made(&world, "n1", new("server", "nightly")).await;
    assert_eq!(again.outcome.unwrap().bytes_sent, Bytes::new(0));
    let mut nearly = content.clone();
    nearly.splice(1_000_000..1_000_000, noise(2, 100));
    let (_two, second) = machine(&world, "n2", &nearly).await;
    let other = made(&world, "n2", new("server", "nightly")).await;
    let sent = other.outcome.as_ref().unwrap().bytes_sent.get();
    assert!(sent > 0 && sent < 2 << 20, "{sent} bytes were sent");
    // A backup of one can be put back on the other.
    assert_eq!(restore(&world, &backup, Some("n2")).await.0, OperationState::Succeeded);
    assert_eq!(*second.back.lock().unwrap(), content);
    let listed = world.control.node_backup_files(&world.cx, "nightly", None, 0, Limit::DEFAULT);
    let listed = listed.await.unwrap();
    assert_eq!(listed.entries[0].path.to_string(), "/srv/file");
    assert_eq!(listed.next, None);
}

#[tokio::test]
async fn a_node_puts_and_fetches_only_what_it_is_told_to() {
    let world = World::new(72).await;
    let (one, first) = machine(&world, "n1", &noise(1, 1000)).await;
    let (two, second) = machine(&world, "n2", &noise(2, 1000)).await;
    let backup = made(&world, "n1", new("server", "")).await;
    let job = backup.operation_id;
    let volume = backup.outcome.as_ref().unwrap().volumes[0].digest;
    let refused = |result: Result<(), Error>| assert_eq!(result.unwrap_err().code, Code::Forbidden);
    let (control, cx) = (&world.control, &world.cx);

    // It is over: nothing more is taken for it, from nobody.
    for node in [one.node_id, two.node_id] {
        let put = NodePut::Backup(job);
        refused(control.node_chunks_missing(node, &put, &[volume]).await.map(drop));
    }
    // One that is under way is one node's.
    let under_way = control.node_backup_create(cx, "n2", new("server", "")).await.unwrap();
    let put = NodePut::Backup(under_way.operation_id);
    control.node_chunks_missing(two.node_id, &put, &[volume]).await.unwrap();
    let packed = pack(b"x");
    refused(control.node_chunk_put(one.node_id, &put, digest_of(b"x"), packed).await);
    let commit = control.node_blob_commit(one.node_id, &put, volume, String::new(), Vec::new());
    refused(commit.await.map(drop));

    // Nobody fetches without a restore, nor with another's, nor with an operation of another kind.
    let spec =
        RestoreSpec { to: RestoreTo::Fresh, paths: Vec::new(), overwrite: false, check: false };
    let id = backup.id.to_string();
    let restoring = control.node_backup_restore(cx, &id, Some("n1"), spec).await.unwrap();
    let fetch = NodeFetch::Restore(restoring.id);
    control.node_blob(one.node_id, volume, fetch).await.unwrap();
    refused(control.node_blob(two.node_id, volume, fetch).await.map(drop));
    refused(control.node_chunks(two.node_id, volume, fetch, &[volume]).await.map(drop));
    let other = NodeFetch::Restore(under_way.operation_id);
    refused(control.node_blob(two.node_id, volume, other).await.map(drop));
    let foreign = control.node_blob(one.node_id, digest_of(b"else"), fetch).await;
    refused(foreign.map(drop));
    let found = control.node_blob(one.node_id, volume, NodeFetch::Shared).await;
    assert_eq!(found.unwrap_err().code, Code::NotFound, "it is not everybody's");
    control.operation_cancel(cx, restoring.id).await.unwrap();
    refused(control.node_blob(one.node_id, volume, fetch).await.map(drop));

    // A node that names what it did not put is not believed.
    *second.lie.lock().unwrap() = Some(BackupVolume { digest: volume, size: 1000 });
    let (state, why) = ended(&world, under_way.operation_id).await;
    assert_eq!(state, OperationState::Failed);
    assert!(why.unwrap().contains("did not send"));
    let failed = control.node_backup_get(cx, &under_way.id.to_string()).await.unwrap();
    assert_eq!(failed.state, NodeBackupState::Failed);
    assert_eq!(first.jobs.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn damage_is_found_and_mended_by_the_next_backup() {
    let world = World::new(73).await;
    let (_agent, machine) = machine(&world, "n1", &noise(1, 2 << 20)).await;
    let backup = made(&world, "n1", new("server", "a")).await;
    let volume = backup.outcome.as_ref().unwrap().volumes[0].digest;
    let scope = BlobScope::Backup(BackupStore::server());
    let mut read = world.store.read().await.unwrap();
    let digest = read.blob_chunks(scope, volume, 1, 1).await.unwrap()[0].digest;
    let mut chunk = read.chunk_get_batch(scope, &[digest]).await.unwrap().remove(0);
    drop(read);
    let middle = chunk.packed.len() / 2;
    chunk.packed[middle] ^= 1;
    let (chunk, now) = (&chunk, world.now());
    let damaged = world.store.tx("test", |tx| {
        Box::pin(async move {
            tx.chunk_drop(scope, digest, now).await?;
            tx.chunk_put(scope, chunk, now).await
        })
    });
    let damaged: Result<(), hostler_store::Error> = damaged.await;
    damaged.unwrap();
    let (state, why) = verify(&world, &backup).await;
    assert_eq!(state, OperationState::Failed);
    assert!(why.unwrap().contains("not whole"));
    let told = world.control.node_backup_get(&world.cx, "a").await.unwrap();
    assert!(told.verdict.unwrap().problem.is_some());
    let again = made(&world, "n1", new("server", "b")).await;
    assert!(again.outcome.unwrap().bytes_sent.get() > 0, "what was damaged is sent again");
    assert_eq!(verify(&world, &backup).await, (OperationState::Succeeded, None));
    let told = world.control.node_backup_get(&world.cx, "a").await.unwrap();
    assert_eq!(told.verdict.unwrap().problem, None);
    assert_eq!(machine.jobs.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn older_ones_are_let_go_of_and_what_nobody_needs_with_them() {
    let world = World::new(74).await;
    let (_agent, machine) = machine(&world, "n1", &noise(1, 1 << 20)).await;
    let kept = NewNodeBackup { keep: Some(2), ..new("server", "nightly") };
    let mut volumes = Vec::new();
    for day in 0..4 {
        *machine.file.lock().unwrap() = noise(10 + day, 1 << 20);
        world.advance(Duration::from_hours(24));
        let backup = made(&world, "n1", kept.clone()).await;
        volumes.push(backup.outcome.unwrap().volumes[0].digest);
    }
    let filter = NodeBackupFilter::default();
    let list = world.control.node_backup_list(&world.cx, Some("n1"), filter, None, Limit::DEFAULT);
    assert_eq!(list.await.unwrap().items.len(), 2);
    let scope = BlobScope::Backup(BackupStore::server());
    let mut read = world.store.read().await.unwrap();
    let mut there = Vec::new();
    for volume in &volumes {
        there.push(read.blob_get(scope, *volume).await.unwrap().is_some());
    }
    assert_eq!(there, [false, false, true, true]);
    let nameless = NewNodeBackup { keep: Some(2), ..new("server", "") };
    let refused = world.control.node_backup_create(&world.cx, "n1", nameless).await;
    assert_eq!(refused.unwrap_err().errors[0].pointer, "/keep");
    drop(read);
    for _ in 0..2 {
        world.control.node_backup_remove(&world.cx, "nightly").await.unwrap();
    }
    let gone = world.control.node_backup_get(&world.cx, "nightly").await;
    assert_eq!(gone.unwrap_err().code, Code::NotFound);
}

async fn with_objects(server: &ObjectServer, dir: &Path, secret: &str) -> World {
    let secret_key_file = dir.join("secret");
    std::fs::write(&secret_key_file, format!("{secret}\n")).unwrap();
    let objects = ObjectStoreConfig {
        name: "s3".parse().unwrap(),
        endpoint: server.endpoint(),
        bucket: ObjectServer::BUCKET.to_owned(),
        region: ObjectServer::REGION.to_owned(),
        prefix: "hostler/".to_owned(),
        access_key: ObjectServer::ACCESS_KEY.to_owned(),
        secret_key_file,
        authorities_pem: None,
    };
    let policy = Policy { allow: vec!["127.0.0.1".parse().unwrap()], ..Policy::default() };
    let config = ControlConfig {
        backup_stores: vec![objects],
        egress: Egress::new(Options { policy, ..Options::default() }),
        ..ControlConfig::default()
    };
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    World::configured(store, 75, config).await
}

#[tokio::test]
async fn an_object_store_keeps_what_it_cannot_read_and_loses_nothing_that_is_needed() {
    let (server, dir) = (ObjectServer::start(), tempfile::tempdir().unwrap());
    let world = with_objects(&server, dir.path(), ObjectServer::SECRET_KEY).await;
    let content = b"the canary sings ".repeat(100_000);
    let (_agent, machine) = machine(&world, "n1", &content).await;
    server.state().busy = 2;
    let backup = made(&world, "n1", new("s3", "far")).await;
    assert_eq!(backup.state, NodeBackupState::Complete, "{:?}", backup.error);
    assert_eq!(server.state().refused, Vec::<String>::new());
    let objects = server.state().objects.clone();
    assert!(!objects.is_empty());
    for (name, bytes) in &objects {
        assert!(name.starts_with("hostler/"), "{name}");
        assert!(!bytes.windows(6).any(|six| six == b"canary"));
        assert!(zstd_magic(bytes).is_none(), "what leaves is sealed");
    }
    assert_eq!(verify(&world, &backup).await, (OperationState::Succeeded, None));
    assert_eq!(restore(&world, &backup, None).await, (OperationState::Succeeded, None));
    assert_eq!(*machine.back.lock().unwrap(), content);

    // An object that is gone is found, and is there again after the next backup.
    let lost = objects.keys().next().unwrap().clone();
    server.state().objects.remove(&lost);
    let (state, why) = verify(&world, &backup).await;
    assert_eq!(state, OperationState::Failed, "{why:?}");
    made(&world, "n1", new("s3", "far")).await;
    assert_eq!(verify(&world, &backup).await, (OperationState::Succeeded, None));

    // When no backup needs them any more, objects go.
    for _ in 0..2 {
        world.control.node_backup_remove(&world.cx, "far").await.unwrap();
    }
    world.advance(Duration::from_hours(48));
    collect(&world).await;
    world.advance(Duration::from_hours(48));
    collect(&world).await;
    assert_eq!(server.state().objects.len(), 0);
}

fn zstd_magic(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])
}

async fn collect(world: &World) {
    world.control.collect_now().await.unwrap();
}

#[tokio::test]
async fn a_store_that_refuses_is_no_damage() {
    let (server, dir) = (ObjectServer::start(), tempfile::tempdir().unwrap());
    let world = with_objects(&server, dir.path(), ObjectServer::SECRET_KEY).await;
    let (_agent, _machine) = machine(&world, "n1", b"content").await;
    let backup = made(&world, "n1", new("s3", "far")).await;
    assert_eq!(backup.state, NodeBackupState::Complete, "{:?}", backup.error);
    std::fs::write(dir.path().join("secret"), "another").unwrap();
    let id = backup.id.to_string();
    let operation = world.control.node_backup_verify(&world.cx, &id).await.unwrap();
    world.operations().pass().await;
    let shown = world.control.operation_get(&world.cx, operation.id).await.unwrap();
    assert_eq!(shown.state, OperationState::Running, "it waits");
    assert!(shown.steps[0].message.contains("SignatureDoesNotMatch"), "{:?}", shown.steps);
    assert!(!server.state().refused.is_empty());
    std::fs::write(dir.path().join("secret"), ObjectServer::SECRET_KEY).unwrap();
    assert_eq!(ended(&world, operation.id).await, (OperationState::Succeeded, None));
    let unknown = world.control.node_backup_create(&world.cx, "n1", new("moon", "")).await;
    assert_eq!(unknown.unwrap_err().code, Code::Conflict);
}
