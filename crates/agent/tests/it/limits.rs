//! Limits, groups, umask and priority, and what a run uses.

use std::path::PathBuf;
use std::time::Duration;

use hostler_agent::output::Stream;
use hostler_agent::runner::StartError;
use hostler_model::{Bytes, Cores, ExitReason, Limits, PythonEntry, RunId, WorkloadSpec};

use crate::support::{World, is_root, leftovers, order, sh, started_record, until};

fn limited(script: &str, limits: Limits) -> WorkloadSpec {
    WorkloadSpec { limits, ..sh(script) }
}

/// What the record of a run says could not be enforced.
fn unenforced(world: &World, run_id: RunId) -> Vec<String> {
    let record = started_record(&world.run_dir(run_id));
    let words = record["unenforced"].as_array().cloned().unwrap_or_default();
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Skips, with a reason, what this machine has no controller for.
fn is_unenforced(world: &World, run_id: RunId, name: &str) -> bool {
    let words = unenforced(world, run_id);
    let found = words.iter().find(|word| word.starts_with(&format!("{name}:")));
    if let Some(word) = found {
        println!("skipped: {word}");
    }
    found.is_some()
}

/// A file of the run's cgroup in whichever hierarchy has it.
fn setting(world: &World, run_id: RunId, files: &[&str]) -> Option<String> {
    let record = started_record(&world.run_dir(run_id));
    let old = record["cgroups_old"].as_array().cloned().unwrap_or_default();
    let dirs = old.iter().chain([&record["cgroup"]]).filter_map(|dir| dir.as_str());
    let files = dirs.flat_map(|dir| files.iter().map(move |file| PathBuf::from(dir).join(file)));
    files.filter_map(|file| std::fs::read_to_string(file).ok()).next()
}

#[tokio::test]
async fn a_run_that_needs_too_much_memory_is_killed_and_its_end_says_so() {
    let mut world = World::new().await;
    let limits = Limits { memory: Some(Bytes::mib(48)), ..Limits::default() };
    let hog = "exec python3 -c 'b = bytearray(200 << 20); print(len(b))'";
    let news = world.run(limited(hog, limits.clone())).await;
    if is_unenforced(&world, news.run_id, "memory") {
        return;
    }
    assert_eq!(news.exit.reason, ExitReason::OutOfMemory, "{:?}", news.exit);
    assert_eq!(news.exit.signal, Some(9));

    let child = "python3 -c 'bytearray(200 << 20)'; echo it went on; exit 3";
    let news = world.run(limited(child, limits.clone())).await;
    assert_eq!(news.exit.reason, ExitReason::OutOfMemory, "{:?}", news.exit);
    assert_eq!(news.exit.code, Some(3));
    assert_eq!(news.exit.message.as_deref(), Some("a process of it was killed for memory"));
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "it went on\n");

    let survivor = "python3 -c 'bytearray(200 << 20)'; exit 0";
    let news = world.run(limited(survivor, limits.clone())).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(0)));

    let modest = "exec python3 -c 'bytearray(8 << 20)'";
    let news = world.run(limited(modest, limits)).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(0)));
    let killed = world.run_sh("kill -9 $$").await;
    assert_eq!(killed.exit.reason, ExitReason::Exited);
    until("nothing is left", || leftovers(news.run_id).is_empty()).await;
}

#[tokio::test]
async fn every_limit_reaches_the_kernel_or_is_reported() {
    let mut world = World::new().await;
    let limits = Limits {
        memory: Some(Bytes::mib(64)),
        memory_high: Some(Bytes::mib(32)),
        cpu: Some(Cores::from_millis(500)),
        cpu_weight: Some(50),
        pids: Some(20),
        io_weight: Some(200),
        ..Limits::default()
    };
    let (run_id, started) = world.start(limited("exec sleep 1000", limits)).await.unwrap();
    assert_eq!(started.unenforced, unenforced(&world, run_id));
    let expected: [(&str, &[&str], &[&str]); 6] = [
        ("memory", &["memory.max", "memory.limit_in_bytes"], &["67108864"]),
        ("memoryHigh", &["memory.high", "memory.soft_limit_in_bytes"], &["33554432"]),
        ("cpu", &["cpu.max", "cpu.cfs_quota_us"], &["50000", "50000 100000"]),
        ("cpuWeight", &["cpu.weight", "cpu.shares"], &["50", "512"]),
        ("pids", &["pids.max"], &["20"]),
        (
            "ioWeight",
            &["io.weight", "io.bfq.weight", "blkio.bfq.weight", "blkio.weight"],
            &["default 200", "200", "1000"],
        ),
    ];
    for (name, files, values) in expected {
        if !is_unenforced(&world, run_id, name) {
            let value = setting(&world, run_id, files).unwrap();
            assert!(values.contains(&value.trim()), "{name}: {value}");
        }
    }
    let recovered = world.agent_dies().await;
    assert_eq!(recovered[0].state, hostler_agent::runner::RecoveredState::Live(started));
    world.kill(run_id).await;
    until("nothing is left", || leftovers(run_id).is_empty()).await;
}

#[tokio::test]
async fn a_run_has_no_more_processes_than_allowed() {
    let mut world = World::new().await;
    let limits = Limits { pids: Some(5), ..Limits::default() };
    let script = "for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; wait";
    let (run_id, _) = world.start(limited(script, limits)).await.unwrap();
    if is_unenforced(&world, run_id, "pids") {
        world.kill(run_id).await;
        return;
    }
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.code, Some(2), "{:?}", news.exit);
    assert!(world.text(run_id, Stream::Stderr).await.contains("fork"));
    assert!(news.exit.message.unwrap().contains("left 4 processes behind"));
}

#[tokio::test]
async fn processor_time_is_limited() {
    let mut world = World::new().await;
    let limits = Limits { cpu: Some(Cores::from_millis(100)), ..Limits::default() };
    let script = "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done";
    let (run_id, _) = world.start(limited(script, limits)).await.unwrap();
    if is_unenforced(&world, run_id, "cpu") {
        world.kill(run_id).await;
        return;
    }
    let throttled = || {
        let stat = setting(&world, run_id, &["cpu.stat"]).unwrap_or_default();
        stat.lines()
            .find_map(|line| line.strip_prefix("nr_throttled "))
            .is_some_and(|count| count != "0")
    };
    until("it was made to wait", throttled).await;
    world.kill(run_id).await;
}

#[tokio::test]
async fn files_priority_and_umask_are_as_asked() {
    let mut world = World::new().await;
    let limits = Limits { files: Some(37), nice: Some(5), ..Limits::default() };
    let spec = WorkloadSpec {
        umask: Some("027".into()),
        ..limited("ulimit -n; ulimit -Hn; nice; umask", limits)
    };
    let news = world.run(spec).await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "37\n37\n5\n0027\n");
    if is_root() {
        let limits = Limits { nice: Some(-3), ..Limits::default() };
        let news = world.run(limited("nice", limits)).await;
        assert_eq!(world.text(news.run_id, Stream::Stdout).await, "-3\n");
        let limits = Limits { files: Some(u32::MAX), ..Limits::default() };
        let Err(StartError::Failed { exit }) = world.start(limited("true", limits)).await else {
            panic!("no node allows that many files");
        };
        let message = exit.message.unwrap();
        assert!(message.contains("4294967295 open files cannot be allowed"), "{message}");
    }
}

#[tokio::test]
async fn the_group_is_the_primary_one_and_the_users_others_stay() {
    if !is_root() {
        println!("skipped: only root can change groups");
        return;
    }
    let mut world = World::new().await;
    let group = nix_group(1).unwrap_or_else(|| "daemon".to_owned());
    let spec = WorkloadSpec {
        user: Some("nobody".into()),
        group: Some(group.clone()),
        workdir: Some("/".into()),
        ..sh("id -un; id -gn")
    };
    let news = world.run(spec).await;
    let text = world.text(news.run_id, Stream::Stdout).await;
    assert_eq!(text, format!("nobody\n{group}\n"));
    let spec = WorkloadSpec { group: Some(group.clone()), ..sh("id -un; id -gn; stat -c %G .") };
    let news = world.run(spec).await;
    let text = world.text(news.run_id, Stream::Stdout).await;
    assert_eq!(text, format!("root\n{group}\n{group}\n"));
    let spec = WorkloadSpec { group: Some("no-such-group".into()), ..sh("true") };
    let Err(StartError::Failed { exit }) = world.start(spec).await else {
        panic!("there is no such group");
    };
    let message = exit.message.unwrap();
    assert!(message.contains("group `no-such-group` does not exist"), "{message}");
}

fn nix_group(gid: u32) -> Option<String> {
    let text = std::fs::read_to_string("/etc/group").ok()?;
    text.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        (fields.get(2)?.parse() == Ok(gid)).then(|| fields[0].to_owned())
    })
}

#[tokio::test]
async fn a_python_function_is_called_with_its_parameters() {
    let mut world = World::new().await;
    let dir = world.data.join("code");
    std::fs::create_dir(&dir).unwrap();
    let module = "async def run(name, times):\n    print(name * times)\n    return 4\n";
    std::fs::write(dir.join("greeter.py"), module).unwrap();
    let params = serde_json::json!({"name": "ho", "times": 2}).as_object().cloned().unwrap();
    let spec = WorkloadSpec {
        python: Some(PythonEntry {
            module: "greeter".into(),
            entry: "run".into(),
            params,
            interpreter: "python3".into(),
        }),
        workdir: Some(dir.to_string_lossy().into_owned()),
        ..WorkloadSpec::default()
    };
    let news = world.run(spec).await;
    assert_eq!(news.exit.code, Some(4));
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "hoho\n");
}

#[tokio::test]
async fn what_a_run_uses_can_be_seen() {
    let mut world = World::new().await;
    let go = world.data.join("ready");
    let script = format!(
        "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; \
         exec python3 -c 'import time; b = bytearray(64 << 20); open(\"{}\", \"w\"); time.sleep(1000)'",
        go.display()
    );
    let limits = Limits { memory: Some(Bytes::mib(256)), pids: Some(50), ..Limits::default() };
    for spec in [sh(&script), limited(&script, limits)] {
        let (run_id, _) = world.start(spec).await.unwrap();
        until("it has its memory", || go.exists()).await;
        let usage = world.runner.usage(run_id).await.unwrap();
        assert!(usage.cpu > Duration::from_millis(10), "{usage:?}");
        assert!(usage.memory >= Bytes::mib(64) && usage.memory < Bytes::mib(200), "{usage:?}");
        assert!(usage.memory_peak >= usage.memory, "{usage:?}");
        assert_eq!(usage.pids, 1, "{usage:?}");
        assert_eq!(world.runner.usages().await.len(), 1);
        world.kill(run_id).await;
        assert_eq!(world.runner.usage(run_id).await, None);
        std::fs::remove_file(&go).unwrap();
    }
    let idle = order(sh("exec sleep 1000"));
    let run_id = idle.run_id;
    world.runner.start_run(idle).await.unwrap();
    let begun = std::time::Instant::now();
    for _ in 0..100 {
        world.runner.usage(run_id).await.unwrap();
    }
    println!("usage of a run takes {:?}", begun.elapsed() / 100);
    world.kill(run_id).await;
}
