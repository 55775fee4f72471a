//! The ledger survives every crash, and shares syncs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_base::clock::Clock;
use hostler_base::ledger::{Error, Journal, Ledger, Opened, Recovery};
use hostler_base::shutdown::{Phase, Shutdown};
use hostler_model::Timestamp;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::within;

const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    number: usize,
    text: String,
}

fn record(number: usize) -> Record {
    Record { number, text: "x".repeat(number % 7) }
}

fn records(range: std::ops::Range<usize>) -> Vec<Record> {
    range.map(record).collect()
}

fn open(path: &Path) -> Opened<Record> {
    Journal::open(path, NOW).unwrap()
}

struct Place {
    folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    Place { folder, path }
}

/// A journal with these records, closed; returns its bytes.
fn written(path: &Path, count: usize) -> Vec<u8> {
    let mut journal = open(path).journal;
    for number in 0..count {
        journal.append_batch(&[record(number)]).unwrap();
    }
    drop(journal);
    std::fs::read(path).unwrap()
}

#[test]
fn records_come_back_in_order() {
    let place = place();
    let mut opened = open(&place.path);
    assert_eq!(opened.recovery, Recovery::Clean);
    assert!(opened.records.is_empty());
    opened.journal.append_batch(&records(0..3)).unwrap();
    opened.journal.append_batch(&[]).unwrap();
    opened.journal.append_batch(&records(3..10)).unwrap();
    assert_eq!(opened.journal.records(), 10);
    drop(opened);
    let opened = open(&place.path);
    assert_eq!(opened.records, records(0..10));
    assert_eq!(opened.recovery, Recovery::Clean);
    assert_eq!(opened.journal.records(), 10);
}

#[test]
fn a_file_cut_at_any_byte_opens_with_a_prefix_and_goes_on() {
    let place = place();
    let whole = written(&place.path, 30);
    assert!(whole.len() > 1000, "{} crash points", whole.len());
    let mut count_before = 0;
    for cut in 0..=whole.len() {
        std::fs::write(&place.path, &whole[..cut]).unwrap();
        let mut opened = open(&place.path);
        let count = opened.records.len();
        assert_eq!(opened.records, records(0..count), "cut at {cut}");
        assert!(count >= count_before, "cut at {cut}");
        count_before = count;
        assert!(!matches!(opened.recovery, Recovery::Quarantined { .. }));

        opened.journal.append_batch(&[record(count)]).unwrap();
        drop(opened);
        let again = open(&place.path);
        assert_eq!(again.records, records(0..count + 1), "cut at {cut}");
        assert_eq!(again.recovery, Recovery::Clean);
    }
    assert_eq!(count_before, 30);
}

#[test]
fn zeros_at_the_end_are_a_torn_tail() {
    let place = place();
    let mut bytes = written(&place.path, 3);
    let whole = bytes.len();
    bytes.resize(whole + 5000, 0);
    std::fs::write(&place.path, &bytes).unwrap();
    let opened = open(&place.path);
    assert_eq!(opened.records, records(0..3));
    assert_eq!(opened.recovery, Recovery::TornTail { bytes_dropped: 5000 });
    assert_eq!(std::fs::metadata(&place.path).unwrap().len(), u64::try_from(whole).unwrap());
    std::fs::write(folder_file(&place, "zeros"), vec![0; 4096]).unwrap();
    assert!(open(&folder_file(&place, "zeros")).records.is_empty());
}

fn folder_file(place: &Place, name: &str) -> PathBuf {
    place.folder.path().join(name)
}

#[test]
fn a_bad_frame_in_the_middle_is_quarantined() {
    let place = place();
    let bytes = written(&place.path, 10);
    let mut damaged = bytes.clone();
    let middle = bytes.len() / 2;
    damaged[middle] ^= 0x10;
    std::fs::write(&place.path, &damaged).unwrap();

    let mut opened = open(&place.path);
    let count = opened.records.len();
    assert!((1..9).contains(&count), "{count}");
    assert_eq!(opened.records, records(0..count));
    let Recovery::Quarantined { kept_as, offset } = &opened.recovery else {
        panic!("{:?}", opened.recovery);
    };
    assert!(usize::try_from(*offset).unwrap() <= middle);
    assert_eq!(std::fs::read(kept_as).unwrap(), damaged);
    assert_eq!(kept_as.file_name().unwrap().to_str().unwrap(), "ledger.corrupt-1790000000000000");
    opened.journal.append_batch(&[record(count)]).unwrap();
    drop(opened);
    let again = open(&place.path);
    assert_eq!(again.records, records(0..count + 1));
    assert_eq!(again.recovery, Recovery::Clean);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_damage_leaves_a_prefix(
        at in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let place = place();
        let mut bytes = written(&place.path, 12);
        let at = 8 + at.index(bytes.len() - 8);
        let end = (at + junk.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&junk[..end - at]);
        std::fs::write(&place.path, &bytes).unwrap();
        let opened = open(&place.path);
        prop_assert_eq!(&opened.records, &records(0..opened.records.len()));
    }
}

#[test]
fn what_is_no_journal_at_all_is_quarantined() {
    for noise in [&b"this is a shopping list"[..], b"list", &[0xa5; 5000]] {
        let place = place();
        std::fs::write(&place.path, noise).unwrap();
        let mut opened = open(&place.path);
        let Recovery::Quarantined { kept_as, offset: 0 } = &opened.recovery else {
            panic!("{:?}", opened.recovery);
        };
        assert_eq!(std::fs::read(kept_as).unwrap(), noise);
        assert!(opened.records.is_empty());
        opened.journal.append_batch(&[record(0)]).unwrap();
        drop(opened);
        let again = open(&place.path);
        assert_eq!((again.records, again.recovery), (records(0..1), Recovery::Clean));
    }
}

#[test]
fn journals_of_another_version_and_foreign_records_are_left_alone() {
    let place = place();
    let path = folder_file(&place, "other");
    let bytes = written(&path, 3);
    let newer = [b"HSTLDG\x00\x02", &bytes[8..]].concat();
    std::fs::write(&path, &newer).unwrap();
    let refused = Journal::<Record>::open(&path, NOW);
    assert!(matches!(refused, Err(Error::UnknownFormat(_))));
    std::fs::write(&path, &bytes).unwrap();
    let refused = Journal::<u32>::open(&path, NOW);
    assert!(matches!(refused, Err(Error::Undecodable { offset: 8, .. })));
    assert_eq!(open(&path).records, records(0..3));
}

#[test]
fn two_openers_cannot_share() {
    let place = place();
    let first = open(&place.path);
    let second = Journal::<Record>::open(&place.path, NOW);
    let Err(error @ Error::InUse { .. }) = second else {
        panic!("the second open must fail");
    };
    let text = error.to_string();
    assert!(text.contains(&format!("pid {}", std::process::id())), "{text}");
    drop(first);
    assert!(Journal::<Record>::open(&place.path, NOW).is_ok());
}

#[test]
fn compaction_replaces_everything_and_appending_goes_on() {
    let place = place();
    let mut journal = open(&place.path).journal;
    journal.append_batch(&records(0..500)).unwrap();
    let before = journal.bytes();
    journal.rewrite(&records(498..500)).unwrap();
    assert!(journal.bytes() < before / 50);
    assert_eq!(journal.records(), 2);
    journal.append_batch(&[record(500)]).unwrap();
    assert_eq!(journal.bytes(), std::fs::metadata(&place.path).unwrap().len());
    drop(journal);
    assert_eq!(open(&place.path).records, records(498..501));
    let names = std::fs::read_dir(place.folder.path()).unwrap().count();
    assert_eq!(names, 2, "the ledger and its lock");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_callers_share_syncs_and_all_is_durable() {
    let place = place();
    let shutdown = Shutdown::new(Clock::system());
    let ledger = Ledger::start(open(&place.path).journal, &shutdown.tasks(Phase::Store));
    let callers = (0..400).map(|number| {
        let ledger = ledger.clone();
        async move { ledger.append(vec![record(number)]).await }
    });
    let answers = within(futures::future::join_all(callers)).await;
    assert!(answers.iter().all(Result::is_ok));
    let size = ledger.size();
    assert_eq!(size.records, 400);
    assert!(size.commits < 100, "{} syncs for 400 appends", size.commits);

    within(ledger.rewrite(records(0..2))).await.unwrap();
    within(ledger.append(records(2..4))).await.unwrap();
    within(ledger.append(Vec::new())).await.unwrap();
    let report = within(shutdown.run(Duration::from_secs(10))).await;
    assert!(report.is_clean());
    let refused = ledger.append(records(0..1)).await;
    assert!(matches!(refused, Err(Error::Closed)));
    assert_eq!(open(&place.path).records, records(0..4));
}

#[tokio::test]
async fn jotting_costs_no_sync_until_one_is_asked_for() {
    let place = place();
    let shutdown = Shutdown::new(Clock::system());
    let ledger = Ledger::start(open(&place.path).journal, &shutdown.tasks(Phase::Store));
    for number in 0..3 {
        within(ledger.jot(vec![record(number)])).await.unwrap();
    }
    assert_eq!((ledger.size().commits, ledger.size().records), (0, 0));
    within(ledger.sync()).await.unwrap();
    assert_eq!((ledger.size().commits, ledger.size().records), (1, 3));
    within(ledger.jot(records(3..5))).await.unwrap();
    within(ledger.append(records(5..6))).await.unwrap();
    assert_eq!((ledger.size().commits, ledger.size().records), (2, 6));
    within(shutdown.run(Duration::from_secs(10))).await;
    drop(ledger);
    assert_eq!(open(&place.path).records, records(0..6));
}

#[tokio::test]
async fn what_was_queued_is_committed_before_the_end() {
    let place = place();
    let shutdown = Shutdown::new(Clock::system());
    let ledger = Ledger::start(open(&place.path).journal, &shutdown.tasks(Phase::Store));
    let appends =
        futures::future::join_all((0..50).map(|number| ledger.append(vec![record(number)])));
    let (answers, report) =
        within(async { tokio::join!(appends, shutdown.run(Duration::from_secs(10))) }).await;
    assert!(report.is_clean());
    let acknowledged = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(acknowledged, 50, "queued before the shutdown began");
    assert_eq!(open(&place.path).records, records(0..50));
}

#[test]
fn a_record_that_is_not_json_is_refused_and_harms_nothing() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Odd(std::collections::BTreeMap<(u8, u8), u8>);
    let place = place();
    let mut journal = Journal::<Odd>::open(&place.path, NOW).unwrap().journal;
    let refused = journal.append_batch(&[Odd([((1, 2), 3)].into())]);
    assert!(matches!(refused, Err(Error::Encode(_))));
    journal.append_batch(&[Odd([].into())]).unwrap();
    assert_eq!(journal.records(), 1);
}
