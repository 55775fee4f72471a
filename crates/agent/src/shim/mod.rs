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
//! Most programs need no gate: they are prepared by the shim, and their child does 4 and 6 itself, at
//! once, without a copy of the shim's memory (`plain`).
//!
//! From then on the shim pumps output (`output::Writer`), carries out stops and the timeout
//! (`serve`), runs hooks and what agents want to have run beside the program (`aside`), and at the end
//! kills what the program left behind and writes `exit.json` (`end`).
//! The agent that ordered the run is connected from the beginning; when it goes, the shim listens on
//! `ctl.sock` for the next one (`link`). It needs none.
//!
//! A shim whose run has ended in order may take another one (`idle`).
//!
//! Of a run with secrets the shim takes these out of all output, and removes them from memory at the end
//! (`secrets`).
//!
//! A run in a container is the same with another child: not the program but its *keeper*, which starts
//! the container and stays as long as that does (`keeper`, and the module `container`).
//!
//! When a shim itself is killed, the lock falls. Whoever recovers the run then finds `started.json`
//! without `exit.json`, kills everything of the run (by cgroup, or by the mark in its environment), and
//! reports it as vanished.

mod aside;
mod bind;
mod birth;
mod child;
mod end;
mod idle;
mod keeper;
mod link;
mod plain;
mod program;
mod serve;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::cgroup::{self, Confinement, Group};
use crate::executor::Seat;
use crate::output::{Account, Limits, Writer};
use crate::rundir::{self, Request, RunDir};
use crate::secrets;
use crate::sys::{self, Alarm, SingleThreaded, Stack};
use crate::wire::{self, Greeting, HookKind, Identity, StartOrder, kind};
use aside::Aside;
use birth::{abandon, fork_into, give_birth, pipe, started};
pub use child::MESSAGE_MAX;
pub use idle::outwait;
use keeper::Keeping;
use link::Links;

/// Why the program is being ended, once it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Stopped,
    TimedOut,
}

/// What a shim has from one run to the next.
struct Home {
    token: SingleThreaded,
    runs: OwnedFd,
    cgroups: cgroup::Root,
    boot_id: String,
    stack: Stack,
    /// Becomes readable when a child changes state.
    children: OwnedFd,
    /// That of the run before, with nothing in it.
    kept: Option<Confinement>,
}

impl Home {
    /// What the next run is confined to.
    fn confine(&mut self, order: &StartOrder) -> Confinement {
        if let Some(kept) = self.kept.take() {
            if kept.suits(&order.bounds, &order.binding) {
                return kept;
            }
            kept.remove();
        }
        let mut made = self.cgroups.make(order.run_id, &order.bounds, &order.binding);
        made.unenforced.extend(bind::bind(&order.binding));
        made
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.kept.iter().for_each(Confinement::remove);
    }
}

struct Shim {
    home: Home,
    order: StartOrder,
    run: RunDir,
    confinement: Confinement,
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
    /// Open until the child has become the program, or has said why it cannot.
    gate: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// The other ends, for as long as hooks may need them.
    writers: Option<(OwnedFd, OwnedFd)>,
    output: Writer,
    /// Where its secrets are, while it runs.
    secrets: Option<PathBuf>,
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
    let Seat { token, lock, runs, cgroups, boot_id } = seat;
    let home =
        settle_in().and_then(|children| Ok((children, Stack::new()?))).map(|(children, stack)| {
            Home { token, runs, cgroups, boot_id, stack, children, kept: None }
        });
    let mut next = match home {
        Ok(home) => Some(Turn { home, order, agent, hold: lock }),
        Err(e) => return refuse(&agent, &format!("the shim cannot be set up: {e}")),
    };
    while let Some(turn) = next {
        next = turn.take();
    }
}

fn settle_in() -> io::Result<OwnedFd> {
    sys::discard_children(false);
    let _ = rustix::process::setsid();
    let _ = rustix::thread::set_name(c"hostler-shim");
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    sys::child_events()
}

/// One run in the life of a shim.
struct Turn {
    home: Home,
    order: StartOrder,
    agent: OwnedFd,
    /// Released once the run is ours.
    hold: OwnedFd,
}

impl Turn {
    /// From its start to its end; what comes then, if anything does.
    fn take(self) -> Option<Turn> {
        let Turn { home, order, agent, hold } = self;
        let mut shim = match begin(home, order, hold) {
            Ok(shim) => shim,
            Err(refusal) => {
                refusal.tell(&agent);
                return None;
            }
        };
        shim.links.add(agent);
        if shim.gate.is_none() {
            shim.release();
            if shim.failure.is_none() {
                shim.has_become_program();
            }
        } else if !shim.begin_hook(HookKind::PreStart, None) {
            shim.release();
        }
        let ended = loop {
            let ended = shim.serve();
            if !shim.replace_keeper(ended) {
                break ended;
            }
        };
        let end::Rest { home, agent, hold } = shim.end(ended)?;
        let order = idle::next_order(&agent)?;
        Some(Turn { home, order, agent, hold })
    }
}

impl Refusal {
    fn tell(&self, agent: &OwnedFd) {
        match self {
            Refusal::AlreadyStarted => {
                link::send(agent, kind::ALREADY_STARTED, &[]);
            }
            Refusal::Failed(why) => refuse(agent, why),
        }
    }
}

/// Tells the agent that nothing was executed, and why.
pub fn refuse(agent: &OwnedFd, why: &str) {
    link::send(agent, kind::REFUSED, why.as_bytes());
}

fn begin(mut home: Home, order: StartOrder, hold: OwnedFd) -> Result<Shim, Refusal> {
    let failed = |what: &'static str| {
        move |e: io::Error| Refusal::Failed(format!("{what}: {e}; nothing was executed"))
    };
    let run = RunDir::open(&home.runs, order.run_id)
        .map_err(failed("the run's directory cannot be opened"))?;
    let is_mine = run.try_lock().map_err(failed("the run's directory cannot be locked"))?;
    if !is_mine || run.has(rundir::STARTED) || run.has(rundir::EXIT) {
        return Err(Refusal::AlreadyStarted);
    }
    drop(hold);

    let given = Secrets::of(&order, &run).map_err(failed("its secrets cannot be read"))?;
    let confinement = home.confine(&order);
    let born = match give_birth(&mut home, &order, &run, &confinement) {
        Ok(born) => born,
        Err(e) => {
            abandon(&confinement);
            return Err(failed("the run cannot be started")(e));
        }
    };
    let identity = born.identity;
    let unenforced = confinement.unenforced.clone();
    let greeting = Greeting { identity, version: wire::VERSION, unenforced }.encode();
    let account = order.project.name().and_then(|name| Account::of(&home.runs, name).ok());
    let limits = Limits { segment_bytes: order.segment_bytes, segments_max: order.segments_max };
    Ok(Shim {
        home,
        order,
        output: Writer::new(limits).scrubbing(given.forms).counted(account),
        secrets: given.dir,
        run,
        confinement,
        child: identity.pid,
        identity,
        keeping: Keeping::default(),
        greeting,
        listener: None,
        links: Links::default(),
        gate: born.gate,
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
        failure: born.failure,
        farewell: None,
    })
}

/// What a shim has to know of its run's secrets.
#[derive(Default)]
struct Secrets {
    dir: Option<PathBuf>,
    /// What is to be taken out of its output.
    forms: Option<Arc<secrets::Forms>>,
}

impl Secrets {
    fn of(order: &StartOrder, run: &RunDir) -> io::Result<Secrets> {
        if !order.has_secrets {
            return Ok(Secrets::default());
        }
        let request: Option<Request> = run.read_json(rundir::SPEC)?;
        let dir =
            request.and_then(|request| request.secrets?.dir).ok_or(io::ErrorKind::NotFound)?;
        let forms = secrets::forms_of(&dir)?.map(Arc::new);
        Ok(Secrets { dir: Some(dir), forms })
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
