//! Output: both streams, order, bounds, gaps, following, tails.

use std::os::unix::fs::MetadataExt;

use hostler_agent::output::{Batch, Item, Limits, Reader, Start, Stream, Streams};

use crate::support::{World, bytes, is_running, number, sh, started_record, until};

const SMALL: Limits = Limits { segment_bytes: 256 * 1024, segments_max: 4 };

#[tokio::test]
async fn both_streams_are_kept_apart_and_in_order() {
    let mut world = World::new().await;
    let script = "i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; printf 'no newline'";
    let news = world.run_sh(script).await;
    let wanted = |word: &str| (0..200).map(|i| format!("{word} {i}\n")).collect::<String>();
    let out = world.text(news.run_id, Stream::Stdout).await;
    assert_eq!(out, wanted("out") + "no newline");
    assert_eq!(world.text(news.run_id, Stream::Stderr).await, wanted("err"));
    let all = world.items(news.run_id, Start::Beginning, Streams::Both).await;
    let times: Vec<_> = all
        .iter()
        .filter_map(|item| match item {
            Item::Output(frame) => Some(frame.time),
            Item::Gap { .. } => None,
        })
        .collect();
    assert!(times.is_sorted());
}

#[tokio::test]
async fn a_silent_run_makes_no_file() {
    let mut world = World::new().await;
    let news = world.run_sh("true").await;
    let dir = world.run_dir(news.run_id);
    let names = std::fs::read_dir(&dir).unwrap().flatten();
    let mut names: Vec<_> = names.map(|e| e.file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "ctl.sock");
    names.sort();
    assert_eq!(names, ["exit.json", "spec.json", "started.json", "work"]);
    assert!(world.items(news.run_id, Start::Beginning, Streams::Both).await.is_empty());
}

#[tokio::test]
async fn a_directory_that_is_used_again_keeps_nothing() {
    let mut world = World::new().await;
    let mut spec = sh("echo secret; mkdir -p a/b; touch a/b/c; chmod 777 .; exit 4");
    spec.env.insert("PASSWORD".into(), "hunter2".into());
    let first = world.run(spec).await.run_id;
    let inode = |path: &std::path::Path| path.metadata().unwrap().ino();
    let before = inode(&world.run_dir(first));
    world.runner.forget(first).await.unwrap();
    assert!(!world.run_dir(first).exists());
    for entry in walk(&world.data.join("runs")).into_iter().filter(|entry| entry.is_file()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        let is_record = [".started.json", ".exit.json"].contains(&name);
        let text = std::fs::read_to_string(&entry).unwrap();
        assert!(text.is_empty() || is_record, "{name}: {text}");
        let is_told = ["secret", "echo", "hunter2"].into_iter().any(|word| text.contains(word));
        assert!(!is_told, "{name}: {text}");
    }

    let second = world.run_sh("ls -A; stat -c %a .; env | grep -c PASSWORD; exit 5").await;
    assert_eq!(inode(&world.run_dir(second.run_id)), before);
    assert_eq!(second.exit.code, Some(5));
    assert_eq!(world.text(second.run_id, Stream::Stdout).await, "700\n0\n");
    world.agent_dies().await;
    assert_eq!(world.text(second.run_id, Stream::Stdout).await, "700\n0\n");
    world.runner.forget(second.run_id).await.unwrap();
    assert!(world.agent_dies().await.is_empty());
    assert_eq!(walk(&world.data.join("runs")).len(), 0);
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}

#[tokio::test]
async fn large_output_is_bounded_and_the_gap_is_counted_exactly() {
    let mut world = World::with(SMALL).await;
    let size = 8 << 20;
    let news = world.run_sh(&format!("yes | head -c {size}")).await;
    let dir = world.run_dir(news.run_id);
    let segments = std::fs::read_dir(&dir).unwrap().flatten();
    let segments: Vec<_> = segments
        .filter(|e| e.file_name().to_string_lossy().starts_with("out."))
        .map(|e| e.metadata().unwrap().len())
        .collect();
    assert_eq!(segments.len(), 4);
    assert!(segments.iter().all(|n| *n <= SMALL.segment_bytes));
    let items = world.items(news.run_id, Start::Beginning, Streams::Both).await;
    let Some(Item::Gap { bytes: Some(gap) }) = items.first() else {
        panic!("no gap at the beginning: {:?}", items.first());
    };
    let kept = bytes(&items);
    assert_eq!(gap + kept.len() as u64, size);
    assert!(kept.ends_with(b"y\ny\n"));
    assert_eq!(items.iter().filter(|i| matches!(i, Item::Gap { .. })).count(), 1);
}

#[tokio::test]
async fn nothing_is_lost_across_rotations_while_following() {
    let mut world = World::with(SMALL).await;
    let script = "i=0; while [ $i -lt 60 ]; do seq $((i*1000)) $((i*1000+999)); i=$((i+1)); sleep 0.005; done";
    let (run_id, _) = world.start_sh(script).await;
    let items = world.items(run_id, Start::Beginning, Streams::Both).await;
    let text = String::from_utf8(bytes(&items)).unwrap();
    assert!(text.lines().enumerate().all(|(i, line)| line == i.to_string()));
    assert_eq!(text.lines().count(), 60_000);
    assert!(items.iter().all(|item| matches!(item, Item::Output(_))));
    world.exit(run_id).await;
}

#[tokio::test]
async fn a_follower_hears_of_output_when_it_comes() {
    let mut world = World::new().await;
    let go = world.data.join("go");
    let script =
        format!("echo one; while [ ! -e {0} ]; do sleep 0.01; done; echo two", go.display());
    let (run_id, _) = world.start_sh(&script).await;
    let mut follower = world.runner.follow(run_id, Start::Beginning, Streams::Both);
    let first = follower.next().await.unwrap().unwrap();
    assert_eq!(bytes(&first.items), b"one\n");
    std::fs::write(&go, "").unwrap();
    let second = follower.next().await.unwrap().unwrap();
    assert_eq!(bytes(&second.items), b"two\n");
    assert_eq!(follower.next().await.unwrap(), None);
    world.exit(run_id).await;

    let mut reader =
        Reader::open(&world.run_dir(run_id), Start::At(first.position), Streams::Both).unwrap();
    let Batch { items, is_end, .. } = reader.read(1 << 20).unwrap();
    assert_eq!(bytes(&items), b"two\n");
    assert!(is_end);
}

#[tokio::test]
async fn tails_begin_where_they_should() {
    let mut world = World::with(SMALL).await;
    let news = world.run_sh("seq 1 100000; echo last >&2").await;
    let tail = |start, streams| {
        let dir = world.run_dir(news.run_id);
        let mut reader = Reader::open(&dir, start, streams).unwrap();
        let mut all = Vec::new();
        loop {
            let batch = reader.read(4096).unwrap();
            all.extend(batch.items);
            if batch.is_end {
                return String::from_utf8(bytes(&all)).unwrap();
            }
        }
    };
    let out = Streams::Only(Stream::Stdout);
    assert_eq!(tail(Start::TailLines(3), out), "99998\n99999\n100000\n");
    assert_eq!(tail(Start::TailBytes(9), out), "9\n100000\n"[..].to_owned());
    assert_eq!(tail(Start::TailLines(1), Streams::Only(Stream::Stderr)), "last\n");
    assert_eq!(tail(Start::TailLines(0), out), "");
    assert_eq!(tail(Start::TailBytes(0), out), "");
    let many = tail(Start::TailLines(90_000), out);
    assert_eq!(many.lines().count(), 90_000);
    assert!(many.starts_with("10001\n"));
    let all: String = (1..=100_000).map(|i| format!("{i}\n")).collect();
    assert_eq!(tail(Start::TailLines(1 << 40), out), all);
    assert_eq!(tail(Start::TailBytes(1 << 40), out), all);

    let news = world.run_sh("printf 'a\\nb\\nunfinished'").await;
    let dir = world.run_dir(news.run_id);
    let mut reader = Reader::open(&dir, Start::TailLines(2), out).unwrap();
    assert_eq!(bytes(&reader.read(4096).unwrap().items), b"b\nunfinished");
}

/// A descendant has only so long to say something; on a busy machine it may get no time at all within
/// that, and is ended. So it may try again.
#[tokio::test]
async fn what_a_descendant_writes_after_the_end_is_still_read() {
    let mut world = World::new().await;
    let script = "(while kill -0 $$ 2>/dev/null; do sleep 0.001; done; echo late) & echo early";
    for _ in 0..50 {
        let news = world.run_sh(script).await;
        let said = world.text(news.run_id, Stream::Stdout).await;
        if said == "early\nlate\n" {
            return;
        }
        assert_eq!(said, "early\n");
        assert!(news.exit.message.is_some(), "it was ended: {:?}", news.exit);
    }
    panic!("it was never read");
}

#[tokio::test]
async fn half_a_frame_left_by_a_killed_shim_is_not_read() {
    let mut world = World::new().await;
    let (run_id, started) = world.start_sh("echo whole; exec sleep 1000").await;
    let dir = world.run_dir(run_id);
    until("there is output", || dir.join("out.000001").exists()).await;
    let record = started_record(&dir);
    crate::support::kill(number(&record["shim_pid"]), 9);
    world.exit(run_id).await;
    until("the program is gone", || !is_running(started.pid)).await;
    let segment = dir.join("out.000001");
    let mut content = std::fs::read(&segment).unwrap();
    content.extend_from_slice(&[1, 0, 0, 0, 200, 0, 0, 0, 9]);
    std::fs::write(&segment, content).unwrap();
    let items = world.items(run_id, Start::Beginning, Streams::Both).await;
    assert_eq!(bytes(&items), b"whole\n");
}
