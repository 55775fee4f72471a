//! A data directory with a runner on it, and ways to wait for things.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_agent::container::ContainerConfig;
use hostler_agent::output::{Batch, Item, Limits, Start, Stream, Streams};
use hostler_agent::runner::{Config, Recovered, RunExited, Runner, StartError, StartRun, Started};
use hostler_model::{PlacementId, Reservation, RunId, Span, StopSignal, WorkloadSpec};
use tokio::sync::mpsc;

pub const DEADLINE: Duration = Duration::from_secs(30);

pub struct World {
    pub data: PathBuf,
    config: Config,
    pub runner: Runner,
    pub exits: mpsc::Receiver<RunExited>,
    seen: HashMap<RunId, RunExited>,
    pub _keep: Option<tempfile::TempDir>,
}

pub fn config(data: &Path, limits: Limits) -> Config {
    Config {
        executor: env!("CARGO_BIN_EXE_hostler-test-executor").into(),
        executor_args: vec![],
        data_dir: data.to_owned(),
        output: limits,
        containers: ContainerConfig::default(),
        content_cache: hostler_agent::runner::CONTENT_CACHE,
    }
}

impl World {
    pub async fn new() -> World {
        World::with(Limits::default()).await
    }

    pub async fn with(limits: Limits) -> World {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::at(dir.path(), limits).await;
        world._keep = Some(dir);
        world
    }

    pub async fn at(data: &Path, limits: Limits) -> World {
        World::of(config(data, limits)).await
    }

    pub async fn of(config: Config) -> World {
        let (runner, exits) = Runner::start(config.clone()).await.unwrap();
        World {
            data: config.data_dir.clone(),
            config,
            runner,
            exits,
            seen: HashMap::new(),
            _keep: None,
        }
    }

    /// A world whose executor, and all it starts, sees no cgroups. Only root can make one.
    #[expect(clippy::disallowed_methods, reason = "asks whether this machine lets us")]
    pub async fn without_cgroups() -> Option<World> {
        let dir = tempfile::tempdir().unwrap();
        let plain = config(dir.path(), Limits::default());
        let hide = "umount -R -l /sys/fs/cgroup && exec \"$0\" \"$@\"";
        let mut tried = std::process::Command::new("unshare");
        tried.args(["--mount", "umount", "-R", "-l", "/sys/fs/cgroup"]);
        if !is_root() || !tried.status().is_ok_and(|status| status.success()) {
            println!("skipped: cgroups cannot be hidden");
            return None;
        }
        let mut args: Vec<_> = ["--mount", "sh", "-c", hide].into_iter().map(Into::into).collect();
        args.push(plain.executor.clone().into_os_string());
        let config = Config { executor: "unshare".into(), executor_args: args, ..plain };
        let mut world = World::of(config).await;
        world._keep = Some(dir);
        Some(world)
    }

    /// Agent and executor die, and another agent begins.
    pub async fn agent_dies(&mut self) -> Vec<Recovered> {
        kill(executor_pid(&self.data).await, 9);
        self.agent_dies_quietly().await
    }

    pub async fn agent_dies_quietly(&mut self) -> Vec<Recovered> {
        self.agent_is_replaced().await;
        self.runner.recover().await.unwrap()
    }

    /// Another agent begins, without looking around yet.
    pub async fn agent_is_replaced(&mut self) {
        self.exits.close();
        self.runner.clone().detach().await;
        let (runner, exits) = Runner::start(self.config.clone()).await.unwrap();
        self.runner = runner;
        self.exits = exits;
        self.seen.clear();
    }

    pub async fn start(&self, spec: WorkloadSpec) -> Result<(RunId, Started), StartError> {
        let order = order(spec);
        let run_id = order.run_id;
        let started = self.runner.start_run(order).await?;
        Ok((run_id, started))
    }

    pub async fn start_sh(&self, script: &str) -> (RunId, Started) {
        self.start(sh(script)).await.unwrap()
    }

    /// The exit of one run; those of others are kept for later.
    pub async fn exit(&mut self, run_id: RunId) -> RunExited {
        let found = tokio::time::timeout(DEADLINE, async {
            loop {
                if let Some(exit) = self.seen.remove(&run_id) {
                    return exit;
                }
                let news = self.exits.recv().await.expect("the runner lives");
                self.seen.insert(news.run_id, news);
            }
        });
        found.await.expect("the run ends in time")
    }

    pub async fn run(&mut self, spec: WorkloadSpec) -> RunExited {
        let (run_id, _) = self.start(spec).await.unwrap();
        self.exit(run_id).await
    }

    pub async fn run_sh(&mut self, script: &str) -> RunExited {
        self.run(sh(script)).await
    }

    /// Everything a stream of an ended run says.
    pub async fn text(&self, run_id: RunId, stream: Stream) -> String {
        let items = self.items(run_id, Start::Beginning, Streams::Only(stream)).await;
        String::from_utf8(bytes(&items)).unwrap()
    }

    pub async fn items(&self, run_id: RunId, start: Start, streams: Streams) -> Vec<Item> {
        let mut follower = self.runner.follow(run_id, start, streams);
        let mut items = Vec::new();
        let all = async {
            while let Some(Batch { items: more, .. }) = follower.next().await.unwrap() {
                items.extend(more);
            }
        };
        tokio::time::timeout(DEADLINE, all).await.expect("the output ends");
        items
    }

    pub async fn kill(&mut self, run_id: RunId) -> RunExited {
        self.runner.stop(run_id, StopSignal::Kill, Span::from_secs(0)).await.unwrap();
        self.exit(run_id).await
    }

    pub fn run_dir(&self, run_id: RunId) -> PathBuf {
        self.runner.run_dir(run_id)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(self.data.join("runs")).into_iter().flatten().flatten() {
            let Ok(text) = std::fs::read_to_string(entry.path().join("started.json")) else {
                continue;
            };
            if entry.path().join("exit.json").exists() {
                continue;
            }
            let record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(path) = record["cgroup"].as_str() {
                let _ = std::fs::write(Path::new(path).join("cgroup.kill"), "1");
            }
        }
    }
}

pub fn sh(script: &str) -> WorkloadSpec {
    WorkloadSpec::command(["sh", "-c", script])
}

pub fn order(spec: WorkloadSpec) -> StartRun {
    StartRun {
        run_id: RunId::from_uuid(uuid::Uuid::new_v4()),
        placement_id: PlacementId::from_uuid(uuid::Uuid::new_v4()),
        spec,
        task: "a-task".parse().unwrap(),
        project: "a-project".parse().unwrap(),
        node: "a-node".parse().unwrap(),
        env: BTreeMap::new(),
        reservation: Reservation::default(),
    }
}

pub fn bytes(items: &[Item]) -> Vec<u8> {
    let frames = items.iter().filter_map(|item| match item {
        Item::Output(frame) => Some(frame.bytes.as_slice()),
        Item::Gap { .. } => None,
    });
    frames.collect::<Vec<_>>().concat()
}

/// Waits for a condition.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, wait).await;
    assert!(waited.is_ok(), "in vain waited until {what}");
}

pub fn kill(pid: u32, signal: i32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

/// Alive and not a zombie.
pub fn is_running(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z")
}

/// The fields of `/proc/PID/stat` after the name: state, parent, …
pub fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

pub fn parent(pid: u32) -> u32 {
    stat(pid).unwrap()[1].parse().unwrap()
}

pub fn comm(pid: u32) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    text.trim().to_owned()
}

/// The executor that holds the data directory's lock; one that died is replaced soon.
pub async fn executor_pid(data: &Path) -> u32 {
    let mut found = None;
    until("an executor runs", || {
        found = find_executor(data);
        found.is_some()
    })
    .await;
    found.unwrap()
}

pub fn find_executor(data: &Path) -> Option<u32> {
    pids().into_iter().find(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        comm(*pid) == "hostler-exec"
            && words.split(|b| *b == 0).any(|word| word == data.as_os_str().as_encoded_bytes())
    })
}

pub fn pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn started_record(dir: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(dir.join("started.json")).unwrap()).unwrap()
}

pub fn number(value: &serde_json::Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

/// Cgroups of a run that are still there, in whichever hierarchy.
pub fn leftovers(run_id: RunId) -> Vec<PathBuf> {
    let mounts = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
    mounts
        .map(|mount| mount.path())
        .chain(["/sys/fs/cgroup".into()])
        .map(|mount| mount.join("hostler").join(run_id.to_string()))
        .filter(|path| path.exists())
        .collect()
}
