//! Servers that race for the last of something on one PostgreSQL: a core, a GPU, what a project may
//! hold, what it may have in its queue.
//!
//! Each server has connections of its own. In every round what runs is reported as ended through one
//! server while others submit and all of them place: sometimes one thing becomes free, sometimes all of
//! them. Then the node's feed, which is what an agent would be told, says who holds what. Never too much may be held, not even for a moment, and when the dust
//! has settled nothing that is free may be left while somebody waits for it.
//!
//! There are a thousand rounds, or as many as fit into the time a test may take; each of them is about up
//! to sixteen free ones.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::future::join_all;
use hostler_base::ids::Ids;
use hostler_control::{
    Attach, Attached, Boot, Control, ControlConfig, HelloFacts, NewBlob, NewTask, ProjectChange,
    TaskDetail,
};
use hostler_model::{
    Assignment, BlobKind, BlobScope, Bytes, ChunkRef, Code, Cores, Desired, Digest, Exit,
    ExitReason, Facts, Generation, GpuFact, GpuRequest, LogShare, NodeId, NodeMetrics, NumaFact,
    OutputKept, PlacementId, Project, Quota, Report, ReportState, TaskStateKind, WorkloadSpec,
};
use hostler_store::Store;
use hostler_testkit::World;
use hostler_trust::{MasterKey, SecretBytes};

use crate::postgres::Schema;

const SERVERS: usize = 3;
const ROUNDS: usize = 1000;
const LONGEST: Duration = Duration::from_secs(14);

/// The numbers of the rounds.
fn rounds() -> impl Iterator<Item = usize> {
    let begun = Instant::now();
    (0..ROUNDS).take_while(move |round| *round < 100 || begun.elapsed() < LONGEST)
}

struct Race {
    world: World,
    servers: Vec<Control>,
    stores: Vec<Store>,
    node: NodeId,
    sent: Generation,
    /// What an agent would run now.
    running: BTreeMap<PlacementId, Assignment>,
}

/// A machine that everybody wants a part of.
fn machine(cores: u32, gpus: u32) -> Facts {
    let gpu = |index| GpuFact { index, model: "A100".to_owned(), ..GpuFact::default() };
    let cpus = format!("0-{}", cores - 1);
    Facts {
        cores: Cores::from_millis(cores * 1000),
        numa: vec![NumaFact { index: 0, cpus, ..NumaFact::default() }],
        gpus: (0..gpus).map(gpu).collect(),
        ..Facts::default()
    }
}

fn wants(cores: u32, gpus: u32) -> WorkloadSpec {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(cores);
    spec.resources.gpus = GpuRequest::count(gpus);
    spec
}

impl Race {
    async fn new(schema: &Schema, seed: u64, facts: Facts) -> Race {
        let world = World::on(schema.open().await, seed).await;
        let agent = world.join("n1").await;
        let hello = HelloFacts {
            agent_version: "t".into(),
            session_epoch: Generation::FIRST,
            applied_generation: Generation::ZERO,
            facts: Some(facts),
            heartbeat_wish: None,
            can_tell_holdings: true,
        };
        let attach = world.control.node_attach(agent.node_id, agent.serial(), &hello).await;
        assert!(matches!(attach.unwrap(), Attach::Attached(_)));
        let (mut servers, mut stores) = (vec![world.control.clone()], Vec::new());
        for number in 1..SERVERS {
            let store = schema.open().await;
            let boot = Boot {
                store: store.clone(),
                clock: world.clock.clock(),
                ids: Ids::system(),
                config: ControlConfig::default(),
                master_key: MasterKey::from_bytes([7; 32]).into(),
                server_name: format!("server-{number}"),
            };
            servers.push(boot.run().await.unwrap());
            stores.push(store);
        }
        let sent = Generation::ZERO;
        let node = agent.node_id;
        Race { world, servers, stores, node, sent, running: BTreeMap::new() }
    }

    async fn project(&self, name: &str, quota: Quota) -> Project {
        let change = ProjectChange { quota: Some(quota), ..ProjectChange::default() };
        let name = name.parse().unwrap();
        self.servers[0].project_create(&self.world.cx, name, change).await.unwrap()
    }

    async fn submit(&self, server: usize, project: &Project, specs: Vec<WorkloadSpec>) {
        let server = &self.servers[server % SERVERS];
        let new: Vec<_> = specs.into_iter().map(|spec| NewTask { name: None, spec }).collect();
        if !new.is_empty() {
            server.task_submit(&self.world.cx, project, new).await.unwrap();
        }
    }

    /// Says through a server that these runs have ended.
    async fn end(&self, server: usize, ended: &[Assignment]) {
        let time = self.world.now();
        let exit =
            Exit { reason: ExitReason::Exited, code: Some(0), signal: None, message: None, time };
        let reports: Vec<Report> = ended
            .iter()
            .map(|assignment| Report {
                run_id: assignment.run_id.unwrap(),
                placement_id: assignment.placement_id,
                generation: Generation::FIRST,
                state: ReportState::Exited {
                    started: Some(time),
                    pid: Some(7),
                    exit: exit.clone(),
                },
                origin: None,
            })
            .collect();
        let server = &self.servers[server % SERVERS];
        let acks = server.node_report(self.node, &reports).await.unwrap();
        assert!(acks.iter().all(|ack| !ack.is_unknown));
    }

    async fn place_everywhere(&self) {
        for placed in join_all(self.servers.iter().map(Control::place_pending)).await {
            placed.unwrap();
        }
    }

    /// Hears what the node is to run, as its agent would.
    async fn listen(&mut self, ended: &[Assignment]) {
        for assignment in ended {
            self.running.remove(&assignment.placement_id);
        }
        while let Some(batch) = self.servers[0].node_desired(self.node, self.sent).await.unwrap() {
            self.sent = batch.to;
            for assignment in batch.assignments {
                assert_eq!(assignment.desired, Desired::Run);
                self.running.insert(assignment.placement_id, assignment);
            }
        }
    }

    /// Some of what runs ends, and as much is submitted, while every server places.
    async fn round(&mut self, round: usize, project: &Project) {
        let ended: Vec<Assignment> = self.running.values().take(1 + round % 16).cloned().collect();
        let specs = ended.iter().map(|assignment| assignment.spec.clone()).collect();
        let (first, second) = ended.split_at(ended.len() / 2);
        tokio::join!(
            Box::pin(self.end(round, first)),
            Box::pin(self.end(round + 1, second)),
            Box::pin(self.submit(round + 2, project, specs)),
            Box::pin(self.place_everywhere()),
        );
        self.listen(&ended).await;
    }

    /// One look more, at what became free after the last one looked.
    async fn settle(&mut self, round: usize) {
        self.servers[round % SERVERS].place_pending().await.unwrap();
        self.listen(&[]).await;
    }

    fn cores(&self) -> u32 {
        self.running.values().map(|one| one.reservation.cores.millis()).sum()
    }

    /// The cores that are somebody's own, one entry for each holder.
    fn own_cores(&self) -> Vec<u32> {
        let mut held: Vec<u32> =
            self.running.values().flat_map(|one| one.reservation.cpus.iter()).collect();
        held.sort_unstable();
        held
    }

    /// The GPUs that are held, one entry for each holder.
    fn gpus(&self) -> Vec<u32> {
        let holds = self.running.values().flat_map(|one| &one.reservation.gpus);
        let mut held: Vec<u32> = holds.map(|hold| hold.index).collect();
        held.sort_unstable();
        held
    }

    async fn close(self) {
        for store in self.stores {
            store.close().await;
        }
        self.world.store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_core_is_given_once_and_never_left_free() {
    let Some(schema) = Schema::create("last_core") else { return };
    let mut race = Race::new(&schema, 61, machine(16, 0)).await;
    let project = race.world.project.clone();
    let mut own = wants(1000, 0);
    own.resources.exclusive = true;
    race.submit(0, &project, vec![own; 20]).await;
    race.settle(0).await;
    for round in rounds() {
        race.round(round, &project).await;
        let cores = race.own_cores();
        assert!(cores.windows(2).all(|pair| pair[0] != pair[1]), "round {round}: {cores:?}");
        race.settle(round).await;
        let cores = race.own_cores();
        assert_eq!(cores, (0..16).collect::<Vec<_>>(), "round {round}: one is free, four wait");
    }
    let held = race.servers[1].node_held_list(&race.world.cx).await.unwrap();
    assert_eq!((held[0].cores.millis(), held[0].placements), (16_000, 16));
    race.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_gpu_is_given_once_and_never_left_free() {
    let Some(schema) = Schema::create("last_gpu") else { return };
    let mut race = Race::new(&schema, 62, machine(64, 16)).await;
    let project = race.world.project.clone();
    race.submit(0, &project, vec![wants(10, 1); 20]).await;
    race.settle(0).await;
    for round in rounds() {
        race.round(round, &project).await;
        let gpus = race.gpus();
        assert!(gpus.windows(2).all(|pair| pair[0] != pair[1]), "round {round}: {gpus:?}");
        race.settle(round).await;
        let gpus = race.gpus();
        assert_eq!(gpus, (0..16).collect::<Vec<_>>(), "round {round}: one is free, four wait");
    }
    race.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_of_a_projects_cores_and_gpus_is_given_once_and_never_left_free() {
    let Some(schema) = Schema::create("last_quota") else { return };
    let mut race = Race::new(&schema, 63, machine(64, 16)).await;
    let quota = Quota { cores: Some(Cores::from_millis(8000)), gpus: Some(4), ..Quota::default() };
    let project = race.project("lab", quota).await;
    let mut specs = vec![wants(500, 0); 18];
    specs.extend(vec![wants(500, 1); 8]);
    race.submit(0, &project, specs).await;
    race.settle(0).await;
    for round in rounds() {
        race.round(round, &project).await;
        let (cores, gpus) = (race.cores(), race.gpus().len());
        assert!(cores <= 8000 && gpus <= 4, "round {round}: {cores} and {gpus} GPUs");
        race.settle(round).await;
        let (cores, gpus) = (race.cores(), race.gpus().len());
        assert!(gpus <= 4, "round {round}: {gpus} GPUs");
        assert_eq!(cores, 8000, "round {round}: the project may have more, and waits");
    }
    race.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_place_in_a_projects_queue_is_given_once_and_never_refused() {
    let Some(schema) = Schema::create("last_place") else { return };
    let race = Race::new(&schema, 64, machine(1, 0)).await;
    let project = &race.project("lab", Quota { tasks: Some(4), ..Quota::default() }).await;
    let cx = &race.world.cx;
    let one = |server: usize| {
        let new = vec![NewTask { name: None, spec: wants(64_000, 0) }];
        race.servers[server % SERVERS].task_submit(cx, project, new)
    };
    let mut waiting: Vec<TaskDetail> = Vec::new();
    for round in rounds() {
        let leaving = waiting.drain(..waiting.len().min(1 + round % 3)).collect::<Vec<_>>();
        let free = 4 - waiting.len();
        let kills = leaving.iter().enumerate().map(|(i, task)| {
            let server = &race.servers[(round + i) % SERVERS];
            let id = task.workload.id.to_string();
            async move { server.task_kill(cx, project, &id, None).await.unwrap() }
        });
        let (tried, killed) =
            tokio::join!(join_all((0..SERVERS * 2).map(|n| one(round + n))), join_all(kills));
        assert!(killed.iter().all(|t| t.workload.state.kind() == TaskStateKind::Killed));
        for outcome in tried {
            match outcome {
                Ok(made) => waiting.extend(made),
                Err(refused) => assert_eq!(refused.code, Code::QuotaExceeded, "{refused}"),
            }
        }
        assert!(waiting.len() <= 4, "round {round}: {} wait", waiting.len());
        assert!(waiting.len() + leaving.len() >= 4, "round {round}: {free} were free");
        // Now nobody else wants one: every place that is free can be had.
        while waiting.len() < 4 {
            waiting.extend(one(round).await.unwrap());
        }
        assert_eq!(one(round + 1).await.unwrap_err().code, Code::QuotaExceeded);
    }
    race.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_last_workload_secret_and_byte_of_a_project_is_given_once() {
    let Some(schema) = Schema::create("last_row") else { return };
    let race = Race::new(&schema, 65, machine(1, 0)).await;
    let cx = &race.world.cx;
    let limit = 4;
    for round in 0..20 {
        let quota = Quota {
            workloads: Some(limit),
            secrets: Some(limit),
            blobs: Some(Bytes::new(limit * 10)),
            ..Quota::default()
        };
        let project = &race.project(&format!("lab-{round}"), quota).await;
        let server = |n: usize| &race.servers[(round + n) % SERVERS];
        let applied = |n: usize| async move {
            let (name, spec) = (format!("w{n}").parse().unwrap(), WorkloadSpec::command(["true"]));
            let applied = server(n).workload_apply(cx, project, &name, &spec, None);
            Box::pin(applied).await.map(|_| ())
        };
        let set = |n: usize| async move {
            let (name, value) = (format!("s{n}").parse().unwrap(), SecretBytes::new(b"value"));
            server(n).secret_set(cx, project, &name, &value, false).await.map(|_| ())
        };
        let committed = |n: usize| async move {
            let (scope, bytes) = (BlobScope::Project(project.id), format!("blob {n:05}"));
            let digest = Digest::from_bytes(*blake3::hash(bytes.as_bytes()).as_bytes());
            server(n).chunk_put(scope, digest, bytes.into_bytes().into()).await?;
            let chunks = vec![ChunkRef { digest, size: 10 }];
            let (kind, label) = (BlobKind::File, String::new());
            let new = NewBlob { scope, digest, kind, label, chunks };
            server(n).blob_commit(cx, new).await.map(|_| ())
        };
        let many = SERVERS * 2;
        let workloads = join_all((0..many).map(applied)).await;
        let secrets = join_all((0..many).map(set)).await;
        let blobs = join_all((0..many).map(committed)).await;
        for outcomes in [workloads, secrets, blobs] {
            let made = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            assert_eq!(made as u64, limit, "round {round}");
            for refused in outcomes.into_iter().filter_map(Result::err) {
                assert_eq!(refused.code, Code::QuotaExceeded, "{refused}");
            }
        }
        let mut read = race.world.store.read().await.unwrap();
        let usage = read.project_usage_all().await.unwrap()[&project.id];
        assert_eq!((usage.workloads, usage.secrets, usage.blobs.get()), (limit, limit, limit * 10));
    }
    race.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_may_be_kept_of_output_is_divided_once() {
    const QUOTA: u64 = 100_000;
    let Some(schema) = Schema::create("last_log") else { return };
    let race = Race::new(&schema, 66, machine(64, 0)).await;
    let quota = Quota { logs: Some(Bytes::new(QUOTA)), ..Quota::default() };
    let project = &race.project("lab", quota).await;
    let mut nodes: Vec<Attached> = Vec::new();
    let mut granted: Vec<LogShare> = Vec::new();
    for round in 0..60_usize {
        if round % 8 == 0 {
            let agent = race.world.join(&format!("m{round}")).await;
            let hello = HelloFacts {
                agent_version: "t".into(),
                session_epoch: Generation::FIRST,
                applied_generation: Generation::ZERO,
                facts: Some(machine(64, 0)),
                heartbeat_wish: None,
                can_tell_holdings: true,
            };
            let attach = race.world.control.node_attach(agent.node_id, agent.serial(), &hello);
            let Attach::Attached(attached) = attach.await.unwrap() else { panic!("refused") };
            nodes.push(attached);
        }
        race.submit(round, project, vec![wants(10, 0); 2]).await;
        race.place_everywhere().await;
        for (number, node) in nodes.iter().enumerate() {
            let its = |share: &&LogShare| share.node_id == node.node_id;
            let Some(share) = granted.iter().find(its) else { continue };
            // Some do not answer every time.
            if (round + number) % 3 != 0 {
                let (name, bytes) = (project.name.clone(), Bytes::new(1));
                let kept = OutputKept { project: name, generation: share.generation, bytes };
                let metrics = NodeMetrics { outputs: vec![kept], ..NodeMetrics::default() };
                race.servers[0].node_heartbeat(node, Generation::ZERO, Some(metrics), None);
            }
        }
        race.servers[0].flush_leases().await.unwrap();
        let told = nodes.iter().zip(race.servers.iter().cycle());
        let told = told.map(|(node, server)| server.node_desired(node.node_id, Generation::ZERO));
        let divided = join_all(race.servers.iter().map(Control::divide_logs));
        let (told, divided) = tokio::join!(join_all(told), divided);
        assert!(told.into_iter().all(|told| told.is_ok()));
        assert!(divided.into_iter().all(|divided| divided.is_ok()));
        let mut read = race.world.store.read().await.unwrap();
        granted = read.log_share_of_project(project.id).await.unwrap();
        let held: u64 = granted.iter().map(|share| share.ceiling.get()).sum();
        assert!(held <= QUOTA, "round {round}: {held} in {granted:?}");
        assert!(granted.iter().all(|share| share.granted <= share.ceiling), "{granted:?}");
    }
    race.close().await;
}
