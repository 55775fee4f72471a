//! Real processes: running, stopped, ended, and gone with another in their place.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use super::*;

fn sleeper() -> (Child, u32) {
    let child =
        Command::new("sleep").arg("600").stdin(Stdio::null()).kill_on_drop(true).spawn().unwrap();
    let pid = child.id().unwrap();
    (child, pid)
}

fn signal(pid: u32, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).unwrap();
}

fn process_ended(pid: u32) -> String {
    format!("process {pid} has ended and was not waited for")
}

/// The next finding; must come as these checks are asked ten times a second.
async fn complaint(ward: &mut Ward) -> String {
    match ward.event().await.health {
        Health::Healthy => "none".to_owned(),
        Health::Unhealthy { why, .. } => why,
    }
}

#[tokio::test]
async fn a_process_is_seen_running_stopped_going_on_and_gone() {
    let (mut child, pid) = sleeper();
    let mut ward = Ward::in_real_time();
    let subject = Subject::new(run(1), pid, None, &Clock::system());
    let _handle = ward.watch(subject, vec![quick(Check::Process)]);
    assert_eq!(complaint(&mut ward).await, "none");
    signal(pid, Signal::SIGSTOP);
    let stopped = format!("process {pid} is stopped; SIGCONT lets it go on");
    assert_eq!(complaint(&mut ward).await, stopped);
    signal(pid, Signal::SIGCONT);
    assert_eq!(complaint(&mut ward).await, "none");
    child.kill().await.unwrap();
    let ended = [format!("process {pid} is gone"), process_ended(pid)];
    assert!(ended.contains(&complaint(&mut ward).await));
}

#[tokio::test]
async fn a_zombie_is_not_alive() {
    let (_child, pid) = sleeper();
    let subject = Subject::new(run(1), pid, None, &Clock::system());
    assert_eq!(process::look(&subject), Ok(()));
    signal(pid, Signal::SIGKILL);
    in_time(async {
        while process::look(&subject).is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(process::look(&subject), Err(process_ended(pid)));
}

#[tokio::test]
async fn another_process_with_the_same_number_is_not_believed() {
    let (_child, pid) = sleeper();
    let real = Subject::new(run(1), pid, None, &Clock::system());
    let ticks = real.start_ticks.unwrap();
    let gone = Err(format!("process {pid} is gone"));
    assert_eq!(process::look(&Subject { start_ticks: Some(ticks - 1), ..real.clone() }), gone);
    assert_eq!(process::look(&Subject { start_ticks: None, ..real.clone() }), gone);
    let age = Clock::system().instant() - real.began;
    assert!(age < DEADLINE, "{age:?}");
}
