use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;

struct Made(tar::Builder<Vec<u8>>);

impl Made {
    fn new() -> Made {
        Made(tar::Builder::new(Vec::new()))
    }

    /// An entry whose names are written as they are, whatever they say.
    fn entry(mut self, kind: EntryType, path: &str, link: &str, bytes: &[u8]) -> Made {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o6755);
        header.set_size(bytes.len() as u64);
        let raw = header.as_gnu_mut().unwrap();
        raw.name[..path.len()].copy_from_slice(path.as_bytes());
        raw.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        self.0.append(&header, bytes).unwrap();
        self
    }

    fn file(self, path: &str, text: &str) -> Made {
        self.entry(EntryType::Regular, path, "", text.as_bytes())
    }

    fn link(self, path: &str, target: &str) -> Made {
        self.entry(EntryType::Symlink, path, target, b"")
    }

    fn bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}

fn unpack_into(dir: &Path, bytes: &[u8], bounds: Bounds) -> Result<(), UnpackError> {
    unpack(file_of(bytes), inner::open_dir(dir).unwrap(), None, bounds)
}

/// Unpacks in a directory with a neighbour that must not be touched.
fn attempt(made: Made) -> Result<tempfile::TempDir, String> {
    let outer = tempfile::tempdir().unwrap();
    std::fs::write(outer.path().join("secret"), "untouched").unwrap();
    let work = outer.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let done = unpack_into(&work, &made.bytes(), Bounds::default());
    assert_eq!(std::fs::read_to_string(outer.path().join("secret")).unwrap(), "untouched");
    let left: Vec<_> = std::fs::read_dir(outer.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing appears beside the directory");
    done.map(|()| outer).map_err(|e| e.to_string())
}

fn read(dir: &tempfile::TempDir, path: &str) -> String {
    std::fs::read_to_string(dir.path().join("work").join(path)).unwrap()
}

#[test]
fn what_is_plain_is_unpacked() {
    let made = Made::new()
        .entry(EntryType::Directory, "./", "", b"")
        .entry(EntryType::Directory, "dir", "", b"")
        .file("dir/a", "one")
        .file("deep/er/b", "two")
        .link("dir/to-b", "../deep/er/b")
        .entry(EntryType::Link, "dir/again", "deep/er/b", b"")
        .file("dir/a", "three");
    let dir = attempt(made).unwrap();
    assert_eq!(read(&dir, "dir/a"), "three", "the later wins");
    assert_eq!(read(&dir, "dir/to-b"), "two");
    assert_eq!(read(&dir, "dir/again"), "two");
    let mode = std::fs::metadata(dir.path().join("work/dir/a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755, "no set-user-id");
}

#[test]
fn what_leads_out_is_refused() {
    let cases: Vec<(&str, Made)> = vec![
        ("absolute", Made::new().file("/tmp/hostler-evil", "x")),
        ("up", Made::new().file("../secret", "x")),
        ("up inside", Made::new().file("a/../../secret", "x")),
        ("link up", Made::new().link("a", "../secret")),
        ("link up from below", Made::new().link("d/a", "../../secret")),
        ("absolute link", Made::new().link("a", "/etc/passwd")),
        ("through a link", Made::new().link("d", ".").file("d/x", "x")),
        ("through a link to below", Made::new().file("e/f", "").link("d", "e").file("d/x", "x")),
        ("a file is no directory", Made::new().file("d", "x").file("d/x", "x")),
        (
            "a link is no directory",
            Made::new().link("d", "e").entry(EntryType::Directory, "d", "", b""),
        ),
        ("hard link up", Made::new().entry(EntryType::Link, "a", "../secret", b"")),
        ("hard link absolute", Made::new().entry(EntryType::Link, "a", "/etc/passwd", b"")),
        ("hard link to nothing", Made::new().entry(EntryType::Link, "a", "d/b", b"")),
        ("character device", Made::new().entry(EntryType::Char, "null", "", b"")),
        ("block device", Made::new().entry(EntryType::Block, "sda", "", b"")),
        ("pipe", Made::new().entry(EntryType::Fifo, "pipe", "", b"")),
        ("sparse", Made::new().entry(EntryType::GNUSparse, "s", "", b"")),
        ("no target", Made::new().link("a", "")),
        ("the directory as a file", Made::new().file(".", "x")),
        (
            "long name up",
            Made::new().entry(EntryType::GNULongName, "l", "", b"../secret\0").file("a", "x"),
        ),
        (
            "pax name up",
            Made::new().entry(EntryType::XHeader, "p", "", b"18 path=../secret\n").file("a", "x"),
        ),
        (
            "pax link up",
            Made::new()
                .entry(EntryType::XHeader, "p", "", b"22 linkpath=../secret\n")
                .link("a", "b"),
        ),
        (
            "pax size",
            Made::new().entry(EntryType::XHeader, "p", "", b"11 size=99\n").file("a", "x"),
        ),
        (
            "pax broken",
            Made::new().entry(EntryType::XHeader, "p", "", b"999 path=a\n").file("a", "x"),
        ),
        (
            "pax without end",
            Made::new().entry(EntryType::XHeader, "p", "", b"0 path=a\n").file("a", "x"),
        ),
        (
            "endless name",
            Made::new().entry(EntryType::GNULongName, "l", "", &[b'a'; 70_000]).file("a", "x"),
        ),
        ("nothing", Made::new()),
    ];
    for (name, made) in cases {
        assert!(attempt(made).is_err(), "{name}");
    }
    assert!(!Path::new("/tmp/hostler-evil").exists());
}

#[test]
fn long_names_are_read() {
    let long = format!("{}/{}", "d".repeat(150), "f".repeat(150));
    let made = Made::new()
        .entry(EntryType::GNULongName, "././@LongLink", "", format!("{long}\0").as_bytes())
        .file("cut", "gnu");
    assert_eq!(read(&attempt(made).unwrap(), &long), "gnu");
    let record = format!(" path={long}\n");
    let length = record.len() + 3;
    let made = Made::new()
        .entry(EntryType::XHeader, "pax", "", format!("{length}{record}").as_bytes())
        .file("cut", "pax");
    assert_eq!(read(&attempt(made).unwrap(), &long), "pax");
}

#[test]
fn archives_are_recognised_however_they_are_packed() {
    let plain = Made::new().file("a", &"text ".repeat(1000)).bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let packed = [plain.clone(), gzip.finish().unwrap(), zstd::encode_all(&plain[..], 1).unwrap()];
    for bytes in packed {
        let dir = tempfile::tempdir().unwrap();
        unpack_into(dir.path(), &bytes, Bounds::default()).unwrap();
        assert_eq!(std::fs::metadata(dir.path().join("a")).unwrap().len(), 5000);
        let half = tempfile::tempdir().unwrap();
        assert!(unpack_into(half.path(), &bytes[..bytes.len() / 2], Bounds::default()).is_err());
    }
    let dir = tempfile::tempdir().unwrap();
    assert!(unpack_into(dir.path(), b"this is no archive at all", Bounds::default()).is_err());
}

#[test]
fn what_is_too_much_is_refused_before_it_is_there() {
    let bounds = Bounds { bytes: 10_000, entries: 5 };
    let large = Made::new().file("a", &"x".repeat(6000)).file("b", &"x".repeat(6000)).bytes();
    let dir = tempfile::tempdir().unwrap();
    let error = unpack_into(dir.path(), &large, bounds).unwrap_err().to_string();
    assert!(error.contains("too many bytes"), "{error}");
    assert!(!dir.path().join("b").exists());
    let many = (0..6).fold(Made::new(), |made, i| made.file(&format!("f{i}"), "")).bytes();
    let error = unpack_into(dir.path(), &many, bounds).unwrap_err().to_string();
    assert!(error.contains("too many entries"), "{error}");
    let mut bomb = tar::Builder::new(zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_size(1 << 30);
    header.set_cksum();
    bomb.append_data(&mut header, "zeros", io::repeat(0).take(1 << 30)).unwrap();
    let bomb = bomb.into_inner().unwrap().finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    assert!(unpack_into(dir.path(), &bomb, bounds).is_err());
    assert!(!dir.path().join("zeros").exists());
}

#[test]
fn links_that_were_there_are_not_followed() {
    let outer = tempfile::tempdir().unwrap();
    let (work, other) = (outer.path().join("work"), outer.path().join("other"));
    std::fs::create_dir(&work).unwrap();
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("file"), "kept").unwrap();
    symlink(&other, work.join("dir")).unwrap();
    symlink(other.join("file"), work.join("file")).unwrap();
    let through = Made::new().file("dir/x", "x").bytes();
    assert!(unpack_into(&work, &through, Bounds::default()).is_err());
    unpack_into(&work, &Made::new().file("file", "new").bytes(), Bounds::default()).unwrap();
    assert_eq!(std::fs::read_to_string(other.join("file")).unwrap(), "kept");
    assert_eq!(std::fs::read_to_string(work.join("file")).unwrap(), "new");
    assert!(!other.join("x").exists());
}

/// Each link stays inside by itself; together, or at another depth, they would not.
#[test]
fn links_do_not_lead_out_together() {
    let through = Made::new().link("here", ".").link("out", "here/../secret");
    let deep = Made::new().file("a/b/c/f", "").link("a/b/c/up", "../../..");
    let twice = deep.link("out", "a/b/c/up/../secret");
    let moved = Made::new().link("a/b/c/deep", "../../../x").entry(
        EntryType::Link,
        "shallow",
        "a/b/c/deep",
        b"",
    );
    let swapped = Made::new().link("d", "e").entry(EntryType::Link, "d/x", "e/f", b"");
    for (name, made) in
        [("through", through), ("twice", twice), ("moved", moved), ("swapped", swapped)]
    {
        assert!(attempt(made).is_err(), "{name}");
    }
    let fine = Made::new().file("a/f", "in").link("b", "a").link("c/l", "../b/f");
    assert_eq!(read(&attempt(fine).unwrap(), "c/l"), "in");
}

/// Gzip inside gzip, and names without end: nothing is taken in before it is counted.
#[test]
fn an_archive_of_headers_alone_ends_early() {
    let bounds = Bounds { bytes: 10_000, entries: 100 };
    let dir = tempfile::tempdir().unwrap();
    let names = (0..200)
        .fold(Made::new(), |made, _| made.entry(EntryType::GNULongName, "l", "", &[b'n'; 4000]));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&names.bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    assert!(packed.len() < 20_000, "{}", packed.len());
    let error = unpack_into(dir.path(), &packed, bounds).unwrap_err().to_string();
    assert!(error.contains("too many entries"), "{error}");
    let mut endless = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::copy(&mut io::repeat(0).take(64 << 20), &mut endless).unwrap();
    assert!(unpack_into(dir.path(), &endless.finish().unwrap(), bounds).is_err());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
