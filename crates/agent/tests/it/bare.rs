//! A node without cgroups: sessions, the subreaper and marks in the environment have to do.

use std::collections::BTreeMap;
use std::fs::File;

use hostler_agent::output::Stream;
use hostler_agent::runner::{Exec, RecoveredState, StartError};
use hostler_model::{Bytes, ExitReason, Hook, Hooks, Limits, RunId, Span, WorkloadSpec};

use crate::support::{World, is_running, kill, parent, sh, started_record, until};

/// The numbers that processes have written into a file.
fn numbers(file: &std::path::Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[tokio::test]
async fn memory_is_limited_for_each_process_and_the_rest_is_reported() {
    let Some(mut world) = World::without_cgroups().await else { return };
    let limits = Limits {
        memory: Some(Bytes::mib(100)),
        pids: Some(5),
        files: Some(20),
        ..Limits::default()
    };
    let script = "ulimit -v; ulimit -n; python3 -c 'bytearray(200 << 20)' || exit 3";
    let (run_id, started) = world.start(WorkloadSpec { limits, ..sh(script) }).await.unwrap();
    assert_eq!(
        started.unenforced,
        [
            "memory: this node has no memory controller; the address space of each process is limited instead",
            "pids: this node has no pids controller",
        ]
    );
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.code, Some(3));
    assert_eq!(news.started, Some(started));
    assert_eq!(world.text(run_id, Stream::Stdout).await, "102400\n20\n");
    assert!(world.text(run_id, Stream::Stderr).await.contains("MemoryError"));
    assert!(started_record(&world.run_dir(run_id))["cgroup"].is_null());
}

fn daemons(file: &std::path::Path) -> String {
    format!(
        "setsid sleep 1000 >/dev/null 2>&1 & echo $! >> {0}; \
         sleep 1000 >/dev/null 2>&1 & echo $! >> {0}",
        file.display()
    )
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_ended() {
    let Some(mut world) = World::without_cgroups().await else { return };
    let file = world.data.join("pids");
    let news = world.run_sh(&format!("{}; exit 0", daemons(&file))).await;
    assert_eq!(news.exit.code, Some(0));
    assert_eq!(news.exit.message.as_deref(), Some("left 2 processes behind, which were ended"));
    assert!(numbers(&file).into_iter().all(|pid| !is_running(pid)));
}

#[tokio::test]
async fn when_a_shim_is_killed_everything_marked_goes() {
    let Some(mut world) = World::without_cgroups().await else { return };
    let file = world.data.join("pids");
    let stranger = world.start_sh("exec sleep 1000").await;
    let (run_id, started) = world.start_sh(&format!("{}; exec sleep 1000", daemons(&file))).await;
    until("both run", || numbers(&file).len() == 2).await;
    kill(parent(started.pid), 9);
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Vanished);
    assert!(numbers(&file).into_iter().chain([started.pid]).all(|pid| !is_running(pid)));
    assert!(is_running(stranger.1.pid));

    let recovered = world.agent_dies().await;
    let found = recovered.iter().find(|found| found.run_id == stranger.0).unwrap();
    assert_eq!(found.state, RecoveredState::Live(stranger.1));
    world.kill(stranger.0).await;
}

fn exec(script: &str, timeout: Option<Span>) -> Exec {
    let null = || File::options().write(true).open("/dev/null").unwrap().into();
    Exec {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        stdin: None,
        stdout: null(),
        stderr: null(),
        timeout,
    }
}

async fn gone(file: &std::path::Path) {
    assert_eq!(numbers(file).len(), 2);
    until("both are gone", || numbers(file).into_iter().all(|pid| !is_running(pid))).await;
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn commands_and_hooks_are_ended_with_what_is_in_their_session() {
    let Some(mut world) = World::without_cgroups().await else { return };
    let file = world.data.join("pids");
    let daemons =
        format!("sleep 1000 & echo $! >> {0}; sh -c 'sleep 1000 & echo $! >> {0}'", file.display());
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let end = world.runner.exec(run_id, exec(&daemons, None)).await.unwrap();
    assert_eq!(end.code, Some(0));
    gone(&file).await;
    let hanging = format!("{daemons}; sleep 1000");
    let limit = Some(Span::from_millis(500));
    let end = world.runner.exec(run_id, exec(&hanging, limit)).await.unwrap();
    assert!(end.is_timed_out);
    gone(&file).await;
    assert!(is_running(started.pid));
    usage_is_added_up(&world, run_id).await;
    world.kill(run_id).await;

    let command = ["sh", "-c", &hanging].map(str::to_owned).to_vec();
    let pre_start = Some(Hook { command, timeout: Span::from_millis(500) });
    let spec = WorkloadSpec { hooks: Hooks { pre_start, ..Hooks::default() }, ..sh("true") };
    let Err(StartError::Failed { exit }) = world.start(spec).await else {
        panic!("the hook takes too long");
    };
    assert!(exit.message.unwrap().contains("preStart hook failed: it took too long"));
    gone(&file).await;
}

async fn usage_is_added_up(world: &World, run_id: RunId) {
    let usage = world.runner.usage(run_id).await.unwrap();
    assert_eq!(usage.pids, 1, "{usage:?}");
    assert!(usage.memory > Bytes::ZERO && usage.memory_peak >= usage.memory, "{usage:?}");
}
