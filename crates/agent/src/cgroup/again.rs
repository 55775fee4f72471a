//! A cgroup that serves one short run after another.
//!
//! What a cgroup has counted cannot be set back, so it is kept only while all that its runs have used
//! together is a trifle: nobody takes that for the use of the run that happens to come last. And it is
//! given up while it is young, well before somebody might take it for forgotten ([`super::STALE`]).
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
const MEMORY_MAX_KIB: i64 = 32 << 10;
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
    memory_kib: i64,
}

impl Used {
    fn so_far() -> Used {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Used::default() };
        let micros = (usage.user_time() + usage.system_time()).num_microseconds();
        Used {
            cpu: Duration::from_micros(micros.unsigned_abs()),
            blocks: usage.block_reads() + usage.block_writes(),
            memory_kib: usage.max_rss(),
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
            && used.memory_kib < MEMORY_MAX_KIB
            && sys::boottime().saturating_sub(self.since.time) < AGE_MAX
    }

    /// Whether another run would be confined in the same way.
    pub fn suits(&self, bounds: &Bounds, binding: &Binding) -> bool {
        self.bounds == *bounds && binding.is_none()
    }
}
