//! Executions of workflows in one process.
//!
//! What `engine::workflow` decides is carried out here, without a server: steps are bodies of the language or programs,
//! several at a time on one thread, each ended with everything it started when it is not wanted any more. A journal on
//! disk says what began and how it ended, so that an execution whose process died goes on where it was, and what was
//! under way then is reported as uncertain instead of being done twice.
//!
//! Reading order: `run` (what an execution is given), `flow` (the loop), `stage` (what a step is given), `journal`,
//! `leftover` (what outlived the process of an execution), `artifacts`, `job` (one step of an execution that a server carries out).

mod artifacts;
mod caller;
mod crew;
mod flow;
mod job;
mod journal;
mod leftover;
mod report;
mod run;
mod stage;

#[doc(hidden)]
pub mod fuzz;

pub use job::{Scrub, perform_job};
pub use journal::{Journal, JournalError, Past};
pub use report::{Report, StepReport};
pub use run::{Answer, FlowError, Observer, Setup, Told, run};
