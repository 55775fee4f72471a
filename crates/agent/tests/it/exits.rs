//! Exit statuses, the environment of a program, and starts that fail.

use hostler_agent::output::Stream;
use hostler_agent::runner::StartError;
use hostler_model::{ExitReason, WorkloadSpec};

use crate::support::{World, is_root, order, sh};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_exit_code_is_told_as_it_was() {
    let mut world = World::new().await;
    let mut runs = Vec::new();
    for code in 0..=255 {
        runs.push((code, world.start_sh(&format!("exit {code}")).await.0));
    }
    for (code, run_id) in runs {
        let news = world.exit(run_id).await;
        assert_eq!(news.exit.reason, ExitReason::Exited);
        assert_eq!(news.exit.code, Some(code));
        assert_eq!(news.exit.signal, None);
        assert!(news.started.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_deadly_signal_is_told_as_it_was() {
    let mut world = World::new().await;
    for signal in [1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 24, 34, 40, 64] {
        let script = format!("ulimit -c 0; kill -{signal} $$; read never");
        let news = world.run_sh(&script).await;
        assert_eq!(news.exit.signal, Some(signal), "{:?}", news.exit);
        assert_eq!(news.exit.code, None);
        assert_eq!(news.exit.reason, ExitReason::Exited);
    }
}

#[tokio::test]
async fn standard_input_is_empty_and_nothing_else_is_open() {
    let mut world = World::new().await;
    let news = world.run_sh("cat; readlink /proc/self/fd/0").await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "/dev/null\n");
    let news = world.run(WorkloadSpec::command(["ls", "/proc/self/fd"])).await;
    // The fourth is the directory that is being listed.
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "0\n1\n2\n3\n");
}

#[tokio::test]
async fn signals_session_and_umask_are_as_in_a_fresh_login() {
    let mut world = World::new().await;
    let news = world.run_sh("umask").await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "0022\n");
    let grep = ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"];
    let news = world.run(WorkloadSpec::command(grep)).await;
    let text = world.text(news.run_id, Stream::Stdout).await;
    let words: Vec<_> = text.split_whitespace().collect();
    let zero = "0000000000000000";
    assert_eq!(words, ["SigBlk:", zero, "SigIgn:", zero]);
    let awk = ["awk", "{print $5==$1, $6==$1}", "/proc/self/stat"];
    let news = world.run(WorkloadSpec::command(awk)).await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "1 1\n");
}

#[tokio::test]
async fn the_environment_is_minimal_and_the_spec_wins() {
    let mut world = World::new().await;
    let mut spec = WorkloadSpec::command(["env"]);
    spec.env.insert("COLOUR".into(), "green = good".into());
    spec.env.insert("LANG".into(), "de_CH.UTF-8".into());
    let mut order = order(spec);
    order.env.insert("EXTRA".into(), "1".into());
    let run_id = order.run_id;
    world.runner.start_run(order).await.unwrap();
    world.exit(run_id).await;
    let text = world.text(run_id, Stream::Stdout).await;
    let mut names: Vec<_> = text.lines().filter_map(|l| l.split_once('=')).collect();
    names.sort_unstable();
    let value = |name: &str| names.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    assert_eq!(value("COLOUR"), Some("green = good"));
    assert_eq!(value("LANG"), Some("de_CH.UTF-8"));
    assert_eq!(value("EXTRA"), Some("1"));
    assert_eq!(value("HOSTLER_TASK"), Some("a-task"));
    assert_eq!(value("HOSTLER_PROJECT"), Some("a-project"));
    assert_eq!(value("HOSTLER_NODE"), Some("a-node"));
    assert_eq!(value("HOSTLER_RUN"), Some(run_id.to_string().as_str()));
    for name in ["HOME", "USER", "LOGNAME", "PATH", "SHELL"] {
        assert!(value(name).is_some_and(|v| !v.is_empty()), "{name}");
    }
    assert_eq!(names.len(), 13, "{names:?}");
}

#[tokio::test]
async fn the_program_is_looked_up_in_its_own_path() {
    let mut world = World::new().await;
    let bin = tempfile::tempdir().unwrap();
    let script = bin.path().join("greet");
    std::fs::write(&script, "#!/bin/sh\necho hello from $0 \"$@\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let mut spec = WorkloadSpec::command(["greet", "a b", ""]);
    let path = format!("/nowhere:{}:/usr/bin:/bin", bin.path().display());
    spec.env.insert("PATH".into(), path);
    let news = world.run(spec).await;
    let text = world.text(news.run_id, Stream::Stdout).await;
    assert_eq!(text, format!("hello from {} a b \n", script.display()));
}

#[tokio::test]
async fn a_run_has_a_scratch_directory_or_the_one_it_names() {
    let mut world = World::new().await;
    let news = world.run_sh("pwd; touch made-here").await;
    let dir = world.run_dir(news.run_id).canonicalize().unwrap();
    let text = world.text(news.run_id, Stream::Stdout).await;
    assert_eq!(text.trim(), dir.join("work").to_str().unwrap());
    assert!(dir.join("work/made-here").exists());

    let mut spec = sh("pwd");
    spec.workdir = Some("/usr".into());
    let news = world.run(spec).await;
    assert_eq!(world.text(news.run_id, Stream::Stdout).await, "/usr\n");
}

#[tokio::test]
async fn a_run_can_be_of_another_user() {
    if !is_root() {
        println!("skipped: needs root");
        return;
    }
    let mut world = World::new().await;
    let mut spec = sh("id -un; id -Gn; echo $HOME $USER; touch mine; stat -c %U mine .");
    spec.user = Some("nobody".into());
    let news = world.run(spec).await;
    let stderr = world.text(news.run_id, Stream::Stderr).await;
    let text = world.text(news.run_id, Stream::Stdout).await;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines, ["nobody", "nogroup", "/nonexistent nobody", "nobody", "nobody"], "{stderr}");
}

#[tokio::test]
async fn a_start_that_fails_says_why_in_words() {
    let mut world = World::new().await;
    let plain = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = plain.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
        path.to_str().unwrap().to_owned()
    };
    let not_executable = file("data", "x", 0o644);
    let no_interpreter = file("script", "#!/no/such/shell\n", 0o755);
    let no_format = file("garbage", "\u{1}\u{2}", 0o755);
    let in_dir = |dir: &str| {
        let mut spec = sh("true");
        spec.workdir = Some(dir.to_owned());
        spec
    };
    let as_user = |user: &str| {
        let mut spec = sh("true");
        spec.user = Some(user.to_owned());
        spec
    };
    let user_message = if is_root() {
        "user `no-such-user` does not exist on this node"
    } else {
        "running as another user (`no-such-user`) needs an agent that runs as root"
    };
    let cases = [
        (
            WorkloadSpec::command(["no-such-program"]),
            "program `no-such-program` was not found in PATH",
        ),
        (
            WorkloadSpec::command(["/no/such/program"]),
            "program `/no/such/program` does not exist on this node",
        ),
        (WorkloadSpec::command([&not_executable]), "may not be executed by this user"),
        (WorkloadSpec::command([&no_interpreter]), "the interpreter or loader it names is not"),
        (WorkloadSpec::command([&no_format]), "has a format this node cannot execute"),
        (in_dir("/no/such/dir"), "working directory /no/such/dir does not exist"),
        (in_dir("/etc/passwd"), "working directory /etc/passwd is not a directory"),
        (as_user("no-such-user"), user_message),
    ];
    for (spec, expected) in cases {
        let order = order(spec);
        let run_id = order.run_id;
        let Err(StartError::Failed { exit }) = world.runner.start_run(order.clone()).await else {
            panic!("{expected}: it started");
        };
        assert_eq!(exit.reason, ExitReason::StartFailed);
        assert_eq!((exit.code, exit.signal), (None, None));
        let message = exit.message.clone().unwrap_or_default();
        assert!(message.contains(expected), "{message:?} should contain {expected:?}");
        let again = world.runner.start_run(order).await;
        assert!(matches!(again, Err(StartError::AlreadyStarted(_))), "{again:?}");
        let recovered = world.runner.recover_one(run_id).await.unwrap();
        let expected = hostler_agent::runner::RecoveredState::Exited { exit, started: None };
        assert_eq!(recovered, Some(expected));
        world.runner.forget(run_id).await.unwrap();
    }
    assert_eq!(world.run_sh("true").await.exit.code, Some(0));
}
