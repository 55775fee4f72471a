//! What `/proc` says of processes, and killing those that are certainly meant.
//!
//! A number read from `/proc` may belong to somebody else a moment later. [`kill_if`] therefore takes
//! hold of the process first (a pidfd), looks again whether it is the one that is meant, and only
//! then kills through what it holds.

use std::os::fd::AsFd;

use hostler_model::RunId;
use rustix::process::{Pid, PidfdFlags};

use crate::sys;

/// In the environment of everything that belongs to a run.
pub const MARKER: &str = "HOSTLER_RUN";

/// The kernel's flag of a process that ends.
const EXITING: u64 = 0x4;

pub struct Stat {
    pub state: char,
    pub parent: u32,
    pub session: u32,
    /// It is on its way out, and may have lost its file systems already.
    pub is_exiting: bool,
    /// Processor time of the process and of its children that were waited for, in clock ticks.
    pub cpu_ticks: u64,
    pub start_ticks: u64,
}

/// `None` when there is no such process.
pub fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// When the calling process started, in clock ticks since boot. Allocates nothing.
pub fn own_start_ticks() -> Option<u64> {
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let file = rustix::fs::open(c"/proc/self/stat", flags, rustix::fs::Mode::empty()).ok()?;
    let mut bytes = [0; 1024];
    let length = rustix::io::read(&file, &mut bytes).ok()?;
    let text = &bytes[..length];
    let after_name = &text[text.iter().rposition(|byte| *byte == b')')? + 1..];
    let mut fields = std::str::from_utf8(after_name).ok()?.split_ascii_whitespace();
    fields.nth(19)?.parse().ok()
}

/// The threads of a process; none when it has gone.
pub fn threads(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn parse_stat(text: &str) -> Option<Stat> {
    let (_, after_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let small = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: small(1)?,
        session: small(3)?,
        is_exiting: number(6)? & EXITING != 0,
        cpu_ticks: number(11)? + number(12)? + number(13)? + number(14)?,
        start_ticks: number(19)?,
    })
}

/// Every process there is.
pub fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Every process (but zombies) with its parent, as they were at one time.
pub struct Family(Vec<(u32, u32)>);

impl Family {
    pub fn read() -> Family {
        let living = |pid| Some((pid, stat(pid).filter(|stat| stat.state != 'Z')?.parent));
        Family(all().filter_map(living).collect())
    }

    /// Processes below this one, at whatever depth.
    pub fn descendants(&self, root: u32) -> Vec<u32> {
        let mut found = vec![root];
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            let children = self.0.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid);
            found.extend(children.filter(|pid| *pid != root));
            at += 1;
        }
        found.remove(0);
        found
    }
}

/// Whether a process carries the marker of this run in its environment.
pub fn is_marked(pid: u32, run_id: RunId) -> bool {
    let wanted = format!("{MARKER}={run_id}");
    std::fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|word| word == wanted.as_bytes()))
}

/// Kills a process if, once we hold it, it is the one that is meant. True when it was.
pub fn kill_if(pid: u32, is_meant: impl Fn(u32) -> bool) -> bool {
    let pidfd = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    let Some(pidfd) = pidfd else { return false };
    is_meant(pid) && sys::kill_by_pidfd(pidfd.as_fd()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_anything() {
        let text =
            "42 (a) S (b)) R 7 8 9 0 -1 0 1 2 3 4 10 20 30 40 20 0 1 0 12345 1 2 3 4 5 6 7 8";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.session), ('R', 7, 9));
        assert_eq!((stat.cpu_ticks, stat.start_ticks), (100, 12345));
        assert!(parse_stat("42 (short) R 1").is_none());
    }

    #[test]
    fn this_process_is_there_and_not_marked() {
        let me = std::process::id();
        assert_ne!(stat(me).unwrap().state, 'Z');
        assert!(all().any(|pid| pid == me));
        assert!(Family::read().descendants(stat(me).unwrap().parent).contains(&me));
        assert_eq!(own_start_ticks(), stat(me).map(|stat| stat.start_ticks));
        assert!(!is_marked(me, RunId::from_uuid(uuid::Uuid::from_u128(1))));
        assert!(!kill_if(me, |_| false));
    }
}
