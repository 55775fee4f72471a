//! The shim: the parent of one run, for as long as it runs.
//!
//! One process per run, forked from the executor without exec: no threads, no runtime, one loop over
//! `poll(2)`, and hardly any memory of its own. The order of its first steps is what makes "never
//! twice" provable:
//!
//! 1. lock the run directory (only one shim can act for a run) and let go of the executor's lock;
//! 2. refuse when `started.json` is there;
//! 3. fork the child, which prepares everything and then waits at a gate;
//! 4. write `started.json`, naming the child;
//! 5. run the `preStart` hook, where there is one;
//! 6. open the gate: the child execs.
//!
//! A death before 4 leaves a child that finds the gate gone and exits: nothing was executed, and the
//! same run may be tried again. After 4 it may have been, and nobody will start it a second time.
//!
//! From then on the shim pumps output (`output::Writer`), carries out stops and the timeout
//! (`serve`), runs hooks and what agents want to have run beside the program (`aside`), and at the end
//! kills what the program left behind and writes `exit.json` (`end`).
//! The agent that ordered the run is connected from the beginning; when it goes, the shim listens on
//! `ctl.sock` for the next one (`link`). It needs none.
//!
//! A run in a container is the same with another child: not the program but its *keeper*, which starts
//! the container and stays as long as that does (`keeper`, and the module `container`).
//!
//! When a shim itself is killed, the lock falls. Whoever recovers the run then finds `started.json`
//! without `exit.json`, kills everything of the run (by cgroup, or by the mark in its environment), and
//! reports it as vanished.

mod aside;
mod child;
mod end;
mod keeper;
mod link;
mod program;
mod serve;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use crate::cgroup::{Confinement, Group};
use crate::executor::Seat;
use crate::output::{Limits, Writer};
use crate::rundir::{self, RunDir, StartedRecord};
use crate::sys::{self, Alarm, SingleThreaded};
use crate::wire::{self, Greeting, HookKind, Identity, StartOrder, kind};
use aside::Aside;
pub use child::MESSAGE_MAX;
use child::{Place, Role, Streams};
use keeper::Keeping;
use link::Links;

/// Why the program is being ended, once it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Stopped,
    TimedOut,
}

struct Shim {
    token: SingleThreaded,
    order: StartOrder,
    run: RunDir,
    confinement: Confinement,
    boot_id: String,
    /// The program, as others are told of it.
    identity: Identity,
    /// Our child: the program, or the keeper of the container that it runs in.
    child: u32,
    keeping: Keeping,
    /// What agents are told of us.
    greeting: Vec<u8>,
    /// Only once the agent that ordered the run is gone.
    listener: Option<OwnedFd>,
    links: Links,
    children: OwnedFd,
    /// Open until the child has become the program, or has said why it cannot.
    gate: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// The other ends, for as long as hooks may need them.
    writers: Option<(OwnedFd, OwnedFd)>,
    output: Writer,
    /// When nothing happens for so long, memory is given back.
    rests_after: Option<Duration>,
    asides: Vec<Aside>,
    asides_made: u32,
    /// Cgroups of commands whose last processes are on their way out.
    leaving: Vec<Group>,
    alarm: Option<Alarm>,
    /// On the boot clock.
    times_out: Option<Duration>,
    kills_at: Option<Duration>,
    cause: Option<Cause>,
    /// Signal and grace of a stop that waits for its hook.
    stop_waiting: Option<(i32, u64)>,
    is_pre_stop_over: bool,
    /// The child may become the program.
    is_released: bool,
    /// The program has ended, and its number may be anybody's.
    is_reaped: bool,
    /// Why the child could not become the program.
    failure: Option<String>,
    /// The exit, when it could not be written down.
    farewell: Option<Vec<u8>>,
}

/// Why a run was not started.
enum Refusal {
    AlreadyStarted,
    Failed(String),
}

/// The whole life of a shim.
pub fn live(seat: Seat, order: StartOrder, agent: OwnedFd) {
    sys::discard_children(false);
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(c"hostler-shim");
    match begin(seat, order) {
        Ok(mut shim) => {
            shim.links.add(agent);
            if !shim.begin_hook(HookKind::PreStart, None) {
                shim.release();
            }
            let ended = loop {
                let ended = shim.serve();
                if !shim.replace_keeper(ended) {
                    break ended;
                }
            };
            shim.end(ended);
        }
        Err(Refusal::AlreadyStarted) => {
            link::send(&agent, kind::ALREADY_STARTED, &[]);
        }
        Err(Refusal::Failed(why)) => refuse(&agent, &why),
    }
}

/// Tells the agent that nothing was executed, and why.
pub fn refuse(agent: &OwnedFd, why: &str) {
    link::send(agent, kind::REFUSED, why.as_bytes());
}

fn begin(seat: Seat, order: StartOrder) -> Result<Shim, Refusal> {
    let Seat { token, lock, runs, cgroups, boot_id } = seat;
    let failed = |what: &'static str| {
        move |e: io::Error| Refusal::Failed(format!("{what}: {e}; nothing was executed"))
    };
    let run = RunDir::open(&runs, order.run_id)
        .map_err(failed("the run's directory cannot be opened"))?;
    let is_mine = run.try_lock().map_err(failed("the run's directory cannot be locked"))?;
    if !is_mine || run.has(rundir::STARTED) || run.has(rundir::EXIT) {
        return Err(Refusal::AlreadyStarted);
    }
    drop(lock);

    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|e| failed("the shim cannot adopt orphans")(e.into()))?;
    let children = sys::child_events().map_err(failed("the shim cannot watch its children"))?;
    let confinement = cgroups.make(order.run_id, &order.bounds);
    let born = give_birth(&token, &run, &confinement).and_then(|born| {
        let start_ticks = rundir::start_ticks(born.pid)
            .ok_or_else(|| io::Error::other("the new process cannot be seen in /proc"))?;
        let identity =
            Identity { pid: born.pid, shim_pid: std::process::id(), start_ticks, time: sys::now() };
        let record = started(&boot_id, &identity, &confinement, order.is_container);
        run.write(rundir::STARTED, &serde_json::to_vec(&record)?)?;
        Ok((born, identity))
    });
    let (born, identity) = match born {
        Ok(born) => born,
        Err(e) => {
            abandon(&confinement);
            return Err(failed("the run cannot be started")(e));
        }
    };
    let unenforced = confinement.unenforced.clone();
    let greeting = Greeting { identity, version: wire::VERSION, unenforced }.encode();
    let limits = Limits { segment_bytes: order.segment_bytes, segments_max: order.segments_max };
    Ok(Shim {
        token,
        order,
        output: Writer::new(limits),
        run,
        confinement,
        boot_id,
        child: identity.pid,
        identity,
        keeping: Keeping::default(),
        greeting,
        listener: None,
        links: Links::default(),
        children,
        gate: Some(born.gate),
        stdout: Some(born.stdout),
        stderr: Some(born.stderr),
        writers: Some(born.writers),
        rests_after: Some(serve::REST_AFTER_START),
        asides: Vec::new(),
        asides_made: 0,
        leaving: Vec::new(),
        alarm: None,
        times_out: None,
        kills_at: None,
        cause: None,
        stop_waiting: None,
        is_pre_stop_over: false,
        is_released: false,
        is_reaped: false,
        failure: None,
        farewell: None,
    })
}

fn started(
    boot_id: &str,
    identity: &Identity,
    confinement: &Confinement,
    is_container: bool,
) -> StartedRecord {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    StartedRecord {
        boot_id: boot_id.to_owned(),
        pid: identity.pid,
        shim_pid: identity.shim_pid,
        start_ticks: identity.start_ticks,
        time: identity.time,
        cgroup: confinement.group.as_ref().map(|group| text(group.path())),
        cgroups_old: confinement.old.iter().map(|path| text(path)).collect(),
        unenforced: confinement.unenforced.clone(),
        is_container,
        inner: None,
    }
}

fn listen(run: &RunDir) -> io::Result<OwnedFd> {
    run.remove(rundir::SOCKET);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(run.socket_path())?)?;
    rustix::net::listen(&socket, 8)?;
    Ok(socket)
}

struct Born {
    pid: u32,
    gate: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    writers: (OwnedFd, OwnedFd),
}

fn give_birth(token: &SingleThreaded, run: &RunDir, confinement: &Confinement) -> io::Result<Born> {
    let (stdout, stdout_theirs) = pipe()?;
    let (stderr, stderr_theirs) = pipe()?;
    let (gate, gate_theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let Some(pid) = fork_into(token, confinement.group.as_ref())? else {
        drop(gate);
        let streams =
            Streams { stdin: None, stdout: stdout_theirs.as_fd(), stderr: stderr_theirs.as_fd() };
        let place = Place { run, confinement };
        child::become_program(&place, &Role::Program, streams, gate_theirs)
    };
    Ok(Born { pid, gate, stdout, stderr, writers: (stdout_theirs, stderr_theirs) })
}

/// A pipe whose reading end never waits.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((reader, writer))
}

/// Forks into a cgroup; `None` in the child.
fn fork_into(token: &SingleThreaded, group: Option<&Group>) -> io::Result<Option<u32>> {
    if let Some(forked) = group.and_then(|g| sys::fork_into_cgroup(token, g.as_fd()).ok()) {
        return Ok(forked);
    }
    let forked = sys::fork(token)?;
    if forked.is_none() {
        // Without a cgroup, group and subreaper still find everything.
        let _ = group.map(Group::enter);
    }
    Ok(forked)
}

/// The gate is closed by now: the child goes by itself, and everything is as before.
fn abandon(confinement: &Confinement) {
    let deadline = sys::boottime() + Duration::from_secs(5);
    loop {
        match sys::children() {
            sys::Children::None => break,
            sys::Children::Ended(ended) => sys::reap(ended.pid),
            sys::Children::Running if sys::boottime() > deadline => break,
            sys::Children::Running => {
                sys::poll(&mut [], Some(Duration::from_millis(1)));
            }
        }
    }
    confinement.remove();
}
