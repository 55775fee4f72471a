//! Reading the list of a backup, line by line, believing nothing: every entry has to be one that a node could have
//! written, and every byte of the volumes belongs to one file at most. So a list cannot ask for more to be
//! written than there is.

use super::{BackupEntry, EntryKind, Extent};

/// The longest line.
pub const LINE_MAX: usize = 1 << 20;
/// The most pieces of one file with holes.
pub const EXTENTS_MAX: usize = 10_000;
const ATTRIBUTE_MAX: usize = 255;
const MODE_MAX: u32 = 0o7777;
const NANOS: u32 = 1_000_000_000;

/// What is wrong with a list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error("line {line} of the list cannot be read")]
    Line {
        line: u64,
        #[source]
        source: serde_json::Error,
    },
    #[error("line {line} of the list cannot be: {why}")]
    Entry { line: u64, why: &'static str },
}

/// The lines that were read so far.
#[derive(Clone, Debug)]
pub struct EntryList {
    line: u64,
    /// How many bytes there are in the volumes.
    total: u64,
    /// Where the bytes end that entries had so far.
    position: u64,
}

impl EntryList {
    pub fn new(total: u64) -> EntryList {
        EntryList { line: 0, total, position: 0 }
    }

    /// The next line, with or without its end.
    pub fn entry(&mut self, line: &[u8]) -> Result<BackupEntry, ListError> {
        self.line += 1;
        let wrong = |why| ListError::Entry { line: self.line, why };
        if line.len() > LINE_MAX {
            return Err(wrong("it is too long"));
        }
        let entry: BackupEntry = serde_json::from_slice(line)
            .map_err(|source| ListError::Line { line: self.line, source })?;
        if let Some(why) = problem(&entry) {
            return Err(wrong(why));
        }
        if let EntryKind::File { at, stored, .. } = &entry.kind {
            let end = at.checked_add(*stored).filter(|end| *end <= self.total);
            let Some(end) = end else {
                return Err(wrong("its bytes are beyond those of the backup"));
            };
            if *at < self.position {
                return Err(wrong("its bytes are another file's"));
            }
            self.position = end;
        }
        Ok(entry)
    }
}

fn problem(entry: &BackupEntry) -> Option<&'static str> {
    if entry.mode > MODE_MAX {
        return Some("it has a mode that there is not");
    }
    if entry.modified.1 >= NANOS {
        return Some("it has a time that there is not");
    }
    let is_name = |name: &String| {
        (1..=ATTRIBUTE_MAX).contains(&name.len()) && !name.contains('\0') && name.contains('.')
    };
    if !entry.attributes.keys().all(is_name) {
        return Some("it has an attribute that there is not");
    }
    match &entry.kind {
        EntryKind::File { size, stored, extents, .. } => file_problem(*size, *stored, extents),
        EntryKind::Same { path } if *path == entry.path => Some("it is the same as itself"),
        EntryKind::Directory | EntryKind::Same { .. } | EntryKind::Link { .. } => None,
    }
}

fn file_problem(size: u64, stored: u64, extents: &[Extent]) -> Option<&'static str> {
    if size > i64::MAX.unsigned_abs() {
        return Some("no file is as large");
    }
    if extents.is_empty() {
        return (stored != size && stored != 0).then_some("its size is not that of its bytes");
    }
    if extents.len() > EXTENTS_MAX {
        return Some("it has too many holes");
    }
    let (mut end, mut sum) = (0_u64, 0_u64);
    for extent in extents {
        let next = extent.at.checked_add(extent.length);
        match next {
            Some(next) if extent.length > 0 && extent.at >= end && next <= size => {
                end = next;
                sum += extent.length;
            }
            _ => return Some("its pieces are not one after the other within it"),
        }
    }
    (sum != stored).then_some("its pieces are not its bytes")
}

#[cfg(test)]
mod tests {
    use super::super::{BackupPath, LinkTarget};
    use super::*;
    use crate::Digest;

    fn entry(path: &str, kind: EntryKind) -> BackupEntry {
        BackupEntry {
            path: BackupPath::new(path).unwrap(),
            kind,
            mode: 0o644,
            uid: 0,
            gid: 0,
            modified: (0, 0),
            attributes: std::collections::BTreeMap::new(),
        }
    }

    fn file(size: u64, at: u64, stored: u64, extents: &[(u64, u64)]) -> EntryKind {
        let extents = extents.iter().map(|(at, length)| Extent { at: *at, length: *length });
        let digest = Digest::from_bytes([1; 32]);
        EntryKind::File { size, at, stored, digest, extents: extents.collect() }
    }

    fn read(total: u64, entries: &[BackupEntry]) -> Result<(), ListError> {
        let mut list = EntryList::new(total);
        for entry in entries {
            list.entry(&serde_json::to_vec(entry).unwrap())?;
        }
        Ok(())
    }

    #[test]
    fn bytes_belong_to_one_file() {
        let good = [
            entry("a", EntryKind::Directory),
            entry("a/b", file(5, 0, 5, &[])),
            entry("a/c", file(0, 5, 0, &[])),
            entry("a/d", file(1 << 40, 7, 3, &[(0, 1), (4096, 2)])),
            entry("a/e", file(1 << 40, 10, 0, &[])),
            entry("a/f", EntryKind::Same { path: BackupPath::new("a/b").unwrap() }),
            entry("a/g", EntryKind::Link { target: LinkTarget::new("/etc").unwrap() }),
        ];
        read(10, &good).unwrap();
        for bad in [
            vec![entry("a", file(11, 0, 11, &[]))],
            vec![entry("a", file(5, 0, 5, &[])), entry("b", file(5, 0, 5, &[]))],
            vec![entry("a", file(5, u64::MAX, 5, &[]))],
            vec![entry("a", file(5, 0, 4, &[]))],
            vec![entry("a", file(u64::MAX, 0, 0, &[]))],
            vec![entry("a", file(9, 0, 2, &[(4, 1), (3, 1)]))],
            vec![entry("a", file(9, 0, 2, &[(8, 2)]))],
            vec![entry("a", file(9, 0, 3, &[(0, 2)]))],
            vec![entry("a", file(9, 0, 1, &[(0, 0), (1, 1)]))],
            vec![entry("a", file(9, 0, 1, &[(u64::MAX, 1)]))],
            vec![entry("a", EntryKind::Same { path: BackupPath::new("a").unwrap() })],
            vec![BackupEntry { mode: 0o10_0644, ..entry("a", EntryKind::Directory) }],
            vec![BackupEntry { modified: (0, NANOS), ..entry("a", EntryKind::Directory) }],
            vec![BackupEntry {
                attributes: [("x".to_owned(), String::new())].into(),
                ..entry("a", EntryKind::Directory)
            }],
        ] {
            assert!(read(10, &bad).is_err(), "{bad:?}");
        }
        let mut list = EntryList::new(10);
        for line in [&b""[..], b"{}", b"null", b"[1]", &[b' '; LINE_MAX + 1]] {
            assert!(list.entry(line).is_err());
        }
        let escaping =
            br#"{"path":"a/%2E%2E/b","is":"directory","mode":0,"uid":0,"gid":0,"modified":[0,0]}"#;
        assert!(list.entry(escaping).is_err());
    }
}
