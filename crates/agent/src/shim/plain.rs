//! Starting a program that asks for nothing but to be run: as the agent's own user, with limits that
//! only cgroups of version 2 keep, and with no hook before it. Nearly all are like that.
//!
//! Such a program needs no child that prepares itself at leisure and waits at a gate (`child`). The shim
//! prepares everything, and the child shares its memory (`sys::vfork`) until it execs, which is a matter
//! of a dozen system calls:
//!
//! 1. write `started.json`, naming itself;
//! 2. take its place: session, signals, input and output, directory;
//! 3. exec.
//!
//! So it is still that file, written before anything is executed and naming the process, that proves
//! what may have happened; only its writer is another. A child or a shim that is killed before 1 has
//! executed nothing. A shim that is killed after its child was made leaves a child that goes on by
//! itself, and holds the lock on the run's directory until it execs: whoever gets that lock finds either
//! no `started.json` and no child, or the file with the child's number in it.
//!
//! The child writes nothing to memory but how far it came ([`Told`]) and its number into the form, and
//! allocates nothing. While it execs, the shim waits: from a file system that hangs, a program hangs the
//! shim with it until one of them is killed, as a start waits for its exec in any case.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use rustix::fs::Mode;

use super::child::{self, Account, Misstep, Place, Role, Streams};
use super::program::{Program, Unfit};
use crate::cgroup::Group;
use crate::proc;
use crate::rundir::{self, Begun, Request, RunDir, StartedRecord};
use crate::sys::{self, SingleThreaded, Stack};

pub struct Plain {
    program: Program,
    workdir: Workdir,
    umask: Mode,
}

enum Workdir {
    Scratch(OwnedFd),
    Named(CString),
}

/// How far the child came.
#[derive(Default)]
pub struct Told {
    /// `started.json` is there.
    pub is_recorded: bool,
    pub start_ticks: u64,
    trouble: Option<Trouble>,
}

enum Trouble {
    Record(io::Error),
    Step(Misstep),
    Workdir(Errno),
    Unfit(Unfit),
}

impl Plain {
    /// `None` when there is more to it, or something is wrong with it: the other way finds the words.
    pub fn of(place: &Place<'_>) -> Option<Plain> {
        let request: Request = place.run.read_json(rundir::SPEC).ok()??;
        let Request { container, user, group, limits, .. } = &request;
        let is_plain = container.is_none()
            && user.is_none()
            && group.is_none()
            && limits.nice.is_none()
            && limits.files.is_none()
            && place.confinement.old.is_empty()
            && !place.confinement.is_memory_by_rlimit;
        if !is_plain {
            return None;
        }
        let env = child::environment(&request, &request.login, BTreeMap::new()).ok()?;
        let workdir = match &request.workdir {
            Some(dir) => Workdir::Named(CString::new(dir.as_str()).ok()?),
            None => {
                let scratch = child::make_scratch(place.run, &Role::Program, &Account::default());
                Workdir::Scratch(scratch.ok()?)
            }
        };
        Some(Plain {
            program: child::program(&request.argv, &env).ok()?,
            workdir,
            umask: Mode::from_raw_mode(request.umask),
        })
    }

    /// Makes the child and waits until it is the program, or has failed. An error means that there was
    /// no child.
    pub fn start(
        &self,
        (token, stack): (&SingleThreaded, &mut Stack),
        place: &Place<'_>,
        streams: Streams<'_>,
        form: &mut Form<'_>,
    ) -> io::Result<(u32, Told)> {
        let group = place.confinement.group.as_ref().map(Group::as_fd);
        let mut told = Told::default();
        let before = sys::ticks(sys::boottime());
        let mut live = || {
            told.trouble = Some(self.live(place, streams, form, before, &mut told));
            127
        };
        let pid = sys::vfork(token, stack, group, &mut live)?;
        Ok((pid, told))
    }

    /// The child's whole life. Comes back only when it has failed.
    fn live(
        &self,
        place: &Place<'_>,
        streams: Streams<'_>,
        form: &mut Form<'_>,
        before: u64,
        told: &mut Told,
    ) -> Trouble {
        // Born between two looks at the clock that say the same, it was born then.
        let after = sys::ticks(sys::boottime());
        let ticks = if before == after { Some(before) } else { proc::own_start_ticks() };
        let Some(ticks) = ticks else {
            return Trouble::Record(io::ErrorKind::NotFound.into());
        };
        told.start_ticks = ticks;
        if let Err(e) = form.hand_in(std::process::id(), ticks) {
            return Trouble::Record(e);
        }
        told.is_recorded = true;
        if let Err(misstep) = child::settle_in(place, streams) {
            return Trouble::Step(misstep);
        }
        rustix::process::umask(self.umask);
        let entered = match &self.workdir {
            Workdir::Scratch(dir) => rustix::process::fchdir(dir),
            Workdir::Named(dir) => rustix::process::chdir(dir.as_c_str()),
        };
        if let Err(e) = entered {
            return Trouble::Workdir(Errno::from_raw(e.raw_os_error()));
        }
        Trouble::Unfit(self.program.exec())
    }

    /// Why the child did not become the program, unless it was killed on its way there.
    pub fn words(&self, told: &Told) -> Option<String> {
        Some(match told.trouble.as_ref()? {
            Trouble::Record(e) => format!("the record of its start cannot be written: {e}"),
            Trouble::Step(misstep) => misstep.words(),
            Trouble::Workdir(e) => match &self.workdir {
                Workdir::Named(dir) => child::no_entry(&dir.to_string_lossy(), *e),
                Workdir::Scratch(_) => {
                    format!("the scratch directory cannot be entered: {}", io::Error::from(*e))
                }
            },
            Trouble::Unfit(unfit) => self.program.explain(*unfit),
        })
    }
}

/// `started.json`, but for the number of the process and its time.
pub struct Form<'a> {
    bytes: Vec<u8>,
    pid: Range<usize>,
    start_ticks: Range<usize>,
    file: Begun<'a>,
}

impl<'a> Form<'a> {
    pub fn new(run: &'a RunDir, record: StartedRecord) -> io::Result<Form<'a>> {
        let blank = StartedRecord { pid: u32::MAX, start_ticks: u64::MAX, ..record };
        let bytes = serde_json::to_vec(&blank)?;
        let place = |key: &str, value: String| {
            let wanted = format!("\"{key}\":{value}");
            let at = bytes.windows(wanted.len()).position(|part| part == wanted.as_bytes());
            let end = at.map(|at| at + wanted.len()).ok_or(io::ErrorKind::InvalidData)?;
            Ok::<_, io::Error>(end - value.len()..end)
        };
        let pid = place("pid", u32::MAX.to_string())?;
        let start_ticks = place("start_ticks", u64::MAX.to_string())?;
        Ok(Form { pid, start_ticks, bytes, file: run.begin(rundir::STARTED)? })
    }

    /// Fills it in and lets it be seen. Allocates nothing.
    fn hand_in(&mut self, pid: u32, start_ticks: u64) -> io::Result<()> {
        self.fill(pid, start_ticks)?;
        self.file.appear(&self.bytes)
    }

    fn fill(&mut self, pid: u32, start_ticks: u64) -> io::Result<()> {
        let (width, wide) = (self.pid.len(), self.start_ticks.len());
        write!(&mut self.bytes[self.pid.clone()], "{pid:width$}")?;
        write!(&mut self.bytes[self.start_ticks.clone()], "{start_ticks:wide$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Timestamp;

    #[test]
    fn a_form_that_is_filled_in_is_a_record() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::open_path(dir.path()).unwrap();
        let record = StartedRecord {
            boot_id: "\"pid\":4294967295".to_owned(),
            pid: 0,
            shim_pid: 4,
            start_ticks: 0,
            time: Timestamp::from_micros(5),
            cgroup: Some("/\u{1F980}/\"start_ticks\":18446744073709551615".to_owned()),
            cgroups_old: vec![],
            unenforced: vec!["cpu: \"none\"".to_owned()],
            is_container: false,
            inner: None,
        };
        for (pid, start_ticks) in [(1, 2), (u32::MAX, u64::MAX), (123_456, 7)] {
            let mut form = Form::new(&run, record.clone()).unwrap();
            assert!(!run.has(rundir::STARTED));
            form.hand_in(pid, start_ticks).unwrap();
            let written: StartedRecord = run.read_json(rundir::STARTED).unwrap().unwrap();
            assert_eq!(written, StartedRecord { pid, start_ticks, ..record.clone() });
            run.remove(rundir::STARTED);
        }
    }
}
