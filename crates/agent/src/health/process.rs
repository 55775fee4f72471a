//! Is the process there, and does it move? Read from `/proc`, where a number that was given to another
//! process since is told by its start time.

use std::time::Duration;

use super::Subject;

/// What `/proc` says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// `R` runs, `S` and `D` wait, `T` is stopped, `Z` has ended.
    pub state: char,
    /// In clock ticks since boot.
    pub start_ticks: u64,
}

/// `None` when no process has this number.
pub(super) fn read(pid: u32) -> Option<Found> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse(stat: &str) -> Option<Found> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some(Found { state, start_ticks })
}

/// Clock ticks since boot as a time on the monotonic clock.
pub(super) fn since_boot(ticks: u64) -> Duration {
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Duration::from_secs(ticks / per_second)
        + Duration::from_nanos(ticks % per_second * (1_000_000_000 / per_second))
}

pub(super) fn look(subject: &Subject) -> Result<(), String> {
    let pid = subject.pid;
    let found = read(pid).filter(|found| Some(found.start_ticks) == subject.start_ticks);
    match found.map(|found| found.state) {
        None | Some('X' | 'x') => Err(format!("process {pid} is gone")),
        Some('Z') => Err(format!("process {pid} has ended and was not waited for")),
        Some('T') => Err(format!("process {pid} is stopped; SIGCONT lets it go on")),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_do_not_confuse() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21";
        for name in ["sh", "a) R (b", "with space", ")", ""] {
            let found = parse(&format!("17 ({name}) {tail}"));
            assert_eq!(found, Some(Found { state: 'S', start_ticks: 4242 }), "{name}");
        }
        assert_eq!(parse("17 (sh) S 1 2"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn our_own_start_lies_in_the_past() {
        let found = read(std::process::id()).unwrap();
        let now = hostler_base::Clock::system().instant();
        let age = now.checked_sub(since_boot(found.start_ticks)).unwrap();
        assert!(age < Duration::from_hours(24), "{age:?}");
    }
}
