//! The last step of a child: exec, or words for why there was none.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;
use rustix::process::{Resource, Rlimit};

/// What a child is about to become.
pub struct Program {
    /// As the user wrote it.
    pub name: String,
    pub argv: Vec<CString>,
    pub env: Vec<CString>,
    /// Where a name without a slash is looked up.
    pub path: String,
    /// Where no cgroup keeps it. Set at the very end: we may be larger than the program may.
    pub address_space: Option<u64>,
    /// Stays open for the program.
    #[expect(dead_code, reason = "held only to stay open")]
    pub handed_on: Option<OwnedFd>,
}

impl Program {
    /// Returns only with the reason why there was no exec.
    pub fn exec(&self) -> String {
        let name = self.name.as_str();
        if let Some(bytes) = self.address_space {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            if let Err(e) = rustix::process::setrlimit(Resource::As, limit) {
                return format!("the memory limit cannot be set: {}", std::io::Error::from(e));
            }
        }
        if name.contains('/') {
            return match self.try_exec(&self.argv[0]) {
                Errno::ENOENT if Path::new(name).exists() => format!(
                    "program `{name}` is there, but the interpreter or loader it names is not"
                ),
                Errno::ENOENT | Errno::ENOTDIR => {
                    format!("program `{name}` does not exist on this node")
                }
                e => explain(name, e),
            };
        }
        let mut found = None;
        for dir in self.path.split(':').filter(|dir| !dir.is_empty()) {
            let Ok(file) = CString::new(format!("{dir}/{name}")) else {
                continue;
            };
            match self.try_exec(&file) {
                Errno::ENOENT if Path::new(dir).join(name).exists() => {
                    found = Some(Errno::ENOENT);
                }
                Errno::ENOENT | Errno::ENOTDIR => {}
                Errno::EACCES => found = found.or(Some(Errno::EACCES)),
                e => return explain(name, e),
            }
        }
        match found {
            None => format!("program `{name}` was not found in PATH ({})", self.path),
            Some(Errno::ENOENT) => {
                format!("program `{name}` is in PATH, but the interpreter it names is not there")
            }
            Some(e) => explain(name, e),
        }
    }

    fn try_exec(&self, file: &CString) -> Errno {
        match nix::unistd::execve(file, &self.argv, &self.env) {
            Ok(never) => match never {},
            Err(e) => e,
        }
    }
}

fn explain(name: &str, e: Errno) -> String {
    match e {
        Errno::EACCES => format!("program `{name}` may not be executed by this user"),
        Errno::ENOEXEC => format!(
            "program `{name}` has a format this node cannot execute; a script needs a first line such as #!/bin/sh"
        ),
        Errno::E2BIG => "arguments and environment are longer than this node allows".to_owned(),
        Errno::ETXTBSY => format!("program `{name}` is being written to"),
        e => format!("program `{name}` cannot be executed: {}", e.desc()),
    }
}
