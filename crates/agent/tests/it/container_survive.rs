//! What must not matter to a container: the death of agent, executor, keeper, and of the engine itself.

use std::time::Duration;

use hostler_agent::output::Stream;
use hostler_agent::runner::{RecoveredState, StartError};
use hostler_model::{ExitReason, Mount, RunId, Span, StopSignal};

use crate::docker::{Docked, OwnEngine, inside, keeper, with};
use crate::support::{is_running, kill, order, parent, until};

/// Counts until a file appears on the shelf, then says `done` and ends with 6.
fn counting(world: &Docked) -> hostler_model::WorkloadSpec {
    let script = "i=0; while [ ! -e /shelf/go ]; do i=$((i+1)); echo $i; sleep 0.01; done; echo done; exit 6";
    let source = world.shelf.display().to_string();
    let mount = Mount { source, target: "/shelf".to_owned(), read_only: true };
    with(inside(script), |c| c.mounts = vec![mount])
}

fn go(world: &Docked) {
    std::fs::write(world.shelf.join("go"), "").unwrap();
}

/// Every number once, in order, and the end. A keeper that is killed may have its last piece said again.
async fn check_count(world: &Docked, run_id: RunId, repeats_max: usize) {
    let text = world.text(run_id, Stream::Stdout).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.last(), Some(&"done"));
    let numbers: Vec<u32> = lines[..lines.len() - 1].iter().map(|n| n.parse().unwrap()).collect();
    let mut expected = 1;
    let mut repeats = 0;
    for number in numbers {
        if number + 1 == expected {
            repeats += 1;
            continue;
        }
        assert_eq!(number, expected, "a line is missing");
        expected += 1;
    }
    assert!(repeats <= repeats_max, "{repeats} lines were said twice");
}

async fn has_lines(world: &Docked, run_id: RunId, bytes: u64) {
    let out = world.run_dir(run_id).join("out.000001");
    until("it has said more", || out.metadata().is_ok_and(|m| m.len() > bytes)).await;
}

fn said(world: &Docked, run_id: RunId) -> u64 {
    world.run_dir(run_id).join("out.000001").metadata().map_or(0, |m| m.len())
}

#[tokio::test]
async fn a_new_agent_finds_it_again() {
    let Some(mut world) = Docked::new().await else { return };
    let (run_id, started) = world.start(counting(&world)).await.unwrap();
    has_lines(&world, run_id, 0).await;
    let recovered = world.agent_dies().await;
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].state, RecoveredState::Live(started.clone()));
    assert_eq!(world.runner.sweep_containers().await.unwrap(), 0);
    has_lines(&world, run_id, said(&world, run_id)).await;
    let again = crate::support::order(counting(&world));
    let again = hostler_agent::runner::StartRun { run_id, ..again };
    let refused = world.runner.start_run(again).await.unwrap_err();
    assert!(matches!(refused, StartError::AlreadyStarted(_)));
    go(&world);
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(6)));
    assert_eq!(news.started, Some(started));
    check_count(&world, run_id, 0).await;
    world.nothing_is_left().await;
}

#[tokio::test]
async fn a_keeper_that_is_killed_is_replaced_and_no_output_is_lost() {
    let Some(mut world) = Docked::new().await else { return };
    let (run_id, started) = world.start(counting(&world)).await.unwrap();
    let dir = world.run_dir(run_id);
    for _ in 0..4 {
        has_lines(&world, run_id, said(&world, run_id)).await;
        let old = keeper(&dir);
        kill(old, 9);
        until("there is another keeper", || keeper(&dir) != old).await;
    }
    has_lines(&world, run_id, said(&world, run_id)).await;
    assert!(is_running(started.pid));
    world.runner.stop(run_id, StopSignal::Usr1, Span::from_secs(0)).await.ok();
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Stopped);
    world.nothing_is_left().await;

    let (run_id, _) = world.start(counting(&world)).await.unwrap();
    has_lines(&world, run_id, 0).await;
    kill(keeper(&world.run_dir(run_id)), 9);
    go(&world);
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(6)));
    check_count(&world, run_id, 1).await;
    world.nothing_is_left().await;
}

#[tokio::test]
async fn a_keeper_killed_while_it_starts_never_starts_two() {
    let Some(mut world) = Docked::new().await else { return };
    let source = world.shelf.display().to_string();
    for n in 0_u64..8 {
        let mount = Mount { source: source.clone(), target: "/shelf".to_owned(), read_only: false };
        let script = format!("echo $HOSTLER_RUN >> /shelf/ran-{n}; exit 5");
        let order = order(with(inside(&script), |c| c.mounts = vec![mount]));
        let run_id = order.run_id;
        let dir = world.run_dir(run_id);
        let runner = world.runner.clone();
        let killer = async {
            until("it has a shim", || dir.join("started.json").exists()).await;
            tokio::time::sleep(Duration::from_millis(n * 60)).await;
            kill(keeper(&dir), 9);
        };
        let (started, ()) = tokio::join!(runner.start_run(order), killer);
        let exit = match started {
            Ok(_) => world.exit(run_id).await.exit,
            Err(StartError::Failed { exit }) => exit,
            Err(e) => panic!("{e:?}"),
        };
        let ran = std::fs::read_to_string(world.shelf.join(format!("ran-{n}"))).unwrap_or_default();
        match exit.reason {
            ExitReason::Exited => assert_eq!((ran.lines().count(), exit.code), (1, Some(5))),
            ExitReason::StartFailed => assert_eq!(ran, "", "{exit:?}"),
            _ => panic!("{exit:?}"),
        }
    }
    world.runner.sweep_containers().await.unwrap();
    world.nothing_is_left().await;
}

#[tokio::test]
async fn when_the_shim_is_killed_the_container_goes_too() {
    let Some(mut world) = Docked::new().await else { return };
    let (run_id, started) = world.start(inside("echo up; sleep 1000")).await.unwrap();
    has_lines(&world, run_id, 0).await;
    kill(parent(keeper(&world.run_dir(run_id))), 9);
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Vanished);
    until("the container is gone", || !is_running(started.pid)).await;
    world.nothing_is_left().await;
}

#[tokio::test]
async fn what_was_left_behind_is_swept_away() {
    let Some(mut world) = Docked::new().await else { return };
    let (live, _) = world.start(inside("echo up; sleep 1000")).await.unwrap();
    let (left, _) = world.start(inside("echo up; sleep 1000")).await.unwrap();
    has_lines(&world, left, 0).await;
    world.exits.close();
    world.runner.clone().detach().await;
    let shim = parent(keeper(&world.run_dir(left)));
    kill(shim, 19);
    kill(keeper(&world.run_dir(left)), 9);
    kill(shim, 9);
    until("its shim is gone", || !is_running(shim)).await;
    std::fs::remove_dir_all(world.run_dir(left)).unwrap();
    assert_eq!(world.containers().await.len(), 2);
    world.agent_dies_quietly().await;
    assert_eq!(world.runner.sweep_containers().await.unwrap(), 1);
    assert_eq!(world.runner.sweep_containers().await.unwrap(), 0);
    assert_eq!(world.containers().await.len(), 1);
    world.kill(live).await;
    world.nothing_is_left().await;
}

#[tokio::test]
async fn an_engine_that_restarts_and_lets_containers_live_is_only_waited_for() {
    let Some(mut engine) = OwnEngine::start(true).await else { return };
    let mut world = Docked::at(&engine.socket()).await;
    let (run_id, started) = world.start(counting(&world)).await.unwrap();
    has_lines(&world, run_id, 0).await;
    for signal in [15, 9] {
        engine.stop(signal).await;
        assert!(is_running(started.pid));
        engine.start_again().await;
        has_lines(&world, run_id, said(&world, run_id)).await;
    }
    go(&world);
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(6)));
    check_count(&world, run_id, 0).await;
    world.nothing_is_left().await;
}

#[tokio::test]
async fn an_engine_that_takes_its_containers_along_is_told_of() {
    let Some(mut engine) = OwnEngine::start(false).await else { return };
    let mut world = Docked::at(&engine.socket()).await;
    let (run_id, started) = world.start(counting(&world)).await.unwrap();
    has_lines(&world, run_id, 0).await;
    engine.stop(15).await;
    until("it went with the engine", || !is_running(started.pid)).await;
    engine.start_again().await;
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Exited);
    assert_ne!(news.exit.code, Some(0));
    assert!(news.exit.message.unwrap().contains("restarted"));
    world.nothing_is_left().await;
}

#[tokio::test]
async fn a_stop_while_the_engine_is_away_ends_it_all_the_same() {
    let Some(mut engine) = OwnEngine::start(true).await else { return };
    let mut world = Docked::at(&engine.socket()).await;
    let (run_id, started) = world.start(counting(&world)).await.unwrap();
    has_lines(&world, run_id, 0).await;
    engine.stop(9).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_millis(200)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!(news.exit.reason, ExitReason::Stopped);
    until("it is gone", || !is_running(started.pid)).await;
    engine.start_again().await;
    world.runner.sweep_containers().await.unwrap();
    world.nothing_is_left().await;
}

#[tokio::test]
async fn a_keeper_killed_in_a_flood_loses_nothing() {
    let Some(mut world) = Docked::new().await else { return };
    let (run_id, _) = world.start(inside("seq 1 200000")).await.unwrap();
    has_lines(&world, run_id, 20_000).await;
    kill(keeper(&world.run_dir(run_id)), 9);
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(0)));
    let said = world.text(run_id, Stream::Stdout).await.into_bytes();
    let expected: Vec<u8> = (1..=200_000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    let differ = said.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(expected.len());
    // The piece that was on its way may have come twice.
    let repeated = said.len().checked_sub(expected.len()).expect("nothing is missing");
    assert!(repeated <= 4096, "{repeated} bytes came twice");
    assert!(said[differ..] == expected[differ - repeated..], "at {differ}, {repeated} repeated");
    world.nothing_is_left().await;
}
