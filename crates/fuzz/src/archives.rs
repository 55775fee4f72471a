//! What is packed: archives of inputs, images, chunks of content, and the agent's own ledger.

use std::fs::File;
use std::io::{Cursor, Seek, Write};

use hostler_agent::fuzz;
use hostler_base::image_stream::Passing;
use hostler_base::image_tar::{forget_names, look};
use hostler_base::ledger::Journal;
use hostler_host::archive::Unpacked;
use hostler_host::{Host, Primitive};
use hostler_model::{CHUNK_MAX, Digest, Timestamp};

use crate::scratch;

const BYTES_MAX: u64 = 1 << 20;
const ENTRIES_MAX: u64 = 200;

/// Archives: whatever they say, nothing appears or changes outside of the directory they are unpacked
/// into, and no more comes out than was allowed.
pub fn archive(bytes: &[u8]) {
    const OUTSIDE: &str = "outside";
    let dir = scratch();
    let into = dir.path().join("into");
    std::fs::create_dir(&into).expect("a directory can be made");
    std::fs::write(dir.path().join(OUTSIDE), OUTSIDE).expect("a file can be written");
    let mut file = tempfile::tempfile_in(dir.path()).expect("a file can be made");
    file.write_all(bytes).and_then(|()| file.rewind()).expect("a file can be written");
    let unpacked = fuzz::unpack(file, &into, BYTES_MAX, ENTRIES_MAX);
    assert!(unpacked.is_ok(), "the directory can be opened");
    let mut beside: Vec<_> = std::fs::read_dir(dir.path())
        .expect("the directory is still there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    beside.sort();
    assert_eq!(beside, ["into", OUTSIDE]);
    let kept = std::fs::read_to_string(dir.path().join(OUTSIDE)).expect("the file is there");
    assert_eq!(kept, OUTSIDE);
}

/// Lists of backups, after a few bytes that are the content of all files: whatever they say, nothing appears or
/// changes outside of the directory they are put back to, and files have no more than those bytes together.
pub fn backup_list(bytes: &[u8]) {
    const OUTSIDE: &str = "outside";
    const CONTENT: usize = 8;
    let Some((content, list)) = bytes.split_at_checked(CONTENT) else { return };
    let dir = scratch();
    let into = dir.path().join("into");
    std::fs::write(dir.path().join(OUTSIDE), OUTSIDE).expect("a file can be written");
    if let Ok(bytes) = fuzz::put_back(dir.path(), &into, list, content) {
        assert!(bytes <= CONTENT as u64, "{bytes} bytes were put back");
    }
    let mut beside: Vec<_> = std::fs::read_dir(dir.path())
        .expect("the directory is still there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with("work"))
        .collect();
    beside.sort();
    assert!(beside == ["into", OUTSIDE] || beside == [OUTSIDE], "{beside:?}");
    let kept = std::fs::read_to_string(dir.path().join(OUTSIDE)).expect("the file is there");
    assert_eq!(kept, OUTSIDE);
}

/// Archives that workflows unpack: the same, and what was unpacked once is there the second time.
pub fn unpacked(bytes: &[u8]) {
    const OUTSIDE: &str = "outside";
    let dir = scratch();
    let file = dir.path().join("archive");
    std::fs::write(&file, bytes).expect("a file can be written");
    std::fs::write(dir.path().join(OUTSIDE), OUTSIDE).expect("a file can be written");
    let unpacked = Unpacked {
        src: file,
        dest: dir.path().join("into"),
        owner: None,
        group: None,
        bytes_max: BYTES_MAX,
        entries_max: ENTRIES_MAX,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made");
    runtime.block_on(async {
        let host = Host::local();
        if unpacked.apply(&host).await.is_ok() {
            let again = unpacked.apply(&host).await.expect("it was unpacked before");
            assert!(!again.changed, "{}", again.message);
        }
    });
    let kept = std::fs::read_to_string(dir.path().join(OUTSIDE)).expect("the file is there");
    assert_eq!(kept, OUTSIDE);
}

/// Images as `docker save` writes them: after names were taken away there are none, and nothing else of
/// the file has another length.
pub fn image_tar(bytes: &[u8]) {
    let (mut passing, seen) = Passing::new(bytes);
    std::io::copy(&mut passing, &mut std::io::sink()).expect("bytes can be read");
    let _verdict = seen.judge();
    let mut file = Cursor::new(bytes.to_vec());
    let looked = look(&mut file);
    if forget_names(&mut file).is_err() {
        return;
    }
    assert!(looked.is_ok(), "names were taken from what is no image");
    assert_eq!(file.get_ref().len(), bytes.len());
    let after = look(&mut file).expect("it is still an image");
    assert_eq!(after.names, Vec::<String>::new());
}

/// Packed chunks: never more than a chunk comes out, and only what has the digest.
pub fn chunk(bytes: &[u8]) {
    let digest = Digest::from_bytes([7; 32]);
    assert!(hostler_blob::unpack(bytes, digest).is_err());
    let plain = &bytes[..bytes.len().min(CHUNK_MAX)];
    let packed = hostler_blob::pack(plain);
    let digest = hostler_blob::digest_of(plain);
    let again = hostler_blob::unpack(&packed, digest).expect("a chunk that was packed");
    assert_eq!(again, plain);
}

/// The ledger: whatever is in the file, what is read once is what is read the next time.
pub fn ledger(bytes: &[u8]) {
    type Records = Journal<serde_json::Value>;
    let dir = scratch();
    let path = dir.path().join("ledger");
    let mut file = File::create(&path).expect("a file can be made");
    file.write_all(bytes).expect("a file can be written");
    drop(file);
    let Ok(first) = Records::open(&path, Timestamp::EPOCH) else { return };
    let records = first.records;
    drop(first.journal);
    let second = Records::open(&path, Timestamp::EPOCH).expect("it was opened before");
    assert_eq!(second.records, records);
}

/// Backups: as a file, and as the records in one. What is taken is taken the same way again, and a file that
/// lacks its last byte is not taken.
pub fn backup(bytes: &[u8]) {
    let read = |file: &[u8]| {
        hostler_backup::Opened::new(file).and_then(|opened| hostler_backup::verify(opened, None))
    };
    let inside = hostler_backup::fuzz::file_of(bytes).expect("any bytes can be packed");
    for file in [bytes, &inside] {
        if let Ok(summary) = read(file) {
            assert_eq!(read(file).expect("it was taken"), summary);
            assert!(read(&file[..file.len() - 1]).is_err(), "it is cut off");
        }
    }
}
