//! Programs that outlived the process which carried their execution out, or the try of a step that was ended.
//!
//! Who is killed cannot end what it started. But every program of a step has two words in its environment, which
//! execution it belongs to and which step, and hands them on to whatever it starts. Whoever goes on with the execution
//! finds them by these words in `/proc`, among the processes of the same user; so it does what they have started and
//! given another environment, as long as it hangs below them. What has no such words and no such parent is not found.
//!
//! Ids of executions are never used twice, so a word that is right is right. Numbers of processes are: each is held (a
//! pidfd) before it is looked at, and signalled only through what is held.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

/// Which execution a program belongs to, in its environment.
pub(crate) const EXECUTION: &str = "HOSTLER_EXECUTION";
/// Which step.
pub(crate) const STEP: &str = "HOSTLER_STEP";
/// That it undoes the step.
pub(crate) const UNDOING: &str = "HOSTLER_UNDOING";

/// How long they may take to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// How long they are waited for that were killed, where nothing depends on it.
const SOON: Duration = Duration::from_millis(100);
/// How long they may take to be gone when they were killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a program is there for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Step(String),
    Undoing(String),
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Work::Step(name) => write!(f, "`{name}`"),
            Work::Undoing(name) => write!(f, "the undoing of `{name}`"),
        }
    }
}

/// Numbers of processes, by what they are there for.
pub(crate) type Pids = BTreeMap<Work, BTreeSet<u32>>;

struct Leftover {
    pid: u32,
    work: Work,
    held: OwnedFd,
}

/// A process as `/proc` shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    parent: u32,
    /// Ticks since the machine started.
    since: u64,
}

/// What still runs of an execution.
pub(crate) fn running(execution: &str) -> Pids {
    by_work(&found(execution))
}

/// Ends what still runs of this work, and says what that was. The error is what could not be ended.
pub(crate) fn end(execution: &str, work: &BTreeSet<Work>) -> Result<Pids, Pids> {
    let left = || {
        let mut left = found(execution);
        left.retain(|one| work.contains(&one.work));
        left
    };
    let mut ended = Pids::new();
    let first = left();
    send(&first, Signal::TERM);
    wait(&first, GRACE);
    let mut rest = first;
    let deadline = Instant::now() + PATIENCE;
    while !rest.is_empty() {
        for (work, pids) in by_work(&rest) {
            ended.entry(work).or_default().extend(pids);
        }
        send(&rest, Signal::KILL);
        wait(&rest, deadline.saturating_duration_since(Instant::now()));
        rest = left();
        if !rest.is_empty() && Instant::now() >= deadline {
            return Err(by_work(&rest));
        }
    }
    Ok(ended)
}

/// Kills what still runs of a step whose try was ended: what left its group, and so was not killed with it.
pub(crate) fn kill(execution: &str, step: &str) {
    const ROUNDS: usize = 3;
    for _ in 0..ROUNDS {
        let mut left = found(execution);
        left.retain(|one| one.work == Work::Step(step.to_owned()));
        if left.is_empty() {
            return;
        }
        send(&left, Signal::KILL);
        wait(&left, SOON);
    }
}

fn by_work(found: &[Leftover]) -> Pids {
    let mut pids = Pids::new();
    for one in found {
        pids.entry(one.work.clone()).or_default().insert(one.pid);
    }
    pids
}

fn send(to: &[Leftover], signal: Signal) {
    for one in to {
        let _it_may_be_gone = pidfd_send_signal(&one.held, signal);
    }
}

/// Waits until all of them have ended, or the time is over.
fn wait(found: &[Leftover], time: Duration) {
    let deadline = Instant::now() + time;
    for one in found {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 0, tv_nsec: 0 });
        let _looked_at_again = poll(&mut [PollFd::new(&one.held, PollFlags::IN)], Some(&left));
    }
}

/// Kills whatever still runs of an execution; how many processes that were.
pub(crate) fn kill_all(execution: &str) -> usize {
    const ROUNDS: usize = 3;
    let mut killed = BTreeSet::new();
    for _ in 0..ROUNDS {
        let left = found(execution);
        if left.is_empty() {
            break;
        }
        killed.extend(left.iter().map(|one| one.pid));
        send(&left, Signal::KILL);
        wait(&left, SOON);
    }
    killed.len()
}

/// Processes of this user, or of anybody where that is root, that carry the words of an execution, or hang below one that
/// does.
fn found(execution: &str) -> Vec<Leftover> {
    let user = geteuid();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (user.is_root() || entry.metadata().ok()?.uid() == user.as_raw()).then_some(pid)
    });
    let mut all: BTreeMap<u32, Seen> = BTreeMap::new();
    let mut marked: BTreeMap<u32, (Work, OwnedFd)> = BTreeMap::new();
    for pid in pids {
        let Some(held) = hold(pid) else { continue };
        let Some(seen) = look(pid) else { continue };
        all.insert(pid, seen);
        if let Some(work) = work_of(pid, execution) {
            marked.insert(pid, (work, held));
        }
    }
    let parent = |pid: &u32| all.get(pid).map(|seen| seen.parent);
    let above = |pid: u32| std::iter::successors(Some(pid), parent).take(all.len() + 1);
    // Who goes on with an execution may have been started by what is left of it.
    let own: BTreeSet<u32> = above(std::process::id()).collect();
    let below: Vec<(u32, Work)> = all
        .keys()
        .filter(|pid| !marked.contains_key(pid))
        .filter_map(|pid| Some((*pid, above(*pid).find_map(|over| marked.get(&over))?.0.clone())))
        .collect();
    let below = below.into_iter().filter_map(|(pid, work)| {
        let held = hold(pid)?;
        (look(pid).as_ref() == all.get(&pid)).then_some(Leftover { pid, work, held })
    });
    let below: Vec<Leftover> = below.collect();
    marked
        .into_iter()
        .map(|(pid, (work, held))| Leftover { pid, work, held })
        .chain(below)
        .filter(|one| !own.contains(&one.pid))
        .collect()
}

fn hold(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Nothing for what has ended, whether somebody knows already or not.
fn look(pid: u32) -> Option<Seen> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let name = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[name + 1..]).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let is_over = matches!(fields.first(), Some(&"Z" | &"X"));
    let seen = Seen { parent: fields.get(1)?.parse().ok()?, since: fields.get(19)?.parse().ok()? };
    (!is_over).then_some(seen)
}

/// What a process is there for, if it belongs to the execution.
fn work_of(pid: u32, execution: &str) -> Option<Work> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |name: &str| {
        let words = bytes.split(|byte| *byte == 0);
        words.filter_map(|word| word.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).next_back()
    };
    if value(EXECUTION)? != execution.as_bytes() {
        return None;
    }
    let step = String::from_utf8_lossy(value(STEP)?).into_owned();
    Some(if value(UNDOING).is_some() { Work::Undoing(step) } else { Work::Step(step) })
}
