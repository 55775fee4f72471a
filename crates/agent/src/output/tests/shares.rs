//! What a project may keep on a node, to the byte.

use std::path::{Path, PathBuf};

use hostler_model::{Bytes, Generation, Name, OutputKept};

use super::shelf::{EXIT_ONE, Shelf, end, segment};
use crate::output::account::{Account, Standing};
use crate::output::{
    Accounts, Item, Limits, Reader, Share, Start, Stream, Streams, Writer, segment as seg,
};
use crate::rundir;

fn on_disk(dir: &Path) -> u64 {
    let files = std::fs::read_dir(dir).unwrap().flatten();
    files
        .filter(|file| file.file_name().to_string_lossy().starts_with("out."))
        .map(|file| file.metadata().unwrap().len())
        .sum()
}

fn share(share: u64) -> Standing {
    Standing { share: Some(share), generation: 1, kept: 0, settled: 1 }
}

fn account(path: &Path, standing: Option<&Standing>) -> Account {
    let account = Account::make(path).unwrap();
    if let Some(standing) = standing {
        account.write(standing).unwrap();
    }
    account
}

fn shelf(path: &Path) -> Shelf {
    let mut shelf = Shelf::new(Limits::default());
    shelf.writer = Writer::new(Limits::default()).counted(Account::open(path).ok());
    shelf
}

#[test]
fn two_runs_keep_to_one_share_to_the_byte() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("lab");
    let held = account(&path, Some(&share(20_000)));
    let (mut one, mut two) = (shelf(&path), shelf(&path));
    let mut most = 0;
    for i in 0..400_usize {
        let text = format!("{i} {}\n", "x".repeat(i * 37 % 900));
        let shelf = if i % 2 == 0 { &mut one } else { &mut two };
        shelf.say(&text);
        let kept = on_disk(one.path()) + on_disk(two.path());
        assert_eq!(held.read().unwrap().kept, kept, "after {i}");
        assert!(kept <= 20_000, "{kept} after {i}");
        most = most.max(kept);
    }
    assert!(most > 19_000, "{most}");
    for (shelf, last) in [(&one, "398 "), (&two, "399 ")] {
        let mut reader = Reader::open(shelf.path(), Start::Beginning, Streams::Both).unwrap();
        let (mut has_gap, mut text) = (false, Vec::new());
        loop {
            let items = reader.read(1 << 20).unwrap().items;
            if items.is_empty() {
                break;
            }
            for item in items {
                match item {
                    Item::Output(frame) => text.extend(frame.bytes),
                    Item::Gap { .. } => has_gap = true,
                }
            }
        }
        let text = String::from_utf8(text).unwrap();
        assert!(has_gap, "readers are told that the oldest is gone");
        assert!(text.contains(last), "the newest is there");
    }
}

#[test]
fn a_share_of_nothing_keeps_nothing_and_what_was_dropped_is_told_later() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("lab");
    let held = account(&path, Some(&share(0)));
    let mut shelf = shelf(&path);
    shelf.say("lost\n");
    shelf.say("lost too\n");
    assert_eq!(on_disk(shelf.path()), 0);
    assert_eq!(shelf.writer.lost(), 2);
    shelf.writer.told_lost(1);
    held.write(&share(1000)).unwrap();
    shelf.say("kept\n");
    assert_eq!(shelf.writer.lost(), 1, "what was told is told");
    assert_eq!(on_disk(shelf.path()), held.read().unwrap().kept);
    let mut reader = Reader::open(shelf.path(), Start::Beginning, Streams::Both).unwrap();
    let items = reader.read(1 << 16).unwrap().items;
    assert!(matches!(items[0], Item::Gap { bytes: Some(14) }), "{items:?}");
    assert!(matches!(&items[1], Item::Output(frame) if frame.bytes[..] == *b"kept\n"), "{items:?}");
}

#[test]
fn without_a_share_nothing_is_counted_and_a_new_one_counts_at_once() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("lab");
    let held = account(&path, None);
    let mut shelf = shelf(&path);
    shelf.say(&"x".repeat(5000));
    assert_eq!(held.read().unwrap(), Standing::default());
    let kept = on_disk(shelf.path());
    held.write(&Standing { kept, ..share(kept + 100) }).unwrap();
    shelf.say(&"y".repeat(84));
    assert_eq!(on_disk(shelf.path()), kept + 100);
    shelf.say("z");
    let kept = on_disk(shelf.path());
    assert_eq!(held.read().unwrap().kept, kept);
    assert!(kept < 100, "the segment made way for one byte: {kept}");
}

struct Node {
    data: tempfile::TempDir,
    accounts: Accounts,
}

impl Node {
    fn new() -> Node {
        let data = tempfile::tempdir().unwrap();
        let runs = data.path().join(rundir::RUNS);
        std::fs::create_dir(&runs).unwrap();
        let accounts = Accounts::new(data.path(), &runs);
        Node { data, accounts }
    }

    /// A run with segments of a thousand bytes at these times.
    fn run(&self, number: u128, project: &str, times: &[i64]) -> PathBuf {
        let name = uuid::Uuid::from_u128(number).to_string();
        let dir = self.data.path().join(rundir::RUNS).join(name);
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join(rundir::SPEC), format!(r#"{{"project":"{project}"}}"#)).unwrap();
        for (number, time) in (1..).zip(times) {
            let base = u64::from(number - 1) * 968;
            segment(&dir, number, base, true, &[(Stream::Stdout, *time, &"x".repeat(968))]);
        }
        dir
    }

    async fn set(&self, bytes: u64, generation: u64) {
        let share = Share { project: lab(), bytes, generation: Generation::from_u64(generation) };
        self.accounts.set(vec![share]).await.unwrap();
    }

    /// Which share is in force, and what is kept.
    fn kept(&self) -> (u64, u64) {
        let kept = self.accounts.kept();
        let [OutputKept { project, generation, bytes }] = kept.as_slice() else {
            panic!("{kept:?}")
        };
        assert_eq!(*project, lab());
        (generation.get(), Bytes::get(*bytes))
    }
}

fn lab() -> Name {
    "lab".parse().unwrap()
}

#[tokio::test]
async fn the_output_of_ended_runs_goes_first_then_the_oldest_of_those_that_run() {
    let node = Node::new();
    let ended = node.run(1, "lab", &[100, 200, 300]);
    end(&ended, EXIT_ONE);
    let running = node.run(2, "lab", &[10, 20, 30]);
    let other = node.run(3, "other", &[1, 2, 3]);
    let left = |dir: &Path| seg::list(dir).unwrap();

    node.set(4000, 5).await;
    assert_eq!((left(&ended), left(&running)), (vec![4], vec![1, 2, 3]));
    assert_eq!(node.kept(), (5, 3016));
    node.set(2500, 6).await;
    assert_eq!((left(&ended), left(&running)), (vec![4], vec![2, 3]));
    assert_eq!(node.kept(), (6, 2016));
    node.set(1000, 7).await;
    assert_eq!((left(&ended), left(&running)), (vec![], vec![3]));
    assert_eq!(node.kept(), (7, 1000));
    assert!(node.accounts.has_news() && !node.accounts.has_news());

    node.set(500, 8).await;
    assert_eq!(left(&running), [3], "it is written to");
    assert_eq!(node.kept(), (7, 1000), "so the share is not in force yet");
    assert!(!node.accounts.has_news());
    end(&running, EXIT_ONE);
    node.accounts.settle_all().await;
    assert_eq!(node.kept(), (8, 16));
    assert!(node.accounts.has_news());
    assert_eq!(left(&other), [1, 2, 3]);

    node.accounts.set(Vec::new()).await.unwrap();
    assert!(node.accounts.kept().is_empty());
}

#[tokio::test]
async fn what_a_killed_writer_left_is_counted_again() {
    let node = Node::new();
    let run = node.run(1, "lab", &[100, 200]);
    node.set(10_000, 1).await;
    let path = node.data.path().join("shares/lab");
    let mut account = Account::open(&path).unwrap();
    assert!(account.take(5000));
    drop(account);
    assert_eq!(node.kept(), (1, 7000));
    node.accounts.settle_all().await;
    assert_eq!(node.kept(), (1, 2000));
    std::fs::remove_dir_all(&run).unwrap();
    node.accounts.settle_all().await;
    assert_eq!(node.kept(), (1, 0));
}
