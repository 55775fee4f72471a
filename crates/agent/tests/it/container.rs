//! Runs in containers: what they are given, what they say, how they end.

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_agent::output::{Start, Stream, Streams};
use hostler_agent::runner::{Exec, StartError};
use hostler_model::{
    Bytes, Cores, ExitReason, Hook, Hooks, Limits, Mount, Span, StopSignal, WorkloadSpec,
};

use crate::docker::{Docked, contained, inside, with};
use crate::support::{bytes, is_running, order, until};

#[tokio::test]
async fn a_container_runs_speaks_and_ends_with_its_code() {
    let Some(mut world) = Docked::new().await else { return };
    let news = world.run(inside("echo out; echo err >&2; exit 7")).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Exited, Some(7)));
    assert_eq!(news.exit.message, None);
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "out\n");
    assert_eq!(world.text(news.run_id, Stream::Stderr).await, "err\n");
    world.nothing_is_left().await;
    world.runner.forget(news.run_id).await.unwrap();
}

#[tokio::test]
async fn it_sees_its_environment_user_place_and_name() {
    let Some(mut world) = Docked::new().await else { return };
    let mut spec =
        inside("id -un; pwd; echo \"$LINES_OF\"; echo $HOSTLER_TASK $HOSTLER_NODE; echo ${#BIG}");
    spec.user = Some("worker".to_owned());
    spec.workdir = Some("/tmp".to_owned());
    spec.env.insert("LINES_OF".to_owned(), "one\ntwo = '\"$x".to_owned());
    spec.env.insert("BIG".to_owned(), "b".repeat(100_000));
    let news = world.run(spec).await;
    let text = world.text(news.run_id, Stream::Stdout).await;
    assert_eq!(text, "worker\n/tmp\none\ntwo = '\"$x\na-task a-node\n100000\n");
    let run = format!("{}\n", news.run_id);
    let news = world.run(inside("echo $HOSTLER_RUN")).await;
    assert_ne!(world.text(news.run_id, Stream::Stdout).await, run);
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, format!("{}\n", news.run_id));
}

#[tokio::test]
async fn what_it_says_arrives_whole() {
    let Some(mut world) = Docked::new().await else { return };
    let script = "printf 'a\\0b\\377c\\n\\n'; head -c 100000 /dev/zero | tr '\\0' x; echo; seq 1 20000; printf end";
    let news = world.run(inside(script)).await;
    assert_eq!(news.exit.code, Some(0));
    let items = world.items(news.run_id, Start::Beginning, Streams::Only(Stream::Stdout)).await;
    let mut expected = b"a\0b\xffc\n\n".to_vec();
    expected.extend(std::iter::repeat_n(b'x', 100_000));
    expected.push(b'\n');
    for n in 1..=20000 {
        expected.extend_from_slice(format!("{n}\n").as_bytes());
    }
    expected.extend_from_slice(b"end");
    let said = bytes(&items);
    let other = said.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!((said.len(), other), (expected.len(), None));
}

#[tokio::test]
async fn an_entry_point_of_the_image_or_ones_own() {
    let Some(mut world) = Docked::new().await else { return };
    let spec = contained(WorkloadSpec::command(["two", "three"]));
    let spec = with(spec, |c| c.entrypoint = Some(vec!["echo".to_owned(), "one".to_owned()]));
    let news = world.run(spec).await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "one two three\n");
}

#[tokio::test]
async fn limits_are_in_force() {
    let Some(mut world) = Docked::new().await else { return };
    let mut spec = inside(
        "ulimit -n; grep CapBnd /proc/self/status; grep NoNewPrivs /proc/self/status; tail /dev/zero",
    );
    spec.limits = Limits {
        memory: Some(Bytes::mib(32)),
        cpu: Some(Cores::from_millis(500)),
        cpu_weight: Some(50),
        pids: Some(40),
        files: Some(100),
        nice: Some(5),
        ..Limits::default()
    };
    let (run_id, started) = world.start(spec).await.unwrap();
    assert_eq!(started.unenforced, ["nice: container engines know no priorities"]);
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::OutOfMemory, Some(137)));
    let text = world.text(run_id, Stream::Stdout).await;
    assert!(text.starts_with("100\n"), "{text}");
    assert!(text.contains("NoNewPrivs:\t1"), "{text}");
    assert!(text.contains("CapBnd:\t00000000200405fb") || !text.contains("a80425fb"), "{text}");
    world.nothing_is_left().await;
}

#[tokio::test]
async fn usage_is_that_of_the_container() {
    let Some(mut world) = Docked::new().await else { return };
    let script = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); echo ready; while :; do :; done";
    let (run_id, started) = world.start(inside(script)).await.unwrap();
    assert!(is_running(started.pid));
    let out = world.run_dir(run_id).join("out.000001");
    until("it is ready", || out.exists()).await;
    let mut usage = None;
    for _ in 0..200 {
        usage = world.runner.usage(run_id).await;
        if usage.is_some_and(|usage| usage.cpu > Duration::from_millis(300)) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let usage = usage.unwrap();
    assert!(usage.memory > Bytes::mib(25), "{usage:?}");
    assert!(usage.cpu > Duration::from_millis(300), "{usage:?}");
    world.kill(run_id).await;
}

#[tokio::test]
async fn commands_and_hooks_run_inside() {
    let Some(mut world) = Docked::new().await else { return };
    let mut spec = inside("trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done");
    spec.env.insert("WHERE".to_owned(), "inside".to_owned());
    let hook = |script: &str| {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        Some(Hook { command, timeout: Span::from_secs(20) })
    };
    spec.hooks = Hooks {
        post_start: hook("echo post $WHERE $HOSTLER_HOOK; test -e /etc/inside"),
        pre_stop: hook("echo pre $WHERE"),
        ..Hooks::default()
    };
    let (run_id, _) = world.start(spec).await.unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let (input, mut feeder) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut feeder, b"from outside\n").unwrap();
    drop(feeder);
    let exec = Exec {
        argv: ["sh", "-c", "cat; echo $WHERE $MORE; cat /etc/inside; exit 5"]
            .map(str::to_owned)
            .to_vec(),
        env: BTreeMap::from([("MORE".to_owned(), "more".to_owned())]),
        stdin: Some(input.into()),
        stdout: writer.try_clone().unwrap().into(),
        stderr: writer.into(),
        timeout: None,
    };
    let end = world.runner.exec(run_id, exec).await.unwrap();
    assert_eq!(end.code, Some(5));
    let said = std::io::read_to_string(reader).unwrap();
    assert_eq!(said, "from outside\ninside more\nyes\n");
    world.runner.stop(run_id, StopSignal::Term, Span::from_secs(20)).await.unwrap();
    let news = world.exit(run_id).await;
    assert_eq!((news.exit.reason, news.exit.code), (ExitReason::Stopped, Some(0)));
    let text = world.text(run_id, Stream::Stdout).await;
    assert!(text.contains("post inside postStart\n") && text.contains("pre inside\n"), "{text}");
    let notes = world.text(run_id, Stream::Stderr).await;
    assert_eq!(notes, "");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_inside() {
    let Some(mut world) = Docked::new().await else { return };
    let (run_id, started) = world.start(inside("sleep 1000")).await.unwrap();
    let (_reader, writer) = std::io::pipe().unwrap();
    let exec = Exec {
        argv: ["sleep", "987"].map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        stdin: None,
        stdout: writer.try_clone().unwrap().into(),
        stderr: writer.into(),
        timeout: Some(Span::from_millis(1500)),
    };
    let end = world.runner.exec(run_id, exec).await.unwrap();
    assert!(end.is_timed_out);
    let namespace = |pid: u32| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let own = namespace(started.pid);
    let is_left = || {
        crate::support::pids().into_iter().any(|pid| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            namespace(pid) == own && words.windows(3).any(|word| word == b"987")
        })
    };
    until("the command is gone", || !is_left()).await;
    world.kill(run_id).await;
}

#[tokio::test]
async fn mounts_are_those_that_are_allowed() {
    let Some(mut world) = Docked::new().await else { return };
    std::fs::write(world.shelf.join("in"), "from the shelf\n").unwrap();
    std::fs::create_dir(world.shelf.join("deep")).unwrap();
    std::os::unix::fs::symlink("/etc", world.shelf.join("escape")).unwrap();
    let shelf = world.shelf.display().to_string();
    let mount = |source: &str, read_only: bool| Mount {
        source: format!("{shelf}{source}"),
        target: "/mnt/shelf".to_owned(),
        read_only,
    };
    let mounted = |mounts: Vec<Mount>, script: &str| with(inside(script), |c| c.mounts = mounts);
    let news = world
        .run(mounted(vec![mount("", false)], "cat /mnt/shelf/in; echo back > /mnt/shelf/out"))
        .await;
    assert_eq!(news.exit.code, Some(0));
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "from the shelf\n");
    assert_eq!(std::fs::read_to_string(world.shelf.join("out")).unwrap(), "back\n");
    let news = world.run(mounted(vec![mount("/deep", true)], "touch /mnt/shelf/x")).await;
    assert_eq!(news.exit.code, Some(1));
    let socket = world.engine.socket().display().to_string();
    let outside = |source: &str| Mount {
        source: source.to_owned(),
        target: "/mnt/x".to_owned(),
        read_only: true,
    };
    let data = world.data.display().to_string();
    for mount in [
        mount("/escape", false),
        mount("/deep/../../data", false),
        outside("/etc"),
        outside("/"),
        outside(&socket),
        outside(&data),
        outside("/proc/1/root"),
    ] {
        let source = mount.source.clone();
        let refused = world.start(mounted(vec![mount], "true")).await.unwrap_err();
        let StartError::Failed { exit } = refused else { panic!("{source}: {refused:?}") };
        assert_eq!(exit.reason, ExitReason::StartFailed, "{source}");
        let words = exit.message.unwrap();
        assert!(words.contains("mount"), "{source}: {words}");
    }
    world.nothing_is_left().await;
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let Some(world) = Docked::new().await else { return };
    let mut too_big = inside("true");
    too_big.env.insert("HUGE".to_owned(), "x".repeat(1 << 20));
    let mut nobody = inside("true");
    nobody.user = Some("nobody-here".to_owned());
    let mut hooked = inside("true");
    let hook = Hook { command: vec!["true".to_owned()], timeout: Span::from_secs(1) };
    hooked.hooks.pre_start = Some(hook);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let unreachable = with(inside("true"), |c| {
        c.image = format!("127.0.0.1:{closed}/some/thing:1");
        c.pull = hostler_model::PullPolicy::Missing;
    });
    for (spec, words) in [
        (
            with(inside("true"), |c| c.image = "not/here:1".to_owned()),
            "not/here:1 is not on this node and its pull policy is never",
        ),
        (unreachable, "cannot be fetched"),
        (with(inside("true"), |c| c.privileged = true), "privileged"),
        (with(contained(WorkloadSpec::command(["/sbin/init"])), |_| {}), "/sbin/init"),
        (too_big, "HUGE"),
        (nobody, "no such account"),
        (hooked, "preStart"),
    ] {
        let order = order(spec);
        let run_id = order.run_id;
        let refused = world.runner.start_run(order.clone()).await.unwrap_err();
        let StartError::Failed { exit } = refused else { panic!("{words}: {refused:?}") };
        assert_eq!(exit.reason, ExitReason::StartFailed, "{words}");
        let message = exit.message.unwrap();
        assert!(message.contains(words), "{message}");
        let again = world.runner.start_run(order).await.unwrap_err();
        assert!(matches!(again, StartError::AlreadyStarted(_)), "{again:?}");
        world.runner.forget(run_id).await.unwrap();
    }
    world.nothing_is_left().await;
}

#[tokio::test]
async fn without_an_engine_a_start_may_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let world = Docked::at(&dir.path().join("none.sock")).await;
    let order = order(inside("true"));
    let refused = world.runner.start_run(order).await.unwrap_err();
    let StartError::Refused(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains("none.sock") && why.contains("Docker"), "{why}");
    assert_eq!(world.runner.sweep_containers().await.unwrap(), 0);
}
