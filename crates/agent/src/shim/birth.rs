//! Making the child of a run: the plain way where that will do, else with a gate.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use super::Home;
use super::child::{self, Place, Role, Streams};
use super::plain::{Form, Plain};
use crate::cgroup::{Confinement, Group};
use crate::rundir::{self, RunDir, StartedRecord};
use crate::sys::{self, SingleThreaded};
use crate::wire::{HookKind, Identity, StartOrder};

/// A child, and `started.json` that names it.
pub struct Born {
    pub identity: Identity,
    /// Where it waits for being let go; absent when it is the program already, or has failed to be.
    pub gate: Option<OwnedFd>,
    /// Why it is not the program, where it did not wait.
    pub failure: Option<String>,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    pub writers: (OwnedFd, OwnedFd),
}

/// An error means that nothing was executed, and that there is no `started.json`.
pub fn give_birth(
    home: &mut Home,
    order: &StartOrder,
    run: &RunDir,
    confinement: &Confinement,
) -> io::Result<Born> {
    let place = Place { run, confinement };
    let (stdout, stdout_theirs) = pipe()?;
    let (stderr, stderr_theirs) = pipe()?;
    let streams =
        Streams { stdin: None, stdout: stdout_theirs.as_fd(), stderr: stderr_theirs.as_fd() };
    let may_be_plain = !order.is_container && order.hooks.get(HookKind::PreStart).is_none();
    let plain = may_be_plain.then(|| Plain::of(&place)).flatten();
    let begun = match plain {
        Some(plain) => begin_plain(home, &plain, &place, streams)?,
        None => None,
    };
    let (identity, gate, failure) = match begun {
        Some((identity, failure)) => (identity, None, failure),
        None => {
            let (identity, gate) = begin_gated(home, order, &place, streams)?;
            (identity, Some(gate), None)
        }
    };
    Ok(Born { identity, gate, failure, stdout, stderr, writers: (stdout_theirs, stderr_theirs) })
}

/// `None` when this kernel cannot make such a child.
fn begin_plain(
    home: &mut Home,
    plain: &Plain,
    place: &Place<'_>,
    streams: Streams<'_>,
) -> io::Result<Option<(Identity, Option<String>)>> {
    let blank = Identity { pid: 0, shim_pid: std::process::id(), start_ticks: 0, time: sys::now() };
    let mut form = Form::new(place.run, started(&home.boot_id, &blank, place.confinement, false))?;
    let footing = (&home.token, &mut home.stack);
    let Ok((pid, told)) = plain.start(footing, place, streams, &mut form) else {
        return Ok(None);
    };
    let failure = plain.words(&told);
    if !told.is_recorded {
        let killed = || "its process was killed before it could begin".to_owned();
        return Err(io::Error::other(failure.unwrap_or_else(killed)));
    }
    Ok(Some((Identity { pid, start_ticks: told.start_ticks, ..blank }, failure)))
}

fn begin_gated(
    home: &Home,
    order: &StartOrder,
    place: &Place<'_>,
    streams: Streams<'_>,
) -> io::Result<(Identity, OwnedFd)> {
    let (gate, gate_theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let Some(pid) = fork_into(&home.token, place.confinement.group.as_ref())? else {
        drop(gate);
        child::become_program(place, &Role::Program, streams, gate_theirs)
    };
    let start_ticks = rundir::start_ticks(pid)
        .ok_or_else(|| io::Error::other("the new process cannot be seen in /proc"))?;
    let identity = Identity { pid, shim_pid: std::process::id(), start_ticks, time: sys::now() };
    let record = started(&home.boot_id, &identity, place.confinement, order.is_container);
    place.run.write(rundir::STARTED, &serde_json::to_vec(&record)?)?;
    Ok((identity, gate))
}

pub fn started(
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

/// A pipe whose reading end never waits.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((reader, writer))
}

/// Forks into a cgroup; `None` in the child.
pub fn fork_into(token: &SingleThreaded, group: Option<&Group>) -> io::Result<Option<u32>> {
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
pub fn abandon(confinement: &Confinement) {
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
