//! The few system calls that have no safe wrapper in our libraries, each behind a safe function.
//!
//! Everything `unsafe` in this crate is in this module. Forking is the delicate part: a child of a
//! multi-threaded process may do next to nothing before it execs, while executor and shims want to
//! do ordinary work. [`SingleThreaded`] is the proof that there is only one thread; it can be had
//! only by looking, is neither `Send` nor `Sync`, and every fork asks for it.

#![expect(unsafe_code, reason = "fork, clone3, waitid and signal dispositions have no safe form")]

mod memory;
mod numa;
mod vfork;

use std::ffi::c_int;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use hostler_model::Timestamp;
use nix::libc;
use tokio::io::unix::AsyncFd;

pub use memory::{give_back_heap, give_back_text, give_back_text_and_stack, share_heap};
pub use numa::bind_memory;
pub use vfork::{Image, Stack, vfork};

/// Proof that this process has one thread.
pub struct SingleThreaded(PhantomData<*const ()>);

impl SingleThreaded {
    /// `None` when the process has more than one thread.
    pub fn prove() -> io::Result<Option<SingleThreaded>> {
        let threads = std::fs::read_dir("/proc/self/task")?.count();
        Ok((threads == 1).then_some(SingleThreaded(PhantomData)))
    }
}

/// Ends this process at once: no destructors, no exit handlers.
pub fn exit_now(code: c_int) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

fn clock(id: libc::clockid_t) -> Duration {
    let mut value = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `value` is a valid place for the result.
    let rc = unsafe { libc::clock_gettime(id, &raw mut value) };
    debug_assert_eq!(rc, 0);
    Duration::new(
        u64::try_from(value.tv_sec).unwrap_or(0),
        u32::try_from(value.tv_nsec).unwrap_or(0),
    )
}

/// The wall clock, for records only.
pub fn now() -> Timestamp {
    let micros = clock(libc::CLOCK_REALTIME).as_micros();
    Timestamp::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// Time since boot, suspension included.
pub fn boottime() -> Duration {
    clock(libc::CLOCK_BOOTTIME)
}

/// A time since boot as the kernel counts the starts of processes.
pub fn ticks(since_boot: Duration) -> u64 {
    let a_tick = 1_000_000_000 / u128::from(rustix::param::clock_ticks_per_second().max(1));
    u64::try_from(since_boot.as_nanos() / a_tick).unwrap_or(u64::MAX)
}

/// An alarm on the boot clock that shows up in [`poll`].
pub struct Alarm(OwnedFd);

impl Alarm {
    pub fn new() -> io::Result<Alarm> {
        // SAFETY: no pointers are passed.
        let fd = unsafe {
            libc::timerfd_create(libc::CLOCK_BOOTTIME, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK)
        };
        check(fd)?;
        // SAFETY: the descriptor was just made and nobody else has it.
        Ok(Alarm(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Rings at `when` (time since boot), once.
    pub fn set(&self, when: Duration) -> io::Result<()> {
        let at = when.max(Duration::from_nanos(1));
        let value = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec {
                tv_sec: libc::time_t::try_from(at.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_nsec: libc::c_long::from(at.subsec_nanos()),
            },
        };
        // SAFETY: `value` outlives the call; the old value is not asked for.
        check(unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const value,
                std::ptr::null_mut(),
            )
        })?;
        Ok(())
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Forks; `None` in the child. Past the C library where the kernel lets us: its own `fork` writes to
/// pages that parent and child then no longer share.
pub fn fork(_: &SingleThreaded) -> io::Result<Option<u32>> {
    let args = CloneArgs { exit_signal: SIGCHLD, ..CloneArgs::default() };
    if let Ok(forked) = clone3(&args) {
        return Ok(forked);
    }
    // SAFETY: there is one thread, so the child is an ordinary process.
    let pid = check(unsafe { libc::fork() })?;
    Ok(u32::try_from(pid).ok().filter(|pid| *pid > 0))
}

const SIGCHLD: u64 = libc::SIGCHLD.unsigned_abs() as u64;

#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Forks with the child already in a cgroup (which is far cheaper than moving it there afterwards);
/// `None` in the child.
pub fn fork_into_cgroup(_: &SingleThreaded, cgroup: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    clone3(&CloneArgs {
        flags: CLONE_INTO_CGROUP,
        exit_signal: SIGCHLD,
        cgroup: u64::try_from(cgroup.as_raw_fd()).unwrap_or(0),
        ..CloneArgs::default()
    })
}

/// For callers that have proved that there is one thread.
fn clone3(args: &CloneArgs) -> io::Result<Option<u32>> {
    // SAFETY: without CLONE_VM and with a null stack this is fork: the child has its own copy of
    // everything. There is one thread, so no lock of the C library is held by anybody else.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const *args, std::mem::size_of::<CloneArgs>())
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u32::try_from(pid).ok().filter(|pid| *pid > 0))
}

/// Gives every signal its default action, also those that the C library keeps to itself and that
/// whoever started us may have left ignored.
pub fn reset_signals() {
    // The kernel's structure, all zeros: default action, no flags, empty mask.
    let default = [0_u64; 4];
    for number in 1..=64 {
        // SAFETY: the kernel reads at most the four words, and no old action is asked for. No code
        // of ours runs in a handler afterwards.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number as c_int,
                default.as_ptr(),
                std::ptr::null_mut::<u64>(),
                8_usize,
            );
        }
    }
}

/// Signals that people and service managers send to whole process groups; helpers outlive them.
pub const IGNORED: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE];

pub fn ignore_signals() {
    for number in IGNORED {
        disposition(number, libc::SIG_IGN);
    }
}

pub fn default_signals() {
    for number in IGNORED {
        disposition(number, libc::SIG_DFL);
    }
}

/// With `true`, ended children disappear without being waited for.
pub fn discard_children(yes: bool) {
    disposition(libc::SIGCHLD, if yes { libc::SIG_IGN } else { libc::SIG_DFL });
}

fn disposition(number: c_int, action: libc::sighandler_t) {
    // SAFETY: only the two predefined actions are set, so no code of ours runs in a handler. Numbers
    // that cannot be changed are refused harmlessly.
    unsafe { libc::signal(number, action) };
}

/// Blocks SIGCHLD and gives a descriptor that becomes readable when a child changes state.
pub fn child_events() -> io::Result<OwnedFd> {
    use nix::sys::signal::{SigSet, Signal};
    use nix::sys::signalfd::{SfdFlags, SignalFd};
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    mask.thread_block()?;
    let fd = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    fd.as_fd().try_clone_to_owned()
}

pub fn unblock_signals() -> io::Result<()> {
    nix::sys::signal::SigSet::empty().thread_set_mask()?;
    Ok(())
}

/// What `waitid` says of our children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// There are none.
    None,
    /// There are some, all running.
    Running,
    /// This one has ended and is still waiting to be reaped.
    Ended(Ended),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub pid: u32,
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// Looks at the children without reaping any, so that their numbers stay theirs.
pub fn children() -> Children {
    // SAFETY: all zeros is a valid siginfo_t, and the call fills it in.
    let info = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        if libc::waitid(libc::P_ALL, 0, &raw mut info, options) < 0 {
            return Children::None;
        }
        info
    };
    // SAFETY: after a successful waitid these fields are those of a SIGCHLD, or zero.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    match u32::try_from(pid) {
        Ok(pid) if pid > 0 => Children::Ended(Ended {
            pid,
            code: (info.si_code == libc::CLD_EXITED).then_some(status),
            signal: (info.si_code != libc::CLD_EXITED).then_some(status),
        }),
        _ => Children::Running,
    }
}

/// Reaps one ended child.
pub fn reap(pid: u32) {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return;
    };
    // SAFETY: the status is not asked for.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
}

/// Signals the process group of a child that has not been reaped, so that the number is still its.
pub fn signal_group_of_child(pid: u32, signal: c_int) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: no pointers are passed; the caller has not reaped the leader.
    check(unsafe { libc::kill(-pid, signal) })?;
    Ok(())
}

/// Signals a child that has not been reaped.
pub fn signal_child(pid: u32, signal: c_int) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: no pointers are passed; the caller has not reaped the child.
    check(unsafe { libc::kill(pid, signal) })?;
    Ok(())
}

/// Kills the process a pidfd stands for, and its process group where the kernel can do that safely.
pub fn kill_by_pidfd(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    const PROCESS_GROUP: libc::c_uint = 1 << 2;
    let send = |flags: libc::c_uint| {
        // SAFETY: the siginfo pointer may be null.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                pidfd.as_raw_fd(),
                libc::SIGKILL,
                std::ptr::null::<libc::siginfo_t>(),
                flags,
            )
        };
        if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    let _ = send(PROCESS_GROUP);
    send(0)
}

/// A place in the set given to [`poll`]; absent descriptors are skipped.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Slot(libc::pollfd);

impl Slot {
    pub const EMPTY: Slot = Slot(libc::pollfd { fd: -1, events: 0, revents: 0 });

    pub fn reading(fd: Option<&impl AsFd>) -> Slot {
        Slot(libc::pollfd {
            fd: fd.map_or(-1, |fd| fd.as_fd().as_raw_fd()),
            events: libc::POLLIN,
            revents: 0,
        })
    }

    /// Data, an end of file or an error waits.
    pub fn is_ready(self) -> bool {
        self.0.fd >= 0 && self.0.revents != 0
    }

    /// The other side is gone, whatever may still be queued.
    pub fn is_hung_up(self) -> bool {
        self.0.fd >= 0 && self.0.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0
    }
}

/// Waits until one of the slots is ready; `None` waits without end. True when one is.
pub fn poll(slots: &mut [Slot], timeout: Option<Duration>) -> bool {
    let millis = timeout
        .map_or(-1, |t| c_int::try_from(t.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX));
    let count = libc::nfds_t::try_from(slots.len()).unwrap_or(0);
    // SAFETY: `Slot` is a transparent pollfd, and `count` is the length of the slice.
    let ready = unsafe { libc::poll(slots.as_mut_ptr().cast::<libc::pollfd>(), count, millis) };
    if ready < 0 {
        for slot in slots.iter_mut() {
            slot.0.revents = 0;
        }
    }
    ready > 0
}

/// Closes every descriptor from 3 up, but one.
pub fn close_all_but(keep: BorrowedFd<'_>) {
    let keep = libc::c_uint::try_from(keep.as_raw_fd()).unwrap_or(0);
    // SAFETY: called before anything in this process owns one of these descriptors.
    unsafe {
        if keep > 3 {
            libc::syscall(libc::SYS_close_range, 3, keep - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, keep + 1, libc::c_uint::MAX, 0);
    }
}

/// Marks every descriptor from 3 up to be closed by exec.
pub fn close_all_on_exec() {
    const CLOEXEC: libc::c_uint = 1 << 2;
    // SAFETY: closes nothing now.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOEXEC) };
}

/// Lets a descriptor stay open across exec.
pub fn keep_on_exec(fd: impl AsFd) -> io::Result<RawFd> {
    let fd = fd.as_fd();
    rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?;
    Ok(fd.as_raw_fd())
}

/// Takes a descriptor for our own that whoever started this program left open for it.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number <= 2 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: called first thing in `main`, when nothing in this process owns such a descriptor; a
    // number that is not open is refused before it is owned.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
    // SAFETY: it is open, as was just seen, and nobody else here knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Takes descriptor 0 for our own.
pub fn take_stdin() -> io::Result<OwnedFd> {
    // SAFETY: standard input is open for as long as the process has not closed it.
    let stdin = unsafe { BorrowedFd::borrow_raw(0) };
    Ok(rustix::io::fcntl_dupfd_cloexec(stdin, 3)?)
}

/// Makes `target` (0, 1 or 2) refer to what `source` does.
pub fn redirect(source: BorrowedFd<'_>, target: RawFd) -> io::Result<()> {
    debug_assert!((0..=2).contains(&target));
    // SAFETY: no pointers are passed, and nothing here owns the standard descriptors.
    check(unsafe { libc::dup2(source.as_raw_fd(), target) })?;
    Ok(())
}

/// Makes a non-blocking descriptor known to the asynchronous runtime.
pub fn asynchronous(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is one open descriptor, always the same, until it is dropped.
    Ok(unsafe { AsyncFd::register(fd) }?)
}

fn check(rc: c_int) -> io::Result<c_int> {
    if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(rc) }
}
