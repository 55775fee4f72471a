//! Real programs, harmless ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostler_host::{Call, Commands, Host, HostError, Privilege, System};

fn host() -> Host {
    Host::new("/", Arc::new(System), Privilege::Ordinary)
}

fn sh(script: &str) -> Call {
    Call::new("/bin/sh").args(["-c", script])
}

#[tokio::test]
async fn output_input_and_exit_code_come_through() {
    let finished = host().attempt(sh("cat; echo err >&2; exit 3").stdin("in")).await.unwrap();
    assert_eq!(
        (finished.code, finished.text(), finished.complaint()),
        (Some(3), "in".to_owned(), "err\n".to_owned())
    );
    let error = host().run(sh("echo why >&2; exit 3")).await.unwrap_err();
    assert!(matches!(&error, HostError::Failed { code: Some(3), stderr, .. } if stderr == "why"));
    let error = host().run(sh("echo only out; exit 1")).await.unwrap_err();
    assert!(error.to_string().ends_with("only out"), "{error}");
    assert!(host().run(sh("exit 3").answers(&[3])).await.is_ok());
    let killed = host().run(sh("kill -9 $$")).await.unwrap_err();
    assert!(killed.to_string().contains("was ended by a signal"), "{killed}");
}

#[tokio::test]
async fn arguments_are_not_seen_by_a_shell() {
    let call = Call::new("printf").args(["%s|", "a b", "$HOME", "; echo x"]);
    assert_eq!(host().run(call).await.unwrap().text(), "a b|$HOME|; echo x|");
}

#[tokio::test]
async fn the_environment_is_small_and_plain() {
    let text = host().run(Call::new("env").env("EXTRA", "1")).await.unwrap().text();
    assert!(text.contains("LC_ALL=C\n") && text.contains("EXTRA=1\n"), "{text}");
    assert!(!text.contains("CARGO"), "{text}");
}

#[tokio::test]
async fn output_is_bounded_and_read_to_the_end() {
    let mut call =
        sh("i=0; while [ $i -lt 2000 ]; do echo 0123456789012345678901234567; i=$((i+1)); done");
    call.output_max = 1000;
    let finished = host().run(call).await.unwrap();
    assert_eq!((finished.stdout.len(), finished.is_cut), (1000, true));
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let stubborn = "(trap '' TERM; exec sleep 300)";
    let script = format!("{stubborn} & echo $! > {}; wait", mark.display());
    let started = Instant::now();
    let error = host().run(sh(&script).timeout(Duration::from_millis(500))).await.unwrap_err();
    assert!(matches!(error, HostError::Timeout { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60));
    let child = std::fs::read_to_string(mark).unwrap();
    assert!(is_gone(child.trim()).await, "its child still runs");
}

#[tokio::test]
async fn a_program_nobody_waits_for_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let script = format!("echo $$ > {}.new; mv {0}.new {0}; sleep 300", mark.display());
    let (host, call) = (host(), sh(&script));
    let waiting = async {
        while !mark.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = host.run(call) => panic!("{ended:?}"),
        () = waiting => {}
    }
    let process = std::fs::read_to_string(&mark).unwrap();
    assert!(is_gone(process.trim()).await, "it still runs");
}

/// Waits until a process is gone or waits for its parent.
async fn is_gone(process: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        match std::fs::read_to_string(format!("/proc/{process}/stat")) {
            Err(_) => return true,
            Ok(stat) if stat.rsplit(')').next().unwrap().trim().starts_with('Z') => return true,
            Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    false
}

#[tokio::test]
async fn what_it_leaves_behind_does_not_hold_us_up() {
    let started = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let script = format!("sleep 300 & echo $! > {}; echo done", mark.display());
    assert_eq!(host().run(sh(&script)).await.unwrap().text(), "done\n");
    assert!(started.elapsed() < Duration::from_secs(60));
    let left = std::fs::read_to_string(mark).unwrap();
    host().run(Call::new("kill").args(["-9", left.trim()])).await.unwrap();
}

#[tokio::test]
async fn programs_are_found() {
    assert!(System.find("sh").is_some() && System.find("/bin/sh").is_some());
    assert!(System.find("no-such-program").is_none() && System.find("/etc").is_none());
    let error = host().run(Call::new("no-such-program")).await.unwrap_err();
    assert!(matches!(error, HostError::Start { .. }), "{error}");
    assert!(error.to_string().contains("`no-such-program` cannot be started"), "{error}");
}
