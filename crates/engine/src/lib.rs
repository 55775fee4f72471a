//! The decisions of Hostler: a snapshot and the time in, actions out.
//!
//! Nothing here reads a clock, draws a random number or does IO, so every decision can be tested by
//! the thousand. `control` performs what the server-side decisions say, `agent` what `supervise` says.

pub mod backup_due;
pub mod doctor;
pub mod figures;
pub mod health;
pub mod hook;
pub mod liveness;
pub mod lock;
pub mod log_share;
pub mod observe;
pub mod place;
pub mod resync;
pub mod schedule;
pub mod spread;
pub mod stack;
pub mod state;
pub mod supervise;
pub mod throttle;
pub mod timeline;
pub mod vitals;
pub mod watch;
pub mod workflow;
