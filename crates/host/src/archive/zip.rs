//! Zip archives, read from the directory at their end. Stored and deflated entries, large archives
//! (zip64) included; every entry has to have the size and the checksum the directory says.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::member::{Member, Parts, Refusal, What, as_path, check_target};
use super::{Bounds, Visit};

const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const END_64_LOCATOR: u32 = 0x0706_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const LOCAL: u32 = 0x0403_4b50;
/// The end is this long, and a comment of up to 65,535 bytes is behind it.
const END_LEN: usize = 22;
const DIRECTORY_MAX: u64 = 256 << 20;
const LINK_MAX: u64 = 4096;

fn broken() -> Refusal {
    Refusal::new("it is damaged, or no zip archive")
}

/// Little-endian numbers at places.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N], Refusal> {
        let end = at.checked_add(N).ok_or_else(broken)?;
        let slice = self.0.get(at..end).ok_or_else(broken)?;
        slice.try_into().map_err(|_| broken())
    }

    fn u16(&self, at: usize) -> Result<u16, Refusal> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Result<u32, Refusal> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Result<u64, Refusal> {
        self.bytes(at).map(u64::from_le_bytes)
    }
}

/// What the directory says about one entry.
struct Listed {
    name: Vec<u8>,
    is_unix: bool,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    attributes: u32,
    offset: u64,
}

pub(super) fn walk(mut file: File, mut bounds: Bounds, visit: Visit<'_>) -> Result<(), Refusal> {
    let directory = directory(&mut file)?;
    let mut rest = directory.as_slice();
    while !rest.is_empty() {
        let (listed, len) = listed(rest)?;
        rest = &rest[len..];
        bounds.take(listed.size)?;
        one(&mut file, listed, visit)?;
    }
    Ok(())
}

fn one(file: &mut File, listed: Listed, visit: Visit<'_>) -> Result<(), Refusal> {
    let path = as_path(&listed.name)?;
    let shown = path.display();
    if listed.name.contains(&b'\\') {
        let why = "has a backslash, which could be a part of a name or between names";
        return Err(Refusal::new(format!("{shown} {why}")));
    }
    if listed.flags & 1 != 0 {
        return Err(Refusal::new(format!("{shown} is encrypted")));
    }
    let parts = Parts::of(&path)?;
    let unix_mode = if listed.is_unix { listed.attributes >> 16 } else { 0 };
    let is_directory = listed.name.ends_with(b"/");
    let permissions = match (unix_mode & 0o777, is_directory) {
        (0, true) => 0o755,
        (0, false) => 0o644,
        (mode, _) => mode,
    };
    let member = |what| Member { parts: parts.clone(), what, mode: permissions };
    match unix_mode & 0o170_000 {
        _ if is_directory => visit(&member(What::Directory), &mut io::empty()),
        0 | 0o100_000 => {
            let mut data = data(file, &listed)?;
            visit(&member(What::File), &mut data)
        }
        0o120_000 => {
            let mut target = Vec::new();
            data(file, &listed)?.take(LINK_MAX + 1).read_to_end(&mut target)?;
            let target = as_path(&target)?;
            check_target(&parts, &target)?;
            visit(&member(What::Link(target)), &mut io::empty())
        }
        _ => Err(Refusal::new(format!("{shown} is neither a file, a directory nor a link"))),
    }
}

/// The directory of the archive, whole.
fn directory(file: &mut File) -> Result<Vec<u8>, Refusal> {
    let length = file.metadata()?.len();
    let tail_len = length.min(END_LEN as u64 + 65_535);
    let tail_at = length - tail_len;
    let tail = read_at(file, tail_at, tail_len)?;
    let end = (0..=tail.len().checked_sub(END_LEN).ok_or_else(broken)?)
        .rev()
        .find(|at| {
            let fields = Fields(&tail[*at..]);
            let is_last = |comment: u16| at + END_LEN + usize::from(comment) == tail.len();
            matches!((fields.u32(0), fields.u16(20)), (Ok(END), Ok(c)) if is_last(c))
        })
        .ok_or_else(broken)?;
    let fields = Fields(&tail[end..]);
    if fields.u16(4)? != fields.u16(6)? {
        return Err(Refusal::new("it is one part of several"));
    }
    let (mut size, mut offset) = (u64::from(fields.u32(12)?), u64::from(fields.u32(16)?));
    let is_large =
        size == u64::from(u32::MAX) || offset == u64::from(u32::MAX) || fields.u16(10)? == u16::MAX;
    if is_large && let Some(locator_at) = end.checked_sub(20) {
        let locator = Fields(&tail[locator_at..]);
        if locator.u32(0)? == END_64_LOCATOR {
            let large = read_at(file, locator.u64(8)?, 56)?;
            let large = Fields(&large);
            if large.u32(0)? != END_64 {
                return Err(broken());
            }
            (size, offset) = (large.u64(40)?, large.u64(48)?);
        }
    }
    if size > DIRECTORY_MAX || offset.checked_add(size).is_none_or(|end| end > length) {
        return Err(broken());
    }
    read_at(file, offset, size)
}

fn read_at(file: &mut File, at: u64, length: u64) -> Result<Vec<u8>, Refusal> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) == Ok(length) {
        true => Ok(bytes),
        false => Err(broken()),
    }
}

/// The first entry of the rest of the directory, and how long it is there.
fn listed(rest: &[u8]) -> Result<(Listed, usize), Refusal> {
    let fields = Fields(rest);
    if fields.u32(0)? != CENTRAL {
        return Err(broken());
    }
    let (name_len, extra_len) = (usize::from(fields.u16(28)?), usize::from(fields.u16(30)?));
    let comment_len = usize::from(fields.u16(32)?);
    let (name_end, extra_end) = (46 + name_len, 46 + name_len + extra_len);
    let name = rest.get(46..name_end).ok_or_else(broken)?.to_vec();
    let extra = rest.get(name_end..extra_end).ok_or_else(broken)?;
    let mut listed = Listed {
        name,
        is_unix: fields.u16(4)? >> 8 == 3,
        flags: fields.u16(8)?,
        method: fields.u16(10)?,
        crc: fields.u32(16)?,
        packed: u64::from(fields.u32(20)?),
        size: u64::from(fields.u32(24)?),
        attributes: fields.u32(38)?,
        offset: u64::from(fields.u32(42)?),
    };
    enlarge(&mut listed, extra)?;
    let length = extra_end + comment_len;
    match length <= rest.len() {
        true => Ok((listed, length)),
        false => Err(broken()),
    }
}

/// Numbers that had no room stand in a field of their own.
fn enlarge(listed: &mut Listed, mut extra: &[u8]) -> Result<(), Refusal> {
    while extra.len() >= 4 {
        let fields = Fields(extra);
        let (kind, length) = (fields.u16(0)?, usize::from(fields.u16(2)?));
        let body = extra.get(4..4 + length).ok_or_else(broken)?;
        if kind == 1 {
            let mut at = 0;
            for number in [&mut listed.size, &mut listed.packed, &mut listed.offset] {
                if *number == u64::from(u32::MAX) {
                    *number = Fields(body).u64(at)?;
                    at += 8;
                }
            }
        }
        extra = &extra[4 + length..];
    }
    Ok(())
}

/// The bytes of an entry.
fn data<'a>(file: &'a mut File, listed: &Listed) -> Result<Checked<Box<dyn Read + 'a>>, Refusal> {
    let head = read_at(file, listed.offset, 30)?;
    let head = Fields(&head);
    if head.u32(0)? != LOCAL {
        return Err(broken());
    }
    let skipped = 30 + u64::from(head.u16(26)?) + u64::from(head.u16(28)?);
    file.seek(SeekFrom::Start(listed.offset.checked_add(skipped).ok_or_else(broken)?))?;
    let packed = file.take(listed.packed);
    let from: Box<dyn Read + 'a> = match listed.method {
        0 => Box::new(packed),
        8 => Box::new(DeflateDecoder::new(packed)),
        _ => return Err(Refusal::new("it is packed in a way that is not known; use deflate")),
    };
    Ok(Checked { from, crc: Crc::new(), wanted: listed.crc, left: listed.size })
}

/// Says at the end whether all of it came, and came whole.
struct Checked<R> {
    from: R,
    crc: Crc,
    wanted: u32,
    left: u64,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "an entry is damaged");
        let read = self.from.read(buffer)?;
        self.crc.update(&buffer[..read]);
        let left = u64::try_from(read).ok().and_then(|read| self.left.checked_sub(read));
        self.left = left.ok_or_else(damaged)?;
        match read == 0 && (self.left > 0 || self.crc.sum() != self.wanted) {
            true => Err(damaged()),
            false => Ok(read),
        }
    }
}
