//! A place where tasks wait until the test lets them go, without costing anything meanwhile.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use super::Rig;

/// A named pipe: who opens it for reading waits for a writer.
pub struct Barrier(PathBuf);

impl Barrier {
    pub fn new(rig: &Rig, name: &str) -> Barrier {
        let path = rig.path(name);
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        Barrier(path)
    }

    /// What a shell script says to wait here.
    pub fn wait(&self) -> String {
        format!("read _ < {}", self.0.display())
    }

    /// Lets go who waits now; who comes later waits for the next time.
    pub fn open(&self) {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let _nobody_waits = File::options().write(true).custom_flags(flags).open(&self.0);
    }
}
