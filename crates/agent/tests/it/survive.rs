//! What must not matter: the death of executor, agent and shims, and a full disk.

use std::io::Write;
use std::time::Duration;

use hostler_agent::output::{Item, Limits, Start, Stream, Streams};
use hostler_agent::runner::{RecoveredState, StartError, Started};
use hostler_model::{ExitReason, RunId};

use crate::support::{
    World, bytes, comm, config, executor_pid, find_executor, is_root, is_running, kill, leftovers,
    order, parent, sh, started_record, stat, until,
};

fn waits_for(file: &std::path::Path, then: &str) -> String {
    format!("while [ ! -e {} ]; do sleep 0.02; done; {then}", file.display())
}

#[tokio::test]
async fn the_death_of_the_executor_is_invisible_to_runs() {
    let mut world = World::new().await;
    let go = world.data.join("go");
    let mut runs = Vec::new();
    for code in 0..20 {
        runs.push((code, world.start_sh(&waits_for(&go, &format!("exit {code}"))).await));
    }
    for _ in 0..3 {
        kill(executor_pid(&world.data).await, 9);
        assert_eq!(world.run_sh("exit 33").await.exit.code, Some(33));
    }
    for (_, (_, started)) in &runs {
        assert!(is_running(started.pid));
        assert_eq!(comm(parent(started.pid)), "hostler-shim");
    }
    std::fs::write(&go, "").unwrap();
    for (code, (run_id, started)) in runs {
        let news = world.exit(run_id).await;
        assert_eq!(news.exit.code, Some(code));
        assert_eq!(news.started, Some(started));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starts_under_way_when_the_executor_dies_happen_exactly_once() {
    let mut world = World::new().await;
    let log = world.data.join("log");
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..60 {
        let runner = world.runner.clone();
        let order = order(sh(&format!("echo $HOSTLER_RUN >> {}", log.display())));
        starts.spawn(async move { (order.run_id, runner.start_run(order).await) });
    }
    let killer = async {
        for _ in 0..5 {
            if let Some(pid) = find_executor(&world.data) {
                kill(pid, 9);
            }
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    let (results, ()) = tokio::join!(starts.join_all(), killer);
    let mut expected = Vec::new();
    for (run_id, result) in results {
        result.unwrap();
        assert_eq!(world.exit(run_id).await.exit.code, Some(0));
        expected.push(run_id.to_string());
    }
    let mut ran: Vec<_> =
        std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    ran.sort();
    expected.sort();
    assert_eq!(ran, expected);
}

#[tokio::test]
async fn a_new_agent_finds_what_lives_and_what_ended_meanwhile() {
    let mut world = World::new().await;
    let (go_first, go_last) = (world.data.join("first"), world.data.join("last"));
    let mut early = Vec::new();
    let mut late = Vec::new();
    for code in 10..15 {
        early.push((
            code,
            world.start_sh(&waits_for(&go_first, &format!("echo {code}; exit {code}"))).await,
        ));
        late.push((
            code,
            world.start_sh(&waits_for(&go_last, &format!("echo {code}; exit {code}"))).await,
        ));
    }
    let (killed, _) = world.start_sh(&waits_for(&go_first, "kill -11 $$; read x")).await;

    kill(executor_pid(&world.data).await, 9);
    world.exits.close();
    world.runner.clone().detach().await;
    std::fs::write(&go_first, "").unwrap();
    for (_, (run_id, _)) in &early {
        let exit = world.run_dir(*run_id).join("exit.json");
        until("it ended while nobody looked", || exit.exists()).await;
    }
    let crash = world.run_dir(killed).join("exit.json");
    until("it crashed while nobody looked", || crash.exists()).await;

    let recovered = world.agent_dies_quietly().await;
    assert_eq!(recovered.len(), 11);
    let state =
        |run_id: RunId| recovered.iter().find(|r| r.run_id == run_id).unwrap().state.clone();
    for (code, (run_id, started)) in &early {
        let RecoveredState::Exited { exit, started: was } = state(*run_id) else {
            panic!("{:?}", state(*run_id));
        };
        assert_eq!((exit.reason, exit.code), (ExitReason::Exited, Some(*code)));
        assert_eq!(was.as_ref(), Some(started));
        assert_eq!(world.text(*run_id, Stream::Stdout).await, format!("{code}\n"));
    }
    let RecoveredState::Exited { exit, .. } = state(killed) else {
        panic!("{:?}", state(killed));
    };
    assert_eq!(exit.signal, Some(11));
    for (_, (run_id, started)) in &late {
        assert_eq!(state(*run_id), RecoveredState::Live(started.clone()));
        let again = world
            .runner
            .start_run(hostler_agent::runner::StartRun { run_id: *run_id, ..order(sh("true")) });
        assert!(matches!(again.await, Err(StartError::AlreadyStarted(_))));
    }
    std::fs::write(&go_last, "").unwrap();
    for (code, (run_id, started)) in late {
        let news = world.exit(run_id).await;
        assert_eq!(news.exit.code, Some(code));
        assert_eq!(news.started, Some(started));
        assert_eq!(world.text(run_id, Stream::Stdout).await, format!("{code}\n"));
        world.runner.forget(run_id).await.unwrap();
        assert!(!world.run_dir(run_id).exists());
    }
}

#[tokio::test]
async fn agents_may_die_again_and_again() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    for _ in 0..5 {
        let recovered = world.agent_dies().await;
        assert_eq!(recovered.len(), 1);
        assert_eq!(recovered[0].state, RecoveredState::Live(started.clone()));
        assert!(matches!(
            world.runner.forget(run_id).await,
            Err(hostler_agent::runner::ForgetError::Running(_))
        ));
    }
    assert_eq!(world.kill(run_id).await.exit.reason, ExitReason::Stopped);
}

#[tokio::test]
async fn a_shim_that_does_not_answer_is_waited_for() {
    let mut world = World::new().await;
    let go = world.data.join("go");
    let (run_id, started) = world.start_sh(&waits_for(&go, "exit 6")).await;
    let shim = parent(started.pid);
    kill(shim, 19);
    let recovered = world.agent_dies().await;
    assert_eq!(recovered[0].state, RecoveredState::Live(started.clone()));
    std::fs::write(&go, "").unwrap();
    kill(shim, 18);
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.code, news.started), (Some(6), Some(started)));
}

#[tokio::test]
async fn a_run_is_never_started_twice() {
    let mut world = World::new().await;
    let order = order(sh("echo once"));
    let run_id = order.run_id;
    let both =
        tokio::join!(world.runner.start_run(order.clone()), world.runner.start_run(order.clone()));
    assert!(both.0.is_ok() != both.1.is_ok(), "{both:?}");
    world.exit(run_id).await;
    for _ in 0..3 {
        let again = world.runner.start_run(order.clone()).await;
        assert!(matches!(again, Err(StartError::AlreadyStarted(id)) if id == run_id), "{again:?}");
    }
    world.agent_dies().await;
    let again = world.runner.start_run(order.clone()).await;
    assert!(matches!(again, Err(StartError::AlreadyStarted(_))), "{again:?}");
    assert_eq!(world.text(run_id, Stream::Stdout).await, "once\n");
}

#[tokio::test]
async fn a_run_that_was_only_prepared_may_be_started() {
    let mut world = World::new().await;
    let order = order(sh("exit 3"));
    let run_id = order.run_id;
    world.runner.start_run(order.clone()).await.unwrap();
    world.exit(run_id).await;
    let dir = world.run_dir(run_id);
    for name in ["started.json", "exit.json"] {
        std::fs::remove_file(dir.join(name)).unwrap();
    }
    let recovered = world.agent_dies().await;
    assert_eq!(recovered[0].state, RecoveredState::NeverStarted);
    world.runner.start_run(order).await.unwrap();
    assert_eq!(world.exit(run_id).await.exit.code, Some(3));

    for name in ["started.json", "exit.json"] {
        std::fs::remove_file(dir.join(name)).unwrap();
    }
    let spec = std::fs::read_to_string(dir.join("spec.json")).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    std::fs::write(dir.join("spec.json"), spec.replace(boot.trim(), "another-boot")).unwrap();
    let recovered = world.agent_dies().await;
    let RecoveredState::Exited { exit, .. } = &recovered[0].state else {
        panic!("{recovered:?}");
    };
    assert_eq!(exit.reason, ExitReason::Vanished);
}

#[tokio::test]
async fn when_a_shim_is_killed_its_run_is_ended_and_reported() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("sleep 1000 & exec sleep 1000").await;
    kill(parent(started.pid), 9);
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Vanished);
    assert_eq!(news.started.as_ref(), Some(&started));
    assert!(!is_running(started.pid));

    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let shim = parent(started.pid);
    world.exits.close();
    world.runner.clone().detach().await;
    kill(shim, 9);
    until("the shim is gone", || stat(shim).is_none_or(|f| f[0] == "Z")).await;
    let recovered = world.agent_dies_quietly().await;
    let found = recovered.iter().find(|r| r.run_id == run_id).unwrap();
    let RecoveredState::Exited { exit, started: was } = &found.state else {
        panic!("{found:?}");
    };
    assert_eq!(exit.reason, ExitReason::Vanished);
    assert_eq!(was.as_ref(), Some(&started));
    until("the program is gone", || !is_running(started.pid)).await;
}

/// Starts a run whose daemonised grandchildren write their numbers into a file.
async fn start_daemons(world: &World, name: &str) -> (RunId, Started, Vec<u32>) {
    let file = world.data.join(name);
    let script = format!(
        "setsid sh -c 'setsid sleep 1000 & echo $! >> {0}; sleep 1000 & echo $! >> {0}; exit' & \
         sleep 1000 & echo $! >> {0}; exec sleep 1000",
        file.display()
    );
    let (run_id, started) = world.start_sh(&script).await;
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    until("all of them run", || read().lines().count() == 3).await;
    let pids = read().lines().map(|line| line.parse().unwrap()).collect();
    (run_id, started, pids)
}

#[tokio::test]
async fn when_a_shim_is_killed_its_daemonised_grandchildren_go_too() {
    let mut world = World::new().await;
    let (run_id, started, pids) = start_daemons(&world, "attended").await;
    kill(parent(started.pid), 9);
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Vanished);
    let message = news.exit.message.unwrap();
    assert!(message.contains("processes that were left of it have been ended"), "{message}");
    for pid in pids.into_iter().chain([started.pid]) {
        assert!(!is_running(pid));
    }
    assert!(leftovers(run_id).is_empty());
}

#[tokio::test]
async fn without_a_cgroup_they_are_found_by_their_mark() {
    let mut world = World::new().await;
    let (run_id, started, pids) = start_daemons(&world, "marked").await;
    let dir = world.run_dir(run_id);
    let mut record = started_record(&dir);
    record["cgroup"] = serde_json::Value::Null;
    let shim = parent(started.pid);
    world.exits.close();
    world.runner.clone().detach().await;
    kill(shim, 9);
    until("the shim is gone", || !is_running(shim)).await;
    std::fs::write(dir.join("started.json"), record.to_string()).unwrap();
    let recovered = world.agent_dies_quietly().await;
    let RecoveredState::Exited { exit, .. } = &recovered[0].state else {
        panic!("{recovered:?}");
    };
    assert_eq!(exit.reason, ExitReason::Vanished);
    for pid in pids.into_iter().chain([started.pid]) {
        assert!(!is_running(pid));
    }
    for empty in leftovers(run_id) {
        std::fs::remove_dir(empty).unwrap();
    }
}

#[tokio::test]
async fn a_program_that_daemonises_is_over_when_its_main_process_is() {
    let mut world = World::new().await;
    let file = world.data.join("pids");
    let script = format!(
        "for i in 1 2; do setsid sleep 1000 >/dev/null 2>&1 & echo $! >> {}; done; exit 0",
        file.display()
    );
    let news = world.run_sh(&script).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(0)));
    assert_eq!(news.exit.message.as_deref(), Some("left 2 processes behind, which were ended"));
    let pids = std::fs::read_to_string(&file).unwrap();
    for pid in pids.lines() {
        assert!(!is_running(pid.parse().unwrap()));
    }
    assert_eq!(world.run_sh("exit 0").await.exit.message, None);
    until("nothing is left", || leftovers(news.run_id).is_empty()).await;
}

#[tokio::test]
async fn after_a_reboot_nobody_with_the_same_number_is_touched() {
    let mut world = World::new().await;
    let (stranger, started) = world.start_sh("exec sleep 1000").await;
    let ended = world.run_sh("true").await.run_id;
    let dir = world.run_dir(ended);
    let mut record = started_record(&world.run_dir(stranger));
    let write = |record: &serde_json::Value| {
        let _ = std::fs::remove_file(dir.join("exit.json"));
        std::fs::write(dir.join("started.json"), record.to_string()).unwrap();
    };
    record["cgroup"] = serde_json::Value::Null;
    for (field, value) in [("start_ticks", 1.into()), ("boot_id", "another-boot".into())] {
        let mut changed = record.clone();
        changed[field] = value;
        write(&changed);
        let recovered = world.agent_dies().await;
        let found = recovered.iter().find(|r| r.run_id == ended).unwrap();
        let RecoveredState::Exited { exit, .. } = &found.state else {
            panic!("{found:?}");
        };
        assert_eq!(exit.reason, ExitReason::Vanished);
        assert!(is_running(started.pid));
    }
    world.kill(stranger).await;
}

#[tokio::test]
async fn shims_shrug_off_what_is_sent_to_process_groups() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let (shim, executor) = (parent(started.pid), executor_pid(&world.data).await);
    for signal in [1, 2, 15] {
        kill(shim, signal);
        kill(executor, signal);
    }
    assert_eq!(world.run_sh("exit 2").await.exit.code, Some(2));
    assert_eq!(executor_pid(&world.data).await, executor);
    assert!(is_running(shim) && is_running(started.pid));
    world.kill(run_id).await;
}

#[tokio::test]
async fn the_executor_goes_with_its_agent_and_only_one_agent_fits() {
    let world = World::new().await;
    let executor = executor_pid(&world.data).await;
    let data = world.data.clone();
    let second = tokio::time::timeout(
        Duration::from_millis(300),
        hostler_agent::runner::Runner::start(config(&data, Limits::default())),
    );
    assert!(second.await.is_err(), "a second agent must wait");
    drop(world.runner.clone());
    let keep = world;
    keep.runner.clone().detach().await;
    until("the executor is gone", || !is_running(executor)).await;
}

/// A small file system of its own.
pub struct SmallDisk(pub tempfile::TempDir);

impl SmallDisk {
    pub fn new() -> Option<SmallDisk> {
        use rustix::mount::{MountFlags, mount};
        let dir = tempfile::tempdir().unwrap();
        let made = mount("tmpfs", dir.path(), "tmpfs", MountFlags::empty(), c"size=1m");
        if !is_root() || made.is_err() {
            println!("skipped: a small tmpfs cannot be mounted");
            return None;
        }
        Some(SmallDisk(dir))
    }

    pub fn fill(&self) -> std::path::PathBuf {
        let path = self.0.path().join("ballast");
        let mut file = std::fs::File::create(&path).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        while file.write_all(&[7; 1]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0.path().join("ballast"));
        let _ = rustix::mount::unmount(self.0.path(), rustix::mount::UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn a_full_disk_harms_no_run_and_loses_no_exit() {
    let Some(disk) = SmallDisk::new() else { return };
    let outside = tempfile::tempdir().unwrap();
    let [go, said, more] = ["go", "said", "more"].map(|name| outside.path().join(name));
    let mut world = World::at(&disk.0.path().join("data"), Limits::default()).await;
    let script = format!(
        "echo before; {} head -c 3000000 /dev/zero; touch {}; {} echo after; exit 7",
        waits_for(&go, ""),
        said.display(),
        waits_for(&more, "")
    );
    let (talker, _) = world.start_sh(&script).await;
    let (quiet, _) = world.start_sh(&waits_for(&go, "exit 8")).await;
    let (later, later_started) = world.start_sh(&waits_for(&go, "exit 9")).await;
    let out = world.run_dir(talker).join("out.000001");
    until("it has spoken", || out.metadata().is_ok_and(|m| m.len() > 16)).await;
    let ballast = disk.fill();
    let refused = world.start(sh("true")).await;
    assert!(matches!(refused, Err(StartError::Prepare(_) | StartError::Refused(_))), "{refused:?}");

    std::fs::write(&go, "").unwrap();
    assert_eq!(world.exit(quiet).await.exit.code, Some(8));
    assert!(!world.run_dir(quiet).join("exit.json").exists());
    assert_eq!(world.exit(later).await.exit.code, Some(9));
    world.agent_is_replaced().await;
    assert_eq!(
        world.runner.recover_one(later).await.unwrap(),
        Some(RecoveredState::Live(later_started))
    );
    assert_eq!(world.exit(later).await.exit.code, Some(9));
    assert!(world.runner.recover_one(quiet).await.unwrap().is_some());
    assert_eq!(world.exit(quiet).await.exit.code, Some(8));
    world.runner.forget(quiet).await.unwrap();
    assert!(!world.run_dir(quiet).exists());
    assert!(matches!(
        world.runner.recover_one(talker).await.unwrap(),
        Some(RecoveredState::Live(_))
    ));

    until("it has said much", || said.exists()).await;
    std::fs::remove_file(ballast).unwrap();
    std::fs::write(&more, "").unwrap();
    assert_eq!(world.exit(talker).await.exit.code, Some(7));
    let items = world.items(talker, Start::Beginning, Streams::Both).await;
    let text = bytes(&items);
    assert!(text.starts_with(b"before\n"));
    assert!(text.ends_with(b"after\n"));
    let missing: u64 = items
        .iter()
        .filter_map(|item| match item {
            Item::Gap { bytes } => *bytes,
            Item::Output(_) => None,
        })
        .sum();
    assert_eq!(missing + text.len() as u64, 3_000_000 + 13);
    assert!(missing > 1_500_000, "{missing}");
    let saved = world.run_dir(later).join("exit.json");
    until("the exit is written when there is room", || saved.exists()).await;
}
