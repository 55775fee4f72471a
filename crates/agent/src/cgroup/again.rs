//! A cgroup that serves one short run after another.
//!
//! What a cgroup has counted cannot be set back, so it is kept only while all that its runs have used
//! together is a trifle: nobody takes that for the use of the run that happens to come last. The same goes
//! for memory that is charged to it still, such as files in memory that a run has left, of which the next
//! would have so much less. And it is given up while it is young, well before somebody might take it for
//! forgotten ([`super::STALE`]).
//!
//! Runs follow each other in it, and never meet: it is kept only by a shim whose run has ended in order,
//! with nothing left in it, and used only by the same shim. An exit is written before the next run
//! begins, so a record of a start without an exit names a cgroup that holds nothing of anybody else.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::{Confinement, STALE};
use crate::sys;
use crate::wire::{Binding, Bounds};

const CPU_MAX: Duration = Duration::from_millis(100);
const MEMORY_MAX: u64 = 32 << 20;
/// Of 512 bytes each, read and written.
const BLOCKS_MAX: i64 = 2048;
const AGE_MAX: Duration = Duration::from_secs(STALE.as_secs() / 4);

/// How things stood when a cgroup was made.
#[derive(Default)]
pub struct Since {
    time: Duration,
    used: Used,
}

impl Since {
    pub fn now() -> Since {
        Since { time: sys::boottime(), used: Used::so_far() }
    }
}

/// By all children of this process that have ended.
#[derive(Default)]
struct Used {
    cpu: Duration,
    blocks: i64,
    /// The most that one of them had.
    memory: u64,
}

impl Used {
    fn so_far() -> Used {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Used::default() };
        let micros = (usage.user_time() + usage.system_time()).num_microseconds();
        Used {
            cpu: Duration::from_micros(micros.unsigned_abs()),
            blocks: usage.block_reads() + usage.block_writes(),
            memory: usage.max_rss().unsigned_abs() << 10,
        }
    }
}

impl Confinement {
    /// Whether it may be kept for the shim's next run.
    pub fn may_serve_again(&self) -> bool {
        let used = Used::so_far();
        self.old.is_empty()
            && used.cpu.saturating_sub(self.since.used.cpu) < CPU_MAX
            && used.blocks - self.since.used.blocks < BLOCKS_MAX
            && used.memory < MEMORY_MAX
            && self.charged() <= self.bounded_memory() / 32
            && sys::boottime().saturating_sub(self.since.time) < AGE_MAX
    }

    fn bounded_memory(&self) -> u64 {
        [self.bounds.memory, self.bounds.memory_high]
            .into_iter()
            .filter(|bound| *bound > 0)
            .fold(32 * MEMORY_MAX, u64::min)
    }

    /// Memory that counts as its own although nothing runs in it.
    fn charged(&self) -> u64 {
        let file = self.group.as_ref().map(|group| group.path.join("memory.current"));
        let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    /// Whether another run would be confined in the same way.
    pub fn suits(&self, bounds: &Bounds, binding: &Binding) -> bool {
        self.bounds == *bounds && binding.is_none()
    }
}
