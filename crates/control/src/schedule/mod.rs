//! How schedules are followed: their times are decided on, and what they are for is done.
//!
//! One pass is three steps, each of which any server can do and any server can die in:
//!
//! 1. *Decide.* Hundreds of schedules whose time has come are read with how what they made stands, the engine
//!    says what is due (`Timetable::turn`), and one transaction writes the new logs and a row for each time.
//!    The logs are written only where nobody else decided meanwhile (`turn`), and a row is entered only where
//!    there is none for that schedule and time. So each time is begun once, by one server.
//! 2. *Perform.* What was begun is done through the one performer (`action`), with a key that is made of schedule
//!    and time: a server that finds a row which another left behind does the same again, and the rows that it
//!    would make are there already. Tasks of one owner go into one transaction.
//! 3. *End.* One transaction writes how all of them ended, unless somebody took them over meanwhile.
//!
//! Calls of addresses outside can take long, and are not rows: a loop of their own makes them, on any server. A
//! call whose server died is made again with the same key, or called uncertain, as the schedule says.
//!
//! At most one server decides at a time (a lease that saves work); when it dies, another goes on within
//! three seconds. Whatever was due by then is late by that much, which its row says; what a schedule's catching up
//! leaves out is a row too.

mod calls;
mod decide;
mod perform;
mod tally;

pub use calls::{ScheduleCallReport, ScheduleCalls};
pub use decide::ScheduleReport;
pub(crate) use tally::ScheduleTally;
pub use tally::{LATENESS_BOUNDS, ScheduleCounts};

use std::time::Duration;

use hostler_engine::schedule::{FireLog, Timetable};
use hostler_model::schedule::Schedule;
use hostler_model::{Diagnostic, Error, ObjectKind, ObjectRef, Timestamp};

/// How many schedules are decided on in one transaction.
const BATCH: u32 = 500;
/// What a server began and did not end by then is another's.
const FIRE_LEASE: Duration = Duration::from_secs(10);

pub(crate) fn schedule_object(schedule: &Schedule) -> ObjectRef {
    ObjectRef::new(ObjectKind::Schedule, schedule.id, &schedule.name)
}

/// The times of a schedule; one that cannot be read any more is a conflict with what this version knows.
pub(crate) fn timetable(schedule: &Schedule) -> Result<Timetable, Error> {
    Timetable::of(&schedule.spec, schedule.id).map_err(|problems: Vec<Diagnostic>| {
        let said = problems.first().map(|problem| problem.detail.clone()).unwrap_or_default();
        Error::conflict(
            format!("schedule `{}` cannot be followed: {said}", schedule.name),
            "change it with `hostler schedule add --replace`",
        )
    })
}

/// What became of its times. One that cannot be read begins anew: rows of times keep anything from being done twice.
fn log_of(schedule: &Schedule, now: Timestamp) -> FireLog {
    serde_json::from_value(schedule.log.clone()).unwrap_or_else(|_| FireLog::starting(now))
}

pub(crate) fn log_value(log: &FireLog) -> serde_json::Value {
    serde_json::to_value(log).unwrap_or_default()
}
