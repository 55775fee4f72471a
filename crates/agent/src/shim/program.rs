//! The last step of a child: exec, or words for why there was none.
//!
//! [`Program::exec`] allocates nothing, for it may run in a child that shares the shim's memory
//! (`plain`); what it found out is put into words by whoever has a heap of its own.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use rustix::fs::Access;
use rustix::process::{Resource, Rlimit};

use crate::sys::Image;

/// What a child is about to become.
pub struct Program {
    /// As the user wrote it.
    pub name: String,
    pub image: Image,
    /// Where a name without a slash is looked up.
    pub path: String,
    /// The files to try, one after the other.
    pub files: Vec<CString>,
    /// Where no cgroup keeps it. Set at the very end: we may be larger than the program may.
    pub address_space: Option<u64>,
    /// Stays open for the program.
    #[expect(dead_code, reason = "held only to stay open")]
    pub handed_on: Option<OwnedFd>,
}

/// Why there was no exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    AddressSpace(Errno),
    /// No file of that name.
    Absent,
    /// The file is there, but not what it needs to be run.
    Incomplete,
    Refused(Errno),
}

impl Program {
    pub fn new(argv: Vec<CString>, env: Vec<CString>, path: String) -> Program {
        let name = argv.first().cloned().unwrap_or_default();
        let files = if name.as_bytes().contains(&b'/') {
            vec![name.clone()]
        } else {
            let dirs = path.split(':').filter(|dir| !dir.is_empty());
            let file =
                |dir: &str| CString::new([dir.as_bytes(), b"/", name.as_bytes()].concat()).ok();
            dirs.filter_map(file).collect()
        };
        Program {
            name: name.to_string_lossy().into_owned(),
            image: Image::new(argv, env),
            path,
            files,
            address_space: None,
            handed_on: None,
        }
    }

    /// Returns only with the reason why there was no exec.
    pub fn exec(&self) -> Unfit {
        if let Some(bytes) = self.address_space {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            if let Err(e) = rustix::process::setrlimit(Resource::As, limit) {
                return Unfit::AddressSpace(Errno::from_raw(e.raw_os_error()));
            }
        }
        let mut found = Unfit::Absent;
        for file in &self.files {
            match self.image.exec(file) {
                Errno::ENOENT if is_there(file) => found = Unfit::Incomplete,
                Errno::ENOENT | Errno::ENOTDIR => {}
                Errno::EACCES if found == Unfit::Absent => found = Unfit::Refused(Errno::EACCES),
                Errno::EACCES => {}
                e => return Unfit::Refused(e),
            }
        }
        found
    }

    pub fn explain(&self, unfit: Unfit) -> String {
        let name = &self.name;
        let is_searched = !name.contains('/');
        match unfit {
            Unfit::AddressSpace(e) => {
                format!("the memory limit cannot be set: {}", io::Error::from(e))
            }
            Unfit::Absent if is_searched => {
                format!("program `{name}` was not found in PATH ({})", self.path)
            }
            Unfit::Absent => format!("program `{name}` does not exist on this node"),
            Unfit::Incomplete if is_searched => {
                format!("program `{name}` is in PATH, but the interpreter it names is not there")
            }
            Unfit::Incomplete => {
                format!("program `{name}` is there, but the interpreter or loader it names is not")
            }
            Unfit::Refused(Errno::EACCES) => {
                format!("program `{name}` may not be executed by this user")
            }
            Unfit::Refused(Errno::ENOEXEC) => format!(
                "program `{name}` has a format this node cannot execute; a script needs a first line such as #!/bin/sh"
            ),
            Unfit::Refused(Errno::E2BIG) => {
                let (longest, length) = self.image.longest();
                format!(
                    "arguments and environment are longer than this node allows; the longest is {longest} with {length} bytes: give it as a file"
                )
            }
            Unfit::Refused(Errno::ETXTBSY) => format!("program `{name}` is being written to"),
            Unfit::Refused(e) => format!("program `{name}` cannot be executed: {}", e.desc()),
        }
    }
}

fn is_there(file: &CStr) -> bool {
    rustix::fs::access(file, Access::EXISTS).is_ok()
}
