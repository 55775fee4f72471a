//! Executions of workflows in one process.
//!
//! What `engine::workflow` decides is carried out here, without a server: steps are bodies of the language or programs,
//! several at a time on one thread, each ended with everything it started when it is not wanted any more. A journal on
//! disk says what began and how it ended, so that an execution whose process died goes on where it was, and what was
//! under way then is reported as uncertain instead of being done twice.
//!
//! Reading order: `run` (what an execution is given), `flow` (the loop), `stage` (what a step is given), `journal`,
//! `leftover` (what outlived the process of an execution), `artifacts`, `workdir`, `scrub`, `job` (one step of an execution that a server carries out),
//! `another` (steps of other users), `plugin` (plugins of stacks).

mod another;
mod artifacts;
mod caller;
mod crew;
mod flow;
mod job;
mod journal;
mod leftover;
pub mod plugin;
mod report;
mod run;
mod scrub;
mod stage;
mod workdir;

#[doc(hidden)]
pub mod fuzz;

pub use another::act_as;
pub use job::perform_job;
pub use journal::{Journal, JournalError, Past};
pub use plugin::{is_plugin_call, perform_plugin};
pub use report::{Report, StepReport};
pub use run::{Answer, FlowError, Observer, Setup, Told, run};
pub use scrub::Scrub;

/// The word that makes this program one that carries out a step as another user, whose name follows.
pub const STEP_AS: &str = "step-as";

/// Kills whatever still runs of an execution of this machine, at once; how many processes that were.
pub fn kill(execution: &str) -> usize {
    leftover::kill_all(execution)
}
