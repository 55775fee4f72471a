use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hostler_blob::digest_of;
use hostler_model::node_backup::{
    BackupEntry, BackupPath, EntryKind, Extent, LinkTarget, RestoreOrder,
};
use hostler_model::{
    BackupVolume, NodeBackupId, NodeBackupSpec, OperationId, RestoreOutcome, RestoreSpec, RestoreTo,
};

use super::restore::{Volume, restore};
use super::walk::{Met, Take, walk};
use super::{Failure, Progress};
use crate::blobs::BlobError;

/// What a walk gave.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    entries: Vec<BackupEntry>,
}

impl Take for Kept {
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn entry(&mut self, entry: &BackupEntry) -> Result<(), Failure> {
        self.entries.push(entry.clone());
        Ok(())
    }
}

impl Kept {
    fn paths(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.path.to_string()).collect()
    }

    fn entry(&self, path: &Path) -> &BackupEntry {
        let wanted = path.display().to_string();
        self.entries.iter().find(|entry| entry.path.to_string() == wanted).unwrap()
    }
}

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        World { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn spec(&self, paths: &[&str]) -> NodeBackupSpec {
        let paths = paths.iter().map(|path| self.path(path).display().to_string()).collect();
        NodeBackupSpec { paths, ..NodeBackupSpec::default() }
    }

    fn keep(&self, paths: &[&str]) -> (Met, Kept) {
        keep(&self.spec(paths))
    }

    /// Puts back below `to`, with volumes of so many bytes.
    fn put_back(
        &self,
        kept: &Kept,
        spec: RestoreSpec,
        volume: usize,
    ) -> Result<RestoreOutcome, Failure> {
        let lines = kept.entries.iter().map(|entry| serde_json::to_string(entry).unwrap());
        let list = lines.map(|line| line + "\n").collect::<String>();
        self.put_back_list(list.as_bytes(), &kept.bytes, spec, volume)
    }

    fn put_back_list(
        &self,
        list: &[u8],
        bytes: &[u8],
        spec: RestoreSpec,
        volume: usize,
    ) -> Result<RestoreOutcome, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let list_file = dir.path().join("list");
        fs::write(&list_file, list).unwrap();
        let mut volumes = Vec::new();
        for piece in bytes.chunks(volume) {
            let digest = digest_of(piece);
            fs::write(dir.path().join(digest.to_string()), piece).unwrap();
            volumes.push(BackupVolume { digest, size: piece.len() as u64 });
        }
        let manifest = BackupVolume { digest: digest_of(list), size: list.len() as u64 };
        let backup = NodeBackupId::from_uuid(uuid::Uuid::from_u128(1));
        let order = RestoreOrder { backup, manifest, volumes, spec };
        let job = OperationId::from_uuid(uuid::Uuid::from_u128(2));
        let open = || Ok(fs::File::open(&list_file).unwrap());
        let fetch = |volume: &BackupVolume| {
            let path = dir.path().join(volume.digest.to_string());
            match path.exists() {
                true => Ok::<_, BlobError>(Volume::File(path)),
                false => Err(BlobError::Wrong(volume.digest)),
            }
        };
        let fresh = self.path("fresh");
        restore(&order, job, fresh, &Progress::default(), open, fetch)
    }
}

fn keep(spec: &NodeBackupSpec) -> (Met, Kept) {
    let mut kept = Kept::default();
    let met = walk(spec, &Progress::default(), &mut kept).unwrap();
    (met, kept)
}

fn to(path: &Path) -> RestoreSpec {
    RestoreSpec {
        to: RestoreTo::Directory { path: path.display().to_string() },
        paths: Vec::new(),
        overwrite: false,
        check: false,
    }
}

fn fresh() -> RestoreSpec {
    RestoreSpec { to: RestoreTo::Fresh, ..to(Path::new("/")) }
}

/// Below a directory: path, what it is, mode, time, number of names, content.
fn picture(root: &Path) -> Vec<(PathBuf, u32, i64, i64, u64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let (content, names) = if meta.is_symlink() {
                (fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(), 1)
            } else if meta.is_file() {
                (fs::read(&path).unwrap(), meta.nlink())
            } else {
                left.push(path.clone());
                (Vec::new(), 0)
            };
            let within = path.strip_prefix(root).unwrap().to_owned();
            found.push((within, meta.mode(), meta.mtime(), meta.mtime_nsec(), names, content));
        }
    }
    found.sort();
    found
}

fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(b"noise").finalize_xof().fill(&mut bytes);
    bytes
}

/// A tree with everything in it.
fn tree(world: &World) {
    let at = |path: &str| world.path(&format!("tree/{path}"));
    fs::create_dir_all(at("deep/er/est")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::create_dir(at("shut")).unwrap();
    fs::write(at("shut/inside"), "x").unwrap();
    fs::write(at("nothing"), "").unwrap();
    fs::write(at("large"), noise(700_000)).unwrap();
    fs::write(at("deep/er/est/file"), "deep").unwrap();
    fs::write(at("deep/name with ä and \n"), "odd").unwrap();
    fs::write(at("").join(std::ffi::OsStr::from_bytes(b"no\xfftext%")), "bytes").unwrap();
    fs::hard_link(at("large"), at("deep/another-name")).unwrap();
    symlink("/etc/passwd", at("absolute")).unwrap();
    symlink("../../nowhere", at("deep/dangling")).unwrap();
    let mut holes = fs::File::create(at("holes")).unwrap();
    holes.write_all(b"begin").unwrap();
    holes.seek(SeekFrom::Start(5 << 20)).unwrap();
    holes.write_all(b"end").unwrap();
    holes.set_len(9 << 20).unwrap();
    fs::File::create(at("only-hole")).unwrap().set_len(3 << 20).unwrap();
    fs::set_permissions(at("deep/er/est/file"), fs::Permissions::from_mode(0o4751)).unwrap();
    for (name, seconds) in [("shut/inside", 1), ("deep", 1_000_000), ("large", 2_000_000)] {
        let file = fs::File::open(at(name)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::new(seconds, 123);
        file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
    }
    fs::set_permissions(at("shut"), fs::Permissions::from_mode(0o500)).unwrap();
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let world = World::new();
    tree(&world);
    let tree = world.path("tree");
    let (met, kept) = world.keep(&["tree"]);
    assert_eq!((met.unreadable, met.vanished, met.changed, met.special), (0, 0, 0, 0));
    assert_eq!((met.links, met.directories), (2, 6));
    assert!(kept.bytes.len() < 800_000, "holes are not kept: {}", kept.bytes.len());
    let same = kept.entry(&tree.join("large"));
    assert!(matches!(same.kind, EntryKind::Same { .. }), "{same:?}");
    for volume in [usize::MAX, 1000, 65_537] {
        let place = tempfile::tempdir().unwrap();
        let outcome = world.put_back(&kept, to(place.path()), volume.min(1 << 30)).unwrap();
        assert_eq!((outcome.failed, outcome.kept), (0, 0), "{outcome:?}");
        assert_eq!(outcome.files, met.files);
        let back = place.path().join(tree.strip_prefix("/").unwrap());
        assert_eq!(picture(&back), picture(&tree));
        let holes = fs::metadata(back.join("holes")).unwrap();
        assert!(holes.blocks() * 512 < 1 << 20, "it has holes again");
        let number = |path: &str| fs::metadata(back.join(path)).unwrap().ino();
        assert_eq!(number("large"), number("deep/another-name"));
    }
}

#[test]
fn a_second_time_changes_nothing_and_a_check_tells_what_would() {
    let world = World::new();
    tree(&world);
    let (met, kept) = world.keep(&["tree"]);
    let place = tempfile::tempdir().unwrap();
    world.put_back(&kept, to(place.path()), 1 << 20).unwrap();
    let again = world.put_back(&kept, to(place.path()), 1 << 20).unwrap();
    assert_eq!((again.files, again.failed), (0, 0));
    let all = met.files + met.directories + met.links;
    assert!(again.kept >= all, "{again:?}");
    let check = || RestoreSpec { check: true, overwrite: true, ..to(place.path()) };
    let same = world.put_back(&kept, check(), 1 << 20).unwrap();
    assert_eq!((same.changed, same.files), (0, 0), "{same:?}");
    let back = place.path().join(world.path("tree").strip_prefix("/").unwrap());
    fs::write(back.join("nothing"), "something").unwrap();
    fs::write(back.join("deep/er/est/file"), "peed").unwrap();
    fs::remove_file(back.join("absolute")).unwrap();
    let holes = fs::File::options().write(true).open(back.join("holes")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&holes, b"!", 2 << 20).unwrap();
    let told = world.put_back(&kept, check(), 1 << 20).unwrap();
    let mut changes: Vec<_> =
        told.changes.iter().map(|change| change.path.rsplit('/').next().unwrap()).collect();
    changes.sort_unstable();
    assert_eq!(changes, ["absolute", "file", "holes", "nothing"], "{told:?}");
    let alone = world.put_back(&kept, to(place.path()), 1 << 20).unwrap();
    assert_eq!((alone.links, alone.files), (1, 0), "only what is not there comes back");
    assert_eq!(fs::read(back.join("nothing")).unwrap(), b"something");
    let over = RestoreSpec { overwrite: true, ..to(place.path()) };
    let over = world.put_back(&kept, over, 1 << 20).unwrap();
    assert_eq!((over.files, over.failed), (3, 0), "{over:?}");
    assert_eq!(picture(&back), picture(&world.path("tree")));
    assert!(
        picture(place.path())
            .iter()
            .all(|(path, ..)| !path.display().to_string().contains("hostler")),
        "no drafts are left"
    );
}

#[test]
fn directories_get_what_they_had_also_after_a_crash() {
    let world = World::new();
    tree(&world);
    let (_, kept) = world.keep(&["tree"]);
    let place = tempfile::tempdir().unwrap();
    // The agent died when all of it was there, but for what directories get last.
    world.put_back(&kept, to(place.path()), 1 << 20).unwrap();
    let back = place.path().join(world.path("tree").strip_prefix("/").unwrap());
    for path in ["", "deep", "shut"] {
        fs::set_permissions(back.join(path), fs::Permissions::from_mode(0o700)).unwrap();
    }
    assert!(world.path("fresh.made").exists(), "the job is remembered until it has ended");
    let again = world.put_back(&kept, to(place.path()), 1 << 20).unwrap();
    assert_eq!(again.failed, 0, "{again:?}");
    assert_eq!(picture(&back), picture(&world.path("tree")));
    super::restore::forget_notes(&world.path("fresh"));
    fs::set_permissions(back.join("deep"), fs::Permissions::from_mode(0o711)).unwrap();
    world.put_back(&kept, to(place.path()), 1 << 20).unwrap();
    let mode = fs::metadata(back.join("deep")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o711, "somebody else's directory is left alone");
}

#[test]
fn only_what_is_named_comes_back_and_what_is_left_out_was_not_kept() {
    let world = World::new();
    tree(&world);
    let mut spec = world.spec(&["tree", "tree/deep"]);
    spec.exclude = vec!["*.x".into(), "shut".into(), world.path("tree/e*").display().to_string()];
    fs::write(world.path("tree/deep/a.x"), "x").unwrap();
    let (_, kept) = keep(&spec);
    let paths = kept.paths();
    assert!(!paths.iter().any(|path| path.contains("shut") || path.ends_with(".x")), "{paths:?}");
    assert!(!paths.iter().any(|path| path.ends_with("/empty")), "{paths:?}");
    let mut once = paths.clone();
    once.dedup();
    assert_eq!(once, paths, "paths within others are read once");
    let place = tempfile::tempdir().unwrap();
    // Another name of a file whose first name is not wanted comes back as the file.
    let wanted = world.path("tree/large").display().to_string();
    let spec = RestoreSpec { paths: vec![wanted], ..to(place.path()) };
    let outcome = world.put_back(&kept, spec, 1 << 20).unwrap();
    assert_eq!((outcome.files, outcome.directories, outcome.failed), (1, 0, 0), "{outcome:?}");
    let back = place.path().join(world.path("tree/large").strip_prefix("/").unwrap());
    assert_eq!(fs::read(back).unwrap(), noise(700_000));
}

#[test]
fn links_above_are_settled_and_links_below_are_kept_as_links() {
    let world = World::new();
    fs::create_dir_all(world.path("real/dir")).unwrap();
    fs::write(world.path("real/dir/file"), "f").unwrap();
    symlink(world.path("real"), world.path("alias")).unwrap();
    symlink("dir", world.path("real/link")).unwrap();
    let (_, kept) = world.keep(&["alias/dir"]);
    assert_eq!(kept.entries.len(), 2);
    kept.entry(&world.path("real/dir/file"));
    let (met, kept) = world.keep(&["real/link"]);
    assert_eq!((met.links, kept.entries.len()), (1, 1));
    let missing = walk(&world.spec(&["gone"]), &Progress::default(), &mut Kept::default());
    assert!(matches!(missing, Err(Failure::Refused(why)) if why.contains("/gone")));
}

#[test]
fn what_is_no_file_is_told_and_what_changes_is_noticed() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    let pipe = world.path("d/pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.path("d/socket")).unwrap();
    fs::write(world.path("d/grows"), noise(600_000)).unwrap();
    fs::write(world.path("d/shrinks"), noise(600_000)).unwrap();
    fs::write(world.path("d/vanishes"), "v").unwrap();
    fs::write(world.path("d/zz"), "z").unwrap();

    /// Changes files when the first bytes of them have come.
    struct Meddler<'a>(&'a World, Kept);
    impl Take for Meddler<'_> {
        fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
            self.1.bytes(bytes)?;
            let add = |name: &str| fs::File::options().append(true).open(self.0.path(name));
            match self.1.bytes.len() {
                262_144 => add("d/grows").unwrap().write_all(b"more").unwrap(),
                862_144 => {
                    add("d/shrinks").unwrap().set_len(300_000).unwrap();
                    fs::remove_file(self.0.path("d/vanishes")).unwrap();
                }
                _ => {}
            }
            Ok(())
        }
        fn entry(&mut self, entry: &BackupEntry) -> Result<(), Failure> {
            Take::entry(&mut self.1, entry)
        }
    }

    let mut meddler = Meddler(&world, Kept::default());
    let met = walk(&world.spec(&["d"]), &Progress::default(), &mut meddler).unwrap();
    assert_eq!((met.special, met.changed, met.vanished, met.unreadable), (2, 2, 1, 0), "{met:?}");
    assert_eq!(met.troubles.len(), 5);
    let place = tempfile::tempdir().unwrap();
    let outcome = world.put_back(&meddler.1, to(place.path()), 1 << 20).unwrap();
    assert_eq!((outcome.files, outcome.failed), (3, 0), "{outcome:?}");
    let back = place.path().join(world.path("d").strip_prefix("/").unwrap());
    assert_eq!(fs::read(back.join("grows")).unwrap(), noise(600_000));
    assert_eq!(fs::read(back.join("shrinks")).unwrap(), noise(300_000));
}

#[test]
fn what_cannot_be_read_does_not_keep_the_rest_from_it() {
    if rustix::process::geteuid().is_root() {
        // Nothing is unreadable to root.
        return;
    }
    let world = World::new();
    fs::create_dir_all(world.path("d/shut")).unwrap();
    fs::write(world.path("d/secret"), "s").unwrap();
    fs::write(world.path("d/open"), "o").unwrap();
    for path in ["d/secret", "d/shut"] {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let (met, kept) = world.keep(&["d"]);
    assert_eq!((met.unreadable, met.files), (2, 1), "{met:?}");
    kept.entry(&world.path("d/open"));
    fs::set_permissions(world.path("d/shut"), fs::Permissions::from_mode(0o700)).unwrap();
}

fn entry(path: &str, kind: EntryKind) -> BackupEntry {
    BackupEntry {
        path: BackupPath::new(path).unwrap(),
        kind,
        mode: 0o644,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        modified: (1, 2),
        attributes: std::collections::BTreeMap::new(),
    }
}

fn file(at: u64, bytes: &[u8]) -> EntryKind {
    let stored = bytes.len() as u64;
    EntryKind::File { size: stored, at, stored, digest: digest_of(bytes), extents: Vec::new() }
}

fn link(target: &str) -> EntryKind {
    EntryKind::Link { target: LinkTarget::new(target).unwrap() }
}

fn same(path: &str) -> EntryKind {
    EntryKind::Same { path: BackupPath::new(path).unwrap() }
}

#[test]
fn nothing_leads_out_of_the_directory() {
    let world = World::new();
    fs::create_dir(world.path("outside")).unwrap();
    fs::write(world.path("outside/precious"), "precious").unwrap();
    let outside = world.path("outside").display().to_string();
    // A link, and a file below what is a link by then; another name of a file that was not put back.
    let hostile = Kept {
        bytes: b"evil".to_vec(),
        entries: vec![
            entry("a", link(&outside)),
            entry("a/precious", file(0, b"evil")),
            entry("b", link("..")),
            entry("b/outside/new", EntryKind::Directory),
            entry("c", same("a/precious")),
            entry("d", same("never/there")),
        ],
    };
    for overwrite in [false, true] {
        let place = world.path("place");
        let spec = RestoreSpec { overwrite, ..to(&place) };
        let outcome = world.put_back(&hostile, spec, 1 << 20).unwrap();
        assert_eq!(outcome.failed, 4, "{outcome:?}");
        assert!(outcome.troubles[0].why.contains("link"), "{outcome:?}");
        assert_eq!(picture(&world.path("outside")).len(), 1);
        assert_eq!(fs::read(world.path("outside/precious")).unwrap(), b"precious");
        fs::remove_dir_all(&place).unwrap();
    }
    // Somebody puts a link where a directory of the backup is to be.
    let place = world.path("place");
    fs::create_dir(&place).unwrap();
    symlink(&outside, place.join("dir")).unwrap();
    symlink(world.path("outside/precious"), place.join("file")).unwrap();
    let plain = Kept {
        bytes: b"goodfine".to_vec(),
        entries: vec![
            entry("dir", EntryKind::Directory),
            entry("dir/precious", file(0, b"good")),
            entry("file", file(4, b"fine")),
        ],
    };
    let outcome = world.put_back(&plain, to(&place), 1 << 20).unwrap();
    assert_eq!((outcome.failed, outcome.kept), (2, 1), "{outcome:?}");
    let spec = RestoreSpec { overwrite: true, ..to(&place) };
    let outcome = world.put_back(&plain, spec, 1 << 20).unwrap();
    assert_eq!(outcome.failed, 0, "{outcome:?}");
    assert!(fs::symlink_metadata(place.join("dir")).unwrap().is_dir(), "the link was replaced");
    assert_eq!(fs::read(place.join("file")).unwrap(), b"fine");
    assert_eq!(fs::read(world.path("outside/precious")).unwrap(), b"precious");
}

#[test]
fn lists_that_lie_are_refused() {
    let world = World::new();
    let line = |path: &str, rest: &str| {
        format!(r#"{{"path":"{path}",{rest},"mode":420,"uid":0,"gid":0,"modified":[0,0]}}"#) + "\n"
    };
    let digest = digest_of(b"x");
    let file = |at: u64, stored: u64| {
        format!(r#""is":"file","size":{stored},"at":{at},"stored":{stored},"digest":"{digest}""#)
    };
    let directory = r#""is":"directory""#;
    for list in [
        line("../evil", directory),
        line("%2Fetc", directory),
        line("a/%2E%2E/b", directory),
        line("a", &file(0, 1 << 40)),
        line("a", &file(u64::MAX, 2)),
        line("a", &file(0, 4)) + &line("b", &file(0, 4)),
        "nothing\n".to_owned(),
        "{".repeat(3 << 20),
    ] {
        let refused = world.put_back_list(list.as_bytes(), b"four", fresh(), 1 << 20);
        assert!(matches!(refused, Err(Failure::Refused(_))), "{list:.80}");
    }
    assert_eq!(picture(&world.path("fresh")), []);
    let hole = r#""is":"file","size":4611686018427387904,"at":0,"stored":0,"digest":"D""#;
    let hole = hole.replace('D', &digest_of(b"").to_string());
    let outcome = world.put_back_list(line("huge", &hole).as_bytes(), b"", fresh(), 1 << 20);
    // Either the file system has no such files, or it is all hole.
    let outcome = outcome.unwrap();
    assert_eq!(outcome.files + outcome.failed, 1, "{outcome:?}");
}

#[test]
fn bytes_that_are_not_right_do_not_take_a_place() {
    let world = World::new();
    let extents = vec![Extent { at: 1, length: 2 }, Extent { at: 9, length: 2 }];
    let digest = digest_of(b"abcd");
    let holes = EntryKind::File { size: 20, at: 8, stored: 4, digest, extents };
    let kept = Kept {
        bytes: b"goodzzzzabcd".to_vec(),
        entries: vec![
            entry("good", file(0, b"good")),
            entry("bad", file(4, b"fine")),
            entry("holes", holes),
        ],
    };
    let place = world.path("place");
    let outcome = world.put_back(&kept, to(&place), 5).unwrap();
    assert_eq!((outcome.files, outcome.failed), (2, 1), "{outcome:?}");
    assert!(outcome.troubles[0].why.contains("not those that were kept"));
    assert_eq!(fs::read(place.join("holes")).unwrap(), b"\0ab\0\0\0\0\0\0cd\0\0\0\0\0\0\0\0\0");
    let mut names: Vec<_> = fs::read_dir(&place).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["good", "holes"]);
}

#[test]
fn attributes_come_back_where_there_are_any() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    fs::write(world.path("d/f"), "f").unwrap();
    let path = world.path("d/f");
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, "user.note", b"\0\xffvalue", flags).is_err() {
        // This file system has none.
        return;
    }
    let (_, kept) = world.keep(&["d"]);
    assert_eq!(kept.entry(&path).attributes.len(), 1);
    let place = world.path("place");
    let outcome = world.put_back(&kept, to(&place), 1 << 20).unwrap();
    assert_eq!(outcome.failed, 0, "{outcome:?}");
    let back = place.join(path.strip_prefix("/").unwrap());
    let mut value = [0; 64];
    let length = rustix::fs::getxattr(&back, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"\0\xffvalue");
}
