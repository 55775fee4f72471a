//! Giving memory back that a process needed to begin and does not need to wait.
//!
//! Most of what a resting process holds is not its own work: program text that only the start ran
//! through, stack that only the start was deep enough for, heap that was freed. The kernel would take
//! clean pages back when memory runs short; a small machine, or one with hundreds of runs, is better
//! off when they are not held at all. Everything given back here comes again by itself, page by page,
//! when it is touched.
//!
//! Shims share pages with the executor until they write to them, so what is done in a shim must write
//! to as few as possible: where the program text lies is found out once, before it is forked, and the
//! heap is left alone unless there is much to give back.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

use nix::libc;

use super::SingleThreaded;

/// How far below the present depth the stack is looked for pages; it has hardly ever been deeper.
const STACK: usize = 256 << 10;

/// Makes threads to come share one heap: an agent has few, and none that is in a hurry to allocate.
pub fn share_heap(_: &SingleThreaded) {
    #[cfg(target_env = "gnu")]
    // SAFETY: no pointers are passed, and there is no other thread yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives back what is free on the heap.
pub fn give_back_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the allocator's own function, which takes its own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Gives back program text until it is run again.
pub fn give_back_text() {
    unload(&find_text());
}

/// Gives back program text, as far as it was there the first time, and the stack below the caller.
pub fn give_back_text_and_stack(_: &SingleThreaded) {
    static TEXT: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    unload(TEXT.get_or_init(find_text));
    let here = 0_u8;
    let page = rustix::param::page_size();
    let end = (&raw const here as usize & !(page - 1)) - page;
    // SAFETY: with one thread and no signal handlers, nothing that lives is more than a page below
    // this frame: the stack grows downwards. What is not mapped there is left out, and the kernel
    // keeps a gap below the stack that is wider than this.
    unsafe { libc::madvise((end - STACK) as *mut c_void, STACK, libc::MADV_DONTNEED) };
}

fn unload(text: &[Range<usize>]) {
    for part in text {
        // SAFETY: these pages were mapped from a file, privately and never to be written; position
        // independent code has no relocations in them. What is touched again is read from the file.
        unsafe { libc::madvise(part.start as *mut c_void, part.len(), libc::MADV_DONTNEED) };
    }
}

/// The whole pages of the program and its libraries that are just what the files say: segments that
/// can be written to, or could while they were relocated, are left out.
fn find_text() -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // SAFETY: the callback fits, and what it is given is what it takes it for.
    unsafe { libc::dl_iterate_phdr(Some(add_text), (&raw mut found).cast()) };
    found
}

unsafe extern "C" fn add_text(
    object: *mut libc::dl_phdr_info,
    _: libc::size_t,
    found: *mut c_void,
) -> c_int {
    // SAFETY: `find_text` passes its list, and waits for us.
    let found = unsafe { &mut *found.cast::<Vec<Range<usize>>>() };
    // SAFETY: the C library passes a valid description, whose headers are valid for this call.
    let (object, headers) = unsafe {
        let object = &*object;
        (object, std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()))
    };
    // SAFETY: a name is null or a C string.
    let is_kernels = !object.dlpi_name.is_null()
        && unsafe { CStr::from_ptr(object.dlpi_name) }.to_bytes().starts_with(b"linux-");
    let page = rustix::param::page_size();
    for header in headers {
        let is_text = header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0;
        let begin = usize::try_from(object.dlpi_addr + header.p_vaddr);
        if let (true, false, Ok(begin), Ok(size)) =
            (is_text, is_kernels, begin, usize::try_from(header.p_memsz))
        {
            let part = begin & !(page - 1)..(begin + size) & !(page - 1);
            found.extend(Some(part).filter(|part| !part.is_empty()));
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    static TOLD: &str = "what the file says is there again when it is touched";

    #[test]
    fn what_is_given_back_comes_again() {
        let held = vec![7_u8; 1 << 20];
        let text = find_text();
        let me = find_text as *const () as usize;
        assert!(text.iter().any(|part| part.contains(&me)), "this program is among it");
        assert!(!text.iter().any(|part| part.contains(&(held.as_ptr() as usize))));
        give_back_heap();
        give_back_text();
        assert!(TOLD.ends_with("touched"));
        assert!(held.iter().all(|byte| *byte == 7));
    }
}
