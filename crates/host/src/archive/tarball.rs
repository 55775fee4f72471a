//! Tar archives. Headers that are entries of their own (long names, pax) are read here and bounded, so
//! that none can fill the memory.

use std::io::Read;

use tar::{Archive, Entry, EntryType};

use super::member::{Member, Parts, Refusal, What, as_path, check_target};
use super::{Bounds, Visit};

const HEADER_MAX: u64 = 64 << 10;

/// Whether this is the first block of a tar archive: by its checksum, which the oldest have, too.
pub(super) fn is_tar(block: &[u8]) -> bool {
    if block.len() != 512 {
        return false;
    }
    let is_field = |at: usize| (148..156).contains(&at);
    let sum: u32 = block
        .iter()
        .enumerate()
        .map(|(at, byte)| if is_field(at) { u32::from(b' ') } else { u32::from(*byte) })
        .sum();
    let digits: String = block[148..156]
        .iter()
        .map(|byte| char::from(*byte))
        .skip_while(|c| *c == ' ')
        .take_while(|c| c.is_digit(8))
        .collect();
    u32::from_str_radix(&digits, 8).is_ok_and(|said| said == sum)
}

/// What headers before an entry say about it.
#[derive(Default)]
struct Said {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

pub(super) fn walk(plain: impl Read, mut bounds: Bounds, visit: Visit<'_>) -> Result<(), Refusal> {
    // Twice the bytes leaves room for headers and padding.
    let within = plain.take(bounds.bytes.saturating_mul(2).saturating_add(64 << 20));
    let mut archive = Archive::new(within);
    let mut said = Said::default();
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        match entry.header().entry_type() {
            EntryType::GNULongName => said.path = Some(header(&mut entry, &mut bounds)?),
            EntryType::GNULongLink => said.link = Some(header(&mut entry, &mut bounds)?),
            EntryType::XHeader => read_pax(&header(&mut entry, &mut bounds)?, &mut said)?,
            EntryType::XGlobalHeader => {}
            kind => {
                let said = std::mem::take(&mut said);
                if let Some(member) = member(&entry, kind, said)? {
                    let size = match member.what {
                        What::File => entry.header().entry_size()?,
                        _ => 0,
                    };
                    bounds.take(size)?;
                    let mut data = Whole { from: &mut entry, left: size };
                    visit(&member, &mut data)?;
                }
            }
        }
    }
    Ok(())
}

fn member(
    entry: &Entry<'_, impl Read>,
    kind: EntryType,
    said: Said,
) -> Result<Option<Member>, Refusal> {
    let path = as_path(&said.path.unwrap_or_else(|| entry.path_bytes().into_owned()))?;
    let is_root = path.components().all(|part| part == std::path::Component::CurDir);
    if kind == EntryType::Directory && is_root {
        return Ok(None);
    }
    let parts = Parts::of(&path)?;
    let shown = path.display();
    let link = || {
        let given = said.link.or_else(|| entry.link_name_bytes().map(|link| link.into_owned()));
        let given = given.filter(|link| !link.is_empty());
        given.ok_or_else(|| Refusal::new(format!("{shown} has no target")))
    };
    let what = match kind {
        EntryType::Directory => What::Directory,
        EntryType::Regular | EntryType::Continuous => What::File,
        EntryType::Symlink => {
            let target = as_path(&link()?)?;
            check_target(&parts, &target)?;
            What::Link(target)
        }
        EntryType::Link => What::Name(Parts::of(&as_path(&link()?)?)?),
        kind => {
            let letter = char::from(kind.as_byte());
            return Err(Refusal::new(format!(
                "{shown} is neither a file, a directory nor a link (type {letter:?})"
            )));
        }
    };
    Ok(Some(Member { parts, what, mode: entry.header().mode()? & 0o777 }))
}

/// The bytes of an entry, all of them: an archive that breaks off is an error.
struct Whole<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.left = self.left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX));
        match read == 0 && self.left > 0 && !buffer.is_empty() {
            true => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
            false => Ok(read),
        }
    }
}

fn header(entry: &mut Entry<'_, impl Read>, bounds: &mut Bounds) -> Result<Vec<u8>, Refusal> {
    bounds.take(0)?;
    if entry.header().entry_size()? > HEADER_MAX {
        return Err(Refusal::new("a header in it is too long"));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `length key=value\n`, any number of them.
fn read_pax(bytes: &[u8], said: &mut Said) -> Result<(), Refusal> {
    let broken = || Refusal::new("a header in it is broken");
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ').ok_or_else(broken)?;
        let length = std::str::from_utf8(&rest[..space]).ok().and_then(|text| text.parse().ok());
        let length: usize =
            length.filter(|n| (space + 2..=rest.len()).contains(n)).ok_or_else(broken)?;
        let pair = &rest[space + 1..length - 1];
        let equals = pair.iter().position(|byte| *byte == b'=').ok_or_else(broken)?;
        let (key, value) = (&pair[..equals], &pair[equals + 1..]);
        match key {
            b"path" => said.path = Some(value.to_vec()),
            b"linkpath" => said.link = Some(value.to_vec()),
            b"size" => return Err(Refusal::new("a file in it is larger than 8 GiB")),
            key if key.starts_with(b"GNU.sparse.") => {
                return Err(Refusal::new("it has sparse files"));
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    Ok(())
}
