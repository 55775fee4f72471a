//! Hooks: when they run, what they see, and what their failures do.

use hostler_agent::output::Stream;
use hostler_agent::runner::{RecoveredState, StartError};
use hostler_model::{ExitReason, Hook, Hooks, Span, StopSignal, WorkloadSpec};

use crate::support::{World, is_running, kill, leftovers, parent, sh, until};

fn hook(script: &str) -> Option<Hook> {
    timed(script, Span::from_secs(20))
}

fn timed(script: &str, timeout: Span) -> Option<Hook> {
    Some(Hook { command: vec!["sh".into(), "-c".into(), script.into()], timeout })
}

fn with(script: &str, hooks: Hooks) -> WorkloadSpec {
    WorkloadSpec { hooks, ..sh(script) }
}

#[tokio::test]
async fn all_four_run_in_their_turn_and_see_what_the_program_sees() {
    let mut world = World::new().await;
    let told = world.data.join("told");
    let say = |more: &str| {
        format!("echo $HOSTLER_HOOK $COLOUR $(basename $PWD) {more} >> {}", told.display())
    };
    let read = || std::fs::read_to_string(&told).unwrap_or_default();
    let hooks = Hooks {
        pre_start: hook(&say("")),
        post_start: hook(&say("")),
        pre_stop: hook(&say("")),
        post_stop: hook(&say("$HOSTLER_EXIT_CODE/$HOSTLER_EXIT_SIGNAL")),
    };
    let script = format!(
        "trap 'echo term >> {0}; exit 7' TERM; echo program >> {0}; \
         while :; do sleep 0.02; done",
        told.display()
    );
    let mut spec = with(&script, hooks);
    spec.env.insert("COLOUR".into(), "green".into());
    let (run_id, _) = world.start(spec).await.unwrap();
    until("the program and its hook have spoken", || read().lines().count() == 3).await;
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Stopped, Some(7)));
    let text = read();
    let mut lines: Vec<_> = text.lines().collect();
    lines[1..3].sort_unstable();
    assert_eq!(
        lines,
        [
            "preStart green work",
            "postStart green work",
            "program",
            "preStop green work",
            "term",
            "postStop green work 7/"
        ]
    );
    until("nothing is left", || leftovers(run_id).is_empty()).await;
}

#[tokio::test]
async fn their_output_is_among_the_runs_own() {
    let mut world = World::new().await;
    let hooks = Hooks {
        pre_start: hook("echo before; echo careful >&2"),
        post_stop: hook("echo after $HOSTLER_EXIT_SIGNAL"),
        ..Hooks::default()
    };
    let news = world.run(with("echo meanwhile; kill -9 $$", hooks)).await;
    assert_eq!((news.exit.reason, news.exit.signal), (ExitReason::Exited, Some(9)));
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "before\nmeanwhile\nafter 9\n");
    assert_eq!(world.text(news.run_id, Stream::Stderr).await, "careful\n");
}

#[tokio::test]
async fn a_failing_pre_start_hook_keeps_the_program_from_starting() {
    let mut world = World::new().await;
    let ran = world.data.join("ran");
    let touch = format!("touch {}", ran.display());
    for (pre_start, expected) in [
        (hook("exit 3"), "preStart hook failed: exit code 3"),
        (hook("kill -11 $$"), "preStart hook failed: signal 11"),
        (
            timed("sleep 1000 & setsid sleep 1000", Span::from_millis(200)),
            "preStart hook failed: it took too long and was killed",
        ),
        (
            Some(Hook { command: vec!["no-such-hook".into()], timeout: Span::from_secs(9) }),
            "preStart hook failed: program `no-such-hook` was not found in PATH",
        ),
    ] {
        let spec = with(&touch, Hooks { pre_start, ..Hooks::default() });
        let outcome = world.start(spec).await;
        let Err(StartError::Failed { exit }) = outcome else {
            panic!("{expected}: {outcome:?}");
        };
        assert_eq!(exit.reason, ExitReason::StartFailed);
        let message = exit.message.unwrap();
        assert!(message.starts_with(expected), "{message}");
        assert!(!ran.exists());
    }
    assert_eq!(world.run_sh(&touch).await.exit.code, Some(0));
    assert!(ran.exists());
}

#[tokio::test]
async fn other_failing_hooks_are_only_noted() {
    let mut world = World::new().await;
    let go = world.data.join("go");
    let hooks = Hooks {
        post_start: hook("exit 1"),
        pre_stop: hook("exit 2"),
        post_stop: hook("exit 3"),
        ..Hooks::default()
    };
    let script = format!("while [ ! -e {} ]; do sleep 0.02; done; exec sleep 1000", go.display());
    let (run_id, started) = world.start(with(&script, hooks)).await.unwrap();
    let out = world.run_dir(run_id).join("out.000001");
    until("the first is noted", || {
        std::fs::read(&out).is_ok_and(|bytes| bytes.windows(9).any(|w| w == b"postStart"))
    })
    .await;
    std::fs::write(&go, "").unwrap();
    assert!(is_running(started.pid));
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.signal), (ExitReason::Stopped, Some(15)));
    assert_eq!(
        world.text(run_id, Stream::Stderr).await,
        "hostler: postStart hook failed: exit code 1\n\
         hostler: preStop hook failed: exit code 2\n\
         hostler: postStop hook failed: exit code 3\n"
    );
}

#[tokio::test]
async fn a_hook_that_hangs_delays_a_stop_no_longer_than_it_may() {
    let mut world = World::new().await;
    let hang = "setsid sleep 1000 & sleep 1000";
    let hooks = Hooks {
        pre_stop: timed(hang, Span::from_millis(150)),
        post_stop: timed(hang, Span::from_millis(150)),
        ..Hooks::default()
    };
    let (run_id, started) = world.start(with("exec sleep 1000", hooks.clone())).await.unwrap();
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.signal), (ExitReason::Stopped, Some(15)));
    assert!(!is_running(started.pid));
    assert_eq!(news.exit.message, None);
    until("nothing is left", || leftovers(run_id).is_empty()).await;

    let patient = Hooks { pre_stop: hook("exec sleep 1000"), ..Hooks::default() };
    let (run_id, _) = world.start(with("exec sleep 1000", patient)).await.unwrap();
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.kill(run_id).await;
    assert_eq!((news.exit.reason, news.exit.signal), (ExitReason::Stopped, Some(9)));
}

#[tokio::test]
async fn a_run_can_be_stopped_while_its_first_hook_runs() {
    let mut world = World::new().await;
    let ran = world.data.join("ran");
    let begun = world.data.join("begun");
    let first = format!("touch {}; exec sleep 1000", begun.display());
    let hooks = Hooks { pre_start: hook(&first), ..Hooks::default() };
    let order = crate::support::order(with(&format!("touch {}", ran.display()), hooks));
    let run_id = order.run_id;
    let runner = world.runner.clone();
    let stop = async {
        until("the hook runs", || begun.exists()).await;
        world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    };
    let (outcome, ()) = tokio::join!(runner.start_run(order), stop);
    let Err(StartError::Failed { exit }) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(exit.reason, ExitReason::Stopped);
    assert!(!ran.exists());
    until("nothing is left", || leftovers(run_id).is_empty()).await;
    world.runner.forget(run_id).await.unwrap();
    world.exits.close();
}

#[tokio::test]
async fn hooks_survive_the_agent_and_run_only_once() {
    let mut world = World::new().await;
    let [told, go] = ["told", "go"].map(|name| world.data.join(name));
    let say = |word: &str| format!("echo {word} >> {}", told.display());
    let read = || std::fs::read_to_string(&told).unwrap_or_default();
    let hooks =
        Hooks { pre_start: hook(&say("first")), post_stop: hook(&say("last")), ..Hooks::default() };
    let script = format!("while [ ! -e {} ]; do sleep 0.02; done; exit 5", go.display());
    let (run_id, started) = world.start(with(&script, hooks)).await.unwrap();
    world.exits.close();
    world.runner.clone().detach().await;
    std::fs::write(&go, "").unwrap();
    let exit = world.run_dir(run_id).join("exit.json");
    until("it ended alone", || exit.exists()).await;
    assert_eq!(read(), "first\nlast\n");
    let recovered = world.agent_dies_quietly().await;
    let RecoveredState::Exited { exit, .. } = &recovered[0].state else {
        panic!("{recovered:?}");
    };
    assert_eq!(exit.code, Some(5));

    let hanging = Hooks { pre_start: hook("exec sleep 1000"), ..Hooks::default() };
    let order = crate::support::order(with("true", hanging));
    let run_id = order.run_id;
    let runner = world.runner.clone();
    let record = world.run_dir(run_id).join("started.json");
    let killer = async {
        until("it is on record", || record.exists()).await;
        let record = crate::support::started_record(record.parent().unwrap());
        kill(parent(crate::support::number(&record["pid"])), 9);
    };
    let (outcome, ()) = tokio::join!(runner.start_run(order.clone()), killer);
    let Err(StartError::Failed { exit }) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(exit.reason, ExitReason::Vanished);
    assert!(matches!(runner.start_run(order).await, Err(StartError::AlreadyStarted(_))));
    assert!(!is_running(started.pid));
    until("nothing is left", || leftovers(run_id).is_empty()).await;
}
