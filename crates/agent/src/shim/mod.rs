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
//! 5. open the gate: the child execs.
//!
//! A death before 4 leaves a child that finds the gate gone and exits: nothing was executed, and the
//! same run may be tried again. After 4 it may have been, and nobody will start it a second time.
//!
//! From then on the shim pumps output (`output::Writer`), carries out stops and the timeout
//! (`serve`), and at the end kills what the program left behind and writes `exit.json` (`end`).
//! The agent that ordered the run is connected from the beginning; when it goes, the shim listens on
//! `ctl.sock` for the next one (`link`). It needs none.
//!
//! When a shim itself is killed, the lock falls. Whoever recovers the run then finds `started.json`
//! without `exit.json`, kills the process through its pidfd and cgroup, and reports it as vanished.

mod child;
mod end;
mod link;
mod serve;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use crate::cgroup::Cgroup;
use crate::executor::Seat;
use crate::output::{Limits, Writer};
use crate::rundir::{self, RunDir, StartedRecord};
use crate::sys::{self, Alarm, SingleThreaded};
use crate::wire::{Identity, StartOrder, kind};
use link::Links;

/// Why the program is being ended, once it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Stopped,
    TimedOut,
}

struct Shim {
    order: StartOrder,
    run: RunDir,
    cgroup: Option<Cgroup>,
    identity: Identity,
    /// Only once the agent that ordered the run is gone.
    listener: Option<OwnedFd>,
    links: Links,
    children: OwnedFd,
    /// Open until the child has become the program, or has said why it cannot.
    gate: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    output: Writer,
    alarm: Option<Alarm>,
    /// On the boot clock.
    times_out: Option<Duration>,
    kills_at: Option<Duration>,
    cause: Option<Cause>,
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
            let ended = shim.serve();
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
    let cgroup = cgroups.as_ref().and_then(|c| c.make(order.run_id));
    let born = give_birth(&token, &run, cgroup.as_ref()).and_then(|born| {
        let start_ticks = rundir::start_ticks(born.pid)
            .ok_or_else(|| io::Error::other("the new process cannot be seen in /proc"))?;
        let identity =
            Identity { pid: born.pid, shim_pid: std::process::id(), start_ticks, time: sys::now() };
        let record = StartedRecord {
            boot_id,
            pid: identity.pid,
            shim_pid: identity.shim_pid,
            start_ticks,
            time: identity.time,
            cgroup: cgroup.as_ref().map(|c| c.path().to_string_lossy().into_owned()),
        };
        run.write(rundir::STARTED, &serde_json::to_vec(&record)?)?;
        Ok((born, identity))
    });
    let (born, identity) = match born {
        Ok(born) => born,
        Err(e) => {
            abandon(cgroup.as_ref());
            return Err(failed("the run cannot be started")(e));
        }
    };
    // Should the child be dead already, its death is seen by the loop like any other.
    let _ = rustix::net::send(&born.gate, &[1], rustix::net::SendFlags::NOSIGNAL);
    let times_out = (order.timeout_ms > 0)
        .then(|| sys::boottime().saturating_add(Duration::from_millis(order.timeout_ms)));
    let limits = Limits { segment_bytes: order.segment_bytes, segments_max: order.segments_max };
    let mut shim = Shim {
        order,
        output: Writer::new(limits),
        run,
        cgroup,
        identity,
        listener: None,
        links: Links::default(),
        children,
        gate: Some(born.gate),
        stdout: Some(born.stdout),
        stderr: Some(born.stderr),
        alarm: None,
        times_out,
        kills_at: None,
        cause: None,
        failure: None,
        farewell: None,
    };
    shim.set_alarm();
    Ok(shim)
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
}

fn give_birth(token: &SingleThreaded, run: &RunDir, cgroup: Option<&Cgroup>) -> io::Result<Born> {
    let (stdout, stdout_theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, stderr_theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (gate, gate_theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let inside = cgroup.and_then(|c| sys::fork_into_cgroup(token, c.as_fd()).ok());
    let forked = match inside {
        Some(forked) => forked,
        None => {
            let forked = sys::fork(token)?;
            if forked.is_none() {
                // Without a cgroup, group and subreaper still find everything.
                let _ = cgroup.map(Cgroup::enter);
            }
            forked
        }
    };
    let Some(pid) = forked else {
        drop(gate);
        child::become_program(run, gate_theirs, &stdout_theirs, &stderr_theirs)
    };
    for pipe in [&stdout, &stderr] {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    Ok(Born { pid, gate, stdout, stderr })
}

/// The gate is closed by now: the child goes by itself, and everything is as before.
fn abandon(cgroup: Option<&Cgroup>) {
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
    if let Some(cgroup) = cgroup {
        cgroup.remove();
    }
}
