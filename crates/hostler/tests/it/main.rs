//! The whole of Hostler as its users have it: the real binary, real processes, real signals.
//!
//! `rig` builds installations in temporary directories and takes them down again, whatever happens;
//! `e2e` holds the tests, one file for each theme, and `attack` those who mean harm. They run one after the other
//! (`.config/nextest.toml`), so that their deadlines mean something.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests fail by panicking, and say what they skipped or saw"
)]

mod attack;
mod e2e;
mod rig;
