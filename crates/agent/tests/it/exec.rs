//! Commands beside a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::time::Duration;

use hostler_agent::runner::{Exec, ExecEnd, ExecError, RecoveredState};
use hostler_model::{ExitReason, RunId, Span, WorkloadSpec};

use crate::support::{DEADLINE, World, is_root, is_running, leftovers, sh, until};

const fn code(code: i32) -> ExecEnd {
    ExecEnd { code: Some(code), signal: None, is_timed_out: false }
}

fn exec(argv: &[&str]) -> (Exec, File) {
    let out = tempfile::tempfile().unwrap();
    let exec = Exec {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        env: BTreeMap::new(),
        stdin: None,
        stdout: out.try_clone().unwrap().into(),
        stderr: out.try_clone().unwrap().into(),
        timeout: None,
    };
    (exec, out)
}

fn text(mut file: File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

async fn run(world: &World, run_id: RunId, script: &str) -> (ExecEnd, String) {
    let (exec, out) = exec(&["sh", "-c", script]);
    let end = tokio::time::timeout(DEADLINE, world.runner.exec(run_id, exec)).await;
    (end.expect("the command ends").unwrap(), text(out))
}

#[tokio::test]
async fn a_command_runs_in_the_place_of_the_program() {
    let mut world = World::new().await;
    let mut spec = sh("exec sleep 1000");
    spec.env.insert("COLOUR".into(), "green".into());
    spec.umask = Some("077".into());
    let (run_id, started) = world.start(spec).await.unwrap();
    let (end, said) = run(&world, run_id, "echo $COLOUR $HOSTLER_RUN; umask; pwd; exit 4").await;
    assert_eq!(end, code(4));
    let work = std::fs::read_link(format!("/proc/{}/cwd", started.pid)).unwrap();
    assert_eq!(said, format!("green {run_id}\n0077\n{}\n", work.display()));

    let record = crate::support::started_record(&world.run_dir(run_id));
    if let Some(cgroup) = record["cgroup"].as_str() {
        let (_, said) = run(&world, run_id, "cat /proc/self/cgroup").await;
        let name = cgroup.rsplit('/').next().unwrap();
        assert!(said.lines().any(|line| line.starts_with("0::") && line.contains(name)), "{said}");
    }

    let (mut asked, out) = exec(&["sh", "-c", "cat; echo $COLOUR; echo bad >&2"]);
    let (input, mut writer) = std::io::pipe().unwrap();
    asked.stdin = Some(input.into());
    asked.env.insert("COLOUR".into(), "red".into());
    writer.write_all(b"from outside\n").unwrap();
    drop(writer);
    assert_eq!(world.runner.exec(run_id, asked).await.unwrap(), code(0));
    assert_eq!(text(out), "from outside\nred\nbad\n");

    let (end, _) = run(&world, run_id, "kill -11 $$").await;
    assert_eq!(end.signal, Some(11));
    let (asked, _) = exec(&["no-such-command"]);
    let refused = world.runner.exec(run_id, asked).await;
    assert!(
        matches!(&refused, Err(ExecError::Refused(why)) if why.contains("no-such-command")),
        "{refused:?}"
    );
    assert!(is_running(started.pid));
    assert_eq!(world.kill(run_id).await.exit.message, None);
    let (asked, _) = exec(&["true"]);
    assert!(matches!(world.runner.exec(run_id, asked).await, Err(ExecError::NotRunning(_))));
    until("nothing is left", || leftovers(run_id).is_empty()).await;
}

#[tokio::test]
async fn a_command_runs_as_the_programs_user() {
    if !is_root() {
        println!("skipped: only root can run as somebody else");
        return;
    }
    let mut world = World::new().await;
    let spec = WorkloadSpec {
        user: Some("nobody".into()),
        workdir: Some("/".into()),
        ..sh("exec sleep 1000")
    };
    let (run_id, _) = world.start(spec).await.unwrap();
    assert_eq!(run(&world, run_id, "id -un; pwd").await, (code(0), "nobody\n/\n".to_owned()));
    world.kill(run_id).await;
}

/// Starts a command that writes its number and that of a daemonised child, and waits for both.
async fn hang(world: &World, run_id: RunId, timeout: Option<Span>) -> (Vec<u32>, Hanging) {
    let file = world.data.join("hanging");
    let _ = std::fs::remove_file(&file);
    let script = format!(
        "setsid sleep 1000 & echo $! >> {0}; echo $$ >> {0}; exec sleep 1000",
        file.display()
    );
    let (mut asked, _) = exec(&["sh", "-c", &script]);
    asked.timeout = timeout;
    let runner = world.runner.clone();
    let mut future: Hanging = Box::pin(async move { runner.exec(run_id, asked).await });
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    let ready = until("the command runs", || read().lines().count() == 2);
    if timeout.is_none() {
        tokio::select! {
            end = &mut future => panic!("{end:?}"),
            () = ready => {}
        }
    }
    (read().lines().map(|line| line.parse().unwrap()).collect(), future)
}

type Hanging = std::pin::Pin<Box<dyn Future<Output = Result<ExecEnd, ExecError>> + Send>>;

#[tokio::test]
async fn a_command_that_nobody_waits_for_is_killed_with_its_tree() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let (pids, future) = hang(&world, run_id, None).await;
    assert!(pids.iter().all(|pid| is_running(*pid)));
    drop(future);
    until("both are gone", || pids.iter().all(|pid| !is_running(*pid))).await;

    let (pids, future) = hang(&world, run_id, None).await;
    drop(future);
    world.agent_dies().await;
    until("both are gone", || pids.iter().all(|pid| !is_running(*pid))).await;
    assert!(is_running(started.pid));
    assert_eq!(run(&world, run_id, "echo here again").await, (code(0), "here again\n".to_owned()));

    let (pids, future) = hang(&world, run_id, None).await;
    let (outcome, news) = tokio::join!(future, world.kill(run_id));
    let killed = ExecEnd { code: None, signal: Some(9), is_timed_out: false };
    assert!(
        matches!(outcome, Err(ExecError::Over(_))) || matches!(&outcome, Ok(end) if *end == killed),
        "{outcome:?}"
    );
    assert_eq!((news.exit.reason, news.exit.message), (ExitReason::Stopped, None));
    assert!(pids.iter().all(|pid| !is_running(*pid)));
    until("nothing is left", || leftovers(run_id).is_empty()).await;
}

#[tokio::test]
async fn a_command_has_its_time_and_no_more() {
    let mut world = World::new().await;
    let (run_id, _) = world.start_sh("exec sleep 1000").await;
    let (_, future) = hang(&world, run_id, Some(Span::from_millis(100))).await;
    let end = tokio::time::timeout(DEADLINE, future).await.unwrap().unwrap();
    assert_eq!(end, ExecEnd { code: None, signal: Some(9), is_timed_out: true });
    world.kill(run_id).await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_ended() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("exec sleep 1000").await;
    let (end, said) =
        run(&world, run_id, "setsid sleep 1000 >/dev/null 2>&1 & echo $!; exit 0").await;
    assert_eq!(end, code(0));
    let pid = said.trim().parse().unwrap();
    until("the daemon is gone", || !is_running(pid)).await;
    let record = crate::support::started_record(&world.run_dir(run_id));
    if let Some(cgroup) = record["cgroup"].as_str() {
        let inner = || {
            let entries = std::fs::read_dir(cgroup).unwrap().flatten();
            entries.filter(|entry| entry.path().is_dir()).count()
        };
        until("its cgroup is gone", || inner() == 0).await;
    }
    assert!(is_running(started.pid));
    world.kill(run_id).await;
}

#[tokio::test]
async fn only_so_many_commands_run_at_once() {
    let mut world = World::new().await;
    let (run_id, _) = world.start_sh("exec sleep 1000").await;
    let mut running = tokio::task::JoinSet::new();
    let file = world.data.join("running");
    let script = format!("echo here >> {}; exec sleep 1000", file.display());
    for _ in 0..8 {
        let (asked, _) = exec(&["sh", "-c", &script]);
        let runner = world.runner.clone();
        running.spawn(async move { runner.exec(run_id, asked).await });
    }
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    until("all of them run", || read().lines().count() == 8).await;
    let (asked, _) = exec(&["true"]);
    let Err(ExecError::Refused(why)) = world.runner.exec(run_id, asked).await else {
        panic!("there was room for a ninth");
    };
    assert!(why.contains("8 commands"), "{why}");
    running.shutdown().await;
    let again = async {
        loop {
            let (asked, _) = exec(&["true"]);
            if world.runner.exec(run_id, asked).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, again).await.expect("room again");
    world.kill(run_id).await;
}

/// A shim of the first version: it greets without saying what it can do, and skips what it does not
/// know.
#[tokio::test]
async fn an_older_shim_is_not_asked_for_what_it_cannot_do() {
    let world = World::new().await;
    let run_id = RunId::from_uuid(uuid::Uuid::new_v4());
    let dir = world.run_dir(run_id);
    std::fs::create_dir(&dir).unwrap();
    let lock = File::open(&dir).unwrap();
    lock.lock().unwrap();
    let listener = std::os::unix::net::UnixListener::bind(dir.join("ctl.sock")).unwrap();
    let old = std::thread::spawn(move || {
        let (mut agent, _) = listener.accept().unwrap();
        let mut hello = vec![1, 0, 0, 0, 24, 0, 0, 0];
        hello.extend_from_slice(&[7; 24]);
        agent.write_all(&hello).unwrap();
        let mut asked = Vec::new();
        agent.read_to_end(&mut asked).unwrap();
        asked
    });
    let state = world.runner.recover_one(run_id).await.unwrap();
    assert!(matches!(state, Some(RecoveredState::Live(_))), "{state:?}");
    let (asked, _) = exec(&["true"]);
    let refused = world.runner.exec(run_id, asked).await;
    assert!(matches!(refused, Err(ExecError::TooOld(_))), "{refused:?}");
    assert_eq!(world.runner.usage(run_id).await, None);
    world.runner.clone().detach().await;
    assert!(old.join().unwrap().is_empty());
}
