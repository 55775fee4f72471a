//! The fires of a schedule, in order.
//!
//! Jitter moves a start by a share of the room it has: at most the jitter, and never as far as the next
//! fire, so that starts keep the order of their fires. A workload has one share on each node (from the
//! salt), the same every time; a schedule of the control plane has another one for every time, the same
//! on every server.

use std::time::Duration;

use hostler_model::schedule::{FireRemark, ScheduleSpec, When};
use hostler_model::{
    CatchUp, CronError, Diagnostic, NodeId, Overlap, Schedule, ScheduleId, Timestamp, WorkloadId,
    ZoneError,
};
use jiff::tz::TimeZone;

use super::times::Times;

/// A schedule that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error(transparent)]
    Cron(#[from] CronError),
    #[error(transparent)]
    Zone(#[from] ZoneError),
    #[error("the node's own time zone is not known")]
    LocalUnknown,
}

/// One of the times at which a schedule starts something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fire {
    /// When the schedule says; names the fire.
    pub time: Timestamp,
    /// When to start: the same, put off by jitter.
    pub start: Timestamp,
}

/// A schedule ready to be followed.
#[derive(Clone, Debug)]
pub struct Timetable {
    times: Times,
    starts: Option<Timestamp>,
    ends: Option<Timestamp>,
    jitter: Duration,
    share: Share,
    pub(super) overlap: Overlap,
    pub(super) catch_up: CatchUp,
    pub(super) window: Duration,
    /// How many missed fires wait at most.
    pub(super) limit: u32,
}

/// How much of the room for jitter is used.
#[derive(Clone, Copy, Debug)]
enum Share {
    Always(u64),
    /// Another for every time, from this salt.
    EachTime(u64),
}

impl Share {
    const fn at(self, time: Timestamp) -> u64 {
        match self {
            Share::Always(share) => share,
            Share::EachTime(salt) => spread(salt ^ spread(time.micros().cast_unsigned())),
        }
    }
}

const LOCAL: &str = "local";
/// How many missed fires of a workload wait at most.
const WAITING: u32 = 100;
const FIRST_LOOK_BACK: Duration = Duration::from_secs(60);
const MICRO: Duration = Duration::from_micros(1);

impl Timetable {
    /// `salt` (see [`workload_salt`]) decides this node's share of the jitter: the same for the same
    /// workload and node, different for others. `local` is the node's own time zone.
    pub fn new(
        schedule: &Schedule,
        salt: u64,
        local: &TimeZone,
    ) -> Result<Timetable, ScheduleError> {
        let times = Times::Cron(Box::new(schedule.cron.parse()?), schedule.zone(local)?);
        Ok(Timetable {
            times,
            starts: None,
            ends: None,
            jitter: schedule.jitter.duration(),
            share: Share::Always(spread(salt)),
            overlap: schedule.overlap,
            catch_up: schedule.catch_up,
            window: schedule.catch_up_window.duration(),
            limit: WAITING,
        })
    }

    /// As every server follows it; the mistakes where it cannot be followed.
    pub fn of(spec: &ScheduleSpec, id: ScheduleId) -> Result<Timetable, Vec<Diagnostic>> {
        let times = match spec.when()? {
            When::Cron(cron, zone) => Times::Cron(cron, zone),
            When::Every(every) => {
                Times::Every(every.duration(), spec.starts.unwrap_or(Timestamp::EPOCH))
            }
            When::At(at) => Times::At(at),
        };
        Ok(Timetable {
            times,
            starts: spec.starts,
            ends: spec.ends,
            jitter: spec.jitter.duration(),
            share: Share::EachTime(id.uuid().as_u64_pair().1),
            overlap: spec.overlap,
            catch_up: spec.catch_up,
            window: spec.catch_up_window.duration(),
            limit: spec.catch_up_limit,
        })
    }

    /// What is special about a fire where clocks are changed, given the one before.
    pub fn remark(&self, time: Timestamp, before: Option<Timestamp>) -> Option<FireRemark> {
        self.times.remark(time, before)
    }

    /// As a node follows it whose own time zone goes by the name `local`; seen from elsewhere.
    pub fn on_node(
        schedule: &Schedule,
        node: NodeId,
        workload: WorkloadId,
        local: Option<&str>,
    ) -> Result<Timetable, ScheduleError> {
        let salt = workload_salt(node_salt(node), workload);
        if schedule.timezone != LOCAL {
            return Timetable::new(schedule, salt, &TimeZone::UTC);
        }
        let timezone = local.ok_or(ScheduleError::LocalUnknown)?.to_owned();
        Timetable::new(&Schedule { timezone, ..schedule.clone() }, salt, &TimeZone::UTC)
    }

    /// The first fire whose time is after this.
    pub fn next(&self, after: Timestamp) -> Option<Fire> {
        Some(self.fire(self.time_after(after)?))
    }

    /// The first fire that is started after this: it may have been put off since before.
    pub fn next_start(&self, after: Timestamp) -> Option<Fire> {
        let put_off = self.last_time(after.minus(self.jitter), after).map(|time| self.fire(time));
        put_off.filter(|fire| fire.start > after).or_else(|| self.next(after))
    }

    /// The first `n` fires that are started after this.
    pub fn preview(&self, after: Timestamp, n: usize) -> Vec<Fire> {
        std::iter::successors(self.next_start(after), |fire| self.next(fire.time)).take(n).collect()
    }

    pub(super) fn fire(&self, time: Timestamp) -> Fire {
        if self.jitter.is_zero() {
            return Fire { time, start: time };
        }
        let room = self.time_after(time).map_or(self.jitter, |next| next.since(time));
        let most = self.jitter.min(room).as_micros();
        let delay = u64::try_from((most * u128::from(self.share.at(time))) >> 64)
            .expect("a share of at most the room, which came from 64 bits");
        Fire { time, start: time.plus(Duration::from_micros(delay)) }
    }

    pub(super) fn time_after(&self, after: Timestamp) -> Option<Timestamp> {
        let after = self.starts.map_or(after, |starts| after.max(before(starts)));
        self.times.after(after).filter(|time| self.ends.is_none_or(|ends| *time <= ends))
    }

    /// The latest time in `(after, until]`.
    pub(super) fn last_time(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        let mut back = FIRST_LOOK_BACK;
        let mut found = loop {
            let edge = until.minus(back).max(after);
            match self.time_after(edge).filter(|time| *time <= until) {
                Some(time) => break time,
                None if edge <= after => return None,
                None => back = back.saturating_mul(4),
            }
        };
        let mut end = until;
        while let Some(following) = self.time_after(found).filter(|time| *time <= end) {
            let middle = found.plus(end.since(found) / 2);
            match self.time_after(middle).filter(|time| *time <= end) {
                Some(later) => found = later,
                None => (found, end) = (following, middle),
            }
        }
        Some(found)
    }
}

/// Tells nodes apart.
pub fn node_salt(node: NodeId) -> u64 {
    let (high, low) = node.uuid().as_u64_pair();
    high ^ low
}

/// Tells workloads on a node apart. Whoever knows both ids knows the node's share of the jitter.
pub fn workload_salt(node_salt: u64, workload: WorkloadId) -> u64 {
    node_salt ^ spread(workload.uuid().as_u64_pair().1)
}

/// Just before this moment, for ranges that leave their beginning out.
pub(super) fn before(time: Timestamp) -> Timestamp {
    time.minus(MICRO)
}

/// Neighbouring numbers come out far apart (the finaliser of SplitMix64).
const fn spread(salt: u64) -> u64 {
    let mut bits = salt.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
