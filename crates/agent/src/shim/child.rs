//! The child between fork and exec: it becomes the program, or says in words why it cannot.
//!
//! It is a copy of the shim with one thread, so ordinary code may run here, and whatever memory that
//! takes is gone with the exec: reading the spec and looking up users happens here and not in the
//! shim, which has to stay small.
//!
//! All preparation comes before the gate, the exec after it. Words go back over the gate socket,
//! which closes itself on exec: silence means success.

use std::ffi::CString;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{Gid, Uid, User};
use rustix::fs::{Mode, OFlags};

use crate::rundir::{self, Login, Request, RunDir};
use crate::sys;

pub const MESSAGE_MAX: usize = 1024;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

pub fn become_program(run: &RunDir, gate: OwnedFd, stdout: &OwnedFd, stderr: &OwnedFd) -> ! {
    let attempt = AssertUnwindSafe(|| {
        let program = prepare(run, stdout, stderr)?;
        pass(&gate);
        Err(program.exec())
    });
    let why = match catch_unwind(attempt) {
        Ok(Ok(())) => String::new(),
        Ok(Err(why)) => why,
        Err(_) => "a defect in the preparation of the process; the spec is the cause".to_owned(),
    };
    let words = &why.as_bytes()[..why.len().min(MESSAGE_MAX)];
    let _ = rustix::net::send(&gate, words, rustix::net::SendFlags::NOSIGNAL);
    sys::exit_now(127)
}

/// Waits until `started.json` is written. When the shim dies before, nothing is executed.
fn pass(gate: &OwnedFd) {
    let mut byte = [0; 1];
    match rustix::io::retry_on_intr(|| rustix::io::read(gate, &mut byte)) {
        Ok(1) => {}
        Ok(_) | Err(_) => sys::exit_now(127),
    }
}

struct Program {
    request: Request,
    argv: Vec<CString>,
    env: Vec<CString>,
    path: String,
}

fn prepare(run: &RunDir, stdout: &OwnedFd, stderr: &OwnedFd) -> Result<Program, String> {
    let request: Request = run
        .read_json(rundir::SPEC)
        .map_err(|e| format!("the run's spec cannot be read: {e}"))?
        .ok_or("the run's spec is missing")?;
    let user = request.user.as_deref().map(find_user).transpose()?;

    rustix::process::setsid().map_err(failed("a new session cannot be made"))?;
    sys::default_signals();
    sys::unblock_signals().map_err(failed("signals cannot be reset"))?;
    sys::redirect(stdout.as_fd(), 1).map_err(failed("output cannot be connected"))?;
    sys::redirect(stderr.as_fd(), 2).map_err(failed("output cannot be connected"))?;
    sys::close_all_on_exec();

    let scratch = match request.workdir {
        None => Some(make_scratch(run, user.as_ref())?),
        Some(_) => None,
    };
    if let Some(user) = &user {
        switch_user(user)?;
    }
    rustix::process::umask(Mode::from_raw_mode(0o022));
    match (&request.workdir, scratch) {
        (Some(dir), _) => enter(dir)?,
        (None, Some(fd)) => rustix::process::fchdir(fd)
            .map_err(failed("the scratch directory cannot be entered"))?,
        (None, None) => {}
    }

    let login = user.as_ref().map_or_else(|| request.login.clone(), Login::of);
    let path = request.env.get("PATH").cloned().unwrap_or(PATH.to_owned());
    let words = request.argv.iter().map(|word| c_string(word));
    let argv = words.collect::<Result<Vec<_>, _>>()?;
    let env = environment(&request, &login)?;
    Ok(Program { argv, env, path, request })
}

fn failed<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> String {
    move |e| format!("{what}: {}", e.into())
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "arguments and environment cannot contain NUL".to_owned())
}

fn environment(request: &Request, login: &Login) -> Result<Vec<CString>, String> {
    let defaults = [
        ("PATH", PATH),
        ("LANG", "C.UTF-8"),
        ("HOME", &login.home),
        ("USER", &login.name),
        ("LOGNAME", &login.name),
        ("SHELL", &login.shell),
    ];
    let given = request.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    defaults
        .into_iter()
        .filter(|(key, value)| !value.is_empty() && !request.env.contains_key(*key))
        .chain(given)
        .map(|(key, value)| c_string(&format!("{key}={value}")))
        .collect()
}

/// The account to switch to.
fn find_user(name: &str) -> Result<User, String> {
    if !Uid::effective().is_root() {
        return Err(format!("running as another user (`{name}`) needs an agent that runs as root"));
    }
    match User::from_name(name) {
        Ok(Some(user)) => Ok(user),
        Ok(None) => Err(format!("user `{name}` does not exist on this node")),
        Err(e) => Err(format!("user `{name}` cannot be looked up: {}", e.desc())),
    }
}

fn switch_user(user: &User) -> Result<(), String> {
    let refused = |e: Errno| format!("cannot become user `{}`: {}", user.name, e.desc());
    let name = c_string(&user.name)?;
    nix::unistd::initgroups(&name, user.gid).map_err(refused)?;
    nix::unistd::setgid(user.gid).map_err(refused)?;
    nix::unistd::setuid(user.uid).map_err(refused)
}

/// `work/` in the run's directory, which belongs to whoever the program runs as.
fn make_scratch(run: &RunDir, user: Option<&User>) -> Result<OwnedFd, String> {
    let failed = |e: rustix::io::Errno| {
        format!("the scratch directory cannot be made: {}", io::Error::from(e))
    };
    let is_old = match rustix::fs::mkdirat(run, rundir::WORK, Mode::RWXU) {
        Ok(()) => false,
        Err(rustix::io::Errno::EXIST) => true,
        Err(e) => return Err(failed(e)),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let fd = rustix::fs::openat(run, rundir::WORK, flags, Mode::empty()).map_err(failed)?;
    if is_old {
        rustix::fs::fchmod(&fd, Mode::RWXU).map_err(failed)?;
    }
    if let Some(user) = user {
        let owner = (Some(user.uid), Some::<Gid>(user.gid));
        nix::unistd::fchown(&fd, owner.0, owner.1)
            .map_err(|e| format!("the scratch directory cannot be given away: {}", e.desc()))?;
    }
    Ok(fd)
}

fn enter(dir: &str) -> Result<(), String> {
    nix::unistd::chdir(dir).map_err(|e| match e {
        Errno::ENOENT => format!("working directory {dir} does not exist on this node"),
        Errno::ENOTDIR => format!("working directory {dir} is not a directory"),
        Errno::EACCES => format!("working directory {dir} may not be entered by this user"),
        e => format!("working directory {dir} cannot be entered: {}", e.desc()),
    })
}

impl Program {
    /// Returns only with the reason why there was no exec.
    fn exec(&self) -> String {
        let name = &self.request.argv[0];
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
            let Ok(file) = c_string(&format!("{dir}/{name}")) else {
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

fn explain(name: &impl Display, e: Errno) -> String {
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
