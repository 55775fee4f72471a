//! Stops, timeouts, and that nothing survives a run.

use std::time::{Duration, Instant};

use hostler_agent::output::Stream;
use hostler_model::{ExitReason, Span, StopSignal};

use crate::support::{World, is_running, order, parent, pids, sh, started_record, stat, until};

#[tokio::test]
async fn a_stop_is_a_stop_whatever_the_program_makes_of_it() {
    let mut world = World::new().await;
    let (run_id, _) = world.start_sh("exec sleep 1000").await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(30)).await.unwrap();
    let exit = world.exit(run_id).await.exit;
    assert_eq!((exit.reason, exit.code, exit.signal), (ExitReason::Stopped, None, Some(15)));

    let script = "trap 'echo bye; exit 0' USR1; echo ready; while :; do sleep 0.01; done";
    let (run_id, _) = world.start_sh(script).await;
    let out = world.run_dir(run_id).join("out.000001");
    until("it is ready", || out.exists()).await;
    world.runner.stop(run_id, StopSignal::Usr1, Span::from_secs(30)).await.unwrap();
    let exit = world.exit(run_id).await.exit;
    assert_eq!((exit.reason, exit.code), (ExitReason::Stopped, Some(0)));
    assert!(world.runner.stop(run_id, StopSignal::Term, Span::from_secs(0)).await.is_err());
}

#[tokio::test]
async fn a_stop_in_the_midst_of_the_start_is_not_lost() {
    let mut world = World::new().await;
    for _ in 0..40 {
        let order = order(sh("sleep 1000"));
        let run_id = order.run_id;
        let stop = async {
            while world.runner.stop(run_id, StopSignal::Term, Span::from_secs(1000)).await.is_err()
            {
                tokio::task::yield_now().await;
            }
        };
        let (started, ()) = tokio::join!(world.runner.start_run(order), stop);
        started.unwrap();
        assert_eq!(world.exit(run_id).await.exit.reason, ExitReason::Stopped);
    }
}

#[tokio::test]
async fn who_ignores_the_signal_is_killed_after_the_grace() {
    let mut world = World::new().await;
    let script =
        "trap '' TERM; (trap '' TERM; sleep 1000) & echo ready; while :; do sleep 0.01; done";
    let (run_id, started) = world.start_sh(script).await;
    let out = world.run_dir(run_id).join("out.000001");
    until("it is ready", || out.exists()).await;
    let asked = Instant::now();
    world.runner.stop(run_id, StopSignal::Term, Span::from_millis(300)).await.unwrap();
    let exit = world.exit(run_id).await.exit;
    assert_eq!((exit.reason, exit.signal), (ExitReason::Stopped, Some(9)));
    assert!(asked.elapsed() >= Duration::from_millis(300));
    assert!(!is_running(started.pid));
}

#[tokio::test]
async fn a_later_stop_can_only_bring_the_end_nearer() {
    let mut world = World::new().await;
    let (run_id, _) =
        world.start_sh("trap '' TERM; echo ready; while :; do sleep 0.01; done").await;
    let out = world.run_dir(run_id).join("out.000001");
    until("it is ready", || out.exists()).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(1000)).await.unwrap();
    world.runner.stop(run_id, StopSignal::Term, Span::from_millis(50)).await.unwrap();
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(1000)).await.unwrap();
    assert_eq!(world.exit(run_id).await.exit.reason, ExitReason::Stopped);
}

#[tokio::test]
async fn a_timeout_stops_in_the_same_way() {
    let mut world = World::new().await;
    // It may be too slow to begin ignoring the signal; then it gets more time.
    let mut times = [200, 1_000, 5_000, 20_000].into_iter();
    loop {
        let mut spec = sh("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        spec.timeout = Some(Span::from_millis(times.next().expect("it is ready in time")));
        spec.stop.grace = Span::from_millis(100);
        let news = world.run(spec).await;
        assert_eq!(news.exit.reason, ExitReason::TimedOut);
        if world.text(news.run_id, Stream::Stdout).await == "ready\n" {
            assert_eq!(news.exit.signal, Some(9));
            break;
        }
    }

    let mut spec = sh("exec sleep 1000");
    spec.timeout = Some(Span::from_millis(500));
    let exit = world.run(spec).await.exit;
    assert_eq!((exit.reason, exit.signal), (ExitReason::TimedOut, Some(15)));

    let mut spec = sh("exit 4");
    spec.timeout = Some(Span::from_secs(100));
    let exit = world.run(spec).await.exit;
    assert_eq!((exit.reason, exit.code), (ExitReason::Exited, Some(4)));
}

/// Processes whose environment names this run.
fn of_run(run_id: hostler_model::RunId) -> Vec<u32> {
    let mark = format!("HOSTLER_RUN={run_id}");
    let has = |pid: &u32| {
        let env = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        env.split(|b| *b == 0).any(|word| word == mark.as_bytes())
    };
    pids().into_iter().filter(|pid| has(pid) && is_running(*pid)).collect()
}

#[tokio::test]
async fn daemons_that_a_run_leaves_are_killed() {
    let mut world = World::new().await;
    let script = "setsid sh -c 'setsid sleep 1000 & setsid sh -c \"trap \\\"\\\" TERM HUP; sleep 1000\" & wait' >/dev/null 2>&1 & while [ ! -e go ]; do sleep 0.01; done; exit 5";
    let (run_id, _) = world.start_sh(script).await;
    until("the daemons are there", || of_run(run_id).len() >= 4).await;
    std::fs::write(world.run_dir(run_id).join("work/go"), "").unwrap();
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.code, Some(5));
    assert_eq!(of_run(run_id), Vec::<u32>::new());
}

#[tokio::test]
async fn a_stop_reaches_the_whole_tree() {
    let mut world = World::new().await;
    let (run_id, _) =
        world.start_sh("sleep 1000 & (sleep 1000 & setsid sleep 1000 & wait) & wait").await;
    until("the tree is there", || of_run(run_id).len() == 5).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_millis(200)).await.unwrap();
    assert_eq!(world.exit(run_id).await.exit.reason, ExitReason::Stopped);
    assert_eq!(of_run(run_id), Vec::<u32>::new());
}

#[tokio::test]
async fn orphans_are_reaped_while_the_run_goes_on() {
    let mut world = World::new().await;
    let script =
        "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done; echo done; exec sleep 1000";
    let (run_id, started) = world.start_sh(script).await;
    let shim = parent(started.pid);
    let out = world.run_dir(run_id).join("out.000001");
    until("the orphans are made", || out.exists()).await;
    let children = || {
        let of = |pid: &u32| stat(*pid).is_some_and(|f| f[1] == shim.to_string());
        pids().into_iter().filter(of).collect::<Vec<_>>()
    };
    until("only the program is left", || children() == [started.pid]).await;
    world.kill(run_id).await;
    until("the shim is gone", || stat(shim).is_none()).await;
}

#[tokio::test]
async fn the_cgroup_of_a_run_is_removed_with_it() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let record = started_record(&world.run_dir(run_id));
    let Some(path) = record["cgroup"].as_str().map(std::path::PathBuf::from) else {
        println!("skipped: no writable cgroup v2");
        world.kill(run_id).await;
        return;
    };
    let inside = std::fs::read_to_string(path.join("cgroup.procs")).unwrap();
    assert_eq!(inside.trim(), started.pid.to_string());
    world.kill(run_id).await;
    until("the cgroup is removed", || !path.exists()).await;
}

#[tokio::test]
async fn a_frozen_run_stands_still_goes_on_and_can_be_stopped() {
    let mut world = World::new().await;
    let script = "trap 'exit 4' TERM; while :; do echo tick; sleep 0.01; done";
    let (run_id, _) = world.start_sh(script).await;
    let out = world.run_dir(run_id).join("out.000001");
    until("it ticks", || out.exists()).await;
    if let Err(error) = world.runner.pause(run_id, true).await {
        println!("skipped: {error}");
        world.kill(run_id).await;
        return;
    }
    let record = started_record(&world.run_dir(run_id));
    let events = std::path::Path::new(record["cgroup"].as_str().unwrap()).join("cgroup.events");
    let is = |words: &str| std::fs::read_to_string(&events).unwrap().contains(words);
    until("it is frozen", || is("frozen 1")).await;
    world.runner.pause(run_id, true).await.unwrap();
    world.runner.pause(run_id, false).await.unwrap();
    until("it is thawed", || is("frozen 0")).await;
    let said = std::fs::metadata(&out).unwrap().len();
    until("it goes on", || std::fs::metadata(&out).unwrap().len() > said).await;
    world.runner.pause(run_id, true).await.unwrap();
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let exit = world.exit(run_id).await.exit;
    assert_eq!((exit.reason, exit.code), (ExitReason::Stopped, Some(4)));
    let (run_id, _) = world.start_sh("sleep 1000").await;
    world.runner.pause(run_id, true).await.unwrap();
    assert_eq!(world.kill(run_id).await.exit.reason, ExitReason::Stopped);
    let gone = world.runner.pause(run_id, true).await.unwrap_err();
    assert!(gone.to_string().contains("not running"), "{gone}");
}
