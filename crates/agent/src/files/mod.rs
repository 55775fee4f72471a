//! Files that are put before a run, and files that it leaves.
//!
//! Before the program starts, its inputs are fetched and put into a fresh working directory
//! ([`furnish`]); after it has ended, its outputs are put at the server ([`keep`]), and only then is its
//! end told. So who sees that a task has ended finds what it left.
//!
//! The working directory belongs to a program that may be up to anything, while the agent is often root.
//! So every step into it (`inner`) goes from one open directory to the next and never through a symbolic
//! link, archives are unpacked by our own rules (`unpack`), and what is read is a plain file that belongs
//! to whom the directory belongs to (`gather`).
//!
//! Killed in the middle: inputs are put anew by the next attempt, into an emptied directory, as long as
//! the program has not started; outputs are gathered anew until `outputs.json` in the run's directory
//! says that the server has them.

mod gather;
pub(crate) mod inner;
mod keep;
pub(crate) mod pattern;
mod place;
mod unpack;

use hostler_model::{Exit, Input, Output, OutputWhen};
use serde::{Deserialize, Serialize};

pub(crate) use keep::keep;
pub(crate) use place::{Doing, furnish};
pub(crate) use unpack::{Bounds, unpack};

/// In the run's directory, once the server has what the run left.
pub(crate) const KEPT: &str = "outputs.json";

/// What a run finds, and what it is to leave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}

impl Files {
    pub fn is_none(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty()
    }

    /// What is to be kept after such an end.
    pub fn kept_after(&self, exit: &Exit) -> Vec<Output> {
        let is_meant = |output: &&Output| match output.when {
            OutputWhen::Always => true,
            OutputWhen::Success => exit.is_success(),
        };
        self.outputs.iter().filter(is_meant).cloned().collect()
    }
}
