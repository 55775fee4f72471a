//! An agent alone: no server, no session, no certificate. What it runs is written in a directory of
//! workload files.
//!
//! The directory is a *source*, nothing more: what it says is compared with what the ledger holds
//! (`plan`) and the difference is given to the supervisor as wishes, in the very form in which a server
//! gives them (`source`). From there on everything is as on a node of a fleet: written before it is
//! done, found again after a crash.
//!
//! What holds:
//!
//! 1. Half a directory is never applied. Files with mistakes leave everything as it is; only at the
//!    very first start, when there is nothing to go on with, they keep the agent from starting.
//! 2. What is written as before is not touched: no wish mentions it, its processes stay.
//! 3. A workload's ids follow from its name alone, so an agent that has lost its ledger knows what it
//!    finds running, and adopts it.
//!
//! A crash between reading and writing changes nothing; one in the middle of many wishes leaves a part
//! of them, and the next start compares again and wishes for the rest.

mod node;
mod plan;
mod source;

pub(crate) use node::this_node;
pub(crate) use plan::Plan;
pub(crate) use source::{DirectorySource, Hangups};

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use hostler_manifest::{Loader, Report, Set};

/// The ledger of an agent that has no node id from a server.
pub(crate) const LEDGER: &str = "standalone";

/// What a data directory has of an agent without a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    None,
    /// One ran there.
    Left,
    /// One runs there now.
    Running,
}

/// Looks at its ledger and at the lock beside it, which lasts as long as the agent.
pub(crate) fn trace(data_dir: &Path) -> Trace {
    if !data_dir.join(format!("ledger-{LEDGER}")).exists() {
        return Trace::None;
    }
    match File::open(data_dir.join(format!("ledger-{LEDGER}.lock"))).map(|lock| lock.try_lock()) {
        Ok(Err(TryLockError::WouldBlock)) => Trace::Running,
        Ok(_) | Err(_) => Trace::Left,
    }
}

/// A directory to take workloads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standalone {
    directory: PathBuf,
    home: PathBuf,
}

impl Standalone {
    /// `home` is the working directory of workloads in Master Control's form, which has no field for
    /// it: the directory's parent when absent.
    pub fn new(directory: &Path, home: Option<&Path>) -> io::Result<Standalone> {
        let directory = std::path::absolute(directory)?;
        let home = match home {
            Some(home) => std::path::absolute(home)?,
            None => directory.parent().unwrap_or(&directory).to_owned(),
        };
        Ok(Standalone { directory, home })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads the files: all of them, or every mistake.
    pub fn load(&self) -> Result<Set, Report> {
        Loader::new().home(self.home.to_string_lossy()).dir(&self.directory)
    }
}
