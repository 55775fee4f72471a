//! Keeping the output of a node within bounds: one slow pass now and then over every run there is.
//!
//! In a pass, closed segments that are too old go; those that have been closed for a while are packed;
//! then each workload is brought within its own bounds and the node within the total, the oldest
//! segments first. A segment that may still be written to is never touched, so a workload can exceed
//! its bounds by one; within a run its shim keeps the bounds anyway, with or without an agent.
//!
//! A program that writes more than it may keep has its segments deleted soon: they are not packed in
//! vain, because they have to be [`Keeper::pack_after`] old for that, and a pass packs a limited
//! amount. Nothing is written twice: packed is packed.
//!
//! When the last segment of an ended run goes, an empty one remains that says how much there was, so
//! that a reader can tell lost output from none. A crash in the middle of a pass leaves less to do
//! for the next. There may be only one pass at a time.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_model::{Bytes, LogPolicy, Timestamp};

use super::pack::{self, Packed, Stored, take_stock};
use super::{SEGMENT_HEADER, SegmentHeader, segment, segment_name};
use crate::rundir::RunDir;

/// The node's own bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeper {
    /// Of all workloads together.
    pub total: Bytes,
    /// Segments that were written to in this time are left plain.
    pub pack_after: Duration,
    /// In one pass.
    pub pack_at_most: Bytes,
}

impl Default for Keeper {
    fn default() -> Keeper {
        Keeper {
            total: Bytes::mib(4096),
            pack_after: Duration::from_secs(60),
            pack_at_most: Bytes::mib(256),
        }
    }
}

/// A workload, with the directories of its runs, oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWorkload {
    pub policy: LogPolicy,
    pub runs: Vec<PathBuf>,
}

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub compressed: Packed,
    /// Segments, and what they took on disk.
    pub removed: u64,
    pub removed_bytes: u64,
    /// On disk after the pass.
    pub bytes_kept: u64,
    /// What could not be done; it is tried again with the next pass.
    pub problems: Vec<String>,
}

struct Kept<'a> {
    workload: usize,
    dir: &'a Path,
    stored: Stored,
    /// Never later than that of a later segment of the same run, whatever the clock did.
    time: Timestamp,
    is_last_of_run: bool,
}

impl Kept<'_> {
    /// A segment without frames is what remains of others.
    fn can_go(&self) -> bool {
        self.stored.is_closed && self.stored.bytes > SEGMENT_HEADER as u64
    }
}

impl Keeper {
    /// Goes over the given runs once. Blocks on the file system, and computes.
    pub fn pass(&self, workloads: &[KeptWorkload], now: Timestamp) -> Pass {
        let mut pass = Pass::default();
        let mut kept = collect(workloads, &mut pass);
        self.drop_old(workloads, now, &mut kept, &mut pass);
        self.pack(now, &mut kept, &mut pass);
        for (workload, KeptWorkload { policy, .. }) in workloads.iter().enumerate() {
            let is_its = |kept: &Kept<'_>| kept.workload == workload;
            trim(&mut kept, policy.max_bytes.get(), is_its, &mut pass);
        }
        trim(&mut kept, self.total.get(), |_| true, &mut pass);
        pass.bytes_kept += kept.iter().map(|kept| kept.stored.bytes).sum::<u64>();
        pass
    }

    fn drop_old(
        &self,
        workloads: &[KeptWorkload],
        now: Timestamp,
        kept: &mut Vec<Kept<'_>>,
        pass: &mut Pass,
    ) {
        kept.retain(|one| {
            let max_age = workloads[one.workload].policy.max_age.duration();
            let is_due = one.can_go() && now.since(one.time) > max_age;
            !(is_due && drop_one(one, pass))
        });
    }

    fn pack(&self, now: Timestamp, kept: &mut [Kept<'_>], pass: &mut Pass) {
        let due = kept.iter_mut().filter(|one| {
            one.stored.is_worth_packing() && now.since(one.stored.time) >= self.pack_after
        });
        for one in due {
            if pass.compressed.bytes_before >= self.pack_at_most.get() {
                return;
            }
            match pack::pack(one.dir, one.stored.number) {
                Ok(packed) => {
                    if packed.segments > 0 {
                        one.stored.bytes = packed.bytes_after;
                        one.stored.form = super::Form::Packed;
                    }
                    pass.compressed.add(packed);
                }
                Err(error) => pass.problem("packed", one, &error),
            }
        }
    }
}

impl Pass {
    fn problem(&mut self, what: &str, kept: &Kept<'_>, error: &io::Error) {
        let path = kept.dir.join(kept.stored.name());
        self.problems.push(format!("{} cannot be {what}: {error}", path.display()));
    }
}

/// Every segment there is, the oldest first.
fn collect<'a>(workloads: &'a [KeptWorkload], pass: &mut Pass) -> Vec<Kept<'a>> {
    let mut all = Vec::new();
    for (workload, KeptWorkload { runs, .. }) in workloads.iter().enumerate() {
        for dir in runs {
            let stock = match take_stock(dir) {
                Ok(stock) => stock,
                Err(error) => {
                    pass.problems.push(format!("{} cannot be read: {error}", dir.display()));
                    continue;
                }
            };
            let mut time = Timestamp::from_micros(i64::MAX);
            let mut is_last_of_run = true;
            for stored in stock.into_iter().rev() {
                time = time.min(stored.time);
                all.push(Kept { workload, dir, stored, time, is_last_of_run });
                is_last_of_run = false;
            }
        }
    }
    all.sort_by_key(|kept| (kept.time, kept.stored.number));
    all
}

/// Drops the oldest of those that `counts` names until they are within the limit.
fn trim(kept: &mut Vec<Kept<'_>>, limit: u64, counts: impl Fn(&Kept<'_>) -> bool, pass: &mut Pass) {
    let mut bytes: u64 = kept.iter().filter(|one| counts(one)).map(|one| one.stored.bytes).sum();
    kept.retain(|one| {
        let is_due = bytes > limit && counts(one) && one.can_go();
        let is_dropped = is_due && drop_one(one, pass);
        if is_dropped {
            bytes -= one.stored.bytes;
        }
        !is_dropped
    });
}

fn drop_one(one: &Kept<'_>, pass: &mut Pass) -> bool {
    if one.is_last_of_run {
        pass.bytes_kept += leave_trace(one.dir, one.stored.number);
    }
    match pack::remove(&one.dir.join(one.stored.name())) {
        Ok(_) => {
            pass.removed += 1;
            pass.removed_bytes += one.stored.bytes;
            true
        }
        Err(error) => {
            pass.problem("removed", one, &error);
            false
        }
    }
}

/// Puts an empty segment behind the last one, and says how many bytes that took. On a full disk it may
/// not be possible, and room matters more then.
pub(super) fn leave_trace(dir: &Path, last: u32) -> u64 {
    let mut output = 0;
    let header = segment::walk(dir, last, |frame| {
        output += frame.output_bytes().unwrap_or(0);
        ControlFlow::Continue(())
    });
    if let Ok(Some(header)) = header
        && let Ok(run) = RunDir::open_path(dir)
    {
        let trace = SegmentHeader { base: header.base + output, begins_line: [true; 2] };
        let bytes = trace.encode();
        if run.write(&segment_name(last + 1), &bytes).is_ok() {
            return bytes.len() as u64;
        }
    }
    0
}
