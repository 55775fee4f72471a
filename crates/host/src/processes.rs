//! Processes, as `/proc` tells them, and signals to those that are certainly meant.
//!
//! A number of a process may belong to another one a moment later. Whoever sends a signal therefore says
//! which process was seen: its number, when it started and what it is called. It is taken hold of first (a
//! pidfd), looked at again, and only then signalled through what is held.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};
use serde::Serialize;

use crate::outcome::Change;
use crate::plan::{Plan, blocking};
use crate::{Host, HostError};

/// What the kernel counts processor time in, for everybody outside it.
const TICKS_PER_SECOND: u64 = 100;
/// The most that is kept of a command line.
pub(crate) const COMMAND_MAX: usize = 1024;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub uid: u32,
    /// As the kernel knows it.
    pub name: String,
    /// Empty for threads of the kernel.
    pub command: String,
    /// One letter of the kernel's.
    pub state: char,
    /// Share of one core while it was looked at.
    pub cpu: f64,
    /// Resident, in bytes.
    pub memory: u64,
    pub threads: u32,
    /// In clock ticks since boot; with the number it names this process only.
    pub start_ticks: u64,
    /// Seconds since 1970, where the time of the boot is known.
    pub started: Option<i64>,
}

pub(crate) struct Stat {
    name: String,
    state: char,
    parent: u32,
    cpu_ticks: u64,
    threads: u32,
    start_ticks: u64,
}

/// The line of `/proc/PID/stat`. A name may have anything in it, also brackets.
pub(crate) fn parse_stat(text: &str) -> Option<Stat> {
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        name,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        cpu_ticks: number(11)? + number(12)?,
        threads: fields.get(17)?.parse().ok()?,
        start_ticks: number(19)?,
    })
}

/// The owner and the resident bytes, of `/proc/PID/status`.
pub(crate) fn parse_status(text: &str) -> (u32, u64) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let uid = field("Uid").and_then(|uid| u32::try_from(uid).ok()).unwrap_or(u32::MAX);
    (uid, field("VmRSS").unwrap_or(0) * 1024)
}

/// Words with spaces between them, cut at a character.
pub(crate) fn command_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * COMMAND_MAX)]);
    let words: Vec<&str> = text.split('\0').filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.char_indices().take_while(|(at, _)| *at < COMMAND_MAX).map(|(_, c)| c).collect()
}

fn boot_time(proc: &Path) -> Option<i64> {
    let text = std::fs::read_to_string(proc.join("stat")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}

fn numbers(proc: &Path) -> Result<Vec<u32>, HostError> {
    let entries = std::fs::read_dir(proc).map_err(crate::error::io_at("read", proc))?;
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(entries.flatten().filter_map(number).collect())
}

fn stat_of(proc: &Path, pid: u32) -> Option<Stat> {
    parse_stat(&String::from_utf8_lossy(&std::fs::read(proc.join(format!("{pid}/stat"))).ok()?))
}

fn look(proc: &Path, pid: u32, boot: Option<i64>) -> Option<(Process, u64)> {
    let stat = stat_of(proc, pid)?;
    let status = std::fs::read(proc.join(format!("{pid}/status"))).ok()?;
    let (uid, memory) = parse_status(&String::from_utf8_lossy(&status));
    let command = std::fs::read(proc.join(format!("{pid}/cmdline"))).unwrap_or_default();
    let since_boot = i64::try_from(stat.start_ticks / TICKS_PER_SECOND).ok()?;
    let process = Process {
        pid,
        parent: stat.parent,
        uid,
        name: stat.name,
        command: command_line(&command),
        state: stat.state,
        cpu: 0.0,
        memory,
        threads: stat.threads,
        start_ticks: stat.start_ticks,
        started: boot.map(|boot| boot.saturating_add(since_boot)),
    };
    Some((process, stat.cpu_ticks))
}

/// Every process, with what it uses of the processors within `window`. What comes or goes meanwhile is left out.
pub async fn list(host: &Host, window: Duration) -> Result<Vec<Process>, HostError> {
    let proc = host.path("/proc")?;
    let at = proc.clone();
    let (begun, before) = blocking(move || {
        let ticks = |pid: u32| Some((pid, stat_of(&at, pid)?)).map(|(pid, s)| (pid, s.cpu_ticks));
        let found: HashMap<u32, u64> = numbers(&at)?.into_iter().filter_map(ticks).collect();
        Ok((Instant::now(), found))
    })
    .await?;
    tokio::time::sleep(window).await;
    blocking(move || {
        let boot = boot_time(&proc);
        let seconds = begun.elapsed().as_secs_f64().max(0.001);
        let mut found = Vec::with_capacity(before.len());
        for pid in numbers(&proc)? {
            let (Some(ticks), Some((mut process, now))) =
                (before.get(&pid), look(&proc, pid, boot))
            else {
                continue;
            };
            let used = u32::try_from(now.saturating_sub(*ticks)).unwrap_or(0);
            process.cpu = f64::from(used) / 100.0 / seconds;
            found.push(process);
        }
        Ok(found)
    })
    .await
}

/// How many processes are dead and waited for by nobody.
pub async fn zombies(host: &Host) -> Result<u32, HostError> {
    let proc = host.path("/proc")?;
    blocking(move || {
        let is_dead = |pid: &u32| stat_of(&proc, *pid).is_some_and(|stat| stat.state == 'Z');
        Ok(u32::try_from(numbers(&proc)?.iter().filter(|pid| is_dead(pid)).count()).unwrap_or(0))
    })
    .await
}

/// A process that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub pid: u32,
    pub start_ticks: u64,
    pub name: String,
}

/// Sends a signal to a process, if it is still the one that was seen.
pub async fn signal(host: &Host, seen: Seen, signal: Signal) -> Result<Plan, HostError> {
    if seen.pid <= 1 || seen.pid == std::process::id() {
        let problem = "this one is not sent signals from here";
        return Err(HostError::invalid("the process", seen.pid.to_string(), problem));
    }
    let proc = host.path("/proc")?;
    let (words, at, looked) = (signal_words(signal), proc.clone(), seen.clone());
    match blocking(move || Ok(stat_of(&at, looked.pid))).await? {
        None => {
            return Ok(Plan::new(format!("process {} is not there any more", seen.pid)));
        }
        Some(stat) => is_seen(&stat, &seen)?,
    }
    let (pid, name) = (seen.pid, seen.name.clone());
    Ok(Plan::new(format!("process {pid} ({name}) is sent {words}"))
        .change(Change::altered(format!("process {pid} ({name})"), "as it is", words))
        .files(move || send(&proc, &seen, signal)))
}

fn is_seen(stat: &Stat, seen: &Seen) -> Result<(), HostError> {
    if stat.start_ticks == seen.start_ticks && stat.name == seen.name {
        return Ok(());
    }
    let problem =
        format!("this number belongs to another process now, `{}`; list again", stat.name);
    Err(HostError::invalid("the process", seen.pid.to_string(), problem))
}

fn send(proc: &Path, seen: &Seen, signal: Signal) -> Result<(), HostError> {
    let at = proc.join(seen.pid.to_string());
    let failed = || crate::error::io_at("signalled", &at);
    let pid = i32::try_from(seen.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| failed()(rustix::io::Errno::SRCH))?;
    let held = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(held) => held,
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        Err(e) => return Err(failed()(e)),
    };
    let Some(stat) = stat_of(proc, seen.pid) else { return Ok(()) };
    is_seen(&stat, seen)?;
    match rustix::process::pidfd_send_signal(&held, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(e) => Err(failed()(e)),
    }
}

fn signal_words(signal: Signal) -> &'static str {
    match signal {
        Signal::HUP => "SIGHUP",
        Signal::INT => "SIGINT",
        Signal::QUIT => "SIGQUIT",
        Signal::KILL => "SIGKILL",
        Signal::USR1 => "SIGUSR1",
        Signal::USR2 => "SIGUSR2",
        Signal::TERM => "SIGTERM",
        Signal::CONT => "SIGCONT",
        Signal::STOP => "SIGSTOP",
        _ => "a signal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_read_whatever_a_process_calls_itself() {
        let text = "42 (a) S (b)) R 7 8 9 0 -1 0 1 2 3 4 10 20 30 40 20 0 5 0 12345 1 2 3 4 5 6";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.name.as_str(), stat.state, stat.parent), ("a) S (b)", 'R', 7));
        assert_eq!((stat.cpu_ticks, stat.threads, stat.start_ticks), (30, 5, 12345));
        for bad in ["", "42 (a", "42 (a) R", "42 a R 7 8 9 0 -1 0 1 2 3 4 10 20"] {
            assert!(parse_stat(bad).is_none(), "{bad}");
        }
        let status = "Name:\tx\nUid:\t1000\t0\t0\t0\nVmRSS:\t  12 kB\n";
        assert_eq!(parse_status(status), (1000, 12288));
        assert_eq!(parse_status("Name:\tkthreadd\n"), (u32::MAX, 0));
    }

    #[test]
    fn command_lines_are_one_line_and_bounded() {
        assert_eq!(command_line(b"sh\0-c\0a\nb\0"), "sh -c a b");
        assert_eq!(command_line(b""), "");
        assert!(command_line(&[b'a'; 100_000]).len() <= COMMAND_MAX);
        assert!(command_line("ä".repeat(5000).as_bytes()).len() <= COMMAND_MAX + 4);
    }
}
