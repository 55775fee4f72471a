use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a failing disk does.
pub(super) struct Faults {
    /// How many more bytes fit on the disk.
    space: AtomicU64,
    sync_fails: AtomicBool,
    directory_sync_fails: AtomicBool,
    cut_fails: AtomicBool,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            space: AtomicU64::new(u64::MAX),
            sync_fails: AtomicBool::new(false),
            directory_sync_fails: AtomicBool::new(false),
            cut_fails: AtomicBool::new(false),
        }
    }
}

impl Faults {
    pub(super) fn before_write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let space = self.space.load(Ordering::SeqCst);
        if length(bytes.len()) <= space {
            return Ok(());
        }
        let fitting = usize::try_from(space).unwrap();
        file.write_all(&bytes[..fitting])?;
        Err(io::ErrorKind::StorageFull.into())
    }
    pub(super) fn before_sync(&self) -> io::Result<()> {
        fail_if(&self.sync_fails)
    }
    pub(super) fn before_directory_sync(&self) -> io::Result<()> {
        fail_if(&self.directory_sync_fails)
    }
    pub(super) fn before_cut(&self) -> io::Result<()> {
        fail_if(&self.cut_fails)
    }
}

fn fail_if(flag: &AtomicBool) -> io::Result<()> {
    if flag.load(Ordering::SeqCst) { Err(io::Error::other("injected")) } else { Ok(()) }
}

fn open(path: &Path) -> Opened<String> {
    Journal::open(path, Timestamp::EPOCH).unwrap()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_full_disk_leaves_nothing_behind_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut journal = open(&path).journal;
    journal.append_batch(&texts(&["kept"])).unwrap();
    let before = std::fs::read(&path).unwrap();

    for space in 0..30 {
        journal.tape.faults.space.store(space, Ordering::SeqCst);
        let refused = journal.append_batch(&texts(&["this one does not fit on the disk"]));
        assert!(matches!(refused, Err(Error::DiskFull { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(journal.records(), 1);
    }
    let refused = journal.rewrite(&texts(&["nor does a fresh file fit there"]));
    assert!(matches!(refused, Err(Error::DiskFull { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);

    journal.tape.faults.space.store(u64::MAX, Ordering::SeqCst);
    journal.append_batch(&texts(&["later"])).unwrap();
    drop(journal);
    assert_eq!(open(&path).records, texts(&["kept", "later"]));
}

#[test]
fn a_failed_sync_takes_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut journal = open(&path).journal;
    journal.append_batch(&texts(&["kept"])).unwrap();
    journal.tape.faults.sync_fails.store(true, Ordering::SeqCst);
    assert!(journal.append_batch(&texts(&["lost"])).is_err());
    assert_eq!(journal.records(), 1);
    journal.tape.faults.sync_fails.store(false, Ordering::SeqCst);
    journal.append_batch(&texts(&["later"])).unwrap();
    assert_eq!(journal.bytes(), std::fs::metadata(&path).unwrap().len());
    drop(journal);
    assert_eq!(open(&path).records, texts(&["kept", "later"]));
}

#[test]
fn what_was_jotted_is_in_the_file_and_survives_cuts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut journal = open(&path).journal;
    let frames = |text: &str| encode_all(&texts(&[text])).unwrap();
    journal.append_batch(&texts(&["kept"])).unwrap();
    journal.jot(frames("first")).unwrap();
    assert_eq!(journal.records(), 1, "not durable");
    let copy = folder.path().join("copy");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(open(&copy).records, texts(&["kept", "first"]), "as after a death");

    let faults = journal.tape.faults.clone();
    faults.sync_fails.store(true, Ordering::SeqCst);
    assert!(journal.append_batch(&texts(&["lost"])).is_err());
    faults.sync_fails.store(false, Ordering::SeqCst);
    faults.space.store(5, Ordering::SeqCst);
    assert!(journal.jot(frames("does not fit")).is_err());
    faults.space.store(u64::MAX, Ordering::SeqCst);
    journal.jot(frames("second")).unwrap();
    journal.sync().unwrap();
    assert_eq!(journal.records(), 3);
    assert_eq!(journal.bytes(), std::fs::metadata(&path).unwrap().len());

    journal.jot(frames("replaced")).unwrap();
    journal.rewrite(&texts(&["all"])).unwrap();
    faults.sync_fails.store(true, Ordering::SeqCst);
    assert!(journal.append_batch(&texts(&["lost"])).is_err());
    drop(journal);
    assert_eq!(open(&path).records, texts(&["all"]));
}

#[test]
fn nothing_is_acknowledged_in_a_file_that_may_still_be_replaced_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut journal = open(&path).journal;
    journal.append_batch(&texts(&["old"])).unwrap();
    let faults = journal.tape.faults.clone();
    faults.directory_sync_fails.store(true, Ordering::SeqCst);
    assert!(journal.rewrite(&texts(&["new"])).is_err());
    assert!(journal.append_batch(&texts(&["too early"])).is_err());
    faults.directory_sync_fails.store(false, Ordering::SeqCst);
    journal.append_batch(&texts(&["later"])).unwrap();
    drop(journal);
    assert_eq!(open(&path).records, texts(&["new", "later"]));
}

#[test]
fn a_cut_that_fails_is_made_up_for_before_the_next_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut journal = open(&path).journal;
    journal.append_batch(&texts(&["kept"])).unwrap();
    journal.tape.faults.space.store(5, Ordering::SeqCst);
    journal.tape.faults.cut_fails.store(true, Ordering::SeqCst);
    assert!(journal.append_batch(&texts(&["lost"])).is_err());
    journal.tape.faults.space.store(u64::MAX, Ordering::SeqCst);
    assert!(journal.append_batch(&texts(&["refused"])).is_err());
    journal.tape.faults.cut_fails.store(false, Ordering::SeqCst);
    journal.append_batch(&texts(&["later"])).unwrap();
    drop(journal);
    assert_eq!(open(&path).records, texts(&["kept", "later"]));
}
