//! A child that shares our memory until it execs, so that no page table is copied to make it and torn
//! down again a moment later: the greater part of what a fork costs that only leads to an exec.
//!
//! The caller is suspended until the child has exec'd or ended, and there is no other thread, so the two
//! never run at once. The child has a stack of its own, and its own copies of everything that is not
//! memory: descriptors, signal actions, working directory, limits. What it writes to memory stays there;
//! that is how it tells us how far it came. It can be killed in the middle of anything, so it must not
//! touch what would be broken then: above all it must not allocate. There are no signal handlers in
//! processes of ours, so none can run in it.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::libc;

use super::{CloneArgs, SIGCHLD, SingleThreaded, exit_now};

/// Far more than the few calls of such a child need.
const SIZE: usize = 128 << 10;

/// Runs `work` in a child that shares our memory, and comes back when the child has become another
/// program or ended: with whatever `work` returned, when it did. An error means that there was no child.
///
/// `work` must not allocate, lock or panic.
pub fn vfork(
    _: &SingleThreaded,
    stack: &mut Stack,
    cgroup: Option<BorrowedFd<'_>>,
    work: &mut dyn FnMut() -> c_int,
) -> io::Result<u32> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let into = cgroup.map_or(0, |_| CLONE_INTO_CGROUP);
    let args = CloneArgs {
        flags: (libc::CLONE_VM | libc::CLONE_VFORK).unsigned_abs() as u64 | into,
        exit_signal: SIGCHLD,
        stack: stack.0 as u64,
        stack_size: SIZE as u64,
        cgroup: cgroup.map_or(0, |fd| u64::try_from(fd.as_raw_fd()).unwrap_or(0)),
        ..CloneArgs::default()
    };
    let mut work = work;
    // SAFETY: there is one thread; the stack is mapped until the child is done with our memory, which it
    // is when this returns; `work` lives as long, and is called by the child alone.
    let rc = unsafe { clone3_calling(&args, enter, (&raw mut work).cast()) };
    match u32::try_from(rc) {
        Ok(pid) => Ok(pid),
        Err(_) => Err(io::Error::from_raw_os_error(i32::try_from(-rc).unwrap_or(libc::EINVAL))),
    }
}

unsafe extern "C" fn enter(work: *mut c_void) -> ! {
    // SAFETY: `vfork` passes just this, and waits.
    let work = unsafe { &mut *work.cast::<&mut dyn FnMut() -> c_int>() };
    exit_now(work())
}

/// Makes a child that calls `entry` on the stack in `args`; its number, or a negated error. The child
/// never comes back from here.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3_calling(
    args: &CloneArgs,
    entry: unsafe extern "C" fn(*mut c_void) -> !,
    work: *mut c_void,
) -> isize {
    let mut rc = isize::try_from(libc::SYS_clone3).unwrap_or(isize::MAX);
    // SAFETY: the child leaves this block only by the call, with a stack pointer of its own; all other
    // registers are ours, and what the kernel changes besides the result is named.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") rc,
            in("rdi") std::ptr::from_ref(args),
            in("rsi") size_of::<CloneArgs>(),
            in("r12") work,
            in("r13") entry,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    rc
}

#[cfg(target_arch = "aarch64")]
unsafe fn clone3_calling(
    args: &CloneArgs,
    entry: unsafe extern "C" fn(*mut c_void) -> !,
    work: *mut c_void,
) -> isize {
    let rc: isize;
    // SAFETY: as above; this kernel changes nothing but the result.
    unsafe {
        std::arch::asm!(
            "svc #0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, x20",
            "blr x21",
            "brk #1",
            "2:",
            inlateout("x0") std::ptr::from_ref(args) => rc,
            in("x1") size_of::<CloneArgs>(),
            in("x8") libc::SYS_clone3,
            in("x20") work,
            in("x21") entry,
        );
    }
    rc
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn clone3_calling(
    _: &CloneArgs,
    _: unsafe extern "C" fn(*mut c_void) -> !,
    _: *mut c_void,
) -> isize {
    -isize::try_from(libc::ENOSYS).unwrap_or(1)
}

/// What such children stand on, one after the other.
pub struct Stack(*mut c_void);

impl Stack {
    pub fn new() -> io::Result<Stack> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: a new mapping, wherever there is room.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, rights, kind, -1, 0) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Stack(at)) }
    }

    /// Gives its memory back until there is another child.
    pub fn rest(&mut self) {
        // SAFETY: mapped by us, and nobody stands on it.
        unsafe { libc::madvise(self.0, SIZE, libc::MADV_DONTNEED) };
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: mapped by us, and the child that used it is gone or has memory of its own.
        unsafe { libc::munmap(self.0, SIZE) };
    }
}

/// Arguments and environment of a program, as the kernel wants them.
pub struct Image {
    argv: Words,
    env: Words,
}

impl Image {
    pub fn new(argv: Vec<CString>, env: Vec<CString>) -> Image {
        Image { argv: Words::new(argv), env: Words::new(env) }
    }

    /// The longest word, as people call it, and how long it is.
    pub fn longest(&self) -> (String, usize) {
        let length = |word: &&CString| word.as_bytes().len();
        let argument = self.argv.words.iter().max_by_key(length).map_or(0, |word| length(&word));
        let variable = self.env.words.iter().max_by_key(length);
        match variable.filter(|word| length(word) > argument) {
            Some(word) => {
                let name = word.as_bytes().split(|byte| *byte == b'=').next().unwrap_or_default();
                (format!("the variable `{}`", String::from_utf8_lossy(name)), length(&word))
            }
            None => ("an argument".to_owned(), argument),
        }
    }

    /// Becomes the program in `file`; comes back only when that is not possible. Does not allocate.
    pub fn exec(&self, file: &CStr) -> Errno {
        // SAFETY: all are C strings or end with a null pointer, and live as long as `self`.
        unsafe { libc::execve(file.as_ptr(), self.argv.pointers(), self.env.pointers()) };
        Errno::last()
    }
}

struct Words {
    /// Into the words, and null at the end.
    pointers: Vec<*const c_char>,
    /// What they point to.
    words: Vec<CString>,
}

impl Words {
    fn new(words: Vec<CString>) -> Words {
        let ends = std::iter::once(std::ptr::null());
        Words { pointers: words.iter().map(|word| word.as_ptr()).chain(ends).collect(), words }
    }

    fn pointers(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys;

    /// Tests have threads; this is done in a process that has none.
    fn alone(test: fn(&SingleThreaded, &mut Stack) -> bool) {
        // SAFETY: the C library sees to it that its heap can be used after its own fork.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let token = SingleThreaded::prove().ok().flatten();
            let stack = Stack::new().ok();
            let is_well =
                token.zip(stack).is_some_and(|(token, mut stack)| test(&token, &mut stack));
            exit_now(i32::from(!is_well));
        }
        assert_eq!(status_of(pid.unsigned_abs()), 0);
    }

    /// Zero as well for what was killed.
    fn status_of(pid: u32) -> i32 {
        use nix::sys::wait::{WaitStatus, waitpid};
        match waitpid(nix::unistd::Pid::from_raw(pid.cast_signed()), None) {
            Ok(WaitStatus::Exited(_, code)) => code,
            _ => 0,
        }
    }

    #[test]
    fn what_the_child_writes_is_seen_and_what_it_changes_is_its_own() {
        alone(|token, stack| {
            let mut told = 0;
            let mine = std::process::id();
            let child = vfork(token, stack, None, &mut || {
                told = std::process::id();
                let _ = rustix::process::chdir(c"/proc");
                7
            });
            let Ok(pid) = child else { return false };
            told == pid
                && pid != mine
                && status_of(pid) == 7
                && std::env::current_dir().is_ok_and(|dir| dir != std::path::Path::new("/proc"))
        });
    }

    #[test]
    fn it_can_become_another_program() {
        alone(|token, stack| {
            let image = Image::new(
                vec![c"sh".into(), c"-c".into(), c"exit $N".into()],
                vec![c"N=9".into()],
            );
            let mut failed = None;
            let child = vfork(token, stack, None, &mut || {
                failed = Some(image.exec(c"/no/such/file"));
                image.exec(c"/bin/sh");
                1
            });
            child.is_ok_and(|pid| status_of(pid) == 9) && failed == Some(Errno::ENOENT)
        });
    }

    #[test]
    fn one_after_the_other_stands_on_the_same_stack() {
        alone(|token, stack| {
            (0..50).all(|n| {
                stack.rest();
                let mut sum = 0;
                let child = vfork(token, stack, None, &mut || {
                    let many = std::hint::black_box([n; 4096]);
                    sum = many.iter().sum();
                    n
                });
                child.is_ok_and(|pid| status_of(pid) == n) && sum == n * 4096
            })
        });
    }

    #[test]
    fn one_that_is_killed_lets_us_go_on() {
        alone(|token, stack| {
            let mut stage = 0;
            let child = vfork(token, stack, None, &mut || {
                stage = 1;
                let _ = sys::signal_child(std::process::id(), libc::SIGKILL);
                stage = 2;
                0
            });
            child.is_ok_and(|pid| status_of(pid) == 0) && stage == 1
        });
    }
}
