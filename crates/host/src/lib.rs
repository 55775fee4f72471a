//! Idempotent primitives of a machine: files, packages, services, accounts, and what else a workflow, a
//! stack or the provisioning of a unit wants to be so.
//!
//! A primitive is plain data that says how something is to be. It can *check* (say what would be
//! different, and do nothing), *apply* (make it so) and *remove* (make it not be there); all of them
//! answer with an [`Outcome`]: whether something changed, words, and the differences.
//!
//! 1. Looking and doing are apart ([`plan`]): a primitive reads the machine and returns a [`Plan`]; a
//!    check shows the plan, applying performs it. They cannot disagree, and applying twice changes
//!    nothing the second time.
//! 2. Programs are run from their arguments, never through a shell ([`call`]), without waiting for
//!    answers from a terminal, with a limit on their time and output. What is secret goes to standard
//!    input. Names and values that could be taken for options or further lines are refused before.
//! 3. Files are replaced as a whole, never written through a symbolic link unless told so, and keep owner
//!    and mode unless told otherwise.
//! 4. Every error ([`HostError`]) says what to do next, and carries its cause.
//!
//! [`Host`] says where all this happens; with another root and commands that record, tests need no
//! machine of their own. Reading order is the order of the modules below.

mod error;

mod diff;
mod digest;
mod outcome;

pub mod call;
mod host;
mod system;

pub mod plan;
mod values;

pub mod facts;
mod keep;
mod place;

pub mod accounts;
pub mod archive;
pub mod authorized_keys;
pub mod command;
pub mod cron;
pub mod disks;
pub mod files;
pub mod firewall;
pub mod logs;
pub mod package;
pub mod processes;
pub mod service;
pub mod sysctl;

#[doc(hidden)]
pub mod fuzz;

pub use call::{Call, Commands, Finished};
pub use error::HostError;
pub use host::{Host, Privilege, is_root};
pub use keep::kept_because;
pub use outcome::{Change, Outcome};
pub use plan::{Plan, Primitive};
pub use system::System;
pub use values::{Content, Mode, Password};
