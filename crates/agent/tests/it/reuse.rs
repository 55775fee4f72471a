//! Shims that take one run after the other, and those that must not.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use hostler_agent::output::Stream;
use hostler_agent::runner::{Exec, RecoveredState, RunExited, StartRun};
use hostler_model::{ExitReason, Hook, Hooks, Limits, Span, StopSignal, WorkloadSpec};

use crate::support::{
    World, comm, find_executor, is_running, kill, number, order, parent, pids, sh, started_record,
    stat, until,
};

/// Long enough for anything that was going to happen to have happened.
const A_WHILE: Duration = Duration::from_millis(300);

fn shim_of(world: &World, news: &RunExited) -> u32 {
    number(&started_record(&world.run_dir(news.run_id))["shim_pid"])
}

/// Every shim that belongs to this data directory.
fn shims(data: &Path) -> Vec<u32> {
    let is_ours = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        comm(*pid) == "hostler-shim"
            && words.split(|b| *b == 0).any(|word| word == data.as_os_str().as_encoded_bytes())
    };
    pids().into_iter().filter(is_ours).collect()
}

/// Runs a program to its end and waits until its shim is free.
async fn leave_one_idle(world: &mut World) -> u32 {
    let news = world.run_sh("true").await;
    let shim = shim_of(world, &news);
    world.runner.forget(news.run_id).await.unwrap();
    assert!(is_running(shim));
    shim
}

#[tokio::test]
async fn one_shim_serves_many_runs_one_after_the_other() {
    let mut world = World::new().await;
    let mut seen = HashMap::new();
    for n in 0..20 {
        let news = world.run_sh(&format!("pwd; echo {n} >&2; touch mine; ls; exit {n}")).await;
        assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(n)));
        assert_eq!(world.text(news.run_id, Stream::Stderr).await, format!("{n}\n"));
        let place = world.run_dir(news.run_id).join("work");
        let said = format!("{}\nmine\n", place.display());
        assert_eq!(world.text(news.run_id, Stream::Stdout).await, said);
        *seen.entry(shim_of(&world, &news)).or_insert(0) += 1;
        world.runner.forget(news.run_id).await.unwrap();
    }
    assert!(seen.values().any(|count| *count >= 10), "{seen:?}");
}

#[tokio::test]
async fn the_next_run_gets_nothing_of_the_one_before() {
    let mut world = World::new().await;
    let first = WorkloadSpec {
        env: BTreeMap::from([("SECRET".to_owned(), "x".to_owned())]),
        umask: Some("0077".to_owned()),
        workdir: Some("/usr".to_owned()),
        timeout: Some(Span::from_secs(100)),
        ..sh("ulimit -c 0; exec 7>/dev/null; pwd")
    };
    let first = world.run(first).await;
    assert_eq!(world.text(first.run_id, Stream::Stdout).await, "/usr\n");
    let shim = shim_of(&world, &first);
    let script = "echo ${SECRET:-none}; umask; ls /proc/self/fd | wc -l";
    let (run_id, started) = world.start_sh(&format!("{script}; touch said; exec sleep 1000")).await;
    assert_eq!(parent(started.pid), shim);
    let record = started_record(&world.run_dir(run_id));
    let ticks = record["start_ticks"].to_string();
    assert_eq!(stat(started.pid).unwrap()[19], ticks);
    assert_eq!(stat(started.pid).unwrap()[3], started.pid.to_string(), "a session of its own");
    let said = world.run_dir(run_id).join("work/said");
    until("it has spoken", || said.exists()).await;
    if let Some(group) = record["cgroup"].as_str() {
        until("all else has left", || members(group) == [started.pid]).await;
    }
    world.kill(run_id).await;
    let text = world.text(run_id, Stream::Stdout).await;
    assert_eq!(text, "none\n0022\n4\n");
}

fn members(group: &str) -> Vec<u32> {
    let list = std::fs::read_to_string(Path::new(group).join("cgroup.procs")).unwrap_or_default();
    list.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Runs something to its end in the shim that is idle; where it was confined.
async fn group_of(world: &mut World, spec: WorkloadSpec) -> Option<String> {
    let news = world.run(spec).await;
    assert_eq!(news.exit.reason, ExitReason::Exited);
    let record = started_record(&world.run_dir(news.run_id));
    world.runner.forget(news.run_id).await.unwrap();
    record["cgroup"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn runs_that_use_next_to_nothing_follow_each_other_in_one_cgroup() {
    let mut world = World::new().await;
    let Some(first) = group_of(&mut world, sh("true")).await else {
        println!("skipped: there is no cgroup of version 2 here");
        return;
    };
    for _ in 0..5 {
        assert_eq!(group_of(&mut world, sh("exit 3")).await.as_ref(), Some(&first));
        assert!(members(&first).is_empty());
    }
    let limits = Limits { pids: Some(50), ..Limits::default() };
    let other = WorkloadSpec { limits, ..sh("true") };
    let other = group_of(&mut world, other).await;
    assert_ne!(other.as_ref(), Some(&first), "it has other limits");
    assert!(!Path::new(&first).exists());

    let before = group_of(&mut world, sh("true")).await.unwrap();
    let busy = sh("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
    let busy = group_of(&mut world, busy).await;
    assert_eq!(busy.as_ref(), Some(&before));
    let after = group_of(&mut world, sh("true")).await.unwrap();
    assert_ne!(after, before, "what it has used would be counted for the next");
    assert!(!Path::new(&before).exists());

    let left = shims(&world.data);
    until("it is let go", || left.iter().all(|pid| !is_running(*pid))).await;
    assert!(!Path::new(&after).exists(), "a shim that goes leaves nothing");
}

#[tokio::test]
async fn what_is_on_record_of_a_start_is_what_the_kernel_says() {
    let mut world = World::new().await;
    for _ in 0..40 {
        let (run_id, started) = world.start_sh("exec sleep 1000").await;
        let record = started_record(&world.run_dir(run_id));
        assert_eq!(number(&record["pid"]), started.pid);
        assert_eq!(number(&record["shim_pid"]), parent(started.pid));
        assert_eq!(record["start_ticks"].to_string(), stat(started.pid).unwrap()[19]);
        world.kill(run_id).await;
    }
}

#[tokio::test]
async fn a_shim_whose_run_did_not_end_in_order_is_not_used_again() {
    let mut world = World::new().await;
    let hook = Hook { command: vec!["true".to_owned()], timeout: Span::from_secs(5) };
    let hooks = Hooks { post_stop: Some(hook), ..Hooks::default() };
    for (what, spec) in [
        ("left something", sh("setsid sleep 1000 >/dev/null 2>&1 & exit 0")),
        ("crashed", sh("kill -11 $$")),
        ("took too long", WorkloadSpec { timeout: Some(Span::from_millis(50)), ..sh("sleep 100") }),
        ("had a hook", WorkloadSpec { hooks, ..sh("true") }),
    ] {
        let news = world.run(spec).await;
        let shim = shim_of(&world, &news);
        until(what, || !is_running(shim)).await;
        assert_eq!(world.run_sh("exit 4").await.exit.code, Some(4), "{what}");
    }
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let shim = parent(started.pid);
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(5)).await.unwrap();
    assert_eq!(world.exit(run_id).await.exit.reason, ExitReason::Stopped);
    until("it was stopped", || !is_running(shim)).await;

    let go = world.data.join("go");
    let (run_id, started) =
        world.start_sh(&format!("while [ ! -e {} ]; do sleep 0.02; done", go.display())).await;
    let shim = parent(started.pid);
    let null = || std::fs::File::options().write(true).open("/dev/null").unwrap().into();
    let beside = Exec {
        argv: vec!["true".to_owned()],
        env: BTreeMap::new(),
        stdin: None,
        stdout: null(),
        stderr: null(),
        timeout: None,
    };
    world.runner.exec(run_id, beside).await.unwrap();
    std::fs::write(&go, "").unwrap();
    assert_eq!(world.exit(run_id).await.exit.code, Some(0));
    until("something ran beside it", || !is_running(shim)).await;
}

#[tokio::test]
async fn a_shim_that_nobody_needs_goes() {
    let mut world = World::new().await;
    let shim = leave_one_idle(&mut world).await;
    until("it is let go", || !is_running(shim)).await;
    assert_eq!(world.run_sh("exit 5").await.exit.code, Some(5));
}

#[tokio::test]
async fn idle_shims_go_with_their_agent() {
    let mut world = World::new().await;
    let mut runs = Vec::new();
    let go = world.data.join("go");
    for _ in 0..10 {
        let script = format!("while [ ! -e {} ]; do sleep 0.02; done", go.display());
        runs.push(world.start_sh(&script).await.0);
    }
    std::fs::write(&go, "").unwrap();
    for run_id in runs {
        world.exit(run_id).await;
        world.runner.forget(run_id).await.unwrap();
    }
    let idle = shims(&world.data);
    assert!(idle.len() >= 2, "{idle:?}");
    world.agent_is_replaced().await;
    until("they are gone", || idle.iter().all(|pid| !is_running(*pid))).await;
    assert_eq!(world.runner.recover().await.unwrap(), []);
    assert_eq!(world.run_sh("exit 6").await.exit.code, Some(6));
}

#[tokio::test]
async fn an_order_that_dies_with_an_idle_shim_is_given_to_another_once() {
    let mut world = World::new().await;
    let shim = leave_one_idle(&mut world).await;
    let log = world.data.join("log");
    kill(shim, 19);
    let order = order(sh(&format!("echo once >> {}", log.display())));
    let run_id = order.run_id;
    {
        let mut start = std::pin::pin!(world.runner.start_run(order));
        let waited = tokio::time::timeout(A_WHILE, &mut start).await;
        assert!(waited.is_err(), "the order waits for the shim that does not move: {waited:?}");
        kill(shim, 9);
        start.await.unwrap();
    }
    assert_eq!(world.exit(run_id).await.exit.code, Some(0));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "once\n");
}

#[tokio::test]
async fn an_order_whose_agent_is_gone_is_not_carried_out() {
    let mut world = World::new().await;
    let shim = leave_one_idle(&mut world).await;
    let log = world.data.join("log");
    kill(shim, 19);
    let order = order(sh(&format!("echo once >> {}", log.display())));
    let run_id = order.run_id;
    let waited = tokio::time::timeout(A_WHILE, world.runner.start_run(order.clone())).await;
    assert!(waited.is_err(), "{waited:?}");
    {
        let mut replaced = std::pin::pin!(world.agent_is_replaced());
        let early = tokio::time::timeout(A_WHILE, &mut replaced).await;
        assert!(early.is_err(), "a new agent waits until the order is settled");
        kill(shim, 18);
        replaced.await;
    }
    until("the shim is gone", || !is_running(shim)).await;
    let found = world.runner.recover_one(run_id).await.unwrap();
    assert_eq!(found, Some(RecoveredState::NeverStarted));
    assert!(!log.exists());
    world.runner.start_run(order).await.unwrap();
    assert_eq!(world.exit(run_id).await.exit.code, Some(0));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "once\n");
}

/// Kills shims, resting ones and others, and executors until it is told that it is enough.
async fn kill_around(data: &Path, enough: &tokio_util::sync::CancellationToken) {
    let mut round = 0_usize;
    while !enough.is_cancelled() {
        let found = shims(data);
        if let Some(pid) = found.get(round % found.len().max(1)) {
            kill(*pid, 9);
        }
        if round % 7 == 6
            && let Some(pid) = find_executor(data)
        {
            kill(pid, 9);
        }
        round += 1;
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_nothing_is_executed_twice() {
    const RUNS: usize = 150;
    let mut world = World::new().await;
    let log = world.data.join("log");
    let script = format!("echo $HOSTLER_RUN >> {}", log.display());
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(8));
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..RUNS {
        let (runner, gate, order) = (world.runner.clone(), gate.clone(), order(sh(&script)));
        starts.spawn(async move {
            let _turn = gate.acquire().await;
            let StartRun { run_id, .. } = order;
            (run_id, runner.start_run(order).await.is_ok())
        });
    }
    let enough = tokio_util::sync::CancellationToken::new();
    let all = async {
        let results = starts.join_all().await;
        enough.cancel();
        results
    };
    let (results, ()) = tokio::join!(all, kill_around(&world.data, &enough));
    let mut ends = HashMap::new();
    for (run_id, _) in results.iter().filter(|(_, is_started)| *is_started) {
        ends.insert(run_id.to_string(), world.exit(*run_id).await.exit);
    }
    let mut ran: HashMap<String, usize> = HashMap::new();
    for line in std::fs::read_to_string(&log).unwrap_or_default().lines() {
        *ran.entry(line.to_owned()).or_default() += 1;
    }
    assert!(ran.values().all(|count| *count == 1), "{ran:?}");
    for (run_id, exit) in &ends {
        match exit.reason {
            ExitReason::Exited => assert!(exit.code != Some(0) || ran.contains_key(run_id)),
            reason => assert_eq!(reason, ExitReason::Vanished),
        }
    }
    assert!(ends.values().any(|exit| exit.code == Some(0)));
}
