//! Figures: processors, memory, load, and how full a file system is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostler_base::Clock;
use hostler_engine::watch::Seen;

use crate::facts::{cpu_times, meminfo, text};

/// How long the processors are looked at where there was no look before.
const WINDOW: Duration = Duration::from_millis(500);

fn counted() -> Result<(u64, u64), String> {
    cpu_times(&text("/proc/stat")).ok_or_else(|| "/proc/stat cannot be read".to_owned())
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
fn percent(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => (part as f64 / whole as f64 * 1000.0).round() / 10.0,
    }
}

/// How busy they were since the look before.
pub(super) async fn cpu(clock: &Clock, before: &Mutex<Option<(u64, u64)>>) -> Result<Seen, String> {
    let known = *before.lock().unwrap_or_else(PoisonError::into_inner);
    let first = match known {
        Some(known) => known,
        None => {
            let first = counted()?;
            clock.sleep(WINDOW).await;
            first
        }
    };
    let now = counted()?;
    *before.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    let (busy, all) = (now.0.saturating_sub(first.0), now.1.saturating_sub(first.1));
    Ok(Seen::Figure(percent(busy, all)))
}

pub(super) fn memory() -> Result<Seen, String> {
    let text = text("/proc/meminfo");
    let (all, free) = (meminfo(&text, "MemTotal"), meminfo(&text, "MemAvailable"));
    match (all, free) {
        (Some(all), Some(free)) => Ok(Seen::Figure(percent(all.saturating_sub(free), all))),
        _ => Err("/proc/meminfo cannot be read".to_owned()),
    }
}

pub(super) fn load() -> Result<Seen, String> {
    let text = text("/proc/loadavg");
    let first = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    first.map(Seen::Figure).ok_or_else(|| "/proc/loadavg cannot be read".to_owned())
}

/// Of what others than root can use, as `df` says it.
pub(super) fn disk(path: &str) -> Result<Seen, String> {
    let stat = rustix::fs::statvfs(path).map_err(|errno| format!("{path}: {errno}"))?;
    let used = stat.f_blocks.saturating_sub(stat.f_bfree);
    Ok(Seen::Figure(percent(used, used.saturating_add(stat.f_bavail))))
}
