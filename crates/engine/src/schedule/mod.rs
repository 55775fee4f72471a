//! Schedules: when a scheduled workload is started, and when it is not.
//!
//! A *fire* is a time at which a schedule says "now". A [`Timetable`] knows a schedule's fires; a
//! [`FireLog`] remembers what became of them; [`Timetable::decide`] puts both together with the wall
//! clock and says what to do. Durations elsewhere are monotonic: only here a wall clock is believed,
//! and never much.
//!
//! **When clocks are changed.** Two kinds of schedules, told apart by how they are written
//! (`Cron::is_interval`):
//! - *At a time* (`30 2 * * *`): once for each day that has one. A time that the change leaves out
//!   comes at the moment of the change, once, however many were left out. A time that comes twice
//!   counts the first time only.
//! - *Every so often* (`*/15 * * * *`): whenever the face of the clock matches, and only then. What is
//!   left out is not made up for, what is shown twice counts twice, so that quarters of an hour stay
//!   quarters of an hour of real time through both changes.
//!
//! **At most once, for ever.** Every fire that was started is in the log's `handled`, which only
//! grows, and nothing in it is started again, whatever the clock does. The log is written before
//! anything is done: a crash in between loses that start and never doubles it; a crash before the
//! write changes nothing. Of what is skipped only the fact that it is behind us is kept.
//!
//! **Late.** Up to a minute is no lateness at all. Beyond that a fire was *missed* (the node was down
//! or asleep, the clock was set forward), and so were all fires but the latest when several are due at
//! once: one decision starts one run, never a burst. Catching up, `none` skips what was missed, `one`
//! starts the latest within the window, `all` lines them up (the latest hundred within the window) and
//! starts the next whenever nothing runs. What waits longer than the window is given up. While
//! something waits under `forbid`, later fires line up behind it; under `allow` and `replace` they
//! come at their own time.
//!
//! Under `queue` one fire waits for what runs, however it came to wait, and starts when that has ended.
//!
//! **The clock goes back.** A little: fires are waited for where they left off. By more than the
//! window (a minute at least, a day at most): the clock was wrong before, and the schedule goes on
//! from now; fires that the wrong clock started are left out when their time comes.
//!
//! **No clock yet.** Before 2020 nothing is believed and nothing starts (small machines boot in 1970);
//! a schedule that began in such a time begins when the clock makes sense.
//!
//! **Bounded.** Looking for the latest fire is a bisection, counting stops at a thousand, a log holds
//! sixteen stretches: a year of missed seconds costs as much as an hour of them.

mod decide;
mod log;
mod times;
mod timetable;
mod together;
mod turn;

#[cfg(test)]
mod clock_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod turn_tests;

pub use decide::{Decision, Skip, Skipped};
pub use log::FireLog;
pub use timetable::{Fire, ScheduleError, Timetable, node_salt, workload_salt};
pub use together::{Together, first_starts};
pub use turn::{Start, Turn};
