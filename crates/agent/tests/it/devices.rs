//! What a run holds of its node: processors, memory of a NUMA node, GPUs, its place among others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hostler_agent::AgentConfig;
use hostler_agent::output::Stream;
use hostler_agent::runner::{RecoveredState, StartRun};
use hostler_model::{
    ArrayId, Assignment, CpuSet, Facts, GangSeat, GpuHold, GpuShareSize, Hook, Hooks, NodeMetrics,
    Reservation, RunId, Span, TaskSeat, WorkloadSpec,
};
use hostler_proto::v1::{self, agent_message, server_message, stream_open};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fake::{
    Agent, Data, FakeServer, FakeSession, Installation, agent_config, assignment, soon,
};
use crate::support::{World, leftovers, order, sh, started_record, until};

const ALLOWED: &str = "grep -h Cpus_allowed_list /proc/self/status | cut -f2";

/// One of the processors that we may use ourselves.
fn a_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().rsplit([',', '-']).next().unwrap().to_owned()
}

fn on(cpus: &str, numa: Option<u32>) -> Reservation {
    Reservation { cpus: cpus.parse().unwrap(), numa, ..Reservation::default() }
}

fn holding(reservation: Reservation, spec: WorkloadSpec) -> StartRun {
    StartRun { reservation, ..order(spec) }
}

async fn output(world: &mut World, start: StartRun) -> (RunId, String) {
    let run_id = start.run_id;
    let started = world.runner.start_run(start).await.unwrap();
    assert_eq!(started.unenforced, Vec::<String>::new());
    world.exit(run_id).await;
    (run_id, world.text(run_id, Stream::Stdout).await)
}

#[tokio::test]
async fn a_run_is_bound_to_its_processors_with_all_that_belongs_to_it() {
    let mut world = World::new().await;
    let cpu = a_processor();
    let before = Hook {
        command: ["sh", "-c", ALLOWED].map(Into::into).to_vec(),
        timeout: Span::from_secs(30),
    };
    let hooks = Hooks { pre_start: Some(before), ..Hooks::default() };
    let spec = WorkloadSpec { hooks, ..sh(&format!("{ALLOWED}; sh -c '{ALLOWED}'")) };
    let (run_id, text) = output(&mut world, holding(on(&cpu, None), spec)).await;
    assert_eq!(text, format!("{cpu}\n").repeat(3));
    until("nothing is left", || leftovers(run_id).is_empty()).await;

    let (_, text) = output(&mut world, holding(Reservation::default(), sh(ALLOWED))).await;
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    assert!(own.contains(&format!("Cpus_allowed_list:\t{text}")), "the next is not bound: {text}");
}

#[tokio::test]
async fn a_cgroup_keeps_a_run_on_its_processors_where_there_is_one() {
    let mut world = World::new().await;
    let cpu = a_processor();
    let start = holding(on(&cpu, Some(0)), sh("exec sleep 1000"));
    let run_id = start.run_id;
    let started = world.runner.start_run(start).await.unwrap();
    let record = started_record(&world.run_dir(run_id));
    let old = record["cgroups_old"].as_array().cloned().unwrap_or_default();
    let dirs: Vec<_> = old.iter().chain([&record["cgroup"]]).filter_map(Value::as_str).collect();
    let read = |file: &str| {
        let files = dirs.iter().map(|dir| PathBuf::from(dir).join(file));
        files.filter_map(|file| std::fs::read_to_string(file).ok()).next()
    };
    match read("cpuset.cpus") {
        Some(cpus) => {
            assert_eq!(cpus.trim(), cpu);
            assert_eq!(read("cpuset.mems").unwrap().trim(), "0");
        }
        None => println!("skipped: this machine has no cpuset controller"),
    }
    let recovered = world.agent_dies().await;
    assert_eq!(recovered[0].state, RecoveredState::Live(started));
    world.kill(run_id).await;
    until("nothing is left", || leftovers(run_id).is_empty()).await;
}

#[tokio::test]
async fn processors_are_bound_without_cgroups_too() {
    let Some(mut world) = World::without_cgroups().await else { return };
    let cpu = a_processor();
    let (_, text) = output(&mut world, holding(on(&cpu, None), sh(ALLOWED))).await;
    assert_eq!(text, format!("{cpu}\n"));
}

#[tokio::test]
async fn a_run_has_processors_and_memory_of_its_numa_node() {
    let Ok(cpus) = std::fs::read_to_string("/sys/devices/system/node/node0/cpulist") else {
        println!("skipped: this machine tells of no NUMA nodes");
        return;
    };
    let mut world = World::new().await;
    let script = format!("{ALLOWED}; grep -c -m1 bind:0 /proc/self/numa_maps");
    let start = holding(on("", Some(0)), sh(&script));
    let run_id = start.run_id;
    let started = world.runner.start_run(start).await.unwrap();
    world.exit(run_id).await;
    let text = world.text(run_id, Stream::Stdout).await;
    assert!(text.starts_with(&cpus), "{text}");
    if started.unenforced.is_empty() && Path::new("/proc/self/numa_maps").exists() {
        assert_eq!(text, format!("{cpus}1\n"));
    }
}

/// What a process may use.
fn allowed(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_default().trim().to_owned()
}

#[tokio::test]
async fn what_shares_processors_makes_room_for_an_owner_and_comes_back() {
    let mut world = World::new().await;
    let all = allowed(std::process::id());
    if all.parse::<CpuSet>().unwrap().len() < 2 {
        println!("skipped: there is one processor to share");
        return;
    }
    let cpu = a_processor();
    let mut rest: CpuSet = all.parse().unwrap();
    rest.remove_all(&cpu.parse().unwrap());
    let rest = rest.to_string();
    let (shared, started) = world.start(sh("exec sleep 1000")).await.unwrap();
    assert_eq!(allowed(started.pid), all);

    let start = holding(on(&cpu, None), sh("exec sleep 1000"));
    let owner = start.run_id;
    let own = world.runner.start_run(start).await.unwrap();
    assert_eq!(allowed(own.pid), cpu);
    until("there is room", || allowed(started.pid) == rest).await;
    let (late, late_started) = world.start(sh("sleep 1000 & wait")).await.unwrap();
    until("the later one is kept off", || allowed(late_started.pid) == rest).await;

    world.agent_dies().await;
    assert_eq!((allowed(started.pid), allowed(own.pid)), (rest.clone(), cpu.clone()));
    let (later, later_started) = world.start(sh("exec sleep 1000")).await.unwrap();
    until("another agent keeps it off", || allowed(later_started.pid) == rest).await;
    world.kill(owner).await;
    for pid in [started.pid, late_started.pid, later_started.pid] {
        until("it is back", || allowed(pid) == all).await;
    }
    for run in [shared, late, later] {
        world.kill(run).await;
    }
}

#[tokio::test]
async fn processors_that_are_not_there_are_told_and_do_no_harm() {
    let mut world = World::new().await;
    let start = holding(on("1000", None), sh("echo ran"));
    let run_id = start.run_id;
    let started = world.runner.start_run(start).await.unwrap();
    assert!(started.unenforced[0].starts_with("cpus: this node refuses 1000"), "{started:?}");
    assert_eq!(world.exit(run_id).await.exit.code, Some(0));
    assert_eq!(world.text(run_id, Stream::Stdout).await, "ran\n");
}

/// An agent whose machine has the GPUs of a file.
struct Simulated {
    data: Data,
    file: PathBuf,
    _installation: Installation,
    server: FakeServer,
    agent: Option<Agent>,
}

impl Simulated {
    async fn new(gpus: Value) -> Simulated {
        let data = Data::new();
        let installation = Installation::new();
        let server = FakeServer::start(&installation).await;
        installation.join(data.path(), std::slice::from_ref(&server.address));
        let file = data.path().join("gpus.json");
        let mut world = Simulated { data, file, _installation: installation, server, agent: None };
        world.change(gpus);
        world.agent = Some(world.start());
        world
    }

    fn start(&self) -> Agent {
        let simulated_gpus = Some(self.file.clone());
        Agent::start_with(AgentConfig { simulated_gpus, ..agent_config(self.data.path()) })
    }

    fn change(&self, gpus: Value) {
        let temporary = self.file.with_extension("new");
        let text = json!({ "driver": "simulated 1.0", "gpus": gpus }).to_string();
        std::fs::write(&temporary, text).unwrap();
        std::fs::rename(temporary, &self.file).unwrap();
    }

    /// Runs it and reads the environment that it had.
    async fn environment(
        &self,
        session: &mut FakeSession,
        generation: u64,
        change: impl FnOnce(&mut Assignment),
    ) -> BTreeMap<String, String> {
        let file = self.data.path().join(format!("env-{generation}"));
        let mut assigned = assignment(generation, sh(&format!("env > {}", file.display())));
        change(&mut assigned);
        let run = assigned.run_id.unwrap();
        session.desire(generation - 1, generation, &[assigned]).await;
        let report = session.exited(run).await;
        session.ack(&report).await;
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }
}

fn hold(index: u32, millis: u16) -> GpuHold {
    GpuHold { index, share: GpuShareSize::from_millis(millis) }
}

fn facts(text: &str) -> Facts {
    serde_json::from_str(text).unwrap()
}

fn troubles(facts: &Facts) -> Vec<Option<&str>> {
    facts.gpus.iter().map(|gpu| gpu.trouble.as_deref()).collect()
}

async fn told(session: &mut FakeSession) -> Facts {
    loop {
        if let agent_message::Body::FactsChanged(changed) = session.next().await {
            return facts(&changed.facts_json);
        }
    }
}

/// What `hostler node reload` asks.
async fn looked_anew(session: &mut FakeSession) -> Facts {
    let what = Some(stream_open::What::Facts(v1::FactsRequest {}));
    let open = v1::StreamOpen { stream_id: 7, what, window: 1 << 20 };
    session.say(server_message::Body::StreamOpen(open)).await;
    loop {
        if let agent_message::Body::StreamData(data) = session.next().await {
            return facts(std::str::from_utf8(&data.frames[0].data).unwrap());
        }
    }
}

#[tokio::test]
async fn a_run_is_told_what_it_holds() {
    let mut world = Simulated::new(json!([
        { "model": "simulated A100", "uuid": "GPU-zero" },
        { "model": "simulated A100", "uuid": "GPU-one" },
    ]))
    .await;
    let mut session = world.server.session().await;
    let env = world
        .environment(&mut session, 1, |assigned| {
            assigned.reservation.gpus = vec![hold(1, 1000), hold(0, 1000)];
            assigned.spec.env.insert("CUDA_VISIBLE_DEVICES".into(), "5".into());
            assigned.seat =
                Some(TaskSeat { array: ArrayId::from_uuid(Uuid::from_u128(3)), index: 17 });
        })
        .await;
    assert_eq!(env["CUDA_VISIBLE_DEVICES"], "GPU-one,GPU-zero");
    assert_eq!((env["HOSTLER_GPUS"].as_str(), env.get("HOSTLER_GPU_SHARE")), ("1,0", None));
    assert_eq!(env["HOSTLER_ARRAY_INDEX"], "17");
    assert_eq!(env["HOSTLER_ARRAY"], Uuid::from_u128(3).to_string());

    let env = world
        .environment(&mut session, 2, |assigned| {
            assigned.reservation.gpus = vec![hold(1, 250)];
            assigned.reservation.gang = Some(GangSeat {
                rank: 1,
                size: 2,
                nodes: vec!["alpha".into(), "beta".into()],
                addresses: vec!["10.0.0.1".into(), "10.0.0.2".into()],
            });
        })
        .await;
    assert_eq!((env["HOSTLER_GPUS"].as_str(), env["HOSTLER_GPU_SHARE"].as_str()), ("1", "0.25"));
    assert_eq!((env["RANK"].as_str(), env["WORLD_SIZE"].as_str()), ("1", "2"));
    assert_eq!((env["MASTER_ADDR"].as_str(), env["MASTER_PORT"].as_str()), ("10.0.0.1", "29400"));
    assert_eq!(env["HOSTLER_ADDRESSES"], "10.0.0.1,10.0.0.2");

    let env = world.environment(&mut session, 3, |_| {}).await;
    assert_eq!(env["CUDA_VISIBLE_DEVICES"], "", "it holds none");
    assert!(!env.contains_key("HOSTLER_GPUS") && !env.contains_key("RANK"));
}

#[tokio::test]
async fn gpus_are_facts_and_are_measured() {
    let mut world = Simulated::new(json!([{
        "model": "simulated H100", "memory": "80GiB", "numa": 0,
        "utilisation": 0.25, "memoryUsed": "1GiB", "temperature": 55, "power": 300,
    }]))
    .await;
    let session = world.server.session().await;
    let known = facts(&session.hello.facts_json);
    let gpu = &known.gpus[0];
    assert_eq!((gpu.model.as_str(), gpu.numa, &gpu.trouble), ("simulated H100", Some(0), &None));
    assert_eq!((gpu.driver.as_str(), gpu.memory.get()), ("simulated 1.0", 80 << 30));
    let measured = || {
        let text = session.metrics.lock().unwrap().clone();
        serde_json::from_str::<NodeMetrics>(&text).map(|metrics| metrics.gpus).unwrap_or_default()
    };
    until("it is measured", || !measured().is_empty()).await;
    let metrics = measured().remove(0);
    assert_eq!((metrics.utilisation, metrics.temperature), (Some(0.25), Some(55.0)));
    assert_eq!((metrics.power, metrics.memory_used.get()), (Some(300.0), 1 << 30));
    let agent = world.agent.take().unwrap();
    soon("the agent to stop", agent.stop()).await.unwrap();
}

#[tokio::test]
async fn a_failing_gpu_is_told_at_once_and_given_another_chance_when_asked() {
    let gpus = |xids: &[u64]| json!([{ "model": "simulated A" }, { "model": "simulated B", "xids": xids }]);
    let mut world = Simulated::new(gpus(&[79])).await;
    let mut session = world.server.session().await;
    assert_eq!(troubles(&facts(&session.hello.facts_json)), [None, None], "that was before");

    world.change(gpus(&[79, 13, 48]));
    let changed = told(&mut session).await;
    let trouble = "Xid 48: uncorrectable memory error";
    assert_eq!(troubles(&changed), [None, Some(trouble)]);
    assert!(!changed.hostname.is_empty(), "the rest of the machine is told too");

    session.say(server_message::Body::Goodbye(v1::Goodbye {})).await;
    let mut session = world.server.session().await;
    assert_eq!(troubles(&facts(&session.hello.facts_json)), [None, Some(trouble)]);

    assert_eq!(troubles(&looked_anew(&mut session).await), [None, None]);
    world.change(gpus(&[79, 13, 48, 48]));
    let changed = loop {
        let changed = told(&mut session).await;
        if troubles(&changed) != [None, None] {
            break changed;
        }
    };
    assert_eq!(troubles(&changed), [None, Some(trouble)], "it failed again");

    soon("the agent to stop", world.agent.take().unwrap().stop()).await.unwrap();
    world.agent = Some(world.start());
    let session = world.server.session().await;
    assert_eq!(troubles(&facts(&session.hello.facts_json)), [None, None], "a new beginning");
}
