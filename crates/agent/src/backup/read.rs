//! Reading one file: what it has and where its holes are, and whether it changed meanwhile.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt as _;

use hostler_blob::Hasher;
use hostler_model::Digest;
use hostler_model::node_backup::{EXTENTS_MAX, Extent};
use rustix::fs::{FileType, Mode, OFlags, SeekFrom, Stat};
use rustix::io::Errno;

use super::Failure;
use super::walk::Missed;

const PIECE: usize = 256 << 10;
/// What `st_blocks` counts.
const BLOCK: u64 = 512;

const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// A file as it was read.
pub(super) struct Read {
    pub size: u64,
    pub stored: u64,
    pub digest: Digest,
    pub extents: Vec<Extent>,
    pub is_changed: bool,
}

/// Opens a plain file; without a trace where that is allowed.
pub(super) fn open(dir: BorrowedFd<'_>, name: &CStr) -> Result<(File, Stat), Missed> {
    let open = |flags| rustix::fs::openat(dir, name, flags, Mode::empty());
    let opened = match open(FILE | OFlags::NOATIME) {
        Err(Errno::PERM) => open(FILE),
        opened => opened,
    };
    let file = File::from(opened?);
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((file, stat)),
        // Something else took its place.
        _ => Err(Errno::NOENT.into()),
    }
}

/// Reads a file as it is now, up to the size that it had.
pub(super) fn read(
    file: &File,
    before: &Stat,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Read, Missed> {
    let size = u64::try_from(before.st_size).unwrap_or_default();
    let blocks = u64::try_from(before.st_blocks).unwrap_or_default();
    let pieces = match blocks.saturating_mul(BLOCK) < size {
        true => pieces(file, size),
        false => None,
    };
    let is_whole = pieces.is_none();
    let pieces = pieces.unwrap_or_else(|| vec![Extent { at: 0, length: size }]);
    let (mut hasher, mut buffer) = (Hasher::new(), vec![0; PIECE]);
    let mut read =
        Read { size, stored: 0, digest: hasher.digest(), extents: Vec::new(), is_changed: false };
    'pieces: for piece in pieces.into_iter().filter(|piece| piece.length > 0) {
        let mut done = 0;
        while done < piece.length {
            let room = usize::try_from(piece.length - done).unwrap_or(PIECE).min(PIECE);
            let got = match file.read_at(&mut buffer[..room], piece.at + done) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            if got == 0 {
                // It is shorter now.
                read.size = piece.at + done;
                read.is_changed = true;
                keep(&mut read, Extent { at: piece.at, length: done });
                break 'pieces;
            }
            hasher.update(&buffer[..got]);
            take(&buffer[..got]).map_err(Missed::End)?;
            done += got as u64;
        }
        keep(&mut read, piece);
    }
    if is_whole {
        read.extents.clear();
    }
    read.digest = hasher.digest();
    let after = rustix::fs::fstat(file)?;
    read.is_changed |= stamp(before) != stamp(&after);
    Ok(read)
}

fn keep(read: &mut Read, extent: Extent) {
    if extent.length > 0 {
        read.stored += extent.length;
        read.extents.push(extent);
    }
}

/// What changes when the content does.
fn stamp(stat: &Stat) -> (i64, i64, u64) {
    (stat.st_size, stat.st_mtime, stat.st_mtime_nsec)
}

/// Where a file with holes has something; `None` where it is better read as a whole.
fn pieces(file: &File, size: u64) -> Option<Vec<Extent>> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < size {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) if data < size => data,
            Ok(_) | Err(Errno::NXIO) => break,
            Err(_) => return None,
        };
        let hole = rustix::fs::seek(file, SeekFrom::Hole(data)).ok()?.min(size);
        if hole <= data || pieces.len() >= EXTENTS_MAX {
            return None;
        }
        pieces.push(Extent { at: data, length: hole - data });
        at = hole;
    }
    let is_one = matches!(pieces.as_slice(), [one] if one.at == 0 && one.length == size);
    (!is_one).then_some(pieces)
}
