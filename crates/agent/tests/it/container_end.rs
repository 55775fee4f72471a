//! How containers are ended: asked, killed, out of time, frozen, and while their image is on its way.

use std::time::Duration;

use hostler_agent::output::Stream;
use hostler_agent::runner::StartError;
use hostler_model::{ExitReason, PullPolicy, Span, StopSignal};

use crate::docker::{Docked, inside, with};
use crate::support::{is_running, order, until};

async fn said(world: &Docked, run_id: hostler_model::RunId) {
    let out = world.run_dir(run_id).join("out.000001");
    until("it has spoken", || out.exists()).await;
}

#[tokio::test]
async fn a_stop_reaches_the_program_and_its_last_words_arrive() {
    let Some(mut world) = Docked::new().await else { return };
    let script = "trap 'echo stopping; sleep 0.2; echo stopped; exit 3' TERM; echo up; while :; do sleep 0.05; done";
    let (run_id, _) = world.start(inside(script)).await.unwrap();
    said(&world, run_id).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Stopped, Some(3)));
    assert_eq!(world.text(run_id, Stream::Stdout).await, "up\nstopping\nstopped\n");
    world.nothing_is_left().await;
}

#[tokio::test]
async fn what_does_not_stop_is_killed_with_everything_it_started() {
    let Some(mut world) = Docked::new().await else { return };
    let script = "trap '' TERM; (trap '' TERM; sleep 1000) & echo up; while :; do sleep 0.1; done";
    let (run_id, started) = world.start(inside(script)).await.unwrap();
    said(&world, run_id).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_millis(300)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Stopped, Some(137)));
    assert_eq!(world.text(run_id, Stream::Stdout).await, "up\n");
    assert!(!is_running(started.pid));
    world.nothing_is_left().await;
    let (run_id, _) = world.start(inside("sleep 1000")).await.unwrap();
    assert_eq!(world.kill(run_id).await.exit.reason, ExitReason::Stopped);
    world.nothing_is_left().await;
}

#[tokio::test]
async fn a_plain_program_hears_the_signal_although_it_is_the_first() {
    let Some(mut world) = Docked::new().await else { return };
    let (run_id, _) = world.start(inside("echo up; exec sleep 1000")).await.unwrap();
    said(&world, run_id).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(25)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Stopped, Some(143)));
}

#[tokio::test]
async fn a_timeout_ends_it() {
    let Some(mut world) = Docked::new().await else { return };
    let mut spec = inside("echo up; sleep 1000");
    spec.timeout = Some(Span::from_secs(2));
    spec.stop.grace = Span::from_millis(500);
    let news = world.run(spec).await;
    assert_eq!(news.exit.reason, ExitReason::TimedOut);
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "up\n");
    world.nothing_is_left().await;
}

#[tokio::test]
async fn frozen_ones_stand_still_and_can_be_stopped() {
    let Some(mut world) = Docked::new().await else { return };
    let script = "trap 'exit 4' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done";
    let (run_id, _) = world.start(inside(script)).await.unwrap();
    said(&world, run_id).await;
    for _ in 0..2 {
        world.runner.pause(run_id, true).await.unwrap();
    }
    let name = format!("hostler-{run_id}");
    assert!(world.engine.inspect_container(&name).await.unwrap().unwrap().is_paused);
    world.runner.pause(run_id, false).await.unwrap();
    world.runner.pause(run_id, false).await.unwrap();
    assert!(!world.engine.inspect_container(&name).await.unwrap().unwrap().is_paused);
    world.runner.pause(run_id, true).await.unwrap();
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Stopped, Some(4)));
    let (run_id, _) = world.start(inside("sleep 1000")).await.unwrap();
    world.runner.pause(run_id, true).await.unwrap();
    assert_eq!(world.kill(run_id).await.exit.reason, ExitReason::Stopped);
    world.nothing_is_left().await;
}

#[tokio::test]
async fn a_stop_while_the_image_is_fetched_is_obeyed_at_once() {
    let Some(world) = Docked::new().await else { return };
    let registry = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let image = format!("{}/slow/image:1", registry.local_addr().unwrap());
    let spec = with(inside("true"), |c| {
        c.image = image;
        c.pull = PullPolicy::Missing;
    });
    let order = order(spec);
    let run_id = order.run_id;
    let runner = world.runner.clone();
    let stopped = async {
        let asked = tokio::time::timeout(Duration::from_secs(20), registry.accept()).await;
        asked.expect("the engine asks the registry").unwrap();
        runner.stop(run_id, StopSignal::Term, Span::from_secs(600)).await.unwrap();
    };
    let (started, ()) = tokio::join!(world.runner.start_run(order), stopped);
    let StartError::Failed { exit } = started.unwrap_err() else { panic!("it ran") };
    assert_eq!(exit.reason, ExitReason::Stopped);
    world.nothing_is_left().await;
}
