//! The child between fork and exec: it becomes the program (or a command beside it), or says in words
//! why it cannot.
//!
//! It is a copy of the shim with one thread, so ordinary code may run here, and whatever memory that
//! takes is gone with the exec: reading the spec and looking up users happens here and not in the
//! shim, which has to stay small.
//!
//! All preparation comes before the gate, the exec after it; only the program itself waits there.
//! Words go back over a socket, which closes itself on exec: silence means success.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit};

use super::program::Program;
use crate::cgroup::Confinement;
use crate::container::{Task, VERB};
use crate::rundir::{self, Beside, Login, Request, RunDir};
use crate::secrets;
use crate::sys::{self, Ended};
use crate::wire::HookKind;

pub const MESSAGE_MAX: usize = 1024;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the child is to become.
pub enum Role<'a> {
    Program,
    /// With how the program ended, where it has.
    Hook(HookKind, Option<Ended>),
    /// The file that says what to run.
    Exec(BorrowedFd<'a>),
    /// The keeper that makes an end of the run's container.
    End,
}

#[derive(Clone, Copy)]
pub struct Streams<'a> {
    /// Nothing when absent.
    pub stdin: Option<BorrowedFd<'a>>,
    pub stdout: BorrowedFd<'a>,
    pub stderr: BorrowedFd<'a>,
}

/// Where the child belongs.
pub struct Place<'a> {
    pub run: &'a RunDir,
    pub confinement: &'a Confinement,
}

pub fn become_program(
    place: &Place<'_>,
    role: &Role<'_>,
    streams: Streams<'_>,
    gate: OwnedFd,
) -> ! {
    let attempt = AssertUnwindSafe(|| {
        let program = prepare(place, role, streams, &gate)?;
        if matches!(role, Role::Program) {
            pass(&gate);
        }
        Err(program.explain(program.exec()))
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

/// Waits until `started.json` is written and the first hook has succeeded. When the shim dies before,
/// nothing is executed.
fn pass(gate: &OwnedFd) {
    let mut byte = [0; 1];
    match rustix::io::retry_on_intr(|| rustix::io::read(gate, &mut byte)) {
        Ok(1) => {}
        Ok(_) | Err(_) => sys::exit_now(127),
    }
}

fn prepare(
    place: &Place<'_>,
    role: &Role<'_>,
    streams: Streams<'_>,
    gate: &OwnedFd,
) -> Result<Program, String> {
    let request: Request = place
        .run
        .read_json(rundir::SPEC)
        .map_err(|e| format!("the run's spec cannot be read: {e}"))?
        .ok_or("the run's spec is missing")?;
    if request.container.is_some() {
        return prepare_keeper(place, &request, role, streams, gate);
    }
    let Beside { argv, env: extra } = command(&request, role)?;
    let account = Account::find(&request)?;

    settle_in(place, streams).map_err(|misstep| misstep.words())?;
    let scratch = match request.workdir {
        None => Some(make_scratch(place.run, role, &account)?),
        Some(_) => None,
    };
    account.switch(&request)?;
    rustix::process::umask(Mode::from_raw_mode(request.umask));
    match (&request.workdir, scratch) {
        (Some(dir), _) => enter(dir)?,
        (None, Some(fd)) => rustix::process::fchdir(fd)
            .map_err(failed("the scratch directory cannot be entered"))?,
        (None, None) => {}
    }

    let env = environment(&request, &account.login(&request), extra)?;
    Ok(Program {
        address_space: (request.limits.memory)
            .filter(|_| place.confinement.is_memory_by_rlimit)
            .map(hostler_model::Bytes::get),
        ..program(&argv, &env)?
    })
}

pub fn program(argv: &[String], env: &BTreeMap<String, String>) -> Result<Program, String> {
    let path = env.get("PATH").cloned().unwrap_or_default();
    let argv = argv.iter().map(|word| c_string(word.as_bytes()));
    let env = env.iter().map(|(key, value)| c_string([key, "=", value].concat()));
    Ok(Program::new(argv.collect::<Result<_, _>>()?, env.collect::<Result<_, _>>()?, path))
}

/// A step that failed.
pub struct Misstep(&'static str, io::Error);

impl Misstep {
    pub fn words(&self) -> String {
        format!("{}: {}", self.0, self.1)
    }
}

/// In its own session, with its own input and output. Allocates nothing where there are no cgroups of
/// version 1 to enter.
pub fn settle_in(place: &Place<'_>, streams: Streams<'_>) -> Result<(), Misstep> {
    let step = |what| move |e: io::Error| Misstep(what, e);
    place.confinement.enter_old().map_err(step("the run's limits cannot be entered"))?;
    rustix::process::setsid().map_err(|e| Misstep("a new session cannot be made", e.into()))?;
    sys::default_signals();
    sys::unblock_signals().map_err(step("signals cannot be reset"))?;
    let given = [(streams.stdin, 0), (Some(streams.stdout), 1), (Some(streams.stderr), 2)];
    for (source, target) in given {
        if let Some(source) = source {
            sys::redirect(source, target).map_err(step("input and output cannot be connected"))?;
        }
    }
    sys::close_all_on_exec();
    Ok(())
}

/// For a container everything is done by a keeper: this very program, whatever has become of its file,
/// as the agent's own user and in the run's directory. It keeps the gate, to speak when the container
/// runs.
fn prepare_keeper(
    place: &Place<'_>,
    request: &Request,
    role: &Role<'_>,
    streams: Streams<'_>,
    gate: &OwnedFd,
) -> Result<Program, String> {
    let (task, words) = match role {
        Role::Program => (Task::Keep, None),
        Role::End => (Task::End, None),
        Role::Hook(..) | Role::Exec(_) => (Task::Exec, Some(command(request, role)?)),
    };
    settle_in(place, streams).map_err(|misstep| misstep.words())?;
    let inherited = failed("the keeper's descriptors cannot be prepared");
    let mut argv = vec!["/proc/self/exe".to_owned(), VERB.to_owned(), task.word().to_owned()];
    argv.push(sys::keep_on_exec(gate).map_err(&inherited)?.to_string());
    let command = words.map(|words| words.file()).transpose().map_err(&inherited)?;
    if let Some(file) = &command {
        argv.push(sys::keep_on_exec(file).map_err(&inherited)?.to_string());
    }
    rustix::process::fchdir(place.run).map_err(failed("the run's directory cannot be entered"))?;
    let env = environment(request, &request.login, BTreeMap::new())?;
    Ok(Program { handed_on: command, ..program(&argv, &env)? })
}

/// What is to be executed, and what its environment has besides the run's own.
fn command(request: &Request, role: &Role<'_>) -> Result<Beside, String> {
    match role {
        Role::Program | Role::End => {
            Ok(Beside { argv: request.argv.clone(), env: BTreeMap::new() })
        }
        Role::Hook(kind, ended) => {
            let argv = kind.of(&request.hooks).ok_or("the run's spec has no such hook")?.to_vec();
            let mut env = BTreeMap::from([("HOSTLER_HOOK".to_owned(), kind.name().to_owned())]);
            let code = ended.and_then(|ended| ended.code).map(|code| ("HOSTLER_EXIT_CODE", code));
            let signal = ended.and_then(|ended| ended.signal).map(|n| ("HOSTLER_EXIT_SIGNAL", n));
            for (key, value) in code.into_iter().chain(signal) {
                env.insert(key.to_owned(), value.to_string());
            }
            Ok(Beside { argv, env })
        }
        Role::Exec(file) => {
            let mut bytes = Vec::new();
            let read = file.try_clone_to_owned().map(File::from).and_then(|mut file| {
                file.rewind()?;
                file.read_to_end(&mut bytes)
            });
            read.map_err(failed("the command cannot be read"))?;
            serde_json::from_slice(&bytes).map_err(|e| format!("the command cannot be read: {e}"))
        }
    }
}

fn failed<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> String {
    move |e| format!("{what}: {}", e.into())
}

fn c_string(text: impl Into<Vec<u8>>) -> Result<CString, String> {
    CString::new(text).map_err(|_| "arguments and environment cannot contain NUL".to_owned())
}

/// The later wins: the node's own, the run's, its secrets, the command's.
pub fn environment(
    request: &Request,
    login: &Login,
    extra: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let defaults = [
        ("PATH", PATH),
        ("LANG", "C.UTF-8"),
        ("HOME", &login.home),
        ("USER", &login.name),
        ("LOGNAME", &login.name),
        ("SHELL", &login.shell),
    ];
    let mut env: BTreeMap<String, String> = defaults
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    env.extend(request.env.clone());
    if let Some(given) = &request.secrets {
        env.extend(secrets::variables(given)?);
    }
    env.extend(extra);
    Ok(env)
}

/// Whom to become: nobody else when both are absent.
#[derive(Default)]
pub struct Account {
    user: Option<User>,
    group: Option<Group>,
}

impl Account {
    fn find(request: &Request) -> Result<Account, String> {
        let user = request.user.as_deref().map(find_user).transpose()?;
        let group = request.group.as_deref().map(find_group).transpose()?.flatten();
        Ok(Account { user, group })
    }

    fn login(&self, request: &Request) -> Login {
        self.user.as_ref().map_or_else(|| request.login.clone(), Login::of)
    }

    fn gid(&self) -> Option<Gid> {
        (self.group.as_ref().map(|group| group.gid)).or(self.user.as_ref().map(|user| user.gid))
    }

    /// Takes on groups and user, with the limits that only root may set in between.
    fn switch(&self, request: &Request) -> Result<(), String> {
        let name = self.login(request).name;
        let whom = match &self.group {
            Some(group) => format!("user `{name}` with group `{}`", group.name),
            None => format!("user `{name}`"),
        };
        let refused = |e: Errno| format!("cannot become {whom}: {}", e.desc());
        if let Some(gid) = self.gid() {
            nix::unistd::initgroups(&c_string(name)?, gid).map_err(refused)?;
            nix::unistd::setgid(gid).map_err(refused)?;
        }
        set_limits(request)?;
        match &self.user {
            Some(user) => nix::unistd::setuid(user.uid).map_err(refused),
            None => Ok(()),
        }
    }
}

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

/// `None` when an agent without rights has the group anyway.
fn find_group(name: &str) -> Result<Option<Group>, String> {
    match Group::from_name(name) {
        Ok(Some(group)) if Uid::effective().is_root() => Ok(Some(group)),
        Ok(Some(group)) if group.gid == Gid::effective() => Ok(None),
        Ok(Some(_)) => {
            Err(format!("running with another group (`{name}`) needs an agent that runs as root"))
        }
        Ok(None) => Err(format!("group `{name}` does not exist on this node")),
        Err(e) => Err(format!("group `{name}` cannot be looked up: {}", e.desc())),
    }
}

fn set_limits(request: &Request) -> Result<(), String> {
    if let Some(nice) = request.limits.nice {
        rustix::process::setpriority_process(None, nice).map_err(|e| {
            let why = io::Error::from(e);
            format!("priority {nice} cannot be given: {why}; an agent that is not root can only lower priorities")
        })?;
    }
    if let Some(files) = request.limits.files {
        let limit = Rlimit { current: Some(files.into()), maximum: Some(files.into()) };
        rustix::process::setrlimit(Resource::Nofile, limit).map_err(|e| {
            let most = rustix::process::getrlimit(Resource::Nofile).maximum;
            let most = most.map_or("any number".to_owned(), |most| most.to_string());
            let why = io::Error::from(e);
            format!(
                "{files} open files cannot be allowed: {why}; this node's agent may allow {most}"
            )
        })?;
    }
    Ok(())
}

/// `work/` in the run's directory, which belongs to whoever the program runs as.
pub fn make_scratch(run: &RunDir, role: &Role<'_>, account: &Account) -> Result<OwnedFd, String> {
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
    let is_before_start = matches!(role, Role::Program | Role::Hook(HookKind::PreStart, _));
    if is_old && !is_before_start {
        return Ok(fd);
    }
    if is_old {
        rustix::fs::fchmod(&fd, Mode::RWXU).map_err(failed)?;
    }
    if let Some(gid) = account.gid() {
        let uid = account.user.as_ref().map(|user| user.uid);
        nix::unistd::fchown(&fd, uid, Some(gid))
            .map_err(|e| format!("the scratch directory cannot be given away: {}", e.desc()))?;
    }
    Ok(fd)
}

fn enter(dir: &str) -> Result<(), String> {
    nix::unistd::chdir(dir).map_err(|e| no_entry(dir, e))
}

pub fn no_entry(dir: &str, e: Errno) -> String {
    match e {
        Errno::ENOENT => format!("working directory {dir} does not exist on this node"),
        Errno::ENOTDIR => format!("working directory {dir} is not a directory"),
        Errno::EACCES => format!("working directory {dir} may not be entered by this user"),
        e => format!("working directory {dir} cannot be entered: {}", e.desc()),
    }
}
