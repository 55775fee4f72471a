//! Where memory comes from.

use std::io;

use nix::libc;

/// Room for as many NUMA nodes as the kernel can be built for.
const WORDS: usize = 16;
const BITS: usize = libc::c_ulong::BITS as usize;

/// From now on memory of this process, and of all that it starts, comes from one NUMA node only.
pub fn bind_memory(node: u32) -> io::Result<()> {
    let mut mask: [libc::c_ulong; WORDS] = [0; WORDS];
    let place = node as usize;
    let word = mask.get_mut(place / BITS).ok_or(io::ErrorKind::InvalidInput)?;
    *word |= 1 << (place % BITS);
    // SAFETY: the mask outlives the call, and is as long as is said.
    let rc = unsafe {
        libc::syscall(libc::SYS_set_mempolicy, libc::MPOL_BIND, mask.as_ptr(), WORDS * BITS)
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
