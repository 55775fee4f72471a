//! Archives: what is unpacked, what is left alone, and what is refused.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use hostler_host::archive::Unpacked;
use hostler_host::{HostError, Primitive};
use tar::{EntryType, Header};

use crate::world::*;

fn header(name: &str, kind: EntryType, size: usize, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    // Straight into the field: the library would refuse some of these names.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_mode(mode);
    header.set_cksum();
    header
}

fn link(name: &str, kind: EntryType, target: &str) -> (Header, Vec<u8>) {
    let mut header = header(name, kind, 0, 0o777);
    header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
    header.set_cksum();
    (header, Vec::new())
}

fn file(name: &str, content: &str) -> (Header, Vec<u8>) {
    (header(name, EntryType::Regular, content.len(), 0o4755), content.into())
}

fn dir(name: &str) -> (Header, Vec<u8>) {
    (header(name, EntryType::Directory, 0, 0o755), Vec::new())
}

fn tarball(entries: &[(Header, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (header, data) in entries {
        builder.append(header, data.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn two(length: usize) -> u16 {
    length.try_into().unwrap()
}

fn four(length: usize) -> u32 {
    length.try_into().unwrap()
}

/// Name, unix mode with its type, content.
fn zip(entries: &[(&str, u32, &[u8])], is_deflated: bool) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, mode, content) in entries {
        let packed = match is_deflated {
            true => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            false => content.to_vec(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let offset = four(out.len());
        let method: u16 = if is_deflated { 8 } else { 0 };
        let mut common = Vec::new();
        for number in [0u16, method, 0, 0] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc.sum(), four(packed.len()), four(content.len())] {
            common.extend(number.to_le_bytes());
        }
        common.extend(two(name.len()).to_le_bytes());
        common.extend(0u16.to_le_bytes());
        out.extend(0x0403_4b50u32.to_le_bytes());
        out.extend(20u16.to_le_bytes());
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(&packed);
        directory.extend(0x0201_4b50u32.to_le_bytes());
        directory.extend(0x0314u16.to_le_bytes());
        directory.extend(20u16.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let offset = four(out.len());
    out.extend(&directory);
    out.extend(0x0605_4b50u32.to_le_bytes());
    for number in [0u16, 0, two(entries.len()), two(entries.len())] {
        out.extend(number.to_le_bytes());
    }
    out.extend(four(directory.len()).to_le_bytes());
    out.extend(offset.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    out
}

fn unpacked() -> Unpacked {
    Unpacked::new("/archive", "/into")
}

async fn refused(archive: Vec<u8>, says: &str) {
    let world = World::new();
    world.write("/archive", archive).write("/outside/secret", "safe").mkdir("/into");
    world.symlink("/into/link", "../outside");
    let error = world.refuses(&unpacked()).await;
    let text = error.to_string();
    assert!(text.contains(says), "{text}, not {says}");
}

#[tokio::test]
async fn tar_archives_are_unpacked_and_compared() {
    let entries = [
        dir("./"),
        dir("app/"),
        file("app/run", "one"),
        file("deep/er/file", "two"),
        link("app/current", EntryType::Symlink, "../deep/er"),
        link("app/again", EntryType::Link, "app/run"),
    ];
    for archive in [tarball(&entries), gzip(&tarball(&entries))] {
        let world = World::new();
        world.write("/archive", archive);
        let outcome = world.applies(&unpacked()).await;
        assert_eq!(outcome.diff.len(), 5, "{}", outcome.render());
        assert_eq!(world.read("/into/app/run"), "one");
        assert_eq!(world.read("/into/app/current/file"), "two");
        assert_eq!(world.read("/into/app/again"), "one");
        assert_eq!(world.mode("/into/app/run"), 0o755, "no set-user-id bit");
        world.write("/into/deep/er/file", "tampered").write("/into/app/mine", "kept");
        let outcome = world.applies(&unpacked()).await;
        assert_eq!(outcome.render(), "/into/deep/er/file: different -> file\n");
        world.removes(&unpacked()).await;
        assert_eq!(world.read("/into/app/mine"), "kept");
        assert!(!world.at("/into/app/run").exists());
    }
}

#[tokio::test]
async fn zip_archives_are_unpacked_and_compared() {
    let entries: [(&str, u32, &[u8]); 4] = [
        ("app/", 0o040755, b""),
        ("app/run", 0o100755, b"one"),
        ("deep/file", 0, b"two"),
        ("app/link", 0o120777, b"../deep/file"),
    ];
    for is_deflated in [false, true] {
        let world = World::new();
        world.write("/archive", zip(&entries, is_deflated));
        world.applies(&unpacked()).await;
        assert_eq!(world.read("/into/app/link"), "two");
        assert_eq!((world.mode("/into/app/run"), world.mode("/into/deep/file")), (0o755, 0o644));
        world.removes(&unpacked()).await;
        assert!(!world.at("/into/app").exists());
    }
}

#[tokio::test]
async fn a_file_that_is_only_packed_is_one_file() {
    let world = World::new();
    world.write("/notes.txt.gz", gzip(b"plain"));
    world.applies(&Unpacked::new("/notes.txt.gz", "/into")).await;
    assert_eq!(world.read("/into/notes.txt"), "plain");
    let small = Unpacked { bytes_max: 4, ..Unpacked::new("/notes.txt.gz", "/other") };
    world.refuses(&small).await;
}

#[tokio::test]
async fn tar_archives_cannot_leave_the_directory() {
    refused(tarball(&[file("../escape", "x")]), "leads out of the directory").await;
    refused(tarball(&[file("a/../../escape", "x")]), "leads out of the directory").await;
    refused(tarball(&[file("/etc/escape", "x")]), "is an absolute path").await;
    refused(tarball(&[file("link/secret", "x")]), "is a link or a file on the way").await;
    let out = link("a", EntryType::Symlink, "../outside");
    refused(tarball(&[out]), "leads out of the directory").await;
    let out = link("a", EntryType::Symlink, "/etc");
    refused(tarball(&[out]), "is absolute").await;
    let out = link("d/a", EntryType::Symlink, "b/../../outside");
    refused(tarball(&[out]), "goes up after it went down").await;
    let out = link("a", EntryType::Link, "../outside/secret");
    refused(tarball(&[out]), "leads out of the directory").await;
    let device = (header("dev", EntryType::Char, 0, 0o600), Vec::new());
    refused(tarball(&[device]), "neither a file, a directory nor a link").await;
    let pipe = (header("pipe", EntryType::Fifo, 0, 0o600), Vec::new());
    refused(tarball(&[pipe]), "neither a file, a directory nor a link").await;
}

#[tokio::test]
async fn long_names_cannot_leave_it_either() {
    let name = b"../escape\0";
    let long = (header("long", EntryType::GNULongName, name.len(), 0o644), name.to_vec());
    refused(tarball(&[long, file("x", "x")]), "leads out of the directory").await;
    let pax = b"18 path=../escape\n";
    let long = (header("pax", EntryType::XHeader, pax.len(), 0o644), pax.to_vec());
    refused(tarball(&[long, file("x", "x")]), "leads out of the directory").await;
    let pax = b"99 path=x\n";
    let long = (header("pax", EntryType::XHeader, pax.len(), 0o644), pax.to_vec());
    refused(tarball(&[long, file("x", "x")]), "a header in it is broken").await;
}

#[tokio::test]
async fn an_archive_cannot_write_through_a_link_of_its_own() {
    let world = World::new();
    world.mkdir("/into");
    let entries = [link("d", EntryType::Symlink, "e"), dir("e"), file("d/f", "x")];
    world.write("/archive", tarball(&entries));
    let error = unpacked().apply(&world.host).await.unwrap_err();
    assert!(error.to_string().contains("is a link or a file on the way"), "{error}");
    let name = link("n", EntryType::Link, "s");
    let entries = [link("s", EntryType::Symlink, "f"), name];
    world.write("/archive", tarball(&entries));
    assert!(matches!(unpacked().apply(&world.host).await, Err(HostError::Link { .. })));
}

#[tokio::test]
async fn a_link_in_the_place_of_a_file_is_replaced_not_followed() {
    let world = World::new();
    world.write("/outside", "safe").mkdir("/into").symlink("/into/f", "../outside");
    world.write("/archive", tarball(&[file("f", "new")]));
    world.applies(&unpacked()).await;
    assert_eq!((world.read("/outside"), world.read("/into/f")), ("safe".into(), "new".into()));
}

#[tokio::test]
async fn zip_archives_cannot_leave_the_directory() {
    let escape = |name: &str| zip(&[(name, 0o100644, b"x")], false);
    refused(escape("../escape"), "leads out of the directory").await;
    refused(escape("/etc/escape"), "is an absolute path").await;
    refused(escape("..\\escape"), "has a backslash").await;
    refused(escape("link/secret"), "is a link or a file on the way").await;
    let out = zip(&[("a", 0o120777, b"../outside")], false);
    refused(out, "leads out of the directory").await;
    let pipe = zip(&[("a", 0o010644, b"")], false);
    refused(pipe, "neither a file, a directory nor a link").await;
}

#[tokio::test]
async fn damage_is_found_before_anything_is_written() {
    let good = zip(&[("a", 0o100644, b"content"), ("b", 0o100644, b"content")], false);
    let mut bad = good.clone();
    let at = good.windows(7).rposition(|window| window == b"content").unwrap();
    bad[at] = b'C';
    refused(bad, "an entry is damaged").await;
    refused(good[..good.len() - 10].to_vec(), "it is damaged").await;
    let mut encrypted = good.clone();
    let at = encrypted.windows(4).position(|w| w == [0x50, 0x4b, 1, 2]).unwrap();
    encrypted[at + 8] = 1;
    refused(encrypted, "is encrypted").await;
    let tar = tarball(&[file("a", &"x".repeat(2000))]);
    refused(tar[..1000].to_vec(), "it breaks off").await;
    let packed = gzip(&tar);
    refused(packed[..packed.len() / 2].to_vec(), "it breaks off").await;
    refused(b"neither".to_vec(), "neither a zip nor a tar").await;
    refused(vec![0xfd, b'7', b'z', b'X', b'Z', 0], "pack it with gzip").await;
    refused(Vec::new(), "neither a zip nor a tar").await;
}

#[tokio::test]
async fn archives_are_bounded() {
    let world = World::new();
    world.write("/archive", tarball(&[file("a", "12345"), file("b", "12345")]));
    let error = world.refuses(&Unpacked { bytes_max: 9, ..unpacked() }).await;
    assert!(error.to_string().contains("too many bytes"), "{error}");
    let error = world.refuses(&Unpacked { entries_max: 1, ..unpacked() }).await;
    assert!(error.to_string().contains("too many entries"), "{error}");
    world.write("/archive", gzip(&tarball(&[file("a", &"0".repeat(1 << 20))])));
    world.refuses(&Unpacked { bytes_max: 1 << 10, ..unpacked() }).await;
    world.refuses(&Unpacked { src: "/gone".into(), ..unpacked() }).await;
}

#[tokio::test]
async fn of_several_entries_with_one_name_the_last_counts() {
    let world = World::new();
    world.write("/archive", tarball(&[file("a", "first"), file("a", "last")]));
    world.applies(&unpacked()).await;
    assert_eq!(world.read("/into/a"), "last");
}

#[tokio::test]
async fn a_directory_is_never_replaced_by_a_file() {
    let world = World::new();
    world.write("/archive", tarball(&[file("a", "x")])).write("/into/a/inside", "kept");
    let error = world.refuses(&unpacked()).await;
    assert!(error.to_string().contains("something else already"), "{error}");
    assert!(Path::new(&world.at("/into/a/inside")).exists());
}

#[tokio::test]
async fn owners_are_given() {
    let world = World::new();
    world.write("/archive", tarball(&[file("d/a", "x")]));
    let owner = Some(uid().to_string());
    world.applies(&Unpacked { owner, ..unpacked() }).await;
    let owner = Some("nobody-here".into());
    assert!(matches!(
        world.refuses(&Unpacked { owner, ..unpacked() }).await,
        HostError::Absent { .. }
    ));
}
