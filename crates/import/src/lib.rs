//! What people have, said as Hostler workloads: Compose files, crontabs, systemd units, Procfiles and
//! supervisord configurations.
//!
//! Everything here is a function from text to a [`Plan`]: the workloads, and a [`Remark`] with file
//! and line for whatever is lost, means something else, or is worth knowing. Nothing is read, looked
//! up or run; variables and files are passed in. Three rules hold for every format:
//!
//! 1. Nothing vanishes silently. A setting that has no equivalent gets a remark that says what to do.
//! 2. Every spec of a plan is valid: what the model refuses is left out, with the model's own reason
//!    as the remark.
//! 3. Text that the original program would refuse is [`Unreadable`], with line and column; there is
//!    no plan of half a file.
//!
//! Reading order is the order of the modules below.

mod plan;

mod names;
mod quantities;
mod relate;
mod settle;
mod words;

mod compose;
mod crontab;
mod environment;
mod procfile;
mod supervisord;
mod systemd;

pub use compose::compose;
pub use crontab::{CrontabForm, crontab};
pub use environment::{Variables, variables};
pub use plan::{Plan, Remark, RemarkKind, Source, Unreadable};
pub use procfile::procfile;
pub use supervisord::supervisord;
pub use systemd::systemd;
