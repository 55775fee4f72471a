//! Commands: run from their arguments, as somebody who may do little, and ended with everything they started.
//!
//! A command leads a process group, which is killed when the command has ended or its time is up. What has left the
//! group is found by a word in its environment that it has from the command; one that has thrown that away as well
//! is not found.

use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::time::Duration;

use hostler_base::Clock;
use hostler_engine::watch::{Ran, Seen};
use hostler_model::CommandWatch;
use nix::unistd::{Gid, Uid, User};
use regex::bytes::Regex;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::mark;

const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const NOBODY: &str = "nobody";
/// What is looked at of what a command prints.
const OUTPUT_MAX: usize = 64 << 10;
/// How long output is read after the command has ended.
const AFTER_END: Duration = Duration::from_millis(500);
/// The word by which everything of a look is found.
const WORD: &str = "HOSTLER_WATCHER_LOOK";
/// How often those are looked for that start others while they are killed.
const ROUNDS: usize = 5;

/// As whom a command runs; none where that is the agent's own user.
fn user(wanted: Option<&str>) -> Result<Option<(Uid, Gid)>, String> {
    let own = Uid::effective();
    let name = match (wanted, own.is_root()) {
        (None, false) => return Ok(None),
        (None, true) => NOBODY,
        (Some(name), _) => name,
    };
    let found = User::from_name(name).map_err(|errno| format!("user {name}: {errno}"))?;
    let found = found.ok_or_else(|| format!("there is no user {name} on this machine"))?;
    match (own.is_root(), found.uid == own) {
        (true, _) => Ok(Some((found.uid, found.gid))),
        (false, true) => Ok(None),
        (false, false) => Err(format!("an agent that is not root cannot run it as {name}")),
    }
}

pub(super) async fn run(
    clock: &Clock,
    watch: &CommandWatch,
    pattern: Option<Regex>,
) -> Result<Seen, String> {
    let wanted = watch.user.clone();
    let looked = tokio::task::spawn_blocking(move || user(wanted.as_deref())).await;
    let user = looked.map_err(|_| "the look was broken off".to_owned())??;
    let Some((program, args)) = watch.command.split_first() else {
        return Err("there is no command".to_owned());
    };
    let word = format!("{:032x}", rand::random::<u128>());
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("LC_ALL", "C")
        .env("HOME", "/")
        .env(WORD, &word)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    if let Some((uid, gid)) = user {
        command.uid(uid.as_raw()).gid(gid.as_raw());
    }
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let mut group = Group::led_by(&child, word);
    let mut output = Vec::new();
    let ended = clock.timeout(watch.time_limit.duration(), finish(&mut child, &mut output)).await;
    if ended.is_ok() {
        // It was waited for: its number may be somebody else's by now.
        group.leader = None;
    }
    let code = match ended {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => return Err(format!("{program}: {error}")),
        Err(_) => None,
    };
    drop(group);
    // It is killed by now; nobody is to be left who was not waited for.
    let _ = child.wait().await;
    let is_match = pattern.is_some_and(|pattern| pattern.is_match(&output));
    Ok(Seen::Command(Ran { code, output: mark(&blake3::hash(&output)), is_match }))
}

async fn finish(child: &mut Child, output: &mut Vec<u8>) -> std::io::Result<Option<i32>> {
    let stdout = child.stdout.take();
    let reading = read(stdout, output);
    tokio::pin!(reading);
    let status = tokio::select! {
        status = child.wait() => {
            let _ = tokio::time::timeout(AFTER_END, &mut reading).await;
            status
        }
        () = &mut reading => child.wait().await,
    };
    Ok(status?.code())
}

/// Reads to the end, and keeps the beginning.
async fn read(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; 8 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let room = OUTPUT_MAX - kept.len();
        kept.extend_from_slice(&buffer[..read.min(room)]);
    }
}

/// Everything that a command started; killed when it is let go of, also when nobody waits any more.
struct Group {
    leader: Option<Pid>,
    word: String,
}

impl Group {
    fn led_by(child: &Child, word: String) -> Group {
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Group { leader, word }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let word = format!("{WORD}={}", self.word);
        for _ in 0..ROUNDS {
            if kill_all_with(word.as_bytes()) == 0 {
                return;
            }
        }
    }
}

/// Kills whoever has these words in the environment, apart from what has ended; says how many.
fn kill_all_with(word: &[u8]) -> usize {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let own = Uid::effective();
    let mut killed = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.parse::<i32>().ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { continue };
        let is_ours = own.is_root() || entry.metadata().is_ok_and(|it| it.uid() == own.as_raw());
        if !is_ours {
            continue;
        }
        // Held first, so that it is what is looked at that is killed.
        let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|one| one == word)
            && pidfd_send_signal(&held, Signal::KILL).is_ok()
        {
            killed += 1;
        }
    }
    killed
}
