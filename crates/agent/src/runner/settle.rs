//! Finding out how a run stands from its directory alone, and making an end where there is nobody
//! left to do it. Everything here blocks; it runs on threads for that.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use hostler_model::{Exit, ExitReason, PlacementId, Reservation, RunId};
use rustix::process::{Pid, PidfdFlags};

use super::spare::{self, Spares};
use super::{StartError, Started, binding};
use crate::rundir::{self, Request, RunDir, StartedRecord};
use crate::wire::Bounds;
use crate::{cgroup, proc, sys};

/// How long a shim that lives may take to listen, or one that ends to be gone.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(10);
const NEW: &str = ".new-";

pub enum Settled {
    /// Its shim lives; this is a fresh connection to it.
    Live(UnixStream),
    /// Its shim lives but does not answer, because somebody has stopped it or the machine is
    /// overwhelmed. It will.
    Stuck {
        started: Option<Started>,
    },
    Ended {
        exit: Exit,
        started: Option<Started>,
    },
    /// Certainly never executed.
    NeverStarted,
}

/// How the run in this directory stands. When its shim is gone without a word, ends what is left of
/// the run and writes the exit down in its place.
pub fn settle(path: &Path, boot_id: &str) -> io::Result<Settled> {
    let dir = match RunDir::open_path(path) {
        Ok(dir) => dir,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Settled::NeverStarted),
        Err(e) => return Err(e),
    };
    let deadline = sys::boottime() + PATIENCE;
    loop {
        if let Some(ended) = read_exit(&dir)? {
            return Ok(ended);
        }
        if let Ok(stream) = UnixStream::connect(dir.socket_path()) {
            return Ok(Settled::Live(stream));
        }
        if dir.try_lock()? {
            return match read_exit(&dir)? {
                Some(ended) => Ok(ended),
                None => conclude(&dir, run_id(path), boot_id),
            };
        }
        if sys::boottime() > deadline {
            return Ok(Settled::Stuck { started: started(&dir) });
        }
        sys::poll(&mut [], Some(STEP));
    }
}

fn run_id(path: &Path) -> Option<RunId> {
    path.file_name()?.to_str()?.parse().ok()
}

fn read_exit(dir: &RunDir) -> io::Result<Option<Settled>> {
    let Some(bytes) = dir.read(rundir::EXIT)? else {
        return Ok(None);
    };
    let exit = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| vanished("the record of its end is damaged; its status is not known"));
    let started = started(dir).filter(|_| exit.reason != ExitReason::StartFailed);
    Ok(Some(Settled::Ended { exit, started }))
}

fn record(dir: &RunDir) -> Option<StartedRecord> {
    dir.read_json(rundir::STARTED).ok().flatten()
}

fn started(dir: &RunDir) -> Option<Started> {
    record(dir).map(Started::from)
}

pub fn record_at(path: &Path) -> io::Result<Option<StartedRecord>> {
    Ok(record(&RunDir::open_path(path)?))
}

/// Makes sure that the limits of a run that was found alive are still in force.
pub fn renew_limits(path: &Path) -> io::Result<Reservation> {
    let dir = RunDir::open_path(path)?;
    let request: Option<Request> = dir.read_json(rundir::SPEC)?;
    let Some(request) = request else { return Ok(Reservation::default()) };
    let bounds = Bounds::of(&request.limits);
    let binding = binding::of(&request.reservation, request.container.is_some());
    let is_limited = !bounds.is_none() || !binding.is_none();
    if let Some(group) = record(&dir).and_then(|record| record.cgroup).filter(|_| is_limited) {
        cgroup::renew(Path::new(&group), &bounds);
        cgroup::renew_binding(Path::new(&group), &binding);
    }
    Ok(request.container.map_or(request.reservation, |plan| plan.reservation))
}

/// Writes down the end of a run of which nothing was ever executed.
pub fn give_up(path: &Path, exit: &Exit) -> io::Result<()> {
    let dir = RunDir::open_path(path)?;
    if !dir.try_lock()? || dir.has(rundir::STARTED) || dir.has(rundir::EXIT) {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    dir.write(rundir::EXIT, &serde_json::to_vec(exit)?)?;
    Ok(())
}

/// Whether a run is one in a container.
pub fn is_container(path: &Path) -> bool {
    let request = RunDir::open_path(path).and_then(|dir| dir.read_json::<Request>(rundir::SPEC));
    request.is_ok_and(|request| request.is_some_and(|request| request.container.is_some()))
}

pub fn vanished(message: &str) -> Exit {
    Exit {
        reason: ExitReason::Vanished,
        code: None,
        signal: None,
        message: Some(message.to_owned()),
        time: sys::now(),
    }
}

/// Nobody acts for the run, and it has no exit. We hold its lock.
fn conclude(dir: &RunDir, run_id: Option<RunId>, boot_id: &str) -> io::Result<Settled> {
    let message = if dir.has(rundir::STARTED) {
        match record(dir) {
            Some(record) if record.boot_id == boot_id => match end_orphans(&record, run_id) {
                0 => "its supervisor was killed; nothing of it was left".to_owned(),
                1 => "its supervisor was killed; the process that was left of it has been ended"
                    .to_owned(),
                n => format!(
                    "its supervisor was killed; the {n} processes that were left of it have been ended"
                ),
            },
            Some(_) => "the node rebooted while it ran".to_owned(),
            None => {
                "the record of its start is damaged; the node lost power while it ran".to_owned()
            }
        }
    } else {
        match dir.read_json::<Request>(rundir::SPEC) {
            Ok(Some(request)) if request.boot_id == boot_id => {
                cgroup::sweep(request.run_id);
                return Ok(Settled::NeverStarted);
            }
            _ => "the node rebooted while it was being started; it may have run".to_owned(),
        }
    };
    let exit = vanished(&message);
    let file = dir.write(rundir::EXIT, &serde_json::to_vec(&exit)?)?;
    dir.sync(&file)?;
    dir.remove(rundir::SOCKET);
    Ok(Settled::Ended { exit, started: started(dir) })
}

/// Kills what a dead shim left running: everything in its cgroups, the program through a pidfd that is
/// known to be the very process, and, where no cgroup held it all together, whatever carries the
/// run's mark. Never anything by a number alone. How many processes there were.
fn end_orphans(record: &StartedRecord, run_id: Option<RunId>) -> usize {
    let mut count = cgroup::end(record.cgroup_dirs());
    let pid = i32::try_from(record.pid).ok().and_then(Pid::from_raw);
    let pidfd = pid.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    if let Some(pidfd) = pidfd
        && rundir::start_ticks(record.pid) == Some(record.start_ticks)
    {
        let _ = sys::kill_by_pidfd(pidfd.as_fd());
        sys::poll(&mut [sys::Slot::reading(Some(&pidfd))], Some(PATIENCE));
        count = count.max(1);
    }
    if let Some(run_id) = run_id.filter(|_| record.cgroup.is_none()) {
        count += end_marked(run_id);
    }
    count
}

fn end_marked(run_id: RunId) -> usize {
    let is_alive = |pid: u32| proc::stat(pid).is_some_and(|stat| stat.state != 'Z');
    let is_meant = |pid: u32| is_alive(pid) && proc::is_marked(pid, run_id);
    let mut ended = std::collections::HashSet::new();
    let deadline = sys::boottime() + PATIENCE;
    loop {
        let found: Vec<u32> = proc::all().filter(|pid| is_meant(*pid)).collect();
        if found.is_empty() || sys::boottime() > deadline {
            return ended.len();
        }
        ended.extend(found.into_iter().filter(|pid| proc::kill_if(*pid, is_meant)));
        sys::poll(&mut [], Some(STEP));
    }
}

/// Whose a run is, as far as it says.
pub fn placement_of(runs: &Path, run_id: RunId) -> Option<PlacementId> {
    let run = RunDir::open_path(&runs.join(run_id.to_string())).ok()?;
    run.read_json::<Request>(rundir::SPEC).ok().flatten()?.placement_id
}

/// Every run that has a directory. Clears away what was being made when an agent died.
pub fn list(runs: &Path) -> io::Result<Vec<RunId>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(runs)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with(NEW) || name.starts_with(spare::PREFIX) {
            let _ = std::fs::remove_dir_all(entry.path());
        } else {
            found.extend(name.parse::<RunId>().ok());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Makes the run's directory with its spec, both or neither.
pub fn prepare(runs: &Path, spares: &Spares, request: &Request) -> Result<(), StartError> {
    let name = request.run_id.to_string();
    let path = runs.join(&name);
    let spec = serde_json::to_vec(request).map_err(|e| StartError::Prepare(e.into()))?;
    let filled = match spares.take().map(|spare| fill(&spare, &path, request, &spec)) {
        Some(Ok(())) => return Ok(()),
        Some(Err(e)) if is_taken(&e) => Err(e),
        Some(Err(_)) | None => {
            let fresh = runs.join(format!("{NEW}{name}"));
            make_dir(&fresh).and_then(|()| fill(&fresh, &path, request, &spec))
        }
    };
    match filled {
        Err(e) if is_taken(&e) => prepare_again(&path, request, &spec),
        filled => filled.map_err(StartError::Prepare),
    }
}

/// The run has a directory already: none can be put in its place, as there is something in it.
fn is_taken(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

/// Writes the spec, then gives the directory its name; deletes it where that fails.
fn fill(fresh: &Path, path: &Path, request: &Request, spec: &[u8]) -> io::Result<()> {
    let write = || {
        // Another user must be able to reach its scratch directory, though not to look around.
        if request.user.is_some() {
            std::fs::set_permissions(fresh, std::fs::Permissions::from_mode(0o711))?;
        }
        let dir = RunDir::open_path(fresh)?;
        let mut file = rundir::open_empty(&dir, rundir::SPEC)?;
        io::Write::write_all(&mut file, spec)?;
        std::fs::rename(fresh, path)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_dir_all(fresh);
    })
}

fn make_dir(path: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}

/// The directory is there from an attempt that came to nothing, or from one that did not.
fn prepare_again(path: &Path, request: &Request, spec: &[u8]) -> Result<(), StartError> {
    let dir = RunDir::open_path(path).map_err(StartError::Prepare)?;
    let is_free = dir.try_lock().map_err(StartError::Prepare)?;
    if !is_free || dir.has(rundir::STARTED) || dir.has(rundir::EXIT) {
        return Err(StartError::AlreadyStarted(request.run_id));
    }
    dir.write(rundir::SPEC, spec).map_err(StartError::Prepare)?;
    Ok(())
}

/// Removes a run's directory, unless something acts for it.
pub fn remove(path: &Path, spares: &Spares) -> io::Result<()> {
    let dir = match RunDir::open_path(path) {
        Ok(dir) => dir,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    let deadline = sys::boottime() + PATIENCE;
    while !dir.try_lock()? {
        // A shim that has handed its exit over is on its way out.
        if !dir.has(rundir::EXIT) || sys::boottime() > deadline {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        sys::poll(&mut [], Some(STEP));
    }
    spares.retire(path, dir)
}
